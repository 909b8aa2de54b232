//! A tree as its numbered arrays, for checkpoints: numbers of nodes and edges, the order of neighbours and the bits of
//! lengths are kept. Arrays that were read are checked before they become a tree.

use super::topology::{EdgeId, NodeId, Tree, to_length_grid};
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.num_tips, &self.links, &self.ends, &self.brlens).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (num_tips, links, ends, brlens) = Deserialize::deserialize(deserializer)?;
        let arrays = Arrays(Tree { num_tips, links, ends, brlens });
        arrays.check().map_err(D::Error::custom)?;
        Ok(arrays.0)
    }
}

/// The arrays of a tree, of unknown origin.
struct Arrays(Tree);

impl Arrays {
    /// That these are the arrays of one unrooted binary tree, whatever they contain.
    fn check(&self) -> Result<(), &'static str> {
        let Tree { num_tips: n, links, ends, brlens } = &self.0;
        let n = *n;
        let (num_nodes, num_edges) = match n {
            0..2 => (n, 0),
            2 => (2, 1),
            _ => (n.saturating_mul(2) - 2, n.saturating_mul(2) - 3),
        };
        if [links.len(), ends.len(), brlens.len()] != [num_nodes, num_edges, num_edges] {
            return Err("a tree whose arrays have other lengths than its number of tips");
        }
        if brlens.iter().any(|&t| !(t >= 0.0 && t.is_finite() && t == to_length_grid(t))) {
            return Err("a tree with an impossible branch length");
        }
        for (node, links) in links.iter().enumerate() {
            let degree = match (node < n, n) {
                (true, 1) => 0,
                (true, _) => 1,
                (false, _) => 3,
            };
            let there = links.iter().filter(|link| **link != (NodeId::NONE, EdgeId::NONE));
            let first = links[..degree].iter().all(|link| link.1 != EdgeId::NONE);
            if there.count() != degree || !first || !self.are_joined(node, &links[..degree]) {
                return Err("a tree whose nodes and edges do not fit together");
            }
        }
        if self.num_reached() != num_nodes { Err("a tree in several pieces") } else { Ok(()) }
    }

    /// True if each of these edges joins this node and the neighbour, and all are different.
    fn are_joined(&self, node: usize, links: &[(NodeId, EdgeId)]) -> bool {
        let joins = |&(neighbour, edge): &(NodeId, EdgeId)| {
            let ends = self.0.ends.get(edge.index());
            ends.is_some_and(|ends| {
                let found = ends.map(NodeId::index);
                found == [node, neighbour.index()] || found == [neighbour.index(), node]
            }) && neighbour.index() < self.0.links.len()
        };
        let is_repeated = |(i, link): (usize, &(NodeId, EdgeId))| {
            links[..i].iter().any(|earlier| earlier.1 == link.1)
        };
        links.iter().all(joins) && !links.iter().enumerate().any(is_repeated)
    }

    /// Number of nodes that are connected with the first.
    fn num_reached(&self) -> usize {
        let mut seen = vec![false; self.0.links.len()];
        let mut stack: Vec<usize> = (0..self.0.links.len()).take(1).collect();
        let mut reached = 0;
        while let Some(node) = stack.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                reached += 1;
                let links = self.0.links[node].iter().filter(|link| link.0 != NodeId::NONE);
                stack.extend(links.map(|link| link.0.index()));
            }
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::tree::random_tree;
    use rand::RngExt;

    fn bytes(tree: &Tree) -> Vec<u8> {
        postcard::to_stdvec(tree).unwrap()
    }

    #[test]
    fn a_tree_comes_back_with_all_its_numbers() {
        let mut rng = stream(1, Purpose::Test, 0);
        for num_tips in [3, 4, 9, 40] {
            let tree = random_tree(num_tips, 0.1, &mut rng);
            let back: Tree = postcard::from_bytes(&bytes(&tree)).unwrap();
            assert_eq!(back, tree);
            back.assert_integrity();
        }
        for num_tips in [0, 1] {
            let tree = Tree::unconnected(num_tips);
            assert_eq!(postcard::from_bytes::<Tree>(&bytes(&tree)).unwrap(), tree);
        }
    }

    #[test]
    fn whatever_was_read_is_a_tree_or_refused() {
        let mut rng = stream(2, Purpose::Test, 0);
        let tree = random_tree(8, 0.1, &mut rng);
        let good = bytes(&tree);
        let mut refused = 0;
        for _ in 0..20_000 {
            let mut bad = good.clone();
            for _ in 0..rng.random_range(1..4) {
                let at = rng.random_range(0..bad.len());
                bad[at] = rng.random_range(0..=255);
            }
            match postcard::from_bytes::<Tree>(&bad) {
                Ok(tree) => tree.assert_integrity(),
                Err(_) => refused += 1,
            }
        }
        assert!(refused > 15_000, "{refused}");
        let arrays = |num_tips, links, ends, brlens| Arrays(Tree { num_tips, links, ends, brlens });
        assert!(arrays(usize::MAX, Vec::new(), Vec::new(), Vec::new()).check().is_err());
        let mut doubled = tree.ends.clone();
        doubled[0] = doubled[1];
        assert!(arrays(8, tree.links, doubled, tree.brlens).check().is_err());
    }
}
