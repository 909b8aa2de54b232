//! A matrix of distances: computed and written row by row, and what is made of it.

use super::distance_memory::{Arrangement, BAND, TEXTS};
use super::distance_sequences::Sequences;
use super::distance_tally::Tally;
use super::distance_trees::{Store, Trees, folder_of};
use crate::distance::{JoinedTree, PairDistances, SquareMatrix, TaxonRows};
use crate::error::Result;
use crate::observer::{Advance, Event, Observer};
use crate::output::{MatrixReport, MatrixTreeReport, OutputKind};
use crate::run::plan::MatrixPlan;
use crate::run::prepare::Identical;
use crate::run::work::{RunRecord, Setup, thread_pool};
use flate2::{Compression, write::GzEncoder};
use rayon::ThreadPool;
use rayon::prelude::*;
use std::io::Write;
use std::ops::Range;

/// What is known when the matrix is written.
pub(super) struct Computed {
    /// What was found on the way.
    pub tally: Tally,
    /// The distances, where trees are made of them.
    pub store: Option<Store>,
}

impl Sequences<'_> {
    /// Computes and writes the distances of the prepared sequences row by row. `phase` is this matrix's part of the work of all.
    pub(super) fn write(
        &self,
        (pairs, arrangement): (&PairDistances, Arrangement),
        asked: &MatrixPlan,
        setup: &Setup,
        phase: [f64; 2],
        record: &mut RunRecord,
    ) -> Result<Computed> {
        let (names, identical) = (&*self.names, self.identical.as_deref());
        let mut rows_of_taxa = TaxonRows::new(pairs, identical.map(Identical::group_of));
        let num_taxa = names.len();
        let pool = thread_pool(setup.plan);
        let mut tally = Tally::default();
        let Arrangement { waits, place, .. } = arrangement;
        let store = |place| Store::new(place, pairs.num_taxa(), &folder_of(setup.plan));
        let mut store = place.map(store).transpose()?;
        let mut matrix = SquareMatrix::<f64>::zero(if waits { num_taxa } else { 0 });
        let whole_rows = asked.format.is_square() && !waits;
        let mut part = match self.partition {
            None => record.part(asked.matrix_kind())?,
            Some([number, _]) => record.numbered_part(asked.matrix_kind(), number)?,
        };
        let mut sink: Box<dyn Write + '_> = match asked.gzip {
            true => Box::new(GzEncoder::new(&mut part, Compression::default())),
            false => Box::new(&mut part),
        };
        let mut written = asked.format.begin(num_taxa, &mut sink);
        for start in (0..num_taxa).step_by(BAND) {
            let rows = start..(start + BAND).min(num_taxa);
            let width = if whole_rows { num_taxa } else { rows.end };
            let found = pool.install(|| rows_of_taxa.next(rows.clone(), width));
            for (taxon, row) in rows.clone().zip(found.chunks_exact(width)) {
                tally.add(taxon, &row[..taxon], |taxon| &names[taxon]);
                if let Some(store) = &mut store {
                    match identical {
                        None => store.push(&row[..taxon])?,
                        Some(identical) => {
                            let sequence = identical.group_of()[taxon];
                            if identical.kept()[sequence] == taxon {
                                let before = identical.kept()[..sequence].iter();
                                let before: Vec<f64> = before.map(|&other| row[other]).collect();
                                store.push(&before)?;
                            }
                        }
                    }
                }
                if waits {
                    row[..taxon]
                        .iter()
                        .enumerate()
                        .for_each(|(other, d)| matrix.set(taxon, other, *d));
                }
            }
            if !waits {
                let row = |taxon: usize| {
                    let row = &found[(taxon - start) * width..][..width];
                    let shown = if whole_rows { row } else { &row[..taxon] };
                    asked.format.row(taxon, names, shown)
                };
                written = written.and_then(|()| write_rows(rows.clone(), &pool, row, &mut sink));
            }
            let share = rows.end as f64 / num_taxa as f64;
            let share = if whole_rows { share } else { share * share };
            let share = phase[0] + (phase[1] - phase[0]) * share;
            record.progress.advance(Advance { phase: Some(share), ..Advance::default() });
        }
        let row = |taxon: usize| {
            let row: Vec<f64> = (0..num_taxa).map(|other| matrix.get(taxon, other)).collect();
            asked.format.row(taxon, names, &row)
        };
        let written = written
            .and_then(|()| write_rows(0..matrix.size(), &pool, row, &mut sink))
            .and_then(|()| sink.flush());
        drop(sink);
        written.map_err(|source| part.failed(source))?;
        record.complete(part)?;
        tally.warn(&self.place, "are written as -1", record);
        Ok(Computed { tally, store })
    }
}

/// Writes rows in their order, as texts that are made by several threads.
fn write_rows(
    rows: Range<usize>,
    pool: &ThreadPool,
    text_of: impl Fn(usize) -> Vec<u8> + Sync,
    sink: &mut dyn Write,
) -> std::io::Result<()> {
    for start in rows.clone().step_by(TEXTS) {
        let some = start..(start + TEXTS).min(rows.end);
        let texts: Vec<Vec<u8>> = pool.install(|| some.into_par_iter().map(&text_of).collect());
        texts.iter().try_for_each(|text| sink.write_all(text))?;
    }
    Ok(())
}

/// Makes the trees that are asked for, which are also those of the report.
pub(super) fn make_trees(
    asked: &MatrixPlan,
    store: Store,
    names: &[String],
    identical: Option<&Identical>,
    report: &mut MatrixReport,
    record: &mut RunRecord,
) -> Result<Vec<JoinedTree>> {
    let Trees { trees, filled, largest } = store.trees(&asked.trees)?;
    if filled > 0 {
        let warning = format!(
            "{filled} pairs have no distance: in the trees, the largest distance, {largest:.6}, takes their place"
        );
        record.progress.event(&Event::Warning(warning));
    }
    let mut whole_trees = Vec::new();
    for (tree, kind) in trees.into_iter().zip(&asked.trees) {
        let tree = whole(tree, identical);
        let newick = tree.newick(|taxon| &names[taxon]);
        report.trees.push(MatrixTreeReport { method: kind.name(), newick });
        whole_trees.push(tree);
    }
    Ok(whole_trees)
}

/// Writes the trees of a report, if it has some: those of each partition in the order of the partitions.
pub(super) fn write_trees(report: &MatrixReport, record: &mut RunRecord) -> Result<()> {
    let of_partitions = report.partitions.iter().flat_map(|partition| &partition.distances.trees);
    let trees = report.trees.iter().chain(of_partitions);
    let lines: String = trees.map(|tree| format!("{}\n", tree.newick)).collect();
    match lines.is_empty() {
        true => Ok(()),
        false => record.write(OutputKind::DistanceTrees, &lines),
    }
}

/// A tree with all taxa.
pub(super) fn whole(tree: JoinedTree, identical: Option<&Identical>) -> JoinedTree {
    identical.map_or_else(|| tree.clone(), |identical| tree.with_copies(identical.groups()))
}

/// The numbers of a report, as a line.
pub(super) fn describe(report: &MatrixReport) -> String {
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
