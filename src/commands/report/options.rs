//! The options of `report`.

use super::run::PageOfRun;
use crate::commands::{Analysis, Group, Word, guide};
use crate::output::JSON;
use crate::plan::{DataOptions, OutputArgs, Reading, RunArgs};
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::{Path, PathBuf};

/// The word.
pub(crate) const WORD: Word = Word {
    name: "report",
    group: Group::Tools,
    about: "the page of a finished run, from its JSON file",
    usage: "<RESULT.json>",
    guide: guide!("report"),
    value: Some("result"),
    has_own_options: true,
    args: ReportArgs::augment_args,
    read,
    ..Word::BLANK
};

/// The options of `report`.
#[derive(Debug, Clone, Args)]
struct ReportArgs {
    /// The JSON file of a run; also right after the word
    #[arg(long, value_name = "FILE")]
    result: Option<PathBuf>,
    /// The page is NAME.mlsearch.html [default: as the JSON file]
    #[arg(short = 'n', value_name = "NAME")]
    name: Option<String>,
    /// The page is PATH.mlsearch.html
    #[arg(long, value_name = "PATH")]
    prefix: Option<PathBuf>,
    /// Folder of the page [default: that of the JSON file]
    #[arg(short = 'w', long, value_name = "DIR")]
    out_dir: Option<PathBuf>,
    /// Replace the page if there is one
    #[arg(long)]
    redo: bool,
}

fn read(matches: &ArgMatches, reading: &mut Reading) -> clap::error::Result<Analysis> {
    let args = ReportArgs::from_arg_matches(matches)?;
    let result = args.result.unwrap_or_else(|| {
        reading.refusals.add("no result: give the JSON file of a run, PREFIX.mlsearch.json");
        PathBuf::new()
    });
    let output = OutputArgs {
        name: args.name,
        prefix: args.prefix,
        out_dir: args.out_dir,
        redo: args.redo,
        ..OutputArgs::default()
    };
    let run = RunArgs { threads: Some("1".into()), ..RunArgs::default() };
    let prefix = prefix_of(&result);
    let plan = reading.plan(DataOptions::default(), &run, &output, Some(&prefix));
    Ok(Analysis::new(&WORD, plan, Box::new(PageOfRun { result })))
}

/// What the names of a run begin with: `run1` of `run1.mlsearch.json`.
fn prefix_of(result: &Path) -> PathBuf {
    let text = result.to_string_lossy();
    let suffix = format!(".mlsearch.{}", JSON.suffix());
    let known = text.strip_suffix(&suffix).or_else(|| text.strip_suffix(".json"));
    PathBuf::from(known.filter(|prefix| !prefix.is_empty()).unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_named_like_the_result() {
        let prefix = |name: &str| prefix_of(Path::new(name)).display().to_string();
        assert_eq!(prefix("a/run1.mlsearch.json"), "a/run1");
        assert_eq!([prefix("x.json"), prefix("x"), prefix(".json")], ["x", "x", ".json"]);
    }
}
