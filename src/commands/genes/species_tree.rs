//! [`SpeciesTree`]: a tree with whose branches the gene trees of a run are compared.

use super::search_gene::GeneSearch;
use crate::bootstrap::{SiteQuartets, SiteStates, clades_around};
use crate::dataset::{Genes, Opened, own_taxa, read_one_tree};
use crate::error::{Error, Result};
use crate::observer::{Event, Observer};
use crate::panics::caught;
use crate::plan::Plan;
use crate::runtime::{RunRecord, with_threads};
use crate::steps::BranchSupport;
use crate::steps::concordance::{
    Found, add_gene_concordance, add_site_concordance, deliver_concordance,
};
use crate::taxa::Taxa;
use crate::tree::{Multifurcating, Restriction, Split, Tree, read_newick, tree_splits};
use std::path::Path;

/// A tree of all taxa.
pub(super) struct SpeciesTree {
    tree: Tree,
    taxa: Taxa,
    has_lengths: bool,
    /// The gene trees that were compared with it.
    genes: Vec<Multifurcating>,
    /// The sites that support each of its branches.
    sites: Option<SiteQuartets>,
}

/// How many inner branches are in only one of two trees, and how many both have together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Difference {
    /// In only one of them.
    pub different: usize,
    /// All of both.
    pub all: usize,
}

impl Difference {
    /// The share that is in one of them only.
    pub(super) fn relative(self) -> Option<f64> {
        (self.all > 0).then(|| self.different as f64 / self.all as f64)
    }
}

impl SpeciesTree {
    /// Reads a tree.
    ///
    /// # Errors
    /// [`Error::Input`] for what is no tree, [`Error::Io`].
    pub(super) fn read(path: &Path) -> Result<Self> {
        let newick = read_one_tree(path)?;
        let file = path.display().to_string();
        let taxa = own_taxa(&newick, &file)?.sorted();
        let (tree, has_lengths) = newick.to_tree(&taxa, &file, None)?;
        Ok(SpeciesTree { tree, taxa, has_lengths, genes: Vec::new(), sites: None })
    }

    /// The numbers that the taxa of a gene have here; `None` if there are others among them.
    fn numbers(&self, own: &Taxa) -> Option<Vec<usize>> {
        own.names().iter().map(|name| self.taxa.index(name)).collect()
    }

    /// Counts which of the three trees of so many quartets of taxa the sites of each gene support, for each branch. Genes that
    /// cannot be read have none.
    pub(super) fn count_sites(
        &mut self,
        genes: &Genes,
        search: &GeneSearch,
        quartets: usize,
        plan: &Plan,
    ) {
        let mut counted = SiteQuartets::new(&clades_around(&self.tree), quartets, plan.seed);
        with_threads(plan, || {
            for number in 0..genes.all().len() {
                let facts = |num_taxa| search.facts(plan, num_taxa);
                let opened = caught(|| genes.open(number, plan, facts));
                let Ok(Opened::Data(opened)) = opened else { continue };
                let Some(numbers) = self.numbers(&opened.1.taxa) else { continue };
                for partition in opened.1.partitions {
                    let mut patterns = partition.patterns;
                    patterns.tip_taxa.iter_mut().for_each(|taxon| *taxon = numbers[*taxon]);
                    counted.count(&SiteStates::new(self.taxa.len(), [&patterns].into_iter()));
                }
            }
        });
        self.sites = Some(counted);
    }

    /// Compares a gene tree with this one on the taxa of the gene; `None` if it has taxa that this one lacks.
    ///
    /// # Errors
    /// A text that is no tree.
    pub(super) fn compare(&mut self, newick: &str, gene: &str) -> Result<Option<Difference>> {
        let wrong = || Error::Failed(format!("gene '{gene}': its tree cannot be read"));
        let mut read = read_newick(newick, gene)?.into_iter().next().ok_or_else(wrong)?;
        read.drop_lengths();
        let own = own_taxa(&read, gene)?.sorted();
        let Some(numbers) = self.numbers(&own) else { return Ok(None) };
        let splits = |all: Vec<Split>| {
            let mut all = all;
            all.sort_unstable();
            all
        };
        let of_gene = read.to_multifurcating(&own, gene, true)?.splits();
        let of_gene = splits(of_gene.into_iter().map(|one| one.1).collect());
        let local = Restriction::new(&self.tree, &numbers).1;
        let of_species = splits(tree_splits(&local).into_iter().map(|one| one.1).collect());
        let shared = of_gene.iter().filter(|one| of_species.binary_search(one).is_ok()).count();
        let all = of_gene.len() + of_species.len();
        self.genes.push(read.to_multifurcating(&self.taxa, gene, false)?);
        Ok(Some(Difference { different: all - 2 * shared, all }))
    }

    /// Prints, reports and writes which of the gene trees agree with each branch.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn deliver(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        if self.genes.is_empty() {
            let warning = "there is no gene tree of which all taxa are in the tree of --gcf-tree: have they the same names?";
            record.progress.event(&Event::Warning(warning.to_string()));
        }
        let branches = clades_around(&self.tree);
        let mut support = BranchSupport::default();
        let mut found = Found { has_lengths: self.has_lengths, genes: None, sites: None };
        let both = (&mut support, &mut found);
        add_gene_concordance(&self.tree, &branches, &self.genes, plan, both);
        if let Some(sites) = &self.sites {
            add_site_concordance(&self.tree, &branches, sites, (&mut support, &mut found));
        }
        deliver_concordance(&self.tree, &support, &found, &self.taxa, record)
    }
}
