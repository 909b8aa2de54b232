//! The structs that kernels read, field by field as in `cuda/common.cuh`. Pointers are addresses on a GPU, lengths are in
//! elements, and places in buffers are numbers of elements from their start.

/// A partition's data, CLVs and model on one GPU.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Partition {
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
    pub(super) corrected_sites: f64,
    pub(super) num_rates: u32,
    pub(super) num_codes: u32,
    pub(super) num_tips: u32,
    pub(super) rate_scalers: u32,
    pub(super) num_site_blocks: u32,
    pub(super) num_site_patterns: u32,
    pub(super) num_blocks: u32,
    pub(super) num_patterns: u32,
    pub(super) correction: u32,
    pub(super) num_states: u32,
}

/// Where the CLV of an end of an edge is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum ClvLocation {
    /// A tip.
    Tip = 0,
    /// A stored CLV.
    Stored = 1,
    /// A temporary or a sumtable of a sweep, of all blocks.
    Temporary = 2,
    /// A temporary of an insertion program, of one block.
    Scratch = 3,
    /// The same in single precision.
    Single = 4,
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
    /// Updates a CLV from two others.
    Partials = 0,
    /// Makes a pendant CLV.
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

/// Steps that are run in order for each block of one partition.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Job {
    pub(super) partition: u32,
    pub(super) first_step: u32,
    pub(super) num_steps: u32,
    pub(super) first_item: u32,
    pub(super) results: u64,
}

/// One P-matrix to be computed.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MatrixJob {
    pub(super) partition: u32,
    pub(super) with_table: u16,
    pub(super) is_single: u16,
    pub(super) brlen: f64,
    pub(super) matrix: u64,
    pub(super) table: u64,
}

/// A sumtable at one length, for a launch that evaluates it once.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DerivativeJob {
    pub(super) partition: u32,
    pub(super) first_item: u32,
    pub(super) brlen: f64,
    pub(super) results: u64,
    pub(super) sumtable: u32,
    pub(super) padding: u32,
}

/// Where the lists of a tape begin, in words.
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TapeHead {
    pub(super) num_programs: u32,
    pub(super) num_teams: u32,
    pub(super) seats: u32,
    pub(super) programs: u32,
    pub(super) steps: u32,
    pub(super) jobs: u32,
    pub(super) updates: u32,
    pub(super) matrices: u32,
    pub(super) counters: u32,
    pub(super) lengths: u32,
    pub(super) outcomes: u32,
    pub(super) lnls: u32,
}

/// A CTA's place in its team, and where the team's matrices and the results of its derivatives begin.
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seat {
    pub(super) team: u32,
    pub(super) rank: u32,
    pub(super) size: u32,
    pub(super) padding: u32,
    pub(super) matrices: u64,
    pub(super) results: u64,
    pub(super) half: u64,
}

/// A sweep, or a part of one, which one team runs.
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TapeProgram {
    pub(super) first_step: u32,
    pub(super) num_steps: u32,
    pub(super) num_first: u32,
    pub(super) first_lnl: u32,
    pub(super) num_lnls: u32,
    pub(super) replaced: u32,
    pub(super) first_finish: u32,
    pub(super) num_finish: u32,
    pub(super) num_finish_items: u32,
    pub(super) first_matrix: u32,
    pub(super) num_matrices: u32,
    pub(super) padding: u32,
    pub(super) lo: f64,
    pub(super) hi: f64,
    pub(super) gain_tolerance: f64,
    pub(super) floor: f64,
}

/// One branch to be optimised.
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TapeStep {
    pub(super) first_job: u32,
    pub(super) num_jobs: u32,
    pub(super) num_items: u32,
    pub(super) first_matrix: u32,
    pub(super) num_matrices: u32,
    pub(super) branch: u32,
    pub(super) has_slices: u32,
    pub(super) padding: u32,
}

/// One partition's part in a step, or an edge that is evaluated at the end.
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TapeJob {
    pub(super) partition: u32,
    pub(super) first_step: u32,
    pub(super) num_steps: u32,
    pub(super) first_item: u32,
    pub(super) edge: u32,
    pub(super) edge_after: u32,
    pub(super) results: u32,
    pub(super) padding: u32,
    pub(super) scaler: f64,
}

/// A P-matrix, or the part of one that a CTA makes at once.
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TapeMatrix {
    pub(super) partition: u32,
    pub(super) with_table: u32,
    pub(super) length: u32,
    pub(super) first_rate: u32,
    pub(super) scaler: f64,
    pub(super) matrix: u64,
    pub(super) table: u64,
}

/// Eigenvalues, of all rate categories together, whose exponentials a CTA computes at a time.
pub(super) const GROUP: usize = 64;

/// Numbers of the result of a scoring step for a block.
pub(super) const SCORE_NUMBERS: usize = 2;

/// Numbers of the result of a sumtable for a block.
pub(super) const DERIVATIVE_NUMBERS: usize = 4;

/// Numbers of the outcome of a step of a tape.
pub(super) const OUTCOME_NUMBERS: usize = 3;

/// Sizes of the structs, as the kernel `common_sizes` reports its own.
pub(super) const SIZES: [u32; 11] = [
    size_of::<Partition>() as u32,
    size_of::<Step>() as u32,
    size_of::<Job>() as u32,
    size_of::<MatrixJob>() as u32,
    size_of::<DerivativeJob>() as u32,
    size_of::<TapeHead>() as u32,
    size_of::<Seat>() as u32,
    size_of::<TapeProgram>() as u32,
    size_of::<TapeStep>() as u32,
    size_of::<TapeJob>() as u32,
    size_of::<TapeMatrix>() as u32,
];
