//! A tree drawn for a publication.

use super::clades::read_clades;
use crate::commands::Command;
use crate::dataset::{find_root, own_taxa, read_one_tree};
use crate::error::{Error, Fault, Place, Result};
use crate::observer::{Event, Observer};
use crate::output::{OutputKind, TreeLook, draw_tree};
use crate::plan::{Facts, Plan};
use crate::runtime::RunRecord;
use crate::tree::{Drawing, NewickTree, read_newick};
use std::path::PathBuf;

/// The drawing.
pub(crate) const TREE_DRAWING: OutputKind = OutputKind::new(51, "tree.svg", "the tree, drawn");

/// A drawing of a tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Draw {
    /// The file of the tree.
    pub tree: PathBuf,
    /// How it is drawn; without the colours.
    pub look: TreeLook,
    /// The file of the colours of clades.
    pub colours: Option<PathBuf>,
}

impl Command for Draw {
    fn facts(&self, _: &Plan) -> Facts {
        let inputs = [Some(self.tree.clone()), self.colours.clone()];
        Facts {
            task: "drawing of a tree".into(),
            inputs: inputs.into_iter().flatten().collect(),
            outputs: vec![TREE_DRAWING],
            leaves_no_record: true,
            ..Facts::default()
        }
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        let file = self.tree.display().to_string();
        let tree = read_one_tree(&self.tree)?;
        let taxa = own_taxa(&tree, &file)?.sorted();
        let root = find_root(plan.output.root.as_ref(), &taxa, &file);
        let root = root.map_err(|fault| Error::Input(fault.into()))?;
        let clades = match &self.colours {
            Some(path) => read_clades(path, &taxa)?,
            None => Vec::new(),
        };
        let tree = match root {
            None => tree,
            Some(_) if taxa.len() < 3 => tree,
            Some(root) => {
                let drawing = Drawing::of_newick(&tree, &taxa).drawing;
                let Some(place) = root.place(&drawing) else {
                    let message =
                        "the middle of a tree needs the lengths of all branches, at least 0";
                    return Err(Error::Input(Fault::new(Place::file(file), message).into()));
                };
                if let Some(warning) = root.warning(&drawing, &taxa, "the tree") {
                    record.progress.event(&Event::Warning(warning));
                }
                rooted(&drawing.draw(|taxon| taxa.name(taxon), Some(place), None).newick)?
            }
        };
        let svg = draw_tree(&tree, &TreeLook { clades, ..self.look.clone() });
        record.progress.result(&format!("{} taxa, {} mm wide\n", taxa.len(), self.look.width));
        record.write(TREE_DRAWING, &svg)
    }
}

/// A tree that this program has just written.
fn rooted(newick: &str) -> Result<NewickTree> {
    let mut trees = read_newick(newick, "the rooted tree")?;
    trees.pop().ok_or_else(|| Error::Failed("the tree with its root is empty".into()))
}
