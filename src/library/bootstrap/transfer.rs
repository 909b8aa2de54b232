//! Transfer distances between the branches of a tree and replicate trees, and the transfer bootstrap expectation
//! (Lemoine et al. 2018, Nature 556:452).
//!
//! The transfer distance between a branch and a tree is the minimum, over all branches of that tree, of the number of
//! taxa that have to be moved to the other side for both branches to have the same split. Branches to tips count, so the
//! distance is at most p - 1, where p is the number of taxa on the smaller side of the branch.

use rayon::prelude::*;
use std::ops::{Add, Sub};

use crate::tree::{EdgeId, Multifurcating, Split, Tree, tree_splits};

/// Number of branches whose distances from a tree are computed at the same time.
const LANES: usize = 32;

/// Number of replicates that are one piece of work.
const REPLICATES: usize = 64;

/// Transfer distances of a tree's inner branches.
#[derive(Debug, Clone, PartialEq)]
pub struct Transfer {
    /// By edge: the mean distance from the replicates; `None` for edges to tips, and without replicates.
    pub mean_distances: Vec<Option<f64>>,
    /// By edge: 1 minus the mean distance divided by the largest possible one.
    pub support: Vec<Option<f64>>,
}

/// The transfer distances of the inner branches of `best` from replicates.
///
/// # Panics
/// If a replicate has another number of tips.
pub fn map_transfer(best: &Tree, replicates: &[Multifurcating]) -> Transfer {
    let num_tips = best.num_tips();
    assert!(
        replicates.iter().all(|tree| tree.tips().len() == num_tips),
        "all trees have the same tips"
    );
    let splits = tree_splits(best);
    let sums = match num_tips <= i16::MAX as usize {
        true => sum_distances::<i16>(&splits, num_tips, replicates),
        false => sum_distances::<i32>(&splits, num_tips, replicates),
    };
    let mut transfer = Transfer {
        mean_distances: vec![None; best.num_edges()],
        support: vec![None; best.num_edges()],
    };
    if replicates.is_empty() {
        return transfer;
    }
    for ((edge, split), sum) in splits.iter().zip(sums) {
        let behind = split.num_tips();
        let most = behind.min(num_tips - behind) - 1;
        let mean = sum as f64 / replicates.len() as f64;
        transfer.mean_distances[edge.index()] = Some(mean);
        transfer.support[edge.index()] = Some(1.0 - mean / most as f64);
    }
    transfer
}

/// A number of taxa, positive or negative, as narrow as possible.
trait Count:
    Copy + Ord + Send + Sync + Into<i64> + TryFrom<i64> + Add<Output = Self> + Sub<Output = Self>
{
    fn of(number: i64) -> Self {
        Self::try_from(number).ok().expect("a number of taxa fits")
    }
}

impl Count for i16 {}
impl Count for i32 {}

/// How the tips behind the inner nodes of a replicate, seen from tip 0, are counted.
struct Steps {
    /// The nodes that are behind these, those of one node after those of another.
    children: Vec<u32>,
    /// The inner nodes, children first: each with the end of its own in `children` and the number of tips behind it.
    nodes: Vec<(u32, usize, i64)>,
}

impl Steps {
    fn new(tree: &Multifurcating) -> Self {
        let mut children = vec![Vec::new(); tree.num_nodes()];
        for node in 1..tree.num_nodes() {
            children[tree.parent(node).expect("only tip 0 has none")].push(node as u32);
        }
        let mut sizes = vec![1; tree.num_nodes()];
        let mut steps = Steps { children: Vec::with_capacity(sizes.len()), nodes: Vec::new() };
        // Each inner node has a smaller number than those behind it.
        for node in (tree.tips().len()..tree.num_nodes()).rev() {
            let own = &children[node];
            sizes[node] = own.iter().map(|&child| sizes[child as usize]).sum();
            steps.children.extend(own);
            steps.nodes.push((node as u32, steps.children.len(), sizes[node]));
        }
        steps
    }
}

/// For each split, the sum of its transfer distances from all replicates.
fn sum_distances<T: Count>(
    splits: &[(EdgeId, Split)],
    num_tips: usize,
    replicates: &[Multifurcating],
) -> Vec<u64> {
    let steps: Vec<Steps> = match splits.is_empty() {
        true => Vec::new(),
        false => replicates.par_iter().map(Steps::new).collect(),
    };
    let sums: Vec<Vec<u64>> = splits
        .par_chunks(LANES)
        .map(|batch| {
            let members = members::<T>(batch, num_tips);
            let of_some = |steps: &[Steps]| {
                let mut counts = members.clone();
                counts.resize(2 * num_tips, [T::of(0); LANES]);
                let mut sums = vec![0; batch.len()];
                for steps in steps {
                    add_distances(batch, num_tips, steps, &mut counts, &mut sums);
                }
                sums
            };
            let add = |mut a: Vec<u64>, b: Vec<u64>| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                a
            };
            steps.par_chunks(REPLICATES).map(of_some).reduce(|| vec![0; batch.len()], add)
        })
        .collect();
    sums.into_iter().flatten().collect()
}

/// For each tip and each split of a batch: 1 if the tip is on the side without tip 0.
fn members<T: Count>(batch: &[(EdgeId, Split)], num_tips: usize) -> Vec<[T; LANES]> {
    let mut members = vec![[T::of(0); LANES]; num_tips];
    for (lane, (_, split)) in batch.iter().enumerate() {
        split.tips().for_each(|tip| members[tip][lane] = T::of(1));
    }
    members
}

/// Adds the distances of one replicate. Let S be the tips behind one of its nodes and L those behind a branch, both
/// seen from tip 0: the splits differ in |S| + |L| - 2 |S & L| tips or, with the sides of one exchanged, in all others.
fn add_distances<T: Count>(
    batch: &[(EdgeId, Split)],
    num_tips: usize,
    steps: &Steps,
    counts: &mut [[T; LANES]],
    sums: &mut [u64],
) {
    // Tips of the replicate on either side: |S| - 2 |S & L| is -1 or 1.
    let (mut low, mut high) = ([T::of(-1); LANES], [T::of(1); LANES]);
    let mut children = &steps.children[..];
    let mut taken = 0;
    for &(node, end, size) in &steps.nodes {
        let (own, others) = children.split_at(end - taken);
        (children, taken) = (others, end);
        let mut shared = [T::of(0); LANES];
        for &child in own {
            let behind = &counts[child as usize];
            shared.iter_mut().zip(behind).for_each(|(shared, &behind)| *shared = *shared + behind);
        }
        let size = T::of(size);
        for lane in 0..LANES {
            let value = size - shared[lane] - shared[lane];
            low[lane] = low[lane].min(value);
            high[lane] = high[lane].max(value);
        }
        counts[node as usize] = shared;
    }
    for (lane, ((_, split), sum)) in batch.iter().zip(sums).enumerate() {
        let behind = split.num_tips() as i64;
        let (low, high): (i64, i64) = (low[lane].into(), high[lane].into());
        *sum += (behind + low).min(num_tips as i64 - behind - high) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::super::map_support;
    use super::*;
    use crate::rng::{Purpose, Rng, stream};
    use crate::taxa::Taxa;
    use crate::tree::{Drawing, NodeId, random_tree, read_newick};
    use proptest::prelude::*;
    use rand::RngExt;
    use std::collections::BTreeSet;

    /// The tips behind every edge of a tree, those to tips included.
    fn sides(tree: &Tree) -> Vec<(EdgeId, BTreeSet<usize>)> {
        let side = |edge: EdgeId| {
            let nodes = tree.preorder(tree.ends(edge)[0], edge);
            let nodes = nodes.into_iter().map(|(node, _)| node);
            (edge, nodes.filter(|&node| tree.is_tip(node)).map(NodeId::index).collect())
        };
        tree.edges().map(side).collect()
    }

    /// The definition: over all branches of the replicate, the least number of tips to move, for either orientation.
    fn slow_distance(side: &BTreeSet<usize>, replicate: &Multifurcating) -> usize {
        let num_tips = replicate.tips().len();
        let moved = |other: BTreeSet<usize>| {
            let moved = side.symmetric_difference(&other).count();
            moved.min(num_tips - moved)
        };
        let inner = replicate.splits().into_iter().map(|(_, split)| split.tips().collect());
        (0..num_tips).map(|tip| BTreeSet::from([tip])).chain(inner).map(moved).min().unwrap()
    }

    fn assert_as_defined(best: &Tree, replicates: &[Multifurcating]) {
        let found = map_transfer(best, replicates);
        let wide = sum_distances::<i32>(&tree_splits(best), best.num_tips(), replicates);
        let narrow = sum_distances::<i16>(&tree_splits(best), best.num_tips(), replicates);
        assert_eq!(wide, narrow);
        let felsenstein = map_support(best, replicates);
        for (edge, side) in sides(best) {
            let p = side.len().min(best.num_tips() - side.len());
            let at = edge.index();
            if p < 2 {
                assert_eq!((found.support[at], felsenstein[at]), (None, None));
                continue;
            }
            let distances: Vec<usize> =
                replicates.iter().map(|tree| slow_distance(&side, tree)).collect();
            let number = replicates.len() as f64;
            let mean = distances.iter().sum::<usize>() as f64 / number;
            assert_eq!(found.mean_distances[at], Some(mean));
            assert_eq!(found.support[at], Some(1.0 - mean / (p - 1) as f64));
            let same = distances.iter().filter(|&&distance| distance == 0).count();
            assert_eq!(felsenstein[at], Some(100.0 * same as f64 / number));
        }
    }

    /// A tree that differs from another by some subtrees that were moved.
    fn shaken(tree: &Tree, moves: usize, rng: &mut Rng) -> Tree {
        let mut tree = tree.clone();
        for _ in 0..moves {
            let inner: Vec<EdgeId> = tree
                .edges()
                .filter(|&e| tree.ends(e).iter().all(|&end| !tree.is_tip(end)))
                .collect();
            if inner.is_empty() {
                break;
            }
            let edge = inner[rng.random_range(0..inner.len())];
            let [first, second] = tree.ends(edge).map(|end| tree.other_links(end, edge)[0].1);
            tree.swap_subtrees(edge, first, second);
        }
        tree
    }

    /// The tree without some of its inner branches.
    fn collapsed(tree: &Tree, share: f64, rng: &mut Rng) -> Multifurcating {
        let names: Vec<String> = (0..tree.num_tips()).map(|tip| format!("t{tip}")).collect();
        let is_left_out: Vec<bool> = tree.edges().map(|_| rng.random_bool(share)).collect();
        let drawing = Drawing::of_tree(tree, |_| None).without(|branch| is_left_out[branch]);
        let text = drawing.draw(|tip| &names[tip], None, None).newick;
        let read = read_newick(&text, "t").unwrap();
        read[0].to_multifurcating(&Taxa::new(names).unwrap(), "t", true).unwrap()
    }

    proptest! {
        #[test]
        fn distances_are_those_of_the_definition(
            num_tips in 4..70_usize, number in 1..6_usize, moves in 0..40_usize, seed in 0..u64::MAX
        ) {
            let mut rng = stream(seed, Purpose::Test, 0);
            let best = random_tree(num_tips, 0.1, &mut rng);
            let replicates: Vec<Multifurcating> = (0..number).map(|i| match i {
                0 => (&random_tree(num_tips, 0.1, &mut rng)).into(),
                1 | 2 => (&shaken(&best, moves, &mut rng)).into(),
                _ => collapsed(&shaken(&best, moves, &mut rng), 0.3 * i as f64 - 0.8, &mut rng),
            }).collect();
            assert_as_defined(&best, &replicates);
        }
    }

    /// By hand. The first replicate is the tree. In the second, D and E are exchanged: the branch to ABCD is nearest to
    /// that to ABC. The third has nothing in common with the tree: nearest are branches to tips, at p - 1.
    #[test]
    fn a_worked_example() {
        let taxa = Taxa::new("ABCDEFGH".chars().map(String::from).collect()).unwrap();
        let read = |text: &str| -> Vec<Multifurcating> {
            let trees = read_newick(text, "t").unwrap();
            trees.iter().map(|t| t.to_multifurcating(&taxa, "t", true).unwrap()).collect()
        };
        let best = &read_newick("(((A,B),C),D,(((F,G),H),E));", "t").unwrap()[0];
        let best = &best.to_tree(&taxa, "t", None).unwrap().0;
        let replicates = read(
            "(((A,B),C),D,(((F,G),H),E)); (((A,B),C),E,(((F,G),H),D)); ((A,F),(B,G),((C,H),(D,E)));",
        );
        let found = map_transfer(best, &replicates);
        let of = |tips: &[usize]| {
            let split = Split::from_tips(8, tips.iter().copied());
            let edge = tree_splits(best).into_iter().find(|(_, other)| *other == split).unwrap().0;
            (found.mean_distances[edge.index()].unwrap(), found.support[edge.index()].unwrap())
        };
        for (tips, mean, support) in [
            (&[0, 1, 2, 3][..], 4.0 / 3.0, 5.0 / 9.0),
            (&[0, 1, 2], 2.0 / 3.0, 2.0 / 3.0),
            (&[0, 1], 1.0 / 3.0, 2.0 / 3.0),
        ] {
            let found = of(tips);
            assert!((found.0 - mean).abs() + (found.1 - support).abs() < 1e-15, "{found:?}");
        }
        assert_as_defined(best, &replicates);
        assert!(map_transfer(best, &[]).support.iter().all(Option::is_none));
    }
}
