//! Gene and site concordance factors of the branches of a tree (Minh, Hahn & Lanfear 2020, Mol. Biol. Evol. 37:2727).
//!
//! An inner branch joins four clades A, B, C and D as AB|CD. They are named here after their smallest taxa: A has the
//! smallest of all, B is beside it, and C has a smaller one than D.

use crate::alignment::Patterns;
use crate::rng::{Purpose, Rng, stream};
use crate::tree::{EdgeId, Multifurcating, NodeId, Split, Tree};
use rand::RngExt;
use rayon::prelude::*;
use std::collections::HashSet;

/// What gene trees have in the place of a branch: numbers of trees with taxa of all four clades around it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GeneConcordance {
    /// AB|CD, AC|BD and AD|BC, each with as many of the taxa as the gene tree has.
    pub resolutions: [u32; 3],
    /// None of these: the clades are mixed.
    pub others: u32,
}

impl GeneConcordance {
    /// Number of trees with taxa of all four clades.
    pub fn decisive(&self) -> u32 {
        self.resolutions.iter().sum::<u32>() + self.others
    }

    /// The gene concordance factor: the percentage of the decisive trees that have the branch.
    pub fn factor(&self) -> Option<f64> {
        self.percent(self.resolutions[0])
    }

    /// A number of trees as a percentage of the decisive ones, if there are any.
    pub fn percent(&self, number: u32) -> Option<f64> {
        let decisive = self.decisive();
        (decisive > 0).then(|| 100.0 * f64::from(number) / f64::from(decisive))
    }
}

/// What sites say about a branch, on average over quartets with a taxon of each of the four clades around it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SiteConcordance {
    /// Number of quartets that were looked at, of those that any site resolves.
    pub quartets: u32,
    /// Mean percentages of the sites that support AB|CD (the site concordance factor), AC|BD and AD|BC, over the
    /// quartets that any site resolves.
    pub percents: [f64; 3],
    /// Mean numbers of these sites, over all quartets.
    pub sites: [f64; 3],
}

impl SiteConcordance {
    /// The site concordance factor, if any site resolves a quartet.
    pub fn factor(&self) -> Option<f64> {
        (self.quartets > 0).then_some(self.percents[0])
    }
}

/// The four clades around an inner branch, as sets of taxa in bits.
#[derive(Debug, Clone)]
pub struct Around {
    /// The branch.
    pub edge: EdgeId,
    clades: [Vec<u64>; 4],
}

/// The clades around every inner branch of a tree over all taxa. The order does not depend on how edges are numbered.
pub fn clades_around(tree: &Tree) -> Vec<Around> {
    let num_tips = tree.num_tips();
    if num_tips < 4 {
        return Vec::new();
    }
    let (inner, edge) = tree.links(NodeId(0)).next().expect("a tip has a neighbour");
    let order = tree.preorder(inner, edge);
    let mut behind = vec![vec![0u64; num_tips.div_ceil(64)]; tree.num_nodes()];
    for &(node, edge) in order.iter().rev() {
        if tree.is_tip(node) {
            behind[node.index()][node.index() / 64] |= 1 << (node.index() % 64);
        } else {
            for (child, _) in tree.other_links(node, edge) {
                let of_child = behind[child.index()].clone();
                behind[node.index()].iter_mut().zip(of_child).for_each(|(all, some)| *all |= some);
            }
        }
    }
    let set = |node: NodeId| behind[node.index()].clone();
    let mut parents = vec![NodeId::NONE; tree.num_nodes()];
    let mut found = Vec::new();
    for &(node, edge) in order.iter().filter(|(node, _)| !tree.is_tip(*node)) {
        let children = tree.other_links(node, edge).map(|(child, _)| child);
        children.iter().for_each(|child| parents[child.index()] = node);
        let parent = parents[node.index()];
        if parent == NodeId::NONE {
            continue;
        }
        let is_sibling = |other: &NodeId| *other != node && parents[other.index()] == parent;
        let sibling = tree.links(parent).map(|(other, _)| other).find(is_sibling);
        let outside = |(word, behind): (usize, &u64)| {
            let num_taxa = num_tips - 64 * word;
            let all = if num_taxa >= 64 { u64::MAX } else { (1 << num_taxa) - 1 };
            all & !behind
        };
        let a = behind[parent.index()].iter().enumerate().map(outside).collect();
        let b = set(sibling.expect("an inner node has two children"));
        let mut far = children.map(set);
        far.sort_by_key(|clade| smallest(clade));
        let [c, d] = far;
        found.push(Around { edge, clades: [a, b, c, d] });
    }
    found.sort_by(|a, b| {
        let key = |around: &Around| [2, 3].map(|clade| smallest(&around.clades[clade]));
        key(a).cmp(&key(b))
    });
    found
}

/// The smallest taxon of a set.
fn smallest(set: &[u64]) -> usize {
    taxa_in(set).next().unwrap_or(usize::MAX)
}

fn taxa_in(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    let all = 0..64 * set.len();
    all.filter(|&taxon| set[taxon / 64] >> (taxon % 64) & 1 == 1)
}

/// Counts what gene trees, each over some of the taxa, have in the place of every branch.
pub fn gene_concordance(
    branches: &[Around],
    gene_trees: &[Multifurcating],
) -> Vec<GeneConcordance> {
    let resolve = |tree: &Multifurcating| -> Vec<Option<usize>> {
        let mut present = vec![0u64; tree.num_taxa().div_ceil(64)];
        tree.tips().iter().for_each(|&taxon| present[taxon as usize / 64] |= 1 << (taxon % 64));
        // Only ever looked up.
        let splits: HashSet<Split> = tree.splits().into_iter().map(|(_, split)| split).collect();
        branches.iter().map(|around| around.resolution(&present, &splits)).collect()
    };
    let of_trees: Vec<Vec<Option<usize>>> = gene_trees.par_iter().map(resolve).collect();
    let mut found = vec![GeneConcordance::default(); branches.len()];
    for of_tree in of_trees {
        for (counts, resolution) in found.iter_mut().zip(of_tree) {
            match resolution {
                Some(resolution @ 0..3) => counts.resolutions[resolution] += 1,
                Some(_) => counts.others += 1,
                None => {}
            }
        }
    }
    found
}

impl Around {
    /// Which of the three resolutions (0 to 2) a gene tree with these taxa and splits has, 3 for none of them; `None`
    /// if it lacks one of the four clades.
    fn resolution(&self, present: &[u64], splits: &HashSet<Split>) -> Option<usize> {
        let is_there = |clade: &Vec<u64>| clade.iter().zip(present).any(|(a, b)| a & b != 0);
        if !self.clades.iter().all(is_there) {
            return None;
        }
        let [_, b, c, d] = &self.clades;
        let has = |first: &[u64], second: &[u64]| {
            let side: Vec<u64> = first.iter().zip(second).map(|(a, b)| a | b).collect();
            splits.contains(&Split::among(&side, present))
        };
        let pairs = [(c, d), (b, d), (b, c)];
        Some(pairs.iter().position(|(first, second)| has(first, second)).unwrap_or(3))
    }
}

/// The characters of an alignment for counting: single states, and how often each pattern occurs.
#[derive(Debug)]
pub struct SiteStates {
    /// `[taxon][pattern]`: number of the state, or `UNKNOWN`.
    rows: Vec<Vec<u8>>,
    weights: Vec<u32>,
}

/// Gaps and characters that stand for several states.
const UNKNOWN: u8 = u8::MAX;

impl SiteStates {
    /// The sites of all partitions, of `num_taxa` taxa.
    pub fn new<'p>(num_taxa: usize, partitions: impl Iterator<Item = &'p Patterns>) -> Self {
        let mut sites = SiteStates { rows: vec![Vec::new(); num_taxa], weights: Vec::new() };
        for patterns in partitions {
            let state = |mask: &u64| match mask.count_ones() {
                1 => mask.trailing_zeros() as u8,
                _ => UNKNOWN,
            };
            let states: Vec<u8> = patterns.code_masks.iter().map(state).collect();
            sites.weights.extend(&patterns.weights);
            for (codes, &taxon) in patterns.codes.iter().zip(&patterns.tip_taxa) {
                sites.rows[taxon].extend(codes.iter().map(|&code| states[usize::from(code)]));
            }
            let length = sites.weights.len();
            sites.rows.iter_mut().for_each(|row| row.resize(length, UNKNOWN));
        }
        sites
    }

    /// Number of sites at which two pairs of four taxa have a state each: ab|cd, ac|bd and ad|bc.
    fn count(&self, taxa: [usize; 4]) -> [u64; 3] {
        let [a, b, c, d] = taxa.map(|taxon| self.rows[taxon].as_slice());
        let mut counts = [0; 3];
        for (site, &weight) in self.weights.iter().enumerate() {
            let [a, b, c, d] = [a[site], b[site], c[site], d[site]];
            if [a, b, c, d].contains(&UNKNOWN) {
                continue;
            }
            let weight = u64::from(weight);
            counts[0] += weight * u64::from(a == b && c == d && a != c);
            counts[1] += weight * u64::from(a == c && b == d && a != b);
            counts[2] += weight * u64::from(a == d && b == c && a != b);
        }
        counts
    }
}

/// The quartets of the branches of a tree, and how many sites that were counted so far support each of their three trees.
#[derive(Debug)]
pub struct SiteQuartets {
    /// How many were asked for.
    number: usize,
    /// By branch and quartet.
    counts: Vec<Vec<([usize; 4], [u64; 3])>>,
}

impl SiteQuartets {
    /// `number` random quartets of each branch, each drawn independently with a taxon of each clade; all quartets if
    /// there are no more than that.
    pub fn new(branches: &[Around], number: usize, seed: u64) -> Self {
        let of_branch = |(branch, around): (usize, &Around)| {
            let clades = around.clades.each_ref().map(|clade| taxa_in(clade).collect::<Vec<_>>());
            let mut rng = stream(seed, Purpose::SiteConcordance, branch as u64);
            let quartets = all_quartets(&clades, number)
                .unwrap_or_else(|| (0..number).map(|_| draw(&clades, &mut rng)).collect());
            quartets.into_iter().map(|quartet| (quartet, [0; 3])).collect()
        };
        SiteQuartets { number, counts: branches.iter().enumerate().map(of_branch).collect() }
    }

    /// How many quartets were asked for of each branch.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Counts these sites, too. Sums of integers, so that the order in which sites are counted does not matter.
    pub fn count(&mut self, sites: &SiteStates) {
        self.counts.par_iter_mut().flatten().for_each(|(quartet, counts)| {
            let more = sites.count(*quartet);
            counts.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        });
    }

    /// The site concordance of every branch.
    pub fn means(&self) -> Vec<SiteConcordance> {
        let of_branch = |counts: &Vec<([usize; 4], [u64; 3])>| {
            average(&counts.iter().map(|one| one.1).collect::<Vec<_>>())
        };
        self.counts.iter().map(of_branch).collect()
    }
}

fn draw(clades: &[Vec<usize>; 4], rng: &mut Rng) -> [usize; 4] {
    clades.each_ref().map(|clade| clade[rng.random_range(0..clade.len() as u32) as usize])
}

/// All quartets with a taxon of each clade, if they are no more than `most`.
fn all_quartets(clades: &[Vec<usize>; 4], most: usize) -> Option<Vec<[usize; 4]>> {
    let number = clades.iter().try_fold(1usize, |number, clade| number.checked_mul(clade.len()))?;
    let quartet = |mut number: usize| {
        clades.each_ref().map(|clade| {
            let taxon = clade[number % clade.len()];
            number /= clade.len();
            taxon
        })
    };
    (number <= most).then(|| (0..number).map(quartet).collect())
}

fn average(counts: &[[u64; 3]]) -> SiteConcordance {
    let mut found = SiteConcordance::default();
    for of_quartet in counts {
        let sum: u64 = of_quartet.iter().sum();
        found.quartets += u32::from(sum > 0);
        for (at, &count) in of_quartet.iter().enumerate() {
            found.sites[at] += count as f64 / counts.len() as f64;
            if sum > 0 {
                found.percents[at] += 100.0 * count as f64 / sum as f64;
            }
        }
    }
    found.percents = found.percents.map(|sum| sum / f64::from(found.quartets.max(1)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alphabet::DataType;
    use crate::taxa::Taxa;
    use crate::tree::{
        NewickOptions, NewickTree, Restriction, random_tree, read_newick, write_newick,
    };
    use std::collections::BTreeSet;

    fn taxa() -> Taxa {
        Taxa::new("ABCDEFGH".chars().map(String::from).collect()).unwrap()
    }

    fn read(text: &str) -> Vec<NewickTree> {
        read_newick(text, "t").unwrap()
    }

    fn reference(text: &str) -> Tree {
        read(text)[0].to_tree(&taxa(), "t", None).unwrap().0
    }

    fn clades(around: &Around) -> [String; 4] {
        around
            .clades
            .each_ref()
            .map(|set| taxa_in(set).map(|t| taxa().name(t).to_string()).collect())
    }

    #[test]
    fn clades_are_named_after_their_smallest_taxa() {
        let found = clades_around(&reference("((A,B),((H,G),(C,F)),(E,D));"));
        let named: Vec<[String; 4]> = found.iter().map(clades).collect();
        let expected = [
            ["AB", "DE", "CF", "GH"],
            ["ABDE", "GH", "C", "F"],
            ["A", "B", "CFGH", "DE"],
            ["AB", "CFGH", "D", "E"],
            ["ABDE", "CF", "G", "H"],
        ];
        let mut named: Vec<Vec<String>> = named.into_iter().map(Vec::from).collect();
        let mut expected: Vec<Vec<String>> =
            expected.iter().map(|four| four.map(String::from).to_vec()).collect();
        named.sort();
        expected.sort();
        assert_eq!(named, expected);
    }

    #[test]
    fn gene_trees_without_one_of_the_clades_decide_nothing() {
        let branches = clades_around(&reference("((A,B),((H,G),(C,F)),(E,D));"));
        let genes = "((A,E),(H,C)); (A,D,(G,F)); (A,(G,D),F); (A,B,C,D,E,F,G,H); ((A,G),(D,C)); (A,(B,E),(C,(D,F)));";
        let genes: Vec<Multifurcating> =
            read(genes).iter().map(|g| g.to_multifurcating(&taxa(), "t", false).unwrap()).collect();
        let found = gene_concordance(&branches, &genes);
        let of = |wanted: [&str; 4]| {
            found[branches.iter().position(|around| clades(around) == wanted).unwrap()]
        };
        let counts = of(["AB", "DE", "CF", "GH"]);
        assert_eq!(counts, GeneConcordance { resolutions: [2, 1, 1], others: 1 });
        assert_eq!((counts.decisive(), counts.factor()), (5, Some(40.0)));
        let counts = of(["AB", "CFGH", "D", "E"]);
        assert_eq!(counts, GeneConcordance { resolutions: [0, 0, 1], others: 1 });
        assert_eq!(of(["ABDE", "CF", "G", "H"]).decisive(), 1);
        assert_eq!(GeneConcordance::default().factor(), None);
    }

    /// The definition: the gene tree's own split, over its own taxa.
    #[test]
    fn gene_concordance_is_that_of_the_definition() {
        let mut rng = stream(1, Purpose::Test, 0);
        let names: Vec<String> = (0..70).map(|i| format!("t{i}")).collect();
        for _ in 0..20 {
            let tree = random_tree(8, 0.1, &mut rng);
            let gene = random_tree(8, 0.1, &mut rng);
            let kept: Vec<usize> = (0..8).filter(|_| rng.random_bool(0.8)).collect();
            let taxa = Taxa::new(names[..8].to_vec()).unwrap();
            let keep = |set: &BTreeSet<usize>| -> BTreeSet<usize> {
                set.iter().copied().filter(|taxon| kept.contains(taxon)).collect()
            };
            let sides = |tree: &Tree| -> Vec<BTreeSet<usize>> {
                let side = |edge: EdgeId, end: usize| {
                    let nodes = tree.preorder(tree.ends(edge)[end], edge).into_iter();
                    let tips = nodes.map(|node| node.0).filter(|&node| tree.is_tip(node));
                    keep(&tips.map(NodeId::index).collect())
                };
                tree.edges().flat_map(|edge| [side(edge, 0), side(edge, 1)]).collect()
            };
            let gene_sides = sides(&gene);
            if kept.len() < 4 {
                continue;
            }
            let pruned = Restriction::new(&gene, &kept).1;
            let options = NewickOptions::default();
            let text = write_newick(&pruned, |tip| taxa.name(kept[tip]), &options);
            let read = read_newick(&text, "t").unwrap().remove(0);
            let gene = read.to_multifurcating(&taxa, "t", false).unwrap();
            for around in clades_around(&tree) {
                let [a, b, c, d] =
                    around.clades.each_ref().map(|set| keep(&taxa_in(set).collect()));
                let found = gene_concordance(&[around], std::slice::from_ref(&gene))[0];
                let mut expected = GeneConcordance::default();
                if ![&a, &b, &c, &d].iter().any(|set| set.is_empty()) {
                    let both = |x: &BTreeSet<usize>, y: &BTreeSet<usize>| -> bool {
                        gene_sides.contains(&x.union(y).copied().collect())
                    };
                    match (both(&c, &d), both(&b, &d), both(&b, &c)) {
                        (true, _, _) => expected.resolutions[0] = 1,
                        (_, true, _) => expected.resolutions[1] = 1,
                        (_, _, true) => expected.resolutions[2] = 1,
                        _ => expected.others = 1,
                    }
                }
                assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn sites_with_two_pairs_of_states_decide() {
        // Columns: 3 for AB|CD, 2 for AC|BD, 1 for AD|BC; then constant, with three states, a gap, an ambiguity.
        let rows = ["AAAAAAACAR", "AAACCCAGAA", "CCCAACACCC", "CCCCCAAT-C"];
        let patterns = Patterns::compress(DataType::Dna, 4, 10, |taxon, codes| {
            for (code, byte) in codes.iter_mut().zip(rows[taxon].bytes()) {
                *code = DataType::Dna.encode(byte).unwrap();
            }
        });
        let sites = SiteStates::new(4, [&patterns].into_iter());
        assert_eq!(sites.count([0, 1, 2, 3]), [3, 2, 1]);
        assert_eq!(sites.count([0, 2, 1, 3]), [2, 3, 1]);
        let taxa = Taxa::new("ABCD".chars().map(String::from).collect()).unwrap();
        let tree = read("(A,B,(C,D));")[0].to_tree(&taxa, "t", None).unwrap().0;
        let mut quartets = SiteQuartets::new(&clades_around(&tree), 100, 1);
        quartets.count(&sites);
        let found = quartets.means();
        let [ab, ac, ad] = found[0].percents;
        assert!((ab - 50.0).abs() + (ac - 100.0 / 3.0).abs() + (ad - 50.0 / 3.0).abs() < 1e-12);
        assert_eq!((found[0].quartets, found[0].sites), (1, [3.0, 2.0, 1.0]));
    }

    #[test]
    fn few_quartets_are_all_looked_at_and_others_drawn() {
        let clades = [vec![0, 1], vec![2], vec![3, 4, 5], vec![6]];
        let all = all_quartets(&clades, 6).unwrap();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 6);
        assert!(all_quartets(&clades, 5).is_none());
        let mut rng = stream(1, Purpose::Test, 0);
        let drawn: BTreeSet<_> = (0..200).map(|_| draw(&clades, &mut rng)).collect();
        assert_eq!(drawn, all.into_iter().collect());
        let mean = average(&[[3, 1, 0], [0, 0, 0], [1, 1, 2]]);
        assert_eq!((mean.quartets, mean.percents), (2, [50.0, 25.0, 25.0]));
        assert!((mean.sites[0] - 4.0 / 3.0).abs() < 1e-15);
        assert_eq!(average(&[]).factor(), None);
    }
}
