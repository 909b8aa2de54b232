//! Maximum-likelihood optimisation of model parameters and branch lengths on a fixed topology.

mod alternatives;
mod coordinates;
mod optimisation;
mod params;
mod rounds;
#[cfg(test)]
mod rounds_tests;
mod shifts;
mod starts;

pub use optimisation::{optimize, optimize_from_several_starts};
pub use rounds::OptimizeOptions;

pub(crate) use optimisation::{Goal, Optimisation, OptimizePlan, OptimizeState, evaluate_anew};
pub(crate) use params::{ParameterAtBound, parameters_at_bounds};
pub(crate) use starts::approach_scale;
