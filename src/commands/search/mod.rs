//! `--search`: from every starting tree to its best tree, and the best of them; `--all`: this, replicates, and their support on
//! the best tree.

mod options;
mod run;

pub(crate) use options::{CHECK, WORD};
