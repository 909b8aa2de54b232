//! `--dist`: distances between the sequences of an alignment, and trees of distances.

pub(crate) mod check;
mod matrix;
mod order;
mod run;
mod sequences;

pub(crate) use run::distances;
