//! From what a format reader found to an [`Alignment`]: every check that does not depend on the format.
//!
//! Readers determine which characters belong to which taxon ([`Record`]) and what the header states ([`Header`]);
//! here names and lengths are compared, characters that no data type has are refused, and all faults are worded.

use super::rows::{Alignment, RowLines};
use crate::alphabet::is_sequence_character;
use crate::error::{Error, Fault, Faults, Place, Result, abridged};
use crate::taxa::Taxa;
use std::collections::HashMap;

/// Faults after which no more characters are checked, which takes long where many are wrong.
const MAX_FAULTS: usize = 1000;
/// Most different characters of one sequence that are refused one by one.
const MAX_CHARACTERS: usize = 100;

/// One taxon as a reader found it.
pub(super) struct Record {
    /// Name, not yet checked.
    pub name: Vec<u8>,
    /// Line the name stands on, counted from 1.
    pub line: usize,
    /// Its characters, without white space; not all of them if it is so much longer than the others that it will
    /// be refused.
    pub row: Vec<u8>,
    /// The lines they stand on.
    pub lines: RowLines,
    /// How many characters were read.
    pub num_sites: usize,
}

/// What the header of a file states.
#[derive(Clone, Copy)]
pub(super) struct Header {
    /// How users know it: `the header`.
    pub title: &'static str,
    /// Stated number of taxa.
    pub num_taxa: usize,
    /// Stated number of sites.
    pub num_sites: usize,
    /// Line of the header, counted from 1.
    pub line: usize,
    /// True if the first 10 characters of a line were read as the name, which users must know to understand
    /// what was counted.
    pub strict_names: bool,
}

/// Number of characters that are not white space: bytes that begin one, in UTF-8.
pub(super) fn count_characters(text: &[u8]) -> usize {
    let begins = |byte: &&u8| !byte.is_ascii_whitespace() && **byte & 0b1100_0000 != 0b1000_0000;
    text.iter().filter(begins).count()
}

impl Record {
    /// A taxon that begins on this line, without name and characters.
    pub(super) fn new(line: usize) -> Self {
        Record { name: Vec::new(), line, row: Vec::new(), lines: RowLines::default(), num_sites: 0 }
    }

    /// Keeps the characters of a text; `num_characters` of its bytes are not white space.
    pub(super) fn append(&mut self, text: &[u8], num_characters: usize) {
        if num_characters == text.len() {
            self.row.extend_from_slice(text);
        } else {
            self.row.extend(text.iter().filter(|byte| !byte.is_ascii_whitespace()));
        }
    }

    fn place(&self, file: &str) -> Place {
        let place = Place::file(file).at_line(self.line);
        match self.name.as_slice() {
            b"" => place,
            name => place.named(String::from_utf8_lossy(name)),
        }
    }
}

/// Checks everything and joins the rows; refuses with every fault found, the reader's own (`faults`) first.
pub(super) fn assemble(
    file: &str,
    records: Vec<Record>,
    header: Option<Header>,
    mut faults: Faults,
) -> Result<Alignment> {
    if let Some(header) = header.filter(|header| header.num_taxa != records.len()) {
        faults.push(Fault::new(
            Place::file(file).at_line(header.line),
            format!(
                "{title} states {} taxa, but the file contains {}: correct {title}, or look for \
                 missing, extra or broken lines",
                header.num_taxa,
                records.len(),
                title = header.title
            ),
        ));
    } else if records.is_empty() {
        faults.push(Fault::new(Place::file(file), "the file contains no sequences"));
    }
    let names = check_names(file, &records, &mut faults);
    check_lengths(file, &records, header, &mut faults);

    for record in &records {
        if faults.len() >= MAX_FAULTS {
            break;
        }
        check_characters(file, record, &mut faults);
    }
    check_dots(file, &records, &mut faults);
    if !faults.is_empty() {
        return Err(Error::Input(faults));
    }
    let taxa = Taxa::new(names).expect("duplicates were refused");
    let (rows, lines) = records.into_iter().map(|record| (record.row, record.lines)).unzip();
    Ok(Alignment::new(taxa, rows).read_from(file, lines))
}

/// Names as text; empty, unreadable and duplicate ones become faults.
fn check_names(file: &str, records: &[Record], faults: &mut Faults) -> Vec<String> {
    let mut first_with: HashMap<&[u8], usize> = HashMap::with_capacity(records.len());
    let mut names = Vec::with_capacity(records.len());
    for record in records {
        match std::str::from_utf8(&record.name) {
            Ok("") => {
                faults.push(Fault::new(record.place(file), "the taxon has no name: add one"));
            }
            Ok(name) if name.contains(|c: char| c.is_control() && c != '\t') => {
                let message =
                    "the taxon name has a control character, which no program shows: remove it";
                faults.push(Fault::new(record.place(file), message));
            }
            Ok(name) => names.push(name.to_string()),
            Err(_) => faults.push(Fault::new(
                record.place(file),
                "the taxon name is not valid UTF-8: save the file as UTF-8",
            )),
        }
        if record.name.is_empty() {
            continue;
        }
        let first = *first_with.entry(&record.name).or_insert(record.line);
        if first != record.line {
            faults.push(Fault::new(
                record.place(file),
                format!("the same taxon name is used on line {first}: names must be unique"),
            ));
        }
    }
    names
}

/// Missing sequences and unequal lengths.
fn check_lengths(file: &str, records: &[Record], header: Option<Header>, faults: &mut Faults) {
    let mut lengths: Vec<usize> = records.iter().map(|record| record.num_sites).collect();
    for record in records.iter().filter(|record| record.num_sites == 0) {
        let message = "the taxon has no sequence: add one, or remove the name";
        faults.push(Fault::new(record.place(file), message));
    }
    let by_record = lengths.clone();
    lengths.retain(|&length| length > 0);
    let Some(common) = most_common(&mut lengths) else {
        return;
    };
    if common >= u32::MAX as usize {
        faults.push(Fault::new(Place::file(file), "more than 4294967294 sites are not supported"));
    }
    let mut hint = match header {
        Some(Header { strict_names: true, .. }) => {
            " (the first 10 characters of the line were read as the name, as in strict PHYLIP: if the name ends \
             elsewhere, put a space after it)"
        }
        _ => "",
    };
    // The header counts if any sequence agrees with it; otherwise the header is wrong.
    let mut expected = common;
    if let Some(header) = header.filter(|header| header.num_sites != common) {
        if by_record.contains(&header.num_sites) {
            expected = header.num_sites;
        } else {
            faults.push(Fault::new(
                Place::file(file).at_line(header.line),
                format!(
                    "{title} states {} sites, but the sequences have {common}: correct {title}, \
                     or look for missing characters{hint}",
                    header.num_sites,
                    title = header.title
                ),
            ));
            hint = "";
        }
    }
    let model = by_record.iter().position(|&length| length == expected).expect("one has it");
    for (record, &length) in records.iter().zip(&by_record) {
        if length != 0 && length != expected {
            faults.push(Fault::new(
                record.place(file),
                format!(
                    "the sequence has {length} sites, while '{}' (line {}) has {expected}: aligned \
                     sequences must have the same length{hint}",
                    abridged(&String::from_utf8_lossy(&records[model].name)),
                    records[model].line
                ),
            ));
            hint = "";
        }
    }
}

/// The most frequent value, the smallest of equally frequent ones; sorts the values.
fn most_common(values: &mut [usize]) -> Option<usize> {
    values.sort_unstable();
    let runs = values.chunk_by(|a, b| a == b);
    runs.rev().max_by_key(|run| run.len()).map(|run| run[0])
}

/// Characters that no type of sequence has: one fault per taxon and character.
fn check_characters(file: &str, record: &Record, faults: &mut Faults) {
    let row = &record.row;
    if row.iter().all(|&byte| is_sequence_character(byte)) {
        return;
    }
    // Of each: how it is shown, the site (in bytes) and the column (in characters) of the first, how many.
    let mut found: Vec<(String, usize, usize, usize)> = Vec::new();
    let mut note = |shown: String, site: usize, column: usize| {
        let known = found.iter().position(|(known, ..)| *known == shown);
        match known {
            Some(which) => found[which].3 += 1,
            None if found.len() < MAX_CHARACTERS => found.push((shown, site, column, 1)),
            None => {}
        }
    };
    let (mut site, mut column) = (0, 0);
    for chunk in row.utf8_chunks() {
        for (i, character) in chunk.valid().char_indices() {
            column += 1;
            if !u8::try_from(character).is_ok_and(is_sequence_character) {
                note(format!("'{}'", character.escape_debug()), site + i, column);
            }
        }
        site += chunk.valid().len();
        for byte in chunk.invalid() {
            column += 1;
            note(format!("byte 0x{byte:02x}"), site, column);
            site += 1;
        }
    }
    for (shown, site, column, count) in found {
        let mut place = record.place(file).at_column(column);
        place.line = record.lines.line(site).or(place.line);
        let times =
            if count > 1 { format!(" ({count} times in this sequence)") } else { String::new() };
        faults.push(Fault::new(
            place,
            format!(
                "{shown} is not a character of any type of sequence{times}: correct or remove it"
            ),
        ));
    }
}

/// Dots in sequences other than the first. In some dialects (of PHYLIP, Clustal, NEXUS) they repeat the character
/// of the first sequence, in others they are gaps. If the first sequence has dots, they can only be gaps.
fn check_dots(file: &str, records: &[Record], faults: &mut Faults) {
    let Some((first, others)) = records.split_first() else {
        return;
    };
    if first.row.contains(&b'.') {
        return;
    }
    let Some((record, site)) = others.iter().find_map(|record| {
        let site = record.row.iter().position(|&byte| byte == b'.');
        site.map(|site| (record, site))
    }) else {
        return;
    };
    let dots = |record: &Record| record.row.iter().filter(|&&byte| byte == b'.').count();
    let counts = others.iter().map(dots).filter(|&count| count > 0);
    let (sequences, count) = counts.fold((0, 0), |(n, sum), count| (n + 1, sum + count));
    let mut place = record.place(file).at_column(site + 1);
    place.line = record.lines.line(site).or(place.line);
    let (cells, rows) = (plural(count, "time"), plural(sequences, "sequence"));
    faults.push(Fault::new(
        place,
        format!(
            "'.' occurs {count} {cells} in {sequences} {rows} but not in the first: it may mean the character of the \
             first sequence or a gap. Replace it by that character, or by '-' for a gap"
        ),
    ));
}

fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.to_string() } else { format!("{word}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(name: &str, line: usize, pieces: &[&[u8]]) -> Record {
        let mut record = Record { name: name.as_bytes().to_vec(), ..Record::new(line) };
        for (i, text) in pieces.iter().enumerate() {
            record.lines.begin(record.row.len(), line + i);
            record.num_sites += count_characters(text);
            record.append(text, count_characters(text));
        }
        record
    }

    fn messages(records: Vec<Record>, header: Option<Header>) -> Vec<String> {
        match assemble("a", records, header, Faults::new()).unwrap_err() {
            Error::Input(faults) => faults.kept().iter().map(Fault::to_string).collect(),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn rows_are_joined_and_remember_their_lines() {
        let records = vec![record("x", 1, &[b"AC G", b"", b"T-"]), record("y", 9, &[b"acgun"])];
        let alignment = assemble("f.phy", records, None, Faults::new()).unwrap();
        assert_eq!(alignment.row(0), b"ACGT-");
        assert_eq!(alignment.row(1), b"acgun");
        assert_eq!(alignment.num_sites(), 5);
        assert_eq!(alignment.taxa().names(), ["x", "y"]);
        let lines: Vec<_> = (0..5).map(|site| alignment.place(0, site).line.unwrap()).collect();
        assert_eq!(lines, [1, 1, 1, 3, 3]);
        assert_eq!(alignment.place(1, 4).to_string(), "f.phy, line 9, column 5, 'y'");
    }

    #[test]
    fn every_fault_is_named_at_once() {
        let records = vec![
            record("x", 1, &[b"ACGT"]),
            record("y", 2, &[b"AC`T"]),
            record("x", 3, &[b"ACG"]),
            record("", 4, &[b"ACGT"]),
            record("z", 5, &[]),
            record("w", 6, &["A\u{e9}é``".as_bytes()]),
            record("v\0", 7, &[b"ACGT"]),
        ];
        let messages = messages(records, None);
        let expected = [
            "a, line 3, 'x': the same taxon name is used on line 1",
            "a, line 4: the taxon has no name",
            "a, line 7, 'v\0': the taxon name has a control character",
            "a, line 5, 'z': the taxon has no sequence",
            "a, line 3, 'x': the sequence has 3 sites, while 'x' (line 1) has 4",
            "a, line 6, 'w': the sequence has 5 sites, while 'x' (line 1) has 4",
            "a, line 2, column 3, 'y': '`' is not a character of any type of sequence: ",
            "a, line 6, column 2, 'w': 'é' is not a character of any type of sequence (2 times",
            "a, line 6, column 4, 'w': '`' is not a character of any type of sequence (2 times",
        ];
        assert_eq!(messages.len(), expected.len(), "{messages:#?}");
        for (message, start) in messages.iter().zip(expected) {
            assert!(message.starts_with(start), "{message}\n{start}");
        }
    }

    #[test]
    fn a_lying_header_is_one_fault_and_a_short_row_another() {
        let rows = || {
            vec![record("x", 2, &[b"ACGT"]), record("y", 3, &[b"ACG"]), record("z", 4, &[b"ACG"])]
        };
        let header = |num_taxa, num_sites| {
            Some(Header { title: "the header", num_taxa, num_sites, line: 1, strict_names: false })
        };
        // One sequence keeps the promise of 4 sites: the others are short.
        let short = messages(rows(), header(3, 4));
        assert_eq!(short.len(), 2, "{short:#?}");
        assert!(
            short[0]
                .starts_with("a, line 3, 'y': the sequence has 3 sites, while 'x' (line 2) has 4")
        );
        let lies = messages(rows(), header(4, 9));
        assert_eq!(lies.len(), 3, "{lies:#?}");
        assert!(
            lies[0].starts_with("a, line 1: the header states 4 taxa, but the file contains 3")
        );
        assert!(
            lies[1].starts_with("a, line 1: the header states 9 sites, but the sequences have 3")
        );
        assert!(
            lies[2]
                .starts_with("a, line 2, 'x': the sequence has 4 sites, while 'y' (line 3) has 3")
        );
    }

    #[test]
    fn no_more_faults_are_collected_than_anybody_reads() {
        let count = |records| match assemble("a", records, None, Faults::new()) {
            Err(Error::Input(faults)) => (faults.len(), faults.kept().len()),
            other => panic!("{other:?}"),
        };
        let same_name = (1..5000).map(|line| record("x", line, &[b"A"])).collect();
        assert_eq!(count(same_name), (4998, 50));
        let characters: String = ('\u{4e00}'..).take(5000).collect();
        let record = |line: usize| record(&line.to_string(), line, &[characters.as_bytes()]);
        assert_eq!(count(vec![record(1)]), (MAX_CHARACTERS, 50));
        assert_eq!(count((1..50).map(record).collect()), (MAX_FAULTS, 50));
    }

    #[test]
    fn names_that_are_not_text_are_refused() {
        let mut records = vec![record("a", 1, &[b"A"])];
        records[0].name.push(0xff);
        assert!(messages(records, None)[0].contains("UTF-8"));
    }

    #[test]
    fn dots_that_may_repeat_the_first_sequence_are_refused_and_gaps_of_all_are_kept() {
        let said = messages(
            vec![
                record("x", 1, &[b"ACGT"]),
                record("y", 2, &[b"AC", b".."]),
                record("z", 5, &[b"...."]),
            ],
            None,
        );
        assert_eq!(said.len(), 1, "{said:#?}");
        let start =
            "a, line 3, column 3, 'y': '.' occurs 6 times in 2 sequences but not in the first";
        assert!(said[0].starts_with(start), "{said:#?}");
        let gaps = vec![record("x", 1, &[b"ACG."]), record("y", 2, &[b"AC.."])];
        assert_eq!(assemble("a", gaps, None, Faults::new()).unwrap().row(1), b"AC..");
    }
}
