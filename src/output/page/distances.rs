//! The section of distances: between sequences, and between trees.

use super::data::in_order;
use super::numbers::{count, facts, short};
use super::record::Field;
use super::section::Section;
use maud::{Markup, html};
use serde_json::Value;

/// The section of distances between sequences.
pub(super) fn section(result: &Value) -> Option<Section> {
    let found = result.at("distances")?;
    let body = html! {
        (numbers(found))
        @for partition in found.list("partitions") {
            h3 { (partition.text("name").unwrap_or_default()) }
            (numbers(partition))
        }
        @if !found.texts("map.rows").is_empty() {
            h3 { "Distances between all taxa" }
            canvas.map data-map="distances" role="img" aria-label="Map of the distances between all taxa, from light for the least to dark for the largest; the file of distances has the numbers." {}
            p.soft {
                "Rows and columns are taxa, in the order of the leaves of a tree of average linkage (UPGMA), so that those which are near "
                "to each other are together. "
                @if !found.numbers("map.row_sizes").is_empty() {
                    "Of the " (count(found.texts("map.taxa").len() as f64)) " taxa, the nearest share a row with the means of their distances. "
                }
                "Light: near; dark: far, or not known."
            }
            (in_order("Taxa from the first row to the last", found, ["map.taxa", "map.row_sizes"]))
        }
    };
    Some(Section { id: "distances", title: "Distances", body })
}

fn numbers(found: &Value) -> Markup {
    let form = |path: &str, form: fn(f64) -> String| found.number(path).map_or(String::new(), form);
    let positive =
        |path: &str| found.number(path).filter(|n| *n > 0.0).map_or(String::new(), count);
    let pairs = [
        ("pairs", form("pairs", count)),
        ("least", form("least", short)),
        ("mean", form("mean", short)),
        ("largest", form("largest", short)),
        ("saturated", positive("saturated")),
        ("without common sites", positive("without_overlap")),
    ];
    html! {
        @if let Some(method) = found.text("method") { p { "Distances by " (method) "." } }
        (facts(&pairs))
    }
}
