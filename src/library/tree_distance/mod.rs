//! Distances: between trees over the same taxa.
//!
//! This room does not depend on likelihoods.
//!
//! # Examples
//!
//! ```
//! use mlsearch_library::tree_distance::rf_distance;
//! use mlsearch_library::taxa::Taxa;
//! use mlsearch_library::tree::read_newick;
//!
//! let taxa = Taxa::new(["A", "B", "C", "D", "E"].map(String::from).to_vec()).unwrap();
//! let read = read_newick("((A,B),C,(D,E)); ((A,C),B,(D,E));", "typed.trees")?;
//! let (first, _) = read[0].to_tree(&taxa, "typed.trees", None)?;
//! let (second, _) = read[1].to_tree(&taxa, "typed.trees", None)?;
//! let distance = rf_distance(&first, &second);
//! assert_eq!((distance.absolute, distance.relative), (2, 0.5));
//! # Ok::<(), mlsearch_library::error::Error>(())
//! ```

mod branches;
mod comparison;
mod metric;
mod quartets;
mod robinson_foulds;

pub use branches::{BranchDifferences, branch_differences};
pub use comparison::Comparison;
pub use metric::TreeMetric;
pub use quartets::{QuartetComparison, quartet_distance};
pub use robinson_foulds::{RfDistance, rf_distance};
