//! Bayesian sampling of trees, branch lengths and models: Metropolis-coupled Markov chain Monte Carlo (Geyer 1991;
//! Altekar et al. 2004, Bioinformatics 20:407).
//!
//! | file | content |
//! |---|---|
//! | `plan` | [`SamplingPlan`]: what a user asks for |
//! | `options` | [`SamplerOptions`]: how a run samples |
//! | `priors` | [`Priors`]: prior densities, named like those of MrBayes |
//! | `brlen_prior` | those of branch lengths |
//! | `lengths` | the sets of branch lengths of a chain |
//! | `parameters` | [`Parameter`]: what is sampled besides the tree, its values and names |
//! | `chain` | a chain: its state, also as a plain value |
//! | `step` | one step of a chain: a proposal that is accepted or taken back |
//! | `proposal_context` | what proposals are made with |
//! | `moves` | the kinds of proposals, and those of parameters, with their Hastings ratios |
//! | `length_moves` | the proposals of branch lengths |
//! | `topology_moves` | the proposals that change the topology |
//! | `conflicts` | branches that the data give up readily, at which the latter look first |
//! | `seen_splits` | splits that were seen in the adaptation, which lead there, too |
//! | `guided_spr` | those of them that look for promising places of a subtree |
//! | `guided_tbr` | and for promising pairs of places, on both sides of a branch |
//! | `reference` | what is learned of the parameters of a model, and the proposal that is made with it |
//! | `draws` | random numbers with other than uniform distributions |
//! | `proposal` | what a proposal has changed, and what takes it back |
//! | `tuning` | adaptive tuning of proposals and temperatures during the burn-in |
//! | `coupled` | [`CoupledRun`]: heated chains that swap, and what the cold one visits |
//! | `chain_threads` | the steps of all chains between two barriers, on several threads |
//! | `stones` | [`SteppingStones`]: the marginal likelihood |
//! | `series` | effective sample size and potential scale reduction of a series of numbers |
//! | `posterior` | [`Posterior`]: frequencies of splits and topologies, and how well runs agree |
//!
//! Every chain has a random stream of its own, and barriers are at fixed generations, so that the bits of a run depend on nothing
//! but data, options and seed.

mod brlen_prior;
#[cfg(test)]
mod calibration_tests;
mod chain;
mod chain_threads;
mod conflicts;
mod coupled;
mod draws;
#[cfg(test)]
mod exactness_tests;
mod guided_spr;
mod guided_tbr;
mod length_moves;
mod lengths;
mod moves;
mod options;
mod parameters;
mod plan;
mod posterior;
#[cfg(test)]
mod prior_tests;
mod priors;
mod proposal;
mod proposal_context;
mod reference;
mod seen_splits;
mod series;
mod step;
mod stones;
#[cfg(test)]
mod tests;
mod topology_moves;
mod tuning;

pub use brlen_prior::BrlenPrior;
pub use coupled::{CoupledRun, RunState, Sample};
pub use options::SamplerOptions;
pub use parameters::{
    Parameter, admit_parameters, columns, list_parameters, priors_without_parameters,
};
pub use plan::{DEFAULT_GENERATIONS, SamplingPlan, StopRule};
pub use posterior::{Posterior, SplitSummary};
pub use priors::{NumberPrior, Priors, SharesPrior};
pub use series::{effective_sample_size, potential_scale_reduction};
pub use stones::{SteppingStones, StonesState};
