//! Restricted against unrestricted computation of the same partitions with their own (unlinked) lengths.
//!
//! *Restricted*: a partition's tree has only the taxa that have data in it. *Unrestricted*: every partition's
//! tree has all taxa, undetermined where there are no data. Both go through the same code on one
//! thread, in the same run, taking turns.

use crate::partitions::evaluator;
use mlsearch::alignment::Patterns;
use mlsearch::likelihood::engine::layout::{Dims, block_lens, num_allocated_clvs};
use mlsearch::likelihood::{BranchOptions, BrlenLinkage, Evaluator, Snapshot};
use mlsearch::partition::{Partition, gappyness};
use mlsearch::tree::Tree;
use std::time::{Duration, Instant};

/// Sweeps of the optimisation that does the same number of them on both sides.
const SWEEPS: usize = 3;

/// The same number of sweeps on both sides, whatever they gain.
pub const FIXED_SWEEPS: BranchOptions =
    BranchOptions { max_sweeps: SWEEPS, lnl_epsilon: f64::NEG_INFINITY, gain_tolerance: 1e-4 };

/// Until a sweep gains less than 0.1.
const CONVERGED: BranchOptions =
    BranchOptions { max_sweeps: 100, lnl_epsilon: 0.1, gain_tolerance: 1e-4 };

/// Traversals per repetition: some take less than a millisecond.
const TRAVERSALS: usize = 5;

/// Relative difference of the two log-likelihoods at given lengths.
pub const TOLERANCE: f64 = 1e-9;

/// The restricted log-likelihood after optimisation may be this much lower (log units).
const OPTIMISED_TOLERANCE: f64 = 0.1;

/// True if cargo wants to know whether the benches work, and nothing measured.
pub fn is_test_run() -> bool {
    let has = |wanted: &str| std::env::args().any(|argument| argument == wanted);
    has("--test") || !has("--bench")
}

/// Partitions with all taxa in each.
pub fn unrestricted(partitions: &[Partition], num_taxa: usize) -> Vec<Partition> {
    let mut partitions = partitions.to_vec();
    partitions.iter_mut().for_each(|partition| partition.patterns.add_missing_taxa(num_taxa));
    partitions
}

/// One side of the comparison.
struct Side {
    evaluator: Evaluator,
    start: Snapshot,
    measured: Measured,
}

/// What was found on one side.
#[derive(Default)]
struct Measured {
    /// At given lengths.
    lnl: f64,
    /// After [`FIXED_SWEEPS`].
    after_sweeps: f64,
    /// After [`CONVERGED`].
    optimised: f64,
    traversal: Vec<Duration>,
    sweeps: Vec<Duration>,
    converged: Vec<Duration>,
}

impl Side {
    fn new(partitions: &[Partition], tree: &Tree, expected_bytes: usize) -> Self {
        let mut evaluator = evaluator(partitions, tree, BrlenLinkage::Unlinked, 1);
        assert_eq!(evaluator.capabilities().clv_bytes, expected_bytes as u64, "bytes of CLVs");
        let start = evaluator.snapshot();
        // Touches all memory, which the first measured traversal should not have to.
        let lnl = evaluator.log_likelihood().expect("an engine");
        Side { evaluator, start, measured: Measured { lnl, ..Measured::default() } }
    }

    /// Measures everything once; whatever is computed again must come out the same, bit for bit.
    fn repeat(&mut self, converged: bool) {
        let Side { evaluator, start, measured } = self;
        evaluator.restore(start);
        for _ in 0..TRAVERSALS {
            evaluator.forget();
            let started = Instant::now();
            let lnl = evaluator.log_likelihood().expect("an engine");
            measured.traversal.push(started.elapsed());
            assert_close(lnl, measured.lnl);
        }
        let mut optimise = |options: &BranchOptions, times: &mut Vec<Duration>, want: &mut f64| {
            evaluator.restore(start);
            let before = evaluator.log_likelihood().expect("an engine");
            let started = Instant::now();
            let lnl = evaluator.optimize_branches(options).expect("an engine");
            times.push(started.elapsed());
            assert!(lnl >= before, "optimised from {before} to {lnl}");
            assert!(times.len() == 1 || lnl == *want, "first {want}, now {lnl}");
            *want = lnl;
        };
        optimise(&FIXED_SWEEPS, &mut measured.sweeps, &mut measured.after_sweeps);
        if converged {
            optimise(&CONVERGED, &mut measured.converged, &mut measured.optimised);
        }
    }
}

/// Panics if two log-likelihoods differ by more than rounding.
pub fn assert_close(a: f64, b: f64) {
    assert!((a - b).abs() <= TOLERANCE * b.abs(), "log-likelihoods {a} and {b} differ");
}

/// How the unrestricted side is measured, as memory permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Schedule {
    /// Both sides in memory, taking turns.
    Alternating,
    /// Too large for that: the restricted side first.
    OneAfterTheOther,
    /// Not at all.
    RestrictedOnly,
}

impl Schedule {
    fn for_bytes(unrestricted: usize) -> Self {
        let available = available_bytes();
        if unrestricted <= available / 4 {
            Schedule::Alternating
        } else if unrestricted <= available / 7 * 5 {
            Schedule::OneAfterTheOther
        } else {
            Schedule::RestrictedOnly
        }
    }
}

/// Measures both sides and prints a line of the table. `published`: ratios of the traversal and of
/// branch-length optimisation that others found on these data.
pub fn compare(
    name: &str,
    tree: &Tree,
    partitions: &[Partition],
    repetitions: usize,
    published: Option<[f64; 2]>,
) {
    let num_taxa = tree.num_tips();
    let ours = [false, true].map(|all| Costs::of(partitions, all.then_some(num_taxa)));
    let schedule = Schedule::for_bytes(ours[1].bytes);
    let mut restricted = Side::new(partitions, tree, ours[0].bytes);
    let mut other = None;
    if schedule == Schedule::Alternating {
        let all = unrestricted(partitions, num_taxa);
        let mut full = Side::new(&all, tree, ours[1].bytes);
        for _ in 0..repetitions {
            restricted.repeat(true);
            full.repeat(true);
        }
        other = Some(full.measured);
    } else {
        // Minutes each: once is enough for the one that takes longest.
        (0..repetitions).for_each(|i| restricted.repeat(i == 0));
    }
    let Side { measured: mut restricted, evaluator, .. } = restricted;
    drop(evaluator);
    if schedule == Schedule::OneAfterTheOther {
        let all = unrestricted(partitions, num_taxa);
        let mut full = Side::new(&all, tree, ours[1].bytes);
        (0..repetitions).for_each(|i| full.repeat(i == 0));
        other = Some(full.measured);
    }
    if let Some(full) = &other {
        assert_close(restricted.lnl, full.lnl);
        assert!(
            restricted.optimised >= full.optimised - OPTIMISED_TOLERANCE,
            "optimised: {} restricted, {} unrestricted",
            restricted.optimised,
            full.optimised
        );
    }
    let patterns: Vec<Patterns> = partitions.iter().map(|p| p.patterns.clone()).collect();
    print_line(
        name,
        100.0 * gappyness(&patterns, num_taxa),
        &ours,
        &mut restricted,
        other.as_mut(),
        published,
        schedule,
    );
}

/// The head of the table that [`compare`] prints.
pub fn print_head() {
    println!(
        "restricted against unrestricted, own lengths per gene, one thread; ratios of medians"
    );
    println!(
        "{:<12}{:>11}{:>12}{:>11}{:>11}{:>11}{:>11}{:>11}{:>12}",
        "data",
        "gappyness",
        "operations",
        "traversal",
        "published",
        format!("{SWEEPS} sweeps"),
        "converged",
        "published",
        "CLV memory"
    );
}

fn print_line(
    name: &str,
    gappyness: f64,
    costs: &[Costs; 2],
    restricted: &mut Measured,
    mut full: Option<&mut Measured>,
    published: Option<[f64; 2]>,
    schedule: Schedule,
) {
    let cost = |of: fn(&Costs) -> usize| of(&costs[1]) as f64 / of(&costs[0]) as f64;
    let mut took = String::new();
    let mut ratio = |what: &str, times: fn(&mut Measured) -> &mut Vec<Duration>| {
        let ours = median(times(restricted));
        let theirs = full.as_deref_mut().map(|full| median(times(full)));
        let shown = |t: Option<f64>| t.map_or("-".to_string(), |t| format!("{:.3}", 1e3 * t));
        took += &format!("{what} {} : {} ms; ", shown(Some(ours)), shown(theirs));
        theirs.map_or("-".to_string(), |theirs| format!("{:.2}", theirs / ours))
    };
    let traversal = ratio("traversal", |m| &mut m.traversal);
    let sweeps = ratio("sweeps", |m| &mut m.sweeps);
    let converged = ratio("converged", |m| &mut m.converged);
    let known = |i: usize| published.map_or("-".to_string(), |p| format!("{:.2}", p[i]));
    println!(
        "{name:<12}{:>11}{:>12.2}{traversal:>11}{:>11}{sweeps:>11}{converged:>11}{:>11}{:>12.2}",
        format!("{gappyness:.1} %"),
        cost(|c| c.operations),
        known(0),
        known(1),
        cost(|c| c.bytes),
    );
    println!("    {took}{schedule:?}");
    let lnls = |m: &Measured| format!("{:.4} -> {:.4}", m.lnl, m.optimised);
    let theirs = full.map_or("not computed".to_string(), |full| lnls(full));
    let gigabytes = costs.each_ref().map(|c| c.bytes as f64 / 1e9);
    println!(
        "    lnL {} : {theirs}; CLVs {:.3} : {:.3} GB",
        lnls(restricted),
        gigabytes[0],
        gigabytes[1]
    );
}

/// What the arithmetic says of one side.
#[derive(Debug, Clone, Copy)]
struct Costs {
    /// CLV updates of a full traversal times patterns.
    operations: usize,
    /// Bytes of CLVs and their scaler counts.
    bytes: usize,
}

impl Costs {
    /// `taxa`: the number of taxa in every partition, if not just those with data.
    fn of(partitions: &[Partition], taxa: Option<usize>) -> Self {
        let mut costs = Costs { operations: 0, bytes: 0 };
        for partition in partitions {
            let patterns = &partition.patterns;
            let num_tips = taxa.unwrap_or(patterns.num_tips());
            let num_clvs = num_tips.saturating_sub(2);
            let dims = Dims::new(
                patterns.data_type.num_states(),
                partition.model.rate_cats().rates.len(),
                patterns.code_masks.len(),
                num_tips,
            );
            let padded: usize = block_lens(patterns.num_patterns()).iter().sum();
            costs.operations += num_clvs * patterns.num_patterns();
            costs.bytes +=
                num_allocated_clvs(num_tips) * padded * (dims.row() * 8 + dims.scalers() * 4);
        }
        costs
    }
}

/// Median in seconds.
fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    let middle = times.len() / 2;
    match times.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => times[middle].as_secs_f64(),
        _ => (times[middle - 1] + times[middle]).as_secs_f64() / 2.0,
    }
}

/// Memory that can be had without swapping; 8 GB where the system does not say.
fn available_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    text.lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))
        .and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<usize>().ok())
        .map_or(8_000_000_000, |kilobytes| kilobytes * 1024)
}
