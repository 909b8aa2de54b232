//! Where the value of a parameter comes from: [`ParamMode`] for one that is given or estimated,
//! [`WeightsMode`] for the weights of classes,
//! [`FreqsMode`] for state frequencies.

/// Whether a parameter is estimated by maximum likelihood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamMode {
    /// Given by the user, or determined by the model.
    Fixed,
    /// Estimated.
    Optimized,
    /// Estimated from several partitions together, which have the same values (exchange rates only).
    Linked,
}

/// Where the weights of the classes of a mixture come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeightsMode {
    /// Those of the published table.
    Table,
    /// Given by the user (`+WU{...}`).
    Fixed,
    /// Estimated by maximum likelihood (`+WO`).
    Optimized,
}

/// Where the state frequencies come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FreqsMode {
    /// All equal (`+FE`).
    Equal,
    /// Counted in the alignment (`+FC`, `+F`); equal until they are counted and given to
    /// [`Model::set_freqs`](super::Model::set_freqs).
    Empirical,
    /// Estimated by maximum likelihood (`+FO`).
    Optimized,
    /// Given by the user (`+FU{...}`).
    Fixed,
    /// Those of the published table.
    Table,
    /// Codons: products of nucleotide frequencies, the same at all positions (`+F1X4`); counted in the
    /// alignment (until then equal) or given by the user.
    F1x4 {
        /// False if the user gave them.
        counted: bool,
    },
    /// Codons: products of nucleotide frequencies of each position (`+F3X4`), as above.
    F3x4 {
        /// False if the user gave them.
        counted: bool,
    },
}
