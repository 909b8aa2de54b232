//! The sections of the models: of each partition, and how they were selected.

use super::numbers::{Cell, Column, bar, bars, count, lnl, short, table};
use super::record::Field;
use super::section::Section;
use crate::model::{Exchange, Heterogeneity, Model};
use maud::{Markup, html};
use serde_json::Value;

/// Most partitions in the table: the JSON file has all.
const MOST_PARTITIONS: usize = 300;
/// Most models of a selection.
const MOST_CANDIDATES: usize = 20;
/// Most partitions whose selection is shown in full.
const MOST_SELECTIONS: usize = 20;
/// Most states whose rates and frequencies have bars.
const MOST_STATES: usize = 4;

/// The model of each partition, with bars of its rates.
pub(super) fn section(result: &Value) -> Option<Section> {
    let partitions = result.list("partitions");
    if partitions.is_empty() {
        return None;
    }
    let has = |name: &str, usual: f64| {
        partitions.iter().any(|p| p.number(name).is_some_and(|x| x != usual))
    };
    let (is_scaled, has_lengths) = (has("brlen_scaler", 1.0), has("tree_length", f64::NAN));
    let models: Vec<Option<Model>> = partitions
        .iter()
        .take(MOST_PARTITIONS)
        .map(|p| Model::parse(p.text("model")?).ok())
        .collect();
    let any = |wanted: fn(&Model) -> bool| models.iter().flatten().any(wanted);
    let has_rates = any(|m| rates_of(m).is_some());
    let has_freqs = any(|m| m.num_states() <= MOST_STATES);
    let has_cats = any(|m| m.heterogeneity != Heterogeneity::Uniform);
    let has_pinv = any(|m| m.invariant.is_some());
    let mut heads = vec![
        ("partition", Column::Text),
        ("model", Column::Text),
        ("sites", Column::Number),
        ("patterns", Column::Number),
        ("taxa", Column::Number),
        ("log-likelihood", Column::Number),
    ];
    for (is_there, head) in [
        (has_rates, ("exchange rates", Column::Text)),
        (has_freqs, ("frequencies", Column::Text)),
        (has_cats, ("rates over sites", Column::Text)),
        (has_cats, ("alpha", Column::Number)),
        (has_pinv, ("invariant", Column::Number)),
        (is_scaled, ("scaler", Column::Number)),
        (has_lengths, ("tree length", Column::Number)),
    ] {
        heads.extend(is_there.then_some(head));
    }
    let row = |(partition, model): (&Value, &Option<Model>)| {
        let number = |name: &str| partition.number(name);
        let text = partition.text("model").unwrap_or_default();
        let label = without_values(text);
        let mut cells = vec![
            Cell::text(partition.text("name").unwrap_or_default()),
            Cell::drawn(html! { span title=(text) { (label) } }, None),
            Cell::number(number("sites"), count),
            Cell::number(number("patterns"), count),
            Cell::number(number("taxa"), count),
            Cell::number(number("log_likelihood"), lnl),
        ];
        let drawn = |found: Option<(Vec<String>, Vec<f64>)>| {
            Cell::drawn(
                html! { @if let Some((names, values)) = &found { (bars(names, values)) } },
                None,
            )
        };
        let model = model.as_ref();
        if has_rates {
            cells.push(drawn(model.and_then(rates_of)));
        }
        if has_freqs {
            cells.push(drawn(model.and_then(freqs_of)));
        }
        if has_cats {
            cells.push(drawn(model.and_then(categories_of)));
            let alpha = model.and_then(|model| match &model.heterogeneity {
                Heterogeneity::Gamma(gamma) => Some(gamma.alpha),
                _ => None,
            });
            cells.push(Cell::number(alpha, short));
        }
        if has_pinv {
            cells.push(Cell::number(model.and_then(|m| m.invariant).map(|i| i.pinv), short));
        }
        if is_scaled {
            cells.push(Cell::number(number("brlen_scaler"), short));
        }
        if has_lengths {
            cells.push(Cell::number(number("tree_length"), short));
        }
        cells
    };
    let rows: Vec<Vec<Cell>> = partitions.iter().zip(&models).map(row).collect();
    let at_bounds: Vec<String> =
        partitions.iter().filter_map(at_bounds).take(MOST_PARTITIONS).collect();
    let body = html! {
        (table("Models of the partitions", &heads, &rows))
        @if partitions.len() > rows.len() { p { "The JSON file has the other " (partitions.len() - rows.len()) " partitions." } }
        @if has_rates || has_freqs || has_cats {
            p.soft { "Point at bars to read their values. Exchange rates are relative to the last one; rates over sites have a bar for each category." }
        }
        @if !at_bounds.is_empty() {
            p { "Estimates that ended at a bound, which the data hardly determine:" }
            ul { @for text in &at_bounds { li { (text) } } }
        }
        @if let [only] = partitions { p { "In full: " code { (only.text("model").unwrap_or_default()) } } }
    };
    Some(Section {
        id: "models",
        title: if partitions.len() == 1 { "Model" } else { "Models" },
        body,
    })
}

fn at_bounds(partition: &Value) -> Option<String> {
    let names = partition.texts("at_bound");
    (!names.is_empty())
        .then(|| format!("{}: {}", partition.text("name").unwrap_or_default(), names.join(", ")))
}

/// A model string without the values in braces, but with what belongs to a name.
fn without_values(model: &str) -> String {
    const OF_NAME: [&str; 4] = ["MIX", "CODE", "ASC_FELS", "ASC_STAM"];
    const MOST: usize = 60;
    let (mut kept, mut depth, mut is_value) = (String::new(), 0_usize, false);
    for c in model.chars() {
        if c == '{' {
            let part = kept.rsplit('+').next().unwrap_or_default();
            is_value |= depth == 0 && !OF_NAME.contains(&part);
            depth += 1;
        }
        if !is_value {
            kept.push(c);
        }
        if c == '}' {
            depth = depth.saturating_sub(1);
            is_value &= depth > 0;
        }
    }
    kept.chars().take(MOST).collect()
}

/// Names and values of exchange rates between few states.
fn rates_of(model: &Model) -> Option<(Vec<String>, Vec<f64>)> {
    let Exchange::Classes(classes) = &model.exchange else { return None };
    if model.num_states() > MOST_STATES || classes.num_classes() < 2 {
        return None;
    }
    let names = model.data_type.state_names();
    let states = names.iter().enumerate();
    let pairs = states.flat_map(|(i, a)| names[i + 1..].iter().map(move |b| format!("{a}-{b}")));
    Some((pairs.collect(), classes.rates.clone()))
}

/// Names and frequencies of few states.
fn freqs_of(model: &Model) -> Option<(Vec<String>, Vec<f64>)> {
    let names = model.data_type.state_names().iter().map(|name| name.to_string());
    (model.num_states() <= MOST_STATES).then(|| (names.collect(), model.freqs.clone()))
}

/// Rates of the categories of variable sites, with their weights as names.
fn categories_of(model: &Model) -> Option<(Vec<String>, Vec<f64>)> {
    if model.heterogeneity == Heterogeneity::Uniform || model.mixture.is_some() {
        return None;
    }
    let cats = model.rate_cats();
    let names = cats.weights.iter().map(|weight| format!("{:.0} % of the sites:", 100.0 * weight));
    Some((names.collect(), cats.rates))
}

/// The models that were compared.
pub(super) fn selection_section(result: &Value) -> Option<Section> {
    let selections = result.list("model_selection");
    if selections.is_empty() {
        return None;
    }
    let rows: Vec<Vec<Cell>> = selections
        .iter()
        .take(MOST_PARTITIONS)
        .map(|selection| {
            vec![
                Cell::text(selection.text("partition").unwrap_or_default()),
                Cell::text(selection.text("data_type").unwrap_or_default()),
                Cell::text(selection.text("chosen").unwrap_or_default()),
                Cell::number(selection.number("sites"), count),
                Cell::number(selection.number("taxa"), count),
                Cell::number(Some(selection.list("candidates").len() as f64), count),
            ]
        })
        .collect();
    let heads = [
        ("partition", Column::Text),
        ("data", Column::Text),
        ("chosen model", Column::Text),
        ("sites", Column::Number),
        ("taxa", Column::Number),
        ("models compared", Column::Number),
    ];
    let body = html! {
        @if selections.len() > 1 { (table("Selected models", &heads, &rows)) }
        @for selection in selections.iter().take(MOST_SELECTIONS) {
            details open[selections.len() == 1] {
                summary { (selection.text("partition").unwrap_or_default()) ": " strong { (selection.text("chosen").unwrap_or_default()) }
                    " by " (selection.text("criterion").unwrap_or_default()) }
                (candidates(selection))
            }
        }
        (merging(result))
    };
    Some(Section { id: "selection", title: "Model selection", body })
}

fn candidates(selection: &Value) -> Markup {
    let all = selection.list("candidates");
    let criterion = selection.text("criterion").unwrap_or("BIC").to_lowercase();
    let best = all.first().and_then(|first| first.number(&criterion));
    let row = |candidate: &Value| {
        let number = |name: &str| candidate.number(name);
        let behind = number(&criterion).zip(best).map(|(value, best)| value - best);
        let weight = number("weight").unwrap_or(0.0);
        vec![
            Cell::text(candidate.text("model").unwrap_or_default()),
            Cell::number(number("log_likelihood"), lnl),
            Cell::number(number("parameters"), count),
            Cell::number(number("aic"), |x| format!("{x:.2}")),
            Cell::number(number("aicc"), |x| format!("{x:.2}")),
            Cell::number(number("bic"), |x| format!("{x:.2}")),
            Cell::number(behind, |x| format!("{x:.2}")),
            Cell::drawn(bar(weight, &format!("{weight:.3}")), Some(weight)),
        ]
    };
    let rows: Vec<Vec<Cell>> = all.iter().take(MOST_CANDIDATES).map(row).collect();
    let heads = [
        ("model", Column::Text),
        ("log-likelihood", Column::Number),
        ("parameters", Column::Number),
        ("AIC", Column::Number),
        ("AICc", Column::Number),
        ("BIC", Column::Number),
        ("behind the best", Column::Number),
        ("weight", Column::Text),
    ];
    html! {
        (table("Models that were compared", &heads, &rows))
        @if all.len() > rows.len() { p.soft { "The best " (rows.len()) " of " (all.len()) " models." } }
    }
}

fn merging(result: &Value) -> Markup {
    let Some(merging) = result.at("partition_merging") else { return html! {} };
    let number = |path: &str| merging.number(path);
    html! {
        h3 { "Merging of partitions" }
        p { (number("before.subsets").map_or(String::new(), count)) " partitions became " (number("after.subsets").map_or(String::new(), count))
            " subsets (" (merging.text("method").unwrap_or_default()) ", by " (merging.text("criterion").unwrap_or_default()) "); BIC before "
            (number("before.bic").map_or(String::new(), |x| format!("{x:.1}"))) ", after " (number("after.bic").map_or(String::new(), |x| format!("{x:.1}"))) "." }
        ul { @for subset in merging.list("subsets").iter().take(MOST_PARTITIONS) {
            li { strong { (subset.text("subset").unwrap_or_default()) } ", " (subset.text("model").unwrap_or_default()) ": " (subset.texts("of").join(", ")) }
        } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_left_out_of_labels() {
        for (model, shown) in [
            ("GTR{1/2}+FC{0.1/0.9}+I{0.2}+G4m{0.5}", "GTR+FC+I+G4m"),
            ("GY{2/0.3}+FE+CODE{4}", "GY+FE+CODE{4}"),
            ("MIX{LG:0.5:0.3/WAG:1.5:0.7}+WO{1/2}+G4m{1}", "MIX{LG:0.5:0.3/WAG:1.5:0.7}+WO+G4m"),
            ("JC+ASC_FELS{40}", "JC+ASC_FELS{40}"),
            ("A{B{C}D}E", "AE"),
        ] {
            assert_eq!(without_values(model), shown);
        }
        let model = Model::parse("GTR{1/2/3/4/5/1}+FU{0.1/0.2/0.3/0.4}+G4{0.5}").unwrap();
        let (names, rates) = rates_of(&model).unwrap();
        assert_eq!((names[1].as_str(), rates[1]), ("A-G", 2.0));
        assert_eq!(freqs_of(&model).unwrap().1, [0.1, 0.2, 0.3, 0.4]);
        assert_eq!(categories_of(&model).unwrap().1.len(), 4);
        assert!(rates_of(&Model::parse("LG").unwrap()).is_none());
    }
}
