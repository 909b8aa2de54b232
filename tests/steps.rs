//! A search is a sequence of steps between plain states: from any of them another evaluator goes on with the
//! same bits.

use mlsearch::alignment::Patterns;
use mlsearch::likelihood::make_evaluator;
use mlsearch::likelihood::{BrlenLinkage, EngineOptions, Evaluator};
use mlsearch::model::Model;
use mlsearch::observer::Silent;
use mlsearch::parsimony::ParsimonyData;
use mlsearch::partition::Partition;
use mlsearch::rng::{Purpose, stream};
use mlsearch::search::{Search, SearchEffort, SearchOptions, SearchState, parsimony_start};
use mlsearch::simulate::{SimModel, simulate_states, yule_tree};
use mlsearch::tree::Tree;

const NUM_TAXA: usize = 14;

/// Three partitions, each without some of the taxa.
fn partitions() -> Vec<Partition> {
    let tree = yule_tree(NUM_TAXA, 0.2, &mut stream(3, Purpose::Test, 0));
    let partitions =
        [("GTR{1/4/1/1/5/1}+FC+G4{0.4}", 300), ("HKY{3}+FC+I{.2}+G4{.8}", 150), ("JC+R2", 90)];
    let partition = |(number, (text, num_sites)): (usize, (&str, usize))| {
        let truth = Model::parse(text).expect("a model");
        let (matrices, cats) = (truth.eigen_models(), truth.rate_cats());
        let sim_model = SimModel { matrices: &matrices, cats: &cats };
        let mut rng = stream(4, Purpose::Test, number as u64);
        let states = simulate_states(&tree, &sim_model, num_sites, &mut rng);
        let data_type = truth.data_type;
        let patterns = Patterns::compress(data_type, NUM_TAXA, num_sites, |taxon, row| {
            for (code, &state) in row.iter_mut().zip(&states[taxon]) {
                *code = match (taxon + number) % 4 == 0 {
                    true => data_type.undetermined(),
                    false => data_type.code_of_state(usize::from(state)),
                };
            }
        });
        let model = Model::parse(["GTR+FE+G4", "HKY+FE+I+G4", "JC+R2"][number]).expect("a model");
        Partition { name: format!("g{number}"), model, patterns, sites: Vec::new() }
    };
    partitions.into_iter().enumerate().map(partition).collect()
}

/// What a search ends with, to the last bit.
fn bits(evaluator: &mut Evaluator, models: &[Model]) -> (u64, Vec<u64>, String) {
    let lnl = evaluator.log_likelihood().expect("an engine").to_bits();
    let lengths = |tree: &Tree| -> Vec<u64> {
        let edges = tree.edges().map(|edge| (tree.ends(edge), tree.brlen(edge)));
        edges.flat_map(|([a, b], t)| [u64::from(a.0), u64::from(b.0), t.to_bits()]).collect()
    };
    let mut all = lengths(evaluator.tree());
    for partition in 0..evaluator.num_partitions() {
        all.extend(lengths(evaluator.partition_tree(partition).0));
    }
    (lnl, all, models.iter().map(|model| format!("{model} ")).collect())
}

#[test]
fn a_search_goes_on_from_any_of_its_states_with_the_same_bits() {
    let partitions = partitions();
    let initial: Vec<Model> = partitions.iter().map(|partition| partition.model.clone()).collect();
    let data = ParsimonyData::of_partitions(NUM_TAXA, &partitions);
    let starts: Vec<Tree> =
        (0..3).map(|i| parsimony_start(&data, 1, Purpose::ParsimonyTree, i)).collect();
    for (linkage, unlinked, effort) in [
        (BrlenLinkage::Scaled, false, SearchEffort::Normal),
        (BrlenLinkage::Linked, true, SearchEffort::Normal),
        (BrlenLinkage::Linked, false, SearchEffort::Thorough),
    ] {
        let options = SearchOptions {
            alternatives: starts[1..].to_vec(),
            explores: true,
            effort,
            unlinked,
            ..SearchOptions::default()
        };
        let fresh = |threads| {
            let engine = EngineOptions { threads, ..EngineOptions::default() };
            let tree = starts[0].clone();
            make_evaluator(&partitions, &initial, tree, linkage, &engine).expect("an evaluator")
        };
        let mut models = initial.clone();
        let mut evaluator = fresh(1);
        let mut states: Vec<SearchState> = Vec::new();
        let mut search = Search::new(&mut evaluator, &mut models, &data, &options);
        while !search.is_done() {
            states.push(search.state());
            search.step(&mut Silent).expect("an engine");
        }
        let want = bits(&mut evaluator, &models);
        let least = if effort == SearchEffort::Thorough { 50 } else { 15 };
        assert!(states.len() > least, "{} steps", states.len());
        // Everything that a state has, with all digits; a likelihood's last ones depend on where it was computed.
        let written: Vec<String> = states.iter().map(|state| format!("{state:?}")).collect();
        for (number, state) in states.iter().enumerate().step_by(states.len() / 5) {
            let (mut evaluator, mut models) = (fresh(2), initial.clone());
            // As from a checkpoint.
            let bytes = postcard::to_stdvec(state).expect("a plain value");
            let state: SearchState = postcard::from_bytes(&bytes).expect("the same value");
            assert!(state.fits(&evaluator, &models));
            let mut search = Search::resume(&mut evaluator, &mut models, &data, &options, state);
            for (step, want) in written.iter().enumerate().skip(number) {
                let got = format!("{:?}", search.state());
                assert!(got == *want, "state {step}, resumed from {number}, {linkage:?}");
                search.step(&mut Silent).expect("an engine");
            }
            assert!(search.is_done());
            let got = bits(&mut evaluator, &models);
            assert_eq!(got, want, "from step {number} of {} on, {linkage:?}", states.len());
        }
    }
}
