//! Making the likelihood of a fixed topology as large as it gets: model parameters and branch lengths.

mod params;
mod rates;
mod rounds;
mod starts;

pub use params::{ParameterAtBound, parameters_at_bounds};
pub use rounds::{OptimizeOptions, optimize};
pub use starts::{approach_scale, conclude, optimize_from_several_starts};
