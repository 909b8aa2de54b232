//! The named DNA models and symmetry strings: which of the six rates are equal, and whether the base
//! frequencies are.
//!
//! Rates are in the order AC AG AT CG CT GT. Classes are numbered by first appearance; the class of
//! GT is the reference and has rate 1. Names are RAxML-NG's; IQ-TREE's spellings are accepted where
//! they do not collide (TIM2 is one that does: equal frequencies here and in RAxML-NG, unequal ones in
//! IQ-TREE, where TIM2e is the equal one).

/// A DNA model with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedDnaModel {
    /// The canonical name.
    pub name: &'static str,
    /// Other spellings, upper case.
    pub aliases: &'static [&'static str],
    /// Class of each rate (AC AG AT CG CT GT).
    pub rate_classes: [u8; 6],
    /// True if the base frequencies are equal by default.
    pub equal_freqs: bool,
}

const fn named(
    name: &'static str,
    aliases: &'static [&'static str],
    rate_classes: [u8; 6],
    equal_freqs: bool,
) -> NamedDnaModel {
    NamedDnaModel { name, aliases, rate_classes, equal_freqs }
}

/// Every named DNA model, from the poorest to the richest.
///
/// Classes as in Posada (2008), Mol. Biol. Evol. 25:1253-1256 (jModelTest), table 1.
pub const NAMED_DNA_MODELS: [NamedDnaModel; 22] = [
    named("JC", &["JC69"], [0, 0, 0, 0, 0, 0], true),
    named("F81", &[], [0, 0, 0, 0, 0, 0], false),
    named("K80", &["K2P"], [0, 1, 0, 0, 1, 0], true),
    named("HKY", &["HKY85"], [0, 1, 0, 0, 1, 0], false),
    named("TN93ef", &["TRNEF", "TNE"], [0, 1, 0, 0, 2, 0], true),
    named("TN93", &["TRN", "TN"], [0, 1, 0, 0, 2, 0], false),
    named("K81", &["K3P", "TPM1"], [0, 1, 2, 2, 1, 0], true),
    named("K81uf", &["K3PU", "K81U", "TPM1UF", "TPM1U"], [0, 1, 2, 2, 1, 0], false),
    named("TPM2", &["TPM2EF"], [0, 1, 0, 2, 1, 2], true),
    named("TPM2uf", &["TPM2U"], [0, 1, 0, 2, 1, 2], false),
    named("TPM3", &["TPM3EF"], [0, 1, 2, 0, 1, 2], true),
    named("TPM3uf", &["TPM3U"], [0, 1, 2, 0, 1, 2], false),
    named("TIM1", &["TIM1EF", "TIME", "TIM1E"], [0, 1, 2, 2, 3, 0], true),
    named("TIM1uf", &["TIM", "TIM1U"], [0, 1, 2, 2, 3, 0], false),
    named("TIM2", &["TIM2EF", "TIM2E"], [0, 1, 0, 2, 3, 2], true),
    named("TIM2uf", &["TIM2U"], [0, 1, 0, 2, 3, 2], false),
    named("TIM3", &["TIM3EF", "TIM3E"], [0, 1, 2, 0, 3, 2], true),
    named("TIM3uf", &["TIM3U"], [0, 1, 2, 0, 3, 2], false),
    named("TVMef", &["TVME"], [0, 1, 2, 3, 1, 4], true),
    named("TVM", &["TVMUF"], [0, 1, 2, 3, 1, 4], false),
    named("SYM", &[], [0, 1, 2, 3, 4, 5], true),
    named("GTR", &[], [0, 1, 2, 3, 4, 5], false),
];

/// Exchange rates (AC AG AT CG CT GT) of Felsenstein's model of 1984, for these frequencies and this ratio R of the
/// expected numbers of transitions and transversions: 1 for transversions, 1 + K/π_R and 1 + K/π_Y for the transitions of
/// purines and pyrimidines, with
///
/// ```text
/// R = (π_A π_G (1 + K/π_R) + π_C π_T (1 + K/π_Y)) / (π_R π_Y)
/// ```
///
/// (Felsenstein & Churchill 1996, Mol. Biol. Evol. 13:93). `None` if transitions cannot be so rare.
pub fn f84_rates(freqs: &[f64], ratio: f64) -> Option<[f64; 6]> {
    let [a, c, g, t] = *freqs else { panic!("frequencies of nucleotides") };
    let (purines, pyrimidines) = (a + g, c + t);
    let k =
        (ratio * purines * pyrimidines - a * g - c * t) / (a * g / purines + c * t / pyrimidines);
    let [ag, ct] = [1.0 + k / purines, 1.0 + k / pyrimidines];
    (ag >= 0.0 && ct >= 0.0).then_some([1.0, ag, 1.0, 1.0, ct, 1.0])
}

/// The model of that name or alias, upper or lower case.
pub(super) fn find_named(name: &str) -> Option<&'static NamedDnaModel> {
    let matches = |known: &&str| known.eq_ignore_ascii_case(name);
    NAMED_DNA_MODELS.iter().find(|m| matches(&m.name) || m.aliases.iter().any(matches))
}

/// Rate classes of a symmetry string `DNA010020` or `010020`: equal digits, equal rates. The classes
/// are renumbered by first appearance. `None` if it is not a symmetry string.
pub(super) fn parse_symmetry(name: &str) -> Option<[u8; 6]> {
    let digits = match name.get(..3) {
        Some(prefix) if prefix.eq_ignore_ascii_case("DNA") => &name[3..],
        _ => name,
    };
    if digits.len() != 6 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut seen: Vec<u8> = Vec::new();
    let mut classes = [0; 6];
    for (class, digit) in classes.iter_mut().zip(digits.bytes()) {
        let position = seen.iter().position(|&d| d == digit).unwrap_or_else(|| {
            seen.push(digit);
            seen.len() - 1
        });
        *class = position as u8;
    }
    Some(classes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_classes_numbered_by_first_appearance() {
        let mut names: Vec<String> = Vec::new();
        for model in &NAMED_DNA_MODELS {
            names.push(model.name.to_uppercase());
            names.extend(model.aliases.iter().map(|a| a.to_string()));
            let digits: String = model.rate_classes.iter().map(|c| c.to_string()).collect();
            assert_eq!(parse_symmetry(&digits), Some(model.rate_classes), "{}", model.name);
        }
        assert!(names.iter().all(|n| *n == n.to_uppercase()));
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn symmetry_strings() {
        assert_eq!(parse_symmetry("dna454464"), Some([0, 1, 0, 0, 2, 0]));
        assert_eq!(parse_symmetry("010020"), Some([0, 1, 0, 0, 2, 0]));
        for wrong in ["DNA", "DNA01002", "0100200", "01002x", "", "RNA010020", "ééé"] {
            assert_eq!(parse_symmetry(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn known_symmetries() {
        // IQ-TREE's manual lists these codes for its models.
        for (name, code) in [
            ("HKY85", "010010"),
            ("TrN", "010020"),
            ("K3P", "012210"),
            ("TPM2u", "010212"),
            ("TPM3", "012012"),
            ("TIMe", "012230"),
            ("TIM2e", "010232"),
            ("TIM3uf", "012032"),
            ("TVMe", "012314"),
        ] {
            assert_eq!(
                Some(find_named(name).unwrap().rate_classes),
                parse_symmetry(code),
                "{name}"
            );
        }
        assert!(find_named("TIM2e").unwrap().equal_freqs);
        assert!(find_named("TIM2").unwrap().equal_freqs);
        assert!(!find_named("tim").unwrap().equal_freqs);
        assert!(find_named("LG").is_none());
    }
}
