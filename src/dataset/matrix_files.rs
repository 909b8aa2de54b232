//! Model strings with what is in files: amino-acid matrices (`-P FILE`, `PROTGTR{FILE}`), definitions of models.
//!
//! The numbers are read by [`UserMatrix`]; here file names are found and the files opened.

use super::model_definitions::Definitions;
use crate::error::{Result, abridged};
use crate::input::read_text;
use crate::model::{Model, UserMatrix};
use std::path::{Path, PathBuf};

/// RAxML's name of the matrix of `-P`.
const FILE_MATRIX: &str = "PROT_FILE";
/// Longest file of a matrix, in bytes: 420 numbers and remarks.
const MAX_MATRIX_FILE: usize = 1 << 20;

/// Reads a matrix file.
///
/// # Errors
/// A file that cannot be read, or its faults.
pub(crate) fn read_matrix_file(path: &Path) -> Result<UserMatrix> {
    let text = read_text(path, MAX_MATRIX_FILE, "an amino-acid matrix")?;
    UserMatrix::read(&text, &path.display().to_string())
}

/// [`Model::parse_with_states`] of a model string with names that may be defined, and whose matrix may be a file, or `PROT_FILE`, which
/// is `given`. All faults of a file are one message.
///
/// # Errors
/// What is wrong with the string or with the file.
pub(crate) fn parse_model(
    text: &str,
    num_states: Option<usize>,
    given: Option<&UserMatrix>,
    definitions: &Definitions,
) -> std::result::Result<Model, String> {
    let expanded = definitions.expand(text);
    let text = expanded.map_err(|wrong| format!("model '{}': {wrong}", abridged(text)))?;
    let text = text.as_str();
    let with = |matrix: &UserMatrix, rest: &str| {
        // Any published matrix without frequencies of its own choice holds the place.
        Model::parse(&format!("POISSON{rest}"))
            .and_then(|model| model.with_user_matrix(matrix))
            .map_err(|wrong| wrong.replace("POISSON", FILE_MATRIX))
    };
    if let Some((path, rest)) = split_matrix_file(text) {
        let matrix = read_matrix_file(&path);
        let matrix = matrix.map_err(|error| error.to_string().replace('\n', "; "))?;
        return with(&matrix, &rest);
    }
    match (strip_name(text, FILE_MATRIX), given) {
        (Some(rest), Some(matrix)) => with(matrix, rest),
        (Some(_), None) => {
            Err(format!("model '{}' has no matrix: give its file with -P", abridged(text)))
        }
        (None, _) => Model::parse_with_states(text, num_states),
    }
}

/// What follows a name at the beginning of a model string, if it is a whole word there.
fn strip_name<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let start = text.get(..name.len())?;
    let rest = &text[name.len()..];
    let ends = rest.is_empty() || rest.starts_with(['+', '{', '[']);
    (start.eq_ignore_ascii_case(name) && ends).then_some(rest)
}

/// The file in `PROTGTR{FILE}+rest`, and the rest; `None` if there are numbers in the braces, or none.
fn split_matrix_file(text: &str) -> Option<(PathBuf, String)> {
    let names = ["PROTGTR", "GTR20", FILE_MATRIX];
    let after = names.iter().find_map(|name| strip_name(text.trim(), name))?;
    let (inner, rest) = after.strip_prefix(['{', '['])?.split_once(['}', ']'])?;
    let are_numbers = inner.split(['/', ',']).all(|item| item.trim().parse::<f64>().is_ok());
    (!are_numbers && !inner.is_empty()).then(|| (PathBuf::from(inner), rest.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_from_numbers() {
        let split = |text: &str| {
            split_matrix_file(text).map(|(path, rest)| (path.display().to_string(), rest))
        };
        let found = |path: &str, rest: &str| Some((path.to_string(), rest.to_string()));
        assert_eq!(split("PROTGTR{my/LG.dat}+G{0.5}"), found("my/LG.dat", "+G{0.5}"));
        assert_eq!(split("gtr20[a.txt]"), found("a.txt", ""));
        assert_eq!(split("prot_file{1.dat}+F"), found("1.dat", "+F"));
        for none in ["PROTGTR{1/2/3}+FU{x}", "PROTGTR+G", "PROTGTR{}", "GTR{a}", "PROTGTR{1.5}"] {
            assert_eq!(split(none), None, "{none}");
        }
    }

    #[test]
    fn a_matrix_is_used_with_what_else_the_model_says() {
        let matrix =
            UserMatrix { rates: (1..=190).map(f64::from).collect(), freqs: vec![0.05; 20] };
        let parse = |text| {
            parse_model(text, None, Some(&matrix), &Definitions::default())
                .map(|model| model.label())
        };
        let label = parse("PROT_FILE+FO+I+G8").unwrap();
        assert!(label.starts_with("PROTGTR{") && label.ends_with("}+FO+IO+G8m"), "{label}");
        assert!(parse("prot_file").unwrap().contains("+FU{0.05/"));
        assert_eq!(parse("LG+G").unwrap(), "LG+G4m");
        let wrong = parse("PROT_FILE+X").unwrap_err();
        assert!(wrong.contains("model 'PROT_FILE+X'"), "{wrong}");
        assert!(
            parse_model("PROT_FILE", None, None, &Definitions::default())
                .unwrap_err()
                .contains("-P")
        );
        let none =
            parse_model("PROTGTR{no/such.dat}+G", None, None, &Definitions::default()).unwrap_err();
        assert!(none.starts_with("no/such.dat: "), "{none}");
    }
}
