//! How bold proposals are, and how hot chains. During the burn-in every proposal is adapted to be accepted about as often as is best for its
//! kind; afterwards nothing changes, because a chain that goes on adapting need not have the right distribution.

use serde::{Deserialize, Serialize};

/// Share of accepted proposals that is aimed at, as in MrBayes.
const TARGET: f64 = 0.25;
/// Number of proposals after which one is adapted.
const BATCH: u32 = 25;
/// Least and largest boldness: the logarithm of the largest factor by which a length changes, or the width of a window.
const LIMITS: [f64; 2] = [1e-4, 20.0];

/// Share of accepted swaps that is aimed at.
const SWAP_TARGET: f64 = 0.4;
/// Number of swaps after which the temperature is adapted.
const SWAP_BATCH: u32 = 20;
/// Lowest and highest temperature that is tried.
const TEMPERATURES: [f64; 2] = [0.001, 2.0];

/// One kind of proposal in chains of one temperature: its boldness, and how often it was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Tuned {
    pub(super) step_size: f64,
    /// Since the last adaptation.
    tried: u32,
    accepted: u32,
    batches: u32,
    /// Since the end of the adaptation: how many were proposed and accepted.
    pub(super) counts: [u64; 2],
}

impl Tuned {
    pub(super) fn new(step_size: f64) -> Self {
        Tuned { step_size, tried: 0, accepted: 0, batches: 0, counts: [0, 0] }
    }

    /// The chain has another distribution from now on.
    pub(super) fn adapt_again(&mut self) {
        (self.tried, self.accepted, self.batches) = (0, 0, self.batches.min(4));
    }

    /// A proposal was made.
    pub(super) fn count(&mut self, is_accepted: bool, adapts: bool) {
        if !adapts {
            self.counts[0] += 1;
            self.counts[1] += u64::from(is_accepted);
            return;
        }
        self.tried += 1;
        self.accepted += u32::from(is_accepted);
        if self.tried == BATCH {
            self.batches += 1;
            let rate = f64::from(self.accepted) / f64::from(BATCH);
            let step = 4.0 / f64::from(self.batches).sqrt() * (rate - TARGET);
            let [least, most] = LIMITS;
            self.step_size = (self.step_size * libm::exp(step.clamp(-1.0, 1.0))).clamp(least, most);
            (self.tried, self.accepted) = (0, 0);
        }
    }
}

/// Incremental heating: the posterior of chain i, from 0, is raised to the power 1 / (1 + i * temperature).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Heating {
    pub(super) temperature: f64,
    /// Since the last adaptation.
    tried: u32,
    accepted: u32,
    batches: u32,
}

impl Heating {
    pub(super) fn new(temperature: f64) -> Self {
        Heating { temperature, tried: 0, accepted: 0, batches: 0 }
    }

    /// The power to which the posterior of a chain is raised.
    pub(super) fn power(&self, number: usize) -> f64 {
        1.0 / (1.0 + number as f64 * self.temperature)
    }

    /// A swap was proposed while the temperature is adapted.
    pub(super) fn count(&mut self, is_accepted: bool) {
        self.tried += 1;
        self.accepted += u32::from(is_accepted);
        if self.tried == SWAP_BATCH {
            self.batches += 1;
            let rate = f64::from(self.accepted) / f64::from(SWAP_BATCH);
            let step = 1.0 / f64::from(self.batches).sqrt() * (rate - SWAP_TARGET);
            let [least, most] = TEMPERATURES;
            self.temperature = (self.temperature * libm::exp(step)).clamp(least, most);
            (self.tried, self.accepted) = (0, 0);
        }
    }
}
