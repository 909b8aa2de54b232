//! The options of `terrace`.

use super::report::SECTION;
use super::run::TERRACE;
use super::run::Terrace;
use crate::commands::{Analysis, Group, Word, guide};
use crate::plan::{DataArgs, ModelIs, OutputArgs, Reading, RunArgs, parse_count};
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::PathBuf;

/// Number of trees that are written if none is given.
const DEFAULT_TREES: usize = 100;

/// The word.
pub(crate) const WORD: Word = Word {
    name: "terrace",
    group: Group::Certainty,
    about: "trees with exactly the same likelihood",
    usage: "--tree <FILE> -s <FILE> -q <FILE>",
    guide: guide!("terrace"),
    flat: "terrace",
    value: Some("write"),
    outputs: &[TERRACE],
    sections: &[SECTION.schema()],
    args: TerraceArgs::augment_args,
    read,
    ..Word::BLANK
};

/// What a user may type.
#[derive(Debug, Clone, Args)]
struct TerraceArgs {
    /// The tree whose terrace is counted
    ///
    /// All trees that give every partition the same tree of its taxa.
    #[arg(short = 't', long, value_name = "FILE", help_heading = "Trees")]
    tree: Option<PathBuf>,
    /// Most trees that are written [default: 100]
    ///
    /// Also right after the word.
    #[arg(long, value_name = "N", help_heading = "Trees")]
    write: Option<String>,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    run: RunArgs,
}

fn read(matches: &ArgMatches, reading: &mut Reading) -> clap::error::Result<Analysis> {
    let args = TerraceArgs::from_arg_matches(matches)?;
    let data = args.data.read(ModelIs::Optional, reading);
    let refusals = &mut reading.refusals;
    let tree = args.tree.unwrap_or_else(|| {
        refusals.add("no tree whose terrace is looked for: give -t FILE (--tree FILE)");
        PathBuf::new()
    });
    if !args.data.has_partitions() {
        refusals.add("--terrace needs partitions that lack taxa: give -q FILE");
    }
    let trees = args.write.as_deref().map(|text| parse_count("--terrace", text));
    let trees = trees.map_or(DEFAULT_TREES, |trees| refusals.or(trees, 1));
    let plan = reading.plan(data, &args.run, &args.output, None);
    Ok(Analysis::new(&WORD, plan, Box::new(Terrace { tree, trees })))
}
