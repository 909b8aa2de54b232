//! One file per command, and `select`, the model selection with which a command may begin.

mod all;
mod ancestral;
mod bootstrap;
mod branch_tests;
mod bsconverge;
mod bsmsa;
mod check;
mod concordance;
mod consense;
mod evaluate;
mod rfdist;
mod root;
mod search;
mod select;
mod simulate;
mod start;
mod support;
mod terrace;

pub(super) use all::all;
pub(super) use bootstrap::bootstrap;
pub(super) use bsconverge::bsconverge;
pub(super) use bsmsa::bsmsa;
pub(super) use check::check;
pub(super) use concordance::concordance;
pub(super) use consense::consense;
pub(super) use evaluate::evaluate;
pub(super) use rfdist::rfdist;
pub(super) use root::root;
pub(super) use search::search;
pub(super) use select::select_models;
pub(super) use simulate::simulate;
pub(super) use start::start;
pub(super) use support::support;
pub(super) use terrace::terrace;
