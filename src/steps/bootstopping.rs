//! Tests of whether there are enough replicates: told while replicates are made, and in the results.

use crate::bootstrap::{
    Bootstop, BootstopCriterion, BootstopTest, BootstopTrees, LEAST_CORRELATION, STEP,
};
use crate::observer::{Event, Observer};
use crate::output::{BootstopTestReport, BootstoppingReport};
use crate::plan::Plan;
use crate::runtime::{RunRecord, with_threads};
use crate::tree::Split;

/// The tests of a run.
pub(crate) struct Bootstopping<'a> {
    plan: &'a Plan,
    rule: Bootstop,
    trees: BootstopTrees,
    tests: Vec<BootstopTest>,
}

impl<'a> Bootstopping<'a> {
    /// Those of a plan with a rule, on trees of so many tips.
    pub(crate) fn of_plan(plan: &'a Plan, num_tips: usize) -> Option<Self> {
        let rule = plan.bootstrap.bootstop?;
        Some(Bootstopping { plan, rule, trees: BootstopTrees::new(num_tips), tests: Vec::new() })
    }

    /// More replicates are there, of which these are the splits. They are tested if they are a whole step. True if there
    /// are enough.
    pub(crate) fn add(
        &mut self,
        splits: impl ExactSizeIterator<Item = Vec<Split>>,
        record: &mut RunRecord,
    ) -> bool {
        let is_step = splits.len() == STEP;
        splits.for_each(|splits| self.trees.push(splits));
        if !is_step {
            return false;
        }
        let (trees, rule, seed) = (&self.trees, &self.rule, self.plan.bootstrap.seed);
        let test = with_threads(self.plan, || trees.test(rule, seed));
        record.progress.text(&format!(
            "after {} replicates: {}",
            test.replicates,
            describe(&self.rule, &test)
        ));
        self.tests.push(test);
        test.is_enough
    }

    /// Prints the last test, and returns all of them for the report. A warning tells if there are not enough replicates.
    pub(crate) fn deliver(self, record: &mut RunRecord) -> BootstoppingReport {
        let Bootstopping { rule, tests, trees, .. } = self;
        let converged = tests.last().is_some_and(|test| test.is_enough);
        let name = rule.criterion.name();
        if let Some(test) = tests.last() {
            let enough = if converged { "enough" } else { "not enough" };
            record.progress.result(&format!(
                "Bootstopping by {name}: {} replicates are {enough}; {}\n",
                test.replicates,
                describe(&rule, test)
            ));
        }
        if !converged {
            let (tested, all) = (tests.last().map_or(0, |test| test.replicates), trees.num_trees());
            let untested = all - tested;
            record.progress.event(&Event::Warning(match (tested, untested) {
                (0, _) => format!("{name}: with fewer than {STEP} replicates it is not known if they are enough; make {STEP} or more"),
                (_, 0) => format!("{name}: {all} replicates are not enough for stable support values; make more of them"),
                _ => format!(
                    "{name}: {tested} replicates are not enough for stable support values, and whether all {all} are is not known, because \
                     steps of {STEP} are tested; make {} or more", tested + STEP
                ),
            }));
        }
        let report = |test: &BootstopTest| BootstopTestReport {
            replicates: test.replicates,
            mean: test.mean,
            agreeing: test.agreeing,
        };
        BootstoppingReport {
            rule: name,
            cutoff: match rule.criterion {
                BootstopCriterion::Frequencies => LEAST_CORRELATION,
                _ => rule.cutoff,
            },
            halvings: rule.halvings,
            converged,
            tests: tests.iter().map(report).collect(),
        }
    }
}

/// The values of a test.
fn describe(rule: &Bootstop, test: &BootstopTest) -> String {
    let (agreeing, halvings) = (test.agreeing, rule.halvings);
    match rule.criterion {
        BootstopCriterion::Frequencies => format!(
            "mean correlation of halves {:.4}, at least {LEAST_CORRELATION} in {agreeing} of {halvings} halvings",
            test.mean
        ),
        _ => format!(
            "mean distance of halves {:.2} %, at most {} % in {agreeing} of {halvings} halvings",
            100.0 * test.mean,
            100.0 * rule.cutoff
        ),
    }
}
