//! [`TaxonRows`]: the distances of all taxa, where each sequence is computed with once, however many taxa have it.

use super::pairs::PairDistances;
use crate::error::Result;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

/// Numbers that are kept for taxa to come: 256 MB.
const MOST_KEPT: usize = 1 << 25;

/// The rows of all taxa, in their order. The sequences are numbered in the order of their first taxa.
#[derive(Debug)]
pub struct TaxonRows<'p> {
    pairs: &'p PairDistances,
    /// `[taxon]`: its sequence; `None` if each taxon has its own.
    sequences: Option<&'p [usize]>,
    /// `[sequence]`: how many of its taxa have not been reached.
    to_come: Vec<usize>,
    /// `[sequence]`: the distance of two taxa that have it.
    own: Vec<f64>,
    /// Distances from all sequences so far, of some sequences of which taxa are to come.
    kept: BTreeMap<usize, Vec<f64>>,
}

impl<'p> TaxonRows<'p> {
    /// `sequences` has the number of the sequence of each taxon; `pairs` are the distances of these sequences.
    pub fn new(pairs: &'p PairDistances, sequences: Option<&'p [usize]>) -> Self {
        let mut to_come = vec![0; pairs.num_taxa()];
        sequences.into_iter().flatten().for_each(|&sequence| to_come[sequence] += 1);
        // A likelihood is highest at 0, but LogDet has no value where a state is missing, and nothing has one without data.
        let twin = |(sequence, taxa): (usize, &usize)| match taxa {
            0 | 1 => 0.0,
            _ => pairs.to_itself(sequence),
        };
        let own = to_come.iter().enumerate().map(twin).collect();
        TaxonRows { pairs, sequences, to_come, own, kept: BTreeMap::new() }
    }

    /// Number of taxa.
    pub fn num_taxa(&self) -> usize {
        self.sequences.map_or(self.pairs.num_taxa(), <[usize]>::len)
    }

    /// The distances of the next taxa from the first `width`, row by row; 0 for a taxon and itself. Each call begins
    /// where the one before it ended; `width` is the end of these taxa or, in all calls, the number of taxa.
    ///
    /// # Errors
    /// Those of [`PairDistances::rows`].
    pub fn next(&mut self, taxa: Range<usize>, width: usize) -> Result<Vec<f64>> {
        let Some(sequences) = self.sequences else { return self.pairs.rows(taxa, 0..width) };
        let after = |taxa: &[usize]| taxa.iter().max().map_or(0, |last| last + 1);
        let columns = after(&sequences[..width]);
        let new = after(&sequences[..taxa.start])..after(&sequences[..taxa.end]);
        let found = self.pairs.rows(new.clone(), 0..columns)?;
        let row_of_new = |sequence: usize| &found[(sequence - new.start) * columns..][..columns];
        for (&sequence, row) in &mut self.kept {
            // Of whole rows nothing is missing.
            let missing = row.len().max(new.start)..columns;
            row.extend(missing.map(|other| row_of_new(other)[sequence]));
        }
        for &sequence in &sequences[taxa.clone()] {
            self.to_come[sequence] -= 1;
        }
        for sequence in new.clone().filter(|&sequence| self.to_come[sequence] > 0) {
            if (self.kept.len() + 1) * self.pairs.num_taxa() <= MOST_KEPT {
                self.kept.insert(sequence, row_of_new(sequence).to_vec());
            }
        }
        let mut again: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for &sequence in &sequences[taxa.clone()] {
            if sequence < new.start
                && !self.kept.contains_key(&sequence)
                && let Entry::Vacant(vacant) = again.entry(sequence)
            {
                vacant.insert(self.pairs.rows(sequence..sequence + 1, 0..columns)?);
            }
        }
        let mut out = Vec::with_capacity(taxa.len() * width);
        for taxon in taxa.clone() {
            let own = sequences[taxon];
            let row = match self.kept.get(&own).or(again.get(&own)) {
                Some(row) => row,
                None => row_of_new(own),
            };
            out.extend(sequences[..width].iter().enumerate().map(|(other, &sequence)| match () {
                _ if other == taxon => 0.0,
                _ if sequence == own => self.own[own],
                _ => row[sequence],
            }));
        }
        self.kept.retain(|&sequence, _| self.to_come[sequence] > 0);
        Ok(out)
    }
}
