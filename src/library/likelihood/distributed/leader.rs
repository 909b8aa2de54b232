//! [`make`]: the engine as rank 0 has it, which tells the other ranks what it does.

use super::parts::{PartEngine, has_site_frequencies, make_own, part};
use super::request::{Computation, Request, Sent, Setup};
use super::shares::{Blocks, share_out};
use crate::likelihood::cpu::select_kernels;
use crate::likelihood::engine::layout::BLOCK;
use crate::likelihood::engine::{
    Capabilities, EdgeJob, Engine, EngineOptions, InsertionProgram, PartitionData, PartitionModel,
    PointJob, Result, SweepProgram, TraversalDescriptor, TrialProgram, new_block,
};
use crate::model::Model;
use crate::mpi::{Ranks, Subject, Turn};
use crate::parallel::UnitCost;
use std::borrow::Cow;

/// What one exchange of a few numbers between machines costs, in units of CLV updates (a block of DNA with four categories of rates,
/// 8192 units, takes half a microsecond): 2 microseconds. Between two processes of one machine it took 0.4.
const EXCHANGE: UnitCost = 4 * 8192;

/// What there is to do, in jobs that each take about as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobCounts {
    /// One after the other.
    pub in_turn: usize,
    /// Those that can be done side by side.
    pub side_by_side: usize,
}

/// What a step of a likelihood (an update of a CLV for all patterns) costs that takes one rank `step`: so many ranks do equal shares of it, and
/// exchange its sums.
fn step_on(num_ranks: usize, step: UnitCost) -> UnitCost {
    let exchange = EXCHANGE * UnitCost::from(num_ranks.ilog2());
    step.div_ceil(num_ranks as UnitCost) + exchange
}

/// True if all of these ranks compute a likelihood, of which a step costs so much, faster than one.
pub fn is_worth_it(ranks: Ranks, step: UnitCost) -> bool {
    let size = ranks.size();
    size > 1 && (ranks.always_share() || step_on(size, step) < step)
}

/// With how many ranks in each group, but at least so many, and of so many in all, groups do these jobs the soonest.
pub fn best_group(least: usize, num_ranks: usize, step: UnitCost, jobs: JobCounts) -> usize {
    let JobCounts { in_turn, side_by_side } = jobs;
    let time = |&in_group: &usize| {
        let rounds = in_turn + side_by_side.div_ceil(num_ranks / in_group);
        rounds as UnitCost * step_on(in_group, step)
    };
    (least.clamp(1, num_ranks)..=num_ranks).min_by_key(time).unwrap_or(1)
}

/// The engine of all ranks.
///
/// # Errors
/// As of the CPU engine. (If another rank lacks something, it ends the run.)
pub fn make(
    data: &[PartitionData],
    options: &EngineOptions,
    ranks: Ranks,
) -> Result<Box<dyn Engine>> {
    let kernels = select_kernels(options.instruction_set)?;
    let constants: Vec<Option<PartitionData>> =
        data.iter().map(PartitionData::constant_patterns).collect();
    let blocks = data.iter().zip(&constants).map(|(data, constants)| {
        let dims = new_block(data).dims;
        let count = match data.num_tips() {
            0 => 0,
            _ => data.num_patterns().div_ceil(BLOCK) + usize::from(constants.is_some()),
        };
        let cost = BLOCK * data.num_tips() * dims.row() * dims.num_states;
        Blocks { count, cost: cost as UnitCost }
    });
    let holders = share_out(&blocks.collect::<Vec<_>>(), ranks.size());
    let setup = Setup {
        version: env!("CARGO_PKG_VERSION").to_string(),
        instruction_set: options.instruction_set.map(String::from),
        threads: options.threads,
        clv_bytes: options.clv_bytes,
        holders,
        num_sites: data.iter().map(|data| data.weights.iter().sum()).collect(),
    };
    let parts_of = |rank: usize| -> Vec<Sent> {
        let each = setup.holders.iter().zip(data).zip(&constants);
        each.map(|((holders, data), constants)| part(rank, holders, data, constants)).collect()
    };
    let number = ranks.next_number();
    let _turn = ranks.turn();
    ranks.let_compute(Subject::Likelihood, &Request::Make(number, Cow::Borrowed(&setup)));
    for rank in 1..ranks.size() {
        ranks.send(rank, &parts_of(rank));
    }
    let engine = make_own(ranks, parts_of(0), &setup, kernels);
    let engine = engine.unwrap_or_else(|error| ranks.abort(&error.to_string()));
    Ok(Box::new(Leader { ranks, number, engine, has_site_frequencies: has_site_frequencies(data) }))
}

/// The engine of rank 0, or of the first rank of a group.
struct Leader {
    ranks: Ranks,
    number: u64,
    engine: Box<dyn PartEngine>,
    has_site_frequencies: bool,
}

impl Leader {
    /// Tells the other ranks what all do now; until what this returns is dropped.
    fn begin(&self, computation: Computation) -> Turn {
        let turn = self.ranks.turn();
        self.ranks.let_compute(Subject::Likelihood, &Request::Compute(self.number, computation));
        turn
    }

    /// What all have done. A failure ends the run, because the others have begun.
    fn done<T>(&self, found: Result<T>) -> Result<T> {
        found.map_err(|error| self.ranks.abort(&error.to_string()))
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        // A panic has ended the other ranks, or will.
        if !std::thread::panicking() {
            let _turn = self.ranks.turn();
            self.ranks.let_compute(Subject::Likelihood, &Request::Drop(self.number));
        }
    }
}

impl Engine for Leader {
    fn capabilities(&self) -> Capabilities {
        self.engine.capabilities()
    }

    fn set_models(&mut self, models: &[(usize, &Model)]) -> Result<()> {
        let of_partition = match self.has_site_frequencies {
            true => PartitionModel::of_site_frequencies,
            false => PartitionModel::new,
        };
        let model = |(partition, model): &(usize, &Model)| (*partition, of_partition(model));
        let models: Vec<(usize, PartitionModel)> = models.iter().map(model).collect();
        let _turn = self.begin(Computation::SetModels(Cow::Borrowed(&models)));
        let set = self.engine.set_partition_models(&models);
        self.done(set)
    }

    fn set_pattern_weights(&mut self, partition: usize, weights: &[f64]) -> Result<()> {
        let _turn = self.begin(Computation::SetPatternWeights(partition, Cow::Borrowed(weights)));
        let set = self.engine.set_pattern_weights(partition, weights);
        self.done(set)
    }

    fn update_partials(&mut self, descriptors: &[TraversalDescriptor]) -> Result<()> {
        let _turn = self.begin(Computation::UpdatePartials(Cow::Borrowed(descriptors)));
        let updated = self.engine.update_partials(descriptors);
        self.done(updated)
    }

    fn log_likelihoods(&mut self, jobs: &[EdgeJob]) -> Result<Vec<f64>> {
        let _turn = self.begin(Computation::LogLikelihoods(Cow::Borrowed(jobs)));
        let lnls = self.engine.log_likelihoods(jobs);
        self.done(lnls)
    }

    fn pattern_log_likelihoods(&mut self, job: &EdgeJob) -> Result<Vec<f64>> {
        let _turn = self.begin(Computation::PatternLogLikelihoods(*job));
        let lnls = self.engine.pattern_log_likelihoods(job);
        self.done(lnls)
    }

    fn state_probabilities(&mut self, jobs: &[PointJob]) -> Result<Vec<Vec<f64>>> {
        let _turn = self.begin(Computation::StateProbabilities(Cow::Borrowed(jobs)));
        let probabilities = self.engine.state_probabilities(jobs);
        self.done(probabilities)
    }

    fn pmatrix_gradients(&mut self, jobs: &[EdgeJob]) -> Result<Vec<Vec<f64>>> {
        let _turn = self.begin(Computation::PmatrixGradients(Cow::Borrowed(jobs)));
        let gradients = self.engine.pmatrix_gradients(jobs);
        self.done(gradients)
    }

    fn insertion_scores(&mut self, programs: &[InsertionProgram]) -> Result<Vec<Vec<f64>>> {
        let _turn = self.begin(Computation::InsertionScores(Cow::Borrowed(programs)));
        let scores = self.engine.insertion_scores(programs);
        self.done(scores)
    }

    fn optimize_branches(&mut self, programs: &mut [SweepProgram]) -> Result<()> {
        let _turn = self.begin(Computation::OptimizeBranches(Cow::Borrowed(programs)));
        let optimised = self.engine.optimize_branches(programs);
        self.done(optimised)
    }

    fn try_insertions(&mut self, trials: &mut [TrialProgram]) -> Result<()> {
        let _turn = self.begin(Computation::TryInsertions(Cow::Borrowed(trials)));
        let tried = self.engine.try_insertions(trials);
        self.done(tried)
    }

    fn clv(&mut self, partition: usize, slot: u32) -> Result<(Vec<f64>, Vec<u32>)> {
        let _turn = self.begin(Computation::Clv(partition, slot));
        let clv = self.engine.clv(partition, slot);
        self.done(clv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_as_large_as_makes_all_jobs_end_soonest() {
        let best = |num_ranks, step: UnitCost, in_turn, side_by_side| {
            best_group(1, num_ranks, step * EXCHANGE, JobCounts { in_turn, side_by_side })
        };
        // Data for which an exchange takes longer than all the rest; data for which it takes next to nothing.
        assert_eq!(best(64, 1, 0, 100), 1);
        assert_eq!(best(64, 1 << 40, 1, 0), 64);
        // One job alone is not faster on more than some ranks; of many, each rank takes its own.
        assert_eq!(best(1024, 100, 1, 0), 63);
        assert_eq!(best(1024, 100, 0, 10_000), 1);
        // A search, and then replicates; as many replicates as a quarter of the ranks.
        assert!((2..128).contains(&best(1024, 100, 5, 100)));
        assert_eq!(best(64, 100, 0, 16), 4);
        assert_eq!(best(1, 100, 3, 100), 1);
        // Where a rank has no room for all.
        let jobs = JobCounts { in_turn: 0, side_by_side: 100 };
        assert_eq!(best_group(2, 4, 100 * EXCHANGE, jobs), 2);
        assert_eq!(best_group(9, 4, 100 * EXCHANGE, jobs), 4);
    }
}
