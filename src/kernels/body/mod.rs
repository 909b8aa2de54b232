//! The kernels, written once for any number of states and any instruction set.
//!
//! Every function here is `#[inline(always)]` and generic over the number of states, so that `scalar`,
//! `avx2` and `avx512` compile it for their instruction set. The compiler never reorders floating-point
//! operations, so all give the same bits.
//!
//! The files `..._of_pattern` are for patterns that have a rate matrix each.
//!
//! Names of constants: `S` states, `W` numbers in a register, `V` numbers in a vector (the states of V/S
//! successive rates), `T` patterns in a tile. Each file begins with its kernels in pseudo-code and a
//! numbered list of optimisations ("tricks"), to which comments refer as `trick 2`, or `partials, trick 2` in
//! another file.

pub mod derivatives;
pub mod derivatives_of_pattern;
pub mod likelihood;
pub mod likelihood_of_pattern;
pub mod operand;
pub mod operand_of_pattern;
pub mod partials;
pub mod partials_of_pattern;
pub mod pmatrix;
pub mod pmatrix_gradient;
pub mod scalers;
