//! Estimates of the memory and time of a run, made before anything is computed.

use crate::alphabet::Code;
use crate::likelihood::engine::layout::{Dims, block_lens, num_vectors};
use crate::partition::Partition;
use crate::run::plan::{Command, Plan};
use crate::run::prepare::Loaded;
use crate::search::SearchEffort;

/// Bytes of the program itself, its threads and buffers.
const BASE_BYTES: u64 = 4 << 20;
/// Memory of an engine relative to its likelihood vectors: sumtables, P-matrices and trial vectors included.
const BESIDE_VECTORS: f64 = 1.15;

/// The same of an engine with limited memory, relative to the vectors that it would like to have.
const BESIDE_LIMITED: f64 = 0.08;

/// Vectors that are needed at a time in a tree with so many taxa, with a few to spare: those along a path on which each
/// is computed from two of the same size, of trees that are at most three times as high as balanced ones.
fn least_vectors(num_tips: usize) -> usize {
    num_vectors(num_tips).min(8 + 3 * num_tips.max(1).ilog2() as usize)
}

/// Memory and work of one likelihood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Cost {
    /// Bytes of likelihood vectors and their scalers, if no patterns are repeated in a part of the tree.
    pub clv_bytes: u64,
    /// Bytes of the few vectors with which a likelihood can be computed.
    pub least_vectors: u64,
    /// Bytes of tip codes.
    pub tip_bytes: u64,
    /// Bytes of the columns as parsimony sees them, with a view along every edge in both directions.
    pub parsimony_bytes: u64,
    /// Rows (one pattern, one rate category, four states) computed in a full traversal; a row of more
    /// states counts in proportion to its products.
    pub rows: u64,
    /// The largest number of states.
    pub states: usize,
}

impl Cost {
    /// Of these partitions, with the number of taxa in each.
    pub(crate) fn of(partitions: &[Partition], num_tips: &[usize]) -> Self {
        let mut cost = Cost::default();
        for (partition, &tips) in partitions.iter().zip(num_tips) {
            let patterns = &partition.patterns;
            let states = patterns.data_type.num_states();
            let dims = Dims::new(
                states,
                partition.model.rate_cats().rates.len(),
                patterns.code_masks.len(),
                tips,
            );
            let rows: usize = block_lens(patterns.num_patterns()).iter().sum();
            let vector_bytes = rows * (dims.row() * 8 + dims.scalers() * 4);
            cost.clv_bytes += (num_vectors(tips) * vector_bytes) as u64;
            cost.least_vectors += (least_vectors(tips) * vector_bytes) as u64;
            cost.tip_bytes += (tips * rows * size_of::<Code>()) as u64;
            cost.parsimony_bytes += (4 * tips * patterns.num_sites * states / 8) as u64;
            let computed = tips.saturating_sub(2) * patterns.num_patterns();
            cost.rows += (computed * dims.row() / 4 * states.max(4) / 4) as u64;
            cost.states = cost.states.max(states);
        }
        cost
    }

    /// Of the data of a run.
    pub(crate) fn of_data(loaded: &Loaded) -> Self {
        let tips: Vec<usize> = loaded.partitions.iter().map(|p| p.patterns.num_tips()).collect();
        Cost::of(&loaded.partitions, &tips)
    }

    /// Bytes that a run takes whose jobs (searches, replicates, trees) are computed one at a time.
    pub(crate) fn shared_bytes(&self) -> u64 {
        BASE_BYTES + self.tip_bytes
    }

    /// Bytes that each job at a time takes.
    pub(crate) fn job_bytes(&self) -> u64 {
        (self.clv_bytes as f64 * BESIDE_VECTORS) as u64 + self.tip_bytes + self.parsimony_bytes
    }

    /// Bytes that a job takes at a time besides its likelihood vectors, if these are limited.
    pub(crate) fn job_bytes_beside_vectors(&self) -> u64 {
        (self.clv_bytes as f64 * BESIDE_LIMITED) as u64 + self.tip_bytes + self.parsimony_bytes
    }

    /// Least bytes with which a run is possible, one job at a time.
    pub(crate) fn least_bytes(&self) -> u64 {
        self.shared_bytes() + self.job_bytes_beside_vectors() + self.least_vectors
    }

    /// Seconds of processor time that a plan takes, or `None` for one that computes no likelihoods. An
    /// estimate: on 15 alignments of 12 to 500 taxa it was within a factor of 2.5.
    pub(crate) fn seconds(&self, plan: &Plan, num_taxa: usize, num_trees: usize) -> Option<f64> {
        // Seconds of a search per row of a traversal, by the number of taxa: the larger the tree, the more
        // rounds and regraft positions. Fitted to those alignments on one core with AVX-512. Products of
        // larger matrices use the registers better.
        let speed = if self.states > 4 { 0.3e-6 } else { 1e-6 } * self.rows as f64;
        let taxa = num_taxa as f64;
        let fast = speed * (2.0 + taxa / 250.0);
        let normal = speed * (5.0 + taxa / 100.0);
        let search = match plan.search.effort {
            SearchEffort::Fast => fast,
            SearchEffort::Normal => normal,
            // 2.6 to 3.6 times as long on 5 alignments of 29 to 150 taxa.
            SearchEffort::Thorough => 3.0 * normal,
        };
        // A replicate has some 63 % of the columns.
        let replicate = match plan.search.effort {
            SearchEffort::Thorough => 0.6 * normal,
            _ => 0.6 * fast,
        };
        let replicates = replicate * plan.bootstrap.replicates as f64;
        match plan.command {
            Command::Search => Some(search * num_trees as f64),
            Command::All => Some(search * num_trees as f64 + replicates),
            Command::Bootstrap => Some(replicates),
            Command::Evaluate => Some(1.2 * speed * num_trees as f64),
            _ => None,
        }
    }
}

/// `1.5 GiB`
pub(crate) fn format_bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let decimals = usize::from(unit > 0);
    format!("{value:.decimals$} {}", UNITS[unit])
}

/// `about 40 s`, `about 25 min`, `about 3.5 h`, `about 12 days`
pub(crate) fn format_seconds(seconds: f64) -> String {
    match seconds {
        ..1.0 => "less than a second".into(),
        1.0..120.0 => format!("about {seconds:.0} s"),
        120.0..7_200.0 => format!("about {:.0} min", seconds / 60.0),
        7_200.0..172_800.0 => format!("about {:.1} h", seconds / 3_600.0),
        _ => format!("about {:.0} days", seconds / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::Patterns;
    use crate::likelihood::make_evaluator;
    use crate::likelihood::{BrlenLinkage, EngineOptions};
    use crate::model::Model;
    use crate::rng::{Purpose, stream};
    use crate::tree::random_tree;

    #[test]
    fn the_memory_that_is_promised_is_what_an_engine_takes() {
        // Six taxa, one of them without data; states 0 to 2 or so of every type.
        let cases = ["GTR+G8", "LG+G4", "LG4X", "GY", "GY+CODE{2}+G2", "BIN", "MULTI40_MK+FE+G3"];
        let mut of_one_site = Vec::new();
        for text in cases {
            let model = Model::parse(text).unwrap();
            let data_type = model.data_type;
            let patterns = Patterns::compress(data_type, 6, 10, |taxon, out| {
                for (site, code) in out.iter_mut().enumerate() {
                    let state = (taxon * site + site) % data_type.num_states().min(5);
                    let missing = taxon == 4 || (taxon, site) == (2, 3);
                    *code = match missing {
                        true => data_type.undetermined(),
                        false => data_type.code_of_state(state),
                    };
                }
            });
            let sites = (0..10).collect();
            let partition = Partition { name: "g".into(), model, sites, patterns };
            let (models, partitions) = ([partition.model.clone()], [partition]);
            let tree = random_tree(6, 0.1, &mut stream(1, Purpose::Test, 0));
            let options = EngineOptions::default();
            let linked = BrlenLinkage::Linked;
            let evaluator = make_evaluator(&partitions, &models, tree, linked, &options).unwrap();
            let cost = Cost::of(&partitions, &[5]);
            assert_eq!(cost.clv_bytes, evaluator.capabilities().vector_bytes, "{text}");
            assert!(Cost::of(&partitions, &[6]).clv_bytes > cost.clv_bytes, "{text}");
            of_one_site.push(cost);
        }
        let [dna, protein, mixture, codon, ..] = of_one_site[..] else { panic!() };
        assert_eq!(mixture.clv_bytes, protein.clv_bytes);
        assert!(protein.rows > 10 * dna.rows && codon.rows > dna.rows);
    }

    #[test]
    fn bytes_are_written_for_people() {
        assert_eq!(format_bytes(0), "0 B");
        assert_eq!(format_bytes(1536), "1.5 KiB");
        assert_eq!(format_bytes(9 << 30), "9.0 GiB");
    }
}
