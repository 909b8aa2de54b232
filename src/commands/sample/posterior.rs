//! Samples from a posterior distribution: how well the runs agree, and what they say, as files, report and text.

use super::plots::{draw_asdsf, draw_splits, draw_traces};
use super::report::{
    AcceptanceReport, CredibleReport, DiagnosisReport, MarginalReport, ParameterReport, SECTION,
    SamplingReport, SplitReport, TraceReport,
};
use crate::dataset::list_names;
use crate::error::Result;
use crate::model::Model;
use crate::observer::{Event, Observer};
use crate::output::{Growing, OutputKind, table};
use crate::runtime::{RunRecord, Setup};
use crate::sampler::{
    Parameter, Posterior, Sample, SamplingPlan, SplitSummary, columns, effective_sample_size,
    potential_scale_reduction,
};

/// The consensus of the sampled trees.
pub(crate) const POSTERIOR_TREE: OutputKind = OutputKind::new(
    25,
    "posteriorTree",
    "the consensus of the sampled trees with posterior probabilities",
)
.of_trees("posterior");

/// The splits of the sampled trees.
pub(crate) const POSTERIOR_SPLITS: OutputKind =
    OutputKind::new(26, "posteriorSplits", "the splits of the sampled trees");

/// The sampled tree with the highest posterior density.
pub(crate) const MAP_TREE: OutputKind =
    OutputKind::new(27, "mapTree", "the sampled tree with the highest posterior density")
        .of_trees("support");

/// Sampled parameters, one file for each run.
pub(crate) const SAMPLED_PARAMETERS: OutputKind =
    OutputKind::new(28, "runN.p", "the samples of run N: log-likelihood and parameters").numbered();

/// Sampled trees, one file for each run.
pub(crate) const SAMPLED_TREES: OutputKind =
    OutputKind::new(29, "runN.trees", "the sampled trees of run N").numbered();

/// Plot of the sampled parameters.
pub(crate) const TRACE_PLOT: OutputKind =
    OutputKind::new(30, "trace.svg", "the samples of all runs, drawn");

/// Plot of the frequencies of splits in different runs.
pub(crate) const SPLIT_PLOT: OutputKind =
    OutputKind::new(31, "splits.svg", "the frequencies of splits in run 1 and the others, drawn");

/// Plot of the agreement of runs.
pub(crate) const ASDSF_PLOT: OutputKind =
    OutputKind::new(32, "asdsf.svg", "the agreement of the runs over the generations, drawn");

/// Above this average standard deviation of split frequencies, runs have not converged (MrBayes' manual).
const GOOD_ASDSF: f64 = 0.01;
/// Below this effective sample size, means and intervals are rough.
const GOOD_ESS: f64 = 200.0;
/// Above this potential scale reduction factor, runs differ in a parameter.
const GOOD_PSRF: f64 = 1.02;
/// Swaps between chains should be accepted this often.
const GOOD_SWAPS: f64 = 0.1;
/// Above this difference of the logarithms of marginal likelihoods, runs do not agree on them.
const GOOD_MARGINALS: f64 = 1.0;
/// Most splits that are shown.
const MAX_SHOWN: usize = 30;

/// All samples so far.
pub(crate) struct Sampled<'a> {
    sampling: &'a SamplingPlan,
    /// Names of all columns after that of the generation.
    names: Vec<String>,
    /// Of each of them after the log prior density, its place in [`Sample::values`].
    order: Vec<usize>,
    /// `[run][column][sample]`.
    columns: Vec<Vec<Vec<f64>>>,
    /// `[run][sample]`.
    generations: Vec<Vec<u64>>,
    newicks: Vec<Vec<String>>,
    posterior: Posterior,
    /// Number of samples of each run that are in its files.
    num_shown: usize,
    /// Generation and average standard deviation of split frequencies, of every comparison.
    asdsf: Vec<[f64; 2]>,
    /// The rule to stop was reached.
    pub is_stopped: bool,
}

/// How well the chains of a run moved and swapped, since the end of the adaptation.
pub(crate) struct Mixing {
    /// Of each kind of proposal in the cold chain: its name, and how many were proposed and accepted.
    pub acceptance: Vec<(String, [u64; 2])>,
    /// Of each pair of neighbouring temperatures, the colder one first: swaps that were proposed and accepted.
    pub swaps: Vec<[u64; 2]>,
    /// The temperature of the heating.
    pub temperature: f64,
}

/// How well runs agree so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Diagnosis {
    /// Average standard deviation of the frequencies of splits; `None` of a single run.
    pub asdsf: Option<f64>,
    /// Least effective sample size of the log-likelihood and the parameters.
    pub ess: Option<f64>,
    split_ess: Option<f64>,
    tree_ess: Option<f64>,
    psrf: Option<f64>,
}

impl Diagnosis {
    /// In words.
    pub(crate) fn describe(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.asdsf.map(|x| format!("ASDSF of splits {x:.4}")));
        parts.extend(self.psrf.map(|x| format!("largest PSRF {x:.3}")));
        parts.extend(self.ess.map(|x| format!("least ESS {x:.0}")));
        parts.extend(self.split_ess.map(|x| format!("of splits {x:.0}")));
        parts.extend(self.tree_ess.map(|x| format!("of trees {x:.0}")));
        if parts.is_empty() { "too few samples to tell".to_string() } else { parts.join(", ") }
    }

    fn report(&self) -> DiagnosisReport {
        DiagnosisReport {
            asdsf: self.asdsf,
            least_ess: self.ess,
            least_split_ess: self.split_ess,
            tree_ess: self.tree_ess,
            largest_psrf: self.psrf,
        }
    }
}

impl<'a> Sampled<'a> {
    /// No samples yet.
    pub(crate) fn new(
        setup: &Setup,
        sampling: &'a SamplingPlan,
        parameters: &[Parameter],
        models: &[Model],
    ) -> Self {
        let own = setup.linkage.has_own_lengths();
        let found = columns(parameters, models, own, &setup.loaded.numbers_in_file());
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by_key(|&column| found[column].place);
        let names = ["LnL", "LnPr"].map(String::from).into_iter();
        let names: Vec<String> =
            names.chain(order.iter().map(|&column| found[column].name.clone())).collect();
        let num_runs = sampling.num_runs;
        Sampled {
            sampling,
            columns: vec![vec![Vec::new(); names.len()]; num_runs],
            names,
            order,
            generations: vec![Vec::new(); num_runs],
            newicks: vec![Vec::new(); num_runs],
            posterior: Posterior::new(setup.loaded.taxa.len(), num_runs),
            num_shown: 0,
            asdsf: Vec::new(),
            is_stopped: false,
        }
    }

    /// Adds the next sample of a run.
    pub(crate) fn add(&mut self, setup: &Setup, run: usize, sample: &Sample) {
        self.generations[run].push(sample.generation);
        self.newicks[run].push(setup.newick(&sample.tree, true));
        self.posterior.add(run, sample);
        let written = self.order.iter().map(|&column| sample.values[column]);
        let values = [sample.lnl, sample.ln_prior].into_iter().chain(written);
        self.columns[run].iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    }

    /// Adds the samples that are new to the files of each run, those of parameters and those of trees.
    pub(crate) fn grow(&mut self, seed: u64, files: &[[Growing; 2]]) {
        for (run, [parameters, trees]) in files.iter().enumerate() {
            let known = self.generations[run].len();
            if self.num_shown == 0 {
                parameters.add(0, self.head_of(seed, run));
            }
            for number in self.num_shown..known {
                parameters.add(number + 1, self.row_of(run, number));
                trees.add(number, self.newicks[run][number].clone());
            }
        }
        self.num_shown = self.generations[0].len();
    }

    /// Number of samples of each run that are left aside.
    fn burnin(&self) -> usize {
        self.sampling.num_burnin(self.generations[0].len())
    }

    /// The samples of a column that count, of each run.
    fn series(&self, column: usize) -> Vec<Vec<f64>> {
        let burnin = self.burnin();
        self.columns.iter().map(|columns| columns[column][burnin..].to_vec()).collect()
    }

    /// True for columns that say something about the posterior: without data there is no likelihood.
    fn counts(&self, column: usize) -> bool {
        column > 0 || !self.sampling.prior_only
    }

    /// How well the runs agree after so many generations.
    pub(crate) fn compare(&mut self, generation: u64) -> Diagnosis {
        let diagnosis = self.diagnose();
        self.asdsf.extend(diagnosis.asdsf.map(|asdsf| [generation as f64, asdsf]));
        diagnosis
    }

    /// How well the runs agree.
    fn diagnose(&self) -> Diagnosis {
        let all: Vec<Vec<Vec<f64>>> = (0..self.names.len())
            .filter(|&column| self.counts(column))
            .map(|column| self.series(column))
            .collect();
        let is_enough = all[0][0].len() >= 10;
        let ess = all.iter().map(|series| effective_sample_size(series)).min_by(f64::total_cmp);
        let psrf = all.iter().filter_map(|series| potential_scale_reduction(series));
        let burnin = self.burnin();
        Diagnosis {
            asdsf: self.posterior.asdsf(burnin).filter(|_| is_enough),
            ess: ess.filter(|_| is_enough),
            split_ess: self.posterior.least_split_ess(burnin).filter(|_| is_enough),
            tree_ess: self.posterior.tree_ess(burnin).filter(|_| is_enough),
            psrf: psrf.max_by(f64::total_cmp).filter(|_| is_enough),
        }
    }

    /// The file of a run's parameters, as Tracer and MrBayes' sump read it.
    fn table_of(&self, seed: u64, run: usize) -> String {
        let mut text = self.head_of(seed, run) + "\n";
        for number in 0..self.generations[run].len() {
            text.push_str(&self.row_of(run, number));
            text.push('\n');
        }
        text
    }

    fn head_of(&self, seed: u64, run: usize) -> String {
        format!("[ID: {seed}{:02}]\nGen\t{}", run + 1, self.names.join("\t"))
    }

    fn row_of(&self, run: usize, number: usize) -> String {
        let mut text = self.generations[run][number].to_string();
        for column in &self.columns[run] {
            text.push_str(&format!("\t{:e}", column[number]));
        }
        text
    }

    /// Run and number of the sample with the highest posterior density.
    fn best(&self) -> [usize; 2] {
        let density = |[run, number]: [usize; 2]| {
            let columns = &self.columns[run];
            columns[0][number] + columns[1][number]
        };
        let all = (0..self.columns.len())
            .flat_map(|run| (0..self.generations[run].len()).map(move |number| [run, number]));
        let first = [0, 0];
        all.fold(first, |best, one| if density(one) > density(best) { one } else { best })
    }

    fn parameters(&self) -> Vec<ParameterReport> {
        let summary = |column: usize| {
            let series = self.series(column);
            let mut values: Vec<f64> = series.concat();
            values.sort_by(f64::total_cmp);
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
            ParameterReport {
                name: self.names[column].clone(),
                mean,
                sd: (squares / (n - 1.0).max(1.0)).sqrt(),
                median: values[values.len() / 2],
                hpd95: shortest_interval(&values, 0.95),
                ess: effective_sample_size(&series),
                psrf: potential_scale_reduction(&series),
            }
        };
        (0..self.names.len()).filter(|&column| self.counts(column)).map(summary).collect()
    }

    /// The fewest topologies that have a share of the samples.
    fn credible(&self, share: f64) -> CredibleReport {
        let topologies = self.posterior.topologies(self.burnin());
        let all: usize = topologies.iter().map(|one| one.0).sum();
        let (mut sum, mut number) = (0, 0);
        for (count, _) in topologies {
            if sum as f64 >= share * all as f64 {
                break;
            }
            sum += count;
            number += 1;
        }
        CredibleReport { share, topologies: number }
    }
}

/// The shortest interval that has this share of sorted values.
fn shortest_interval(values: &[f64], share: f64) -> [f64; 2] {
    let width = ((share * values.len() as f64).ceil() as usize).clamp(1, values.len());
    let intervals = values.windows(width).map(|window| [window[0], window[width - 1]]);
    let shortest = intervals.min_by(|a, b| (a[1] - a[0]).total_cmp(&(b[1] - b[0])));
    shortest.expect("there are values")
}

/// Writes all files, the report and the summary. `mixing` is that of each run.
///
/// # Errors
/// A file that cannot be written.
pub(crate) fn deliver_posterior(
    record: &mut RunRecord,
    setup: &Setup,
    sampled: &Sampled,
    mixing: &[Mixing],
    marginal: Option<MarginalReport>,
) -> Result<()> {
    let burnin = sampled.burnin();
    for run in 0..sampled.generations.len() {
        let table = sampled.table_of(setup.plan.seed, run);
        record.write_numbered(SAMPLED_PARAMETERS, run + 1, &table)?;
        let trees = sampled.newicks[run].join("\n") + "\n";
        record.write_numbered(SAMPLED_TREES, run + 1, &trees)?;
    }
    let splits = sampled.posterior.splits(burnin);
    record.write(POSTERIOR_SPLITS, &split_table(setup, &splits))?;
    let Sampled { names, generations, columns, .. } = sampled;
    record.write(TRACE_PLOT, &draw_traces(names, generations, columns, burnin))?;
    if sampled.sampling.num_runs > 1 {
        record.write(SPLIT_PLOT, &draw_splits(&splits))?;
        record.write(ASDSF_PLOT, &draw_asdsf(&sampled.asdsf, GOOD_ASDSF))?;
    }
    let drawing = sampled.posterior.consensus(burnin).drawing_with(probability_label);
    let taxa = &setup.loaded.taxa;
    let consensus = drawing.draw(|taxon| taxa.name(taxon), None, None).newick;
    record.write(POSTERIOR_TREE, &format!("{consensus}\n"))?;
    let [run, number] = sampled.best();
    let map_tree = sampled.newicks[run][number].clone();
    record.write(MAP_TREE, &format!("{map_tree}\n"))?;
    let sampling = sampled.sampling;
    let report = SamplingReport {
        generations: sampled.generations[0].last().copied().unwrap_or(0),
        sample_every: sampling.sample_every,
        runs: sampling.num_runs,
        chains: sampling.num_chains,
        temperatures: mixing.iter().map(|run| run.temperature).collect(),
        prior_only: sampling.prior_only,
        brlen_prior: sampling.priors.brlens.describe(),
        priors: sampling.priors.describe().into_iter().collect(),
        burnin_samples: burnin,
        samples: sampled.generations[0].len() - burnin,
        stopped_by_rule: (sampling.stop.asdsf.is_some() || sampling.stop.ess.is_some())
            .then_some(sampled.is_stopped),
        agreement: sampled.diagnose().report(),
        parameters: sampled.parameters(),
        traces: traces(sampled),
        splits: splits.iter().map(|split| split_report(setup, split)).collect(),
        credible_sets: [0.5, 0.95].map(|share| sampled.credible(share)).to_vec(),
        acceptance: mixing
            .iter()
            .map(|run| run.acceptance.iter().map(acceptance_report).collect())
            .collect(),
        swap_rates: mixing.iter().map(|run| run.swaps.iter().map(rate).collect()).collect(),
        marginal_likelihood: marginal,
        consensus_tree: consensus,
        map_tree,
    };
    record.progress.result(&summary(&report));
    for warning in warnings(&report) {
        record.progress.event(&Event::Warning(warning));
    }
    record.report.write_section(&SECTION, &report);
    Ok(())
}

/// Most values of a trace in the report.
const MOST_VALUES: usize = 500;

/// Log-likelihood and tree length of all runs.
fn traces(sampled: &Sampled) -> Vec<TraceReport> {
    let mut traces = Vec::new();
    for (column, name) in sampled.names.iter().enumerate() {
        if !["LnL", "TL"].contains(&name.as_str()) {
            continue;
        }
        for (run, columns) in sampled.columns.iter().enumerate() {
            let values = &columns[column];
            let step = values.len().div_ceil(MOST_VALUES).max(1);
            traces.push(TraceReport {
                name: name.clone(),
                run: run + 1,
                generations_apart: step as u64 * sampled.sampling.sample_every,
                values: values.iter().step_by(step).copied().collect(),
            });
        }
    }
    traces
}

/// A posterior probability, from a support in percent.
fn probability_label(percent: f64) -> String {
    format!("{:.4}", percent / 100.0)
}

fn rate([proposed, accepted]: &[u64; 2]) -> Option<f64> {
    (*proposed > 0).then(|| *accepted as f64 / *proposed as f64)
}

fn acceptance_report((name, counts): &(String, [u64; 2])) -> AcceptanceReport {
    AcceptanceReport { proposal: name.clone(), proposed: counts[0], rate: rate(counts) }
}

fn split_report(setup: &Setup, split: &SplitSummary) -> SplitReport {
    let name = |taxon| setup.loaded.taxa.name(taxon).to_string();
    SplitReport {
        taxa: split.split.tips().map(name).collect(),
        probability: split.probability,
        of_runs: split.of_runs.clone(),
        mean_length: split.mean_length,
        sd_length: split.sd_length,
        ess: Some(split.ess).filter(|ess| *ess > 0.0),
        psrf: split.psrf,
    }
}

fn split_table(setup: &Setup, splits: &[SplitSummary]) -> String {
    let runs: String = (1..=splits.first().map_or(0, |split| split.of_runs.len()))
        .map(|run| format!("run{run}\t"))
        .collect();
    let mut text = format!("probability\t{runs}mean_length\tsd_length\ttaxa\n");
    for split in splits {
        let of_runs: String = split.of_runs.iter().map(|share| format!("{share:.6}\t")).collect();
        let taxa: Vec<&str> = split.split.tips().map(|tip| setup.loaded.taxa.name(tip)).collect();
        text.push_str(&format!(
            "{:.6}\t{of_runs}{:.6}\t{:.6}\t{}\n",
            split.probability,
            split.mean_length,
            split.sd_length,
            taxa.join(",")
        ));
    }
    text
}

fn summary(report: &SamplingReport) -> String {
    let digits = |x: f64| if x.abs() < 100.0 { format!("{x:.4}") } else { format!("{x:.2}") };
    let rows: Vec<Vec<String>> = report
        .parameters
        .iter()
        .map(|one| {
            let [from, to] = one.hpd95;
            let psrf = one.psrf.map_or_else(|| "-".to_string(), |psrf| format!("{psrf:.3}"));
            let values = [one.mean, one.sd, from, to].map(digits);
            let rest = [format!("{:.0}", one.ess), psrf];
            std::iter::once(one.name.clone()).chain(values).chain(rest).collect()
        })
        .collect();
    let mut text = format!(
        "Sample: {} of each of {} runs, after {} that were left aside\n",
        report.samples, report.runs, report.burnin_samples
    );
    let head = ["parameter", "mean", "sd", "95% HPD from", "to", "ESS", "PSRF"];
    text.push_str(&table(&head, &rows));
    let rows: Vec<Vec<String>> = report
        .splits
        .iter()
        .take(MAX_SHOWN)
        .map(|split| {
            let mut taxa = split.taxa.join(",");
            if taxa.chars().count() > 60 {
                taxa = format!(
                    "{}... ({} taxa)",
                    taxa.chars().take(45).collect::<String>(),
                    split.taxa.len()
                );
            }
            vec![format!("{:.4}", split.probability), format!("{:.5}", split.mean_length), taxa]
        })
        .collect();
    text.push_str("\nSplits\n");
    text.push_str(&table(&["probability", "mean length", "taxa"], &rows));
    if report.splits.len() > MAX_SHOWN {
        let more = report.splits.len() - MAX_SHOWN;
        text.push_str(&format!("  ... and {more} more, listed in posteriorSplits\n"));
    }
    let sets: Vec<String> = report
        .credible_sets
        .iter()
        .map(|set| {
            format!("{} % of the samples in {} topologies", 100.0 * set.share, set.topologies)
        })
        .collect();
    text.push_str(&format!("\n{}\n", sets.join(", ")));
    if let Some(marginal) = &report.marginal_likelihood {
        let of_runs: Vec<String> = marginal.of_runs.iter().map(|ln| format!("{ln:.2}")).collect();
        text.push_str(&format!(
            "Logarithm of the marginal likelihood, by {} stepping stones: {:.2} (runs: {})\n",
            marginal.steps,
            marginal.ln,
            of_runs.join(", ")
        ));
    }
    let percent =
        |rate: &Option<f64>| rate.map_or("-".to_string(), |rate| format!("{:.0}", 100.0 * rate));
    let first = report.acceptance.first().into_iter().flatten();
    let accepted: Vec<String> =
        first.map(|one| format!("{} {}", one.proposal, percent(&one.rate))).collect();
    text.push_str(&format!("Accepted proposals of run 1 (%): {}\n", accepted.join(", ")));
    if report.chains > 1 {
        let swaps: Vec<String> = report.swap_rates.iter().flatten().map(percent).collect();
        text.push_str(&format!(
            "Accepted swaps of neighbouring temperatures (%): {}\n",
            swaps.join(", ")
        ));
    }
    text
}

/// What the user should know before relying on the sample.
fn warnings(report: &SamplingReport) -> Vec<String> {
    let mut warnings = Vec::new();
    if report.runs < 2 {
        warnings.push(
            "a single run cannot show that it has converged: use --nruns 2 or more".to_string(),
        );
    }
    if let Some(asdsf) = report.agreement.asdsf.filter(|asdsf| *asdsf > GOOD_ASDSF) {
        warnings.push(format!(
            "the runs have not converged on the same trees: the average standard deviation of split frequencies is {asdsf:.4}, \
             above {GOOD_ASDSF}; more generations are needed (--ngen)"
        ));
    }
    let names = |is_bad: &dyn Fn(&&ParameterReport) -> bool| {
        list_names(report.parameters.iter().filter(is_bad).map(|one| one.name.as_str()))
    };
    let few = names(&|one| one.ess < GOOD_ESS);
    if !few.is_empty() {
        warnings.push(format!(
            "the effective sample size is below {GOOD_ESS} for {few}: means and intervals are rough; more generations are \
             needed (--ngen)"
        ));
    }
    let differing = names(&|one| one.psrf.is_some_and(|psrf| psrf > GOOD_PSRF));
    if !differing.is_empty() {
        warnings.push(format!(
            "the runs differ in {differing} (PSRF above {GOOD_PSRF}): more generations are needed (--ngen)"
        ));
    }
    if let Some(marginal) = &report.marginal_likelihood {
        let most = marginal.of_runs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = marginal.of_runs.iter().copied().fold(f64::INFINITY, f64::min);
        if most - least > GOOD_MARGINALS {
            warnings.push(format!(
                "the logarithms of the marginal likelihood differ by {:.1} between runs: more generations are needed (--ngen)",
                most - least
            ));
        }
    }
    let rates: Vec<f64> = report.swap_rates.iter().flatten().flatten().copied().collect();
    if rates.iter().any(|rate| *rate < GOOD_SWAPS) {
        warnings.push(format!(
            "chains of neighbouring temperatures swap in less than {} % of the attempts: a lower --temp or more --nchains \
             would let the heated chains help",
            100.0 * GOOD_SWAPS
        ));
    }
    warnings
}
