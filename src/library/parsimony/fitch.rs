//! Fitch's rule on blocks of 256 columns, and the score of a tree.
//!
//! Per column, with state sets a, b as bits per state:
//!
//! ```text
//!   any     = OR over s of (a_s & b_s)                  is there a common state?
//!   out_s   = (a_s & b_s) | (!any & (a_s | b_s))        intersection, else union
//!   changes = popcount(!any)
//! ```
//!
//! The bodies are plain loops over fixed-size arrays, which the compiler turns into vector code; the
//! common numbers of states get their own copy.

use super::columns::{Columns, STATE_WORDS, StateBits};
use crate::instructions::{Instructions, Work};
use crate::tree::{EdgeId, Tree};

/// Calls a body with slices whose length the compiler knows for the common numbers of states.
macro_rules! by_num_states {
    ($body:ident, $a:expr, $($rest:expr),+) => {
        match $a.len() {
            2 => $body(&$a[..2], $($rest),+),
            4 => $body(&$a[..4], $($rest),+),
            20 => $body(&$a[..20], $($rest),+),
            _ => $body($a, $($rest),+),
        }
    };
}

/// One word after the other. Written so, all words of a state end up in one register.
#[inline(always)]
fn by_word(a: StateBits, b: StateBits, of_words: impl Fn(u64, u64) -> u64) -> StateBits {
    std::array::from_fn(|word| of_words(a[word], b[word]))
}

#[inline(always)]
fn combine_body(a: &[StateBits], b: &[StateBits], out: &mut [StateBits]) -> StateBits {
    let (b, out) = (&b[..a.len()], &mut out[..a.len()]);
    let mut any = [0u64; STATE_WORDS];
    for (&a, &b) in a.iter().zip(b) {
        let both = by_word(a, b, |a, b| a & b);
        any = by_word(any, both, |any, both| any | both);
    }
    for ((&a, &b), out) in a.iter().zip(b).zip(out) {
        let both = by_word(a, b, |a, b| a & b);
        let either = by_word(a, b, |a, b| a | b);
        let kept = by_word(any, either, |any, either| !any & either);
        *out = by_word(both, kept, |both, kept| both | kept);
    }
    any
}

/// State sets of a node from those of its two children; returns the columns without a change.
#[inline(always)]
pub(super) fn combine_block(a: &[StateBits], b: &[StateBits], out: &mut [StateBits]) -> StateBits {
    by_num_states!(combine_body, a, b, out)
}

#[inline(always)]
fn insertion_body(a: &[StateBits], b: &[StateBits], subtree: &[StateBits]) -> u32 {
    let (b, subtree) = (&b[..a.len()], &subtree[..a.len()]);
    let (mut any, mut by_both, mut by_either) =
        ([0u64; STATE_WORDS], [0u64; STATE_WORDS], [0u64; STATE_WORDS]);
    for ((a, b), s) in a.iter().zip(b).zip(subtree) {
        for lane in 0..STATE_WORDS {
            let both = a[lane] & b[lane];
            any[lane] |= both;
            by_both[lane] |= both & s[lane];
            by_either[lane] |= (a[lane] | b[lane]) & s[lane];
        }
    }
    let mut changes = 0;
    for lane in 0..STATE_WORDS {
        changes += (!(by_both[lane] | (!any[lane] & by_either[lane]))).count_ones();
    }
    changes
}

/// Changes that a subtree adds when it is put into the edge between a and b: columns at which it
/// shares no state with the set that a and b combine to. (That set is not stored.)
#[inline(always)]
pub(super) fn insertion_cost_block(a: &[StateBits], b: &[StateBits], subtree: &[StateBits]) -> u32 {
    by_num_states!(insertion_body, a, b, subtree)
}

#[inline(always)]
fn quartet_body(a: &[StateBits], b: &[StateBits], c: &[StateBits], d: &[StateBits]) -> [u64; 3] {
    let [b, c, d] = [&b[..a.len()], &c[..a.len()], &d[..a.len()]];
    // Of each pairing: columns with a common state within the first pair, within the second, and between the pairs.
    let mut any = [[[0u64; STATE_WORDS]; 3]; 3];
    let pairings = |s: usize| {
        let [a, b, c, d] = [&a[s], &b[s], &c[s], &d[s]];
        [[a, b, c, d], [c, b, a, d], [d, b, c, a]]
    };
    for s in 0..a.len() {
        for (any, [a, b, c, d]) in any.iter_mut().zip(pairings(s)) {
            for lane in 0..STATE_WORDS {
                any[0][lane] |= a[lane] & b[lane];
                any[1][lane] |= c[lane] & d[lane];
            }
        }
    }
    for s in 0..a.len() {
        for (any, [a, b, c, d]) in any.iter_mut().zip(pairings(s)) {
            for lane in 0..STATE_WORDS {
                let left = (a[lane] & b[lane]) | (!any[0][lane] & (a[lane] | b[lane]));
                let right = (c[lane] & d[lane]) | (!any[1][lane] & (c[lane] | d[lane]));
                any[2][lane] |= left & right;
            }
        }
    }
    any.map(|any| any.iter().map(count_zeros).sum())
}

/// Changes that four subtrees need besides their own if the first two are together, or the third takes the place of the first,
/// or the fourth does.
#[inline(always)]
pub(super) fn quartet_costs_block([a, b, c, d]: [&[StateBits]; 4]) -> [u64; 3] {
    by_num_states!(quartet_body, a, b, c, d)
}

#[inline(always)]
fn join_body(a: &[StateBits], b: &[StateBits]) -> u64 {
    let b = &b[..a.len()];
    let mut any = [0u64; STATE_WORDS];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..STATE_WORDS {
            any[lane] |= a[lane] & b[lane];
        }
    }
    count_zeros(&any)
}

/// Changes between two state sets: columns at which they have no state in common.
#[inline(always)]
pub(super) fn join_cost_block(a: &[StateBits], b: &[StateBits]) -> u64 {
    by_num_states!(join_body, a, b)
}

/// Number of columns whose bit is 0.
#[inline(always)]
pub(super) fn count_zeros(lanes: &StateBits) -> u64 {
    lanes.iter().map(|w| u64::from(w.count_zeros())).sum()
}

/// State sets of one block at all nodes of a tree; walking block by block keeps them in the cache.
pub(super) struct BlockSweep {
    /// Inner nodes bottom-up: (node, its edge towards the root, two children with their edges).
    pub(super) steps: Vec<Step>,
    /// The edge that holds the virtual root, with its two ends.
    pub(super) root: (EdgeId, [usize; 2]),
    sets: Vec<StateBits>,
    stride: usize,
}

/// One inner node of a [`BlockSweep`].
pub(super) struct Step {
    pub(super) node: usize,
    pub(super) children: [(usize, EdgeId); 2],
}

impl BlockSweep {
    /// For a tree of two tips or more.
    pub(super) fn new(tree: &Tree, columns: &Columns) -> Self {
        let root = EdgeId(0);
        let inner = tree.postorder(root).into_iter().filter(|(node, _)| !tree.is_tip(*node));
        let steps = inner.map(|(node, edge)| Step {
            node: node.index(),
            children: tree.other_links(node, edge).map(|(child, edge)| (child.index(), edge)),
        });
        let stride = columns.blocks.iter().map(|b| b.range().len()).max().unwrap_or(0);
        BlockSweep {
            steps: steps.collect(),
            root: (root, tree.ends(root).map(|end| end.index())),
            sets: vec![[0; STATE_WORDS]; stride * tree.num_nodes()],
            stride,
        }
    }

    /// Loads the tips of a block and fills the inner nodes bottom-up; returns the number of changes
    /// below and at the virtual root.
    #[inline(always)]
    pub(super) fn fill(&mut self, columns: &Columns, block: usize) -> u64 {
        let range = columns.blocks[block].range();
        let num_states = range.len();
        for (tip, row) in columns.tips.iter().enumerate() {
            self.set_mut(tip, num_states).copy_from_slice(&row[range.clone()]);
        }
        let mut out = [[0; STATE_WORDS]; 64];
        let mut changes = 0;
        for step in 0..self.steps.len() {
            let Step { node, children: [(a, _), (b, _)] } = self.steps[step];
            let any = combine_block(self.set(a, num_states), self.set(b, num_states), &mut out);
            changes += count_zeros(&any);
            self.set_mut(node, num_states).copy_from_slice(&out[..num_states]);
        }
        let [a, b] = self.root.1;
        changes
            + count_zeros(&combine_block(
                self.set(a, num_states),
                self.set(b, num_states),
                &mut out,
            ))
    }

    #[inline(always)]
    pub(super) fn set(&self, node: usize, num_states: usize) -> &[StateBits] {
        &self.sets[node * self.stride..][..num_states]
    }

    #[inline(always)]
    pub(super) fn set_mut(&mut self, node: usize, num_states: usize) -> &mut [StateBits] {
        &mut self.sets[node * self.stride..][..num_states]
    }
}

/// The changes at these columns.
pub(super) fn score_of(tree: &Tree, columns: &Columns) -> u64 {
    Instructions::best().compute(Score(tree, columns))
}

struct Score<'a>(&'a Tree, &'a Columns);

impl Work for Score<'_> {
    type Found = u64;

    #[inline(always)]
    fn compute(self) -> u64 {
        let Score(tree, columns) = self;
        let mut sweep = BlockSweep::new(tree, columns);
        (0..columns.blocks.len()).map(|block| sweep.fill(columns, block)).sum()
    }
}
