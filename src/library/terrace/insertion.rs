//! The trees of a terrace, by inserting taxa one after the other (as Gentrius does: Chernomor, Elgert & von Haeseler 2023,
//! bioRxiv 2023.01.19.524678); no taxon needs to have data everywhere.
//!
//! The tree of the partition with most taxa is in every tree of the terrace. Of the taxa that are missing in it, the one with
//! the fewest possible branches is inserted into each of these, and so on; where one has none, the tree so far leads nowhere.

use super::count::informative;
use crate::tree::{NodeId, Restriction, Tree};

/// Trees of a terrace.
#[derive(Debug)]
pub struct Listed {
    /// As many as were asked for; branch lengths have no meaning.
    pub trees: Vec<Tree>,
    /// Number of trees that were found.
    pub number: usize,
    /// True if there are no more.
    pub is_complete: bool,
}

/// Insertions that may lead nowhere, for each tree that is asked for.
const STEPS_PER_TREE: u64 = 100;

/// Finds the trees on the terrace of a tree, at most `most_found` of them, and keeps at most `most_kept`. `presence` has
/// the taxa of every partition.
pub fn list_terrace(
    tree: &Tree,
    presence: &[Vec<usize>],
    most_kept: usize,
    most_found: usize,
) -> Listed {
    let mut listed = Listed { trees: Vec::new(), number: 0, is_complete: true };
    if tree.num_tips() < 4 {
        listed.trees.push(tree.clone());
        listed.number = 1;
        return listed;
    }
    let sets = informative(presence);
    let largest = sets.iter().max_by_key(|set| set.len());
    let start = largest.map_or_else(|| vec![0, 1, 2], |set| set.to_vec());
    let whole = Whole::new(tree, &sets);
    let mut growing = Growing::new(tree, &start);
    let mut steps_left = STEPS_PER_TREE.saturating_mul(most_found as u64 + 100);
    let mut stack = vec![whole.next_insertions(&growing)];
    while let Some(insertions) = stack.last_mut() {
        if insertions.is_inserted {
            growing.take_off();
            insertions.is_inserted = false;
        }
        let Some(branch) = insertions.branches.pop() else {
            stack.pop();
            continue;
        };
        if steps_left == 0 || (branch == WHOLE && listed.number == most_found) {
            listed.is_complete = false;
            break;
        }
        steps_left -= 1;
        if branch == WHOLE {
            listed.number += 1;
            if listed.trees.len() < most_kept {
                listed.trees.push(growing.to_tree());
            }
            continue;
        }
        growing.insert(insertions.taxon, branch);
        insertions.is_inserted = true;
        stack.push(whole.next_insertions(&growing));
    }
    listed
}

/// Stands for "no branch": all taxa are there.
const WHOLE: usize = usize::MAX;

/// Where a taxon can go.
struct Insertions {
    taxon: usize,
    /// The branches, each by the node below it; the one `WHOLE` if no taxon is left.
    branches: Vec<usize>,
    is_inserted: bool,
}

type Set = Vec<u64>;

fn contains(set: &[u64], taxon: usize) -> bool {
    set[taxon / 64] >> (taxon % 64) & 1 == 1
}

fn common(a: &[u64], b: &[u64]) -> Set {
    a.iter().zip(b).map(|(a, b)| a & b).collect()
}

fn is_empty(set: &[u64]) -> bool {
    set.iter().all(|&word| word == 0)
}

/// The side of a split that does not have the first of all taxa.
fn normal(side: &[u64], all: &[u64]) -> Set {
    let (at, word) = all.iter().enumerate().find(|(_, word)| **word != 0).expect("there are taxa");
    let flip = side[at] >> word.trailing_zeros() & 1 == 1;
    side.iter().zip(all).map(|(side, all)| if flip { all & !side } else { *side }).collect()
}

/// The given tree with the partitions.
struct Whole<'a> {
    tree: &'a Tree,
    /// Taxa of every partition.
    partitions: Vec<Set>,
    /// Taxa behind every node, seen from tip 0.
    behind: Vec<Set>,
    /// The node before every node, seen from tip 0.
    parents: Vec<NodeId>,
}

impl<'a> Whole<'a> {
    fn new(tree: &'a Tree, sets: &[&Vec<usize>]) -> Self {
        let num_words = tree.num_tips().div_ceil(64);
        let set_of = |taxa: &&Vec<usize>| {
            let mut set = vec![0; num_words];
            taxa.iter().for_each(|&taxon| set[taxon / 64] |= 1 << (taxon % 64));
            set
        };
        let mut behind = vec![vec![0; num_words]; tree.num_nodes()];
        let mut parents = vec![NodeId(0); tree.num_nodes()];
        let (top, edge) = tree.links(NodeId(0)).next().expect("a tip has a neighbour");
        for &(node, edge) in tree.preorder(top, edge).iter().rev() {
            if tree.is_tip(node) {
                behind[node.index()][node.index() / 64] |= 1 << (node.index() % 64);
                continue;
            }
            for (child, _) in tree.other_links(node, edge) {
                parents[child.index()] = node;
                let of_child = behind[child.index()].clone();
                behind[node.index()].iter_mut().zip(of_child).for_each(|(all, some)| *all |= some);
            }
        }
        Whole { tree, partitions: sets.iter().map(set_of).collect(), behind, parents }
    }

    /// Taxa that are seen from a node in the direction of a neighbour, of some.
    fn beyond(&self, node: NodeId, neighbour: NodeId, of: &[u64]) -> Set {
        if neighbour.index() != 0 && self.parents[neighbour.index()] == node {
            common(&self.behind[neighbour.index()], of)
        } else {
            of.iter().zip(&self.behind[node.index()]).map(|(of, behind)| of & !behind).collect()
        }
    }

    /// Where a taxon meets the tree of some others, of which there are at least two: the split of the branch.
    fn meeting(&self, taxon: usize, others: &[u64]) -> Set {
        let beside = self.tree.links(NodeId(taxon as u32)).next();
        let (mut node, mut edge) = beside.expect("a tip has a neighbour");
        loop {
            let links = self.tree.other_links(node, edge);
            let sides = links.map(|(next, _)| self.beyond(node, next, others));
            match sides.each_ref().map(|side| !is_empty(side)) {
                [true, true] => return normal(&sides[0], others),
                [true, false] => (node, edge) = links[0],
                _ => (node, edge) = links[1],
            }
        }
    }

    /// The taxon with the fewest branches into which it can go, and these.
    fn next_insertions(&self, growing: &Growing) -> Insertions {
        let nodes: Vec<usize> = growing.order();
        let missing: Vec<usize> =
            (0..self.tree.num_tips()).filter(|&taxon| !contains(&growing.taxa, taxon)).collect();
        let mut is_possible = vec![vec![true; nodes.len()]; missing.len()];
        for partition in &self.partitions {
            let there = common(partition, &growing.taxa);
            if there.iter().map(|word| word.count_ones()).sum::<u32>() < 3 {
                continue;
            }
            let images = growing.images(&nodes, &there);
            for (&taxon, possible) in missing.iter().zip(&mut is_possible) {
                if contains(partition, taxon) {
                    let meeting = self.meeting(taxon, &there);
                    for (possible, node) in possible.iter_mut().zip(&nodes) {
                        *possible &= images[*node] == meeting;
                    }
                }
            }
        }
        let number = |possible: &Vec<bool>| possible.iter().filter(|&&possible| possible).count();
        let fewest = (0..missing.len()).min_by_key(|&at| number(&is_possible[at]));
        let Some(at) = fewest else {
            return Insertions { taxon: 0, branches: vec![WHOLE], is_inserted: false };
        };
        let possible = nodes.iter().zip(&is_possible[at]).filter(|(_, possible)| **possible);
        let branches = possible.map(|(&node, _)| node).collect();
        Insertions { taxon: missing[at], branches, is_inserted: false }
    }
}

/// A tree to which taxa are added, as it hangs from one of its tips, which is node 0.
struct Growing {
    num_taxa: usize,
    taxa: Set,
    nodes: Vec<Node>,
}

#[derive(Clone, Copy)]
struct Node {
    parent: usize,
    children: Option<[usize; 2]>,
    /// Of a tip.
    taxon: usize,
}

impl Growing {
    /// The tree of some of the taxa, at least three.
    fn new(tree: &Tree, start: &[usize]) -> Self {
        let (_, local) = Restriction::new(tree, start);
        let mut taxa = vec![0; tree.num_tips().div_ceil(64)];
        start.iter().for_each(|&taxon| taxa[taxon / 64] |= 1 << (taxon % 64));
        let taxon_of = |node: usize| start.get(node).copied().unwrap_or(usize::MAX);
        let node = |node| Node { parent: usize::MAX, children: None, taxon: taxon_of(node) };
        let mut nodes: Vec<Node> = (0..local.num_nodes()).map(node).collect();
        let (top, edge) = local.links(NodeId(0)).next().expect("a tip has a neighbour");
        nodes[top.index()].parent = 0;
        for (node, edge) in local.preorder(top, edge) {
            if !local.is_tip(node) {
                let children = local.other_links(node, edge).map(|(child, _)| child.index());
                nodes[node.index()].children = Some(children);
                children.iter().for_each(|&child| nodes[child].parent = node.index());
            }
        }
        Growing { num_taxa: tree.num_tips(), taxa, nodes }
    }

    /// Every node below the root, each before those behind it.
    fn order(&self) -> Vec<usize> {
        let top = (1..self.nodes.len()).find(|&node| self.nodes[node].parent == 0);
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut stack: Vec<usize> = top.into_iter().collect();
        while let Some(node) = stack.pop() {
            order.push(node);
            stack.extend(self.nodes[node].children.into_iter().flatten());
        }
        order
    }

    /// For the branch above every node, the split of that branch of the tree of `there` on which a taxon would be that
    /// is inserted there; a branch without any of these taxa behind it belongs to that from which it leaves.
    fn images(&self, order: &[usize], there: &[u64]) -> Vec<Set> {
        let mut behind: Vec<Set> = vec![vec![0; there.len()]; self.nodes.len()];
        let mut images: Vec<Set> = vec![Vec::new(); self.nodes.len()];
        for &node in order.iter().rev() {
            match self.nodes[node].children {
                None => {
                    let taxon = self.nodes[node].taxon;
                    if contains(there, taxon) {
                        behind[node][taxon / 64] |= 1 << (taxon % 64);
                    }
                }
                Some([a, b]) => {
                    behind[node] = behind[a].iter().zip(&behind[b]).map(|(a, b)| a | b).collect();
                }
            }
            images[node] = match self.nodes[node].children {
                // Nothing lies above: below is the branch from which this one leaves.
                Some([a, b]) if behind[node] == there => {
                    match [a, b].map(|child| is_empty(&behind[child])) {
                        [false, false] => normal(&behind[a], there),
                        [false, true] => images[a].clone(),
                        _ => images[b].clone(),
                    }
                }
                _ => normal(&behind[node], there),
            };
        }
        for &node in order {
            if is_empty(&behind[node]) {
                images[node] = images[self.nodes[node].parent].clone();
            }
        }
        images
    }

    /// Inserts a taxon into the branch above a node.
    fn insert(&mut self, taxon: usize, below: usize) {
        let (joint, tip) = (self.nodes.len(), self.nodes.len() + 1);
        let above = self.nodes[below].parent;
        self.nodes.push(Node { parent: above, children: Some([below, tip]), taxon: usize::MAX });
        self.nodes.push(Node { parent: joint, children: None, taxon });
        self.replace_child(above, below, joint);
        self.nodes[below].parent = joint;
        self.taxa[taxon / 64] |= 1 << (taxon % 64);
    }

    /// Takes off the taxon that was inserted last.
    fn take_off(&mut self) {
        let tip = self.nodes.pop().expect("a taxon was inserted");
        let joint = self.nodes.pop().expect("it was inserted into a branch");
        let [below, _] = joint.children.expect("a branch has a node below it");
        self.replace_child(joint.parent, self.nodes.len(), below);
        self.nodes[below].parent = joint.parent;
        self.taxa[tip.taxon / 64] &= !(1 << (tip.taxon % 64));
    }

    fn replace_child(&mut self, node: usize, old: usize, new: usize) {
        for child in self.nodes[node].children.iter_mut().flatten() {
            if *child == old {
                *child = new;
            }
        }
    }

    /// The tree, if all taxa are there.
    fn to_tree(&self) -> Tree {
        let mut next_inner = self.num_taxa as u32;
        let numbers: Vec<u32> = self
            .nodes
            .iter()
            .map(|node| match node.taxon {
                usize::MAX => {
                    next_inner += 1;
                    next_inner - 1
                }
                taxon => taxon as u32,
            })
            .collect();
        let below = self.order();
        let edge = |&node: &usize| (numbers[self.nodes[node].parent], numbers[node], 0.0);
        let edges: Vec<(u32, u32, f64)> = below.iter().map(edge).collect();
        Tree::from_edges(self.num_taxa, &edges)
    }
}
