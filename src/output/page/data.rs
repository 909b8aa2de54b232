//! The section of the data: what is missing, composition, identical sequences.

use super::numbers::{Cell, Column, bar, count, facts, percent, table};
use super::record::Field;
use super::section::Section;
use crate::output::svg::{Panel, Series, Surface, draw_on};
use maud::{Markup, PreEscaped, html};
use serde_json::{Map, Value};

/// Most names of a group that are shown.
const MOST_NAMES: usize = 12;

/// The section.
pub(super) fn section(result: &Value) -> Option<Section> {
    let overview = result.at("alignment.overview")?;
    let sites = result.number("alignment.sites").unwrap_or(0.0);
    let invariant = overview.number("invariant_sites");
    let pairs = [
        ("undetermined characters", overview.number("undetermined").map_or(String::new(), percent)),
        (
            "sites at which all taxa may be the same",
            invariant.map_or(String::new(), |n| {
                format!("{} ({})", count(n), percent(n / sites.max(1.0)))
            }),
        ),
        (
            "taxa without any data",
            overview.number("empty_taxa").filter(|n| *n > 0.0).map_or(String::new(), count),
        ),
    ];
    let body = html! {
        (facts(&pairs))
        (missing(overview))
        div.columns { (gappiest(overview)) (composition(overview)) }
        (profile(result, &LOG_LIKELIHOODS))
        (profile(result, &RATES))
        (identical(overview))
    };
    Some(Section { id: "data", title: "Data", body })
}

/// The maps that the script draws, by their names.
pub(super) fn maps(result: &Value) -> Map<String, Value> {
    let mut maps = Map::new();
    let mut add = |name: &str, path: &str| {
        if !result.texts(path).is_empty() {
            maps.extend(result.at(path).map(|rows| (name.to_string(), rows.clone())));
        }
    };
    add("missing", "alignment.overview.map.rows");
    add("distances", "distances.map.rows");
    maps
}

fn missing(overview: &Value) -> Markup {
    let rows = overview.texts("map.rows");
    if rows.is_empty() {
        return html! {};
    }
    let what = overview.text("map.columns").unwrap_or("columns");
    let per = |number: Option<f64>, one: &str, many: &str| match number {
        Some(n) if n > 1.0 => format!("{} {many}", count(n)),
        _ => format!("one {one}"),
    };
    let most = |sizes: &str| if overview.numbers(sizes).is_empty() { "" } else { "at most " };
    let row = per(overview.number("map.taxa_per_row"), "taxon", "taxa");
    let row = format!("{}{row}", most("map.row_sizes"));
    let column = match what {
        "partitions" => {
            let column = per(overview.number("map.per_column"), "partition", "partitions");
            format!("{}{column}", most("map.column_sizes"))
        }
        _ => per(overview.number("map.per_column"), "column", "columns"),
    };
    let label = format!(
        "Map of the data: a row for {row}, a column for {column} of the alignment; dark where there are data, light where they \
         are missing. The table of taxa with least data says the same in numbers."
    );
    // Maps of before had no names, and taxa with much data above.
    let is_clustered = !overview.texts("map.taxa").is_empty();
    html! {
        h3 { "Where data are missing" }
        canvas.map data-map="missing" role="img" aria-label=(label) {}
        p.soft {
            "Each row is " (row) ", each column " (column) " of the alignment. Dark: data; light: missing. "
            @if is_clustered {
                "Taxa with data at the same places are together (in the order of a tree of average linkage)"
                @if what == "partitions" { ", and so are partitions" }
                "."
            } @else { "Taxa with much data are above." }
        }
        (in_order("Taxa from the first row to the last", overview, ["map.taxa", "map.row_sizes"]))
        (in_order("Partitions from the left to the right", overview, ["map.partitions", "map.column_sizes"]))
    }
}

/// What the rows or columns of a map are: names, and how many of them each has, if some have several. Those that share one are in
/// brackets.
pub(super) fn in_order(title: &str, of: &Value, [names, sizes]: [&str; 2]) -> Markup {
    let (names, sizes) = (of.texts(names), of.numbers(sizes));
    let mut rest = &names[..];
    let mut rows = Vec::new();
    while !rest.is_empty() {
        let size = sizes.get(rows.len()).map_or(1, |size| *size as usize);
        let (row, after) = rest.split_at(size.clamp(1, rest.len()));
        rows.push(if row.len() > 1 { format!("[{}]", row.join(", ")) } else { row[0].to_string() });
        rest = after;
    }
    let text = rows.join(", ");
    html! { @if !names.is_empty() { details { summary { (title) } p { (text) } } } }
}

/// A number for each site, along the alignment.
struct AlongSites {
    /// Where the JSON has it.
    values: &'static str,
    sites_per_value: &'static str,
    heading: &'static str,
    of_a_point: &'static str,
    meaning: &'static str,
}

const LOG_LIKELIHOODS: AlongSites = AlongSites {
    values: "site_profile.values",
    sites_per_value: "site_profile.sites_per_value",
    heading: "Log-likelihood along the alignment",
    of_a_point: "mean log-likelihood of a site",
    meaning: "Low stretches evolve fast, or do not fit the model or the tree: misaligned regions, for example.",
};

const RATES: AlongSites = AlongSites {
    values: "site_rates.values",
    sites_per_value: "site_rates.sites_per_value",
    heading: "Rates along the alignment",
    of_a_point: "mean rate of a site",
    meaning: "The mean over all sites is about 1. What evolves fastest says least of old branches.",
};

fn profile(result: &Value, shown: &AlongSites) -> Markup {
    let values = result.numbers(shown.values);
    let per_value = result.number(shown.sites_per_value).unwrap_or(1.0);
    if values.len() < 2 {
        return html! {};
    }
    let point = |(i, value): (usize, &f64)| [(i as f64 + 0.5) * per_value, *value];
    let panel = Panel {
        title: shown.of_a_point.to_string(),
        x_label: "site".to_string(),
        series: vec![Series {
            points: values.iter().enumerate().map(point).collect(),
            is_line: true,
            name: String::new(),
        }],
        ..Panel::default()
    };
    html! {
        h3 { (shown.heading) }
        (PreEscaped(draw_on(Surface::Page, "", &[panel], 1)))
        p.soft {
            "Each point is the mean of " (count(per_value)) " sites. " (shown.meaning)
        }
    }
}

fn gappiest(overview: &Value) -> Markup {
    let taxa = overview.list("gappiest");
    let cell = |share: Option<f64>| {
        let share = share.unwrap_or(0.0);
        Cell::drawn(bar(share, &percent(share)), Some(share))
    };
    let rows: Vec<Vec<Cell>> = taxa
        .iter()
        .map(|taxon| {
            vec![
                Cell::text(taxon.text("taxon").unwrap_or_default()),
                cell(taxon.number("undetermined")),
            ]
        })
        .collect();
    html! {
        @if !rows.is_empty() {
            div {
                h3 { "Taxa with least data" }
                (table("Taxa with least data", &[("taxon", Column::Text), ("undetermined", Column::Text)], &rows))
            }
        }
    }
}

fn composition(overview: &Value) -> Markup {
    let parts = overview.list("composition");
    html! {
        @for part in parts {
            @let states = part.texts("states");
            @let means = part.numbers("frequencies");
            @let rows = composition_rows(part, &means);
            div {
                h3 { "Composition" @if parts.len() > 1 { " (" (part.text("data_type").unwrap_or_default()) ")" } }
                p { @for (state, frequency) in states.iter().zip(&means) { (state) " " (percent(*frequency)) " " } }
                @if !rows.is_empty() {
                    p.soft { "Taxa whose composition differs most from this:" }
                    (table("Composition of taxa", &heads(&states), &rows))
                }
            }
        }
    }
}

/// Columns for every state would be too many for amino acids.
const MOST_STATES: usize = 4;

fn heads<'a>(states: &[&'a str]) -> Vec<(&'a str, Column)> {
    let mut heads = vec![("taxon", Column::Text), ("distance", Column::Number)];
    if states.len() <= MOST_STATES {
        heads.extend(states.iter().map(|state| (*state, Column::Number)));
    }
    heads
}

fn composition_rows(part: &Value, means: &[f64]) -> Vec<Vec<Cell>> {
    let row = |taxon: &Value| {
        let mut cells = vec![
            Cell::text(taxon.text("taxon").unwrap_or_default()),
            Cell::number(taxon.number("distance"), |x| format!("{x:.3}")),
        ];
        if means.len() <= MOST_STATES {
            cells.extend(
                taxon.numbers("frequencies").into_iter().map(|x| Cell::number(Some(x), percent)),
            );
        }
        cells
    };
    part.list("taxa").iter().map(row).collect()
}

fn identical(overview: &Value) -> Markup {
    let groups = overview.list("identical");
    let total = overview.number("identical_groups").unwrap_or(groups.len() as f64);
    html! {
        @if !groups.is_empty() {
            h3 { "Identical sequences" }
            p { (count(total)) @if total == 1.0 { " group" } @else { " groups" } " of taxa with identical sequences"
                @if total > groups.len() as f64 { ", of which these are the largest" } ":" }
            ul {
                @for group in groups {
                    @let names = names(group);
                    li { (names.iter().take(MOST_NAMES).copied().collect::<Vec<_>>().join(", "))
                        @if names.len() > MOST_NAMES { " and " (names.len() - MOST_NAMES) " more" } }
                }
            }
        }
    }
}

fn names(group: &Value) -> Vec<&str> {
    group.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}
