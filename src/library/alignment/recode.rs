//! [`Recoding`]: groups of amino acids as states, which hides exchanges within a group: in old proteins they are saturated, and
//! their frequencies differ between taxa (Susko & Roger 2007, Mol Biol Evol 24:2139).

use super::Alignment;
use crate::error::{Error, Fault, Faults, Result, abridged};

/// One letter per amino acid.
const AMINO_ACIDS: &[u8; 20] = b"ARNDCQEGHILKMFPSTWYV";
/// Characters that say nothing, or nothing that a group keeps: gaps, unknown and rare amino acids, stop codons.
const UNDETERMINED: &[u8] = b"-?.~X*OU";
/// Characters that stand for two amino acids.
const AMBIGUOUS: [(u8, [u8; 2]); 3] = [(b'B', *b"ND"), (b'Z', *b"QE"), (b'J', *b"IL")];

/// Published groups by name: Dayhoff, Schwartz & Orcutt (1978); Susko & Roger (2007); Kosiol, Goldman & Buttimore (2004, J Theor Biol 228:97).
const NAMED: [(&str, &str); 4] = [
    ("dayhoff6", "AGPST/C/DENQ/FWY/HKR/ILMV"),
    ("sr4", "AGNPST/CHWY/DEKQR/FILMV"),
    ("sr6", "APST/DENG/QKR/MIVL/WC/FYH"),
    ("kgb6", "AGPS/DENQHKRT/MIL/W/FY/CV"),
];

/// Groups of amino acids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recoding {
    groups: Vec<String>,
}

impl Recoding {
    /// Reads the name of published groups, or groups: `AGPST/C/DENQ/FWY/HKR/ILMV`.
    ///
    /// # Errors
    /// A message that says what was expected.
    pub fn read(text: &str) -> std::result::Result<Self, String> {
        let named = NAMED.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        let list = named.map_or(text, |(_, groups)| groups).to_ascii_uppercase();
        let groups: Vec<String> = list.split(['/', ',']).map(String::from).collect();
        let mut letters: Vec<u8> = groups.concat().into_bytes();
        letters.sort_unstable();
        let mut all = AMINO_ACIDS.to_vec();
        all.sort_unstable();
        if letters != all || groups.len() < 2 || groups.iter().any(String::is_empty) {
            let names: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
            return Err(format!(
                "'{}' is neither {} nor groups of all 20 amino acids, such as AGPST/C/DENQ/FWY/HKR/ILMV",
                abridged(text),
                names.join(", ")
            ));
        }
        Ok(Recoding { groups })
    }

    /// Number of states.
    pub fn num_states(&self) -> usize {
        self.groups.len()
    }

    /// The groups and their states: `0 = AGPST, 1 = C`.
    pub fn describe(&self) -> String {
        let groups = self.groups.iter().enumerate();
        let groups: Vec<String> =
            groups.map(|(state, group)| format!("{} = {group}", symbol(state) as char)).collect();
        groups.join(", ")
    }

    /// The alignment with the states of the groups. What is undetermined remains so, and what stands for amino acids of several groups becomes
    /// so.
    ///
    /// # Errors
    /// [`Error::Input`] with every character that is no amino acid.
    pub fn apply(&self, alignment: &Alignment) -> Result<Alignment> {
        let mut table = [None; 256];
        for letter in UNDETERMINED {
            table[usize::from(*letter)] = Some(b'-');
        }
        for (state, group) in self.groups.iter().enumerate() {
            group.bytes().for_each(|letter| table[usize::from(letter)] = Some(symbol(state)));
        }
        for (letter, [a, b]) in AMBIGUOUS {
            let [a, b] = [a, b].map(|letter| table[usize::from(letter)]);
            table[usize::from(letter)] = Some(a.filter(|_| a == b).unwrap_or(b'-'));
        }
        let mut faults = Faults::new();
        let mut rows = Vec::with_capacity(alignment.num_taxa());
        for taxon in 0..alignment.num_taxa() {
            let mut row = alignment.row(taxon).to_vec();
            for (site, letter) in row.iter_mut().enumerate() {
                match table[usize::from(letter.to_ascii_uppercase())] {
                    Some(state) => *letter = state,
                    None => {
                        let message = format!(
                            "'{}' is no amino acid: --recode is for proteins",
                            letter.escape_ascii()
                        );
                        faults.push(Fault::new(alignment.place(taxon, site), message));
                    }
                }
            }
            rows.push(row);
        }
        match faults.is_empty() {
            true => Ok(alignment.with_rows(rows)),
            false => Err(Error::Input(faults)),
        }
    }
}

/// The character of a state in multi-state data.
fn symbol(state: usize) -> u8 {
    b"0123456789ABCDEFGHIJ"[state]
}

#[cfg(test)]
mod tests {
    use super::super::read_alignment_from;
    use super::*;

    #[test]
    fn amino_acids_become_the_states_of_their_groups() {
        let text = b"2 12\nx ARNDCQEGHIbz\ny lkmfpSTwYVJ-\n";
        let alignment = read_alignment_from(&text[..], "f").unwrap();
        for (name, states, first, second) in
            [("dayhoff6", 6, "042212204522", "54530003355-"), ("SR4", 4, "02021220130-", "-")]
        {
            let recoding = Recoding::read(name).unwrap();
            assert_eq!(recoding.num_states(), states);
            let recoded = recoding.apply(&alignment).unwrap();
            let row = |taxon| String::from_utf8(recoded.row(taxon).to_vec()).unwrap();
            if name == "dayhoff6" {
                assert_eq!((row(0).as_str(), row(1).as_str()), (first, second));
                assert!(recoding.describe().starts_with("0 = AGPST, 1 = C, 2 = DENQ"));
            } else {
                // N and D are in different groups, Q and E in one.
                assert!(row(0).ends_with("-2"), "{}", row(0));
            }
            assert_eq!(recoded.place(1, 3), alignment.place(1, 3));
        }
        let own = Recoding::read("ARNDCQEGHI/LKMFPSTWYV").unwrap();
        assert_eq!(own.apply(&alignment).unwrap().row(1)[..3], *b"111");
        for text in ["dayhoff7", "ARNDCQEGHI/LKMFPSTWY", "AR/AR", "ARNDCQEGHILKMFPSTWYV", ""] {
            assert!(Recoding::read(text).unwrap_err().contains("groups of all 20"), "{text}");
        }
        let digits = read_alignment_from(&b"2 3\nx AR1\ny ARN\n"[..], "f").unwrap();
        let refused = own.apply(&digits).unwrap_err().to_string();
        assert!(refused.contains("column 3, 'x': '1' is no amino acid"), "{refused}");
    }
}
