//! A fit: optimisation of a model's parameters and of branch lengths, from the results of earlier fits.

use crate::likelihood::{EngineError, Evaluator};
use crate::model::{Exchange, Heterogeneity, Model};
use crate::optimize::OptimizeOptions;
use crate::tree::Tree;

/// Accuracy of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// Only the model's parameters, at the branch lengths of another model. This is enough to exclude most
    /// models.
    Screened,
    /// Parameters and branch lengths, roughly.
    Rough,
    /// Parameters and branch lengths, to convergence.
    Full,
}

impl Effort {
    fn options(self) -> OptimizeOptions {
        let (branches, lnl_epsilon, max_rounds) = match self {
            Effort::Screened => (false, 1.0, 1),
            Effort::Rough => (true, 1.0, 2),
            Effort::Full => (true, 0.02, 6),
        };
        OptimizeOptions { model: true, branches, lnl_epsilon, max_rounds }
    }
}

/// A model to be fitted.
#[derive(Debug, Clone)]
pub struct Task {
    /// The candidate to which the model belongs.
    pub candidate: super::Candidate,
    /// The model with start values of its parameters.
    pub start: Model,
    /// Other start values: the fit begins with those of the highest likelihood.
    pub other_starts: Vec<Model>,
    /// Start values of the branch lengths, as a tree of the partition's taxa; `None` for those of the given tree.
    pub lengths: Option<Tree>,
    /// Accuracy of the fit.
    pub effort: Effort,
}

/// A fitted model.
#[derive(Debug, Clone)]
pub struct Fit {
    /// The candidate to which the model belongs.
    pub candidate: super::Candidate,
    /// The model with its optimised parameters.
    pub model: Model,
    /// The tree of the partition's taxa with its branch lengths.
    pub tree: Tree,
    /// Log-likelihood.
    pub lnl: f64,
    /// Accuracy of the fit.
    pub effort: Effort,
}

/// Carries out a task. The evaluator must have one partition, the partition, with unlinked branch lengths and the
/// task's start model. `optimize` optimises both with these options, and returns the log-likelihood.
///
/// # Errors
/// The engine has failed, or `optimize` has.
pub fn fit<E: From<EngineError>>(
    mut evaluator: Evaluator,
    task: &Task,
    optimize: impl FnOnce(&mut Evaluator, &mut [Model], &OptimizeOptions) -> Result<f64, E>,
) -> Result<Fit, E> {
    if let Some(lengths) = &task.lengths {
        evaluator.set_partition_brlens(0, lengths);
    }
    let mut models = [likeliest(&mut evaluator, task)?.clone()];
    evaluator.set_model(0, &models[0]);
    let lnl = optimize(&mut evaluator, &mut models, &task.effort.options())?;
    let [model] = models;
    let tree = evaluator.partition_tree(0).0.clone();
    Ok(Fit { candidate: task.candidate.clone(), model, tree, lnl, effort: task.effort })
}

/// The start of a task with the highest likelihood at its branch lengths.
fn likeliest<'a>(evaluator: &mut Evaluator, task: &'a Task) -> Result<&'a Model, EngineError> {
    let mut best = (&task.start, f64::NEG_INFINITY);
    if task.other_starts.is_empty() {
        return Ok(best.0);
    }
    for start in std::iter::once(&task.start).chain(&task.other_starts) {
        evaluator.set_model(0, start);
        let lnl = evaluator.log_likelihood()?;
        if lnl > best.1 {
            best = (start, lnl);
        }
    }
    Ok(best.0)
}

/// Sets a model's rates over sites and exchange rates to those of another model, as far as it has such
/// parameters. A class of equal exchange rates takes the geometric mean of the corresponding rates.
pub(super) fn start_from(model: &mut Model, other: &Model) {
    if let (Some(invariant), Some(found)) = (&mut model.invariant, &other.invariant) {
        invariant.pinv = found.pinv;
    }
    match (&mut model.heterogeneity, &other.heterogeneity) {
        (Heterogeneity::Gamma(gamma), Heterogeneity::Gamma(found)) => gamma.alpha = found.alpha,
        (Heterogeneity::Free(free), Heterogeneity::Free(found))
            if free.rates.len() == found.rates.len() =>
        {
            free.clone_from(found);
        }
        (Heterogeneity::Free(free), Heterogeneity::Gamma(found))
            if free.rates.len() == found.num_cats && other.invariant.is_none() =>
        {
            let cats = other.rates_over_sites();
            (free.rates, free.weights) = (cats.rates, cats.weights);
        }
        _ => {}
    }
    let (Exchange::Classes(classes), Exchange::Classes(found)) =
        (&mut model.exchange, &other.exchange)
    else {
        return;
    };
    if classes.classes.len() != found.classes.len() || found.num_classes() == 1 {
        return;
    }
    let mean = |class: u16| {
        let of_class = classes.classes.iter().zip(&found.rates).filter(|(c, _)| **c == class);
        let logs: Vec<f64> = of_class.map(|(_, &rate)| libm::log(rate)).collect();
        logs.iter().sum::<f64>() / logs.len().max(1) as f64
    };
    let reference = mean(classes.reference());
    let values: Vec<(u16, f64)> = classes
        .free()
        .into_iter()
        .map(|class| (class, libm::exp(mean(class) - reference)))
        .collect();
    for (class, value) in values {
        classes.set_value(class, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(model: &str, from: &str) -> String {
        let mut model = Model::parse(model).unwrap();
        start_from(&mut model, &Model::parse(from).unwrap());
        model.to_string()
    }

    #[test]
    fn a_poorer_model_begins_where_a_richer_one_ended() {
        let rich = "GTR{1/9/1/1/4/1}+FU{.1/.2/.3/.4}+I{.2}+G4{0.7}";
        let mut kimura = Model::parse("K80+I+G4").unwrap();
        start_from(&mut kimura, &Model::parse(rich).unwrap());
        let found: Vec<f64> = kimura.free_parameters().iter().map(|p| p.value).collect();
        assert!((found[0] - 6.0).abs() < 1e-12 && found[1..] == [0.7, 0.2], "{found:?}");
        assert_eq!(started("JC+G4", rich), "JC+FE+G4m{0.7}");
        assert_eq!(started("JC", rich), "JC+FE");
        let gamma = Model::parse("JC+G4{0.5}").unwrap().rate_cats().rates;
        let mut free = Model::parse("JC+R4").unwrap();
        start_from(&mut free, &Model::parse("JC+G4{0.5}").unwrap());
        assert_eq!(free.rate_cats().rates, gamma);
        assert_eq!(started("WAG+G4", "LG+G4{2}"), "WAG+G4m{2}");
    }
}
