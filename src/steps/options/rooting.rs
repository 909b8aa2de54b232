//! [`RootArgs`]: where trees are rooted when they are written.

use crate::plan::{Refusals, Rooting};
use clap::Args;

const OUTPUT: &str = "Output";

/// The refusal of a command that roots trees without saying where.
pub(crate) const NO_ROOT: &str = "where is the root? Give -o TAXA (--outgroup) or --root midpoint";

/// Where the root is.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RootArgs {
    /// Root the trees beside these taxa: A,B
    ///
    /// Drawing only; the likelihood does not change.
    #[arg(short = 'o', long, value_name = "TAXA", help_heading = OUTPUT)]
    pub outgroup: Option<String>,
    /// Root the trees at their midpoint
    ///
    /// In the middle of the longest path between two taxa.
    #[arg(long, value_name = "midpoint", help_heading = OUTPUT)]
    pub root: Option<String>,
}

impl RootArgs {
    /// Their meaning.
    pub(crate) fn read(&self, refusals: &mut Refusals) -> Option<Rooting> {
        let outgroup = self.outgroup.as_deref().map(|text| {
            let names: Vec<String> = text.split(',').map(|name| name.trim().to_string()).collect();
            if names.iter().any(String::is_empty) {
                refusals.add(format!("-o {text}: expected names of taxa, separated by commas"));
            }
            Rooting::Outgroup(names)
        });
        let midpoint = self.root.as_deref().map(|text| {
            if !text.eq_ignore_ascii_case("midpoint") {
                refusals.add(format!(
                    "--root {text}: expected midpoint; taxa are given with -o (--outgroup), as in -o A,B"
                ));
            }
            Rooting::Midpoint
        });
        if outgroup.is_some() && midpoint.is_some() {
            refusals.add(
                "-o (--outgroup) and --root both say where the root is: give only one of them",
            );
        }
        outgroup.or(midpoint)
    }
}
