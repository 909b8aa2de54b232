//! A short calibration on the data of a run: the memory and the time that a sweep over the branches of a first tree
//! takes, from which those of the run are estimated (`cost`).

use crate::dataset::Loaded;
use crate::error::Result;
use crate::likelihood::engine::Capabilities;
use crate::likelihood::engine::layout::BLOCK;
use crate::likelihood::{BranchOptions, Evaluator};
use crate::parallel::used_memory;
use crate::parsimony::ParsimonyData;
use crate::partition::Partition;
use crate::plan::Plan;
use crate::rng::Purpose;
use crate::search::parsimony_start;
use crate::tree::Tree;
use std::borrow::Cow;
use std::time::Instant;

/// Gain (log units) at which the Newton steps of a branch end in a calibration.
const GAIN_TOLERANCE: f64 = 1e-2;

/// Memory of an engine with a limit, relative to what it counts: buffers that are given back and allocated again in other
/// sizes leave gaps. 1.2 to 1.6 on alignments of 140 and 218 taxa.
pub(crate) const GAPS: f64 = 1.65;
/// The least of that.
pub(crate) const LEAST_GAPS: f64 = 1.15;
/// By how much the gaps grow after a calibration: 1.03 to 1.11 in evaluations and searches with 50 to 75 % of the memory
/// that they would like to have.
const LATER_GAPS: f64 = 1.12;

/// Most work of a sweep ([`Cost::sweep`](super::cost::Cost::sweep)) for an estimate: a second or so with the memory that it likes to have, and several times
/// as long with a part of that.
const MOST_WORK: u64 = 250_000_000;

/// What a traversal and a sweep over all branches of a tree take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Calibration {
    /// Bytes of the engine, as it counts them.
    pub engine_bytes: u64,
    /// Bytes by which the memory of the program has grown, if the system tells: also what the engine does not count, and
    /// gaps between its buffers.
    pub resident_bytes: Option<u64>,
    /// Processor time, in seconds.
    pub seconds: f64,
    /// Numbers of updates of CLVs: all, and those that are necessary because memory is limited.
    pub updates: [u64; 2],
}

impl Calibration {
    /// Of so many times the data.
    pub(crate) fn times(self, factor: f64) -> Self {
        let scaled = |bytes: u64| (bytes as f64 * factor) as u64;
        Calibration {
            engine_bytes: scaled(self.engine_bytes),
            resident_bytes: self.resident_bytes.map(scaled),
            seconds: self.seconds * factor,
            updates: self.updates,
        }
    }

    /// True if there was enough memory for all CLVs.
    pub(crate) fn is_complete(&self) -> bool {
        self.updates[1] == 0
    }

    /// Memory that the engine takes, relative to what it counts.
    pub(crate) fn gaps(&self) -> f64 {
        let resident = self.resident_bytes.unwrap_or(self.engine_bytes) as f64;
        // With a limit, gaps appear that were filled in a program that has given back memory before.
        let least = if self.is_complete() { 1.0 } else { LEAST_GAPS };
        (resident / self.engine_bytes.max(1) as f64).max(least)
    }

    /// The limit of an engine that is to take so many bytes of memory.
    pub(crate) fn within(&self, bytes: u64) -> u64 {
        (bytes as f64 / (self.gaps() * LATER_GAPS)) as u64
    }

    /// How many times as many updates are made as with enough memory.
    pub(crate) fn slowdown(&self) -> f64 {
        let [all, again] = self.updates.map(|count| count as f64);
        if again > 0.0 { all / (all - again) } else { 1.0 }
    }
}

/// Optimises the branch lengths of a new evaluator's tree once. `make` makes it, with so many threads.
///
/// # Errors
/// There is not enough memory.
pub(crate) fn calibrate(
    make: impl FnOnce() -> Result<Evaluator>,
    num_threads: usize,
) -> Result<Calibration> {
    let before = used_memory();
    let mut evaluator = make()?;
    let start = Instant::now();
    evaluator.optimize_branches(&BranchOptions {
        max_sweeps: 1,
        lnl_epsilon: 0.0,
        gain_tolerance: GAIN_TOLERANCE,
    })?;
    let seconds = start.elapsed().as_secs_f64() * num_threads as f64;
    let Capabilities { used_bytes: engine_bytes, updates, .. } = evaluator.capabilities();
    let grown = |(after, before): (u64, u64)| after.saturating_sub(before);
    let resident_bytes = used_memory().zip(before).map(grown);
    Ok(Calibration { engine_bytes, resident_bytes, seconds, updates })
}

/// The partitions, or a part of their patterns that stands for all if a sweep with all is so much work; and of how many times the data. Of the blocks of
/// patterns, in which those that are repeated in a part of the tree are stored once, every so many-th is taken.
pub(crate) fn part_of(partitions: &[Partition], work: u64) -> (Cow<'_, [Partition]>, f64) {
    let every = work.div_ceil(MOST_WORK) as usize;
    if every <= 1 {
        return (Cow::Borrowed(partitions), 1.0);
    }
    let (mut part, mut blocks, mut all, mut taken) = (Vec::new(), 0, 0, 0);
    for partition in partitions {
        let patterns = &partition.patterns;
        let is_taken = |pattern: usize| (blocks + pattern / BLOCK).is_multiple_of(every);
        let weight = |(pattern, &weight)| if is_taken(pattern) { weight } else { 0 };
        let weights: Vec<u32> = patterns.weights.iter().enumerate().map(weight).collect();
        let count = weights.iter().filter(|&&weight| weight > 0).count();
        if count > 0 {
            let patterns = patterns.with_weights(&weights);
            let (name, model) = (partition.name.clone(), partition.model.clone());
            part.push(Partition { name, model, patterns, sites: Vec::new() });
        }
        blocks += patterns.num_patterns().div_ceil(BLOCK);
        all += patterns.num_patterns();
        taken += count;
    }
    match part.is_empty() {
        true => (Cow::Borrowed(partitions), 1.0),
        false => (Cow::Owned(part), all as f64 / taken as f64),
    }
}

/// The first tree that is to be evaluated, or else a parsimony tree; and what it is. Models are selected on it.
pub(crate) fn first_tree(plan: &Plan, loaded: &Loaded) -> (Tree, &'static str) {
    let given = loaded.trees.first().and_then(|trees| trees.first());
    match given {
        Some(given) if plan.facts.workload.only_evaluates => {
            (given.tree.clone(), "the first given tree")
        }
        _ => {
            let data = ParsimonyData::of_partitions(loaded.taxa.len(), &loaded.partitions)
                .constrained(loaded.constraint.clone());
            let tree = parsimony_start(&data, plan.seed, Purpose::ModelSelection, 0);
            (tree, "a parsimony tree")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::Patterns;
    use crate::alphabet::DataType;
    use crate::model::Model;

    #[test]
    fn a_part_of_large_data_has_every_so_many_th_block() {
        let sites = 5 * BLOCK;
        let patterns = Patterns::compress(DataType::Dna, 6, sites, |taxon, codes| {
            for (site, code) in codes.iter_mut().enumerate() {
                *code = 1 << (site >> (2 * taxon) & 3);
            }
        });
        assert_eq!(patterns.num_patterns(), sites);
        let model = Model::parse("JC").unwrap();
        let partition = |name: &str| Partition {
            name: name.into(),
            model: model.clone(),
            sites: (0..sites as u32).collect(),
            patterns: patterns.clone(),
        };
        let partitions = [partition("a"), partition("b")];
        let (all, factor) = part_of(&partitions, MOST_WORK);
        assert!(matches!(all, Cow::Borrowed(_)) && factor == 1.0);
        // Of the ten blocks, the first, fourth, seventh and tenth.
        let (part, factor) = part_of(&partitions, 3 * MOST_WORK);
        let sizes: Vec<usize> = part.iter().map(|p| p.patterns.num_patterns()).collect();
        assert_eq!((sizes, factor), (vec![2 * BLOCK, 2 * BLOCK], 2.5));
        assert_eq!(part[1].patterns.codes[5][0], patterns.codes[5][BLOCK]);
        let (part, factor) = part_of(&partitions, 100 * MOST_WORK);
        assert_eq!((part.len(), factor), (1, 10.0));
    }

    #[test]
    fn the_limit_of_an_engine_allows_for_what_it_does_not_count() {
        let whole = Calibration {
            engine_bytes: 100 << 20,
            resident_bytes: Some(102 << 20),
            seconds: 1.0,
            updates: [0, 0],
        };
        let taken = |engine_bytes: f64, gaps: f64| (engine_bytes * gaps * LATER_GAPS) as u64;
        let of_100_mib = |calibration: Calibration, gaps: f64| {
            calibration.within(taken((100 << 20) as f64, gaps)).abs_diff(100 << 20) < 2
        };
        assert!(whole.is_complete());
        assert_eq!(whole.slowdown(), 1.0);
        assert!(of_100_mib(whole, 1.02));
        let limited = Calibration { updates: [30, 20], ..whole };
        assert_eq!(limited.slowdown(), 3.0);
        assert!(of_100_mib(limited, LEAST_GAPS));
        let limited = Calibration { resident_bytes: Some(150 << 20), ..limited };
        assert!(of_100_mib(limited, 1.5));
        let unknown = Calibration { resident_bytes: None, ..whole };
        assert!(of_100_mib(unknown, 1.0));
    }
}
