//! The columns of all partitions as bits.
//!
//! Columns of partitions with equal numbers of states share blocks, in partition order, so that a
//! partition that a taxon lacks leaves whole blocks of ones in its row: these are skipped everywhere.
//! A column of weight w takes w bits; columns that fit every tree equally well take none.

use super::columns::{BLOCK_BITS, Block, Columns, STATE_WORDS, clear_missing};
use super::orders::Order;
use super::other_ranks::OtherRanks;
use super::thinning::Thinning;
use super::threads::{Threads, sums};
use crate::alphabet::Code;
use crate::mpi::Ranks;
use crate::partition::Partition;
use crate::rng::Rng;
use crate::tree::Constraint;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What parsimony needs of one partition.
#[derive(Debug, Clone, Copy)]
pub struct ParsimonyPart<'a> {
    /// Number of character states, at most 64.
    pub num_states: usize,
    /// Taxa with data here; all others are undetermined throughout.
    pub tip_taxa: &'a [usize],
    /// `codes[i][pattern]`: code of taxon `tip_taxa[i]`.
    pub codes: &'a [Vec<Code>],
    /// Code to set of possible states, bit s for state s; an empty set counts as all states.
    pub code_masks: &'a [u64],
    /// Weight of each pattern (number of sites, or how often a replicate drew them); 0 drops it.
    pub weights: &'a [u32],
}

/// What branch lengths need of one partition.
#[derive(Debug, Clone)]
pub(super) struct PartSites {
    pub(super) num_states: usize,
    pub(super) tip_taxa: Vec<usize>,
    /// Sum of all weights, uninformative patterns included.
    pub(super) num_sites: u64,
}

/// A thread is worth it for so many blocks, each counted for every taxon. An estimate: far above it, with 100 taxa and 200 000 columns,
/// one thread reads the data and makes a starting tree in 0.9 to 1.0 s, two do in 0.7 to 0.9 s.
const BLOCKS_PER_THREAD: usize = 4000;

/// All partitions, ready for bit-parallel parsimony.
#[derive(Debug, Clone)]
pub struct ParsimonyData {
    num_taxa: usize,
    /// The columns that this process computes with, in shares for its threads.
    pub(super) columns: Vec<Arc<Columns>>,
    pub(super) threads: Threads,
    /// Other ranks, which have columns of their own.
    pub(super) others: Option<Arc<OtherRanks>>,
    /// Per taxon the changes on its own branch that every tree needs (uninformative patterns).
    pub(super) tip_changes: Vec<u64>,
    pub(super) parts: Vec<PartSites>,
    constraint: Option<Constraint>,
}

impl ParsimonyData {
    /// Packs the patterns of partitions as they were read, or of replicates of them.
    pub fn of_partitions(num_taxa: usize, partitions: &[Partition]) -> Self {
        let parts: Vec<ParsimonyPart> = partitions
            .iter()
            .map(|Partition { patterns, .. }| ParsimonyPart {
                num_states: patterns.data_type.num_states(),
                tip_taxa: &patterns.tip_taxa,
                codes: &patterns.codes,
                code_masks: &patterns.code_masks,
                weights: &patterns.weights,
            })
            .collect();
        ParsimonyData::new(num_taxa, &parts)
    }

    /// Packs the patterns of all partitions; taxa are numbered 0..`num_taxa`.
    pub fn new(num_taxa: usize, parts: &[ParsimonyPart]) -> Self {
        let mut tip_changes = vec![0u64; num_taxa];
        // Informative columns by number of states: (partition, pattern, weight).
        let mut columns: BTreeMap<usize, Vec<(usize, usize, usize)>> = BTreeMap::new();
        for (p, part) in parts.iter().enumerate() {
            assert!((1..=64).contains(&part.num_states), "{} states", part.num_states);
            assert_eq!(part.tip_taxa.len(), part.codes.len(), "a row of codes per taxon");
            for (pattern, &weight) in part.weights.iter().enumerate().filter(|(_, w)| **w > 0) {
                if is_informative(part, pattern, weight, &mut tip_changes) {
                    columns.entry(part.num_states).or_default().push((p, pattern, weight as usize));
                }
            }
        }
        let mut blocks = Vec::new();
        let mut starts = Vec::new();
        let mut row_len = 0;
        for (&num_states, list) in &columns {
            starts.push(row_len);
            let bits: usize = list.iter().map(|c| c.2).sum();
            for _ in 0..bits.div_ceil(BLOCK_BITS) {
                blocks.push(Block {
                    offset: row_len as u32,
                    num_states: num_states as u32,
                    number: blocks.len() as u32,
                });
                row_len += num_states;
            }
        }
        let mut tips = vec![vec![[u64::MAX; STATE_WORDS]; row_len].into_boxed_slice(); num_taxa];
        for ((&num_states, list), &start) in columns.iter().zip(&starts) {
            let mut first = 0;
            for of_part in list.chunk_by(|a, b| a.0 == b.0) {
                let part = &parts[of_part[0].0];
                for (&taxon, codes) in part.tip_taxa.iter().zip(part.codes) {
                    let sets =
                        of_part.iter().map(|column| (mask_of(part, codes[column.1]), column.2));
                    clear_missing(&mut tips[taxon][start..], num_states, first, sets);
                }
                first += of_part.iter().map(|column| column.2).sum::<usize>();
            }
        }
        let columns = vec![Arc::new(Columns::new(blocks, tips))];
        let parts = parts
            .iter()
            .map(|part| PartSites {
                num_states: part.num_states,
                tip_taxa: part.tip_taxa.to_vec(),
                num_sites: part.weights.iter().map(|&w| u64::from(w)).sum(),
            })
            .collect();
        ParsimonyData {
            num_taxa,
            columns,
            threads: Threads::default(),
            others: None,
            tip_changes,
            parts,
            constraint: None,
        }
    }

    /// The same data, for trees that satisfy a constraint: all that are made from the data, and those of searches on it.
    /// Trees that are to be improved must satisfy it.
    pub fn constrained(self, constraint: Option<Constraint>) -> Self {
        ParsimonyData { constraint, ..self }
    }

    /// What trees must satisfy.
    pub fn constraint(&self) -> Option<&Constraint> {
        self.constraint.as_ref()
    }

    /// Number of taxa.
    pub fn num_taxa(&self) -> usize {
        self.num_taxa
    }

    /// Among how many the columns are worth to be divided.
    pub fn useful_shares(&self) -> usize {
        self.all_columns().blocks.len() * self.num_taxa / BLOCKS_PER_THREAD
    }

    /// The same data, with shares of the columns for so many threads, or for fewer, if more are not worth it: what they compute
    /// together (scores, views) is the same, sooner.
    pub fn on_threads(self, threads: usize) -> Self {
        match threads.min(self.useful_shares()) {
            0 | 1 => self,
            worthwhile => self.on_exactly(worthwhile),
        }
    }

    /// The same data, with shares of the columns for so many threads.
    pub(super) fn on_exactly(self, threads: usize) -> Self {
        let all = self.all_columns();
        let columns = (0..threads).map(|number| all.share(number, threads)).collect();
        self.divided(columns)
    }

    /// The same data without some informative columns, each of which is left out with this probability (percent). Which ones are
    /// depends on `rng` alone, and not on threads and ranks.
    pub fn thinned(&self, percent: u32, rng: &mut Rng) -> Self {
        let thinning = Thinning::draw(percent, rng);
        let columns = self.columns.iter().map(|own| Arc::new(thinning.of(own))).collect();
        let others = self.others.as_ref().map(|others| Arc::new(others.thinned(thinning)));
        ParsimonyData { columns, others, ..self.clone() }
    }

    /// The same data, of which each rank gets a share, divided again among `threads` of each; for rank 0, when the others
    /// follow it with [`OwnShares`](super::OwnShares).
    pub fn on_ranks(self, ranks: Ranks, threads: usize) -> Self {
        let all = self.all_columns();
        let of_rank = |rank: usize| -> Vec<Columns> {
            let of_threads = (0..threads).map(|thread| thread * ranks.size() + rank);
            of_threads.map(|number| all.share(number, threads * ranks.size())).collect()
        };
        let others = OtherRanks::give(ranks, (1..ranks.size()).map(of_rank));
        let (others, own) = (Some(Arc::new(others)), of_rank(0));
        ParsimonyData { others, ..self.divided(own) }
    }

    /// The same data, with these shares of the columns for the threads of this process.
    fn divided(self, columns: Vec<Columns>) -> Self {
        let threads = Threads::new(columns.len());
        let columns = columns.into_iter().map(Arc::new).collect();
        ParsimonyData { columns, threads, ..self }
    }

    /// What all who compute with the columns count.
    pub(super) fn sum(&self, order: Order) -> Vec<u64> {
        let of_share = |number: usize| order.carry_out(&self.columns[number]);
        let own = || sums(self.threads.map(self.columns.len(), of_share));
        match &self.others {
            None => own(),
            Some(others) => others.sum(&order, own),
        }
    }

    /// All columns, which one thread computes with.
    ///
    /// # Panics
    /// If they are divided.
    pub(super) fn all_columns(&self) -> &Columns {
        assert!(self.columns.len() == 1 && self.others.is_none(), "the columns are divided");
        &self.columns[0]
    }
}

fn mask_of(part: &ParsimonyPart, code: Code) -> u64 {
    let all = u64::MAX >> (64 - part.num_states);
    match part.code_masks[code as usize] & all {
        0 => all,
        mask => mask,
    }
}

/// False if every tree needs the same changes at the pattern; these are then added to the branches
/// of the tips that have a state alone.
fn is_informative(
    part: &ParsimonyPart,
    pattern: usize,
    weight: u32,
    tip_changes: &mut [u64],
) -> bool {
    let all = u64::MAX >> (64 - part.num_states);
    let (mut common, mut seen, mut repeated, mut ambiguous) = (all, 0u64, 0u64, false);
    for codes in part.codes {
        let mask = mask_of(part, codes[pattern]);
        common &= mask;
        if mask.is_power_of_two() {
            repeated |= seen & mask;
            seen |= mask;
        } else {
            ambiguous |= mask != all;
        }
    }
    if common != 0 {
        return false;
    }
    // Two states in two taxa each, or a partial ambiguity, which may go either way.
    if ambiguous || repeated.count_ones() > 1 {
        return true;
    }
    let base = if repeated != 0 { repeated } else { seen & seen.wrapping_neg() };
    for (&taxon, codes) in part.tip_taxa.iter().zip(part.codes) {
        let mask = mask_of(part, codes[pattern]);
        if mask != all && mask != base {
            tip_changes[taxon] += u64::from(weight);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const DNA: [u64; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

    fn pack(patterns: &[(&[Code], u32)]) -> ParsimonyData {
        let num_taxa = patterns[0].0.len();
        let codes: Vec<Vec<Code>> =
            (0..num_taxa).map(|t| patterns.iter().map(|p| p.0[t]).collect()).collect();
        let weights: Vec<u32> = patterns.iter().map(|p| p.1).collect();
        let tip_taxa: Vec<usize> = (0..num_taxa).collect();
        let part = ParsimonyPart {
            num_states: 4,
            tip_taxa: &tip_taxa,
            codes: &codes,
            code_masks: &DNA,
            weights: &weights,
        };
        ParsimonyData::new(num_taxa, &[part])
    }

    #[test]
    fn only_informative_columns_take_bits_and_others_count_at_their_tips() {
        let data = pack(&[
            (&[1, 1, 1, 1, 1], 1000),
            (&[1, 1, 15, 0, 5], 1000),
            (&[1, 1, 2, 4, 15], 10),
            (&[8, 2, 15, 15, 4], 100),
        ]);
        assert_eq!(data.all_columns().blocks.len(), 0);
        assert_eq!(data.tip_changes, [100, 0, 10, 10, 100]);
        let data =
            pack(&[(&[1, 1, 2, 2, 15], 200), (&[1, 1, 2, 3, 4], 0), (&[1, 1, 2, 12, 4], 57)]);
        assert_eq!(data.all_columns().blocks.len(), 2, "257 columns are one more than a block");
        assert_eq!(data.tip_changes, [0; 5]);
        assert_eq!(
            data.all_columns().active,
            [vec![0, 1], vec![0, 1], vec![0, 1], vec![0, 1], vec![0, 1]]
        );
        // Taxon 3: C in 200 columns, then G or T in 57; the last 255 bits are padding.
        let count = |state: usize| -> u32 {
            let row = &data.all_columns().tips[3];
            [row[state], row[4 + state]].iter().flatten().map(|w| w.count_ones()).sum()
        };
        assert_eq!([count(0), count(1), count(2), count(3)], [255, 455, 312, 312]);
    }

    #[test]
    fn taxa_without_data_are_undetermined() {
        let codes = [vec![1; 300], vec![1; 300], vec![2; 300], vec![2; 300]];
        let weights = [1u32; 300];
        let part = |tip_taxa| ParsimonyPart {
            num_states: 4,
            tip_taxa,
            codes: &codes,
            code_masks: &DNA,
            weights: &weights,
        };
        let data = ParsimonyData::new(6, &[part(&[0, 1, 2, 3]), part(&[1, 2, 3, 4])]);
        assert_eq!(
            data.all_columns().active,
            [vec![0, 1], vec![0, 1, 2], vec![0, 1, 2], vec![0, 1, 2], vec![1, 2], vec![]]
        );
    }
}
