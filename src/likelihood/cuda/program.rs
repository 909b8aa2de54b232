//! The structs that kernels read, field by field as in `cuda/common.cuh`. Pointers are addresses on a card, lengths are in
//! elements, and places in buffers are numbers of elements from their start.

/// A gene's data, vectors and model on one card.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Gene {
    pub(super) tip_codes: u64,
    pub(super) weights: u64,
    pub(super) invariant: u64,
    pub(super) code_masks: u64,
    pub(super) clvs: u64,
    pub(super) scalers: u64,
    pub(super) temporaries: u64,
    pub(super) temporary_scalers: u64,
    pub(super) eigenvals: u64,
    pub(super) eigenvec_columns: u64,
    pub(super) inv_eigenvec_columns: u64,
    pub(super) rates: u64,
    pub(super) weighted_freqs: u64,
    pub(super) sumtable_left: u64,
    pub(super) sumtable_right: u64,
    pub(super) sumtable_left_tip: u64,
    pub(super) sumtable_right_tip: u64,
    pub(super) indicator: u64,
    pub(super) matrix_of_rate: u64,
    pub(super) num_rates: u32,
    pub(super) num_codes: u32,
    pub(super) num_tips: u32,
    pub(super) rate_scalers: u32,
    pub(super) num_site_blocks: u32,
    pub(super) num_site_patterns: u32,
    pub(super) num_blocks: u32,
    pub(super) num_patterns: u32,
    pub(super) sum_of_constants: u32,
    pub(super) padding: u32,
}

/// Where the vector of an end of an edge is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Place {
    /// A tip.
    Tip = 0,
    /// A stored CLV.
    Stored = 1,
    /// A temporary or a sumtable of a sweep, of all blocks.
    Temporary = 2,
    /// A temporary of an insertion program, of one block.
    Scratch = 3,
}

/// One end of an edge.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct End {
    pub(super) place: u32,
    pub(super) index: u32,
    pub(super) matrix: u64,
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum StepKind {
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
pub(super) struct Step {
    pub(super) kind: u32,
    pub(super) out_place: u32,
    pub(super) out_index: u32,
    pub(super) padding: u32,
    pub(super) ends: [End; 2],
}

/// Steps that are run in order for each block of one gene.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Job {
    pub(super) gene: u32,
    pub(super) first_step: u32,
    pub(super) num_steps: u32,
    pub(super) first_item: u32,
    pub(super) results: u64,
}

/// One P-matrix to be computed.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MatrixJob {
    pub(super) gene: u32,
    pub(super) with_table: u32,
    pub(super) brlen: f64,
    pub(super) matrix: u64,
    pub(super) table: u64,
}

/// A sumtable at one length.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DerivativeJob {
    pub(super) gene: u32,
    pub(super) first_item: u32,
    pub(super) brlen: f64,
    pub(super) results: u64,
    pub(super) sumtable: u32,
    pub(super) padding: u32,
}

/// Numbers of the result of a scoring step for a block.
pub(super) const SCORE_NUMBERS: usize = 2;

/// Numbers of the result of a sumtable for a block.
pub(super) const DERIVATIVE_NUMBERS: usize = 4;

/// Sizes of the structs, as the kernel `common_sizes` reports its own.
pub(super) const SIZES: [u32; 5] = [
    size_of::<Gene>() as u32,
    size_of::<Step>() as u32,
    size_of::<Job>() as u32,
    size_of::<MatrixJob>() as u32,
    size_of::<DerivativeJob>() as u32,
];
