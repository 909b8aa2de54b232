//! [`MetricArgs`]: which support the branches get from replicate trees.

use crate::bootstrap::SupportKind;
use crate::plan::Refusals;
use clap::Args;

const BOOTSTRAP: &str = "Bootstrap and support";

/// Support by replicate trees.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct MetricArgs {
    /// Support by replicates: fbp, tbe, ic1, ica
    ///
    /// fbp: Felsenstein's, the percentage of the replicates that have the branch; tbe: transfer bootstrap
    /// expectation, from 0 to 1; ic1 and ica: internode certainty, from -1 to 1; or several: fbp,tbe [default: fbp].
    #[arg(long, value_name = "KINDS", help_heading = BOOTSTRAP)]
    pub bs_metric: Option<String>,
}

impl MetricArgs {
    /// The kinds that are asked for, or else the standard ones.
    pub(crate) fn read(&self, standard: &str, refusals: &mut Refusals) -> Vec<SupportKind> {
        let text = self.bs_metric.as_deref().unwrap_or(standard);
        refusals.or(parse_metrics(text), Vec::new())
    }
}

/// Some of `fbp`, `tbe`, `ic1` and `ica`; in the order of a label, whatever the order in which they were typed.
pub(crate) fn parse_metrics(text: &str) -> std::result::Result<Vec<SupportKind>, String> {
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
