//! The section of the tests of topologies: which trees the data reject.

use super::numbers::{Cell, Column, count, lnl, short, table};
use super::record::Field;
use super::section::Section;
use maud::{Markup, html};
use serde_json::Value;

/// Most trees.
const MOST_TREES: usize = 200;
/// Most trees in the plot.
const MOST_DRAWN: usize = 60;
/// Half the width of a 95 % interval of a normal distribution, in standard errors.
const NORMAL_95: f64 = 1.96;

/// The section.
pub(super) fn section(result: &Value) -> Option<Section> {
    let trees = result.list("topology_tests.trees");
    if trees.is_empty() {
        return None;
    }
    let evaluated = result.list("trees");
    let mut names: Vec<&str> = Vec::new();
    for tests in trees.iter().filter_map(|tree| tree.at("tests")?.as_object()) {
        names.extend(
            tests
                .keys()
                .map(String::as_str)
                .filter(|name| !names.contains(name))
                .collect::<Vec<_>>(),
        );
    }
    let titles: Vec<&str> = names.iter().map(|name| title(name)).collect();
    let mut heads = vec![
        ("tree", Column::Number),
        ("from", Column::Text),
        ("log-likelihood", Column::Number),
        ("below the best", Column::Number),
    ];
    heads.extend(titles.iter().map(|title| (*title, Column::Text)));
    let row = |(i, tree): (usize, &Value)| {
        let of = evaluated.get(i);
        let source = of.and_then(|of| of.text("source")).unwrap_or_default();
        let mut cells = vec![
            Cell::number(tree.number("tree"), count),
            Cell::text(source),
            Cell::number(of.and_then(|of| of.number("log_likelihood")), lnl),
            Cell::number(tree.number("delta"), |x| format!("{x:.4}")),
        ];
        cells.extend(names.iter().map(|name| verdict(tree, name)));
        cells
    };
    let rows: Vec<Vec<Cell>> = trees.iter().take(MOST_TREES).enumerate().map(row).collect();
    let replicates = result.number("topology_tests.replicates").map_or(String::new(), count);
    let body = html! {
        p { (replicates) " RELL replicates. ✓: in the 95 % confidence set; ✗: rejected." }
        (table("Tests of the trees", &heads, &rows))
        (forest(trees))
    };
    Some(Section { id: "topologies", title: "Tests of the trees", body })
}

fn title(test: &str) -> &str {
    match test {
        "bp" => "bootstrap proportion",
        "kh" => "KH",
        "sh" => "SH",
        "wkh" => "weighted KH",
        "wsh" => "weighted SH",
        "elw" => "expected weight (ELW)",
        "au" => "AU",
        other => other,
    }
}

fn verdict(tree: &Value, name: &str) -> Cell {
    let Some(found) = tree.at("tests").and_then(|tests| tests.get(name)) else {
        return Cell::text("");
    };
    let value = found.number("value");
    let mark = if found.is("in_confidence_set") { "✓" } else { "✗" };
    Cell::drawn(html! { (mark) " " (value.map_or(String::new(), short)) }, value)
}

/// The differences from the best tree with their 95 % intervals, one below the other.
fn forest(trees: &[Value]) -> Markup {
    let found: Vec<(f64, f64, f64)> = trees
        .iter()
        .filter_map(|tree| {
            let error = tree.number("delta_standard_error")?;
            Some((tree.number("tree")?, tree.number("delta")?, NORMAL_95 * error))
        })
        .take(MOST_DRAWN)
        .collect();
    if found.is_empty() {
        return html! {};
    }
    let from = found.iter().map(|(_, delta, half)| delta - half).fold(0.0, f64::min);
    let to = found.iter().map(|(_, delta, half)| delta + half).fold(f64::MIN_POSITIVE, f64::max);
    let (left, width, row) = (60.0, 560.0, 18.0);
    let x = |value: f64| left + (value - from) / (to - from) * (width - left - 20.0);
    let height = row * found.len() as f64 + 34.0;
    html! {
        h3 { "How far below the best" }
        svg.plot width=(width) height=(height) viewBox=(format!("0 0 {width} {height}")) font-size="11" role="img"
            aria-label="Differences of log-likelihood from the best tree with their 95 % intervals; the table has the differences." {
            path d=(format!("M{:.1} 4V{:.1}", x(0.0), height - 28.0)) stroke="currentColor" stroke-dasharray="3 3" {}
            @for (i, (number, delta, half)) in found.iter().enumerate() {
                @let y = row * i as f64 + 12.0;
                text x="8" y=(format!("{:.1}", y + 4.0)) { "tree " (number) }
                path d=(format!("M{:.1} {y:.1}H{:.1}", x(delta - half), x(delta + half))) stroke="currentColor" stroke-width="1.5" {}
                circle cx=(format!("{:.1}", x(*delta))) cy=(format!("{y:.1}")) r="4" fill="var(--bar)" {}
            }
            text x=(format!("{:.1}", x(0.0))) y=(height - 8.0) text-anchor="middle" { "0" }
            text x=(width - 20.0) y=(height - 8.0) text-anchor="end" { (short(to)) " log-likelihood units below the best" }
        }
        p.soft { "Dots: differences of log-likelihood; lines: 95 % intervals from the differences between sites. An interval with 0 in it is no test of several trees at once: those are in the table." }
    }
}
