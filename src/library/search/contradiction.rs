//! [`Contradiction`]: whether the data contradict a constraint, told by parsimony before the search.

use super::start::parsimony_start;
use crate::parsimony::{ParsimonyData, parsimony_score};
use crate::rng::Purpose;

/// The data contradict a constraint that makes parsimony trees longer by more than this share of their changes. Measured
/// on 9 alignments of 12 to 59 taxa: constraints of half of the splits of the best tree need up to 0.4 % more changes,
/// random ones 1.1 % or more.
const CONTRADICTED: f64 = 0.01;

/// How many changes parsimony trees have under a constraint and without it. How many log-likelihood units the constraint
/// costs is known only after a search without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contradiction {
    /// Number of changes of a parsimony tree that satisfies the constraint.
    pub constrained: u64,
    /// Number of changes of a parsimony tree that need not.
    pub free: u64,
}

impl Contradiction {
    /// Makes the two trees; `None` if the data have no constraint.
    pub fn of(data: &ParsimonyData, seed: u64) -> Option<Self> {
        data.constraint()?;
        let score = |data: &ParsimonyData| {
            parsimony_score(&parsimony_start(data, seed, Purpose::ParsimonyTree, 0), data)
        };
        Some(Contradiction {
            constrained: score(data),
            free: score(&data.clone().constrained(None)),
        })
    }

    /// True if the constraint takes so many changes that its best tree is hard to find.
    pub fn is_strong(&self) -> bool {
        self.constrained as f64 > (1.0 + CONTRADICTED) * self.free as f64
    }
}
