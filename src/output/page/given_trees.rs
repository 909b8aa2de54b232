//! The sections of trees that were compared, and of a terrace.

use super::numbers::{Cell, Column, bar, count, facts, short, table};
use super::record::Field;
use super::section::Section;
use maud::html;
use serde_json::Value;

/// Longest number that is written with all its digits.
const MOST_DIGITS: usize = 15;

/// The section of distances between trees.
pub(super) fn compared(result: &Value) -> Option<Section> {
    let found = result.at("rf_distances")?;
    let trees = found.number("trees")?;
    let mut pairs = vec![("trees", count(trees))];
    if let Some(references) = found.number("references") {
        pairs = vec![
            ("trees of the first file", count(references)),
            ("compared with", count(trees - references)),
        ];
    }
    pairs.push(("distinct topologies", found.number("topologies").map_or(String::new(), count)));
    let row = |metric: &Value| {
        let relative = metric.number("mean_relative");
        let shown = relative.map_or(String::new(), |share| format!("{share:.4}"));
        vec![
            Cell::text(name_of_metric(metric.text("metric").unwrap_or_default())),
            Cell::number(metric.number("mean"), short),
            Cell::drawn(bar(relative.unwrap_or(0.0), &shown), relative),
        ]
    };
    let rows: Vec<Vec<Cell>> = found.list("metrics").iter().map(row).collect();
    let heads =
        [("distance", Column::Text), ("mean", Column::Number), ("of the largest", Column::Text)];
    let body = html! {
        (facts(&pairs))
        @if !rows.is_empty() { (table("Distances between trees", &heads, &rows)) }
        p.soft { "Means over all pairs. 0: the same trees; 1: as far from each other as possible. The file of distances has those of each pair." }
    };
    Some(Section { id: "tree-distances", title: "Distances between trees", body })
}

fn name_of_metric(metric: &str) -> &str {
    match metric {
        "rf" => "Robinson-Foulds",
        "wrf" => "weighted Robinson-Foulds",
        "kf" => "branch score (Kuhner-Felsenstein)",
        "quartet" => "quartets",
        other => other,
    }
}

/// The section of the trees with the same likelihood.
pub(super) fn terrace(result: &Value) -> Option<Section> {
    let found = result.at("terrace")?;
    let digits = found.text("trees")?;
    let bound = if found.is("is_exact") { "" } else { "at least " };
    let number = match digits.len() {
        ..=MOST_DIGITS => count(digits.parse().ok()?),
        _ => {
            let exponent = digits.len() - 1;
            format!("{}.{} × 10^{exponent}", digits.get(..1)?, digits.get(1..4)?)
        }
    };
    let is_alone = digits == "1" && found.is("is_exact");
    let pairs = [
        ("trees on the terrace", format!("{bound}{number}")),
        ("written to the file", found.number("written").map_or(String::new(), count)),
        (
            "taxon with data everywhere",
            found.text("comprehensive_taxon").unwrap_or("none").to_string(),
        ),
    ];
    let body = html! {
        (facts(&pairs))
        @if is_alone { p { "The tree is alone: no other one gives every partition the same tree." } }
        @else { p {
            "With branch lengths of their own in each partition (-M), all these trees have exactly the same likelihood: the data cannot tell "
            "them apart. Rely on what they have in common: " code { "mlsearch consensus" } " of the trees that were written."
        } }
    };
    Some(Section { id: "terrace", title: "Terrace", body })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(section: Option<Section>) -> String {
        section.map_or(String::new(), |section| section.body.into_string())
    }

    #[test]
    fn numbers_of_trees_are_legible_however_many_they_are() {
        let of = |trees: &str, is_exact: bool| {
            let text = format!(
                r#"{{"terrace": {{"trees": "{trees}", "is_exact": {is_exact}, "written": 1}}}}"#
            );
            shown(terrace(&serde_json::from_str(&text).unwrap()))
        };
        assert!(of("1", true).contains("alone") && !of("1", false).contains("alone"));
        assert!(of("61", false).contains("at least 61"));
        assert!(of("12345678901234567890", true).contains("1.234 × 10^19"));
        for odd in ["", "x", "äöüäöüäöüäöüäöüäöü"] {
            of(odd, true);
        }
    }

    #[test]
    fn what_is_absent_is_left_out() {
        let value = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
        for text in ["{}", r#"{"rf_distances": 1, "terrace": []}"#] {
            assert!(compared(&value(text)).is_none() && terrace(&value(text)).is_none(), "{text}");
        }
        let text = r#"{"rf_distances": {"trees": 5, "references": 2, "metrics": [{"metric": "rf", "mean": 3.5}]}}"#;
        let page = shown(compared(&value(text)));
        assert!(page.contains("Robinson-Foulds") && page.contains("compared with"), "{page}");
    }
}
