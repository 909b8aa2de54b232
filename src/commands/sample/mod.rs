//! `--mcmc`: runs of coupled chains, compared with each other from time to time.

mod check;
mod command;
mod options;
mod plots;
mod posterior;
mod priors;
mod report;
mod run;

pub(crate) use options::WORD;
