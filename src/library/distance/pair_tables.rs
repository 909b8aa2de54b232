//! [`PairTables`]: pairs of sequences as plain lists, as GPUs read them.

/// The sequences and models of all partitions.
#[derive(Debug, Clone, Default)]
pub(super) struct PairTables {
    /// Number of sequences.
    pub(super) num_taxa: usize,
    /// One for each partition.
    pub(super) partitions: Vec<PartitionTables>,
}

/// The sequences of a partition (`partition`) and its model (`pair_model`).
#[derive(Debug, Clone, Default)]
pub(super) struct PartitionTables {
    /// Bits of nucleotides: `[taxon][level][chunk][plane][word]`; empty for other characters.
    pub(super) words: Vec<u64>,
    /// `[level]`: number of chunks.
    pub(super) chunks: Vec<u32>,
    /// `[taxon][pattern]`; empty if the bits say all.
    pub(super) codes: Vec<u16>,
    /// `[pattern]`: number of sites.
    pub(super) weights: Vec<u32>,
    /// `[taxon]`: 1 if it has data.
    pub(super) is_present: Vec<u32>,
    /// `[taxon]` and one more: where its list in `ambiguous` begins.
    pub(super) first_ambiguous: Vec<u32>,
    /// Patterns with ambiguous nucleotides, ascending for each taxon.
    pub(super) ambiguous: Vec<u32>,
    /// `[code][code]`: the class, or the largest number.
    pub(super) of_codes: Vec<u32>,
    /// Number of codes.
    pub(super) num_codes: usize,
    /// `[class]`: probability at distance 0.
    pub(super) at_zero: Vec<f64>,
    /// `[class][term]`.
    pub(super) coefficients: Vec<f64>,
    /// `[term][category]`: slope s, weight w, w s, w s s, w s s s.
    pub(super) cats: Vec<[f64; 5]>,
    /// Number of terms.
    pub(super) num_terms: usize,
    /// Share of sites that differ between unrelated sequences.
    pub(super) saturation: f64,
    /// What corrects the first guess of a distance: (a, b) in u (1 + a u + b u²).
    pub(super) bends: [f64; 2],
    /// Shape of continuous rates.
    pub(super) gamma: Option<f64>,
    /// All transversions are one class.
    pub(super) joins_transversions: bool,
}
