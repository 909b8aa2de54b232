//! What is asked of distances between sequences.

use crate::distance::DistanceTree;
use crate::output::{MatrixFormat, OutputKind};
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

impl MatrixPlan {
    /// As what distances are written.
    pub(crate) fn matrix_kind(&self) -> OutputKind {
        match (self.apart, self.format, self.gzip) {
            (false, MatrixFormat::Npy, _) => OutputKind::DistancesNpy,
            (false, _, true) => OutputKind::DistancesGz,
            (false, _, false) => OutputKind::Distances,
            (true, MatrixFormat::Npy, _) => OutputKind::PartitionDistancesNpy,
            (true, _, true) => OutputKind::PartitionDistancesGz,
            (true, _, false) => OutputKind::PartitionDistances,
        }
    }

    /// The files of distances and of trees, if there are replicates also theirs.
    pub(crate) fn output_kinds(&self, has_replicates: bool) -> Vec<OutputKind> {
        let matrix = Some(self.matrix_kind()).filter(|_| self.file.is_none());
        let trees = Some(OutputKind::DistanceTrees).filter(|_| !self.trees.is_empty());
        let of_replicates = [OutputKind::Bootstraps, OutputKind::Support];
        let of_replicates = of_replicates.into_iter().filter(|_| has_replicates);
        matrix.into_iter().chain(trees).chain(of_replicates).collect()
    }
}
