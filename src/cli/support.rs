//! Which support the branches of the best tree get.

use super::args::Args;
use super::verb::{Faults, Verb};
use crate::run::{SupportKind, SupportOptions};

/// The kinds of support that are asked for, or that the command has by default.
pub(super) fn resolve_support(args: &Args, verb: Verb, faults: &mut Faults) -> SupportOptions {
    let has_replicates = matches!(verb, Verb::All | Verb::Support);
    let metrics = args.bs_metric.as_deref();
    if metrics.is_some() && !has_replicates && verb != Verb::Check {
        faults.add("--bs-metric applies only to --all and --support");
    }
    let mut kinds = Vec::new();
    if has_replicates {
        kinds.extend(faults.or(parse_metrics(metrics.unwrap_or("fbp")), Vec::new()));
    }
    SupportOptions { kinds }
}

/// `fbp`, `tbe`, or both; in the order of a label, whatever the order in which they were typed.
fn parse_metrics(text: &str) -> std::result::Result<Vec<SupportKind>, String> {
    let mut kinds = Vec::new();
    for word in text.split(',') {
        let known = [SupportKind::Felsenstein, SupportKind::Transfer];
        let kind = known.into_iter().find(|kind| word.eq_ignore_ascii_case(kind.name()));
        let Some(kind) = kind else {
            return Err(format!("--bs-metric {word}: expected fbp, tbe or both (fbp,tbe)"));
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
