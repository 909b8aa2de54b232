//! Programs of work for an engine: plain data, decided completely before anything is computed.
//!
//! A *gene* is the number of a partition. A *slot* is the number of a CLV of that gene; a tip is
//! numbered within the gene's own restricted tree. Branch lengths are those of the gene (already
//! multiplied by its scaler), except in a [`SweepProgram`], where they change on the way.

use super::BRLEN_BOUNDS;

/// Where a vector comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A tip of the gene's restricted tree.
    Tip(u32),
    /// A stored CLV.
    Clv(u32),
    /// A scratch vector of the running insertion program.
    Scratch(u32),
}

/// One CLV update.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Operation {
    /// Slot that is written.
    pub parent: u32,
    /// The two vectors it is made from.
    pub children: [Source; 2],
    /// Lengths of the branches to them.
    pub brlens: [f64; 2],
}

/// CLV updates of one gene, children before parents.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TraversalDescriptor {
    /// The gene.
    pub gene: usize,
    /// The updates in order.
    pub operations: Vec<Operation>,
}

/// A likelihood at an edge of one gene.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EdgeJob {
    /// The gene.
    pub gene: usize,
    /// Vectors at the edge's two ends, pointing towards each other.
    pub ends: [Source; 2],
    /// Length of the edge.
    pub brlen: f64,
}

/// One step of scoring the regraft positions of a pruned subtree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InsertionStep {
    /// Makes an up-vector: what lies behind two branches, as for a CLV.
    Up {
        /// Scratch vector that is written.
        out: u32,
        /// The two vectors it is made from.
        sources: [Source; 2],
        /// Lengths of the branches to them.
        brlens: [f64; 2],
    },
    /// Sets the pruned subtree's vector, seen from its insertion point.
    Pendant {
        /// Top of the subtree.
        source: Source,
        /// Length of the branch to it.
        brlen: f64,
    },
    /// Likelihood with the subtree put between two vectors.
    Score {
        /// The two ends of the edge.
        ends: [Source; 2],
        /// Lengths from the insertion point to them.
        brlens: [f64; 2],
    },
    /// Likelihood at an edge: what is left of the gene's tree without the subtree is a single tip.
    Edge {
        /// The two ends.
        ends: [Source; 2],
        /// Length.
        brlen: f64,
    },
}

/// All steps of one gene for one pruned subtree. Scores come back in the order of the steps that
/// make one (`Score` and `Edge`).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InsertionProgram {
    /// The gene.
    pub gene: usize,
    /// The steps in order.
    pub steps: Vec<InsertionStep>,
}

impl InsertionProgram {
    /// Number of scratch vectors the program needs.
    pub fn num_scratch(&self) -> usize {
        let used = |step: &InsertionStep| match step {
            InsertionStep::Up { out, .. } => *out as usize + 1,
            _ => 0,
        };
        self.steps.iter().map(used).max().unwrap_or(0)
    }

    /// Number of scores the program makes.
    pub fn num_scores(&self) -> usize {
        let is_score = |step: &&InsertionStep| {
            matches!(step, InsertionStep::Score { .. } | InsertionStep::Edge { .. })
        };
        self.steps.iter().filter(is_score).count()
    }
}

/// A CLV update whose lengths are looked up when it is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SweepOperation {
    /// Slot that is written.
    pub parent: u32,
    /// The two vectors it is made from.
    pub children: [Source; 2],
    /// Edges of the gene's tree to them.
    pub edges: [u32; 2],
}

/// One gene's part in one step of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepJob {
    /// Index into [`SweepProgram::genes`].
    pub member: usize,
    /// Updates that turn the gene's CLVs towards the edge: a range of [`SweepProgram::operations`].
    pub operations: std::ops::Range<usize>,
    /// Vectors at the two ends of the gene's edge.
    pub ends: [Source; 2],
    /// The gene's edge, whose length contains the step's branch.
    pub edge: u32,
}

/// One branch to optimise.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepStep {
    /// Genes it touches: a range of [`SweepProgram::jobs`].
    pub jobs: std::ops::Range<usize>,
    /// Its length, before and after.
    pub brlen: f64,
    /// Its number in the tree that the caller takes it from; the engine does not look at it.
    pub edge: u32,
}

/// A gene in a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepGene {
    /// The gene.
    pub gene: usize,
    /// All its lengths are multiplied by this.
    pub brlen_scaler: f64,
    /// Length of each edge of its tree (a program may use numbers behind them for edges that the tree
    /// does not have), before and after.
    pub brlens: Vec<f64>,
}

/// Newton-Raphson on a list of branches, one after the other (Gauss-Seidel). In linked mode there is
/// one program over all genes, whose derivatives are summed; in unlinked mode there is one per gene.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepProgram {
    /// Genes taking part.
    pub genes: Vec<SweepGene>,
    /// All CLV updates.
    pub operations: Vec<SweepOperation>,
    /// All jobs.
    pub jobs: Vec<SweepJob>,
    /// The branches in order.
    pub steps: Vec<SweepStep>,
    /// Shortest and longest length.
    pub bounds: [f64; 2],
    /// A branch is left when a further step promises less than this (log units).
    pub gain_tolerance: f64,
    /// Afterwards: the log-likelihood that the last step ended with, over the genes it touches.
    pub lnl: f64,
}

impl SweepProgram {
    /// No steps yet, with the bounds of all branch lengths.
    pub(super) fn empty(gain_tolerance: f64) -> Self {
        SweepProgram {
            genes: Vec::new(),
            operations: Vec::new(),
            jobs: Vec::new(),
            steps: Vec::new(),
            bounds: BRLEN_BOUNDS,
            gain_tolerance,
            lnl: 0.0,
        }
    }
}
