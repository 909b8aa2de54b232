//! [`NewickTree`]: the syntax of one tree, in at most ten times the memory of its text.
//!
//! A tip can be written in two characters, so a node takes 12 bytes: most of what there is to know of it follows from
//! the order of the nodes, or is kept only for those that have it.

/// The syntax of one tree: nodes in the order in which they open, the root first.
#[derive(Debug, Clone, Default)]
pub struct NewickTree {
    nodes: Vec<Node>,
    /// Labels, each ended by [`END`].
    labels: String,
    /// Branch lengths of the nodes up to the last that has one; those of others are no numbers.
    lengths: Vec<f64>,
    /// The first node on each line that has one, and that line.
    lines: Vec<(u32, u32)>,
    /// Lengths may be negative, or in units of time.
    pub(super) any_lengths: bool,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    /// The next node that is not below this one; while this one is open, its parent.
    link: u32,
    /// Where its label begins in [`NewickTree::labels`].
    label: u32,
    column: u32,
}

/// No parent, or no label.
const NONE: u32 = u32::MAX;
/// Ends a label; no text has this character.
const END: char = '\0';

/// One node of a [`NewickTree`].
#[derive(Debug, Clone, Copy)]
pub struct NewickNode<'a> {
    tree: &'a NewickTree,
    number: u32,
}

impl NewickTree {
    /// Number of nodes; at least one.
    pub fn num_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The node with this number, which is below [`NewickTree::num_nodes`].
    pub fn node(&self, number: u32) -> NewickNode<'_> {
        assert!((number as usize) < self.nodes.len(), "there is no node {number}");
        NewickNode { tree: self, number }
    }

    /// The root, which is node 0.
    pub fn root(&self) -> NewickNode<'_> {
        self.node(0)
    }

    /// All nodes in their order.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NewickNode<'_>> {
        (0..self.nodes.len() as u32).map(|number| NewickNode { tree: self, number })
    }

    /// Removes all branch lengths, for callers that need only the topology and should accept lengths that are
    /// not substitutions per site.
    pub fn drop_lengths(&mut self) {
        self.lengths.clear();
    }

    /// Accepts lengths that cannot be substitutions per site: negative ones, as in trees of distances, and those in units of time. For callers
    /// that write them again or compare them, but compute no likelihoods with them.
    pub fn accept_any_lengths(&mut self) {
        self.any_lengths = true;
    }

    /// Raises negative lengths to 0, for callers that optimise them.
    pub fn raise_negative_lengths(&mut self) {
        self.lengths.iter_mut().filter(|length| **length < 0.0).for_each(|length| *length = 0.0);
    }

    /// Adds a node that begins at this line and column, below the innermost open node. It is open until
    /// [`NewickTree::close`].
    pub(super) fn open(&mut self, parent: Option<u32>, (line, column): (u32, u32)) -> u32 {
        let number = self.nodes.len() as u32;
        make_room(&mut self.nodes);
        self.nodes.push(Node { link: parent.unwrap_or(NONE), label: NONE, column });
        if self.lines.last().is_none_or(|last| last.1 != line) {
            make_room(&mut self.lines);
            self.lines.push((number, line));
        }
        number
    }

    /// Ends the innermost open node; returns the one around it.
    pub(super) fn close(&mut self, node: u32) -> Option<u32> {
        let next = self.nodes.len() as u32;
        let parent = std::mem::replace(&mut self.nodes[node as usize].link, next);
        (parent != NONE).then_some(parent)
    }

    /// Gives a node that has none a label; false if there is no room for it.
    pub(super) fn set_name(&mut self, node: u32, name: &str) -> bool {
        let start = self.labels.len();
        if start + name.len() >= NONE as usize {
            return false;
        }
        let needed = name.len() + END.len_utf8();
        if self.labels.capacity() - start < needed {
            self.labels.reserve_exact(needed.max(start / SLACK));
        }
        self.labels.push_str(name);
        self.labels.push(END);
        self.nodes[node as usize].label = start as u32;
        true
    }

    /// Gives a node its branch length.
    pub(super) fn set_length(&mut self, node: u32, length: f64) {
        let node = node as usize;
        while self.lengths.len() <= node {
            make_room(&mut self.lengths);
            self.lengths.push(f64::NAN);
        }
        self.lengths[node] = length;
    }
}

/// A full list grows by this part of its length: doubling it would take up to twice the memory.
const SLACK: usize = 8;

fn make_room<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact((list.len() / SLACK).max(4));
    }
}

impl<'a> NewickNode<'a> {
    /// Its number in the order in which nodes open.
    pub fn number(self) -> u32 {
        self.number
    }

    /// Label, without its quotes; of a tip the taxon, of an inner node usually a support value.
    pub fn name(self) -> Option<&'a str> {
        let start = self.tree.nodes[self.number as usize].label;
        let text = (start != NONE).then(|| &self.tree.labels[start as usize..])?;
        text.split(END).next()
    }

    /// Length of the branch above the node, as written: any finite number.
    pub fn length(self) -> Option<f64> {
        self.tree.lengths.get(self.number as usize).copied().filter(|length| !length.is_nan())
    }

    /// True if it has no children.
    pub fn is_tip(self) -> bool {
        self.next() == self.number + 1
    }

    /// Its children.
    pub fn children(self) -> impl Iterator<Item = NewickNode<'a>> + Clone {
        let NewickNode { tree, number } = self;
        let end = self.next();
        let below = move |number: u32| (number < end).then_some(NewickNode { tree, number });
        std::iter::successors(below(number + 1), move |child| below(child.next()))
    }

    /// Its child, if it has exactly one.
    pub fn only_child(self) -> Option<NewickNode<'a>> {
        let mut children = self.children();
        children.next().filter(|_| children.next().is_none())
    }

    /// Line where the node starts, counted from 1.
    pub fn line(self) -> u32 {
        let lines = &self.tree.lines;
        lines[lines.partition_point(|&(first, _)| first <= self.number) - 1].1
    }

    /// Column where the node starts, in characters, counted from 1.
    pub fn column(self) -> u32 {
        self.tree.nodes[self.number as usize].column
    }

    /// The next node that is not below this one.
    fn next(self) -> u32 {
        self.tree.nodes[self.number as usize].link
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `(a:1,(b,,c)\n:2)r`, as the reader makes it.
    fn tree() -> NewickTree {
        let mut tree = NewickTree::default();
        let root = tree.open(None, (1, 1));
        let a = tree.open(Some(root), (1, 2));
        assert!(tree.set_name(a, "a"));
        assert_eq!(tree.close(a), Some(root));
        tree.set_length(a, 1.0);
        let inner = tree.open(Some(root), (2, 6));
        for (name, column) in [("b", 7), ("", 9), ("cé", 10)] {
            let tip = tree.open(Some(inner), (3, column));
            assert!(tree.set_name(tip, name));
            tree.close(tip);
        }
        assert_eq!(tree.close(inner), Some(root));
        tree.set_length(inner, 2.0);
        assert_eq!(tree.close(root), None);
        assert!(tree.set_name(root, "r"));
        tree
    }

    #[test]
    fn everything_comes_back() {
        let mut tree = tree();
        let names: Vec<_> = tree.nodes().map(NewickNode::name).collect();
        assert_eq!(names, [Some("r"), Some("a"), None, Some("b"), Some(""), Some("cé")]);
        let lengths = |tree: &NewickTree| tree.nodes().map(NewickNode::length).collect::<Vec<_>>();
        assert_eq!(lengths(&tree), [None, Some(1.0), Some(2.0), None, None, None]);
        let children = |node: u32| tree.node(node).children().map(NewickNode::number);
        assert_eq!(children(0).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(children(2).collect::<Vec<_>>(), [3, 4, 5]);
        assert!(tree.node(2).only_child().is_none() && tree.node(5).only_child().is_none());
        let tips: Vec<_> = tree.nodes().map(NewickNode::is_tip).collect();
        assert_eq!(tips, [false, true, false, true, true, true]);
        let places: Vec<_> = tree.nodes().map(|node| (node.line(), node.column())).collect();
        assert_eq!(places, [(1, 1), (1, 2), (2, 6), (3, 7), (3, 9), (3, 10)]);
        tree.drop_lengths();
        assert_eq!(lengths(&tree), [None; 6]);
    }

    #[test]
    fn an_only_child_is_found() {
        let mut tree = NewickTree::default();
        let root = tree.open(None, (1, 1));
        let tip = tree.open(Some(root), (1, 2));
        tree.close(tip);
        tree.close(root);
        assert_eq!(tree.root().only_child().map(NewickNode::number), Some(tip));
    }
}
