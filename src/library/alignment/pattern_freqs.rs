//! [`PatternFreqs`]: state frequencies of each pattern, where every site has its own (PMSF).

use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// State frequencies of every pattern of a partition. Copies share the numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PatternFreqs {
    num_states: usize,
    /// `[pattern][state]`
    freqs: Arc<Vec<f64>>,
}

impl PatternFreqs {
    /// Of these frequencies, which are positive and sum to 1 for each pattern.
    ///
    /// # Panics
    /// If patterns have different numbers of states.
    pub fn new(of_patterns: &[Vec<f64>]) -> Self {
        let num_states = of_patterns.first().map_or(0, Vec::len);
        assert!(of_patterns.iter().all(|freqs| freqs.len() == num_states), "as many states");
        PatternFreqs { num_states, freqs: Arc::new(of_patterns.concat()) }
    }

    /// Those of a pattern.
    pub fn of(&self, pattern: usize) -> &[f64] {
        &self.freqs[pattern * self.num_states..][..self.num_states]
    }

    /// Those of consecutive patterns.
    pub(crate) fn of_range(&self, patterns: Range<usize>) -> Self {
        let numbers = patterns.start * self.num_states..patterns.end * self.num_states;
        PatternFreqs { num_states: self.num_states, freqs: Arc::new(self.freqs[numbers].to_vec()) }
    }

    /// Those of some patterns.
    pub(super) fn of_patterns(&self, kept: &[usize]) -> Self {
        let freqs = kept.iter().flat_map(|&pattern| self.of(pattern)).copied().collect();
        PatternFreqs { num_states: self.num_states, freqs: Arc::new(freqs) }
    }
}
