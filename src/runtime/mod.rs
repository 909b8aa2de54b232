//! What analyses stand on while they run: threads (`threads`) and engine (`resources`), a calibration (`calibration`) and estimates of memory and
//! time (`cost`), how jobs divide the threads (`division`), independent jobs (`jobs`, and `shared_jobs` on several ranks, which `use_of_ranks` may put into groups), computations of different sizes (`deal`, on several ranks, too), what each of them works with (`job_context`) and their
//! progress (`jobs_progress`), the file that an interrupted run resumes from (`checkpoint`), signals (`interrupt`), messages and results
//! (`record`), and all of it together with the data (`session`).

mod calibration;
#[doc(hidden)]
pub mod checkpoint;
mod cost;
mod deal;
mod division;
pub(crate) mod interrupt;
mod job_context;
mod jobs;
mod jobs_progress;
mod record;
mod resources;
mod session;
mod shared_jobs;
mod threads;
mod use_of_ranks;

pub(crate) use calibration::{Calibration, GAPS, first_tree};
pub(crate) use checkpoint::Kind;
pub(crate) use checkpoint::file::Checkpoint;
pub(crate) use checkpoint::fingerprint::{hash_of_data, identify_many};
pub(crate) use cost::{Cost, format_bytes, format_seconds, sweeps_of_search};
pub(crate) use deal::{Deal, Dealt, Task};
pub(crate) use job_context::JobContext;
pub(crate) use jobs::Jobs;
pub(crate) use record::RunRecord;
pub(crate) use resources::{Resources, Shares, free_memory};
pub(crate) use session::{Session, Setup, describe_data, warn_of_each};
pub(crate) use shared_jobs::carry_out_on_all;
pub(crate) use threads::{allowed_threads, thread_pool, useful_threads, with_threads};
