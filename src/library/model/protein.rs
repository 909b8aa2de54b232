//! Protein models by name: the list of published amino-acid matrices and of their mixtures.
//!
//! The numbers are in [`super::protein_tables`]. They are kept as published, neither scaled to one
//! exchange per unit of time nor with frequencies that sum to exactly 1: both is done when a rate matrix is
//! made. Names are RAxML-NG's where it has the matrix, otherwise IQ-TREE's; the spellings of both programs
//! and of RAxML are accepted as aliases. Where programs differ in digits, PAML's table or the authors' own
//! is used, and the file of the table states by how much the lnL of another program differs.

use super::protein_tables::{
    blosum62, cprev, dayhoff, dcmut, den, flavi, flu, hivb, hivw, jtt, jtt_dcmut, lg, lg4m, lg4x,
    mtart, mtinv, mtmam, mtmet, mtrev, mtver, mtzoa, pmb, poisson, q_bird, q_insect, q_lg,
    q_mammal, q_pfam, q_pfam_gb, q_plant, q_yeast, rtrev, stmtrev, vt, wag,
};

/// One letter per amino acid, in the order of every table: alanine to valine by full name, PAML's.
pub(super) const AMINO_ACIDS: &[u8; 20] = b"ARNDCQEGHILKMFPSTWYV";

/// A published matrix of amino-acid exchangeabilities with its equilibrium frequencies.
#[derive(Debug, Clone, PartialEq)]
pub struct ProteinMatrix {
    /// The canonical name.
    pub name: &'static str,
    /// Other spellings, upper case.
    pub aliases: &'static [&'static str],
    /// Authors, year, journal, pages.
    pub citation: &'static str,
    /// Exchangeabilities, symmetric and on any scale: the upper triangle row by row (AR AN AD ... AV,
    /// RN ... YV), amino acids in the order of `AMINO_ACIDS`.
    pub rates: [f64; 190],
    /// Equilibrium frequencies, in the order of `AMINO_ACIDS`. Their sum is 1 except for rounding.
    pub freqs: [f64; 20],
}

/// A mixture of four matrices, each with its own frequencies and its own rate category, the slowest
/// first. Every matrix is scaled to one exchange per unit of time before its category's rate.
#[derive(Debug, Clone, PartialEq)]
pub struct ProteinMixture {
    /// The canonical name.
    pub name: &'static str,
    /// Other spellings, upper case.
    pub aliases: &'static [&'static str],
    /// Authors, year, journal, pages.
    pub citation: &'static str,
    /// The matrix of each rate category.
    pub components: [&'static ProteinMatrix; 4],
    /// Rates and weights of the categories, to begin with, if they are free parameters (weighted mean
    /// rate 1, sum of weights 1); `None` if the rates are those of a discrete Gamma distribution.
    pub free_rates: Option<([f64; 4], [f64; 4])>,
}

/// Every matrix with a name, general ones first.
pub static PROTEIN_MATRICES: [&ProteinMatrix; 33] = [
    &dayhoff::DAYHOFF,
    &dcmut::DCMUT,
    &jtt::JTT,
    &jtt_dcmut::JTT_DCMUT,
    &wag::WAG,
    &lg::LG,
    &vt::VT,
    &blosum62::BLOSUM62,
    &pmb::PMB,
    &mtrev::MTREV,
    &mtmam::MTMAM,
    &mtart::MTART,
    &mtzoa::MTZOA,
    &mtmet::MTMET,
    &mtver::MTVER,
    &mtinv::MTINV,
    &cprev::CPREV,
    &rtrev::RTREV,
    &hivb::HIVB,
    &hivw::HIVW,
    &flu::FLU,
    &stmtrev::STMTREV,
    &den::DEN,
    &flavi::FLAVI,
    &q_pfam::Q_PFAM,
    &q_pfam_gb::Q_PFAM_GB,
    &q_lg::Q_LG,
    &q_bird::Q_BIRD,
    &q_insect::Q_INSECT,
    &q_mammal::Q_MAMMAL,
    &q_plant::Q_PLANT,
    &q_yeast::Q_YEAST,
    &poisson::POISSON,
];

/// Every mixture with a name.
pub static PROTEIN_MIXTURES: [ProteinMixture; 2] = [
    ProteinMixture {
        name: "LG4M",
        aliases: &["LG4"],
        citation: LG4_CITATION,
        components: [&lg4m::LG4M1, &lg4m::LG4M2, &lg4m::LG4M3, &lg4m::LG4M4],
        free_rates: None,
    },
    ProteinMixture {
        name: "LG4X",
        aliases: &[],
        citation: LG4_CITATION,
        components: [&lg4x::LG4X1, &lg4x::LG4X2, &lg4x::LG4X3, &lg4x::LG4X4],
        // Those that PhyML's example of the model begins with.
        free_rates: Some((
            [0.197063, 0.750275, 1.951569, 5.161586],
            [0.422481, 0.336848, 0.180132, 0.060539],
        )),
    },
];

const LG4_CITATION: &str = "Le, Dang & Gascuel 2012, Mol. Biol. Evol. 29:2921-2936";

/// The matrix of that name or alias, upper or lower case.
pub(super) fn find_protein_matrix(name: &str) -> Option<&'static ProteinMatrix> {
    PROTEIN_MATRICES.iter().copied().find(|m| is_named(name, m.name, m.aliases))
}

/// The mixture of that name or alias, upper or lower case.
pub(super) fn find_protein_mixture(name: &str) -> Option<&'static ProteinMixture> {
    PROTEIN_MIXTURES.iter().find(|m| is_named(name, m.name, m.aliases))
}

fn is_named(sought: &str, name: &str, aliases: &[&str]) -> bool {
    std::iter::once(&name).chain(aliases).any(|known| known.eq_ignore_ascii_case(sought))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arg-Lys, Asp-Glu and Phe-Tyr of every table, read off its source's own layout.
    const SPOTS: [(&str, [f64; 3]); 41] = [
        ("DAYHOFF", [464.0, 1153.0, 698.0]),
        ("DCMUT", [4.610124, 11.388659, 6.952629]),
        ("JTT", [646.0, 767.0, 536.0]),
        ("JTT-DCMUT", [6.529255, 7.766557, 5.484236]),
        ("WAG", [5.35142, 6.17416, 6.45428]),
        ("LG", [6.326067, 5.24387, 7.803902]),
        ("VT", [10.017330817366002, 9.688345187568506, 10.384852333133459]),
        ("BLOSUM62", [5.411115141489, 3.761625208368, 6.747260430801]),
        ("PMB", [4.956476453, 4.399995525, 5.894735673]),
        ("MTREV", [141.4, 583.55, 465.58]),
        ("MTMAM", [50.0, 569.0, 682.0]),
        ("MTART", [209.0, 862.0, 792.0]),
        ("MTZOA", [292.3, 883.6, 590.5]),
        ("MTMET", [1.05718531584431, 6.03378717186331, 3.20908234027501]),
        ("MTVER", [0.418858706429249, 6.60363863281767, 3.98726086262944]),
        ("MTINV", [1.63188537324559, 6.96250928999517, 3.23468151012688]),
        ("CPREV", [4482.0, 3691.0, 2370.0]),
        ("RTREV", [593.0, 542.0, 1017.0]),
        ("HIVB", [20.45, 10.5872, 15.34]),
        ("HIVW", [39.8897, 12.1233, 4.12728]),
        ("FLU", [15.3000966197798, 5.37051127867923, 5.39392424532822]),
        ("STMTREV", [6.0541970908, 7.3729791633, 1.6748429971]),
        ("DEN", [8.155672927, 6.209372754, 9.692174642]),
        ("FLAVI", [19.413475, 7.603314, 5.907642]),
        ("Q.PFAM", [5.070603955, 4.775857514, 7.474120415]),
        ("Q.PFAM_GB", [5.846934542, 5.408576458, 7.845710592]),
        ("Q.LG", [6.845986165, 5.60103324, 6.641252774]),
        ("Q.BIRD", [5.781174762, 5.114292481, 3.894213263]),
        ("Q.INSECT", [5.655671758, 7.046040747, 10.165067155]),
        ("Q.MAMMAL", [5.862144662, 5.379197337, 5.877878503]),
        ("Q.PLANT", [6.796751125, 6.983296655, 8.185198097]),
        ("Q.YEAST", [6.326126715, 5.624270628, 7.660749919]),
        ("POISSON", [1.0, 1.0, 1.0]),
        ("LG4M1", [0.971338, 0.44914, 4.245524]),
        ("LG4M2", [10.373708, 7.470333, 8.367641]),
        ("LG4M3", [7.663209, 4.032667, 14.506235]),
        ("LG4M4", [2.902886, 3.172277, 26.56227]),
        ("LG4X1", [93.433377, 109.901504, 66.647302]),
        ("LG4X2", [0.855973, 0.560142, 1.414883]),
        ("LG4X3", [5.349861, 2.292917, 11.429924]),
        ("LG4X4", [3.010922, 2.992763, 33.873091]),
    ];

    /// The named matrices and the mixtures' own.
    fn all_tables() -> Vec<&'static ProteinMatrix> {
        let components = PROTEIN_MIXTURES.iter().flat_map(|m| m.components);
        PROTEIN_MATRICES.iter().copied().chain(components).collect()
    }

    fn rate(matrix: &ProteinMatrix, pair: &[u8; 2]) -> f64 {
        let place = |letter| AMINO_ACIDS.iter().position(|&a| a == letter).unwrap();
        let (row, column) =
            (place(pair[0]).min(place(pair[1])), place(pair[0]).max(place(pair[1])));
        // Rows above have 19, 18, ... entries.
        let before = row * 19 - row * row.saturating_sub(1) / 2;
        matrix.rates[before + column - row - 1]
    }

    #[test]
    fn tables_are_rates_and_frequencies() {
        for matrix in all_tables() {
            let name = matrix.name;
            assert!(matrix.rates.iter().all(|&r| r.is_finite() && r >= 0.0), "{name}");
            assert!(matrix.freqs.iter().all(|&f| f > 0.0), "{name}");
            let sum: f64 = matrix.freqs.iter().sum();
            assert!((sum - 1.0).abs() < 1e-3, "{name}: {sum}");
            assert!(!matrix.citation.is_empty(), "{name}");
        }
    }

    #[test]
    fn rates_of_three_pairs() {
        let tables = all_tables();
        assert_eq!(tables.len(), SPOTS.len());
        for (matrix, (name, expected)) in tables.iter().zip(SPOTS) {
            assert_eq!(matrix.name, name);
            let found = [b"RK", b"DE", b"FY"].map(|pair| rate(matrix, pair));
            assert_eq!(found, expected, "{name}");
        }
    }

    /// An order or a triangle misread would not pass: alike amino acids exchange more often than the
    /// mean pair.
    #[test]
    fn alike_amino_acids_exchange_often() {
        for matrix in PROTEIN_MATRICES.iter().filter(|m| m.name != "POISSON") {
            let mean = matrix.rates.iter().sum::<f64>() / 190.0;
            // Not Arg-Lys: by the code of animal mitochondria it takes two changes.
            for pair in [b"DE", b"FY", b"IV", b"ST"] {
                let pair_rate = rate(matrix, pair);
                let letters = String::from_utf8_lossy(pair).into_owned();
                assert!(pair_rate > mean, "{} {letters}: {pair_rate}, mean {mean}", matrix.name);
            }
        }
    }

    #[test]
    fn names_are_unique_and_found_in_any_case() {
        let mut names: Vec<String> = Vec::new();
        for matrix in PROTEIN_MATRICES {
            names.extend(matrix.aliases.iter().map(|a| a.to_string()));
            names.push(matrix.name.to_string());
            assert_eq!(find_protein_matrix(&matrix.name.to_lowercase()), Some(matrix));
            assert_eq!(find_protein_mixture(matrix.name), None);
        }
        for mixture in &PROTEIN_MIXTURES {
            names.extend(mixture.aliases.iter().map(|a| a.to_string()));
            names.push(mixture.name.to_string());
            assert_eq!(find_protein_mixture(&mixture.name.to_lowercase()), Some(mixture));
            assert_eq!(find_protein_matrix(mixture.name), None);
        }
        assert!(names.iter().all(|n| *n == n.to_uppercase()));
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn spellings_of_other_programs() {
        for (spelling, name) in [
            ("JTTDCMut", "JTT-DCMUT"),
            ("Q.pfam", "Q.PFAM"),
            ("HIVb", "HIVB"),
            ("Poisson", "POISSON"),
            ("stmtREV", "STMTREV"),
        ] {
            assert_eq!(find_protein_matrix(spelling).map(|m| m.name), Some(name));
        }
        for unknown in ["", "GTR", "LGX", "LG4M1"] {
            assert_eq!(find_protein_matrix(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn free_rates_have_mean_one() {
        let (rates, weights) = find_protein_mixture("LG4X").unwrap().free_rates.unwrap();
        let mean: f64 = rates.iter().zip(weights).map(|(r, w)| r * w).sum();
        assert!((mean - 1.0).abs() < 1e-5);
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(rates.is_sorted());
    }
}
