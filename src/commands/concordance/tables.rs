//! Concordance of gene trees and sites with the branches of a tree: as a table, in the report, and in the labels of
//! the tree.

use crate::bootstrap::{GeneConcordance, SiteConcordance};
use crate::error::Result;
use crate::output::{ConcordanceReport, GeneCounts, OutputKind, SiteMeans};
use crate::runtime::RunRecord;
use crate::steps::results::smaller_side;
use crate::steps::support::{BranchSupport, deliver_support, draw_support};
use crate::taxa::Taxa;
use crate::tree::{Drawn, EdgeId, Tree, format_brlen, quote};
use std::collections::BTreeMap;

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
    deliver_support(tree, support, taxa, None, record)?;
    let Drawn { labelled, .. } = draw_support(tree, support, taxa, None);
    let mut text = found.heading();
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
        record.report.concordance.push(report);
    }
    record.write(OutputKind::Concordance, &text)
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
