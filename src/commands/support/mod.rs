//! `--support`: how often the splits of a tree occur among other trees.

mod run;

pub(crate) use run::Support;
