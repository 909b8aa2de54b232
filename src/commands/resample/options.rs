//! The options of `resample`.

use super::run::Resample;
use super::run::{BOOTSTRAP_MSA, BOOTSTRAP_PARTITIONS};
use crate::commands::{Analysis, Group, Word, guide};
use crate::plan::{DataArgs, ModelIs, OutputArgs, Plan, Reading, RunArgs};
use crate::steps::options::DrawArgs;
use clap::{ArgMatches, Args, Command, FromArgMatches};

/// The word.
pub(crate) const WORD: Word = Word {
    name: "resample",
    aliases: &["bsmsa"],
    group: Group::Certainty,
    about: "the resampled alignments, for other programs",
    usage: "-s <FILE>",
    guide: guide!("bootstrap"),
    flat: "bsmsa",
    outputs: &[BOOTSTRAP_MSA, BOOTSTRAP_PARTITIONS],
    args,
    read,
    ..Word::BLANK
};

/// What a user may type.
#[derive(Debug, Clone, Args)]
struct ResampleArgs {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    draw: DrawArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// The options, of which one is of trees in other analyses.
fn args(command: Command) -> Command {
    let number = "Number of alignments [default: 100]";
    ResampleArgs::augment_args(command)
        .mut_arg("bs_trees", |arg| arg.value_name("N").help(number).long_help(number))
}

fn read(matches: &ArgMatches, reading: &mut Reading) -> clap::error::Result<Analysis> {
    let args = ResampleArgs::from_arg_matches(matches)?;
    let data = args.data.read(ModelIs::Optional, reading);
    args.draw.note_rapid(&mut reading.notes);
    let plan = reading.plan(data, &args.run, &args.output, None);
    let refusals = &mut reading.refusals;
    let (bootstrap, criterion) = args.draw.read(plan.seed, args.data.has_partitions(), refusals);
    if criterion.is_some() {
        refusals.add(
            "resampled alignments are no trees: give a number of them, no rule of bootstopping",
        );
    }
    Ok(Analysis::new(&WORD, Plan { bootstrap, ..plan }, Box::new(Resample)))
}
