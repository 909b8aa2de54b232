//! [`Layout`]: where the nodes of a tree are, in branch lengths and rows of tips.

use crate::tree::NewickTree;

/// How a tree is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// From left to right by branch lengths.
    Phylogram,
    /// From left to right, all tips below each other.
    Cladogram,
    /// By branch lengths, from the centre outwards.
    Circular,
}

/// A tree whose nodes have places.
#[derive(Debug)]
pub(super) struct Layout {
    /// `[node]`: the node on which it hangs; none of the root, which is node 0.
    pub parent: Vec<Option<usize>>,
    /// `[node]`: the nodes that hang on it, from top to bottom.
    pub children: Vec<Vec<usize>>,
    /// `[node]`: distance from the root; in a cladogram, all tips have the same.
    pub x: Vec<f64>,
    /// `[node]`: rows from the top.
    pub y: Vec<f64>,
    /// Number of tips.
    pub rows: usize,
    /// The largest distance from the root.
    pub depth: f64,
}

impl Layout {
    /// The layout of a tree as it hangs in its text. Without lengths, it is a cladogram.
    pub(super) fn new(tree: &NewickTree, shape: Shape, is_ladder: bool) -> Self {
        let number = tree.num_nodes();
        let mut layout = Layout {
            parent: vec![None; number],
            children: vec![Vec::new(); number],
            x: vec![0.0; number],
            y: vec![0.0; number],
            rows: 0,
            depth: 0.0,
        };
        let mut size = vec![0usize; number];
        let mut height = vec![0usize; number];
        // Nodes stand in the order of the text, each after the one on which it hangs.
        for node in tree.nodes() {
            let at = node.number() as usize;
            for child in node.children() {
                layout.parent[child.number() as usize] = Some(at);
                layout.children[at].push(child.number() as usize);
            }
        }
        for node in (0..number).rev() {
            size[node] = size[node].max(1);
            if let Some(parent) = layout.parent[node] {
                size[parent] += size[node];
                height[parent] = height[parent].max(height[node] + 1);
            }
            if is_ladder {
                layout.children[node].sort_by_key(|&child| size[child]);
            }
        }
        let has_lengths = tree.nodes().any(|node| node.length().is_some());
        let is_by_height = shape == Shape::Cladogram || !has_lengths;
        let order = layout.preorder();
        for &node in &order {
            if let Some(parent) = layout.parent[node] {
                let length = tree.node(node as u32).length().unwrap_or(0.0);
                layout.x[node] = layout.x[parent] + length.max(0.0);
            }
            if layout.children[node].is_empty() {
                layout.y[node] = layout.rows as f64;
                layout.rows += 1;
            }
        }
        for &node in order.iter().rev() {
            if let (Some(&first), Some(&last)) =
                (layout.children[node].first(), layout.children[node].last())
            {
                layout.y[node] = 0.5 * (layout.y[first] + layout.y[last]);
            }
            if is_by_height {
                layout.x[node] = height[0].saturating_sub(height[node]) as f64;
            }
        }
        layout.depth = layout.x.iter().copied().fold(0.0, f64::max);
        if layout.depth <= 0.0 {
            layout.depth = 1.0;
        }
        layout
    }

    /// All nodes, each after the one on which it hangs, from top to bottom.
    pub(super) fn preorder(&self) -> Vec<usize> {
        let (mut order, mut stack) = (Vec::with_capacity(self.parent.len()), vec![0]);
        while let Some(node) = stack.pop() {
            order.push(node);
            stack.extend(self.children[node].iter().rev());
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::read_newick;

    fn layout(text: &str, shape: Shape, is_ladder: bool) -> Layout {
        Layout::new(&read_newick(text, "t").unwrap()[0], shape, is_ladder)
    }

    #[test]
    fn nodes_are_between_their_first_and_last_child() {
        let tree = "((A:1,B:2):1,(C:1,(D:1,E:1):1):0.5);";
        let found = layout(tree, Shape::Phylogram, false);
        // Root, AB, A, B, CDE, C, DE, D, E.
        assert_eq!(found.y, [1.625, 0.5, 0.0, 1.0, 2.75, 2.0, 3.5, 3.0, 4.0]);
        assert_eq!(found.x, [0.0, 1.0, 2.0, 3.0, 0.5, 1.5, 1.5, 2.5, 2.5]);
        assert_eq!((found.rows, found.depth), (5, 3.0));
        let found = layout(tree, Shape::Cladogram, false);
        assert_eq!(found.x, [0.0, 2.0, 3.0, 3.0, 1.0, 3.0, 2.0, 3.0, 3.0]);
        // Without lengths there is nothing else to show.
        assert_eq!(layout("((A,B),(C,(D,E)));", Shape::Phylogram, false).x, found.x);
    }

    #[test]
    fn a_ladder_has_small_clades_first() {
        let found = layout("((A:1,(B:1,C:1):1):1,D:1);", Shape::Phylogram, true);
        // Root, ABC, A, BC, B, C, D: D is above all others.
        assert_eq!(found.y[6], 0.0);
        assert_eq!((found.y[2], found.y[4], found.y[5]), (1.0, 2.0, 3.0));
    }
}
