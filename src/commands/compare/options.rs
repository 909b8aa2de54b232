//! The options of `compare`.

use super::report::SECTION;
use super::run::Compare;
use super::run::RF_DISTANCES;
use crate::commands::{Analysis, Group, Word, guide};
use crate::plan::{DataOptions, OutputArgs, Reading, RunArgs, one_file, parse_tree_metrics};
use crate::tree_distance::TreeMetric;
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::PathBuf;

/// The word.
pub(crate) const WORD: Word = Word {
    name: "compare",
    aliases: &["rfdist"],
    group: Group::GivenTrees,
    about: "distances between trees: RF, branch score, quartets",
    usage: "<TREES>",
    guide: guide!("compare"),
    flat: "rfdist",
    value: Some("many_trees"),
    outputs: &[RF_DISTANCES],
    sections: &[SECTION.schema()],
    args: CompareArgs::augment_args,
    read,
    ..Word::BLANK
};

/// What a user may type.
#[derive(Debug, Clone, Args)]
struct CompareArgs {
    /// The trees that are compared
    ///
    /// With each other; also right after the word.
    #[arg(short = 'z', long = "trees", value_name = "FILE", help_heading = "Trees")]
    many_trees: Option<PathBuf>,
    /// Trees from which those of -z are compared
    ///
    /// By itself, the same as -z.
    #[arg(short = 't', long, value_name = "FILE", help_heading = "Trees")]
    tree: Option<PathBuf>,
    /// rf, wrf, kf, quartet [default: rf]
    ///
    /// Robinson-Foulds, the same weighted by branch lengths, branch score, quartets; or several: rf,quartet.
    #[arg(long, value_name = "KINDS", help_heading = "Trees")]
    rfdist_metric: Option<String>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    run: RunArgs,
}

fn read(matches: &ArgMatches, reading: &mut Reading) -> clap::error::Result<Analysis> {
    let args = CompareArgs::from_arg_matches(matches)?;
    let refusals = &mut reading.refusals;
    // With a file of its own, --tree is what the trees of that file are compared with.
    let (trees, reference) = match args.many_trees {
        Some(trees) => (trees, args.tree),
        None => (one_file(args.tree, "--tree", None, "-z", refusals), None),
    };
    let metrics = args.rfdist_metric.as_deref().map(parse_tree_metrics);
    let metrics = metrics.map_or_else(Vec::new, |metrics| refusals.or(metrics, Vec::new()));
    let metrics = if metrics.is_empty() { vec![TreeMetric::RobinsonFoulds] } else { metrics };
    let plan = reading.plan(DataOptions::default(), &args.run, &args.output, Some(&trees));
    Ok(Analysis::new(&WORD, plan, Box::new(Compare { trees, reference, metrics })))
}
