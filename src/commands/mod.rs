//! One room per analysis: which steps it takes, in which order, and what it says of them. All of them are a [`Command`]. Analyses
//! do not import each other.

pub(crate) mod bootstrap;
mod command;
pub(crate) mod compare;
pub(crate) mod concordance;
pub(crate) mod consensus;
pub(crate) mod converge;
pub(crate) mod distance;
pub(crate) mod evaluate;
pub(crate) mod gpu_selftest;
pub(crate) mod resample;
pub(crate) mod root;
pub(crate) mod sample;
pub(crate) mod search;
pub(crate) mod simulate;
pub(crate) mod start;
pub(crate) mod support;
pub(crate) mod terrace;

pub(crate) use command::Analysis;
pub(crate) use command::Command;
