//! [`RunArgs`]: the options on the machine and on the run as a whole.

use super::options::{DEFAULT_SEED, RunOptions, Threads};
use super::refusals::Refusals;
use super::values::{
    parse_engine, parse_gpus, parse_instruction_set, parse_memory, parse_precision,
    parse_ranks_per_job, parse_seed, parse_threads,
};
use crate::likelihood::ScorePrecision;
use crate::likelihood::select::INSTRUCTION_SET_HELP;
use crate::stop::Stop;
use clap::Args;

const RUN: &str = "Run";

/// The options that every analysis has.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RunArgs {
    /// Seed of all random numbers [default: 12345]
    ///
    /// The same seed gives the same result.
    #[arg(short = 'p', long, value_name = "N", value_parser = parse_seed, help_heading = RUN)]
    pub seed: Option<u64>,
    /// Number of threads, auto or auto{N}
    ///
    /// As many as are useful, at most N; the result is the same with any number [default: auto].
    #[arg(short = 'T', long, value_name = "N", help_heading = RUN)]
    pub threads: Option<String>,
    /// Most memory to use, as 500M or 8G
    ///
    /// Fewer computations at the same time, then CLVs that are computed again when they are needed; the
    /// result is the same [default: what is free].
    #[arg(long, value_name = "SIZE", help_heading = RUN)]
    pub mem: Option<String>,
    // Its help names the instruction sets, which only the engines know.
    #[allow(missing_docs)]
    #[arg(long, value_name = "SET", help_heading = RUN, help = INSTRUCTION_SET_HELP, hide_short_help = true)]
    pub simd: Option<String>,
    /// What computes likelihoods: cpu, cuda (NVIDIA GPUs), or auto, which is cpu; the result is the same with
    /// any [default: auto]
    #[arg(long, value_name = "ENGINE", help_heading = RUN, hide_short_help = true)]
    pub backend: Option<String>,
    /// Compute on these NVIDIA GPUs, by their numbers, as 0 or 0,1 [default: 0 with --backend cuda]
    #[arg(long, value_name = "LIST", help_heading = RUN, hide_short_help = true)]
    pub gpu: Option<String>,
    /// Precision of the scores of regraft positions on NVIDIA GPUs: double, or single, which may lead to another tree;
    /// all that a search decides by is in double [default: double]
    #[arg(long, value_name = "PRECISION", help_heading = RUN, hide_short_help = true)]
    pub gpu_precision: Option<String>,
    /// Under mpirun: processes that compute one likelihood together, auto or a number
    ///
    /// By default, as many as make it faster; the result is the same with any number [default: auto].
    #[arg(long, value_name = "N", help_heading = RUN, hide_short_help = true)]
    pub ranks_per_job: Option<String>,
    /// Only describe the data, memory and time of a run
    ///
    /// The memory (bytes), time (seconds) and threads that it needs; can be added to any analysis of an alignment or of trees.
    #[arg(long, alias = "parse", help_heading = RUN)]
    pub check: bool,
    /// True for analyses that search trees.
    #[arg(skip)]
    pub searches: bool,
}

impl RunArgs {
    /// The seed of everything random.
    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or(DEFAULT_SEED)
    }

    /// Those of an analysis that searches trees.
    pub(crate) fn of_search(&self) -> Self {
        RunArgs { searches: true, ..self.clone() }
    }

    /// Their meaning.
    pub(crate) fn read(&self, refusals: &mut Refusals) -> RunOptions {
        let engine = parse_engine(self.backend.as_deref(), self.gpu.as_deref());
        let engine = refusals.or(engine, None);
        let precision = parse_precision(self.gpu_precision.as_deref(), engine, self.searches);
        let (engine, score_precision) = refusals.or(precision, (engine, ScorePrecision::Double));
        RunOptions {
            threads: refusals.or(parse_threads(self.threads.as_deref()), Threads::Fixed(1)),
            memory: refusals.or(parse_memory(self.mem.as_deref()), None),
            engine,
            gpus: refusals.or(parse_gpus(self.gpu.as_deref()), 0),
            score_precision,
            instruction_set: refusals.or(parse_instruction_set(self.simd.as_deref()), None),
            stop: Stop::default(),
            ranks: None,
            ranks_per_job: refusals.or(parse_ranks_per_job(self.ranks_per_job.as_deref()), None),
        }
    }
}
