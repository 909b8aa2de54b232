//! [`DataType`]: the one name under which every alphabet is asked the same questions.
//!
//! A new alphabet is a file beside `dna.rs`, a variant here and one arm per `match`. Nothing outside this room
//! may match on the variants to learn about states or codes.

use super::dna;

/// Small number of a set of possible states, an index into a list of such sets. A partition of codons may show
/// more than 256 different ones.
pub type Code = u16;

/// What the characters of a sequence stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DataType {
    /// Nucleotides, DNA or RNA.
    Dna,
}

impl DataType {
    /// What users call it.
    pub fn name(self) -> &'static str {
        match self {
            DataType::Dna => "DNA",
        }
    }

    /// Number of states.
    pub fn num_states(self) -> usize {
        self.state_names().len()
    }

    /// Names of the states, in the order of the bits of a state set and of every vector over states.
    pub fn state_names(self) -> &'static [&'static str] {
        match self {
            DataType::Dna => &dna::STATE_NAMES,
        }
    }

    /// Code of a character, an index into [`Self::code_masks`]; `None` if the alphabet does not know it.
    #[inline]
    pub fn encode(self, byte: u8) -> Option<Code> {
        match self {
            DataType::Dna => dna::encode(byte),
        }
    }

    /// For every code the set of states it may stand for, as bits. A code no character has may be empty.
    pub fn code_masks(self) -> Vec<u64> {
        match self {
            DataType::Dna => dna::code_masks(),
        }
    }

    /// The code of a cell about which nothing is known (gap, missing, any state).
    pub fn undetermined(self) -> Code {
        match self {
            DataType::Dna => dna::UNDETERMINED,
        }
    }

    /// The characters the alphabet knows, for messages.
    pub fn known_characters(self) -> &'static str {
        match self {
            DataType::Dna => "ACGTU, RYSWKMBDHV, and NXO-?. for undetermined, in either case",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The states a DNA character may stand for, by name.
    fn states(byte: u8) -> Option<String> {
        let dna = DataType::Dna;
        let mask = dna.code_masks()[dna.encode(byte)? as usize];
        let possible = (0..dna.num_states()).filter(|state| mask >> state & 1 == 1);
        Some(possible.map(|state| dna.state_names()[state]).collect())
    }

    #[test]
    fn every_iupac_character_means_its_states_in_either_case() {
        let expected = [
            ("A", "A"),
            ("C", "C"),
            ("G", "G"),
            ("T", "T"),
            ("U", "T"),
            ("R", "AG"),
            ("Y", "CT"),
            ("S", "CG"),
            ("W", "AT"),
            ("K", "GT"),
            ("M", "AC"),
            ("B", "CGT"),
            ("D", "AGT"),
            ("H", "ACT"),
            ("V", "ACG"),
            ("N", "ACGT"),
            ("X", "ACGT"),
            ("O", "ACGT"),
            ("-", "ACGT"),
            ("?", "ACGT"),
            (".", "ACGT"),
        ];
        for (character, means) in expected {
            for byte in [character.as_bytes()[0], character.to_lowercase().as_bytes()[0]] {
                assert_eq!(states(byte).as_deref(), Some(means), "{character}");
            }
        }
        let known = (0..=255u8).filter(|&byte| states(byte).is_some()).count();
        assert_eq!(known, 18 * 2 + 3, "and no other character is known");
    }

    #[test]
    fn undetermined_is_the_code_of_all_states() {
        let dna = DataType::Dna;
        assert_eq!(dna.encode(b'-'), Some(dna.undetermined()));
        assert_eq!(dna.undetermined(), 15);
        assert_eq!(dna.code_masks()[15], 0b1111);
        assert_eq!(dna.code_masks().len(), 16);
    }
}
