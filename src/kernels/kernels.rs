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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Dims, LANES};
    use crate::{all_kernels, scalar};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng as Rng;

    /// Number of patterns of a block whose last patterns fill more than one register and less than four.
    const PATTERNS: usize = BLOCK - LANES;

    fn numbers(rng: &mut Rng, len: usize) -> Vec<f64> {
        (0..len).map(|_| rng.random_range(0.01..1.0)).collect()
    }

    fn model(rng: &mut Rng, dims: Dims) -> ModelBlock {
        let states = dims.num_states;
        ModelBlock {
            dims,
            serial: 0,
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

    /// What an end of an edge is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Kind {
        Tip,
        Inner,
        /// One row for several patterns, written once for all of them.
        Classes,
        /// The same, with the row written for each pattern.
        Repeated,
    }
    use Kind::{Classes, Inner, Repeated, Tip};

    /// All results of a set of kernels for two ends, as bits.
    fn results(kernels: &dyn Kernels, dims: Dims, kinds: [Kind; 2]) -> Vec<u64> {
        let mut rng = Rng::seed_from_u64(dims.num_rates as u64);
        let model = model(&mut rng, dims);
        let row = PATTERNS * dims.row();
        let clvs = [(); 3].map(|()| numbers(&mut rng, row));
        // Entries so small that every tenth product is below the threshold.
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
        // The matrix of a random model is not stochastic and has many zeros, so the other kernels get a random one.
        let matrix = numbers(&mut rng, dims.pmatrix());
        let mut table = vec![0.0; dims.tip_table()];
        kernels.update_tip_table(&model, &matrix, &mut table);
        let classes: Vec<u16> = (0..PATTERNS).map(|_| rng.random_range(0..20)).collect();
        let mut class_table = vec![0.0; row];
        let repeated = classes
            .iter()
            .flat_map(|&class| clvs[0][usize::from(class) * dims.row()..][..dims.row()].to_vec());
        let repeated: Vec<f64> = repeated.collect();
        let repeated_counts = classes.iter().flat_map(|&class| {
            counts[0][usize::from(class) * dims.scalers()..][..dims.scalers()].to_vec()
        });
        let repeated_counts: Vec<u32> = repeated_counts.collect();
        kernels.update_class_table(&model, 20, &clvs[0], &matrix, &mut class_table);
        let end = |i: usize| match kinds[i] {
            Tip => End::Tip { codes: &codes, table: &table },
            Inner => End::Inner { clv: &clvs[i], scaler: Some(&counts[i]), pmatrix: &matrix },
            Repeated => {
                let scaler = Some(&repeated_counts[..]);
                End::Inner { clv: &repeated, scaler, pmatrix: &matrix }
            }
            Classes => End::Classes {
                classes: &classes,
                table: &class_table,
                scaler: Some(&repeated_counts),
            },
        };
        let ends = [end(0), end(1)];
        // No matrix is applied to the first end of an edge.
        let root = match ends[0] {
            End::Classes { classes, scaler, .. } => {
                End::Classes { classes, table: &clvs[0], scaler }
            }
            other => other,
        };
        let data = PatternData { weights: &weights, invariant: &invariant };

        found.extend(&table);
        let mut found_counts = Vec::new();
        let (mut out, mut scaler) = (vec![0.0; row], vec![0; PATTERNS * dims.scalers()]);
        let is_scaled = kernels.update_partials(&model, PATTERNS, ends, &mut out, &mut scaler);
        assert_eq!(is_scaled, scaler.iter().any(|count| *count > 0));
        found.extend(&out);
        found_counts.extend(&scaler);
        kernels.update_pendant(&model, PATTERNS, ends[1], &mut out, &mut scaler);
        found.extend(&out);
        let mut likelihoods = BlockLikelihoods::default();
        let mut logs = vec![0.0; PATTERNS];
        kernels.edge_likelihoods(&model, PATTERNS, [root, ends[1]], &mut likelihoods);
        found.push(kernels.sum_logs(PATTERNS, data, &likelihoods, Some(&mut logs)));
        found.extend(&logs);
        let pendant = (&clvs[2][..], &counts[2][..]);
        kernels.insertion_likelihoods(&model, PATTERNS, pendant, ends, &mut likelihoods);
        found.push(kernels.sum_logs(PATTERNS, data, &likelihoods, Some(&mut logs)));
        found.extend(&logs);
        let mut sumtable = vec![0.0; BLOCK * dims.row()];
        let (mut scaler, mut factors) = ([0; BLOCK], vec![[0.0; 3]; dims.row()]);
        let mut rows = [[[0.0; 4]; BLOCK]; 4];
        let out = (&mut sumtable[..], &mut scaler);
        kernels.update_sumtable(&model, PATTERNS, &invariant, ends, &mut rows, out);
        kernels.update_derivative_factors(&model, 0.3, &mut factors);
        found.extend(&sumtable);
        found.extend(kernels.derivatives(PATTERNS, data, &sumtable, &scaler, &factors));
        found_counts.extend(scaler);
        let bits = found.iter().map(|x| x.to_bits());
        bits.chain(found_counts.into_iter().map(u64::from)).collect()
    }

    /// All numbers of states, and of rates with their ways of being combined.
    fn all_dims() -> Vec<Dims> {
        let few = [(4, 1), (4, 2), (4, 3), (4, 4), (4, 6), (4, 8), (20, 1), (20, 4), (64, 3)];
        // Rows that are processed in groups.
        let many = [(4, 18), (20, 19), (64, 10)];
        let dims = |(num_states, num_rates)| {
            [false, true].map(|rate_scalers| Dims {
                num_states,
                num_rates,
                num_codes: 9,
                rate_scalers,
            })
        };
        few.into_iter().chain(many).flat_map(dims).collect()
    }

    #[test]
    fn all_sets_give_the_same_bits_for_any_number_of_rates() {
        let scalar = scalar::Scalar;
        let kinds = [Tip, Inner, Classes];
        for kernels in all_kernels() {
            for dims in all_dims() {
                for kinds in kinds.into_iter().flat_map(|a| kinds.map(|b| [a, b])) {
                    let found = results(kernels.as_ref(), dims, kinds);
                    let want = results(&scalar, dims, kinds);
                    assert!(found == want, "{}: {dims:?} {kinds:?}", kernels.name());
                }
            }
        }
    }

    #[test]
    fn a_row_for_each_class_gives_the_same_bits_as_one_for_each_pattern() {
        for kernels in all_kernels() {
            for dims in all_dims() {
                for other in [Tip, Inner, Classes] {
                    for swapped in [false, true] {
                        let [found, want] = [Classes, Repeated].map(|kind| {
                            let kinds = if swapped { [other, kind] } else { [kind, other] };
                            results(kernels.as_ref(), dims, kinds)
                        });
                        assert!(found == want, "{}: {dims:?} {other:?}", kernels.name());
                    }
                }
            }
        }
    }
}
