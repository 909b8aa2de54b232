//! Identical sequences: those of a search's taxa that are the same in all partitions are searched once.

use super::load::Loaded;
use crate::alignment::Patterns;
use crate::likelihood::BRLEN_BOUNDS;
use crate::partition::Partition;
use crate::rng::Rng;
use crate::tree::{Constraint, Restriction, Tree, put_back_identical};
use std::collections::HashMap;

/// Fewest taxa of a search.
const MIN_TAXA: usize = 4;
/// A partition with that many taxa or more keeps as many: with fewer, it says nothing about a tree or its model.
const MIN_TAXA_OF_PARTITION: usize = 3;

/// Which taxa have identical sequences. A *reduced* tree or partition has only one taxon of each group.
#[derive(Debug, Clone)]
pub(crate) struct Identical {
    /// Numbers of the taxa that a search keeps, ascending.
    kept: Vec<usize>,
    /// For each of them, all taxa of its group, itself included, ascending: in the order of their names.
    groups: Vec<Vec<usize>>,
    /// For each taxon, the number of its group.
    group_of: Vec<usize>,
}

/// Groups of taxa with equal rows. Taxa that are at different places of a constraint are in different groups: it may
/// demand branches between them. Free ones are in the first of these groups. Taxa of the constraint come first in theirs,
/// otherwise each group is ascending.
fn find_groups<R: std::hash::Hash + Eq>(
    rows: &[R],
    constraint: Option<&Constraint>,
) -> Vec<Vec<usize>> {
    let place = |taxon| constraint.and_then(|constraint| constraint.place(taxon));
    let (constrained, free): (Vec<usize>, Vec<usize>) =
        (0..rows.len()).partition(|&taxon| place(taxon).is_some());
    let mut groups: Vec<Vec<usize>> = Vec::new();
    // By row: the groups, each with its place. Only looked up.
    let mut numbers: HashMap<&R, Vec<(Option<u32>, usize)>> = HashMap::new();
    for taxon in constrained.into_iter().chain(free) {
        let (own, known) = (place(taxon), numbers.entry(&rows[taxon]).or_default());
        let same = |group: &&(Option<u32>, usize)| own.is_none() || group.0 == own;
        match known.iter().find(same) {
            Some(&(_, number)) => groups[number].push(taxon),
            None => {
                known.push((own, groups.len()));
                groups.push(vec![taxon]);
            }
        }
    }
    groups
}

impl Identical {
    /// The groups; `None` if no sequences are identical, or if there would be too few taxa without them.
    pub(crate) fn find(loaded: &Loaded) -> Option<Self> {
        let num_taxa = loaded.taxa.len();
        // By partition and taxon: the row of codes, if it has data.
        let mut rows: Vec<Vec<Option<&[u16]>>> = vec![Vec::new(); num_taxa];
        for (number, Partition { patterns, .. }) in loaded.partitions.iter().enumerate() {
            rows.iter_mut().for_each(|rows| rows.push(None));
            for (&taxon, codes) in patterns.tip_taxa.iter().zip(&patterns.codes) {
                rows[taxon][number] = Some(codes);
            }
        }
        let identical = Self::of_groups(find_groups(&rows, loaded.constraint.as_ref()), num_taxa);
        let has_enough = |partition: &Partition| {
            let tips = &partition.patterns.tip_taxa;
            let kept = tips.iter().filter(|&&taxon| identical.is_kept(taxon)).count();
            kept >= MIN_TAXA_OF_PARTITION.min(tips.len())
        };
        let are_enough = identical.kept.len() >= MIN_TAXA.min(num_taxa);
        let is_worth_it = identical.kept.len() < num_taxa;
        let has_enough = loaded.partitions.iter().all(has_enough);
        (is_worth_it && are_enough && has_enough).then_some(identical)
    }

    /// The groups of the tips of one partition, whose taxa are its tips; `None` if no rows are identical, or all.
    pub(crate) fn of_tips(patterns: &Patterns) -> Option<Self> {
        let num_tips = patterns.num_tips();
        let identical = Self::of_groups(find_groups(&patterns.codes, None), num_tips);
        (2..num_tips).contains(&identical.kept.len()).then_some(identical)
    }

    fn of_groups(mut groups: Vec<Vec<usize>>, num_taxa: usize) -> Self {
        // The first taxon of each group is kept.
        groups.sort_unstable_by_key(|group| group[0]);
        let kept = groups.iter().map(|group| group[0]).collect();
        let mut group_of = vec![0; num_taxa];
        for (number, group) in groups.iter_mut().enumerate() {
            group.iter().for_each(|&taxon| group_of[taxon] = number);
            group.sort_unstable();
        }
        Identical { kept, groups, group_of }
    }

    /// A constraint on all taxa without those that are left out.
    pub(crate) fn reduce_constraint(&self, constraint: &Constraint) -> Option<Constraint> {
        constraint.on_groups(&self.group_of)
    }

    fn is_kept(&self, taxon: usize) -> bool {
        self.kept[self.group_of[taxon]] == taxon
    }

    /// Number of taxa that are kept.
    pub(crate) fn num_kept(&self) -> usize {
        self.kept.len()
    }

    /// `[reduced taxon]`: the first taxon of its group.
    pub(crate) fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// `[reduced taxon]`: its group, in the order of the taxa.
    pub(crate) fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }

    /// `[taxon]`: the reduced taxon that stands for it.
    pub(crate) fn group_of(&self) -> &[usize] {
        &self.group_of
    }

    /// Number of taxa that are left out.
    pub(crate) fn num_left_out(&self) -> usize {
        self.group_of.len() - self.kept.len()
    }

    /// Partitions of the taxa that are kept, without their places in the alignment.
    pub(crate) fn reduce(&self, partitions: &[Partition]) -> Vec<Partition> {
        let number = |taxon| self.is_kept(taxon).then(|| self.group_of[taxon]);
        let reduce = |partition: &Partition| Partition {
            name: partition.name.clone(),
            model: partition.model.clone(),
            patterns: partition.patterns.of_taxa(number),
            sites: Vec::new(),
        };
        partitions.iter().map(reduce).collect()
    }

    /// A tree of all taxa without those that are left out.
    pub(crate) fn reduce_tree(&self, tree: &Tree) -> Tree {
        Restriction::new(tree, &self.kept).1
    }

    /// A reduced tree with all taxa.
    pub(crate) fn put_back(&self, tree: &Tree) -> Tree {
        put_back_identical(tree, &self.groups, BRLEN_BOUNDS[0], None)
    }

    /// The same, with branches of length `brlen` in a group, in an order by chance.
    pub(crate) fn put_back_by_chance(&self, tree: &Tree, brlen: f64, rng: &mut Rng) -> Tree {
        put_back_identical(tree, &self.groups, brlen, Some(rng))
    }

    /// A partition's reduced tree, whose tips are these reduced taxa, with all taxa that have data in the partition.
    pub(crate) fn put_back_in_partition(&self, tree: &Tree, taxa: &[usize]) -> Tree {
        let mut all: Vec<usize> =
            taxa.iter().flat_map(|&taxon| &self.groups[taxon]).copied().collect();
        all.sort_unstable();
        let mut rank = vec![0; self.group_of.len()];
        all.iter().enumerate().for_each(|(tip, &taxon)| rank[taxon] = tip);
        let members =
            |&taxon: &usize| self.groups[taxon].iter().map(|&taxon| rank[taxon]).collect();
        let members: Vec<Vec<usize>> = taxa.iter().map(members).collect();
        put_back_identical(tree, &members, BRLEN_BOUNDS[0], None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::taxa::Taxa;
    use crate::tree::read_newick;

    #[test]
    fn a_constraint_keeps_taxa_of_different_places_apart() {
        let rows = ["x", "y", "x", "x", "x", "z", "x", "y"];
        assert_eq!(find_groups(&rows, None), [vec![0, 2, 3, 4, 6], vec![1, 7], vec![5]]);
        let taxa = Taxa::new((0..8).map(|taxon| taxon.to_string()).collect()).unwrap();
        let newick = read_newick("((2,5),(3,4),7);", "t").unwrap().remove(0);
        let constraint = newick.to_constraint(&taxa, "t").unwrap();
        let groups = find_groups(&rows, Some(&constraint));
        assert_eq!(groups, [vec![2, 0, 6], vec![3, 4], vec![5], vec![7, 1]]);
    }
}
