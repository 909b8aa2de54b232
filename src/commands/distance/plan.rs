//! What is asked of distances between sequences.

use crate::distance::DistanceTree;
use crate::output::MatrixFormat;
use std::path::PathBuf;

/// What a distance between sequences is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum DistanceFormula {
    /// By maximum likelihood under the models of the partitions.
    Models,
    /// The same under the model F84 with this ratio of transitions and transversions.
    F84(f64),
    /// The share of sites that differ.
    Uncorrected,
    /// LogDet.
    LogDet,
}

impl DistanceFormula {
    /// What it is called where no model is used. F84 is a model, which may have rates over sites.
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            DistanceFormula::Models | DistanceFormula::F84(_) => None,
            DistanceFormula::Uncorrected => Some("share of different sites"),
            DistanceFormula::LogDet => Some("LogDet"),
        }
    }
}

/// Distances between sequences.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MatrixPlan {
    /// A file of distances, of which only trees are made; otherwise those of the alignment are computed.
    pub file: Option<PathBuf>,
    /// What a distance is.
    pub formula: DistanceFormula,
    /// Shape of a continuous gamma distribution of the rates of sites.
    pub gamma: Option<f64>,
    /// How distances are written.
    pub format: MatrixFormat,
    /// Compressed.
    pub gzip: bool,
    /// Each partition has distances of its own, instead of one distance in all of them.
    pub apart: bool,
    /// Trees that are made of them.
    pub trees: Vec<DistanceTree>,
}
