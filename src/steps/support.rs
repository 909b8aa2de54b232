//! Support of the branches of a tree: computed from replicates, printed, reported and written.

use super::summary::describe_support;
use crate::bootstrap::{Support, SupportKind, internode_certainty, map_support, map_transfer};
use crate::dataset::Root;
use crate::error::Result;
use crate::output::{BranchSupportReport, OutputKind, SupportReport};
use crate::runtime::RunRecord;
use crate::taxa::Taxa;
use crate::tree::{Drawing, Drawn, Multifurcating, Tree};
use std::collections::BTreeSet;

/// The tree with support values.
pub(crate) const SUPPORT: OutputKind =
    OutputKind::new(6, "support", "the tree with support values").of_trees("support");

/// What is known about the support of a tree's branches.
#[derive(Debug, Clone, Default)]
pub(crate) struct BranchSupport {
    /// Values by branch (edge of the tree), with what they were computed from ("100 trees"), in the order of a label.
    pub kinds: Vec<(Support, String)>,
    /// Mean transfer distances, by edge, where they were computed.
    pub transfer_distances: Option<Vec<Option<f64>>>,
    /// Number of resampled alignments of SH-aLRT, if it was computed.
    pub sh_alrt_replicates: Option<usize>,
}

impl BranchSupport {
    /// Adds a kind, which comes last in a label.
    pub(crate) fn push(&mut self, kind: SupportKind, values: Vec<Option<f64>>, source: String) {
        self.kinds.push((Support { kind, values }, source));
    }

    /// Adds those of these kinds that are computed from replicate trees.
    pub(crate) fn add_replicates(
        &mut self,
        tree: &Tree,
        replicates: &[Multifurcating],
        kinds: &[SupportKind],
    ) {
        let source = || format!("{} trees", replicates.len());
        let is_certainty = |kind: &SupportKind| {
            matches!(kind, SupportKind::InternodeCertainty | SupportKind::InternodeCertaintyAll)
        };
        let certainty =
            kinds.iter().any(is_certainty).then(|| internode_certainty(tree, replicates));
        for &kind in kinds {
            match kind {
                SupportKind::ShAlrt
                | SupportKind::ABayes
                | SupportKind::GeneConcordance
                | SupportKind::SiteConcordance => {}
                SupportKind::InternodeCertainty | SupportKind::InternodeCertaintyAll => {
                    let values = certainty.as_ref().map(|found| match kind {
                        SupportKind::InternodeCertainty => found.ic.clone(),
                        _ => found.ica.clone(),
                    });
                    self.push(kind, values.unwrap_or_default(), source());
                }
                SupportKind::Felsenstein => {
                    self.push(kind, map_support(tree, replicates), source());
                }
                SupportKind::Transfer => {
                    let transfer = map_transfer(tree, replicates);
                    self.push(kind, transfer.support, source());
                    self.transfer_distances = Some(transfer.mean_distances);
                }
            }
        }
    }

    /// Forgets what is known of these branches.
    pub(crate) fn forget(&mut self, is_meant: impl Fn(usize) -> bool) {
        let of_kinds = self.kinds.iter_mut().map(|(support, _)| &mut support.values);
        for values in of_kinds.chain(&mut self.transfer_distances) {
            let meant = values.iter_mut().enumerate().filter(|(branch, _)| is_meant(*branch));
            meant.for_each(|(_, value)| *value = None);
        }
    }
}

/// Prints, reports and writes the support of a tree with lengths, rooted if that was asked for.
///
/// # Errors
/// A file that cannot be written.
pub(crate) fn deliver_support(
    tree: &Tree,
    support: &BranchSupport,
    taxa: &Taxa,
    root: Option<&Root>,
    record: &mut RunRecord,
) -> Result<()> {
    deliver_drawn(drawing_of(tree, true), support, taxa, root, record)
}

/// A tree that is drawn with its lengths, if it has any.
pub(crate) fn drawing_of(tree: &Tree, has_lengths: bool) -> Drawing {
    let drawing = Drawing::of_tree(tree, |_| None);
    if has_lengths { drawing } else { drawing.without_lengths() }
}

/// Prints, reports and writes the support of a drawing, rooted if that was asked for.
///
/// # Errors
/// A file that cannot be written.
pub(crate) fn deliver_drawn(
    drawing: Drawing,
    support: &BranchSupport,
    taxa: &Taxa,
    root: Option<&Root>,
    record: &mut RunRecord,
) -> Result<()> {
    let newick = report_support(drawing, support, taxa, root, record);
    record.write(SUPPORT, &(newick + "\n"))
}

/// Prints and reports the support of the branches of a drawing. Returns the tree with the support as labels.
pub(crate) fn report_support(
    drawing: Drawing,
    support: &BranchSupport,
    taxa: &Taxa,
    root: Option<&Root>,
    record: &mut RunRecord,
) -> String {
    let Drawn { newick, labelled } = draw_labelled(drawing, support, taxa, root);
    for (values, source) in &support.kinds {
        record.progress.result(&describe_support(values, source));
    }
    if support.kinds.len() > 1 {
        let order: Vec<&str> =
            support.kinds.iter().map(|(values, _)| values.kind.title()).collect();
        record.progress.result(&format!("labels of branches: {}\n", order.join(" / ")));
    }
    record.report.support = Some(SupportReport {
        tree: newick.clone(),
        label: support.kinds.iter().map(|(values, _)| values.kind.name()).collect(),
        sh_alrt_replicates: support.sh_alrt_replicates,
        branches: report_branches(support, &labelled),
    });
    newick
}

/// A tree with its lengths and the support of its branches.
pub(crate) fn draw_support(
    drawing: Drawing,
    support: &BranchSupport,
    taxa: &Taxa,
    root: Option<&Root>,
) -> Drawn {
    draw_labelled(drawing, support, taxa, root)
}

/// The same without these inner branches, so that the nodes at their ends become one.
pub(crate) fn draw_collapsed(
    tree: &Tree,
    support: &BranchSupport,
    taxa: &Taxa,
    is_left_out: impl Fn(usize) -> bool,
) -> Drawn {
    let drawing = Drawing::of_tree(tree, |_| None).without(is_left_out);
    draw_labelled(drawing, support, taxa, None)
}

fn draw_labelled(
    drawing: Drawing,
    support: &BranchSupport,
    taxa: &Taxa,
    root: Option<&Root>,
) -> Drawn {
    let drawing = drawing.relabelled(|branch| label(support, branch));
    let place = root.and_then(|root| root.place(&drawing));
    drawing.draw(|taxon| taxa.name(taxon), place, None)
}

/// The label of a branch: all kinds of support, if it has any.
fn label(support: &BranchSupport, branch: usize) -> Option<String> {
    let value = |(Support { kind, values }, _): &(Support, String)| {
        let value = values[branch].map(|value| kind.label(value));
        value.or_else(|| kind.absent().map(String::from))
    };
    let label: Option<Vec<String>> = support.kinds.iter().map(value).collect();
    label.filter(|label| !label.is_empty()).map(|label| label.join("/"))
}

/// The values of these branches. One with a root in it occurs twice.
fn report_branches(support: &BranchSupport, labelled: &[usize]) -> Vec<BranchSupportReport> {
    let mut seen = BTreeSet::new();
    let report = |&branch: &usize| BranchSupportReport {
        is_second_half: !seen.insert(branch),
        ..report_branch(support, branch)
    };
    labelled.iter().map(report).collect()
}

fn report_branch(support: &BranchSupport, edge: usize) -> BranchSupportReport {
    let distances = support.transfer_distances.as_ref();
    let transfer_distance = distances.and_then(|distances| distances[edge]);
    let mut report = BranchSupportReport { transfer_distance, ..BranchSupportReport::default() };
    for (Support { kind, values }, _) in &support.kinds {
        let place = match kind {
            SupportKind::ShAlrt => &mut report.sh_alrt,
            SupportKind::ABayes => &mut report.abayes,
            SupportKind::Felsenstein => &mut report.fbp,
            SupportKind::Transfer => &mut report.tbe,
            SupportKind::InternodeCertainty => &mut report.ic1,
            SupportKind::InternodeCertaintyAll => &mut report.ica,
            SupportKind::GeneConcordance => &mut report.gcf,
            SupportKind::SiteConcordance => &mut report.scf,
        };
        *place = values[edge];
    }
    report
}
