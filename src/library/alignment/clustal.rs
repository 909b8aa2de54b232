//! Clustal: a first line with the name of the program, then blocks of lines `name sequence [count]`, each followed by
//! a line of signs that tell which columns are conserved.
//!
//! MUSCLE, MAFFT, T-Coffee, ProbCons, MSAProbs and Kalign write the same with other first lines. The count at the end
//! of a line is not checked, because programs count differently.

use super::assemble::assemble;
use super::named_lines::{Lines, NamedRows, split_word};
use super::rows::Alignment;
use crate::error::Result;
use crate::input::Input;

/// First words of programs that write this format.
const PROGRAMS: [&[u8]; 5] = [b"CLUSTAL", b"MUSCLE", b"PROBCONS", b"MSAPROBS", b"KALIGN"];

/// True if a text begins as one of this format.
pub(super) fn is_clustal(start: &[u8]) -> bool {
    let begins = |program: &&[u8]| {
        start.get(..program.len()).is_some_and(|word| word.eq_ignore_ascii_case(program))
    };
    PROGRAMS.iter().any(begins)
}

/// Reads a Clustal text, whose first line is this one.
pub(super) fn read_clustal(input: &mut Input, line: usize) -> Result<Alignment> {
    let mut rows = NamedRows::new(input.name());
    let mut lines = Lines::new(input, line);
    lines.next()?;
    let kept = gaps_as_dashes();
    while !rows.is_hopeless() {
        let Some((number, text)) = lines.next()? else {
            break;
        };
        // A blank line, or the signs of conservation.
        if text.first().is_none_or(u8::is_ascii_whitespace) {
            let sign = text.iter().find(|byte| !b" \t*:.+".contains(byte));
            if let Some(&sign) = sign {
                let shown = String::from_utf8_lossy(&[sign]).escape_debug().to_string();
                let message = format!(
                    "a line that begins with a blank has only signs of conservation (`*`, `:`, `.`), found '{shown}': \
                     a row begins with its name"
                );
                rows.refuse(number, message);
            }
            rows.end_block();
            continue;
        }
        let (name, rest) = split_word(text);
        let (sequence, count) = split_word(rest);
        if !count.iter().all(u8::is_ascii_digit) {
            let message = "expected a name, a sequence without blanks and perhaps a number: names have no blanks";
            rows.refuse(number, message);
        } else {
            rows.append(number, name, sequence, &kept);
        }
    }
    rows.end_block();
    assemble(&rows.file, rows.records, None, rows.faults)
}

/// What is kept of each byte: gaps as dashes.
fn gaps_as_dashes() -> [u8; 256] {
    std::array::from_fn(|byte| match byte as u8 {
        b'.' | b'~' => b'-',
        byte => byte,
    })
}
