//! Nucleotides as bits, so that one instruction compares 64 or more sites of two sequences.
//!
//! Three bits per site: pyrimidine or purine, which of the two, and whether the nucleotide is determined. A pattern of
//! weight w is at the places that the binary digits of w demand: the counts of level b are multiplied by 2^b. Counts are
//! exact integers, so they do not depend on any order.

use super::pair_model::DNA_CLASSES;
use crate::alignment::Patterns;

/// Words per plane in a chunk.
const WORDS: usize = 8;
/// Words of a chunk: its three planes, one after the other.
const CHUNK: usize = 3 * WORDS;
/// Sites of a chunk.
const CHUNK_SITES: usize = 64 * WORDS;

/// The bits of all sequences of one partition.
#[derive(Debug, Clone)]
pub(super) struct BitPlanes {
    /// Number of chunks of each level.
    chunks: Vec<usize>,
    /// Words of a sequence.
    stride: usize,
    /// `[sequence][level][chunk][plane][word]`.
    words: Vec<u64>,
}

/// For each level the patterns at its places, in order; a pattern may be at several.
fn places(weights: &[u32], top: u32) -> Vec<Vec<u32>> {
    let mut levels = vec![Vec::new(); top as usize + 1];
    for (pattern, &weight) in weights.iter().enumerate() {
        for (level, places) in levels.iter_mut().enumerate() {
            let copies = if level as u32 == top { weight >> top } else { weight >> level & 1 };
            places.extend(std::iter::repeat_n(pattern as u32, copies as usize));
        }
    }
    levels
}

/// The division into levels that takes the fewest chunks. More levels than one pay where many sites have the same
/// pattern.
fn best_places(weights: &[u32]) -> Vec<Vec<u32>> {
    let chunks = |top: u32| -> u64 {
        let level = |level: u32| -> u64 {
            let copies = |&weight: &u32| match level == top {
                true => u64::from(weight >> top),
                false => u64::from(weight >> level & 1),
            };
            weights.iter().map(copies).sum::<u64>().div_ceil(CHUNK_SITES as u64)
        };
        (0..=top).map(level).sum()
    };
    let heaviest = weights.iter().copied().max().unwrap_or(0);
    let top = (0..=heaviest.checked_ilog2().unwrap_or(0)).min_by_key(|&top| chunks(top));
    places(weights, top.unwrap_or(0))
}

impl BitPlanes {
    /// Bytes that the bits of these patterns take.
    pub(super) fn bytes_of(patterns: &Patterns, num_taxa: usize) -> u64 {
        let levels = best_places(&patterns.weights);
        let chunks: usize = levels.iter().map(|places| places.len().div_ceil(CHUNK_SITES)).sum();
        (num_taxa * chunks * CHUNK * size_of::<u64>()) as u64
    }

    /// The bits of these patterns for all taxa, whose places among the sequences these are; taxa without data have no
    /// determined nucleotide.
    pub(super) fn new(patterns: &Patterns, rows: &[usize]) -> Self {
        let levels = best_places(&patterns.weights);
        let chunks: Vec<usize> =
            levels.iter().map(|places| places.len().div_ceil(CHUNK_SITES)).collect();
        let stride = chunks.iter().sum::<usize>() * CHUNK;
        let mut words = vec![0; rows.len() * stride];
        for (&taxon, codes) in patterns.tip_taxa.iter().zip(&patterns.codes) {
            let mut start = rows[taxon] * stride;
            for (places, chunks) in levels.iter().zip(&chunks) {
                for (place, &pattern) in places.iter().enumerate() {
                    // The code of a nucleotide is one bit: A, C, G, T.
                    let code = codes[pattern as usize];
                    if !code.is_power_of_two() {
                        continue;
                    }
                    let (is_pyrimidine, is_second) = (code & 0b1010 != 0, code & 0b1100 != 0);
                    let at = start + place / CHUNK_SITES * CHUNK + place % CHUNK_SITES / 64;
                    let bit = 1 << (place % 64);
                    words[at] |= if is_pyrimidine { bit } else { 0 };
                    words[at + WORDS] |= if is_second { bit } else { 0 };
                    words[at + 2 * WORDS] |= bit;
                }
                start += chunks * CHUNK;
            }
        }
        BitPlanes { chunks, stride, words }
    }

    /// The words of all taxa, and the number of chunks of each level.
    pub(super) fn tables(&self) -> (Vec<u64>, Vec<u32>) {
        (self.words.clone(), self.chunks.iter().map(|&chunks| chunks as u32).collect())
    }

    /// The number of sites in each class of determined nucleotides; with `JOINED`, the first of the transversions has
    /// all of them.
    #[inline(always)]
    pub(super) fn count<const JOINED: bool>(&self, a: usize, b: usize) -> [u64; DNA_CLASSES] {
        let row = |taxon: usize| &self.words[taxon * self.stride..][..self.stride];
        let (mut a, mut b) = (row(a), row(b));
        let mut counts = [0; DNA_CLASSES];
        for (level, &chunks) in self.chunks.iter().enumerate() {
            let (here_a, after_a) = a.split_at(chunks * CHUNK);
            let (here_b, after_b) = b.split_at(chunks * CHUNK);
            (a, b) = (after_a, after_b);
            let mut sums = [[0_u64; WORDS]; DNA_CLASSES];
            for (a, b) in here_a.as_chunks::<CHUNK>().0.iter().zip(here_b.as_chunks::<CHUNK>().0) {
                count_chunk::<JOINED>(a, b, &mut sums);
            }
            for (count, sums) in counts.iter_mut().zip(&sums) {
                *count += sums.iter().sum::<u64>() << level;
            }
        }
        counts
    }
}

#[inline(always)]
fn count_chunk<const JOINED: bool>(
    a: &[u64; CHUNK],
    b: &[u64; CHUNK],
    sums: &mut [[u64; WORDS]; DNA_CLASSES],
) {
    for i in 0..WORDS {
        let (kind_a, kind_b) = (a[i], b[i]);
        let (which_a, which_b) = (a[i + WORDS], b[i + WORDS]);
        let known = a[i + 2 * WORDS] & b[i + 2 * WORDS];
        let (kinds, whiches) = (kind_a ^ kind_b, which_a ^ which_b);
        let same_kind = known & !kinds;
        let (equal, transition) = (same_kind & !whiches, same_kind & whiches);
        let transversion = known & kinds;
        let mut add = |class: usize, bits: u64| sums[class][i] += u64::from(bits.count_ones());
        add(0, equal & !kind_a & !which_a);
        add(1, equal & kind_a & !which_a);
        add(2, equal & !kind_a & which_a);
        add(3, equal & kind_a & which_a);
        add(4, transition & !kind_a);
        add(5, transition & kind_a);
        if JOINED {
            add(6, transversion);
        } else {
            // Which purine it is.
            let purine = (kind_a & which_b) | (!kind_a & which_a);
            add(6, transversion & !whiches & !purine);
            add(7, transversion & whiches & !purine);
            add(8, transversion & whiches & purine);
            add(9, transversion & !whiches & purine);
        }
    }
}
