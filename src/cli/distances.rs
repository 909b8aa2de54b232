//! What `--dist` means: the formula of its model, the format, the trees.

use super::args::Args;
use super::values::parse_trees;
use super::verb::{Faults, Verb};
use crate::plan::{
    BrlenLinkage, DataOptions, DistanceFormula, MatrixFormat, MatrixPlan, TreeSource,
};

/// PHYLIP's ratio of transitions and transversions.
const DEFAULT_RATIO: f64 = 2.0;

/// What is asked; `data` gets the model with which the alignment is read.
pub(super) fn resolve_distances(
    args: &Args,
    data: &mut DataOptions,
    faults: &mut Faults,
) -> MatrixPlan {
    let file = args.dist.clone().flatten();
    let trees = resolve_trees(args, faults);
    if file.is_some() && trees.is_empty() {
        faults.add(
            "--dist FILE makes trees of the distances in this file: give --tree nj, bionj, bme or upgma",
        );
    }
    if file.is_some() && args.dist_format.is_some() {
        faults.add(
            "--dist-format applies only to distances that are computed, not to those of a file",
        );
    }
    if Verb::Dist.makes_replicates(args) && (file.is_some() || trees.len() != 1) {
        faults.add(
            "--bs-trees (-#) with --dist makes trees of resampled columns of an alignment: give -s FILE and one of --tree nj, \
             bionj, bme and upgma",
        );
    }
    let (format, gzip) = resolve_format(args.dist_format.as_deref(), faults);
    let (formula, gamma) = resolve_formula(data, faults);
    let apart = data.partitions.is_some() && data.brlen == BrlenLinkage::Unlinked;
    if apart && Verb::Dist.makes_replicates(args) {
        faults.add(
            "--bs-trees (-#) with --dist makes replicates of one tree: leave out -M (--brlen unlinked), with which each \
             partition has a tree of its own",
        );
    }
    MatrixPlan { file, formula, gamma, format, gzip, apart, trees }
}

fn resolve_trees(args: &Args, faults: &mut Faults) -> Vec<crate::plan::DistanceTree> {
    let Some(text) = args.tree.as_deref() else { return Vec::new() };
    let sources = faults.or(parse_trees(text), Vec::new());
    let kinds = sources.iter().map(|source| match source {
        TreeSource::Distances(kind) => Some(*kind),
        _ => None,
    });
    kinds.collect::<Option<Vec<_>>>().unwrap_or_else(|| {
        faults.add(format!("--tree {text}: with --dist, expected nj, bionj, bme or upgma, or several separated by commas"));
        Vec::new()
    })
}

fn resolve_format(text: Option<&str>, faults: &mut Faults) -> (MatrixFormat, bool) {
    let Some(text) = text else { return (MatrixFormat::default(), false) };
    let (name, gzip) = match text.strip_suffix(".gz") {
        Some(name) => (name, true),
        None => (text, false),
    };
    let format = MatrixFormat::ALL.into_iter().find(|format| format.name() == name);
    match format {
        Some(format) if !(gzip && format == MatrixFormat::Npy) => (format, gzip),
        _ => {
            faults.add(format!(
                "--dist-format {text}: expected square, lower, tsv or npy, or square.gz, lower.gz or tsv.gz"
            ));
            (MatrixFormat::default(), false)
        }
    }
}

/// The formula and the shape of continuous rates. The model of `data` becomes one that the rest of the program knows.
fn resolve_formula(data: &mut DataOptions, faults: &mut Faults) -> (DistanceFormula, Option<f64>) {
    let Some(text) = data.model.clone() else {
        if data.partitions.is_some() {
            return (DistanceFormula::Models, None);
        }
        data.model = Some("TN93".into());
        return (DistanceFormula::F84(DEFAULT_RATIO), None);
    };
    let upper = text.to_ascii_uppercase();
    let formula = match upper.as_str() {
        "P" | "P-DISTANCE" => Some(DistanceFormula::Uncorrected),
        "LOGDET" => Some(DistanceFormula::LogDet),
        _ => None,
    };
    if let Some(formula) = formula {
        // No model is used; the type of the data is found from the characters.
        data.model = Some("auto".into());
        return (formula, None);
    }
    let (model, gamma) = split_gamma(&upper, &text, faults);
    let (model, formula) = match model.to_ascii_uppercase().strip_prefix("F84") {
        Some(_) => {
            let (ratio, rest) = split_ratio(&model["F84".len()..], &text, faults);
            (format!("TN93{rest}"), DistanceFormula::F84(ratio))
        }
        None => (model, DistanceFormula::Models),
    };
    data.model = Some(model);
    (formula, gamma)
}

/// The model without `+GC{alpha}`, and alpha.
fn split_gamma(upper: &str, text: &str, faults: &mut Faults) -> (String, Option<f64>) {
    let Some(at) = upper.find("+GC").filter(|_| upper.is_ascii()) else {
        return (text.to_string(), None);
    };
    let (before, after) = (&text[..at], &text[at + 3..]);
    let inside = after.strip_prefix(['{', '[']).and_then(|rest| rest.split_once(['}', ']']));
    let shape = inside.and_then(|(number, _)| number.trim().parse::<f64>().ok());
    match (shape, inside) {
        (Some(shape), Some((_, rest))) if (0.01..=1e6).contains(&shape) => {
            (format!("{before}{rest}"), Some(shape))
        }
        _ => {
            faults.add(format!(
                "-m {text}: +GC needs the shape of the gamma distribution, from 0.01 to 1e6, as in F84+GC{{0.5}}"
            ));
            (before.to_string(), None)
        }
    }
}

/// The ratio after `F84`, and what follows it.
fn split_ratio<'t>(rest: &'t str, text: &str, faults: &mut Faults) -> (f64, &'t str) {
    let Some(inside) = rest.strip_prefix(['{', '[']) else { return (DEFAULT_RATIO, rest) };
    let parts = inside.split_once(['}', ']']);
    let ratio = parts.and_then(|(number, _)| number.trim().parse::<f64>().ok());
    match (ratio, parts) {
        (Some(ratio), Some((_, rest))) if ratio > 0.0 && ratio <= 1e4 => (ratio, rest),
        _ => {
            faults.add(format!(
                "-m {text}: F84 needs one number in braces, the expected ratio of transitions and transversions, as in \
                 F84{{2.0}}"
            ));
            (DEFAULT_RATIO, "")
        }
    }
}
