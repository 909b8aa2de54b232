//! The inner nodes of a tree with their names, in the order of its Newick text.

use crate::taxa::Taxa;
use crate::tree::{EdgeId, NodeId, Tree, written_order};

/// The inner nodes of a tree, numbered from 0 as its Newick text opens them, parents before children: neighbours in the
/// tree are near each other. None if there are fewer than three taxa.
#[derive(Debug, Clone)]
pub struct InnerNodes {
    nodes: Vec<NodeId>,
    prefix: String,
    /// `[node of the tree]`: its number.
    numbers: Vec<Option<usize>>,
    branches: Vec<Branch>,
}

/// A branch of the tree as it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Branch {
    /// The branch.
    pub edge: EdgeId,
    /// Number of the inner node at its upper end.
    pub from: usize,
    /// The node at its lower end, inner or not.
    pub to: NodeId,
}

impl InnerNodes {
    /// Those of a tree of these taxa. They are called `Node1`, `Node2` and so on, or `Node_1` (with as many lines as are
    /// needed) if taxa have such names.
    pub fn of(tree: &Tree, taxa: &Taxa) -> Self {
        let mut prefix = "Node".to_string();
        while taxa.names().iter().any(|name| is_numbered(name, &prefix)) {
            prefix.push('_');
        }
        let mut numbers = vec![None; tree.num_nodes()];
        let (mut nodes, mut branches) = (Vec::new(), Vec::new());
        let order = if tree.num_tips() < 3 { Vec::new() } else { written_order(tree) };
        for (node, above) in order {
            if !tree.is_tip(node) {
                numbers[node.index()] = Some(nodes.len());
                nodes.push(node);
            }
            if let Some((parent, edge)) = above {
                let from = numbers[parent.index()].expect("parents come first and are inner");
                branches.push(Branch { edge, from, to: node });
            }
        }
        InnerNodes { nodes, prefix, numbers, branches }
    }

    /// The nodes.
    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// The branches, each after that above it.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// The number of a node of the tree; `None` for tips.
    pub fn number(&self, node: NodeId) -> Option<usize> {
        self.numbers[node.index()]
    }

    /// The name of an inner node.
    pub fn name(&self, number: usize) -> String {
        format!("{}{}", self.prefix, number + 1)
    }
}

/// True if the name is the prefix with a number.
fn is_numbered(name: &str, prefix: &str) -> bool {
    let rest = name.strip_prefix(prefix);
    rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{NewickOptions, read_newick, write_newick};

    fn named(newick: &str, names: &[&str]) -> String {
        let taxa = Taxa::new(names.iter().map(|name| (*name).to_string()).collect()).unwrap();
        let (tree, _) = read_newick(newick, "t").unwrap()[0].to_tree(&taxa, "t", None).unwrap();
        let nodes = InnerNodes::of(&tree, &taxa);
        let name = |node| nodes.name(nodes.number(node).unwrap());
        let options =
            NewickOptions { brlens: false, inner_names: Some(&name), ..NewickOptions::default() };
        write_newick(&tree, |tip| taxa.name(tip), &options)
    }

    #[test]
    fn nodes_are_numbered_as_they_are_written_whatever_the_order_of_the_input() {
        let names = ["a", "b", "c", "d", "e"];
        let want = "(a,(b,(c,d)Node3)Node2,e)Node1;";
        for newick in ["((a,e),(b,(c,d)));", "(((d,c),b),e,a);", "(c,d,(b,(e,a)));"] {
            assert_eq!(named(newick, &names), want, "{newick}");
        }
        assert_eq!(named("(a,b);", &["a", "b"]), "(a,b);");
    }

    #[test]
    fn names_of_nodes_are_not_those_of_taxa() {
        let text = named("(Node7,b,(c,Node_1));", &["Node7", "b", "c", "Node_1"]);
        assert_eq!(text, "(Node7,b,(c,Node_1)Node__2)Node__1;");
        assert_eq!(named("(Node,b,Nodes1);", &["Node", "b", "Nodes1"]), "(Node,b,Nodes1)Node1;");
    }
}
