//! What is sampled besides the tree: parameters of models that are not fixed, as shares or as single numbers.

use super::priors::{Priors, SharesPrior};
use crate::alphabet::DataType;
use crate::likelihood::Evaluator;
use crate::model::{Exchange, FreeRates, FreqsMode, Heterogeneity, Model, ParamMode};
use serde::{Deserialize, Serialize};

/// A parameter or a group of them, of the partition with this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Parameter {
    /// Shares of the classes of exchange rates.
    Rates(usize),
    /// Frequencies of the states.
    Freqs(usize),
    /// Transitions and transversions of codon models, as shares.
    Kappa(usize),
    /// Nonsynonymous and synonymous changes of codon models, as shares.
    Omega(usize),
    /// Shape of the gamma distribution.
    Alpha(usize),
    /// Proportion of invariant sites.
    Pinv(usize),
    /// Free rates over sites, as shares in their sum. The rates themselves are these in proportion to their mean by weight.
    FreeRates(usize),
    /// Weights of free rates.
    FreeWeights(usize),
    /// Shares of the partitions in the tree length, weighted by their sites.
    Multipliers,
}

/// Names of the priors that are not the usual ones, but of which no model has a parameter.
pub fn priors_without_parameters(
    parameters: &[Parameter],
    models: &[Model],
    priors: &Priors,
) -> Vec<&'static str> {
    let of_parameters = parameters.iter().map(|parameter| parameter.prior_name(models, priors));
    let used: Vec<&str> = of_parameters.chain(["brlenspr"]).collect();
    let usual = Priors::default().describe();
    let own = priors.describe().into_iter().zip(usual).filter(|(own, usual)| own != usual);
    own.map(|((name, _), _)| name).filter(|name| !used.contains(name)).collect()
}

/// The parameters of these models that are not fixed.
///
/// # Errors
/// A prior that is of another number of shares, as a message.
pub fn list_parameters(
    models: &[Model],
    has_scalers: bool,
    priors: &Priors,
) -> Result<Vec<Parameter>, String> {
    let mut all = Vec::new();
    for (partition, model) in models.iter().enumerate() {
        if model.estimates_class_weights() {
            return Err(format!(
                "the model {}: weights of classes are not sampled; give them in braces (+WU{{...}}), those that a search or an \
                 evaluation has estimated, for example",
                model.short_label()
            ));
        }
        if model.has_linked_rates() {
            return Err(
                "exchange rates are sampled for each partition: leave out --link-exchange-rates"
                    .into(),
            );
        }
        match &model.exchange {
            Exchange::Classes(classes) if !classes.free().is_empty() => {
                all.push(Parameter::Rates(partition));
            }
            Exchange::Codon(codon) if codon.mode == ParamMode::Optimized => {
                all.extend(codon.kappa.map(|_| Parameter::Kappa(partition)));
                all.push(Parameter::Omega(partition));
            }
            _ => {}
        }
        if model.freqs_mode == FreqsMode::Optimized {
            all.push(Parameter::Freqs(partition));
        }
        match &model.heterogeneity {
            Heterogeneity::Gamma(gamma) if gamma.alpha_mode == ParamMode::Optimized => {
                all.push(Parameter::Alpha(partition));
            }
            Heterogeneity::Free(free)
                if free.mode == ParamMode::Optimized && free.rates.len() > 1 =>
            {
                all.extend([Parameter::FreeRates(partition), Parameter::FreeWeights(partition)]);
            }
            _ => {}
        }
        if model.invariant.is_some_and(|invariant| invariant.pinv_mode == ParamMode::Optimized) {
            all.push(Parameter::Pinv(partition));
        }
    }
    if has_scalers && models.len() > 1 {
        all.push(Parameter::Multipliers);
    }
    for parameter in &all {
        let model = &models[parameter.partition().unwrap_or(0)];
        let size = match parameter {
            Parameter::Multipliers => models.len(),
            _ => parameter.size(model) + 1,
        };
        let prior = parameter.shares_prior(models, priors);
        if let Some((name, of)) = prior.and_then(|(name, prior)| Some((name, prior.size()?)))
            && of != size
        {
            let label = match parameter.partition() {
                Some(_) => format!("the model {}", model.short_label()),
                None => "this analysis".to_string(),
            };
            return Err(format!(
                "--prset {name}: a distribution of {of} shares, but {label} has {size} of them; one number is for any number of \
                 shares"
            ));
        }
    }
    Ok(all)
}

/// Gives numbers without a prior density values that have one.
pub fn admit_parameters(parameters: &[Parameter], priors: &Priors, models: &mut [Model]) {
    for &parameter in parameters {
        let Some(value) = parameter.number(models) else { continue };
        let admitted = match parameter {
            Parameter::Alpha(_) => priors.admit_shape(value),
            _ => priors.admit_pinv(value),
        };
        if let Some(partition) = parameter.partition() {
            parameter.set_number(&mut models[partition], admitted);
        }
    }
}

impl Parameter {
    /// The partition whose model it belongs to, if it is one of a model.
    pub(super) fn partition(self) -> Option<usize> {
        match self {
            Parameter::Rates(partition)
            | Parameter::Freqs(partition)
            | Parameter::Kappa(partition)
            | Parameter::Omega(partition)
            | Parameter::Alpha(partition)
            | Parameter::Pinv(partition)
            | Parameter::FreeRates(partition)
            | Parameter::FreeWeights(partition) => Some(partition),
            Parameter::Multipliers => None,
        }
    }

    /// Its shares, which sum to 1; `None` of a single number.
    pub(super) fn shares(self, models: &[Model], evaluator: &Evaluator) -> Option<Vec<f64>> {
        let model = self.partition().map(|partition| &models[partition]);
        match (self, model.map(|model| &model.exchange)) {
            (Parameter::Rates(_), Some(Exchange::Classes(classes))) => {
                let rates = (0..classes.num_classes()).map(|class| classes.value(class));
                Some(normalised(rates.collect()))
            }
            (Parameter::Kappa(_), Some(Exchange::Codon(codon))) => codon.kappa.map(of_ratio),
            (Parameter::Omega(_), Some(Exchange::Codon(codon))) => Some(of_ratio(codon.omega)),
            (Parameter::Freqs(partition), _) => Some(models[partition].freqs.clone()),
            (Parameter::FreeRates(partition), _) => {
                free_rates(&models[partition]).map(|free| normalised(free.rates.clone()))
            }
            (Parameter::FreeWeights(partition), _) => {
                free_rates(&models[partition]).map(|free| free.weights.clone())
            }
            (Parameter::Multipliers, _) => {
                let share = |partition| {
                    evaluator.num_sites_of(partition) * evaluator.brlen_scaler(partition)
                };
                Some(normalised((0..evaluator.num_partitions()).map(share).collect()))
            }
            _ => None,
        }
    }

    /// Number of its free numbers in a model of this kind: all shares but one, or one.
    pub(super) fn size(self, model: &Model) -> usize {
        match (self, &model.exchange) {
            (Parameter::Rates(_), Exchange::Classes(classes)) => {
                usize::from(classes.num_classes()) - 1
            }
            (Parameter::Freqs(_), _) => model.freqs.len() - 1,
            (Parameter::FreeRates(_) | Parameter::FreeWeights(_), _) => {
                free_rates(model).map_or(1, |free| free.rates.len() - 1)
            }
            _ => 1,
        }
    }

    /// Sets the shares in the model of its partition.
    pub(super) fn set_shares(self, model: &mut Model, shares: &[f64]) {
        if let Heterogeneity::Free(free) = &mut model.heterogeneity {
            match self {
                Parameter::FreeRates(_) => free.rates = shares.to_vec(),
                Parameter::FreeWeights(_) => free.weights = shares.to_vec(),
                _ => {}
            }
            if matches!(self, Parameter::FreeRates(_) | Parameter::FreeWeights(_)) {
                let mean: f64 = free.rates.iter().zip(&free.weights).map(|(r, w)| r * w).sum();
                free.rates.iter_mut().for_each(|rate| *rate /= mean);
                return;
            }
        }
        match (self, &mut model.exchange) {
            (Parameter::Freqs(_), _) => model.set_freqs(shares),
            (Parameter::Rates(_), Exchange::Classes(classes)) => {
                let reference = shares[usize::from(classes.reference())];
                for class in classes.free() {
                    classes.set_value(class, shares[usize::from(class)] / reference);
                }
            }
            (Parameter::Kappa(_), Exchange::Codon(codon)) => {
                codon.kappa = Some(shares[0] / shares[1])
            }
            (Parameter::Omega(_), Exchange::Codon(codon)) => codon.omega = shares[0] / shares[1],
            _ => unreachable!("a parameter of this model"),
        }
    }

    /// Its value; `None` of shares.
    pub(super) fn number(self, models: &[Model]) -> Option<f64> {
        match self {
            Parameter::Alpha(partition) => match &models[partition].heterogeneity {
                Heterogeneity::Gamma(gamma) => Some(gamma.alpha),
                _ => None,
            },
            Parameter::Pinv(partition) => {
                models[partition].invariant.map(|invariant| invariant.pinv)
            }
            _ => None,
        }
    }

    /// Sets the value in the model of its partition.
    pub(super) fn set_number(self, model: &mut Model, value: f64) {
        match (self, &mut model.heterogeneity, &mut model.invariant) {
            (Parameter::Alpha(_), Heterogeneity::Gamma(gamma), _) => gamma.alpha = value,
            (Parameter::Pinv(_), _, Some(invariant)) => invariant.pinv = value,
            _ => unreachable!("a parameter of this model"),
        }
    }

    /// The name with which its prior is typed.
    fn prior_name(self, models: &[Model], priors: &Priors) -> &'static str {
        match self {
            Parameter::Alpha(_) => "shapepr",
            Parameter::Pinv(_) => "pinvarpr",
            _ => self.shares_prior(models, priors).map_or("", |(name, _)| name),
        }
    }

    /// The prior of its shares, by the name with which it is typed; `None` of a single number.
    fn shares_prior<'a>(
        self,
        models: &[Model],
        priors: &'a Priors,
    ) -> Option<(&'static str, &'a SharesPrior)> {
        match self {
            Parameter::Rates(partition) if is_kappa(&models[partition]) => {
                Some(("tratiopr", &priors.kappa))
            }
            Parameter::Rates(_) => Some(("revmatpr", &priors.exchange)),
            Parameter::Freqs(_) => Some(("statefreqpr", &priors.freqs)),
            Parameter::Kappa(_) => Some(("tratiopr", &priors.kappa)),
            Parameter::Omega(_) => Some(("omegapr", &priors.omega)),
            Parameter::FreeRates(_) => Some(("freeratepr", &priors.free_rates)),
            Parameter::FreeWeights(_) => Some(("freeweightpr", &priors.free_weights)),
            Parameter::Multipliers => Some(("ratepr", &priors.multipliers)),
            Parameter::Alpha(_) | Parameter::Pinv(_) => None,
        }
    }

    /// Natural logarithm of its prior density.
    pub(super) fn ln_prior(self, priors: &Priors, models: &[Model], evaluator: &Evaluator) -> f64 {
        match (self.shares(models, evaluator), self.shares_prior(models, priors)) {
            (Some(mut shares), Some((_, prior))) => {
                // Classes of rates begin with the transversions, the prior with the transitions.
                if matches!(self, Parameter::Rates(partition) if is_kappa(&models[partition])) {
                    shares.reverse();
                }
                prior.ln_density(&shares)
            }
            _ => match (self, self.number(models)) {
                (Parameter::Alpha(_), Some(value)) => priors.ln_shape(value),
                (_, Some(value)) => priors.ln_pinv(value),
                (_, None) => 0.0,
            },
        }
    }

    /// What is written of it: shares of rates and frequencies, ratios, or its value.
    pub(super) fn written(self, models: &[Model], evaluator: &Evaluator) -> Vec<f64> {
        match self {
            Parameter::Multipliers => (0..evaluator.num_partitions())
                .map(|partition| evaluator.brlen_scaler(partition))
                .collect(),
            Parameter::Rates(partition) if is_kappa(&models[partition]) => {
                let shares = self.shares(models, evaluator).expect("rates are shares");
                vec![shares[1] / shares[0]]
            }
            Parameter::FreeRates(partition) | Parameter::FreeWeights(partition) => {
                let free = free_rates(&models[partition]).expect("it has free rates");
                let values = match self {
                    Parameter::FreeRates(_) => &free.rates,
                    _ => &free.weights,
                };
                // Categories may exchange their places, unless they have matrices of their own.
                let mut order: Vec<usize> = (0..values.len()).collect();
                if !models[partition].has_matrices_of_rates() {
                    order.sort_by(|&a, &b| free.rates[a].total_cmp(&free.rates[b]));
                }
                order.into_iter().map(|category| values[category]).collect()
            }
            Parameter::Kappa(_) | Parameter::Omega(_) => {
                let shares = self.shares(models, evaluator).expect("ratios are shares");
                vec![shares[0] / shares[1]]
            }
            _ => match self.shares(models, evaluator) {
                Some(shares) => shares,
                None => self.number(models).into_iter().collect(),
            },
        }
    }

    /// The names of [`Parameter::written`], as in MrBayes; the number of the partition follows where there are several.
    fn names(self, models: &[Model], numbers: &[usize]) -> Vec<Column> {
        let states = |partition: usize| models[partition].data_type.state_names();
        let names: Vec<String> = match self {
            Parameter::Multipliers => return of_partitions("m", ColumnOrder::Last, numbers),
            Parameter::Rates(partition) if is_kappa(&models[partition]) => {
                vec!["kappa".to_string()]
            }
            Parameter::Rates(partition) => rate_names(&models[partition]),
            Parameter::Freqs(partition) => {
                states(partition).iter().map(|name| format!("pi({name})")).collect()
            }
            Parameter::Kappa(_) => vec!["kappa".to_string()],
            Parameter::Omega(_) => vec!["omega".to_string()],
            Parameter::Alpha(_) => vec!["alpha".to_string()],
            Parameter::Pinv(_) => vec!["pinvar".to_string()],
            Parameter::FreeRates(partition) => numbered("rate", self.size(&models[partition]) + 1),
            Parameter::FreeWeights(partition) => {
                numbered("weight", self.size(&models[partition]) + 1)
            }
        };
        let number = self.partition().map_or(1, |partition| numbers[partition]);
        let column = |name: String| Column {
            name: if models.len() > 1 { format!("{name}{{{number}}}") } else { name },
            place: (ColumnOrder::Middle, number),
        };
        names.into_iter().map(column).collect()
    }
}

/// A number that is written of every sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// By this columns are to be sorted where they are written: with the number of the partition in its file, from 1.
    pub place: (ColumnOrder, usize),
}

/// Where a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColumnOrder {
    First,
    Middle,
    Last,
}

/// A column for each partition.
fn of_partitions(name: &str, place: ColumnOrder, numbers: &[usize]) -> Vec<Column> {
    let column =
        |&number: &usize| Column { name: format!("{name}{{{number}}}"), place: (place, number) };
    numbers.iter().map(column).collect()
}

/// All numbers that are written of a sample after its log-likelihood and log prior density, in the order of
/// [`super::Sample::values`]: the tree length, or under unlinked lengths those of all partitions, and the parameters. `numbers`
/// are those of the partitions in their file, from 1.
pub fn columns(
    parameters: &[Parameter],
    models: &[Model],
    has_own_lengths: bool,
    numbers: &[usize],
) -> Vec<Column> {
    let own = parameters.iter().flat_map(|parameter| parameter.names(models, numbers));
    let lengths = match has_own_lengths {
        true => of_partitions("TL", ColumnOrder::First, numbers),
        false => vec![Column { name: "TL".to_string(), place: (ColumnOrder::First, 1) }],
    };
    lengths.into_iter().chain(own).collect()
}

/// The free rates of a model, if it has any.
fn free_rates(model: &Model) -> Option<&FreeRates> {
    match &model.heterogeneity {
        Heterogeneity::Free(free) => Some(free),
        _ => None,
    }
}

/// `rate(1)`, `rate(2)`, ...
fn numbered(name: &str, count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("{name}({number})")).collect()
}

/// True for DNA models with one rate of transitions and one of transversions.
fn is_kappa(model: &Model) -> bool {
    matches!(&model.exchange, Exchange::Classes(classes) if model.data_type == DataType::Dna
        && classes.classes == [0, 1, 0, 0, 1, 0])
}

/// `r(A<->C)` of rates that are all different, else the pairs of every class.
fn rate_names(model: &Model) -> Vec<String> {
    let Exchange::Classes(classes) = &model.exchange else { return Vec::new() };
    let states = model.data_type.state_names();
    let mut names: Vec<String> = vec![String::new(); usize::from(classes.num_classes())];
    let pairs = (0..states.len()).flat_map(|a| (a + 1..states.len()).map(move |b| [a, b]));
    for ([a, b], &class) in pairs.zip(&classes.classes) {
        let name = &mut names[usize::from(class)];
        let comma = if name.is_empty() { "" } else { "," };
        name.push_str(&format!("{comma}{}<->{}", states[a], states[b]));
    }
    names.iter().map(|pairs| format!("r({pairs})")).collect()
}

fn normalised(mut values: Vec<f64>) -> Vec<f64> {
    let sum: f64 = values.iter().sum();
    values.iter_mut().for_each(|value| *value /= sum);
    values
}

fn of_ratio(ratio: f64) -> Vec<f64> {
    vec![ratio / (1.0 + ratio), 1.0 / (1.0 + ratio)]
}
