//! From a plan to its command.

use super::plan::{Command, Plan};
use crate::error::{Error, Fault, Place, Result};
use crate::output::OutputFiles;
use std::path::Path;

/// Carries out a plan.
///
/// # Errors
/// Refused input or output names (exit code 2) before anything is computed; failures later (1).
pub fn execute(plan: &Plan) -> Result<()> {
    check_input_files(plan)?;
    OutputFiles::reserve(&plan.output.prefix, &plan.output_kinds(), plan.output.redo)?;
    Err(Error::Failed("the commands are not connected yet".into()))
}

/// Every named input file must be there and be a file; all that are not are listed at once.
fn check_input_files(plan: &Plan) -> Result<()> {
    let mut paths: Vec<&Path> = Vec::new();
    paths.extend(plan.data.msa.as_deref());
    paths.extend(plan.data.partitions.as_deref());
    paths.extend(plan.search.partition_trees.as_deref());
    let mut sources: Vec<&super::TreeSource> = plan.search.trees.iter().collect();
    match &plan.command {
        Command::Support { tree, bs_trees } => paths.extend([tree.as_path(), bs_trees.as_path()]),
        Command::RfDist { trees } | Command::Consense { trees, .. } => paths.push(trees),
        Command::Simulate(simulate) => sources.push(&simulate.tree),
        _ => {}
    }
    for source in sources {
        if let super::TreeSource::File(path) = source {
            paths.push(path);
        }
    }
    let mut faults = Vec::new();
    for path in paths {
        let place = Place::file(path.display().to_string());
        match std::fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                faults.push(Fault::new(place, "is a folder, not a file"))
            }
            Ok(_) => {}
            Err(error) => faults.push(Fault::new(place, format!("cannot be read: {error}"))),
        }
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(Error::Input(faults))
    }
}
