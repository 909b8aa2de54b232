//! The section of the search: the log-likelihood over time, and how far different starting trees agree.

use super::numbers::{Cell, Column, count, facts, lnl, short, table};
use super::record::Field;
use super::section::Section;
use crate::output::svg::{Panel, Series, Surface, draw_on};
use maud::{Markup, PreEscaped, html};
use serde_json::Value;

/// Most trees in the table.
const MOST_TREES: usize = 200;

/// The section.
pub(super) fn section(result: &Value) -> Option<Section> {
    // A selection of models fits partitions and parts of them, which is no progress of one likelihood.
    let has_history =
        result.list("run.log_likelihoods").len() > 1 && result.at("best_tree").is_some();
    let trees = result.list("trees");
    if !has_history && result.at("agreement").is_none() && trees.len() < 2 {
        return None;
    }
    let body = html! {
        (agreement(result))
        @if has_history { (history(result)) }
        @if trees.len() > 1 { (table_of_trees(trees)) }
    };
    Some(Section { id: "search", title: "Search", body })
}

/// How far starting trees agree, in words.
fn agreement(result: &Value) -> Markup {
    let Some(found) = result.at("agreement") else { return html! {} };
    let number = |name: &str| found.number(name).unwrap_or(0.0);
    let (fewest, most) = (number("fewest_different_branches"), number("most_different_branches"));
    let differ =
        if fewest == most { count(most) } else { format!("{} to {}", count(fewest), count(most)) };
    let pairs = [
        ("starting trees", count(number("starting_trees"))),
        (
            "their trees differ in",
            format!("{differ} of {} inner branches", count(number("branches"))),
        ),
        ("and by", format!("{} log-likelihood units", short(number("log_likelihood_range")))),
        (
            "perturbations that led to a better tree",
            format!("{} of {}", count(number("improvements")), count(number("perturbations"))),
        ),
    ];
    let is_one_tree = most == 0.0;
    html! {
        (facts(&pairs))
        p {
            @if found.is("after_one_round") { "The trees are those after one round of the search from each starting tree. " }
            @else { "The trees are those at the ends of the searches. " }
            @if found.is("still_adding") {
                strong { "The last perturbations still led to better trees: --thorough or another seed may find a better one." }
            } @else if is_one_tree { "All of them are the same: the best tree was easy to find." }
            @else { "Where they differ, the best tree is not easy to find; trust the branches that have support." }
        }
    }
}

/// Points in time with a log-likelihood.
type Points = Vec<[f64; 2]>;

/// The log-likelihood over time: for each search the best so far as a line, and what each round reached as dots.
fn history(result: &Value) -> Markup {
    let mut searches: Vec<(&str, Points)> = Vec::new();
    let mut phases: Vec<(&str, f64, f64)> = Vec::new();
    for point in result.list("run.log_likelihoods") {
        let Some((seconds, value)) = point.number("seconds").zip(point.number("log_likelihood"))
        else {
            continue;
        };
        let start = point.text("start").unwrap_or("best so far");
        match searches.iter_mut().find(|known| known.0 == start) {
            Some(known) => known.1.push([seconds, value]),
            None => searches.push((start, vec![[seconds, value]])),
        }
        let phase = point.text("phase").unwrap_or_default();
        match phases.last_mut().filter(|last| last.0 == phase) {
            Some(last) => *last = (phase, seconds, last.2.max(value)),
            None => phases.push((phase, seconds, value)),
        }
    }
    let most = searches.iter().flat_map(|search| &search.1).map(|point| point[1]);
    let best = most.clone().fold(f64::NEG_INFINITY, f64::max);
    // The way from the first parameters would leave no room for the rest.
    let mut values: Vec<f64> = most.collect();
    values.sort_by(f64::total_cmp);
    let low = values.get(values.len() / 5).copied().unwrap_or(best);
    let least = low - 0.5 * (best - low).max(1.0);
    let shown = |points: Points| points.into_iter().filter(|point| point[1] >= least).collect();
    let best_so_far = |points: &Points| -> Points {
        let mut so_far = f64::NEG_INFINITY;
        let reached = |point: &[f64; 2]| {
            so_far = so_far.max(point[1]);
            [point[0], so_far]
        };
        points.iter().map(reached).collect()
    };
    let mut series: Vec<Series> = searches
        .iter()
        .map(|(name, points)| Series {
            points: shown(best_so_far(points)),
            is_line: true,
            name: name.to_string(),
        })
        .collect();
    if let [(_, points)] = searches.as_slice() {
        let name = "each round".to_string();
        series.push(Series { points: shown(points.clone()), is_line: false, name });
    }
    let x_label = "seconds".to_string();
    let panel = Panel { title: "log-likelihood".to_string(), x_label, series, ..Panel::default() };
    let svg = draw_on(Surface::Page, "", &[panel], 1);
    let row = |(phase, seconds, value): &(&str, f64, f64)| {
        vec![
            Cell::text(phase),
            Cell::number(Some(*seconds), |x| format!("{x:.2}")),
            Cell::number(Some(*value), lnl),
            Cell::number(Some(best - value), |x| format!("{x:.4}")),
        ]
    };
    let rows: Vec<Vec<Cell>> = phases.iter().take(MOST_TREES).map(row).collect();
    let heads = [
        ("phase", Column::Text),
        ("until (s)", Column::Number),
        ("best log-likelihood", Column::Number),
        ("below the end", Column::Number),
    ];
    html! {
        div.columns {
            div { (PreEscaped(svg)) }
            div { (table("Log-likelihoods of the phases", &heads, &rows)) }
        }
    }
}

fn table_of_trees(trees: &[Value]) -> Markup {
    let best = trees
        .iter()
        .filter_map(|tree| tree.number("log_likelihood"))
        .fold(f64::NEG_INFINITY, f64::max);
    let row = |(i, tree): (usize, &Value)| {
        let value = tree.number("log_likelihood");
        vec![
            Cell::number(Some(i as f64 + 1.0), count),
            Cell::text(tree.text("source").unwrap_or_default()),
            Cell::number(value, lnl),
            Cell::number(value.map(|value| best - value), |x| format!("{x:.4}")),
        ]
    };
    let rows: Vec<Vec<Cell>> = trees.iter().take(MOST_TREES).enumerate().map(row).collect();
    let heads = [
        ("tree", Column::Number),
        ("from", Column::Text),
        ("log-likelihood", Column::Number),
        ("behind the best", Column::Number),
    ];
    html! {
        h3 { "Trees" }
        (table("Trees", &heads, &rows))
        @if trees.len() > rows.len() { p { "The JSON file has all " (trees.len()) "." } }
    }
}
