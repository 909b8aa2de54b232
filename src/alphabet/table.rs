//! Lookup tables from characters to codes, made at compile time from lists of characters.

use super::Code;

/// Not a code: the alphabet does not know the character.
const UNKNOWN: Code = Code::MAX;

/// For every byte its code.
pub(super) struct CodeTable([Code; 256]);

impl CodeTable {
    /// `characters[code]` are the characters of a code, in upper case; lower case means the same.
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

    /// Code of a character, `None` if the alphabet does not know it.
    #[inline]
    pub(super) fn get(&self, byte: u8) -> Option<Code> {
        match self.0[byte as usize] {
            UNKNOWN => None,
            code => Some(code),
        }
    }
}
