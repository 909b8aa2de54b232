//! Stockholm: `# STOCKHOLM 1.0`, lines `name sequence` in one or several blocks, and `//` at the end.
//!
//! Lines that begin with `#` (features of the file, of sequences, of columns) are not kept. Gaps are `-`, `.` and `_`;
//! `~` is a column that the sequence does not reach.

use super::assemble::assemble;
use super::named_lines::{Lines, NamedRows, split_word};
use super::rows::Alignment;
use crate::error::Result;
use crate::input::Input;

/// True if a text begins as one of this format.
pub(super) fn is_stockholm(start: &[u8]) -> bool {
    let Some(rest) = start.strip_prefix(b"#") else {
        return false;
    };
    let word = b"STOCKHOLM";
    let rest = rest.trim_ascii_start();
    rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// Reads a Stockholm text, whose first line is this one.
pub(super) fn read_stockholm(input: &mut Input, line: usize) -> Result<Alignment> {
    let mut rows = NamedRows::new(input.name());
    let mut lines = Lines::new(input, line);
    lines.next()?;
    let kept = gaps_as_dashes();
    let mut end = None;
    while !rows.is_hopeless() {
        let Some((number, text)) = lines.next()? else {
            break;
        };
        let text = text.trim_ascii_start();
        match (text, end) {
            (b"", _) => rows.end_block(),
            (b"//", None) => {
                end = Some(number);
                rows.end_block();
            }
            (text, Some(end)) => {
                let message = match is_stockholm(text) {
                    true => format!(
                        "a second alignment begins here; the first ends on line {end}: keep only one"
                    ),
                    false => {
                        format!("the alignment ends with `//` on line {end}: remove what follows")
                    }
                };
                rows.refuse(number, message);
                break;
            }
            (text, None) if text.starts_with(b"#") => {}
            (text, None) => {
                let (name, sequence) = split_word(text);
                if sequence.iter().any(u8::is_ascii_whitespace) {
                    let message =
                        "expected a name and a sequence without blanks: names have no blanks";
                    rows.refuse(number, message);
                } else {
                    rows.append(number, name, sequence, &kept);
                }
            }
        }
    }
    if end.is_none() && !rows.is_hopeless() {
        rows.end_block();
        let message = "the alignment does not end with `//`: the file may be incomplete";
        rows.refuse(lines.number, message);
    }
    assemble(&rows.file, rows.records, None, rows.faults)
}

/// What is kept of each byte: gaps as dashes.
fn gaps_as_dashes() -> [u8; 256] {
    std::array::from_fn(|byte| match byte as u8 {
        b'.' | b'_' => b'-',
        b'~' => b'?',
        byte => byte,
    })
}
