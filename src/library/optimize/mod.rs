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

pub use optimisation::{Goal, Optimisation, OptimizePlan, OptimizeState, evaluate_anew};
pub use params::{ParameterAtBound, parameters_at_bounds};
pub use starts::approach_scale;
