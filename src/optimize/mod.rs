//! Making the likelihood of a fixed topology as large as it gets: model parameters and branch lengths.

mod params;
mod rounds;

pub use params::{ParameterAtBound, parameters_at_bounds};
pub use rounds::{OptimizeOptions, optimize, optimize_from_two_scales, restart_parameters};
