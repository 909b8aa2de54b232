//! README.md and the guides: tables of options, models, output files and JSON fields are those of the program; every
//! command runs; every link leads to a file and a heading.

use crate::util::{Scratch, report, repository};
use clap::{Arg, Command};
use mlsearch::cli::{self, WORDS, guides, output_kinds};
use mlsearch::model::{Model, NAMED_DNA_MODELS, PROTEIN_MATRICES, PROTEIN_MIXTURES};
use std::collections::BTreeSet;

const DIFFERENCES: &str = "src/cli/differences.md";

fn read(path: &str) -> String {
    let text = std::fs::read_to_string(repository(path));
    text.unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// README.md and all guides: their paths and texts.
fn pages() -> Vec<(&'static str, String)> {
    let guides = guides().into_iter().map(|guide| guide.path);
    ["README.md"].into_iter().chain(guides).map(|path| (path, read(path))).collect()
}

/// What stands between a heading and the next one of the same or a higher rank.
fn section(page: &str, heading: &str) -> String {
    let rank = heading.split(' ').next().expect("a rank").len();
    let is_end = |line: &str| {
        let marks = line.chars().take_while(|c| *c == '#').count();
        (1..=rank).contains(&marks) && line[marks..].starts_with(' ')
    };
    let mut lines = page.lines().skip_while(|line| *line != heading);
    assert!(lines.next().is_some(), "there is no heading '{heading}'");
    lines.take_while(|line| !is_end(line)).collect::<Vec<_>>().join("\n")
}

/// The cells of a text's tables with this word in the first cell of their heads, row by row, without the heads; those
/// of all tables if it is empty.
fn rows_of(text: &str, word: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| -> Vec<String> {
        // A bar that belongs to a cell is written `\|`.
        let line = line.trim().trim_matches('|').replace("\\|", "\u{1}");
        line.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect()
    };
    let lines: Vec<&str> = text.lines().collect();
    let mut rows = Vec::new();
    let mut is_wanted = false;
    for (i, line) in lines.iter().enumerate() {
        let is_row = line.starts_with('|') && !line.starts_with("|-");
        if is_row && lines.get(i + 1).is_some_and(|next| next.starts_with("|-")) {
            is_wanted = word.is_empty() || cells(line)[0] == word;
        } else if is_row && is_wanted {
            rows.push(cells(line));
        }
    }
    rows
}

/// What stands between backquotes in the first cells of tables with this word in their heads.
fn named_in(text: &str, word: &str) -> Vec<String> {
    let rows = rows_of(text, word);
    rows.iter().flat_map(|row| code_spans(&row[0]).map(String::from).collect::<Vec<_>>()).collect()
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
    let mut command = cli::flat();
    command.build();
    command
}

/// The words with options of their own.
const MODES: [&str; 3] = ["simulate", "gpu-selftest", "report"];

fn mode(name: &str) -> Command {
    let word = WORDS.iter().find(|word| word.name == name).expect("a word");
    let mut command = word.command();
    command.build();
    command
}

/// All that the program shows is in the pages, and all that they name is known to the program.
fn assert_same(
    what: &str,
    named: &BTreeSet<String>,
    shown: &BTreeSet<String>,
    known: &BTreeSet<String>,
) {
    let missing: Vec<&String> = shown.difference(named).collect();
    assert!(missing.is_empty(), "the guides lack these {what}: {missing:?}");
    let unknown: Vec<&String> = named.difference(known).collect();
    assert!(unknown.is_empty(), "the guides name {what} that do not exist: {unknown:?}");
}

/// All names, each of which is explained in one place only.
fn once(names: Vec<String>) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    for name in names {
        assert!(seen.insert(name.clone()), "{name} is explained twice");
    }
    seen
}

#[test]
fn the_tables_of_options_are_those_of_the_help() {
    let mut of_runs = Vec::new();
    for (path, text) in pages() {
        let named: Vec<String> = named_in(&text, "option")
            .iter()
            .flat_map(|span| options_in(span).collect::<Vec<_>>())
            .collect();
        let words = WORDS.iter().filter(|word| word.guide.path == path);
        match words.map(|word| word.name).find(|name| MODES.contains(name)) {
            Some(name) => {
                let command = mode(name);
                assert_same("options", &once(named), &shown(&command), &understood(&command));
            }
            None => of_runs.extend(named),
        }
    }
    let program = program();
    assert_same("options", &once(of_runs), &shown(&program), &understood(&program));
}

#[test]
fn every_option_in_an_example_or_explanation_exists() {
    let commands = MODES.map(mode).into_iter().chain([program()]);
    let mut understood: BTreeSet<String> =
        commands.flat_map(|command| understood(&command)).collect();
    understood.insert("--guide".to_string());
    let mut named: Vec<(&str, String)> = Vec::new();
    for (path, text) in pages() {
        // The other programs' options stand in tables of their own.
        let others = match path {
            "README.md" => section(&text, "## Coming from RAxML, RAxML-NG or IQ-TREE"),
            DIFFERENCES => section(&text, "# Differences from RAxML, RAxML-NG and IQ-TREE"),
            _ => String::new(),
        };
        let text = text.replace(&others, "");
        let mut prose = String::new();
        for (i, part) in text.split("```").enumerate() {
            if i % 2 == 0 {
                prose.push_str(part);
                continue;
            }
            let commands = part.lines().filter(|line| line.starts_with("mlsearch "));
            for line in commands {
                let command = line.split(" #").next().unwrap_or(line);
                named.extend(options_in(command).map(|option| (path, option)));
            }
        }
        let spans = code_spans(&prose).filter(|span| !span.starts_with("cargo "));
        let spans = spans.filter(|span| span.starts_with('-') || span.starts_with("mlsearch "));
        named.extend(spans.flat_map(options_in).map(|option| (path, option)));
    }
    assert!(named.len() > 300, "{} options are named", named.len());
    // One dash before a long name is accepted, too (`-st`), and so is RAxML's `-#` with its value.
    let exists =
        |name: &String| understood.contains(name) || understood.contains(&format!("-{name}"));
    named.retain(|(_, name)| !exists(name));
    assert!(named.is_empty(), "options that do not exist: {named:?}");
}

#[test]
fn the_table_of_models_is_that_of_the_program() {
    let models = section(&read("src/cli/data.md"), "## Models");
    let named: BTreeSet<String> = rows_of(&models, "")
        .iter()
        .flat_map(|row| code_spans(&row[1]).map(str::to_string).collect::<Vec<_>>())
        .filter(|span| !span.starts_with(['+', '-']))
        .map(|span| span.split('{').next().unwrap_or_default().to_string())
        .collect();
    for name in &named {
        let understood = Model::parse_with_states(name, Some(4));
        assert!(understood.is_ok(), "the guide names a model that does not exist: {understood:?}");
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
    assert!(missing.is_empty(), "the guide lacks these models: {missing:?}");
}

#[test]
fn the_tables_of_output_files_are_those_of_the_program() {
    let named = pages().iter().flat_map(|(_, text)| named_in(text, "file")).collect();
    let suffixes = output_kinds().iter().map(|kind| kind.suffix().to_string()).collect();
    assert_same("output files", &once(named), &suffixes, &suffixes);
}

/// The sources of the JSON report: every public field of a structure in them is one of the report.
const REPORTS: [&str; 11] = [
    "src/output/history.rs",
    "src/output/report.rs",
    "src/output/overview.rs",
    "src/output/matrix.rs",
    "src/commands/compare/report.rs",
    "src/commands/genes/report.rs",
    "src/commands/gpu_selftest/report.rs",
    "src/commands/sample/report.rs",
    "src/commands/select/report.rs",
    "src/commands/terrace/report.rs",
    "src/steps/concordance_report.rs",
];

/// Sections of single analyses.
const SECTIONS: [&str; 10] = [
    "concordance",
    "consensus_tree",
    "distances",
    "genes",
    "gpu_selftest",
    "partition_merging",
    "rf_distances",
    "rooted_trees",
    "sampling",
    "terrace",
];

#[test]
fn the_tables_of_json_fields_are_those_of_the_report() {
    // `topology_tests.trees[].tests{}` names three fields.
    let fields = |span: &str| -> Vec<String> {
        let parts = span.split('.');
        parts.map(|part| part.trim_end_matches(['[', ']', '{', '}']).to_string()).collect()
    };
    let (mut named, mut spans) = (BTreeSet::new(), BTreeSet::new());
    for (_, text) in pages() {
        named.extend(named_in(&text, "field").iter().flat_map(|span| fields(span)));
        for row in rows_of(&text, "field") {
            spans.extend(row.iter().flat_map(|cell| code_spans(cell)).flat_map(fields));
        }
    }
    let mut known: BTreeSet<String> = SECTIONS.map(String::from).into();
    for source in REPORTS {
        for line in read(source).lines() {
            let field = line.strip_prefix("    pub ").and_then(|field| field.split_once(": "));
            known
                .extend(field.map(|(name, _)| name.to_string()).filter(|name| !name.contains(' ')));
        }
    }
    assert!(known.len() > 100, "{known:?}");
    let missing: Vec<&String> = known.difference(&spans).collect();
    assert!(missing.is_empty(), "the guides lack these JSON fields: {missing:?}");
    let unknown: Vec<&String> = named.difference(&known).collect();
    assert!(unknown.is_empty(), "the guides name JSON fields that do not exist: {unknown:?}");
}

#[test]
fn tables_and_options_are_found_in_text() {
    let text = "# A\n## B\n| h | i |\n|---|---|\n| `-a`, `--bc N\\|M` | x |\n### C\ny\n## D\nz\n";
    assert_eq!(section(text, "### C"), "y");
    assert!(section(text, "## B").ends_with("### C\ny"));
    assert_eq!(rows_of(&section(text, "## B"), "h"), [["`-a`, `--bc N|M`", "x"]]);
    assert!(rows_of(text, "i").is_empty());
    let named: Vec<String> =
        named_in(text, "").iter().flat_map(|span| options_in(span).collect::<Vec<_>>()).collect();
    assert_eq!(named, ["-a", "--bc"]);
}

/// The name that a link gives to a heading.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let others = ["CONTRIBUTING.md", "benches/README.md", "cuda/README.md", "datasets/README.md"];
    let more = ["partitions/README.md", "src/python/guide.md"];
    let others = others.into_iter().chain(more).map(|path| (path, read(path)));
    let mut found = 0;
    for (path, text) in pages().into_iter().chain(others) {
        let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        for (link, _) in links.filter(|(link, _)| !link.starts_with("http")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let folder = repository(path).parent().expect("a folder").to_path_buf();
            let target = if file.is_empty() { repository(path) } else { folder.join(file) };
            assert!(target.exists(), "{path}: {link} leads to no file");
            if !heading.is_empty() {
                let linked = std::fs::read_to_string(&target).expect("a page");
                let mut headings = linked.lines().filter(|line| line.starts_with('#'));
                assert!(headings.any(|line| anchor(line) == heading), "{path}: {link}");
            }
            found += 1;
        }
    }
    assert!(found > 45, "{found} links");
    let readme = read("README.md");
    for guide in guides() {
        assert!(readme.contains(&format!("({})", guide.path)), "README.md: no {}", guide.path);
    }
    assert!(readme.lines().count() <= 200, "README.md is too long");
}

#[test]
fn guides_are_printed_and_named_by_the_help() {
    let scratch = Scratch::new();
    let help = scratch.succeed("help").stdout;
    for word in WORDS {
        assert!(help.lines().any(|line| line.contains(&format!(" {} ", word.name))), "{help}");
        let printed = scratch.succeed(&format!("help {} --guide", word.name));
        assert_eq!((printed.stdout, printed.stderr), (read(word.guide.path), String::new()));
    }
    for guide in guides() {
        assert!(read(guide.path) == guide.text, "{}", guide.path);
    }
    scratch.run("help nothing --guide").assert_refused(&["none of 'nothing'", "search, select"]);
}

/// The commands of a page, in their order: lines of its examples, and those in its text that have options.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (i, part) in text.split("```").enumerate() {
        if i % 2 == 1 {
            let lines = part.lines().filter(|line| line.starts_with("mlsearch "));
            found.extend(lines.map(|line| line.split(" #").next().unwrap_or(line).trim()));
            continue;
        }
        let spans = code_spans(part).filter(|span| span.starts_with("mlsearch "));
        // What is no whole command.
        let is_whole =
            |span: &&str| !span.contains("...") && !span.contains("WORD") && span.contains(" -");
        found.extend(spans.filter(is_whole));
    }
    found.iter().map(|command| command.replace('\'', "").replace("\\|", "|")).collect()
}

/// A folder with the files that the examples name, of a few taxa and columns.
fn files_of_examples() -> Scratch {
    let scratch = Scratch::new();
    for folder in ["datasets", "partitions"] {
        std::fs::create_dir(scratch.path().join(folder)).expect("a folder");
        for entry in std::fs::read_dir(repository(folder)).expect("a folder of the repository") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name");
            std::fs::copy(&path, scratch.path().join(folder).join(name)).expect("a copy");
        }
    }
    let primates = read("datasets/primates.phy");
    let rows = primates.lines().skip(1).take(8).map(|line| {
        let (name, characters) = line.split_once(' ').expect("a name");
        format!("{name} {}\n", &characters.trim()[..300])
    });
    scratch.write("aln.phy", &format!("8 300\n{}", rows.collect::<String>()));
    scratch.write("genes.part", "DNA, first = 1-150\nDNA, second = 151-300\n");
    std::fs::create_dir(scratch.path().join("loci")).expect("a folder");
    let names = ["loci/first.phy", "loci/second.phy"];
    for (name, columns) in names.into_iter().zip([0..150, 150..300]) {
        // The second gene lacks two taxa.
        let rows = primates.lines().skip(1).take(if columns.start == 0 { 8 } else { 6 });
        let rows: Vec<String> = rows
            .map(|line| line.split_once(' ').expect("a name"))
            .map(|(taxon, row)| format!("{taxon} {}\n", &row.trim()[columns.clone()]))
            .collect();
        scratch.write(name, &format!("{} 150\n{}", rows.len(), rows.concat()));
    }
    scratch.write("loci.list", &format!("{}\n", names.join("\n")));
    scratch.write("constraint.nwk", "((Gorilla,Pan),Tarsius_syrichta,Lemur_catta);\n");
    scratch.succeed("--start -s aln.phy -m GTR+G -t rand{20},pars{40} -n made");
    let path = scratch.path().join("made.mlsearch.startTree");
    let trees = std::fs::read_to_string(path).expect("starting trees");
    let first =
        |n: usize| trees.lines().take(n).map(|tree| format!("{tree}\n")).collect::<String>();
    for (name, n) in [("boots.nwk", 60), ("genes.nwk", 10), ("trees.nwk", 5), ("best.nwk", 1)] {
        scratch.write(name, &first(n));
    }
    scratch.succeed("--support --tree best.nwk --bs-trees boots.nwk -n labelled");
    let labelled = scratch.path().join("labelled.mlsearch.support");
    std::fs::copy(labelled, scratch.path().join("support.nwk")).expect("a copy");
    scratch.write("clades.tsv", "Gorilla,Pan\t#0072B2\tAfrican apes\nLemur_catta\tred\n");
    let result = scratch.path().join("labelled.mlsearch.json");
    std::fs::copy(result, scratch.path().join("run1.mlsearch.json")).expect("a copy");
    scratch
}

/// Runs the commands of these pages and returns their number. Samples, and the guides' examples with whole data sets, are
/// checked only (`--check`).
fn assert_commands_run(is_wanted: impl Fn(&str) -> bool) -> usize {
    let scratch = files_of_examples();
    let (mut seen, mut faults) = (BTreeSet::new(), Vec::new());
    for (path, text) in pages().into_iter().filter(|(path, _)| is_wanted(path)) {
        for command in commands(&text) {
            let words = command.trim_start_matches("mlsearch ");
            if !seen.insert(words.to_string()) {
                continue;
            }
            let is_long =
                words.starts_with("sample ") || words.contains("datasets/") && path != "README.md";
            let added = match words {
                _ if words.starts_with("gpu-selftest") => " --help",
                _ if words.starts_with("help")
                    || words.starts_with("completions")
                    || words.contains("check") =>
                {
                    ""
                }
                _ if is_long => " --check",
                _ => " --redo",
            };
            let ran = scratch.run(&format!("{words}{added}"));
            if ran.code != 0 {
                faults.push(format!("{path}: mlsearch {words}\n{}", ran.stderr));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    seen.len()
}

#[test]
fn every_command_of_the_readme_runs() {
    let number = assert_commands_run(|path| path == "README.md");
    assert!(number > 20, "{number} commands");
}

#[test]
fn every_command_of_the_guides_runs() {
    let number = assert_commands_run(|path| path != "README.md");
    assert!(number > 40, "{number} commands");
}

/// `iqtree2 -s gappy.phy -m GTR+F+G4 -te gappy.tree -keep-ident`, IQ-TREE 2.0.7: lnL, and pi(A) to pi(T) as it prints them.
const IQTREE: (f64, &str) = (-42772.8016, "0.2756/0.2197/0.2252/0.2794");

#[test]
fn counted_frequencies_are_compared_as_is_said() {
    let differences = section(&read(DIFFERENCES), "## Counted frequencies");
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
