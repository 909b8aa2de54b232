//! What is written is read as the same: trees, simulated alignments with their partition files, models.

use crate::memory::peak_of;
use mlsearch::alignment::read_alignment_from;
use mlsearch::alphabet::DataType;
use mlsearch::model::Model;
use mlsearch::partition::{build_patterns, parse_partitions};
use mlsearch::rng::{Purpose, stream};
use mlsearch::simulate::{SimPartition, to_partition_file, to_phylip};
use mlsearch::taxa::Taxa;
use mlsearch::tree::{NewickOptions, NewickReader, random_tree, read_newick, write_newick};
use proptest::prelude::*;

/// Trees of 2000 taxa, with names and lengths as programs write them, take at most ten times their text, with the trees that
/// are made of them. As they are read, so do a tree without lengths and the shortest texts that trees can have.
#[test]
fn trees_take_little_memory() {
    let names: Vec<String> = (0..2000).map(|taxon| format!("taxon{taxon}")).collect();
    let taxa = Taxa::new(names).unwrap();
    let tree = random_tree(taxa.len(), 0.123_456, &mut stream(1, Purpose::Test, 0));
    let write = |brlens| {
        let options = NewickOptions { brlens, ..NewickOptions::default() };
        write_newick(&tree, |tip| taxa.name(tip), &options)
    };
    let (ten_trees, topology) = (write(true).repeat(10), write(false));
    let converted = |text: &str| {
        let mut reader = NewickReader::new(text.as_bytes(), "t");
        while let Some(read) = reader.next_tree() {
            read.to_tree(&taxa, "t", None).unwrap();
        }
        reader.finish().unwrap();
    };
    let ((), memory) = peak_of(|| converted(&ten_trees));
    assert!(memory < 10 * ten_trees.len(), "{memory} bytes for {}", ten_trees.len());
    let pairs = format!("{}a{};", "(".repeat(50_000), ",b)".repeat(50_000));
    let star = format!("({}a);", "a,".repeat(50_000));
    for text in [topology, star, "(a,b);".repeat(17_000), pairs] {
        let read = || {
            let mut reader = NewickReader::new(text.as_bytes(), "t");
            while reader.next_tree().is_some() {}
            reader.finish().unwrap();
        };
        let ((), memory) = peak_of(read);
        assert!(memory < 10 * text.len(), "{memory} bytes for {}", text.len());
    }
}

proptest! {
    /// With any names, and with lengths of any size.
    #[test]
    fn trees(
        names in prop::collection::btree_set("\\PC{0,8}", 1..20),
        lengths in prop::collection::vec(prop_oneof![0.0..1e-5, 0.0..1.0, 0.0..1e5], 40),
        seed: u64,
    ) {
        let taxa = Taxa::new(names.into_iter().collect()).unwrap();
        let mut tree = random_tree(taxa.len(), 0.1, &mut stream(seed, Purpose::Test, 0));
        for (edge, length) in tree.edges().zip(lengths) {
            tree.set_brlen(edge, length);
        }
        let write = |tree: &_| write_newick(tree, |tip| taxa.name(tip), &NewickOptions::default());
        let text = write(&tree);
        let read = read_newick(&text, "t").unwrap();
        prop_assert_eq!(read.len(), 1);
        let (again, _) = read[0].to_tree(&taxa, "t", None).unwrap();
        prop_assert_eq!(&text, &write(&again));
    }

    /// Partitions of several data types, some without data in some taxa.
    #[test]
    fn simulated_data(
        partitions in prop::collection::vec((0usize..4, prop::collection::vec(any::<[u8; 3]>(), 1..20), any::<[bool; 3]>()), 1..6),
        names in prop::collection::btree_set("[^\\s\\pC]{1,12}", 3),
        gene in "\\PC{0,8}",
    ) {
        let mut end = 0;
        let types = [DataType::Dna, DataType::Protein, DataType::codon(1).unwrap(), DataType::multistate(5).unwrap()];
        let models = ["JC", "LG", "GY+CODE{1}", "MULTI5_MK"];
        let partitions: Vec<SimPartition> = partitions.into_iter().enumerate().map(|(number, (which, sites, present))| {
            let data_type = types[which];
            let states = (0..3).map(|taxon| sites.iter().map(|site| site[taxon] % data_type.num_states() as u8).collect());
            let (name, model) = (format!("{gene} {number}"), models[which].to_string());
            let num_columns = (sites.len() * data_type.chars_per_site()) as u32;
            end += num_columns;
            // Backwards, but for codons, whose columns stand side by side.
            let columns = end - num_columns..end;
            let columns = if data_type.chars_per_site() > 1 { columns.collect() } else { columns.rev().collect() };
            SimPartition { name, model, data_type, columns, states: states.collect(), present: present.to_vec() }
        }).collect();
        let taxa = Taxa::new(names.into_iter().collect()).unwrap();
        let text = to_phylip(&taxa, &partitions).unwrap();
        let alignment = read_alignment_from(text.as_bytes(), "a").unwrap();
        prop_assert_eq!(alignment.taxa(), &taxa);
        let defs = parse_partitions(&to_partition_file(&partitions), "q", alignment.num_sites(), false).unwrap();
        prop_assert_eq!(defs.len(), partitions.len());
        for (def, partition) in defs.iter().zip(&partitions) {
            prop_assert_eq!((&def.name, &def.model), (&partition.name, &partition.model));
            prop_assert_eq!(&def.sites, &partition.columns);
            let patterns = build_patterns(&alignment, def, partition.data_type).unwrap();
            prop_assert_eq!(patterns.num_sites, partition.states[0].len());
        }
    }

    /// Any values within the limits.
    #[test]
    fn models(
        rates in prop::collection::vec(1e-3..1e3f64, 5),
        freqs in prop::collection::vec(1e-3..1.0f64, 4),
        (pinv, alpha) in (0.0..0.99f64, 0.02..1000.0f64),
        cats in 2usize..9,
    ) {
        let braces = |values: &[f64]| values.iter().map(f64::to_string).collect::<Vec<_>>().join("/");
        let (rates, freqs) = (braces(&rates), braces(&freqs));
        let text = format!("GTR{{{rates}/1}}+FU{{{freqs}}}+I{{{pinv}}}+G{cats}{{{alpha}}}");
        let model = Model::parse(&text).unwrap();
        let again = Model::parse(&model.to_string()).unwrap();
        prop_assert_eq!(model.to_string(), again.to_string());
        prop_assert_eq!(model.eigen_models(), again.eigen_models());
        prop_assert_eq!(model.rate_cats(), again.rate_cats());
    }
}
