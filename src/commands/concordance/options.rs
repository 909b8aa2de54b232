//! The options of `concordance`.

use super::run::Concordance;
use crate::commands::{Analysis, Group, Word, guide};
use crate::plan::{DataArgs, DataOptions, ModelIs, OutputArgs, Reading, RunArgs};
use crate::steps::concordance::{CONCORDANCE, CONCORDANCE_SECTION};
use crate::steps::options::read_quartets;
use crate::steps::support::SUPPORT;
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::PathBuf;

/// The word.
pub(crate) const WORD: Word = Word {
    name: "concordance",
    group: Group::Certainty,
    about: "gene trees and sites that agree with a tree",
    usage: "--tree <FILE> --gcf <FILE>",
    guide: guide!("concordance"),
    outputs: &[SUPPORT, CONCORDANCE],
    sections: &[CONCORDANCE_SECTION.schema()],
    args: ConcordanceArgs::augment_args,
    read,
    ..Word::BLANK
};

/// What a user may type.
#[derive(Debug, Clone, Args)]
struct ConcordanceArgs {
    /// The tree
    #[arg(short = 't', long, value_name = "FILE", help_heading = "Trees")]
    tree: Option<PathBuf>,
    /// Gene trees: gene concordance factors
    ///
    /// How many of the gene trees of this file have the branches of the tree; they may lack taxa.
    #[arg(long, value_name = "FILE", help_heading = "Trees")]
    gcf: Option<PathBuf>,
    /// Site concordance factors
    ///
    /// How many sites of the alignment support the branches of the tree, on average over this number of quartets of
    /// taxa per branch [default: 100].
    #[arg(long, num_args = 0..=1, value_name = "N", help_heading = "Trees")]
    scf: Option<Option<String>>,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    run: RunArgs,
}

fn read(matches: &ArgMatches, reading: &mut Reading) -> clap::error::Result<Analysis> {
    let args = ConcordanceArgs::from_arg_matches(matches)?;
    let data = match args.scf {
        Some(_) => args.data.read(ModelIs::Optional, reading),
        None => {
            args.data.note_unused(&mut reading.notes);
            DataOptions::default()
        }
    };
    let refusals = &mut reading.refusals;
    let tree = args.tree.unwrap_or_else(|| {
        refusals.add("no tree whose branches are looked at: give -t FILE (--tree FILE)");
        PathBuf::new()
    });
    if args.gcf.is_none() && args.scf.is_none() {
        refusals
            .add("what agrees with the tree? Give --gcf FILE (gene trees), --scf (sites), or both");
    }
    let quartets = read_quartets(args.scf, refusals);
    let plan = reading.plan(data, &args.run, &args.output, Some(&tree));
    Ok(Analysis::new(&WORD, plan, Box::new(Concordance { tree, gene_trees: args.gcf, quartets })))
}
