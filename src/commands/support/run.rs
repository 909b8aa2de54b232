//! `--support`: how often the splits of a tree occur among other trees.

use crate::commands::Command;
use crate::dataset::{Lengths, NO_MIDDLE, Root, find_root, own_taxa, read_more, read_one_tree};
use crate::error::{Error, Place, Result};
use crate::observer::{Event, Observer};
use crate::output::BootstrapReport;
use crate::plan::{Facts, Plan};
use crate::rng::{Purpose, stream};
use crate::runtime::{RunRecord, with_threads};
use crate::steps::support::{SUPPORT, deliver_drawn, drawing_of};
use crate::steps::{BranchSupport, warn_of_outgroup};
use crate::tree::SubsetTree;
use std::path::{Path, PathBuf};

/// The frequencies of the branches of a tree among other trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Support {
    /// The tree that gets the values.
    pub tree: PathBuf,
    /// The trees that are counted.
    pub bs_trees: PathBuf,
}

impl Command for Support {
    fn facts(&self, _: &Plan) -> Facts {
        Facts {
            task: "support of a tree".into(),
            inputs: vec![self.tree.clone(), self.bs_trees.clone()],
            outputs: vec![SUPPORT],
            ..Facts::default()
        }
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        support(plan, &self.tree, &self.bs_trees, record)
    }
}

/// Maps the trees of one file onto the tree of another.
///
/// # Errors
/// Unreadable trees, trees over other taxa, and an outgroup that they do not have.
fn support(plan: &Plan, tree: &Path, bs_trees: &Path, record: &mut RunRecord) -> Result<()> {
    let file = tree.display().to_string();
    let mut newick = read_one_tree(tree)?;
    newick.accept_any_lengths();
    let taxa = own_taxa(&newick, &file)?.sorted();
    let root = find_root(plan.output.root.as_ref(), &taxa, &file);
    let root = root.map_err(|fault| Error::Input(fault.into()))?;
    // The branches that resolve multifurcations are not drawn, and so it does not matter which they are.
    let mut rng = stream(plan.seed, Purpose::Multifurcation, 0);
    let SubsetTree { tree: mut best, has_lengths, resolved, .. } =
        newick.to_tree_on_subset(&taxa, &file, Some(&mut rng))?;
    let mut is_added = vec![false; best.num_edges()];
    for edge in resolved {
        is_added[edge.index()] = true;
        best.set_brlen(edge, 0.0);
    }
    if root == Some(Root::Midpoint) && !has_lengths {
        return Err(Error::input(Place::file(file), NO_MIDDLE));
    }
    if !has_lengths && newick.nodes().any(|node| node.length().is_some()) {
        let message = "some branches of the tree have no length: it is written without lengths";
        record.progress.event(&Event::Warning(message.into()));
    }
    let drawing = drawing_of(&best, has_lengths).without(|branch| is_added[branch]);
    let replicates = read_more(bs_trees, &taxa, &file, Lengths::Ignored)?;
    record.progress.text(&format!("{} taxa, {} trees", taxa.len(), replicates.len()));
    record.report.bootstrap = Some(BootstrapReport {
        replicates: replicates.len(),
        seed: plan.bootstrap.seed,
        ..BootstrapReport::default()
    });
    let mut support = BranchSupport::default();
    with_threads(plan, || support.add_replicates(&best, &replicates, &plan.support.kinds));
    support.forget(|branch| is_added[branch]);
    warn_of_outgroup(&best, root.as_ref(), &taxa, "the tree", record);
    deliver_drawn(drawing, &support, &taxa, root.as_ref(), record)
}
