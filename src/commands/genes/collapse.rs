//! [`Collapse`]: which inner branches are left out of gene trees, because nothing supports them.

use crate::bootstrap::{Support, SupportKind};
use crate::steps::BranchSupport;
use crate::tree::{EdgeId, Tree};

/// What a branch must have to be in a tree.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Collapse {
    /// At least this support, in percent.
    pub support: Option<f64>,
    /// More than this length, in substitutions per site.
    pub length: Option<f64>,
}

/// The kind of support that counts where there are several: that of replicates, or else SH-aLRT, or else aBayes.
pub(super) fn counting(support: &BranchSupport) -> Option<&Support> {
    let of_replicates = |kind| !matches!(kind, SupportKind::ShAlrt | SupportKind::ABayes);
    let kinds = || support.kinds.iter().map(|(values, _)| values);
    kinds().find(|values| of_replicates(values.kind)).or_else(|| kinds().next())
}

impl Collapse {
    /// True if the branch is left out of the tree.
    pub(super) fn leaves_out(&self, tree: &Tree, support: &BranchSupport, branch: usize) -> bool {
        let is_short = |length| tree.brlen(EdgeId(branch as u32)) <= length;
        let is_weak = |percent: f64| {
            let value = counting(support).and_then(|one| Some((one.values[branch]?, one.kind)));
            value.is_some_and(|(value, kind)| 100.0 * value < percent * kind.full())
        };
        self.length.is_some_and(is_short) || self.support.is_some_and(is_weak)
    }

    /// Its words in the identity of a run.
    pub(super) fn describe(&self) -> String {
        let number = |value: Option<f64>| value.map_or("none".to_string(), |v| v.to_string());
        format!("support {}, length {}", number(self.support), number(self.length))
    }
}
