//! Trees as lists of nodes.

use crate::exceptions::exception;
use mlsearch::tree;
use pyo3::prelude::*;

/// A node: the number of its parent, its name or label, and the length of the branch above it.
type Node = (Option<usize>, Option<String>, Option<f64>);

/// The nodes of all trees of a text, parents before their children, the root first.
#[pyfunction]
pub(crate) fn read_newick(text: &str, name: &str) -> PyResult<Vec<Vec<Node>>> {
    let trees = tree::read_newick(text, name).map_err(|error| exception(&error))?;
    let nodes = |tree: &tree::NewickTree| {
        let mut nodes: Vec<Node> = Vec::with_capacity(tree.num_nodes());
        let mut open = vec![(tree.root(), None)];
        while let Some((node, parent)) = open.pop() {
            let number = nodes.len();
            nodes.push((parent, node.name().map(String::from), node.length()));
            let children: Vec<_> = node.children().collect();
            open.extend(children.into_iter().rev().map(|child| (child, Some(number))));
        }
        nodes
    };
    Ok(trees.iter().map(nodes).collect())
}
