//! The options of `distance`: the formula of its model, the format, the trees.

use super::command::Distance;
use super::matrix::{
    DISTANCE_TREES, DISTANCES, DISTANCES_GZ, DISTANCES_NPY, PARTITION_DISTANCES,
    PARTITION_DISTANCES_GZ, PARTITION_DISTANCES_NPY,
};
use super::plan::{DistanceFormula, MatrixPlan};
use super::run::SECTION;
use crate::commands::{Analysis, Group, Word, guide};
use crate::distance::DistanceTree;
use crate::likelihood::BrlenLinkage;
use crate::output::MatrixFormat;
use crate::plan::{
    AnalysisOptions, DataArgs, DataOptions, ModelIs, OutputArgs, Plan, Reading, Refusals, RunArgs,
    Switch, TreeSource, parse_trees,
};
use crate::steps::options::{IdenticalArgs, MetricArgs, ReplicateArgs};
use crate::steps::replicates::BOOTSTRAPS;
use crate::steps::support::SUPPORT;
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::PathBuf;

/// PHYLIP's ratio of transitions and transversions.
const DEFAULT_RATIO: f64 = 2.0;

/// The word.
pub(crate) const WORD: Word = Word {
    name: "distance",
    group: Group::FromAlignments,
    about: "distances between sequences, and trees from them",
    usage: "-s <FILE> --tree nj",
    guide: guide!("distance"),
    flat: "dist",
    value: Some("matrix"),
    outputs: &[
        DISTANCES,
        DISTANCES_GZ,
        DISTANCES_NPY,
        PARTITION_DISTANCES,
        PARTITION_DISTANCES_GZ,
        PARTITION_DISTANCES_NPY,
        DISTANCE_TREES,
        BOOTSTRAPS,
        SUPPORT,
    ],
    sections: &[SECTION.schema()],
    args: DistanceArgs::augment_args,
    read,
    ..Word::BLANK
};

/// What a user may type. The model is one of distances: F84 (PHYLIP's dnadist; F84{R} with another ratio of transitions and
/// transversions), any other model, whose free parameters are estimated on a parsimony tree, p (share of different sites) or
/// LogDet; +GC{alpha}: continuous gamma rates.
#[derive(Debug, Clone, Args)]
struct DistanceArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Only the tree of the distances in this file
    ///
    /// Also right after the word.
    #[arg(long, value_name = "FILE", help_heading = "Distances")]
    matrix: Option<PathBuf>,
    /// Trees of the distances: nj,bionj,bme,upgma
    ///
    /// One of them, or several separated by commas.
    #[arg(short = 't', long, value_name = "TREES", help_heading = "Distances")]
    tree: Option<String>,
    /// square, lower, tsv or npy [default: square]
    ///
    /// square or lower (PHYLIP's matrix or triangle), tsv (a line for each pair), npy (NumPy); square.gz, lower.gz or
    /// tsv.gz: compressed.
    #[arg(long, value_name = "FORMAT", help_heading = "Distances")]
    dist_format: Option<String>,
    /// Estimate the free parameters of the model on a parsimony tree [default: on]
    #[arg(
        long,
        value_enum,
        value_name = "on|off",
        hide_possible_values = true,
        help_heading = "Distances",
        hide_short_help = true
    )]
    opt_model: Option<Switch>,
    #[command(flatten)]
    identical: IdenticalArgs,
    #[command(flatten)]
    replicates: ReplicateArgs,
    #[command(flatten)]
    metric: MetricArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    run: RunArgs,
}

fn read(matches: &ArgMatches, reading: &mut Reading) -> clap::error::Result<Analysis> {
    let args = DistanceArgs::from_arg_matches(matches)?;
    let mut data = match args.matrix {
        None => args.data.read(ModelIs::Optional, reading),
        Some(_) => {
            args.data.note_unused(&mut reading.notes);
            DataOptions::default()
        }
    };
    let draw = &args.replicates.draw;
    let has_replicates = draw.bs_trees.is_some() || draw.runs.is_some();
    draw.note_rapid(&mut reading.notes);
    let options = read_matrix(&args, has_replicates, &mut data, &mut reading.refusals);
    let plan = reading.plan(data, &args.run, &args.output, options.file.as_deref());
    let refusals = &mut reading.refusals;
    let search = AnalysisOptions {
        opt_model: args.opt_model != Some(Switch::Off),
        keep_identical: args.identical.keep_identical,
        ..AnalysisOptions::default()
    };
    let mut plan = Plan { search, ..plan };
    if has_replicates {
        plan.bootstrap = args.replicates.read(plan.seed, args.data.has_partitions(), refusals);
        plan.support.kinds = args.metric.read("fbp", refusals);
    } else {
        const HOW: &str = "give --bs-trees N, and the tree that they support";
        args.replicates.refuse(HOW, refusals);
        let seed = draw.seed().is_some();
        for (_, option) in
            [(args.metric.bs_metric.is_some(), "--bs-metric"), (seed, "-b SEED (-x SEED)")]
                .into_iter()
                .filter(|(is_given, _)| *is_given)
        {
            refusals.add(format!("{option} applies only to bootstrap replicates: {HOW}"));
        }
    }
    Ok(Analysis::new(&WORD, plan, Box::new(Distance(options))))
}

/// What is asked; `data` gets the model with which the alignment is read.
fn read_matrix(
    args: &DistanceArgs,
    has_replicates: bool,
    data: &mut DataOptions,
    refusals: &mut Refusals,
) -> MatrixPlan {
    let file = args.matrix.clone();
    let trees = read_trees(args.tree.as_deref(), refusals);
    if file.is_some() && trees.is_empty() {
        refusals.add(
            "--dist FILE makes trees of the distances in this file: give --tree nj, bionj, bme or upgma",
        );
    }
    if file.is_some() && args.dist_format.is_some() {
        refusals.add(
            "--dist-format applies only to distances that are computed, not to those of a file",
        );
    }
    if has_replicates && (file.is_some() || trees.len() != 1) {
        refusals.add(
            "--bs-trees (-#) with --dist makes trees of resampled columns of an alignment: give -s FILE and one of --tree nj, \
             bionj, bme and upgma",
        );
    }
    let (format, gzip) = read_format(args.dist_format.as_deref(), refusals);
    let (formula, gamma) = read_formula(data, refusals);
    let apart = data.partitions.is_some() && data.brlen == BrlenLinkage::Unlinked;
    if apart && has_replicates {
        refusals.add(
            "--bs-trees (-#) with --dist makes replicates of one tree: leave out -M (--brlen unlinked), with which each \
             partition has a tree of its own",
        );
    }
    MatrixPlan { file, formula, gamma, format, gzip, apart, trees }
}

/// The trees that are made.
fn read_trees(tree: Option<&str>, refusals: &mut Refusals) -> Vec<DistanceTree> {
    let Some(text) = tree else { return Vec::new() };
    let sources = refusals.or(parse_trees(text), Vec::new());
    let kinds = sources.iter().map(|source| match source {
        TreeSource::Distances(kind) => Some(*kind),
        _ => None,
    });
    kinds.collect::<Option<Vec<_>>>().unwrap_or_else(|| {
        refusals.add(format!("--tree {text}: with --dist, expected nj, bionj, bme or upgma, or several separated by commas"));
        Vec::new()
    })
}

/// The format, and whether it is compressed.
fn read_format(text: Option<&str>, refusals: &mut Refusals) -> (MatrixFormat, bool) {
    let Some(text) = text else { return (MatrixFormat::default(), false) };
    let (name, gzip) = match text.strip_suffix(".gz") {
        Some(name) => (name, true),
        None => (text, false),
    };
    let format = MatrixFormat::ALL.into_iter().find(|format| format.name() == name);
    match format {
        Some(format) if !(gzip && format == MatrixFormat::Npy) => (format, gzip),
        _ => {
            refusals.add(format!(
                "--dist-format {text}: expected square, lower, tsv or npy, or square.gz, lower.gz or tsv.gz"
            ));
            (MatrixFormat::default(), false)
        }
    }
}

/// The formula and the shape of continuous rates. The model of `data` becomes one that the rest of the program knows.
fn read_formula(data: &mut DataOptions, refusals: &mut Refusals) -> (DistanceFormula, Option<f64>) {
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
    let (model, gamma) = split_gamma(&upper, &text, refusals);
    let (model, formula) = match model.to_ascii_uppercase().strip_prefix("F84") {
        Some(_) => {
            let (ratio, rest) = split_ratio(&model["F84".len()..], &text, refusals);
            (format!("TN93{rest}"), DistanceFormula::F84(ratio))
        }
        None => (model, DistanceFormula::Models),
    };
    data.model = Some(model);
    (formula, gamma)
}

/// The model without `+GC{alpha}`, and alpha.
fn split_gamma(upper: &str, text: &str, refusals: &mut Refusals) -> (String, Option<f64>) {
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
            refusals.add(format!(
                "-m {text}: +GC needs the shape of the gamma distribution, from 0.01 to 1e6, as in F84+GC{{0.5}}"
            ));
            (before.to_string(), None)
        }
    }
}

/// The ratio after `F84`, and what follows it.
fn split_ratio<'t>(rest: &'t str, text: &str, refusals: &mut Refusals) -> (f64, &'t str) {
    let Some(inside) = rest.strip_prefix(['{', '[']) else { return (DEFAULT_RATIO, rest) };
    let parts = inside.split_once(['}', ']']);
    let ratio = parts.and_then(|(number, _)| number.trim().parse::<f64>().ok());
    match (ratio, parts) {
        (Some(ratio), Some((_, rest))) if ratio > 0.0 && ratio <= 1e4 => (ratio, rest),
        _ => {
            refusals.add(format!(
                "-m {text}: F84 needs one number in braces, the expected ratio of transitions and transversions, as in \
                 F84{{2.0}}"
            ));
            (DEFAULT_RATIO, "")
        }
    }
}
