//! The format of a text, from its first characters; the name of the file does not matter.

use super::clustal::is_clustal;
use super::stockholm::is_stockholm;
use crate::error::{Error, Place, Result};

/// A format that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Begins with two numbers.
    Phylip,
    /// Begins with `>`.
    Fasta,
    /// Begins with `#NEXUS`.
    Nexus,
    /// Begins with `CLUSTAL`, or the name of another program that writes the same.
    Clustal,
    /// Begins with `# STOCKHOLM`.
    Stockholm,
}

/// The format of a text that begins with its first character that is not white space, on this line.
///
/// # Errors
/// An empty text, and a text that begins like no format.
pub(super) fn detect_format(start: &[u8], line: usize, file: &str) -> Result<Format> {
    match start.first() {
        None => Err(Error::input(Place::file(file), "the file is empty: expected an alignment")),
        Some(b'>') => Ok(Format::Fasta),
        Some(b'0'..=b'9') => Ok(Format::Phylip),
        Some(b'#') if begins(start, b"#nexus") => Ok(Format::Nexus),
        Some(b'#') if is_stockholm(start) => Ok(Format::Stockholm),
        Some(_) if is_clustal(start) => Ok(Format::Clustal),
        Some(_) => {
            let begin = String::from_utf8_lossy(&start[..start.len().min(80)]);
            let shown: String = begin.lines().next().unwrap_or("").chars().take(20).collect();
            Err(Error::input(
                Place::file(file).at_line(line),
                format!(
                    "the file begins with '{}', which is not PHYLIP (two numbers: taxa and sites), FASTA (`>name`), \
                     NEXUS (`#NEXUS`), Clustal (`CLUSTAL`) or Stockholm (`# STOCKHOLM 1.0`): convert the alignment to \
                     one of these formats",
                    shown.escape_debug()
                ),
            ))
        }
    }
}

/// True if a text begins with this word, in any case.
fn begins(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_character_decides() {
        assert_eq!(detect_format(b"4 10\n", 2, "f").unwrap(), Format::Phylip);
        assert_eq!(detect_format(b">a\nAC", 2, "f").unwrap(), Format::Fasta);
        let message = detect_format(b"", 1, "f").unwrap_err().to_string();
        assert_eq!(message, "f: the file is empty: expected an alignment");
        assert_eq!(detect_format(b"#NEXUS\nbegin data;", 2, "f").unwrap(), Format::Nexus);
        assert_eq!(detect_format(b"#nexus;", 2, "f").unwrap(), Format::Nexus);
        for start in ["CLUSTAL O(1.2.4)", "clustal W", "MUSCLE (3.8)", "Kalign"] {
            assert_eq!(detect_format(start.as_bytes(), 1, "f").unwrap(), Format::Clustal);
        }
        for start in ["# STOCKHOLM 1.0\n", "#STOCKHOLM 1.0", "# stockholm"] {
            assert_eq!(detect_format(start.as_bytes(), 1, "f").unwrap(), Format::Stockholm);
        }
        let message = detect_format(b"#NEX\nbegin data;", 2, "f").unwrap_err().to_string();
        assert!(
            message.starts_with("f, line 2: the file begins with '#NEX', which is not PHYLIP"),
            "{message}"
        );
        detect_format(b"\x00\xff\xfe", 1, "f").unwrap_err();
    }
}
