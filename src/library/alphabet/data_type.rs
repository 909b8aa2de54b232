//! [`DataType`]: the common interface of all alphabets.
//!
//! A new alphabet needs a file beside `dna.rs`, a variant here and one arm per `match`. Code outside this module
//! must not match on the variants to determine states or codes.

use super::genetic_code::GeneticCode;
use super::{binary, dna, multistate, protein};
use std::borrow::Cow;

/// Number of a set of possible states: an index into a list of such sets. A partition of codons may have
/// more than 256 different ones.
pub type Code = u16;

/// The type of the characters of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DataType {
    /// Nucleotides, DNA or RNA.
    Dna,
    /// Amino acids.
    Protein,
    /// Nucleotides read in triplets; the states are the sense codons of a genetic code.
    Codon(GeneticCode),
    /// Binary characters, 0 and 1.
    Binary,
    /// Multi-state characters with this number of states, 2 to 64 (see [`DataType::multistate`]).
    Multistate(u8),
}

impl DataType {
    /// Codons with the genetic code that has this number in NCBI's list; `None` if there is none.
    pub fn codon(number: u8) -> Option<Self> {
        GeneticCode::from_number(number).map(DataType::Codon)
    }

    /// Multi-state data; `None` unless there are 2 to 64 states.
    pub fn multistate(num_states: usize) -> Option<Self> {
        let num_states = u8::try_from(num_states).ok()?;
        (2..=multistate::MAX_STATES).contains(&num_states).then_some(Self::Multistate(num_states))
    }

    /// Its name, as shown to users.
    pub fn name(self) -> &'static str {
        match self {
            DataType::Dna => "DNA",
            DataType::Protein => "protein",
            DataType::Codon(_) => "codon",
            DataType::Binary => "binary",
            DataType::Multistate(_) => "multi-state",
        }
    }

    /// Number of states.
    pub fn num_states(self) -> usize {
        self.state_names().len()
    }

    /// Names of the states, in the order of the bits of state sets and of all vectors over states. Each consists of
    /// the [`Self::chars_per_site`] characters of a site with this state.
    ///
    /// Codons are in the order of 16 * first + 4 * second + third with A = 0, C = 1, G = 2, T = 3, without stop
    /// codons.
    pub fn state_names(self) -> &'static [&'static str] {
        match self {
            DataType::Dna => &dna::STATE_NAMES,
            DataType::Protein => &protein::STATE_NAMES,
            DataType::Codon(code) => code.state_names(),
            DataType::Binary => &binary::STATE_NAMES,
            DataType::Multistate(num_states) => &multistate::STATE_NAMES[..usize::from(num_states)],
        }
    }

    /// Number of alignment columns per site: 3 for codon data, otherwise 1.
    pub fn chars_per_site(self) -> usize {
        match self {
            DataType::Codon(_) => 3,
            _ => 1,
        }
    }

    /// True if the character belongs to the alphabet.
    #[inline]
    pub fn knows(self, byte: u8) -> bool {
        match self {
            DataType::Codon(_) => dna::encode(byte).is_some(),
            _ => self.encode(byte).is_some(),
        }
    }

    /// Code of a site of one character, an index into [`Self::code_masks`]; `None` if the character does not belong
    /// to the alphabet, and for codon data, whose sites have three characters (see `Encoder`).
    #[inline]
    pub fn encode(self, byte: u8) -> Option<Code> {
        match self {
            DataType::Dna => dna::encode(byte),
            DataType::Protein => protein::encode(byte),
            DataType::Codon(_) => None,
            DataType::Binary => binary::encode(byte),
            DataType::Multistate(num_states) => multistate::encode(byte, num_states),
        }
    }

    /// For each code, the set of compatible states as bits. The set of a code that no character has may be empty.
    ///
    /// Codon data have further codes, for ambiguous codons, which differ between partitions.
    pub fn code_masks(self) -> Vec<u64> {
        let num_states = self.num_states();
        let states = || (0..num_states).map(|state| 1 << state);
        let any = u64::MAX >> (64 - num_states);
        match self {
            DataType::Dna => dna::code_masks(),
            DataType::Protein => {
                states().chain([any]).chain(protein::ambiguous_masks().iter().copied()).collect()
            }
            _ => states().chain([any]).collect(),
        }
    }

    /// The code of a site with a known state.
    #[doc(hidden)]
    pub fn code_of_state(self, state: usize) -> Code {
        match self {
            DataType::Dna => 1 << state,
            _ => state as Code,
        }
    }

    /// The code of an undetermined site (gap, missing data, any state).
    #[inline]
    pub fn undetermined(self) -> Code {
        match self {
            DataType::Dna => dna::UNDETERMINED,
            DataType::Protein => protein::UNDETERMINED,
            _ => self.num_states() as Code,
        }
    }

    /// The characters of the alphabet, for messages.
    pub(crate) fn known_characters(self) -> Cow<'static, str> {
        match self {
            DataType::Dna | DataType::Codon(_) => dna::KNOWN.into(),
            DataType::Protein => protein::KNOWN.into(),
            DataType::Binary => binary::KNOWN.into(),
            DataType::Multistate(num_states) => multistate::known(num_states).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alphabet::num_multistate_states;

    /// The names of the states compatible with a character.
    fn states(data_type: DataType, byte: u8) -> Option<String> {
        let mask = data_type.code_masks()[usize::from(data_type.encode(byte)?)];
        let possible = (0..data_type.num_states()).filter(|state| mask >> state & 1 == 1);
        Some(possible.map(|state| data_type.state_names()[state]).collect())
    }

    /// Each character has the expected states, in either case, and no other character is known.
    fn check_characters(data_type: DataType, expected: &[(&str, &str)]) {
        let mut known = [false; 256];
        for (characters, means) in expected {
            for byte in characters.bytes().flat_map(|b| [b, b.to_ascii_lowercase()]) {
                let found = states(data_type, byte);
                assert_eq!(found.as_deref(), Some(*means), "{}", char::from(byte));
                known[usize::from(byte)] = true;
            }
        }
        for byte in 0..=255 {
            assert_eq!(data_type.knows(byte), known[usize::from(byte)], "{}", byte.escape_ascii());
        }
    }

    #[test]
    fn every_character_of_dna() {
        let expected = [
            ("A", "A"),
            ("C", "C"),
            ("G", "G"),
            ("TU", "T"),
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
            ("NXO-?.", "ACGT"),
        ];
        check_characters(DataType::Dna, &expected);
    }

    #[test]
    fn every_character_of_proteins() {
        let letters = "ARNDCQEGHILKMFPSTWYV";
        let mut expected: Vec<(&str, &str)> =
            (0..20).map(|i| (&letters[i..=i], &letters[i..=i])).collect();
        expected.extend([("B", "ND"), ("Z", "QE"), ("J", "IL"), ("X*UO-?.", letters)]);
        check_characters(DataType::Protein, &expected);
        assert_eq!(DataType::Protein.state_names().concat(), letters);
    }

    #[test]
    fn every_character_of_binary_data() {
        check_characters(DataType::Binary, &[("0", "0"), ("1", "1"), ("NX-?.", "01")]);
    }

    #[test]
    fn every_character_of_multistate_data() {
        let symbols: String = multistate::STATE_NAMES.concat();
        assert_eq!(symbols.len(), 64);
        for num_states in [2, 5, 32, 36, 37, 64] {
            let of_so_many = DataType::multistate(num_states).unwrap();
            let mut expected: Vec<(&str, &str)> =
                (0..num_states).map(|i| (&symbols[i..=i], &symbols[i..=i])).collect();
            expected.push(("-?.", &symbols[..num_states]));
            check_characters(of_so_many, &expected);
            assert_eq!(of_so_many.num_states(), num_states);
        }
        for impossible in [0, 1, 65, 258, usize::MAX] {
            assert_eq!(DataType::multistate(impossible), None);
        }
        assert_eq!(num_multistate_states(*b"0102?-"), 3);
        assert_eq!(num_multistate_states(*b"-0."), 2);
        assert_eq!(num_multistate_states(*b"1v0"), 32);
        assert_eq!(num_multistate_states(*b"~"), 64);
        let known = DataType::Multistate(38).known_characters();
        assert_eq!(known, "the first 38 of 0-9 A-Z !\", and -?. for undetermined");
    }

    #[test]
    fn codons_know_the_characters_of_dna_but_none_is_a_site() {
        let codon = DataType::codon(2).unwrap();
        for byte in 0..=255 {
            assert_eq!(codon.knows(byte), DataType::Dna.knows(byte));
            assert_eq!(codon.encode(byte), None);
        }
        assert_eq!((codon.num_states(), codon.chars_per_site()), (60, 3));
        assert_eq!(DataType::codon(8), None);
    }

    #[test]
    fn undetermined_is_the_code_of_all_states() {
        let types = [
            DataType::Dna,
            DataType::Protein,
            DataType::Binary,
            DataType::multistate(2).unwrap(),
            DataType::multistate(64).unwrap(),
        ];
        let codons = GeneticCode::all().map(DataType::Codon);
        for data_type in types.into_iter().chain(codons) {
            let masks = data_type.code_masks();
            let any = masks[usize::from(data_type.undetermined())];
            assert_eq!(any.count_ones() as usize, data_type.num_states());
            assert!(masks.iter().all(|mask| mask & !any == 0));
            for state in 0..data_type.num_states() {
                let code = data_type.code_of_state(state);
                assert_eq!(masks[usize::from(code)], 1 << state);
                let name = data_type.state_names()[state].as_bytes();
                assert_eq!(name.len(), data_type.chars_per_site());
                assert!(name.len() > 1 || data_type.encode(name[0]) == Some(code));
            }
        }
        assert_eq!(DataType::Dna.undetermined(), 15);
    }
}
