//! A short calibration on the data of a run: the memory and the time that a sweep over the branches of a first tree
//! takes, from which those of the run are estimated (`cost`).

use crate::dataset::Loaded;
use crate::error::Result;
use crate::likelihood::engine::Capabilities;
use crate::likelihood::{BranchOptions, Evaluator};
use crate::parallel::used_memory;
use crate::parsimony::ParsimonyData;
use crate::plan::Plan;
use crate::rng::Purpose;
use crate::search::parsimony_start;
use crate::tree::Tree;
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
