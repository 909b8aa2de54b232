//! `--start`: starting trees alone.

mod run;

pub(crate) use run::Start;
