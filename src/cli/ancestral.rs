//! `--ancestral` and `--mutmap`: what is reconstructed on the best tree.

use super::args::Args;
use super::verb::{Faults, Verb};
use crate::plan::AncestralOptions;

/// What is asked for, by its names or by RAxML's letter.
pub(super) fn resolve_ancestral(args: &Args, verb: Verb, faults: &mut Faults) -> AncestralOptions {
    let has_best_tree = matches!(verb, Verb::Search | Verb::Evaluate | Verb::All);
    for (given, option) in [(args.ancestral, "--ancestral"), (args.mutmap, "--mutmap")] {
        if given && !has_best_tree {
            faults.add(format!("{option} applies only to --search, --evaluate and --all"));
        }
    }
    let by_letter = args.algorithm.as_deref() == Some("A");
    AncestralOptions { states: args.ancestral || by_letter, changes: args.mutmap }
}
