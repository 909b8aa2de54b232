//! [`Engines`]: what every rank but rank 0 computes with.

use super::parts::{PartEngine, make_own};
use super::request::{Computation, Request, Sent, Setup};
use crate::likelihood::cpu::{INSTRUCTION_SETS, select_kernels};
use crate::likelihood::engine::{EngineError, Result};
use crate::mpi::{Follower, Ranks, decode};
use std::collections::BTreeMap;

/// This rank's parts of engines, by the numbers that rank 0 has given them.
#[derive(Default)]
pub struct Engines(BTreeMap<u64, Box<dyn PartEngine>>);

impl Follower for Engines {
    fn follow(&mut self, ranks: Ranks, message: &[u8]) -> std::result::Result<(), String> {
        let done = match decode::<Request>(message) {
            Request::Make(number, setup) => make(ranks, &setup).map(|engine| {
                self.0.insert(number, engine);
            }),
            Request::Drop(number) => {
                self.0.remove(&number);
                Ok(())
            }
            Request::Compute(number, computation) => {
                let engine = self.0.get_mut(&number).expect("an engine that was made");
                compute(engine.as_mut(), computation)
            }
        };
        done.map_err(|error| error.to_string())
    }
}

fn make(ranks: Ranks, setup: &Setup) -> Result<Box<dyn PartEngine>> {
    let own = env!("CARGO_PKG_VERSION");
    if setup.version != own {
        let reason = format!("rank 0 is mlsearch {}, this rank {own}", setup.version);
        return Err(EngineError::Unavailable { engine: "cpu", reason });
    }
    let parts: Vec<Sent> = ranks.receive(0);
    let wanted = setup.instruction_set.as_deref();
    let known = wanted.and_then(|wanted| INSTRUCTION_SETS.iter().find(|set| **set == wanted));
    make_own(ranks, parts, setup, select_kernels(known.copied())?)
}

fn compute(engine: &mut dyn PartEngine, computation: Computation) -> Result<()> {
    match computation {
        Computation::SetModels(models) => engine.set_partition_models(&models),
        Computation::SetPatternWeights(partition, weights) => {
            engine.set_pattern_weights(partition, &weights)
        }
        Computation::UpdatePartials(descriptors) => engine.update_partials(&descriptors),
        Computation::LogLikelihoods(jobs) => engine.log_likelihoods(&jobs).map(drop),
        Computation::PatternLogLikelihoods(job) => engine.pattern_log_likelihoods(&job).map(drop),
        Computation::StateProbabilities(jobs) => engine.state_probabilities(&jobs).map(drop),
        Computation::PmatrixGradients(jobs) => engine.pmatrix_gradients(&jobs).map(drop),
        Computation::InsertionScores(programs) => engine.insertion_scores(&programs).map(drop),
        Computation::OptimizeBranches(programs) => {
            engine.optimize_branches(&mut programs.into_owned())
        }
        Computation::TryInsertions(trials) => engine.try_insertions(&mut trials.into_owned()),
        Computation::Clv(partition, slot) => engine.clv(partition, slot).map(drop),
    }
}
