//! `--search`: from every starting tree to its best tree, and the best of them; `--all`: this, replicates, and their support on
//! the best tree.

mod run;

pub(crate) use run::Search;
