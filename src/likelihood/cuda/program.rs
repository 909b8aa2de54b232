//! The structs that kernels read, field by field as in `cuda/common.cuh`. Pointers are addresses on a card, lengths are in
//! elements, and places in buffers are numbers of elements from their start.

/// A gene's data, vectors and model on one card.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Gene {
    pub tip_codes: u64,
    pub weights: u64,
    pub invariant: u64,
    pub code_masks: u64,
    pub clvs: u64,
    pub scalers: u64,
    pub temporaries: u64,
    pub temporary_scalers: u64,
    pub sumtable: u64,
    pub sumtable_scalers: u64,
    pub eigenvals: u64,
    pub eigenvec_columns: u64,
    pub inv_eigenvec_columns: u64,
    pub rates: u64,
    pub weighted_freqs: u64,
    pub sumtable_left: u64,
    pub sumtable_right: u64,
    pub sumtable_left_tip: u64,
    pub sumtable_right_tip: u64,
    pub indicator: u64,
    pub matrix_of_rate: u64,
    pub num_rates: u32,
    pub num_codes: u32,
    pub num_tips: u32,
    pub rate_scalers: u32,
    pub num_site_blocks: u32,
    pub num_site_patterns: u32,
    pub num_blocks: u32,
    pub num_patterns: u32,
    pub sum_of_constants: u32,
    pub padding: u32,
}

/// Where the vector of an end of an edge is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Place {
    /// A tip.
    Tip = 0,
    /// A stored CLV.
    Stored = 1,
    /// A temporary of a sweep, of all blocks.
    Temporary = 2,
    /// A temporary of an insertion program, of one block.
    Scratch = 3,
}

/// One end of an edge.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct End {
    pub place: u32,
    pub index: u32,
    pub matrix: u64,
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum StepKind {
    /// Updates a vector from two others.
    Partials = 0,
    /// Makes a pendant vector.
    Pendant = 1,
    /// Scores an insertion.
    Score = 2,
    /// Evaluates an edge.
    Edge = 3,
    /// Makes the sumtable of an edge.
    Sumtable = 4,
}

/// One step of a job.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Step {
    pub kind: u32,
    pub out_place: u32,
    pub out_index: u32,
    pub padding: u32,
    pub ends: [End; 2],
}

/// Steps that are run in order for each block of one gene.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Job {
    pub gene: u32,
    pub first_step: u32,
    pub num_steps: u32,
    pub first_item: u32,
    pub results: u64,
}

/// One P-matrix to be computed.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct MatrixJob {
    pub gene: u32,
    pub with_table: u32,
    pub brlen: f64,
    pub matrix: u64,
    pub table: u64,
}

/// The sumtable of a gene at one length.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct DerivativeJob {
    pub gene: u32,
    pub first_item: u32,
    pub brlen: f64,
    pub results: u64,
}

/// Numbers of the result of a scoring step for a block.
pub const SCORE_NUMBERS: usize = 2;

/// Numbers of the result of a sumtable for a block.
pub const DERIVATIVE_NUMBERS: usize = 4;

/// Sizes of the structs, as the kernel `common_sizes` reports its own.
pub const SIZES: [u32; 5] = [
    size_of::<Gene>() as u32,
    size_of::<Step>() as u32,
    size_of::<Job>() as u32,
    size_of::<MatrixJob>() as u32,
    size_of::<DerivativeJob>() as u32,
];
