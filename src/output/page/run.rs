//! The section of the run: command, version, machine, time.

use super::numbers::{Cell, Column, bar, facts, memory, table, time};
use super::record::Field;
use super::section::Section;
use maud::html;
use serde_json::Value;

/// The section.
pub(super) fn section(result: &Value) -> Option<Section> {
    let text = |path: &str| result.text(path).unwrap_or_default().to_string();
    let whole = |path: &str| result.number(path).filter(|n| *n > 0.0);
    let pairs = [
        ("version", text("version")),
        ("seed", result.number("seed").map_or(String::new(), |seed| format!("{seed:.0}"))),
        ("computed by", text("run.backend")),
        ("instruction set", text("run.simd")),
        ("threads", whole("run.threads").map_or(String::new(), |n| format!("{n:.0}"))),
        ("memory of likelihood vectors", whole("run.memory_bytes").map_or(String::new(), memory)),
        ("time", whole("timings.total").map_or(String::new(), time)),
    ];
    let total = whole("timings.total").unwrap_or(1.0);
    let timings = result.at("timings").and_then(Value::as_object);
    let mut phases: Vec<(&str, f64)> = timings
        .into_iter()
        .flatten()
        .filter(|(name, _)| *name != "total")
        .filter_map(|(name, value)| Some((name.as_str(), value.as_f64()?)))
        .collect();
    phases.sort_by(|a, b| b.1.total_cmp(&a.1));
    let row = |&(name, seconds): &(&str, f64)| {
        vec![Cell::text(name), Cell::drawn(bar(seconds / total, &time(seconds)), Some(seconds))]
    };
    let rows: Vec<Vec<Cell>> = phases.iter().map(row).collect();
    let body = html! {
        pre { (text("command")) }
        (facts(&pairs))
        @if !rows.is_empty() { (table("Time of the phases", &[("phase", Column::Text), ("time", Column::Text)], &rows)) }
        p.soft { "The result depends on the data, the options, the seed and the version only: the same command gives the same tree with any number of threads and on any machine." }
    };
    Some(Section { id: "run", title: "Run", body })
}
