//! Roots given trees of any degrees; their labels stay with their branches.

mod run;

pub(crate) use run::Root;
