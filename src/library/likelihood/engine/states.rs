//! Probabilities of the states at a point, from the CLV of the point: a sum over the rate categories, and the invariant
//! part. This is too rare to need a kernel.

use super::ModelBlock;
use mlsearch_kernels::scaling::factor;

/// The part of the likelihood of sites that cannot change: the partition's `pinv` times the frequency of each state.
#[derive(Debug, Clone, Default)]
pub struct InvariantParts {
    /// By state, without padding.
    pub of_state: Vec<f64>,
}

impl InvariantParts {
    /// The parts under a model with these frequencies.
    pub fn new(freqs: &[f64], pinv: f64) -> Self {
        InvariantParts { of_state: freqs.iter().map(|freq| pinv * freq).collect() }
    }

    /// Appends the probabilities of the states at a pattern whose row of the CLV, `[rate][state]`, is given, with its scaler
    /// counts and the states that all its tips share.
    pub fn add_pattern(
        &self,
        model: &ModelBlock,
        (clv, scaler): (&[f64], &[u32]),
        shared: u64,
        out: &mut Vec<f64>,
    ) {
        let (num_states, rate_scalers) = (model.dims.num_states, model.dims.rate_scalers);
        let least = scaler.iter().copied().min().unwrap_or(0);
        let start = out.len();
        out.resize(start + self.of_state.len(), 0.0);
        let sums = &mut out[start..];
        let rates = clv.chunks_exact(num_states).zip(model.weighted_freqs.chunks_exact(num_states));
        for (rate, (clv, freqs)) in rates.enumerate() {
            let weight = if rate_scalers { factor(scaler[rate] - least) } else { 1.0 };
            for ((sum, x), freq) in sums.iter_mut().zip(clv).zip(freqs) {
                *sum += freq * weight * x;
            }
        }
        // The invariant part is not scaled.
        if shared != 0 && self.of_state.iter().any(|&part| part > 0.0) {
            for (i, (sum, part)) in sums.iter_mut().zip(&self.of_state).enumerate() {
                *sum = *sum * factor(least) + if shared >> i & 1 == 1 { *part } else { 0.0 };
            }
        }
        let total: f64 = sums.iter().sum();
        sums.iter_mut().for_each(|sum| *sum /= total);
    }
}

/// The invariant part of the likelihood of a pattern: `pinv` times the sum of the frequencies of the states that all its
/// tips share.
pub fn invariant_part(freqs: &[f64], pinv: f64, shared: u64) -> f64 {
    let of_shared: f64 =
        freqs.iter().enumerate().filter(|(i, _)| shared >> i & 1 == 1).map(|(_, freq)| freq).sum();
    pinv * of_shared
}
