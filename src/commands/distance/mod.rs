//! Distances between the sequences of an alignment, and trees of distances.

mod arrangement;
mod check;
mod command;
mod matrix;
mod options;
mod order;
mod plan;
mod run;
mod sequences;

pub(crate) use options::WORD;
