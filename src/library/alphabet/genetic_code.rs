//! [`GeneticCode`]: the amino acid of each codon, and the properties of pairs of codons that codon models need.
//!
//! The tables and their numbers are those of NCBI ("The Genetic Codes", A. Elzanowski and J. Ostell, National
//! Center for Biotechnology Information, `gc.prt`). A codon has the number 16 * first + 4 * second + third with
//! A = 0, C = 1, G = 2, T = 3; the *states* of codon data are the sense codons in this order, without stop codons.
//! A codon that can be either a stop codon or an amino acid, depending on its context (codes 27, 28, 31), is
//! treated as the amino acid.

/// Number of codons.
pub(super) const NUM_CODONS: usize = 64;

/// Number, NCBI's name, and the amino acids of TTT TTC TTA TTG TCT ... GGG (order T, C, A, G); `*` is a stop.
#[rustfmt::skip]
const NCBI: [(u8, &str, &[u8; NUM_CODONS]); 27] = [
    (1, "Standard", b"FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"),
    (2, "Vertebrate Mitochondrial", b"FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIMMTTTTNNKKSS**VVVVAAAADDEEGGGG"),
    (3, "Yeast Mitochondrial", b"FFLLSSSSYY**CCWWTTTTPPPPHHQQRRRRIIMMTTTTNNKKSSRRVVVVAAAADDEEGGGG"),
    (4, "Mold, Protozoan and Coelenterate Mitochondrial; Mycoplasma; Spiroplasma", b"FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"),
    (5, "Invertebrate Mitochondrial", b"FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIMMTTTTNNKKSSSSVVVVAAAADDEEGGGG"),
    (6, "Ciliate, Dasycladacean and Hexamita Nuclear", b"FFLLSSSSYYQQCC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"),
    (9, "Echinoderm and Flatworm Mitochondrial", b"FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIIMTTTTNNNKSSSSVVVVAAAADDEEGGGG"),
    (10, "Euplotid Nuclear", b"FFLLSSSSYY**CCCWLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"),
    (11, "Bacterial, Archaeal and Plant Plastid", b"FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"),
    (12, "Alternative Yeast Nuclear", b"FFLLSSSSYY**CC*WLLLSPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"),
    (13, "Ascidian Mitochondrial", b"FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIMMTTTTNNKKSSGGVVVVAAAADDEEGGGG"),
    (14, "Alternative Flatworm Mitochondrial", b"FFLLSSSSYYY*CCWWLLLLPPPPHHQQRRRRIIIMTTTTNNNKSSSSVVVVAAAADDEEGGGG"),
    (15, "Blepharisma Macronuclear", b"FFLLSSSSYY*QCC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"),
    (16, "Chlorophycean Mitochondrial", b"FFLLSSSSYY*LCC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"),
    (21, "Trematode Mitochondrial", b"FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIMMTTTTNNNKSSSSVVVVAAAADDEEGGGG"),
    (22, "Scenedesmus obliquus Mitochondrial", b"FFLLSS*SYY*LCC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"),
    (23, "Thraustochytrium Mitochondrial", b"FF*LSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"),
    (24, "Rhabdopleuridae Mitochondrial", b"FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSSKVVVVAAAADDEEGGGG"),
    (25, "Candidate Division SR1 and Gracilibacteria", b"FFLLSSSSYY**CCGWLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"),
    (26, "Pachysolen tannophilus Nuclear", b"FFLLSSSSYY**CC*WLLLAPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"),
    (27, "Karyorelict Nuclear", b"FFLLSSSSYYQQCCWWLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"),
    (28, "Condylostoma Nuclear", b"FFLLSSSSYYQQCCWWLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"),
    (29, "Mesodinium Nuclear", b"FFLLSSSSYYYYCC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"),
    (30, "Peritrich Nuclear", b"FFLLSSSSYYEECC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"),
    (31, "Blastocrithidia Nuclear", b"FFLLSSSSYYEECCWWLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"),
    (32, "Balanophoraceae Plastid", b"FFLLSSSSYY*WCC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"),
    (33, "Cephalodiscidae Mitochondrial", b"FFLLSSSSYYY*CCWWLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSSKVVVVAAAADDEEGGGG"),
];

/// A genetic code of NCBI's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GeneticCode(u8);

/// A difference of one nucleotide between two codons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodonChange {
    /// Position in the codon: 0, 1 or 2.
    pub position: usize,
    /// Nucleotide of the first codon at this position (A C G T = 0 1 2 3).
    pub from: usize,
    /// Nucleotide of the second codon at this position.
    pub to: usize,
}

impl CodonChange {
    /// True for a transition, that is between A and G or between C and T.
    pub(crate) fn is_transition(self) -> bool {
        self.from.abs_diff(self.to) == 2
    }
}

/// Lookup tables of a genetic code.
struct Table {
    /// `[codon]`: amino acid as a letter, `*` for a stop.
    amino_acids: [u8; NUM_CODONS],
    /// Number of sense codons.
    num_states: usize,
    /// `[state]`: its codon; only the first `num_states` entries are used.
    codons: [u8; NUM_CODONS],
    /// `[state]`: its triplet; only the first `num_states` entries are used.
    names: [&'static str; NUM_CODONS],
}

static TABLES: [Table; NCBI.len()] = {
    let mut tables = [const { Table::new(NCBI[0].2) }; NCBI.len()];
    let mut i = 1;
    while i < NCBI.len() {
        tables[i] = Table::new(NCBI[i].2);
        i += 1;
    }
    tables
};

/// The triplets of all codons, one after the other.
const TRIPLETS: &[u8; 3 * NUM_CODONS] = &{
    let mut letters = [0; 3 * NUM_CODONS];
    let mut codon = 0;
    while codon < NUM_CODONS {
        letters[3 * codon] = b"ACGT"[codon / 16];
        letters[3 * codon + 1] = b"ACGT"[codon / 4 % 4];
        letters[3 * codon + 2] = b"ACGT"[codon % 4];
        codon += 1;
    }
    letters
};

/// The triplet of a codon.
const fn triplet(codon: usize) -> &'static str {
    let (name, _) = TRIPLETS.split_at(3 * codon).1.split_at(3);
    match std::str::from_utf8(name) {
        Ok(name) => name,
        Err(_) => unreachable!(),
    }
}

impl Table {
    const fn new(ncbi: &[u8; NUM_CODONS]) -> Self {
        // Numbers of T, C, A, G, the order of nucleotides in NCBI's tables.
        const NUCLEOTIDES: [usize; 4] = [3, 1, 0, 2];
        let mut amino_acids = [0; NUM_CODONS];
        let mut i = 0;
        while i < NUM_CODONS {
            let [first, second, third] =
                [NUCLEOTIDES[i / 16], NUCLEOTIDES[i / 4 % 4], NUCLEOTIDES[i % 4]];
            amino_acids[16 * first + 4 * second + third] = ncbi[i];
            i += 1;
        }
        let (mut codons, mut names) = ([0; NUM_CODONS], [""; NUM_CODONS]);
        let (mut num_states, mut codon) = (0, 0);
        while codon < NUM_CODONS {
            if amino_acids[codon] != b'*' {
                codons[num_states] = codon as u8;
                names[num_states] = triplet(codon);
                num_states += 1;
            }
            codon += 1;
        }
        Table { amino_acids, num_states, codons, names }
    }
}

impl GeneticCode {
    /// The standard code.
    pub const STANDARD: GeneticCode = GeneticCode(0);

    /// The code with this number in NCBI's list; `None` if there is none.
    pub fn from_number(number: u8) -> Option<Self> {
        let index = NCBI.iter().position(|&(known, ..)| known == number)?;
        Some(GeneticCode(index as u8))
    }

    /// All codes, in the order of their numbers.
    pub fn all() -> impl Iterator<Item = GeneticCode> {
        (0..NCBI.len() as u8).map(GeneticCode)
    }

    /// NCBI's number.
    pub fn number(self) -> u8 {
        NCBI[usize::from(self.0)].0
    }

    /// NCBI's name.
    pub fn name(self) -> &'static str {
        NCBI[usize::from(self.0)].1
    }

    fn table(self) -> &'static Table {
        &TABLES[usize::from(self.0)]
    }

    /// Number of sense codons, from 60 to 64.
    pub fn num_states(self) -> usize {
        self.table().num_states
    }

    /// Codons (0 to 63) of the states, ascending.
    pub(crate) fn sense_codons(self) -> &'static [u8] {
        &self.table().codons[..self.num_states()]
    }

    /// Triplets of the states.
    pub fn state_names(self) -> &'static [&'static str] {
        &self.table().names[..self.num_states()]
    }

    /// Letter of the amino acid of a codon (0 to 63), `None` for a stop codon.
    pub(crate) fn amino_acid(self, codon: usize) -> Option<u8> {
        match self.table().amino_acids[codon] {
            b'*' => None,
            letter => Some(letter),
        }
    }

    /// The three nucleotides (A C G T = 0 1 2 3) of a state.
    pub fn nucleotides(self, state: usize) -> [usize; 3] {
        let codon = usize::from(self.sense_codons()[state]);
        [codon / 16, codon / 4 % 4, codon % 4]
    }

    /// The change between two states, if exactly one nucleotide differs.
    pub fn change(self, from: usize, to: usize) -> Option<CodonChange> {
        let (a, b) = (self.nucleotides(from), self.nucleotides(to));
        let mut differing = (0..3).filter(|&position| a[position] != b[position]);
        let position = differing.next()?;
        let change = CodonChange { position, from: a[position], to: b[position] };
        differing.next().is_none().then_some(change)
    }

    /// True if two states have the same amino acid.
    pub(crate) fn is_synonymous(self, a: usize, b: usize) -> bool {
        let amino_acid = |state: usize| self.amino_acid(usize::from(self.sense_codons()[state]));
        amino_acid(a) == amino_acid(b)
    }

    /// The sense codons compatible with three sets of nucleotides (bit 0 = A to 3 = T), as a set of states; empty if
    /// all compatible codons are stop codons.
    pub(crate) fn compatible_states(self, nucleotides: [u64; 3]) -> u64 {
        let mut states = 0;
        for state in 0..self.num_states() {
            let mut pairs = self.nucleotides(state).into_iter().zip(nucleotides);
            if pairs.all(|(nucleotide, set)| set >> nucleotide & 1 == 1) {
                states |= 1 << state;
            }
        }
        states
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl GeneticCode {
        /// State of a codon (0 to 63), `None` for a stop.
        fn state_of(self, codon: usize) -> Option<usize> {
            self.sense_codons().binary_search(&u8::try_from(codon).ok()?).ok()
        }
    }

    fn code(number: u8) -> GeneticCode {
        GeneticCode::from_number(number).unwrap()
    }

    fn codon(triplet: &str) -> usize {
        let digit = |letter| "ACGT".find(letter).unwrap();
        triplet.chars().fold(0, |codon, letter| 4 * codon + digit(letter))
    }

    /// The names of the stop codons.
    fn stops(number: u8) -> Vec<&'static str> {
        let code = code(number);
        let stops = (0..NUM_CODONS).filter(|&codon| code.state_of(codon).is_none());
        stops.map(triplet).collect()
    }

    #[test]
    fn every_code_has_the_stops_that_are_published() {
        let expected: [(u8, &[&str]); 27] = [
            (1, &["TAA", "TAG", "TGA"]),
            (2, &["AGA", "AGG", "TAA", "TAG"]),
            (3, &["TAA", "TAG"]),
            (4, &["TAA", "TAG"]),
            (5, &["TAA", "TAG"]),
            (6, &["TGA"]),
            (9, &["TAA", "TAG"]),
            (10, &["TAA", "TAG"]),
            (11, &["TAA", "TAG", "TGA"]),
            (12, &["TAA", "TAG", "TGA"]),
            (13, &["TAA", "TAG"]),
            (14, &["TAG"]),
            (15, &["TAA", "TGA"]),
            (16, &["TAA", "TGA"]),
            (21, &["TAA", "TAG"]),
            (22, &["TAA", "TCA", "TGA"]),
            (23, &["TAA", "TAG", "TGA", "TTA"]),
            (24, &["TAA", "TAG"]),
            (25, &["TAA", "TAG"]),
            (26, &["TAA", "TAG", "TGA"]),
            (27, &[]),
            (28, &[]),
            (29, &["TGA"]),
            (30, &["TGA"]),
            (31, &[]),
            (32, &["TAA", "TGA"]),
            (33, &["TAG"]),
        ];
        assert!(GeneticCode::all().map(GeneticCode::number).eq(expected.iter().map(|e| e.0)));
        for (number, expected) in expected {
            assert_eq!(stops(number), expected, "code {number}");
            assert_eq!(code(number).num_states(), 64 - expected.len());
            assert_eq!(code(number).number(), number);
        }
        assert_eq!(code(1).num_states(), 61);
        assert_eq!(code(2).num_states(), 60);
        assert!(GeneticCode::from_number(7).is_none() && GeneticCode::from_number(34).is_none());
        assert_eq!(code(1), GeneticCode::STANDARD);
        assert_eq!(code(2).name(), "Vertebrate Mitochondrial");
    }

    #[test]
    fn codes_differ_in_the_amino_acids_they_are_known_for() {
        let amino_acid = |number, triplet| code(number).amino_acid(codon(triplet)).map(char::from);
        for (number, triplet, expected) in [
            (1, "ATG", 'M'),
            (1, "TGG", 'W'),
            (1, "AAA", 'K'),
            (1, "GCT", 'A'),
            (1, "CTG", 'L'),
            (1, "AGA", 'R'),
            (2, "TGA", 'W'),
            (2, "ATA", 'M'),
            (3, "CTA", 'T'),
            (5, "AGA", 'S'),
            (6, "TAA", 'Q'),
            (9, "AAA", 'N'),
            (10, "TGA", 'C'),
            (12, "CTG", 'S'),
            (13, "AGG", 'G'),
            (14, "TAA", 'Y'),
            (22, "TAG", 'L'),
            (24, "AGG", 'K'),
            (25, "TGA", 'G'),
            (26, "CTG", 'A'),
            (29, "TAG", 'Y'),
            (30, "TAA", 'E'),
            (32, "TAG", 'W'),
            (33, "TAA", 'Y'),
        ] {
            assert_eq!(amino_acid(number, triplet), Some(expected), "code {number}, {triplet}");
        }
        assert_eq!(amino_acid(1, "TGA"), None);
    }

    #[test]
    fn states_are_the_sense_codons_in_order() {
        let code = code(1);
        assert_eq!(&code.state_names()[..5], ["AAA", "AAC", "AAG", "AAT", "ACA"]);
        assert_eq!(code.state_names()[60], "TTT");
        for (state, name) in code.state_names().iter().enumerate() {
            assert_eq!(code.state_of(codon(name)), Some(state));
            assert_eq!(code.nucleotides(state).map(|n| b"ACGT"[n]).as_slice(), name.as_bytes());
        }
        assert_eq!(code.state_of(codon("TAA")), None);
        assert_eq!(code.state_of(64), None);
    }

    #[test]
    fn codon_models_can_ask_what_they_need() {
        let code = code(1);
        let state = |triplet| code.state_of(codon(triplet)).unwrap();
        let change = |a, b| code.change(state(a), state(b));
        assert_eq!(change("ATG", "ATA"), Some(CodonChange { position: 2, from: 2, to: 0 }));
        assert!(change("ATG", "ATA").unwrap().is_transition());
        assert!(change("TTT", "CTT").unwrap().is_transition());
        for (a, b) in [("ATG", "ATC"), ("ATG", "ATT"), ("AAA", "CAA"), ("AAA", "ATA")] {
            assert!(!change(a, b).unwrap().is_transition(), "{a} {b}");
        }
        assert_eq!(change("ATG", "CTA"), None);
        assert_eq!(change("ATG", "ATG"), None);
        assert!(code.is_synonymous(state("CTG"), state("TTA")));
        assert!(!code.is_synonymous(state("ATG"), state("ATA")));
        // Each codon has 9 neighbours; without stop codons, there are 61 * 9 - 23 ordered pairs.
        let pairs = (0..61).flat_map(|i| (0..61).map(move |j| (i, j)));
        assert_eq!(pairs.filter(|&(i, j)| code.change(i, j).is_some()).count(), 526);
    }

    #[test]
    fn sets_of_nucleotides_allow_sets_of_codons() {
        let names = |number, sets| -> Vec<&str> {
            let code = code(number);
            let states = code.compatible_states(sets);
            let possible = (0..code.num_states()).filter(|state| states >> state & 1 == 1);
            possible.map(|state| code.state_names()[state]).collect()
        };
        let [a, g, t, any] = [1, 4, 8, 15];
        assert_eq!(names(1, [t, a | g, a]), Vec::<&str>::new());
        assert_eq!(names(2, [t, a | g, a]), ["TGA"]);
        assert_eq!(names(1, [t, a, any]), ["TAC", "TAT"]);
        assert_eq!(names(1, [t, any, any]).len(), 13);
        assert_eq!(names(1, [any; 3]).len(), 61);
        assert_eq!(names(31, [any; 3]).len(), 64);
    }
}
