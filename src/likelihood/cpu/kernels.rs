//! The kernels as a set of safe functions per instruction set, and the choice between sets.

use super::body::likelihood::{BlockLikelihoods, PatternData};
use super::body::operand::End;
use crate::likelihood::engine::ModelBlock;
use crate::likelihood::engine::layout::BLOCK;

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
        use crate::likelihood::engine::ModelBlock;
        use crate::likelihood::cpu::body;
        use crate::likelihood::cpu::kernels::{Kernels, with_states};
        use crate::likelihood::engine::layout::BLOCK;

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
            body::derivatives::derivatives::<W>(n, data, sumtable, scaler, factors)
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

#[cfg(test)]
mod tests {
    use super::super::select::{all_kernels, select_kernels};
    use super::*;
    use crate::likelihood::engine::layout::{Dims, LANES};
    use crate::rng::{Purpose, Rng, stream};
    use rand::RngExt;

    /// Patterns of a block whose last few are more than a register and less than four.
    const PATTERNS: usize = BLOCK - LANES;

    fn numbers(rng: &mut Rng, len: usize) -> Vec<f64> {
        (0..len).map(|_| rng.random_range(0.01..1.0)).collect()
    }

    fn model(rng: &mut Rng, dims: Dims) -> ModelBlock {
        let states = dims.num_states;
        ModelBlock {
            dims,
            matrix_of_rate: vec![0; dims.num_rates],
            eigenvals: numbers(rng, states).iter().map(|x| -x).collect(),
            eigenvec_columns: numbers(rng, states * states),
            inv_eigenvec_columns: numbers(rng, states * states),
            rates: numbers(rng, dims.num_rates),
            rate_weights: numbers(rng, dims.num_rates),
            weighted_freqs: numbers(rng, dims.row()),
            code_states: (0..dims.num_codes).map(|code| vec![(code % states) as u8]).collect(),
            sumtable_left: Vec::new(),
            sumtable_right: Vec::new(),
            sumtable_left_tip: Vec::new(),
            sumtable_right_tip: Vec::new(),
            indicator: Vec::new(),
        }
    }

    /// Everything that a set computes of two ends, as bits.
    fn results(kernels: &dyn Kernels, dims: Dims, tips: [bool; 2]) -> Vec<u64> {
        let mut rng = stream(1, Purpose::Test, dims.num_rates as u64);
        let model = model(&mut rng, dims);
        let row = PATTERNS * dims.row();
        let clvs = [(); 3].map(|()| numbers(&mut rng, row));
        // So small that every tenth product falls below the threshold.
        let clvs = clvs.map(|clv| -> Vec<f64> {
            let size = |i: usize| if i / dims.row() % 10 == 3 { 1e-60 } else { 1.0 };
            clv.iter().enumerate().map(|(i, x)| x * size(i)).collect()
        });
        let counts = [(); 3].map(|()| -> Vec<u32> {
            (0..PATTERNS * dims.scalers()).map(|_| rng.random_range(0..3)).collect()
        });
        let codes: Vec<_> =
            (0..PATTERNS).map(|_| rng.random_range(0..dims.num_codes) as u16).collect();
        let [weights, mut invariant] = [(); 2].map(|()| numbers(&mut rng, PATTERNS));
        invariant.iter_mut().step_by(3).for_each(|x| *x = 0.0);
        let mut found = vec![0.0; dims.pmatrix()];
        kernels.update_pmatrix(&model, 0.3, &mut found);
        // That one is hardly a P-matrix, and full of zeros.
        let matrix = numbers(&mut rng, dims.pmatrix());
        let mut table = vec![0.0; dims.tip_table()];
        kernels.update_tip_table(&model, &matrix, &mut table);
        let end = |i: usize| match tips[i] {
            true => End::Tip { codes: &codes, table: &table },
            false => End::Inner { clv: &clvs[i], scaler: &counts[i], pmatrix: &matrix },
        };
        let ends = [end(0), end(1)];
        let data = PatternData { weights: &weights, invariant: &invariant };

        found.extend(&table);
        let mut found_counts = Vec::new();
        let (mut out, mut scaler) = (vec![0.0; row], vec![0; PATTERNS * dims.scalers()]);
        kernels.update_partials(&model, PATTERNS, ends, &mut out, &mut scaler);
        found.extend(&out);
        found_counts.extend(&scaler);
        kernels.update_pendant(&model, PATTERNS, ends[1], &mut out, &mut scaler);
        found.extend(&out);
        let mut likelihoods = BlockLikelihoods::default();
        let mut logs = vec![0.0; PATTERNS];
        kernels.edge_likelihoods(&model, PATTERNS, ends, &mut likelihoods);
        found.push(kernels.sum_logs(PATTERNS, data, &likelihoods, Some(&mut logs)));
        found.extend(&logs);
        let pendant = (&clvs[2][..], &counts[2][..]);
        kernels.insertion_likelihoods(&model, PATTERNS, pendant, ends, &mut likelihoods);
        found.push(kernels.sum_logs(PATTERNS, data, &likelihoods, Some(&mut logs)));
        found.extend(&logs);
        let mut sumtable = vec![0.0; BLOCK * dims.row()];
        let (mut scaler, mut factors) = ([0; BLOCK], vec![[0.0; 3]; dims.row()]);
        kernels.update_sumtable(&model, PATTERNS, &invariant, ends, &mut sumtable, &mut scaler);
        kernels.update_derivative_factors(&model, 0.3, &mut factors);
        found.extend(&sumtable);
        found.extend(kernels.derivatives(PATTERNS, data, &sumtable, &scaler, &factors));
        found_counts.extend(scaler);
        let bits = found.iter().map(|x| x.to_bits());
        bits.chain(found_counts.into_iter().map(u64::from)).collect()
    }

    #[test]
    fn all_sets_give_the_same_bits_for_any_number_of_rates() {
        let scalar = select_kernels(Some("scalar")).unwrap();
        for kernels in all_kernels() {
            for (num_states, num_rates) in
                [(4, 1), (4, 2), (4, 3), (4, 4), (4, 6), (4, 8), (20, 1), (20, 4), (64, 3)]
            {
                for rate_scalers in [false, true] {
                    let dims = Dims { num_states, num_rates, num_codes: 9, rate_scalers };
                    for tips in [[false; 2], [true, false], [false, true], [true; 2]] {
                        let found = results(kernels.as_ref(), dims, tips);
                        let want = results(scalar.as_ref(), dims, tips);
                        assert!(found == want, "{}: {dims:?} {tips:?}", kernels.name());
                    }
                }
            }
        }
    }
}
