//! Terraces: under unlinked lengths, trees that differ but give every partition the same tree have
//! the same likelihood, and the data cannot choose among them.
//!
//! Sanderson, McMahon & Steel 2011, Science 333:448.

use crate::tree::{Restriction, Tree};

/// Number of inner edges of a tree across which subtrees can be swapped without changing the tree of any
/// partition, and number of all inner edges. The tree of a partition changes if it has taxa in all four
/// subtrees around the edge. The tree lies on a terrace if the first number is not 0.
pub(crate) fn count_free_edges(tree: &Tree, presence: &[Vec<usize>]) -> (usize, usize) {
    let mut sets: Vec<&Vec<usize>> = presence.iter().filter(|taxa| taxa.len() >= 4).collect();
    sets.sort();
    sets.dedup();
    let inner = tree.edges().filter(|&edge| !tree.is_terminal(edge));
    let inner: Vec<_> = inner.collect();
    let mut noticed = vec![false; inner.len()];
    for taxa in sets {
        let restriction = Restriction::new(tree, taxa).0;
        for (noticed, &edge) in noticed.iter_mut().zip(&inner) {
            let mut around =
                tree.ends(edge).into_iter().flat_map(|node| tree.other_links(node, edge));
            *noticed |= around.all(|(_, neighbour)| restriction.is_on_path(neighbour));
        }
    }
    let free = noticed.iter().filter(|&&noticed| !noticed).count();
    (free, inner.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::taxa::Taxa;
    use crate::tree::read_newick;

    #[test]
    fn an_edge_is_free_if_no_partition_has_taxa_all_around_it() {
        let names = ["A", "B", "C", "D", "E", "F"];
        let taxa = Taxa::new(names.map(String::from).to_vec()).unwrap();
        let newick = &read_newick("((A,B),(C,D),(E,F));", "t").unwrap()[0];
        let tree = newick.to_tree(&taxa, "t", None).unwrap().0;
        let free = |presence: &[&[usize]]| {
            let presence: Vec<Vec<usize>> = presence.iter().map(|p| p.to_vec()).collect();
            count_free_edges(&tree, &presence)
        };
        assert_eq!(free(&[&[0, 1, 2, 3, 4, 5]]), (0, 3));
        assert_eq!(free(&[]), (3, 3));
        // A, B, C, E tell the edge above (A,B) only; so do C, D, A, E the one above (C,D).
        assert_eq!(free(&[&[0, 1, 2, 4]]), (2, 3));
        assert_eq!(free(&[&[0, 1, 2, 4], &[0, 2, 3, 4], &[0, 1, 2]]), (1, 3));
    }
}
