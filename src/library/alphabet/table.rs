//! Lookup tables from characters to codes, computed at compile time from lists of characters.

use super::Code;

/// Entry of characters that do not belong to the alphabet.
const UNKNOWN: Code = Code::MAX;

/// The code of each byte.
pub(super) struct CodeTable([Code; 256]);

impl CodeTable {
    /// A table in which `characters[code]` are the characters of a code, in upper case. Lower case has the same
    /// codes.
    pub(super) const fn new(characters: &[&[u8]]) -> Self {
        let mut codes = [UNKNOWN; 256];
        let mut code = 0;
        while code < characters.len() {
            let mut i = 0;
            while i < characters[code].len() {
                let character = characters[code][i];
                codes[character as usize] = code as Code;
                codes[character.to_ascii_lowercase() as usize] = code as Code;
                i += 1;
            }
            code += 1;
        }
        CodeTable(codes)
    }

    /// Code of a character, `None` if it does not belong to the alphabet.
    #[inline]
    pub(super) fn get(&self, byte: u8) -> Option<Code> {
        match self.0[byte as usize] {
            UNKNOWN => None,
            code => Some(code),
        }
    }
}
