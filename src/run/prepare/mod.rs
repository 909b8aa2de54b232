//! From files to data that can be computed on: every fault of every file is found before a run is refused.
//!
//! `load` does it, with `models` (which partition has which) and `matrix_files`, `questions` (models that
//! are to be chosen), `trees`, `invariable` (sites that an ascertainment correction forbids) and `remarks`
//! (what users should know about data that are accepted).

mod invariable;
mod load;
mod matrix_files;
mod models;
mod questions;
mod remarks;
mod trees;

pub(super) use load::{Loaded, load};
pub(super) use remarks::Remarks;
pub(super) use trees::GivenTree;

pub(super) use load::{MAX_PARTITION_FILE, count_with_warning};
pub(super) use models::{ModelChoice, resolve_model, write_models};
pub(super) use trees::{own_taxa, read_forest, read_one_tree, read_topologies};
