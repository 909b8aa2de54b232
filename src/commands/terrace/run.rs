//! `--terrace`: the trees that give every partition the same tree as the given one.

use super::report::{SECTION, TerraceReport};
use crate::commands::Command;
use crate::dataset::read_one_tree;
use crate::error::Result;
use crate::output::OutputKind;
use crate::plan::{Facts, Needs, Plan};
use crate::runtime::{RunRecord, Session};
use crate::steps::dry_run::describe_data_alone;
use crate::terrace::{Counted, comprehensive_taxon, count_terrace, list_terrace};
use std::path::PathBuf;

/// Trees of the terrace.
pub(crate) const TERRACE: OutputKind =
    OutputKind::new(8, "terrace", "trees on the terrace of the given one").of_trees("support");

/// Divisions of sets of taxa after which counting ends: some seconds.
const MOST_STEPS: u64 = 1_000_000;

/// Trees that are looked for, and counted one by one, if no taxon has data in all partitions: some seconds for a
/// hundred taxa. More if more are to be written.
const MOST_FOUND: usize = 10_000;

/// The terrace of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Terrace {
    /// The tree.
    pub tree: PathBuf,
    /// Most trees that are written.
    pub trees: usize,
}

impl Command for Terrace {
    fn facts(&self, _: &Plan) -> Facts {
        Facts {
            task: "terrace of a tree".into(),
            inputs: vec![self.tree.clone()],
            outputs: vec![TERRACE],
            needs: Needs { models: false, ..Needs::default() },
            ..Facts::default()
        }
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        terrace(self, Session::start(plan, record)?)
    }

    fn check(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        describe_data_alone(Session::start(plan, record)?)
    }
}

/// Counts the trees and writes some of them, without branch lengths.
///
/// # Errors
/// A tree that is not one of the alignment's taxa; a file that cannot be written.
fn terrace(options: &Terrace, session: Session) -> Result<()> {
    let Session { setup, record } = session;
    let (taxa, presence) = (&setup.loaded.taxa, &setup.loaded.presence);
    let mut newick = read_one_tree(&options.tree)?;
    newick.accept_any_lengths();
    let (tree, _) = newick.to_tree(taxa, &options.tree.display().to_string(), None)?;
    record.progress.stage("terrace", None);
    let comprehensive = comprehensive_taxon(taxa.len(), presence);
    let most_found = match comprehensive {
        Some(_) => options.trees,
        None => options.trees.max(MOST_FOUND),
    };
    let listed = list_terrace(&tree, presence, options.trees, most_found);
    let is_all = listed.is_complete;
    let counted = match comprehensive {
        Some(taxon) if !is_all => count_terrace(&tree, presence, taxon, MOST_STEPS),
        _ => Counted { trees: listed.number as u128, is_exact: is_all },
    };
    let trees = counted.trees.to_string();
    let number = match (counted.is_exact, trees.as_str()) {
        (true, "1") => "only the given tree".to_string(),
        (true, _) => format!("{trees} trees"),
        (false, _) => format!("at least {trees} trees"),
    };
    let root = match comprehensive {
        Some(taxon) => format!("Taxon {} has data in all partitions.", taxa.name(taxon)),
        None => "No taxon has data in all partitions, so trees are counted one by one.".to_string(),
    };
    record.progress.result(&format!(
        "Terrace of the tree: {number}, with exactly the same likelihood under unlinked branch lengths (-M)\n{root}\n"
    ));
    let lines: String = listed.trees.iter().map(|tree| setup.newick(tree, false) + "\n").collect();
    let report = TerraceReport {
        trees,
        is_exact: counted.is_exact,
        comprehensive_taxon: comprehensive.map(|taxon| taxa.name(taxon).to_string()),
        written: listed.trees.len(),
    };
    record.report.write_section(&SECTION, &report);
    record.write(TERRACE, &lines)
}
