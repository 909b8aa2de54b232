//! Where distances are kept until trees are made of them, within the memory that is allowed.

use crate::distance::{DistanceTree, ROW_FILE_MEMORY};
use crate::plan::MatrixPlan;

/// Rows that are computed at a time.
pub(crate) const BAND: usize = 64;
/// Rows of which there are texts at a time.
pub(crate) const TEXTS: usize = 8;
/// Taxa up to which all distances are in memory with 8 bytes each.
const MOST_EXACT: usize = 4000;
/// Taxa up to which they are there with 4 bytes each (1.6 GB); those of more are in a file.
const MOST_IN_MEMORY: usize = 20_000;
/// Least memory for pieces of that file: with less, it would be written in very small ones.
const LEAST_OF_FILE: u64 = 1 << 23;
/// Matrices that balanced minimum evolution takes: its own, and two of the averages of all pairs of branches, whose rows
/// and columns are twice as long.
const MATRICES_OF_AVERAGES: u64 = 9;

/// Where the distances are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In memory, with all digits.
    Exact,
    /// In memory, with 4 bytes each.
    Rounded,
    /// In a temporary file with 4 bytes each, and with so many bytes of memory.
    File {
        /// These bytes.
        memory: u64,
    },
}

impl Place {
    /// Where they are if nothing limits memory.
    pub(crate) fn usual(num_sequences: usize) -> Self {
        match () {
            _ if num_sequences <= MOST_EXACT => Place::Exact,
            _ if num_sequences <= MOST_IN_MEMORY => Place::Rounded,
            _ => Place::File { memory: ROW_FILE_MEMORY },
        }
    }

    /// Most bytes of memory while the distances are computed, or trees are made of them.
    fn bytes(self, num_sequences: usize, kinds: &[DistanceTree]) -> u64 {
        let pairs = num_sequences as u64 * num_sequences as u64;
        let last = kinds.len().saturating_sub(1);
        let matrices = |(number, kind): (usize, &DistanceTree)| {
            // All but the last tree are made of a copy.
            let copy = u64::from(number < last);
            match kind {
                DistanceTree::MinimumEvolution => MATRICES_OF_AVERAGES + copy,
                kind => kind.num_matrices() as u64 + copy,
            }
        };
        let in_memory = kinds.iter().enumerate().map(matrices).max().unwrap_or(0);
        match self {
            Place::Exact => 8 * pairs * in_memory,
            Place::Rounded => 4 * pairs * in_memory,
            Place::File { memory } => memory * in_file(kinds),
        }
    }
}

/// Files at the same time that have memory of their own.
fn in_file(kinds: &[DistanceTree]) -> u64 {
    kinds.iter().map(|kind| kind.num_matrices() as u64).max().unwrap_or(1)
}

/// What is known of the sequences of a matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Number of taxa.
    pub taxa: usize,
    /// Number of different sequences.
    pub sequences: usize,
    /// Number of sequences that several taxa have.
    pub shared: usize,
    /// Bytes of the program with its data and the prepared sequences.
    pub beside: u64,
}

/// How a matrix is computed and its trees are made. The results are the same with any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrangement {
    /// A square matrix is in memory until it is complete; otherwise its pairs are computed twice.
    pub waits: bool,
    /// Where the distances are for trees, if some are asked for.
    pub place: Option<Place>,
    /// Most bytes that the program takes.
    pub bytes: u64,
}

impl Arrangement {
    fn new(asked: &MatrixPlan, sizes: Sizes, waits: bool, place: Option<Place>) -> Self {
        // Rows that are written, those that are computed at the same time (and then copied, where taxa share sequences), and
        // texts of 12 to some 24 bytes for each distance; and rows that are kept for taxa to come.
        let bands = if sizes.shared > 0 { 3 } else { 2 };
        let rows = 8 * sizes.taxa as u64 * (bands * BAND + 3 * TEXTS) as u64;
        let kept = (8 * (sizes.shared * sizes.sequences) as u64).min(1 << 28);
        let matrix = if waits { 8 * (sizes.taxa * sizes.taxa) as u64 } else { 0 };
        let of_trees = place.map_or(0, |place| place.bytes(sizes.sequences, &asked.trees));
        // The matrix is given back before trees are made, but the distances are there already.
        let of_store = place.map_or(0, |place| place.bytes(sizes.sequences, &ONE));
        let most = (matrix + kept + rows + of_store).max(of_trees);
        Arrangement { waits, place, bytes: sizes.beside + most }
    }

    /// All that there are, from the fastest to the one with the least memory.
    fn all(asked: &MatrixPlan, sizes: Sizes) -> Vec<Self> {
        let has_trees = !asked.trees.is_empty();
        let usual = Place::usual(sizes.sequences);
        let waits = asked.format.is_square() && sizes.taxa <= MOST_EXACT;
        let mut ways = vec![(waits, usual)];
        if waits {
            ways.push((false, usual));
        }
        // A file has rounded distances, of which exact ones would make another tree; averages are always in memory.
        let all_from_file = !asked.trees.contains(&DistanceTree::MinimumEvolution);
        if has_trees && usual != Place::Exact && all_from_file {
            let mut memory = ROW_FILE_MEMORY;
            while memory >= LEAST_OF_FILE {
                ways.push((false, Place::File { memory }));
                memory /= 2;
            }
        }
        let place = |place| Some(place).filter(|_| has_trees);
        ways.into_iter().map(|(waits, of)| Self::new(asked, sizes, waits, place(of))).collect()
    }

    /// The fastest that takes at most so many bytes.
    ///
    /// # Errors
    /// The bytes that it takes at least.
    pub(crate) fn within(limit: u64, asked: &MatrixPlan, sizes: Sizes) -> Result<Self, u64> {
        let all = Self::all(asked, sizes);
        let least = all.iter().map(|one| one.bytes).min().unwrap_or(0);
        all.into_iter().find(|one| one.bytes <= limit).ok_or(least)
    }

    /// The bytes that a matrix takes at least.
    pub(crate) fn least(asked: &MatrixPlan, sizes: Sizes) -> u64 {
        Self::within(0, asked, sizes).err().unwrap_or(0)
    }
}

/// A tree that takes its distances and nothing else.
const ONE: [DistanceTree; 1] = [DistanceTree::NeighborJoining];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::MatrixFormat;
    use crate::plan::DistanceFormula;

    fn asked(format: MatrixFormat, trees: &[DistanceTree]) -> MatrixPlan {
        MatrixPlan {
            file: None,
            formula: DistanceFormula::Models,
            gamma: None,
            format,
            gzip: false,
            apart: false,
            trees: trees.to_vec(),
        }
    }

    #[test]
    fn less_memory_takes_the_matrix_to_a_file_and_never_changes_digits() {
        use DistanceTree::{Bionj, MinimumEvolution, NeighborJoining};
        let sizes = |taxa| Sizes { taxa, sequences: taxa, shared: 0, beside: 1000 };
        let (mib, unlimited) = (1 << 20, u64::MAX);
        let lower = asked(MatrixFormat::Lower, &[NeighborJoining]);
        let of = |limit, asked: &MatrixPlan, taxa| Arrangement::within(limit, asked, sizes(taxa));
        let place = |limit, taxa| of(limit, &lower, taxa).map(|found| found.place);
        assert_eq!(place(unlimited, 4000), Ok(Some(Place::Exact)));
        assert_eq!(place(unlimited, 4001), Ok(Some(Place::Rounded)));
        assert_eq!(place(unlimited, 20_001), Ok(Some(Place::File { memory: ROW_FILE_MEMORY })));
        // 400 MB in memory, 12 MB of rows and their texts.
        assert_eq!(place(100 * mib, 10_000), Ok(Some(Place::File { memory: 64 * mib })));
        assert_eq!(place(20 * mib, 10_000), Ok(Some(Place::File { memory: 1 << 23 })));
        assert!(place(10 * mib, 10_000).unwrap_err() > 10 * mib);
        assert!(place(100 * mib, 4000).unwrap_err() > 128 << 19);
        // Without trees, nothing is kept; a square matrix may be computed twice.
        let square = asked(MatrixFormat::Square, &[]);
        let waits = |limit| of(limit, &square, 4000).map(|found| (found.waits, found.place));
        assert_eq!(waits(unlimited), Ok((true, None)));
        assert_eq!(waits(100 * mib), Ok((false, None)));
        for kinds in [&[Bionj][..], &[NeighborJoining, NeighborJoining], &[MinimumEvolution]] {
            let found = of(unlimited, &asked(MatrixFormat::Lower, kinds), 1000).unwrap();
            let more = if kinds == [MinimumEvolution] { 9 } else { 2 };
            assert_eq!(found.bytes, 1000 + 8_000_000 * more);
        }
    }
}
