//! Rows whose lines all begin with their name, in blocks of columns: what Clustal and Stockholm have in common.

use super::assemble::{Record, count_characters};
use crate::error::{Error, Fault, Faults, Place, Result};
use crate::input::Input;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, ErrorKind, Read};

/// Longest line, in bytes: more than the sites that are supported.
const MAX_LINE: u64 = 1 << 33;
/// Faults after which nothing more is read.
const MAX_FAULTS: usize = 1000;
/// Number of rows that begin without a sequence after which nothing more is read.
const MAX_EMPTY: usize = 1000;

/// The lines of an input, with their numbers.
pub(super) struct Lines<'a, 'b> {
    input: &'a mut Input<'b>,
    /// Number of the last line, counted from 1.
    pub number: usize,
    text: Vec<u8>,
}

impl<'a, 'b> Lines<'a, 'b> {
    /// From the line with this number on.
    pub(super) fn new(input: &'a mut Input<'b>, first: usize) -> Self {
        Lines { input, number: first - 1, text: Vec::new() }
    }

    /// The next line with its number, without the white space at its end.
    pub(super) fn next(&mut self) -> Result<Option<(usize, &[u8])>> {
        self.text.clear();
        let read = self.input.by_ref().take(MAX_LINE).read_until(b'\n', &mut self.text);
        match read {
            Ok(0) => Ok(None),
            Ok(_) => {
                self.number += 1;
                Ok(Some((self.number, self.text.trim_ascii_end())))
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => self.next(),
            Err(source) => {
                Err(Error::Io { path: self.input.name().to_string(), source, writing: false })
            }
        }
    }
}

/// Rows that are read in blocks.
pub(super) struct NamedRows {
    pub file: String,
    pub records: Vec<Record>,
    pub faults: Faults,
    /// The row that began with a name, by the hash of the name: names are in `records` already.
    by_hash: HashMap<u64, u32>,
    hasher: RandomState,
    /// Per row, the block to which its last line belongs and that line.
    last: Vec<(u32, u32)>,
    num_empty: usize,
    /// Number of the present block, from 1; 0 before the first.
    block: u32,
    /// Line of the first row of the present block, and the number of its rows.
    block_line: usize,
    block_rows: usize,
    is_in_block: bool,
}

impl NamedRows {
    pub(super) fn new(file: &str) -> Self {
        NamedRows {
            file: file.to_string(),
            records: Vec::new(),
            faults: Faults::new(),
            by_hash: HashMap::new(),
            hasher: RandomState::new(),
            last: Vec::new(),
            num_empty: 0,
            block: 0,
            block_line: 0,
            block_rows: 0,
            is_in_block: false,
        }
    }

    /// A fault of a line.
    pub(super) fn refuse(&mut self, line: usize, message: impl Into<String>) {
        self.faults.push(Fault::new(Place::file(&self.file).at_line(line), message));
    }

    /// True if there are so many faults that reading on is pointless.
    pub(super) fn is_hopeless(&self) -> bool {
        self.faults.len() >= MAX_FAULTS || self.num_empty >= MAX_EMPTY
    }

    /// A line of a row; `kept` tells what is kept of each byte.
    pub(super) fn append(&mut self, line: usize, name: &[u8], text: &[u8], kept: &[u8; 256]) {
        if !self.is_in_block {
            self.is_in_block = true;
            self.block += 1;
            (self.block_line, self.block_rows) = (line, 0);
        }
        self.block_rows += 1;
        let known = self.find(name);
        let in_block = (self.block, u32::try_from(line).unwrap_or(u32::MAX));
        let row = match known.map(|row| (row, self.last[row])) {
            // A name twice in the first block is two rows, which are refused with both lines.
            Some((row, (block, _))) if block < self.block => row,
            Some((row, (_, first))) if self.block > 1 => {
                self.refuse_row(
                    line,
                    name,
                    format!("the name is already on line {first} of this block"),
                );
                row
            }
            None if self.block > 1 => {
                let message = "the name is not in the first block: all blocks have the same names"
                    .to_string();
                self.refuse_row(line, name, message);
                return;
            }
            Some(_) | None => {
                let row = self.records.len();
                self.records.push(Record { name: name.to_vec(), ..Record::new(line) });
                self.last.push(in_block);
                self.by_hash.entry(self.hasher.hash_one(name)).or_insert(row as u32);
                self.num_empty += usize::from(text.is_empty());
                row
            }
        };
        self.last[row] = in_block;
        let record = &mut self.records[row];
        if !text.is_empty() {
            record.lines.begin(record.row.len(), line);
        }
        record.num_sites += count_characters(text);
        record.row.extend(text.iter().map(|&byte| kept[usize::from(byte)]));
    }

    /// The first row of this name.
    fn find(&self, name: &[u8]) -> Option<usize> {
        let row = *self.by_hash.get(&self.hasher.hash_one(name))? as usize;
        (self.records[row].name == name).then_some(row)
    }

    fn refuse_row(&mut self, line: usize, name: &[u8], message: String) {
        let place = Place::file(&self.file).at_line(line).named(String::from_utf8_lossy(name));
        self.faults.push(Fault::new(place, message));
    }

    /// The block is over, if there is one: it must have all rows.
    pub(super) fn end_block(&mut self) {
        if std::mem::take(&mut self.is_in_block) && self.block_rows < self.records.len() {
            let missing = self.last.iter().position(|&(block, _)| block < self.block);
            let name = missing.map(|row| self.records[row].name.clone()).unwrap_or_default();
            let message = format!(
                "the block that begins here has {} rows, but the first block has {}; this taxon is missing",
                self.block_rows,
                self.records.len()
            );
            self.refuse_row(self.block_line, &name, message);
        }
    }
}

/// The first word of a line, and what follows it.
pub(super) fn split_word(line: &[u8]) -> (&[u8], &[u8]) {
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    (&line[..end], line[end..].trim_ascii())
}
