//! A tree drawn for a publication.

use super::clades::read_clades;
use crate::commands::Command;
use crate::dataset::{NO_MIDDLE, find_root, own_taxa, read_one_tree};
use crate::error::{Error, Fault, Place, Result};
use crate::observer::{Event, Observer};
use crate::output::{
    OutputKind, TreeDrawing, TreeLook, draw_tree, pdf_of, png_of, unknown_letters,
};
use crate::plan::{Facts, Plan};
use crate::runtime::RunRecord;
use crate::tree::{Drawing, NewickTree, read_newick};
use std::path::PathBuf;

/// Largest width, in millimetres.
pub(super) const LARGEST_WIDTH: f64 = 2000.0;

/// Most letters that a message names.
const MOST_LETTERS: usize = 20;

/// The drawing.
pub(crate) const TREE_DRAWING: OutputKind = OutputKind::new(51, "tree.svg", "the tree, drawn");

/// The same for programs that take no SVG.
pub(crate) const TREE_PDF: OutputKind = OutputKind::new(56, "tree.pdf", "the tree, drawn, as PDF");

/// The same in pixels.
pub(crate) const TREE_PNG: OutputKind = OutputKind::new(57, "tree.png", "the tree, drawn, as PNG");

/// A drawing of a tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Draw {
    /// The file of the tree.
    pub tree: PathBuf,
    /// How it is drawn; without the colours.
    pub look: TreeLook,
    /// The file of the colours of clades.
    pub colours: Option<PathBuf>,
    /// The formats.
    pub kinds: Vec<OutputKind>,
    /// Pixels to the inch, of PNG.
    pub dpi: f64,
}

impl Command for Draw {
    fn facts(&self, _: &Plan) -> Facts {
        let inputs = [Some(self.tree.clone()), self.colours.clone()];
        Facts {
            task: "drawing of a tree".into(),
            inputs: inputs.into_iter().flatten().collect(),
            outputs: self.kinds.clone(),
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
                    return Err(Error::Input(Fault::new(Place::file(file), NO_MIDDLE).into()));
                };
                if let Some(warning) = root.warning(&drawing, &taxa, "the tree") {
                    record.progress.event(&Event::Warning(warning));
                }
                rooted(&drawing.draw(|taxon| taxa.name(taxon), Some(place), None).newick)?
            }
        };
        if self.kinds != [TREE_DRAWING] {
            let names = tree.nodes().filter_map(|node| node.name());
            let legend = clades.iter().filter_map(|clade| clade.name.as_deref());
            let unknown = unknown_letters(names.chain(legend));
            if !unknown.is_empty() {
                let few: String = unknown.chars().take(MOST_LETTERS).collect();
                let more = if few.len() < unknown.len() { " and others" } else { "" };
                record.progress.event(&Event::Warning(format!(
                    "the font of PDF and PNG lacks the letters {few}{more}, in whose place are boxes: draw SVG, which \
                     is shown with the fonts of the machine"
                )));
            }
        }
        let TreeDrawing { svg, abridged, width_for_names, left_out } =
            draw_tree(&tree, &TreeLook { clades, ..self.look.clone() });
        if abridged > 0 {
            let room = match width_for_names <= LARGEST_WIDTH {
                true => format!("--width {width_for_names} has room for all"),
                false => format!("no --width up to {LARGEST_WIDTH} has room for all"),
            };
            record.progress.event(&Event::Warning(format!(
                "names that are too long for {} mm are abridged, {abridged} of {}: {room}",
                self.look.width,
                taxa.len()
            )));
        }
        if left_out > 0 {
            record.progress.event(&Event::Warning(format!(
                "labels of branches that would hide others are left out, {left_out} in number: a larger --width has room for more"
            )));
        }
        // All before the first is written: a picture may be too large.
        let files = self.kinds.iter().map(|&kind| match kind {
            kind if kind == TREE_PDF => pdf_of(&svg),
            kind if kind == TREE_PNG => png_of(&svg, self.dpi),
            _ => Ok(svg.clone().into_bytes()),
        });
        let files = files.collect::<Result<Vec<_>>>()?;
        record.progress.result(&format!("{} taxa, {} mm wide\n", taxa.len(), self.look.width));
        for (&kind, bytes) in self.kinds.iter().zip(files) {
            record.write_from(kind, |file| file.write_all(&bytes))?;
        }
        Ok(())
    }
}

/// A tree that this program has just written.
fn rooted(newick: &str) -> Result<NewickTree> {
    let mut trees = read_newick(newick, "the rooted tree")?;
    trees.pop().ok_or_else(|| Error::Failed("the tree with its root is empty".into()))
}
