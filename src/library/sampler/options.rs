//! [`SamplerOptions`]: how a run samples.

use super::moves::Move;
use super::parameters::Parameter;
use super::priors::Priors;
use super::reference::Coordinates;
use super::step::Target;
use crate::model::Model;
use crate::parsimony::ParsimonyData;
use crate::tree::Constraint;
use std::sync::Arc;

/// How a run samples.
#[derive(Debug, Clone)]
pub struct SamplerOptions {
    /// What is sampled besides the tree.
    pub parameters: Vec<Parameter>,
    /// Priors.
    pub priors: Priors,
    /// Every partition has its own branch lengths.
    pub has_own_lengths: bool,
    /// Without the data.
    pub prior_only: bool,
    /// Number of chains.
    pub num_chains: usize,
    /// Incremental heating: the posterior of chain i, from 0, is raised to the power 1 / (1 + i * temperature). If `None`, the
    /// temperature is adapted.
    pub temperature: Option<f64>,
    /// Generations between two samples.
    pub sample_every: u64,
    /// Generations in which proposals are adapted.
    pub num_adapting: u64,
    /// The data for moves that are guided by parsimony.
    pub parsimony: Arc<ParsimonyData>,
    /// What all trees must satisfy; the trees with which the chains begin do.
    pub constraint: Option<Constraint>,
    /// Numbers of the partitions in their file, from 1, by which names tell of them.
    pub numbers: Vec<usize>,
    /// Seed of all runs.
    pub seed: u64,
    /// Number of the run, from 0.
    pub run: u64,
}

impl SamplerOptions {
    /// What is changed together, in the order of the learners.
    pub(super) fn coordinates(&self, models: &[Model]) -> Vec<Coordinates> {
        Coordinates::list(&self.parameters, models, self.has_own_lengths)
    }

    /// The kinds of proposals, with their weights.
    pub(super) fn moves(&self, coordinates: &[Coordinates], num_tips: usize) -> Vec<(Move, f64)> {
        Move::list(&self.parameters, coordinates, num_tips, self.has_own_lengths)
    }

    /// Of each kind of proposal, what it changes, in a word.
    pub fn move_groups(&self, models: &[Model], num_tips: usize) -> Vec<&'static str> {
        let moves = self.moves(&self.coordinates(models), num_tips);
        moves.iter().map(|(kind, _)| kind.group()).collect()
    }

    /// What all chains have in common.
    pub(super) fn target(&self) -> Target {
        Target {
            parameters: self.parameters.clone(),
            priors: self.priors.clone(),
            prior_only: self.prior_only,
            data_power: 1.0,
            constraint: self.constraint.clone(),
        }
    }
}
