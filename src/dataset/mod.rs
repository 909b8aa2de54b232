//! From files to data that can be analysed: every fault of every file is found before a run is refused.
//!
//! `load` does it, with `models` (the model of each partition) and `matrix_files`, `candidates` and `auto_type`
//! (models that are to be selected), `site_weights`, `trees`, `identical` (sequences that a search needs only once), `invariable` (sites that
//! are invalid under an ascertainment correction), `genes` (many alignments of one run) with `models_by_type`, `overview` (the data at a glance) with `missing_map`, `remarks` (warnings and notes about data that are accepted), and
//! `rooting` (where trees are to be rooted), `site_frequencies` (state frequencies of sites), `linked_rates` (exchange rates that partitions
//! have in common).

mod auto_type;
mod candidates;
mod constraint;
mod distances;
mod genes;
mod identical;
mod invariable;
mod linked_rates;
mod load;
mod matrix_files;
mod missing_map;
mod model_definitions;
mod models;
mod models_by_type;
mod overview;
mod remarks;
mod rooting;
mod site_frequencies;
mod site_weights;
mod trees;

pub(crate) use constraint::describe_violation;
pub use distances::parse_distances;
pub(crate) use distances::read_distances;
pub(crate) use genes::{GeneSource, Genes, Opened};
pub(crate) use identical::Identical;
pub(crate) use load::{Loaded, load};
pub(crate) use overview::overview;
pub(crate) use remarks::{Remarks, list_names};
pub(crate) use rooting::{NO_MIDDLE, Root, find_root};
pub(crate) use site_frequencies::DECIMALS;
pub use site_frequencies::parse_site_frequencies;
pub use site_weights::SiteWeights;
pub(crate) use trees::GivenTree;

pub(crate) use load::{MAX_PARTITION_FILE, count_with_warning};
pub(crate) use models::{ModelChoice, resolve_model, write_models};
pub(crate) use trees::{
    Lengths, own_taxa, read_drawings, read_forest, read_gene_trees, read_more, read_one_tree,
};
