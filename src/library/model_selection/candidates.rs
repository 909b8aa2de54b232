//! The candidate models: rate matrices with their frequencies, and rates over sites.

use crate::alphabet::DataType;
use crate::model::{
    AutoData, AutoModel, Heterogeneity, Model, NAMED_DNA_MODELS, PROTEIN_MATRICES, PROTEIN_MIXTURES,
};
use crate::numeric::GammaMode;

/// Rates over sites.
const RATES: [&str; 4] = ["", "+I", "+G4", "+I+G4"];
/// Free rates, which are slow to fit. They are tried if +G4 is better than equal rates, one after the other as long
/// as each is better than the previous.
const FREE_RATES: [&str; 7] = ["+R2", "+R3", "+R4", "+R5", "+R6", "+R7", "+R8"];
/// With more states, the exchange rates are more than 27 parameters, for which multi-state data hardly ever have enough characters.
const MOST_STATES_OF_GTR: usize = 8;
/// Profile mixtures, which are slow to fit. They are tried with the best matrix, one after the other as long as each is better than the
/// previous.
const PROFILES: [&str; 6] = ["+C10", "+C20", "+C30", "+C40", "+C50", "+C60"];
/// Rates over sites under which branch lengths are optimised first.
const FIRST_RATES: &str = "+G4";

/// The candidate models of a partition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CandidateSet {
    /// The data type of the partition.
    pub data_type: DataType,
    /// The rates over sites, if only the matrix is to be selected.
    rates: Option<&'static str>,
    /// Rates of +G are the medians of their categories instead of the means (Yang 1994, J Mol Evol 39:306).
    gamma_median: bool,
    /// Compare profile mixtures, too.
    profiles: bool,
}

/// A candidate model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Candidate {
    /// Beginning of the model string, with matrix and frequencies: `HKY`, `LG+F`, `LG4X`.
    pub matrix: String,
    /// End of the model string, with the rates over sites: `+I+G4`, or empty.
    pub rates: &'static str,
}

impl CandidateSet {
    /// The candidates that a user has requested, for data of which the type was detected.
    pub fn new(auto: AutoModel, detected: DataType, gamma_median: bool) -> Self {
        let data_type = match (auto.data, detected) {
            (AutoData::Dna, _) => DataType::Dna,
            (AutoData::Protein, _) => DataType::Protein,
            (AutoData::Binary, _) => DataType::Binary,
            (AutoData::Multistate, DataType::Binary) => DataType::Multistate(2),
            (AutoData::Detected | AutoData::Multistate, detected) => detected,
        };
        CandidateSet { data_type, rates: auto.rates, gamma_median, profiles: false }
    }

    /// The same with profile mixtures, if they are for the data type.
    pub fn with_profiles(self, profiles: bool) -> Self {
        CandidateSet { profiles: profiles && self.data_type == DataType::Protein, ..self }
    }

    /// Profiles, which are tried with the best matrix and its rates over sites, each as long as the previous one was an
    /// improvement.
    pub fn profiles(&self) -> &'static [&'static str] {
        if self.profiles { &PROFILES } else { &[] }
    }

    /// All rates over sites that are tried with the reference matrix.
    pub fn rates(&self) -> Vec<&'static str> {
        self.rates.map_or(RATES.to_vec(), |rates| vec![rates])
    }

    /// Free rates, which are tried if the best of the other models has +G4, each as long as the previous one was an
    /// improvement.
    pub fn free_rates(&self) -> &'static [&'static str] {
        if self.rates.is_none() { &FREE_RATES } else { &[] }
    }

    /// The rates over sites under which branch lengths are optimised first.
    pub(crate) fn first_rates(&self) -> &'static str {
        self.rates.unwrap_or(FIRST_RATES)
    }

    /// The reference matrix, under which rates over sites are compared: the most general one for DNA, the most
    /// common one for proteins.
    pub(crate) fn rich_matrix(&self) -> String {
        match self.data_type {
            DataType::Dna => "GTR+F".into(),
            DataType::Protein => "LG".into(),
            DataType::Binary => "BIN+F".into(),
            other => format!("MULTI{}_MK", other.num_states()),
        }
    }

    /// All matrices, each with its options of frequencies.
    pub fn matrices(&self) -> Vec<String> {
        match self.data_type {
            DataType::Dna => {
                let freqs = |equal| if equal { "+FE" } else { "+F" };
                let named = NAMED_DNA_MODELS.iter();
                named.map(|model| format!("{}{}", model.name, freqs(model.equal_freqs))).collect()
            }
            DataType::Protein => {
                let both = |name: &str| [name.to_string(), format!("{name}+F")];
                PROTEIN_MATRICES.iter().flat_map(|matrix| both(matrix.name)).collect()
            }
            DataType::Binary => vec!["BIN+FE".into(), "BIN+F".into()],
            other => {
                let states = other.num_states();
                let mut all = vec![format!("MULTI{states}_MK"), format!("MULTI{states}_MK+F")];
                if (3..=MOST_STATES_OF_GTR).contains(&states) {
                    all.push(format!("MULTI{states}_GTR+F"));
                }
                all
            }
        }
    }

    /// Models that include rates over sites: the mixtures LG4M and LG4X.
    pub fn mixtures(&self) -> Vec<Candidate> {
        match self.data_type {
            DataType::Protein if self.rates.is_none() => PROTEIN_MIXTURES
                .iter()
                .map(|mixture| Candidate { matrix: mixture.name.into(), rates: "" })
                .collect(),
            _ => Vec::new(),
        }
    }

    /// A candidate's model with default start values, without empirical frequencies.
    ///
    /// # Panics
    /// If the candidate is not a valid model string, unlike all candidates made by a [`CandidateSet`].
    pub fn model(&self, candidate: &Candidate) -> Model {
        let text = format!("{}{}", candidate.matrix, candidate.rates);
        let mut model = Model::parse(&text).expect("candidates are valid model strings");
        if self.gamma_median
            && let Heterogeneity::Gamma(gamma) = &mut model.heterogeneity
        {
            gamma.mode = GammaMode::Median;
        }
        model.notes.clear();
        model
    }

    /// The model of the partition until one is selected.
    pub fn placeholder(&self) -> Model {
        self.model(&Candidate { matrix: self.rich_matrix(), rates: self.first_rates() })
    }

    /// The model of a partition with too few data for a selection: the simplest one for nucleotides, the most
    /// common one for amino acids.
    pub fn fallback(&self) -> Model {
        let matrix = match self.data_type {
            DataType::Protein => self.rich_matrix(),
            _ => self.matrices().swap_remove(0),
        };
        self.model(&Candidate { matrix, rates: self.rates()[0] })
    }

    /// Description of the candidates, for users.
    pub fn describe(&self) -> String {
        let (matrices, mixtures) = (self.matrices().len(), self.mixtures().len());
        let rates = self.rates().into_iter();
        let mut list: Vec<&str> =
            rates.map(|rates| if rates.is_empty() { "equal" } else { rates }).collect();
        if let [first, second, ..] = self.free_rates() {
            list.extend([first, second, "and more as long as they are better"]);
        }
        let mut text = format!("{matrices} {} matrices with frequencies", self.data_type.name());
        if mixtures > 0 {
            text += &format!(" and {mixtures} mixtures");
        }
        text += &format!("; rates over sites: {}", list.join(", "));
        if self.profiles {
            text +=
                "; with the best matrix, the profiles C10, C20 and more as long as they are better";
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(word: &str, data_type: DataType) -> CandidateSet {
        CandidateSet::new(AutoModel::read(word).unwrap(), data_type, false)
    }

    #[test]
    fn every_candidate_is_a_model_of_its_type_and_no_two_are_one() {
        let multistate = DataType::multistate(5).unwrap();
        for data_type in [DataType::Dna, DataType::Protein, DataType::Binary, multistate] {
            let candidates = candidates("auto", data_type);
            assert_eq!(candidates.placeholder().data_type, data_type);
            let rates: Vec<_> = candidates
                .rates()
                .into_iter()
                .chain(candidates.free_rates().iter().copied())
                .collect();
            let all = candidates.matrices().into_iter().flat_map(|matrix| {
                rates.iter().map(move |rates| Candidate { matrix: matrix.clone(), rates })
            });
            let mut labels: Vec<String> = Vec::new();
            for candidate in all.chain(candidates.mixtures()) {
                let model = candidates.model(&candidate);
                assert_eq!(model.data_type, data_type, "{candidate:?}");
                labels.push(model.label());
            }
            let count = labels.len();
            labels.sort();
            labels.dedup();
            assert_eq!(labels.len(), count);
        }
    }

    #[test]
    fn exchange_rates_of_multistate_data_are_tried_up_to_eight_states() {
        let matrices =
            |states| candidates("auto", DataType::multistate(states).unwrap()).matrices();
        assert_eq!(matrices(2), ["MULTI2_MK", "MULTI2_MK+F"]);
        assert_eq!(matrices(8), ["MULTI8_MK", "MULTI8_MK+F", "MULTI8_GTR+F"]);
        assert_eq!(matrices(9), ["MULTI9_MK", "MULTI9_MK+F"]);
    }

    #[test]
    fn raxml_s_word_fixes_the_rates() {
        let auto = candidates("PROTGAMMAIAUTO", DataType::Protein);
        assert_eq!((auto.rates(), auto.mixtures()), (vec!["+I+G4"], vec![]));
        assert_eq!(auto.placeholder().label(), "LG+IO+G4m");
        assert_eq!(
            auto.describe(),
            "66 protein matrices with frequencies; rates over sites: +I+G4"
        );
        // The user's choice takes precedence over the detected type.
        assert_eq!(candidates("AA", DataType::Dna).data_type, DataType::Protein);
        let median = CandidateSet::new(AutoModel::read("auto").unwrap(), DataType::Dna, true);
        assert_eq!(median.placeholder().label(), "GTR+FC+G4a");
    }
}
