//! `--gcf`, `--scf`: how many gene trees, and how many sites, agree with the branches of a tree.

mod options;
mod report;
mod run;
mod tables;

pub(crate) use options::WORD;
