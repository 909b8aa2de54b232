//! `--rfdist`: distances between all trees of a file, or between those of two files.

use super::report::{DistanceReport, MetricReport, SECTION};
use crate::commands::Command;
use crate::dataset::{Lengths, read_forest, read_more};
use crate::error::{Error, Place, Result};
use crate::output::OutputKind;
use crate::plan::{Facts, Plan};
use crate::runtime::interrupt::{go_on, must_end};
use crate::runtime::{RunRecord, thread_pool};
use crate::stop::Stop;
use crate::tree::Multifurcating;
use crate::tree_distance::{Comparison, TreeMetric};
use rayon::ThreadPool;
use std::io::Write;
use std::path::PathBuf;

/// Distances between trees.
pub(crate) const RF_DISTANCES: OutputKind =
    OutputKind::new(11, "rfDistances", "distances between pairs of trees");

/// Number of trees whose distances from the others are in memory at the same time.
const TREES_AT_ONCE: usize = 64;

/// Distances between trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Compare {
    /// The file of trees.
    pub trees: PathBuf,
    /// The file whose trees are compared with each of the others; without it, all are compared with all.
    pub reference: Option<PathBuf>,
    /// Which distances, in the order in which they are shown; at least one.
    pub metrics: Vec<TreeMetric>,
}

impl Command for Compare {
    fn facts(&self, _: &Plan) -> Facts {
        Facts {
            task: "distances between trees".into(),
            inputs: [&self.trees].into_iter().chain(&self.reference).cloned().collect(),
            outputs: vec![RF_DISTANCES],
            ..Facts::default()
        }
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        compare(plan, self, record)
    }
}

/// Writes a line per pair of trees, counted from 0 as RAxML-NG does: the numbers of the two, then the distances,
/// with the relative ones of those that have a largest value.
///
/// # Errors
/// Unreadable trees, trees over other taxa than the first, and trees without the lengths that a distance needs.
fn compare(plan: &Plan, options: &Compare, record: &mut RunRecord) -> Result<()> {
    let needed = options.metrics.iter().any(|metric| metric.needs_lengths());
    let lengths = if needed { Lengths::Needed } else { Lengths::Ignored };
    let (taxa, trees, num_references) = match &options.reference {
        Some(reference) => {
            let (taxa, mut trees) = read_forest(reference, lengths)?;
            let num_references = trees.len();
            trees.extend(read_more(
                &options.trees,
                &taxa,
                &reference.display().to_string(),
                lengths,
            )?);
            (taxa, trees, Some(num_references))
        }
        None => {
            let (taxa, trees) = read_forest(&options.trees, lengths)?;
            (taxa, trees, None)
        }
    };
    check_size(options, &trees)?;
    let comparison = Comparison::new(&trees);
    let stop = plan.run.stop;
    let pairs = Pairs { comparison: &comparison, num_references, stop };
    let pool = thread_pool(plan);
    let mut tally = Tally::new(&options.metrics);
    let written = record.write_from(RF_DISTANCES, |file| {
        if options.metrics != [TreeMetric::RobinsonFoulds] {
            writeln!(file, "{}", heading(&options.metrics))?;
        }
        pairs.write(&pool, &options.metrics, &mut tally, file)
    });
    go_on(stop).and(written)?;
    let found = tally.report(&comparison, num_references);
    let mut text = match num_references {
        None => format!(
            "{} taxa, {} trees, {} distinct topologies\n",
            taxa.len(),
            found.trees,
            found.topologies
        ),
        Some(references) => format!(
            "{} taxa, {references} {} compared with {} others\n",
            taxa.len(),
            if references == 1 { "tree" } else { "trees" },
            found.trees - references
        ),
    };
    for (metric, one) in options.metrics.iter().zip(&found.metrics) {
        text.push_str(&format!("mean {} {:.4}", metric.description(), one.mean));
        let relative = one.mean_relative.map(|mean| format!(", relative {mean:.6}"));
        text.push_str(&format!("{}\n", relative.unwrap_or_default()));
    }
    record.progress.result(&text);
    record.report.write_section(&SECTION, &found);
    Ok(())
}

/// Refuses quartets of more taxa than can be counted.
fn check_size(options: &Compare, trees: &[Multifurcating]) -> Result<()> {
    const MOST: usize = 30_000;
    let num_taxa = trees.first().map_or(0, |tree| tree.tips().len());
    if options.metrics.contains(&TreeMetric::Quartet) && num_taxa > MOST {
        let place = Place::file(options.trees.display().to_string());
        let message =
            format!("the trees have {num_taxa} taxa: quartets can be counted for at most {MOST}");
        return Err(Error::input(place, message));
    }
    Ok(())
}

/// The names of the columns.
fn heading(metrics: &[TreeMetric]) -> String {
    let mut names = vec!["tree1".to_string(), "tree2".to_string()];
    for metric in metrics {
        names.push(metric.name().into());
        if metric.most(4).is_some() {
            names.push(format!("relative_{}", metric.name()));
        }
    }
    names.join("\t")
}

/// The pairs of trees that are compared.
struct Pairs<'a> {
    comparison: &'a Comparison<'a>,
    /// If there are two files: number of trees of the first.
    num_references: Option<usize>,
    /// Whether the run is to end.
    stop: Stop,
}

impl Pairs<'_> {
    /// Writes the lines of all pairs, some rows at a time.
    fn write(
        &self,
        pool: &ThreadPool,
        metrics: &[TreeMetric],
        tally: &mut Tally,
        file: &mut dyn Write,
    ) -> std::io::Result<()> {
        let (num_trees, num_tips) = (self.comparison.num_trees(), self.comparison.num_tips());
        let last = self.num_references.unwrap_or(num_trees);
        let others = self.num_references.map(|number| number..num_trees);
        for start in (0..last).step_by(TREES_AT_ONCE) {
            if must_end(self.stop) {
                return Err(std::io::ErrorKind::Interrupted.into());
            }
            let trees = start..last.min(start + TREES_AT_ONCE);
            let rows =
                |&metric: &TreeMetric| self.comparison.rows(metric, trees.clone(), others.clone());
            let by_metric: Vec<Vec<Vec<f64>>> = pool.install(|| metrics.iter().map(rows).collect());
            for (at, tree) in trees.clone().enumerate() {
                // Trees of a second file are numbered on their own.
                let before = if self.num_references.is_some() { 0 } else { tree + 1 };
                for other in 0..by_metric[0][at].len() {
                    write!(file, "{tree}\t{}", before + other)?;
                    for (column, (metric, rows)) in metrics.iter().zip(&by_metric).enumerate() {
                        let distance = rows[at][other];
                        tally.sums[column] += distance;
                        write!(file, "\t{distance}")?;
                        if let Some(relative) = metric.relative(distance, num_tips) {
                            write!(file, "\t{relative:.6}")?;
                        }
                    }
                    tally.pairs += 1;
                    writeln!(file)?;
                }
            }
        }
        Ok(())
    }
}

/// Sums over all pairs.
struct Tally<'a> {
    metrics: &'a [TreeMetric],
    pairs: usize,
    /// By metric.
    sums: Vec<f64>,
}

impl<'a> Tally<'a> {
    fn new(metrics: &'a [TreeMetric]) -> Self {
        Tally { metrics, pairs: 0, sums: vec![0.0; metrics.len()] }
    }

    fn report(&self, comparison: &Comparison, references: Option<usize>) -> DistanceReport {
        let of = |(&metric, sum): (&TreeMetric, &f64)| {
            let mean = sum / self.pairs.max(1) as f64;
            let mean_relative = metric.relative(mean, comparison.num_tips());
            MetricReport { metric: metric.name(), mean, mean_relative }
        };
        let metrics: Vec<MetricReport> = self.metrics.iter().zip(&self.sums).map(of).collect();
        let rf = metrics.iter().find(|one| one.metric == TreeMetric::RobinsonFoulds.name());
        DistanceReport {
            trees: comparison.num_trees(),
            topologies: comparison.num_topologies(),
            references,
            mean_absolute: rf.map(|rf| rf.mean),
            mean_relative: rf.and_then(|rf| rf.mean_relative),
            metrics,
        }
    }
}
