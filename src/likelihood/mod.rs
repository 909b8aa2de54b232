//! Likelihood of trees: what is computed (this door and [`Evaluator`]) and by what (an [`Engine`]).
//!
//! Glossary. *CLV*: conditional likelihood vector, the probability of the data behind a node for
//! each state at the node, per pattern and rate category. *Virtual root*: the edge towards which all
//! CLVs of a gene point. *Gene*: a partition, by number. *T|g*: the tree restricted to the taxa that
//! have data in gene g. *Slot*: number of the one CLV that an inner node of T|g owns; what it points
//! towards changes (it is relocatable), its place does not; a few more hold what is made on trial. *Sumtable*: what is left of an edge's
//! likelihood when its length is the only variable.

mod arena;
pub mod ascertainment;
#[cfg(test)]
mod ascertainment_tests;
pub mod cpu;
mod data;
mod evaluator;
mod gene_state;
mod gene_tree;
mod insertion;
pub mod layout;
mod lengths;
mod moves;
pub mod naive;
mod operation;
mod place;
mod scaling;
mod sweep;
#[cfg(test)]
mod tests;
mod trial;

pub use data::{GeneData, GeneModel};
pub use evaluator::{BranchOptions, BrlenLinkage, Evaluator};
pub use insertion::Prune;
pub use moves::{Snapshot, SubtreeMove};
pub use operation::*;
pub use trial::Trial;

/// Shortest and longest branch (substitutions per site), as in the field's programs: of the global tree, or
/// of each gene's tree when unlinked. Lengths may lie outside only while nobody optimises them: those that
/// a user gives, and halves made by a regraft.
pub const BRLEN_BOUNDS: [f64; 2] = [1e-6, 100.0];

/// What computes likelihoods. Every verb takes a whole program of work, so that nobody is asked for
/// one edge at a time; results come back per gene. All lengths of slices are asserted.
pub trait Engine: Send {
    /// Sets a gene's model. CLVs of the gene are worthless afterwards.
    fn set_model(&mut self, gene: usize, model: &GeneModel);

    /// Updates CLVs; genes are independent of each other.
    fn update_partials(&mut self, descriptors: &[TraversalDescriptor]);

    /// Log-likelihood of each job, with the gene's correction of ascertainment bias, as everywhere below.
    fn log_likelihoods(&mut self, jobs: &[EdgeJob]) -> Vec<f64>;

    /// Log-likelihood of each pattern (unweighted) of the job's gene; under Lewis's correction, of the
    /// pattern given that it is a variable one. Patterns of sites that were left out are not among them.
    fn pattern_log_likelihoods(&mut self, job: &EdgeJob) -> Vec<f64>;

    /// Scores of each program, in the order of its scoring steps.
    fn insertion_scores(&mut self, programs: &[InsertionProgram]) -> Vec<Vec<f64>>;

    /// Optimises branch lengths in place.
    fn optimize_branches(&mut self, programs: &mut [SweepProgram]);

    /// A copy of a CLV and its scaler counts, for tests.
    fn clv(&mut self, gene: usize, slot: u32) -> (Vec<f64>, Vec<u32>);

    /// Bytes that stored CLVs and their scalers take.
    fn clv_bytes(&self) -> usize;

    /// One line for the log: what computes, with what.
    fn describe(&self) -> String;
}
