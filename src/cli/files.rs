//! Which files a command reads its trees from, and where its results go.

use super::args::Args;
use super::distances::resolve_distances;
use super::mcmc::resolve_mcmc;
use super::values::{parse_consensus_rule, parse_count, parse_tree_metrics};
use super::verb::{Faults, Verb};
use crate::commands::Command;
use crate::commands::bootstrap::Bootstrap;
use crate::commands::compare::Compare;
use crate::commands::concordance::{Concordance, DEFAULT_QUARTETS};
use crate::commands::consensus::Consensus;
use crate::commands::converge::Converge;
use crate::commands::distance::Distance;
use crate::commands::evaluate::Evaluate;
use crate::commands::resample::Resample;
use crate::commands::root::Root;
use crate::commands::sample::Sample;
use crate::commands::search::Search;
use crate::commands::start::Start;
use crate::commands::support::Support;
use crate::commands::terrace::{DEFAULT_TREES, Terrace};
use crate::input::{STANDARD_INPUT, name_of};
use crate::plan::{ConsensusRule, DataOptions, TreeMetric};
use std::path::{Path, PathBuf};

/// The command with the files of trees it works on.
pub(super) fn resolve_command(
    args: &Args,
    verb: Verb,
    data: &mut DataOptions,
    faults: &mut Faults,
) -> Box<dyn Command> {
    if args.dist_format.is_some() && verb != Verb::Dist {
        faults.add("--dist-format applies only to --dist (-f x)");
    }
    if args.rfdist_metric.is_some() && verb != Verb::RfDist {
        faults.add("--rfdist-metric applies only to --rfdist");
    }
    let tree = || args.tree.as_deref().map(PathBuf::from);
    match verb {
        Verb::Search => Box::new(Search { replicates: false }),
        Verb::All => Box::new(Search { replicates: true }),
        Verb::Evaluate => Box::new(Evaluate),
        Verb::Bootstrap => Box::new(Bootstrap),
        Verb::BsMsa => Box::new(Resample),
        Verb::Start => Box::new(Start),
        Verb::Sample => Box::new(Sample(resolve_mcmc(args, faults))),
        Verb::Support => {
            let boots = args.bs_trees.as_deref().map(PathBuf::from);
            let bs_trees = one_file(boots, "--bs-trees", args.many_trees.clone(), "-z", faults);
            let tree = tree().unwrap_or_else(|| {
                faults.add("no tree to map the support values onto: give -t FILE (--tree FILE)");
                PathBuf::new()
            });
            Box::new(Support { tree, bs_trees })
        }
        Verb::RfDist => {
            let (given, many) = (args.rfdist.clone().flatten(), args.many_trees.clone());
            let given = one_of(given, "--rfdist FILE", many, "-z", faults);
            // With a file of its own, --tree is what the trees of that file are compared with.
            let (trees, reference) = match given {
                Some(trees) => (trees, tree()),
                None => (one_file(tree(), "--tree", None, "-z", faults), None),
            };
            if reference.is_none() && args.algorithm.as_deref() == Some("R") {
                faults.add(
                    "-f R compares the trees of -z with that of -t: give both, -t FILE and -z FILE",
                );
            }
            let metrics = args.rfdist_metric.as_deref().map(parse_tree_metrics);
            let metrics = metrics.map_or_else(Vec::new, |metrics| faults.or(metrics, Vec::new()));
            let metrics =
                if metrics.is_empty() { vec![TreeMetric::RobinsonFoulds] } else { metrics };
            Box::new(Compare { trees, reference, metrics })
        }
        Verb::Dist => Box::new(Distance(resolve_distances(args, data, faults))),
        Verb::Concordance => {
            let tree = tree().unwrap_or_else(|| {
                faults.add("no tree whose branches are looked at: give -t FILE (--tree FILE)");
                PathBuf::new()
            });
            let quartets = args.scf.as_ref().map(|number| match number {
                Some(text) => faults.or(parse_count("--scf", text), DEFAULT_QUARTETS),
                None => DEFAULT_QUARTETS,
            });
            Box::new(Concordance { tree, gene_trees: args.gcf.clone(), quartets })
        }
        Verb::Terrace => {
            let tree = tree().unwrap_or_else(|| {
                faults.add("no tree whose terrace is looked for: give -t FILE (--tree FILE)");
                PathBuf::new()
            });
            let model_is_file =
                args.model.as_deref().is_some_and(|model| Path::new(model).is_file());
            if args.partitions.is_none() && !model_is_file {
                faults.add("--terrace needs partitions that lack taxa: give -q FILE");
            }
            let trees = match args.terrace.as_ref() {
                Some(Some(text)) => faults.or(parse_count("--terrace", text), 1),
                _ => DEFAULT_TREES,
            };
            Box::new(Terrace { tree, trees })
        }
        Verb::BsConverge => {
            let boots = args.bs_trees.as_deref().map(PathBuf::from);
            Box::new(Converge {
                trees: one_file(boots, "--bs-trees", args.many_trees.clone(), "-z", faults),
            })
        }
        Verb::Consense => {
            let spelled = args.consense.clone().flatten();
            let raxml = args.raxml_consense.clone().or(args.raxml_certainty.clone());
            let spelled = spelled.or(raxml).unwrap_or_else(|| "MR".into());
            let rule = faults.or(parse_consensus_rule(&spelled), ConsensusRule::Strict);
            let trees = one_file(tree(), "--tree", args.many_trees.clone(), "-z", faults);
            Box::new(Consensus { rule, trees })
        }
        Verb::Root => {
            let trees = one_file(tree(), "--tree", args.many_trees.clone(), "-z", faults);
            Box::new(Root { trees })
        }
    }
}

fn one_of<T>(
    a: Option<T>,
    a_name: &str,
    b: Option<T>,
    b_name: &str,
    faults: &mut Faults,
) -> Option<T> {
    if a.is_some() && b.is_some() {
        faults.add(format!(
            "{a_name} and {b_name} both name the file of trees: give only one of them"
        ));
    }
    a.or(b)
}

fn one_file(
    a: Option<PathBuf>,
    a_name: &str,
    b: Option<PathBuf>,
    b_name: &str,
    faults: &mut Faults,
) -> PathBuf {
    one_of(a, a_name, b, b_name, faults).unwrap_or_else(|| {
        faults.add(format!("no file of trees: give {a_name} FILE (or {b_name} FILE)"));
        PathBuf::new()
    })
}

/// Start of all output paths, from (-n, --prefix, -w) and the input it is named after by default.
pub(super) fn resolve_prefix(
    (name, prefix, out_dir): (Option<&str>, Option<&Path>, Option<&Path>),
    input: Option<&Path>,
    faults: &mut Faults,
) -> PathBuf {
    let chosen = match (name, prefix) {
        (Some(_), Some(_)) => {
            faults.add("-n and --prefix both name the output files: give only one of them");
            None
        }
        (Some(name), None) => Some(PathBuf::from(name)),
        (None, prefix) => prefix.map(Path::to_path_buf),
    };
    let no_name = |prefix: &PathBuf| {
        prefix.file_name().is_none() || prefix.to_string_lossy().ends_with(std::path::is_separator)
    };
    if chosen.as_ref().is_some_and(no_name) {
        faults.add(
            "the name of the output files (-n, --prefix) must end in a file name, not in a folder",
        );
    }
    if let (None, Some(input)) = (&chosen, input)
        && has_no_name(input)
    {
        faults.add(format!(
            "output files cannot be named after {}: give --prefix PATH or -n NAME",
            name_of(input)
        ));
    }
    let chosen_here = chosen.is_some();
    let path = match (chosen, input, out_dir) {
        (Some(chosen), _, _) => chosen,
        // Beside the input, unless a folder was named.
        (None, Some(input), None) => input.to_path_buf(),
        (None, Some(input), Some(_)) => PathBuf::from(input.file_name().unwrap_or_default()),
        // No input file either: that fault was noted already.
        (None, None, _) => PathBuf::from("mlsearch"),
    };
    let path = match out_dir {
        Some(_) if path.is_absolute() => {
            faults.add(
                "-w names the output folder, but --prefix is an absolute path: give only one of them",
            );
            path
        }
        Some(dir) => dir.join(path),
        None => path,
    };
    if chosen_here && (path.is_dir() || has_no_name(&path)) {
        let kind = if path.is_dir() { "folder" } else { "device" };
        faults.add(format!(
            "the name of the output files (-n, --prefix), {}, is that of a {kind}: add a file name, as in \
             results/run1",
            path.display()
        ));
    }
    path
}

/// True for standard input, devices and pipes: results cannot be named after them.
fn has_no_name(path: &Path) -> bool {
    let is_special = |found: std::fs::Metadata| !found.is_file() && !found.is_dir();
    path == Path::new(STANDARD_INPUT) || path.metadata().is_ok_and(is_special)
}
