//! [`JoinedTree`]: a tree as it grows from clusters that are joined. Lengths may be negative.

use crate::tree::{Tree, format_brlen, quote};

/// A tree made of joins; the last one is its root, with two branches, or three where the tree has no root.
#[derive(Debug, Clone, PartialEq)]
pub struct JoinedTree {
    num_tips: usize,
    /// `[node - num_tips]`: the nodes that were joined (tips first), with the lengths of their branches.
    joins: Vec<Vec<(usize, f64)>>,
}

impl JoinedTree {
    pub(super) fn new(num_tips: usize) -> Self {
        JoinedTree { num_tips, joins: Vec::with_capacity(num_tips) }
    }

    /// Joins nodes; returns the new one.
    pub(super) fn join(&mut self, children: &[(usize, f64)]) -> usize {
        self.joins.push(children.to_vec());
        self.num_tips + self.joins.len() - 1
    }

    /// Number of tips.
    pub fn num_tips(&self) -> usize {
        self.num_tips
    }

    /// Sum of all lengths.
    pub fn total_length(&self) -> f64 {
        self.joins.iter().flatten().map(|child| child.1).sum()
    }

    /// The tree as one line of Newick text, without a line end. It begins at the last join; branches of a node are in the
    /// order of their first taxa.
    pub fn newick<'n>(&self, names: impl Fn(usize) -> &'n str) -> String {
        enum Piece {
            Node(usize),
            Text(&'static str),
            Length(f64),
        }
        let mut first: Vec<usize> = (0..self.num_tips).collect();
        let mut ordered = self.joins.clone();
        for children in &mut ordered {
            children.sort_by_key(|child| first[child.0]);
            first.push(first[children[0].0]);
        }
        let mut text = String::new();
        let mut stack = vec![Piece::Node(self.num_tips + self.joins.len() - 1)];
        while let Some(piece) = stack.pop() {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Length(length) => text.push_str(&format!(":{}", format_brlen(length))),
                Piece::Node(tip) if tip < self.num_tips => text.push_str(&quote(names(tip))),
                Piece::Node(node) => {
                    text.push('(');
                    stack.push(Piece::Text(")"));
                    let children = &ordered[node - self.num_tips];
                    for (number, &(child, length)) in children.iter().enumerate().rev() {
                        stack.extend([Piece::Length(length), Piece::Node(child)]);
                        if number > 0 {
                            stack.push(Piece::Text(","));
                        }
                    }
                }
            }
        }
        text.push(';');
        text
    }

    /// The same tree with all taxa, where each tip stands for one or several taxa with the same sequence: these are joined
    /// one after the other, in their order, by branches of length 0.
    pub fn with_copies(&self, taxa_of_tip: &[Vec<usize>]) -> JoinedTree {
        let mut whole = JoinedTree::new(taxa_of_tip.iter().map(Vec::len).sum());
        let mut nodes = Vec::with_capacity(2 * self.num_tips);
        for taxa in taxa_of_tip {
            let join = |node, &taxon: &usize| whole.join(&[(node, 0.0), (taxon, 0.0)]);
            nodes.push(taxa[1..].iter().fold(taxa[0], join));
        }
        for children in &self.joins {
            let children: Vec<(usize, f64)> =
                children.iter().map(|&(child, length)| (nodes[child], length)).collect();
            nodes.push(whole.join(&children));
        }
        whole
    }

    /// The same tree without a root; negative lengths become 0.
    pub fn to_tree(&self) -> Tree {
        let Some((last, others)) = self.joins.split_last() else { return Tree::from_edges(1, &[]) };
        let mut edges = Vec::with_capacity(2 * self.num_tips);
        for (number, children) in others.iter().enumerate() {
            let node = (self.num_tips + number) as u32;
            edges.extend(
                children.iter().map(|&(child, length)| (child as u32, node, length.max(0.0))),
            );
        }
        match last[..] {
            [(a, first), (b, second)] => {
                edges.push((a as u32, b as u32, (first + second).max(0.0)))
            }
            _ => {
                let root = (self.num_tips + others.len()) as u32;
                edges.extend(
                    last.iter().map(|&(child, length)| (child as u32, root, length.max(0.0))),
                );
            }
        }
        Tree::from_edges(self.num_tips, &edges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_joined_in_their_order_by_branches_without_length() {
        let mut tree = JoinedTree::new(3);
        tree.join(&[(0, 1.0), (1, 2.0), (2, -3.0)]);
        let whole = tree.with_copies(&[vec![0, 2, 5], vec![1], vec![3, 4]]);
        let names = ["a", "b", "c", "d", "e", "f"];
        let text = whole.newick(|taxon| names[taxon]);
        assert_eq!(text, "(((a:0,c:0):0,f:0):1,b:2,(d:0,e:0):-3);");
        assert_eq!(whole.to_tree().num_tips(), 6);
    }
}
