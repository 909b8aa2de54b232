//! Concordance of gene trees and sites with the branches of a tree: as a table, in the report, and in the labels of
//! the tree.

use super::concordance_report::{ConcordanceReport, GeneCounts, SiteMeans};
use super::results::smaller_side;
use super::support::{BranchSupport, deliver_drawn, draw_support, drawing_of};
use crate::bootstrap::{
    Around, GeneConcordance, SiteConcordance, SiteQuartets, SupportKind, gene_concordance,
};
use crate::error::Result;
use crate::output::{OutputKind, Section};
use crate::plan::Plan;
use crate::runtime::{RunRecord, with_threads};
use crate::taxa::Taxa;
use crate::tree::{Drawn, EdgeId, Multifurcating, Tree, format_brlen, quote};
use std::collections::BTreeMap;

/// The section of the JSON file.
pub(crate) const CONCORDANCE_SECTION: Section<Vec<ConcordanceReport>> = Section::new("concordance");

/// Numbers of gene trees and sites that agree with the branches of a tree.
pub(crate) const CONCORDANCE: OutputKind =
    OutputKind::new(7, "concordance", "the gene trees and sites that agree with each branch");

/// What gene trees and sites have in the place of the branches.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The tree was written with lengths.
    pub has_lengths: bool,
    /// Numbers of gene trees.
    pub genes: Option<BTreeMap<EdgeId, GeneConcordance>>,
    /// Means over quartets.
    pub sites: Option<BTreeMap<EdgeId, SiteConcordance>>,
}

/// Values of these branches of a tree, by its edges.
fn by_edge(tree: &Tree, branches: &[Around], values: Vec<Option<f64>>) -> Vec<Option<f64>> {
    let mut all = vec![None; tree.num_edges()];
    for (branch, value) in branches.iter().zip(values) {
        all[branch.edge.index()] = value;
    }
    all
}

/// Adds the gene concordance factors of these branches of a tree, and the numbers from which they come.
pub(crate) fn add_gene_concordance(
    tree: &Tree,
    branches: &[Around],
    genes: &[Multifurcating],
    plan: &Plan,
    (support, found): (&mut BranchSupport, &mut Found),
) {
    let counts = with_threads(plan, || gene_concordance(branches, genes));
    let factors = counts.iter().map(|count| count.factor()).collect();
    let source = format!("{} gene trees", genes.len());
    support.push(SupportKind::GeneConcordance, by_edge(tree, branches, factors), source);
    found.genes = Some(branches.iter().map(|branch| branch.edge).zip(counts).collect());
}

/// Adds the site concordance factors of these branches of a tree, and the means from which they come.
pub(crate) fn add_site_concordance(
    tree: &Tree,
    branches: &[Around],
    counted: &SiteQuartets,
    (support, found): (&mut BranchSupport, &mut Found),
) {
    let means = counted.means();
    let factors = means.iter().map(|mean| mean.factor()).collect();
    let source = format!("the sites of {} quartets of each", counted.number());
    support.push(SupportKind::SiteConcordance, by_edge(tree, branches, factors), source);
    found.sites = Some(branches.iter().map(|branch| branch.edge).zip(means).collect());
}

/// Prints, reports and writes the concordance of the branches of a tree; `support` has the factors.
///
/// # Errors
/// A file that cannot be written.
pub(crate) fn deliver_concordance(
    tree: &Tree,
    support: &BranchSupport,
    found: &Found,
    taxa: &Taxa,
    record: &mut RunRecord,
) -> Result<()> {
    let drawing = drawing_of(tree, found.has_lengths);
    deliver_drawn(drawing.clone(), support, taxa, None, record)?;
    let Drawn { labelled, .. } = draw_support(drawing, support, taxa, None);
    let (mut text, mut reports) = (found.heading(), Vec::new());
    for (number, branch) in labelled.into_iter().enumerate() {
        let edge = EdgeId(branch as u32);
        let side = smaller_side(tree, edge);
        let names: Vec<String> = side.iter().map(|&taxon| taxa.name(taxon).to_string()).collect();
        text.push_str(&format!("{}", number + 1));
        found.write_numbers(edge, &mut text);
        let brlen = found.has_lengths.then(|| tree.brlen(edge));
        let length = brlen.map_or("NA".to_string(), format_brlen);
        let quoted: Vec<_> = names.iter().map(|name| quote(name)).collect();
        text.push_str(&format!("\t{length}\t{}\n", quoted.join(",")));
        let report = ConcordanceReport {
            taxa: names,
            brlen,
            genes: found.genes.as_ref().map(|genes| GeneCounts {
                concordant: genes[&edge].resolutions[0],
                discordant: [genes[&edge].resolutions[1], genes[&edge].resolutions[2]],
                others: genes[&edge].others,
            }),
            sites: found.sites.as_ref().map(|sites| {
                let SiteConcordance { quartets, percents, sites } = sites[&edge];
                SiteMeans { quartets, percents, sites }
            }),
        };
        reports.push(report);
    }
    if !reports.is_empty() {
        record.report.write_section(&CONCORDANCE_SECTION, &reports);
    }
    record.write(CONCORDANCE, &text)
}

impl Found {
    /// The names of the columns, as in IQ-TREE where they mean the same.
    fn heading(&self) -> String {
        let mut names = vec!["branch"];
        if self.genes.is_some() {
            names.extend([
                "gCF", "gCF_N", "gDF1", "gDF1_N", "gDF2", "gDF2_N", "gDFP", "gDFP_N", "gN",
            ]);
        }
        if self.sites.is_some() {
            names.extend(["sCF", "sCF_N", "sDF1", "sDF1_N", "sDF2", "sDF2_N", "sN"]);
        }
        names.extend(["length", "taxa"]);
        names.join("\t") + "\n"
    }

    /// The columns of a branch: each percentage with its number, then the number that is 100 %.
    fn write_numbers(&self, edge: EdgeId, text: &mut String) {
        let percent =
            |value: Option<f64>| value.map_or("NA".to_string(), |value| format!("{value:.2}"));
        if let Some(genes) = &self.genes {
            let counts = genes[&edge];
            for number in counts.resolutions.into_iter().chain([counts.others]) {
                text.push_str(&format!("\t{}\t{number}", percent(counts.percent(number))));
            }
            text.push_str(&format!("\t{}", counts.decisive()));
        }
        if let Some(sites) = &self.sites {
            let means = sites[&edge];
            for (value, number) in means.percents.into_iter().zip(means.sites) {
                let value = percent((means.quartets > 0).then_some(value));
                text.push_str(&format!("\t{value}\t{number:.2}"));
            }
            text.push_str(&format!("\t{:.2}", means.sites.iter().sum::<f64>()));
        }
    }
}
