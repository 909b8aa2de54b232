//! How a matrix is computed and its trees are made, within the memory that is allowed.

use super::plan::MatrixPlan;
use crate::distance::{DistanceTree, ROW_FILE_MEMORY};
use crate::steps::distance_memory::{BAND, DistanceStorage, MOST_EXACT};

/// Rows of which there are texts at a time.
pub(crate) const TEXTS: usize = 8;
/// Least memory for pieces of that file: with less, it would be written in very small ones.
const LEAST_OF_FILE: u64 = 1 << 23;

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
    pub storage: Option<DistanceStorage>,
    /// Most bytes that the program takes.
    pub bytes: u64,
}

impl Arrangement {
    fn new(
        options: &MatrixPlan,
        sizes: Sizes,
        waits: bool,
        storage: Option<DistanceStorage>,
    ) -> Self {
        // Rows that are written, those that are computed at the same time (and then copied, where taxa share sequences), and
        // texts of 12 to some 24 bytes for each distance; and rows that are kept for taxa to come.
        let bands = if sizes.shared > 0 { 3 } else { 2 };
        let rows = 8 * sizes.taxa as u64 * (bands * BAND + 3 * TEXTS) as u64;
        let kept = (8 * (sizes.shared * sizes.sequences) as u64).min(1 << 28);
        let matrix = if waits { 8 * (sizes.taxa * sizes.taxa) as u64 } else { 0 };
        let of_trees = storage.map_or(0, |storage| storage.bytes(sizes.sequences, &options.trees));
        // The matrix is given back before trees are made, but the distances are there already.
        let of_store = storage.map_or(0, |storage| storage.bytes(sizes.sequences, &ONE));
        let most = (matrix + kept + rows + of_store).max(of_trees);
        Arrangement { waits, storage, bytes: sizes.beside + most }
    }

    /// All that there are, from the fastest to the one with the least memory.
    fn all(options: &MatrixPlan, sizes: Sizes) -> Vec<Self> {
        let has_trees = !options.trees.is_empty();
        let usual = DistanceStorage::usual(sizes.sequences);
        let waits = options.format.is_square() && sizes.taxa <= MOST_EXACT;
        let mut ways = vec![(waits, usual)];
        if waits {
            ways.push((false, usual));
        }
        // A file has rounded distances, of which exact ones would make another tree; averages are always in memory.
        let all_from_file = !options.trees.contains(&DistanceTree::MinimumEvolution);
        if has_trees && usual != DistanceStorage::Exact && all_from_file {
            let mut memory = ROW_FILE_MEMORY;
            while memory >= LEAST_OF_FILE {
                ways.push((false, DistanceStorage::File { memory }));
                memory /= 2;
            }
        }
        let storage = |storage| Some(storage).filter(|_| has_trees);
        ways.into_iter().map(|(waits, of)| Self::new(options, sizes, waits, storage(of))).collect()
    }

    /// The fastest that takes at most so many bytes.
    ///
    /// # Errors
    /// The bytes that it takes at least.
    pub(crate) fn within(limit: u64, options: &MatrixPlan, sizes: Sizes) -> Result<Self, u64> {
        let all = Self::all(options, sizes);
        let least = all.iter().map(|one| one.bytes).min().unwrap_or(0);
        all.into_iter().find(|one| one.bytes <= limit).ok_or(least)
    }

    /// The bytes that a matrix takes at least.
    pub(crate) fn least(options: &MatrixPlan, sizes: Sizes) -> u64 {
        Self::within(0, options, sizes).err().unwrap_or(0)
    }
}

/// A tree that takes its distances and nothing else.
const ONE: [DistanceTree; 1] = [DistanceTree::NeighborJoining];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::distance::plan::DistanceFormula;
    use crate::output::MatrixFormat;

    fn options(format: MatrixFormat, trees: &[DistanceTree]) -> MatrixPlan {
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
        let lower = options(MatrixFormat::Lower, &[NeighborJoining]);
        let of =
            |limit, options: &MatrixPlan, taxa| Arrangement::within(limit, options, sizes(taxa));
        let storage = |limit, taxa| of(limit, &lower, taxa).map(|found| found.storage);
        assert_eq!(storage(unlimited, 4000), Ok(Some(DistanceStorage::Exact)));
        assert_eq!(storage(unlimited, 4001), Ok(Some(DistanceStorage::Rounded)));
        assert_eq!(
            storage(unlimited, 20_001),
            Ok(Some(DistanceStorage::File { memory: ROW_FILE_MEMORY }))
        );
        // 400 MB in memory, 12 MB of rows and their texts.
        assert_eq!(
            storage(100 * mib, 10_000),
            Ok(Some(DistanceStorage::File { memory: 64 * mib }))
        );
        assert_eq!(storage(20 * mib, 10_000), Ok(Some(DistanceStorage::File { memory: 1 << 23 })));
        assert!(storage(10 * mib, 10_000).unwrap_err() > 10 * mib);
        assert!(storage(100 * mib, 4000).unwrap_err() > 128 << 19);
        // Without trees, nothing is kept; a square matrix may be computed twice.
        let square = options(MatrixFormat::Square, &[]);
        let waits = |limit| of(limit, &square, 4000).map(|found| (found.waits, found.storage));
        assert_eq!(waits(unlimited), Ok((true, None)));
        assert_eq!(waits(100 * mib), Ok((false, None)));
        for kinds in [&[Bionj][..], &[NeighborJoining, NeighborJoining], &[MinimumEvolution]] {
            let found = of(unlimited, &options(MatrixFormat::Lower, kinds), 1000).unwrap();
            let more = if kinds == [MinimumEvolution] { 9 } else { 2 };
            assert_eq!(found.bytes, 1000 + 8_000_000 * more);
        }
    }
}
