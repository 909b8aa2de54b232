//! The kernels as a set of safe functions per instruction set, and the choice between sets.

use super::super::layout::BLOCK;
use super::body::likelihood::{BlockLikelihoods, PatternData};
use super::body::operand::End;
use super::body::pmatrix::ModelBlock;

/// One instantiation of all kernels. Every set gives the same bits; see `body` for the formulas.
pub trait Kernels: Send + Sync {
    /// Name as `--simd` takes it.
    fn name(&self) -> &'static str;
    /// P(t), `[rate][column][row]`.
    fn update_pmatrix(&self, model: &ModelBlock, t: f64, out: &mut [f64]);
    /// Tip table of a matrix.
    fn update_tip_table(&self, model: &ModelBlock, pmatrix: &[f64], out: &mut [f64]);
    /// One CLV block from two children.
    fn update_partials(
        &self,
        model: &ModelBlock,
        num_patterns: usize,
        ends: [End<'_>; 2],
        out: &mut [f64],
        out_scaler: &mut [u32],
    );
    /// A pruned subtree's vector times the weighted frequencies.
    fn update_pendant(
        &self,
        model: &ModelBlock,
        num_patterns: usize,
        subtree: End<'_>,
        out: &mut [f64],
        out_scaler: &mut [u32],
    );
    /// Likelihoods at a root edge.
    fn edge_likelihoods(
        &self,
        model: &ModelBlock,
        num_patterns: usize,
        ends: [End<'_>; 2],
        out: &mut BlockLikelihoods,
    );
    /// Likelihoods of an insertion.
    fn insertion_likelihoods(
        &self,
        model: &ModelBlock,
        num_patterns: usize,
        pendant: (&[f64], &[u32]),
        ends: [End<'_>; 2],
        out: &mut BlockLikelihoods,
    );
    /// Σ weight·ln L of a block.
    fn sum_logs(
        &self,
        num_patterns: usize,
        data: PatternData<'_>,
        likelihoods: &BlockLikelihoods,
        per_pattern: Option<&mut [f64]>,
    ) -> f64;
    /// Sumtable of an edge.
    fn update_sumtable(
        &self,
        model: &ModelBlock,
        num_patterns: usize,
        invariant: &[f64],
        ends: [End<'_>; 2],
        out: &mut [f64],
        out_scaler: &mut [u32; BLOCK],
    );
    /// Factors of a sumtable at a length.
    fn update_derivative_factors(&self, model: &ModelBlock, t: f64, out: &mut [[f64; 3]]);
    /// Value and two derivatives from a sumtable.
    fn derivatives(
        &self,
        num_patterns: usize,
        data: PatternData<'_>,
        sumtable: &[f64],
        scaler: &[u32; BLOCK],
        factors: &[[f64; 3]],
    ) -> [f64; 3];
}

/// Calls a body with the model's number of states, one of `layout::STATE_COUNTS`, as a constant, and with
/// the set's numbers per register where it is named.
macro_rules! with_states {
    ($model:expr $(; $set:ident)?, $($body:ident)::+ ( $($arg:expr),* $(,)? )) => {
        match $model.dims.num_states {
            4 => $($body)::+::<4 $(, $set)?>($($arg),*),
            20 => $($body)::+::<20 $(, $set)?>($($arg),*),
            64 => $($body)::+::<64 $(, $set)?>($($arg),*),
            other => unreachable!("no kernel for {other} states"),
        }
    };
}
pub(super) use with_states;

/// Implements [`Kernels`] for `$set` by compiling every body under `$feature`.
macro_rules! instantiate_kernels {
    ($set:ident, $name:literal, $width:literal, $(#[$feature:meta])*) => {
        use crate::likelihood::cpu::body::likelihood::{BlockLikelihoods, PatternData};
        use crate::likelihood::cpu::body::operand::End;
        use crate::likelihood::cpu::body::pmatrix::ModelBlock;
        use crate::likelihood::cpu::body;
        use crate::likelihood::cpu::kernels::{Kernels, with_states};
        use crate::likelihood::layout::BLOCK;

        /// Numbers in a register.
        const W: usize = $width;

        $(#[$feature])*
        fn update_pmatrix(model: &ModelBlock, t: f64, out: &mut [f64]) {
            with_states!(model; W, body::pmatrix::update_pmatrix(model, t, out));
        }
        $(#[$feature])*
        fn update_tip_table(model: &ModelBlock, pmatrix: &[f64], out: &mut [f64]) {
            with_states!(model, body::pmatrix::update_tip_table(model, pmatrix, out));
        }
        $(#[$feature])*
        fn update_partials(
            model: &ModelBlock, n: usize, [a, b]: [End<'_>; 2], out: &mut [f64], scaler: &mut [u32],
        ) {
            with_states!(model; W, body::partials::update_partials(model.dims, n, a, b, out, scaler));
        }
        $(#[$feature])*
        fn update_pendant(
            model: &ModelBlock, n: usize, subtree: End<'_>, out: &mut [f64], scaler: &mut [u32],
        ) {
            with_states!(model; W, body::likelihood::update_pendant(model, n, subtree, out, scaler));
        }
        $(#[$feature])*
        fn edge_likelihoods(
            model: &ModelBlock, n: usize, [a, b]: [End<'_>; 2], out: &mut BlockLikelihoods,
        ) {
            with_states!(model; W, body::likelihood::edge_likelihoods(model, n, a, b, out));
        }
        $(#[$feature])*
        fn insertion_likelihoods(
            model: &ModelBlock, n: usize, pendant: (&[f64], &[u32]), [a, b]: [End<'_>; 2],
            out: &mut BlockLikelihoods,
        ) {
            with_states!(
                model; W, body::likelihood::insertion_likelihoods(model.dims, n, pendant, a, b, out)
            );
        }
        $(#[$feature])*
        fn sum_logs(
            n: usize, data: PatternData<'_>, likelihoods: &BlockLikelihoods,
            per_pattern: Option<&mut [f64]>,
        ) -> f64 {
            body::likelihood::sum_logs(n, data, likelihoods, per_pattern)
        }
        $(#[$feature])*
        fn update_sumtable(
            model: &ModelBlock, n: usize, invariant: &[f64], [a, b]: [End<'_>; 2], out: &mut [f64],
            scaler: &mut [u32; BLOCK],
        ) {
            with_states!(
                model; W, body::derivatives::update_sumtable(model, n, invariant, a, b, out, scaler)
            );
        }
        $(#[$feature])*
        fn update_derivative_factors(model: &ModelBlock, t: f64, out: &mut [[f64; 3]]) {
            with_states!(model, body::pmatrix::update_derivative_factors(model, t, out));
        }
        $(#[$feature])*
        fn derivatives(
            n: usize, data: PatternData<'_>, sumtable: &[f64], scaler: &[u32; BLOCK],
            factors: &[[f64; 3]],
        ) -> [f64; 3] {
            body::derivatives::derivatives(n, data, sumtable, scaler, factors)
        }

        // SAFETY (every call below): the functions above are unsafe to call only for the instruction
        // set they are compiled for, and a value of this type exists only where `detect` found it.
        #[allow(unsafe_code, unused_unsafe, clippy::undocumented_unsafe_blocks)]
        impl Kernels for $set {
            fn name(&self) -> &'static str {
                $name
            }
            fn update_pmatrix(&self, model: &ModelBlock, t: f64, out: &mut [f64]) {
                unsafe { update_pmatrix(model, t, out) }
            }
            fn update_tip_table(&self, model: &ModelBlock, pmatrix: &[f64], out: &mut [f64]) {
                unsafe { update_tip_table(model, pmatrix, out) }
            }
            fn update_partials(
                &self, model: &ModelBlock, n: usize, ends: [End<'_>; 2], out: &mut [f64],
                scaler: &mut [u32],
            ) {
                unsafe { update_partials(model, n, ends, out, scaler) }
            }
            fn update_pendant(
                &self, model: &ModelBlock, n: usize, subtree: End<'_>, out: &mut [f64],
                scaler: &mut [u32],
            ) {
                unsafe { update_pendant(model, n, subtree, out, scaler) }
            }
            fn edge_likelihoods(
                &self, model: &ModelBlock, n: usize, ends: [End<'_>; 2], out: &mut BlockLikelihoods,
            ) {
                unsafe { edge_likelihoods(model, n, ends, out) }
            }
            fn insertion_likelihoods(
                &self, model: &ModelBlock, n: usize, pendant: (&[f64], &[u32]), ends: [End<'_>; 2],
                out: &mut BlockLikelihoods,
            ) {
                unsafe { insertion_likelihoods(model, n, pendant, ends, out) }
            }
            fn sum_logs(
                &self, n: usize, data: PatternData<'_>, likelihoods: &BlockLikelihoods,
                per_pattern: Option<&mut [f64]>,
            ) -> f64 {
                unsafe { sum_logs(n, data, likelihoods, per_pattern) }
            }
            fn update_sumtable(
                &self, model: &ModelBlock, n: usize, invariant: &[f64], ends: [End<'_>; 2],
                out: &mut [f64], scaler: &mut [u32; BLOCK],
            ) {
                unsafe { update_sumtable(model, n, invariant, ends, out, scaler) }
            }
            fn update_derivative_factors(&self, model: &ModelBlock, t: f64, out: &mut [[f64; 3]]) {
                unsafe { update_derivative_factors(model, t, out) }
            }
            fn derivatives(
                &self, n: usize, data: PatternData<'_>, sumtable: &[f64], scaler: &[u32; BLOCK],
                factors: &[[f64; 3]],
            ) -> [f64; 3] {
                unsafe { derivatives(n, data, sumtable, scaler, factors) }
            }
        }
    };
}
pub(super) use instantiate_kernels;
