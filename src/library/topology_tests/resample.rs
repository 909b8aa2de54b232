//! Resampling of sites, as counts of their patterns.

use super::sites::SiteLikelihoods;
use crate::rng::{Purpose, Rng, stream};
use rand::Rng as _;

/// A stream of resamples.
pub(super) struct Resampler<'a> {
    data: &'a SiteLikelihoods,
    rng: Rng,
    counts: Vec<u32>,
    sums: Vec<f64>,
}

impl<'a> Resampler<'a> {
    /// The stream of this seed and index.
    pub(super) fn new(data: &'a SiteLikelihoods, seed: u64, index: u64) -> Self {
        Resampler {
            data,
            rng: stream(seed, Purpose::TopologyTests, index),
            counts: vec![0; data.num_patterns()],
            sums: vec![0.0; data.num_trees()],
        }
    }

    /// Log-likelihoods of all trees, minus those of the best tree, over `num_draws` sites, each drawn from all
    /// sites.
    pub(super) fn next(&mut self, num_draws: usize) -> &[f64] {
        self.counts.fill(0);
        let sites = self.data.site_to_pattern();
        let num_sites = sites.len() as u32;
        // Lemire 2019, ACM Trans. Model. Comput. Simul. 29:3: the few products below this would make some sites
        // more likely than others.
        let least = num_sites.wrapping_neg() % num_sites;
        for _ in 0..num_draws {
            let site = loop {
                let product = u64::from(self.rng.next_u32()) * u64::from(num_sites);
                if product as u32 >= least {
                    break (product >> 32) as usize;
                }
            };
            self.counts[sites[site] as usize] += 1;
        }
        self.data.sums(&self.counts, &mut self.sums);
        &self.sums
    }
}
