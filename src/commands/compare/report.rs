//! The section of the JSON report.

use crate::output::Section;

/// Its section of the JSON file.
pub(super) const SECTION: Section<DistanceReport> = Section::new("rf_distances");

/// Distances between pairs of trees.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(super) struct DistanceReport {
    /// Number of trees.
    pub trees: usize,
    /// Number of distinct topologies.
    pub topologies: usize,
    /// Number of trees of a first file that were compared with those of a second; null if all were compared with all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub references: Option<usize>,
    /// Mean Robinson-Foulds distance, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_absolute: Option<f64>,
    /// The same, divided by the largest possible distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_relative: Option<f64>,
    /// One entry per distance.
    pub metrics: Vec<MetricReport>,
}

/// A distance over all pairs of trees.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(super) struct MetricReport {
    /// Its name.
    pub metric: &'static str,
    /// Its mean.
    pub mean: f64,
    /// The same, divided by the largest possible distance, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_relative: Option<f64>,
}
