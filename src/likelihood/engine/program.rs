//! Programs of work for an engine: plain data, decided completely before anything is computed.
//!
//! A *gene* is the number of a partition. Branch lengths are those of the gene (already multiplied by its
//! scaler), except in a [`SweepProgram`], where they change on the way.
//!
//! Temporaries of a program are numbered in the order in which they are made, from 0 on (in a sweep: of
//! each of its genes), and each is made once (single assignment). They exist until the program ends. So an
//! engine can see from a program alone what depends on what, how many vectors are needed at a time, and
//! what may be computed at the same time.

use crate::likelihood::BRLEN_BOUNDS;
use std::ops::Range;

/// Names a vector of a gene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vector {
    /// A tip of the gene's restricted tree.
    Tip(u32),
    /// A stored CLV, by its slot.
    Clv(u32),
    /// A temporary of the program.
    Temporary(u32),
}

/// One update: a vector from two others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Operation {
    /// What is written: no tip, and none of the children.
    pub parent: Vector,
    /// The two vectors it is made from.
    pub children: [Vector; 2],
    /// Lengths of the branches to them.
    pub brlens: [f64; 2],
}

/// Updates of stored CLVs of one gene, children before parents; no temporaries.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TraversalDescriptor {
    /// The gene.
    pub gene: usize,
    /// The updates in order.
    pub operations: Vec<Operation>,
}

/// A likelihood at an edge of one gene, from tips and stored CLVs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EdgeJob {
    /// The gene.
    pub gene: usize,
    /// Vectors at the edge's two ends, pointing towards each other.
    pub ends: [Vector; 2],
    /// Length of the edge.
    pub brlen: f64,
}

/// One step of scoring the regraft positions of a pruned subtree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InsertionStep {
    /// Makes a temporary vector: what lies behind two branches, as for a CLV.
    Partials(Operation),
    /// Makes a pendant vector: a subtree seen from its insertion point, times the weighted frequencies.
    Pendant {
        /// The temporary that is made. Only scores read it.
        out: u32,
        /// Top of the subtree.
        source: Vector,
        /// Length of the branch to it.
        brlen: f64,
    },
    /// Likelihood with a subtree put between two vectors.
    Score {
        /// The subtree's pendant vector.
        pendant: u32,
        /// The two ends of the edge.
        ends: [Vector; 2],
        /// Lengths from the insertion point to them.
        brlens: [f64; 2],
    },
    /// Likelihood at an edge: what is left of the gene's tree without the subtree is a single tip.
    Edge {
        /// The two ends.
        ends: [Vector; 2],
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

impl InsertionStep {
    /// The temporary that the step makes, if it makes one.
    pub fn makes(&self) -> Option<u32> {
        match *self {
            InsertionStep::Partials(Operation { parent: Vector::Temporary(out), .. })
            | InsertionStep::Pendant { out, .. } => Some(out),
            _ => None,
        }
    }

    /// The temporaries that the step reads.
    pub fn reads(&self) -> [Option<u32>; 3] {
        let temporary = |vector| match vector {
            Vector::Temporary(number) => Some(number),
            Vector::Tip(_) | Vector::Clv(_) => None,
        };
        match *self {
            InsertionStep::Partials(Operation { children: [a, b], .. })
            | InsertionStep::Edge { ends: [a, b], .. } => [temporary(a), temporary(b), None],
            InsertionStep::Pendant { source, .. } => [temporary(source), None, None],
            InsertionStep::Score { pendant, ends: [a, b], .. } => {
                [temporary(a), temporary(b), Some(pendant)]
            }
        }
    }

    /// True if the step makes a score.
    pub fn is_score(&self) -> bool {
        matches!(self, InsertionStep::Score { .. } | InsertionStep::Edge { .. })
    }
}

impl InsertionProgram {
    /// Number of scores the program makes.
    pub fn num_scores(&self) -> usize {
        self.steps.iter().filter(|step| step.is_score()).count()
    }
}

/// An update whose lengths are looked up when it is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SweepOperation {
    /// What is written: no tip, and none of the children.
    pub parent: Vector,
    /// The two vectors it is made from.
    pub children: [Vector; 2],
    /// Edges of the gene's tree to them.
    pub edges: [u32; 2],
}

/// One gene's part in one step of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepJob {
    /// Index into [`SweepProgram::genes`].
    pub member: usize,
    /// Updates that turn the gene's vectors towards the edge: a range of [`SweepProgram::operations`].
    pub operations: Range<usize>,
    /// Vectors at the two ends of the gene's edge.
    pub ends: [Vector; 2],
    /// The gene's edge, whose length contains the step's branch.
    pub edge: u32,
}

/// One branch to optimise.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepStep {
    /// Genes it touches, each once: a range of [`SweepProgram::jobs`], not empty.
    pub jobs: Range<usize>,
    /// Which of [`SweepProgram::brlens`] it is.
    pub branch: u32,
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
    /// Genes taking part, each once.
    pub genes: Vec<SweepGene>,
    /// All updates.
    pub operations: Vec<SweepOperation>,
    /// All jobs.
    pub jobs: Vec<SweepJob>,
    /// The branches in order.
    pub steps: Vec<SweepStep>,
    /// Length of each branch by its number in the tree that the caller takes it from, before and after.
    pub brlens: Vec<f64>,
    /// Shortest and longest length.
    pub bounds: [f64; 2],
    /// A branch is left when a further step promises less than this (log units).
    pub gain_tolerance: f64,
    /// Edges whose log-likelihoods are wanted at the end, one per gene; without operations.
    pub finish: Vec<SweepJob>,
    /// Afterwards: the log-likelihood that the last step ended with, over the genes it touches.
    pub lnl: f64,
    /// Afterwards: the log-likelihoods of [`SweepProgram::finish`].
    pub finish_lnls: Vec<f64>,
}

impl SweepProgram {
    /// No steps yet, with the bounds of all branch lengths.
    pub fn new(brlens: Vec<f64>, gain_tolerance: f64) -> Self {
        SweepProgram {
            genes: Vec::new(),
            operations: Vec::new(),
            jobs: Vec::new(),
            steps: Vec::new(),
            brlens,
            bounds: BRLEN_BOUNDS,
            gain_tolerance,
            finish: Vec::new(),
            lnl: 0.0,
            finish_lnls: Vec::new(),
        }
    }

    /// Length of a job's edge, in the gene's units, when the step's branch has length `t`.
    pub fn job_length(&self, job: &SweepJob, step: &SweepStep, t: f64) -> f64 {
        let gene = &self.genes[job.member];
        let rest = gene.brlens[job.edge as usize] - self.brlens[step.branch as usize];
        gene.brlen_scaler * (rest + t)
    }

    /// A job's edge at the lengths of the moment.
    pub fn edge_job(&self, job: &SweepJob) -> EdgeJob {
        let SweepGene { gene, brlen_scaler, brlens } = &self.genes[job.member];
        EdgeJob { gene: *gene, ends: job.ends, brlen: brlen_scaler * brlens[job.edge as usize] }
    }

    /// A job's updates at the lengths of the moment.
    pub fn operations_of(&self, job: &SweepJob) -> impl Iterator<Item = Operation> + Clone {
        let gene = &self.genes[job.member];
        self.operations[job.operations.clone()].iter().map(|operation| Operation {
            parent: operation.parent,
            children: operation.children,
            brlens: operation.edges.map(|edge| gene.brlen_scaler * gene.brlens[edge as usize]),
        })
    }
}

/// A regraft position on trial: the branches that meet there are optimised while the tree stays as it is.
///
/// First the first steps of all sweeps; then, unless the tree's log-likelihood is below the floor, the
/// others. Sweeps write temporaries only, and no gene is in two of them.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialProgram {
    /// One over all genes that share their lengths, or one per gene.
    pub sweeps: Vec<SweepProgram>,
    /// How many steps of each sweep come first.
    pub num_first: usize,
    /// Log-likelihood of every gene of the tree, before and after; that of all genes of a sweep that move
    /// together stands at the first of them, and the others have 0.
    pub lnls: Vec<f64>,
    /// Where the sum of these, in their order, ends a trial.
    pub floor: f64,
}

impl TrialProgram {
    /// Notes what the sweeps have come to after so many steps.
    pub fn note_lnls(&mut self, num_steps: usize) {
        for sweep in &self.sweeps {
            if let Some(last) = sweep.steps[..num_steps.min(sweep.steps.len())].last() {
                let mut lnl = sweep.lnl;
                for job in &sweep.jobs[last.jobs.clone()] {
                    self.lnls[sweep.genes[job.member].gene] = std::mem::take(&mut lnl);
                }
            }
            for (job, &lnl) in sweep.finish.iter().zip(&sweep.finish_lnls) {
                self.lnls[sweep.genes[job.member].gene] = lnl;
            }
        }
    }

    /// Log-likelihood of the tree as far as it was noted.
    pub fn lnl(&self) -> f64 {
        self.lnls.iter().sum()
    }
}
