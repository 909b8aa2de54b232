//! The guides of the analyses, and those of what all of them share: `mlsearch help WORD --guide` prints one.
//!
//! Each stands beside the code of its analysis as Markdown; README.md links them.

use crate::error::Error;

/// A guide.
#[derive(Debug)]
pub struct Guide {
    /// The words that name it, the usual one first.
    pub words: &'static [&'static str],
    /// Its file, from the root of the repository.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
    /// True if the first word has no options of its own, so that its guide is all the help there is.
    is_topic: bool,
}

macro_rules! guide {
    ($words:expr, $path:literal) => {
        guide!($words, $path, false)
    };
    ($words:expr, $path:literal, $is_topic:literal) => {
        Guide {
            words: &$words,
            path: $path,
            text: include_str!(concat!("../../", $path)),
            is_topic: $is_topic,
        }
    };
}

/// All guides.
pub const GUIDES: &[Guide] = &[
    guide!(["search", "all"], "src/commands/search/guide.md"),
    guide!(["select"], "src/commands/select/guide.md", true),
    guide!(["start"], "src/commands/start/guide.md"),
    guide!(["distance"], "src/commands/distance/guide.md"),
    guide!(["sample"], "src/commands/sample/guide.md"),
    guide!(["bootstrap", "bsmsa", "converge", "bsconverge"], "src/commands/bootstrap/guide.md"),
    guide!(["support"], "src/commands/support/guide.md"),
    guide!(["concordance"], "src/commands/concordance/guide.md"),
    guide!(["terrace"], "src/commands/terrace/guide.md"),
    guide!(["evaluate", "ancestral"], "src/commands/evaluate/guide.md"),
    guide!(["compare", "rfdist"], "src/commands/compare/guide.md"),
    guide!(["consensus", "consense"], "src/commands/consensus/guide.md"),
    guide!(["root"], "src/commands/root/guide.md"),
    guide!(["simulate"], "src/commands/simulate/guide.md"),
    guide!(["gpu-selftest"], "src/commands/gpu_selftest/guide.md"),
    guide!(["data"], "src/cli/data.md", true),
    guide!(["run", "check", "parse"], "src/cli/run.md", true),
    guide!(["differences"], "src/cli/differences.md", true),
];

/// The text that a command line wants printed, if it is `help` with a guide: `help WORD --guide`, or `help` with a word
/// that has no options of its own.
///
/// # Errors
/// `--guide` without a word, or with one that has no guide.
pub(super) fn wanted(words: &[String]) -> Result<Option<&'static str>, Error> {
    let Some(("help", rest)) = words.split_first().map(|(first, rest)| (first.as_str(), rest))
    else {
        return Ok(None);
    };
    let is_guide = |word: &&String| matches!(word.as_str(), "--guide" | "-guide");
    let named: Vec<&str> = rest.iter().filter(|word| !is_guide(word)).map(String::as_str).collect();
    let found = match named.as_slice() {
        [word] => GUIDES.iter().find(|guide| guide.words.contains(word)),
        _ => None,
    };
    if !rest.iter().any(|word| is_guide(&word)) {
        let topic = found.filter(|guide| guide.is_topic && guide.words[0] == named[0]);
        return Ok(topic.map(|guide| guide.text));
    }
    found.map(|guide| Some(guide.text)).ok_or_else(|| {
        let known: Vec<&str> = GUIDES.iter().map(|guide| guide.words[0]).collect();
        let given = match named.as_slice() {
            [] => "of which word?".to_string(),
            _ => format!("there is none of '{}'.", named.join(" ")),
        };
        Error::Usage(format!("--guide: {given} There are guides of {}", known.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Result<Option<&'static str>, Error> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        wanted(&words)
    }

    #[test]
    fn a_guide_is_found_by_each_of_its_words() {
        for guide in GUIDES {
            assert!(guide.text.starts_with("# "), "{}", guide.path);
            for word in guide.words {
                for line in [format!("help {word} --guide"), format!("help --guide {word}")] {
                    assert_eq!(of(&line).expect("a guide"), Some(guide.text), "{line}");
                }
            }
        }
    }

    #[test]
    fn help_without_a_guide_stays_help() {
        for line in ["help", "help sample", "help simulate", "search --guide", "help check"] {
            assert_eq!(of(line).expect("no fault"), None, "{line}");
        }
        assert!(of("help data").expect("a topic").is_some());
        for line in ["help --guide", "help nothing --guide", "help search sample --guide"] {
            let fault = of(line).expect_err(line).to_string();
            assert!(fault.contains("search, select"), "{fault}");
        }
    }
}
