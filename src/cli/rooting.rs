//! Where trees are rooted when they are written.

use super::args::Args;
use super::verb::{Faults, Verb};
use crate::plan::Rooting;

/// The fault of a command that roots trees without saying where.
pub(super) const NO_ROOT: &str = "where is the root? Give -o TAXA (--outgroup) or --root midpoint";

/// The root that is asked for.
pub(super) fn resolve_rooting(args: &Args, verb: Verb, faults: &mut Faults) -> Option<Rooting> {
    let outgroup = args.outgroup.as_deref().map(|text| {
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_string()).collect();
        if names.iter().any(String::is_empty) {
            faults.add(format!("-o {text}: expected names of taxa, separated by commas"));
        }
        Rooting::Outgroup(names)
    });
    let midpoint = args.root.as_deref().map(|text| {
        if !text.eq_ignore_ascii_case("midpoint") {
            faults.add(format!(
                "--root {text}: expected midpoint; taxa are given with -o (--outgroup), as in -o A,B"
            ));
        }
        Rooting::Midpoint
    });
    if outgroup.is_some() && midpoint.is_some() {
        faults.add("-o (--outgroup) and --root both say where the root is: give only one of them");
    }
    let is_asked = outgroup.is_some() || midpoint.is_some();
    match verb {
        Verb::Root if !is_asked => {
            faults.add(NO_ROOT);
        }
        Verb::Consense if midpoint.is_some() => {
            faults.add("a consensus tree has no lengths, and so no middle: give -o TAXA instead of --root midpoint");
        }
        Verb::Bootstrap | Verb::Start | Verb::RfDist | Verb::Dist | Verb::Sample if is_asked => {
            faults.add(
                "-o (--outgroup) and --root apply only to --search, --evaluate, --all, --support, --consense, and to \
                 trees that are given without an alignment",
            );
        }
        _ => {}
    }
    outgroup.or(midpoint)
}
