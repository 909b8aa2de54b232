//! `--terrace`: the trees that give every partition the same tree as the given one.

mod run;

pub(crate) use run::{DEFAULT_TREES, Terrace};
