//! Derivatives of the log-likelihood with respect to branch lengths compared with differences; computations that are ended.

use super::tests::{GTR, HKY_I, random_case};
use super::*;
use crate::likelihood::engine::EngineError;
use crate::stop::Stopper;
use crate::tree::EdgeId;

const STEP: f64 = 1.0 / (1u64 << 14) as f64;

#[test]
fn derivatives_are_the_limits_of_differences_and_change_nothing() {
    for linkage in [BrlenLinkage::Linked, BrlenLinkage::Scaled] {
        let case = random_case(11, 9, &[(9, 60, GTR), (5, 30, HKY_I), (2, 10, GTR)]);
        for threads in [1, 3] {
            let mut evaluator = case.evaluator_on(linkage, 0, threads);
            evaluator.set_brlen_scaler(1, if linkage.has_scalers() { 1.5 } else { 1.0 });
            let edges: Vec<EdgeId> = evaluator.tree().edges().collect();
            let lnl = evaluator.log_likelihood().unwrap();
            let found = evaluator.brlen_derivatives(&edges).unwrap();
            evaluator.assert_integrity();
            assert!((evaluator.log_likelihood().unwrap() - lnl).abs() < 1e-9);
            for (&edge, [first, second]) in edges.iter().zip(found) {
                let length = evaluator.tree().brlen(edge);
                let [before, now, after] = [-STEP, 0.0, STEP].map(|step| {
                    evaluator.set_brlen(edge, length + step);
                    evaluator.log_likelihood().unwrap()
                });
                evaluator.set_brlen(edge, length);
                let slope = (after - before) / (2.0 * STEP);
                let curvature = (after - 2.0 * now + before) / (STEP * STEP);
                assert!((slope - first).abs() < 1e-3 * (1.0 + first.abs()), "{slope}, {first}");
                assert!(
                    (curvature - second).abs() < 1e-2 * (1.0 + second.abs()),
                    "{curvature}, {second}"
                );
            }
        }
    }
}

#[test]
fn an_ended_computation_fails_and_the_next_one_gives_the_same_value() {
    let case = random_case(3, 8, &[(8, 50, GTR)]);
    let mut evaluator = case.evaluator_on(BrlenLinkage::Linked, 0, 1);
    let lnl = evaluator.log_likelihood().unwrap();
    let stopper = Stopper::new();
    evaluator.ends_by(stopper.handle());
    evaluator.set_brlen(EdgeId(0), 0.25);
    evaluator.set_brlen(EdgeId(0), case.tree.brlen(EdgeId(0)));
    stopper.ask();
    assert_eq!(evaluator.log_likelihood(), Ok(lnl));
    evaluator.forget();
    stopper.insist();
    assert_eq!(evaluator.log_likelihood(), Err(EngineError::Stopped));
    evaluator.ends_by(Default::default());
    evaluator.assert_integrity();
    assert!((evaluator.log_likelihood().unwrap() - lnl).abs() < 1e-9);
}
