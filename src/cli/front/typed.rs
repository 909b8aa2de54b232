//! The words of a command line as options with their values, not yet interpreted.
//!
//! The option parser reads `-nt 4` as `-n t` and a stray `4`. Here such words remain whole, so that options
//! of other programs can be recognised.

use super::flat::{Vocabulary, option_of, vocabulary};
use super::peers;
use crate::commands::find_word;
use std::path::Path;

/// The option, by its identifier, that takes all values that follow it.
const OF_SEVERAL: &str = "merge";

/// One option with its value, or one word that belongs to no option.
#[derive(Debug, Clone)]
pub(super) struct Typed {
    /// What it is.
    pub(super) kind: WordKind,
    /// Its value, attached or following.
    pub(super) value: Option<String>,
    /// The words for the option parser; long names with one dash have got their second.
    pub(super) words: Vec<String>,
    /// The words as they were typed.
    pub(super) typed: Vec<String>,
}

/// What a word is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WordKind {
    /// The word for an analysis, with which the command begins: its name, and the option that means the same.
    Analysis(&'static str, &'static str),
    /// One of our options, by its identifier.
    Own(String),
    /// An option of another program, by its name without dashes.
    Peer(String),
    /// An unknown option, which the option parser refuses.
    Unknown,
    /// A word that belongs to no option.
    Stray,
}

impl Typed {
    /// True for our option of this identifier, or the word that means the same.
    pub(super) fn is(&self, id: &str) -> bool {
        match &self.kind {
            WordKind::Own(own) => own == id,
            WordKind::Analysis(_, flat) => *flat == id,
            _ => false,
        }
    }

    /// The option as it was typed, without its value.
    pub(super) fn option(&self) -> &str {
        let first = self.typed[0].as_str();
        match &self.value {
            Some(value) if self.typed.len() == 1 => {
                first.strip_suffix(value.as_str()).unwrap_or(first).trim_end_matches('=')
            }
            _ => first,
        }
    }

    /// The option as it was typed, with its value.
    pub(super) fn as_typed(&self) -> String {
        self.typed.join(" ")
    }
}

/// Splits the words after the name of the program.
pub(super) fn lex(words: &[String]) -> Vec<Typed> {
    let mut read = Vec::new();
    let mut rest = words;
    // A word without a dash in front is a value: no option of ours but --merge takes more than one. A dash alone is standard
    // input.
    let is_value =
        |word: &String| !word.starts_with('-') || word == "-" || word.parse::<f64>().is_ok();
    if let Some(word) = words.first().and_then(|first| find_word(first)) {
        rest = &words[1..];
        let typed = vec![words[0].clone()];
        let kind = WordKind::Analysis(word.name, word.flat);
        read.push(Typed { kind, value: None, words: typed.clone(), typed });
        if let (Some(id), Some(value)) = (word.value, rest.first().filter(|next| is_value(next))) {
            // The trees in place of the rule of their consensus.
            let id = if id == "rule" && Path::new(value).is_file() { "tree" } else { id };
            let words = vec![option_of(word, id), value.clone()];
            let (kind, typed) = (WordKind::Own(id.to_string()), vec![value.clone()]);
            read.push(Typed { kind, value: Some(value.clone()), words, typed });
            rest = &rest[1..];
        }
    }
    // A search with replicates is a search with an option.
    if let Some((word, after)) = words.split_first()
        && word == "all"
    {
        rest = after;
        let (kind, typed) = (WordKind::Own("all".into()), vec![word.clone()]);
        read.push(Typed { kind, value: None, words: vec!["--all".into()], typed });
    }
    while let Some((word, after)) = rest.split_first() {
        let next = after.first().filter(|next| is_value(next));
        let first = vec![word.clone()];
        let (kind, value, takes_value, word) = classify(word, next.is_some(), vocabulary());
        let mut typed = Typed { kind, value, words: vec![word], typed: first };
        rest = after;
        if let (true, None, Some(next)) = (takes_value, &typed.value, next) {
            typed.value = Some(next.clone());
            typed.words.push(next.clone());
            typed.typed.push(next.clone());
            rest = &after[1..];
        }
        let repeated =
            (typed.kind == WordKind::Own(OF_SEVERAL.into())).then(|| typed.words[0].clone());
        read.push(typed);
        // A shell makes several words of a pattern of file names: each is the value of an option of its own.
        while let (Some(option), Some((next, after))) = (&repeated, rest.split_first())
            && is_value(next)
        {
            let option = option.split('=').next().unwrap_or(option).to_string();
            let (words, typed) = (vec![option, next.clone()], vec![next.clone()]);
            let kind = WordKind::Own(OF_SEVERAL.into());
            read.push(Typed { kind, value: Some(next.clone()), words, typed });
            rest = after;
        }
    }
    read
}

/// What a word is, the value in it, whether a value may follow, and the word as the option parser wants it.
fn classify(
    word: &str,
    value_follows: bool,
    own: &Vocabulary,
) -> (WordKind, Option<String>, bool, String) {
    let known = |(id, takes): (&str, bool)| (WordKind::Own(id.to_string()), takes);
    let Some(name) = word.strip_prefix('-').filter(|name| !name.is_empty()) else {
        return (WordKind::Stray, None, false, word.to_string());
    };
    let long = name.strip_prefix('-').unwrap_or(name);
    let two_dashes = name.starts_with('-');
    let (long, attached) = match long.split_once('=') {
        Some((long, value)) => (long, Some(value.to_string())),
        None => (long, None),
    };
    if long.chars().count() > 1 {
        let peer = peers::takes(long).filter(|takes| {
            // `-nt` alone may be a RAxML user's `-n t`, `--boot` alone our `--bootstrap` cut short.
            let ours = !two_dashes || own.by_prefix(long).is_some();
            !ours || !takes.always() || value_follows || attached.is_some()
        });
        let found = match (own.exact(long), peer) {
            (Some(found), _) => Some(known(found)),
            (None, Some(takes)) => Some((WordKind::Peer(long.to_string()), takes.ever())),
            (None, None) if two_dashes => own.by_prefix(long).map(known),
            (None, None) => None,
        };
        match found {
            Some((kind, takes)) => {
                let dashes = if two_dashes { "" } else { "-" };
                return (kind, attached, takes, format!("{dashes}{word}"));
            }
            None if two_dashes => return (WordKind::Unknown, attached, true, word.to_string()),
            None => {}
        }
    }
    // A letter, alone or with its value attached.
    let mut letters = name.chars();
    let letter = letters.next().map(String::from).unwrap_or_default();
    let value = letters.as_str();
    let found = own.exact(&letter).map(known);
    let found = found.or_else(|| {
        peers::takes(&letter).map(|takes| (WordKind::Peer(letter.clone()), takes.ever()))
    });
    match found {
        Some((kind, takes)) if value.is_empty() => (kind, None, takes, word.to_string()),
        Some((kind, true)) => {
            let value = value.strip_prefix('=').unwrap_or(value);
            (kind, Some(value.to_string()), true, word.to_string())
        }
        // Several letters in one word are left to the option parser.
        _ => (WordKind::Unknown, None, !two_dashes, word.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every option with its value, as `kind name=value`.
    fn split(line: &str) -> Vec<String> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        let show = |one: &Typed| {
            let name = match &one.kind {
                WordKind::Analysis(word, _) => format!("word {word}"),
                WordKind::Own(id) => format!("own {id}"),
                WordKind::Peer(name) => format!("peer {name}"),
                WordKind::Unknown => format!("unknown {}", one.words[0]),
                WordKind::Stray => format!("stray {}", one.words[0]),
            };
            one.value.as_ref().map_or(name.clone(), |value| format!("{name}={value}"))
        };
        lex(&words).iter().map(show).collect()
    }

    #[test]
    fn words_become_options_with_their_values() {
        for (line, expected) in [
            ("-s a.phy -m GTR+G", &["own msa=a.phy", "own model=GTR+G"][..]),
            (
                "-msa=a.phy --mod GTR --redo x",
                &["own msa=a.phy", "own model=GTR", "own redo", "stray x"],
            ),
            ("-x12345 -#100 -T2", &["own rapid_seed=12345", "own runs=100", "own threads=2"]),
            ("-e -1 -M", &["own lh_epsilon=-1", "own unlinked"]),
            ("-nt 4 -bb 1000", &["peer nt=4", "peer bb=1000"]),
            ("--nt=4 -E x.txt -B0.1", &["peer nt=4", "peer E=x.txt", "own bs_cutoff=0.1"]),
            ("--force --workers 2", &["peer force", "peer workers=2"]),
            ("--bootstap 5 x", &["unknown --bootstap=5", "stray x"]),
            // What RAxML users may mean stays theirs.
            ("-nt", &["own name=t"]),
            ("compare a.nwk -T 2", &["word compare", "own many_trees=a.nwk", "own threads=2"]),
            ("bsmsa -s a", &["word resample", "own msa=a"]),
            ("-te -s a", &["own tree=e", "own msa=a"]),
            ("--boot --all", &["own bootstrap", "own all"]),
            ("genes --merge a b -n x", &["word genes", "own merge=a", "own merge=b", "own name=x"]),
        ] {
            assert_eq!(split(line), expected, "{line}");
        }
    }
}
