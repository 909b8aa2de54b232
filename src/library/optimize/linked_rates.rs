//! Exchange rates that partitions have in common: one minimiser for the sum of their log-likelihoods, at given branch lengths and
//! other parameters. (21 proteins in two partitions under GTR20+F+G4: -2756.24; RAxML 8.2.12, which estimates one matrix, too, -2756.49.)

use super::coordinates::Coordinates;
use super::exchange_slopes::{ExchangeSlopes, num_with_slopes};
use super::learnt::{Curvature, Learnt, MAX_ITERATIONS, SHARE_OF_GAIN};
use crate::likelihood::{Evaluator, Result};
use crate::model::Model;
use crate::numeric::Bfgs;

/// Optimises linked exchange rates until a step gains less than `lnl_epsilon` (log units), or a small share of all that was
/// gained. The log-likelihood of all partitions that share them does not become lower.
///
/// # Errors
/// The engine has failed.
pub(super) fn optimize_linked_rates(
    evaluator: &mut Evaluator,
    models: &mut [Model],
    lnl_epsilon: f64,
    learnt: &mut Learnt,
) -> Result<()> {
    for group in Model::groups_of_linked_rates(models) {
        let first = models[group[0]].linked_rates();
        let mut shared = first.expect("a group has linked rates");
        set(evaluator, models, &group, &shared);
        let coordinates = Coordinates::of(&shared, 0, None);
        let (start, lo, hi) = coordinates.begin();
        let mut minimiser = Bfgs::new(start.clone(), lo, hi, lnl_epsilon, MAX_ITERATIONS)
            .with_share_of_gain(SHARE_OF_GAIN);
        // (A single taxon says nothing of rates.)
        let told: Vec<usize> =
            group.iter().copied().filter(|&number| evaluator.num_taxa_of(number) >= 2).collect();
        let has_slopes = |&number: &usize| num_with_slopes(evaluator, number, &shared) > 0;
        if !told.is_empty() && told.iter().all(has_slopes) {
            minimiser = minimiser.with_slopes_of(0..start.len());
        }
        if let Some(curvature) = learnt.of_linked(group[0]) {
            let hessian = curvature.hessian(0, false).map(|h| coordinates.turn_hessian(&h));
            if let Some(hessian) = hessian {
                minimiser = minimiser.with_hessian(hessian, curvature.far);
            }
        }
        let before = shared.clone();
        let mut last = start.clone();
        while let Some(asked) = minimiser.ask() {
            if asked != last {
                last = asked.to_vec();
                shared.set_free_parameters(&coordinates.values(&last).0);
                set(evaluator, models, &group, &shared);
            }
            if minimiser.wants_slopes() {
                let all = ExchangeSlopes::sum(ExchangeSlopes::of(evaluator, &told)?);
                let (slopes, hessian) = all.in_coordinates(&coordinates);
                minimiser.tell_slopes(slopes, hessian);
                continue;
            }
            let lnls = evaluator.log_likelihoods_of(&group)?;
            minimiser.tell(-lnls.iter().sum::<f64>());
        }
        let best = minimiser.best().0.to_vec();
        if best == start {
            // The rates themselves, without the rounding of their logarithms.
            set(evaluator, models, &group, &before);
        } else if best != last {
            shared.set_free_parameters(&coordinates.values(&best).0);
            set(evaluator, models, &group, &shared);
        }
        let hessian = minimiser.hessian();
        if hessian.iter().any(|&h| h != 0.0) {
            let hessian = coordinates.turn_hessian(hessian);
            let curvature = Curvature::between(hessian, start.len(), &start, &best);
            learnt.keep_linked(group[0], curvature);
        }
    }
    Ok(())
}

/// Gives the partitions the rates.
fn set(evaluator: &mut Evaluator, models: &mut [Model], group: &[usize], shared: &Model) {
    for &partition in group {
        let before = models[partition].clone();
        models[partition].take_linked_rates(shared);
        if models[partition] != before {
            evaluator.set_model(partition, &models[partition]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rounds_tests::case;
    use super::*;
    use crate::likelihood::BrlenLinkage;
    use crate::observer::Silent;
    use crate::optimize::{
        Goal, Optimisation, OptimizeOptions, OptimizeState, evaluate_anew,
        optimize_from_several_starts,
    };

    /// The models and the log-likelihoods of both partitions at the optimum.
    fn optimum(linkage: BrlenLinkage) -> ([Model; 2], Vec<f64>, Evaluator) {
        let mut models = ["GTR+FE+G4"; 2].map(|text| Model::parse(text).unwrap());
        assert_eq!(Model::link_exchange_rates(&mut models.each_mut()), 1);
        let mut evaluator = case(linkage, &models);
        let options = OptimizeOptions::to(1e-3);
        optimize_from_several_starts(&mut evaluator, &mut models, &options, &mut Silent).unwrap();
        let lnls = evaluator.partition_log_likelihoods().unwrap();
        (models, lnls, evaluator)
    }

    #[test]
    fn shared_rates_are_the_best_for_all_partitions_together() {
        for linkage in [BrlenLinkage::Linked, BrlenLinkage::Scaled, BrlenLinkage::Unlinked] {
            let (mut models, lnls, mut evaluator) = optimum(linkage);
            let together: f64 = lnls.iter().sum();
            assert_eq!(models[0].exchange_rates(), models[1].exchange_rates());
            // No other rates are better.
            let shared = models[0].linked_rates().unwrap();
            let values: Vec<f64> = shared.free_parameters().iter().map(|p| p.value).collect();
            for rate in 0..values.len() {
                for factor in [0.97, 1.03] {
                    let (mut other, mut values) = (shared.clone(), values.clone());
                    values[rate] *= factor;
                    other.set_free_parameters(&values);
                    set(&mut evaluator, &mut models, &[0, 1], &other);
                    let lnl = evaluator.log_likelihood().unwrap();
                    assert!(lnl < together + 2e-3, "{linkage:?}: rate {rate}: {lnl} {together}");
                }
            }
            // From elsewhere, an optimum that is no worse, with the same rates in all partitions.
            let initial = models.clone();
            let options = OptimizeOptions::to(1e-3);
            evaluate_anew(&mut evaluator, &mut models, &initial, &options, &mut Silent).unwrap();
            let again = evaluator.log_likelihood().unwrap();
            assert!(again > together - 0.02, "{linkage:?}: {again} {together}");
            assert_eq!(models[0].exchange_rates(), models[1].exchange_rates());
        }
    }

    #[test]
    fn an_optimisation_of_shared_rates_goes_on_from_any_of_its_states_with_the_same_bits() {
        let linkage = BrlenLinkage::Unlinked;
        let mut initial = ["GTR+FE+G4"; 2].map(|text| Model::parse(text).unwrap());
        Model::link_exchange_rates(&mut initial.each_mut());
        let options = OptimizeOptions::to(1e-2);
        let end = |from: Option<&[u8]>, states: &mut Vec<Vec<u8>>| {
            let (mut models, mut evaluator) = (initial.clone(), case(linkage, &initial));
            let mut optimisation = match from {
                None => {
                    let goal = Goal::Best;
                    Optimisation::new(goal, &mut evaluator, &mut models, &initial, &options)
                }
                Some(bytes) => {
                    let state: OptimizeState = postcard::from_bytes(bytes).unwrap();
                    assert!(state.fits(&evaluator, &models));
                    let apart = ["GTR+FE+G4"; 2].map(|text| Model::parse(text).unwrap());
                    let knows_rates = bytes.len() > states[0].len() + 8 * 25;
                    assert!(!knows_rates || !state.fits(&evaluator, &apart), "of other models");
                    Optimisation::resume(state, &mut evaluator, &mut models, &initial, &options)
                }
            };
            while !optimisation.is_done() {
                if from.is_none() {
                    states.push(postcard::to_stdvec(&optimisation.state()).unwrap());
                }
                optimisation.step(&mut Silent).unwrap();
            }
            let lnl = optimisation.log_likelihood().unwrap();
            format!("{lnl:?} {models:?}")
        };
        let mut states = Vec::new();
        let expected = end(None, &mut states);
        assert!(states.len() > 5, "{}", states.len());
        for number in 0..states.len() {
            let bytes = states[number].clone();
            assert!(end(Some(&bytes), &mut states) == expected, "from state {number}");
        }
    }
}
