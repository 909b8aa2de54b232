//! The section of the trees of genes.

use super::numbers::{Cell, Column, count, facts, lnl, percent, short, table};
use super::record::Field;
use super::section::Section;
use maud::html;
use serde_json::Value;

/// Most genes in the table.
const MOST_GENES: usize = 2000;

/// The section.
pub(super) fn section(result: &Value) -> Option<Section> {
    let genes = result.at("genes")?;
    let each = genes.list("each");
    let pairs = ["with_tree", "without_tree", "failed"].map(|name| {
        let title = match name {
            "with_tree" => "genes with a tree",
            "without_tree" => "without one",
            _ => "that could not be done",
        };
        (title, genes.number(name).map_or(String::new(), count))
    });
    let has = |name: &str| each.iter().any(|gene| gene.at(name).is_some());
    let (has_support, has_rf) = (has("mean_support"), has("relative_rf"));
    let mut heads = vec![
        ("gene", Column::Text),
        ("data", Column::Text),
        ("taxa", Column::Number),
        ("sites", Column::Number),
        ("patterns", Column::Number),
        ("gaps", Column::Number),
        ("log-likelihood", Column::Number),
        ("tree length", Column::Number),
        ("longest branch", Column::Number),
    ];
    heads.extend(has_support.then_some(("mean support", Column::Number)));
    heads.extend(has_rf.then_some(("distance to the tree", Column::Number)));
    heads.push(("remarks", Column::Wide));
    let row = |gene: &Value| {
        let number = |name: &str| gene.number(name);
        let mut cells = vec![
            Cell::text(gene.text("gene").unwrap_or_default()),
            Cell::text(gene.text("data_type").unwrap_or_default()),
            Cell::number(number("taxa"), count),
            Cell::number(number("sites"), count),
            Cell::number(number("patterns"), count),
            Cell::number(number("gaps"), percent),
            Cell::number(number("log_likelihood"), lnl),
            Cell::number(number("tree_length"), short),
            Cell::number(number("longest_branch"), short),
        ];
        if has_support {
            cells.push(Cell::number(number("mean_support"), |x| format!("{x:.1}")));
        }
        if has_rf {
            cells.push(Cell::number(number("relative_rf"), |x| format!("{x:.3}")));
        }
        cells.push(Cell::text(&gene.texts("remarks").join("; ")));
        cells
    };
    let rows: Vec<Vec<Cell>> = each.iter().take(MOST_GENES).map(row).collect();
    let body = html! {
        (facts(&pairs))
        (table("Genes", &heads, &rows))
        @if each.len() > rows.len() { p { "The JSON file has all " (each.len()) " genes." } }
        p.soft { "Remarks name lengths that are far out, among others. Headings sort the genes." }
    };
    Some(Section { id: "genes", title: "Genes", body })
}
