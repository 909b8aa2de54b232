//! Sequences simulated along a tree, under any model, optionally with missing partitions.
//!
//! Makes the larger files of `datasets/`, and data of known origin for tests. A model is given as its matrices
//! and categories; only `sample_partition` depends on model strings and alignments.
//!
//! # Examples
//!
//! A random tree of five taxa, and twenty sites along it:
//!
//! ```
//! use mlsearch_library::alphabet::DataType;
//! use mlsearch_library::model::Model;
//! use mlsearch_library::rng::{Purpose, stream};
//! use mlsearch_library::simulate::{SimModel, simulate_states, yule_tree};
//!
//! let tree = yule_tree(5, 0.1, &mut stream(12345, Purpose::SimulatedTree, 0));
//! let model = Model::parse("HKY{4}+G4{0.5}+FU{0.3/0.2/0.2/0.3}")?;
//! let (matrices, cats) = (model.eigen_models(), model.rate_cats());
//! let mut rng = stream(12345, Purpose::SimulatedSequences, 0);
//! let model = SimModel { matrices: &matrices, cats: &cats };
//! let states = simulate_states(&tree, &model, 20, &mut rng);
//!
//! let names = DataType::Dna.state_names();
//! let first: String = states[0].iter().map(|&state| names[usize::from(state)]).collect();
//! assert_eq!((states.len(), first.len()), (5, 20));
//! # Ok::<(), String>(())
//! ```

mod missing;
mod sample_partition;
mod sequences;
mod write;
mod yule;

pub use missing::draw_presence;
#[doc(hidden)]
pub use sample_partition::sample_partition;
pub use sequences::{SimModel, simulate_states};
pub use write::write_phylip;
pub use write::{SimPartition, to_partition_file, to_phylip};
pub use yule::{random_names, yule_tree};
