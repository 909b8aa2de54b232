//! Where a drawing gets its root: beside an outgroup, or in the middle of its longest path.

use super::drawing::{Drawing, RootPlace};
use super::topology::to_length_grid;

/// A root beside an outgroup.
#[derive(Debug, Clone, PartialEq)]
pub struct OutgroupRoot {
    /// In the middle of the branch of the outgroup, or of its first taxon if there is no such branch.
    pub place: RootPlace,
    /// The fewest other taxa that any branch has on its side with the outgroup, ascending: none if a branch divides the
    /// outgroup from the rest.
    pub between: Vec<usize>,
}

impl Drawing {
    /// The root beside an outgroup: different tips, at least one, but not all.
    pub fn outgroup_root(&self, outgroup: &[usize]) -> OutgroupRoot {
        let mut is_out = vec![false; self.num_tips];
        outgroup.iter().for_each(|&tip| is_out[tip] = true);
        let hung = self.hang(None, None);
        // Per node, the tips below it, and those of the outgroup among them.
        let mut below = vec![(0, 0); hung.children.len()];
        // The branch with the fewest tips on its side with all of the outgroup; the node below it, and whether that is
        // the side.
        let mut nearest: Option<(usize, u32, bool)> = None;
        for &node in hung.order.iter().rev() {
            let at = node as usize;
            below[at] = match is_out.get(at) {
                Some(&is_out) => (1, usize::from(is_out)),
                None => hung.children[at].iter().fold((0, 0), |sum, &child| {
                    let (tips, out) = below[child as usize];
                    (sum.0 + tips, sum.1 + out)
                }),
            };
            let (tips, out) = below[at];
            let side = match out {
                _ if out == outgroup.len() => (tips, node, true),
                0 => (self.num_tips - tips, node, false),
                _ => continue,
            };
            if nearest.is_none_or(|nearest| side.0 < nearest.0) {
                nearest = Some(side);
            }
        }
        let (tips, node, is_below) = nearest.expect("a tip is not in the outgroup");
        if tips == outgroup.len() {
            let branch = hung.above[node as usize].expect("it is no root");
            return OutgroupRoot { place: self.middle(branch), between: Vec::new() };
        }
        let mut is_on_side = vec![!is_below; self.num_tips];
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            if let Some(is_on_side) = is_on_side.get_mut(node as usize) {
                *is_on_side = is_below;
            }
            stack.extend(&hung.children[node as usize]);
        }
        let between = (0..self.num_tips).filter(|&tip| is_on_side[tip] && !is_out[tip]);
        let place = self.middle(self.branch_of(outgroup[0]));
        OutgroupRoot { place, between: between.collect() }
    }

    fn branch_of(&self, tip: usize) -> usize {
        let found = self.branches.iter().position(|branch| branch.ends.contains(&(tip as u32)));
        found.expect("a tip has a branch")
    }

    fn middle(&self, branch: usize) -> RootPlace {
        let length = self.branches[branch].length.unwrap_or(0.0);
        let from = self.branches[branch].ends[0];
        RootPlace { branch, from, distance: to_length_grid(length / 2.0) }
    }

    /// The root in the middle of the longest path between two tips. All such paths have the same middle; if that is a
    /// node, the root is at the end of the branch that leads from there to the first tip with such a path. `None` if a
    /// branch has no length, or a negative one.
    pub fn midpoint_root(&self) -> Option<RootPlace> {
        if !self.branches.iter().all(|branch| branch.length.is_some_and(|length| length >= 0.0)) {
            return None;
        }
        let links = self.links();
        // Sums of lengths on the grid are exact, and so the same in both directions.
        let length = |branch: usize| to_length_grid(self.branches[branch].length.unwrap_or(0.0));
        let walk = |from: u32| {
            let mut found = vec![(0.0, 0, 0); links.len()];
            let mut stack = vec![(from, usize::MAX)];
            while let Some((node, above)) = stack.pop() {
                for &(next, branch) in links[node as usize].iter().filter(|link| link.1 != above) {
                    let distance = found[node as usize].0 + length(branch);
                    found[next as usize] = (distance, node, branch);
                    stack.push((next, branch));
                }
            }
            found
        };
        let farthest = |distances: &[(f64, u32, usize)]| {
            let farther = |far: usize, tip: usize| {
                if distances[tip].0 > distances[far].0 { tip } else { far }
            };
            (0..self.num_tips).fold(0, farther)
        };
        // The tip farthest from any tip is the end of a longest path, and so is the one farthest from that; the tip
        // farthest from any other is one of these two.
        let one = walk(farthest(&walk(0)) as u32);
        let other = walk(farthest(&one) as u32);
        let longest = one[farthest(&one)].0;
        if longest == 0.0 {
            return Some(self.middle(self.branch_of(0)));
        }
        let is_end = |&tip: &usize| one[tip].0.max(other[tip].0) == longest;
        let first = (0..self.num_tips).find(is_end).unwrap_or(0) as u32;
        let path = walk(first);
        let half = to_length_grid(longest / 2.0);
        let mut node = farthest(&path) as u32;
        loop {
            let (_, before, branch) = path[node as usize];
            let so_far = path[before as usize].0;
            if so_far < half || before == first {
                return Some(RootPlace { branch, from: before, distance: half - so_far });
            }
            node = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{EdgeId, NodeId, Tree, random_tree};
    use super::*;
    use crate::rng::{Purpose, Rng, stream};
    use rand::RngExt;

    fn drawing(tree: &Tree) -> Drawing {
        Drawing::of_tree(tree, |_| None)
    }

    /// The tips on the side of each end of an edge.
    fn sides(tree: &Tree, edge: EdgeId) -> [Vec<usize>; 2] {
        tree.ends(edge).map(|end| {
            let nodes = tree.preorder(end, edge).into_iter().map(|(node, _)| node);
            let mut tips: Vec<usize> =
                nodes.filter(|&n| tree.is_tip(n)).map(NodeId::index).collect();
            tips.sort_unstable();
            tips
        })
    }

    fn random_outgroup(num_tips: usize, rng: &mut Rng) -> Vec<usize> {
        let mut outgroup: Vec<usize> = (0..num_tips).filter(|_| rng.random_bool(0.2)).collect();
        if outgroup.is_empty() {
            outgroup.push(rng.random_range(0..num_tips));
        }
        outgroup.truncate(num_tips - 1);
        let by = usize::from(outgroup.len() > 1);
        outgroup.rotate_left(by);
        outgroup
    }

    /// The naive truth: the smallest side of any edge that has all of the outgroup.
    #[test]
    fn an_outgroup_is_divided_from_the_rest_or_the_fewest_taxa_are_between() {
        let mut rng = stream(1, Purpose::Test, 0);
        let (mut num_clades, mut num_others) = (0, 0);
        for i in 0..300 {
            let num_tips = 3 + i % 12;
            let tree = random_tree(num_tips, 0.1, &mut rng);
            let drawing = drawing(&tree);
            let outgroup = match i % 3 {
                0 => random_outgroup(num_tips, &mut rng),
                _ => {
                    let edge = EdgeId(rng.random_range(0..tree.num_edges() as u32));
                    sides(&tree, edge)[i % 2].clone()
                }
            };
            let root = drawing.outgroup_root(&outgroup);
            let holds = |side: &Vec<usize>| outgroup.iter().all(|tip| side.contains(tip));
            let all = tree.edges().flat_map(|edge| sides(&tree, edge)).filter(holds);
            let fewest = all.map(|side| side.len()).min().unwrap();
            assert_eq!(root.between.len(), fewest - outgroup.len());
            let at = sides(&tree, EdgeId(root.place.branch as u32));
            let mut sorted = outgroup.clone();
            sorted.sort_unstable();
            if root.between.is_empty() {
                assert!(at.contains(&sorted));
                num_clades += 1;
            } else {
                assert!(at.contains(&vec![outgroup[0]]));
                let mut side = [sorted, root.between].concat();
                side.sort_unstable();
                assert!(tree.edges().any(|edge| sides(&tree, edge).contains(&side)));
                num_others += 1;
            }
        }
        assert!(num_clades > 50 && num_others > 20, "{num_clades} {num_others}");
    }

    fn distances(tree: &Tree, from: NodeId) -> Vec<f64> {
        let mut distances = vec![0.0; tree.num_nodes()];
        let links: Vec<_> = tree.links(from).collect();
        for (start, first) in links {
            for (node, edge) in tree.preorder(start, first) {
                let before = tree.other_end(edge, node);
                distances[node.index()] = distances[before.index()] + tree.brlen(edge);
            }
        }
        distances
    }

    /// The naive truth: all paths, the first of the longest.
    #[test]
    fn the_midpoint_is_as_far_from_both_ends_of_the_first_longest_path() {
        let mut rng = stream(1, Purpose::Test, 1);
        for i in 0..300 {
            let num_tips = 3 + i % 10;
            let mut tree = random_tree(num_tips, 0.1, &mut rng);
            for edge in tree.edges() {
                // Few different lengths: many ties, middles at nodes, branches without length.
                let steps = rng.random_range(0..if i % 2 == 0 { 3 } else { 1_000_000 });
                tree.set_brlen(edge, to_length_grid(f64::from(steps) / 64.0));
            }
            let place = drawing(&tree).midpoint_root().unwrap();
            let all: Vec<Vec<f64>> =
                (0..num_tips).map(|tip| distances(&tree, NodeId(tip as u32))).collect();
            let (mut longest, mut ends) = (-1.0, (0, 0));
            for (a, from_a) in all.iter().enumerate() {
                for (b, &length) in from_a.iter().enumerate().take(num_tips).skip(a + 1) {
                    if length > longest {
                        (longest, ends) = (length, (a, b));
                    }
                }
            }
            let edge = EdgeId(place.branch as u32);
            let from = NodeId(place.from);
            let to = tree.other_end(edge, from);
            let rest = tree.brlen(edge) - place.distance;
            assert!(place.distance >= 0.0 && rest >= 0.0, "{place:?} {rest}");
            // Both ends of the path are on their sides of the root, half of it away.
            let (a, b) = ends;
            assert!((all[a][from.index()] + place.distance - longest / 2.0).abs() < 1e-9);
            assert!((all[b][to.index()] + rest - longest / 2.0).abs() < 1e-9);
            assert!(place.distance > 0.0 || longest == 0.0 || tree.is_tip(from), "{place:?}");
        }
    }

    #[test]
    fn without_lengths_there_is_no_midpoint() {
        let tree = random_tree(5, 0.1, &mut stream(1, Purpose::Test, 2));
        let mut drawing = drawing(&tree);
        assert!(drawing.midpoint_root().is_some());
        drawing.branches[3].length = Some(-0.1);
        assert_eq!(drawing.midpoint_root(), None);
        drawing.branches.iter_mut().for_each(|branch| branch.length = None);
        assert_eq!(drawing.midpoint_root(), None);
        let place = drawing.outgroup_root(&[2]).place;
        let names = ["A", "B", "C", "D", "E"];
        let text = drawing.draw(|tip| names[tip], Some(place), None).newick;
        assert!(text.starts_with("((") && text.ends_with(",C);"), "{text}");
    }
}
