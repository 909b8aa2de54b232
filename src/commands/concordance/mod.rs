//! `--gcf`, `--scf`: how many gene trees, and how many sites, agree with the branches of a tree.

mod options;
mod run;

pub(crate) use options::WORD;
