//! The MATRIX command of a NEXUS block: which characters belong to which taxon.
//!
//! The format says whether the matrix is interleaved, but files often do not. As in PHYLIP, every layout is a *reading*
//! of the lines, and the one that contradicts the numbers of DIMENSIONS least is taken: blocks in which each line has
//! its name, rows that are complete when they have the stated number of sites, and one line for each row.

use super::assemble::{Record, count_characters};
use super::nexus_commands::{Command, take_label};
use super::nexus_format::{Format, MATCH};
use crate::error::{Fault, Faults, Place, abridged};
use std::collections::{HashMap, HashSet};

/// What is known of the rows before they are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected<'a> {
    pub num_taxa: Option<usize>,
    pub num_sites: Option<usize>,
    /// Names of all taxa, empty if the file does not list them.
    pub labels: &'a HashSet<Vec<u8>>,
}

/// Which lines belong to which taxon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Lines with the same name.
    Interleaved,
    /// Those up to the one that completes the row.
    Filled,
    /// Each line is a row.
    OneLine,
}

/// Reads the rows of a matrix.
pub(super) fn read_matrix(
    matrix: &Command,
    format: &Format,
    expected: Expected,
    file: &str,
    faults: &mut Faults,
) -> Vec<Record> {
    let layouts = match format.interleave {
        true => [Layout::Interleaved, Layout::Filled, Layout::OneLine],
        false => [Layout::Filled, Layout::OneLine, Layout::Interleaved],
    };
    let is_possible = |layout: &Layout| *layout != Layout::Filled || expected.num_sites.is_some();
    let mut best: Option<(usize, Layout)> = None;
    for layout in layouts.into_iter().filter(is_possible) {
        let mut reading = Reading { format, expected, file, rows: None };
        let weight = weigh(&reading.deal(matrix, layout), expected);
        // What the format says is believed, unless another reading has nothing against it.
        let is_doubted = !format.interleave || weight == 0;
        if best.is_none_or(|(least, _)| weight < least && is_doubted) {
            best = Some((weight, layout));
        }
        if weight == 0 {
            break;
        }
    }
    let (_, layout) = best.expect("one line for each row is always possible");
    // Dealt once more, so that two readings of a large matrix are never in memory together.
    let mut reading = Reading { format, expected, file, rows: Some(faults) };
    let mut records = reading.deal(matrix, layout);
    repeat_the_first(&mut records, file, faults);
    check_symbols(&records, format, file, faults);
    records
}

/// By how many characters a reading differs from what is expected; a name counts as one, a taxon as its sites.
fn weigh(records: &[Record], expected: Expected) -> usize {
    let mut names: HashSet<&[u8]> = HashSet::with_capacity(records.len());
    let repeated = records.iter().filter(|record| !names.insert(&record.name)).count();
    let num_sites = expected.num_sites.or(records.first().map(|record| record.num_sites));
    let num_sites = num_sites.unwrap_or(0);
    let missed = expected.num_taxa.map_or(0, |num_taxa| num_taxa.abs_diff(records.len()));
    let wrong = records.iter().map(|record| record.num_sites.abs_diff(num_sites));
    // Saturating, because a file may state any number.
    let start = missed.saturating_mul(num_sites).saturating_add(repeated);
    wrong.fold(start, usize::saturating_add)
}

/// One way to read the lines.
struct Reading<'a> {
    format: &'a Format,
    expected: Expected<'a>,
    file: &'a str,
    /// Where faults go if the rows are kept; otherwise characters are only counted.
    rows: Option<&'a mut Faults>,
}

impl Reading<'_> {
    fn deal(&mut self, matrix: &Command, layout: Layout) -> Vec<Record> {
        let mut records: Vec<Record> = Vec::new();
        let mut by_name: HashMap<Vec<u8>, usize> = HashMap::new();
        for (line, text) in matrix.lines() {
            if layout == Layout::Filled && self.goes_on(records.last(), text) {
                let record = records.last_mut().expect("a row goes on");
                self.append(record, text, line);
                continue;
            }
            let (name, is_open, rest) = take_label(text);
            if is_open {
                self.refuse(Place::file(self.file).at_line(line), || {
                    "the name begins with a quote that is not closed on its line".to_string()
                });
            }
            let next = records.len();
            let at = match layout {
                Layout::Interleaved => *by_name.entry(name.clone()).or_insert(next),
                Layout::Filled | Layout::OneLine => next,
            };
            if at == next {
                records.push(Record { name, ..Record::new(line) });
            }
            self.append(&mut records[at], rest, line);
        }
        records
    }

    /// True if a line has more characters of a row that is not complete.
    fn goes_on(&self, row: Option<&Record>, text: &[u8]) -> bool {
        let is_incomplete =
            row.is_some_and(|row| self.expected.num_sites.is_some_and(|num| row.num_sites < num));
        is_incomplete
            && (self.expected.labels.is_empty()
                || !self.expected.labels.contains(&as_compared(&take_label(text).0)))
    }

    fn append(&mut self, record: &mut Record, text: &[u8], line: usize) {
        if self.rows.is_some() && !text.is_empty() {
            record.lines.begin(record.row.len(), line);
        }
        let mut rest = text;
        while let Some(start) = rest.iter().position(|byte| b"({".contains(byte)) {
            self.append_plain(record, &rest[..start]);
            let close = if rest[start] == b'(' { b')' } else { b'}' };
            let end = rest[start..].iter().position(|&byte| byte == close);
            let end = end.map_or(rest.len(), |end| start + end + 1);
            self.append_set(record, &rest[start..end], close, line);
            rest = &rest[end..];
        }
        self.append_plain(record, rest);
    }

    fn append_plain(&self, record: &mut Record, text: &[u8]) {
        record.num_sites += count_characters(text);
        if self.rows.is_some() {
            let kept = text.iter().filter(|byte| !byte.is_ascii_whitespace());
            record.row.extend(kept.map(|&byte| self.format.kept[usize::from(byte)]));
        }
    }

    /// Appends the character that stands for a set of states, which has its brackets.
    fn append_set(&mut self, record: &mut Record, set: &[u8], close: u8, line: usize) {
        record.num_sites += 1;
        let states = set[1..].strip_suffix(&[close]);
        let character = states.and_then(|states| self.format.of_set(states));
        if self.rows.is_none() {
            return;
        }
        let site = record.row.len() + 1;
        record.row.push(character.unwrap_or(b'?'));
        if character.is_none() {
            let name = String::from_utf8_lossy(&record.name).into_owned();
            let place = Place::file(self.file).at_line(line).at_column(site).named(name);
            let shown = String::from_utf8_lossy(&set[..set.len().min(20)]).into_owned();
            self.refuse(place, || match states {
                Some(_) => format!(
                    "the set of states '{}' has no symbol of its own: write `?` or one of its states",
                    shown.escape_debug()
                ),
                None => format!(
                    "the set of states that begins with '{}' is not closed on its line",
                    shown.escape_debug()
                ),
            });
        }
    }

    fn refuse(&mut self, place: Place, message: impl FnOnce() -> String) {
        if let Some(faults) = &mut self.rows {
            faults.push(Fault::new(place, message()));
        }
    }
}

/// A name as NEXUS compares it: without case, underscores as blanks.
pub(super) fn as_compared(name: &[u8]) -> Vec<u8> {
    let blank = |&byte: &u8| if byte == b'_' { b' ' } else { byte.to_ascii_lowercase() };
    name.iter().map(blank).collect()
}

/// Puts the characters of the first row where others have MATCHCHAR.
fn repeat_the_first(records: &mut [Record], file: &str, faults: &mut Faults) {
    let Some((first, others)) = records.split_first_mut() else {
        return;
    };
    if let Some(site) = first.row.iter().position(|&byte| byte == MATCH) {
        let name = String::from_utf8_lossy(&first.name).into_owned();
        let line = first.lines.line(site).unwrap_or(first.line);
        let message = "MATCHCHAR stands for the character of the first sequence, but this is the first sequence";
        let place = Place::file(file).at_line(line).at_column(site + 1).named(name);
        faults.push(Fault::new(place, message));
        first.row.iter_mut().filter(|byte| **byte == MATCH).for_each(|byte| *byte = b'?');
    }
    for record in others {
        // Where the first sequence has no character, the lengths are refused.
        let repeated = first.row.iter().copied().chain(std::iter::repeat(b'?'));
        for (byte, repeated) in record.row.iter_mut().zip(repeated) {
            if *byte == MATCH {
                *byte = repeated;
            }
        }
    }
}

/// Symbols that the format does not list: the first of each row.
fn check_symbols(records: &[Record], format: &Format, file: &str, faults: &mut Faults) {
    for record in records {
        if let Some(site) = format.stranger(&record.row) {
            let line = record.lines.line(site).unwrap_or(record.line);
            let name = String::from_utf8_lossy(&record.name).into_owned();
            let place = Place::file(file).at_line(line).at_column(site + 1).named(&name);
            let symbol = char::from(record.row[site]).to_string();
            let message = format!(
                "'{}' is not among the SYMBOLS of FORMAT: correct it, or add it there",
                abridged(&symbol)
            );
            faults.push(Fault::new(place, message));
        }
    }
}
