//! A matrix of distances: computed and written row by row, and what is made of it.

use super::arrangement::{Arrangement, TEXTS};
use super::order::RowOrder;
use super::plan::MatrixPlan;
use super::sequences::Sequences;
use crate::dataset::Identical;
use crate::distance::{DistanceMethod, JoinedTree, PairDistances, SquareMatrix, TaxonRows};
use crate::error::Result;
use crate::mpi::Ranks;
use crate::observer::{Advance, Event, Observer};
use crate::output::{MatrixFormat, MatrixReport, MatrixTreeReport, OutputKind};
use crate::runtime::interrupt::go_on;
use crate::runtime::{RunRecord, Setup, thread_pool};
use crate::steps::distance_memory::BAND;
use crate::steps::distance_tally::Tally;
use crate::steps::distance_trees::{Store, Trees, folder_of};
use crate::steps::replicates::BOOTSTRAPS;
use crate::steps::support::SUPPORT;
use flate2::{Compression, write::GzEncoder};
use rayon::prelude::*;
use std::io::Write;
use std::ops::Range;

/// Distances between sequences.
pub(crate) const DISTANCES: OutputKind =
    OutputKind::new(12, "distances", "the distances between the sequences");

/// The same, compressed.
pub(crate) const DISTANCES_GZ: OutputKind =
    OutputKind::new(13, "distances.gz", "the distances between the sequences, compressed");

/// The same as an array.
pub(crate) const DISTANCES_NPY: OutputKind =
    OutputKind::new(14, "distances.npy", "the distances between the sequences, for NumPy");

/// The same for each partition by itself, one file for each.
pub(crate) const PARTITION_DISTANCES: OutputKind = OutputKind::new(
    15,
    "partitionN.distances",
    "the distances between the sequences of partition N",
)
.numbered();

/// The same, compressed.
pub(crate) const PARTITION_DISTANCES_GZ: OutputKind = OutputKind::new(
    16,
    "partitionN.distances.gz",
    "the distances between the sequences of partition N, compressed",
)
.numbered();

/// The same as arrays.
pub(crate) const PARTITION_DISTANCES_NPY: OutputKind = OutputKind::new(
    17,
    "partitionN.distances.npy",
    "the distances between the sequences of partition N, for NumPy",
)
.numbered();

/// Trees of these distances.
pub(crate) const DISTANCE_TREES: OutputKind =
    OutputKind::new(18, "distanceTrees", "trees of the distances").of_trees("support");

/// What is known when the matrix is written.
pub(crate) struct Computed {
    /// What was found on the way.
    pub tally: Tally,
    /// The distances, where trees are made of them.
    pub store: Option<Store>,
}

/// Where the rows of a matrix go, in their order.
struct Rows<'a> {
    format: MatrixFormat,
    /// `[row]`: the name of its taxon.
    names: &'a [String],
    order: &'a RowOrder,
    tally: Tally,
    store: Option<Store>,
    /// A matrix that is written when it is complete.
    waiting: Option<SquareMatrix<f64>>,
    sink: Box<dyn Write + Send + 'a>,
    /// What happened to the file.
    written: std::io::Result<()>,
}

impl Rows<'_> {
    /// Takes the next rows.
    fn take(&mut self, rows: Range<usize>, found: &[f64]) -> Result<()> {
        let width = found.len() / rows.len();
        for (at, row) in rows.clone().zip(found.chunks_exact(width)) {
            let names = self.names;
            self.tally.add(at, &row[..at], |row| &names[row]);
            if let (Some(store), Some(before)) = (&mut self.store, self.order.sequences_before(at))
            {
                match before.len() == at {
                    true => store.push(&row[..at])?,
                    false => {
                        let before: Vec<f64> = before.iter().map(|&other| row[other]).collect();
                        store.push(&before)?;
                    }
                }
            }
            if let Some(matrix) = &mut self.waiting {
                row[..at].iter().enumerate().for_each(|(other, d)| matrix.set(at, other, *d));
            }
        }
        if self.waiting.is_none() {
            let (format, names, start) = (self.format, self.names, rows.start);
            self.write(rows, |at| {
                let row = &found[(at - start) * width..][..width];
                format.row(at, names, if format.is_square() { row } else { &row[..at] })
            });
        }
        Ok(())
    }

    /// Writes rows, as texts that are made by several threads.
    fn write(&mut self, rows: Range<usize>, text_of: impl Fn(usize) -> Vec<u8> + Sync) {
        for start in rows.clone().step_by(TEXTS) {
            let some = start..(start + TEXTS).min(rows.end);
            let texts: Vec<Vec<u8>> = some.into_par_iter().map(&text_of).collect();
            for text in texts {
                if self.written.is_ok() {
                    self.written = self.sink.write_all(&text);
                }
            }
        }
    }

    /// Writes what waits until the matrix is complete. Returns what was found, and what happened to the file.
    fn finish(mut self) -> (Computed, std::io::Result<()>) {
        if let Some(matrix) = self.waiting.take() {
            let (format, names) = (self.format, self.names);
            self.write(0..matrix.size(), |at| {
                let row: Vec<f64> = (0..matrix.size()).map(|other| matrix.get(at, other)).collect();
                format.row(at, names, &row)
            });
        }
        let written = self.written.and_then(|()| self.sink.flush());
        (Computed { tally: self.tally, store: self.store }, written)
    }
}

impl Sequences<'_> {
    /// Computes and writes the distances of the prepared sequences: while some rows are written, the next ones are computed.
    /// `phase` is this matrix's part of the work of all.
    ///
    /// # Errors
    /// What computes or keeps them has failed, or they cannot be written.
    pub(crate) fn write(
        &self,
        (pairs, arrangement): (&PairDistances, Arrangement),
        options: &MatrixPlan,
        setup: &Setup,
        phase: [f64; 2],
        record: &mut RunRecord,
    ) -> Result<Computed> {
        let order = &self.rows;
        let names = self.row_names();
        let mut rows_of_taxa = TaxonRows::new(pairs, order.sequence_of_row());
        let num_taxa = names.len();
        let Arrangement { waits, storage, .. } = arrangement;
        let store = |storage| {
            let sequences = Some(order.sequences.clone());
            Store::new(storage, pairs.num_taxa(), sequences, &folder_of(setup.plan))
        };
        let store = storage.map(store).transpose()?;
        let whole_rows = options.format.is_square() && !waits;
        let mut part = match self.partition {
            None => record.part(matrix_kind(options))?,
            Some([number, _]) => record.numbered_part(matrix_kind(options), number)?,
        };
        let mut sink: Box<dyn Write + Send + '_> = match options.gzip {
            true => Box::new(GzEncoder::new(&mut part, Compression::default())),
            false => Box::new(&mut part),
        };
        let written = options.format.begin(num_taxa, &mut sink);
        let mut rows = Rows {
            format: options.format,
            names: &names,
            order,
            tally: Tally::with_map(),
            store,
            waiting: waits.then(|| SquareMatrix::zero(num_taxa)),
            sink,
            written,
        };
        if let Some(ranks) = setup.resources.job_ranks() {
            let _turn = ranks.turn();
            ranks.tell(&whole_rows);
        }
        let pool = thread_pool(setup.plan);
        let mut bands = bands_of(num_taxa);
        let mut compute = || {
            let band = bands.next()?;
            let width = if whole_rows { num_taxa } else { band.end };
            Some(rows_of_taxa.next(band.clone(), width).map(|found| (band, found)))
        };
        let mut ready = pool.install(&mut compute).transpose()?;
        while let Some((band, found)) = ready {
            go_on(setup.plan.run.stop)?;
            let share = band.end as f64 / num_taxa as f64;
            let share = if whole_rows { share } else { share * share };
            let (next, taken) =
                pool.install(|| rayon::join(&mut compute, || rows.take(band, &found)));
            taken?;
            ready = next.transpose()?;
            let share = phase[0] + (phase[1] - phase[0]) * share;
            record.progress.advance(Advance { phase: Some(share), ..Advance::default() });
        }
        let (mut computed, written) = pool.install(|| rows.finish());
        written.map_err(|source| part.failed(source))?;
        record.complete(part)?;
        let written = match options.format {
            MatrixFormat::Npy => "are written as inf (saturated) or NaN (without overlap)",
            _ => "are written as -1",
        };
        computed.tally.warn(&self.place, written, record);
        Ok(computed)
    }

    /// What another rank than rank 0 does while that [writes](Sequences::write) them: it computes some of the columns of all rows.
    ///
    /// # Errors
    /// What computes them has failed.
    pub(crate) fn compute_for_rank_0(
        mut self,
        ranks: Ranks,
        method: &DistanceMethod,
        setup: &Setup,
    ) -> Result<()> {
        let mut pairs = self.prepare(method, setup);
        pairs.compute_on_ranks(ranks);
        let mut rows_of_taxa = TaxonRows::new(&pairs, self.rows.sequence_of_row());
        let num_taxa = self.names.len();
        let whole_rows: bool = ranks.hear();
        let pool = thread_pool(setup.plan);
        for band in bands_of(num_taxa) {
            let width = if whole_rows { num_taxa } else { band.end };
            pool.install(|| rows_of_taxa.next(band, width))?;
        }
        Ok(())
    }
}

/// The rows that are computed at a time.
fn bands_of(num_taxa: usize) -> impl Iterator<Item = Range<usize>> {
    (0..num_taxa).step_by(BAND).map(move |start| start..(start + BAND).min(num_taxa))
}

/// Makes the trees that are asked for, which are also those of the report, of taxa with these names.
pub(crate) fn make_trees(
    options: &MatrixPlan,
    store: Store,
    names: &[String],
    identical: Option<&Identical>,
    report: &mut MatrixReport,
    record: &mut RunRecord,
) -> Result<Vec<JoinedTree>> {
    let Trees { trees, filled, largest } = store.trees(&options.trees)?;
    if filled > 0 {
        let warning = format!(
            "{filled} pairs have no distance: in the trees, the largest distance, {largest:.6}, takes their place"
        );
        record.progress.event(&Event::Warning(warning));
    }
    let mut whole_trees = Vec::new();
    for (tree, kind) in trees.into_iter().zip(&options.trees) {
        let tree = whole(tree, identical);
        let newick = tree.newick(|taxon| &names[taxon]);
        report.trees.push(MatrixTreeReport { method: kind.name(), newick });
        whole_trees.push(tree);
    }
    Ok(whole_trees)
}

/// Writes the trees of a report, if it has some: those of each partition in the order of the partitions.
pub(crate) fn write_trees(report: &MatrixReport, record: &mut RunRecord) -> Result<()> {
    let of_partitions = report.partitions.iter().flat_map(|partition| &partition.distances.trees);
    let trees = report.trees.iter().chain(of_partitions);
    let lines: String = trees.map(|tree| format!("{}\n", tree.newick)).collect();
    match lines.is_empty() {
        true => Ok(()),
        false => record.write(DISTANCE_TREES, &lines),
    }
}

/// A tree with all taxa.
fn whole(tree: JoinedTree, identical: Option<&Identical>) -> JoinedTree {
    identical.map_or_else(|| tree.clone(), |identical| tree.with_copies(identical.groups()))
}

/// The numbers of a report, as a line.
pub(crate) fn describe(report: &MatrixReport) -> String {
    let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.6}"));
    format!(
        "{} distances of {} taxa ({}): from {} to {}, mean {}; {} saturated, {} without overlap\n",
        report.pairs,
        report.taxa,
        report.method,
        number(report.least),
        number(report.largest),
        number(report.mean),
        report.saturated,
        report.without_overlap
    )
}

/// As what distances are written.
fn matrix_kind(options: &MatrixPlan) -> OutputKind {
    match (options.apart, options.format, options.gzip) {
        (false, MatrixFormat::Npy, _) => DISTANCES_NPY,
        (false, _, true) => DISTANCES_GZ,
        (false, _, false) => DISTANCES,
        (true, MatrixFormat::Npy, _) => PARTITION_DISTANCES_NPY,
        (true, _, true) => PARTITION_DISTANCES_GZ,
        (true, _, false) => PARTITION_DISTANCES,
    }
}

/// The files of distances and of trees, if there are replicates also theirs.
pub(crate) fn outputs(options: &MatrixPlan, has_replicates: bool) -> Vec<OutputKind> {
    let matrix = Some(matrix_kind(options)).filter(|_| options.file.is_none());
    let trees = Some(DISTANCE_TREES).filter(|_| !options.trees.is_empty());
    let of_replicates = [BOOTSTRAPS, SUPPORT];
    let of_replicates = of_replicates.into_iter().filter(|_| has_replicates);
    matrix.into_iter().chain(trees).chain(of_replicates).collect()
}
