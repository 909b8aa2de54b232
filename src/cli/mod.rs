//! The command line: what was typed, what it means, how it is refused.
//!
//! RAxML's letters and RAxML-NG's long names are both accepted. `parse` goes through the words as
//! typed, where options of other programs are recognised (`typed`, `verdict`, and their table `peers`);
//! [`args`](Args) holds what was typed; `resolve` turns it into a [`Plan`](crate::plan::Plan) or lists what
//! is wrong. Beside the code stand the guides that [`GUIDES`] lists.

mod ancestral;
mod args;
mod bootstrap;
mod data;
mod distances;
mod files;
mod gpu_selftest;
mod guides;
mod mcmc;
mod messages;
mod parse;
mod peers;
mod priors;
mod resolve;
mod rooting;
mod simulate;
mod support;
mod topologies;
mod typed;
mod values;
mod verb;
mod verdict;

pub use args::Args;
pub use guides::{GUIDES, Guide};
pub use messages::{print_clap, print_error, print_guide};
pub use parse::{Stop, parse};
pub use resolve::resolve;
