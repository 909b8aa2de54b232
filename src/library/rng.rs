//! Seeded random streams, one per purpose and index, so that the number of threads and the order of
//! work never change a result.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The generator used everywhere. Its output is fixed by its specification, not by a library version.
pub type Rng = ChaCha8Rng;

/// What a stream is drawn for. A new purpose gets a new number; numbers are never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Order of taxa in stepwise addition, and ties in parsimony.
    ParsimonyTree = 1,
    /// Random starting trees.
    RandomTree = 2,
    /// Resolution of multifurcations in a user's starting tree.
    Multifurcation = 3,
    /// Resampling of columns in a bootstrap replicate.
    Bootstrap = 4,
    /// Starting tree of a bootstrap replicate.
    BootstrapTree = 5,
    /// Simulated trees.
    SimulatedTree = 6,
    /// Simulated sequences.
    SimulatedSequences = 7,
    /// Which partitions are missing in which taxa, in simulated data.
    SimulatedGaps = 8,
    /// Where and how a local optimum is perturbed.
    Perturbation = 10,
    /// The tree on which models are compared.
    ModelSelection = 11,
    /// Resampling of columns in tests of branches.
    BranchTest = 12,
    /// Resampling of sites in tests of topologies.
    TopologyTests = 20,
    /// Quartets of taxa around a branch.
    SiteConcordance = 23,
    /// Halvings of the replicates in bootstopping.
    Bootstopping = 30,
    /// The chains of a Bayesian sample, and their swaps.
    Sampling = 40,
    /// Which columns a step of the parsimony ratchet leaves out.
    Thinning = 50,
    /// Which of several identical sequences are the closest in the tree of a replicate.
    IdenticalSequences = 51,
    /// Everything in tests.
    Test = 9,
}

/// The stream of `seed` for a purpose and an index (replicate, tree or partition number).
pub fn stream(seed: u64, purpose: Purpose, index: u64) -> Rng {
    substream(seed, purpose, index, 0)
}

/// The stream of one of the parts of the work of an index.
pub fn substream(seed: u64, purpose: Purpose, index: u64, part: u64) -> Rng {
    let mut key = [0u8; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&(purpose as u64).to_le_bytes());
    key[16..24].copy_from_slice(&index.to_le_bytes());
    key[24..].copy_from_slice(&part.to_le_bytes());
    ChaCha8Rng::from_seed(key)
}
