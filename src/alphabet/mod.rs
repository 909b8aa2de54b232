//! Stand-in for the alphabet room (replaced at merge).

/// What kind of characters an alignment holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataType {
    /// Nucleotides A, C, G, T.
    Dna,
}

impl DataType {
    /// Number of states.
    pub fn num_states(self) -> usize {
        4
    }
}
