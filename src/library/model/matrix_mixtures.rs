//! The published mixtures of amino-acid matrices whose classes have rates of their own, and all rates over sites: EX2, EX3, EHO,
//! UL2 and UL3.
//!
//! The numbers are in [`super::protein_tables`], as published. No weights of the classes were published: they are
//! estimated, or given by the user.

use super::protein::ProteinMatrix;
use super::protein_tables::{eho, ex2, ex3, ul2, ul3};

/// A published mixture of matrices.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixMixture {
    /// Its name.
    pub name: &'static str,
    /// Authors, year, journal, pages.
    pub citation: &'static str,
    /// The matrix of each class.
    pub matrices: &'static [&'static ProteinMatrix],
    /// Rates of the classes, relative to each other.
    pub rates: &'static [f64],
}

const CITATION: &str = "Le, Lartillot & Gascuel 2008, Phil. Trans. R. Soc. B 363:3965-3976";

/// Every such mixture.
pub static MATRIX_MIXTURES: [MatrixMixture; 5] = [
    MatrixMixture {
        name: "EX2",
        citation: CITATION,
        matrices: &[&ex2::BUREX2, &ex2::EXPEX2],
        rates: &[0.672020808818762, 1.6413466609931],
    },
    MatrixMixture {
        name: "EX3",
        citation: CITATION,
        matrices: &[&ex3::BUREX3, &ex3::INTEX3, &ex3::HEXEX3],
        rates: &[0.427672756793791, 0.837595938019774, 1.51863631431518],
    },
    MatrixMixture {
        name: "EHO",
        citation: CITATION,
        matrices: &[&eho::EXTEHO, &eho::HELEHO, &eho::OTHEHO],
        rates: &[0.720274356, 0.976798797, 0.783109376],
    },
    MatrixMixture {
        name: "UL2",
        citation: CITATION,
        matrices: &[&ul2::M1UL2, &ul2::M2UL2],
        rates: &[0.581348617, 1.465482789],
    },
    MatrixMixture {
        name: "UL3",
        citation: CITATION,
        matrices: &[&ul3::Q1UL3, &ul3::Q2UL3, &ul3::Q3UL3],
        rates: &[0.484340397, 0.492780514, 1.15597274],
    },
];

/// The mixture of that name, in upper case.
pub(super) fn find_matrix_mixture(name: &str) -> Option<&'static MatrixMixture> {
    MATRIX_MIXTURES.iter().find(|mixture| mixture.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_rates_and_frequencies() {
        for mixture in &MATRIX_MIXTURES {
            assert_eq!(mixture.matrices.len(), mixture.rates.len());
            for matrix in mixture.matrices {
                let name = matrix.name;
                assert!(matrix.rates.iter().all(|&rate| rate.is_finite() && rate >= 0.0), "{name}");
                let sum: f64 = matrix.freqs.iter().sum();
                assert!(
                    matrix.freqs.iter().all(|&f| f > 0.0) && (sum - 1.0).abs() < 1e-5,
                    "{name}"
                );
                assert!(name.ends_with(mixture.name), "{name}");
            }
            assert_eq!(find_matrix_mixture(mixture.name), Some(mixture));
        }
    }

    /// Arg-Lys, Asp-Glu and Phe-Tyr of every table, read off its source's own layout.
    #[test]
    fn rates_of_three_pairs() {
        let all = MATRIX_MIXTURES.iter().flat_map(|mixture| mixture.matrices);
        let found: Vec<(&str, [f64; 3])> =
            all.map(|m| (m.name, [m.rates[28], m.rates[56], m.rates[173]])).collect();
        assert_eq!(found, SPOTS);
    }

    const SPOTS: [(&str, [f64; 3]); 13] = [
        ("BUREX2", [17.781822, 10.03031, 8.142914]),
        ("EXPEX2", [3.881079, 3.100403, 23.228875]),
        ("BUREX3", [20.76691, 12.012282, 8.141649]),
        ("INTEX3", [4.322929, 3.579383, 15.039152]),
        ("HEXEX3", [3.728628, 2.707953, 49.760746]),
        ("EXTEHO", [6.0173, 5.393249, 8.276255]),
        ("HELEHO", [3.827872, 3.792847, 15.178886]),
        ("OTHEHO", [5.734632, 3.815893, 19.404995]),
        ("M1UL2", [15.176345, 3.920399, 7.784255]),
        ("M2UL2", [3.603558, 2.685052, 29.335598]),
        ("Q1UL3", [2.01294, 3.592374, 47.933104]),
        ("Q2UL3", [12.981698, 4.176143, 8.107893]),
        ("Q3UL3", [11.082325, 1.882165, 5.251757]),
    ];
}
