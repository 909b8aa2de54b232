//! The engine of data whose patterns have state frequencies of their own, and so a rate matrix each (posterior mean site frequencies,
//! PMSF: Wang, Minh, Susko & Roger 2018, Syst Biol 67:216).
//!
//! Patterns share neither P-matrices nor repeats. Everything is computed pattern by pattern in the eigenbasis of the pattern
//! (`kernels/body/operand_of_pattern`); all CLVs are kept. The frequencies are part of the data
//! ([`PartitionData::pattern_freqs`](super::engine::PartitionData)); the model gives exchange rates and rates over sites.

mod engine;
mod matrices;
mod unit;

pub(super) use engine::{ENTRY, SiteFrequencyEngine};
