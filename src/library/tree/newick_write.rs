//! A tree as Newick text that depends on the tree alone, not on the numbers of its nodes and edges.
//!
//! The text is rooted at the inner node next to tip 0 and children stand in the order of their
//! smallest tip, so equal trees with equal lengths give equal text. Nothing recurses.

use std::borrow::Cow;
use std::fmt::Write;

use super::topology::{EdgeId, NodeId, Tree, to_length_grid};

/// A label for some edges.
pub type EdgeLabels<'a> = &'a dyn Fn(EdgeId) -> Option<String>;

/// Names of inner nodes.
pub type NodeNames<'a> = &'a dyn Fn(NodeId) -> String;

/// What is written in addition to names and brackets.
#[derive(Clone, Copy)]
pub struct NewickOptions<'a> {
    /// Branch lengths, with as many digits as give back the same length on the grid.
    pub brlens: bool,
    /// Names of inner nodes, the root among them: `(C,D)Node3:0.1`.
    pub inner_names: Option<NodeNames<'a>>,
    /// Labels of edges, as a comment after the branch: `(C,D):0.1[95]`.
    pub branch_labels: Option<EdgeLabels<'a>>,
}

impl Default for NewickOptions<'_> {
    /// Lengths and no labels.
    fn default() -> Self {
        NewickOptions { brlens: true, inner_names: None, branch_labels: None }
    }
}

/// The tree as one line of Newick text, without a line end; `names(i)` is the name of tip `i`.
///
/// A tree of two tips is written `(A:t,B:0);`, one of a single tip `A;`.
pub fn write_newick<'n>(
    tree: &Tree,
    names: impl Fn(usize) -> &'n str,
    options: &NewickOptions,
) -> String {
    let Rooted { root, children, edge_above } = Rooted::new(tree);
    if tree.num_tips() == 2 {
        let length = format_brlen(tree.brlen(EdgeId(0)));
        let (first, second) =
            if options.brlens { (format!(":{length}"), ":0") } else { (String::new(), "") };
        return format!("({}{first},{}{second});", quote(names(0)), quote(names(1)));
    }
    write_nested(&children, root.0, |node, text| {
        let node = NodeId(node);
        let edge = edge_above[node.index()];
        if tree.is_tip(node) {
            text.push_str(&quote(names(node.index())));
        }
        if let Some(name) = options.inner_names.filter(|_| !tree.is_tip(node)) {
            text.push_str(&quote(&name(node)));
        }
        if edge == EdgeId::NONE {
            return;
        }
        if options.brlens {
            text.push(':');
            text.push_str(&format_brlen(tree.brlen(edge)));
        }
        if let Some(label) = options.branch_labels.and_then(|labels| labels(edge)) {
            write!(text, "[{label}]").expect("writing to a string");
        }
    })
}

/// A tree as it is written: with a root, and the children of each node in the order of their smallest tip.
struct Rooted {
    root: NodeId,
    children: Vec<Vec<u32>>,
    /// `NONE` for the root.
    edge_above: Vec<EdgeId>,
}

impl Rooted {
    /// Fewer than three tips have no inner node: tip 0 is the root, without children.
    fn new(tree: &Tree) -> Self {
        let mut children = vec![Vec::new(); tree.num_nodes()];
        let mut edge_above = vec![EdgeId::NONE; tree.num_nodes()];
        let mut root = NodeId(0);
        if let Some((inner, edge)) = tree.links(root).next().filter(|_| tree.num_tips() > 2) {
            root = inner;
            let order = tree.preorder(inner, edge);
            for &(node, edge) in &order {
                edge_above[node.index()] = edge;
                if !tree.is_tip(node) {
                    children[node.index()] =
                        tree.other_links(node, edge).map(|(child, _)| child.0).to_vec();
                }
            }
            children[inner.index()].push(0);
            sort_children(&mut children, order.iter().map(|(node, _)| node.0));
            edge_above[0] = edge;
            edge_above[inner.index()] = EdgeId::NONE;
        }
        Rooted { root, children, edge_above }
    }
}

/// Puts the children of every node into the order of their smallest tips. Tips have smaller numbers than inner nodes, and
/// `nodes` are all inner nodes, parents before children; tips among them do not matter.
pub(super) fn sort_children(
    children: &mut [Vec<u32>],
    nodes: impl DoubleEndedIterator<Item = u32>,
) {
    let mut smallest: Vec<u32> = (0..children.len() as u32).collect();
    for node in nodes.rev() {
        let children = &mut children[node as usize];
        children.sort_unstable_by_key(|&child| smallest[child as usize]);
        if let Some(&first) = children.first() {
            smallest[node as usize] = smallest[first as usize];
        }
    }
}

/// The nodes of a tree of at least three tips in the order in which [`write_newick`] opens them, parents before
/// children, each with its parent and the edge to it; the first is the root.
pub fn written_order(tree: &Tree) -> Vec<(NodeId, Option<(NodeId, EdgeId)>)> {
    let Rooted { root, children, edge_above } = Rooted::new(tree);
    let mut order = Vec::with_capacity(tree.num_nodes());
    let mut open = vec![(root, None)];
    while let Some((node, above)) = open.pop() {
        order.push((node, above));
        let below = children[node.index()].iter().rev().map(|&child| NodeId(child));
        open.extend(below.map(|child| (child, Some((node, edge_above[child.index()])))));
    }
    order
}

/// The same tree with the numbers of inner nodes and edges that it has when its Newick text is read ([`write_newick`],
/// [`NewickTree::to_tree`](super::NewickTree::to_tree)), which do not depend on its history.
pub fn numbered_as_read(tree: &Tree) -> Tree {
    if tree.num_tips() < 3 {
        return tree.clone();
    }
    let Rooted { root, children, edge_above } = Rooted::new(tree);
    let mut numbered = Tree::unconnected(tree.num_tips());
    let mut inner = (tree.num_tips() as u32..).map(NodeId);
    let mut open: Vec<(NodeId, NodeId)> = vec![root].into_iter().zip(inner.by_ref()).collect();
    while let Some((node, number)) = open.pop() {
        for &child in &children[node.index()] {
            let (child, mut number_of_child) = (NodeId(child), NodeId(child));
            if !tree.is_tip(child) {
                number_of_child = inner.next().expect("numbers do not end");
                open.push((child, number_of_child));
            }
            numbered.add_edge(number, number_of_child, tree.brlen(edge_above[child.index()]));
        }
    }
    numbered
}

/// Brackets and commas of a rooted tree of any degrees; `describe` adds what follows the brackets.
pub(super) fn write_nested(
    children: &[Vec<u32>],
    root: u32,
    mut describe: impl FnMut(u32, &mut String),
) -> String {
    let mut text = String::new();
    // Each open node with the number of its children already written.
    let mut open = vec![(root, 0usize)];
    while let Some((node, written)) = open.last_mut() {
        let list = &children[*node as usize];
        if *written < list.len() {
            text.push(if *written == 0 { '(' } else { ',' });
            let child = list[*written];
            *written += 1;
            open.push((child, 0));
        } else {
            if !list.is_empty() {
                text.push(')');
            }
            describe(*node, &mut text);
            open.pop();
        }
    }
    text.push(';');
    text
}

/// A name as written in Newick text: in single quotes if it contains a character with a meaning. A text that
/// begins with `#` would be another format.
pub fn quote(name: &str) -> Cow<'_, str> {
    let special = |c: char| c.is_whitespace() || c.is_control() || "()[],:;'\"".contains(c);
    if name.is_empty() || name.starts_with(['#', '\u{feff}']) || name.contains(special) {
        Cow::Owned(format!("'{}'", name.replace('\'', "''")))
    } else {
        Cow::Borrowed(name)
    }
}

/// Most decimals of a length.
const MOST_DECIMALS: usize = 11;

/// The shortest decimal number that is read back as the same length on the grid.
pub fn format_brlen(length: f64) -> String {
    let mut text = String::with_capacity(MOST_DECIMALS + 8);
    let mut write = |decimals: usize| {
        text.clear();
        write!(text, "{length:.decimals$}").expect("texts can be written");
        text.parse().is_ok_and(|read: f64| to_length_grid(read) == length)
    };
    // Eleven decimals tell any two neighbours on a grid of 2^-34 apart, and the more there are the nearer is the number.
    let all: [usize; MOST_DECIMALS + 1] = std::array::from_fn(|decimals| decimals);
    let least = all.partition_point(|&decimals| !write(decimals));
    if least <= MOST_DECIMALS && write(least) { text } else { length.to_string() }
}

/// A support value in percent as it is written at a branch: rounded to a whole number.
pub fn support_label(percent: f64) -> String {
    format!("{:.0}", percent.round())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::taxa::Taxa;
    use crate::tree::{random_tree, read_newick};

    #[test]
    fn a_tree_numbered_as_read_is_what_the_reader_makes_of_its_text() {
        let names: Vec<String> = (0..40).map(|taxon| format!("t{taxon}")).collect();
        let taxa = Taxa::new(names.clone()).unwrap();
        for num_tips in [2, 3, 4, 5, 40] {
            let mut rng = stream(7, Purpose::Test, num_tips as u64);
            let tree = random_tree(num_tips, 0.1, &mut rng);
            let text = write_newick(&tree, |tip| &names[tip], &NewickOptions::default());
            let syntax = read_newick(&text, "text").unwrap();
            let read = syntax[0].to_tree_on_subset(&taxa, "text", None).unwrap().tree;
            let numbered = numbered_as_read(&tree);
            assert!(numbered == read, "{text}");
            assert!(numbered_as_read(&numbered) == numbered);
        }
    }

    const NAMES: [&str; 5] = ["A_1", "it's", "C D", "Bär", "(x)"];

    /// ```text
    ///  0 \        2        / 3
    ///     5 ----- 6 ----- 7
    ///  1 /                 \ 4
    /// ```
    const EDGES: [(u32, u32, f64); 7] = [
        (0, 5, 0.1),
        (1, 5, 0.2),
        (5, 6, 0.3),
        (2, 6, 0.4),
        (6, 7, 0.5),
        (3, 7, 1e-6),
        (4, 7, 0.7),
    ];

    #[test]
    fn names_are_quoted_where_needed_and_the_place_of_the_root_is_fixed() {
        let text = "(A_1:0.1,'it''s':0.2,('C D':0.4,(Bär:0.000001,'(x)':0.7):0.5):0.3);";
        let tree = Tree::from_edges(5, &EDGES);
        assert_eq!(write_newick(&tree, |i| NAMES[i], &NewickOptions::default()), text);
        // The same tree with other numbers inside.
        let mut edges: Vec<_> = EDGES
            .iter()
            .map(|&(a, b, l)| (if b == 5 { 7 } else { b - 1 }, if a > 4 { 12 - a } else { a }, l))
            .collect();
        edges[2] = (5, 7, 0.3);
        edges[4] = (6, 5, 0.5);
        edges.reverse();
        let renumbered = Tree::from_edges(5, &edges);
        assert_eq!(write_newick(&renumbered, |i| NAMES[i], &NewickOptions::default()), text);
    }

    #[test]
    fn a_name_at_the_beginning_of_a_text_does_not_make_it_another_format() {
        for (name, written) in
            [("#nexus", "'#nexus'"), ("a#1", "a#1"), ("\u{feff}a", "'\u{feff}a'")]
        {
            assert_eq!(quote(name), written);
        }
    }

    #[test]
    fn labels_stand_at_branches() {
        let tree = Tree::from_edges(5, &EDGES);
        let support = |edge: EdgeId| match edge.0 {
            2 => Some(support_label(99.7)),
            4 => Some(support_label(66.6)),
            _ => None,
        };
        let names = ["A", "B", "C", "D", "E"];
        let options = NewickOptions { branch_labels: Some(&support), ..NewickOptions::default() };
        let text = "(A:0.1,B:0.2,(C:0.4,(D:0.000001,E:0.7):0.5[67]):0.3[100]);";
        assert_eq!(write_newick(&tree, |i| names[i], &options), text);
    }

    #[test]
    fn two_tips_and_one() {
        let two = Tree::from_edges(2, &[(0, 1, 0.25)]);
        assert_eq!(
            write_newick(&two, |i| NAMES[i], &NewickOptions::default()),
            "(A_1:0.25,'it''s':0);"
        );
        assert_eq!(
            write_newick(&Tree::unconnected(1), |i| NAMES[i], &NewickOptions::default()),
            "A_1;"
        );
    }

    #[test]
    fn lengths_are_read_back_bit_for_bit() {
        let spacing = 1.0 / (1u64 << 34) as f64;
        for steps in
            [0u64, 1, 2, 3, 17, 12_345, 1 << 34, (1 << 34) + 1, (1 << 40) + 12_345, 1_717_986_918]
                .into_iter()
                .chain((0..2000).map(|number| number * number * 40_503))
        {
            let length = steps as f64 * spacing;
            let text = format_brlen(length);
            let reads = |text: &str| to_length_grid(text.parse().unwrap()) == length;
            assert!(reads(&text), "{text}");
            let shortest = (0..=11).map(|decimals| format!("{length:.decimals$}"));
            assert_eq!(shortest.into_iter().find(|one| reads(one)), Some(text));
        }
        assert_eq!(format_brlen(to_length_grid(0.1)), "0.1");
        assert_eq!(format_brlen(spacing), "0.00000000006");
    }
}
