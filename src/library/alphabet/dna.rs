//! Nucleotides: four states, and the IUPAC ambiguity codes as sets of them.
//!
//! The code of a character is its state set: bit 0 = A, 1 = C, 2 = G, 3 = T (Cornish-Bowden 1985,
//! Nucleic Acids Research 13:3021). RNA's U is T; the undetermined characters are the full set.

use super::Code;
use super::table::CodeTable;

/// States in the order of the bits.
pub(super) const STATE_NAMES: [&str; 4] = ["A", "C", "G", "T"];

/// Code (and state set) of an undetermined character.
pub(super) const UNDETERMINED: Code = 0b1111;

/// The known characters, for messages.
pub(super) const KNOWN: &str = "ACGTU, RYSWKMBDHV, and NXO-?. for undetermined, in either case";

/// Characters of each state set; the empty set has none.
static CODES: CodeTable = CodeTable::new(&[
    b"", b"A", b"C", b"M", b"G", b"R", b"S", b"V", b"TU", b"W", b"Y", b"H", b"K", b"D", b"B",
    b"NXO-?.",
]);

/// Code (and state set) of a character, `None` if it is not a nucleotide.
#[inline]
pub(super) fn encode(byte: u8) -> Option<Code> {
    CODES.get(byte)
}

/// State set of each code: for nucleotides the code itself.
pub(super) fn code_masks() -> Vec<u64> {
    (0..16).collect()
}
