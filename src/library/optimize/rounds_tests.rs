//! Tests of the rounds of an optimisation.

use super::params::Learnt;
use super::rounds::*;
use crate::likelihood::Evaluator;
use crate::likelihood::engine::PartitionData;
use crate::likelihood::select::make_engine;
use crate::likelihood::{BrlenLinkage, EngineOptions};
use crate::model::Model;
use crate::observer::Silent;
use crate::rng::{Purpose, Rng, stream};
use crate::tree::random_tree;
use rand::RngExt;

/// Two partitions of random codes on a random tree, the second without two of the taxa.
pub(super) fn case(linkage: BrlenLinkage, models: &[Model]) -> Evaluator {
    let mut rng = stream(3, Purpose::Test, 0);
    let tree = random_tree(7, 0.2, &mut rng);
    let taxa: [Vec<usize>; 2] = [(0..7).collect(), (2..7).collect()];
    let row = |rng: &mut Rng| (0..60).map(|_| 1 << rng.random_range(0..4)).collect();
    let data: Vec<PartitionData> = taxa
        .iter()
        .map(|taxa| PartitionData {
            tip_codes: taxa.iter().map(|_| row(&mut rng)).collect(),
            weights: vec![1.0; 60],
            code_masks: (0..16).collect(),
            undetermined: 15,
            num_states: 4,
            num_rates: 4,
            ascertainment: None,
            pattern_freqs: None,
        })
        .collect();
    let options = EngineOptions::default();
    let engine = make_engine(&data, &options).unwrap();
    let partition = |i: usize| (&data[i], taxa[i].as_slice(), models[i].clone());
    Evaluator::new(tree, vec![partition(0), partition(1)], linkage, engine)
}

fn free() -> Vec<Model> {
    vec![Model::parse("GTR+FE+G4").unwrap(); 2]
}

#[test]
fn parameters_begin_anew_only_where_that_is_better() {
    let options = OptimizeOptions { branches: false, ..OptimizeOptions::to(1e-4) };
    let mut models = free();
    let mut evaluator = case(BrlenLinkage::Linked, &models);
    let mut learnt = Learnt::default();
    let mut rounds = Rounds::new(&options, Until::SmallGain);
    let mut step = || rounds.step(&mut evaluator, &mut models, &options, &mut learnt, &mut Silent);
    while !step().unwrap() {}
    let good = evaluator.partition_log_likelihoods().unwrap();
    assert!(
        !restart_parameters(&mut evaluator, &mut models, &free(), &options, &mut learnt).unwrap()
    );
    assert_eq!(evaluator.partition_log_likelihoods().unwrap(), good);
    // A partition with poor parameters recovers; the other keeps its parameters.
    let kept = models[1].clone();
    models[0].set_free_parameters(&[1e-4, 1e5, 1e-4, 1e5, 1e-4, 1.0]);
    evaluator.set_model(0, &models[0]);
    assert!(evaluator.partition_log_likelihoods().unwrap()[0] < good[0] - 10.0);
    assert!(
        restart_parameters(&mut evaluator, &mut models, &free(), &options, &mut learnt).unwrap()
    );
    assert_eq!(models[1], kept);
    let found = evaluator.partition_log_likelihoods().unwrap();
    assert!((found[0] - good[0]).abs() < 0.01 && found[1] == good[1], "{found:?} {good:?}");
}
