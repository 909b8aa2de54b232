//! Model selection recovers the models of simulated data, with the same result for any number of threads.

use super::*;
use crate::alphabet::DataType;
use crate::likelihood::engine::PartitionData;
use crate::likelihood::select::make_engine;
use crate::likelihood::{BrlenLinkage, EngineOptions, Evaluator};
use crate::model::AutoModel;
use crate::model_selection::fit::{Fit, Task, fit};
use crate::observer::Silent;
use crate::optimize::optimize;
use crate::rng::{Purpose, stream};
use crate::simulate::{SimModel, simulate_states, yule_tree};
use crate::tree::Tree;

const NUM_TAXA: usize = 8;

fn simulate(model: &str, num_sites: usize) -> (Patterns, Tree) {
    let model = Model::parse(model).unwrap();
    let tree = yule_tree(NUM_TAXA, 0.2, &mut stream(7, Purpose::Test, 1));
    let (matrices, cats) = (model.eigen_models(), model.rate_cats());
    let sim_model = SimModel { matrices: &matrices, cats: &cats };
    let states = simulate_states(&tree, &sim_model, num_sites, &mut stream(7, Purpose::Test, 2));
    let patterns = Patterns::compress(model.data_type, NUM_TAXA, num_sites, |taxon, codes| {
        for (code, &state) in codes.iter_mut().zip(&states[taxon]) {
            *code = model.data_type.code_of_state(usize::from(state));
        }
    });
    (patterns, tree)
}

fn carry_out(task: &Task, patterns: &Patterns, tree: &Tree, threads: usize) -> Fit {
    let data = [PartitionData::new(patterns, &task.start)];
    let options = EngineOptions { threads, ..EngineOptions::default() };
    let engine = make_engine(&data, &options).unwrap();
    let partition = (&data[0], patterns.tip_taxa.as_slice(), task.start.clone());
    let unlinked = BrlenLinkage::Unlinked;
    let evaluator = Evaluator::new(tree.clone(), vec![partition], unlinked, engine);
    fit(evaluator, task, |e, models, options| optimize(e, models, options, &mut Silent)).unwrap()
}

fn rank(word: &str, data: &(Patterns, Tree), criterion: Criterion, threads: usize) -> Vec<Ranked> {
    let auto = AutoModel::read(word).unwrap();
    rank_of(CandidateSet::new(auto, data.0.data_type, false), data, criterion, threads)
}

fn rank_of(
    candidates: CandidateSet,
    data: &(Patterns, Tree),
    criterion: Criterion,
    threads: usize,
) -> Vec<Ranked> {
    let (patterns, tree) = data;
    let mut choosing = Choosing::new(candidates, criterion, patterns.num_sites, NUM_TAXA);
    loop {
        let tasks = choosing.ask(patterns);
        if tasks.is_empty() {
            return choosing.ranking();
        }
        choosing.tell(tasks.iter().map(|task| carry_out(task, patterns, tree, threads)).collect());
    }
}

#[test]
fn the_model_of_simulated_nucleotides_is_found() {
    for (truth, num_sites, expected) in [
        ("JC", 400, "JC+FE"),
        ("HKY{1/5}+FU{.4/.1/.2/.3}+G4{0.5}", 1500, "HKY+FC+G4m"),
        ("GTR{1/6/2/.5/9/1}+FU{.35/.15/.2/.3}+G4{0.4}", 3000, "GTR+FC+G4m"),
        ("K80{1/8}+I{0.4}", 1500, "K80+FE+IO"),
    ] {
        let ranking = rank("auto", &simulate(truth, num_sites), Criterion::Bic, 1);
        assert_eq!(ranking[0].model.label(), expected, "{truth}");
        assert!(ranking[0].fine && ranking.len() >= 24);
        let total: f64 = ranking.iter().map(|ranked| ranked.weight).sum();
        assert!((total - 1.0).abs() < 1e-12);
        // 2 * 8 - 3 branch lengths and the parameters of the model.
        let own = ranking[0].model.num_free_parameters();
        assert_eq!(ranking[0].num_parameters, 13 + own);
        assert!(ranking.windows(2).all(|w| w[0].scores.bic <= w[1].scores.bic));
    }
}

#[test]
fn the_matrix_of_simulated_proteins_is_found() {
    for (truth, expected) in [("WAG", "WAG"), ("LG+G4{0.5}", "LG+G4m")] {
        let ranking = rank("auto", &simulate(truth, 400), Criterion::Bic, 1);
        assert_eq!(ranking[0].model.label(), expected, "{truth}");
    }
    let ranking = rank("PROTGAMMAAUTO", &simulate("MTMAM+G4{0.5}", 200), Criterion::Aicc, 1);
    assert_eq!(ranking[0].model.label(), "MTMAM+G4m");
    assert!(ranking.iter().all(|ranked| ranked.model.label().ends_with("+G4m")));
}

#[test]
fn profiles_are_tried_with_the_best_matrix_as_long_as_more_are_better() {
    let rank = |truth: &str| {
        let data = simulate(truth, 400);
        let auto = AutoModel::read("PROTGAMMAAUTO").unwrap();
        let candidates = CandidateSet::new(auto, data.0.data_type, false).with_profiles(true);
        let ranking = rank_of(candidates, &data, Criterion::Bic, 1);
        let labels = ranking.iter().map(|ranked| ranked.model.label());
        let profiles = labels.filter(|label| label.contains("+C")).count();
        (ranking[0].model.label(), ranking[0].fine, profiles)
    };
    assert_eq!(rank("LG+C20+G4{0.5}"), ("LG+C20+G4m".to_string(), true, 6));
    assert_eq!(rank("LG+G4{0.5}"), ("LG+G4m".to_string(), true, 1));
}

#[test]
fn the_ranking_is_the_same_on_any_number_of_threads() {
    let data = simulate("HKY{1/5}+FU{.4/.1/.2/.3}+G4{0.5}", 600);
    let one = rank("auto", &data, Criterion::Aic, 1);
    assert_eq!(one, rank("auto", &data, Criterion::Aic, 3));
}

#[test]
fn few_sites_of_morphology_are_enough_to_answer() {
    let multistate = DataType::multistate(3).unwrap();
    let data = simulate("MULTI3_MK", 12);
    assert_eq!(data.0.data_type, multistate);
    // More parameters than sites: AICc is undefined, and AIC determines the order.
    let ranking = rank("auto", &data, Criterion::Aicc, 1);
    assert_eq!(ranking[0].model.label(), "MULTI3_MK+FE");
    assert!(ranking.iter().all(|ranked| ranked.scores.aicc.is_infinite()));
}

#[test]
fn as_many_free_rates_are_tried_as_are_worth_it() {
    for (truth, expected) in [
        ("K80{1/8}+R2{0.1/4.6}{0.8/0.2}", "K80+FE+R2"),
        ("K80{1/8}+R3{0.02/1/9}{0.6/0.3/0.1}", "K80+FE+R3"),
    ] {
        let ranking = rank("auto", &simulate(truth, 4000), Criterion::Bic, 1);
        assert_eq!(ranking[0].model.label(), expected, "{truth}");
        assert!(ranking[0].fine);
    }
}
