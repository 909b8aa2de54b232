//! Outcomes: printed, reported and written.

use super::agreement::{compare, describe};
use super::outcome::{Outcome, best_of};
use super::outgroup::{draw, warn_of_outgroup};
use super::summary::describe_outcomes;
use super::terrace::count_free_edges;
use crate::dataset::{Loaded, write_models};
use crate::error::Result;
use crate::likelihood::{BrlenLinkage, NO_LENGTH};
use crate::observer::Event;
use crate::output::{OutputKind, PartitionReport, SiteProfileReport, TreeReport, UndeterminedEdge};
use crate::plan::Plan;
use crate::runtime::{Session, warn_of_each};
use crate::tree::{Drawing, EdgeId, NewickOptions, Tree, write_newick};

/// The tree with the highest likelihood.
pub(crate) const BEST_TREE: OutputKind =
    OutputKind::new(0, "bestTree", "the tree with the highest likelihood").of_trees("support");

/// The same without branches of no length, if it has any.
pub(crate) const BEST_TREE_COLLAPSED: OutputKind =
    OutputKind::new(1, "bestTreeCollapsed", "the same with polytomies for branches without length")
        .of_trees("support");

/// Its model, usable as `-q` or `-m`.
pub(crate) const BEST_MODEL: OutputKind =
    OutputKind::new(2, "bestModel", "its model with all parameters; can be given as -q or -m");

/// The final tree of every starting tree, or every evaluated tree.
pub(crate) const ML_TREES: OutputKind =
    OutputKind::new(3, "mlTrees", "the final tree of every search, or every evaluated tree")
        .of_trees("support");

/// Log-likelihood of every site.
pub(crate) const SITE_LH: OutputKind =
    OutputKind::new(33, "siteLH", "the log-likelihood of every site");

/// One tree per partition with its own lengths.
pub(crate) const BEST_PARTITION_TREES: OutputKind = OutputKind::new(
    34,
    "bestPartitionTrees",
    "the tree of each partition with its own branch lengths",
)
.of_trees("support");

/// The files of the best tree beyond those of every search and evaluation.
pub(crate) fn outputs(plan: &Plan) -> Vec<OutputKind> {
    let unlinked = plan.linkage() == BrlenLinkage::Unlinked;
    let of_partitions = unlinked.then_some(BEST_PARTITION_TREES);
    let of_sites = plan.output.sitelh.then_some(SITE_LH);
    let collapsed = [BEST_TREE_COLLAPSED].into_iter();
    collapsed.chain(of_partitions).chain(of_sites).collect()
}

/// Prints and reports the outcomes, and writes the files that searches and evaluations have in common.
///
/// # Errors
/// A file that cannot be written.
pub(crate) fn deliver(session: &mut Session, outcomes: &[Outcome]) -> Result<()> {
    let best = &outcomes[best_of(outcomes)];
    let newicks: Vec<String> =
        outcomes.iter().map(|o| draw(&session.setup, &o.tree, None)).collect();
    let best_newick = draw(&session.setup, &best.tree, None);
    report_best(session, best, &best_newick);
    session.record.report.trees = outcomes
        .iter()
        .zip(&newicks)
        .map(|(outcome, newick)| TreeReport {
            source: outcome.source.clone(),
            log_likelihood: outcome.lnl,
            newick: newick.clone(),
        })
        .collect();
    let summary = describe_outcomes(&session.setup, outcomes, best);
    session.record.progress.result(&summary);
    session.record.report.agreement = compare(outcomes);
    if let Some(agreement) = &session.record.report.agreement {
        session.record.progress.result(&describe(agreement));
    }
    let lines =
        |texts: &[String]| -> String { texts.iter().map(|text| format!("{text}\n")).collect() };
    session.record.write(BEST_TREE, &format!("{best_newick}\n"))?;
    deliver_collapsed(session, &best.tree)?;
    let loaded = &session.setup.loaded;
    let in_file = loaded.file_order.iter().map(|&number| {
        let (name, columns) = (&loaded.partitions[number].name, loaded.columns_of(number));
        (name.as_str(), columns, &best.models[number], best.scalers[number])
    });
    let models = write_models(session.setup.plan, in_file);
    session.record.write(BEST_MODEL, &models)?;
    session.record.write(ML_TREES, &lines(&newicks))?;
    if let Some(trees) = &best.partition_trees {
        let Loaded { taxa, file_order, .. } = &session.setup.loaded;
        let trees = file_order.iter().map(|&partition| &trees[partition]);
        let with_data = trees.filter(|(_, taxa_of)| !taxa_of.is_empty());
        let newicks: Vec<String> = with_data
            .map(|(tree, taxa_of)| {
                write_newick(tree, |tip| taxa.name(taxa_of[tip]), &NewickOptions::default())
            })
            .collect();
        session.record.write(BEST_PARTITION_TREES, &lines(&newicks))?;
    }
    if session.setup.plan.output.sitelh {
        session.record.write(SITE_LH, &write_site_lnls(outcomes))?;
    }
    Ok(())
}

/// Writes the best tree with polytomies for its inner branches without length, if it has any.
fn deliver_collapsed(session: &mut Session, tree: &Tree) -> Result<()> {
    let short = Drawing::of_tree(tree, |_| None).count_short(NO_LENGTH);
    let inner = tree.num_tips() - 3;
    if short == 0 {
        return Ok(());
    }
    let newick = draw(&session.setup, tree, Some(NO_LENGTH));
    session.event(Event::Note(format!(
        "{short} of the {inner} inner branches of the best tree have no length (at most {NO_LENGTH}): they say nothing \
         about relationships, and bestTreeCollapsed has polytomies in their place"
    )));
    session.record.report.best_tree_collapsed = Some(newick.clone());
    session.record.write(BEST_TREE_COLLAPSED, &(newick + "\n"))
}

fn report_best(session: &mut Session, best: &Outcome, newick: &str) {
    let Loaded { taxa, root, .. } = &session.setup.loaded;
    warn_of_outgroup(&best.tree, root.as_ref(), taxa, "the best tree", session.record);
    let Loaded { file_order, .. } = &session.setup.loaded;
    let of_partition = |&partition: &usize| {
        best.at_bounds.iter().filter(move |found| found.partition == partition)
    };
    let cases = file_order.iter().flat_map(of_partition).map(|at_bound| {
        let name = &session.setup.loaded.partitions[at_bound.partition].name;
        // The bounds have few digits; further ones are rounding errors of logarithms.
        let bound = (at_bound.value * 1e6).round() / 1e6;
        format!(
            "partition '{name}': the estimate of {} is at its bound, {bound}",
            at_bound.parameter
        )
    });
    let cases: Vec<String> = cases.collect();
    let summary = format!("{} parameter estimates are at a bound", cases.len());
    warn_of_each(session.record, &summary, cases);
    if best.partition_trees.is_some() {
        let (free, inner) = count_free_edges(&best.tree, &session.setup.loaded.presence);
        if free > 0 {
            session.event(Event::Warning(format!(
                "the best tree lies on a terrace: subtrees can be swapped across {free} of its {inner} \
                 inner branches without changing the tree of any partition, so other trees have exactly the \
                 same likelihood (--terrace counts them)"
            )));
        }
    }
    let partition = |&index: &usize| {
        let partition = &session.setup.loaded.partitions[index];
        PartitionReport {
            name: partition.name.clone(),
            model: best.models[index].to_string(),
            sites: partition.patterns.num_sites,
            patterns: partition.patterns.num_patterns(),
            taxa: session.setup.loaded.presence[index].len(),
            log_likelihood: Some(best.partition_lnls[index]),
            brlen_scaler: best.scalers[index],
            tree_length: best.partition_trees.as_ref().map(|trees| trees[index].0.total_length()),
            at_bound: of_partition(&index).map(|found| found.parameter.clone()).collect(),
        }
    };
    let Loaded { taxa, file_order, .. } = &session.setup.loaded;
    let partitions = file_order.iter().map(partition).collect();
    let models = file_order.iter().map(|&index| best.models[index].to_string()).collect();
    let edges = best.undetermined.iter().map(|&edge| UndeterminedEdge {
        taxa: smaller_side(&best.tree, edge).into_iter().map(|t| taxa.name(t).into()).collect(),
        brlen: best.tree.brlen(edge),
    });
    session.record.report.undetermined_edges = edges.collect();
    session.record.report.partitions = partitions;
    session.record.report.model = models;
    session.record.report.site_profile = Some(SiteProfileReport {
        sites_per_value: best.profile.0,
        values: best.profile.1.iter().map(|&value| f64::from(value)).collect(),
    });
    session.record.report.log_likelihood = Some(best.lnl);
    session.record.report.best_tree = Some(newick.to_string());
    session.record.report.run.memory_bytes = best.clv_bytes as u64;
}

/// Taxa on the smaller side of an edge (on a tie the side without taxon 0), ascending.
pub(crate) fn smaller_side(tree: &Tree, edge: EdgeId) -> Vec<usize> {
    let [a, b] = tree.ends(edge);
    let tips = |node| {
        let nodes = tree.preorder(node, edge).into_iter().map(|(node, _)| node);
        let mut tips: Vec<usize> = nodes.filter(|&n| tree.is_tip(n)).map(|n| n.index()).collect();
        tips.sort_unstable();
        tips
    };
    let (a, b) = (tips(a), tips(b));
    match a.len().cmp(&b.len()) {
        std::cmp::Ordering::Less => a,
        std::cmp::Ordering::Greater => b,
        std::cmp::Ordering::Equal if a.first() == Some(&0) => b,
        std::cmp::Ordering::Equal => a,
    }
}

/// In the form of TREE-PUZZLE and RAxML: numbers of trees and sites, then a line per tree.
fn write_site_lnls(outcomes: &[Outcome]) -> String {
    let num_sites = outcomes.first().and_then(|o| o.site_lnls.as_ref()).map_or(0, Vec::len);
    let mut text = format!("{} {num_sites}\n", outcomes.len());
    for (i, outcome) in outcomes.iter().enumerate() {
        text.push_str(&format!("tree{}", i + 1));
        for lnl in outcome.site_lnls.iter().flatten() {
            text.push_str(&format!(" {lnl:.9}"));
        }
        text.push('\n');
    }
    text
}
