//! PHYLIP: a header with the numbers of taxa and sites, then the taxa in one of several layouts.
//!
//! The format does not state which layout a file has, and users often do not know. So every layout is tried as a
//! *reading* of the file, which only assigns lines to taxa and counts characters; the first reading that agrees
//! with the header is taken. If none does, the faults are those of the reading that contradicts it least. Two
//! readings of one file that both agree with the header are practically impossible: what is a name in one counts
//! as sites in the other.
//!
//! Names: *relaxed* (up to the first white space) or *strict* (the first 10 characters, which may contain
//! spaces). Lines: one per taxon; sequential with the sequence over several lines; interleaved, where names stand
//! only in the first block. Blank lines mean nothing.

use super::assemble::{Header, Record, assemble, count_characters};
use super::rows::Alignment;
use crate::error::{Error, Faults, Place, Result};
use crate::input::Input;
use std::io::BufRead;
use std::iter::StepBy;
use std::ops::Range;

/// Width of a strict name, in characters (Felsenstein, PHYLIP documentation, "sequence.html").
const STRICT_NAME_WIDTH: usize = 10;

/// Where a name ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameStyle {
    Relaxed,
    Strict,
}

/// Which lines belong to which taxon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Every line is a taxon.
    OneLine,
    /// Line i belongs to taxon i mod (number of taxa); blank lines between blocks tell that number.
    Interleaved,
    /// Every taxon has the same number of consecutive lines.
    Wrapped,
    /// A taxon takes lines until it has as many sites as the header states.
    Filled,
}

/// Tried in this order; of equally bad ones the earlier is taken. One line per taxon comes last, because it makes
/// many small records of a large interleaved file; if that is the layout, `Filled` finds it just as well.
const READINGS: [(NameStyle, Layout); 8] = [
    (NameStyle::Relaxed, Layout::Interleaved),
    (NameStyle::Relaxed, Layout::Wrapped),
    (NameStyle::Relaxed, Layout::Filled),
    (NameStyle::Relaxed, Layout::OneLine),
    (NameStyle::Strict, Layout::Interleaved),
    (NameStyle::Strict, Layout::Wrapped),
    (NameStyle::Strict, Layout::Filled),
    (NameStyle::Strict, Layout::OneLine),
];

/// Longest first line that may be a header.
const MAX_HEADER: usize = 1 << 16;
/// Bytes that a file may have beyond [`GENEROUS`] times what its header states, with [`MEAN_NAME`] for the name of
/// a taxon. Longer files are not read to their end.
const SLACK: usize = 64 << 20;
const GENEROUS: usize = 4;
const MEAN_NAME: usize = 1 << 10;
/// From this number of lines, they must have [`MIN_MEAN_LINE`] bytes on average, as each takes some memory.
const MANY_LINES: usize = 10_000_000;
const MIN_MEAN_LINE: usize = 8;

/// Characters on one line, without its end.
#[derive(Clone, Copy)]
struct Line<'a> {
    text: &'a [u8],
    /// Line of the file, counted from 1.
    number: u32,
    /// Number of characters that are not white space (`u32::MAX` for any larger number).
    num_sites: u32,
}

/// A taxon as a reading has it.
struct Dealt<'a> {
    name: &'a [u8],
    /// What follows the name on its line.
    first: Line<'a>,
    /// Its other lines, by their index.
    others: StepBy<Range<usize>>,
    num_sites: usize,
}

/// Reads a PHYLIP text from this line on.
pub(super) fn read_phylip(input: &mut Input, line: usize) -> Result<Alignment> {
    let file = input.name().to_string();
    let text = read_promised(input, line, &file)?;
    parse_phylip(&text, line, &file)
}

/// The text, unless it is far longer than its header states.
fn read_promised(input: &mut Input, line: usize, file: &str) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut limit = None;
    loop {
        let chunk = input.fill()?;
        let length = chunk.len();
        if length == 0 {
            return Ok(text);
        }
        text.extend_from_slice(chunk);
        input.consume(length);
        if limit.is_none() {
            let end = text.iter().position(|&byte| byte == b'\n');
            if end.is_none() && text.len() < MAX_HEADER {
                continue;
            }
            let header = parse_header(line, &text[..end.unwrap_or(MAX_HEADER)], file)?;
            let row = header.num_sites.saturating_add(MEAN_NAME);
            let promised = header.num_taxa.saturating_mul(row).saturating_mul(GENEROUS);
            limit = Some((header, promised.saturating_add(SLACK)));
        }
        if let Some((header, limit)) = limit
            && text.len() > limit
        {
            return Err(Error::input(
                Place::file(file).at_line(line),
                format!(
                    "the header states {} taxa with {} sites, but the file is longer than {} MiB: correct the header",
                    header.num_taxa,
                    header.num_sites,
                    limit >> 20
                ),
            ));
        }
    }
}

fn parse_phylip(text: &[u8], first_line: usize, file: &str) -> Result<Alignment> {
    let mut lines = text
        .split(|&byte| byte == b'\n')
        .enumerate()
        .map(|(i, line)| (first_line + i, line.strip_suffix(b"\r").unwrap_or(line)))
        .filter(|(_, line)| !line.trim_ascii().is_empty());
    let (number, line) = lines.next().unwrap_or((1, b""));
    let header = parse_header(number, line, file)?;
    let num_lines = lines.clone().take(text.len() / MIN_MEAN_LINE + 1).count();
    if num_lines > MANY_LINES.max(text.len() / MIN_MEAN_LINE) {
        let message = format!(
            "the file has more than {num_lines} lines with fewer than {MIN_MEAN_LINE} characters on average: write \
             each sequence on one line or on few lines"
        );
        return Err(Error::input(Place::file(file), message));
    }
    let lines: Vec<Line> = lines.map(|(number, line)| Line::new(number, line)).collect();

    let mut best: Option<(usize, NameStyle, Layout)> = None;
    for (style, layout) in READINGS {
        let Some(dealt) = deal(&lines, header, style, layout) else {
            continue;
        };
        let weight = weigh_contradictions(&dealt, header);
        if best.is_none_or(|(least, ..)| weight < least) {
            best = Some((weight, style, layout));
        }
        if weight == 0 {
            break;
        }
    }
    let (_, style, layout) = best.expect("a line per taxon is always a reading");
    // Dealt once more, so that two readings of a large file are never in memory together.
    let dealt = deal(&lines, header, style, layout).expect("a possible reading");
    let records = dealt.into_iter().map(|taxon| taxon.into_record(&lines)).collect();
    drop(lines);
    let header = Header { strict_names: style == NameStyle::Strict, ..header };
    assemble(file, records, Some(header), Faults::new())
}

impl<'a> Line<'a> {
    fn new(number: usize, text: &'a [u8]) -> Self {
        let saturate = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Line { text, number: saturate(number), num_sites: saturate(count_characters(text)) }
    }
}

impl Dealt<'_> {
    fn into_record(self, lines: &[Line]) -> Record {
        let line = self.first.number as usize;
        let mut record = Record { name: self.name.to_vec(), ..Record::new(line) };
        record.row.reserve_exact(self.num_sites);
        record.num_sites = self.num_sites;
        let others = self.others.map(|i| lines[i]);
        for line in std::iter::once(self.first).chain(others).filter(|line| line.num_sites > 0) {
            record.lines.begin(record.row.len(), line.number as usize);
            record.append(line.text, line.num_sites as usize);
        }
        record
    }
}

/// `taxa sites`, and perhaps the letters I, S or R, which old programs wrote for the layout.
fn parse_header(line_number: usize, line: &[u8], file: &str) -> Result<Header> {
    let shown = String::from_utf8_lossy(line);
    let shown = shown.as_ref();
    let words: Vec<&str> = shown.split_ascii_whitespace().collect();
    let number = |i: usize| words.get(i).and_then(|word| word.parse::<usize>().ok());
    let letters_only =
        words.iter().skip(2).all(|word| matches!(*word, "I" | "S" | "R" | "i" | "s" | "r"));
    match (number(0), number(1)) {
        (Some(num_taxa), Some(num_sites)) if letters_only && num_taxa > 0 && num_sites > 0 => {
            let (title, line) = ("the header", line_number);
            Ok(Header { title, num_taxa, num_sites, line, strict_names: false })
        }
        _ => Err(Error::input(
            Place::file(file).at_line(line_number),
            format!(
                "expected the PHYLIP header, two positive numbers (taxa and sites), found '{}'",
                shown.trim().chars().take(40).collect::<String>().escape_debug()
            ),
        )),
    }
}

/// Assigns the lines to taxa; `None` if the layout is impossible with this number of lines.
fn deal<'a>(
    lines: &[Line<'a>],
    header: Header,
    style: NameStyle,
    layout: Layout,
) -> Option<Vec<Dealt<'a>>> {
    // How many taxa the file seems to hold, and so how many lines each of them has.
    let num_taxa = match layout {
        Layout::OneLine | Layout::Filled => lines.len(),
        Layout::Interleaved => block_size(lines).unwrap_or(header.num_taxa),
        Layout::Wrapped => header.num_taxa,
    };
    let lines_per_taxon = lines.len().div_ceil(num_taxa.max(1));
    let possible = match layout {
        Layout::OneLine | Layout::Filled => true,
        Layout::Interleaved => lines_per_taxon > 1,
        Layout::Wrapped => lines_per_taxon > 1 && lines.len().is_multiple_of(num_taxa),
    };
    if !possible {
        return None;
    }
    let take = |first: usize, others: Range<usize>, step: usize| {
        let (name, line) = split_name(lines[first], style);
        let others = others.step_by(step);
        let sites_of_others = others.clone().map(|i| lines[i].num_sites as usize);
        let num_sites = line.num_sites as usize + sites_of_others.sum::<usize>();
        Dealt { name, first: line, others, num_sites }
    };
    let end = lines.len();
    Some(match layout {
        Layout::OneLine => (0..end).map(|i| take(i, 0..0, 1)).collect(),
        Layout::Interleaved => (0..num_taxa.min(end))
            .map(|i| take(i, (i + num_taxa).min(end)..end, num_taxa))
            .collect(),
        Layout::Wrapped => (0..end)
            .step_by(lines_per_taxon)
            .map(|i| take(i, i + 1..i + lines_per_taxon, 1))
            .collect(),
        Layout::Filled => {
            let mut dealt = Vec::new();
            let mut first = 0;
            while first < end {
                let mut filled = split_name(lines[first], style).1.num_sites as usize;
                let mut next = first + 1;
                while next < end && filled < header.num_sites {
                    filled += lines[next].num_sites as usize;
                    next += 1;
                }
                dealt.push(take(first, first + 1..next, 1));
                first = next;
            }
            dealt
        }
    })
}

/// Lines per block, if blank lines separate blocks of equal size: more reliable than the header.
fn block_size(lines: &[Line]) -> Option<usize> {
    let mut blocks = lines.chunk_by(|a, b| a.number + 1 == b.number);
    let size = blocks.next()?.len();
    let mut others = blocks.peekable();
    (others.peek().is_some() && others.all(|block| block.len() == size)).then_some(size)
}

/// The name at the beginning of a line, and the characters after it.
fn split_name(line: Line<'_>, style: NameStyle) -> (&[u8], Line<'_>) {
    let (name, rest) = match style {
        NameStyle::Relaxed => {
            let text = line.text.trim_ascii_start();
            let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
            text.split_at(end)
        }
        NameStyle::Strict => {
            // A character begins at every byte that does not continue one (UTF-8).
            let begins = |byte: &u8| byte & 0b1100_0000 != 0b1000_0000;
            let mut starts = line.text.iter().enumerate().filter(|(_, byte)| begins(byte));
            let end = starts.nth(STRICT_NAME_WIDTH).map_or(line.text.len(), |(i, _)| i);
            line.text.split_at(end)
        }
    };
    let in_name = count_characters(name) as u32;
    let rest = Line { text: rest, num_sites: line.num_sites - in_name, ..line };
    (name.trim_ascii(), rest)
}

/// By how many characters a reading differs from the header; a name counts as one, a taxon as its sites.
fn weigh_contradictions(dealt: &[Dealt], header: Header) -> usize {
    let missed = dealt.len().abs_diff(header.num_taxa);
    let wrong = dealt.iter().map(|taxon| {
        usize::from(taxon.name.is_empty()) + taxon.num_sites.abs_diff(header.num_sites)
    });
    // Saturating, because a header may state any number.
    wrong.fold(missed.saturating_mul(header.num_sites), usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String)> {
        let alignment = parse_phylip(text.as_bytes(), 1, "f").unwrap();
        let row = |i| String::from_utf8(alignment.row(i).to_vec()).unwrap();
        (0..alignment.num_taxa()).map(|i| (alignment.taxa().name(i).to_string(), row(i))).collect()
    }

    fn refused(text: &str) -> String {
        parse_phylip(text.as_bytes(), 1, "f").unwrap_err().to_string()
    }

    /// The two rows every readable layout below spells.
    fn two(a: &str, b: &str) -> Vec<(String, String)> {
        vec![(a.into(), "ACGTACGTACGT".into()), (b.into(), "AC-TACRTAC?T".into())]
    }

    #[test]
    fn relaxed_layouts() {
        let expected = two("Homo_sapiens", "β");
        for text in [
            "2 12\nHomo_sapiens ACGTACGTACGT\nβ\tAC-TACRTAC?T\n",
            "  2   12 I\r\n\r\n  Homo_sapiens ACGTAC GTACGT  \r\nβ AC-TAC RTAC?T",
            // interleaved, blocks with and without blank lines between them
            "2 12\nHomo_sapiens ACGT\nβ AC-T\n\nACGTA\nACRTA\n\nCGT\nC?T\n",
            "2 12\nHomo_sapiens ACGT\nβ AC-T\n  ACGTACGT\n  ACRTAC?T\n",
            "2 12\nHomo_sapiens\nβ\nACGTACGTACGT\nAC-TACRTAC?T\n",
            // sequential, wrapped evenly, unevenly, and after the name
            "2 12\nHomo_sapiens ACGTA\nCGTA CGT\nβ AC-TA\nCRTA C?T\n",
            "2 12\nHomo_sapiens ACGTA\nC\nGTA CGT\nβ AC-TA\nCRTA C?T\n",
            "2 12\nHomo_sapiens\nACGTACGTACGT\nβ\nAC-TACRTAC?T\n",
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn strict_names_may_hold_spaces_and_touch_the_sequence() {
        let expected = two("Homo sapie", "Pän trögl");
        for text in [
            "2 12\nHomo sapieACGTACGTACGT\nPän trögl AC-TACRTAC?T\n",
            "2 12\nHomo sapieACGTA\nPän trögl AC-TA\n\nCGTACGT\nCRTAC?T\n",
            "2 12\nHomo sapieACGT ACGT\nACGT\nPän trögl AC-TAC\nRTAC?T\n",
            "2 12\nHomo sapie\nACGTACGTACGT\nPän trögl AC-TAC\nRTAC\n?T\n",
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn lines_of_cells_are_known_in_every_layout() {
        let text = b"2 6\nx ACG\ny AC-\n\nTTT\nTTU\n";
        let alignment = parse_phylip(text, 1, "f").unwrap();
        assert_eq!(alignment.place(1, 2).line, Some(3));
        assert_eq!(alignment.place(1, 3).line, Some(6));
    }

    #[test]
    fn headers_that_lie_or_are_none() {
        let few = refused("3 4\nx ACGT\ny ACGT\n");
        assert_eq!(few.lines().count(), 1, "{few}");
        assert!(
            few.starts_with("f, line 1: the header states 3 taxa, but the file contains 2"),
            "{few}"
        );
        let many = refused("\n2 4\nx ACGT\ny ACGT\nz ACGT\n");
        assert!(
            many.starts_with("f, line 2: the header states 2 taxa, but the file contains 3"),
            "{many}"
        );
        let sites = refused("2 5\nx ACGT\ny ACGT\n");
        assert_eq!(sites.lines().count(), 1, "{sites}");
        assert!(sites.contains("states 5 sites, but the sequences have 4"), "{sites}");
        for none in
            ["4\nx ACGT\n", "2 4 z\nx A\n", "0 4\n", "2 0\n", "2 x\n", "99999999999999999999 4\n"]
        {
            assert!(refused(none).starts_with("f, line 1: expected the PHYLIP header"), "{none}");
        }
        let bare = refused("2 4\n");
        assert!(bare.contains("states 2 taxa, but the file contains 0"), "{bare}");
        let block = refused("3 6\nx ACG\ny ACG\n\nTTT\nTTT\n");
        let start = "f, line 1: the header states 3 taxa, but the file contains 2:";
        assert!(block.starts_with(start), "{block}");
        // Numbers that are too large take no memory.
        assert!(refused("18446744073709551615 18446744073709551615\nx A\n").contains("contains 1"));
    }

    #[test]
    fn a_broken_row_is_named_in_every_layout() {
        let line = refused("3 4\nx ACGT\ny ACG\nz ACGT\n");
        assert_eq!(line.lines().count(), 1, "{line}");
        assert!(line.contains("line 3, 'y': the sequence has 3 sites, while 'x' (line 2) has 4"));
        let interleaved = refused("3 6\nx ACG\ny ACG\nz ACG\n\nTTT\nTT\nTTT\n");
        assert_eq!(interleaved.lines().count(), 1, "{interleaved}");
        assert!(interleaved.contains("line 3, 'y': the sequence has 5 sites"), "{interleaved}");
        let wrapped = refused("3 6\nx ACG\nTTT\ny ACG\nTT\nz ACG\nTTT\n");
        assert_eq!(wrapped.lines().count(), 1, "{wrapped}");
        assert!(wrapped.contains("line 4, 'y': the sequence has 5 sites"), "{wrapped}");
        let strict = refused("2 8\nHomo sapieACGTACGT\nPan troglACGTACGT\n");
        assert!(
            strict.contains("'Pan troglA': the sequence has 7 sites, while 'Homo sapie'"),
            "{strict}"
        );
        let nameless = refused("2 8\n          ACGTACGT\nPan troglaACGTACGT\n");
        assert_eq!(nameless, "f, line 2: the taxon has no name: add one");
        let twice = refused("2 4\nx ACGT\nx ACGT\n");
        assert_eq!(
            twice,
            "f, line 3, 'x': the same taxon name is used on line 2: names must be unique"
        );
        let empty = refused("2 4\nx ACGT\ny\n");
        assert_eq!(empty, "f, line 3, 'y': the taxon has no sequence: add one, or remove the name");
    }

    #[test]
    fn a_file_far_longer_than_its_header_promises_is_not_read_to_its_end() {
        let rows = "x ACGT\n".repeat(SLACK / 7 + 100_000);
        let text = format!("1 4\n{rows}");
        let input = &mut Input::new(text.as_bytes(), "f").unwrap();
        let message = read_phylip(input, 1).unwrap_err().to_string();
        let start =
            "f, line 1: the header states 1 taxa with 4 sites, but the file is longer than 64 MiB";
        assert!(message.starts_with(start), "{message}");
        let endless = "1".repeat(2 * MAX_HEADER);
        let input = &mut Input::new(endless.as_bytes(), "f").unwrap();
        let message = read_phylip(input, 1).unwrap_err().to_string();
        assert!(message.starts_with("f, line 1: expected the PHYLIP header"), "{message}");
    }

    #[test]
    fn names_that_were_cut_after_ten_characters_are_spoken_of() {
        // Names of 9 characters that touch the sequence, which has 8 sites.
        let said = refused("2 8\nHomo_sapiACGTACGT\nPan_troglACGTACGT\n");
        let start = "f, line 1: the header states 8 sites, but the sequences have 7: ";
        assert!(said.starts_with(start) && said.contains("put a space after it"), "{said}");
    }

    #[test]
    fn characters_are_counted_not_bytes() {
        let said = refused("2 4\nx ACGT\ny A\u{e9}GT\n");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(
            said.starts_with("f, line 3, column 2, 'y': '\u{e9}' is not a character"),
            "{said}"
        );
    }
}
