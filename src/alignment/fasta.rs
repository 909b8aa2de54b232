//! FASTA: a `>` line with the name, then the sequence on any number of lines.
//!
//! The name is what stands between `>` and the first white space, as everywhere in the field; the rest of that
//! line is a description and is not kept. Only finds the pieces: all checks are in `assemble`.

use super::assemble::{Piece, Record, assemble};
use super::rows::Alignment;
use crate::error::{Fault, Place, Result};

/// Reads a FASTA text (without byte order mark).
pub(super) fn parse_fasta(text: &[u8], file: &str) -> Result<Alignment> {
    let mut records: Vec<Record> = Vec::new();
    let mut faults = Vec::new();
    for (i, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let (number, line) = (i + 1, line.trim_ascii());
        if let Some(title) = line.strip_prefix(b">") {
            let title = title.trim_ascii_start();
            let end = title.iter().position(u8::is_ascii_whitespace).unwrap_or(title.len());
            records.push(Record { name: &title[..end], line: number, pieces: Vec::new() });
        } else if !line.is_empty() {
            match records.last_mut() {
                Some(record) => record.pieces.push(Piece::new(number, line)),
                None => faults.push(Fault::new(
                    Place::file(file).at_line(number),
                    "a FASTA file begins with a line `>name`",
                )),
            }
        }
    }
    assemble(file, records, None, faults)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            "f.fa, line 5: a taxon without a name",
            "f.fa, line 7, 'a': the taxon name was used before, on line 2",
            "f.fa, line 7, 'a': the sequence has 3 sites, while 'a' (line 2) has 2",
        ] {
            assert!(message.contains(part), "{part}\n{message}");
        }
        assert_eq!(message.lines().count(), 5, "{message}");
        assert_eq!(refused.exit_code(), 2);
    }
}
