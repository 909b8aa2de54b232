//! The options of optimisation and of searches.

use crate::plan::{AnalysisOptions, Refusals, Switch};
use crate::search::SearchEffort;
use clap::Args;
use std::path::PathBuf;

const OPTIMISE: &str = "Optimisation and search";
const TREES: &str = "Trees";

/// What is optimised, and how far.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FitArgs {
    /// Estimate the model parameters [default: on]
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true, help_heading = OPTIMISE)]
    pub opt_model: Option<Switch>,
    /// Optimisation stops when a round improves the log-likelihood by less than this (log-likelihood
    /// units) [default: 0.1 in the last rounds of a search, 0.001 for the final branch lengths and
    /// parameters]
    #[arg(short = 'e', long, value_name = "LNL", allow_negative_numbers = true, help_heading = OPTIMISE, hide_short_help = true)]
    pub lh_epsilon: Option<f64>,
    /// Use all classes of a profile mixture (LG+C20) from the beginning [default: begin with one class that has
    /// their mean frequencies]
    #[arg(long, help_heading = OPTIMISE, hide_short_help = true)]
    pub whole_mixture: bool,
}

impl FitArgs {
    /// Their meaning.
    pub(crate) fn read(&self, refusals: &mut Refusals) -> AnalysisOptions {
        if self.lh_epsilon.is_some_and(|e| !(e > 0.0 && e.is_finite())) {
            refusals.add("--lh-epsilon (-e) must be a positive number (log-likelihood units)");
        }
        AnalysisOptions {
            opt_model: self.opt_model != Some(Switch::Off),
            whole_mixture: self.whole_mixture,
            lh_epsilon: self.lh_epsilon,
            ..AnalysisOptions::default()
        }
    }
}

/// How a search goes about.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ClimbArgs {
    /// A third of the time, and less thorough
    ///
    /// One starting tree and no perturbations; up to 68 log-likelihood units lower in our measurements.
    #[arg(long, help_heading = OPTIMISE)]
    pub fast: bool,
    /// Three to four times the time
    ///
    /// More starting trees and perturbations.
    #[arg(long, help_heading = OPTIMISE)]
    pub thorough: bool,
    /// Maximum distance over which a pruned subtree is regrafted (branches) [default: 60 to 80,
    /// depending on the phase of the search]
    #[arg(short = 'i', long, value_name = "N", help_heading = OPTIMISE, hide_short_help = true)]
    pub spr_radius: Option<usize>,
    /// Try a regraft position only if its approximate log-likelihood is at most this far below the
    /// current one (log-likelihood units); off: no limit [default: 40]
    #[arg(long, value_name = "X|off", help_heading = OPTIMISE, hide_short_help = true)]
    pub spr_cutoff: Option<String>,
}

impl ClimbArgs {
    /// Their meaning, in the options of an analysis.
    pub(crate) fn read(&self, search: &mut AnalysisOptions, refusals: &mut Refusals) {
        if self.fast && self.thorough {
            refusals.add("--fast and --thorough exclude each other: give only one of them");
        }
        search.effort = match (self.fast, self.thorough) {
            (true, _) => SearchEffort::Fast,
            (_, true) => SearchEffort::Thorough,
            _ => SearchEffort::Normal,
        };
        if self.spr_radius == Some(0) {
            refusals.add("--spr-radius (-i) must be at least 1 (branches)");
        }
        search.spr_radius = self.spr_radius;
        search.spr_cutoff = self.spr_cutoff.as_deref().map(|text| match text.parse::<f64>() {
            Ok(cutoff) if cutoff > 0.0 && cutoff.is_finite() => Some(cutoff),
            _ if text.eq_ignore_ascii_case("off") => None,
            _ => {
                refusals.add(format!("--spr-cutoff {text}: expected a positive number or 'off'"));
                None
            }
        });
    }
}

/// Identical sequences.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct IdenticalArgs {
    /// Search with all sequences, or make trees of distances with them; otherwise identical ones take part once and are put back beside each other
    /// [default: off]
    #[arg(long, help_heading = OPTIMISE, hide_short_help = true)]
    pub keep_identical: bool,
}

/// What all trees must satisfy.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ConstraintArgs {
    /// Constraint tree; also -r [default: none]
    ///
    /// Searches, starting trees, replicates and samples are restricted to trees that have all its inner branches;
    /// with multifurcations, and without some of the taxa, which may then be anywhere.
    #[arg(short = 'g', long, short_alias = 'r', value_name = "FILE", help_heading = TREES)]
    pub tree_constraint: Option<PathBuf>,
}
