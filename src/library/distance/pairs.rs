//! [`PairDistances`]: the distance of any pair of sequences, computed in tiles.

use super::closed_form::{StateCounts, log_det, p_distance};
use super::cuda::PairGpus;
use super::pair_data::{PairData, Table};
use super::pair_model::PairModel;
use super::pair_tables::PairTables;
use super::solve::{LANES, Part, Scratch, solve};
use crate::error::Result;
use crate::instructions::{Instructions, Work};
use crate::model::Model;
use crate::mpi::Ranks;
use crate::partition::Partition;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Rows and columns of a tile: their bits are in the cache of a core.
const TILE: usize = 64;

/// What a distance is.
#[derive(Debug, Clone, PartialEq)]
pub enum DistanceMethod {
    /// The distance of maximum likelihood under the models of the partitions, with the same distance in all of them. With a
    /// shape, the rates of sites have this continuous gamma distribution.
    Likelihood {
        /// One model per partition, with its final parameters.
        models: Vec<Model>,
        /// The shape.
        gamma: Option<f64>,
    },
    /// The share of sites that differ.
    Uncorrected,
    /// LogDet.
    LogDet,
}

/// The sequences of an alignment, prepared for the computation of their distances.
///
/// A distance is in expected substitutions per site. It is infinite where the sequences are saturated, and not a number
/// where no site is determined in both.
///
/// # Examples
///
/// ```
/// use mlsearch_library::alignment::read_alignment_from;
/// use mlsearch_library::distance::{DistanceMethod, PairDistances};
/// use mlsearch_library::partition::Partition;
///
/// let alignment = read_alignment_from(&b"3 8\nx ACGTACGT\ny ACGTACGA\nz ----ACGA\n"[..], "a.phy")?;
/// let partitions = [Partition::whole(&alignment, "JC")?];
/// let models = vec![partitions[0].model.clone()];
/// let method = DistanceMethod::Likelihood { models, gamma: None };
/// let distances = PairDistances::new(3, &partitions, &method, None);
/// // -3/4 ln(1 - 4/3 · 1/8), 1/4, and none.
/// let expected = [0.13674, 0.30410, 0.0];
/// let found = [distances.rows(0..1, 1..3)?, distances.rows(1..2, 2..3)?].concat();
/// assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-5));
/// # Ok::<(), mlsearch_library::error::Error>(())
/// ```
#[derive(Debug)]
pub struct PairDistances {
    /// `[sequence]`: its taxon in the partitions.
    taxa: Vec<usize>,
    data: Vec<PairData>,
    formula: Formula,
    instructions: Instructions,
    /// What computes instead of the processor.
    gpus: Option<Mutex<PairGpus>>,
    /// Who computes together.
    ranks: Option<Ranks>,
}

#[derive(Debug)]
enum Formula {
    /// One model per partition.
    Likelihood(Vec<PairModel>),
    Uncorrected,
    LogDet,
}

/// Some rows and columns of the matrix.
struct Tile<'a> {
    distances: &'a PairDistances,
    rows: Range<usize>,
    columns: Range<usize>,
    /// A sequence and itself are two taxa that have it.
    are_twins: bool,
}

/// A tile, and a list for the distances of each of its rows.
impl Work for (&Tile<'_>, &mut [&mut [f64]]) {
    type Found = ();

    #[inline(always)]
    fn compute(self) {
        let (tile, out) = self;
        let distances = tile.distances;
        match &distances.formula {
            Formula::Likelihood(models) => distances.compute_likelihood(models, tile, out),
            Formula::Uncorrected => distances.compute_formula(p_distance, tile, out),
            Formula::LogDet => distances.compute_formula(log_det, tile, out),
        }
    }
}

impl PairDistances {
    /// Prepares the sequences of these partitions; `instruction_set` names the instructions to use, if not the best ones.
    ///
    /// # Panics
    /// If there is not one model for each partition.
    pub fn new(
        num_taxa: usize,
        partitions: &[Partition],
        method: &DistanceMethod,
        instruction_set: Option<&str>,
    ) -> Self {
        Self::in_order((0..num_taxa).collect(), partitions, method, instruction_set)
    }

    /// The same with the sequences in another order, that of `taxa`, which are all taxa of the partitions. The distance of two
    /// sequences has the same bits in any order.
    ///
    /// # Panics
    /// If there is not one model for each partition, or not each taxon once.
    pub fn in_order(
        taxa: Vec<usize>,
        partitions: &[Partition],
        method: &DistanceMethod,
        instruction_set: Option<&str>,
    ) -> Self {
        let mut places = vec![usize::MAX; taxa.len()];
        taxa.iter().enumerate().for_each(|(place, &taxon)| places[taxon] = place);
        assert!(!places.contains(&usize::MAX), "each taxon once");
        let data: Vec<PairData> = partitions
            .iter()
            .map(|partition| PairData::new(&partition.patterns, &places))
            .collect();
        let formula = match method {
            DistanceMethod::Likelihood { models, gamma } => {
                assert_eq!(models.len(), data.len(), "one model for each partition");
                let model = |(model, data): (&Model, &PairData)| {
                    PairModel::new(model, *gamma, &data.classes)
                };
                Formula::Likelihood(models.iter().zip(&data).map(model).collect())
            }
            DistanceMethod::Uncorrected => Formula::Uncorrected,
            DistanceMethod::LogDet => Formula::LogDet,
        };
        let instructions = Instructions::detect(instruction_set).unwrap_or(Instructions::Scalar);
        PairDistances { taxa, data, formula, instructions, gpus: None, ranks: None }
    }

    /// Lets GPUs compute, whose numbers are given as bits (none: the first one). False if such distances are computed on the
    /// processor only.
    ///
    /// # Errors
    /// GPUs that cannot be used.
    pub fn compute_on_gpus(&mut self, gpus: u64) -> Result<bool> {
        // Numbers of sites have 32 bits on a GPU.
        let is_small = u32::try_from(self.num_sites()).is_ok();
        let Some(tables) = self.tables().filter(|_| is_small) else { return Ok(false) };
        self.gpus = Some(Mutex::new(PairGpus::open(gpus, &tables)?));
        Ok(true)
    }

    /// Lets ranks compute together, which have the same sequences and ask for the same [rows](PairDistances::rows) in the same order: rank 0
    /// gets all distances, the others those that they have computed, and 0 in place of the others.
    pub fn compute_on_ranks(&mut self, ranks: Ranks) {
        self.ranks = Some(ranks);
    }

    /// The sequences and models as plain lists; `None` for distances that are not by likelihood.
    fn tables(&self) -> Option<PairTables> {
        let Formula::Likelihood(models) = &self.formula else { return None };
        let partitions =
            self.data.iter().zip(models).map(|(partition, model)| partition.tables(model));
        Some(PairTables { num_taxa: self.num_taxa(), partitions: partitions.collect() })
    }

    /// Bytes that the sequences of these partitions take when they are prepared, and what so many threads count at most.
    pub fn bytes_of(num_taxa: usize, partitions: &[Partition], threads: usize) -> u64 {
        let working = threads.clamp(1, num_taxa.div_ceil(TILE).max(1)) as u64;
        let of_partition = |partition: &Partition| {
            let patterns = &partition.patterns;
            PairData::bytes_of(patterns, num_taxa) + working * PairData::bytes_of_counts(patterns)
        };
        partitions.iter().map(of_partition).sum()
    }

    /// Number of sequences.
    pub fn num_taxa(&self) -> usize {
        self.taxa.len()
    }

    /// Number of sites.
    pub fn num_sites(&self) -> u64 {
        self.data.iter().map(PairData::num_sites).sum()
    }

    /// The distances between these rows and columns, row by row, computed in parallel by rayon's threads, on GPUs
    /// ([`PairDistances::compute_on_gpus`]), or on several ranks ([`PairDistances::compute_on_ranks`]). Those of a sequence from itself are 0.
    ///
    /// # Errors
    /// A GPU was lost.
    pub fn rows(&self, rows: Range<usize>, columns: Range<usize>) -> Result<Vec<f64>> {
        if let Some(gpus) = &self.gpus {
            let mut gpus = gpus.lock().unwrap_or_else(PoisonError::into_inner);
            return Ok(gpus.rows(rows, columns)?);
        }
        match self.ranks {
            Some(ranks) => Ok(self.rows_of_ranks(ranks, rows, columns)),
            None => Ok(self.own_rows(rows, columns)),
        }
    }

    /// The same of several ranks, each of which computes some of the columns.
    fn rows_of_ranks(&self, ranks: Ranks, rows: Range<usize>, columns: Range<usize>) -> Vec<f64> {
        let (size, tiles) = (ranks.size(), columns.len().div_ceil(TILE));
        let begin = |rank: usize| (tiles * rank / size * TILE).min(columns.len());
        let computed_by = |rank: usize| begin(rank)..begin(rank + 1);
        let own = computed_by(ranks.rank());
        let found = self.own_rows(rows.clone(), columns.start + own.start..columns.start + own.end);
        let mut whole = vec![0.0; rows.len() * columns.len()];
        let mut put = |computed: Range<usize>, found: &[f64]| {
            let parts = found.chunks_exact(computed.len().max(1));
            for (row, part) in whole.chunks_exact_mut(columns.len().max(1)).zip(parts) {
                row[computed.clone()].copy_from_slice(part);
            }
        };
        put(own, &found);
        let _turn = ranks.turn();
        if ranks.leads() {
            for rank in 1..size {
                put(computed_by(rank), &ranks.receive::<Vec<f64>>(rank));
            }
        } else {
            ranks.send(0, &found);
        }
        whole
    }

    /// The same of this rank alone, on the processor.
    fn own_rows(&self, rows: Range<usize>, columns: Range<usize>) -> Vec<f64> {
        let mut whole = vec![0.0; rows.len() * columns.len()];
        // Each tile has its part of every row.
        let mut tiles: Vec<Vec<&mut [f64]>> =
            columns.clone().step_by(TILE).map(|_| Vec::with_capacity(rows.len())).collect();
        for row in whole.chunks_exact_mut(columns.len().max(1)) {
            for (tile, part) in tiles.iter_mut().zip(row.chunks_mut(TILE)) {
                tile.push(part);
            }
        }
        tiles.into_par_iter().enumerate().for_each(|(number, mut out)| {
            let start = columns.start + number * TILE;
            let columns = start..(start + TILE).min(columns.end);
            let tile = Tile { distances: self, rows: rows.clone(), columns, are_twins: false };
            self.instructions.compute((&tile, &mut out[..]));
        });
        whole
    }

    /// The distance of two taxa that both have this sequence.
    pub(super) fn to_itself(&self, sequence: usize) -> f64 {
        let one = sequence..sequence + 1;
        let tile = Tile { distances: self, rows: one.clone(), columns: one, are_twins: true };
        let mut out = [0.0];
        self.instructions.compute((&tile, &mut [&mut out[..]][..]));
        out[0]
    }

    #[inline(always)]
    fn compute_likelihood(&self, models: &[PairModel], tile: &Tile, out: &mut [&mut [f64]]) {
        let part = |(partition, model): (&PairData, _)| Part::new(model, partition.classes.len());
        let mut parts: Vec<Part> = self.data.iter().zip(models).map(part).collect();
        let (mut scratch, mut table) = (Scratch::default(), Table::default());
        for (row, out) in tile.rows.clone().zip(out) {
            for (start, out) in tile.columns.clone().step_by(LANES).zip(out.chunks_mut(LANES)) {
                let mut pairs = [(row, row); LANES];
                for (pair, column) in pairs.iter_mut().zip(start..tile.columns.end) {
                    // Classes of sites are of unordered pairs: either order gives the same counts.
                    *pair = (row.min(column), row.max(column));
                }
                let pairs = &pairs[..out.len()];
                for (partition, part) in self.data.iter().zip(&mut parts) {
                    partition.count(pairs, part, &mut table);
                }
                solve(&mut parts, &mut scratch, out);
                for (out, &(a, b)) in out.iter_mut().zip(pairs) {
                    if a == b && !tile.are_twins {
                        *out = 0.0;
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn compute_formula(
        &self,
        formula: impl Fn(&StateCounts) -> f64,
        tile: &Tile,
        out: &mut [&mut [f64]],
    ) {
        let mut table = Table::default();
        for (row, out) in tile.rows.clone().zip(out) {
            for (column, out) in tile.columns.clone().zip(out.iter_mut()) {
                if row == column && !tile.are_twins {
                    *out = 0.0;
                    continue;
                }
                let mut pair = StateCounts::default();
                for partition in &self.data {
                    if !partition.is_missing(row) && !partition.is_missing(column) {
                        // A determinant and that of the transposed matrix may differ in the last digits.
                        let [a, b] = match self.taxa[row] < self.taxa[column] {
                            true => [row, column],
                            false => [column, row],
                        };
                        partition.count_states(a, b, &mut table, &mut pair);
                    }
                }
                *out = if pair.counts.is_empty() { f64::NAN } else { formula(&pair) };
            }
        }
    }
}
