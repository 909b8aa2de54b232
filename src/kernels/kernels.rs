//! The kernels as a set of safe functions per instruction set.
//!
//! `for_each_kernel!` lists every kernel once. From the list come the trait [`Kernels`] and, for each
//! instruction set, its implementation, which compiles the bodies of `body` for that set.

use super::body::derivatives::RateRows;
use super::body::likelihood::{BlockLikelihoods, PatternData};
use super::body::operand::End;
use super::body::operand_of_pattern::{PatternEnd, PatternMatrix};
use crate::ModelBlock;
use crate::layout::BLOCK;

/// Passes its arguments, followed by the list of all kernels, to another macro.
///
/// A line `MODULE::NAME(ARGUMENTS);` is the function `NAME` in `body/MODULE.rs` with these arguments and,
/// as its last constant, the number of `f64` in a register. If `<S>` follows the name, the first argument is a
/// model, and its number of states is the first constant.
macro_rules! for_each_kernel {
    ($receiver:ident! { $($context:tt)* }) => {
        $receiver! {
            $($context)*

            /// P(t), `[rate][column][row]`.
            pmatrix::update_pmatrix<S>(model: &ModelBlock, t: f64, out: &mut [f64]);

            /// Tip table of a P-matrix, `[code][rate][state]`.
            pmatrix::update_tip_table<S>(model: &ModelBlock, pmatrix: &[f64], out: &mut [f64]);

            /// Factors of a sumtable at branch length `t`, for the likelihood and its two derivatives.
            pmatrix::update_derivative_factors<S>(model: &ModelBlock, t: f64, out: &mut [[f64; 3]]);

            /// One CLV block from two children; true if some scaler count is not 0.
            partials::update_partials<S>(
                model: &ModelBlock,
                num_patterns: usize,
                ends: [End<'_>; 2],
                out: &mut [f64],
                out_scaler: &mut [u32],
            ) -> bool;

            /// Table of a CLV with classes of repeated patterns, `[class][rate][state]`.
            partials::update_class_table<S>(
                model: &ModelBlock,
                num_rows: usize,
                clv: &[f64],
                pmatrix: &[f64],
                out: &mut [f64],
            );

            /// Pendant vector: a pruned subtree's CLV at the insertion point, times weighted frequencies.
            likelihood::update_pendant<S>(
                model: &ModelBlock,
                num_patterns: usize,
                subtree: End<'_>,
                out: &mut [f64],
                out_scaler: &mut [u32],
            );

            /// Likelihood of each pattern at the virtual root.
            likelihood::edge_likelihoods<S>(
                model: &ModelBlock,
                num_patterns: usize,
                ends: [End<'_>; 2],
                out: &mut BlockLikelihoods,
            );

            /// Likelihood of each pattern with a pruned subtree inserted into an edge.
            likelihood::insertion_likelihoods<S>(
                model: &ModelBlock,
                num_patterns: usize,
                pendant: (&[f64], &[u32]),
                ends: [End<'_>; 2],
                out: &mut BlockLikelihoods,
            );

            /// Σ weight·ln L of a block.
            likelihood::sum_logs(
                num_patterns: usize,
                data: PatternData<'_>,
                likelihoods: &BlockLikelihoods,
                per_pattern: Option<&mut [f64]>,
            ) -> f64;

            /// Sumtable of an edge.
            derivatives::update_sumtable<S>(
                model: &ModelBlock,
                num_patterns: usize,
                invariant: &[f64],
                ends: [End<'_>; 2],
                rows: &mut RateRows,
                out: (&mut [f64], &mut [u32; BLOCK]),
            );

            /// Log-likelihood and its first and second derivative, summed over a block, from a sumtable.
            derivatives::derivatives(
                num_patterns: usize,
                data: PatternData<'_>,
                sumtable: &[f64],
                scaler: &[u32; BLOCK],
                factors: &[[f64; 3]],
            ) -> [f64; 3];

            /// Adds sums of products of the states at both ends of an edge: derivatives in its P-matrices.
            pmatrix_gradient::add_pair_sums<S>(
                model: &ModelBlock,
                num_patterns: usize,
                ratios: &[f64],
                ends: [End<'_>; 2],
                sums: &mut [f64],
            );

            /// One row of a CLV, of a pattern with a rate matrix of its own.
            partials_of_pattern::update_row(
                matrix: PatternMatrix<'_>,
                rates: &[f64],
                ends: [PatternEnd<'_>; 2],
                brlens: [f64; 2],
                out: &mut [f64],
                out_scaler: &mut [u32],
            );

            /// The same as numbers of states, times the square roots of the frequencies.
            partials_of_pattern::update_point(
                matrix: PatternMatrix<'_>,
                rates: &[f64],
                ends: [PatternEnd<'_>; 2],
                brlens: [f64; 2],
                out: &mut [f64],
                out_scaler: &mut [u32],
            );

            /// Likelihood of such a pattern at an edge, and its scaler count.
            likelihood_of_pattern::edge_likelihood(
                matrix: PatternMatrix<'_>,
                rates: &[f64],
                rate_weights: &[f64],
                ends: [PatternEnd<'_>; 2],
                brlen: f64,
            ) -> (f64, u32);

            /// Likelihood of such a pattern with a pruned subtree inserted into an edge, and its scaler count.
            likelihood_of_pattern::insertion_likelihood(
                matrix: PatternMatrix<'_>,
                rates: &[f64],
                rate_weights: &[f64],
                pendant: (&[f64], &[u32]),
                ends: [PatternEnd<'_>; 2],
                brlens: [f64; 2],
            ) -> (f64, u32);

            /// Sumtable of such a pattern, and its scaler count.
            derivatives_of_pattern::update_products(
                matrix: PatternMatrix<'_>,
                rate_weights: &[f64],
                ends: [PatternEnd<'_>; 2],
                out: &mut [f64],
            ) -> u32;

            /// Likelihood and its first and second derivative of each pattern of a block, as three columns.
            derivatives_of_pattern::values_of_patterns(
                num_patterns: usize,
                eigenvals: &[f64],
                rates: &[f64],
                products: &[f64],
                t: f64,
                out: &mut [f64],
            );
        }
    };
}
pub(super) use for_each_kernel;

macro_rules! declare_kernels {
    ($(
        $(#[$doc:meta])*
        $module:ident::$kernel:ident $(<$states:ident>)?
            ($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;
    )*) => {
        /// All kernels, compiled for one instruction set. All sets give the same bits; see `body` for the
        /// formulas.
        pub trait Kernels: Send + Sync {
            /// Name of the instruction set as in the option `--simd`.
            fn name(&self) -> &'static str;
            $(
                $(#[$doc])*
                fn $kernel(&self, $($argument: $type),*) $(-> $result)?;
            )*
        }
    };
}
for_each_kernel!(declare_kernels! {});

/// The kernels and a partition's model.
#[derive(Clone, Copy)]
pub struct PartitionKernels<'a> {
    /// The kernels.
    pub kernels: &'a dyn Kernels,
    /// The model.
    pub model: &'a ModelBlock,
}

/// Implements [`Kernels`] for the type `$set` with `$width` numbers in a register. All bodies are compiled
/// with `$attribute`, which enables the instructions whose availability a value of the type proves.
macro_rules! instantiate_kernels {
    ($set:ident, $name:literal, $width:literal, $attribute:meta) => {
        use crate::ModelBlock;
        use crate::body::derivatives::RateRows;
        use crate::body::likelihood::{BlockLikelihoods, PatternData};
        use crate::body::operand::End;
        use crate::body::operand_of_pattern::{PatternEnd, PatternMatrix};
        use crate::kernels::{Kernels, call_body, for_each_kernel, implement_kernels};
        use crate::layout::BLOCK;

        for_each_kernel!(implement_kernels! { $set, $name, $width, $attribute; });
    };
}
pub(super) use instantiate_kernels;

macro_rules! implement_kernels {
    (
        $set:ident, $name:literal, $width:literal, $attribute:meta;
        $(
            $(#[$doc:meta])*
            $module:ident::$kernel:ident $(<$states:ident>)?
                ($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;
        )*
    ) => {
        #[allow(unsafe_code, unused_unsafe)]
        impl Kernels for $set {
            fn name(&self) -> &'static str {
                $name
            }
            $(
                fn $kernel(&self, $($argument: $type),*) $(-> $result)? {
                    #[$attribute]
                    fn compiled($($argument: $type),*) $(-> $result)? {
                        call_body!($width, $module::$kernel $(<$states>)? ($($argument),*))
                    }
                    // SAFETY: calling the function is unsafe only for the instructions that it is compiled
                    // with, and a value of this type exists only where `detect` found them.
                    unsafe { compiled($($argument),*) }
                }
            )*
        }
    };
}
pub(super) use implement_kernels;

/// Calls a body with the model's number of states, one of `layout::STATE_COUNTS`, as a constant.
macro_rules! call_body {
    ($width:literal, $module:ident::$kernel:ident <S> ($model:ident $(, $argument:ident)*)) => {
        match $model.dims.num_states {
            4 => crate::body::$module::$kernel::<4, $width>($model $(, $argument)*),
            20 => crate::body::$module::$kernel::<20, $width>($model $(, $argument)*),
            64 => crate::body::$module::$kernel::<64, $width>($model $(, $argument)*),
            other => unreachable!("no kernel for {other} states"),
        }
    };
    ($width:literal, $module:ident::$kernel:ident ($($argument:ident),*)) => {
        crate::body::$module::$kernel::<$width>($($argument),*)
    };
}
pub(super) use call_body;
