//! What becomes of each option that was typed: it stays, it is read as other options, or it is refused,
//! with the options to use instead.
//!
//! Most answers are in the table of `peers`; here are those that depend on a value or on the rest of the
//! command.

use super::flat::of_word;
use super::peers::{self, Here};
use super::typed::{Typed, WordKind};
use crate::alphabet::DataType;
use crate::commands::{WORDS, find_word};
use crate::likelihood::select::INSTRUCTION_SETS;
use crate::model::Model;
use std::path::Path;

/// A word is meant by one that is alike by more than this (Jaro's similarity).
pub(super) const ALIKE: f64 = 0.8;

/// Number of replicates proposed where none is given.
const USUAL_REPLICATES: &str = "100";

/// Why a share of trees is refused.
const NO_SUCH_RULE: &str = "the rules of --consense are MRE, the extended majority rule (IQ-TREE's 0), and MR50 to MR100, a percentage \
     of the trees (0.5 to 1)";

/// Options of analyses of trees.
const ON_TREES: [&str; 7] = [
    "support",
    "rfdist",
    "consense",
    "raxml_consense",
    "raxml_certainty",
    "bsconverge",
    "raxml_bsconverge",
];

/// What becomes of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It stays as it is.
    Stays,
    /// These words take its place, which the user should know.
    Taken(Vec<String>, String),
    /// It is refused. The corrected command has these words in its place; `None` if there is none.
    Refused(String, Option<Vec<String>>),
    /// Nothing is wrong with it, but a corrected command has these words in its place.
    Adapted(Vec<String>),
}

/// The verdict on one option of a command.
pub(super) fn judge(one: &Typed, all: &[Typed]) -> Verdict {
    let value = one.value.as_deref();
    match (&one.kind, value) {
        (WordKind::Peer(name), _) => judge_peer(one, name, all),
        (WordKind::Stray, _) => judge_stray(&one.words[0], all),
        (WordKind::Own(id), Some(value)) => judge_own(one, id, value, all),
        (WordKind::Own(_) | WordKind::Analysis(..), None)
            if one.is("search") && corrects_to(all, "--all") =>
        {
            Verdict::Adapted(Vec::new())
        }
        // RAxML's -v alone; IQ-TREE's says more.
        (WordKind::Own(id), None) if id == "version" && has_own(all, &["msa"]) => {
            let note =
                format!("{} has no effect here: the log file is always complete", one.option());
            Verdict::Taken(Vec::new(), note)
        }
        _ => Verdict::Stays,
    }
}

fn judge_peer(one: &Typed, name: &str, all: &[Typed]) -> Verdict {
    let value = one.value.as_deref();
    let Some(entry) = peers::find(name) else { return Verdict::Stays };
    let typed = one.as_typed();
    let has = |names: &[&str]| names.iter().any(|name| has_peer(all, name));
    match (name, value) {
        ("con" | "con-tree", _) => return consensus(one, all),
        ("minsup", Some(value)) if has(&["con", "con-tree"]) => {
            return match consensus_rule(value) {
                Some(_) => Verdict::Taken(Vec::new(), format!("{typed} is the rule of --consense")),
                None => refused(one, NO_SUCH_RULE, Some(Vec::new())),
            };
        }
        // Concordance factors are an analysis by itself.
        ("te", Some(value)) if has(&["scfl"]) || has_own(all, &["gcf", "scf"]) => {
            let note =
                format!("{typed} is read as --tree {value}: IQ-TREE's tree of fixed topology");
            return Verdict::Taken(vec!["--tree".into(), value.into()], note);
        }
        ("nt", _) if has(&["ntmax", "threads-max"]) => return Verdict::Adapted(Vec::new()),
        _ => {}
    }
    match entry.here {
        Here::Same(words) => match fill(&with_value(entry, words, value), value, all) {
            Some(words) => {
                let note = format!("{typed} is read as {}: {}", words.join(" "), entry.says);
                Verdict::Taken(words, note)
            }
            None => refused(one, &format!("{}; it needs a value", entry.says), None),
        },
        Here::Idle => {
            Verdict::Taken(Vec::new(), format!("{typed} has no effect here: {}", entry.says))
        }
        // Replicates belong to the search that follows.
        Here::Instead(peers::ALL_REPLICATES) if asks_to_merge(all) => {
            refused(one, entry.says, Some(Vec::new()))
        }
        Here::Instead(words) => {
            refused(one, entry.says, fill(&with_value(entry, words, value), value, all))
        }
        Here::Not => refused(one, entry.says, None),
    }
}

/// What RAxML-NG names as kinds of support beside those of trees.
fn judge_metrics(one: &Typed, value: &str) -> Verdict {
    let mut kinds: Vec<&str> = value.split(',').collect();
    let is_of_likelihoods = |kind: &&str| kind.eq_ignore_ascii_case("sh");
    if kinds.iter().any(|kind| kind.eq_ignore_ascii_case("gcf")) {
        let says = "gene concordance factors are an analysis of their own: --gcf FILE --tree FILE";
        return refused_as(&format!("--bs-metric {value}"), says, None);
    }
    if !kinds.iter().any(is_of_likelihoods) {
        return Verdict::Stays;
    }
    kinds.retain(|kind| !is_of_likelihoods(kind));
    let mut words = vec!["--alrt".to_string()];
    if !kinds.is_empty() {
        words.extend([one.option().to_string(), kinds.join(",")]);
    }
    refused_as(&format!("--bs-metric {value}"), peers::SH_LIKE, Some(words))
}

/// Why a mixture of IQ-TREE's is not available, and the words for the nearest model, if there is one.
fn unavailable_mixture(upper: &str) -> Option<(&'static str, Option<&'static [&'static str]>)> {
    let matrices = upper.strip_prefix("MIX{").and_then(|rest| rest.split('}').next());
    let is_protein = |name: &str| {
        let name = name.split(':').next().unwrap_or_default();
        Model::parse(name).is_ok_and(|model| model.data_type == DataType::Protein)
    };
    if matrices.is_some_and(|names| !names.split(['/', ',']).all(is_protein)) {
        return Some((
            "mixtures of several matrices are of amino acids only (MIX{LG/WAG}); those of profiles are LG+C20+G4 and its kin",
            None,
        ));
    }
    let is_heterotachy = upper
        .split(['+', '*'])
        .any(|part| part.strip_prefix('H').is_some_and(|rest| rest.parse::<u8>().is_ok()));
    is_heterotachy.then_some((
        "mixtures of branch lengths (heterotachy, +H4) are not available; partitions may have lengths of their own (-q FILE \
         -M)",
        None,
    ))
}

fn judge_own(one: &Typed, id: &str, value: &str, all: &[Typed]) -> Verdict {
    let words =
        |words: &[&str]| Some(words.iter().map(|word| word.to_string()).collect::<Vec<_>>());
    let upper = value.to_ascii_uppercase();
    match id {
        "algorithm" => match peers::algorithm(value) {
            Some((says, instead)) => {
                refused_as(&format!("-f {value}"), says, instead.and_then(words))
            }
            None if value == "d" && corrects_to(all, "--all") => Verdict::Adapted(Vec::new()),
            None => Verdict::Stays,
        },
        "seed" if one.option() == "-p" && looks_like_a_file(value) => refused_as(
            &format!("-p {value}"),
            "-p is a seed here, as in RAxML; IQ-TREE's partitions with proportional branch lengths are \
             -q FILE --brlen scaled",
            words(&["-q", value, "--brlen", "scaled"]),
        ),
        "bootstrap_seed" | "rapid_seed"
            if !counts_replicates(all) && value.parse::<u64>().is_ok() =>
        {
            without_count(one, value, all)
        }
        "seed" if one.option() == "-p" && Path::new(value).is_dir() => refused_as(
            &format!("-p {value}"),
            "-p is a seed here, as in RAxML; IQ-TREE's folder of alignments has to be joined into one alignment (-s FILE), \
             and the columns of each named in a partition file (-q FILE), for one tree; mlsearch genes -s FOLDER makes a tree of \
             each alignment",
            None,
        ),
        "name"
            if value == "0"
                && has_own(all, &["tree"])
                && !has_own(all, &["evaluate", "all", "bootstrap"]) =>
        {
            refused_as(
                "-n 0",
                "-n is the name of the output files here, as in RAxML; the topology of a given tree is kept by --evaluate",
                words(&["--evaluate"]),
            )
        }
        "name" if value.parse::<u32>().is_ok() => Verdict::Taken(
            one.words.clone(),
            format!(
                "-n {value} is the name of the output files here, as in RAxML; IQ-TREE's number of iterations cannot be set, \
                 because the search has a stopping rule of its own"
            ),
        ),
        "tree_constraint" if one.option() == "-r" && value.parse::<u32>().is_ok() => refused_as(
            &format!("-r {value}"),
            "-r is a constraint tree here, as in RAxML; IQ-TREE's random trees are made by mlsearch simulate --tree \
             'rand{N}', which also simulates sequences",
            None,
        ),
        "data_type" if upper.starts_with("NT2AA") => refused_as(
            &format!("{} {value}", one.option()),
            "translation is not available; give the translated alignment, or codons (--data-type CODON -m GY+F3X4)",
            None,
        ),
        "raxml_consense" if upper.ends_with("_DROP") => refused_as(
            &format!("-J {value}"),
            "taxa cannot be dropped from a consensus tree",
            words(&["-J", value.split('_').next().unwrap_or_default()]),
        ),
        "raxml_consense" if value.parse::<u32>().is_ok() => refused_as(
            &format!("-J {value}"),
            "-J is a consensus tree here, as in RAxML; IQ-TREE's ultrafast jackknife is not available: --all --jackknife 0.5 \
             --bs-trees N makes N standard replicates",
            match has_peer(all, "jack-prop") {
                true => words(&["--all", "--bs-trees", value]),
                false => words(&["--all", "--jackknife", "0.5", "--bs-trees", value]),
            },
        ),
        "bs_metric" => judge_metrics(one, value),
        "threads" if ["ntmax", "threads-max"].iter().any(|name| has_peer(all, name)) => {
            Verdict::Adapted(Vec::new())
        }
        "bs_cutoff" if is_ultrafast(one) => refused(
            one,
            peers::ULTRAFAST,
            match asks_to_merge(all) {
                true => Some(Vec::new()),
                false => fill(peers::ALL_REPLICATES, Some(value), all),
            },
        ),
        "model" if merges(&upper) && !Path::new(value).exists() => merging(value, &upper, all),
        "merge" if ["rcluster", "rclusterf"].iter().any(|name| has_peer(all, name)) => {
            let note = format!("{} is said by its percentage, too", one.as_typed());
            Verdict::Taken(Vec::new(), note)
        }
        "model" if selects_alone(&upper) && !Path::new(value).exists() => {
            let taken = ["-m", "auto", "--merge", "off"].map(str::to_string);
            let note = format!(
                "-m {value} is read as select: IQ-TREE's selection of models without a search"
            );
            Verdict::Taken(taken.to_vec(), note)
        }
        "model" if upper == "TESTNEW" && !Path::new(value).exists() => refused_as(
            &format!("-m {value}"),
            "-m auto selects a model for each partition by BIC, and the run continues with it",
            words(&["-m", "auto"]),
        ),
        "model" if corrects_to(all, "auto") => Verdict::Adapted(match upper.as_str() {
            "DNA" | "AA" | "BIN" => vec!["--data-type".to_string(), value.to_string()],
            _ => Vec::new(),
        }),
        "model" if unavailable_mixture(&upper).is_some() => {
            let (says, instead) = unavailable_mixture(&upper).unwrap_or_default();
            refused_as(&format!("-m {value}"), says, instead.and_then(words))
        }
        "model" => match adapted_model(value, all) {
            Some(model) => Verdict::Adapted(vec![one.option().to_string(), model]),
            None => Verdict::Stays,
        },
        "simd" if upper == "SSE3" || upper == "AVX" => refused_as(
            &format!("--simd {value}"),
            &format!(
                "the instruction sets are {}; the best one of the machine is used by default and never \
                 changes the result",
                INSTRUCTION_SETS.join(", ")
            ),
            words(&[]),
        ),
        "tree" if !Path::new(value).exists() => match upper.as_str() {
            "PARS" | "RAND" | "AUTO" | "NJ" | "BIONJ" | "BME" | "UPGMA"
                if value.bytes().any(|b| b.is_ascii_uppercase()) =>
            {
                refused_as(
                    &format!("-t {value}"),
                    "it is written in lower case here",
                    words(&["-t", &value.to_ascii_lowercase()]),
                )
            }
            "RANDOM" => refused_as(
                "-t RANDOM",
                "a random tree is -t rand{1} here",
                words(&["-t", "rand{1}"]),
            ),
            "PARSIMONY" => refused_as(
                &format!("-t {value}"),
                "a parsimony tree is -t pars{1} here",
                words(&["-t", "pars{1}"]),
            ),
            _ => Verdict::Stays,
        },
        // IQ-TREE's -sup names the tree, its -t those that support it.
        "tree" if has_peer(all, "sup") => Verdict::Adapted(vec!["--bs-trees".into(), value.into()]),
        // RAxML's -f n and -f g read their trees from -z; here -t names them.
        "many_trees" if corrects_to(all, "--evaluate") => {
            Verdict::Adapted(vec!["-t".to_string(), value.to_string()])
        }
        _ => Verdict::Stays,
    }
}

/// The words of the table, without the place of a value that may be there and is not.
fn with_value<'a>(entry: &peers::Entry, words: &[&'a str], value: Option<&str>) -> Vec<&'a str> {
    let is_missing = value.is_none() && !entry.takes.always();
    words.iter().copied().filter(|word| !is_missing || *word != "{}").collect()
}

/// IQ-TREE's `-con`, with or without a file, and `-minsup`.
fn consensus(one: &Typed, all: &[Typed]) -> Verdict {
    let least = all.iter().find(|other| other.kind == WordKind::Peer("minsup".into()));
    let rule = least.and_then(|least| consensus_rule(least.value.as_deref()?));
    let mut words = vec!["--consense".to_string(), rule.unwrap_or_else(|| "MRE".into())];
    if let Some(file) = &one.value {
        words.extend(["--tree".into(), file.clone()]);
    }
    let note =
        format!("{} is read as {}: IQ-TREE's consensus of trees", one.as_typed(), words.join(" "));
    Verdict::Taken(words, note)
}

/// The rule that keeps branches of at least this share of the trees: the extended majority rule from 0 on, else a
/// percentage.
fn consensus_rule(least: &str) -> Option<String> {
    match least.parse::<f64>().ok()? {
        0.0 => Some("MRE".into()),
        0.5 => Some("MR".into()),
        share @ 0.5..=1.0 => Some(format!("MR{:.0}", share * 100.0)),
        _ => None,
    }
}

fn has_own(all: &[Typed], ids: &[&str]) -> bool {
    all.iter().any(|one| ids.iter().any(|id| one.is(id)))
}

fn has_peer(all: &[Typed], name: &str) -> bool {
    all.iter().any(|one| matches!(&one.kind, WordKind::Peer(peer) if peer == name))
}

/// A word that belongs to no option: most likely the alignment, typed without `-s`.
fn judge_stray(word: &str, all: &[Typed]) -> Verdict {
    // Looked at no further than to the second: a command may have thousands.
    let is_alone = all.iter().filter(|other| other.kind == WordKind::Stray).nth(1).is_none();
    let has = |id: &str| has_own(all, &[id]);
    // IQ-TREE's -rf has two files.
    if is_alone && !has("tree") && ["rf", "tree-dist"].iter().any(|name| has_peer(all, name)) {
        let says = format!("'{word}' belongs to no option: the other file of trees is --tree FILE");
        return Verdict::Refused(says, Some(vec!["--tree".into(), word.into()]));
    }
    let is_on_trees = || {
        has_own(all, &ON_TREES)
            || ["con", "net", "sup", "rf_all", "rf_adj"].iter().any(|name| has_peer(all, name))
    };
    let analysis = match &all[0].kind {
        WordKind::Analysis(name, _) => find_word(name),
        _ => None,
    };
    if let Some(analysis) = analysis.filter(|analysis| !of_word(analysis).has("msa")) {
        let (name, usage) = (analysis.name, analysis.usage);
        let says = format!("'{word}' belongs to no option: mlsearch {name} {usage}");
        return Verdict::Refused(says, None);
    }
    let is_name = |c: char| c.is_ascii_alphabetic() || c == '-';
    let is_first = all[0].kind == WordKind::Stray && all[0].words[0] == word;
    if is_first && word.chars().all(is_name) && !Path::new(word).exists() {
        let near = nearest_word(word);
        let question = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
        let says = format!("there is no word '{word}'{question} (mlsearch alone lists all)");
        return Verdict::Refused(says, near.map(|near| vec![near.into()]));
    }
    if !is_alone || has("msa") || is_on_trees() {
        let says = format!(
            "'{word}' belongs to no option: every file and every value must follow its option"
        );
        return Verdict::Refused(says, None);
    }
    let says = format!(
        "'{word}' belongs to no option: give the alignment with -s FILE and the model with -m MODEL"
    );
    let mut words = vec!["-s".to_string(), word.to_string()];
    if !has("model") && !has("partitions") {
        words.extend(["-m".to_string(), "GTR+G".to_string()]);
    }
    Verdict::Refused(says, Some(words))
}

/// The word for an analysis that was meant, if one is written nearly so.
fn nearest_word(typed: &str) -> Option<&'static str> {
    let names = WORDS.iter().flat_map(|word| std::iter::once(&word.name).chain(word.aliases));
    let near = names.map(|name| (strsim::jaro(name, typed), *name));
    near.filter(|(likeness, _)| *likeness > ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|near| near.1)
}

/// `-b 100` without `-#`: a count in IQ-TREE, a seed in RAxML.
fn without_count(one: &Typed, value: &str, all: &[Typed]) -> Verdict {
    let option = one.option();
    let makes_replicates = ["all", "bootstrap", "algorithm", "rapid_seed"];
    let is_count = value.parse::<usize>().is_ok_and(|n| (1..=1000).contains(&n));
    if is_count && !all.iter().any(|other| makes_replicates.iter().any(|id| other.is(id))) {
        let says = "IQ-TREE's -b is a number of replicates; here, as in RAxML, -b is a seed and -# the number \
                    of replicates; a search with N replicates is --all --bs-trees N";
        return refused_as(
            &format!("-b {value}"),
            says,
            fill(peers::ALL_REPLICATES, Some(value), all),
        );
    }
    let words = [option, value, "-#", USUAL_REPLICATES].map(String::from);
    let says = format!("{option} {value} is a seed and needs the number of replicates: -# N");
    Verdict::Refused(says, Some(words.to_vec()))
}

fn counts_replicates(all: &[Typed]) -> bool {
    all.iter().any(|other| other.is("runs") || other.is("bs_trees"))
}

/// IQ-TREE's `-B 1000`; RAxML's `-B 0.03` is a distance.
fn is_ultrafast(one: &Typed) -> bool {
    let number = one.value.as_deref().and_then(|value| value.parse::<f64>().ok());
    one.is("bs_cutoff") && one.option() == "-B" && number.is_some_and(|number| number >= 1.0)
}

/// Words of the table with the value in its place, without those that the command already has. `None` if a
/// value is missing.
fn fill(words: &[&str], value: Option<&str>, all: &[Typed]) -> Option<Vec<String>> {
    let is_all =
        |one: &Typed| one.is("all") || one.is("algorithm") && one.value.as_deref() == Some("a");
    // IQ-TREE's -te says so, too.
    let is_evaluated =
        || has_own(all, &["evaluate"]) || has_peer(all, "te") && !words.contains(&"-t");
    let is_there = |word: &str| match word {
        "--all" => all.iter().any(is_all),
        "--evaluate" => is_evaluated(),
        _ => false,
    };
    let words = words.iter().filter(|word| !is_there(word));
    words
        .map(|word| match value {
            None if word.contains("{}") => None,
            _ => Some(word.replace("{}", value.unwrap_or_default())),
        })
        .collect()
}

/// True if an option of the command is refused with this word in its place.
fn corrects_to(all: &[Typed], option: &str) -> bool {
    all.iter().any(|one| match &one.kind {
        WordKind::Own(_) if is_ultrafast(one) => option == "--all",
        WordKind::Peer(name) => {
            matches!(peers::find(name).map(|e| e.here), Some(Here::Instead(words)) if words.contains(&option))
        }
        WordKind::Own(id) if id == "algorithm" => {
            let letter = one.value.as_deref().and_then(peers::algorithm);
            letter.and_then(|(_, words)| words).is_some_and(|words| words.contains(&option))
        }
        _ => false,
    })
}

/// The model as RAxML's `-V`, `--JC69`, `--K80` and `--HKY85` change it.
fn adapted_model(model: &str, all: &[Typed]) -> Option<String> {
    let given = |name: &str| has_peer(all, name);
    let matrix = [("JC69", "JC"), ("K80", "K80"), ("HKY85", "HKY+F")]
        .into_iter()
        .find_map(|(name, matrix)| given(name).then_some(matrix));
    let no_rates = given("V");
    if !no_rates && matrix.is_none() {
        return None;
    }
    let label = Model::parse(model).ok()?.label();
    // Frequencies that are counted and means of rates are what plain +F and +G say.
    let plain = |part| match part {
        "FC" => "F",
        "G4m" => "G4",
        part => part,
    };
    let mut parts: Vec<&str> = label.split('+').map(plain).collect();
    if no_rates {
        parts.retain(|part| !is_rates(part));
    }
    if let Some(matrix) = matrix {
        parts.retain(|part| !matches!(*part, "GTR" | "F" | "FO"));
        parts.insert(0, matrix);
    }
    Some(parts.join("+"))
}

/// True for `G`, `G4`, `R4`, `G4{0.5}`.
fn is_rates(part: &str) -> bool {
    let rest = part.strip_prefix(['G', 'R']);
    rest.is_some_and(|rest| {
        rest.chars().next().is_none_or(|c| c.is_ascii_digit() || "{ma".contains(c))
    })
}

/// IQ-TREE's words for runs that select models and end then.
fn selects_alone(upper: &str) -> bool {
    ["MF", "TESTONLY", "TESTNEWONLY"].contains(&upper)
}

/// IQ-TREE's words for runs that merge partitions.
fn merges(upper: &str) -> bool {
    let word = upper.strip_suffix("+MERGE").unwrap_or_default();
    ["MFP", "MF", "TEST", "TESTNEW"].contains(&word)
        || ["TESTMERGE", "TESTMERGEONLY", "TESTNEWMERGE", "TESTNEWMERGEONLY"].contains(&upper)
}

fn asks_to_merge(all: &[Typed]) -> bool {
    let has_word = |one: &Typed| {
        one.is("model") && one.value.as_deref().is_some_and(|v| merges(&v.to_ascii_uppercase()))
    };
    all.iter().any(has_word)
}

/// Such a run: merging alone is an analysis here, a search after it another one.
fn merging(value: &str, upper: &str, all: &[Typed]) -> Verdict {
    let mut words = vec!["-m".to_string(), "auto".to_string()];
    let names_method = has_own(all, &["merge"])
        || ["rcluster", "rclusterf"].iter().any(|name| has_peer(all, name));
    if !names_method {
        words.extend(["--merge".to_string(), "greedy".to_string()]);
    }
    if upper.ends_with("ONLY") || upper.starts_with("MF+") {
        let note = format!(
            "-m {value} is read as {}: IQ-TREE's selection of models and merging of partitions",
            words.join(" ")
        );
        return Verdict::Taken(words, note);
    }
    refused_as(
        &format!("-m {value}"),
        "merging of partitions (--merge) is an analysis of its own; a search with the partitions and models that it finds \
         reads its file with -q NAME.mlsearch.bestScheme",
        Some(words),
    )
}

/// A seed is a number; anything else after `-p` that is or could be a file is one.
fn looks_like_a_file(value: &str) -> bool {
    value.parse::<f64>().is_err() && (Path::new(value).is_file() || value.contains(['.', '/']))
}

fn refused(one: &Typed, says: &str, instead: Option<Vec<String>>) -> Verdict {
    refused_as(one.option(), says, instead)
}

fn refused_as(option: &str, says: &str, instead: Option<Vec<String>>) -> Verdict {
    Verdict::Refused(format!("option '{option}' is not supported: {says}"), instead)
}
