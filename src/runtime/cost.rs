//! Estimates of the memory and time of a run, made before it begins: from the sizes of the data, and from a
//! [calibration](crate::runtime::calibration).

use super::calibration::{Calibration, LEAST_GAPS};
use crate::alphabet::Code;
use crate::dataset::Loaded;
use crate::likelihood::engine::RATES;
use crate::likelihood::engine::layout::{BLOCK, Dims, block_lens, num_allocated_clvs};
use crate::partition::Partition;
use crate::plan::Plan;
use crate::search::SearchEffort;

/// Bytes of the program that a run takes beyond those before it begins: threads, buffers, texts.
const BASE_BYTES: u64 = 1 << 18;

/// Most memory of an engine during a search, relative to that after its first sweep over a tree: a search also needs the
/// CLVs of further directions, P-matrices, and buffers of other sizes. Fitted with [`BASE_BYTES`] to default searches
/// of 24 published alignments, of which 23 took from 0.9 to 1.1 of what was predicted.
const GROWTH: f64 = 1.5;

/// Number of CLVs with a row for each pattern without which a likelihood takes many times as long: those that are
/// alive at a time in a traversal of a balanced tree with so many taxa. With about so few, a sweep takes 2 to 6
/// times as many updates (140, 218 and 404 taxa); with half of them it took up to a hundred times as long.
fn workable_clvs(num_tips: usize) -> f64 {
    (num_allocated_clvs(num_tips) as f64).min(f64::from(num_tips.max(1).ilog2()))
}

/// Memory and work of one likelihood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Cost {
    /// Bytes of CLVs and their scalers, if no patterns are repeated in a part of the tree.
    pub clv_bytes: u64,
    /// Bytes of the few CLVs with which a likelihood can be computed in reasonable time.
    pub workable_clv_bytes: u64,
    /// Bytes of an engine besides CLVs: tip codes, numbers for each pattern, sumtables; and the numbers of repeated
    /// patterns.
    pub engine_data_bytes: u64,
    /// Bytes of the columns as parsimony sees them, and of some of them, with a view along every edge in both directions.
    pub parsimony_bytes: u64,
    /// Work of a sweep over all branches, in proportion to that of other data.
    pub sweep: u64,
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
            let dims = match patterns.freqs {
                // Rows are whole fours of rates, each with a scaler count.
                Some(_) => {
                    let num_rates = dims.num_rates.next_multiple_of(RATES);
                    Dims { num_rates, rate_scalers: true, ..dims }
                }
                None => dims,
            };
            let lens = block_lens(patterns.num_patterns());
            let rows: usize = lens.iter().sum();
            let clv_bytes = rows * (dims.row() * 8 + dims.scalers() * 4);
            cost.clv_bytes += (num_allocated_clvs(tips) * clv_bytes) as u64;
            cost.workable_clv_bytes += (workable_clvs(tips) * clv_bytes as f64) as u64;
            // Of each tip and each CLV the class or code of every pattern, and three numbers for each pattern.
            let classes = (tips + num_allocated_clvs(tips)) * rows * size_of::<Code>();
            let sumtables = lens.len() * BLOCK * (dims.row() * 8 + 4);
            cost.engine_data_bytes += (classes + 3 * rows * 8 + sumtables) as u64;
            if patterns.freqs.is_some() {
                // A matrix of vectors, and four numbers for each state.
                cost.engine_data_bytes += (rows * (states + 4) * states * 8) as u64;
            }
            cost.sweep += (rows * dims.row() * states * tips) as u64;
            cost.parsimony_bytes += (5 * tips * patterns.num_sites * states / 8) as u64;
        }
        cost
    }

    /// Of the data of a run.
    pub(crate) fn of_data(loaded: &Loaded) -> Self {
        let tips: Vec<usize> = loaded.partitions.iter().map(|p| p.patterns.num_tips()).collect();
        Cost::of(&loaded.partitions, &tips)
    }

    /// Of each of so many ranks that share the patterns.
    pub(crate) fn of_each_of(self, num_ranks: usize) -> Self {
        let share = |bytes: u64| bytes.div_ceil(num_ranks as u64);
        Cost {
            clv_bytes: share(self.clv_bytes),
            workable_clv_bytes: share(self.workable_clv_bytes),
            engine_data_bytes: share(self.engine_data_bytes),
            ..self
        }
    }

    /// Most bytes of an engine, if no patterns are repeated in a part of the tree.
    pub(crate) fn engine_bytes(&self) -> u64 {
        self.clv_bytes + self.engine_data_bytes
    }

    /// Least bytes of an engine, as it counts them.
    fn least_engine_bytes(&self) -> u64 {
        self.engine_data_bytes + self.workable_clv_bytes
    }

    /// Least bytes of a job.
    pub(crate) fn least_job_bytes(&self, plan: &Plan) -> u64 {
        (self.least_engine_bytes() as f64 * LEAST_GAPS) as u64 + self.bytes_beside_engine(plan)
    }

    /// Bytes that each job (a search, a replicate, a tree) at a time takes besides its engine.
    pub(crate) fn bytes_beside_engine(&self, plan: &Plan) -> u64 {
        match plan.facts.workload.only_evaluates {
            true => 0,
            false => self.parsimony_bytes,
        }
    }

    /// Work of a search and of what follows it, in proportion to that of other data.
    pub(crate) fn search_work(&self, num_taxa: usize) -> f64 {
        self.sweep as f64 * sweeps_of_search(SearchEffort::Normal, num_taxa)
    }

    /// Bytes that all jobs at a time share, beyond what the program already takes.
    pub(crate) fn shared_bytes(&self) -> u64 {
        BASE_BYTES
    }
}

impl Calibration {
    /// Most bytes of an engine during a run.
    pub(crate) fn most_engine_bytes(&self, plan: &Plan) -> u64 {
        let bytes = self.engine_bytes as f64 * self.gaps();
        match plan.facts.workload.only_evaluates {
            true => bytes as u64,
            false => (bytes * GROWTH) as u64,
        }
    }

    /// Seconds of processor time that a search takes. Fitted to default and `--fast` searches of 80 published alignments
    /// of 20 to 378 taxa, of which nine in ten took from half to twice as long.
    pub(crate) fn search_seconds(&self, effort: SearchEffort, num_taxa: usize) -> f64 {
        self.seconds * sweeps_of_search(effort, num_taxa)
    }

    /// The same under a profile mixture, after a search with one class: 33 sweeps of all classes on 140 proteins.
    pub(crate) fn search_seconds_after_one_class(&self, effort: SearchEffort) -> f64 {
        self.seconds
            * match effort {
                SearchEffort::Fast | SearchEffort::Normal => 33.0,
                SearchEffort::Thorough => 130.0,
            }
    }

    /// Seconds of processor time that the evaluation of a tree takes: 12 to 16 sweeps on 140 and 218 taxa.
    pub(crate) fn evaluation_seconds(&self) -> f64 {
        15.0 * self.seconds
    }
}

/// How many sweeps over all branches take as long as a search.
pub(crate) fn sweeps_of_search(effort: SearchEffort, num_taxa: usize) -> f64 {
    let normal = 116.0 + 0.18 * num_taxa as f64;
    match effort {
        SearchEffort::Fast => 56.0,
        SearchEffort::Normal => normal,
        // 3.9 times as long in the median of those alignments.
        SearchEffort::Thorough => 4.0 * normal,
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
            assert_eq!(cost.clv_bytes, evaluator.capabilities().clv_bytes, "{text}");
            assert!(Cost::of(&partitions, &[6]).clv_bytes > cost.clv_bytes, "{text}");
        }
    }

    #[test]
    fn bytes_are_written_for_people() {
        assert_eq!(format_bytes(0), "0 B");
        assert_eq!(format_bytes(1536), "1.5 KiB");
        assert_eq!(format_bytes(9 << 30), "9.0 GiB");
    }
}
