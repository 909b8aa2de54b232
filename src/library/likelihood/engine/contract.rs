//! The contract of an engine: operations that take complete programs of work and either carry out all of
//! it or fail.

use super::data::PartitionData;
use super::program::{
    EdgeJob, InsertionProgram, PointJob, SweepProgram, TraversalDescriptor, TrialProgram,
};
use crate::error::Error;
use crate::model::Model;
use crate::mpi::Ranks;
use std::fmt;

/// Result of an operation of an engine.
pub type Result<T> = std::result::Result<T, EngineError>;

/// Precision in which GPUs compute scores of regraft positions. Everything that a search decides by is in double precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScorePrecision {
    /// Double: the scores have the bits of the processor's.
    #[default]
    Double,
    /// Single: they are the same in every run, on any number of GPUs, but differ from those in double precision.
    Single,
}

/// A user's choice of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineOptions {
    /// Name of the engine; `None` for the default.
    pub name: Option<&'static str>,
    /// Instruction set, if the engine has several; `None` for the best one of this machine.
    pub instruction_set: Option<&'static str>,
    /// Number of threads that compute one likelihood, at least 1.
    pub threads: usize,
    /// Most memory of the CLVs and sumtables, in bytes: with less than all need, some are computed again whenever
    /// they are read, with the same results. `None` for no limit.
    pub clv_bytes: Option<u64>,
    /// GPUs to use, as bits by their numbers, if the engine needs them; 0 for the first one.
    pub gpus: u64,
    /// Number of engines at the same time on these GPUs, this one included: each takes no more than its share of their memory.
    pub engines_on_gpus: usize,
    /// The ranks that share the work, if there are several.
    pub ranks: Option<Ranks>,
    /// Precision of scores of regraft positions on GPUs.
    pub score_precision: ScorePrecision,
}

impl Default for EngineOptions {
    fn default() -> Self {
        EngineOptions {
            name: None,
            instruction_set: None,
            threads: 1,
            clv_bytes: None,
            gpus: 0,
            engines_on_gpus: 1,
            ranks: None,
            score_precision: ScorePrecision::Double,
        }
    }
}

/// Makes an engine for the data of some partitions.
pub type Make = fn(&[PartitionData], &EngineOptions) -> Result<Box<dyn Engine>>;

/// What `select` knows of an engine, as defined in the engine's folder.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Its constructor.
    pub make: Make,
    /// The instruction set that it would use, or an error if this machine lacks the requested one.
    pub instruction_set: fn(&EngineOptions) -> Result<&'static str>,
    /// True if it gives the bits of the default engine: a run that was interrupted can be resumed with any of these.
    pub gives_default_bits: bool,
}

/// Why an engine cannot compute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineError {
    /// There is not enough memory.
    OutOfMemory {
        /// Number of bytes requested.
        bytes: u64,
        /// What they were needed for.
        purpose: &'static str,
    },
    /// The hardware or process that computes is no longer available.
    Lost {
        /// The engine's name.
        engine: &'static str,
        /// The cause, as reported by the system.
        reason: String,
    },
    /// The computation was told to end.
    Stopped,
    /// This machine or this build cannot use the engine.
    Unavailable {
        /// The engine's name.
        engine: &'static str,
        /// Why not, and what is needed.
        reason: String,
    },
    /// This machine has no engine or instruction set with the requested name.
    Unknown {
        /// The requested name.
        name: String,
        /// The available names.
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
            EngineError::Stopped => write!(f, "interrupted"),
            EngineError::Unavailable { engine, reason } => {
                write!(f, "the {engine} engine cannot be used: {reason}")
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
        match error {
            EngineError::Stopped => Error::Interrupted { signal: 0, resume: None },
            EngineError::Lost { .. } | EngineError::Unavailable { .. } => {
                Error::Engine(error.to_string())
            }
            EngineError::OutOfMemory { .. } | EngineError::Unknown { .. } => {
                Error::Failed(error.to_string())
            }
        }
    }
}

/// Properties of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// Its name.
    pub name: &'static str,
    /// Most memory that the stored CLVs and their scalers take, in bytes.
    pub clv_bytes: u64,
    /// Bytes that data, CLVs and sums take now.
    pub used_bytes: u64,
    /// If memory is limited, numbers of updates of CLVs (or of parts of them) so far: all, and those that were
    /// necessary because a CLV had been forgotten.
    pub updates: [u64; 2],
    /// What sweeps have taken so far, if the engine counts it.
    pub swept: SweepWork,
    /// Bytes that it could take in addition, where that is known.
    pub free_bytes: Option<u64>,
    /// Number of pruned subtrees or trials per call that is enough to use the hardware fully.
    pub best_batch: usize,
}

/// What sweeps of Newton-Raphson have taken, all partitions together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SweepWork {
    /// Evaluations of the derivatives of a partition.
    pub evaluations: u64,
    /// Bytes, if every CLV is read and written as often as it is an operand or a result. (Tips are not counted.)
    pub bytes: u64,
    /// Operations in double precision: a fused multiply-add is two.
    pub operations: u64,
}

impl std::ops::AddAssign for SweepWork {
    fn add_assign(&mut self, other: Self) {
        self.evaluations += other.evaluations;
        self.bytes += other.bytes;
        self.operations += other.operations;
    }
}

/// What a GPU can do at best.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct GpuRates {
    /// Seconds in which the driver translated all kernels that were loaded so far for the GPU, or found them in its cache.
    pub load_seconds: f64,
    /// Seconds of a launch among many.
    pub launch_seconds: f64,
    /// Seconds until the result of a launch is on the host.
    pub answer_seconds: f64,
    /// Seconds until all that work together in a launch have met, if they can.
    pub barrier_seconds: Option<f64>,
    /// Bytes read and written per second by a copy.
    pub copy_bytes_per_second: f64,
    /// Operations per second in double precision: a fused multiply-add is two.
    pub operations_per_second: f64,
    /// The same in single precision.
    pub single_operations_per_second: f64,
}

/// An implementation of the likelihood computations, with the CLVs and models of all partitions.
///
/// A partition's CLVs belong to the nodes of its restricted tree: tips have codes, and each inner node has
/// one stored CLV, whose slot is the node's number minus the number of tips. A slot holds the CLV that was
/// last written to it; the caller keeps track of the direction of each CLV and of whether it is up to date.
///
/// The requirements on each program are documented at its type and checked by
/// [`Checked`](super::Checked), which panics at a violation, so an engine may rely on them. In addition:
///
/// * [`Engine::set_models`] is called for a partition before anything is computed for it.
/// * A CLV is read only if it was written after the last change of the partition's model, but for that of weights of rate
///   categories, on which no CLV depends.
/// * After an operation has failed, the content of all stored CLVs is undefined, and the engine may refuse
///   all further work.
///
/// Every number that an operation returns or stores has the same bits for any number of threads,
/// instruction set or device: `layout` defines how sums are grouped, and `kernels/body` the order of arithmetic
/// operations.
pub trait Engine: Send {
    /// Properties of the engine.
    fn capabilities(&self) -> Capabilities;

    /// Sets the models of the given partitions, each at most once. This invalidates the CLVs of these partitions, unless
    /// nothing but weights of rate categories is new.
    fn set_models(&mut self, models: &[(usize, &Model)]) -> Result<()>;

    /// Replaces the weights of a partition's patterns, in their order. Stored CLVs remain valid.
    fn set_pattern_weights(&mut self, partition: usize, weights: &[f64]) -> Result<()>;

    /// Updates stored CLVs: at most one descriptor per partition.
    fn update_partials(&mut self, descriptors: &[TraversalDescriptor]) -> Result<()>;

    /// Log-likelihood of each job, at most one per partition. Here and in all operations below, log-likelihoods
    /// include the partition's correction of ascertainment bias.
    fn log_likelihoods(&mut self, jobs: &[EdgeJob]) -> Result<Vec<f64>>;

    /// Log-likelihood of each pattern (unweighted) of the job's partition; under Lewis's correction it is
    /// conditional on the pattern being variable. The constant patterns of a correction are not included.
    fn pattern_log_likelihoods(&mut self, job: &EdgeJob) -> Result<Vec<f64>>;

    /// Probability of each state at each job's point, given the data of the pattern: `[pattern][state]`, for each job,
    /// at most one per partition. These are the marginal ancestral states of Yang, Kumar & Nei (1995, Genetics 141:1641):
    /// the share of the likelihood of the pattern that the state contributes, summed over the rate categories. They do
    /// not depend on the correction of ascertainment bias.
    fn state_probabilities(&mut self, jobs: &[PointJob]) -> Result<Vec<Vec<f64>>>;

    /// Derivatives of the log-likelihood in the entries of the job's P-matrices, `[rate][row][column]`, for each job, at most one per
    /// partition: `row` is the state at the first end. States are those of the engine's padded alphabet (`layout::STATE_COUNTS`). The
    /// partition has neither a correction of ascertainment bias nor state frequencies of each pattern.
    fn pmatrix_gradients(&mut self, jobs: &[EdgeJob]) -> Result<Vec<Vec<f64>>>;

    /// Scores (log-likelihoods) of each program, in the order of its scoring steps. A partition may have any
    /// number of programs. No stored CLV is written.
    fn insertion_scores(&mut self, programs: &[InsertionProgram]) -> Result<Vec<Vec<f64>>>;

    /// Optimises branch lengths in place, or finds their densities (see [`Goal`](super::Goal)). The programs are independent of
    /// each other: if one of them writes stored CLVs of a partition, the partition is in no other program.
    fn optimize_branches(&mut self, programs: &mut [SweepProgram]) -> Result<()>;

    /// Carries out trials, which are independent of each other. No stored CLV is written.
    fn try_insertions(&mut self, trials: &mut [TrialProgram]) -> Result<()>;

    /// A copy of a CLV and its scaler counts in the engine's own layout, for tests.
    fn clv(&mut self, partition: usize, slot: u32) -> Result<(Vec<f64>, Vec<u32>)>;
}
