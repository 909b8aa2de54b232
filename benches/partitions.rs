//! Partitions to measure on, simulated or read, and evaluators for them. Nothing is measured here.

use mlsearch::alignment::{Alignment, read_alignment_from};
use mlsearch::alphabet::DataType;
use mlsearch::likelihood::make_evaluator;
use mlsearch::likelihood::{BrlenLinkage, EngineOptions, Evaluator};
use mlsearch::model::Model;
use mlsearch::partition::{Partition, PartitionDef, build_patterns, parse_partitions};
use mlsearch::rng::{Purpose, stream};
use mlsearch::simulate::{
    SimModel, SimPartition, draw_presence, random_names, simulate_states, to_partition_file,
    to_phylip, yule_tree,
};
use mlsearch::taxa::Taxa;
use mlsearch::tree::Tree;

/// The model of every partition, simulated and computed with: nothing in it is left to be estimated.
pub const MODEL: &str = "GTR{1.2/3.1/0.7/0.9/4.2/1}+FU{0.3/0.2/0.15/0.35}+G4{0.5}";

/// What to simulate.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub num_taxa: usize,
    pub num_partitions: usize,
    pub sites_per_partition: usize,
    /// Share of (taxon, partition) cells without data.
    pub missing: f64,
}

/// The true tree and the partitions of a simulated alignment; the same for the same shape.
pub fn simulate(shape: &Shape) -> (Tree, Vec<Partition>) {
    let rng = |purpose, index| stream(1, purpose, index);
    let tree = yule_tree(shape.num_taxa, 0.08, &mut rng(Purpose::SimulatedTree, 0));
    let presence = draw_presence(
        &tree,
        shape.num_partitions,
        shape.missing,
        &mut rng(Purpose::SimulatedGaps, 0),
    )
    .expect("the shape's gaps can be drawn");
    let model = Model::parse(MODEL).expect("the model is well written");
    let (matrices, cats) = (model.eigen_models(), model.rate_cats());
    let model = SimModel { matrices: &matrices, cats: &cats };
    let partitions: Vec<SimPartition> = presence
        .into_iter()
        .enumerate()
        .map(|(i, present)| {
            let mut rng = rng(Purpose::SimulatedSequences, i as u64);
            let num_sites = shape.sites_per_partition;
            let states = simulate_states(&tree, &model, num_sites, &mut rng);
            let first = i * num_sites;
            SimPartition {
                name: format!("gene{i}"),
                model: MODEL.into(),
                data_type: DataType::Dna,
                columns: (first..first + num_sites).map(|column| column as u32).collect(),
                states,
                present,
            }
        })
        .collect();
    let taxa = Taxa::new(random_names(shape.num_taxa)).expect("made names differ");
    let text = to_phylip(&taxa, &partitions).expect("made names are words");
    let alignment = read_alignment_from(text.as_bytes(), "simulated").expect("it reads back");
    let defs = parse_partitions(
        &to_partition_file(&partitions),
        "simulated partitions",
        alignment.num_sites(),
        false,
    );
    (tree, build_partitions(&alignment, defs.expect("they read back")))
}

/// Partitions of an alignment of DNA, all under [`MODEL`].
pub fn build_partitions(alignment: &Alignment, defs: Vec<PartitionDef>) -> Vec<Partition> {
    let model = Model::parse(MODEL).expect("the model is well written");
    defs.into_iter()
        .map(|def| {
            let patterns = build_patterns(alignment, &def, DataType::Dna)
                .unwrap_or_else(|faults| panic!("{}: {}", def.name, faults.kept()[0]));
            Partition { name: def.name, model: model.clone(), patterns, sites: def.sites }
        })
        .collect()
}

/// An evaluator with the best kernels of this machine.
pub fn evaluator(
    partitions: &[Partition],
    tree: &Tree,
    linkage: BrlenLinkage,
    threads: usize,
) -> Evaluator {
    let models: Vec<Model> = partitions.iter().map(|p| p.model.clone()).collect();
    let options = EngineOptions { threads, ..EngineOptions::default() };
    let evaluator = make_evaluator(partitions, &models, tree.clone(), linkage, &options);
    evaluator.expect("every machine has an engine")
}
