//! The only index arithmetic of the likelihood engine.
//!
//! * A **block** is 128 consecutive patterns of one partition; the last block of a partition holds
//!   what is left, rounded up to a multiple of 8 with patterns of weight 0.
//! * A CLV block is `[pattern][rate][state]`, a sumtable block is `[rate][state][pattern]`.
//! * A P-matrix is `[rate][column][row]`: column-wise, so that a product with a vector is a sum of
//!   columns. A tip table is `[code][rate][state]`: a code's row is one of a CLV.

use super::scaling::RATE_SCALERS_ABOVE;

/// Patterns per block. It alone defines how sums are grouped, whatever the number of threads.
pub const BLOCK: usize = 128;

/// Lanes of a sum over patterns: pattern modulo 8.
pub const LANES: usize = 8;

/// Temporaries of a gene that a trial needs at a time: what combines two arms, and two vectors on the way to
/// the candidate edge.
const TRIAL_TEMPORARIES: usize = 3;

/// Slots of the CLVs that are stored for a restricted tree of so many taxa: one per inner node.
pub fn num_clvs(num_tips: usize) -> usize {
    num_tips.saturating_sub(2)
}

/// Vectors that there is room for from the start: those of [`num_clvs`], and the temporaries of one trial.
pub fn num_vectors(num_tips: usize) -> usize {
    if num_tips < 3 { 0 } else { num_clvs(num_tips) + TRIAL_TEMPORARIES }
}

/// Numbers of states for which kernels are compiled. Other alphabets are padded to the next with states
/// that no character stands for, of frequency 0, which never change: zeros that leave every sum as it is.
pub const STATE_COUNTS: [usize; 3] = [4, 20, 64];

/// Sizes of the data of one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dims {
    /// States, padding included: one of [`STATE_COUNTS`].
    pub num_states: usize,
    /// Rate categories.
    pub num_rates: usize,
    /// Distinct tip codes.
    pub num_codes: usize,
    /// True if scaler counts are kept per rate category instead of per pattern.
    pub rate_scalers: bool,
}

impl Dims {
    /// Sizes for an alphabet of `num_states` states and a restricted tree of `num_tips` taxa.
    ///
    /// # Panics
    /// If there are more states than any kernel has.
    pub fn new(num_states: usize, num_rates: usize, num_codes: usize, num_tips: usize) -> Self {
        let padded = STATE_COUNTS.into_iter().find(|&count| count >= num_states);
        Dims {
            num_states: padded.expect("at most 64 states"),
            num_rates,
            num_codes,
            rate_scalers: num_tips > RATE_SCALERS_ABOVE,
        }
    }

    /// Numbers in one pattern's row of a CLV.
    pub fn row(&self) -> usize {
        self.num_rates * self.num_states
    }

    /// Numbers in one P-matrix (all rates).
    pub fn pmatrix(&self) -> usize {
        self.num_rates * self.num_states * self.num_states
    }

    /// Numbers in one tip table.
    pub fn tip_table(&self) -> usize {
        self.num_rates * self.num_codes * self.num_states
    }

    /// Scaler counts per pattern.
    pub fn scalers(&self) -> usize {
        if self.rate_scalers { self.num_rates } else { 1 }
    }
}

/// Patterns of each block of a partition, rounded up to whole lanes.
pub fn block_lens(num_patterns: usize) -> Vec<usize> {
    (0..num_patterns)
        .step_by(BLOCK)
        .map(|first| (num_patterns - first).min(BLOCK).next_multiple_of(LANES))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_all_patterns_in_whole_lanes() {
        assert_eq!(block_lens(0), Vec::<usize>::new());
        assert_eq!(block_lens(1), [8]);
        assert_eq!(block_lens(128), [128]);
        assert_eq!(block_lens(300), [128, 128, 48]);
    }
}
