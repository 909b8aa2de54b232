//! The fast ways of constraints against their plain definition, on random trees and random constraints over some of the
//! taxa.

use super::constraint::Constraint;
use super::constraint_view::ConstraintView;
use super::newick_read::read_newick;
use super::random::random_tree;
use super::regions::regions;
use super::resolution::resolve_canonically;
use super::topology::{EdgeId, NodeId, Tree};
use super::{NewickOptions, Restriction, same_topology, write_newick};
use crate::rng::{Purpose, Rng, stream};
use crate::taxa::Taxa;
use rand::RngExt;
use rand::seq::SliceRandom;
use std::collections::{BTreeMap, BTreeSet};

type TaxonSet = BTreeSet<usize>;

/// A constraint, by its definition: its taxa, and one side of each split.
#[derive(Debug)]
struct Plain {
    taxa: TaxonSet,
    splits: Vec<TaxonSet>,
}

impl Plain {
    /// Each split of the constraint, restricted to the taxa of the tree, is one of the tree's, restricted to those of the
    /// constraint.
    fn is_satisfied(&self, tree: &Tree) -> bool {
        let there: TaxonSet = (0..tree.num_tips())
            .filter(|&tip| tree.links(NodeId(tip as u32)).next().is_some())
            .filter(|tip| self.taxa.contains(tip))
            .collect();
        let used = tree.edges().filter(|&edge| tree.ends(edge)[0] != tree.ends(edge)[1]);
        let sides: Vec<TaxonSet> = used
            .map(|edge| {
                let behind = tree.preorder(tree.ends(edge)[0], edge);
                let tips = behind.iter().map(|(node, _)| node.index());
                tips.filter(|tip| there.contains(tip)).collect()
            })
            .collect();
        self.splits.iter().all(|split| {
            let inside: TaxonSet = split.intersection(&there).copied().collect();
            let outside: TaxonSet = there.difference(split).copied().collect();
            let is_trivial = inside.len() < 2 || outside.len() < 2;
            is_trivial || sides.iter().any(|side| *side == inside || *side == outside)
        })
    }
}

/// A constraint that the tree satisfies: on a share of its taxa, with a share of the splits that these have.
fn constraint_of(tree: &Tree, shares: [f64; 2], rng: &mut Rng) -> Option<(Constraint, Plain)> {
    let taxa: Vec<usize> = (0..tree.num_tips()).filter(|_| rng.random_bool(shares[0])).collect();
    if taxa.len() < 4 {
        return None;
    }
    let (_, restricted) = Restriction::new(tree, &taxa);
    let mut splits: Vec<TaxonSet> = Vec::new();
    for (_, split) in super::tree_splits(&restricted) {
        if rng.random_bool(shares[1]) {
            splits.push(split.tips().map(|tip| taxa[tip]).collect());
        }
    }
    let plain = Plain { taxa: taxa.iter().copied().collect(), splits };
    let constraint = read(&newick(&plain, rng), tree.num_tips());
    Some((constraint, plain))
}

fn read(text: &str, num_taxa: usize) -> Constraint {
    let taxa = Taxa::new((0..num_taxa).map(|taxon| taxon.to_string()).collect()).unwrap();
    read_newick(text, "t").unwrap()[0].to_constraint(&taxa, "t").unwrap()
}

/// The constraint as text, rooted at a random place: at the edge of one of its taxa, or at a node.
fn newick(plain: &Plain, rng: &mut Rng) -> String {
    let taxa: Vec<usize> = plain.taxa.iter().copied().collect();
    let root = taxa[rng.random_range(0..taxa.len())];
    let mut clades: Vec<TaxonSet> = plain.splits.clone();
    for clade in &mut clades {
        if clade.contains(&root) {
            *clade = plain.taxa.difference(clade).copied().collect();
        }
    }
    clades.sort_by_key(TaxonSet::len);
    let mut parts: Vec<(TaxonSet, String)> =
        taxa.iter().map(|&taxon| (TaxonSet::from([taxon]), taxon.to_string())).collect();
    parts.shuffle(rng);
    for clade in clades {
        let (inside, outside): (Vec<_>, Vec<_>) =
            parts.into_iter().partition(|(part, _)| part.is_subset(&clade));
        let names: Vec<String> = inside.into_iter().map(|(_, text)| text).collect();
        parts = outside;
        parts.push((clade, format!("({})", names.join(","))));
        parts.shuffle(rng);
    }
    let mut names: Vec<String> = parts.into_iter().map(|(_, text)| text).collect();
    if rng.random_bool(0.5) {
        names = vec![names.pop().unwrap(), format!("({})", names.join(","))];
    }
    format!("({});", names.join(","))
}

/// Random trees with constraints that they satisfy.
fn cases(count: u64, max_tips: usize) -> impl Iterator<Item = (Tree, Constraint, Plain, Rng)> {
    (0..count).filter_map(move |seed| {
        let mut rng = stream(seed, Purpose::Test, 0);
        let tree = random_tree(rng.random_range(4..=max_tips), 0.1, &mut rng);
        let taxa = [1.0, 0.9, 0.6, 0.4][rng.random_range(0..4usize)];
        let splits = [1.0, 0.7, 0.4, 0.1][rng.random_range(0..4usize)];
        let (constraint, plain) = constraint_of(&tree, [taxa, splits], &mut rng)?;
        Some((tree, constraint, plain, rng))
    })
}

/// All prunes of a tree: nodes with the edges of their subtrees.
fn prunes(tree: &Tree) -> Vec<(NodeId, EdgeId)> {
    let inner = tree.nodes().filter(|&node| !tree.is_tip(node));
    inner
        .flat_map(|node| tree.links(node).map(move |(_, edge)| (node, edge)).collect::<Vec<_>>())
        .collect()
}

/// The edges of the pruned tree into which a walk over legal places comes.
fn walk(tree: &Tree, view: &ConstraintView, attach: NodeId, pendant: EdgeId) -> Vec<EdgeId> {
    let home = view.home(tree, attach, pendant);
    let mut found = Vec::new();
    let mut stack = tree.other_links(attach, pendant).to_vec();
    while let Some((node, by)) = stack.pop() {
        if !tree.is_tip(node) && home.is_none_or(|home| view.may_pass(tree, home, node, by)) {
            let next = tree.other_links(node, by);
            found.extend(next.map(|(_, edge)| edge));
            stack.extend(next);
        }
    }
    found.sort();
    found
}

#[test]
fn trees_are_told_from_those_that_violate() {
    let mut violating = 0;
    for (tree, constraint, plain, mut rng) in cases(600, 14) {
        assert_eq!(constraint.num_taxa(), plain.taxa.len());
        assert_eq!(constraint.num_splits(), plain.splits.len());
        assert!(plain.is_satisfied(&tree));
        assert_eq!(constraint.violated(&tree), None);
        let other = random_tree(tree.num_tips(), 0.1, &mut rng);
        let violated = constraint.violated(&other);
        assert_eq!(violated.is_none(), plain.is_satisfied(&other));
        if let Some(violated) = violated {
            violating += 1;
            let violated: TaxonSet = violated.into_iter().collect();
            assert!(2 * violated.len() <= plain.taxa.len());
            let rest = plain.taxa.difference(&violated).copied().collect();
            assert!(plain.splits.contains(&violated) || plain.splits.contains(&rest));
            let only = Plain { taxa: plain.taxa.clone(), splits: vec![violated] };
            assert!(!only.is_satisfied(&other));
        }
    }
    assert!(violating > 100);
}

#[test]
fn a_walk_comes_to_all_legal_places_and_no_others() {
    let (mut legal, mut illegal) = (0, 0);
    for (tree, constraint, plain, _) in cases(300, 14) {
        let view = ConstraintView::new(&constraint, &tree);
        for (attach, pendant) in prunes(&tree) {
            let found = walk(&tree, &view, attach, pendant);
            let mut other = tree.clone();
            let pruned = other.prune(attach, pendant);
            for (target, _) in other.edges_within(pruned.merged, usize::MAX) {
                let undo = other.regraft(&pruned, target, [0.1, 0.1]);
                let is_legal = plain.is_satisfied(&other);
                assert_eq!(found.contains(&target), is_legal, "{tree:?} {plain:?} {attach:?}");
                *(if is_legal { &mut legal } else { &mut illegal }) += 1;
                other.undo_regraft(&pruned, &undo);
            }
        }
    }
    assert!(legal > 10_000 && illegal > 10_000, "{legal}, {illegal}");
}

#[test]
fn interchanges_are_legal_unless_the_constraint_needs_the_edge() {
    let (mut legal, mut illegal) = (0, 0);
    for (mut tree, constraint, plain, _) in cases(400, 14) {
        let view = ConstraintView::new(&constraint, &tree);
        for edge in tree.edges() {
            if tree.ends(edge).iter().any(|&end| tree.is_tip(end)) {
                continue;
            }
            let may = view.may_interchange(&tree, edge);
            let [left, right] = tree.ends(edge).map(|end| tree.other_links(end, edge));
            for second in right {
                tree.swap_subtrees(edge, left[0].1, second.1);
                assert_eq!(plain.is_satisfied(&tree), may, "{edge:?} {plain:?}");
                tree.swap_subtrees(edge, second.1, left[0].1);
                *(if may { &mut legal } else { &mut illegal }) += 1;
            }
        }
    }
    assert!(legal > 500 && illegal > 500, "{legal}, {illegal}");
}

#[test]
fn a_growing_tree_has_all_legal_places_and_no_others() {
    let (mut legal, mut illegal) = (0, 0);
    for (tree, constraint, plain, mut rng) in cases(150, 14) {
        let num_tips = tree.num_tips();
        let mut order: Vec<u32> = (0..num_tips as u32).collect();
        order.shuffle(&mut rng);
        constraint.begin_with_origin(&mut order);
        let mut tree = Tree::unconnected(num_tips);
        let mut inner = NodeId(num_tips as u32);
        order[..3].iter().for_each(|&tip| _ = tree.add_edge(inner, NodeId(tip), 0.1));
        for &tip in &order[3..] {
            let places = ConstraintView::new(&constraint, &tree).places(&tree, tip as usize);
            inner = NodeId(inner.0 + 1);
            let edges: Vec<EdgeId> = tree.edges().collect();
            let pruned = tree.hang_on_new_node(inner, NodeId(tip), 0.1);
            let mut chosen = Vec::new();
            for edge in edges {
                let undo = tree.regraft(&pruned, edge, [0.1, 0.1]);
                let is_legal = plain.is_satisfied(&tree);
                tree.undo_regraft(&pruned, &undo);
                let found = places.as_ref().is_none_or(|places| places[edge.index()]);
                assert_eq!(found, is_legal, "{tip} into {edge:?} of {tree:?} {plain:?}");
                *(if is_legal { &mut legal } else { &mut illegal }) += 1;
                if is_legal {
                    chosen.push(edge);
                }
            }
            let target = chosen[rng.random_range(0..chosen.len())];
            tree.regraft(&pruned, target, [0.1, 0.1]);
        }
        tree.assert_integrity();
        assert!(plain.is_satisfied(&tree));
    }
    assert!(legal > 2000 && illegal > 2000, "{legal}, {illegal}");
}

/// Moves subtrees to random legal places, anywhere or across the marked edges only.
fn shuffled(tree: &Tree, constraint: &Constraint, marks: Option<&[bool]>, rng: &mut Rng) -> Tree {
    let mut tree = tree.clone();
    for _ in 0..5 * tree.num_edges() {
        let view = ConstraintView::new(constraint, &tree);
        if let Some(marks) = marks {
            let edge = EdgeId(rng.random_range(0..tree.num_edges() as u32));
            let is_inner = tree.ends(edge).iter().all(|&end| !tree.is_tip(end));
            if is_inner && marks[edge.index()] && view.may_interchange(&tree, edge) {
                let [(_, x), (_, y)] =
                    tree.ends(edge).map(|end| tree.other_links(end, edge)[rng.random_range(0..2)]);
                tree.swap_subtrees(edge, x, y);
            }
            continue;
        }
        let all = prunes(&tree);
        let (attach, pendant) = all[rng.random_range(0..all.len())];
        let found = walk(&tree, &view, attach, pendant);
        if !found.is_empty() {
            let target = found[rng.random_range(0..found.len())];
            let pruned = tree.prune(attach, pendant);
            tree.regraft(&pruned, target, [0.1, 0.1]);
        }
    }
    tree
}

#[test]
fn canonical_resolutions_satisfy_the_constraint_and_do_not_depend_on_those_before() {
    let mut clades_within = 0;
    for (mut tree, constraint, plain, mut rng) in cases(400, 30) {
        let share = [0.3, 0.7, 1.0][rng.random_range(0..3usize)];
        for edge in tree.edges() {
            let is_empty = rng.random_bool(share);
            tree.set_brlen(edge, if is_empty { 0.0 } else { 0.1 + 0.001 * f64::from(edge.0) });
        }
        let marks: Vec<bool> = tree.edges().map(|edge| tree.brlen(edge) == 0.0).collect();
        let resolve = |tree: &Tree| resolve_canonically(tree, &marks, 0.0, 0.0, Some(&constraint));
        let resolved = resolve(&tree);
        resolved.assert_integrity();
        assert!(plain.is_satisfied(&resolved));
        assert!(same_topology(&resolve(&resolved), &resolved));
        let free = resolve_canonically(&tree, &marks, 0.0, 0.0, None);
        clades_within += usize::from(!plain.is_satisfied(&free));
        let names: Vec<String> = (0..tree.num_tips()).map(|i| i.to_string()).collect();
        let text = |tree: &Tree| write_newick(tree, |i| &names[i], &NewickOptions::default());
        for _ in 0..3 {
            let other = shuffled(&tree, &constraint, Some(&marks), &mut rng);
            assert!(plain.is_satisfied(&other));
            assert_eq!(text(&resolve(&other)), text(&resolved), "{tree:?} {plain:?}");
        }
    }
    assert!(clades_within > 100, "{clades_within}");
}

#[test]
fn without_clades_within_polytomies_resolutions_are_as_without_a_constraint() {
    for (tree, constraint, _, mut rng) in cases(200, 30) {
        let splits: Vec<EdgeId> = tree.edges().filter(|_| rng.random_bool(0.5)).collect();
        let mut marks = vec![false; tree.num_edges()];
        let view = ConstraintView::new(&constraint, &tree);
        for edge in splits {
            let is_inner = tree.ends(edge).iter().all(|&end| !tree.is_tip(end));
            marks[edge.index()] = is_inner && view.may_interchange(&tree, edge);
        }
        let resolve = |constraint| resolve_canonically(&tree, &marks, 0.1, 0.0, constraint);
        let free = resolve(None);
        // With free subtrees, two edges may have the same split of the constraint.
        if constraint.violated(&free).is_none() && constraint.num_taxa() == tree.num_tips() {
            assert!(resolve(Some(&constraint)) == free);
        }
    }
}

#[test]
fn mixtures_of_the_regions_of_two_trees_satisfy_the_constraint() {
    let mut mixed = 0;
    for (tree, constraint, plain, mut rng) in cases(300, 30) {
        let other = shuffled(&tree, &constraint, None, &mut rng);
        assert!(plain.is_satisfied(&other));
        let found = regions(&tree, &other);
        mixed += usize::from(found.len() > 1);
        for _ in 0..3 {
            let mut now = tree.clone();
            for region in found.iter().filter(|_| rng.random_bool(0.5)) {
                now = region.resolve(&now);
            }
            assert!(plain.is_satisfied(&now));
        }
    }
    assert!(mixed > 50, "{mixed}");
}

#[test]
fn random_trees_satisfy_the_constraint_and_are_equally_frequent() {
    for (tree, constraint, plain, mut rng) in cases(300, 30) {
        let random = constraint.random_tree(0.1, &mut rng);
        random.assert_integrity();
        assert!(plain.is_satisfied(&random) && random.num_tips() == tree.num_tips());
        if plain.splits.len() + 3 == tree.num_tips() {
            assert!(same_topology(&random, &tree), "there is only one");
        }
    }
    // Of the 105 trees of six taxa, 21 have the split {1,3}|{2,4,5} of five of them: 3 of the 15 trees of these, each with
    // seven places for the sixth.
    let constraint = read("((1,3),2,4,5);", 6);
    let mut rng = stream(1, Purpose::Test, 0);
    let mut counts = BTreeMap::new();
    for _ in 0..21_000 {
        let text = write_newick(
            &constraint.random_tree(0.1, &mut rng),
            |i| ["a", "b", "c", "d", "e", "f"][i],
            &NewickOptions::default(),
        );
        *counts.entry(text).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 21);
    // Five standard deviations of a binomial count of mean 1000.
    assert!(counts.values().all(|&c: &i32| (c - 1000).abs() < 155), "{counts:?}");
}

#[test]
fn multifurcations_are_resolved_so_that_the_constraint_is_satisfied() {
    let mut by_chance = 0;
    for (tree, constraint, plain, mut rng) in cases(400, 20) {
        // The tree with some of its branches only.
        let splits = super::tree_splits(&tree).into_iter().map(|(_, split)| split.tips().collect());
        let kept: Vec<TaxonSet> = splits.filter(|_| rng.random_bool(0.5)).collect();
        let partly = Plain { taxa: (0..tree.num_tips()).collect(), splits: kept };
        let text = newick(&partly, &mut rng);
        let taxa = Taxa::new((0..tree.num_tips()).map(|i| i.to_string()).collect()).unwrap();
        let newick = read_newick(&text, "t").unwrap().remove(0);
        let again = rng.clone();
        let free = newick.to_tree(&taxa, "t", Some(&mut rng)).unwrap().0;
        let under = newick.to_tree_under(&taxa, "t", Some(&mut again.clone()), Some(&constraint));
        let under = under.unwrap().0;
        under.assert_integrity();
        assert!(plain.is_satisfied(&under) && partly.is_satisfied(&under));
        if plain.is_satisfied(&free) {
            by_chance += 1;
            assert!(under == free);
        }
    }
    assert!((50..300).contains(&by_chance), "{by_chance}");
}

#[test]
fn a_constraint_does_not_depend_on_how_its_tree_is_written() {
    for (tree, constraint, plain, mut rng) in cases(200, 20) {
        let again = read(&newick(&plain, &mut rng), tree.num_tips());
        assert_eq!(again, constraint);
    }
    let texts = ["((0,1),(2,(3,4)),5);", "(((3,4),2),((0:1,1)80:2,((5)))x);"];
    assert_eq!(read(texts[0], 7), read(texts[1], 7));
    assert_ne!(read(texts[0], 7), read("((0,1),(2,3,4),5);", 7));
}

#[test]
fn groups_of_taxa_at_the_same_place_keep_the_other_splits() {
    // 0, 1, 2 meet at one node, so do 3 and 4; 8 is free.
    let constraint = read("((0,1,2),(3,4),(5,6,7));", 9);
    assert!(constraint.place(0) == constraint.place(2) && constraint.place(8).is_none());
    let groups = [0, 0, 1, 2, 3, 4, 4, 4, 5];
    assert_eq!(constraint.on_groups(&groups).unwrap(), read("((0,1),(2,3),4);", 6));
    // The origin and another taxon of its node in one group.
    let groups = [0, 0, 0, 1, 2, 3, 4, 5, 0];
    assert_eq!(constraint.on_groups(&groups).unwrap(), read("((1,2),(3,4,5),0);", 6));
    assert_eq!(constraint.on_groups(&[0, 0, 0, 1, 1, 2, 2, 2, 3]), None);
}

#[test]
fn constraints_that_do_not_fit_the_alignment_are_refused() {
    let taxa = Taxa::new(["A", "B", "C", "D", "E"].map(String::from).to_vec()).unwrap();
    let refused = |text: &str| {
        let error = read_newick(text, "t").unwrap()[0].to_constraint(&taxa, "t").unwrap_err();
        error.to_string()
    };
    assert!(refused("((A,B),C);").contains("3 of the taxa"));
    let message = refused("((A,B),(C,X),(B,Y));");
    for part in ["'X'", "'Y'", "not in the alignment", "'B'", "twice"] {
        assert!(message.contains(part), "{message}");
    }
    let star = read_newick("(A,B,C,D);", "t").unwrap()[0].to_constraint(&taxa, "t").unwrap();
    assert_eq!((star.num_taxa(), star.num_splits()), (4, 0));
}
