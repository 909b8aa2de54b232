//! What commands work with: threads and kernels (`machine`), a calibration (`calibration`) and estimates of memory and time (`cost`), distances on cards (`pair_cards`), independent
//! jobs (`jobs`) and what is kept of them in a checkpoint (`desk`, `keeper`, `identity`; `optimize` for optimisations), signals (`interrupt`), messages and results (`record`), and all of it together with the data (`session`).

mod calibration;
mod cost;
mod desk;
mod identity;
pub(crate) mod interrupt;
mod jobs;
mod keeper;
mod machine;
mod optimize;
mod pair_cards;
mod record;
mod session;

pub(super) use calibration::{Calibration, GAPS, first_tree};
pub(super) use cost::{Cost, format_bytes, format_seconds};
pub(super) use desk::{Desk, run_kept};
pub(super) use jobs::Jobs;
pub(super) use machine::{
    Machine, Shares, allowed_threads, thread_pool, useful_threads, with_threads,
};
pub(super) use optimize::optimize_kept;
pub(super) use pair_cards::compute_on_cards;
pub(super) use record::RunRecord;
pub(super) use session::{Session, Setup, describe_data, warn_of_each};
