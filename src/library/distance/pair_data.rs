//! [`PairData`]: the sequences of one partition, prepared for counting the sites of pairs by class.

use super::bit_planes::BitPlanes;
use super::closed_form::StateCounts;
use super::pair_model::{Classes, DNA_CLASSES, NO_CLASS, PairModel};
use super::pair_tables::PartitionTables;
use super::solve::{Lanes, Part};
use crate::alignment::Patterns;
use crate::alphabet::{Code, DataType};

/// One partition. Sites at which a sequence has a gap or an undetermined character contribute a factor of 1 to every
/// likelihood; they count for nothing.
#[derive(Debug)]
pub(super) struct PairData {
    pub(super) classes: Classes,
    /// Of nucleotides: the determined ones.
    planes: Option<BitPlanes>,
    /// `[taxon][pattern]`; empty for a taxon without data.
    codes: Vec<Vec<Code>>,
    /// `[taxon]`: the patterns with ambiguous nucleotides, ascending.
    ambiguous: Vec<Vec<u32>>,
    weights: Vec<u32>,
    num_states: usize,
    /// `[code]`: the state, if it is determined.
    states: Vec<Option<u8>>,
}

/// Space for the counts of one pair.
#[derive(Debug, Default)]
pub(super) struct Table {
    by_codes: Vec<u64>,
}

impl PairData {
    /// `places` has the place of each taxon among the sequences.
    pub(super) fn new(patterns: &Patterns, places: &[usize]) -> Self {
        let is_dna = patterns.data_type == DataType::Dna;
        let mut codes = vec![Vec::new(); places.len()];
        for (&taxon, row) in patterns.tip_taxa.iter().zip(&patterns.codes) {
            codes[places[taxon]].clone_from(row);
        }
        let undetermined = patterns.data_type.undetermined();
        let is_ambiguous = |code: Code| !code.is_power_of_two() && code != undetermined;
        let ambiguous = |row: &Vec<Code>| -> Vec<u32> {
            let patterns = (0..row.len()).filter(|&at| is_dna && is_ambiguous(row[at]));
            patterns.map(|pattern| pattern as u32).collect()
        };
        let state = |mask: &u64| mask.is_power_of_two().then(|| mask.trailing_zeros() as u8);
        PairData {
            classes: Classes::new(patterns.data_type, &patterns.code_masks),
            planes: is_dna.then(|| BitPlanes::new(patterns, places)),
            ambiguous: codes.iter().map(ambiguous).collect(),
            codes,
            weights: patterns.weights.clone(),
            num_states: patterns.data_type.num_states(),
            states: patterns.code_masks.iter().map(state).collect(),
        }
    }

    /// Bytes that these patterns take when they are prepared.
    pub(super) fn bytes_of(patterns: &Patterns, num_taxa: usize) -> u64 {
        let codes = patterns.num_tips() * patterns.num_patterns() * size_of::<Code>();
        let is_dna = patterns.data_type == DataType::Dna;
        let planes = if is_dna { BitPlanes::bytes_of(patterns, num_taxa) } else { 0 };
        // Two lists of a taxon, besides what is in them.
        (codes + num_taxa * 2 * size_of::<Vec<u32>>()) as u64 + planes
    }

    /// Bytes of the counts of pairs by class at most, of one thread.
    pub(super) fn bytes_of_counts(patterns: &Patterns) -> u64 {
        let all = Classes::new(patterns.data_type, &patterns.code_masks).len();
        let undetermined = patterns.data_type.undetermined();
        let is_simple = |code: &Code| code.is_power_of_two() || *code == undetermined;
        let is_dna = patterns.data_type == DataType::Dna;
        let is_determined = is_dna && patterns.codes.iter().flatten().all(is_simple);
        let used = if is_determined { DNA_CLASSES } else { all };
        (used * size_of::<Lanes>()) as u64
    }

    /// The same as plain lists, with a model.
    pub(super) fn tables(&self, model: &PairModel) -> PartitionTables {
        let (words, chunks) = self.planes.as_ref().map(BitPlanes::tables).unwrap_or_default();
        let mut tables = PartitionTables {
            words,
            chunks,
            weights: self.weights.clone(),
            of_codes: self.classes.table().to_vec(),
            num_codes: self.classes.num_codes(),
            ..model.tables()
        };
        for (codes, ambiguous) in self.codes.iter().zip(&self.ambiguous) {
            tables.is_present.push(u32::from(!codes.is_empty()));
            tables.first_ambiguous.push(tables.ambiguous.len() as u32);
            tables.ambiguous.extend(ambiguous);
        }
        tables.first_ambiguous.push(tables.ambiguous.len() as u32);
        if self.planes.is_none() || !tables.ambiguous.is_empty() {
            for codes in &self.codes {
                let missing = self.weights.len() - codes.len();
                tables.codes.extend(codes.iter().copied().chain(std::iter::repeat_n(0, missing)));
            }
        }
        tables
    }

    /// Counts the sites of some pairs by class, a pair in each lane.
    #[inline(always)]
    pub(super) fn count(&self, pairs: &[(usize, usize)], part: &mut Part, table: &mut Table) {
        let Some(planes) = &self.planes else {
            part.clear(0);
            let num_codes = self.classes.num_codes();
            for (lane, &(a, b)) in pairs.iter().enumerate() {
                self.count_codes(a, b, table);
                for (at, &count) in
                    table.by_codes.iter().enumerate().filter(|(_, count)| **count > 0)
                {
                    let class = self.classes.of((at / num_codes) as Code, (at % num_codes) as Code);
                    if class != NO_CLASS {
                        part.add(class as usize, lane, count as f64);
                    }
                }
            }
            return;
        };
        let joined = part.model.joins_transversions;
        let simple = if joined { 7 } else { DNA_CLASSES };
        part.clear(simple);
        for (lane, &(a, b)) in pairs.iter().enumerate() {
            let found =
                if joined { planes.count::<true>(a, b) } else { planes.count::<false>(a, b) };
            part.set(lane, &found[..simple]);
            if !self.ambiguous[a].is_empty() || !self.ambiguous[b].is_empty() {
                self.add_ambiguous(a, b, |class, weight| part.add(class, lane, weight));
            }
        }
    }

    /// The sites at which one of two sequences has an ambiguous nucleotide: their class and weight.
    fn add_ambiguous(&self, a: usize, b: usize, mut add: impl FnMut(usize, f64)) {
        if self.codes[a].is_empty() || self.codes[b].is_empty() {
            return;
        }
        let (mut left, mut right) = (self.ambiguous[a].as_slice(), self.ambiguous[b].as_slice());
        loop {
            let pattern = match (left.first(), right.first()) {
                (Some(&a), Some(&b)) => a.min(b),
                (Some(&one), None) | (None, Some(&one)) => one,
                (None, None) => return,
            };
            let behind = |list: &mut &[u32]| {
                if list.first() == Some(&pattern) {
                    *list = &list[1..];
                }
            };
            behind(&mut left);
            behind(&mut right);
            let at = pattern as usize;
            let class = self.classes.of(self.codes[a][at], self.codes[b][at]);
            if class != NO_CLASS {
                add(class as usize, f64::from(self.weights[at]));
            }
        }
    }

    /// The number of sites with each ordered pair of codes.
    #[inline(always)]
    fn count_codes(&self, a: usize, b: usize, table: &mut Table) {
        let num_codes = self.classes.num_codes();
        table.by_codes.clear();
        table.by_codes.resize(num_codes * num_codes, 0);
        let both = self.codes[a].iter().zip(&self.codes[b]);
        for ((&a, &b), &weight) in both.zip(&self.weights) {
            table.by_codes[usize::from(a) * num_codes + usize::from(b)] += u64::from(weight);
        }
    }

    /// Adds the number of sites with each ordered pair of determined states.
    pub(super) fn count_states(
        &self,
        a: usize,
        b: usize,
        table: &mut Table,
        into: &mut StateCounts,
    ) {
        if into.counts.is_empty() {
            into.num_states = self.num_states;
            into.counts = vec![0.0; self.num_states * self.num_states];
        }
        self.count_codes(a, b, table);
        let num_codes = self.classes.num_codes();
        for (at, &count) in table.by_codes.iter().enumerate().filter(|(_, count)| **count > 0) {
            let states = (self.states[at / num_codes], self.states[at % num_codes]);
            if let (Some(a), Some(b)) = states {
                into.counts[usize::from(a) * self.num_states + usize::from(b)] += count as f64;
            }
        }
    }

    /// Number of sites.
    pub(super) fn num_sites(&self) -> u64 {
        self.weights.iter().map(|&weight| u64::from(weight)).sum()
    }

    /// True if a taxon has no data here.
    pub(super) fn is_missing(&self, taxon: usize) -> bool {
        self.codes[taxon].is_empty()
    }
}
