//! Terraces: trees that differ, but give every partition the same tree of its taxa, so that under unlinked branch
//! lengths they have exactly the same likelihood (Sanderson, McMahon & Steel 2011, Science 333:448).
//!
//! `count` needs a taxon with data in all partitions, and counts without making trees; `insertion` makes the trees.

mod count;
mod insertion;

pub use count::{Counted, comprehensive_taxon, count_terrace};
pub use insertion::list_terrace;

#[cfg(test)]
mod naive_tests;
