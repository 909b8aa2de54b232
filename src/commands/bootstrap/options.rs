//! The options of `bootstrap`.

use super::run::Bootstrap;
use crate::commands::{Analysis, Group, Word, guide};
use crate::plan::{DataArgs, ModelIs, OutputArgs, Plan, Reading, Replaces, RunArgs};
use crate::steps::options::{
    ClimbArgs, ConstraintArgs, FitArgs, IdenticalArgs, ReplicateArgs, SiteFrequencyArgs,
};
use crate::steps::replicates::BOOTSTRAPS;
use crate::steps::site_rates::SITE_FREQS;
use clap::{ArgMatches, Args, FromArgMatches};

/// The word.
pub(crate) const WORD: Word = Word {
    name: "bootstrap",
    group: Group::Certainty,
    about: "trees of resampled alignments, as many as are needed",
    usage: "-s <FILE> -m <MODEL>",
    guide: guide!("bootstrap"),
    flat: "bootstrap",
    outputs: &[BOOTSTRAPS, SITE_FREQS],
    replaces: Replaces::AllOfAnalyses,
    args: BootstrapArgs::augment_args,
    read,
    ..Word::BLANK
};

/// What a user may type.
#[derive(Debug, Clone, Args)]
struct BootstrapArgs {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    site_frequencies: SiteFrequencyArgs,
    #[command(flatten)]
    replicates: ReplicateArgs,
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
    run: RunArgs,
}

fn read(matches: &ArgMatches, reading: &mut Reading) -> clap::error::Result<Analysis> {
    let args = BootstrapArgs::from_arg_matches(matches)?;
    let data = args.data.read(ModelIs::Needed, reading);
    args.replicates.draw.note_rapid(&mut reading.notes);
    let plan = reading.plan(data, &args.run.of_search(), &args.output, None);
    let refusals = &mut reading.refusals;
    let mut search = args.fit.read(refusals);
    args.climb.read(&mut search, refusals);
    search.keep_identical = args.identical.keep_identical;
    search.constraint = args.constraint.tree_constraint;
    let bootstrap = args.replicates.read(plan.seed, args.data.has_partitions(), refusals);
    let mut plan = Plan { search, bootstrap, ..plan };
    args.site_frequencies.read(&mut plan, true, refusals);
    Ok(Analysis::new(&WORD, plan, Box::new(Bootstrap)))
}
