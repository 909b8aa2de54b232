//! The JSON report: all results of a run in one file, for programs.
//!
//! Fields are in a fixed order, and numbers are written so that reading them gives the same bits.
//! Only `command`, `run` and `timings` may differ between two runs of the same computation.

use super::history::ReachedReport;
use super::overview::{OverviewReport, SiteFrequenciesReport, SiteProfileReport};
use super::sections::{SCHEMA_VERSION, Section, one_or_many_schema};
use schemars::JsonSchema;
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::collections::BTreeMap;

/// The whole report; fields are written in this order.
#[derive(Debug, Clone, Default, serde::Serialize, JsonSchema)]
pub(crate) struct Report {
    /// Version of the program.
    pub version: String,
    /// Version of the form of this file (`mlsearch help --schema`).
    pub schema: u32,
    /// The command as typed.
    pub command: String,
    /// Seed of all random numbers except the resampling of columns.
    pub seed: u64,
    /// Log-likelihood of the best tree (natural logarithm), where one was computed.
    pub log_likelihood: Option<f64>,
    /// The best tree in Newick, where there is one.
    pub best_tree: Option<String>,
    /// The same with polytomies for its inner branches without length, if it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_tree_collapsed: Option<String>,
    /// Canonical model string of each partition, with its parameters in braces; one plain string
    /// where there is one partition.
    #[serde(serialize_with = "one_or_many")]
    #[schemars(schema_with = "one_or_many_schema")]
    pub model: Vec<String>,
    /// One entry per partition.
    pub partitions: Vec<PartitionReport>,
    /// The alignment, where the command read one.
    pub alignment: Option<AlignmentReport>,
    /// Model selection: one entry per partition whose model was selected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub model_selection: Vec<SelectionReport>,
    /// Every evaluated or found tree, in input order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trees: Vec<TreeReport>,
    /// Tests of the evaluated trees, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology_tests: Option<TopologyTestsReport>,
    /// How far searches from different starting trees agree, where there were several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement: Option<AgreementReport>,
    /// Bootstrap replicates, where there were some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<BootstrapReport>,
    /// Support of the branches of the best tree, where it was computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub support: Option<SupportReport>,
    /// Ancestral states of the best tree, where they were reconstructed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ancestral: Option<AncestralReport>,
    /// What only few analyses report: names, and values as indented JSON.
    #[serde(skip)]
    sections: Vec<(&'static str, String)>,
    /// The log-likelihood of the best tree along the alignment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site_profile: Option<SiteProfileReport>,
    /// The rates of sites along the alignment, where they were computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site_rates: Option<SiteProfileReport>,
    /// Where the state frequencies of sites come from, if they have some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site_frequencies: Option<SiteFrequenciesReport>,
    /// Edges of the best tree whose length no partition determines.
    pub undetermined_edges: Vec<UndeterminedEdge>,
    /// What the user should know before relying on the result.
    pub warnings: Vec<String>,
    /// How it was computed; does not change the result.
    pub run: RunReport,
    /// Wall time of the phases.
    #[schemars(with = "BTreeMap<String, f64>")]
    pub timings: Timings,
}

/// The alignment as read.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, JsonSchema)]
pub(crate) struct AlignmentReport {
    /// Number of taxa.
    pub taxa: usize,
    /// Number of columns.
    pub sites: usize,
    /// Number of distinct columns, counted within partitions.
    pub patterns: usize,
    /// Share of (taxon x partition) cells without any data, weighted by the partition's length.
    pub gappyness: f64,
    /// The data at a glance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overview: Option<OverviewReport>,
}

/// One partition and its model.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, JsonSchema)]
pub(crate) struct PartitionReport {
    /// Its name.
    pub name: String,
    /// Canonical model string with parameters in braces.
    pub model: String,
    /// Number of columns.
    pub sites: usize,
    /// Number of distinct columns.
    pub patterns: usize,
    /// Number of taxa with data.
    pub taxa: usize,
    /// Its contribution to the log-likelihood, where one was computed.
    pub log_likelihood: Option<f64>,
    /// Scaler of the shared branch lengths (1 unless they are scaled).
    pub brlen_scaler: f64,
    /// Sum of its own branch lengths under `-M`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree_length: Option<f64>,
    /// Names of parameters whose estimates are at a bound.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub at_bound: Vec<String>,
}

/// The selection of a partition's model.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, JsonSchema)]
pub(crate) struct SelectionReport {
    /// The partition's name.
    pub partition: String,
    /// Its data type, from its characters.
    pub data_type: String,
    /// The criterion.
    pub criterion: String,
    /// Sample size: number of sites.
    pub sites: usize,
    /// Number of taxa with data.
    pub taxa: usize,
    /// The selected model, as a user would type it.
    pub chosen: String,
    /// All models that were compared, the best first.
    pub candidates: Vec<CandidateReport>,
}

/// A model that was compared with others.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, JsonSchema)]
pub(crate) struct CandidateReport {
    /// The model, as a user would type it.
    pub model: String,
    /// Log-likelihood.
    pub log_likelihood: f64,
    /// Number of parameters, the partition's own branch lengths included.
    pub parameters: usize,
    /// Akaike's criterion.
    pub aic: f64,
    /// The same, corrected for small samples; null where there are too few sites for it.
    pub aicc: Option<f64>,
    /// The Bayesian information criterion.
    pub bic: f64,
    /// Weight by the criterion.
    pub weight: f64,
    /// False for a model that was optimised only roughly, because it is far worse than the best.
    pub optimised: bool,
}

/// One evaluated or found tree.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, JsonSchema)]
pub(crate) struct TreeReport {
    /// Where it came from: a start ("pars 1"), or a line of a file.
    pub source: String,
    /// Its log-likelihood.
    pub log_likelihood: f64,
    /// Newick with branch lengths.
    pub newick: String,
}

/// Tests of the evaluated trees.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, JsonSchema)]
pub(crate) struct TopologyTestsReport {
    /// Number of RELL replicates, of each size.
    pub replicates: usize,
    /// One entry per evaluated tree.
    pub trees: Vec<TestedTree>,
}

/// An evaluated tree and what the tests say of it.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, JsonSchema)]
pub(crate) struct TestedTree {
    /// Number of the tree, from 1.
    pub tree: usize,
    /// Log-likelihood of the best tree minus that of this one.
    pub delta: f64,
    /// Its standard error from the differences between the sites.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta_standard_error: Option<f64>,
    /// Number of the tree with the same topology that was tested in its place, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tested_as: Option<usize>,
    /// By the name of the test.
    pub tests: BTreeMap<&'static str, VerdictReport>,
}

/// What a test says of a tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize, JsonSchema)]
pub(crate) struct VerdictReport {
    /// p-value, or share of the replicates (bp), or weight (elw).
    pub value: f64,
    /// True for the trees of the 95 % confidence set.
    pub in_confidence_set: bool,
    /// Standard error of the value from the number of replicates, of the test au.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
}

/// How far different starting trees led to the same tree: after one round of the search from each or, if there were
/// several searches, at their ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize, JsonSchema)]
pub(crate) struct AgreementReport {
    /// Number of starting trees.
    pub starting_trees: usize,
    /// True if these were compared after one round of one search, false if at the ends of several searches.
    pub after_one_round: bool,
    /// True if the last starting tree still improved the best tree.
    pub still_adding: bool,
    /// Highest minus lowest log-likelihood of the trees that they led to.
    pub log_likelihood_range: f64,
    /// Number of inner branches with length in which two of these trees differ: the least over all pairs.
    pub fewest_different_branches: usize,
    /// The same, the most over all pairs.
    pub most_different_branches: usize,
    /// Number of inner branches with length.
    pub branches: usize,
    /// Number of perturbations of the best tree.
    pub perturbations: usize,
    /// Number of perturbations that led to a better tree.
    pub improvements: usize,
}

/// Bootstrap replicates.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, JsonSchema)]
pub(crate) struct BootstrapReport {
    /// How many.
    pub replicates: usize,
    /// Seed of the resampling.
    pub seed: u64,
    /// What was drawn: site, gene or genesite, where replicates were made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<&'static str>,
    /// The share that the jackknife deleted, if it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jackknife: Option<f64>,
    /// Whether they are enough, where that was tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bootstopping: Option<BootstoppingReport>,
}

/// Tests of whether there are enough replicates.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, JsonSchema)]
pub(crate) struct BootstoppingReport {
    /// The rule: autoMRE, autoMR or autoFC.
    pub rule: &'static str,
    /// Least correlation (autoFC) or greatest distance (as a share) of halves that agree.
    pub cutoff: f64,
    /// Number of halvings of each test.
    pub halvings: usize,
    /// True if the replicates of the last test are enough.
    pub converged: bool,
    /// All tests, in order.
    pub tests: Vec<BootstopTestReport>,
}

/// One test of whether there are enough replicates.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize, JsonSchema)]
pub(crate) struct BootstopTestReport {
    /// Number of replicates.
    pub replicates: usize,
    /// Mean correlation or distance of all halvings.
    pub mean: f64,
    /// Number of halvings whose halves agree.
    pub agreeing: usize,
}

/// Support of the inner branches of a tree.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, JsonSchema)]
pub(crate) struct SupportReport {
    /// The tree with the values, rounded, as labels.
    pub tree: String,
    /// The kinds of support in a label, in the order of its values, which are separated by `/`.
    pub label: Vec<&'static str>,
    /// Number of resampled alignments of SH-aLRT, if it is among these kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sh_alrt_replicates: Option<usize>,
    /// The values of each branch, in the order in which the labels stand in the text of the tree.
    pub branches: Vec<BranchSupportReport>,
}

/// Support of one branch.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, JsonSchema)]
pub(crate) struct BranchSupportReport {
    /// SH-aLRT (percent).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sh_alrt: Option<f64>,
    /// aBayes (probability).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abayes: Option<f64>,
    /// Percentage of the replicates that have the branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fbp: Option<f64>,
    /// Transfer bootstrap expectation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tbe: Option<f64>,
    /// Internode certainty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ic1: Option<f64>,
    /// Internode certainty from all frequent conflicting splits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ica: Option<f64>,
    /// Gene concordance factor (percent).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gcf: Option<f64>,
    /// Site concordance factor (percent).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scf: Option<f64>,
    /// Mean transfer distance from the replicates (taxa).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer_distance: Option<f64>,
    /// The root is in the branch, and this is its second half: the values are those of the first again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_second_half: bool,
}

/// Ancestral states of a tree.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, JsonSchema)]
pub(crate) struct AncestralReport {
    /// The tree with the names of its inner nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// The inner nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<AncestralNodeReport>,
    /// The branches, each after that above it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<BranchChangesReport>,
}

/// An inner node.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, JsonSchema)]
pub(crate) struct AncestralNodeReport {
    /// Its name in the tree.
    pub name: String,
    /// Mean probability of its most likely states; null if no partition says anything about the node.
    pub mean_probability: Option<f64>,
}

/// Changes along a branch.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, JsonSchema)]
pub(crate) struct BranchChangesReport {
    /// The inner node at its upper end.
    pub from: String,
    /// The inner node or the taxon at its lower end.
    pub to: String,
    /// Its length.
    pub brlen: f64,
    /// Number of changes.
    pub changes: usize,
}

/// An edge that lies on no partition's tree, given by the taxa on its smaller side.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, JsonSchema)]
pub(crate) struct UndeterminedEdge {
    /// The taxa on the smaller side.
    pub taxa: Vec<String>,
    /// The length that was kept.
    pub brlen: f64,
}

/// How the result was computed.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, JsonSchema)]
pub(crate) struct RunReport {
    /// Number of threads used.
    pub threads: usize,
    /// Kernel set used.
    pub simd: String,
    /// Device used.
    pub backend: String,
    /// Bytes of CLVs and the buffers that belong to them.
    pub memory_bytes: u64,
    /// The log-likelihood over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub log_likelihoods: Vec<ReachedReport>,
}

/// Seconds of wall time per phase, in the order they were measured; written as one JSON object.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Timings(pub Vec<(String, f64)>);

impl Timings {
    /// Adds the time of a phase; repeated phases are summed.
    pub(crate) fn add(&mut self, phase: &str, seconds: f64) {
        match self.0.iter_mut().find(|entry| entry.0 == phase) {
            Some(entry) => entry.1 += seconds,
            None => self.0.push((phase.to_string(), seconds)),
        }
    }
}

impl Serialize for Timings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (phase, seconds) in &self.0 {
            map.serialize_entry(phase, seconds)?;
        }
        map.end()
    }
}

/// What follows the sections of an analysis.
const AFTER_SECTION: &str = "\n  \"undetermined_edges\":";

/// Indented JSON.
fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("plain data has a JSON form")
}

fn one_or_many<S: Serializer>(models: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    match models {
        [one] => one.serialize(serializer),
        many => many.serialize(serializer),
    }
}

impl Report {
    /// An empty report of this version of the program.
    pub(crate) fn new(command: &str, seed: u64) -> Self {
        Report {
            version: env!("CARGO_PKG_VERSION").to_string(),
            schema: SCHEMA_VERSION,
            command: command.to_string(),
            seed,
            ..Report::default()
        }
    }

    /// Adds a section of an analysis.
    pub(crate) fn write_section<T: Serialize + JsonSchema>(
        &mut self,
        section: &Section<T>,
        value: &T,
    ) {
        self.sections.push((section.name, pretty(value)));
    }

    /// The report as indented JSON, with a final newline.
    pub(crate) fn to_json(&self) -> String {
        let mut text = pretty(self);
        for (name, value) in &self.sections {
            // Line breaks inside texts are escaped: all others are of the indentation.
            let value = value.replace('\n', "\n  ");
            let at = text.find(AFTER_SECTION).unwrap_or(text.len());
            text.insert_str(at, &format!("\n  \"{name}\": {value},"));
        }
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_promised_fields_are_there_in_order_and_floats_round_trip() {
        let lnl = -5_721.123_456_789_012;
        let mut report = Report::new("mlsearch -s a.phy -m GTR+G", 12345);
        report.log_likelihood = Some(lnl);
        report.best_tree = Some("(a:0.1,'b c':0.2,c:0.3);".into());
        report.model = vec!["GTR{1/2/3/4/5/1}+FC+G4{0.5}".into()];
        report.alignment = Some(AlignmentReport {
            taxa: 3,
            sites: 10,
            patterns: 7,
            gappyness: 0.1,
            overview: None,
        });
        report.timings.add("search", 1.5);
        report.timings.add("reading", 0.25);
        report.timings.add("search", 0.5);
        let text = report.to_json();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["log_likelihood"].as_f64().unwrap().to_bits(), lnl.to_bits());
        assert_eq!(value["model"], "GTR{1/2/3/4/5/1}+FC+G4{0.5}");
        assert_eq!(value["timings"]["search"], 2.0);
        let names = [
            "version",
            "command",
            "seed",
            "log_likelihood",
            "best_tree",
            "model",
            "partitions",
            "alignment",
            "undetermined_edges",
            "warnings",
            "run",
            "timings",
        ];
        let places: Vec<usize> = names
            .iter()
            .map(|name| text.find(&format!("\n  \"{name}\":")).unwrap_or_else(|| panic!("{name}")))
            .collect();
        assert!(places.is_sorted(), "{places:?}");
        assert!(text.find("search\"").unwrap() < text.find("reading\"").unwrap());
        assert!(value.get("trees").is_none());
    }

    #[test]
    fn the_section_of_an_analysis_is_indented_like_a_field() {
        let mut report = Report::new("", 1);
        let toy: Section<BTreeMap<&str, &str>> = Section::new("toy");
        report.write_section(&toy, &BTreeMap::from([("text", "a\n\"b\""), ("other", "c")]));
        let text = report.to_json();
        let lines = "\n  \"toy\": {\n    \"other\": \"c\",\n    \"text\": \"a\\n\\\"b\\\"\"\n  },\n  \"undetermined_edges\": []";
        assert!(text.contains(lines), "{text}");
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
    }

    #[test]
    fn several_partitions_give_a_list_of_models_and_several_trees_a_list_of_trees() {
        let mut report = Report::new("", 1);
        report.model = vec!["JC".into(), "GTR".into()];
        report.trees = vec![TreeReport { log_likelihood: -1.5, ..TreeReport::default() }];
        let value: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
        assert_eq!(value["model"][1], "GTR");
        assert_eq!(value["trees"][0]["log_likelihood"], -1.5);
        assert!(value["log_likelihood"].is_null());
    }
}
