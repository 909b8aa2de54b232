//! `--support`: how often the splits of a tree occur among other trees.

mod options;
mod run;

pub(crate) use options::WORD;
