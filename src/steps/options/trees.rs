//! [`StartArgs`]: the trees with which searches and chains begin.

use crate::plan::{Refusals, TreeSource, parse_trees};
use clap::Args;

const TREES: &str = "Trees";

/// Starting trees.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct StartArgs {
    /// Starting trees: FILE, pars{5}, rand{5}, nj ...
    ///
    /// Parsimony, random, or of the distances between the sequences (nj, bionj, bme, upgma), or several of these
    /// separated by commas, with one search from each tree; auto, alone, is one search that takes what is best
    /// from 3 parsimony trees, or 6 where the data are small (--fast: 1, --thorough: up to 50) [default: auto].
    #[arg(short = 't', long, value_name = "TREES", help_heading = TREES)]
    pub tree: Option<String>,
    /// Start from random trees [default: parsimony]
    #[arg(short = 'd', help_heading = TREES)]
    pub random_start: bool,
}

impl StartArgs {
    /// The trees; `runs` is their number, if it is given (`-#`), and `standard` what is done without any option.
    pub(crate) fn read(
        &self,
        runs: Option<usize>,
        standard: TreeSource,
        refusals: &mut Refusals,
    ) -> Vec<TreeSource> {
        if self.random_start && self.tree.is_some() {
            refusals.add(
                "-d means random starting trees, but -t (--tree) names the trees: give only one of them",
            );
        }
        match (self.tree.as_deref(), runs) {
            (Some(text), _) => {
                if runs.is_some() {
                    refusals.add(
                        "-# sets the number of starting trees, but -t (--tree) names the trees: give only one of \
                         them",
                    );
                }
                refusals.or(parse_trees(text), Vec::new())
            }
            (None, runs) if self.random_start => vec![TreeSource::Random(runs.unwrap_or(1))],
            (None, Some(runs)) => vec![TreeSource::Parsimony(runs)],
            (None, None) => vec![standard],
        }
    }
}
