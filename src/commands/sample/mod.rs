//! `--mcmc`: runs of coupled chains, compared with each other from time to time.

mod check;
mod command;
mod plots;
mod posterior;
mod run;

pub(crate) use command::Sample;
