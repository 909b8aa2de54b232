//! The command line: what was typed, what it means, how it is refused.
//!
//! RAxML's letters and RAxML-NG's long names are both accepted. Two stages: [`args`](Args) holds
//! what was typed, `resolve` turns it into a [`Plan`](crate::run::Plan) or lists what is wrong.

mod args;
mod files;
mod later;
mod messages;
mod resolve;
mod simulate;
mod values;
mod verb;

pub use args::{Args, Stop, parse};
pub use messages::{print_clap, print_error};
pub use resolve::resolve;
