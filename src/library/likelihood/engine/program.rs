//! Programs of work for an engine: plain data, complete before anything is computed.
//!
//! A *partition* is the number of a partition. Branch lengths are those of the partition (already multiplied by its
//! scaler), except in a [`SweepProgram`], which changes them.
//!
//! The temporaries of a program (in a sweep: of each of its partitions) are numbered from 0 in the order in which
//! they are made, and each is made once (single assignment). They exist until the program ends. An engine
//! can therefore derive from a program alone which steps depend on each other, how many CLVs are needed
//! at the same time, and what may be computed in parallel.

use crate::likelihood::BRLEN_BOUNDS;
use crate::numeric::{Gamma, GammaPrior};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Identifies a CLV of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Clv {
    /// A tip of the partition's restricted tree.
    Tip(u32),
    /// A stored CLV, by its slot.
    Stored(u32),
    /// A temporary of the program.
    Temporary(u32),
}

impl Clv {
    /// The slot of a stored CLV.
    pub fn slot(self) -> Option<u32> {
        match self {
            Clv::Stored(slot) => Some(slot),
            Clv::Tip(_) | Clv::Temporary(_) => None,
        }
    }
}

/// One update: computes a CLV from two others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    /// The CLV that is written: neither a tip nor one of the children.
    pub parent: Clv,
    /// The two CLVs that are read.
    pub children: [Clv; 2],
    /// Lengths of the branches to them.
    pub brlens: [f64; 2],
}

/// Updates of stored CLVs of one partition, children before parents; no temporaries.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TraversalDescriptor {
    /// The partition.
    pub partition: usize,
    /// The updates in order.
    pub operations: Vec<Operation>,
}

/// Evaluation of the log-likelihood of one partition at an edge, from tips and stored CLVs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EdgeJob {
    /// The partition.
    pub partition: usize,
    /// CLVs at the edge's two ends, pointing towards each other.
    pub ends: [Clv; 2],
    /// Length of the edge.
    pub brlen: f64,
}

/// A point on an edge of one partition, at which the probabilities of states are asked for, from tips and stored CLVs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PointJob {
    /// The partition.
    pub partition: usize,
    /// CLVs at the edge's two ends, pointing towards each other.
    pub ends: [Clv; 2],
    /// Lengths from the point to them. A node is a point at distance 0 from one of them.
    pub brlens: [f64; 2],
}

/// One step of scoring the regraft positions of a pruned subtree.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum InsertionStep {
    /// Makes a temporary in the same way as a CLV.
    Partials(Operation),
    /// Makes a pendant CLV: the CLV of the subtree at its insertion point, times rate weights and
    /// frequencies.
    Pendant {
        /// The temporary that is made. Only `Score` steps read it.
        out: u32,
        /// CLV at the root of the subtree.
        source: Clv,
        /// Length of the branch to it.
        brlen: f64,
    },
    /// Log-likelihood with the subtree inserted into an edge.
    Score {
        /// The subtree's pendant CLV.
        pendant: u32,
        /// The two ends of the edge.
        ends: [Clv; 2],
        /// Lengths from the insertion point to them.
        brlens: [f64; 2],
    },
    /// Log-likelihood at an edge, for a partition whose tree without the subtree is a single tip.
    Edge {
        /// The two ends.
        ends: [Clv; 2],
        /// Its length.
        brlen: f64,
    },
}

/// All steps of one partition for one pruned subtree. Scores are returned in the order of the steps that
/// compute one (`Score` and `Edge`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct InsertionProgram {
    /// The partition.
    pub partition: usize,
    /// Number of first steps, which make the first temporaries: CLVs that another program may find stored, depending on
    /// what is computed before and with it. Engines make them as exactly as stored CLVs.
    pub num_turned: usize,
    /// The steps in order.
    pub steps: Vec<InsertionStep>,
}

impl InsertionStep {
    /// The temporary that the step makes, if any.
    pub fn makes(&self) -> Option<u32> {
        match *self {
            InsertionStep::Partials(Operation { parent: Clv::Temporary(out), .. })
            | InsertionStep::Pendant { out, .. } => Some(out),
            _ => None,
        }
    }

    /// The temporaries that the step reads.
    pub fn reads(&self) -> [Option<u32>; 3] {
        let temporary = |clv| match clv {
            Clv::Temporary(number) => Some(number),
            Clv::Tip(_) | Clv::Stored(_) => None,
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

    /// True if the step computes a score.
    pub fn is_score(&self) -> bool {
        matches!(self, InsertionStep::Score { .. } | InsertionStep::Edge { .. })
    }
}

impl InsertionProgram {
    /// True for a temporary of the first steps.
    pub fn is_turned(&self, clv: Clv) -> bool {
        matches!(clv, Clv::Temporary(number) if (number as usize) < self.num_turned)
    }

    /// Number of scores that the program computes.
    pub fn num_scores(&self) -> usize {
        self.steps.iter().filter(|step| step.is_score()).count()
    }
}

/// An update whose branch lengths are read from [`SweepPartition::brlens`] when it is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepOperation {
    /// The CLV that is written: neither a tip nor one of the children.
    pub parent: Clv,
    /// The two CLVs that are read.
    pub children: [Clv; 2],
    /// Edges to them, as indices into [`SweepPartition::brlens`].
    pub edges: [u32; 2],
}

/// One partition's part in one step of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepJob {
    /// Index into [`SweepProgram::partitions`].
    pub member: usize,
    /// Updates that make the CLVs at the edge's ends valid: a range of [`SweepProgram::operations`].
    pub operations: Range<usize>,
    /// CLVs at the two ends of the partition's edge.
    pub ends: [Clv; 2],
    /// The partition's edge, whose length includes that of the step's branch: an index into [`SweepPartition::brlens`].
    pub edge: u32,
}

/// One branch to optimise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepStep {
    /// One job for each partition whose likelihood depends on the branch: a range of [`SweepProgram::jobs`], not
    /// empty.
    pub jobs: Range<usize>,
    /// Index of the branch in [`SweepProgram::brlens`].
    pub branch: u32,
}

/// A partition in a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepPartition {
    /// The partition.
    pub partition: usize,
    /// Factor of all its branch lengths.
    pub brlen_scaler: f64,
    /// Lengths, without the scaler, of the edges that the program uses, by the program's own numbers; updated by
    /// the sweep.
    pub brlens: Vec<f64>,
}

/// What the steps of a sweep find.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Goal {
    /// The length with the highest likelihood, which becomes that of the branch.
    Maximum,
    /// The gamma distribution that is nearest to the density of the length, by its likelihood and this prior. The branch keeps
    /// its length; the result depends on this only as far as `start` does.
    Density {
        /// Power of the likelihood, and prior density.
        prior: GammaPrior,
        /// The length at which the likelihood is evaluated first.
        start: f64,
    },
    /// The log-likelihood and its derivatives at the present length, which the branch keeps.
    Derivatives,
}

/// Newton-Raphson optimisation of a list of branches, one after the other (Gauss-Seidel). Under linked and
/// scaled lengths, one program contains all partitions, and their derivatives are summed; under unlinked lengths
/// there is one program per partition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepProgram {
    /// The partitions, each once.
    pub partitions: Vec<SweepPartition>,
    /// All updates.
    pub operations: Vec<SweepOperation>,
    /// All jobs.
    pub jobs: Vec<SweepJob>,
    /// The branches in order.
    pub steps: Vec<SweepStep>,
    /// Lengths of the branches, by the program's own numbers; updated by the sweep.
    pub brlens: Vec<f64>,
    /// What is asked of each branch.
    pub goal: Goal,
    /// Shortest and longest allowed length.
    pub bounds: [f64; 2],
    /// The optimisation of a branch ends when the expected gain of the next Newton step is less than this (log
    /// units).
    pub gain_tolerance: f64,
    /// Edges at which log-likelihoods are evaluated after the last step, at most one per partition; without
    /// operations.
    pub finish: Vec<SweepJob>,
    /// Result: the log-likelihood at the end of the last step, summed over the partitions of that step.
    pub lnl: f64,
    /// Result of [`Goal::Density`]: the distribution of the last step's branch. `None` if the density is not like one.
    pub density: Option<Gamma>,
    /// Result of [`Goal::Derivatives`], for each step: log-likelihood, first and second derivative with respect to the length
    /// of the branch, summed over the partitions of the step.
    pub derivatives: Vec<[f64; 3]>,
    /// Result: the log-likelihoods of [`SweepProgram::finish`].
    pub finish_lnls: Vec<f64>,
}

impl SweepProgram {
    /// A program without steps, with the bounds [`BRLEN_BOUNDS`].
    pub fn new(brlens: Vec<f64>, gain_tolerance: f64) -> Self {
        SweepProgram {
            partitions: Vec::new(),
            operations: Vec::new(),
            jobs: Vec::new(),
            steps: Vec::new(),
            brlens,
            goal: Goal::Maximum,
            bounds: BRLEN_BOUNDS,
            gain_tolerance,
            finish: Vec::new(),
            lnl: 0.0,
            density: None,
            derivatives: Vec::new(),
            finish_lnls: Vec::new(),
        }
    }

    /// Length of a job's edge, times the partition's scaler, when the step's branch has length `t`.
    pub fn job_length(&self, job: &SweepJob, step: &SweepStep, t: f64) -> f64 {
        let partition = &self.partitions[job.member];
        let rest = partition.brlens[job.edge as usize] - self.brlens[step.branch as usize];
        partition.brlen_scaler * (rest + t)
    }

    /// A job's edge at the current lengths.
    pub fn edge_job(&self, job: &SweepJob) -> EdgeJob {
        let SweepPartition { partition, brlen_scaler, brlens } = &self.partitions[job.member];
        EdgeJob {
            partition: *partition,
            ends: job.ends,
            brlen: brlen_scaler * brlens[job.edge as usize],
        }
    }

    /// A job's updates at the current lengths.
    pub fn operations_of(&self, job: &SweepJob) -> impl Iterator<Item = Operation> + Clone {
        let partition = &self.partitions[job.member];
        self.operations[job.operations.clone()].iter().map(|operation| Operation {
            parent: operation.parent,
            children: operation.children,
            brlens: operation
                .edges
                .map(|edge| partition.brlen_scaler * partition.brlens[edge as usize]),
        })
    }
}

/// Trial of a regraft position: optimises the three branches that would meet there, without changing the
/// tree.
///
/// The first steps of all sweeps are carried out; then, unless the tree's log-likelihood is below the floor,
/// the other steps. The sweeps write temporaries only, and no partition is in two of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialProgram {
    /// One sweep over all partitions that share their branch lengths, or one per partition.
    pub sweeps: Vec<SweepProgram>,
    /// Number of first steps of each sweep.
    pub num_first: usize,
    /// Log-likelihood of each partition of the tree, updated by the trial. The sum over the partitions of a sweep's last
    /// step is stored at the first of these partitions, and the others are set to 0.
    pub lnls: Vec<f64>,
    /// The trial ends after the first steps if the sum of `lnls`, in their order, is below this.
    pub floor: f64,
}

impl TrialProgram {
    /// Log-likelihood of the tree: the sum of `lnls`.
    pub fn lnl(&self) -> f64 {
        self.lnls.iter().sum()
    }
}
