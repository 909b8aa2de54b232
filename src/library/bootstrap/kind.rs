//! Kinds of branch support, and how their values are written.

use crate::tree::support_label;

/// A kind of branch support. The order is that of the values in the label of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SupportKind {
    /// SH-aLRT, in percent (Guindon et al. 2010, Syst. Biol. 59:307).
    ShAlrt,
    /// aBayes, a probability (Anisimova et al. 2011, Syst. Biol. 60:685).
    ABayes,
    /// Share of the replicate trees that have the branch, in percent (Felsenstein 1985, Evolution 39:783).
    Felsenstein,
    /// Transfer bootstrap expectation, from 0 to 1 (Lemoine et al. 2018, Nature 556:452).
    Transfer,
    /// Internode certainty, from -1 to 1 (Salichos et al. 2014, Mol. Biol. Evol. 31:1261).
    InternodeCertainty,
    /// The same with all frequent conflicting splits.
    InternodeCertaintyAll,
    /// Gene concordance factor, in percent (Minh et al. 2020, Mol. Biol. Evol. 37:2727).
    GeneConcordance,
    /// Site concordance factor, in percent.
    SiteConcordance,
}

impl SupportKind {
    /// Its name in options and in the report.
    pub fn name(self) -> &'static str {
        match self {
            SupportKind::ShAlrt => "sh_alrt",
            SupportKind::ABayes => "abayes",
            SupportKind::Felsenstein => "fbp",
            SupportKind::Transfer => "tbe",
            SupportKind::InternodeCertainty => "ic1",
            SupportKind::InternodeCertaintyAll => "ica",
            SupportKind::GeneConcordance => "gcf",
            SupportKind::SiteConcordance => "scf",
        }
    }

    /// Its name in texts.
    pub fn title(self) -> &'static str {
        match self {
            SupportKind::ShAlrt => "SH-aLRT",
            SupportKind::ABayes => "aBayes",
            SupportKind::Felsenstein => "Support (FBP)",
            SupportKind::Transfer => "Transfer bootstrap (TBE)",
            SupportKind::InternodeCertainty => "Internode certainty (IC)",
            SupportKind::InternodeCertaintyAll => "Internode certainty of all conflicts (ICA)",
            SupportKind::GeneConcordance => "Gene concordance factor",
            SupportKind::SiteConcordance => "Site concordance factor",
        }
    }

    /// Its largest value: a percentage has 100, a probability 1.
    pub fn full(self) -> f64 {
        match self {
            SupportKind::ShAlrt
            | SupportKind::Felsenstein
            | SupportKind::GeneConcordance
            | SupportKind::SiteConcordance => 100.0,
            SupportKind::ABayes
            | SupportKind::Transfer
            | SupportKind::InternodeCertainty
            | SupportKind::InternodeCertaintyAll => 1.0,
        }
    }

    /// What is written in a label of several kinds at a branch that has no value of this one; `None` if the branch then
    /// has no label.
    pub fn absent(self) -> Option<&'static str> {
        let of_concordance =
            matches!(self, SupportKind::GeneConcordance | SupportKind::SiteConcordance);
        of_concordance.then_some("NA")
    }

    /// A value as it is written at a branch: rounded to a whole percentage (SH-aLRT and concordance factors to one
    /// decimal), or to three decimals of a number up to 1.
    pub fn label(self, value: f64) -> String {
        match self {
            SupportKind::ShAlrt | SupportKind::GeneConcordance | SupportKind::SiteConcordance => {
                format!("{}", (10.0 * value).round() / 10.0)
            }
            SupportKind::Felsenstein => support_label(value),
            SupportKind::ABayes
            | SupportKind::Transfer
            | SupportKind::InternodeCertainty
            | SupportKind::InternodeCertaintyAll => {
                // Without the sign of a zero.
                format!("{}", (1e3 * value).round() / 1e3 + 0.0)
            }
        }
    }
}

/// Support of the edges of a tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Support {
    /// What the values mean.
    pub kind: SupportKind,
    /// By edge; `None` for edges without support, as those to tips.
    pub values: Vec<Option<f64>>,
}
