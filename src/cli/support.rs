//! Which support the branches of the best tree get.

use super::args::{Args, Switch};
use super::values::parse_count;
use super::verb::{Faults, Verb};
use crate::plan::{DEFAULT_ALRT_REPLICATES, SupportKind, SupportOptions};

/// The kinds of support that are asked for, or that the command has by default.
pub(super) fn resolve_support(args: &Args, verb: Verb, faults: &mut Faults) -> SupportOptions {
    let has_replicates = matches!(verb, Verb::All | Verb::Support)
        || (verb == Verb::Dist && verb.makes_replicates(args));
    let metrics = args.bs_metric.as_deref();
    if metrics.is_some() && !has_replicates && verb != Verb::Consense {
        faults.add(
            "--bs-metric applies only to --all, --support, --consense and --dist with --bs-trees",
        );
    }
    let has_likelihoods = matches!(verb, Verb::Search | Verb::Evaluate | Verb::All);
    let mut kinds = Vec::new();
    for (given, option, kind) in [
        (args.alrt.is_some(), "--alrt", SupportKind::ShAlrt),
        (args.abayes, "--abayes", SupportKind::ABayes),
    ] {
        if given && has_likelihoods {
            kinds.push(kind);
        } else if given {
            faults.add(format!("{option} applies only to --search, --evaluate and --all"));
        }
        if given && args.opt_branches == Some(Switch::Off) {
            faults.add(format!(
                "{option} compares optimised branch lengths: leave out --opt-branches off"
            ));
        }
    }
    let alrt_replicates = match args.alrt.as_ref() {
        Some(Some(text)) => faults.or(parse_count("--alrt", text), 0),
        _ => DEFAULT_ALRT_REPLICATES,
    };
    if has_replicates {
        let default = if args.algorithm.as_deref() == Some("i") { "ic1,ica" } else { "fbp" };
        kinds.extend(faults.or(parse_metrics(metrics.unwrap_or(default)), Vec::new()));
    }
    if verb == Verb::Consense {
        // Without a metric, branches have their percentages.
        let default = args.raxml_certainty.is_some().then_some("ic1,ica");
        if let Some(metrics) = metrics.or(default) {
            kinds.extend(faults.or(parse_metrics(metrics), Vec::new()));
        }
        if kinds.contains(&SupportKind::Transfer) {
            faults.add("--bs-metric tbe does not apply to --consense: expected fbp, ic1 or ica");
        }
    }
    SupportOptions { kinds, alrt_replicates }
}

/// Some of `fbp`, `tbe`, `ic1` and `ica`; in the order of a label, whatever the order in which they were typed.
fn parse_metrics(text: &str) -> std::result::Result<Vec<SupportKind>, String> {
    let mut kinds = Vec::new();
    for word in text.split(',') {
        let known = [
            SupportKind::Felsenstein,
            SupportKind::Transfer,
            SupportKind::InternodeCertainty,
            SupportKind::InternodeCertaintyAll,
        ];
        let kind = known.into_iter().find(|kind| word.eq_ignore_ascii_case(kind.name()));
        let Some(kind) = kind else {
            return Err(format!(
                "--bs-metric {word}: expected fbp, tbe, ic1, ica or several (fbp,tbe)"
            ));
        };
        if kinds.contains(&kind) {
            return Err(format!("--bs-metric {text} names {} twice", kind.name()));
        }
        kinds.push(kind);
    }
    kinds.sort_unstable();
    Ok(kinds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_one_or_both_in_any_order() {
        use SupportKind::{Felsenstein, Transfer};
        assert_eq!(parse_metrics("FBP").unwrap(), [Felsenstein]);
        assert_eq!(parse_metrics("tbe").unwrap(), [Transfer]);
        assert_eq!(parse_metrics("tbe,fbp").unwrap(), [Felsenstein, Transfer]);
        for wrong in ["", "fbp,", "ps", "fbp,fbp", "fbp tbe"] {
            assert!(parse_metrics(wrong).is_err(), "{wrong}");
        }
    }
}
