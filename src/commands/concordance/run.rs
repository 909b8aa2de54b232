//! `--gcf`, `--scf`: how many gene trees, and how many sites, agree with the branches of a tree.

use crate::bootstrap::{SiteQuartets, SiteStates, clades_around};
use crate::commands::Command;
use crate::dataset::{Loaded, own_taxa, read_gene_trees, read_one_tree};
use crate::error::Result;
use crate::plan::{Facts, Needs, Plan};
use crate::runtime::{RunRecord, Session, with_threads};
use crate::steps::BranchSupport;
use crate::steps::concordance::{
    CONCORDANCE, Found, add_gene_concordance, add_site_concordance, deliver_concordance,
};
use crate::steps::dry_run::{describe_data_alone, describe_files};
use crate::steps::support::SUPPORT;
use crate::taxa::Taxa;
use std::path::PathBuf;

/// Concordance of gene trees and sites with the branches of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Concordance {
    /// The tree.
    pub tree: PathBuf,
    /// Trees of genes, which may lack taxa.
    pub gene_trees: Option<PathBuf>,
    /// Number of quartets of taxa per branch, for which sites of the alignment are counted.
    pub quartets: Option<usize>,
}

impl Command for Concordance {
    fn facts(&self, _: &Plan) -> Facts {
        Facts {
            task: "concordance factors".into(),
            inputs: [&self.tree].into_iter().chain(&self.gene_trees).cloned().collect(),
            outputs: vec![SUPPORT, CONCORDANCE],
            needs: Needs { models: false, ..Needs::default() },
            ..Facts::default()
        }
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        concordance(plan, self, record)
    }

    fn check(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        match self.quartets {
            Some(_) => describe_data_alone(Session::start(plan, record)?),
            None => {
                describe_files(plan, record);
                Ok(())
            }
        }
    }
}

/// Writes the tree with the factors, and the numbers from which they come.
///
/// # Errors
/// Refused input: trees over other taxa, an alignment of other taxa than the tree.
fn concordance(plan: &Plan, options: &Concordance, record: &mut RunRecord) -> Result<()> {
    let file = options.tree.display().to_string();
    let loaded: Option<Loaded> = match options.quartets {
        Some(_) => Some(Session::start(plan, record)?.setup.loaded),
        None => None,
    };
    let mut newick = read_one_tree(&options.tree)?;
    newick.accept_any_lengths();
    let taxa: Taxa = match &loaded {
        Some(loaded) => loaded.taxa.clone(),
        None => own_taxa(&newick, &file)?.sorted(),
    };
    let (tree, has_lengths) = newick.to_tree(&taxa, &file, None)?;
    let branches = clades_around(&tree);
    let mut support = BranchSupport::default();
    let mut found = Found { has_lengths, genes: None, sites: None };
    if let Some(path) = &options.gene_trees {
        let genes = read_gene_trees(path, &taxa, &file)?;
        add_gene_concordance(&tree, &branches, &genes, plan, (&mut support, &mut found));
    }
    if let (Some(quartets), Some(loaded)) = (options.quartets, &loaded) {
        let patterns = loaded.partitions.iter().map(|partition| &partition.patterns);
        let sites = SiteStates::new(taxa.len(), patterns);
        let mut counted = SiteQuartets::new(&branches, quartets, plan.seed);
        with_threads(plan, || counted.count(&sites));
        add_site_concordance(&tree, &branches, &counted, (&mut support, &mut found));
    }
    deliver_concordance(&tree, &support, &found, &taxa, record)
}
