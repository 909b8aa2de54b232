//! What shells and `man` know of the program: completions (`mlsearch completions SHELL`) and pages of the manual
//! (`mlsearch help --man DIR`); and the schema of the JSON file (`mlsearch help --schema`).

use crate::cli::flat;
use crate::commands::{WORDS, Word};
use crate::error::{Error, Result};
use crate::output::schema_of_results;
use crate::whole_file;
use clap::{Command, ValueEnum};
use clap_complete::{Shell, generate};
use clap_mangen::Man;
use std::path::Path;

/// All words with their options, beside those of command lines without a word.
fn program() -> Command {
    let words = WORDS.iter().map(|word| word.command());
    let help = Command::new("help").about("Options or the guide of a word");
    let completions = Command::new("completions").about("Completions for a shell");
    flat().subcommands(words.chain([help, completions])).disable_help_subcommand(true)
}

/// The text for a shell, if that is what these words ask for.
///
/// # Errors
/// A shell that is unknown.
pub(super) fn completions(words: &[String]) -> Result<Option<String>> {
    let Some(("completions", rest)) =
        words.split_first().map(|(first, rest)| (first.as_str(), rest))
    else {
        return Ok(None);
    };
    let shell = match rest {
        [name] => Shell::from_str(name, true).ok(),
        _ => None,
    };
    let Some(shell) = shell else {
        let names: Vec<String> = Shell::value_variants().iter().map(Shell::to_string).collect();
        let message = format!("completions: for which shell? Expected one of {}", names.join(", "));
        return Err(Error::Usage(message));
    };
    let mut text = Vec::new();
    generate(shell, &mut program(), "mlsearch", &mut text);
    Ok(Some(String::from_utf8_lossy(&text).into_owned()))
}

/// The JSON Schema of the results of all words.
pub(super) fn schema() -> String {
    schema_of_results(WORDS.iter().flat_map(|word| word.sections).copied())
}

/// Writes a page of the manual for the program and for each word; returns what is said of it.
///
/// # Errors
/// A folder that does not exist, or a file that cannot be written.
pub(super) fn write_manual(folder: &str) -> Result<String> {
    let folder = Path::new(folder);
    if !folder.is_dir() {
        let folder = folder.display();
        return Err(Error::Usage(format!("--man {folder}: expected an existing folder")));
    }
    let page_of = |word: &Word| {
        let name = format!("mlsearch-{}", word.name);
        (word.command().display_name(&name), name)
    };
    let whole = (flat(), "mlsearch".to_string());
    let pages = std::iter::once(whole).chain(WORDS.iter().map(page_of));
    let mut count = 0;
    for (command, name) in pages {
        let path = folder.join(format!("{name}.1"));
        let mut page = Vec::new();
        let written = Man::new(command).render(&mut page);
        let written = written.and_then(|()| whole_file::replace(&path, &page));
        let failed = |source| Error::Io { path: path.display().to_string(), source, writing: true };
        written.map_err(failed)?;
        count += 1;
    }
    Ok(format!("{count} pages were written to {}\n", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Result<Option<String>> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        completions(&words)
    }

    #[test]
    fn shells_complete_words_and_their_options() {
        for shell in Shell::value_variants() {
            let text = of(&format!("completions {shell}")).unwrap().expect("a text");
            for known in ["search", "gpu-selftest", "ngen", "tree-constraint"] {
                assert!(text.contains(known), "{shell}: {known}");
            }
        }
        assert!(of("search").unwrap().is_none());
        for line in ["completions", "completions cmd", "completions bash zsh"] {
            assert!(of(line).unwrap_err().to_string().contains("bash, elvish, fish"), "{line}");
        }
    }

    #[test]
    fn there_is_a_page_of_the_manual_for_each_word() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display().to_string();
        assert!(write_manual(&path).unwrap().contains("pages were written"));
        for word in WORDS {
            let page = folder.path().join(format!("mlsearch-{}.1", word.name));
            assert!(
                std::fs::read_to_string(page).unwrap().contains(".SH OPTIONS"),
                "{}",
                word.name
            );
        }
        assert!(folder.path().join("mlsearch.1").is_file());
        assert_eq!(write_manual("no/such/folder").unwrap_err().exit_code(), 2);
    }
}
