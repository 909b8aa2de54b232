//! Selection of the model of each partition, and of the partitions that are better described by one model together, without a
//! run after it.

mod merge;
mod options;
mod report;
mod run;
mod scheme_fit;
mod subset_fit;
mod trial;

pub(crate) use options::WORD;
