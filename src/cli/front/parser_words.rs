//! What the option parser refuses, in the words of all other refusals.

use super::verdict::ALIKE;
use crate::error::{Error, abridged};
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The refusal of an option or a value; `None` for what is none (help, the version) or has no words here.
pub(super) fn refusal(error: &clap::Error) -> Option<Error> {
    let one = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let some = |kind| match error.get(kind) {
        Some(ContextValue::Strings(all)) => all.iter().map(String::as_str).collect(),
        _ => one(kind).into_iter().collect::<Vec<&str>>(),
    };
    // With what stands for its value, as in `--merge <HOW>`.
    let option = one(ContextKind::InvalidArg)?;
    let name = option.split(' ').next().unwrap_or(option);
    let value = abridged(one(ContextKind::InvalidValue).unwrap_or_default());
    let message = match error.kind() {
        ErrorKind::InvalidValue if value.is_empty() => {
            format!("{name} has no value: give it as {option}")
        }
        ErrorKind::InvalidValue => {
            let expected = either(&some(ContextKind::ValidValue));
            format!("{name} {value}: expected {expected}")
        }
        ErrorKind::ValueValidation => {
            let why = std::error::Error::source(error).map(ToString::to_string)?;
            format!("{name} {value}: {}", expected_instead(&why))
        }
        ErrorKind::TooManyValues => format!("{name} takes no value, but has '{value}'"),
        ErrorKind::ArgumentConflict => match some(ContextKind::PriorArg)[..] {
            [other] if other != option => {
                let other = other.split(' ').next().unwrap_or(other);
                format!("{name} and {other} exclude each other: give only one of them")
            }
            _ => format!("{name} is given twice: give it once"),
        },
        ErrorKind::UnknownArgument if is_number(name) => {
            format!("'{name}' is no value of an option: numbers must not be negative")
        }
        ErrorKind::UnknownArgument => {
            let suggested = some(ContextKind::SuggestedArg);
            match suggested.first().filter(|meant| strsim::jaro(meant, name) > ALIKE) {
                None => format!("there is no option '{}' here", abridged(name)),
                Some(meant) => {
                    format!("there is no option '{}' here: is '{meant}' meant?", abridged(name))
                }
            }
        }
        _ => return None,
    };
    Some(Error::Usage(message))
}

/// What was expected, where the standard library says only what is wrong with the characters.
fn expected_instead(why: &str) -> &str {
    match why {
        _ if why.contains("digit") || why.contains("empty string") => "expected a whole number",
        _ if why.contains("float literal") => "expected a number",
        _ if why.starts_with("number too") => "expected a smaller number",
        _ => why,
    }
}

fn is_number(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|rest| rest.parse::<f64>().is_ok())
}

/// `a`, `a or b`, `a, b or c`.
fn either(words: &[&str]) -> String {
    match words {
        [before @ .., last] if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => words.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, ArgAction, Command, value_parser};

    #[test]
    fn refusals_name_the_option_and_what_is_expected() {
        let said = |line: &str| {
            let number = value_parser!(u32);
            let command = Command::new("test")
                .arg(
                    Arg::new("how")
                        .long("how")
                        .value_name("HOW")
                        .value_parser(["one", "two", "three"]),
                )
                .arg(Arg::new("number").long("number").value_name("N").value_parser(number))
                .arg(Arg::new("fast").long("fast").action(ArgAction::SetTrue))
                .arg(
                    Arg::new("slow").long("slow").action(ArgAction::SetTrue).conflicts_with("fast"),
                );
            let words = std::iter::once("test").chain(line.split_whitespace());
            let error = command.try_get_matches_from(words).expect_err("a refusal");
            refusal(&error).map(|error| error.to_string()).unwrap_or_default()
        };
        for (line, expected) in [
            ("--how", "--how has no value: give it as --how <HOW>"),
            ("--how four", "--how four: expected one, two or three"),
            ("--number 0.2", "--number 0.2: expected a whole number"),
            ("--number 1 --number 2", "--number is given twice: give it once"),
            ("--number -5", "'-5' is no value of an option: numbers must not be negative"),
            ("--fast=3", "--fast takes no value, but has '3'"),
            ("--slow --fast", "--slow and --fast exclude each other: give only one of them"),
            ("--numbre 3", "there is no option '--numbre' here: is '--number' meant?"),
            ("--xyz", "there is no option '--xyz' here"),
            ("--member", "there is no option '--member' here"),
            ("--help", ""),
        ] {
            assert_eq!(said(line), expected, "{line}");
        }
    }
}
