//! Where distances are kept until trees are made of them.

use crate::distance::{DistanceTree, ROW_FILE_MEMORY};

/// Rows that are computed at a time.
pub(crate) const BAND: usize = 64;
/// Taxa up to which all distances are in memory with 8 bytes each.
pub(crate) const MOST_EXACT: usize = 4000;
/// Taxa up to which they are there with 4 bytes each (1.6 GB); those of more are in a file.
const MOST_IN_MEMORY: usize = 20_000;
/// Matrices that balanced minimum evolution takes: its own, and two of the averages of all pairs of branches, whose rows
/// and columns are twice as long.
const MATRICES_OF_AVERAGES: u64 = 9;

/// Where the distances are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DistanceStorage {
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

impl DistanceStorage {
    /// Where they are if nothing limits memory.
    pub(crate) fn usual(num_sequences: usize) -> Self {
        match () {
            _ if num_sequences <= MOST_EXACT => DistanceStorage::Exact,
            _ if num_sequences <= MOST_IN_MEMORY => DistanceStorage::Rounded,
            _ => DistanceStorage::File { memory: ROW_FILE_MEMORY },
        }
    }

    /// Most bytes of memory while the distances are computed, or trees are made of them.
    pub(crate) fn bytes(self, num_sequences: usize, kinds: &[DistanceTree]) -> u64 {
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
            DistanceStorage::Exact => 8 * pairs * in_memory,
            DistanceStorage::Rounded => 4 * pairs * in_memory,
            DistanceStorage::File { memory } => memory * in_file(kinds),
        }
    }
}

/// Files at the same time that have memory of their own.
fn in_file(kinds: &[DistanceTree]) -> u64 {
    kinds.iter().map(|kind| kind.num_matrices() as u64).max().unwrap_or(1)
}
