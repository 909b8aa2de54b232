//! The options of `root`.

use super::run::ROOTED_TREE;
use super::run::Root;
use super::run::SECTION;
use crate::commands::{Analysis, Group, Word, guide};
use crate::plan::{DataOptions, OutputArgs, Reading, RunArgs, one_file};
use crate::steps::options::{NO_ROOT, RootArgs};
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::PathBuf;

/// The word.
pub(crate) const WORD: Word = Word {
    name: "root",
    group: Group::GivenTrees,
    about: "roots of trees, by an outgroup or at the midpoint",
    usage: "<TREE> -o <TAXA>",
    guide: guide!("root"),
    value: Some("tree"),
    outputs: &[ROOTED_TREE],
    sections: &[SECTION.schema()],
    args: RootingArgs::augment_args,
    read,
    ..Word::BLANK
};

/// What a user may type.
#[derive(Debug, Clone, Args)]
struct RootingArgs {
    /// The trees
    #[arg(short = 't', long, value_name = "FILE", help_heading = "Trees")]
    tree: Option<PathBuf>,
    /// The same as --tree, in RAxML's form
    #[arg(short = 'z', long = "trees", value_name = "FILE", help_heading = "Trees")]
    many_trees: Option<PathBuf>,
    #[command(flatten)]
    root: RootArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    run: RunArgs,
}

fn read(matches: &ArgMatches, reading: &mut Reading) -> clap::error::Result<Analysis> {
    let args = RootingArgs::from_arg_matches(matches)?;
    let refusals = &mut reading.refusals;
    let trees = one_file(args.tree, "--tree", args.many_trees, "-z", refusals);
    let root = args.root.read(refusals);
    if root.is_none() {
        refusals.add(NO_ROOT);
    }
    let mut plan = reading.plan(DataOptions::default(), &args.run, &args.output, Some(&trees));
    plan.output.root = root;
    Ok(Analysis::new(&WORD, plan, Box::new(Root { trees })))
}
