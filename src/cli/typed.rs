//! The words of a command line as options with their values, not yet interpreted.
//!
//! The option parser reads `-nt 4` as `-n t` and a stray `4`. Here such words remain whole, so that options
//! of other programs can be recognised.

use super::peers;
use clap::Command;

/// One option with its value, or one word that belongs to no option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Typed {
    /// What it is.
    pub(super) kind: WordKind,
    /// Its value, attached or following.
    pub(super) value: Option<String>,
    /// The words for the option parser; long names with one dash have got their second.
    pub(super) words: Vec<String>,
    /// The first of them as it was typed.
    first: String,
}

/// What a word is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WordKind {
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
    /// True for our option of this identifier.
    pub(super) fn is(&self, id: &str) -> bool {
        matches!(&self.kind, WordKind::Own(own) if own == id)
    }

    /// The option as it was typed, without its value.
    pub(super) fn option(&self) -> &str {
        let first = self.first.as_str();
        match &self.value {
            Some(value) if self.words.len() == 1 => {
                first.strip_suffix(value.as_str()).unwrap_or(first).trim_end_matches('=')
            }
            _ => first,
        }
    }

    /// The words as they were typed: the option and its value, if that is a word of its own.
    pub(super) fn words_as_typed(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.first).chain(&self.words[1..])
    }

    /// The option as it was typed, with its value.
    pub(super) fn as_typed(&self) -> String {
        self.words_as_typed().map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}

/// The options of this program: every spelling, the identifier, and whether a value follows.
struct Vocabulary(Vec<(String, String, bool)>);

impl Vocabulary {
    fn of(command: &Command) -> Self {
        let mut spellings = Vec::new();
        for arg in command.get_arguments() {
            let takes_value = arg.get_action().takes_values();
            let long = arg.get_long().into_iter().chain(arg.get_all_aliases().unwrap_or_default());
            let short =
                arg.get_short().into_iter().chain(arg.get_all_short_aliases().unwrap_or_default());
            let names = long.map(String::from).chain(short.map(String::from));
            spellings.extend(names.map(|name| (name, arg.get_id().to_string(), takes_value)));
        }
        Vocabulary(spellings)
    }

    fn exact(&self, name: &str) -> Option<(&str, bool)> {
        let found = self.0.iter().find(|spelling| spelling.0 == name);
        found.map(|(_, id, takes_value)| (id.as_str(), *takes_value))
    }

    /// Long names may be cut where one option is left.
    fn by_prefix(&self, name: &str) -> Option<(&str, bool)> {
        let mut found = self.0.iter().filter(|spelling| {
            spelling.0.len() > 1 && name.len() > 1 && spelling.0.starts_with(name)
        });
        let first = found.next()?;
        found.all(|other| other.1 == first.1).then_some((first.1.as_str(), first.2))
    }
}

/// Splits the words after the name of the program; `command` has the options of this program.
pub(super) fn read(words: &[String], command: &Command) -> Vec<Typed> {
    let own = Vocabulary::of(command);
    let mut read = Vec::new();
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        // A word without a dash in front is a value: no option of ours takes more than one. A dash alone
        // is standard input.
        let is_value =
            |word: &String| !word.starts_with('-') || word == "-" || word.parse::<f64>().is_ok();
        let next = after.first().filter(|next| is_value(next));
        let first = word.clone();
        let (kind, value, takes_value, word) = classify(word, next.is_some(), &own);
        let mut typed = Typed { kind, value, words: vec![word], first };
        rest = after;
        if let (true, None, Some(next)) = (takes_value, &typed.value, next) {
            typed.value = Some(next.clone());
            typed.words.push(next.clone());
            rest = &after[1..];
        }
        read.push(typed);
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
    use crate::cli::Args;
    use clap::CommandFactory;

    /// Every option with its value, as `kind name=value`.
    fn split(line: &str) -> Vec<String> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        let show = |one: &Typed| {
            let name = match &one.kind {
                WordKind::Own(id) => format!("own {id}"),
                WordKind::Peer(name) => format!("peer {name}"),
                WordKind::Unknown => format!("unknown {}", one.words[0]),
                WordKind::Stray => format!("stray {}", one.words[0]),
            };
            one.value.as_ref().map_or(name.clone(), |value| format!("{name}={value}"))
        };
        read(&words, &Args::command()).iter().map(show).collect()
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
            ("-te -s a", &["own tree=e", "own msa=a"]),
            ("--boot --all", &["own bootstrap", "own all"]),
        ] {
            assert_eq!(split(line), expected, "{line}");
        }
    }
}
