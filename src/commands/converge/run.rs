//! `--bsconverge`: whether the replicate trees of a file are enough.

use crate::bootstrap::STEP;
use crate::commands::Command;
use crate::dataset::{Lengths, read_forest};
use crate::error::{Error, Place, Result};
use crate::output::BootstrapReport;
use crate::plan::{Facts, Plan};
use crate::runtime::RunRecord;
use crate::steps::Bootstopping;
use crate::tree::Multifurcating;
use std::path::{Path, PathBuf};

/// Whether the replicate trees of a file are enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Converge {
    /// The file.
    pub trees: PathBuf,
}

impl Command for Converge {
    fn facts(&self, _: &Plan) -> Facts {
        Facts {
            task: "number of bootstrap replicates".into(),
            inputs: vec![self.trees.clone()],
            ..Facts::default()
        }
    }

    fn named_after(&self) -> Option<&Path> {
        Some(&self.trees)
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        converge(plan, &self.trees, record)
    }
}

/// Tests the first 50 trees, the first 100, and so on, until there are enough.
///
/// # Errors
/// Unreadable trees, trees over other taxa than the first, and fewer trees than a test needs.
fn converge(plan: &Plan, file: &Path, record: &mut RunRecord) -> Result<()> {
    let (taxa, trees) = read_forest(file, Lengths::Ignored)?;
    if trees.len() < STEP {
        let message = format!(
            "the file contains {} trees, but at least {STEP} replicates are needed to test whether they are enough",
            trees.len()
        );
        return Err(Error::input(Place::file(file.display().to_string()), message));
    }
    record.progress.text(&format!("{} taxa, {} trees", taxa.len(), trees.len()));
    let mut tests = Bootstopping::of_plan(plan, taxa.len()).expect("the command has a rule");
    let splits =
        |tree: &Multifurcating| tree.splits().into_iter().map(|(_, split)| split).collect();
    let _ = trees.chunks_exact(STEP).any(|step| tests.add(step.iter().map(splits), record));
    let bootstopping = Some(tests.deliver(record));
    let (replicates, seed) = (trees.len(), plan.bootstrap.seed);
    record.report.bootstrap =
        Some(BootstrapReport { replicates, seed, bootstopping, ..BootstrapReport::default() });
    Ok(())
}
