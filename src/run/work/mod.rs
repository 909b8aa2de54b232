//! What commands work with: threads and kernels (`machine`), estimates of memory and time (`cost`), independent
//! jobs (`jobs`), messages and results (`record`), and all of it together with the data (`session`).

mod cost;
mod jobs;
mod machine;
mod record;
mod session;

pub(super) use cost::{Cost, format_bytes, format_seconds};
pub(super) use jobs::Jobs;
pub(super) use machine::{Machine, useful_threads, with_threads};
pub(super) use record::RunRecord;
pub(super) use session::{Session, Setup, describe_data, warn_of_each};
