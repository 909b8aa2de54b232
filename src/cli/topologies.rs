//! `--tests`: which tests of topologies, by their names or by RAxML's letters.

use super::args::Args;
use super::values::parse_count;
use super::verb::{Faults, Verb};
use crate::plan::{DEFAULT_RELL_REPLICATES, TestOptions, TopologyTest};

/// The tests that were asked for, in the order in which they are shown, and the number of their replicates.
pub(super) fn resolve_tests(
    args: &Args,
    verb: Verb,
    faults: &mut Faults,
    notes: &mut Vec<String>,
) -> TestOptions {
    let mut kinds = Vec::new();
    for name in &args.tests {
        kinds.extend(faults.or(parse_tests(name), Vec::new()));
    }
    match args.algorithm.as_deref() {
        Some("h" | "H") => kinds.push(TopologyTest::Sh),
        Some("w" | "W") => kinds.push(TopologyTest::Elw),
        _ => {}
    }
    if let Some(letter @ ("h" | "w")) = args.algorithm.as_deref() {
        notes.push(format!(
            "-f {letter}: the model is estimated on each tree, as by RAxML's -f {}; --opt-model off with a bestModel \
             file keeps one",
            letter.to_uppercase()
        ));
    }
    kinds.sort_unstable();
    kinds.dedup();
    if !args.tests.is_empty() && verb != Verb::Evaluate {
        faults
            .add("--tests applies only to given trees (--evaluate): leave the other analysis out");
    }
    if args.rell.is_some() && kinds.is_empty() && args.tests.is_empty() {
        faults.add("--rell applies only to --tests");
    }
    let replicates = args.rell.as_deref().map(|text| parse_count("--rell", text));
    let replicates = replicates.map(|count| faults.or(count, DEFAULT_RELL_REPLICATES));
    TestOptions { kinds, replicates: replicates.unwrap_or(DEFAULT_RELL_REPLICATES) }
}

/// The tests of one name.
fn parse_tests(name: &str) -> Result<Vec<TopologyTest>, String> {
    let lower = name.to_ascii_lowercase();
    if lower == "all" {
        return Ok(TopologyTest::ALL.to_vec());
    }
    let found = TopologyTest::ALL.into_iter().find(|test| test.name() == lower);
    found.map(|test| vec![test]).ok_or_else(|| {
        let names: Vec<&str> = TopologyTest::ALL.iter().map(|test| test.name()).collect();
        format!(
            "--tests {name}: expected some of {}, separated by commas, or all",
            names.join(", ")
        )
    })
}
