//! Changes along the branches: sites at which the most likely states of the two ends of a branch differ.

use super::nodes::InnerNodes;
use super::reconstruct::AncestralStates;
use crate::partition::Partition;
use crate::tree::{NodeId, Tree};

/// A change of state at one site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// First column of the site in the alignment, counted from 1.
    pub column: u32,
    /// The partition.
    pub partition: usize,
    /// State at the upper end of the branch.
    pub from: u8,
    /// State at the lower end.
    pub to: ChangedTo,
}

/// The state after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangedTo {
    /// This one.
    State(u8),
    /// One of these, of a partly ambiguous character of a taxon that excludes the state before the change: as bits.
    OneOf(u64),
}

/// The changes of each branch, in the order of [`InnerNodes::branches`] and of the columns. A site changes if both ends have a state and
/// the states differ. The state of a taxon is that of its character; a character that is compatible with the state above
/// it is no change.
pub fn changes_of_branches(
    tree: &Tree,
    nodes: &InnerNodes,
    found: &AncestralStates,
    partitions: &[Partition],
) -> Vec<Vec<Change>> {
    let mut all = Vec::with_capacity(nodes.branches().len());
    for branch in nodes.branches() {
        let mut changes = Vec::new();
        for (index, partition) in partitions.iter().enumerate() {
            let Some(above) = &found.states[branch.from][index] else { continue };
            let below = Below::new(tree, nodes, found, branch.to, index, partition);
            // Which patterns change is found once for all their sites.
            let to: Vec<Option<ChangedTo>> = above
                .iter()
                .enumerate()
                .map(|(pattern, &state)| below.change(pattern, state))
                .collect();
            if to.iter().all(Option::is_none) {
                continue;
            }
            changes.extend(partition.sites_and_patterns().filter_map(|(columns, pattern)| {
                let (from, to) = (above[pattern], to[pattern]?);
                Some(Change { column: columns[0] + 1, partition: index, from, to })
            }));
        }
        changes.sort_by_key(|change| change.column);
        all.push(changes);
    }
    all
}

/// The states of a partition at the lower end of a branch.
enum Below<'a> {
    Inner(&'a [u8]),
    Tip { codes: &'a [u16], masks: &'a [u64] },
    Nothing,
}

impl<'a> Below<'a> {
    fn new(
        tree: &Tree,
        nodes: &InnerNodes,
        found: &'a AncestralStates,
        node: NodeId,
        index: usize,
        partition: &'a Partition,
    ) -> Self {
        let patterns = &partition.patterns;
        if !tree.is_tip(node) {
            let number = nodes.number(node).expect("an inner node has a number");
            return found.states[number][index].as_deref().map_or(Below::Nothing, Below::Inner);
        }
        match patterns.tip_taxa.binary_search(&node.index()) {
            Ok(tip) => Below::Tip { codes: &patterns.codes[tip], masks: &patterns.code_masks },
            Err(_) => Below::Nothing,
        }
    }

    /// The change of a pattern from this state, if there is one.
    fn change(&self, pattern: usize, from: u8) -> Option<ChangedTo> {
        match self {
            Below::Inner(states) => {
                (states[pattern] != from).then(|| ChangedTo::State(states[pattern]))
            }
            Below::Tip { codes, masks } => {
                let mask = masks[usize::from(codes[pattern])];
                let is_same = mask >> from & 1 == 1;
                (!is_same).then(|| match mask.count_ones() {
                    1 => ChangedTo::State(mask.trailing_zeros() as u8),
                    _ => ChangedTo::OneOf(mask),
                })
            }
            Below::Nothing => None,
        }
    }
}
