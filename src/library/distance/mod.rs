//! Distances between sequences, and trees from them.
//!
//! | file | content |
//! |---|---|
//! | `pairs` | [`PairDistances`]: the distance of any pair of sequences, in tiles |
//! | `taxon_rows` | [`TaxonRows`]: the same for all taxa, where several have the same sequence |
//! | `pair_model` | the likelihood of a pair as a function of its distance |
//! | `partition`, `bit_planes` | the sequences of a partition, and the sites of pairs counted by class |
//! | `solve` | Newton's method for several pairs at a time |
//! | `closed_form` | shares of different sites, and LogDet |
//! | `pair_tables`, `cuda` | the sequences as plain lists, and the same computation on GPUs |
//! | `square`, `row_file` | [`SquareMatrix`], [`RowFile`]: the distances of all pairs, from which trees are made, in memory and in a file |
//! | `cluster_rows` | both as what trees are joined from |
//! | `neighbor_joining`, `minimum_evolution`, `upgma`, `joined_tree`, `kind` | trees from them |
//! | `balanced`, `regraft` | for `minimum_evolution`: average distances of subtrees, and moves of subtrees |

mod balanced;
mod bit_planes;
mod closed_form;
mod cluster_rows;
mod cuda;
mod joined_tree;
mod kind;
mod minimum_evolution;
#[cfg(test)]
mod naive_tests;
mod neighbor_joining;
mod pair_data;
mod pair_model;
// Only GPUs read them.
#[cfg_attr(not(feature = "cuda"), expect(dead_code))]
mod pair_tables;
mod pairs;
mod regraft;
mod row_file;
mod solve;
mod square;
mod taxon_rows;
mod upgma;

pub use joined_tree::JoinedTree;
pub use kind::DistanceTree;
pub use minimum_evolution::minimum_evolution;
pub use neighbor_joining::{bionj, neighbor_joining};
pub use pairs::{DistanceMethod, PairDistances};
pub use row_file::{ROW_FILE_MEMORY, RowFile, RowFileWriter, row_file_bytes};
pub use square::{SquareMatrix, Stored};
pub use taxon_rows::TaxonRows;
pub use upgma::upgma;
