//! The published mixtures of amino-acid profiles, C10 to C60: lists of frequencies, one for each class of sites.
//!
//! The numbers are in [`super::protein_tables`], as published. With the exchange rates of any matrix they are a mixture
//! of as many rate matrices (`LG+C20+G4`).

use super::protein_tables::{c10, c20, c30, c40, c50, c60};

/// A published mixture of profiles.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileMixture {
    /// Its name, which follows a `+` in model strings.
    pub name: &'static str,
    /// Authors, year, journal, pages.
    pub citation: &'static str,
    /// Share of the sites of each class. Their sum is 1 except for rounding.
    pub weights: &'static [f64],
    /// Amino-acid frequencies of each class, in the order `ARNDCQEGHILKMFPSTWYV`. Their sum is 1 except for rounding.
    pub profiles: &'static [[f64; 20]],
}

/// Every mixture of profiles with a name, the smallest first.
pub static PROFILE_MIXTURES: [&ProfileMixture; 6] =
    [&c10::C10, &c20::C20, &c30::C30, &c40::C40, &c50::C50, &c60::C60];

/// The mixture of that name, in upper case.
pub(super) fn find_profile_mixture(name: &str) -> Option<&'static ProfileMixture> {
    PROFILE_MIXTURES.iter().copied().find(|mixture| mixture.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_weights_and_frequencies() {
        for (mixture, count) in PROFILE_MIXTURES.iter().zip((10..).step_by(10)) {
            assert_eq!(mixture.name, format!("C{count}"));
            assert_eq!((mixture.weights.len(), mixture.profiles.len()), (count, count));
            let sums = mixture.profiles.iter().map(|profile| profile.iter().sum::<f64>());
            for sum in sums.chain([mixture.weights.iter().sum()]) {
                assert!((sum - 1.0).abs() < 1e-6, "{}: {sum}", mixture.name);
            }
            let all = mixture.profiles.iter().flatten().chain(mixture.weights);
            assert!(all.into_iter().all(|&value| value > 0.0), "{}", mixture.name);
            assert_eq!(find_profile_mixture(mixture.name), Some(*mixture));
        }
        assert_eq!(find_profile_mixture("C15"), None);
    }

    /// A profile of each table: its class, the amino acid that is its most frequent one, and its frequency.
    #[test]
    fn most_frequent_amino_acids() {
        for (name, class, letter, freq) in SPOTS {
            let profile = &find_profile_mixture(name).unwrap().profiles[class];
            let largest = (0..20).max_by(|&a, &b| profile[a].total_cmp(&profile[b])).unwrap();
            assert_eq!(b"ARNDCQEGHILKMFPSTWYV"[largest], letter, "{name}");
            assert_eq!(profile[largest], freq, "{name}");
        }
    }

    const SPOTS: [(&str, usize, u8, f64); 6] = [
        ("C10", 9, b'S', 0.2610647896),
        ("C20", 19, b'E', 0.3402102668),
        ("C30", 29, b'A', 0.1101008748),
        ("C40", 39, b'L', 0.4451691588),
        ("C50", 49, b'A', 0.215354094),
        ("C60", 59, b'L', 0.4432797758),
    ];
}
