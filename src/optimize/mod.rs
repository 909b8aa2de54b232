//! Making the likelihood of a fixed topology as large as it gets: model parameters and branch lengths.

mod params;
mod rates;
mod rounds;
mod starts;

pub use rounds::{OptimizeOptions, optimize};
pub use starts::optimize_from_several_starts;

pub(crate) use params::{ParameterAtBound, parameters_at_bounds};
pub(crate) use starts::{approach_scale, conclude};
