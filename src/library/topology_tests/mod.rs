//! Tests of topologies: which of several trees the data do not reject, from the log-likelihoods of their sites.
//!
//! All tests resample the log-likelihoods of sites (RELL; Kishino, Miyata & Hasegawa 1990, J. Mol. Evol. 31:151), over
//! all sites of all partitions. `kind` has the tests and their sources, `sites` the data, `resample` the resampling,
//! `observed` what the trees' own log-likelihoods say, `tally` what replicates are counted for, `multiscale` the fit of
//! the approximately unbiased test, and `verdicts` puts it together.

mod kind;
mod multiscale;
#[cfg(test)]
mod naive_tests;
mod observed;
mod resample;
mod sites;
mod tally;
mod verdicts;

pub use kind::TopologyTest;
pub use sites::SiteLikelihoods;
pub use verdicts::{Verdict, test_topologies};

/// Number of RELL replicates if none is given.
pub const DEFAULT_RELL_REPLICATES: usize = 10_000;
