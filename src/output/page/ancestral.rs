//! The section of ancestral states: how sure they are at the inner nodes, and what changes along the branches.

use super::numbers::{Cell, Column, bar, count, facts, short, table};
use super::record::Field;
use super::section::Section;
use maud::html;
use serde_json::Value;

/// Most rows of a table.
const MOST_ROWS: usize = 500;
/// A mean probability below which the states of a node are doubtful.
const DOUBTFUL: f64 = 0.8;

/// The section.
pub(super) fn section(result: &Value) -> Option<Section> {
    let nodes = result.list("ancestral.nodes");
    let branches = result.list("ancestral.branches");
    if nodes.is_empty() && branches.is_empty() {
        return None;
    }
    let known: Vec<f64> = nodes.iter().filter_map(|node| node.number("mean_probability")).collect();
    let doubtful = known.iter().filter(|probability| **probability < DOUBTFUL).count();
    let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
    let changes: f64 = branches.iter().filter_map(|branch| branch.number("changes")).sum();
    let mut pairs = vec![("inner nodes", count(nodes.len() as f64))];
    if !known.is_empty() {
        pairs.push(("mean probability of the likeliest states", format!("{mean:.3}")));
        pairs.push(("nodes below 0.8", count(doubtful as f64)));
    }
    if !branches.is_empty() {
        pairs.push(("changes along all branches", count(changes)));
    }
    let node_row = |node: &Value| {
        let probability = node.number("mean_probability");
        let shown = probability.map_or("no data".to_string(), |p| format!("{p:.3}"));
        vec![
            Cell::text(node.text("name").unwrap_or_default()),
            Cell::drawn(bar(probability.unwrap_or(0.0), &shown), probability),
        ]
    };
    let branch_row = |branch: &Value| {
        vec![
            Cell::text(branch.text("from").unwrap_or_default()),
            Cell::text(branch.text("to").unwrap_or_default()),
            Cell::number(branch.number("brlen"), short),
            Cell::number(branch.number("changes"), count),
        ]
    };
    let node_rows: Vec<Vec<Cell>> = nodes.iter().take(MOST_ROWS).map(node_row).collect();
    let branch_rows: Vec<Vec<Cell>> = branches.iter().take(MOST_ROWS).map(branch_row).collect();
    let is_cut = nodes.len().max(branches.len()) > MOST_ROWS;
    let body = html! {
        (facts(&pairs))
        p.soft { "The names of inner nodes are those of the tree \"with names of inner nodes\" above. Headings sort." }
        div.columns {
            @if !node_rows.is_empty() {
                (table("Inner nodes", &[("node", Column::Text), ("mean probability of the likeliest states", Column::Text)], &node_rows))
            }
            @if !branch_rows.is_empty() {
                (table("Changes along branches", &[("from", Column::Text), ("to", Column::Text), ("length", Column::Number), ("changes", Column::Number)], &branch_rows))
            }
        }
        @if is_cut { p { "The first " (MOST_ROWS) " are shown; the JSON file has all." } }
    };
    Some(Section { id: "ancestral", title: "Ancestral states", body })
}
