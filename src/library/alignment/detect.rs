//! The format of a text, from its first characters; the name of the file does not matter.

use crate::error::{Error, Place, Result};

/// A format that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Begins with two numbers.
    Phylip,
    /// Begins with `>`.
    Fasta,
}

/// The format of a text that begins with its first character that is not white space, on this line.
///
/// # Errors
/// An empty text, and a text that begins like neither format.
pub(super) fn detect_format(start: &[u8], line: usize, file: &str) -> Result<Format> {
    match start.first() {
        None => Err(Error::input(Place::file(file), "the file is empty: expected an alignment")),
        Some(b'>') => Ok(Format::Fasta),
        Some(b'0'..=b'9') => Ok(Format::Phylip),
        Some(_) => {
            let begin = String::from_utf8_lossy(&start[..start.len().min(80)]);
            let shown: String = begin.lines().next().unwrap_or("").chars().take(20).collect();
            Err(Error::input(
                Place::file(file).at_line(line),
                format!(
                    "the file begins with '{}', which is neither PHYLIP (two numbers: taxa and sites) nor \
                     FASTA (`>name`): convert the alignment to one of these formats",
                    shown.escape_debug()
                ),
            ))
        }
    }
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
        let message = detect_format(b"#NEXUS\nbegin data;", 2, "f").unwrap_err().to_string();
        assert!(
            message.starts_with("f, line 2: the file begins with '#NEXUS', which is neither"),
            "{message}"
        );
        detect_format(b"\x00\xff\xfe", 1, "f").unwrap_err();
    }
}
