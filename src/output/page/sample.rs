//! The section of a sample from the posterior distribution.

use super::numbers::{Cell, Column, bar, count, facts, short, table};
use super::record::Field;
use super::section::Section;
use crate::output::svg::{Panel, Series, Surface, draw_on};
use maud::{Markup, PreEscaped, html};
use serde_json::Value;

/// Most rows of a table.
const MOST_ROWS: usize = 300;
/// Most names of a clade.
const MOST_NAMES: usize = 8;
/// Effective sample sizes that are enough, and an average standard deviation of split frequencies that is small.
const GOOD_ESS: f64 = 200.0;
const GOOD_ASDSF: f64 = 0.01;

/// The section.
pub(super) fn section(result: &Value) -> Option<Section> {
    let sampling = result.at("sampling")?;
    let number = |path: &str| sampling.number(path);
    let form = |path: &str, form: fn(f64) -> String| number(path).map_or(String::new(), form);
    let pairs = [
        ("generations", form("generations", count)),
        ("runs", form("runs", count)),
        ("chains", form("chains", count)),
        ("samples of each run", form("samples", count)),
        ("left aside", form("burnin_samples", count)),
        ("ASDSF", form("agreement.asdsf", |x| format!("{x:.5}"))),
        ("least ESS of a parameter", form("agreement.least_ess", |x| format!("{x:.0}"))),
        ("least ESS of a split", form("agreement.least_split_ess", |x| format!("{x:.0}"))),
        ("ESS of the topologies", form("agreement.tree_ess", |x| format!("{x:.0}"))),
        ("largest PSRF", form("agreement.largest_psrf", |x| format!("{x:.3}"))),
        ("ln marginal likelihood", form("marginal_likelihood.ln", |x| format!("{x:.3}"))),
    ];
    let doubts = [
        number("agreement.asdsf")
            .filter(|x| *x > GOOD_ASDSF)
            .map(|_| "the runs do not agree on the trees yet (ASDSF above 0.01)"),
        number("agreement.least_ess")
            .filter(|x| *x < GOOD_ESS)
            .map(|_| "a parameter has an effective sample size below 200"),
        number("agreement.largest_psrf")
            .filter(|x| *x > 1.02)
            .map(|_| "the runs differ in a parameter (PSRF above 1.02)"),
    ];
    let doubts: Vec<&str> = doubts.into_iter().flatten().collect();
    let body = html! {
        (facts(&pairs))
        @if doubts.is_empty() { p { "Nothing speaks against convergence." } }
        @else { p { strong { "More generations are needed: " } (doubts.join("; ")) "." } }
        (traces(sampling))
        (splits_of_runs(sampling))
        h3 { "Parameters" }
        (parameters(sampling))
        h3 { "Clades" }
        (clades(sampling))
        @for set in sampling.list("credible_sets") {
            p { (set.number("topologies").map_or(String::new(), count)) " topologies have " (set.number("share").map_or(String::new(), |x| format!("{:.0} %", 100.0 * x))) " of the samples. " }
        }
    };
    Some(Section { id: "sample", title: "Sample", body })
}

/// Log-likelihood and tree length over the generations, a line for each run; what was left aside is grey.
fn traces(sampling: &Value) -> Markup {
    let mut panels: Vec<Panel> = Vec::new();
    let left_aside = sampling.number("burnin_samples").zip(sampling.number("sample_every"));
    let grey_until = left_aside.map(|(samples, every)| samples * every);
    for trace in sampling.list("traces") {
        let (Some(name), Some(apart)) = (trace.text("name"), trace.number("generations_apart"))
        else {
            continue;
        };
        let values = trace.numbers("values");
        // The way from the starting tree would leave no room for the rest.
        let late = &values[(values.len() / 8).min(values.len())..];
        let least = late.iter().copied().fold(f64::INFINITY, f64::min);
        let points = values.iter().enumerate().map(|(i, value)| [i as f64 * apart, *value]);
        let series = Series {
            points: points.filter(|point| name != "LnL" || point[1] >= least).collect(),
            is_line: true,
            name: format!("run {}", trace.number("run").unwrap_or(0.0)),
        };
        match panels.iter_mut().find(|panel| panel.title == name) {
            Some(panel) => panel.series.push(series),
            None => panels.push(Panel {
                title: name.to_string(),
                x_label: "generation".to_string(),
                series: vec![series],
                grey_until,
                ..Panel::default()
            }),
        }
    }
    html! { @if !panels.is_empty() { (PreEscaped(draw_on(Surface::Page, "", &panels, 2))) } }
}

fn parameters(sampling: &Value) -> Markup {
    let row = |parameter: &Value| {
        let number = |name: &str| Cell::number(parameter.number(name), short);
        let interval: Vec<String> = parameter.numbers("hpd95").into_iter().map(short).collect();
        vec![
            Cell::text(parameter.text("name").unwrap_or_default()),
            number("mean"),
            number("sd"),
            number("median"),
            Cell::text(&interval.join(" to ")),
            Cell::number(parameter.number("ess"), |x| format!("{x:.0}")),
            Cell::number(parameter.number("psrf"), |x| format!("{x:.3}")),
        ]
    };
    let rows: Vec<Vec<Cell>> =
        sampling.list("parameters").iter().take(MOST_ROWS).map(row).collect();
    let heads = [
        ("parameter", Column::Text),
        ("mean", Column::Number),
        ("sd", Column::Number),
        ("median", Column::Number),
        ("95 % interval", Column::Text),
        ("ESS", Column::Number),
        ("PSRF", Column::Number),
    ];
    table("Parameters", &heads, &rows)
}

fn clades(sampling: &Value) -> Markup {
    let row = |split: &Value| {
        let taxa = split.texts("taxa");
        let more = taxa.len().saturating_sub(MOST_NAMES);
        let mut names = taxa.iter().take(MOST_NAMES).copied().collect::<Vec<_>>().join(", ");
        if more > 0 {
            names.push_str(&format!(" and {more} more"));
        }
        let probability = split.number("probability").unwrap_or(0.0);
        vec![
            Cell::drawn(bar(probability, &format!("{probability:.3}")), Some(probability)),
            Cell::number(Some(taxa.len() as f64), count),
            Cell::text(&names),
            Cell::number(split.number("mean_length"), short),
            Cell::number(split.number("ess"), |x| format!("{x:.0}")),
        ]
    };
    let found = sampling.list("splits");
    let inner = found.iter().filter(|split| split.list("taxa").len() > 1);
    let rows: Vec<Vec<Cell>> = inner.take(MOST_ROWS).map(row).collect();
    let heads = [
        ("probability", Column::Text),
        ("taxa", Column::Number),
        ("clade (the side without the first taxon)", Column::Wide),
        ("mean length", Column::Number),
        ("ESS", Column::Number),
    ];
    table("Clades", &heads, &rows)
}

/// The frequencies of splits in each other run against those in the first.
fn splits_of_runs(sampling: &Value) -> Markup {
    let splits: Vec<Vec<f64>> =
        sampling.list("splits").iter().map(|split| split.numbers("of_runs")).collect();
    let runs = splits.first().map_or(0, Vec::len);
    if runs < 2 {
        return html! {};
    }
    let panel = |run: usize| Panel {
        title: format!("frequencies of splits: run {} against run 1", run + 1),
        x_label: "run 1".to_string(),
        least_range: Some([[0.0, 1.0]; 2]),
        series: vec![Series {
            points: splits
                .iter()
                .filter(|of| of.len() == runs)
                .map(|of| [of[0], of[run]])
                .collect(),
            ..Series::default()
        }],
        dashed: Some([[0.0, 0.0], [1.0, 1.0]]),
        ..Panel::default()
    };
    let panels: Vec<Panel> = (1..runs.min(5)).map(panel).collect();
    html! { (PreEscaped(draw_on(Surface::Page, "", &panels, 2))) }
}
