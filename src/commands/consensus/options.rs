//! The options of `consensus`.

use super::run::CONSENSUS_TREE;
use super::run::Consensus;
use super::run::SECTION;
use crate::bootstrap::SupportKind;
use crate::commands::{Analysis, Group, Word, guide};
use crate::plan::{
    DataOptions, OutputArgs, Reading, Rooting, RunArgs, one_file, parse_consensus_rule,
};
use crate::steps::options::{MetricArgs, RootArgs, parse_metrics};
use crate::tree::ConsensusRule;
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::PathBuf;

/// The word.
pub(crate) const WORD: Word = Word {
    name: "consensus",
    aliases: &["consense"],
    group: Group::GivenTrees,
    about: "one tree for many: majority rule, strict, extended",
    usage: "[RULE] --tree <FILE>",
    guide: guide!("consensus"),
    flat: "consense",
    value: Some("rule"),
    outputs: &[CONSENSUS_TREE],
    sections: &[SECTION.schema()],
    args: ConsensusArgs::augment_args,
    read,
    ..Word::BLANK
};

/// What a user may type.
#[derive(Debug, Clone, Args)]
struct ConsensusArgs {
    /// MR, STRICT, MRE or MR75 [default: MR]
    ///
    /// Majority rule, strict, extended majority rule, or branches of at least 75 % of the trees (also T_75); also
    /// right after the word.
    #[arg(long, value_name = "RULE", help_heading = "Trees")]
    rule: Option<String>,
    /// The trees
    #[arg(short = 't', long, value_name = "FILE", help_heading = "Trees")]
    tree: Option<PathBuf>,
    /// The same as --tree, in RAxML's form
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
    let args = ConsensusArgs::from_arg_matches(matches)?;
    let refusals = &mut reading.refusals;
    let rule = parse_consensus_rule(args.rule.as_deref().unwrap_or("MR"));
    let rule = refusals.or(rule, ConsensusRule::Strict);
    let trees = one_file(args.tree, "--tree", args.many_trees, "-z", refusals);
    // Without a metric, branches have their percentages.
    let kinds = args.metric.bs_metric.as_deref().map(parse_metrics);
    let kinds = kinds.map_or_else(Vec::new, |kinds| refusals.or(kinds, Vec::new()));
    if kinds.contains(&SupportKind::Transfer) {
        refusals.add("--bs-metric tbe does not apply to --consense: expected fbp, ic1 or ica");
    }
    let root = args.root.read(refusals);
    if root == Some(Rooting::Midpoint) {
        refusals.add(
            "the branches of a consensus tree have mean lengths or none, and so it has no middle: give -o TAXA instead of --root midpoint",
        );
    }
    let mut plan = reading.plan(DataOptions::default(), &args.run, &args.output, Some(&trees));
    plan.support.kinds = kinds;
    plan.output.root = root;
    Ok(Analysis::new(&WORD, plan, Box::new(Consensus { rule, trees })))
}
