//! The options of `search`.

use super::run::Search;
use crate::commands::{Analysis, Group, Guide, Word, guide};
use crate::plan::{
    DataArgs, ModelIs, OutputArgs, Plan, Reading, Replaces, RunArgs, TreeSource, parse_count,
};
use crate::steps::ancestral_tables::{
    ANCESTRAL_PROBS, ANCESTRAL_STATES, ANCESTRAL_TREE, MUTATION_MAP_LIST, MUTATION_MAP_TREE,
};
use crate::steps::options::{
    BestTreeArgs, ClimbArgs, ConstraintArgs, FitArgs, IdenticalArgs, MetricArgs, ReplicateArgs,
    RootArgs, SiteFrequencyArgs, StartArgs,
};
use crate::steps::replicates::BOOTSTRAPS;
use crate::steps::results::{
    BEST_MODEL, BEST_PARTITION_TREES, BEST_TREE, BEST_TREE_COLLAPSED, ML_TREES, SITE_LH,
};
use crate::steps::site_rates::{SITE_FREQS, SITE_RATES};
use crate::steps::starts::START_TREE;
use crate::steps::support::SUPPORT;
use clap::{ArgMatches, Args, FromArgMatches};

/// The word.
pub(crate) const WORD: Word = Word {
    name: "search",
    group: Group::FromAlignments,
    about: "the best tree; with --all also replicates and support",
    usage: "-s <FILE> -m <MODEL>",
    guide: guide!("search"),
    flat: "search",
    outputs: &[
        START_TREE,
        BEST_TREE,
        BEST_TREE_COLLAPSED,
        BEST_MODEL,
        ML_TREES,
        SITE_LH,
        BEST_PARTITION_TREES,
        BOOTSTRAPS,
        SUPPORT,
        ANCESTRAL_TREE,
        ANCESTRAL_STATES,
        ANCESTRAL_PROBS,
        MUTATION_MAP_TREE,
        MUTATION_MAP_LIST,
        SITE_RATES,
        SITE_FREQS,
    ],
    replaces: Replaces::AllOfAnalyses,
    args: SearchArgs::augment_args,
    read,
    ..Word::BLANK
};

/// A search that is only described.
pub(crate) const CHECK: Word = Word {
    name: "check",
    aliases: &["parse"],
    group: Group::Tools,
    about: "describes the data; memory and time of a run",
    guide: Guide {
        path: "src/cli/run.md",
        text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/cli/run.md")),
    },
    flat: "check",
    preset: Some(("check", &["--check"])),
    ..WORD
};

/// How a search has replicates.
const HOW: &str = "--all or --bs-trees N adds some to a search";

/// What a user may type.
#[derive(Debug, Clone, Args)]
struct SearchArgs {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    site_frequencies: SiteFrequencyArgs,
    /// Add replicates, and their support of the tree
    ///
    /// Search, bootstrap replicates [default: 100] and support values on the best tree.
    #[arg(long, help_heading = "Bootstrap and support")]
    all: bool,
    #[command(flatten)]
    replicates: ReplicateArgs,
    #[command(flatten)]
    metric: MetricArgs,
    #[command(flatten)]
    best_tree: BestTreeArgs,
    #[command(flatten)]
    start: StartArgs,
    #[command(flatten)]
    constraint: ConstraintArgs,
    #[command(flatten)]
    climb: ClimbArgs,
    #[command(flatten)]
    fit: FitArgs,
    #[command(flatten)]
    identical: IdenticalArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    root: RootArgs,
    #[command(flatten)]
    run: RunArgs,
}

fn read(matches: &ArgMatches, reading: &mut Reading) -> clap::error::Result<Analysis> {
    let args = SearchArgs::from_arg_matches(matches)?;
    let data = args.data.read(ModelIs::Needed, reading);
    args.replicates.draw.note_rapid(&mut reading.notes);
    let plan = reading.plan(data, &args.run.of_search(), &args.output, None);
    let refusals = &mut reading.refusals;
    let replicates = args.all || args.replicates.draw.demand_some();
    let runs = args.replicates.draw.runs.as_deref().filter(|_| !replicates);
    let runs = runs.map(|text| refusals.or(parse_count("-#", text), 1));
    let mut search = args.fit.read(refusals);
    args.climb.read(&mut search, refusals);
    search.trees = args.start.read(runs, TreeSource::Auto, refusals);
    search.keep_identical = args.identical.keep_identical;
    search.constraint = args.constraint.tree_constraint;
    let mut plan = Plan { search, ..plan };
    plan.output.root = args.root.read(refusals);
    args.best_tree.read(&mut plan, refusals);
    args.site_frequencies.read(&mut plan, true, refusals);
    if replicates {
        plan.bootstrap = args.replicates.read(plan.seed, args.data.has_partitions(), refusals);
        plan.support.kinds.extend(args.metric.read("fbp", refusals));
    } else {
        args.replicates.refuse(HOW, refusals);
        if args.metric.bs_metric.is_some() {
            refusals.add(format!("--bs-metric applies only to bootstrap replicates: {HOW}"));
        }
    }
    Ok(Analysis::new(&WORD, plan, Box::new(Search { replicates })))
}
