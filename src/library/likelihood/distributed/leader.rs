//! [`make`]: the engine as rank 0 has it, which tells the other ranks what it does.

use super::parts::{make_own, part};
use super::request::{Computation, Request, Sent, Setup};
use super::shares::{Blocks, share_out};
use crate::likelihood::cpu::{CpuEngine, select_kernels};
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

/// True if several ranks compute a likelihood faster than one, of which a step (an update of a CLV for all patterns) costs so much: if
/// what they save in it is more than what it costs them to exchange its sums.
pub fn is_worth_it(ranks: Ranks, step: UnitCost) -> bool {
    let size = ranks.size() as UnitCost;
    let exchange = EXCHANGE * UnitCost::from(size.ilog2());
    size > 1 && (ranks.always_share() || step - step / size > exchange)
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
    Ok(Box::new(Leader { ranks, number, engine }))
}

/// The engine of rank 0.
struct Leader {
    ranks: Ranks,
    number: u64,
    engine: CpuEngine,
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
        let model = |(partition, model): &(usize, &Model)| (*partition, PartitionModel::new(model));
        let models: Vec<(usize, PartitionModel)> = models.iter().map(model).collect();
        let _turn = self.begin(Computation::SetModels(Cow::Borrowed(&models)));
        self.engine.set_partition_models(&models);
        Ok(())
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
