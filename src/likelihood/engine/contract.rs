//! The contract of an engine: verbs that take whole programs of work and either do all of it or fail.

use super::data::GeneData;
use super::program::{EdgeJob, InsertionProgram, SweepProgram, TraversalDescriptor, TrialProgram};
use crate::error::Error;
use crate::model::Model;
use std::fmt;

/// What a verb of an engine gives.
pub type Result<T> = std::result::Result<T, EngineError>;

/// What a user may say about the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EngineOptions {
    /// Name of the engine; `None` for the best.
    pub name: Option<&'static str>,
    /// Instruction set, if the engine has several; `None` for the best that this machine has.
    pub instruction_set: Option<&'static str>,
    /// Threads of one likelihood, at least 1.
    pub threads: usize,
}

/// Makes an engine for the data of some genes.
pub type Make = fn(&[GeneData], &EngineOptions) -> Result<Box<dyn Engine>>;

/// An engine that can be made: what its room gives to `select`.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Makes it.
    pub make: Make,
    /// The instruction set that it would take, if this machine has it.
    pub instruction_set: fn(&EngineOptions) -> Result<&'static str>,
    /// Name of the engine with which a run continues when this one has failed.
    pub next: Option<&'static str>,
}

/// Why an engine cannot compute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineError {
    /// There is not enough memory.
    OutOfMemory {
        /// Bytes that were asked for.
        bytes: u64,
        /// What they were for.
        purpose: &'static str,
    },
    /// What computes is gone: a device, or a process of a cluster.
    Lost {
        /// The engine's name.
        engine: &'static str,
        /// What the system says.
        reason: String,
    },
    /// This machine has no engine, or no instruction set, of the name that was asked for.
    Unknown {
        /// The name.
        name: String,
        /// Those that it has.
        known: Vec<&'static str>,
    },
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineError::OutOfMemory { bytes, purpose } => {
                let mebibytes = bytes.div_ceil(1 << 20);
                write!(
                    f,
                    "there is not enough memory: {mebibytes} MiB more were needed for {purpose}"
                )
            }
            EngineError::Lost { engine, reason } => {
                write!(f, "the {engine} engine stopped working: {reason}")
            }
            EngineError::Unknown { name, known } => {
                write!(
                    f,
                    "'{name}' is not available on this machine, which has {}",
                    known.join(", ")
                )
            }
        }
    }
}

impl std::error::Error for EngineError {}

impl From<EngineError> for Error {
    fn from(error: EngineError) -> Self {
        Error::Failed(error.to_string())
    }
}

/// What an engine is, and what it is good at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// Its name.
    pub name: &'static str,
    /// What computes, in words for the log.
    pub description: String,
    /// Bytes that stored vectors and their scalers take.
    pub vector_bytes: u64,
    /// Bytes that it could take besides, where that is known.
    pub free_bytes: Option<u64>,
    /// So many pruned subtrees or trials in one call keep all of it busy.
    pub best_batch: usize,
}

/// What computes likelihoods.
///
/// A gene's vectors belong to the nodes of its restricted tree: tips have codes, and each inner node has
/// one stored CLV, whose slot is the number of the node less the number of tips. A slot holds what was
/// written to it last; which way a CLV points, and whether it is up to date, is the caller's business.
///
/// What a program must be like is written at its type and checked by [`Checked`](super::Checked), which
/// panics at a violation: an engine may rely on it. Besides:
///
/// * [`Engine::set_models`] comes before anything is computed of a gene.
/// * A CLV is read only after it was written, and after the gene's model was set last.
/// * After a verb has failed, no stored vector holds anything, and the engine may refuse all further work.
///
/// Every number that a verb returns or stores has the same bits whatever the number of threads, the
/// instruction set or the device: `layout` says how sums are grouped, and `cpu/body` has the operations.
pub trait Engine: Send {
    /// What it is.
    fn capabilities(&self) -> Capabilities;

    /// Sets the models of some genes, each at most once. CLVs of these genes are worthless afterwards.
    fn set_models(&mut self, models: &[(usize, &Model)]) -> Result<()>;

    /// Replaces the weights of a gene's patterns, in their order. Stored vectors stay what they are.
    fn set_pattern_weights(&mut self, gene: usize, weights: &[f64]) -> Result<()>;

    /// Updates stored CLVs: at most one descriptor per gene.
    fn update_partials(&mut self, descriptors: &[TraversalDescriptor]) -> Result<()>;

    /// Log-likelihood of each job, at most one per gene, with the gene's correction of ascertainment
    /// bias, as everywhere below.
    fn log_likelihoods(&mut self, jobs: &[EdgeJob]) -> Result<Vec<f64>>;

    /// Log-likelihood of each pattern (unweighted) of the job's gene; under Lewis's correction, of the
    /// pattern given that it is a variable one. Patterns of sites that were left out are not among them.
    fn pattern_log_likelihoods(&mut self, job: &EdgeJob) -> Result<Vec<f64>>;

    /// Scores of each program, in the order of its scoring steps. Any number of programs per gene; nothing
    /// stored is written.
    fn insertion_scores(&mut self, programs: &[InsertionProgram]) -> Result<Vec<Vec<f64>>>;

    /// Optimises branch lengths in place. Programs are independent of each other: a gene whose stored CLVs
    /// one of them writes is in no other.
    fn optimize_branches(&mut self, programs: &mut [SweepProgram]) -> Result<()>;

    /// Carries out trials, which are independent of each other and write nothing stored.
    fn try_insertions(&mut self, trials: &mut [TrialProgram]) -> Result<()>;

    /// A copy of a CLV and its scaler counts in the engine's own order: for tests of an engine against
    /// itself.
    fn clv(&mut self, gene: usize, slot: u32) -> Result<(Vec<f64>, Vec<u32>)>;
}
