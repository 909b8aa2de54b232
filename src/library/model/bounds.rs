//! Limits and start values of the model parameters, in one table.
//!
//! | parameter | optimised within | start | given in braces |
//! |---|---|---|---|
//! | substitution rate (GT = 1) | [`RATE_MIN`], [`RATE_MAX`] | [`RATE_START`], transitions [`TRANSITION_RATE_START`] | [`FIXED_RATE_MIN`] to [`FIXED_RATE_MAX`] |
//! | frequency | at least [`FREQ_MIN`] | equal | raised to [`FREQ_FLOOR`] |
//! | alpha | [`ALPHA_MIN`], [`ALPHA_MAX`] | [`ALPHA_START`] | the same limits |
//! | proportion of invariant sites | [`PINV_MIN`], [`PINV_MAX`] | [`PINV_START`] | the same limits |
//! | kappa | [`CODON_MIN`], [`CODON_MAX`] | [`KAPPA_START`] | the same limits |
//! | omega | [`CODON_MIN`], [`CODON_MAX`] | [`OMEGA_START`] | the same limits |
//! | free rate (last = 1) | [`FREE_RATE_MIN`] and its inverse | a gamma distribution's | [`FIXED_RATE_MIN`] to [`FIXED_RATE_MAX`] |
//! | weight of a free rate (last = 1) | [`FREE_WEIGHT_MIN`] and its inverse | equal | the same limits |
//! | weight of a class of a mixture | at least [`CLASS_WEIGHT_MIN`] | published | 0 or more |
//! | gamma categories | | [`GAMMA_CATS`] | 2 to [`GAMMA_CATS_MAX`] |

/// Smallest substitution rate an optimiser may choose, relative to the reference rate.
pub const RATE_MIN: f64 = 1e-4;
/// Largest substitution rate an optimiser may choose, relative to the reference rate.
pub const RATE_MAX: f64 = 1e6;
/// Substitution rate an optimisation starts from.
pub const RATE_START: f64 = 1.0;
/// Rate of a DNA model's transitions an optimisation starts from.
pub const TRANSITION_RATE_START: f64 = 3.0;
/// Smallest substitution rate a user may fix, relative to the reference rate.
pub const FIXED_RATE_MIN: f64 = 1e-10;
/// Largest substitution rate a user may fix, relative to the reference rate.
pub const FIXED_RATE_MAX: f64 = 1e10;
/// Smallest state frequency that counting or an optimiser may give.
pub const FREQ_MIN: f64 = 1e-4;
/// Smallest state frequency at all; lower ones (zero, in braces) are raised to it, because the
/// eigensystem divides by their square roots.
pub const FREQ_FLOOR: f64 = 1e-10;
/// Smallest shape of the gamma distribution.
pub const ALPHA_MIN: f64 = 0.02;
/// Largest shape of the gamma distribution; rates are practically equal there.
pub const ALPHA_MAX: f64 = 1000.0;
/// Shape an optimisation starts from.
pub const ALPHA_START: f64 = 1.0;
/// Smallest kappa and omega of codon models, as in IQ-TREE.
pub const CODON_MIN: f64 = 1e-3;
/// Largest kappa and omega of codon models; IQ-TREE's 50 is too small for recent divergences.
pub const CODON_MAX: f64 = 999.0;
/// Kappa an optimisation starts from.
pub const KAPPA_START: f64 = 2.0;
/// Omega an optimisation starts from.
pub const OMEGA_START: f64 = 0.2;
/// Smallest free rate, and the inverse of the largest, relative to that of the last category.
pub const FREE_RATE_MIN: f64 = 1e-6;
/// Smallest weight of a free rate, and the inverse of the largest, relative to the last category's.
pub const FREE_WEIGHT_MIN: f64 = 1e-4;
/// Smallest weight of a class of a mixture that is estimated.
pub const CLASS_WEIGHT_MIN: f64 = 1e-12;
/// Free rates when a model string gives no number.
pub const FREE_RATE_CATS: usize = 4;
/// Smallest proportion of invariant sites.
pub const PINV_MIN: f64 = 0.0;
/// Largest proportion of invariant sites.
pub const PINV_MAX: f64 = 0.99;
/// Proportion of invariant sites an optimisation starts from.
pub const PINV_START: f64 = 0.1;
/// Gamma categories when a model string gives no number.
pub const GAMMA_CATS: usize = 4;
/// Most gamma categories.
pub const GAMMA_CATS_MAX: usize = 64;
/// Most rate categories of all classes of a mixture together.
pub const ALL_CATS_MAX: usize = 1024;
