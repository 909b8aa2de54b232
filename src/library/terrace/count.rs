//! The number of trees on a terrace, if one taxon has data in all partitions (Constantinescu & Sankoff 1995, J. Classif.
//! 12:101, on which SUPERB and terraphast are built).
//!
//! Rooted at that taxon, the tree of each partition has two sides at its top, which no tree of the terrace may mix: the taxa of
//! each side belong together. Taxa that belong together by any partition are one component; the top of a tree of the
//! terrace can divide the components in any way, and what lies on either side is counted on its own.

use crate::tree::{NodeId, Tree};
use std::collections::HashMap;

/// A set of taxa, as bits.
type Set = Box<[u64]>;

/// The number of trees on a terrace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// How many, the given tree included; at most `u128::MAX`.
    pub trees: u128,
    /// False if there may be more.
    pub is_exact: bool,
}

/// The partitions that say something about trees, each set of taxa once: those with four taxa or more.
pub(super) fn informative(presence: &[Vec<usize>]) -> Vec<&Vec<usize>> {
    let mut sets: Vec<&Vec<usize>> = presence.iter().filter(|taxa| taxa.len() >= 4).collect();
    sets.sort();
    sets.dedup();
    sets
}

/// The first taxon with data in all partitions that say something about trees.
pub fn comprehensive_taxon(num_taxa: usize, presence: &[Vec<usize>]) -> Option<usize> {
    let sets = informative(presence);
    (0..num_taxa).find(|taxon| sets.iter().all(|set| set.contains(taxon)))
}

/// Counts the trees on the terrace of a tree. `presence` has the taxa of every partition, among all of them
/// `comprehensive`. After `most_steps` divisions of components, what is left counts as the least that it can be.
pub fn count_terrace(
    tree: &Tree,
    presence: &[Vec<usize>],
    comprehensive: usize,
    most_steps: u64,
) -> Counted {
    let num_taxa = tree.num_tips();
    let without_root = |taxa: &mut dyn Iterator<Item = usize>| {
        let mut set = vec![0; num_taxa.div_ceil(64)].into_boxed_slice();
        taxa.filter(|&taxon| taxon != comprehensive).for_each(|t| set[t / 64] |= 1 << (t % 64));
        set
    };
    let sets = informative(presence);
    let all = without_root(&mut (0..num_taxa));
    let mut counter = Counter {
        rooted: Rooted::new(tree, comprehensive),
        partitions: sets.iter().map(|set| without_root(&mut set.iter().copied())).collect(),
        known: HashMap::new(),
        steps_left: most_steps,
        is_exact: true,
    };
    let trees = counter.count(all);
    // A number that does not fit is no exact one.
    Counted { trees, is_exact: counter.is_exact && trees < u128::MAX }
}

/// The tree, as it hangs from one of its tips.
struct Rooted {
    /// The node below that tip.
    top: usize,
    /// Two for inner nodes.
    children: Vec<Option<[usize; 2]>>,
    /// The taxa behind every node.
    behind: Vec<Set>,
}

impl Rooted {
    fn new(tree: &Tree, root: usize) -> Self {
        let mut rooted = Rooted {
            top: root,
            children: vec![None; tree.num_nodes()],
            behind: vec![vec![0; tree.num_tips().div_ceil(64)].into(); tree.num_nodes()],
        };
        let Some((top, edge)) = tree.links(NodeId(root as u32)).next() else { return rooted };
        rooted.top = top.index();
        for &(node, edge) in tree.preorder(top, edge).iter().rev() {
            let at = node.index();
            if tree.is_tip(node) {
                rooted.behind[at][at / 64] |= 1 << (at % 64);
                continue;
            }
            let children = tree.other_links(node, edge).map(|(child, _)| child.index());
            rooted.children[at] = Some(children);
            let [a, b] = children.map(|child| rooted.behind[child].clone());
            rooted.behind[at] = union(&a, &b);
        }
        rooted
    }

    /// The two sides at the top of the tree of some taxa, of which there are at least two.
    fn sides(&self, taxa: &Set) -> [Set; 2] {
        let mut node = self.top;
        loop {
            let [a, b] = self.children[node].expect("two taxa have a node above them");
            let sides = [a, b].map(|child| common(&self.behind[child], taxa));
            match sides.each_ref().map(|side| size(side) > 0) {
                [true, true] => return sides,
                [true, false] => node = a,
                _ => node = b,
            }
        }
    }
}

fn common(a: &Set, b: &Set) -> Set {
    a.iter().zip(b).map(|(a, b)| a & b).collect()
}

fn union(a: &Set, b: &Set) -> Set {
    a.iter().zip(b).map(|(a, b)| a | b).collect()
}

fn size(set: &Set) -> u32 {
    set.iter().map(|word| word.count_ones()).sum()
}

/// A set of taxa whose trees are being counted.
struct Frame {
    taxa: Set,
    components: Vec<Set>,
    /// Number of the division that is next: a bit for each component but the last, at least one of them set.
    next: u64,
    /// Number of divisions, and 1.
    end: u64,
    /// Number of trees of one side of the division, once it is known.
    first: Option<u128>,
    total: u128,
}

impl Frame {
    /// The components on one side of the next division, or on the other.
    fn side(&self, other: bool) -> Set {
        let is_there = |at: usize| at + 1 < self.components.len() && self.next >> at & 1 == 1;
        let chosen = self.components.iter().enumerate().filter(|(at, _)| is_there(*at) != other);
        chosen.fold(Set::from(vec![0; self.taxa.len()]), |sum, (_, set)| union(&sum, set))
    }
}

struct Counter {
    rooted: Rooted,
    /// Taxa of each partition without the root.
    partitions: Vec<Set>,
    /// Exact numbers of sets; only ever looked up.
    known: HashMap<Set, u128>,
    steps_left: u64,
    is_exact: bool,
}

impl Counter {
    /// Number of rooted trees of these taxa that agree with all partitions.
    fn count(&mut self, all: Set) -> u128 {
        let mut stack: Vec<Frame> = Vec::new();
        let mut returned = self.begin(all, &mut stack);
        while let Some(frame) = stack.last_mut() {
            if let Some(number) = returned.take() {
                match frame.first.take() {
                    None => frame.first = Some(number),
                    Some(first) => {
                        frame.total = frame.total.saturating_add(first.saturating_mul(number));
                        frame.next += 1;
                    }
                }
            }
            if frame.next == frame.end || self.steps_left == 0 {
                // Each division that is left has at least one tree.
                let left = u128::from(frame.end - frame.next);
                let total = frame.total.saturating_add(left);
                if left == 0 && self.is_exact {
                    self.known.insert(frame.taxa.clone(), total);
                }
                self.is_exact &= left == 0;
                returned = Some(total);
                stack.pop();
                continue;
            }
            self.steps_left -= 1;
            let side = frame.side(frame.first.is_some());
            returned = self.begin(side, &mut stack);
        }
        returned.expect("every count ends with a number")
    }

    /// The number of trees of a set, if it is known at once; otherwise it is put on the stack.
    fn begin(&mut self, taxa: Set, stack: &mut Vec<Frame>) -> Option<u128> {
        let number = size(&taxa);
        if number <= 2 {
            return Some(1);
        }
        if let Some(&known) = self.known.get(&taxa) {
            return Some(known);
        }
        let constraints: Vec<Set> = self.partitions.iter().map(|set| common(set, &taxa)).collect();
        let constraints: Vec<Set> = constraints.into_iter().filter(|set| size(set) >= 3).collect();
        if constraints.is_empty() {
            // All rooted trees: 3 * 5 * ... * (2n - 3).
            let odd = (3..2 * u128::from(number) - 2).step_by(2);
            return Some(odd.fold(1, u128::saturating_mul));
        }
        let components = self.components(&taxa, &constraints);
        let num_divisions = components.len() - 1;
        if num_divisions >= 63 {
            self.is_exact = false;
            return Some(if num_divisions >= 127 { u128::MAX } else { (1 << num_divisions) - 1 });
        }
        let end = 1 << num_divisions;
        stack.push(Frame { taxa, components, next: 1, end, first: None, total: 0 });
        None
    }

    /// Taxa that no tree can separate at its top. At least two components: the given tree divides them.
    fn components(&self, taxa: &Set, constraints: &[Set]) -> Vec<Set> {
        let mut components: Vec<Set> = Vec::new();
        for taxon in (0..64 * taxa.len()).filter(|&t| taxa[t / 64] >> (t % 64) & 1 == 1) {
            let mut alone: Set = vec![0; taxa.len()].into();
            alone[taxon / 64] |= 1 << (taxon % 64);
            components.push(alone);
        }
        for constraint in constraints {
            for side in self.rooted.sides(constraint) {
                let is_touched = |set: &Set| set.iter().zip(side.iter()).any(|(a, b)| a & b != 0);
                let (touched, mut others): (Vec<Set>, Vec<Set>) =
                    components.into_iter().partition(is_touched);
                others.extend(touched.into_iter().reduce(|a, b| union(&a, &b)));
                components = others;
            }
        }
        components
    }
}
