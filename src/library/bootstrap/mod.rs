//! Bootstrap: resampling of alignment columns, whether there are enough replicates (`bootstop`), and branch support from
//! replicate trees (`support`, `transfer`, `internode`), from gene trees and sites (`concordance`) and from the
//! likelihoods of the tree's neighbours (`branch_tests`).

mod bootstop;
mod branch_tests;
mod concordance;
mod internode;
mod kind;
mod support;
mod transfer;
mod weights;

pub use bootstop::{
    Bootstop, BootstopCriterion, BootstopTest, BootstopTrees, DEFAULT_CUTOFF, DEFAULT_HALVINGS,
    LEAST_CORRELATION, STEP,
};
pub use branch_tests::{BranchTests, Resampling, test_branches};
pub use concordance::{
    Around, GeneConcordance, SiteConcordance, SiteQuartets, SiteStates, clades_around,
    gene_concordance,
};
pub use internode::{certainty_of_splits, internode_certainty};
pub use kind::{Support, SupportKind};
pub use support::map_support;
pub use transfer::map_transfer;
pub use weights::{Sampling, SamplingUnit, replicate_weights};
