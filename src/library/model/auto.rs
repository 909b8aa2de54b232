//! Words for model selection: `auto`, IQ-TREE's `MFP` and `TEST`, a data type alone (RAxML-NG), RAxML's
//! `PROTGAMMAAUTO`.

use super::data_types::{Type, read_type};
use super::words::plain;

/// The data type whose models are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AutoData {
    /// That of the characters.
    Detected,
    /// DNA models.
    Dna,
    /// Amino-acid matrices.
    Protein,
    /// Models of 0 and 1.
    Binary,
    /// Models of multi-state data.
    Multistate,
}

/// A model to be selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AutoModel {
    /// The models to compare.
    pub data: AutoData,
    /// The rates over sites, if only the matrix is to be selected: `+G4` or `+I+G4`.
    pub rates: Option<&'static str>,
}

impl AutoModel {
    /// The selection that the model of the command line stands for; `None` if it names a model.
    pub fn read(text: &str) -> Option<AutoModel> {
        let word = plain(text);
        let all_rates = |data| Some(AutoModel { data, rates: None });
        let protein = |rates| Some(AutoModel { data: AutoData::Protein, rates: Some(rates) });
        match word.as_str() {
            "AUTO" | "MFP" | "TEST" => all_rates(AutoData::Detected),
            "PROTGAMMAAUTO" | "PROTCATAUTO" => protein("+G4"),
            "PROTGAMMAIAUTO" | "PROTCATIAUTO" => protein("+I+G4"),
            _ => match read_type(&word) {
                Some((Type::Dna, false)) => all_rates(AutoData::Dna),
                Some((Type::Protein, false)) => all_rates(AutoData::Protein),
                _ => None,
            },
        }
    }

    /// The selection that the line of a partition stands for, given that of the command line; `None` if the
    /// line has a model. With selection on the command line, a data type (or none) also stands for
    /// selection, except codons and a type with an `X`.
    pub fn of_line(line: &str, option: Option<AutoModel>) -> Option<AutoModel> {
        let word = plain(line);
        match word.as_str() {
            "" => return option,
            "AUTO" | "MFP" | "TEST" => return option.or_else(|| AutoModel::read("AUTO")),
            _ => {}
        }
        let Some((kind, optimized)) = read_type(&word) else {
            return AutoModel::read(&word);
        };
        let option = option.filter(|_| !optimized)?;
        let data = match kind {
            Type::Protein => return Some(AutoModel { data: AutoData::Protein, ..option }),
            Type::Dna => AutoData::Dna,
            Type::Binary => AutoData::Binary,
            Type::Multistate => AutoData::Multistate,
            Type::Codon(_) => return None,
        };
        // RAxML's words fix the rates of all partitions, and select matrices of proteins only.
        option.rates.is_none().then_some(AutoModel { data, rates: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_command_line() {
        let read = |text| AutoModel::read(text).map(|auto| (auto.data, auto.rates));
        for text in ["auto", "AUTO", "MFP", "Test"] {
            assert_eq!(read(text), Some((AutoData::Detected, None)), "{text}");
        }
        assert_eq!(read("DNA"), Some((AutoData::Dna, None)));
        assert_eq!(read("aa"), Some((AutoData::Protein, None)));
        assert_eq!(read("PROTGAMMAAUTO"), Some((AutoData::Protein, Some("+G4"))));
        assert_eq!(read("PROTGAMMAIAUTO"), Some((AutoData::Protein, Some("+I+G4"))));
        assert_eq!(read("PROTCATAUTO"), Some((AutoData::Protein, Some("+G4"))));
        for text in ["GTR+G", "BIN", "CODON", "DNAX", "MULTI", "auto+G", ""] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn lines_take_it_from_the_command_line() {
        let of = |line, option: &str| {
            AutoModel::of_line(line, AutoModel::read(option)).map(|auto| (auto.data, auto.rates))
        };
        assert_eq!(of("auto", "GTR+G"), Some((AutoData::Detected, None)));
        assert_eq!(of("DNA", "GTR+G"), None);
        assert_eq!(of("", "auto"), Some((AutoData::Detected, None)));
        assert_eq!(of("DNA", "auto"), Some((AutoData::Dna, None)));
        assert_eq!(of("PROT", "DNA"), Some((AutoData::Protein, None)));
        assert_eq!(of("BIN", "auto"), Some((AutoData::Binary, None)));
        assert_eq!(of("PROT", "PROTGAMMAAUTO"), Some((AutoData::Protein, Some("+G4"))));
        assert_eq!(of("PROTGAMMAIAUTO", "GTR+G"), Some((AutoData::Protein, Some("+I+G4"))));
        for (line, option) in
            [("DNA", "PROTGAMMAAUTO"), ("CODON", "auto"), ("DNAX", "auto"), ("LG", "auto")]
        {
            assert_eq!(of(line, option), None, "{line} {option}");
        }
    }
}
