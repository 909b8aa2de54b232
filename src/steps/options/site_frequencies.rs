//! [`SiteFrequencyArgs`]: state frequencies of each site.

use crate::likelihood::select::knows_site_frequencies;
use crate::plan::{Plan, Refusals, SiteFrequencies, parse_count};
use clap::Args;
use std::path::PathBuf;

const DATA: &str = "Data and model";

/// Where the state frequencies of sites come from.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SiteFrequencyArgs {
    /// Frequencies of every site by the profile mixture on this tree (PMSF)
    ///
    /// The parameters of a mixture such as LG+C20+F+G4 are estimated on the tree; then each site gets the posterior mean of the profiles as
    /// frequencies of its own, in place of the classes.
    #[arg(long, value_name = "TREE", help_heading = DATA)]
    pub pmsf: Option<PathBuf>,
    /// With 2, a search under --pmsf makes the tree from which the frequencies of sites come [default: 1]
    #[arg(long, value_name = "N", help_heading = DATA, hide_short_help = true)]
    pub pmsf_rounds: Option<String>,
    /// File of the frequencies of every site, as IQ-TREE's -fs
    ///
    /// One line per column: its number, and the frequencies of A R N D C Q E G H I L K M F P S T W Y V.
    #[arg(long, value_name = "FILE", help_heading = DATA, hide_short_help = true)]
    pub site_frequencies: Option<PathBuf>,
}

impl SiteFrequencyArgs {
    /// Their meaning, in the plan of an analysis.
    pub(crate) fn read(&self, plan: &mut Plan, searches: bool, refusals: &mut Refusals) {
        let rounds = self.pmsf_rounds.as_deref();
        let rounds = rounds.map(|text| refusals.or(parse_count("--pmsf-rounds", text), 1));
        if rounds.is_some() && self.pmsf.is_none() {
            refusals.add("--pmsf-rounds applies only to --pmsf TREE");
        }
        if rounds.is_some() && !searches {
            refusals.add("--pmsf-rounds applies only to searches");
        }
        plan.data.site_frequencies = match (&self.pmsf, &self.site_frequencies) {
            (Some(_), Some(_)) => {
                refusals.add(
                    "--pmsf computes the frequencies of sites, and --site-frequencies reads them: give only one of the two",
                );
                return;
            }
            (Some(tree), None) => {
                SiteFrequencies::Guide { tree: tree.clone(), rounds: rounds.unwrap_or(1) }
            }
            (None, Some(file)) => SiteFrequencies::File(file.clone()),
            (None, None) => return,
        };
        if !knows_site_frequencies(plan.run.engine) {
            refusals.add(
                "frequencies of sites are computed on the processor only: leave out --backend",
            );
        }
    }
}
