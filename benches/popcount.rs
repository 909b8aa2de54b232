//! Distances of pairs of sequences beside what population counts allow: `cargo bench --bench popcount`.
//!
//! Distances with seven numbers of sites (F84 where purines are as frequent as pyrimidines, which is HKY then) on one core, of
//! simulated nucleotides and, if the environment variable MLSEARCH_DATA names its folder, of a published alignment. The limit
//! is the time of the population counts alone: seven for each 64 sites of a pair, on words in the nearest cache, with the same
//! instructions. Times are the shortest of several, so that other work counts as little as possible.
//!
//! Then follows what GPUs would take, **predicted from counts and data sheets, not measured**: with constants of a GPU,
//!
//! ```text
//!   bands * (LAUNCH + 2 ANSWER) + popcounts / peak + operations / peak + bytes / BUS
//! ```

#[expect(dead_code, reason = "only the simulation and the building of partitions are used")]
mod partitions;
#[expect(dead_code, reason = "only the reading of partitions is used")]
mod published;

use mlsearch::distance::{DistanceMethod, PairDistances};
use mlsearch::model::Model;
use mlsearch::partition::Partition;
use partitions::{Shape, simulate};
use published::read_partitions;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

/// F84 with these frequencies: seven numbers of sites, two terms.
const SEVEN: &str = "HKY{4}+FU{0.3/0.2/0.2/0.3}";
/// Ten numbers of sites, three terms.
const TEN: &str = "GTR{1.2/3.1/0.7/0.9/4.2/1}+FU{0.3/0.2/0.15/0.35}";
/// About the size of the published alignment.
const SHAPE: Shape =
    Shape { num_taxa: 500, num_partitions: 1, sites_per_partition: 1398, missing: 0.0 };
const SMALL: Shape =
    Shape { num_taxa: 20, num_partitions: 1, sites_per_partition: 600, missing: 0.0 };
const PUBLISHED: &str = "d500";
/// Words that population counts are measured on: 16 kB.
const WORDS: usize = 2048;
const ROUNDS: usize = 7;

/// A GPU: population counts of 32 bits (16 in a cycle on each multiprocessor, CUDA C++ Programming Guide) and operations in
/// double precision, in 10⁹/s, from NVIDIA's data sheets.
const GPUS: [(&str, f64, f64); 4] = [
    ("H200", 132.0 * 16.0 * 1.98, 34_000.0),
    ("H100", 132.0 * 16.0 * 1.98, 34_000.0),
    ("A100", 108.0 * 16.0 * 1.41, 9_700.0),
    ("RTX 4090", 128.0 * 16.0 * 2.52, 1_290.0),
];
/// Share of these that is taken to be reached.
const REACHED: f64 = 0.8;
/// Seconds of a launch, and of a copy to or from the GPU: assumed (an H200 took 3 to 5 and 12 to 17 us, `cuda/README.md`).
const LAUNCH: f64 = 3e-6;
const ANSWER: f64 = 10e-6;
/// Bytes in a second that a GPU copies to the host: assumed (PCI Express 4).
const BUS: f64 = 20e9;
/// Rows of a launch.
const BAND: f64 = 64.0;
/// Evaluations of derivatives for a pair: 2.0 to 3.0 in the mean of all pairs of three alignments of 500 to 10 000 sequences.
const EVALUATIONS: f64 = 3.0;
/// Operations of one of them with 7 classes and 2 terms, from the text of `cuda/distances.cu`: a term 45, a class 53 with its
/// division, a step 33. And those of the start.
const OF_EVALUATION: f64 = 2.0 * 45.0 + 7.0 * 53.0 + 33.0;
const OF_START: f64 = 100.0;
/// Sequences and sites: those of the paper (Ying et al. 2011, whose GPU took 1/12.9 of the time of PHYLIP's dnadist, and two
/// GPUs 1/24.8), and large ones.
const SIZES: [(f64, f64); 3] = [(762.0, 1500.0), (10_000.0, 1000.0), (50_000.0, 1000.0)];

/// Counts the bits of words, eight lanes at a time, many times.
type Count = fn(&[u64], usize) -> u64;

#[inline(always)]
fn count_words(words: &[u64], times: usize) -> u64 {
    let mut sums = [0_u64; 8];
    for _ in 0..times {
        for eight in black_box(words).as_chunks::<8>().0 {
            for (sum, word) in sums.iter_mut().zip(eight) {
                *sum += u64::from(word.count_ones());
            }
        }
    }
    sums.iter().sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn count_avx2(words: &[u64], times: usize) -> u64 {
    count_words(words, times)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512vpopcntdq,avx2,popcnt")]
fn count_avx512(words: &[u64], times: usize) -> u64 {
    count_words(words, times)
}

/// The counts with the instructions of each set that this machine has, the best one first.
#[allow(unsafe_code)]
fn counts() -> Vec<(&'static str, Count)> {
    let mut all: Vec<(&'static str, Count)> = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt");
        let has_avx512 =
            is_x86_feature_detected!("avx512vl") && is_x86_feature_detected!("avx512vpopcntdq");
        if has_avx2 && has_avx512 {
            // SAFETY: the machine has these instructions.
            all.push(("avx512", |words, times| unsafe { count_avx512(words, times) }));
        }
        if has_avx2 {
            // SAFETY: as above.
            all.push(("avx2", |words, times| unsafe { count_avx2(words, times) }));
        }
    }
    all.push(("scalar", count_words));
    all
}

/// The shortest of several runs, in seconds.
fn shortest(mut run: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

fn distances(partitions: &[Partition], model: &str, set: &str) -> PairDistances {
    let num_taxa = partitions[0].patterns.tip_taxa.last().map_or(0, |last| last + 1);
    let models = vec![Model::parse(model).expect("a model"); partitions.len()];
    let method = DistanceMethod::Likelihood { models, gamma: None };
    PairDistances::new(num_taxa, partitions, &method, Some(set))
}

/// Under the model of Jukes and Cantor, and without ambiguous characters, distances follow from shares of different sites.
fn assert_right(partitions: &[Partition], set: &str) {
    let all = distances(partitions, "JC", set);
    let shares =
        PairDistances::new(all.num_taxa(), partitions, &DistanceMethod::Uncorrected, Some(set));
    let found = all.rows(0..8, 0..all.num_taxa()).expect("the processor computes them");
    for (distance, share) in found
        .into_iter()
        .zip(shares.rows(0..8, 0..all.num_taxa()).expect("the processor computes them"))
    {
        let expected = -0.75 * logarithm(1.0 - share / 0.75);
        assert!(share > 0.7 || (distance - expected).abs() < 1e-7 * expected.max(0.01), "{share}");
    }
}

#[expect(clippy::disallowed_methods, reason = "the last bit does not matter here")]
fn logarithm(x: f64) -> f64 {
    x.ln()
}

/// Pairs in a second with the best instructions.
fn report(name: &str, partitions: &[Partition], is_simulated: bool) -> f64 {
    let sites: usize = partitions.iter().map(|partition| partition.patterns.num_sites).sum();
    println!("\n{name}, {sites} sites, one core");
    println!(
        "{:<8} {:>14} {:>16} {:>16} {:>16} {:>8}",
        "", "G words/s", "limit, pairs/s", "7 counts", "10 counts", "share"
    );
    let words: Vec<u64> =
        (0..WORDS as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let want: u64 = words.iter().map(|word| u64::from(word.count_ones())).sum();
    let mut bits: Option<Vec<u64>> = None;
    let mut best = 0.0_f64;
    for (set, count) in counts() {
        const TIMES: usize = 2000;
        assert_eq!(count(&words, 3), 3 * want);
        let seconds = shortest(|| {
            black_box(count(&words, TIMES));
        });
        let rate = (WORDS * TIMES) as f64 / seconds;
        if is_simulated {
            assert_right(partitions, set);
        }
        let [seven, ten] = [SEVEN, TEN].map(|model| {
            let pairs = distances(partitions, model, set);
            let num_taxa = pairs.num_taxa();
            let found = pairs.rows(0..num_taxa, 0..num_taxa).expect("the processor computes them");
            if model == SEVEN {
                let found: Vec<u64> = found.iter().map(|distance| distance.to_bits()).collect();
                assert!(bits.get_or_insert_with(|| found.clone()) == &found, "{set}: other bits");
            }
            let seconds = shortest(|| {
                black_box(
                    pairs.rows(0..num_taxa, 0..num_taxa).expect("the processor computes them"),
                );
            });
            (num_taxa * num_taxa) as f64 / seconds
        });
        // The bits that are counted, without padding.
        let limit = rate / (7.0 * sites as f64 / 64.0);
        println!(
            "{set:<8} {:>14.2} {limit:>16.3e} {seven:>16.3e} {ten:>16.3e} {:>8.2}",
            rate / 1e9,
            seven / limit
        );
        best = best.max(seven);
    }
    best
}

/// Seconds on so many GPUs of a kind.
fn predicted((taxa, sites): (f64, f64), (_, popcounts, peak): (&str, f64, f64), gpus: f64) -> f64 {
    let pairs = 0.5 * taxa * taxa;
    // Planes are padded to 512 sites; each 64 sites are two counts of 32 bits for each of seven classes.
    let counts = pairs * (sites / 512.0).ceil() * 8.0 * 14.0;
    let operations = pairs * (EVALUATIONS * OF_EVALUATION + OF_START);
    let computing = (counts / popcounts + operations / peak) / (1e9 * REACHED * gpus);
    (taxa / BAND).ceil() * (LAUNCH + 2.0 * ANSWER) + computing + 8.0 * pairs / BUS
}

/// `[size][core, GPU, two GPUs, ...]`; `rate` is that of pairs of 1398 sites on a core.
fn predict(rate: f64) {
    println!("\nPredicted seconds for the distances (not their files), F84");
    let names = GPUS.map(|gpu| format!("{:>10} {:>10}", gpu.0, "two"));
    println!("{:<28} {:>10} {}", "", "one core", names.join(" "));
    for (taxa, sites) in SIZES {
        let core = 0.5 * taxa * taxa / rate;
        let times = GPUS.map(|gpu| {
            let [one, two] = [1.0, 2.0].map(|gpus| predicted((taxa, sites), gpu, gpus));
            assert!(two < one);
            format!("{one:>10.4} {two:>10.4}")
        });
        println!("{:<28} {core:>10.2} {}", format!("{taxa} x {sites}"), times.join(" "));
    }
}

fn main() {
    let has = |word: &str| std::env::args().any(|argument| argument == word);
    if has("--list") {
        return;
    }
    let is_test = has("--test") || !has("--bench");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    pool.install(|| {
        let (_, partitions) = simulate(if is_test { &SMALL } else { &SHAPE });
        let name = format!("{} simulated taxa", partitions[0].patterns.num_tips());
        let rate = report(&name, &partitions, true);
        if let Ok(folder) = std::env::var("MLSEARCH_DATA")
            && !is_test
        {
            match read_partitions(Path::new(&folder), PUBLISHED) {
                Ok((_, partitions)) => _ = report(PUBLISHED, &partitions, false),
                Err(reason) => println!("{PUBLISHED}: {reason}"),
            }
        }
        predict(rate);
    });
}
