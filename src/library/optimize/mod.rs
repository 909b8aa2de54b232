//! Maximum-likelihood optimisation of model parameters and branch lengths on a fixed topology.

mod alternatives;
mod at_lengths;
mod class_weights;
mod coordinates;
mod exchange_slopes;
mod learnt;
mod linked_rates;
mod optimisation;
mod params;
mod rounds;
#[cfg(test)]
mod rounds_tests;
mod shifts;
mod starts;

pub use optimisation::{optimize, optimize_from_several_starts};
pub use rounds::OptimizeOptions;

pub use at_lengths::{Optimum, measure_optimum, optimize_at_lengths};
pub use optimisation::{Goal, Optimisation, OptimizePlan, OptimizeState, evaluate_anew};
pub use params::{ParameterAtBound, parameters_at_bounds};
pub use starts::approach_scale;
