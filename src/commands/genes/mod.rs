//! `genes`: the tree of each of many genes, which are the partitions of an alignment or alignments of their own.
//!
//! `survey` reads every gene once and finds out what is to be done; `run` deals those that are to be searched over threads and keeps
//! what `search_gene` makes of each (`record`) in the checkpoint; `tables` writes all of them in their order, and `shard` keeps those of
//! a part of a run, which `merge` puts together. `collapse` is which branches are left out of trees, `lengths`
//! which trees are far out, `species_tree` what they are compared with, and `report` a section of the JSON report.

mod collapse;
mod lengths;
mod merge;
mod options;
mod record;
mod report;
mod run;
mod search_gene;
mod shard;
mod species_tree;
mod survey;
mod tables;

pub(crate) use options::WORD;
