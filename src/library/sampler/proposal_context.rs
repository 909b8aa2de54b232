//! What proposals are made with.

use super::brlen_prior::BrlenPrior;
use super::conflicts::Guide;
use super::reference::{Coordinates, Learner};
use super::seen_splits::SeenSplits;
use crate::parsimony::ParsimonyData;

/// What proposals are made with.
#[derive(Clone, Copy)]
pub(super) struct ProposalContext<'a> {
    pub(super) step_size: f64,
    /// The power to which the chain's posterior is raised.
    pub(super) heat: f64,
    /// The power to which the likelihood is raised in it.
    pub(super) data_heat: f64,
    /// What is changed together.
    pub(super) coordinates: &'a [Coordinates],
    /// What was learned of it.
    pub(super) learners: &'a [Learner],
    /// Splits that were seen in the adaptation.
    pub(super) seen: &'a SeenSplits,
    /// For moves that are guided by parsimony.
    pub(super) parsimony: Option<&'a ParsimonyData>,
    pub(super) prior_only: bool,
    /// Prior of branch lengths.
    pub(super) brlens: &'a BrlenPrior,
}

impl ProposalContext<'_> {
    /// What leads proposals of topologies.
    pub(super) fn guide(&self) -> Guide<'_> {
        // Without data, parsimony knows nothing of the target.
        let data = self.parsimony.filter(|_| !self.prior_only);
        Guide { data, seen: self.seen, power: self.data_heat / self.heat }
    }
}
