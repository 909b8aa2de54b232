//! From a path to an [`Alignment`]: the only place of this room that touches files, and where gzip is undone.

use super::detect::{Format, detect_format};
use super::fasta::parse_fasta;
use super::phylip::parse_phylip;
use super::rows::Alignment;
use crate::error::{Error, Result};
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// First bytes of every gzip file (RFC 1952).
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
/// UTF-8's byte order mark, which some editors write and nobody means.
const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

/// Reads an alignment file: PHYLIP or FASTA, plain or gzipped, by content.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read; otherwise as [`read_alignment_from`].
pub fn read_alignment(path: &Path) -> Result<Alignment> {
    let file_name = path.display().to_string();
    let fail = |source| Error::Io { path: file_name.clone(), source, writing: false };
    let file = File::open(path).map_err(fail)?;
    read_alignment_from(BufReader::with_capacity(1 << 16, file), &file_name)
}

/// Reads an alignment from anything; `file` is what faults will call it.
///
/// # Errors
/// [`Error::Input`] with every fault found: an unknown format, an empty file, a header that lies, empty or
/// duplicate names, missing sequences, unequal lengths, characters no data type knows.
/// [`Error::Io`] if reading fails or gzipped data are damaged.
pub fn read_alignment_from(mut reader: impl BufRead, file: &str) -> Result<Alignment> {
    let fail = |source| Error::Io { path: file.to_string(), source, writing: false };
    let mut text = Vec::new();
    (&mut reader).take(GZIP_MAGIC.len() as u64).read_to_end(&mut text).map_err(fail)?;
    if text == GZIP_MAGIC {
        text.clear();
        MultiGzDecoder::new(GZIP_MAGIC.chain(reader)).read_to_end(&mut text).map_err(fail)?;
    } else {
        reader.read_to_end(&mut text).map_err(fail)?;
    }
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text);
    match detect_format(text, file)? {
        Format::Phylip => parse_phylip(text, file),
        Format::Fasta => parse_fasta(text, file),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use proptest::prelude::*;
    use std::io::Write;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

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
        assert!(cut.to_string().starts_with("cut.gz: "), "{cut}");
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
