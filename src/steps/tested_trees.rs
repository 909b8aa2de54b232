//! Tests of evaluated trees: computed, printed, reported and written.

use super::outcome::{Outcome, best_of};
use crate::alignment::Patterns;
use crate::error::Result;
use crate::output::{OutputKind, TestedTree, TopologyTestsReport, VerdictReport, table};
use crate::plan::Plan;
use crate::runtime::{Session, with_threads};
use crate::topology_tests::{SiteLikelihoods, TopologyTest, Verdict, test_topologies};
use crate::tree::{Tree, first_of_topology};

/// Tests of the evaluated trees.
pub(crate) const TOPOLOGY_TESTS: OutputKind =
    OutputKind::new(19, "topologyTests", "the tests of the evaluated trees");

/// Most trees that the terminal shows.
const MAX_ROWS: usize = 30;

/// The file of the tests.
pub(crate) fn outputs(plan: &Plan) -> Option<OutputKind> {
    (!plan.tests.kinds.is_empty()).then_some(TOPOLOGY_TESTS)
}

/// Which of several trees have the same topology, and are tested as one.
#[derive(Debug)]
pub(crate) struct Topologies {
    /// `[tree]`: the first tree with its topology.
    first: Vec<usize>,
}

impl Topologies {
    /// Those of trees over the same taxa.
    pub(crate) fn of(trees: &[&Tree]) -> Self {
        Topologies { first: first_of_topology(trees) }
    }

    /// Every tree is tested by itself.
    pub(crate) fn all_different(num_trees: usize) -> Self {
        Topologies { first: (0..num_trees).collect() }
    }

    /// Number of trees that are tested.
    pub(crate) fn count(&self) -> usize {
        self.first.len() - self.duplicates().count()
    }

    /// Trees whose topology is that of an earlier one, with the first of these.
    pub(crate) fn duplicates(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.first.iter().copied().enumerate().filter(|(tree, first)| tree != first)
    }

    /// `[tree]`: the tree that is tested in its place, the one with the highest log-likelihood of those with its
    /// topology; itself for most.
    fn representatives(&self, lnls: &[f64]) -> Vec<usize> {
        let mut best = self.first.clone();
        for (tree, &first) in self.first.iter().enumerate() {
            if lnls[tree] > lnls[best[first]] {
                best[first] = tree;
            }
        }
        self.first.iter().map(|&first| best[first]).collect()
    }
}

/// Tests the trees, prints and reports the results, and writes them as a table.
///
/// # Errors
/// A file that cannot be written.
pub(crate) fn deliver_tests(
    session: &mut Session,
    outcomes: &[Outcome],
    topologies: &Topologies,
) -> Result<()> {
    session.stage("tests of the trees");
    let plan = session.setup.plan;
    let tests = plan.tests.kinds.as_slice();
    let lnls: Vec<f64> = outcomes.iter().map(|outcome| outcome.lnl).collect();
    let represented = topologies.representatives(&lnls);
    let mut tested = represented.clone();
    tested.sort_unstable();
    tested.dedup();
    let patterns: Vec<&Patterns> =
        session.setup.loaded.partitions.iter().map(|partition| &partition.patterns).collect();
    let of_trees: Vec<&[Vec<f64>]> =
        tested.iter().filter_map(|&tree| outcomes[tree].pattern_lnls.as_deref()).collect();
    let data = SiteLikelihoods::new(&patterns, &of_trees);
    let replicates = plan.tests.replicates;
    let verdicts = with_threads(plan, || test_topologies(&data, tests, replicates, plan.seed));
    let best = best_of(outcomes);
    let highest = lnls[best];
    let rows: Vec<Row> = (0..outcomes.len())
        .map(|tree| {
            let representative = represented[tree];
            let place = tested.partition_point(|&other| other < representative);
            Row {
                tree,
                source: &outcomes[tree].source,
                lnl: lnls[tree],
                delta: highest - lnls[tree],
                delta_error: standard_error(&patterns, &outcomes[best], &outcomes[tree]),
                tested_as: (representative != tree).then_some(representative),
                verdicts: verdicts.iter().map(|of_test| of_test[place]).collect(),
            }
        })
        .collect();
    let text = describe(tests, replicates, &rows);
    let file = write_table(tests, &rows);
    session.record.report.topology_tests = Some(TopologyTestsReport {
        replicates,
        trees: rows.iter().map(|row| row.report(tests)).collect(),
    });
    session.record.progress.result(&text);
    session.record.write(TOPOLOGY_TESTS, &file)
}

/// Standard error of the difference between the log-likelihoods of two trees, by that between their differences at the sites
/// (Kishino & Hasegawa 1989).
fn standard_error(patterns: &[&Patterns], best: &Outcome, other: &Outcome) -> Option<f64> {
    let (best, other) = (best.pattern_lnls.as_deref()?, other.pattern_lnls.as_deref()?);
    let (mut number, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for ((patterns, best), other) in patterns.iter().zip(best).zip(other) {
        for ((&weight, a), b) in patterns.weights.iter().zip(best).zip(other) {
            let (weight, difference) = (f64::from(weight), a - b);
            number += weight;
            sum += weight * difference;
            squares += weight * difference * difference;
        }
    }
    let variance = (squares - sum * sum / number) * number / (number - 1.0);
    (number > 1.0).then(|| variance.max(0.0).sqrt())
}

/// One tree and what the tests say of it; trees are counted from 0.
struct Row<'a> {
    tree: usize,
    source: &'a str,
    lnl: f64,
    delta: f64,
    delta_error: Option<f64>,
    tested_as: Option<usize>,
    verdicts: Vec<Verdict>,
}

impl Row<'_> {
    fn report(&self, tests: &[TopologyTest]) -> TestedTree {
        let report = |verdict: &Verdict| VerdictReport {
            value: verdict.value,
            in_confidence_set: verdict.is_in_set,
            standard_error: verdict.standard_error,
        };
        TestedTree {
            tree: self.tree + 1,
            delta: self.delta,
            delta_standard_error: self.delta_error,
            tested_as: self.tested_as.map(|tree| tree + 1),
            tests: tests
                .iter()
                .map(|test| test.name())
                .zip(self.verdicts.iter().map(report))
                .collect(),
        }
    }
}

/// The table for the terminal.
fn describe(tests: &[TopologyTest], replicates: usize, rows: &[Row]) -> String {
    let mut header = vec!["tree", "lnL", "delta"];
    header.extend(tests.iter().map(|test| test.title()));
    let cell = |verdict: &Verdict| {
        let mark = if verdict.is_in_set { '+' } else { '-' };
        format!("{} {mark}", short(verdict.value))
    };
    let has_duplicates = rows.iter().any(|row| row.tested_as.is_some());
    if has_duplicates {
        header.push("");
    }
    let line = |row: &Row| {
        let mut cells = vec![
            (row.tree + 1).to_string(),
            format!("{:.4}", row.lnl),
            format!("{:.4}", row.delta),
        ];
        cells.extend(row.verdicts.iter().map(cell));
        cells.extend(row.tested_as.map(|tree| format!("= tree {}", tree + 1)));
        cells
    };
    let shown: Vec<Vec<String>> = rows.iter().take(MAX_ROWS).map(line).collect();
    let mut text = format!(
        "Tests of the trees, {replicates} RELL replicates (+: in the 95 % confidence set, -: not in it)\n{}",
        table(&header, &shown)
    );
    if rows.len() > MAX_ROWS {
        let more = rows.len() - MAX_ROWS;
        text.push_str(&format!("  ... and {more} more trees, in the table of the tests\n"));
    }
    text
}

/// Four decimals, or two digits of a smaller number.
fn short(value: f64) -> String {
    if value == 0.0 || value >= 0.001 { format!("{value:.4}") } else { format!("{value:.1e}") }
}

/// The file: values separated by tabulators, a line per tree.
fn write_table(tests: &[TopologyTest], rows: &[Row]) -> String {
    let mut text = "tree\tsource\tlnL\tdelta\ttested_as".to_string();
    for test in tests {
        text.push_str(&format!("\t{0}\t{0}_set", test.name()));
    }
    text.push('\n');
    for row in rows {
        let (number, tested_as) = (row.tree + 1, row.tested_as.unwrap_or(row.tree) + 1);
        let Row { source, lnl, delta, .. } = row;
        text.push_str(&format!("{number}\t{source}\t{lnl:.6}\t{delta:.6}\t{tested_as}"));
        for verdict in &row.verdicts {
            text.push_str(&format!("\t{}\t{}", verdict.value, u8::from(verdict.is_in_set)));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_better_of_equal_topologies_is_tested() {
        let topologies = Topologies { first: vec![0, 1, 0, 3, 1, 0] };
        assert_eq!(topologies.count(), 3);
        assert_eq!(topologies.duplicates().collect::<Vec<_>>(), [(2, 0), (4, 1), (5, 0)]);
        let lnls = [-10.0, -8.0, -9.0, -7.0, -8.0, -9.5];
        assert_eq!(topologies.representatives(&lnls), [2, 1, 2, 3, 1, 2]);
        assert_eq!(Topologies::all_different(3).count(), 3);
    }

    #[test]
    fn tables_mark_the_confidence_set_and_trees_tested_as_others() {
        let verdict = |value, is_in_set| Verdict { value, is_in_set, standard_error: None };
        let row = |tree, lnl: f64, tested_as, verdicts| Row {
            tree,
            source: "t",
            lnl,
            delta: -10.0 - lnl,
            delta_error: None,
            tested_as,
            verdicts,
        };
        let tests = [TopologyTest::Elw, TopologyTest::Au];
        let rows = [
            row(0, -10.0, None, vec![verdict(0.99, true), verdict(0.95, true)]),
            row(1, -12.5, None, vec![verdict(0.01, false), verdict(0.00032, false)]),
            row(2, -10.5, Some(0), vec![verdict(0.99, true), verdict(0.95, true)]),
        ];
        assert_eq!(
            describe(&tests, 1000, &rows),
            "Tests of the trees, 1000 RELL replicates (+: in the 95 % confidence set, -: not in it)\n\
             \x20 tree       lnL   delta  c-ELW     p-AU\n\
             \x20    1  -10.0000  0.0000  0.9900 +  0.9500 +\n\
             \x20    2  -12.5000  2.5000  0.0100 -  3.2e-4 -\n\
             \x20    3  -10.5000  0.5000  0.9900 +  0.9500 +  = tree 1\n"
        );
        assert_eq!(
            write_table(&tests, &rows),
            "tree\tsource\tlnL\tdelta\ttested_as\telw\telw_set\tau\tau_set\n\
             1\tt\t-10.000000\t0.000000\t1\t0.99\t1\t0.95\t1\n\
             2\tt\t-12.500000\t2.500000\t2\t0.01\t0\t0.00032\t0\n\
             3\tt\t-10.500000\t0.500000\t1\t0.99\t1\t0.95\t1\n"
        );
    }
}
