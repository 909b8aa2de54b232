//! What the JSON report says of the data so that one can look at them.

/// The alignment at a glance.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct OverviewReport {
    /// Share of characters that are undetermined.
    pub undetermined: f64,
    /// Number of sites at which all taxa may have the same state.
    pub invariant_sites: usize,
    /// Number of taxa without any data.
    pub empty_taxa: usize,
    /// Number of groups of taxa with identical sequences.
    pub identical_groups: usize,
    /// The largest of these groups.
    pub identical: Vec<Vec<String>>,
    /// The taxa with least data.
    pub gappiest: Vec<GappyTaxonReport>,
    /// Frequencies of states, of each type of data.
    pub composition: Vec<CompositionReport>,
    /// Where data are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<MapReport>,
}

/// The log-likelihood, or the rates of sites, along the alignment.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct SiteProfileReport {
    /// Number of sites for each value.
    pub sites_per_value: usize,
    /// Means of so many sites, from the first column on. Columns that belong to no partition count as 0.
    pub values: Vec<f64>,
}

/// Where the state frequencies of sites come from.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct SiteFrequenciesReport {
    /// `pmsf` or `file`.
    pub source: &'static str,
    /// The profile mixture on each guide tree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub guides: Vec<MixtureFitReport>,
    /// The profile mixture on the best tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mixture_on_best_tree: Option<MixtureFitReport>,
}

/// A profile mixture on a tree.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct MixtureFitReport {
    /// Which tree.
    pub tree: String,
    /// Log-likelihood (natural logarithm).
    pub log_likelihood: f64,
    /// Canonical model string of each partition.
    pub models: Vec<String>,
}

/// A taxon with little data.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct GappyTaxonReport {
    /// Its name.
    pub taxon: String,
    /// Share of its characters that are undetermined.
    pub undetermined: f64,
}

/// How often states occur in the data of a type.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct CompositionReport {
    /// The type.
    pub data_type: &'static str,
    /// The states.
    pub states: Vec<&'static str>,
    /// Their frequencies among unambiguous characters.
    pub frequencies: Vec<f64>,
    /// The taxa whose frequencies differ most from these.
    pub taxa: Vec<TaxonCompositionReport>,
}

/// How often states occur in a sequence.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct TaxonCompositionReport {
    /// The taxon.
    pub taxon: String,
    /// Half the sum of the absolute differences from all taxa together: 0 is none, 1 the most.
    pub distance: f64,
    /// The frequencies of its states.
    pub frequencies: Vec<f64>,
}

/// A map of taxa by partitions, or by columns if there is one partition. Each has a digit: 0 where there are no data, 9 where
/// nothing is missing. Rows with data at the same places are together, and so are partitions.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct MapReport {
    /// What stands beside each other: `partitions` or `columns`.
    pub columns: &'static str,
    /// Number of them for each digit, at most.
    pub per_column: usize,
    /// Number of taxa for each row, at most.
    pub taxa_per_row: usize,
    /// Digits, a text for each row.
    pub rows: Vec<String>,
    /// The taxa in the order of the rows.
    pub taxa: Vec<String>,
    /// Number of taxa of each row, where some have several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub row_sizes: Vec<usize>,
    /// The partitions in the order of the digits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<String>,
    /// Number of partitions of each digit, where some have several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub column_sizes: Vec<usize>,
}
