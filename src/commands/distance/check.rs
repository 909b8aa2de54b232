//! `--check` of distances: the time and memory that a matrix and its trees take, from a sample of the sequences.

use super::arrangement::Arrangement;
use super::plan::MatrixPlan;
use super::run::{is_estimated, method_as_read};
use super::sequences::Sequences;
use crate::distance::{DistanceMethod, DistanceTree, PairDistances, SquareMatrix};
use crate::error::Result;
use crate::parallel::used_memory;
use crate::runtime::{Cost, Setup, first_tree, format_bytes, format_seconds};
use crate::steps::distance_memory::DistanceStorage;
use crate::steps::distance_trees::file_bytes;
use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use std::time::Instant;

/// Sequences of a sample.
const SAMPLE: usize = 400;

/// Seconds and bytes of the parts of the work.
#[derive(Debug, Clone, Copy, Default)]
struct Work {
    computed: f64,
    written: f64,
    trees: f64,
    file: f64,
}

/// Adds what the distances take: memory at most and at least, time, and files; and returns what is said of it.
///
/// # Errors
/// Refused models, and what does not fit into memory or on the disk.
pub(crate) fn describe_distances(
    options: &MatrixPlan,
    setup: &Setup,
    rows: &mut Vec<(&'static str, String)>,
) -> Result<&'static str> {
    let found = method_as_read(options, setup)?;
    let mut all = Work::default();
    let (mut most, mut least, mut temporary, mut pairs, mut again) = (0, 0, 0, 0, false);
    let used = used_memory().unwrap_or(0);
    let fit = fit_of(&found.method, setup, used)?;
    for sequences in Sequences::all(options, setup) {
        let arrangement = sequences.arrange(options, setup, used)?;
        let method = match sequences.partition {
            None => found.method.clone(),
            Some([_, partition]) => found.of_partition(partition),
        };
        least = least.max(Arrangement::least(options, sequences.sizes(setup, used)));
        let work = work_of(options, &sequences, &method, arrangement, setup)?;
        all.computed += work.computed;
        all.written += work.written;
        all.trees += work.trees;
        all.file += work.file;
        most = most.max(arrangement.bytes);
        if let Some(DistanceStorage::File { .. }) = arrangement.storage {
            temporary = temporary.max(file_bytes(&options.trees, sequences.count()));
        }
        let taxa = sequences.names.len() as u64;
        pairs += taxa * taxa.saturating_sub(1) / 2;
        again |= computes_twice(options, arrangement);
    }
    if let Some(fit) = &fit {
        most = most.max(fit.most);
        least = least.max(fit.least);
    }
    let twice = if again { ", each computed twice" } else { "" };
    rows.push(("distances", format!("{pairs}{twice}")));
    rows.push(("memory", format!("about {}", format_bytes(most))));
    rows.push(("  at least, with --mem", format!("about {}", format_bytes(least))));
    rows.push(("files of distances", format!("about {}", format_bytes(all.file as u64))));
    if temporary > 0 {
        rows.push(("temporary file for trees", format!("at most {}", format_bytes(temporary))));
    }
    if let Some(fit) = &fit {
        rows.push((
            "memory of the model's estimation",
            format!("about {}", format_bytes(fit.most)),
        ));
        rows.push(("time of the model's estimation", format_seconds(fit.seconds)));
    }
    rows.push(("time of the distances", format_seconds(all.computed)));
    rows.push(("  of writing them", format_seconds(all.written)));
    if !options.trees.is_empty() {
        rows.push(("  of trees", format_seconds(all.trees)));
    }
    Ok(
        "Times are rough estimates for one core; a run may take from half to twice as long. Distances are computed\n\
        and become text by all threads, are written and made into trees by one.\n",
    )
}

/// What the estimation of a model takes.
struct Fit {
    most: u64,
    least: u64,
    seconds: f64,
}

/// The estimation that precedes the distances, if the models have free parameters; the program takes so many bytes by now.
fn fit_of(method: &DistanceMethod, setup: &Setup, used: u64) -> Result<Option<Fit>> {
    if !is_estimated(method, setup) {
        return Ok(None);
    }
    let Setup { plan, loaded, linkage, .. } = setup;
    let (resources, _) = setup.resources.within_memory(plan, loaded)?;
    let (tree, _) = first_tree(plan, loaded);
    let known = resources.estimate(loaded, &tree, *linkage)?;
    let cost = Cost::of_data(loaded).of_each_of(resources.num_ranks());
    let beside = used + cost.shared_bytes();
    Ok(Some(Fit {
        most: beside + known.most_engine_bytes(plan) + cost.bytes_beside_engine(plan),
        least: beside + cost.least_job_bytes(plan),
        seconds: known.evaluation_seconds(),
    }))
}

/// A square matrix that is not kept is computed row by row.
fn computes_twice(options: &MatrixPlan, arrangement: Arrangement) -> bool {
    options.format.is_square() && !arrangement.waits
}

/// The work of these sequences, from a sample of them.
fn work_of(
    options: &MatrixPlan,
    sequences: &Sequences,
    method: &DistanceMethod,
    arrangement: Arrangement,
    setup: &Setup,
) -> Result<Work> {
    let (count, partitions) = sequences.sample(SAMPLE);
    if count < 2 {
        return Ok(Work::default());
    }
    let pairs = PairDistances::new(count, &partitions, method, setup.plan.run.instruction_set);
    let start = Instant::now();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let compute = || pairs.rows(0..count, 0..count);
    let found = pool.map_or_else(|_| compute(), |pool| pool.install(compute))?;
    let computed = start.elapsed().as_secs_f64() / (count * count) as f64;
    let start = Instant::now();
    let shown = |taxon: usize| if options.format.is_square() { count } else { taxon };
    let row = |taxon: usize| &found[taxon * count..][..shown(taxon)];
    let bytes = bytes_written(options, &sequences.names[..count], row);
    let numbers: usize = (0..count).map(shown).sum();
    let written = start.elapsed().as_secs_f64() / numbers as f64;
    let mut trees = 0.0;
    let mut matrix = SquareMatrix::<f64>::zero(count);
    for a in 0..count {
        (0..a).for_each(|b| matrix.set(a, b, found[a * count + b]));
    }
    matrix.fill_unknown();
    for &kind in &options.trees {
        let seconds = || {
            let matrix = matrix.clone();
            let start = Instant::now();
            kind.tree(matrix);
            start.elapsed().as_secs_f64()
        };
        let growth = libm::pow(sequences.count() as f64 / count as f64, exponent(kind));
        // The first may have waited for another program.
        trees += seconds().min(seconds()) * growth;
    }
    let (taxa, different) = (sequences.names.len() as f64, sequences.count() as f64);
    let half = if computes_twice(options, arrangement) { 1.0 } else { 0.5 };
    let share = if options.format.is_square() { 1.0 } else { 0.5 };
    Ok(Work {
        computed: computed * different * different * half,
        written: written * taxa * taxa * share,
        trees,
        file: bytes as f64 / numbers as f64 * taxa * taxa * share,
    })
}

/// How the time of a tree grows with the number of sequences: measured from 1000 to 8000, of balanced minimum evolution
/// to 4000.
fn exponent(kind: DistanceTree) -> f64 {
    match kind {
        DistanceTree::MinimumEvolution => 2.75,
        _ => 2.0,
    }
}

/// A sink that counts.
#[derive(Default)]
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Bytes of a matrix of these taxa.
fn bytes_written<'r>(
    options: &MatrixPlan,
    names: &[String],
    row: impl Fn(usize) -> &'r [f64],
) -> u64 {
    let write = |sink: &mut dyn Write| {
        (0..names.len())
            .try_for_each(|taxon| sink.write_all(&options.format.row(taxon, names, row(taxon))))
    };
    let mut counted = Counted::default();
    let written = match options.gzip {
        true => {
            let mut packed = GzEncoder::new(&mut counted, Compression::default());
            write(&mut packed).and_then(|()| packed.finish().map(drop))
        }
        false => write(&mut counted),
    };
    written.map_or(0, |()| counted.0)
}
