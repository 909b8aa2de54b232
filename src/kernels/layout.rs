//! Layout of the arrays of the likelihood engines.
//!
//! * A **block** is 128 consecutive patterns of one partition; the last block of a partition holds
//!   the remaining patterns, rounded up to a multiple of 8 with patterns of weight 0.
//! * A CLV block is `[pattern][rate][state]`, a sumtable block is `[pattern / g][rate][state][pattern % g]`, with
//!   g from [`sumtable_group`].
//! * A P-matrix is `[rate][column][row]`: column-wise, so that a product with a CLV is a sum of
//!   columns. A tip table is `[code][rate][state]`: each code has a row with the shape of a CLV row.

use super::scaling::RATE_SCALERS_ABOVE;

/// Patterns per block. Sums are grouped by blocks, independently of the number of threads.
pub const BLOCK: usize = 128;

/// Number of partial sums in a sum over patterns: pattern i is added to partial sum i modulo 8.
pub const LANES: usize = 8;

/// Longest row of a sumtable whose groups are whole blocks.
const SHORT_ROW: usize = 64;

/// Number of patterns of a group of a sumtable with rows of this length: the numbers of a group are contiguous.
pub const fn sumtable_group(row: usize) -> usize {
    if row <= SHORT_ROW { BLOCK } else { LANES }
}

/// Maximum number of a partition's temporaries that a trial needs at the same time: the combination of two arms,
/// and two CLVs on the path to the candidate edge.
const TRIAL_TEMPORARIES: usize = 3;

/// Number of stored CLVs of a restricted tree with `num_tips` taxa: one per inner node.
pub fn num_clvs(num_tips: usize) -> usize {
    num_tips.saturating_sub(2)
}

/// Number of CLVs that are allocated in advance: the stored CLVs and the temporaries of one trial.
pub fn num_allocated_clvs(num_tips: usize) -> usize {
    if num_tips < 3 { 0 } else { num_clvs(num_tips) + TRIAL_TEMPORARIES }
}

/// Numbers of states for which kernels are compiled. Other alphabets are padded to the next larger number
/// with states of frequency and rate 0 that no character represents; they add only zeros to every sum.
pub const STATE_COUNTS: [usize; 3] = [4, 20, 64];

/// Sizes of the data of one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dims {
    /// Number of states including padding: one of [`STATE_COUNTS`].
    pub num_states: usize,
    /// Number of rate categories.
    pub num_rates: usize,
    /// Number of distinct tip codes.
    pub num_codes: usize,
    /// True if scaler counts are kept per rate category instead of per pattern.
    pub rate_scalers: bool,
}

impl Dims {
    /// Sizes for an alphabet of `num_states` states and a restricted tree of `num_tips` taxa.
    ///
    /// # Panics
    /// If there are more than 64 states.
    pub fn new(num_states: usize, num_rates: usize, num_codes: usize, num_tips: usize) -> Self {
        let padded = STATE_COUNTS.into_iter().find(|&count| count >= num_states);
        Dims {
            num_states: padded.expect("at most 64 states"),
            num_rates,
            num_codes,
            rate_scalers: num_tips > RATE_SCALERS_ABOVE,
        }
    }

    /// Length of one pattern's row of a CLV.
    pub fn row(&self) -> usize {
        self.num_rates * self.num_states
    }

    /// Length of one P-matrix (all rate categories).
    pub fn pmatrix(&self) -> usize {
        self.num_rates * self.num_states * self.num_states
    }

    /// Length of one tip table.
    pub fn tip_table(&self) -> usize {
        self.num_rates * self.num_codes * self.num_states
    }

    /// Scaler counts per pattern.
    pub fn scalers(&self) -> usize {
        if self.rate_scalers { self.num_rates } else { 1 }
    }
}

/// Number of patterns of each block of a partition, rounded up to a multiple of [`LANES`].
pub fn block_lens(num_patterns: usize) -> Vec<usize> {
    (0..num_patterns)
        .step_by(BLOCK)
        .map(|first| (num_patterns - first).min(BLOCK).next_multiple_of(LANES))
        .collect()
}
