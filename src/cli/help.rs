//! Help: the words, the options of a word, and the guides (`mlsearch help WORD --guide`).

use super::pages::{completions, schema, write_manual};
use crate::cli::flat;
use crate::commands::{Group, Guide, WORDS, Word, find_word};
use crate::error::Error;
use clap::Arg;

/// What all analyses share, explained.
#[derive(Debug)]
struct Topic {
    /// The words that name it, the usual one first.
    words: &'static [&'static str],
    /// Its guide.
    guide: Guide,
}

macro_rules! topic {
    ($word:literal) => {
        Topic {
            words: &[$word],
            guide: Guide {
                path: concat!("src/cli/", $word, ".md"),
                text: include_str!(concat!($word, ".md")),
            },
        }
    };
}

/// The guides that belong to no analysis.
const TOPICS: [Topic; 3] = [topic!("data"), topic!("run"), topic!("differences")];

/// All guides, each once.
pub fn guides() -> Vec<Guide> {
    let mut guides: Vec<Guide> = Vec::new();
    for guide in WORDS.iter().map(|word| word.guide).chain(TOPICS.iter().map(|one| one.guide)) {
        if !guides.iter().any(|known| known.path == guide.path) {
            guides.push(guide);
        }
    }
    guides
}

/// Columns of a page.
const WIDTH: usize = 80;
/// Columns of an option and its value, with the margin before its text.
const OPTION_WIDTH: usize = 29;

/// The words, a line for each, in groups.
pub(super) fn words() -> String {
    let mut text = String::from(
        "mlsearch WORD [OPTIONS]    help WORD [--guide]    help data, run or differences\n",
    );
    let mut line = |heading: &str, word: &str, about: &str| {
        text.push_str(&format!("{heading:<11}{word:<14}{about}\n"));
    };
    for group in Group::ALL {
        let mut heading = group.heading();
        for word in WORDS.iter().filter(|word| word.group == group) {
            line(heading, word.name, word.about);
            heading = "";
        }
    }
    text
}

/// The options of a word, on two screens, or all of them; without a word, the words, or all options of all.
pub(super) fn page(word: Option<&Word>, is_long: bool) -> String {
    match (word, is_long) {
        (None, false) => words(),
        (None, true) => flat().render_long_help().to_string(),
        (Some(word), true) => {
            let guide = format!("The guide: mlsearch help {} --guide", word.name);
            word.command().after_help(guide).render_long_help().to_string()
        }
        (Some(word), false) => short_page(word),
    }
}

/// The options that most people use.
fn short_page(word: &Word) -> String {
    let command = word.command();
    let mut text = format!(
        "{}: {}\nUsage: mlsearch {} {} [OPTIONS]\n",
        word.name, word.about, word.name, word.usage
    );
    let shown = || command.get_arguments().filter(|arg| !arg.is_hide_short_help_set());
    let mut headings: Vec<&str> = Vec::new();
    for heading in shown().map(|arg| arg.get_help_heading().unwrap_or("Options")) {
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for heading in headings {
        text.push_str(&format!("{heading}:\n"));
        let own = shown().filter(|arg| arg.get_help_heading().unwrap_or("Options") == heading);
        for arg in own {
            let spec = spec(arg);
            let help = arg.get_help().map(|help| help.to_string()).unwrap_or_default();
            let room = WIDTH - OPTION_WIDTH.max(spec.len() + 1);
            let line = format!("{spec:<OPTION_WIDTH$} {}", first_words(&help, room - 1));
            text.push_str(&format!("{}\n", line.trim_end()));
        }
    }
    let name = word.name;
    text.push_str(&format!("More: mlsearch {name} --help; guide: mlsearch help {name} --guide\n"));
    text
}

/// `  -s, --msa <FILE>`
fn spec(arg: &Arg) -> String {
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    let value = arg.get_value_names().filter(|_| arg.get_action().takes_values());
    let value = value.and_then(|names| names.first()).map(|name| name.to_string());
    let is_optional = arg.get_num_args().is_some_and(|range| range.min_values() == 0);
    let value = match value {
        None => String::new(),
        Some(value) if is_optional => format!(" [{value}]"),
        Some(value) => format!(" {value}"),
    };
    let indent = if arg.get_short().is_some() { "  " } else { "      " };
    format!("{indent}{}{value}", names.join(", "))
}

/// A text, or if it has no room its first clause, or what there is room for.
fn first_words(help: &str, room: usize) -> String {
    if help.chars().count() <= room {
        return help.to_string();
    }
    let whole = help.split(" [default").next().unwrap_or(help);
    if whole.chars().count() <= room {
        return whole.to_string();
    }
    let ends = |mark: &str| whole.match_indices(mark).map(|(at, _)| at).collect::<Vec<_>>();
    let clauses = [";", ":", " (", ","].iter().flat_map(|mark| ends(mark));
    let fits = |at: &usize| whole[..*at].chars().count() <= room;
    let clause = clauses.filter(fits).max().filter(|&at| at > room / 3);
    let end = clause.or_else(|| ends(" ").into_iter().filter(fits).max()).unwrap_or(0);
    whole[..end].to_string()
}

/// What `help` or `completions` with these words asks for; `None` if the command is no `help`.
///
/// # Errors
/// A word that does not exist, or has no guide.
pub(super) fn wanted(words: &[String]) -> Result<Option<String>, Error> {
    let Some(("help", rest)) = words.split_first().map(|(first, rest)| (first.as_str(), rest))
    else {
        return completions(words);
    };
    if let [option, folder] = rest
        && matches!(option.as_str(), "--man" | "-man")
    {
        return write_manual(folder).map(Some);
    }
    if let [option] = rest
        && matches!(option.as_str(), "--schema" | "-schema")
    {
        return Ok(Some(schema()));
    }
    let is_guide = |word: &&String| matches!(word.as_str(), "--guide" | "-guide");
    let named: Vec<&str> = rest.iter().filter(|word| !is_guide(word)).map(String::as_str).collect();
    let wants_guide = rest.iter().any(|word| is_guide(&word));
    let (word, topic) = match named.as_slice() {
        [name] => (named_word(name), TOPICS.iter().find(|topic| topic.words.contains(name))),
        _ => (None, None),
    };
    let guide = word.map(|word| word.guide).or(topic.map(|topic| topic.guide));
    match (word, guide) {
        (_, Some(guide)) if wants_guide || word.is_none() => Ok(Some(guide.text.to_string())),
        (Some(word), _) => Ok(Some(page(Some(word), false))),
        _ if rest.is_empty() => Ok(Some(self::words())),
        _ => Err(no_such_word(&named, wants_guide)),
    }
}

/// A word, or a search if it is one with an option.
fn named_word(name: &str) -> Option<&'static Word> {
    find_word(if name == "all" { "search" } else { name })
}

fn no_such_word(named: &[&str], wants_guide: bool) -> Error {
    let words = WORDS.iter().map(|word| word.name);
    let known: Vec<&str> = words.chain(TOPICS.iter().map(|topic| topic.words[0])).collect();
    let given = match named {
        [] => "of which word?".to_string(),
        _ if wants_guide => format!("there is none of '{}'.", named.join(" ")),
        _ => format!("there is no word '{}'.", named.join(" ")),
    };
    let option = if wants_guide { "--guide: " } else { "help: " };
    let what = if wants_guide { "There are guides of" } else { "The words are" };
    Error::Usage(format!("{option}{given} {what} {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Result<Option<String>, Error> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        wanted(&words)
    }

    fn assert_fits(page: &str, lines: usize, name: &str) {
        assert!(page.lines().count() <= lines, "{name}: {} lines", page.lines().count());
        for line in page.lines() {
            assert!(line.chars().count() <= WIDTH, "{name}: {line}");
        }
    }

    #[test]
    fn the_words_fit_one_screen_and_the_options_of_each_two() {
        assert_fits(&words(), 24, "words");
        for word in WORDS {
            assert_fits(&page(Some(word), false), 48, word.name);
            let all = page(Some(word), true);
            for arg in word.command().get_arguments() {
                let long = arg.get_long().unwrap_or_default();
                assert!(all.contains(long), "{}: {long}", word.name);
            }
        }
    }

    #[test]
    fn a_guide_is_found_by_each_of_its_words() {
        for word in WORDS {
            assert!(word.guide.text.starts_with("# "), "{}", word.guide.path);
            for name in [word.name].iter().chain(word.aliases) {
                for line in [format!("help {name} --guide"), format!("help --guide {name}")] {
                    let found = of(&line).expect("a guide");
                    assert_eq!(found.as_deref(), Some(word.guide.text), "{line}");
                }
            }
        }
        assert!(of("help data").expect("a topic").is_some());
    }

    #[test]
    fn help_of_nothing_known_names_what_there_is() {
        assert_eq!(of("search --guide").expect("no fault"), None);
        for line in
            ["help --guide", "help nothing --guide", "help search sample --guide", "help nothing"]
        {
            let fault = of(line).expect_err(line).to_string();
            assert!(fault.contains("search, select"), "{fault}");
        }
    }

    #[test]
    fn texts_are_cut_at_clauses() {
        assert_eq!(first_words("One, two; three [default: x]", 20), "One, two; three");
        assert_eq!(first_words("One [default: x]", 20), "One [default: x]");
        assert_eq!(first_words("One and two; three and four", 15), "One and two");
        assert_eq!(first_words("Several words without a comma", 15), "Several words");
    }
}
