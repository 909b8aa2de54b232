//! The options of `converge`.

use super::run::Converge;
use crate::bootstrap::BootstopCriterion;
use crate::commands::{Analysis, Group, Word, guide};
use crate::plan::{DataOptions, OutputArgs, Reading, RunArgs, one_file};
use crate::steps::options::{StopArgs, parse_rule};
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::PathBuf;

/// The word.
pub(crate) const WORD: Word = Word {
    name: "converge",
    aliases: &["bsconverge"],
    group: Group::Certainty,
    about: "whether replicate trees are enough",
    usage: "[RULE] --bs-trees <FILE>",
    guide: guide!("bootstrap"),
    flat: "bsconverge",
    value: Some("bs_rule"),
    args: ConvergeArgs::augment_args,
    read,
    ..Word::BLANK
};

/// What a user may type.
#[derive(Debug, Clone, Args)]
struct ConvergeArgs {
    /// autoMRE, autoMR or autoFC [default: autoMRE]
    ///
    /// Also right after the word.
    #[arg(long, value_name = "RULE", help_heading = "Bootstrap and support")]
    bs_rule: Option<String>,
    /// The replicate trees
    #[arg(long, value_name = "FILE", help_heading = "Trees")]
    bs_trees: Option<PathBuf>,
    /// The same as --bs-trees, in RAxML's form
    #[arg(short = 'z', long = "trees", value_name = "FILE", help_heading = "Trees")]
    many_trees: Option<PathBuf>,
    #[command(flatten)]
    stop: StopArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    run: RunArgs,
}

fn read(matches: &ArgMatches, reading: &mut Reading) -> clap::error::Result<Analysis> {
    let args = ConvergeArgs::from_arg_matches(matches)?;
    let refusals = &mut reading.refusals;
    let trees = one_file(args.bs_trees, "--bs-trees", args.many_trees, "-z", refusals);
    let standard = BootstopCriterion::ExtendedMajority;
    let rule = args.bs_rule.as_deref().map_or(Ok(standard), parse_rule);
    let rule = refusals.or(rule, standard);
    let bootstop = args.stop.read(Some(rule), refusals);
    let mut plan = reading.plan(DataOptions::default(), &args.run, &args.output, Some(&trees));
    plan.bootstrap.bootstop = bootstop;
    Ok(Analysis::new(&WORD, plan, Box::new(Converge { trees })))
}
