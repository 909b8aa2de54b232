//! What rank 0 asks of the others.

use crate::likelihood::engine::{
    EdgeJob, Held, InsertionProgram, PartitionData, PartitionModel, PointJob, SweepProgram,
    TraversalDescriptor, TrialProgram,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// One thing that all ranks do at the same time.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request<'a> {
    /// Makes the engine of this number, with the parts that are then sent to each rank.
    Make(u64, Cow<'a, Setup>),
    /// Drops it.
    Drop(u64),
    /// Computes with it.
    Compute(u64, Computation<'a>),
}

/// How an engine is made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Setup {
    /// Version of the program that asks: all must be the same.
    pub(super) version: String,
    /// Instruction set; `None` for the best one of each machine.
    pub(super) instruction_set: Option<String>,
    /// Threads of each rank.
    pub(super) threads: usize,
    /// Most bytes of the CLVs of a rank.
    pub(super) clv_bytes: Option<u64>,
    /// The holders of each partition: rank, first block and the one after the last.
    pub(super) holders: Vec<Vec<Held>>,
    /// Number of sites of each partition, if its patterns' weights are summed by a correction.
    pub(super) num_sites: Vec<f64>,
}

/// What a rank gets of a partition.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Sent {
    /// The patterns of its blocks.
    pub(super) data: PartitionData,
    /// The constant patterns, if it has the last blocks.
    pub(super) constants: Option<PartitionData>,
}

/// An operation of an engine (see [`Engine`](crate::likelihood::engine::Engine)).
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Computation<'a> {
    SetModels(Cow<'a, [(usize, PartitionModel)]>),
    SetPatternWeights(usize, Cow<'a, [f64]>),
    UpdatePartials(Cow<'a, [TraversalDescriptor]>),
    LogLikelihoods(Cow<'a, [EdgeJob]>),
    PatternLogLikelihoods(EdgeJob),
    StateProbabilities(Cow<'a, [PointJob]>),
    PmatrixGradients(Cow<'a, [EdgeJob]>),
    InsertionScores(Cow<'a, [InsertionProgram]>),
    OptimizeBranches(Cow<'a, [SweepProgram]>),
    TryInsertions(Cow<'a, [TrialProgram]>),
    Clv(usize, u32),
}
