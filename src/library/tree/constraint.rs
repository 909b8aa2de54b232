//! Topological constraints: a tree, with multifurcations and perhaps without some of the taxa, whose splits a tree must
//! have.
//!
//! Let K be the constraint tree, C its taxa and T a tree of all taxa. T *satisfies* K if T|C, the tree T restricted to C,
//! has all splits of K. Taxa outside C are free: they may be anywhere.
//!
//! K is kept as seen from its smallest taxon, the *origin*: each inner node stands for the *clade* of the taxa behind it.
//! If T is seen from the origin, too, it satisfies K if and only if every clade of K is the set of taxa of C below some
//! node of T. What a constraint means for the moves of a subtree is in `constraint_view.rs`.
//!
//! ```text
//!   K = ((A,B,C),(D,E),F), origin A:           numbers of the nodes
//!
//!        A                                     0 = {B,C,D,E,F}, the top, no split
//!        |                                     1 = B   2 = C   3 = {D,E,F}, that is ABC|DEF
//!        0 --- B                               4 = {D,E}  5 = D  6 = E  7 = F
//!       / \
//!      C   3 --- F
//!          |
//!          4 --- D, E
//! ```

use super::newick_syntax::NewickTree;
use super::random::random_tree;
use super::topology::{NodeId, Tree};
use crate::error::{Error, Fault, Faults, Place, Result};
use crate::rng::Rng;
use crate::taxa::Taxa;
use rand::RngExt;

/// Number of a node of a constraint tree.
pub(super) type ConstraintNode = u32;

/// "No node": of free taxa, of the origin, and above the top.
pub(super) const NOWHERE: ConstraintNode = u32::MAX;

/// Fewest taxa of a constraint tree: three have only one tree.
const MIN_TAXA: usize = 4;

/// A constraint tree over some of the taxa. Equal constraints are equal values, however their trees were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constraint {
    /// The smallest taxon.
    origin: u32,
    /// Per taxon its node; `NOWHERE` for the origin and for taxa that are not in the constraint.
    leaves: Vec<ConstraintNode>,
    /// Per node the next one towards the origin, which has a smaller number; siblings are in the order of their smallest
    /// taxa.
    parents: Vec<ConstraintNode>,
    /// Per node its taxon; `u32::MAX` for inner nodes.
    taxa: Vec<u32>,
    /// Per node its number of edges to the top.
    depths: Vec<u32>,
}

impl Constraint {
    /// The constraint from any unrooted tree: `adjacent` are the neighbours of its nodes, `taxa` the taxa of its leaves.
    /// Nodes of degree two, and leaves without a taxon, do not count. There are at least two leaves with taxa, which
    /// differ.
    fn new(num_taxa: usize, adjacent: &[Vec<u32>], taxa: &[Option<u32>]) -> Self {
        let (&origin, start) = (0..)
            .zip(taxa)
            .filter_map(|(node, taxon)| Some((taxon.as_ref()?, node)))
            .min()
            .expect("a constraint has taxa");
        // Seen from the origin, parents first.
        let mut order: Vec<(u32, u32)> = Vec::new();
        let mut stack: Vec<(u32, u32)> =
            adjacent[start as usize].iter().map(|&next| (next, start)).collect();
        while let Some((node, from)) = stack.pop() {
            order.push((node, from));
            let next = adjacent[node as usize].iter().filter(|&&next| next != from);
            stack.extend(next.map(|&next| (next, node)));
        }
        // By node: its smallest taxon, the first node at or below it that branches or is a leaf, and the children of that.
        let mut smallest: Vec<Option<u32>> = taxa.to_vec();
        let mut below: Vec<u32> = (0..adjacent.len() as u32).collect();
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); adjacent.len()];
        for &(node, from) in order.iter().rev() {
            let node = node as usize;
            let mut own: Vec<u32> = std::mem::take(&mut children[node]);
            own.sort_by_key(|&child| smallest[child as usize]);
            if let [only] = own[..] {
                (below[node], smallest[node]) = (only, smallest[only as usize]);
            } else {
                smallest[node] = own.first().map_or(taxa[node], |&c| smallest[c as usize]);
                children[node] = own;
            }
            if smallest[node].is_some() && from != start {
                children[from as usize].push(below[node]);
            }
        }
        let mut constraint = Constraint {
            origin,
            leaves: vec![NOWHERE; num_taxa],
            parents: Vec::new(),
            taxa: Vec::new(),
            depths: Vec::new(),
        };
        let tops = adjacent[start as usize].iter().filter(|&&top| smallest[top as usize].is_some());
        let mut stack: Vec<(u32, ConstraintNode)> =
            tops.map(|&top| (below[top as usize], NOWHERE)).collect();
        while let Some((node, parent)) = stack.pop() {
            let number = constraint.add(taxa[node as usize], parent);
            let children = children[node as usize].iter().rev();
            stack.extend(children.map(|&child| (child, number)));
        }
        constraint
    }

    fn add(&mut self, taxon: Option<u32>, parent: ConstraintNode) -> ConstraintNode {
        let number = self.parents.len() as ConstraintNode;
        self.parents.push(parent);
        self.taxa.push(taxon.unwrap_or(u32::MAX));
        self.depths.push(self.depths.get(parent as usize).map_or(0, |depth| depth + 1));
        if let Some(taxon) = taxon {
            self.leaves[taxon as usize] = number;
        }
        number
    }

    /// Number of taxa in the constraint.
    pub fn num_taxa(&self) -> usize {
        1 + self.taxa.iter().filter(|&&taxon| taxon != u32::MAX).count()
    }

    /// Number of splits that it demands.
    pub fn num_splits(&self) -> usize {
        self.clades().count()
    }

    /// The nodes whose clades are splits: inner ones but the top.
    pub(super) fn clades(&self) -> impl Iterator<Item = ConstraintNode> + '_ {
        (1..self.parents.len() as u32).filter(|&node| self.is_inner(node))
    }

    /// The taxon from which the constraint is seen.
    pub(super) fn origin(&self) -> NodeId {
        NodeId(self.origin)
    }

    pub(super) fn num_nodes(&self) -> usize {
        self.parents.len()
    }

    pub(super) fn leaf(&self, taxon: usize) -> ConstraintNode {
        self.leaves[taxon]
    }

    pub(super) fn taxon(&self, node: ConstraintNode) -> Option<usize> {
        Some(self.taxa[node as usize] as usize).filter(|_| !self.is_inner(node))
    }

    pub(super) fn parent(&self, node: ConstraintNode) -> ConstraintNode {
        self.parents[node as usize]
    }

    fn is_inner(&self, node: ConstraintNode) -> bool {
        self.taxa[node as usize] == u32::MAX
    }

    /// The first common node of two nodes on their ways to the origin. Takes as many steps as it is away.
    pub(super) fn common_ancestor(
        &self,
        mut a: ConstraintNode,
        mut b: ConstraintNode,
    ) -> ConstraintNode {
        while a != b {
            if self.depths[a as usize] >= self.depths[b as usize] {
                a = self.parent(a);
            } else {
                b = self.parent(b);
            }
        }
        a
    }

    /// The place of a taxon: taxa of the constraint with the same place are neighbours of the same of its nodes, so that
    /// no split separates them from each other. `None` for free taxa.
    pub fn place(&self, taxon: usize) -> Option<u32> {
        match self.leaves[taxon] {
            // The origin is a neighbour of the top.
            NOWHERE => (taxon as u32 == self.origin).then_some(0),
            leaf => Some(self.parent(leaf)),
        }
    }

    /// Moves the origin to the front of the constraint's taxa in an order of taxa, as [`ConstraintView::places`] needs it
    /// for trees that grow.
    pub(crate) fn begin_with_origin(&self, order: &mut [u32]) {
        let first = order.iter().position(|&taxon| self.place(taxon as usize).is_some());
        let origin = order.iter().position(|&taxon| taxon == self.origin);
        if let (Some(first), Some(origin)) = (first, origin) {
            order.swap(first, origin);
        }
    }

    /// The constraint on groups of taxa: `groups[t]` is the group of taxon t. Taxa of the constraint that are in the same
    /// group must have the same [place](Constraint::place). `None` if no split is left.
    pub fn on_groups(&self, groups: &[usize]) -> Option<Constraint> {
        let mut adjacent: Vec<Vec<u32>> = vec![Vec::new(); self.num_nodes() + 1];
        let origin = self.num_nodes() as u32;
        for node in 0..origin {
            let parent = if node == 0 { origin } else { self.parent(node) };
            adjacent[node as usize].push(parent);
            adjacent[parent as usize].push(node);
        }
        let num_groups = groups.iter().max().map_or(0, |&last| last + 1);
        let mut is_there = vec![false; num_groups];
        let mut taxa: Vec<Option<u32>> = vec![None; adjacent.len()];
        for (taxon, &group) in groups.iter().enumerate() {
            if self.place(taxon).is_some() && !std::mem::replace(&mut is_there[group], true) {
                let node = if taxon as u32 == self.origin { origin } else { self.leaves[taxon] };
                taxa[node as usize] = Some(group as u32);
            }
        }
        let constraint = Constraint::new(num_groups, &adjacent, &taxa);
        (constraint.num_splits() > 0).then_some(constraint)
    }

    /// A tree drawn uniformly from all those of all taxa that satisfy the constraint: its multifurcations are resolved
    /// uniformly, then each free taxon is put into an edge drawn uniformly. Every branch has the length `brlen`.
    pub fn random_tree(&self, brlen: f64, rng: &mut Rng) -> Tree {
        let num_taxa = self.leaves.len() as u32;
        let mut next_inner = num_taxa;
        let mut new_node = || {
            next_inner += 1;
            next_inner - 1
        };
        let mut children: Vec<Vec<ConstraintNode>> = vec![Vec::new(); self.num_nodes()];
        (1..self.num_nodes()).for_each(|n| children[self.parents[n] as usize].push(n as u32));
        // Nodes of the constraint, each with the node of the tree from which its branch comes.
        let mut edges: Vec<[u32; 2]> = Vec::with_capacity(2 * num_taxa as usize);
        let mut stack = vec![(0, self.origin)];
        while let Some((node, above)) = stack.pop() {
            if let Some(taxon) = self.taxon(node) {
                edges.push([above, taxon as u32]);
                continue;
            }
            // A random tree of the branches at the node: its tip 0 stands for that towards the origin.
            let own = &children[node as usize];
            let star = random_tree(own.len() + 1, brlen, rng);
            let made: Vec<u32> = (star.num_tips()..star.num_nodes()).map(|_| new_node()).collect();
            for edge in star.edges() {
                let mut ends = star.ends(edge);
                ends.sort_unstable_by_key(|&end| !star.is_tip(end));
                let inner = |end: NodeId| made[end.index() - star.num_tips()];
                match ends {
                    [NodeId(0), b] => edges.push([above, inner(b)]),
                    [a, b] if star.is_tip(a) => stack.push((own[a.index() - 1], inner(b))),
                    [a, b] => edges.push([inner(a), inner(b)]),
                }
            }
        }
        for taxon in (0..num_taxa).filter(|&taxon| self.place(taxon as usize).is_none()) {
            let target = rng.random_range(0..edges.len() as u32) as usize;
            let ([a, b], inner) = (edges[target], new_node());
            edges[target] = [a, inner];
            edges.extend([[inner, b], [inner, taxon]]);
        }
        let edges: Vec<_> = edges.iter().map(|&[a, b]| (a, b, brlen)).collect();
        Tree::from_edges(num_taxa as usize, &edges)
    }
}

impl NewickTree {
    /// The tree as a constraint. Branch lengths and labels of inner nodes do not count.
    ///
    /// # Errors
    /// All of: taxa that are unknown or twice in the tree; fewer than four taxa.
    pub fn to_constraint(&self, taxa: &Taxa, file: &str) -> Result<Constraint> {
        let mut faults = Faults::new();
        let (taxon_of, present) = self.match_taxa(taxa, file, false, &mut faults);
        if faults.is_empty() && present.len() < MIN_TAXA {
            let message = format!(
                "the constraint tree has {} of the taxa; expected {MIN_TAXA} or more: with fewer, it constrains nothing",
                present.len()
            );
            faults.push(Fault::new(Place::file(file), message));
        }
        if !faults.is_empty() {
            return Err(Error::Input(faults));
        }
        let mut adjacent: Vec<Vec<u32>> = vec![Vec::new(); self.num_nodes()];
        for node in self.nodes() {
            for child in node.children() {
                adjacent[node.number() as usize].push(child.number());
                adjacent[child.number() as usize].push(node.number());
            }
        }
        let taxon = |&taxon: &u32| Some(taxon).filter(|&taxon| taxon != u32::MAX);
        let taxon_of: Vec<Option<u32>> = taxon_of.iter().map(taxon).collect();
        Ok(Constraint::new(taxa.len(), &adjacent, &taxon_of))
    }
}
