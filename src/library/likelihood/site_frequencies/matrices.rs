//! The rate matrices of patterns, as the kernels read them.

use crate::alignment::PatternFreqs;
use crate::model::EigenModel;
use mlsearch_kernels::body::operand_of_pattern::{PatternMatrix, STATES};
use std::ops::Range;

/// The rate matrices of some patterns.
#[derive(Debug)]
pub(super) struct PatternMatrices {
    freqs: PatternFreqs,
    patterns: Range<usize>,
    /// Exchange rates of the matrices; none before the first model.
    exchange: Vec<f64>,
    /// `[pattern][eigen]`
    pub(super) eigenvals: Vec<f64>,
    /// `[pattern][state][eigen]`
    vectors: Vec<[f64; STATES]>,
    /// `[pattern]`, as the following.
    roots: Vec<[f64; STATES]>,
    inverse_roots: Vec<[f64; STATES]>,
}

impl PatternMatrices {
    /// For these patterns of a partition, without exchange rates so far.
    pub(super) fn new(freqs: &PatternFreqs, patterns: Range<usize>) -> Self {
        PatternMatrices {
            freqs: freqs.clone(),
            patterns,
            exchange: Vec::new(),
            eigenvals: Vec::new(),
            vectors: Vec::new(),
            roots: Vec::new(),
            inverse_roots: Vec::new(),
        }
    }

    /// The frequencies of a pattern, by its number here.
    pub(super) fn freqs(&self, pattern: usize) -> &[f64] {
        self.freqs.of(self.patterns.start + pattern)
    }

    /// Sets the exchange rates. Matrices of the same rates, as while rates over sites are estimated, are not computed again.
    pub(super) fn set_exchange(&mut self, exchange: &[f64]) {
        if self.exchange == exchange {
            return;
        }
        self.exchange = exchange.to_vec();
        let num_patterns = self.patterns.len();
        self.eigenvals = vec![0.0; num_patterns * STATES];
        self.vectors = vec![[0.0; STATES]; num_patterns * STATES];
        self.roots = vec![[0.0; STATES]; num_patterns];
        self.inverse_roots = vec![[0.0; STATES]; num_patterns];
        for pattern in 0..num_patterns {
            let system = EigenModel::new(exchange, self.freqs(pattern));
            self.eigenvals[pattern * STATES..][..STATES].copy_from_slice(&system.eigenvals);
            for i in 0..STATES {
                let root = system.freqs[i].sqrt();
                (self.roots[pattern][i], self.inverse_roots[pattern][i]) = (root, 1.0 / root);
                for k in 0..STATES {
                    // V = D^(-1/2)·U
                    self.vectors[pattern * STATES + i][k] = root * system.eigenvecs[i * STATES + k];
                }
            }
        }
    }

    /// The matrix of a pattern.
    pub(super) fn of(&self, pattern: usize) -> PatternMatrix<'_> {
        PatternMatrix {
            eigenvals: &self.eigenvals.as_chunks().0[pattern],
            vectors: &self.vectors.as_chunks().0[pattern],
            roots: &self.roots[pattern],
            inverse_roots: &self.inverse_roots[pattern],
        }
    }

    /// Bytes of all matrices of so many patterns.
    pub(super) fn bytes(&self) -> u64 {
        (self.patterns.len() * (STATES + 4) * STATES * size_of::<f64>()) as u64
    }
}
