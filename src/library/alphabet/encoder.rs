//! [`Encoder`]: translates the characters of a partition's sites into codes, and lists the state sets of the codes.
//!
//! Most alphabets have a code for each character. There are thousands of ambiguous codons, of which a partition
//! contains few; these are assigned codes as they occur.

use super::data_type::{Code, DataType};
use super::dna;

/// Assigns codes to the sites of one partition. Codes of [`DataType::code_masks`] come first; then those of
/// ambiguous codons, in the order of their first occurrence.
#[derive(Debug, Clone)]
pub struct Encoder {
    data_type: DataType,
    code_masks: Vec<u64>,
    /// For codons: the code by the three nucleotides' state sets, 4 bits each; [`Self::UNSEEN`] if it has not
    /// occurred yet.
    triplets: Vec<Code>,
    /// For other data: the code of each character; [`Self::UNSEEN`] if it has none.
    characters: Vec<Code>,
}

/// The reason why a site's characters have no code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// The character at this position within the site does not belong to the alphabet.
    Character(usize),
    /// All compatible codons are stop codons.
    Stop,
}

impl Encoder {
    const UNSEEN: Code = Code::MAX;

    /// An encoder with the codes that all partitions of the data type have.
    pub fn new(data_type: DataType) -> Self {
        let is_codon = matches!(data_type, DataType::Codon(_));
        let triplets = vec![Self::UNSEEN; if is_codon { 1 << 12 } else { 0 }];
        let code = |byte| data_type.encode(byte).unwrap_or(Self::UNSEEN);
        let characters = (0..=u8::MAX).map(code).collect();
        Encoder { data_type, code_masks: data_type.code_masks(), triplets, characters }
    }

    /// The code of a site of one character; `None` if the character does not belong to the alphabet, and for codons.
    #[inline]
    pub(crate) fn code_of_character(&self, character: u8) -> Option<Code> {
        Some(self.characters[usize::from(character)]).filter(|&code| code != Self::UNSEEN)
    }

    /// The code of the [`DataType::chars_per_site`] characters of a site; a new one if their state set has not
    /// occurred yet.
    ///
    /// # Errors
    /// The reason why the characters have no code.
    ///
    /// # Panics
    /// If there are fewer characters.
    #[inline]
    pub(crate) fn learn(&mut self, characters: &[u8]) -> Result<Code, Unreadable> {
        let DataType::Codon(genetic_code) = self.data_type else {
            return self.code_of_character(characters[0]).ok_or(Unreadable::Character(0));
        };
        let sets = nucleotide_sets(characters)?;
        let known = &mut self.triplets[triplet_index(sets)];
        if *known == Self::UNSEEN {
            let states = genetic_code.compatible_states(sets.map(u64::from));
            if states == 0 {
                return Err(Unreadable::Stop);
            }
            // Different triplets can have the same state set: TAN and TAY, because TAA and TAG are stop codons.
            let code = self.code_masks.iter().position(|&mask| mask == states);
            *known = code.unwrap_or(self.code_masks.len()) as Code;
            if code.is_none() {
                self.code_masks.push(states);
            }
        }
        Ok(*known)
    }

    /// The code of characters that have been passed to `Encoder::learn`; undetermined for all others.
    #[inline]
    pub fn code(&self, characters: &[u8]) -> Code {
        let code = match self.data_type {
            DataType::Codon(_) => {
                let sets = nucleotide_sets(characters).ok();
                let code = sets.map(|sets| self.triplets[triplet_index(sets)]);
                code.filter(|&code| code != Self::UNSEEN)
            }
            _ => self.code_of_character(characters[0]),
        };
        code.unwrap_or(self.data_type.undetermined())
    }

    /// For each code, the set of compatible states as bits.
    pub fn code_masks(&self) -> &[u64] {
        &self.code_masks
    }
}

fn nucleotide_sets(characters: &[u8]) -> Result<[Code; 3], Unreadable> {
    let mut sets = [0; 3];
    for (position, set) in sets.iter_mut().enumerate() {
        *set = dna::encode(characters[position]).ok_or(Unreadable::Character(position))?;
    }
    Ok(sets)
}

fn triplet_index(sets: [Code; 3]) -> usize {
    sets.iter().fold(0, |index, &set| index << 4 | usize::from(set))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn states(data_type: DataType, mask: u64) -> String {
        let possible = (0..data_type.num_states()).filter(|state| mask >> state & 1 == 1);
        possible.map(|state| data_type.state_names()[state]).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ambiguous_codons_get_codes_as_they_occur() {
        let codon = DataType::codon(1).unwrap();
        let mut encoder = Encoder::new(codon);
        assert_eq!(encoder.code_masks().len(), 62, "61 sense codons and undetermined");
        let mut meaning = |triplet: &[u8; 3]| {
            let code = encoder.learn(triplet).unwrap();
            assert_eq!(encoder.code(triplet), code);
            (code, states(codon, encoder.code_masks()[usize::from(code)]))
        };
        assert_eq!(meaning(b"AAA"), (0, "AAA".into()));
        assert_eq!(meaning(b"aug"), (14, "ATG".into()));
        assert_eq!(meaning(b"TTT"), (60, "TTT".into()));
        for undetermined in [b"---", b"NNN", b"?-x"] {
            assert_eq!(meaning(undetermined).0, 61);
        }
        assert_eq!(meaning(b"GAY"), (62, "GAC GAT".into()));
        assert_eq!(meaning(b"TA-"), (63, "TAC TAT".into()));
        assert_eq!(meaning(b"AAR"), (64, "AAA AAG".into()));
        assert_eq!(meaning(b"TAY"), (63, "TAC TAT".into()));
    }

    #[test]
    fn stops_and_unknown_characters_have_no_code() {
        let mut standard = Encoder::new(DataType::codon(1).unwrap());
        for stop in [b"TAA", b"tag", b"UGA", b"TRA"] {
            assert_eq!(standard.learn(stop), Err(Unreadable::Stop));
        }
        assert_eq!(standard.learn(b"AAE"), Err(Unreadable::Character(2)));
        assert_eq!(standard.code(b"TAA"), 61);
        assert_eq!(standard.code_masks().len(), 62, "nothing was learnt from them");
        let mut mitochondrial = Encoder::new(DataType::codon(2).unwrap());
        assert_eq!(mitochondrial.learn(b"TGA").map(|code| code < 60), Ok(true));
        assert_eq!(mitochondrial.learn(b"AGR"), Err(Unreadable::Stop));
        let mut multistate = Encoder::new(DataType::multistate(3).unwrap());
        assert_eq!((multistate.learn(b"2"), multistate.code(b"?")), (Ok(2), 3));
        assert_eq!(multistate.learn(b"3"), Err(Unreadable::Character(0)));
    }

    proptest! {
        /// The reference: the set of a triplet has all sense codons whose three nucleotides are possible.
        #[test]
        fn the_set_of_a_codon_is_what_its_nucleotides_allow(
            triplet in prop::collection::vec(prop::sample::select(b"ACGTRYSWKMBDHVN-".to_vec()), 3),
            number in prop::sample::select(vec![1u8, 2, 6, 22, 31]),
        ) {
            let codon = DataType::codon(number).unwrap();
            let mut encoder = Encoder::new(codon);
            let fits = |name: &&str| name.bytes().zip(&triplet).all(|(letter, &byte)| {
                let set = DataType::Dna.encode(byte).unwrap();
                set & DataType::Dna.encode(letter).unwrap() != 0
            });
            let names = codon.state_names().iter().copied().filter(fits).collect::<Vec<_>>();
            match encoder.learn(&triplet) {
                Ok(code) => {
                    let mask = encoder.code_masks()[usize::from(code)];
                    prop_assert_eq!(states(codon, mask), names.join(" "));
                    prop_assert_eq!(encoder.code(&triplet), code);
                }
                Err(wrong) => {
                    prop_assert_eq!(wrong, Unreadable::Stop);
                    prop_assert!(names.is_empty());
                }
            }
        }
    }
}
