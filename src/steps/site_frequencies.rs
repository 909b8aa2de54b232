//! `--pmsf`: state frequencies of sites from a profile mixture on a guide tree, before what is computed under them; and the likelihood of the
//! best tree under the mixture, after it.

use super::climb::{Begin, Climbed, climb};
use super::one_class::TreeToOptimize;
use super::site_rates::SITE_FREQS;
use super::{Outcome, best_of};
use crate::dataset::{DECIMALS, GivenTree, Loaded};
use crate::error::Result;
use crate::model::{Model, ModelValues};
use crate::observer::{Event, Observer};
use crate::optimize::OptimizeOptions;
use crate::output::{MixtureFitReport, OutputKind, SiteFrequenciesReport};
use crate::partition::Partition;
use crate::plan::{Plan, SiteFrequencies};
use crate::runtime::{JobContext, Resources, Session, Setup};
use crate::search::SearchOptions;
use crate::site_rates::pattern_rates;
use crate::tree::{Tree, same_topology};
use serde::{Deserialize, Serialize};

/// Gain (log units) below which the optimisation of a mixture ends, as an evaluation does.
const MIXTURE_EPSILON: f64 = 1e-3;

/// The data under the profile mixtures, which have given way to frequencies of sites.
pub(crate) struct Mixtures {
    partitions: Vec<Partition>,
    /// With the parameters of the guide tree.
    models: Vec<Model>,
    /// The guide tree, with the log-likelihood of the mixtures on it.
    guide: Option<(Tree, f64)>,
    resources: Resources,
    report: SiteFrequenciesReport,
}

/// A mixture fitted to a tree.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Fit {
    lnl: f64,
    values: Vec<ModelValues>,
    /// `[partition][pattern][state]`
    profiles: Vec<Vec<Vec<f64>>>,
}

/// The file of frequencies.
pub(crate) fn outputs(plan: &Plan) -> Option<OutputKind> {
    let is_computed = matches!(plan.data.site_frequencies, SiteFrequencies::Guide { .. });
    (is_computed && !plan.output.site_rates).then_some(SITE_FREQS)
}

/// Gives all sites the frequencies of the profile mixture on the guide tree, if that is asked for, and writes these; the models of the data are
/// then those under them.
///
/// # Errors
/// The engine has failed, there is not enough memory, or a file cannot be written.
pub(crate) fn begin_with_guide_tree(session: &mut Session) -> Result<Option<Mixtures>> {
    if let SiteFrequencies::File(_) = session.setup.plan.data.site_frequencies {
        let report = SiteFrequenciesReport { source: "file", ..SiteFrequenciesReport::default() };
        session.record.report.site_frequencies = Some(report);
    }
    let SiteFrequencies::Guide { rounds, .. } = session.setup.plan.data.site_frequencies else {
        return Ok(None);
    };
    let guide = session.setup.loaded.guide_tree.take();
    let GivenTree { mut source, mut tree, .. } = guide.expect("the guide tree was read");
    let mut mixtures = Mixtures {
        partitions: session.setup.loaded.partitions.clone(),
        models: session.setup.models(),
        guide: None,
        resources: session.setup.resources,
        report: SiteFrequenciesReport { source: "pmsf", ..SiteFrequenciesReport::default() },
    };
    for round in 1..=rounds {
        session.stage("site frequencies");
        let fit = fit(session, &mixtures, &tree, &source)?;
        let models = mixtures.models.iter().zip(&fit.values);
        mixtures.models = models.map(|(model, values)| model.with_values(values)).collect();
        mixtures.report.guides.push(report_of(fit.lnl, &mixtures.models, &source));
        mixtures.guide = Some((tree.clone(), fit.lnl));
        let text = format!("{source}: lnL {:.4} under {}", fit.lnl, mixtures.label());
        session.record.progress.text(&text);
        let loaded = &mut session.setup.loaded;
        loaded.partitions.clone_from(&mixtures.partitions);
        loaded.partitions.iter_mut().zip(&mixtures.models).for_each(|(partition, model)| {
            partition.model.clone_from(model);
            // With a rate matrix for each site, 189 rates of 60 sites were not estimated in four minutes.
            partition.model.hold_exchange_rates();
        });
        loaded.give_site_frequencies(&fit.profiles);
        plan_again(session)?;
        if round < rounds {
            session.stage("search for a guide tree");
            tree = search_for_guide(session, &tree)?;
            source = format!("the tree of round {round}");
        }
    }
    session.record.write(SITE_FREQS, &frequencies_of_sites(&session.setup.loaded))?;
    session.record.report.site_frequencies = Some(mixtures.report.clone());
    Ok(Some(mixtures))
}

/// Threads and memory for data whose models have changed.
///
/// # Errors
/// There is not enough memory.
pub(super) fn plan_again(session: &mut Session) -> Result<()> {
    let Setup { plan, loaded, resources, .. } = &mut session.setup;
    (*resources, _) = resources.renewed(plan, &loaded.partitions)?.planned(plan, loaded)?;
    Ok(())
}

impl Mixtures {
    fn label(&self) -> String {
        match &self.models[..] {
            [only] => only.short_label(),
            several => format!("the profile mixtures of {} partitions", several.len()),
        }
    }
}

/// Fits the mixtures to a tree.
fn fit(session: &mut Session, mixtures: &Mixtures, tree: &Tree, source: &str) -> Result<Fit> {
    let Session { setup, record } = session;
    let setup = &*setup;
    let jobs = setup.jobs("profile mixture", 1);
    let mut fits = record.run_jobs(&jobs, |job| fit_in_job(setup, mixtures, tree, source, job))?;
    Ok(fits.swap_remove(0))
}

fn fit_in_job(
    setup: &Setup,
    mixtures: &Mixtures,
    tree: &Tree,
    source: &str,
    job: &mut JobContext,
) -> Result<Fit> {
    let Mixtures { partitions, models: initial, resources, .. } = mixtures;
    let resources = resources.share_out(setup.plan, 1).resources;
    let search = &setup.plan.search;
    let options = OptimizeOptions {
        model: search.opt_model,
        branches: search.opt_branches,
        ..OptimizeOptions::to(search.lh_epsilon.unwrap_or(MIXTURE_EPSILON))
    };
    let tree = TreeToOptimize { setup, partitions, initial, tree, options };
    let (mut evaluator, models, lnl) = tree.optimize(resources, |_| Ok(()), job)?;
    job.event(&Event::Detail(format!("{source}: lnL {lnl:.6} under the profile mixture")));
    let profiles = |partition: usize| match evaluator.num_taxa_of(partition) {
        0 | 1 => {
            // A single sequence says nothing of the classes.
            let guide = models[partition].guide().expect("a profile mixture");
            Ok(vec![guide.freqs; partitions[partition].patterns.num_patterns()])
        }
        _ => {
            let rates = pattern_rates(&mut evaluator, partition)?;
            Ok(rates.profiles.expect("a profile mixture has profiles"))
        }
    };
    let profiles = (0..partitions.len()).map(profiles).collect::<Result<_>>()?;
    Ok(Fit { lnl, values: models.iter().map(Model::values).collect(), profiles })
}

fn report_of(lnl: f64, models: &[Model], source: &str) -> MixtureFitReport {
    MixtureFitReport {
        tree: source.to_string(),
        log_likelihood: lnl,
        models: models.iter().map(Model::to_string).collect(),
    }
}

/// The best tree under frequencies of sites that comes from this one.
fn search_for_guide(session: &mut Session, tree: &Tree) -> Result<Tree> {
    let Session { setup, record } = session;
    let setup = &*setup;
    let jobs = setup.jobs("search for a guide tree", 1);
    let mut trees = record.run_jobs(&jobs, |job| {
        let mut models = setup.models();
        let partitions = setup.reduced(&setup.loaded.partitions);
        let data = setup.parsimony_data(job.resources, &partitions);
        let options = SearchOptions {
            // It only has to be better than the tree of before.
            effort: setup.plan.search.effort.lower(),
            seed: setup.plan.seed,
            conclude: false,
            resolve: setup.identical.is_none(),
            ..SearchOptions::default()
        };
        let begin = Begin { tree: setup.reduced_tree(tree), options, is_shown: false };
        let Climbed { evaluator, .. } = climb(setup, &partitions, &data, &mut models, begin, job)?;
        Ok(setup.whole_tree(evaluator.tree()))
    })?;
    Ok(trees.swap_remove(0))
}

/// The file of the frequencies of all sites, by their columns.
fn frequencies_of_sites(loaded: &Loaded) -> String {
    let mut lines: Vec<(u32, String)> = Vec::new();
    for partition in &loaded.partitions {
        let Some(freqs) = &partition.patterns.freqs else { continue };
        for (columns, pattern) in partition.sites_and_patterns() {
            let freqs = freqs.of(pattern).iter();
            let freqs: Vec<String> = freqs.map(|freq| format!("{freq:.DECIMALS$}")).collect();
            lines.push((columns[0] + 1, freqs.join(" ")));
        }
    }
    lines.sort_by_key(|line| line.0);
    lines.iter().map(|(column, freqs)| format!("{column} {freqs}\n")).collect()
}

/// Computes the likelihood of the best tree under the mixtures themselves, unless it is the guide tree, of which it is known, and reports
/// it beside that under frequencies of sites.
///
/// # Errors
/// The engine has failed, or there is not enough memory.
pub(crate) fn end_with_mixture(
    session: &mut Session,
    mixtures: Option<Mixtures>,
    outcomes: &[Outcome],
) -> Result<()> {
    let Some(mixtures) = mixtures else { return Ok(()) };
    session.stage("profile mixture");
    let best = &outcomes[best_of(outcomes)];
    let is_guide = |(tree, _): &&(Tree, f64)| same_topology(tree, &best.tree);
    let opt_branches = session.setup.plan.search.opt_branches;
    let (lnl, models) = match mixtures.guide.as_ref().filter(|_| opt_branches).filter(is_guide) {
        Some((_, lnl)) => (*lnl, mixtures.models.clone()),
        None => {
            let fit = fit(session, &mixtures, &best.tree, "the best tree")?;
            let models = mixtures.models.iter().zip(&fit.values);
            (fit.lnl, models.map(|(model, values)| model.with_values(values)).collect())
        }
    };
    session.record.progress.text(&format!(
        "the best tree: lnL {:.4} under frequencies of sites, {:.4} under {}",
        best.lnl,
        lnl,
        mixtures.label()
    ));
    let of_best = Some(report_of(lnl, &models, "the best tree"));
    let report = SiteFrequenciesReport { mixture_on_best_tree: of_best, ..mixtures.report };
    session.record.report.site_frequencies = Some(report);
    Ok(())
}
