//! The options of `support`.

use super::run::Support;
use crate::commands::{Analysis, Group, Word, guide};
use crate::plan::{DataOptions, OutputArgs, Reading, RunArgs, one_file};
use crate::steps::options::{MetricArgs, RootArgs};
use crate::steps::support::SUPPORT;
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::PathBuf;

/// The word.
pub(crate) const WORD: Word = Word {
    name: "support",
    group: Group::Certainty,
    about: "support of a tree's branches by other trees",
    usage: "--tree <FILE> --bs-trees <FILE>",
    guide: guide!("support"),
    flat: "support",
    outputs: &[SUPPORT],
    args: SupportArgs::augment_args,
    read,
    ..Word::BLANK
};

/// What a user may type.
#[derive(Debug, Clone, Args)]
struct SupportArgs {
    /// The tree that gets the values
    #[arg(short = 't', long, value_name = "FILE", help_heading = "Trees")]
    tree: Option<PathBuf>,
    /// The trees that are counted
    #[arg(long, value_name = "FILE", help_heading = "Trees")]
    bs_trees: Option<PathBuf>,
    /// The same as --bs-trees, as in RAxML's -f b
    #[arg(short = 'z', long = "trees", value_name = "FILE", help_heading = "Trees")]
    many_trees: Option<PathBuf>,
    #[command(flatten)]
    metric: MetricArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    root: RootArgs,
    #[command(flatten)]
    run: RunArgs,
}

fn read(matches: &ArgMatches, reading: &mut Reading) -> clap::error::Result<Analysis> {
    let args = SupportArgs::from_arg_matches(matches)?;
    let refusals = &mut reading.refusals;
    let bs_trees = one_file(args.bs_trees, "--bs-trees", args.many_trees, "-z", refusals);
    let tree = args.tree.unwrap_or_else(|| {
        refusals.add("no tree to map the support values onto: give -t FILE (--tree FILE)");
        PathBuf::new()
    });
    let mut plan = reading.plan(DataOptions::default(), &args.run, &args.output, Some(&tree));
    plan.support.kinds = args.metric.read("fbp", &mut reading.refusals);
    plan.output.root = args.root.read(&mut reading.refusals);
    Ok(Analysis::new(&WORD, plan, Box::new(Support { tree, bs_trees })))
}
