//! The options of `simulate`.

use super::run::Simulate;
use super::run::{ALIGNMENT, PARTITIONS, TRUE_TREE};
use crate::commands::{Analysis, Group, Word, guide};
use crate::plan::{
    DataOptions, OutputArgs, Reading, RunArgs, Switch, TreeSource, parse_seed, parse_trees,
};
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::PathBuf;

/// The word.
pub(crate) const WORD: Word = Word {
    name: "simulate",
    group: Group::Tools,
    about: "sequences along a tree, with missing genes",
    usage: "-t <TREE> -m <MODEL> --sites <N> -n <NAME>",
    guide: guide!("simulate"),
    has_own_options: true,
    outputs: &[ALIGNMENT, PARTITIONS, TRUE_TREE],
    args: SimulateArgs::augment_args,
    read,
    ..Word::BLANK
};

/// The options of `simulate`.
#[derive(Debug, Clone, Args)]
struct SimulateArgs {
    /// The tree: FILE, or rand{N} of N taxa
    ///
    /// A file has one tree with branch lengths.
    #[arg(short = 't', long, value_name = "TREE")]
    tree: Option<String>,
    /// Model with its values: GTR{1/2/1/1/2/1}+G4{0.5}
    ///
    /// With +FU{.3/.2/.2/.3} for frequencies.
    #[arg(short = 'm', long, value_name = "MODEL")]
    model: Option<String>,
    /// Number of columns (three for a codon)
    ///
    /// If there is no partition file.
    #[arg(long, value_name = "N")]
    sites: Option<usize>,
    /// Partition file: names, models, columns
    #[arg(short = 'q', long, value_name = "FILE")]
    partitions: Option<PathBuf>,
    /// Share of (taxon x partition) cells without data
    ///
    /// From 0 to below 1.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, allow_negative_numbers = true)]
    missing: f64,
    /// Mean branch length of a random tree [default: 0.05]
    ///
    /// In substitutions per site.
    #[arg(long, value_name = "LENGTH", allow_negative_numbers = true)]
    mean_brlen: Option<f64>,
    /// Seed [default: 12345]
    ///
    /// The same seed gives the same sequences.
    #[arg(short = 'p', long, value_name = "N", value_parser = parse_seed)]
    seed: Option<u64>,
    /// Output files are NAME.mlsearch.*
    #[arg(short = 'n', value_name = "NAME")]
    name: Option<String>,
    /// Output files are PATH.mlsearch.*
    #[arg(long, value_name = "PATH")]
    prefix: Option<PathBuf>,
    /// Folder of the output files
    ///
    /// [default: the current folder]
    #[arg(short = 'w', long, value_name = "DIR")]
    out_dir: Option<PathBuf>,
    /// Replace the results of an earlier run
    ///
    /// [default: refuse]
    #[arg(long)]
    redo: bool,
}

/// Mean length of a branch of a random tree (substitutions per site).
const DEFAULT_MEAN_BRLEN: f64 = 0.05;

fn read(matches: &ArgMatches, reading: &mut Reading) -> clap::error::Result<Analysis> {
    let args = SimulateArgs::from_arg_matches(matches)?;
    let refusals = &mut reading.refusals;
    let sources = args.tree.as_deref().map(|text| refusals.or(parse_trees(text), Vec::new()));
    let tree = match sources.as_deref() {
        Some([one @ (TreeSource::File(_) | TreeSource::Random(_))]) => one.clone(),
        None => {
            refusals
                .add("no tree: give --tree FILE, or --tree rand{N} for a random tree of N taxa");
            TreeSource::Random(4)
        }
        _ => {
            refusals.add("--tree must be one file, or rand{N} for a random tree of N taxa");
            TreeSource::Random(4)
        }
    };
    if matches!(tree, TreeSource::Random(n) if n < 3) {
        refusals.add("--tree rand{N} needs at least 3 taxa");
    }
    match (args.sites, &args.partitions) {
        (None, None) => refusals.add("no number of sites: give --sites N or -q FILE"),
        (Some(_), Some(_)) => {
            refusals.add("--sites and -q both set the number of sites: give only one of them");
        }
        (Some(0), None) => refusals.add("--sites must be at least 1"),
        _ => {}
    }
    if args.model.is_none() && args.partitions.is_none() {
        refusals.add("no model: give -m MODEL, for example -m JC");
    }
    if !(0.0..1.0).contains(&args.missing) {
        refusals.add("--missing must be at least 0 and less than 1");
    }
    let mean_brlen = args.mean_brlen.unwrap_or(DEFAULT_MEAN_BRLEN);
    if !(mean_brlen > 0.0 && mean_brlen <= 100.0) {
        refusals.add("--mean-brlen must be positive and at most 100 (substitutions per site)");
    }
    if args.name.is_none() && args.prefix.is_none() {
        refusals.add("no name for the output files: give --prefix PATH or -n NAME");
    }
    if args.mean_brlen.is_some() && matches!(tree, TreeSource::File(_)) {
        reading.notes.push("the tree is given: --mean-brlen has no effect".into());
    }
    let data = DataOptions {
        partitions: args.partitions.clone(),
        model: args.model.clone(),
        ..DataOptions::default()
    };
    let output = OutputArgs {
        name: args.name,
        prefix: args.prefix,
        out_dir: args.out_dir,
        redo: args.redo,
        quiet: false,
        report: Some(Switch::Off),
        ..OutputArgs::default()
    };
    let run = RunArgs { seed: args.seed, threads: Some("1".into()), ..RunArgs::default() };
    let plan = reading.plan(data, &run, &output, None);
    let simulate = Simulate { tree, num_sites: args.sites, missing: args.missing, mean_brlen };
    Ok(Analysis::new(&WORD, plan, Box::new(simulate)))
}
