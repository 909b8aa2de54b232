//! The options of `evaluate`, and of its presets `test` and `ancestral`.

use super::run::Evaluate;
use crate::commands::{Analysis, Group, Word, guide};
use crate::likelihood::BrlenLinkage;
use crate::plan::{
    DataArgs, ModelIs, OutputArgs, Plan, Reading, Replaces, RunArgs, Switch, TreeSource,
    parse_trees,
};
use crate::steps::ancestral_tables::{
    ANCESTRAL_PROBS, ANCESTRAL_STATES, ANCESTRAL_TREE, MUTATION_MAP_LIST, MUTATION_MAP_TREE,
};
use crate::steps::options::{BestTreeArgs, FitArgs, RootArgs, SiteFrequencyArgs, TestArgs};
use crate::steps::results::{
    BEST_MODEL, BEST_PARTITION_TREES, BEST_TREE, BEST_TREE_COLLAPSED, ML_TREES, SITE_LH,
};
use crate::steps::site_rates::{SITE_FREQS, SITE_RATES};
use crate::steps::support::SUPPORT;
use crate::steps::tested_trees::TOPOLOGY_TESTS;
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::PathBuf;

/// The word.
pub(crate) const WORD: Word = Word {
    name: "evaluate",
    group: Group::GivenTrees,
    about: "likelihoods, branch lengths and models of given trees",
    usage: "-s <FILE> -m <MODEL> -t <TREES>",
    guide: guide!("evaluate"),
    flat: "evaluate",
    outputs: &[
        BEST_TREE,
        BEST_TREE_COLLAPSED,
        BEST_MODEL,
        ML_TREES,
        SITE_LH,
        BEST_PARTITION_TREES,
        SUPPORT,
        TOPOLOGY_TESTS,
        ANCESTRAL_TREE,
        ANCESTRAL_STATES,
        ANCESTRAL_PROBS,
        MUTATION_MAP_TREE,
        MUTATION_MAP_LIST,
        SITE_RATES,
        SITE_FREQS,
    ],
    replaces: Replaces::AllOfAnalyses,
    args: EvaluateArgs::augment_args,
    read,
    ..Word::BLANK
};

/// An evaluation with tests.
pub(crate) const TEST: Word = Word {
    name: "test",
    about: "which trees the data reject: AU, SH, KH, ELW",
    usage: "-s <FILE> -m <MODEL> -z <TREES>",
    flat: "",
    preset: Some(("tests", &["--tests", "all"])),
    ..WORD
};

/// An evaluation with ancestral states.
pub(crate) const ANCESTRAL: Word = Word {
    name: "ancestral",
    about: "states at the inner nodes of a tree",
    flat: "",
    preset: Some(("ancestral", &["--ancestral"])),
    ..WORD
};

/// What a user may type.
#[derive(Debug, Clone, Args)]
struct EvaluateArgs {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    site_frequencies: SiteFrequencyArgs,
    /// The trees: FILE, or made: pars{5}, rand{5}, nj
    ///
    /// Or several of these separated by commas.
    #[arg(short = 't', long, value_name = "TREES", help_heading = "Trees")]
    tree: Option<String>,
    /// File of further trees, as in RAxML's -f h
    #[arg(short = 'z', long = "trees", value_name = "FILE", help_heading = "Trees")]
    many_trees: Option<PathBuf>,
    /// Trees with the branch lengths of each partition (a bestPartitionTrees file; substitutions per
    /// site), from which -M starts
    #[arg(long, value_name = "FILE", help_heading = "Trees", hide_short_help = true)]
    partition_trees: Option<PathBuf>,
    #[command(flatten)]
    tests: TestArgs,
    #[command(flatten)]
    best_tree: BestTreeArgs,
    #[command(flatten)]
    fit: FitArgs,
    /// Optimise the branch lengths [default: on]
    #[arg(
        long,
        value_enum,
        value_name = "on|off",
        hide_possible_values = true,
        help_heading = "Optimisation and search"
    )]
    opt_branches: Option<Switch>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    root: RootArgs,
    #[command(flatten)]
    run: RunArgs,
}

fn read(matches: &ArgMatches, reading: &mut Reading) -> clap::error::Result<Analysis> {
    let args = EvaluateArgs::from_arg_matches(matches)?;
    let data = args.data.read(ModelIs::Needed, reading);
    let plan = reading.plan(data, &args.run, &args.output, None);
    let refusals = &mut reading.refusals;
    let mut search = args.fit.read(refusals);
    search.opt_branches = args.opt_branches != Some(Switch::Off);
    let given = args.tree.as_deref().map(|text| refusals.or(parse_trees(text), Vec::new()));
    if given.is_none() && args.many_trees.is_none() {
        refusals.add("no tree to evaluate: give -t FILE (--tree FILE)");
    }
    search.trees = given.unwrap_or_default();
    search.trees.extend(args.many_trees.map(TreeSource::File));
    if args.partition_trees.is_some() && plan.data.brlen != BrlenLinkage::Unlinked {
        refusals.add("--partition-trees applies only to --evaluate -M");
    }
    search.partition_trees = args.partition_trees;
    let mut plan = Plan { search, tests: args.tests.read(refusals), ..plan };
    plan.output.root = args.root.read(refusals);
    args.best_tree.read(&mut plan, refusals);
    args.site_frequencies.read(&mut plan, false, refusals);
    Ok(Analysis::new(&WORD, plan, Box::new(Evaluate)))
}
