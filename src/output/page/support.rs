//! The section of the support of branches: its distribution, and whether there are enough replicates.

use super::numbers::{count, facts, percent};
use super::record::Field;
use super::section::Section;
use super::trees::{full_support, name_of_support};
use maud::{Markup, html};
use serde_json::Value;

/// Number of bars of a histogram.
const BARS: usize = 20;
/// Size of a histogram.
const SIZE: [f64; 2] = [420.0, 150.0];

/// The section.
pub(super) fn section(result: &Value) -> Option<Section> {
    let branches = result.list("support.branches");
    let kinds = result.texts("support.label");
    let replicates = result.number("bootstrap.replicates");
    if kinds.is_empty() && replicates.is_none() {
        return None;
    }
    let body = html! {
        @if let Some(number) = replicates {
            p { (count(number)) " replicates"
                @if let Some(sampling) = result.text("bootstrap.sampling").filter(|s| *s != "site") { " (resampling: " (sampling) ")" } ". "
                (bootstopping(result)) }
        }
        div.columns {
            @for kind in kinds { (of_kind(kind, branches)) }
        }
    };
    Some(Section { id: "support", title: "Support", body })
}

fn of_kind(kind: &str, branches: &[Value]) -> Markup {
    let whole = branches.iter().filter(|branch| !branch.is("is_second_half"));
    let values: Vec<f64> = whole.filter_map(|branch| branch.number(kind)).collect();
    if values.is_empty() {
        return html! {};
    }
    let full = full_support(kind);
    let least = |share: f64| {
        let number = values.iter().filter(|value| **value >= share * full).count();
        format!("{number} of {} ({})", values.len(), percent(number as f64 / values.len() as f64))
    };
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let name = name_of_support(kind);
    let at_least =
        |share: f64| format!("at least {}", if full == 1.0 { share } else { 100.0 * share });
    let bounds = [0.95, 0.7, 0.5].map(|share| (at_least(share), least(share)));
    let mut pairs =
        vec![("mean", if full == 1.0 { format!("{mean:.3}") } else { format!("{mean:.1}") })];
    pairs.extend(bounds.iter().map(|(name, text)| (name.as_str(), text.clone())));
    html! {
        div {
            h3 { (name) }
            (histogram(&values, full, name))
            (facts(&pairs))
        }
    }
}

/// How many branches have which support.
fn histogram(values: &[f64], full: f64, name: &str) -> Markup {
    // Internode certainty may be negative.
    let from = if values.iter().any(|value| *value < 0.0) { -full } else { 0.0 };
    let mut counts = [0usize; BARS];
    for value in values {
        let share = (value - from) / (full - from);
        let bar = (share * BARS as f64).clamp(0.0, BARS as f64 - 1.0) as usize;
        counts[bar] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(1).max(1);
    let [width, height] = SIZE;
    let (left, bottom) = (34.0, 22.0);
    let (step, room) = ((width - left) / BARS as f64, height - bottom - 14.0);
    let texts: Vec<String> = counts
        .iter()
        .enumerate()
        .filter(|(_, n)| **n > 0)
        .map(|(bar, n)| {
            let start = from + (full - from) * bar as f64 / BARS as f64;
            format!("from {}: {n}", (start * 100.0).round() / 100.0)
        })
        .collect();
    let label = format!("Number of branches by {name}; {}", texts.join(", "));
    html! {
        svg.plot width=(width) height=(height) viewBox=(format!("0 0 {width} {height}")) font-size="11" role="img" aria-label=(label) {
            @for (bar, number) in counts.iter().enumerate() {
                @let size = room * *number as f64 / most as f64;
                @let x = left + step * bar as f64;
                rect x=(format!("{:.1}", x + 1.0)) y=(format!("{:.1}", height - bottom - size)) width=(format!("{:.1}", step - 2.0)) height=(format!("{size:.1}")) fill="var(--bar)" {
                    title { (number) }
                }
            }
            path d=(format!("M{left} {}H{width}", height - bottom)) stroke="currentColor" fill="none" {}
            text x=(left - 6.0) y="20" text-anchor="end" { (most) }
            text x=(left - 6.0) y=(height - bottom) text-anchor="end" { "0" }
            @for (share, anchor) in [(0.0, "start"), (0.5, "middle"), (1.0, "end")] {
                text x=(left + (width - left) * share) y=(height - 6.0) text-anchor=(anchor) { (from + (full - from) * share) }
            }
        }
    }
}

fn bootstopping(result: &Value) -> Markup {
    let Some(stopping) = result.at("bootstrap.bootstopping") else { return html! {} };
    let rule = stopping.text("rule").unwrap_or("the rule");
    html! {
        @if stopping.is("converged") { "By " (rule) ", they are enough." }
        @else { strong { "By " (rule) ", they are not enough: more replicates are needed." } }
    }
}
