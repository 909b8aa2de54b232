//! Climbs that do not depend on each other: with which tree each begins, and what it has reached.

use super::changed::Changed;
use crate::likelihood::{Evaluator, Result, Snapshot};
use crate::tree::Tree;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One climb of a wave.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Climb {
    /// One round from the tree with which the search began, which the evaluator has.
    First,
    /// One round from a further starting tree, with its number.
    Screen(usize, Tree),
    /// Rounds from a further starting tree, with its number.
    Explore(usize, Tree),
    /// Rounds from a perturbation of the best tree, with its number.
    Perturb(usize),
}

impl Climb {
    /// Its name, as shown to users.
    pub(super) fn name(&self) -> String {
        match self {
            Climb::First => "fast SPR".to_string(),
            Climb::Screen(number, _) | Climb::Explore(number, _) => {
                format!("fast SPR, starting tree {}", number + 1)
            }
            Climb::Perturb(number) => format!("perturbation {}", number + 1),
        }
    }
}

/// A wave in progress.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Wave {
    pub(super) climbs: Vec<Climb>,
    /// What the first of them have reached.
    pub(super) ends: Vec<End>,
}

impl Wave {
    pub(super) fn new(climbs: Vec<Climb>) -> Self {
        Wave { climbs, ends: Vec::new() }
    }

    /// The completed part, if this part of the present climb is completed.
    pub(super) fn part(&self, part_of_climb: f64) -> f64 {
        (self.ends.len() as f64 + part_of_climb) / self.climbs.len() as f64
    }

    /// The number of climbs that are left, if this part of the present one is completed.
    pub(super) fn left(&self, part_of_climb: f64) -> f64 {
        self.climbs.len() as f64 * (1.0 - self.part(part_of_climb))
    }
}

/// A tree that the search has reached.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) lnl: f64,
    pub(super) snapshot: Arc<Snapshot>,
    /// The subtrees that the next round has to scan.
    pub(super) changed: Changed,
}

impl End {
    pub(super) fn of(evaluator: &mut Evaluator, changed: Changed) -> Result<Self> {
        let (lnl, snapshot) = (evaluator.log_likelihood()?, Arc::new(evaluator.snapshot()));
        Ok(End { lnl, snapshot, changed })
    }
}
