//! `--gcf`, `--scf`: how many gene trees, and how many sites, agree with the branches of a tree.

mod run;
mod tables;

pub(crate) use run::{Concordance, DEFAULT_QUARTETS};
