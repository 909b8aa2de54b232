//! Nucleotides: four states, and the IUPAC ambiguity codes as sets of them.
//!
//! The code of a character is its state set: bit 0 = A, 1 = C, 2 = G, 3 = T (Cornish-Bowden 1985,
//! Nucleic Acids Research 13:3021). RNA's U is T; the undetermined characters are the full set.

use super::Code;

/// States in the order of the bits.
pub(super) const STATE_NAMES: [&str; 4] = ["A", "C", "G", "T"];

/// Code (and state set) of a cell about which nothing is known.
pub(super) const UNDETERMINED: Code = 0b1111;

/// Not a code: the character is not a nucleotide. Also the code of no character, as a set is never empty.
const UNKNOWN: Code = 0;

/// Characters, upper case, of each non-empty state set.
const CHARACTERS: [&[u8]; 16] = [
    b"", b"A", b"C", b"M", b"G", b"R", b"S", b"V", b"TU", b"W", b"Y", b"H", b"K", b"D", b"B",
    b"NXO-?.",
];

static CODES: [Code; 256] = code_table();

const fn code_table() -> [Code; 256] {
    let mut table = [UNKNOWN; 256];
    let mut code = 0;
    while code < CHARACTERS.len() {
        let mut i = 0;
        while i < CHARACTERS[code].len() {
            let character = CHARACTERS[code][i];
            table[character as usize] = code as Code;
            table[character.to_ascii_lowercase() as usize] = code as Code;
            i += 1;
        }
        code += 1;
    }
    table
}

/// Code of a character, `None` if it is no nucleotide.
#[inline]
pub(super) fn encode(byte: u8) -> Option<Code> {
    match CODES[byte as usize] {
        UNKNOWN => None,
        code => Some(code),
    }
}

/// State set of every code: for nucleotides the code itself.
pub(super) fn code_masks() -> Vec<u64> {
    (0..16).collect()
}
