//! [`TestArgs`]: which tests of topologies.

use crate::plan::{Refusals, TestOptions, parse_count};
use crate::topology_tests::{DEFAULT_RELL_REPLICATES, TopologyTest};
use clap::Args;

const TESTS: &str = "Tests of trees";

/// Tests of the topologies of the trees that are evaluated.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TestArgs {
    /// Tests of topologies: au,sh,kh,elw ... or all
    ///
    /// au, sh, kh, wsh, wkh, elw, bp, separated by commas.
    #[arg(long, value_name = "TESTS", value_delimiter = ',', help_heading = TESTS)]
    pub tests: Vec<String>,
    /// Number of RELL replicates [default: 10000]
    ///
    /// Of each of the ten sizes for au.
    #[arg(long, value_name = "N", help_heading = TESTS)]
    pub rell: Option<String>,
}

impl TestArgs {
    /// The tests, in the order in which they are shown, and the number of their replicates.
    pub(crate) fn read(&self, refusals: &mut Refusals) -> TestOptions {
        let mut kinds = Vec::new();
        for name in &self.tests {
            kinds.extend(refusals.or(parse_tests(name), Vec::new()));
        }
        kinds.sort_unstable();
        kinds.dedup();
        if self.rell.is_some() && self.tests.is_empty() {
            refusals.add("--rell applies only to --tests");
        }
        let replicates = self.rell.as_deref().map(|text| parse_count("--rell", text));
        let replicates = replicates.map(|count| refusals.or(count, DEFAULT_RELL_REPLICATES));
        TestOptions { kinds, replicates: replicates.unwrap_or(DEFAULT_RELL_REPLICATES) }
    }
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
