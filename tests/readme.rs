//! The tables of README.md are those of the program: options, models, output files.

use crate::util::{Scratch, report, repository};
use clap::{Arg, Command, CommandFactory};
use mlsearch::cli::Args;
use mlsearch::model::{Model, NAMED_DNA_MODELS, PROTEIN_MATRICES, PROTEIN_MIXTURES};
use mlsearch::run::OutputKind;
use std::collections::BTreeSet;

fn readme() -> String {
    std::fs::read_to_string(repository("README.md")).expect("README.md can be read")
}

/// What stands between a heading and the next one of the same or a higher rank.
fn section(readme: &str, heading: &str) -> String {
    let rank = heading.split(' ').next().expect("a rank").len();
    let is_end = |line: &str| {
        let marks = line.chars().take_while(|c| *c == '#').count();
        (1..=rank).contains(&marks) && line[marks..].starts_with(' ')
    };
    let mut lines = readme.lines().skip_while(|line| *line != heading);
    assert!(lines.next().is_some(), "README.md has no heading '{heading}'");
    lines.take_while(|line| !is_end(line)).collect::<Vec<_>>().join("\n")
}

/// The cells of a section's tables, row by row, without the heads.
fn rows(section: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| -> Vec<String> {
        // A bar that belongs to a cell is written `\|`.
        let line = line.trim().trim_matches('|').replace("\\|", "\u{1}");
        line.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect()
    };
    let lines: Vec<&str> = section.lines().filter(|line| line.starts_with('|')).collect();
    let is_rule = |line: &&str| line.starts_with("|-");
    let heads: Vec<&str> =
        lines.windows(2).filter(|pair| is_rule(&pair[1])).map(|pair| pair[0]).collect();
    let body = lines.into_iter().filter(|line| !is_rule(line) && !heads.contains(line));
    body.map(cells).collect()
}

/// What stands between backquotes.
fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The options among the words of a text, without their values: `--bs-trees N` gives `--bs-trees`.
fn options_in(text: &str) -> impl Iterator<Item = String> {
    text.split_whitespace()
        .map(|word| word.trim_matches(['[', ']', '\'', ',', ';']))
        .filter(|word| word.starts_with('-') && word.len() > 1)
        .map(|word| word.split('=').next().unwrap_or(word).to_string())
}

fn short_and_long(shorts: Vec<char>, longs: Vec<&str>) -> Vec<String> {
    let shorts = shorts.into_iter().map(|short| format!("-{short}"));
    shorts.chain(longs.into_iter().map(|long| format!("--{long}"))).collect()
}

/// The names of options that the help shows.
fn shown(command: &Command) -> BTreeSet<String> {
    let names = |arg: &Arg| {
        short_and_long(
            arg.get_short_and_visible_aliases().unwrap_or_default(),
            arg.get_long_and_visible_aliases().unwrap_or_default(),
        )
    };
    command.get_arguments().filter(|arg| !arg.is_hide_set()).flat_map(names).collect()
}

/// All names of options that are understood.
fn understood(command: &Command) -> BTreeSet<String> {
    let names = |arg: &Arg| {
        let mut shorts: Vec<char> = arg.get_short().into_iter().collect();
        shorts.extend(arg.get_all_short_aliases().unwrap_or_default());
        let mut longs: Vec<&str> = arg.get_long().into_iter().collect();
        longs.extend(arg.get_all_aliases().unwrap_or_default());
        short_and_long(shorts, longs)
    };
    command.get_arguments().flat_map(names).collect()
}

fn program() -> Command {
    let mut command = Args::command();
    command.build();
    command
}

/// The modes with options of their own.
const MODES: [&str; 2] = ["simulate", "gpu-selftest"];

fn mode(name: &str) -> Command {
    program().find_subcommand(name).expect("a subcommand").clone()
}

/// All that the program shows is in README.md, and all that README.md names is known to the program.
fn assert_same(
    what: &str,
    named: &BTreeSet<String>,
    shown: &BTreeSet<String>,
    known: &BTreeSet<String>,
) {
    let missing: Vec<&String> = shown.difference(named).collect();
    assert!(missing.is_empty(), "README.md lacks these {what}: {missing:?}");
    let unknown: Vec<&String> = named.difference(known).collect();
    assert!(unknown.is_empty(), "README.md names {what} that do not exist: {unknown:?}");
}

#[test]
fn the_tables_of_options_are_those_of_the_help() {
    let readme = readme();
    let all = section(&readme, "## Options");
    let of_modes = MODES.map(|name| section(&readme, &format!("### Options of `mlsearch {name}`")));
    let of_runs = of_modes.iter().fold(all, |all, of_mode| all.replace(of_mode, ""));
    let modes = of_modes.into_iter().zip(MODES.map(mode));
    for (text, command) in [(of_runs, program())].into_iter().chain(modes) {
        let named: BTreeSet<String> = rows(&text)
            .iter()
            .flat_map(|row| code_spans(&row[0]).flat_map(options_in).collect::<Vec<_>>())
            .collect();
        assert_same("options", &named, &shown(&command), &understood(&command));
    }
}

#[test]
fn every_option_in_an_example_or_explanation_exists() {
    let readme = readme();
    let commands = MODES.map(mode).into_iter().chain([program()]);
    let understood: BTreeSet<String> = commands.flat_map(|command| understood(&command)).collect();
    // The other programs' options stand in a table of their own.
    let others = section(&readme, "## Differences from other programs");
    let text = readme.replace(&others, "");
    let (mut prose, mut named) = (String::new(), Vec::new());
    for (i, part) in text.split("```").enumerate() {
        if i % 2 == 0 {
            prose.push_str(part);
            continue;
        }
        let commands = part.lines().filter(|line| line.starts_with("mlsearch "));
        named.extend(commands.flat_map(|line| {
            let command = line.split(" #").next().unwrap_or(line);
            options_in(command).collect::<Vec<_>>()
        }));
    }
    let spans = code_spans(&prose).filter(|span| !span.starts_with("cargo "));
    let spans = spans.filter(|span| span.starts_with('-') || span.starts_with("mlsearch "));
    named.extend(spans.flat_map(options_in));
    assert!(named.len() > 100, "{} options are named", named.len());
    // One dash before a long name is accepted, too (`-st`), and so is RAxML's `-#` with its value.
    let exists =
        |name: &String| understood.contains(name) || understood.contains(&format!("-{name}"));
    let unknown: Vec<&String> = named.iter().filter(|name| !exists(name)).collect();
    assert!(unknown.is_empty(), "README.md names options that do not exist: {unknown:?}");
}

#[test]
fn the_table_of_models_is_that_of_the_program() {
    let models = section(&readme(), "## Models");
    let named: BTreeSet<String> = rows(&models)
        .iter()
        .flat_map(|row| code_spans(&row[1]).map(str::to_string).collect::<Vec<_>>())
        .filter(|span| !span.starts_with(['+', '-']))
        .map(|span| span.split('{').next().unwrap_or_default().to_string())
        .collect();
    for name in &named {
        let understood = Model::parse_with_states(name, Some(4));
        assert!(understood.is_ok(), "README.md names a model that does not exist: {understood:?}");
    }
    let constants = NAMED_DNA_MODELS.iter().map(|model| model.name);
    let constants = constants.chain(PROTEIN_MATRICES.iter().map(|matrix| matrix.name));
    let constants = constants.chain(PROTEIN_MIXTURES.iter().map(|mixture| mixture.name));
    // The refusal of an unknown matrix lists those that are known.
    let refusal = Model::parse("NOSUCHMATRIX").expect_err("this is no model");
    let listed = refusal.split([' ', ',', ';', ':']);
    let listed: Vec<&str> = listed.filter(|word| Model::parse(word).is_ok()).collect();
    assert!(listed.len() > 60, "{listed:?}");
    let spans: BTreeSet<&str> = code_spans(&models).collect();
    let missing: Vec<&str> = constants
        .chain(listed)
        .filter(|name| !named.contains(*name) && !spans.contains(name))
        .collect();
    assert!(missing.is_empty(), "README.md lacks these models: {missing:?}");
}

/// Every kind of output file; a new one does not compile until it is here.
fn kinds() -> impl Iterator<Item = OutputKind> {
    std::iter::successors(Some(OutputKind::BestTree), |kind| match kind {
        OutputKind::BestTree => Some(OutputKind::BestTreeCollapsed),
        OutputKind::BestTreeCollapsed => Some(OutputKind::BestModel),
        OutputKind::BestModel => Some(OutputKind::MlTrees),
        OutputKind::MlTrees => Some(OutputKind::StartTree),
        OutputKind::StartTree => Some(OutputKind::Bootstraps),
        OutputKind::Bootstraps => Some(OutputKind::Support),
        OutputKind::Support => Some(OutputKind::Concordance),
        OutputKind::Concordance => Some(OutputKind::Terrace),
        OutputKind::Terrace => Some(OutputKind::ConsensusTree),
        OutputKind::ConsensusTree => Some(OutputKind::RootedTree),
        OutputKind::RootedTree => Some(OutputKind::RfDistances),
        OutputKind::RfDistances => Some(OutputKind::Distances),
        OutputKind::Distances => Some(OutputKind::DistancesGz),
        OutputKind::DistancesGz => Some(OutputKind::DistancesNpy),
        OutputKind::DistancesNpy => Some(OutputKind::PartitionDistances),
        OutputKind::PartitionDistances => Some(OutputKind::PartitionDistancesGz),
        OutputKind::PartitionDistancesGz => Some(OutputKind::PartitionDistancesNpy),
        OutputKind::PartitionDistancesNpy => Some(OutputKind::DistanceTrees),
        OutputKind::DistanceTrees => Some(OutputKind::TopologyTests),
        OutputKind::TopologyTests => Some(OutputKind::AncestralTree),
        OutputKind::AncestralTree => Some(OutputKind::AncestralStates),
        OutputKind::AncestralStates => Some(OutputKind::AncestralProbs),
        OutputKind::AncestralProbs => Some(OutputKind::MutationMapTree),
        OutputKind::MutationMapTree => Some(OutputKind::MutationMapList),
        OutputKind::MutationMapList => Some(OutputKind::PosteriorTree),
        OutputKind::PosteriorTree => Some(OutputKind::PosteriorSplits),
        OutputKind::PosteriorSplits => Some(OutputKind::MapTree),
        OutputKind::MapTree => Some(OutputKind::SampledParameters),
        OutputKind::SampledParameters => Some(OutputKind::SampledTrees),
        OutputKind::SampledTrees => Some(OutputKind::TracePlot),
        OutputKind::TracePlot => Some(OutputKind::SplitPlot),
        OutputKind::SplitPlot => Some(OutputKind::AsdsfPlot),
        OutputKind::AsdsfPlot => Some(OutputKind::SiteLh),
        OutputKind::SiteLh => Some(OutputKind::BestPartitionTrees),
        OutputKind::BestPartitionTrees => Some(OutputKind::Log),
        OutputKind::Log => Some(OutputKind::Json),
        OutputKind::Json => Some(OutputKind::Alignment),
        OutputKind::Alignment => Some(OutputKind::Partitions),
        OutputKind::Partitions => Some(OutputKind::TrueTree),
        OutputKind::TrueTree => Some(OutputKind::BootstrapMsa),
        OutputKind::BootstrapMsa => Some(OutputKind::BootstrapPartitions),
        OutputKind::BootstrapPartitions => Some(OutputKind::Checkpoint),
        OutputKind::Checkpoint => Some(OutputKind::LastTree),
        OutputKind::LastTree => None,
    })
}

#[test]
fn the_table_of_output_files_is_that_of_the_program() {
    let files = section(&readme(), "## Output files");
    let named: BTreeSet<String> = rows(&files)
        .iter()
        .flat_map(|row| code_spans(&row[0]).map(str::to_string).collect::<Vec<_>>())
        .collect();
    let suffixes = kinds().map(|kind| kind.suffix().to_string()).collect();
    assert_same("output files", &named, &suffixes, &suffixes);
}

#[test]
fn tables_and_options_are_found_in_text() {
    let text = "# A\n## B\n| h | i |\n|---|---|\n| `-a`, `--bc N\\|M` | x |\n### C\ny\n## D\nz\n";
    assert_eq!(section(text, "### C"), "y");
    assert!(section(text, "## B").ends_with("### C\ny"));
    let rows = rows(&section(text, "## B"));
    assert_eq!(rows, [["`-a`, `--bc N|M`", "x"]]);
    let named: Vec<String> = code_spans(&rows[0][0]).flat_map(options_in).collect();
    assert_eq!(named, ["-a", "--bc"]);
}

/// `iqtree2 -s gappy.phy -m GTR+F+G4 -te gappy.tree -keep-ident`, IQ-TREE 2.0.7: lnL, and pi(A) to pi(T) as it prints them.
const IQTREE: (f64, &str) = (-42772.8016, "0.2756/0.2197/0.2252/0.2794");

#[test]
fn counted_frequencies_are_compared_as_is_said() {
    let differences = section(&readme(), "## Differences from other programs");
    let (lnl, frequencies) = IQTREE;
    let model = code_spans(&differences).find(|code| code.contains(frequencies));
    let model = model.expect("a model with the frequencies of IQ-TREE");
    let scratch = Scratch::new();
    let [msa, tree] = ["datasets/gappy.phy", "datasets/gappy.tree"].map(repository);
    let found = |model: &str| {
        let data = format!("-s {} -t {}", msa.display(), tree.display());
        scratch.succeed(&format!("--evaluate {data} -m {model} --quiet -n x --redo"));
        report(&scratch, "x")["log_likelihood"].as_f64().expect("a log-likelihood")
    };
    for (model, above) in [("GTR+F+G", 0.16), (model, -0.005)] {
        assert!((lnl - found(model) - above).abs() < 0.005, "{model}: {}", found(model));
        let said = format!("{:.3}", f64::abs(above));
        assert!(differences.contains(said.trim_end_matches('0')), "{said}");
    }
}
