//! The kernels of mlsearch for NVIDIA GPUs, in NVIDIA's intermediate language: texts only, which the library gives to the driver.
#![no_std]

/// A unit of kernels.
#[derive(Debug, Clone, Copy)]
pub struct Unit {
    /// Its name in messages.
    pub name: &'static str,
    /// Its text.
    pub ptx: &'static str,
}

macro_rules! unit {
    ($name:literal) => {
        Unit { name: $name, ptx: include_str!(concat!("ptx/", $name, "_75.ptx")) }
    };
}

/// For 4, 20 and up to 64 states.
pub const STATES: [Unit; 3] = [unit!("states_4"), unit!("states_20"), unit!("states_64")];
/// The same in single precision.
pub const SINGLE: [Unit; 3] = [unit!("single_4"), unit!("single_20"), unit!("single_64")];
/// Sweeps over partitions with different numbers of states.
pub const STATES_ANY: Unit = unit!("states_any");
/// Distances of pairs of sequences.
pub const DISTANCES: Unit = unit!("distances");
/// Measurements.
pub const PROBE: Unit = unit!("probe");
