//! Roots given trees of any degrees; their labels stay with their branches.

mod options;
mod run;

pub(crate) use options::WORD;
