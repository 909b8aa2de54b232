//! Numbers, bars and tables as the page shows them.

use maud::{Markup, html};

/// A log-likelihood.
pub(super) fn lnl(value: f64) -> String {
    format!("{value:.4}")
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Four significant digits.
pub(super) fn short(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_string();
    }
    if !(1e-4..1e6).contains(&size) {
        return format!("{value:.3e}");
    }
    let decimals = (0..7).find(|&d| size >= [1e3, 1e2, 1e1, 1.0, 1e-1, 1e-2, 1e-3][d]);
    format!("{value:.*}", decimals.unwrap_or(7))
}

/// A whole number with its digits in groups of three.
pub(super) fn count(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A time.
pub(super) fn time(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    match whole {
        0..=59 => format!("{seconds:.2} s"),
        60..=3599 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// An amount of memory.
pub(super) fn memory(bytes: f64) -> String {
    match bytes {
        b if b >= 1e9 => format!("{:.1} GB", b / 1e9),
        b if b >= 1e6 => format!("{:.1} MB", b / 1e6),
        b => format!("{:.0} kB", b / 1e3),
    }
}

/// Pairs of a name and a value beside each other.
pub(super) fn facts(pairs: &[(&str, String)]) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in pairs.iter().filter(|pair| !pair.1.is_empty()) {
                div { dt { (name) } dd { (value) } }
            }
        }
    }
}

/// Upright bars for a few values, which are also given as text.
pub(super) fn bars(names: &[String], values: &[f64]) -> Markup {
    let largest = values.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    let texts: Vec<String> =
        names.iter().zip(values).map(|(name, &value)| format!("{name} {}", short(value))).collect();
    let text = texts.join(", ");
    html! {
        div.bars role="img" aria-label=(text) title=(text) {
            @for value in values {
                @let height = if largest > 0.0 { 100.0 * value.clamp(0.0, largest) / largest } else { 0.0 };
                span style=(format!("height:{height:.0}%")) {}
            }
        }
    }
}

/// A lying bar for a share, and the share itself.
pub(super) fn bar(share: f64, text: &str) -> Markup {
    let width = if share.is_finite() { 8.0 * share.clamp(0.0, 1.0) } else { 0.0 };
    html! { span.bar aria-hidden="true" style=(format!("width:{width:.2}em")) {} " " (text) }
}

/// A table that can be sorted by its columns. Columns of numbers are set right.
pub(super) fn table(label: &str, heads: &[(&str, Column)], rows: &[Vec<Cell>]) -> Markup {
    let is_number = |column: usize| heads.get(column).is_some_and(|head| head.1 == Column::Number);
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) {
            table.sortable {
                thead { tr {
                    @for (name, column) in heads {
                        th scope="col" .number[*column == Column::Number] { (name) }
                    }
                } }
                tbody {
                    @for row in rows {
                        tr { @for (column, cell) in row.iter().enumerate() {
                            td .number[is_number(column)] .wide[heads.get(column).is_some_and(|head| head.1 == Column::Wide)] data-value=[cell.value.as_ref()] { (cell.shown) }
                        } }
                    }
                }
            }
        }
    }
}

/// What a column has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    /// Words or bars.
    Text,
    /// Long words, which may be broken.
    Wide,
    /// Numbers.
    Number,
}

/// A cell of a table.
pub(super) struct Cell {
    shown: Markup,
    /// By which it is sorted, if not by what is shown.
    value: Option<String>,
}

impl Cell {
    /// A text.
    pub(super) fn text(text: &str) -> Self {
        Cell { shown: html! { (text) }, value: None }
    }

    /// A number in a form, or an empty cell.
    pub(super) fn number(value: Option<f64>, form: impl Fn(f64) -> String) -> Self {
        let shown = value.map_or(String::new(), form);
        Cell {
            shown: html! { (shown) },
            value: Some(value.map_or(String::new(), |value| value.to_string())),
        }
    }

    /// Anything, sorted by a number.
    pub(super) fn drawn(shown: Markup, value: Option<f64>) -> Self {
        Cell { shown, value: value.map(|value| value.to_string()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_legible() {
        assert_eq!(
            [short(0.0), short(0.36123), short(12_345.678), short(1e-6)],
            ["0", "0.3612", "12346", "1.000e-6"]
        );
        assert_eq!([count(1234567.0), count(12.0)], ["1\u{202f}234\u{202f}567", "12"]);
        assert_eq!([time(0.125), time(61.0), time(7260.0)], ["0.12 s", "1 min 1 s", "2 h 1 min"]);
        assert_eq!(memory(18_896_064.0), "18.9 MB");
        assert_eq!(bars(&["a".into()], &[f64::NAN]).into_string().matches("height:0%").count(), 1);
    }
}
