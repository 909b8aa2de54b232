//! `--consense`: the consensus of all trees of a file.

use crate::bootstrap::{SupportKind, certainty_of_splits};
use crate::commands::Command;
use crate::dataset::{Lengths, find_root, read_forest};
use crate::error::{Error, Result};
use crate::observer::{Event, Observer};
use crate::output::{OutputKind, Section};
use crate::plan::{Facts, Plan};
use crate::runtime::{RunRecord, with_threads};
use crate::steps::{BranchSupport, report_support};
use crate::tree::{ConsensusRule, ConsensusTree, Split, consensus};
use std::path::{Path, PathBuf};

/// Its section of the JSON file.
pub(super) const SECTION: Section<String> = Section::new("consensus_tree");

/// The consensus tree.
pub(crate) const CONSENSUS_TREE: OutputKind =
    OutputKind::new(9, "consensusTree", "the consensus tree").of_trees("support");

/// The consensus of the trees of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Consensus {
    /// Which splits it shows.
    pub rule: ConsensusRule,
    /// The file.
    pub trees: PathBuf,
}

impl Command for Consensus {
    fn facts(&self, _: &Plan) -> Facts {
        Facts {
            task: "consensus tree".into(),
            inputs: vec![self.trees.clone()],
            outputs: vec![CONSENSUS_TREE],
            ..Facts::default()
        }
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        find_consensus(plan, self.rule, &self.trees, record)
    }
}

/// Writes the consensus tree, with the percentage of the trees that have each split or with the support that was asked
/// for, and the mean lengths of its branches in these trees.
///
/// # Errors
/// Unreadable trees, trees over other taxa than the first, and an outgroup that they do not have.
fn find_consensus(
    plan: &Plan,
    rule: ConsensusRule,
    trees: &Path,
    record: &mut RunRecord,
) -> Result<()> {
    let file = trees.display().to_string();
    let (taxa, trees) = read_forest(trees, Lengths::Usable)?;
    let root = find_root(plan.output.root.as_ref(), &taxa, &file);
    let root = root.map_err(|fault| Error::Input(fault.into()))?;
    let splits: Vec<Vec<Split>> = trees
        .iter()
        .map(|tree| tree.splits().into_iter().map(|(_, split)| split).collect())
        .collect();
    let mut tree = consensus(taxa.len(), splits.iter().map(Vec::as_slice), rule);
    tree.set_mean_lengths(&trees);
    record.progress.result(&format!(
        "{} taxa, {} trees, {} of {} possible splits in the consensus\n",
        taxa.len(),
        trees.len(),
        tree.splits().len(),
        taxa.len().saturating_sub(3)
    ));
    let drawing = tree.drawing();
    if let Some(warning) =
        root.as_ref().and_then(|r| r.warning(&drawing, &taxa, "the consensus tree"))
    {
        record.progress.event(&Event::Warning(warning));
    }
    let newick = if plan.support.kinds.is_empty() {
        let place = root.and_then(|root| root.place(&drawing));
        drawing.draw(|taxon| taxa.name(taxon), place, None).newick
    } else {
        let support = with_threads(plan, || support_of(&tree, &splits, &plan.support.kinds));
        report_support(drawing, &support, &taxa, root.as_ref(), record)
    };
    record.report.write_section(&SECTION, &newick);
    record.write(CONSENSUS_TREE, &(newick + "\n"))
}

/// Support of the branches of a consensus tree in the trees, which are given by their splits.
fn support_of(tree: &ConsensusTree, trees: &[Vec<Split>], kinds: &[SupportKind]) -> BranchSupport {
    let splits: Vec<&Split> = tree.splits().iter().map(|(split, _)| split).collect();
    let certainties = certainty_of_splits(&splits, trees);
    let mut support = BranchSupport::default();
    for &kind in kinds {
        let of_split = |split: usize| match kind {
            SupportKind::InternodeCertainty => certainties[split][0],
            SupportKind::InternodeCertaintyAll => certainties[split][1],
            _ => tree.splits()[split].1,
        };
        let branches = tree.splits_of_branches().into_iter();
        let values = branches.map(|split| split.map(of_split)).collect();
        support.push(kind, values, format!("{} trees", trees.len()));
    }
    support
}
