//! The section of the trees, and the trees as the page's script takes them.

use super::record::Field;
use super::section::Section;
use maud::{Markup, html};
use serde::Serialize;
use serde_json::Value;

/// Most bytes of all trees but the first: a page has to be small enough to be sent.
const MOST_BYTES: usize = 1_200_000;

/// A tree for the script.
#[derive(Debug, Clone, Serialize, PartialEq)]
pub(super) struct ShownTree {
    title: String,
    newick: String,
    kinds: Vec<ShownKind>,
}

/// A kind of support in the labels of a tree.
#[derive(Debug, Clone, Serialize, PartialEq)]
struct ShownKind {
    name: String,
    /// The value of full support.
    full: f64,
}

impl ShownKind {
    /// Percentages.
    fn percentage(name: &str) -> Vec<Self> {
        vec![ShownKind { name: name.to_string(), full: 100.0 }]
    }

    /// Probabilities.
    fn probability(name: &str) -> Vec<Self> {
        vec![ShownKind { name: name.to_string(), full: 1.0 }]
    }
}

/// What a kind of support is called.
pub(super) fn name_of_support(kind: &str) -> &str {
    match kind {
        "sh_alrt" => "SH-aLRT",
        "abayes" => "aBayes",
        "fbp" => "bootstrap",
        "tbe" => "transfer bootstrap (TBE)",
        "ic1" => "internode certainty (IC)",
        "ica" => "internode certainty of all conflicts (ICA)",
        "gcf" => "gene concordance factor",
        "scf" => "site concordance factor",
        other => other,
    }
}

/// Its value for full support.
pub(super) fn full_support(kind: &str) -> f64 {
    match kind {
        "abayes" | "tbe" | "ic1" | "ica" => 1.0,
        _ => 100.0,
    }
}

/// All trees of a result, the most important first.
pub(super) fn trees_of(result: &Value) -> Vec<ShownTree> {
    let mut found: Vec<ShownTree> = Vec::new();
    let mut add = |title: &str, newick: Option<&str>, kinds: Vec<ShownKind>| {
        let Some(newick) = newick else { return };
        let is_known = found.iter().any(|tree| tree.newick == newick);
        let so_far: usize = found.iter().skip(1).map(|tree| tree.newick.len()).sum();
        if !is_known && (found.is_empty() || so_far + newick.len() <= MOST_BYTES) {
            found.push(ShownTree { title: title.to_string(), newick: newick.to_string(), kinds });
        }
    };
    let kinds = result.texts("support.label").into_iter();
    let kinds = kinds.map(|kind| ShownKind {
        name: name_of_support(kind).to_string(),
        full: full_support(kind),
    });
    let title = if result.at("best_tree").is_some() {
        "best tree with support"
    } else {
        "tree with support"
    };
    add(title, result.text("support.tree"), kinds.collect());
    add("best tree", result.text("best_tree"), Vec::new());
    let posterior = ShownKind::probability("posterior probability");
    add("consensus of the sample", result.text("sampling.consensus_tree"), posterior);
    add("sampled tree of highest posterior density", result.text("sampling.map_tree"), Vec::new());
    let frequency = ShownKind::percentage("percentage of the trees");
    add("consensus tree", result.text("consensus_tree"), frequency);
    add("without branches of no length", result.text("best_tree_collapsed"), Vec::new());
    add("with names of inner nodes", result.text("ancestral.tree"), Vec::new());
    let from_distances = result.list("distances.trees");
    for tree in from_distances {
        let method = tree.text("method").unwrap_or("distances");
        add(&format!("tree of the distances ({method})"), tree.text("newick"), Vec::new());
    }
    for (i, tree) in result.texts("rooted_trees").into_iter().enumerate() {
        add(&format!("rooted tree {}", i + 1), Some(tree), ShownKind::percentage("label"));
    }
    let several = result.list("trees");
    for (i, tree) in several.iter().enumerate().filter(|_| several.len() > 1) {
        let source = tree.text("source").unwrap_or_default();
        add(&format!("tree {}: {source}", i + 1), tree.text("newick"), Vec::new());
    }
    found
}

/// What the lengths of the trees count, by the models of the partitions.
fn unit_of_lengths(result: &Value) -> &'static str {
    let of_codons = |model: &str| {
        let matrix = model.split(['+', '{']).next().unwrap_or_default();
        matrix.starts_with("GY") || matrix.starts_with("MG") || model.contains("+CODE")
    };
    let partitions = result.list("partitions").iter();
    let mut models = partitions.filter_map(|partition| partition.text("model")).peekable();
    match models.peek().is_some() && models.all(of_codons) {
        true => "substitutions per codon",
        false => "substitutions per site",
    }
}

/// The tree and all that can be done with it.
pub(super) fn section(result: &Value, trees: &[ShownTree]) -> Option<Section> {
    let first = trees.first()?;
    let unit = unit_of_lengths(result);
    let body = html! {
        div.controls {
            @if trees.len() > 1 {
                (choice("tree", "Tree", &trees.iter().enumerate().map(|(i, tree)| (i.to_string(), tree.title.clone())).collect::<Vec<_>>()))
            } @else {
                select id="tree-tree" hidden aria-label="Tree" { option value="0" { (first.title) } }
            }
            (choice("shape", "Shape", &named(&[("phylogram", "phylogram"), ("cladogram", "cladogram"), ("circular", "circular")])))
            (choice("root", "Root", &named(&[("given", "as given"), ("midpoint", "midpoint"), ("selected", "selected branch")])))
            (check("ladder", "ladderise"))
            (check("italic", "italic names"))
        }
        div.controls {
            (choice("kind", "Support", &[]))
            label { "weak below" input id="tree-threshold" type="number" min="0"; }
            (check("colour", "colour"))
            span.group {
                label { "Find taxa" input id="tree-find" type="search" size="18"; }
                (button("next", "next"))
                span id="tree-count" role="status" {}
            }
        }
        div.controls {
            span.group role="group" aria-label="Zoom" { (button("in", "zoom in")) (button("out", "zoom out")) (button("fit", "whole tree")) }
            span.group role="group" aria-label="Selected branch" { (button("collapse", "collapse or open clade")) (button("reroot", "root here")) (button("expand", "open all")) }
            span.group role="group" aria-label="Download" { "Download" (button("svg", "SVG")) (button("png", "PNG")) (button("newick", "Newick")) }
        }
        div.tree {
            canvas id="tree-canvas" data-unit=(unit) tabindex="0" role="application" aria-label="The tree. Arrow keys: left to the parent, right to the first child, up and down to neighbours. Enter collapses or opens a clade, r puts the root on the branch, plus and minus zoom, 0 shows the whole tree." aria-describedby="tree-selected" {}
            p.hint id="tree-hint" hidden { "Zoom in to read names and support." }
        }
        p.state id="tree-selected" role="status" aria-live="polite" {}
        div.paper id="tree-paper" {}
        p.soft.how {
            "Click on a branch to select it, twice to collapse its clade; drag to move; the wheel zooms once the tree was clicked, with Shift in width, and two fingers do on a touch screen. Weak branches are dashed. Downloads show the tree as it is here: with its root, order and collapsed clades (Newick has these in full)."
        }
        noscript { p { "The drawing needs JavaScript; this is the tree in Newick format:" } pre { (first.newick) } }
    };
    Some(Section { id: "tree", title: if trees.len() > 1 { "Trees" } else { "Tree" }, body })
}

fn named(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(value, text)| (value.to_string(), text.to_string())).collect()
}

fn choice(name: &str, label: &str, options: &[(String, String)]) -> Markup {
    html! { label { (label) select id=(format!("tree-{name}")) { @for (value, text) in options { option value=(value) { (text) } } } } }
}

fn check(name: &str, label: &str) -> Markup {
    html! { label { input type="checkbox" id=(format!("tree-{name}")) checked[name == "colour"]; (label) } }
}

fn button(name: &str, label: &str) -> Markup {
    html! { button.plain type="button" id=(format!("tree-{name}")) { (label) } }
}
