//! The changes on the edges of a tree in one most parsimonious reconstruction.

use super::columns::{Columns, STATE_WORDS, StateBits};
use super::fitch::{BlockSweep, Step, count_zeros};
use crate::tree::{EdgeId, Tree};

/// The changes per edge at these columns.
pub(super) fn changes_of(tree: &Tree, columns: &Columns) -> Vec<u64> {
    let mut changes = vec![0u64; tree.num_edges()];
    let mut sweep = BlockSweep::new(tree, columns);
    for (i, block) in columns.blocks.iter().enumerate() {
        sweep.fill(columns, i);
        let num_states = block.range().len();
        let mut chosen = [[0; STATE_WORDS]; 64];
        let chosen = &mut chosen[..num_states];
        // The first end of the root edge takes a state of the second if it can; then downwards.
        let (root, [a, b]) = sweep.root;
        choose(sweep.set(b, num_states), sweep.set(a, num_states), chosen);
        sweep.set_mut(a, num_states).copy_from_slice(chosen);
        let mut settle = |sweep: &mut BlockSweep, parent: usize, child: usize, edge: EdgeId| {
            let kept = choose(sweep.set(parent, num_states), sweep.set(child, num_states), chosen);
            changes[edge.index()] += count_zeros(&kept);
            sweep.set_mut(child, num_states).copy_from_slice(chosen);
        };
        settle(&mut sweep, a, b, root);
        for step in (0..sweep.steps.len()).rev() {
            let Step { node, children } = sweep.steps[step];
            for (child, edge) in children {
                settle(&mut sweep, node, child, edge);
            }
        }
    }
    changes
}

/// One state per column out of `set`: the first that is also in `wanted`, else the first; returns
/// the columns where it is in `wanted`.
fn choose(wanted: &[StateBits], set: &[StateBits], out: &mut [StateBits]) -> StateBits {
    let (mut kept, mut taken) = ([0u64; STATE_WORDS], [0u64; STATE_WORDS]);
    for (wanted, set) in wanted.iter().zip(set) {
        for lane in 0..STATE_WORDS {
            kept[lane] |= wanted[lane] & set[lane];
        }
    }
    for ((wanted, set), out) in wanted.iter().zip(set).zip(out) {
        for lane in 0..STATE_WORDS {
            out[lane] = set[lane] & (wanted[lane] | !kept[lane]) & !taken[lane];
            taken[lane] |= out[lane];
        }
    }
    kept
}
