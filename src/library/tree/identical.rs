//! Tips with identical sequences: a tree is searched with one of them, and the others are put back beside it.

use super::topology::Tree;
use crate::rng::Rng;
use rand::RngExt;

/// The tree with further tips. Tip i of `tree` becomes the tips `members[i]` (at least one; together they are all tips of
/// the new tree): if these are several, a ladder of them hangs on the branch of the old tip, the first two at its end, all
/// on branches of length `brlen`. With `chance`, two of them at random are joined, then two of these and the others, and so on.
///
/// ```text
///   1 \                      members [1, 4, 6] of a tip;
///      o --- o --- rest      its branch keeps its length
///   4 /      |
///            6
/// ```
pub fn put_back_identical(
    tree: &Tree,
    members: &[Vec<usize>],
    brlen: f64,
    mut chance: Option<&mut Rng>,
) -> Tree {
    let num_tips: usize = members.iter().map(Vec::len).sum();
    let old_tips = members.len() as u32;
    let mut next_node = num_tips as u32 + (tree.num_nodes() as u32 - old_tips);
    let mut edges = Vec::new();
    // Where the branch of each old tip ends now.
    let mut ends = Vec::with_capacity(members.len());
    for tips in members {
        let mut open: Vec<u32> = tips.iter().map(|&tip| tip as u32).collect();
        if chance.is_none() {
            // The last two are joined first.
            open.reverse();
        }
        while open.len() > 1 {
            for _ in 0..2 {
                if let Some(rng) = &mut chance {
                    let (chosen, last) = (rng.random_range(0..open.len()), open.len() - 1);
                    open.swap(chosen, last);
                }
                edges.extend(open.pop().map(|end| (next_node, end, brlen)));
            }
            open.push(next_node);
            next_node += 1;
        }
        ends.extend(open);
    }
    let node = |old: u32| match ends.get(old as usize) {
        Some(&end) => end,
        None => old - old_tips + num_tips as u32,
    };
    for edge in tree.edges() {
        let [a, b] = tree.ends(edge).map(|end| node(end.index() as u32));
        edges.push((a, b, tree.brlen(edge)));
    }
    Tree::from_edges(num_tips, &edges)
}

#[cfg(test)]
mod tests {
    use super::super::{NewickOptions, Restriction, random_tree, same_topology, write_newick};
    use super::*;
    use crate::rng::{Purpose, stream};

    #[test]
    fn tips_hang_in_a_ladder_on_the_branch_of_the_old_tip() {
        let tree = Tree::from_edges(3, &[(0, 3, 0.5), (1, 3, 0.25), (2, 3, 1.0)]);
        let whole = put_back_identical(&tree, &[vec![5], vec![1, 4, 3], vec![0, 2]], 0.125, None);
        let names = ["a", "b", "c", "d", "e", "f"];
        let text = write_newick(&whole, |tip| names[tip], &NewickOptions::default());
        let want = "(a:0.125,(((b:0.125,e:0.125):0.125,d:0.125):0.25,f:0.5):1,c:0.125);";
        assert_eq!(text, want);
    }

    #[test]
    fn without_them_the_tree_is_what_it_was() {
        for seed in 0..20 {
            let tree = random_tree(6, 0.1, &mut stream(seed, Purpose::Test, 0));
            let members = [vec![0, 7], vec![1], vec![2, 8, 3], vec![4], vec![5], vec![9, 6]];
            let mut rng = stream(seed, Purpose::Test, 1);
            let chance = (seed % 2 == 1).then_some(&mut rng);
            let whole = put_back_identical(&tree, &members, 0.001, chance);
            whole.assert_integrity();
            let (_, again) = Restriction::new(&whole, &[0, 1, 2, 4, 5, 9]);
            assert!(same_topology(&tree, &again));
            let added = whole.total_length() - tree.total_length();
            assert!((added - 0.008).abs() < 1e-9, "{added}");
        }
    }

    #[test]
    fn by_chance_each_pair_of_three_is_joined_first_as_often() {
        let tree = Tree::from_edges(3, &[(0, 3, 0.5), (1, 3, 0.25), (2, 3, 1.0)]);
        let mut counts = [0; 3];
        let mut rng = stream(1, Purpose::Test, 0);
        for _ in 0..3000 {
            let members = [vec![0, 1, 2], vec![3], vec![4]];
            let whole = put_back_identical(&tree, &members, 0.0, Some(&mut rng));
            let splits = (0..3).map(|alone| {
                let pair: Vec<usize> = (0..3).filter(|&tip| tip != alone).collect();
                let (_, four) = Restriction::new(&whole, &[pair[0], pair[1], alone, 3]);
                let expected = Tree::from_edges(
                    4,
                    &[(0, 4, 0.1), (1, 4, 0.1), (4, 5, 0.1), (2, 5, 0.1), (3, 5, 0.1)],
                );
                same_topology(&four, &expected)
            });
            let first = splits.enumerate().filter(|(_, is_joined)| *is_joined).map(|(i, _)| i);
            first.for_each(|alone| counts[alone] += 1);
        }
        assert_eq!(counts.iter().sum::<u32>(), 3000);
        assert!(counts.iter().all(|count| (900..1100).contains(count)), "{counts:?}");
    }
}
