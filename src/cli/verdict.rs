//! What becomes of each option that was typed: it stays, it is read as other options, or it is refused,
//! with the options to use instead.
//!
//! Most answers are in the table of `peers`; here are those that depend on a value or on the rest of the
//! command.

use super::peers::{self, Here};
use super::typed::{Typed, WordKind};
use crate::likelihood::select::INSTRUCTION_SETS;
use crate::model::Model;
use std::path::Path;

/// Number of replicates proposed where none is given.
const USUAL_REPLICATES: &str = "100";

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
        (WordKind::Own(id), None) if id == "search" && corrects_to(all, "--all") => {
            Verdict::Adapted(Vec::new())
        }
        _ => Verdict::Stays,
    }
}

fn judge_peer(one: &Typed, name: &str, all: &[Typed]) -> Verdict {
    let value = one.value.as_deref();
    let Some(entry) = peers::find(name) else { return Verdict::Stays };
    let typed = one.as_typed();
    match entry.here {
        Here::Same(words) => match fill(words, value, all) {
            Some(words) => {
                let note = format!("{typed} is read as {}: {}", words.join(" "), entry.says);
                Verdict::Taken(words, note)
            }
            None => refused(one, &format!("{}; it needs a value", entry.says), None),
        },
        Here::Idle => {
            Verdict::Taken(Vec::new(), format!("{typed} has no effect here: {}", entry.says))
        }
        Here::Instead(words) => refused(one, entry.says, fill(words, value, all)),
        Here::Not => refused(one, entry.says, None),
    }
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
        "bs_cutoff" if is_ultrafast(one) => {
            refused(one, peers::ULTRAFAST, fill(peers::ALL_REPLICATES, Some(value), all))
        }
        "model" if is_selection(&upper) && !Path::new(value).exists() => refused_as(
            &format!("-m {value}"),
            "-m auto selects a model for each partition by BIC, and the run continues with it; partitions \
             are not merged",
            words(&["-m", "auto"]),
        ),
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
            "PARS" | "RAND" | "AUTO" if value.bytes().any(|b| b.is_ascii_uppercase()) => {
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
            "PARSIMONY" | "BIONJ" | "NJ" => refused_as(
                &format!("-t {value}"),
                "searches start from parsimony trees (pars{N}), random trees (rand{N}) or the trees of a file",
                words(&["-t", "pars{1}"]),
            ),
            _ => Verdict::Stays,
        },
        // RAxML's -f n and -f g read their trees from -z; here -t names them.
        "many_trees" if corrects_to(all, "--evaluate") => {
            Verdict::Adapted(vec!["-t".to_string(), value.to_string()])
        }
        _ => Verdict::Stays,
    }
}

/// A word that belongs to no option: most likely the alignment, typed without `-s`.
fn judge_stray(word: &str, all: &[Typed]) -> Verdict {
    let strays = all.iter().filter(|other| other.kind == WordKind::Stray).count();
    let has = |id: &str| all.iter().any(|other| other.is(id));
    let alignment = strays == 1 && !has("msa") && !has("support") && !has("rfdist");
    let mut words = vec!["-s".to_string(), word.to_string()];
    if !has("model") && !has("partitions") {
        words.extend(["-m".to_string(), "GTR+G".to_string()]);
    }
    let says = if alignment {
        format!(
            "'{word}' belongs to no option: give the alignment with -s FILE and the model with -m MODEL"
        )
    } else {
        format!("'{word}' belongs to no option: every file and every value must follow its option")
    };
    Verdict::Refused(says, alignment.then_some(words))
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
    let is_there = |word: &str| word == "--all" && all.iter().any(is_all);
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
    let given = |name: &str| all.iter().any(|one| one.kind == WordKind::Peer(name.to_string()));
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

/// IQ-TREE's words for runs that select models, beside those that are models here.
fn is_selection(upper: &str) -> bool {
    let word = upper.split('+').next().unwrap_or(upper);
    let merges = upper.contains("+MERGE") && matches!(word, "MFP" | "MF" | "TEST" | "TESTNEW");
    let names = ["MF", "TESTONLY", "TESTNEW", "TESTNEWONLY", "TESTMERGE", "TESTMERGEONLY"];
    merges || names.contains(&upper)
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
