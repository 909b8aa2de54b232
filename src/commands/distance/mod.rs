//! `--dist`: distances between the sequences of an alignment, and trees of distances.

mod check;
mod command;
mod matrix;
mod order;
mod run;
mod sequences;

pub(crate) use command::Distance;
