//! Roots given trees of any degrees; their support stays with its branches, and names stay at their nodes.

use crate::commands::Command;
use crate::dataset::{NO_MIDDLE, find_root, read_drawings};
use crate::error::{Error, Fault, Faults, Place, Result};
use crate::output::{OutputKind, Section};
use crate::plan::{Facts, Plan};
use crate::runtime::{RunRecord, warn_of_each};
use crate::tree::DrawingRead;
use std::path::{Path, PathBuf};

/// Its section of the JSON file.
pub(super) const SECTION: Section<Vec<String>> = Section::new("rooted_trees");

/// Given trees with a root.
pub(crate) const ROOTED_TREE: OutputKind =
    OutputKind::new(10, "rootedTree", "the given trees with a root").of_trees("support");

/// Roots for given trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Root {
    /// The file of the trees.
    pub trees: PathBuf,
}

impl Command for Root {
    fn facts(&self, _: &Plan) -> Facts {
        Facts {
            task: "rooting of trees".into(),
            inputs: vec![self.trees.clone()],
            outputs: vec![ROOTED_TREE],
            ..Facts::default()
        }
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        root(plan, &self.trees, record)
    }
}

/// Writes all trees of a file with the root that the plan asks for.
///
/// # Errors
/// Unreadable trees; trees that lack a taxon of the outgroup or, for a midpoint, a length.
fn root(plan: &Plan, trees: &Path, record: &mut RunRecord) -> Result<()> {
    let file = trees.display().to_string();
    let trees = read_drawings(trees)?;
    let (mut faults, mut rooted) = (Faults::new(), Vec::new());
    let (mut outgroups, mut labels) = (Vec::new(), Vec::new());
    for (i, (taxa, DrawingRead { drawing, conflicts })) in trees.iter().enumerate() {
        let name = format!("{file}, tree {}", i + 1);
        let root = match find_root(plan.output.root.as_ref(), taxa, &name) {
            Ok(Some(root)) => root,
            Ok(None) => continue,
            Err(fault) => {
                faults.push(fault);
                continue;
            }
        };
        let Some(place) = root.place(drawing) else {
            faults.push(Fault::new(Place::file(name), NO_MIDDLE));
            continue;
        };
        outgroups.extend(root.warning(drawing, taxa, &name));
        labels.extend(conflicts.iter().map(|[first, second]| {
            format!(
                "{name}: the two halves of a branch have different labels, '{first}' and '{second}'; it gets the first"
            )
        }));
        rooted.push(drawing.draw(|taxon| taxa.name(taxon), Some(place), None).newick);
    }
    if !faults.is_empty() {
        return Err(Error::Input(faults));
    }
    let summary = format!("the outgroup is not a clade of {} of the trees", outgroups.len());
    warn_of_each(record, &summary, outgroups);
    let summary = format!("{} branches have two different labels", labels.len());
    warn_of_each(record, &summary, labels);
    record.progress.result(&format!("trees with a root: {}\n", trees.len()));
    let text: String = rooted.iter().map(|newick| format!("{newick}\n")).collect();
    record.report.write_section(&SECTION, &rooted);
    record.write(ROOTED_TREE, &text)
}
