//! Tests of the rounds of an optimisation.

use super::learnt::Learnt;
use super::rounds::*;
use super::{Goal, Optimisation, OptimizeState, optimize_from_several_starts};
use crate::likelihood::Evaluator;
use crate::likelihood::engine::PartitionData;
use crate::likelihood::select::make_engine;
use crate::likelihood::{BrlenLinkage, EngineOptions};
use crate::model::Model;
use crate::observer::Silent;
use crate::rng::{Purpose, Rng, stream};
use crate::simulate::{sample_partition, yule_tree};
use crate::tree::{Tree, random_tree};
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

fn true_tree() -> Tree {
    yule_tree(9, 0.5, &mut stream(5, Purpose::Test, 1))
}

/// An evaluator, with this tree, of proteins that were simulated under a profile mixture.
fn of_proteins(tree: &Tree, model: &Model) -> Evaluator {
    let mut rng = stream(5, Purpose::Test, 0);
    let truth = Model::parse("LG+C10+G4{0.6}").unwrap();
    let patterns = sample_partition(&true_tree(), &truth, 9, 150, &mut rng);
    let data = PartitionData::new(&patterns, model);
    let engine = make_engine(std::slice::from_ref(&data), &EngineOptions::default()).unwrap();
    let partition = (&data, patterns.tip_taxa.as_slice(), model.clone());
    Evaluator::new(tree.clone(), vec![partition], BrlenLinkage::Linked, engine)
}

#[test]
fn what_begins_with_a_guide_ends_where_other_optimisations_do_from_any_state() {
    let tree = true_tree();
    let initial = vec![Model::parse("LG+C10+G4").unwrap()];
    let options = OptimizeOptions::to(1e-3);
    let mut models = initial.clone();
    let mut evaluator = of_proteins(&tree, &models[0]);
    let best =
        optimize_from_several_starts(&mut evaluator, &mut models, &options, &mut Silent).unwrap();

    let mut guides = vec![initial[0].guide().unwrap()];
    let mut evaluator = of_proteins(&tree, &guides[0]);
    let begun = guides.clone();
    let mut of_guide = Optimisation::new(Goal::Best, &mut evaluator, &mut guides, &begun, &options);
    while !of_guide.is_done() {
        of_guide.step(&mut Silent).unwrap();
    }
    let plan = of_guide.into_plan();
    let mut begun = initial.clone();
    begun[0].follow(&guides[0]);
    let (mut models, tree) = (begun.clone(), evaluator.tree().clone());
    let mut evaluator = of_proteins(&tree, &models[0]);
    let before = evaluator.log_likelihood().unwrap();
    // Models with other parameters than those of their guides begin as if nothing were known.
    let others = vec![Model::parse("LG+C10+I+G4").unwrap()];
    let of_others = format!("{:?}", plan.clone().after_guides(&others));
    assert!(of_others.contains("Best") && of_others.contains("Find"), "{of_others}");
    let plan = plan.after_guides(&models);
    let mut optimisation =
        Optimisation::go_on(plan, &mut evaluator, &mut models, &initial, &options);
    let mut states = Vec::new();
    while !optimisation.is_done() {
        states.push(postcard::to_stdvec(&optimisation.state()).unwrap());
        optimisation.step(&mut Silent).unwrap();
    }
    let found = optimisation.log_likelihood().unwrap();
    assert!(found > before + 1.0 && (found - best).abs() < 1e-3, "{before} {found} {best}");
    let lengths = evaluator.brlen_sets();
    assert!(states.len() >= 5, "{} steps", states.len());
    for (number, bytes) in states.iter().enumerate() {
        let mut resumed = begun.clone();
        let mut evaluator = of_proteins(&tree, &resumed[0]);
        let state: OptimizeState = postcard::from_bytes(bytes).unwrap();
        assert!(state.fits(&evaluator, &resumed));
        let optimisation =
            Optimisation::resume(state, &mut evaluator, &mut resumed, &initial, &options);
        assert_eq!(optimisation.finish(&mut Silent).unwrap(), found, "from state {number}");
        assert_eq!((evaluator.brlen_sets(), &resumed), (lengths.clone(), &models));
    }
}
