//! All instruction sets give the same bits; elementary functions, and how patterns are laid out in blocks. A binary of its own
//! (not unit tests), so that the kernels are not compiled a second time for it, which takes half a minute.

#![allow(missing_docs)]

use mlsearch_kernels::body::likelihood::{BlockLikelihoods, PatternData};
use mlsearch_kernels::body::operand::End;
use mlsearch_kernels::elementary::{exp_minus_one, ln};
use mlsearch_kernels::layout::{BLOCK, Dims, LANES, block_lens};
use mlsearch_kernels::{Kernels, ModelBlock, all_kernels};
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
    let codes: Vec<_> = (0..PATTERNS).map(|_| rng.random_range(0..dims.num_codes) as u16).collect();
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
        Classes => {
            End::Classes { classes: &classes, table: &class_table, scaler: Some(&repeated_counts) }
        }
    };
    let ends = [end(0), end(1)];
    // No matrix is applied to the first end of an edge.
    let root = match ends[0] {
        End::Classes { classes, scaler, .. } => End::Classes { classes, table: &clvs[0], scaler },
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
    let ratios = numbers(&mut rng, PATTERNS * dims.num_rates);
    let mut sums = numbers(&mut rng, dims.pmatrix());
    let plain = |end| match end {
        End::Classes { classes, scaler, .. } => End::Classes { classes, table: &clvs[0], scaler },
        other => other,
    };
    kernels.add_pair_sums(&model, PATTERNS, &ratios, ends.map(plain), &mut sums);
    found.extend(&sums);
    let bits = found.iter().map(|x| x.to_bits());
    bits.chain(found_counts.into_iter().map(u64::from)).collect()
}

/// All numbers of states, and of rates with their ways of being combined.
fn all_dims() -> Vec<Dims> {
    let few = [(4, 1), (4, 2), (4, 3), (4, 4), (4, 6), (4, 8), (20, 1), (20, 4), (64, 3)];
    // Rows that are processed in groups.
    let many = [(4, 18), (20, 19), (64, 10)];
    let dims = |(num_states, num_rates)| {
        [false, true].map(|rate_scalers| Dims { num_states, num_rates, num_codes: 9, rate_scalers })
    };
    few.into_iter().chain(many).flat_map(dims).collect()
}

#[test]
fn all_sets_give_the_same_bits_for_any_number_of_rates() {
    let all = all_kernels();
    let scalar = all.last().expect("the set that every machine has");
    let kinds = [Tip, Inner, Classes];
    for kernels in &all {
        for dims in all_dims() {
            for kinds in kinds.into_iter().flat_map(|a| kinds.map(|b| [a, b])) {
                let found = results(kernels.as_ref(), dims, kinds);
                let want = results(scalar.as_ref(), dims, kinds);
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

fn close(got: f64, want: f64, relative: f64) -> bool {
    (got - want).abs() <= relative * want.abs()
}

#[test]
fn ln_is_right_to_an_ulp_or_two() {
    let mut x = 1e-300;
    while x < 1e300 {
        let lanes = [x, x * 1.1, x * 1.3, x * 1.414, x * 1.4143, x * 1.7, x * 1.99, x * 0.7072];
        for (got, x) in ln(&lanes).iter().zip(lanes) {
            assert!(close(*got, libm::log(x), 4.5e-16), "ln({x}) = {got}");
        }
        x *= 1.37;
    }
    assert_eq!(ln(&[1.0; 8])[0], 0.0);
    assert_eq!(ln(&[0.0; 8])[3], f64::NEG_INFINITY);
}

#[test]
fn exp_minus_one_is_right_near_zero_and_far_away() {
    let mut x = 1e-18;
    while x < 700.0 {
        let lanes = [-x, x, -0.9 * x, -1.1 * x, 0.8 * x, -0.5 * x, -0.0, 0.0];
        for (got, x) in exp_minus_one(&lanes).iter().zip(lanes) {
            assert!(close(*got, libm::expm1(x), 1e-15), "expm1({x}) = {got}");
        }
        x *= 1.21;
    }
    assert_eq!(exp_minus_one(&[-1e9; 8])[0], -1.0);
}

#[test]
fn blocks_cover_all_patterns_in_whole_lanes() {
    assert_eq!(block_lens(0), Vec::<usize>::new());
    assert_eq!(block_lens(1), [8]);
    assert_eq!(block_lens(128), [128]);
    assert_eq!(block_lens(300), [128, 128, 48]);
}
