//! The options of `select`.

use super::report::SECTION;
use super::run::{BEST_SCHEME, CRITERIA, MERGES, SELECTED_MODELS, Select};
use crate::commands::{Analysis, Group, Word, guide};
use crate::model_selection::MergeMethod;
use crate::plan::{
    AnalysisOptions, DataArgs, ModelIs, OutputArgs, Plan, Reading, RunArgs, TreeSource, parse_trees,
};
use clap::{ArgMatches, Args, FromArgMatches};

/// The word.
pub(crate) const WORD: Word = Word {
    name: "select",
    group: Group::FromAlignments,
    about: "the model of each partition, by BIC, AIC or AICc",
    usage: "-s <FILE>",
    guide: guide!("select"),
    outputs: &[SELECTED_MODELS, CRITERIA, BEST_SCHEME, MERGES],
    sections: &[SECTION.schema()],
    args: SelectArgs::augment_args,
    read,
    ..Word::BLANK
};

/// What a user may type.
#[derive(Debug, Clone, Args)]
struct SelectArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The tree on which models are compared [default: a parsimony tree]
    #[arg(short = 't', long, value_name = "FILE", help_heading = "Trees")]
    tree: Option<String>,
    /// Merge partitions that one model describes better: off, greedy, rcluster, rclusterf, rcluster:PERCENT [default: off]
    ///
    /// Finds the partition scheme with the lowest criterion. greedy compares all pairs of subsets, rcluster the PERCENT of them
    /// that are the most similar (10 if none is given), and rclusterf merges several at once. (In mlsearch genes: put the shards
    /// of a run together.)
    #[arg(long, value_name = "greedy|rcluster|rclusterf|off", help_heading = "Partitions")]
    merge: Option<String>,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    run: RunArgs,
}

fn read(matches: &ArgMatches, reading: &mut Reading) -> clap::error::Result<Analysis> {
    let args = SelectArgs::from_arg_matches(matches)?;
    let mut data = args.data.read(ModelIs::Optional, reading);
    if data.model.is_none() {
        data.model = Some("auto".into());
    }
    let plan = reading.plan(data, &args.run, &args.output, None);
    let refusals = &mut reading.refusals;
    let trees = args.tree.as_deref().map(|text| refusals.or(parse_trees(text), Vec::new()));
    let trees = trees.unwrap_or_default();
    if trees.iter().any(|tree| !matches!(tree, TreeSource::File(_))) {
        refusals.add(
            "--tree: models are compared on the tree of a file, or without it on a parsimony tree",
        );
    }
    let merge = match args.merge.as_deref() {
        None => None,
        Some(text) if text.eq_ignore_ascii_case("off") => None,
        Some(text) => match MergeMethod::read(text) {
            Ok(method) => Some(method),
            Err(expected) => {
                refusals.add(format!("--merge {text}: {expected}"));
                None
            }
        },
    };
    if merge.is_some() && !args.data.has_partitions() {
        refusals.add("--merge merges the partitions of a partition file: give one with -q FILE");
    }
    let search = AnalysisOptions { trees, ..AnalysisOptions::default() };
    Ok(Analysis::new(&WORD, Plan { search, ..plan }, Box::new(Select { merge })))
}
