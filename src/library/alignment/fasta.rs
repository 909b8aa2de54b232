//! FASTA: a `>` line with the name, then the sequence on any number of lines.
//!
//! The name is what stands between `>` and the first white space, as everywhere in the field; the rest of that
//! line is a description and is not kept. The text is read piece by piece, so that only the sequences are ever in
//! memory. All checks are in `assemble`.

use super::assemble::{Record, assemble, count_characters};
use super::rows::Alignment;
use crate::error::{Fault, Faults, Place, Result};
use crate::input::Input;
use std::io::BufRead;

/// Characters beyond twice the longest sequence so far, after which a sequence is only counted and not kept: it
/// will be refused.
const MAX_SURPLUS: usize = 64 << 20;
/// Number of taxa without a sequence after which nothing more is read.
const MAX_EMPTY: usize = 10_000;

/// What is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// White space at the beginning of a line.
    LineStart,
    /// White space between `>` and the name.
    Title,
    Name,
    /// What follows the name, or stands before the first record.
    Ignored,
    Sequence,
}

/// What has been read.
struct Reader {
    records: Vec<Record>,
    faults: Faults,
    file: String,
    line: usize,
    at: At,
    /// Sites of the longest sequence before the last.
    longest: usize,
    num_empty: usize,
}

/// Reads a FASTA text from this line on.
pub(super) fn read_fasta(input: &mut Input, line: usize) -> Result<Alignment> {
    let file = input.name().to_string();
    let (records, faults) = (Vec::new(), Faults::new());
    let mut reader =
        Reader { records, faults, file, line, at: At::LineStart, longest: 0, num_empty: 0 };
    while !reader.is_hopeless() {
        let chunk = input.fill()?;
        let length = chunk.len();
        if length == 0 {
            break;
        }
        chunk.split_inclusive(|&byte| byte == b'\n').for_each(|part| reader.read_part(part));
        input.consume(length);
    }
    reader.end_record();
    assemble(&reader.file, reader.records, None, reader.faults)
}

impl Reader {
    /// A line, or a part of one.
    fn read_part(&mut self, part: &[u8]) {
        let mut rest = part;
        if self.at == At::LineStart {
            rest = rest.trim_ascii_start();
            match rest.first() {
                None => {}
                Some(b'>') => {
                    self.end_record();
                    self.records.push(Record::new(self.line));
                    self.at = At::Title;
                    rest = &rest[1..];
                }
                Some(_) => self.begin_sequence_line(),
            }
        }
        if self.at == At::Title {
            rest = rest.trim_ascii_start();
            if !rest.is_empty() {
                self.at = At::Name;
            }
        }
        match (self.at, self.records.last_mut()) {
            (At::Name, Some(record)) => {
                let end = rest.iter().position(u8::is_ascii_whitespace);
                record.name.extend_from_slice(&rest[..end.unwrap_or(rest.len())]);
                if end.is_some() {
                    self.at = At::Ignored;
                }
            }
            (At::Sequence, Some(record)) => {
                let text = rest.trim_ascii_end();
                let num_sites = count_characters(text);
                let limit = match self.longest {
                    0 => u32::MAX as usize,
                    longest => longest.saturating_mul(2).saturating_add(MAX_SURPLUS),
                };
                if record.num_sites == 0 {
                    record.row.reserve_exact(self.longest.min(MAX_SURPLUS));
                }
                record.num_sites += num_sites;
                if record.num_sites <= limit {
                    record.append(text, num_sites);
                }
            }
            _ => {}
        }
        if part.ends_with(b"\n") {
            self.line += 1;
            self.at = At::LineStart;
        }
    }

    fn begin_sequence_line(&mut self) {
        self.at = At::Sequence;
        match self.records.last_mut() {
            Some(record) => record.lines.begin(record.row.len(), self.line),
            None => self.faults.push(Fault::new(
                Place::file(&self.file).at_line(self.line),
                "a FASTA file begins with a line `>name`: add it above the sequence",
            )),
        }
    }

    fn end_record(&mut self) {
        if let Some(record) = self.records.last_mut() {
            record.row.shrink_to_fit();
            self.longest = self.longest.max(record.num_sites);
            self.num_empty += usize::from(record.num_sites == 0);
        }
    }

    /// True for an input without an end: what was read suffices to refuse it.
    fn is_hopeless(&self) -> bool {
        let length = self.records.last().map_or(0, |record| record.num_sites);
        self.num_empty > MAX_EMPTY || length > 2 * u32::MAX as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_fasta(text: &[u8], file: &str) -> Result<Alignment> {
        read_fasta(&mut Input::new(text, file)?, 1)
    }

    #[test]
    fn wrapped_sequences_descriptions_and_crlf() {
        let text = ">Hómo_sapiens human, \r\nACGT\r\n\r\nac-?\r\n> b\tx\r\nNNNN NNNN\r\n";
        let alignment = parse_fasta(text.as_bytes(), "f").unwrap();
        assert_eq!(alignment.taxa().names(), ["Hómo_sapiens", "b"]);
        assert_eq!(alignment.row(0), b"ACGTac-?");
        assert_eq!(alignment.row(1), b"NNNNNNNN");
        assert_eq!(alignment.place(0, 4).line, Some(4));
    }

    #[test]
    fn faults_name_line_and_taxon() {
        let refused = parse_fasta(b"AC\n>a\nAC\n>b\n>\nAC\n>a\nACG\n", "f.fa").unwrap_err();
        let message = refused.to_string();
        for part in [
            "f.fa, line 1: a FASTA file begins with",
            "f.fa, line 4, 'b': the taxon has no sequence",
            "f.fa, line 5: the taxon has no name",
            "f.fa, line 7, 'a': the same taxon name is used on line 2",
            "f.fa, line 7, 'a': the sequence has 3 sites, while 'a' (line 2) has 2",
        ] {
            assert!(message.contains(part), "{part}\n{message}");
        }
        assert_eq!(message.lines().count(), 5, "{message}");
        assert_eq!(refused.exit_code(), 2);
    }

    /// A reader that gives one byte at a time.
    struct Dripping<'a>(&'a [u8]);

    impl std::io::Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = buffer.len().min(1).min(self.0.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    #[test]
    fn it_does_not_matter_where_the_pieces_of_the_text_end() {
        // More than is read at once, with every kind of line at every place.
        let lines = "> b_1 x\n\n ACG T\r\n  AC\n>b_2\nACGTAC\n".replace('b', "name");
        let text: String = (0..9000).map(|i| lines.replace('_', &format!("{i}_"))).collect();
        let alignment = parse_fasta(text.as_bytes(), "f").unwrap();
        let dripping = std::io::BufReader::with_capacity(1, Dripping(text.as_bytes()));
        let other = read_fasta(&mut Input::new(dripping, "f").unwrap(), 1).unwrap();
        assert_eq!(alignment.num_taxa(), 18_000);
        for taxon in 0..18_000 {
            assert_eq!(alignment.row(taxon), b"ACGTAC");
            assert_eq!(other.row(taxon), b"ACGTAC");
            assert_eq!(alignment.taxa().name(taxon), other.taxa().name(taxon));
            assert_eq!(alignment.place(taxon, 5), other.place(taxon, 5));
        }
        assert_eq!(alignment.place(2, 5).to_string(), "f, line 10, column 6, 'name1_1'");
    }

    #[test]
    fn a_sequence_far_longer_than_the_others_is_counted_but_not_kept() {
        let long = "ACGT".repeat(MAX_SURPLUS / 4 + 3);
        let text = format!(">a\nACGT\n>b\n{long}\n>c\nACGT\n");
        let message = parse_fasta(text.as_bytes(), "f").unwrap_err().to_string();
        let expected = format!("f, line 3, 'b': the sequence has {} sites, while 'a'", long.len());
        assert!(message.starts_with(&expected), "{message}");
    }
}
