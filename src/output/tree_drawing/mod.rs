//! A tree as SVG, PDF or PNG for a publication. Its layout is that of the page of a run (`src/output/page/tree.js`), which a test compares.

mod figure;
mod layout;
mod letters;
mod room;
mod svg_tree;

pub(crate) use figure::{MISSING, pdf_of, png_of, unknown_letters};
pub(crate) use layout::Shape;
pub(crate) use svg_tree::{Clade, TreeDrawing, TreeLook, draw_tree};
