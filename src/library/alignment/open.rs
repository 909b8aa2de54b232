//! From a path to an [`Alignment`]: which format the text has, and how much of it is read at once.

use super::clustal::read_clustal;
use super::detect::{Format, detect_format};
use super::fasta::read_fasta;
use super::nexus::read_nexus;
use super::phylip::read_phylip;
use super::rows::Alignment;
use super::stockholm::read_stockholm;
use crate::error::Result;
use crate::input::Input;
use std::io::BufRead;
use std::path::Path;

/// Reads an alignment file: PHYLIP, FASTA, NEXUS, Clustal or Stockholm, plain or gzipped, by content; `-` is standard
/// input.
///
/// # Errors
/// [`crate::error::Error::Io`] if the file cannot be read; otherwise as [`read_alignment_from`].
pub fn read_alignment(path: &Path) -> Result<Alignment> {
    read_input(Input::open(path)?)
}

/// Reads an alignment from any reader; `file` is its name in faults.
///
/// # Errors
/// [`crate::error::Error::Input`] with every fault found: an unknown format, an empty file, a wrong header, empty or
/// duplicate names, missing sequences, unequal lengths, characters that no data type has, gzipped data that are
/// incomplete or damaged. [`crate::error::Error::Io`] if reading fails.
pub fn read_alignment_from(reader: impl BufRead, file: &str) -> Result<Alignment> {
    read_input(Input::new(reader, file)?)
}

fn read_input(mut input: Input) -> Result<Alignment> {
    let line = skip_blanks(&mut input)?;
    let file = input.name().to_string();
    match detect_format(input.fill()?, line, &file)? {
        Format::Phylip => read_phylip(&mut input, line),
        Format::Fasta => read_fasta(&mut input, line),
        Format::Nexus => read_nexus(&mut input, line),
        Format::Clustal => read_clustal(&mut input, line),
        Format::Stockholm => read_stockholm(&mut input, line),
    }
}

/// Passes over white space, and tells the line (counted from 1) of what comes after it.
fn skip_blanks(input: &mut Input) -> Result<usize> {
    let mut line = 1;
    loop {
        let chunk = input.fill()?;
        let blank = chunk.len() - chunk.trim_ascii_start().len();
        line += chunk[..blank].iter().filter(|&&byte| byte == b'\n').count();
        let is_done = blank < chunk.len() || chunk.is_empty();
        input.consume(blank);
        if is_done {
            return Ok(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::gzip;
    use proptest::prelude::*;

    #[test]
    fn both_formats_plain_and_gzipped_give_the_same_rows() {
        let phylip = b"2 4\nx ACGT\ny AC-T\n";
        let fasta = b"\xef\xbb\xbf>x\nACGT\n>y\nAC-T\n";
        // Two gzip members in one file are one text.
        let members = [gzip(&phylip[..9]), gzip(&phylip[9..])].concat();
        for text in [phylip.to_vec(), fasta.to_vec(), gzip(phylip), gzip(fasta), members] {
            let alignment = read_alignment_from(text.as_slice(), "f").unwrap();
            assert_eq!(alignment.taxa().names(), ["x", "y"]);
            assert_eq!((alignment.row(0), alignment.row(1)), (&b"ACGT"[..], &b"AC-T"[..]));
        }
    }

    #[test]
    fn files_that_cannot_be_read_are_refused_by_name() {
        let cut = &gzip(b"2 4\nx ACGT\ny AC-T\n")[..20];
        let cut = read_alignment_from(cut, "cut.gz").unwrap_err();
        assert!(cut.to_string().starts_with("cut.gz: the gzipped data end prematurely"), "{cut}");
        for blank in [&b""[..], b" \n\r\n"] {
            let message = read_alignment_from(blank, "f").unwrap_err().to_string();
            assert_eq!(message, "f: the file is empty: expected an alignment");
        }
        let unknown = read_alignment_from(&b" \r\nbegin data;"[..], "f").unwrap_err();
        assert!(
            unknown.to_string().starts_with("f, line 2: the file begins with 'begin data;'"),
            "{unknown}"
        );
        let absent = read_alignment(Path::new("no/such.phy")).unwrap_err();
        assert!(absent.to_string().starts_with("no/such.phy: "), "{absent}");
        assert_eq!((cut.exit_code(), absent.exit_code()), (2, 2));
    }

    #[test]
    fn a_path_is_read_and_named_in_faults() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ä.phy");
        std::fs::write(&path, "2 4\nx ACGT\ny ACT\n").unwrap();
        let message = read_alignment(&path).unwrap_err().to_string();
        assert!(
            message.contains("ä.phy, line 3, 'y': the sequence has 3 sites, while 'x'"),
            "{message}"
        );
    }

    proptest! {
        /// Whatever a file holds: an alignment of equal rows, or faults.
        #[test]
        fn no_text_makes_a_reader_panic(
            start in prop::sample::select(vec!["", ">", "2 4\n", "3 5\n", "1 1\n", "9 9\n"]),
            rest in prop::collection::vec(prop::sample::select(b"AC-\n\n\r x>2!\xc3\xa9".to_vec()), 0..60),
        ) {
            let text = [start.as_bytes(), &rest].concat();
            match read_alignment_from(text.as_slice(), "f") {
                Ok(alignment) => {
                    let cells = (0..alignment.num_taxa()).map(|taxon| alignment.row(taxon).len());
                    prop_assert!(cells.eq((0..alignment.num_taxa()).map(|_| alignment.num_sites())));
                    prop_assert!(alignment.num_sites() > 0 && alignment.num_taxa() > 0);
                }
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }
}
