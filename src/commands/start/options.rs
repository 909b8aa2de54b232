//! The options of `start`.

use super::run::Start;
use crate::commands::{Analysis, Group, Word, guide};
use crate::plan::{
    DataArgs, ModelIs, OutputArgs, Plan, Reading, Replaces, RunArgs, TreeSource, parse_count,
};
use crate::steps::options::{ConstraintArgs, FitArgs, IdenticalArgs, StartArgs};
use crate::steps::starts::START_TREE;
use clap::{ArgMatches, Args, Command, FromArgMatches};

/// The word.
pub(crate) const WORD: Word = Word {
    name: "start",
    group: Group::FromAlignments,
    about: "starting trees alone: parsimony, random, by distances",
    usage: "-s <FILE> -t <TREES>",
    guide: guide!("start"),
    flat: "start",
    outputs: &[START_TREE],
    replaces: Replaces::AllOfAnalyses,
    args,
    read,
    ..Word::BLANK
};

/// What a user may type.
#[derive(Debug, Clone, Args)]
struct StartingArgs {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    start: StartArgs,
    /// Number of trees; also -N [default: 1]
    #[arg(short = '#', short_alias = 'N', value_name = "N", help_heading = "Trees")]
    runs: Option<String>,
    #[command(flatten)]
    constraint: ConstraintArgs,
    #[command(flatten)]
    identical: IdenticalArgs,
    #[command(flatten)]
    fit: FitArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// The options, of which `-t` has another default than in a search.
fn args(command: Command) -> Command {
    let trees = "Starting trees: FILE, pars{5}, rand{5}, nj ... [default: pars{1}]";
    let more = "Parsimony, random, or of the distances between the sequences (nj, bionj, bme, upgma), or several of these separated by commas; \
                auto are those of a default search.";
    StartingArgs::augment_args(command)
        .mut_arg("tree", |arg| arg.help(trees).long_help(format!("{trees}\n\n{more}")))
}

fn read(matches: &ArgMatches, reading: &mut Reading) -> clap::error::Result<Analysis> {
    let args = StartingArgs::from_arg_matches(matches)?;
    let data = args.data.read(ModelIs::Optional, reading);
    let plan = reading.plan(data, &args.run, &args.output, None);
    let refusals = &mut reading.refusals;
    let runs = args.runs.as_deref().map(|text| refusals.or(parse_count("-#", text), 1));
    let mut search = args.fit.read(refusals);
    search.trees = args.start.read(runs, TreeSource::Parsimony(1), refusals);
    search.keep_identical = args.identical.keep_identical;
    search.constraint = args.constraint.tree_constraint;
    Ok(Analysis::new(&WORD, Plan { search, ..plan }, Box::new(Start)))
}
