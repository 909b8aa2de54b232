//! Maximum-likelihood optimisation of model parameters and branch lengths on a fixed topology.

mod coordinates;
mod optimisation;
mod params;
mod rates;
mod rounds;
mod starts;

pub use rounds::{OptimizeOptions, optimize};
pub use starts::optimize_from_several_starts;

pub(crate) use optimisation::{Goal, Optimisation, OptimizePlan, OptimizeState};
pub(crate) use params::{ParameterAtBound, parameters_at_bounds};
pub(crate) use starts::approach_scale;
