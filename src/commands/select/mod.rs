//! Selection of the model of each partition, without a run after it.

mod options;
mod run;

pub(crate) use options::WORD;
