//! [`BestTreeArgs`], and [`BranchTestArgs`] among them: what is computed of the best tree of a search or an evaluation.

use crate::bootstrap::SupportKind;
use crate::plan::{AncestralOptions, DEFAULT_ALRT_REPLICATES, Plan, Refusals, parse_count};
use clap::Args;

const BOOTSTRAP: &str = "Bootstrap and support";
const BEST_TREE: &str = "Best tree";

/// Tests of branches by the likelihoods of their neighbours.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct BranchTestArgs {
    /// SH-aLRT support of the best tree
    ///
    /// With this number of resampled alignments [default: 1000].
    #[arg(long, num_args = 0..=1, value_name = "N", help_heading = BOOTSTRAP)]
    pub alrt: Option<Option<String>>,
    /// aBayes support of the best tree [default: off]
    #[arg(long, help_heading = BOOTSTRAP)]
    pub abayes: bool,
}

/// Tests of branches, ancestral states, and log-likelihoods of sites.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct BestTreeArgs {
    #[allow(missing_docs)]
    #[command(flatten)]
    pub tests: BranchTestArgs,
    /// States at inner nodes of the best tree
    ///
    /// The most likely ones, with their probabilities (marginal reconstruction).
    #[arg(long, help_heading = BEST_TREE)]
    pub ancestral: bool,
    /// Changes along the branches of the best tree
    ///
    /// Of the most likely states.
    #[arg(long, help_heading = BEST_TREE)]
    pub mutmap: bool,
    /// Log-likelihood of every site [default: off]
    ///
    /// Natural logarithms.
    #[arg(long, help_heading = BEST_TREE)]
    pub sitelh: bool,
    /// Rate of every site [default: off]
    ///
    /// Posterior means under the rates over sites of the model; under profile mixtures also the frequencies of every site.
    #[arg(long, help_heading = BEST_TREE)]
    pub site_rates: bool,
}

impl BestTreeArgs {
    /// Their meaning, in the plan of an analysis.
    pub(crate) fn read(&self, plan: &mut Plan, refusals: &mut Refusals) {
        plan.output.sitelh = self.sitelh;
        plan.output.site_rates = self.site_rates;
        plan.ancestral = AncestralOptions { states: self.ancestral, changes: self.mutmap };
        self.tests.read(plan, refusals);
    }
}

impl BranchTestArgs {
    /// Their meaning, in the plan of an analysis.
    pub(crate) fn read(&self, plan: &mut Plan, refusals: &mut Refusals) {
        for (is_given, option, kind) in [
            (self.alrt.is_some(), "--alrt", SupportKind::ShAlrt),
            (self.abayes, "--abayes", SupportKind::ABayes),
        ] {
            if is_given {
                plan.support.kinds.push(kind);
                if !plan.search.opt_branches {
                    refusals.add(format!(
                        "{option} compares optimised branch lengths: leave out --opt-branches off"
                    ));
                }
            }
        }
        plan.support.alrt_replicates = match self.alrt.as_ref() {
            Some(Some(text)) => refusals.or(parse_count("--alrt", text), 0),
            _ => DEFAULT_ALRT_REPLICATES,
        };
    }
}
