//! [`PairTables`]: pairs of sequences as plain lists, as `distance` prepares them and as graphics cards read them.

/// The sequences and models of all partitions.
#[derive(Debug, Clone, Default)]
pub struct PairTables {
    /// Number of sequences.
    pub num_taxa: usize,
    /// One for each partition.
    pub genes: Vec<GeneTables>,
}

/// The sequences of a partition and its model, as `distance` documents them.
#[derive(Debug, Clone, Default)]
pub struct GeneTables {
    /// Bits of nucleotides: `[taxon][level][chunk][plane][word]`; empty for other characters.
    pub words: Vec<u64>,
    /// `[level]`: number of chunks.
    pub chunks: Vec<u32>,
    /// `[taxon][pattern]`; empty if the bits say all.
    pub codes: Vec<u16>,
    /// `[pattern]`: number of sites.
    pub weights: Vec<u32>,
    /// `[taxon]`: 1 if it has data.
    pub is_present: Vec<u32>,
    /// `[taxon]` and one more: where its list in `ambiguous` begins.
    pub first_ambiguous: Vec<u32>,
    /// Patterns with ambiguous nucleotides, ascending for each taxon.
    pub ambiguous: Vec<u32>,
    /// `[code][code]`: the class, or the largest number.
    pub of_codes: Vec<u32>,
    /// Number of codes.
    pub num_codes: usize,
    /// `[class]`: probability at distance 0.
    pub at_zero: Vec<f64>,
    /// `[class][term]`.
    pub coefficients: Vec<f64>,
    /// `[term][category]`: slope s, weight w, w s, w s s, w s s s.
    pub cats: Vec<[f64; 5]>,
    /// Number of terms.
    pub num_terms: usize,
    /// Share of sites that differ between unrelated sequences.
    pub saturation: f64,
    /// What corrects the first guess of a distance: (a, b) in u (1 + a u + b u²).
    pub bends: [f64; 2],
    /// Shape of continuous rates.
    pub gamma: Option<f64>,
    /// All transversions are one class.
    pub joins_transversions: bool,
}
