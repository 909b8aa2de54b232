//! Amino acids: twenty states in the order of PAML's rate tables, which all published matrices follow.
//!
//! B, Z and J are the IUPAC ambiguity codes. X, gaps, stops (`*`) and the two amino acids beyond the twenty
//! (U selenocysteine, O pyrrolysine), which no matrix includes, are undetermined.

use super::Code;
use super::table::CodeTable;

/// States in the order of the bits.
pub(super) const STATE_NAMES: [&str; 20] = [
    "A", "R", "N", "D", "C", "Q", "E", "G", "H", "I", "L", "K", "M", "F", "P", "S", "T", "W", "Y",
    "V",
];

/// Code of an undetermined character.
pub(super) const UNDETERMINED: Code = 20;

/// The known characters, for messages.
pub(super) const KNOWN: &str =
    "ARNDCQEGHILKMFPSTWYV, B Z J, and X*UO-?. for undetermined, in either case";

/// Characters of each code: those of the states, the undetermined ones, and those of the sets [`AMBIGUOUS`].
static CODES: CodeTable = CodeTable::new(&[
    b"A", b"R", b"N", b"D", b"C", b"Q", b"E", b"G", b"H", b"I", b"L", b"K", b"M", b"F", b"P", b"S",
    b"T", b"W", b"Y", b"V", b"X*UO-?.", b"B", b"Z", b"J",
]);

/// State sets of the codes from 21 on: B = N or D, Z = Q or E, J = I or L.
const AMBIGUOUS: [u64; 3] = [1 << 2 | 1 << 3, 1 << 5 | 1 << 6, 1 << 9 | 1 << 10];

/// Code of a character, `None` if it is not an amino acid.
#[inline]
pub(super) fn encode(byte: u8) -> Option<Code> {
    CODES.get(byte)
}

/// State sets of the codes after those of the states and of undetermined characters.
pub(super) fn ambiguous_masks() -> &'static [u64] {
    &AMBIGUOUS
}
