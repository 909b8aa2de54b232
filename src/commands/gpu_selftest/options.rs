//! The options of `gpu-selftest`.

use super::run::{GpuSelftest, SECTION};
use crate::commands::{Analysis, Group, Word, guide};
use crate::plan::{DataOptions, OutputArgs, Reading, RunArgs, Switch, parse_gpus};
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::PathBuf;

/// The word.
pub(crate) const WORD: Word = Word {
    name: "gpu-selftest",
    group: Group::Tools,
    about: "compares GPUs with the CPU, and measures both",
    guide: guide!("gpu_selftest"),
    has_own_options: true,
    sections: &[SECTION.schema()],
    args: GpuSelftestArgs::augment_args,
    read,
    ..Word::BLANK
};

/// The options of `gpu-selftest`.
#[derive(Debug, Clone, Args)]
struct GpuSelftestArgs {
    /// Numbers of the GPUs, as 0 or 0,1 [default: 0]
    #[arg(long, value_name = "LIST")]
    gpu: Option<String>,
    /// Compare less, and measure the smallest alignment only
    #[arg(long)]
    quick: bool,
    /// Compare everything until a number differs, and measure nothing
    #[arg(long, conflicts_with = "quick")]
    compare: bool,
    /// Output files are NAME.mlsearch.* [default: gpu-selftest]
    #[arg(short = 'n', value_name = "NAME")]
    name: Option<String>,
    /// Output files are PATH.mlsearch.*
    #[arg(long, value_name = "PATH")]
    prefix: Option<PathBuf>,
    /// Replace the results of an earlier self-test
    #[arg(long)]
    redo: bool,
}

fn read(matches: &ArgMatches, reading: &mut Reading) -> clap::error::Result<Analysis> {
    let args = GpuSelftestArgs::from_arg_matches(matches)?;
    let name = match (&args.name, &args.prefix) {
        (None, None) => Some("gpu-selftest".to_string()),
        _ => args.name,
    };
    let output = OutputArgs {
        name,
        prefix: args.prefix,
        redo: args.redo,
        report: Some(Switch::Off),
        ..OutputArgs::default()
    };
    let run = RunArgs { threads: Some("1".into()), ..RunArgs::default() };
    let mut plan = reading.plan(DataOptions::default(), &run, &output, None);
    plan.run.gpus = reading.refusals.or(parse_gpus(args.gpu.as_deref()), 0);
    let GpuSelftestArgs { quick, compare, .. } = args;
    Ok(Analysis::new(&WORD, plan, Box::new(GpuSelftest { quick, compare })))
}
