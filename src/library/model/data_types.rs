//! Data types as partition lines name them (`DNA`, `BIN`, `CODON2`, RAxML's `LGF`), and the models for which
//! they stand, given the model of the command line.

use super::matrices::{Context, read_matrix};
use super::modes::FreqsMode;
use super::parameters::Model;
use super::rates::Heterogeneity;
use super::raxml::split_protein;
use super::words::{Parsed, Word, plain};
use crate::alphabet::{DataType, GeneticCode};
use crate::error::abridged;

/// A data type without a model.
#[derive(Clone, Copy)]
pub(super) enum Type {
    Dna,
    Binary,
    Multistate,
    Protein,
    Codon(GeneticCode),
}

/// Type, and whether frequencies are to be estimated (`X`).
pub(super) fn read_type(word: &str) -> Option<(Type, bool)> {
    let (bare, optimized) = match word.strip_suffix('X') {
        Some(bare) => (bare, true),
        None => (word, false),
    };
    let found = match bare {
        "DNA" | "NT" => Type::Dna,
        "BIN" | "BINARY" => Type::Binary,
        "MULTI" | "MORPH" => Type::Multistate,
        "PROT" | "AA" | "PROTEIN" => Type::Protein,
        _ => {
            let number = bare.strip_prefix("CODON")?;
            let number = if number.is_empty() { Some(1) } else { number.parse().ok() };
            Type::Codon(number.and_then(GeneticCode::from_number)?)
        }
    };
    Some((found, optimized))
}

impl Model {
    /// True for a word that names a data type and not a model: `DNA`, `BIN`, `CODON2`, `PROT`, and the same
    /// followed by `X` for frequencies by maximum likelihood.
    pub fn is_type(text: &str) -> bool {
        read_type(&plain(text)).is_some()
    }

    /// True for a word that names proteins, without a model.
    pub fn is_protein_type(text: &str) -> bool {
        matches!(read_type(&plain(text)), Some((Type::Protein, _)))
    }

    /// True for a type of multi-state data whose number of states must be counted.
    pub fn is_multistate_type(text: &str) -> bool {
        matches!(read_type(&plain(text)), Some((Type::Multistate, _)))
    }

    /// This model for data whose type was given separately (`--data-type CODON2`): the same, with the
    /// genetic code of the type.
    ///
    /// # Errors
    /// A message for an unknown type, or for a model of other data.
    pub fn for_data_type(&self, text: &str) -> Parsed<Model> {
        let Some((found, false)) = read_type(&plain(text)) else {
            return Err(format!(
                "unknown data type '{}'; expected DNA, AA, BIN, MULTI (MORPH) or CODON, where the number \
                 of a genetic code may follow (CODON2)",
                abridged(text.trim())
            ));
        };
        match (found, self.data_type) {
            (Type::Codon(code), DataType::Codon(_)) => self.with_code(code),
            (Type::Dna, DataType::Dna)
            | (Type::Binary, DataType::Binary)
            | (Type::Protein, DataType::Protein)
            | (Type::Multistate, DataType::Multistate(_)) => Ok(self.clone()),
            _ => Err(format!(
                "the data type is {}, but {} is a model of {}",
                text.trim(),
                self.label(),
                self.data_type.name()
            )),
        }
    }

    /// This codon model with another genetic code.
    fn with_code(&self, code: GeneticCode) -> Parsed<Model> {
        let DataType::Codon(old) = self.data_type else {
            panic!("a genetic code for {}", self.name);
        };
        let number = |code: GeneticCode| format!("+CODE{{{}}}", code.number());
        let mut model = Model::parse(&self.label().replace(&number(old), &number(code)))?;
        model.notes.clone_from(&self.notes);
        Ok(model)
    }

    /// A multi-state model with all rates equal (`MK`) or all different (`GTR`), and the rest of this
    /// one: RAxML's `-K`.
    ///
    /// # Panics
    /// If it is not a multi-state model.
    pub fn with_multistate_rates(&self, equal: bool) -> Model {
        assert!(matches!(self.data_type, DataType::Multistate(_)), "{} is multi-state", self.name);
        let name = format!("MULTI{}_{}", self.num_states(), if equal { "MK" } else { "GTR" });
        let word = Word { head: &name, values: Vec::new() };
        let context = Context { code: GeneticCode::STANDARD, num_states: None };
        let mut model = read_matrix(&word, context).expect("a name of a model");
        if self.freqs_mode == FreqsMode::Optimized {
            model.freqs_mode = FreqsMode::Optimized;
        }
        model.ascertainment.clone_from(&self.ascertainment);
        model.notes.clone_from(&self.notes);
        with_rates_of(model, self)
    }

    /// The model that a partition line's type stands for, given the one of the command line: that one
    /// if it is of the type, otherwise the type's most general model with the rates over sites of that
    /// one, as in RAxML. The same for a bare amino-acid matrix (`LG`, RAxML's `LGF` and `LGX`).
    /// `num_states` is of multi-state data. `None` if `text` is neither.
    ///
    /// # Errors
    /// A message for a type that does not determine its model.
    pub fn for_type(
        text: &str,
        from_option: &Model,
        num_states: Option<usize>,
    ) -> Option<Parsed<Model>> {
        let word = plain(text);
        let (word, corrected) = match word.strip_prefix("ASC_") {
            Some(bare) => (bare.to_string(), true),
            None => (word, false),
        };
        let mut model = match read_type(&word) {
            Some((found, optimized)) => {
                let mut model = match of_type(found, from_option, num_states) {
                    Ok(model) => model,
                    Err(wrong) => {
                        return Some(Err(format!("type '{}': {wrong}", abridged(text.trim()))));
                    }
                };
                if optimized {
                    model.freqs_mode = FreqsMode::Optimized;
                }
                model
            }
            None => {
                let (name, freqs) = split_protein(&word).filter(|(name, _)| name != "AUTO")?;
                let model = Model::parse(&format!("{name}{freqs}")).ok()?;
                with_rates_of(model, from_option)
            }
        };
        if corrected {
            model.ascertainment = Some(super::Ascertainment::Lewis);
        }
        Some(Ok(model))
    }
}

fn of_type(found: Type, option: &Model, num_states: Option<usize>) -> Parsed<Model> {
    let make = |name: &str, code: GeneticCode| {
        let word = Word { head: name, values: Vec::new() };
        read_matrix(&word, Context { code, num_states })
    };
    let standard = GeneticCode::STANDARD;
    let own = |name| make(name, standard).map(|model| with_rates_of(model, option));
    match (found, option.data_type) {
        (Type::Dna, DataType::Dna)
        | (Type::Binary, DataType::Binary)
        | (Type::Protein, DataType::Protein) => Ok(option.clone()),
        (Type::Codon(code), DataType::Codon(of_option)) if code == of_option => Ok(option.clone()),
        (Type::Codon(code), DataType::Codon(_)) => option.with_code(code),
        (Type::Codon(code), _) => make("GY", code).map(|model| with_rates_of(model, option)),
        (Type::Dna, _) => own("GTR"),
        (Type::Binary, _) => own("BIN"),
        (Type::Multistate, DataType::Multistate(_)) if option.name.ends_with("MK") => own("MK"),
        (Type::Multistate, _) => own("MULTI_GTR"),
        (Type::Protein, _) => Err(
            "the amino-acid matrix is missing: write LG, for example, or auto, or give one with -m"
                .to_string(),
        ),
    }
}

/// The model with the rates over sites of another.
fn with_rates_of(mut model: Model, other: &Model) -> Model {
    if model.heterogeneity == Heterogeneity::Uniform {
        model.heterogeneity = other.heterogeneity.clone();
    }
    model.invariant = other.invariant;
    model
}
