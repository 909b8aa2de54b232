//! What `mlsearch simulate` means.

use super::args::{Args, SimulateArgs};
use super::files::resolve_prefix;
use super::values::parse_trees;
use super::verb::Faults;
use crate::commands::simulate::Simulate;
use crate::commands::{Analysis, Command};
use crate::likelihood::ScorePrecision;
use crate::plan::{
    AnalysisOptions, AncestralOptions, BootstrapOptions, DEFAULT_SEED, DataOptions, Facts,
    OutputOptions, Plan, RunOptions, Sampling, SamplingUnit, SearchEffort, SupportOptions,
    TestOptions, Threads, TreeSource,
};
use std::path::PathBuf;

/// Gives a meaning to the options of `simulate`.
pub(super) fn resolve_simulate(
    simulate: &SimulateArgs,
    args: &Args,
    faults: &mut Faults,
) -> Analysis {
    let seed = simulate.seed.unwrap_or(DEFAULT_SEED);
    let sources = simulate.tree.as_deref().map(|text| faults.or(parse_trees(text), Vec::new()));
    let tree = match sources.as_deref() {
        Some([one @ (TreeSource::File(_) | TreeSource::Random(_))]) => one.clone(),
        None => {
            faults.add("no tree: give --tree FILE, or --tree rand{N} for a random tree of N taxa");
            TreeSource::Random(4)
        }
        _ => {
            faults.add("--tree must be one file, or rand{N} for a random tree of N taxa");
            TreeSource::Random(4)
        }
    };
    if matches!(tree, TreeSource::Random(n) if n < 3) {
        faults.add("--tree rand{N} needs at least 3 taxa");
    }
    match (simulate.sites, &simulate.partitions) {
        (None, None) => faults.add("no number of sites: give --sites N or -q FILE"),
        (Some(_), Some(_)) => {
            faults.add("--sites and -q both set the number of sites: give only one of them");
        }
        (Some(0), None) => faults.add("--sites must be at least 1"),
        _ => {}
    }
    if simulate.model.is_none() && simulate.partitions.is_none() {
        faults.add("no model: give -m MODEL, for example -m JC");
    }
    if !(0.0..1.0).contains(&simulate.missing) {
        faults.add("--missing must be at least 0 and less than 1");
    }
    if !(simulate.mean_brlen > 0.0 && simulate.mean_brlen <= 100.0) {
        faults.add("--mean-brlen must be positive and at most 100 (substitutions per site)");
    }
    if simulate.name.is_none() && simulate.prefix.is_none() {
        faults.add("no name for the output files: give --prefix PATH or -n NAME");
    }
    let names = (simulate.name.as_deref(), simulate.prefix.as_deref(), simulate.out_dir.as_deref());
    let output = ModeOutput { prefix: resolve_prefix(names, None, faults), redo: simulate.redo };
    let command = Box::new(Simulate {
        tree,
        num_sites: simulate.sites,
        missing: simulate.missing,
        mean_brlen: simulate.mean_brlen,
    });
    let data = DataOptions {
        partitions: simulate.partitions.clone(),
        model: simulate.model.clone(),
        restricted: true,
        ..DataOptions::default()
    };
    plan_of_mode(command, data, seed, &RUN_OF_MODE, output, args)
}

/// The machine of a mode.
pub(super) const RUN_OF_MODE: RunOptions = RunOptions {
    threads: Threads::Fixed(1),
    memory: None,
    engine: None,
    cards: 0,
    score_precision: ScorePrecision::Double,
    instruction_set: None,
};

/// Output files of a mode.
pub(super) struct ModeOutput {
    /// The prefix of their names.
    pub(super) prefix: PathBuf,
    /// Replace those of an earlier run.
    pub(super) redo: bool,
}

/// The plan of a mode that is no analysis of an alignment.
pub(super) fn plan_of_mode(
    command: Box<dyn Command>,
    data: DataOptions,
    seed: u64,
    run: &RunOptions,
    output: ModeOutput,
    args: &Args,
) -> Analysis {
    let plan = Plan {
        facts: Facts::default(),
        is_check: false,
        data,
        search: AnalysisOptions {
            effort: SearchEffort::default(),
            trees: Vec::new(),
            partition_trees: None,
            opt_model: false,
            opt_branches: false,
            lh_epsilon: None,
            spr_radius: None,
            spr_cutoff: None,
            keep_identical: false,
            constraint: None,
        },
        bootstrap: BootstrapOptions {
            replicates: 0,
            bootstop: None,
            sampling: Sampling { unit: SamplingUnit::Sites, jackknife: None },
            seed,
            with_brlens: false,
        },
        ancestral: AncestralOptions::default(),
        support: SupportOptions { kinds: Vec::new(), alrt_replicates: 0 },
        tests: TestOptions { kinds: Vec::new(), replicates: 0 },
        seed,
        run: run.clone(),
        output: OutputOptions {
            prefix: output.prefix,
            redo: output.redo,
            sitelh: false,
            root: None,
            quiet: false,
        },
        command_line: args.command_line.clone(),
        resuming_command: args.resuming_command.clone(),
        processor_command: String::new(),
        notes: Vec::new(),
    };
    Analysis::new(plan, command)
}
