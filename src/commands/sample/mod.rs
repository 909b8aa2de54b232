//! `--mcmc`: runs of coupled chains, compared with each other from time to time.

mod plots;
mod posterior;
mod run;

pub(crate) use run::{ChainCost, measure_chain, sample, share_out};
