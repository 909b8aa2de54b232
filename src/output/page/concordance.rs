//! The section of concordance: how many gene trees and sites agree with each branch of a tree.

use super::numbers::{Cell, Column, bar, count, facts, short, table};
use super::record::Field;
use super::section::Section;
use maud::html;
use serde_json::Value;

/// Most branches in the table.
const MOST_BRANCHES: usize = 500;
/// Most names of taxa in a cell.
const MOST_NAMES: usize = 6;

/// What a branch has of its gene trees or sites, in percent: AB|CD, AC|BD, AD|BC, and others.
struct Factors {
    percents: [f64; 3],
    others: Option<f64>,
    number: f64,
}

impl Factors {
    fn of_genes(branch: &Value) -> Option<Self> {
        let genes = branch.at("genes")?;
        let discordant = genes.numbers("discordant");
        let (first, second) = (discordant.first()?, discordant.get(1)?);
        let counts = [genes.number("concordant")?, *first, *second];
        let others = genes.number("others").unwrap_or(0.0);
        let number = counts.iter().sum::<f64>() + others;
        if number == 0.0 {
            return None;
        }
        let percent = |count: f64| 100.0 * count / number;
        Some(Factors { percents: counts.map(percent), others: Some(percent(others)), number })
    }

    fn of_sites(branch: &Value) -> Option<Self> {
        let sites = branch.at("sites")?;
        let percents: [f64; 3] = sites.numbers("percents").try_into().ok()?;
        let number = sites.number("quartets").filter(|number| *number > 0.0)?;
        Some(Factors { percents, others: None, number })
    }

    fn is_contradicted(&self) -> bool {
        self.percents[1].max(self.percents[2]) > self.percents[0]
    }
}

/// The section.
pub(super) fn section(result: &Value) -> Option<Section> {
    let branches = result.list("concordance");
    if branches.is_empty() {
        return None;
    }
    let genes: Vec<Option<Factors>> = branches.iter().map(Factors::of_genes).collect();
    let sites: Vec<Option<Factors>> = branches.iter().map(Factors::of_sites).collect();
    let kinds = [("gene", genes), ("site", sites)];
    let kinds: Vec<_> =
        kinds.iter().filter(|(_, found)| found.iter().any(Option::is_some)).collect();
    let mut heads = vec![("taxa of the smaller side", Column::Wide), ("length", Column::Number)];
    let mut pairs = Vec::new();
    for (name, found) in &kinds {
        let found: Vec<&Factors> = found.iter().flatten().collect();
        let mean = found.iter().map(|one| one.percents[0]).sum::<f64>() / found.len() as f64;
        let contradicted = found.iter().filter(|one| one.is_contradicted()).count();
        let of = format!("{contradicted} of {}", found.len());
        match *name {
            "gene" => {
                pairs.push(("mean gene concordance", format!("{mean:.1} %")));
                pairs.push(("branches with more genes for an alternative", of));
                heads.extend([
                    ("gCF", Column::Text),
                    ("alternatives", Column::Text),
                    ("others", Column::Number),
                    ("genes", Column::Number),
                ]);
            }
            _ => {
                pairs.push(("mean site concordance", format!("{mean:.1} %")));
                pairs.push(("branches with more sites for an alternative", of));
                heads.extend([
                    ("sCF", Column::Text),
                    ("alternatives", Column::Text),
                    ("quartets", Column::Number),
                ]);
            }
        }
    }
    let row = |(i, branch): (usize, &Value)| {
        let taxa = branch.texts("taxa");
        let mut names = taxa.iter().take(MOST_NAMES).copied().collect::<Vec<_>>().join(", ");
        if taxa.len() > MOST_NAMES {
            names.push_str(&format!(" and {} more", taxa.len() - MOST_NAMES));
        }
        let mut cells = vec![Cell::text(&names), Cell::number(branch.number("brlen"), short)];
        for (name, found) in &kinds {
            let found = found[i].as_ref();
            let percent = found.map(|one| one.percents[0]);
            let shown = percent.map_or(String::new(), |percent| format!("{percent:.1} %"));
            cells.push(Cell::drawn(bar(percent.unwrap_or(0.0) / 100.0, &shown), percent));
            let larger = found.map(|one| one.percents[1].max(one.percents[2]));
            let mark = if found.is_some_and(Factors::is_contradicted) { " ▲" } else { "" };
            let both = found.map_or(String::new(), |one| {
                format!("{:.1} %, {:.1} %{mark}", one.percents[1], one.percents[2])
            });
            cells.push(Cell::drawn(html! { (both) }, larger));
            if *name == "gene" {
                let others = found.and_then(|one| one.others);
                cells.push(Cell::number(others, |percent| format!("{percent:.1} %")));
            }
            cells.push(Cell::number(found.map(|one| one.number), count));
        }
        cells
    };
    let rows: Vec<Vec<Cell>> = branches.iter().take(MOST_BRANCHES).enumerate().map(row).collect();
    let body = html! {
        (facts(&pairs))
        (table("Concordance of branches", &heads, &rows))
        @if branches.len() > rows.len() { p { "The JSON file has all " (branches.len()) " branches." } }
        p.soft { "The alternatives of a branch AB|CD are AC|BD and AD|BC; about equal ones are expected of incomplete lineage sorting. ▲: one of them has more than the branch. Headings sort the branches." }
    };
    Some(Section { id: "concordance", title: "Concordance", body })
}
