//! Identical sequences: those of a search's taxa that are the same in all partitions are searched once.

use super::load::Loaded;
use crate::alignment::Patterns;
use crate::likelihood::BRLEN_BOUNDS;
use crate::partition::Partition;
use crate::tree::{Restriction, Tree, put_back_identical};
use std::collections::HashMap;

/// Fewest taxa of a search.
const MIN_TAXA: usize = 4;
/// A partition with that many taxa or more keeps as many: with fewer, it says nothing about a tree or its model.
const MIN_TAXA_OF_PARTITION: usize = 3;

/// Which taxa have identical sequences. A *reduced* tree or partition has only one taxon of each group.
#[derive(Debug)]
pub(crate) struct Identical {
    /// Numbers of the taxa that a search keeps, ascending.
    kept: Vec<usize>,
    /// For each of them, all taxa of its group, itself included and first, ascending: in the order of their names.
    groups: Vec<Vec<usize>>,
    /// For each taxon, the number of its group.
    group_of: Vec<usize>,
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
        let mut numbers: HashMap<&[Option<&[u16]>], usize> = HashMap::new();
        let (mut kept, mut groups) = (Vec::new(), Vec::<Vec<usize>>::new());
        let mut group_of = Vec::new();
        for (taxon, rows) in rows.iter().enumerate() {
            let number = *numbers.entry(rows).or_insert(groups.len());
            if number == groups.len() {
                kept.push(taxon);
                groups.push(Vec::new());
            }
            groups[number].push(taxon);
            group_of.push(number);
        }
        let identical = Identical { kept, groups, group_of };
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

    fn is_kept(&self, taxon: usize) -> bool {
        self.kept[self.group_of[taxon]] == taxon
    }

    /// Number of taxa that are kept.
    pub(crate) fn num_kept(&self) -> usize {
        self.kept.len()
    }

    /// Number of taxa that are left out.
    pub(crate) fn num_left_out(&self) -> usize {
        self.group_of.len() - self.kept.len()
    }

    /// Partitions of the taxa that are kept, without their places in the alignment.
    pub(crate) fn reduce(&self, partitions: &[Partition]) -> Vec<Partition> {
        let reduce = |partition: &Partition| {
            let patterns = &partition.patterns;
            let tips = patterns.tip_taxa.iter().zip(&patterns.codes);
            let kept = tips.filter(|&(&taxon, _)| self.is_kept(taxon));
            let (tip_taxa, codes) =
                kept.map(|(&taxon, codes)| (self.group_of[taxon], codes.clone())).unzip();
            Partition {
                name: partition.name.clone(),
                model: partition.model.clone(),
                patterns: Patterns {
                    data_type: patterns.data_type,
                    tip_taxa,
                    codes,
                    code_masks: patterns.code_masks.clone(),
                    weights: patterns.weights.clone(),
                    site_to_pattern: Vec::new(),
                    num_sites: patterns.num_sites,
                },
                sites: Vec::new(),
            }
        };
        partitions.iter().map(reduce).collect()
    }

    /// A tree of all taxa without those that are left out.
    pub(crate) fn reduce_tree(&self, tree: &Tree) -> Tree {
        Restriction::new(tree, &self.kept).1
    }

    /// A reduced tree with all taxa.
    pub(crate) fn put_back(&self, tree: &Tree) -> Tree {
        put_back_identical(tree, &self.groups, BRLEN_BOUNDS[0])
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
        put_back_identical(tree, &members, BRLEN_BOUNDS[0])
    }
}
