//! An analysis is a folder in `commands` and a line in the table of words. This one has an option, an output file and a section of
//! the report, which nothing else knows.

use super::help::page;
use crate::commands::{Analysis, Command, Word};
use crate::error::Result;
use crate::output::{OutputKind, Section};
use crate::plan::{DataOptions, Facts, OutputArgs, Plan, Reading, RunArgs};
use crate::run::execute;
use crate::runtime::RunRecord;
use clap::{ArgMatches, Args, FromArgMatches};

const TOY_FILE: OutputKind = OutputKind::new(999, "toy", "what the toy says");

const TOY_SECTION: Section<Vec<String>> = Section::new("toy");

const TOY: Word = Word {
    name: "toy",
    about: "says something",
    usage: "--says <TEXT>",
    outputs: &[TOY_FILE],
    sections: &[TOY_SECTION.schema()],
    args: ToyArgs::augment_args,
    read,
    ..Word::BLANK
};

#[derive(Debug, Clone, Args)]
struct ToyArgs {
    /// What it says
    #[arg(long, value_name = "TEXT")]
    says: String,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    run: RunArgs,
}

fn read(matches: &ArgMatches, reading: &mut Reading) -> clap::error::Result<Analysis> {
    let args = ToyArgs::from_arg_matches(matches)?;
    let plan = reading.plan(DataOptions::default(), &args.run, &args.output, None);
    Ok(Analysis::new(&TOY, plan, Box::new(Toy(args.says))))
}

#[derive(Debug)]
struct Toy(String);

impl Command for Toy {
    fn facts(&self, _: &Plan) -> Facts {
        Facts { task: "toy".into(), outputs: vec![TOY_FILE], ..Facts::default() }
    }

    fn run(&self, _: &Plan, record: &mut RunRecord) -> Result<()> {
        record.report.write_section(&TOY_SECTION, &vec![self.0.clone()]);
        record.write(TOY_FILE, &self.0)
    }
}

#[test]
fn an_analysis_brings_its_help_its_file_and_its_section_of_the_report() {
    assert!(page(Some(&TOY), false).contains("      --says TEXT             What it says\n"));
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().join("x");
    let words = ["toy", "--says", "hello", "--quiet", "--prefix", prefix.to_str().unwrap()];
    let matches = TOY.command().try_get_matches_from(words).unwrap();
    let mut reading = Reading::default();
    execute(&read(&matches, &mut reading).unwrap()).unwrap();
    assert!(reading.refusals.0.is_empty());
    let written =
        |suffix: &str| std::fs::read_to_string(format!("{}.mlsearch.{suffix}", prefix.display()));
    assert_eq!(written("toy").unwrap(), "hello");
    assert!(written("json").unwrap().contains("\n  \"toy\": [\n    \"hello\"\n  ],\n"));
    assert!(written("log").unwrap().contains("toy"));
}
