//! How near the kernels come to what the machine allows: GFLOP/s beside a plain loop of fused
//! multiply-adds, GB/s beside a plain copy of as many bytes, all on one core in the same run.
//!
//! Times are the shortest of many, so that other work on the machine counts as little as possible.
//! An addition, a multiplication and a division are one operation, a fused multiply-add two.

use crate::{BENCHES, Fixture, Numbers, Output, assert_like_scalar};
use mlsearch::likelihood::cpu::body::operand::End;
use mlsearch::likelihood::cpu::{Kernels, all_kernels};
use mlsearch::likelihood::engine::layout::{BLOCK, Dims};
use std::hint::black_box;
use std::time::Instant;

/// Operations of a pattern's logarithm and its weighted sum (`elementary::ln`).
const LOG_FLOPS: usize = 32;

/// Bytes of what is gone through once when a CLV update is measured in memory: two children and one
/// parent. More than any last-level cache.
const MEMORY_BYTES: usize = 200 << 20;

/// Operations and bytes (read or written once) of a kernel on one block. Matrices, tables and scaler
/// counts are not counted: they stay in the nearest cache, or are few.
struct Work {
    flops: usize,
    bytes: usize,
}

/// Of the bench of this name; none of those whose work is not per pattern.
fn work(name: &str, dims: Dims) -> Option<Work> {
    let (states, rates) = (dims.num_states, dims.num_rates);
    let vectors = BLOCK * rates;
    // Of one CLV block, in operations (one per number) and in bytes.
    let numbers = vectors * states;
    let clv = 8 * numbers;
    let codes = 2 * BLOCK;
    let product = vectors * states * (2 * states - 1);
    let logs = BLOCK * LOG_FLOPS;
    let (flops, bytes) = match name {
        "partials_tt" => (numbers, 2 * codes + clv),
        "partials_ti" => (product + numbers, codes + 2 * clv),
        "partials_ii" | "derivatives_sumtable" => (2 * product + numbers, 3 * clv),
        "likelihood_edge" => (product + 3 * numbers + logs, 2 * clv),
        "likelihood_insertion" => (2 * product + 3 * numbers + logs, 3 * clv),
        // Value and two derivatives; the ratios of a pattern and their sums.
        "derivatives" => (6 * numbers + logs + 9 * BLOCK, clv),
        _ => return None,
    };
    Some(Work { flops, bytes })
}

/// Prints the report.
pub fn report(fixtures: &[Fixture]) {
    let memory = copy_bandwidth(MEMORY_BYTES);
    println!("\nOne core. Copy in memory: {memory:.1} GB/s (read and written).");
    for kernels in all_kernels() {
        let Some(peak) = fma_peak(kernels.name()) else { continue };
        println!("\n{}: fused multiply-adds {peak:.1} GFLOP/s", kernels.name());
        println!(
            "{:<28} {:>10} {:>9} {:>7} {:>8} {:>9} {:>7}",
            "kernel", "us", "GFLOP/s", "of FMA", "GB/s", "copy", "of copy"
        );
        // Counts per rate are no work that the report knows.
        for fixture in fixtures.iter().filter(|fixture| !fixture.model.dims.rate_scalers) {
            let dims = fixture.model.dims;
            for (name, run) in BENCHES {
                let Some(work) = work(name, dims) else { continue };
                let mut out = assert_like_scalar(name, fixture, kernels.as_ref());
                let time = shortest(200, 20e-6, || {
                    run(black_box(fixture), kernels.as_ref(), black_box(&mut out))
                });
                line(name, dims, time, &work, peak, copy_bandwidth(work.bytes));
            }
            let name = "partials_ii";
            let work = work(name, dims).expect("it has patterns");
            let time = update_in_memory(fixture, kernels.as_ref());
            line(&format!("{name}, memory"), dims, time, &work, peak, memory);
        }
    }
}

fn line(name: &str, dims: Dims, time: f64, work: &Work, peak: f64, copy: f64) {
    let (flops, bytes) = (work.flops as f64 / time / 1e9, work.bytes as f64 / time / 1e9);
    println!(
        "{:<28} {:>10.3} {:>9.1} {:>6.0}% {:>8.1} {:>9.1} {:>6.0}%",
        format!("{:>2} {name}", dims.num_states),
        time * 1e6,
        flops,
        100.0 * flops / peak,
        bytes,
        copy,
        100.0 * bytes / copy
    );
}

/// Seconds of one call: the shortest mean over a batch of at least `batch` seconds.
fn shortest(num_batches: usize, batch: f64, mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    call();
    let calls = (batch / start.elapsed().as_secs_f64().max(1e-9)).ceil().max(1.0) as usize;
    let mut best = f64::MAX;
    for _ in 0..num_batches {
        let start = Instant::now();
        for _ in 0..calls {
            call();
        }
        best = best.min(start.elapsed().as_secs_f64() / calls as f64);
    }
    best
}

/// GB/s of a copy that reads and writes `bytes` together.
fn copy_bandwidth(bytes: usize) -> f64 {
    let [mut from, mut to] = [(); 2].map(|()| Numbers::new(bytes / 16));
    // Pages that nothing was written to are all the same page of zeros.
    from.fill(1.0);
    let batches = if bytes < MEMORY_BYTES { 200 } else { 7 };
    let time = shortest(batches, 20e-6, || {
        black_box(&mut *to).copy_from_slice(black_box(&from));
    });
    bytes as f64 / time / 1e9
}

/// Seconds per block of CLV updates that go through all blocks of a large partition once.
fn update_in_memory(fixture: &Fixture, kernels: &dyn Kernels) -> f64 {
    let block = fixture.model.dims.row() * BLOCK;
    let num_blocks = MEMORY_BYTES / 24 / block;
    let [first, second, mut parents] = [(); 3].map(|()| Numbers::new(num_blocks * block));
    let mut children = [first, second];
    for (children, clv) in children.iter_mut().zip(&fixture.clvs) {
        children.chunks_exact_mut(block).for_each(|child| child.copy_from_slice(&clv.numbers));
    }
    let mut counts = vec![0; BLOCK];
    let time = shortest(7, 0.0, || {
        for (i, parent) in parents.chunks_exact_mut(block).enumerate() {
            let end = |at: usize| End::Inner {
                clv: &children[at][i * block..(i + 1) * block],
                scaler: Some(&fixture.clvs[at].counts),
                pmatrix: &fixture.pmatrices[at],
            };
            kernels.update_partials(&fixture.model, BLOCK, [end(0), end(1)], parent, &mut counts);
        }
    });
    let mut want = Output::new(&fixture.model);
    want.update_clv(fixture, kernels, [fixture.inner(0, 0), fixture.inner(1, 1)]);
    assert!(parents.chunks_exact(block).all(|parent| *parent == *want.numbers));
    time / num_blocks as f64
}

/// GFLOP/s of independent chains of fused multiply-adds in the registers of a set; none for sets
/// without such an instruction.
#[allow(unsafe_code)]
fn fma_peak(set: &str) -> Option<f64> {
    const STEPS: usize = 1000;
    let (x, y) = (black_box(0.999), black_box(0.001));
    let (numbers, time) = match set {
        #[cfg(target_arch = "x86_64")]
        "avx512" => {
            // SAFETY: the set is here only because this machine has the instructions.
            let time = shortest(200, 20e-6, || unsafe {
                black_box(chains_avx512(STEPS, x, y));
            });
            (128, time)
        }
        #[cfg(target_arch = "x86_64")]
        "avx2" => {
            // SAFETY: as above.
            let time = shortest(200, 20e-6, || unsafe {
                black_box(chains_avx2(STEPS, x, y));
            });
            (40, time)
        }
        _ => return None,
    };
    Some((2 * numbers * STEPS) as f64 / time / 1e9)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn chains_avx512(steps: usize, x: f64, y: f64) -> [f64; 128] {
    chains(steps, x, y)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn chains_avx2(steps: usize, x: f64, y: f64) -> [f64; 40] {
    chains(steps, x, y)
}

/// `N` numbers fill enough registers to hide the latency, and leave two of them.
#[inline(always)]
fn chains<const N: usize>(steps: usize, x: f64, y: f64) -> [f64; N] {
    let mut sums = [1.0; N];
    for _ in 0..steps {
        for sum in &mut sums {
            *sum = f64::mul_add(*sum, x, y);
        }
    }
    sums
}
