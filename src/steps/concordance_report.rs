//! The section of the JSON report.

/// What gene trees and sites have in the place of a branch AB|CD, in the order of `support.branches`.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct ConcordanceReport {
    /// The taxa on the smaller side of the branch.
    pub taxa: Vec<String>,
    /// Length of the branch, if the tree has lengths.
    pub brlen: Option<f64>,
    /// Numbers of gene trees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub genes: Option<GeneCounts>,
    /// Means over quartets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sites: Option<SiteMeans>,
}

/// Numbers of gene trees with taxa in all four clades around a branch.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct GeneCounts {
    /// Those that have AB|CD.
    pub concordant: u32,
    /// Those that have AC|BD, and those that have AD|BC.
    pub discordant: [u32; 2],
    /// Those that have none of these.
    pub others: u32,
}

/// Means over the quartets of taxa around a branch.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct SiteMeans {
    /// Number of quartets that any site resolves.
    pub quartets: u32,
    /// Percentages of the sites for AB|CD, AC|BD and AD|BC.
    pub percents: [f64; 3],
    /// Numbers of these sites.
    pub sites: [f64; 3],
}
