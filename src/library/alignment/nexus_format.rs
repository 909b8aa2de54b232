//! The FORMAT command of a NEXUS block: what the characters of its matrix mean.

use super::nexus_commands::Command;
use crate::error::{Fault, Faults, Place, abridged};

/// The kind of characters, as far as sets of states (`{AG}`) depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Characters {
    Nucleotides,
    Protein,
    /// Sets of these states.
    Standard,
    /// Kinds that stand side by side, or are not told.
    Mixed,
}

/// How the characters of a matrix are read.
#[derive(Debug, Clone)]
pub(super) struct Format {
    characters: Characters,
    /// Symbols of states of standard data, as written.
    symbols: Option<String>,
    /// `[byte]`: what is kept of it.
    pub kept: [u8; 256],
    /// The matrix is said to be in blocks of columns.
    pub interleave: bool,
}

/// Stands for the character of the first sequence until the rows are complete. No sequence has this character.
pub(super) const MATCH: u8 = 1;
/// What a control character that is [`MATCH`] by chance becomes, to be refused.
const NO_MATCH: u8 = 2;

/// Subcommands that change nothing here.
const WITHOUT_EFFECT: [&str; 5] = ["labels", "statesformat", "items", "newtaxa", "coding"];

impl Default for Format {
    fn default() -> Self {
        let mut kept: [u8; 256] = std::array::from_fn(|byte| byte as u8);
        kept[usize::from(MATCH)] = NO_MATCH;
        Format { characters: Characters::Mixed, symbols: None, kept, interleave: false }
    }
}

impl Format {
    /// Reads the command; what cannot be read is refused.
    pub(super) fn read(command: &Command, file: &str, faults: &mut Faults) -> Self {
        let mut format = Format::default();
        let mut signs: Vec<(&'static str, char, u8)> = Vec::new();
        let mut respects_case = false;
        for (key, value, line) in command.settings() {
            let mut refuse = |message: String| {
                faults.push(Fault::new(Place::file(file).at_line(line), message));
            };
            match (key.as_str(), value) {
                ("datatype", Some(value)) => match characters(&value) {
                    Some(characters) => format.characters = characters,
                    None => refuse(format!(
                        "DATATYPE={} is not supported: expected DNA, RNA, NUCLEOTIDE, PROTEIN or STANDARD",
                        abridged(&value)
                    )),
                },
                (key @ ("missing" | "gap" | "matchchar"), Some(value)) => {
                    let (name, meaning) = match key {
                        "missing" => ("MISSING", b'?'),
                        "gap" => ("GAP", b'-'),
                        _ => ("MATCHCHAR", MATCH),
                    };
                    let mut sign = value.chars();
                    match (sign.next().filter(char::is_ascii_graphic), sign.next()) {
                        (Some(sign), None) => signs.push((name, sign, meaning)),
                        _ => refuse(format!(
                            "{name}={} is not one printable ASCII character",
                            abridged(&value)
                        )),
                    }
                }
                ("symbols", Some(value)) => format.symbols = Some(value),
                ("interleave", value) => {
                    format.interleave = !value.is_some_and(|value| value.eq_ignore_ascii_case("no"));
                }
                ("respectcase", _) => respects_case = true,
                ("equate", _) => refuse(
                    "EQUATE is not supported: replace the symbols that it explains in the matrix".into(),
                ),
                ("transpose", _) => refuse(
                    "TRANSPOSE is not supported: write one row for each taxon, not for each character".into(),
                ),
                ("nolabels", _) => {
                    refuse("NOLABELS is not supported: write the name of each taxon before its row".into());
                }
                ("tokens", _) => {
                    refuse("TOKENS is not supported: write each state as one symbol".into());
                }
                (key, _) if WITHOUT_EFFECT.contains(&key) => {}
                (key @ ("datatype" | "missing" | "gap" | "matchchar" | "symbols"), None) => {
                    refuse(format!("{} has no value: expected `{key}=...`", key.to_uppercase()));
                }
                (key, _) => refuse(format!("'{}' is not a subcommand of FORMAT", abridged(key))),
            }
        }
        let mut refuse = |message: String| {
            faults.push(Fault::new(Place::file(file).at_line(command.line), message));
        };
        if respects_case && format.characters == Characters::Standard {
            refuse(
                "RESPECTCASE is not supported: letters are the same states in both cases".into(),
            );
        }
        for (i, (name, sign, _)) in signs.iter().enumerate() {
            if let Some((other, ..)) = signs[..i].iter().find(|other| other.1 == *sign) {
                refuse(format!(
                    "{other} and {name} are the same character, '{sign}': give each its own"
                ));
            }
        }
        for (_, sign, meaning) in signs {
            let sign = sign as u8;
            format.kept[usize::from(sign.to_ascii_lowercase())] = meaning;
            format.kept[usize::from(sign.to_ascii_uppercase())] = meaning;
        }
        format
    }

    /// The character that stands for any of these states, if there is one.
    pub(super) fn of_set(&self, states: &[u8]) -> Option<u8> {
        let states: Vec<u8> = states
            .iter()
            .filter(|&&byte| !byte.is_ascii_whitespace() && byte != b',')
            .map(u8::to_ascii_uppercase)
            .collect();
        match (self.characters, states.as_slice()) {
            (_, []) => None,
            (_, [only]) => Some(*only),
            (Characters::Nucleotides, states) => {
                let bits = states.iter().map(|&state| NUCLEOTIDES.iter().position(|&n| n == state));
                let bits = bits.map(|bits| if bits == Some(U) { Some(8) } else { bits });
                let union = bits.reduce(|a, b| Some(a? | b?))??;
                NUCLEOTIDES.get(union).copied()
            }
            (Characters::Protein, [b'D', b'N'] | [b'N', b'D']) => Some(b'B'),
            (Characters::Protein, [b'E', b'Q'] | [b'Q', b'E']) => Some(b'Z'),
            (Characters::Standard, states) => {
                let symbols = self.symbols.as_deref().unwrap_or("01");
                let symbols = symbols.bytes().filter(|byte| !byte.is_ascii_whitespace());
                let all = { symbols }.all(|symbol| states.contains(&symbol.to_ascii_uppercase()));
                all.then_some(b'?')
            }
            _ => None,
        }
    }

    /// The first byte of a row that is none of the symbols of the format, if it lists them.
    pub(super) fn stranger(&self, row: &[u8]) -> Option<usize> {
        let symbols = self.symbols.as_deref()?;
        // `0~9` is a range.
        if self.characters != Characters::Standard || symbols.contains('~') {
            return None;
        }
        let mut is_known = [false; 256];
        let known = symbols.bytes().chain(*b"?-.").chain([MATCH, NO_MATCH]);
        for byte in known {
            is_known[usize::from(byte.to_ascii_lowercase())] = true;
            is_known[usize::from(byte.to_ascii_uppercase())] = true;
        }
        row.iter().position(|&byte| byte.is_ascii_graphic() && !is_known[usize::from(byte)])
    }
}

/// `[bits]`: the code of the nucleotides whose bits (A 1, C 2, G 4, T 8) are set; then U.
const NUCLEOTIDES: [u8; 17] = *b"\0ACMGRSVTWYHKDBNU";
/// Where U is.
const U: usize = 16;

fn characters(datatype: &str) -> Option<Characters> {
    match datatype.to_ascii_lowercase().as_str() {
        "dna" | "rna" | "nucleotide" => Some(Characters::Nucleotides),
        "protein" => Some(Characters::Protein),
        // RESTRICTION and MIXED are MrBayes's, BINARY is written by some programs.
        "standard" | "restriction" | "binary" => Some(Characters::Standard),
        mixed if mixed.starts_with("mixed(") => Some(Characters::Mixed),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::nexus_commands::commands;
    use super::*;

    fn format(text: &str) -> (Format, String) {
        let mut faults = Faults::new();
        let command = commands(text.as_bytes(), 3).next().unwrap();
        let format = Format::read(&command, "f", &mut faults);
        (format, faults.to_string())
    }

    #[test]
    fn signs_and_sets_are_translated() {
        let (dna, faults) =
            format("FORMAT datatype = RNA missing=n Gap=~ MATCHCHAR='.' interleave=yes labels;");
        assert_eq!(faults, "");
        assert!(dna.interleave);
        for (byte, kept) in [(b'N', b'?'), (b'n', b'?'), (b'~', b'-'), (b'.', MATCH), (b'a', b'a')]
        {
            assert_eq!(dna.kept[usize::from(byte)], kept);
        }
        for (set, code) in [("AG", b'R'), ("u c", b'Y'), ("A,M", b'M'), ("acgt", b'N'), ("T", b'T')]
        {
            assert_eq!(dna.of_set(set.as_bytes()), Some(code), "{set}");
        }
        for set in ["", "A-", "A?", "AE"] {
            assert_eq!(dna.of_set(set.as_bytes()), None, "{set}");
        }
        let (standard, _) = format("format datatype=standard symbols=\"0 1 2\" interleave=no;");
        assert!(!standard.interleave);
        assert_eq!(standard.of_set(b"012"), Some(b'?'));
        assert_eq!(standard.of_set(b"01"), None);
        assert_eq!(standard.stranger(b"01?-2"), None);
        assert_eq!(standard.stranger(b"01?x2"), Some(3));
        let (protein, _) = format("format datatype=protein;");
        assert_eq!(protein.of_set(b"DN"), Some(b'B'));
        assert_eq!(protein.of_set(b"DE"), None);
    }

    #[test]
    fn what_cannot_be_read_is_refused_all_at_once() {
        let (_, faults) = format(
            "format datatype=continuous\nmissing=?? gap\nequate=\"a=A\" transpose nolabels tokens\nfoo=1 missing=x gap=x;",
        );
        let expected = [
            "f, line 3: DATATYPE=continuous is not supported",
            "f, line 4: MISSING=?? is not one printable ASCII character",
            "f, line 4: GAP has no value",
            "f, line 5: EQUATE is not",
            "f, line 5: TRANSPOSE is not",
            "f, line 5: NOLABELS is not",
            "f, line 5: TOKENS is not",
            "f, line 6: 'foo' is not a subcommand",
            "f, line 3: MISSING and GAP are the same character, 'x'",
        ];
        assert_eq!(faults.lines().count(), expected.len(), "{faults}");
        for (fault, expected) in faults.lines().zip(expected) {
            assert!(fault.starts_with(expected), "{fault}");
        }
        assert!(format("format datatype=standard respectcase;").1.contains("RESPECTCASE"));
        assert_eq!(format("format datatype=dna respectcase;").1, "");
    }
}
