//! The functions of the Python package, which are generated from the options of the program: `src/python/mlsearch/words/` is what
//! the options say. To write it anew, set `MLSEARCH_WRITE_WORDS=1` and run this test.

use crate::util::repository;
use clap::{Arg, Command};
use mlsearch::cli::{WORDS, Word};
use std::collections::BTreeMap;

/// Words that are no functions: what they do is a method of a result, or about the machine.
const NO_FUNCTIONS: [&str; 2] = ["report", "gpu-selftest"];

/// Options, by their identifiers, that make no sense in Python: other names of files, and the terminal.
const NO_PARAMETERS: [&str; 6] = ["name", "out_dir", "prefix", "redo", "quiet", "check"];

/// What a value may be, and how it is given to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// An alignment, in any form.
    Alignment,
    /// A file, or what would be in it.
    Source,
    /// True or false.
    Flag,
    /// A flag that may have a value.
    OptionalValue,
    /// A whole number, or a word.
    Number,
    /// Anything else.
    Value,
}

impl Kind {
    fn of(arg: &Arg) -> Self {
        let name = arg.get_value_names().and_then(|names| names.first()).map(|name| name.as_str());
        let is_optional = arg.get_num_args().is_some_and(|count| count.min_values() == 0);
        match name {
            _ if arg.get_id() == "msa" => Kind::Alignment,
            _ if !arg.get_action().takes_values() => Kind::Flag,
            _ if is_optional && arg.get_num_args().is_some_and(|count| count.max_values() == 1) => {
                Kind::OptionalValue
            }
            Some("FILE" | "TREE" | "TREES" | "PATH" | "SHARDS") => Kind::Source,
            Some("N" | "SEED") => Kind::Number,
            _ => Kind::Value,
        }
    }

    fn annotation(self, is_required: bool) -> String {
        let annotation = match self {
            Kind::Flag => return "bool = False".to_string(),
            Kind::Alignment => "Alignment",
            Kind::Source => "Source",
            Kind::OptionalValue => "bool | int",
            Kind::Number => "int | str",
            Kind::Value => "Value",
        };
        if is_required { annotation.to_string() } else { format!("{annotation} | None = None") }
    }
}

/// A parameter of a function.
struct Parameter {
    name: String,
    option: String,
    kind: Kind,
    help: String,
}

fn parameter(arg: &Arg) -> Parameter {
    let id = arg.get_id().as_str();
    let name = if id == "msa" { "alignment" } else { arg.get_long().unwrap_or(id) };
    let name = name.replace('-', "_");
    // "lambda" and its like are no names.
    let name = if ["lambda", "from", "in", "not"].contains(&&*name) { name + "_" } else { name };
    let short = || format!("-{}", arg.get_short().expect("an option has a name"));
    let option = arg.get_long().map_or_else(short, |long| format!("--{long}"));
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    // The first line of a long help is no sentence with an end.
    let help = help.replacen("\n\n", ". ", 1);
    Parameter { name, option, kind: Kind::of(arg), help }
}

/// The parameters of a word: first those that its usage names, in this order, then the others.
fn parameters(word: &Word, command: &Command) -> (Vec<Parameter>, Vec<Parameter>) {
    let is_wanted = |arg: &&Arg| {
        let id = arg.get_id().as_str();
        let is_named = arg.get_long().is_some() || arg.get_short().is_some();
        is_named && !NO_PARAMETERS.contains(&id) && !["help", "version"].contains(&id)
    };
    let args: Vec<&Arg> = command.get_arguments().filter(is_wanted).collect();
    let mut first: Vec<&str> = Vec::new();
    for used in word.usage.split_whitespace() {
        let found = match used {
            _ if used.starts_with('<') => word.value.filter(|_| first.is_empty()),
            _ => args
                .iter()
                .find(|arg| {
                    used == format!("--{}", arg.get_long().unwrap_or_default())
                        || arg.get_short().is_some_and(|short| used == format!("-{short}"))
                })
                .map(|arg| arg.get_id().as_str()),
        };
        // The value of an option is no other option.
        first.extend(found.filter(|id| !first.contains(id)));
    }
    let is_first = |arg: &&&Arg| first.contains(&arg.get_id().as_str());
    let of = |id: &&str| args.iter().find(|arg| arg.get_id() == id).map(|arg| parameter(arg));
    let others = args.iter().filter(|arg| !is_first(arg)).map(|arg| parameter(arg)).collect();
    (first.iter().filter_map(of).collect(), others)
}

/// Text in lines of at most 100 columns, each after these blanks.
fn fill(text: &str, blanks: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("a line");
        if !last.is_empty() && blanks + last.len() + 1 + word.len() > 100 {
            lines.push(word.to_string());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    let lines: Vec<String> =
        lines.iter().map(|line| format!("{}{line}\n", " ".repeat(blanks))).collect();
    lines.concat()
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// A function in Python.
fn function(word: &Word) -> String {
    let command = word.command();
    let (first, others) = parameters(word, &command);
    let mut text = format!(
        "\"\"\"The function `{0}`, generated from the options of the program.\"\"\"\n\n\
         from __future__ import annotations\n\n\
         from .._call import Alignment, PathLike, Progress, Source, Value, call\n\
         from .._result import Result\n\n\
         __all__ = [\"{0}\"]\n\n\n\
         def {0}(\n",
        word.name
    );
    for (number, Parameter { name, kind, .. }) in first.iter().enumerate() {
        text.push_str(&format!("    {name}: {},\n", kind.annotation(number == 0)));
    }
    text.push_str("    *,\n");
    for Parameter { name, kind, .. } in &others {
        text.push_str(&format!("    {name}: {},\n", kind.annotation(false)));
    }
    text.push_str("    prefix: PathLike | None = None,\n    redo: bool = False,\n");
    text.push_str("    progress: Progress = None,\n) -> Result:\n");
    text.push_str(&format!("    \"\"\"{}.\n\n", capitalised(word.about)));
    text.push_str(&fill(
        &format!(
            "The same as `mlsearch {0}`; the guide is what `mlsearch help {0} --guide` prints.",
            word.name
        ),
        4,
    ));
    text.push_str("\n    Parameters\n    ----------\n");
    for Parameter { name, kind, help, .. } in first.iter().chain(&others) {
        let annotation = kind.annotation(true).replace(" = False", "");
        text.push_str(&format!("    {name} : {annotation}\n"));
        text.push_str(&fill(&help.replace('\\', "\\\\").replace('"', "'"), 8));
    }
    text.push_str(
        "    prefix : path\n        Results are also files, PREFIX.mlsearch.*; an interrupted run is resumed by the same call.\n    \
         redo : bool\n        Replace the results of an earlier run with this prefix.\n    progress : bool or callable\n        \
         True for a bar, or a function that is called with each `Moment` of the run.\n\n    Returns\n    -------\n    Result\n    \
         \"\"\"\n",
    );
    text.push_str(&format!("    return call(\n        \"{}\",\n        [\n", word.name));
    for Parameter { name, option, kind, .. } in first.iter().chain(&others) {
        let kind = match kind {
            Kind::Alignment => "alignment",
            Kind::Source => "source",
            Kind::Flag | Kind::OptionalValue => "flag",
            Kind::Number | Kind::Value => "value",
        };
        text.push_str(&format!("            (\"{option}\", \"{name}\", \"{kind}\", {name}),\n"));
    }
    text.push_str("        ],\n        prefix,\n        redo,\n        progress,\n    )\n");
    text
}

/// All files, by their names.
fn files() -> BTreeMap<String, String> {
    let words = || WORDS.iter().filter(|word| !NO_FUNCTIONS.contains(&word.name));
    let mut files: BTreeMap<String, String> =
        words().map(|word| (format!("{}.py", word.name), function(word))).collect();
    let mut door =
        "\"\"\"A function for each word of the program, generated from its options.\"\"\"\n\n"
            .to_string();
    let mut names: Vec<&str> = words().map(|word| word.name).collect();
    names.sort_unstable();
    for name in &names {
        door.push_str(&format!("from .{name} import {name}\n"));
    }
    door.push_str("\n__all__ = [\n");
    for name in &names {
        door.push_str(&format!("    \"{name}\",\n"));
    }
    door.push_str("]\n");
    files.insert("__init__.py".to_string(), door);
    files
}

#[test]
fn the_functions_of_the_python_package_are_the_words_of_the_program() {
    let folder = repository("src/python/mlsearch/words");
    let expected = files();
    if std::env::var_os("MLSEARCH_WRITE_WORDS").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        for (name, text) in &expected {
            std::fs::write(folder.join(name), text).unwrap();
        }
    }
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "py") {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            found.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
    let names = |files: &BTreeMap<String, String>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(&expected));
    for (name, text) in &expected {
        assert!(
            found[name] == *text,
            "words/{name} is not what the options say; see the head of this test"
        );
    }
}
