//! Names of rate matrices of every data type, and the models they begin.

use super::bounds::{
    CODON_MAX, CODON_MIN, FIXED_RATE_MAX, FIXED_RATE_MIN, GAMMA_CATS, KAPPA_START, OMEGA_START,
};
use super::codon::{CodonModelKind, CodonRates};
use super::dna::{NAMED_DNA_MODELS, find_named, parse_symmetry};
use super::exchange::{Exchange, RateClasses};
use super::matrix_mixtures::{MATRIX_MIXTURES, find_matrix_mixture};
use super::mixture::{Mixture, NAMED_MATRICES};
use super::modes::{FreqsMode, ParamMode};
use super::parameters::Model;
use super::profiles::{PROFILE_MIXTURES, find_profile_mixture};
use super::protein::{PROTEIN_MATRICES, find_protein_matrix, find_protein_mixture};
use super::rates::{FreeRates, Gamma, Heterogeneity};
use super::words::{Parsed, Word};
use crate::alphabet::{DataType, GeneticCode};
use crate::error::{abridged, short_number};

/// Beginnings of names (upper case) of other programs that are not supported.
const NOT_YET: [&str; 12] = [
    "ORDERED", "ECM", "KOSI", "SCHN", "GT10", "GT16", "GP", "UNREST", "NONREV", "GY1K", "GY2K",
    "MG2K",
];

/// What a matrix's name may leave open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context {
    /// Genetic code of codon models.
    pub(super) code: GeneticCode,
    /// Number of states of multi-state models whose name does not give it.
    pub(super) num_states: Option<usize>,
}

/// The matrix with its rates and the frequencies it implies.
pub(super) fn read_matrix(word: &Word, context: Context) -> Parsed<Model> {
    let name = word.head;
    let mut model = dna_model(name)
        .or_else(|| protein_model(name))
        .or_else(|| codon_model(name, context.code))
        .or_else(|| binary_model(name))
        .map_or_else(|| multistate_model(name, context.num_states), Ok)?;
    match &word.values[..] {
        [] => {}
        [values] => set_rates(&mut model, values)?,
        _ => return Err(format!("'{}' takes one list of values in braces", abridged(name))),
    }
    Ok(model)
}

/// The model of `MIX{LG:0.5:0.3/WAG:1.5:0.7}`: named matrices with rates (1 if there is none) and weights, which are estimated
/// if there are none. `None` if the word is not of this form.
pub(super) fn read_named_matrices(word: &str) -> Parsed<Option<Model>> {
    let Some(list) = word.strip_prefix(NAMED_MATRICES).and_then(|rest| rest.strip_prefix('{'))
    else {
        return Ok(None);
    };
    let list = list.strip_suffix('}').unwrap_or(list);
    let (mut matrices, mut names, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for item in list.split(['/', ',']) {
        let mut fields = item.split(':');
        let name = fields.next().unwrap_or_default();
        let matrix = find_protein_matrix(name).ok_or_else(|| {
            format!(
                "'{}' in 'MIX{{...}}' is no amino-acid matrix: mixtures of several matrices are of published ones, such as \
                 MIX{{LG/WAG}}, or with rates and weights MIX{{LG:0.5:0.3/WAG:1.5:0.7}}",
                abridged(name)
            )
        })?;
        let numbers: Vec<f64> = fields.map_while(|field| field.parse().ok()).collect();
        let is_good = |number: &f64| *number > 0.0 && number.is_finite();
        if numbers.len() != item.matches(':').count()
            || !numbers.iter().all(is_good)
            || numbers.len() > 2
        {
            return Err(format!(
                "'{}' in 'MIX{{...}}': expected NAME, NAME:RATE or NAME:RATE:WEIGHT, with numbers above 0",
                abridged(item)
            ));
        }
        let rate = numbers.first().copied().unwrap_or(1.0);
        names.push(if rate == 1.0 {
            matrix.name.to_string()
        } else {
            format!("{}:{rate}", matrix.name)
        });
        matrices.push((matrix, rate));
        weights.extend(numbers.get(1));
    }
    if matrices.len() < 2 {
        return Err("'MIX{...}' needs two or more matrices".into());
    }
    if !weights.is_empty() && weights.len() < matrices.len() {
        return Err("'MIX{...}' has weights for some matrices only: give all or none".into());
    }
    let name = format!("{NAMED_MATRICES}{{{}}}", names.join("/"));
    let mut model = Model::new(name, DataType::Protein, Exchange::OfClasses);
    let mut mixture = Mixture::of_matrices_with_rates(NAMED_MATRICES, matrices.into_iter());
    if !weights.is_empty() {
        mixture.fix_weights(weights);
    }
    model.mixture = Some(mixture);
    model.freqs_mode = FreqsMode::Table;
    Ok(Some(model))
}

/// True for a multi-state model whose name does not give the number of states.
pub(super) fn leaves_states_open(name: &str) -> bool {
    ["MK", "MULTI_MK", "MULTI_GTR"].contains(&name)
}

fn dna_model(name: &str) -> Option<Model> {
    let (name, classes, equal_freqs) = if let Some(named) = find_named(name) {
        (named.name.to_string(), named.rate_classes, named.equal_freqs)
    } else {
        let classes = parse_symmetry(name)?;
        let digits: String = classes.iter().map(u8::to_string).collect();
        (format!("DNA{digits}"), classes, false)
    };
    let classes = RateClasses::of_dna(classes.iter().map(|&class| u16::from(class)).collect());
    let mut model = Model::new(name, DataType::Dna, Exchange::Classes(classes));
    if !equal_freqs {
        model.freqs_mode = FreqsMode::Empirical;
    }
    Some(model)
}

fn protein_model(name: &str) -> Option<Model> {
    let new = |name: &str, exchange| Model::new(name.to_string(), DataType::Protein, exchange);
    if ["PROTGTR", "GTR20"].contains(&name) {
        let mut model = new("PROTGTR", Exchange::Classes(RateClasses::different(20)));
        model.freqs_mode = FreqsMode::Empirical;
        return Some(model);
    }
    if let Some(matrix) = find_protein_matrix(name) {
        let mut model = new(matrix.name, Exchange::Table(&matrix.rates, &matrix.freqs));
        model.set_freqs(&matrix.freqs);
        model.freqs_mode = FreqsMode::Table;
        return Some(model);
    }
    if let Some(profiles) = find_profile_mixture(name) {
        // As in IQ-TREE, profiles alone have equal exchange rates and gamma-distributed rates over sites.
        let mut model = protein_model("POISSON")?;
        model.mixture = Some(Mixture::of_profiles(profiles));
        model.heterogeneity = Heterogeneity::Gamma(Gamma::of_cats(GAMMA_CATS));
        return Some(model);
    }
    if let Some(matrices) = find_matrix_mixture(name) {
        let mut model = new(matrices.name, Exchange::OfClasses);
        model.mixture = Some(Mixture::of_matrices(matrices));
        model.freqs_mode = FreqsMode::Table;
        return Some(model);
    }
    let mixture = find_protein_mixture(name)?;
    let mut model = new(mixture.name, Exchange::OfClasses);
    model.mixture = Some(Mixture::of_rates(mixture));
    model.freqs_mode = FreqsMode::Table;
    model.heterogeneity = match mixture.free_rates {
        None => Heterogeneity::Gamma(Gamma::of_cats(GAMMA_CATS)),
        Some((rates, weights)) => {
            let mut free = FreeRates {
                rates: rates.to_vec(),
                weights: weights.to_vec(),
                mode: ParamMode::Optimized,
            };
            free.normalise();
            Heterogeneity::Free(free)
        }
    };
    Some(model)
}

fn codon_model(name: &str, code: GeneticCode) -> Option<Model> {
    let (name, kind, has_kappa) = match name {
        "GY" | "GY94" | "M0" => ("GY", CodonModelKind::GoldmanYang, true),
        "GY0K" => ("GY0K", CodonModelKind::GoldmanYang, false),
        "MG" | "MG94" => ("MG", CodonModelKind::MuseGaut, false),
        "MGK" => ("MGK", CodonModelKind::MuseGaut, true),
        _ => return None,
    };
    let rates = CodonRates {
        kind,
        code,
        kappa: has_kappa.then_some(KAPPA_START),
        omega: OMEGA_START,
        mode: ParamMode::Optimized,
    };
    let mut model = Model::new(name.to_string(), DataType::Codon(code), Exchange::Codon(rates));
    model.set_position_freqs(&[[0.25; 4]; 3]);
    model.freqs_mode = FreqsMode::F3x4 { counted: true };
    Some(model)
}

fn binary_model(name: &str) -> Option<Model> {
    let freqs_mode = match name {
        "BIN" | "GTR2" => FreqsMode::Empirical,
        "JC2" => FreqsMode::Equal,
        _ => return None,
    };
    let exchange = Exchange::Classes(RateClasses::equal(2));
    let mut model = Model::new("BIN".to_string(), DataType::Binary, exchange);
    model.freqs_mode = freqs_mode;
    Some(model)
}

fn multistate_model(name: &str, open_states: Option<usize>) -> Parsed<Model> {
    let (states, kind) = match name {
        "MK" => (None, "MK"),
        _ => match name.strip_prefix("MULTI").and_then(|rest| rest.split_once('_')) {
            Some((digits, kind @ ("MK" | "GTR"))) if digits.bytes().all(|b| b.is_ascii_digit()) => {
                (digits.parse::<usize>().ok(), kind)
            }
            _ => return Err(unknown_matrix(name)),
        },
    };
    let Some(states) = states.or(open_states) else {
        return Err(format!("the number of states is missing: MULTI4_{kind}, for example"));
    };
    let Some(data_type) = DataType::multistate(states) else {
        return Err(format!("a model of {states} states is not possible: expected 2 to 64"));
    };
    let (classes, freqs_mode) = match kind {
        "MK" => (RateClasses::equal(states), FreqsMode::Equal),
        _ => (RateClasses::different(states), FreqsMode::Empirical),
    };
    let name = format!("MULTI{states}_{kind}");
    let mut model = Model::new(name, data_type, Exchange::Classes(classes));
    model.freqs_mode = freqs_mode;
    Ok(model)
}

fn set_rates(model: &mut Model, values: &[f64]) -> Parsed<()> {
    let name = model.name.clone();
    match &mut model.exchange {
        Exchange::Classes(classes) => set_classes(&name, classes, values),
        Exchange::Codon(codon) => set_codon(&name, codon, values),
        Exchange::Table(..) | Exchange::OfClasses => {
            Err(format!("{name} has published rates and takes none; PROTGTR{{...}} takes 190"))
        }
    }
}

fn set_codon(name: &str, codon: &mut CodonRates, values: &[f64]) -> Parsed<()> {
    if let Some(wrong) = values.iter().find(|v| !(CODON_MIN..=CODON_MAX).contains(*v)) {
        return Err(format!(
            "{wrong} in {name}{{...}} is outside its limits, {CODON_MIN} to {CODON_MAX}"
        ));
    }
    match (codon.kappa, values) {
        (Some(_), &[kappa, omega]) => (codon.kappa, codon.omega) = (Some(kappa), omega),
        (None, &[omega]) => codon.omega = omega,
        (Some(_), _) => return Err(format!("{name} takes two values: {name}{{kappa/omega}}")),
        (None, _) => return Err(format!("{name} takes one value: {name}{{omega}}")),
    }
    codon.mode = ParamMode::Fixed;
    Ok(())
}

pub(super) fn set_classes(name: &str, classes: &mut RateClasses, values: &[f64]) -> Parsed<()> {
    let num_classes = usize::from(classes.num_classes());
    let num_rates = classes.classes.len();
    // Published amino-acid matrices have zeros.
    let may_be_zero = num_classes > 6;
    if let Some(wrong) = values.iter().find(|&&v| v < 0.0 || (v == 0.0 && !may_be_zero)) {
        return Err(format!(
            "rate {wrong} of {name} is not above 0; use a small rate such as 0.0001 instead"
        ));
    }
    let reference = usize::from(classes.reference());
    let mut by_class = vec![1.0; num_classes];
    let count = values.len();
    if count == num_rates {
        for (&class, &value) in classes.classes.iter().zip(values) {
            by_class[usize::from(class)] = value;
        }
        for (i, &class) in classes.classes.iter().enumerate() {
            if values[i] != by_class[usize::from(class)] {
                return Err(format!(
                    "the {num_rates} rates ({}) do not have the symmetry of {name}, {}; \
                     give equal numbers where its digits are equal, or use GTR",
                    order_of(num_rates),
                    classes.classes.iter().map(u16::to_string).collect::<String>()
                ));
            }
        }
    } else if count == num_classes {
        by_class.copy_from_slice(values);
    } else if count + 1 == num_classes {
        let free = (0..num_classes).filter(|&class| class != reference);
        for (class, &value) in free.zip(values) {
            by_class[class] = value;
        }
    } else {
        let shorter = match num_classes {
            1 => String::new(),
            _ => format!(
                ", {num_classes} (one per class) or {} (relative to the last)",
                num_classes - 1
            ),
        };
        return Err(format!(
            "{count} rates in braces, but {name} takes {num_rates} ({}){shorter}",
            order_of(num_rates)
        ));
    }
    if by_class[reference] == 0.0 {
        return Err(format!("the last rate of {name}, which the others are relative to, is 0"));
    }
    for (class, value) in by_class.iter().enumerate() {
        let relative = value / by_class[reference];
        if *value > 0.0 && !(FIXED_RATE_MIN..=FIXED_RATE_MAX).contains(&relative) {
            return Err(format!(
                "rate {} of {name} is too far from the last rate, {}: the ratio must be from \
                 {FIXED_RATE_MIN:e} to {FIXED_RATE_MAX:e}",
                short_number(*value),
                short_number(by_class[reference])
            ));
        }
        classes.set_value(class as u16, relative);
    }
    classes.mode = ParamMode::Fixed;
    Ok(())
}

fn order_of(num_rates: usize) -> &'static str {
    match num_rates {
        6 => "AC/AG/AT/CG/CT/GT",
        _ => "the upper triangle, row by row",
    }
}

fn unknown_matrix(name: &str) -> String {
    let dna: Vec<&str> = NAMED_DNA_MODELS.iter().map(|m| m.name).collect();
    let protein: Vec<&str> = PROTEIN_MATRICES.iter().map(|m| m.name).collect();
    let matrices = MATRIX_MIXTURES.iter().map(|m| m.name);
    let mixtures: Vec<&str> = matrices.chain(PROFILE_MIXTURES.iter().map(|m| m.name)).collect();
    let known = format!(
        "the models are, for DNA: {}, or a symmetry such as DNA010020; for proteins: {} LG4M LG4X {} PROTGTR; \
         for codons: GY MG GY0K MGK; for binary data: BIN; for 2 to 64 states: MULTI4_MK and MULTI4_GTR; and \
         RAxML's GTRGAMMA, PROTGAMMALG, BINGAMMA, MULTIGAMMA and so on",
        dna.join(" "),
        protein.join(" "),
        mixtures.join(" ")
    );
    if name.is_empty() {
        return format!("no matrix is named; {known}");
    }
    if Model::is_type(name) {
        return format!("this is a data type, not a model; use GTR+G, for example; {known}");
    }
    if ["AUTO", "TEST", "MF", "MFP", "TESTONLY"].contains(&name) {
        return format!(
            "'auto', for model selection, stands alone, and is possible only where there are data; {known}"
        );
    }
    if NOT_YET.iter().any(|start| name.starts_with(start)) {
        return format!("'{}' is not supported; {known}", abridged(name));
    }
    format!("unknown matrix '{}'; {known}", abridged(name))
}
