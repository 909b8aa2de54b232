//! What is printed at the end of a run, on standard output: the log-likelihood, the model with its
//! parameters, the tree length, the support. Programs read the JSON file.

use super::outcome::Outcome;
use crate::alphabet::DataType;
use crate::bootstrap::{Support, SupportKind};
use crate::model::{Exchange, Heterogeneity, Model};
use crate::output::{pairs, table};
use crate::runtime::Setup;

/// Most rows of a table of partitions or trees.
const MAX_ROWS: usize = 30;
/// Most states whose frequencies and rates are shown.
const MAX_STATES: usize = 4;

/// The best of the outcomes, after a line for each if there are several.
pub(crate) fn describe_outcomes(setup: &Setup, outcomes: &[Outcome], best: &Outcome) -> String {
    let mut text = String::new();
    if outcomes.len() > 1 {
        let rows: Vec<Vec<String>> = outcomes
            .iter()
            .take(MAX_ROWS)
            .map(|outcome| vec![format!("{:.6}", outcome.lnl), outcome.source.clone()])
            .collect();
        text.push_str(&table(&["lnL", "tree"], &rows));
        text.push_str(&and_more(outcomes.len(), "trees", "in the JSON file"));
    }
    text.push_str(&format!("Final log-likelihood: {:.6}\n", best.lnl));
    if outcomes.len() > 1 {
        text.push_str(&format!("Best tree: {}\n", best.source));
    }
    let unit = if best.models.iter().any(|m| matches!(m.data_type, DataType::Codon(_))) {
        "substitutions per site (per codon in codon partitions)"
    } else {
        "substitutions per site"
    };
    let length = format!("{} {unit}", short(best.tree.total_length()));
    match best.models.as_slice() {
        [model] => {
            let mut rows = vec![("tree length", length)];
            rows.extend(describe_model(model));
            text.push_str(&pairs("Best tree and model", &rows));
        }
        _ => {
            text.push_str(&pairs("Best tree", &[("tree length", length)]));
            text.push_str(&partition_table(setup, best));
        }
    }
    text
}

/// The support of the inner branches of the best tree, summarised; `source` is what it was computed from.
pub(crate) fn describe_support(Support { kind, values }: &Support, source: &str) -> String {
    let values: Vec<f64> = values.iter().flatten().copied().collect();
    let name = kind.title();
    if values.is_empty() {
        return format!("{name} by {source}: no inner branch has a value\n");
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let is_percentage = kind.full() == 100.0;
    let mean = if is_percentage { format!("{mean:.1} %") } else { format!("{mean:.3}") };
    let bounds = [0.95, 0.7, 0.5].map(|share| {
        let number = values.iter().filter(|&&value| value >= share * kind.full()).count();
        let bound =
            if is_percentage { format!("{:.0} %", 100.0 * share) } else { share.to_string() };
        (format!("at least {bound}"), number.to_string())
    });
    let mut rows = vec![("mean", mean)];
    // Tree certainty: TC and TCA.
    if matches!(kind, SupportKind::InternodeCertainty | SupportKind::InternodeCertaintyAll) {
        rows.push(("sum", format!("{:.3}", values.iter().sum::<f64>())));
    }
    rows.extend(bounds.iter().map(|(bound, number)| (bound.as_str(), number.clone())));
    pairs(&format!("{name} of the {} inner branches by {source}", values.len()), &rows)
}

fn partition_table(setup: &Setup, best: &Outcome) -> String {
    let scaled = best.scalers.iter().any(|&scaler| scaler != 1.0);
    let mut header = vec!["partition", "lnL", "model", "alpha", "invariant"];
    if scaled {
        header.push("scaler");
    }
    if best.partition_trees.is_some() {
        header.push("tree length");
    }
    let dash = || "-".to_string();
    let rows: Vec<Vec<String>> = setup
        .loaded
        .file_order
        .iter()
        .take(MAX_ROWS)
        .map(|&partition| {
            let model = &best.models[partition];
            let mut row = vec![
                setup.loaded.partitions[partition].name.clone(),
                format!("{:.4}", best.partition_lnls[partition]),
                model.short_label(),
                match &model.heterogeneity {
                    Heterogeneity::Gamma(gamma) => short(gamma.alpha),
                    _ => dash(),
                },
                model.invariant.map_or_else(dash, |invariant| short(invariant.pinv)),
            ];
            if scaled {
                row.push(short(best.scalers[partition]));
            }
            if let Some(trees) = &best.partition_trees {
                row.push(short(trees[partition].0.total_length()));
            }
            row
        })
        .collect();
    let more = and_more(best.models.len(), "partitions", "in the model and JSON files");
    table(&header, &rows) + &more
}

fn and_more(count: usize, noun: &str, place: &str) -> String {
    match count.saturating_sub(MAX_ROWS) {
        0 => String::new(),
        more => format!("  ... and {more} more {noun}, {place}\n"),
    }
}

/// The model and its parameters, with four significant digits.
fn describe_model(model: &Model) -> Vec<(&'static str, String)> {
    let mut rows = vec![("model", model.short_label())];
    let names = model.data_type.state_names();
    let few = model.num_states() <= MAX_STATES;
    match &model.exchange {
        Exchange::Classes(classes) if classes.num_classes() > 1 && few => {
            let states = names.iter().enumerate();
            let pairs = states.flat_map(|(i, a)| names[i + 1..].iter().map(move |b| (a, b)));
            let rates = pairs.zip(&classes.rates);
            let rates: Vec<String> =
                rates.map(|((a, b), &rate)| format!("{a}-{b} {}", short(rate))).collect();
            rows.push(("exchange rates", rates.join("  ")));
        }
        Exchange::Codon(codon) => {
            if let Some(kappa) = codon.kappa {
                rows.push(("kappa", short(kappa)));
            }
            rows.push(("omega", short(codon.omega)));
        }
        _ => {}
    }
    if few {
        let freqs: Vec<String> =
            names.iter().zip(&model.freqs).map(|(a, &f)| format!("{a} {}", short(f))).collect();
        rows.push(("frequencies", freqs.join("  ")));
    }
    match &model.heterogeneity {
        Heterogeneity::Uniform => {}
        Heterogeneity::Gamma(gamma) => rows.push(("alpha", short(gamma.alpha))),
        Heterogeneity::Free(free) => {
            let cats = free.rates.iter().zip(&free.weights);
            let cats: Vec<String> = cats
                .map(|(&rate, &weight)| format!("{} ({})", short(rate), short(weight)))
                .collect();
            rows.push(("rates (weights)", cats.join("  ")));
        }
    }
    if let Some(mixture) = &model.mixture
        && let Some(weights) = mixture.own_weights()
        && model.estimates_class_weights()
    {
        let weights: Vec<String> = weights.iter().copied().map(short).collect();
        rows.push(("weights of classes", weights.join("  ")));
    }
    if let Some(invariant) = model.invariant {
        rows.push(("invariant sites", short(invariant.pinv)));
    }
    rows
}

/// Four significant digits.
fn short(value: f64) -> String {
    if value == 0.0 || !(1e-4..1e6).contains(&value.abs()) {
        return format!("{value:.3e}");
    }
    let decimals = (0..7).find(|&d| value.abs() >= [1e3, 1e2, 1e1, 1.0, 1e-1, 1e-2, 1e-3][d]);
    format!("{value:.*}", decimals.unwrap_or(7))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        for (value, text) in [
            (12_345.678, "12346"),
            (123.456, "123.5"),
            (1.0, "1.000"),
            (0.361_23, "0.3612"),
            (0.001_234_5, "0.001234"),
            (1e-6, "1.000e-6"),
            (0.0, "0.000e0"),
        ] {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn a_model_is_described_with_its_parameters() {
        let row = |model: &str, name: &str| {
            let rows = describe_model(&Model::parse(model).unwrap());
            rows.into_iter().find(|row| row.0 == name).map(|row| row.1)
        };
        let gtr = "GTR{1/2/3/4/5/1}+FU{0.1/0.2/0.3/0.4}+I{0.25}+G4{0.5}";
        assert_eq!(
            row(gtr, "exchange rates").unwrap(),
            "A-C 1.000  A-G 2.000  A-T 3.000  C-G 4.000  C-T 5.000  G-T 1.000"
        );
        assert_eq!(row(gtr, "frequencies").unwrap(), "A 0.1000  C 0.2000  G 0.3000  T 0.4000");
        assert_eq!(row(gtr, "alpha").unwrap(), "0.5000");
        assert_eq!(row(gtr, "invariant sites").unwrap(), "0.2500");
        assert_eq!(row("LG+G4{0.5}", "frequencies"), None);
        assert_eq!(row("GY{2/0.1}+FE", "omega").unwrap(), "0.1000");
        assert_eq!(row("JC", "exchange rates"), None);
    }

    #[test]
    fn support_is_counted() {
        let of = |kind, values: &[Option<f64>]| Support { kind, values: values.to_vec() };
        let values = [None, Some(100.0), Some(70.0), Some(10.0)];
        let text = describe_support(&of(SupportKind::Felsenstein, &values), "20 trees");
        assert_eq!(
            text,
            "Support (FBP) of the 3 inner branches by 20 trees\n  mean           60.0 %\n  at least 95 %  1\n  \
             at least 70 %  2\n  at least 50 %  2\n"
        );
        let values = values.map(|value| value.map(|value| value / 100.0));
        let text = describe_support(&of(SupportKind::Transfer, &values), "20 trees");
        assert!(text.ends_with(
            "  mean           0.600\n  at least 0.95  1\n  at least 0.7   2\n  at least 0.5   2\n"
        ));
        let none = describe_support(&of(SupportKind::Transfer, &[None]), "3 trees");
        assert!(none.contains("no inner branch has a value"));
    }
}
