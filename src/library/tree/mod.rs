//! Unrooted binary trees: structure, moves, restriction to the taxa of one partition, text.
//!
//! This room does not depend on sequences, models or likelihoods.
//!
//! # Examples
//!
//! ```
//! use mlsearch_library::taxa::Taxa;
//! use mlsearch_library::tree::{NewickOptions, read_newick, write_newick};
//!
//! let names = ["A", "B", "C", "D"];
//! let taxa = Taxa::new(names.map(String::from).to_vec()).unwrap();
//! let read = read_newick("((D:0.25,C:0.5):0.125,B:1,A:2);", "typed.tree")?;
//! let (tree, has_lengths) = read[0].to_tree(&taxa, "typed.tree", None)?;
//! assert_eq!((tree.num_tips(), tree.num_edges(), has_lengths), (4, 5, true));
//! assert_eq!(tree.total_length(), 3.875);
//!
//! let text = write_newick(&tree, |tip| taxa.name(tip), &NewickOptions::default());
//! assert_eq!(text, "(A:2,B:1,(C:0.5,D:0.25):0.125);");
//! # Ok::<(), mlsearch_library::error::Error>(())
//! ```

mod arrays;
mod consensus;
mod constraint;
#[cfg(test)]
mod constraint_tests;
mod constraint_view;
mod drawing;
mod drawing_read;
mod identical;
mod induced;
mod multifurcating;
mod newick_chars;
mod newick_lexer;
mod newick_nexus;
mod newick_read;
mod newick_syntax;
mod newick_tree;
mod newick_write;
mod random;
mod regions;
mod resolution;
mod rooting;
mod splits;
mod topology;
mod walk;

pub use consensus::{ConsensusRule, ConsensusTree, consensus};
pub use constraint::Constraint;
pub use multifurcating::Multifurcating;
pub use newick_read::{NewickReader, read_newick};
pub use newick_syntax::{NewickNode, NewickTree};
pub use newick_write::{EdgeLabels, NewickOptions, NodeNames, write_newick};
pub use random::random_tree;
pub use splits::{Split, same_topology, tree_splits};
pub use topology::{EdgeId, NodeId, Tree};

pub(crate) use constraint_view::{ConstraintView, Home};
pub use drawing::{Drawing, Drawn, RootPlace};
pub use drawing_read::DrawingRead;
pub use identical::put_back_identical;
pub use induced::{Image, Restriction};
pub use newick_tree::{DEFAULT_BRLEN, SubsetTree, is_usable_brlen};
pub use newick_write::{format_brlen, numbered_as_read, quote, support_label, written_order};
pub use regions::{Region, adopt_shared_brlens, edges_not_in, regions};
pub use resolution::resolve_canonically;
pub use splits::{SplitTable, first_of_topology};
pub use topology::{PrunedSubtree, RegraftUndo, to_length_grid};
