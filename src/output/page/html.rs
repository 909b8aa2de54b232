//! The whole page: head, sections, and the data for its script.

use super::numbers::{count, facts, lnl, percent, time};
use super::record::Field;
use super::section::Section;
use super::trees::{section as trees_section, trees_of};
use super::{ancestral, concordance, given_trees};
use super::{cite, convergence, data, distances, genes, models, run, sample, support, topology};
use crate::output::sections::SCHEMA_VERSION;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::{Value, json};

/// The look of the page.
const STYLE: &str = include_str!("page.css");
/// What it does, in the order in which the parts need each other.
const SCRIPTS: [&str; 4] = [
    include_str!("tree.js"),
    include_str!("draw.js"),
    include_str!("view.js"),
    include_str!("page.js"),
];

/// The page of a JSON result.
///
/// # Errors
/// Why a text is no result of this program.
pub(crate) fn page_of(json: &str) -> Result<String, String> {
    let result: Value =
        serde_json::from_str(json).map_err(|error| format!("this is no JSON file: {error}"))?;
    if result.text("version").is_none() || result.text("command").is_none() {
        return Err(
            "this is no JSON file of mlsearch: it has no 'version' and 'command'".to_string()
        );
    }
    if let Some(schema) = result.number("schema").filter(|&n| n > f64::from(SCHEMA_VERSION)) {
        return Err(format!(
            "this is the result of a newer mlsearch (schema {schema}, where this program knows up to {SCHEMA_VERSION}): \
             make its page with that program"
        ));
    }
    let trees = trees_of(&result);
    let found = [
        trees_section(&result, &trees),
        genes::section(&result),
        sample::section(&result),
        topology::section(&result),
        given_trees::compared(&result),
        given_trees::terrace(&result),
        distances::section(&result),
        data::section(&result),
        models::selection_section(&result),
        models::section(&result),
        support::section(&result),
        concordance::section(&result),
        ancestral::section(&result),
        convergence::section(&result),
        cite::section(&result),
        run::section(&result),
    ];
    let sections: Vec<Section> = found.into_iter().flatten().collect();
    let maps = data::maps(&result);
    let for_script = json!({ "trees": trees, "maps": maps }).to_string();
    let name = name_of(&result);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content="mlsearch";
                title { "mlsearch: " (name) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header { h1 { (name) } (summary(&result)) }
                nav aria-label="Sections" { ul { @for section in &sections { li { a href=(format!("#{}", section.id)) { (section.title) } } } } }
                main {
                    (warnings(&result))
                    @for section in &sections {
                        section id=(section.id) aria-labelledby=(format!("{}-title", section.id)) {
                            h2 id=(format!("{}-title", section.id)) { (section.title) }
                            (section.body)
                        }
                    }
                }
                footer {
                    p { "Made by mlsearch " (env!("CARGO_PKG_VERSION")) " from the JSON file of the run, which has all numbers." }
                }
                // No text of a result can end the element: there is no "<" in it.
                script type="application/json" id="for-script" { (PreEscaped(for_script.replace('<', "\\u003c"))) }
                @for script in SCRIPTS { script { (PreEscaped(script)) } }
            }
        }
    };
    Ok(page.into_string())
}

/// What the run was about: its first input file.
fn name_of(result: &Value) -> String {
    let words: Vec<&str> = result.text("command").unwrap_or_default().split_whitespace().collect();
    let follows = |names: &[&str]| {
        words
            .windows(2)
            .find(|pair| names.contains(&pair[0]))
            .map(|pair| pair[1].trim_matches('\''))
    };
    let task = words.get(1).filter(|word| !word.starts_with('-')).copied().unwrap_or("run");
    let input = follows(&["-s", "--msa"]).or_else(|| follows(&["-t", "--tree", "-z", "--trees"]));
    let file = input.map(|path| path.rsplit(['/', '\\']).next().unwrap_or(path));
    file.map_or(task.to_string(), |file| format!("{task}: {file}"))
}

/// The numbers that are looked for first.
fn summary(result: &Value) -> Markup {
    let number = |path: &str| result.number(path);
    let mut pairs: Vec<(&str, String)> = Vec::new();
    let mut add = |name, value: Option<String>| pairs.extend(value.map(|value| (name, value)));
    add("log-likelihood", number("log_likelihood").map(lnl));
    add("taxa", number("alignment.taxa").map(count));
    add("sites", number("alignment.sites").map(count));
    add("patterns", number("alignment.patterns").map(count));
    add(
        "partitions",
        Some(result.list("partitions").len()).filter(|n| *n > 1).map(|n| count(n as f64)),
    );
    add("gappyness", number("alignment.gappyness").map(percent));
    add("replicates", number("bootstrap.replicates").map(count));
    add("time", number("timings.total").map(time));
    facts(&pairs)
}

/// What the user should know before relying on the result.
fn warnings(result: &Value) -> Markup {
    let warnings = result.texts("warnings");
    html! {
        @if !warnings.is_empty() {
            div.warnings role="note" aria-label="Warnings" {
                p { strong { @if warnings.len() == 1 { "A warning" } @else { (warnings.len()) " warnings" } } ": know this before you rely on the result." }
                ul { @for warning in warnings { li { (warning) } } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_made_of_a_result_that_lacks_almost_all_and_refused_of_anything_else() {
        let page =
            page_of(r#"{"version": "0.0.1", "command": "mlsearch search -s 'a<b.phy' -m JC"}"#)
                .unwrap();
        assert!(page.contains("<title>mlsearch: search: a&lt;b.phy</title>"), "{page}");
        assert!(page.contains("id=\"for-script\">{\"maps\":{},\"trees\":[]}</script>"));
        for text in ["", "[1]", "{}", "{\"version\": 1, \"command\": \"x\"}", "not JSON"] {
            assert!(page_of(text).is_err(), "{text}");
        }
        let newer = page_of(r#"{"schema": 99, "version": "9", "command": "mlsearch"}"#);
        assert!(newer.unwrap_err().contains("a newer mlsearch (schema 99,"));
        // Wrong types of fields are fields that are not there.
        let odd = r#"{"version": "1", "command": "", "trees": 3, "partitions": {"a": 1}, "support": [], "alignment": "x",
            "model_selection": [1, null, {}], "warnings": [1, "<script>"], "run": null, "timings": {"total": "long"}}"#;
        assert!(page_of(odd).unwrap().contains("&lt;script&gt;"));
    }

    #[test]
    fn no_text_of_a_result_ends_the_data_of_the_script() {
        let json = r#"{"version": "1", "command": "", "best_tree": "('</script><b>',B,C);"}"#;
        let page = page_of(json).unwrap();
        assert!(!page.contains("'</script>"), "{page}");
        assert!(page.contains("\\u003c/script>"));
    }
}
