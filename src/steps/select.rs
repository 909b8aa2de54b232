//! Model selection, before the command itself begins.
//!
//! Models are selected on one parsimony tree, or on the first of the trees that are to be evaluated.
//! Afterwards the run is as if the selected models had been given.

use super::optimize::optimize_in_steps;
use crate::dataset::count_with_warning;
use crate::error::Result;
use crate::likelihood::BrlenLinkage;
use crate::model::Model;
use crate::model_selection::{Choosing, Criterion, Fit, Ranked, fit};
use crate::observer::{Event, Observer};
use crate::optimize::{Goal, OptimizePlan, optimize_at_lengths};
use crate::output::{CandidateReport, SelectionReport, table};
use crate::partition::Partition;
use crate::runtime::{Jobs, RunRecord, Session, Setup, first_tree};
use crate::tree::Tree;

/// Fewest taxa whose data say anything about a model.
const MIN_TAXA: usize = 3;
/// Models of a partition that are shown; all of them are in the report.
const MAX_SHOWN: usize = 10;

/// Chooses the models that are open, says and reports it. Does nothing if there are none.
///
/// # Errors
/// [`crate::error::Error::Usage`] as of sharing out the resources anew.
pub(crate) fn select_models(session: Session) -> Result<Session> {
    selected(session, None, Some("the analysis"))
}

/// The same with another sample size than the number of sites of each partition.
///
/// # Errors
/// As of [`select_models`].
pub(crate) fn select_models_for(session: Session, sample_size: Option<usize>) -> Result<Session> {
    selected(session, sample_size, None)
}

fn selected<'s>(
    mut session: Session<'s>,
    sample_size: Option<usize>,
    then: Option<&str>,
) -> Result<Session<'s>> {
    if session.setup.loaded.candidates.iter().all(Option::is_none) {
        return Ok(session);
    }
    session.stage_before("model selection", then);
    let (tree, which) = first_tree(session.setup.plan, &session.setup.loaded);
    let criterion = session.setup.plan.data.auto_criterion.unwrap_or_default();
    let of_all = if sample_size.is_some() { " of all partitions" } else { "" };
    session.event(Event::Note(format!(
        "models are selected by {} on {which}; the sample size is the number of sites{of_all}, and the branch lengths \
         of a partition count as parameters",
        criterion.name()
    )));
    let mut comparisons = compare(&mut session, &tree, sample_size)?;
    for partition in session.setup.loaded.file_order.clone() {
        if let Some(comparison) = comparisons[partition].take() {
            adopt(&mut session, partition, &comparison, sample_size);
        }
    }
    // The memory and the useful threads depend on the models.
    let setup = &mut session.setup;
    let resources = setup.resources.renewed(setup.plan, &setup.loaded.partitions)?;
    setup.resources = resources.planned(setup.plan, &setup.loaded)?.0;
    session.record.report.run.threads = setup.resources.threads();
    Ok(session)
}

/// A partition whose model is being selected.
pub(crate) struct OpenModel<'a> {
    /// Its data.
    pub partition: &'a Partition,
    /// The selection.
    pub choosing: Choosing,
}

/// The branch lengths under which models are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FitLengths {
    /// Those that are the best for each model.
    Own,
    /// Those of the tree.
    Given,
    /// Those of the tree, multiplied by the factor that is the best for each model.
    Scaled,
}

/// How the models of a partition compare.
#[derive(Debug, Clone)]
struct Comparison {
    /// The criterion: AIC instead of AICc where that is not defined.
    criterion: Criterion,
    /// The models, best first; none where there are too few taxa to compare any.
    ranking: Vec<Ranked>,
}

/// By partition, how its models compare if it has none yet.
fn compare(
    session: &mut Session,
    tree: &Tree,
    sample_size: Option<usize>,
) -> Result<Vec<Option<Comparison>>> {
    let Session { setup, record } = session;
    let criterion = setup.plan.data.auto_criterion.unwrap_or_default();
    let (mut numbers, mut open) = (Vec::new(), Vec::new());
    let mut comparisons = vec![None; setup.loaded.partitions.len()];
    for (number, candidates) in setup.loaded.candidates.iter().enumerate() {
        let (Some(candidates), num_taxa) = (candidates, setup.loaded.presence[number].len()) else {
            continue;
        };
        if num_taxa < MIN_TAXA {
            comparisons[number] = Some(Comparison { criterion, ranking: Vec::new() });
        } else {
            let partition = &setup.loaded.partitions[number];
            let num_sites = sample_size.unwrap_or(partition.patterns.num_sites);
            let choosing = Choosing::new(*candidates, criterion, num_sites, num_taxa);
            numbers.push(number);
            open.push(OpenModel { partition, choosing });
        }
    }
    compare_models(setup, record, &mut open, tree, FitLengths::Own)?;
    for (number, open) in numbers.into_iter().zip(&open) {
        let (criterion, ranking) = (open.choosing.criterion(), open.choosing.ranking());
        comparisons[number] = Some(Comparison { criterion, ranking });
    }
    Ok(comparisons)
}

/// Carries out all fits of these selections.
///
/// # Errors
/// A fit has failed, or the run is to end.
pub(crate) fn compare_models(
    setup: &Setup,
    record: &mut RunRecord,
    open: &mut [OpenModel],
    tree: &Tree,
    lengths: FitLengths,
) -> Result<()> {
    for round in 1.. {
        let mut tasks = Vec::new();
        for (i, OpenModel { partition, choosing }) in open.iter_mut().enumerate() {
            let asked = choosing.ask(&partition.patterns).into_iter();
            tasks.extend(asked.map(|task| (i, *partition, task)));
        }
        if tasks.is_empty() {
            break;
        }
        // The number of further rounds is unknown, and with it the share of the whole.
        let jobs = Jobs { is_most_expected: false, ..setup.jobs("model", tasks.len()) };
        let RunRecord { checkpoint, progress, .. } = &mut *record;
        let found = jobs.run(checkpoint.as_ref(), progress, |job| {
            let (_, partition, task) = &tasks[job.number];
            let partition = std::slice::from_ref(*partition);
            let models = std::slice::from_ref(&task.start);
            let own = BrlenLinkage::Unlinked;
            let evaluator = job.resources.evaluator(partition, models, tree.clone(), own)?;
            job.mute(true);
            let fitted = fit(evaluator, task, |evaluator, models, options| match lengths {
                FitLengths::Own => {
                    let plan = OptimizePlan::new(Goal::Nearby, options);
                    optimize_in_steps(plan, evaluator, models, &[], options, job)
                }
                FitLengths::Given | FitLengths::Scaled => {
                    let is_scaled = lengths == FitLengths::Scaled;
                    let epsilon = options.lnl_epsilon;
                    Ok(optimize_at_lengths(evaluator, models, is_scaled, epsilon, None)?.0)
                }
            });
            fitted.map(|Fit { model, tree, lnl, .. }| (model.values(), tree, lnl))
        })?;
        let mut of_partition: Vec<Vec<Fit>> = open.iter().map(|_| Vec::new()).collect();
        for ((i, _, task), (values, tree, lnl)) in tasks.iter().zip(found) {
            let model = task.start.with_values(&values);
            let (candidate, effort) = (task.candidate.clone(), task.effort);
            of_partition[*i].push(Fit { candidate, model, tree, lnl, effort });
        }
        for (one, fits) in open.iter_mut().zip(of_partition) {
            if !fits.is_empty() {
                one.choosing.tell(fits);
            }
        }
        let lnl = open.iter().filter_map(|one| one.choosing.best_lnl()).sum();
        let phase = "model selection".to_string();
        record.progress.event(&Event::Progress { phase, round, lnl });
    }
    Ok(())
}

/// Gives a partition the best model, and reports it.
fn adopt(
    session: &mut Session,
    index: usize,
    Comparison { criterion, ranking }: &Comparison,
    sample_size: Option<usize>,
) {
    let setup = &mut session.setup;
    let asked = setup.plan.data.auto_criterion.unwrap_or_default();
    let candidates =
        setup.loaded.candidates[index].take().expect("the partition's model is to be selected");
    let num_taxa = setup.loaded.presence[index].len();
    let partition = &mut setup.loaded.partitions[index];
    let sites = sample_size.unwrap_or(partition.patterns.num_sites);
    partition.model = match ranking.first() {
        None => candidates.fallback(),
        // Its parameters are those of another tree: the run begins with them only if it must keep them.
        Some(best) if !setup.plan.search.opt_model => best.model.clone(),
        Some(best) => as_given(&best.model),
    };
    let warning = count_with_warning(partition);
    let (name, chosen) = (partition.name.clone(), partition.model.label());
    match ranking.first() {
        None => session.event(Event::Warning(format!(
            "partition '{name}' has data for {num_taxa} {}, too few to compare models: it gets {chosen}",
            if num_taxa == 1 { "taxon" } else { "taxa" }
        ))),
        Some(best) => {
            session.record.progress.text(&format!(
                "partition '{name}': {}; {} models compared, selected by {} with weight {:.3}: {chosen}",
                candidates.data_type.name(),
                ranking.len(),
                criterion.name(),
                best.weight
            ));
            session.record.progress.text(&best_table(ranking));
            if *criterion != asked {
                session.event(Event::Warning(format!(
                    "partition '{name}': {} is not defined for any model, because there are only {sites} sites; \
                     the model is selected by {}",
                    asked.name(),
                    criterion.name()
                )));
            }
        }
    }
    if let Some(warning) = warning {
        session.event(Event::Warning(warning));
    }
    session.record.report.model_selection.push(SelectionReport {
        partition: name,
        data_type: candidates.data_type.name().to_string(),
        criterion: criterion.name().to_string(),
        sites,
        taxa: num_taxa,
        chosen,
        candidates: ranking.iter().map(report).collect(),
    });
}

/// The model as if it had been given: parameters at their start values.
fn as_given(model: &Model) -> Model {
    Model::parse(&model.label()).expect("a label is a model string")
}

fn report(ranked: &Ranked) -> CandidateReport {
    CandidateReport {
        model: ranked.model.label(),
        log_likelihood: ranked.lnl,
        parameters: ranked.num_parameters,
        aic: ranked.scores.aic,
        aicc: Some(ranked.scores.aicc).filter(|value| value.is_finite()),
        bic: ranked.scores.bic,
        weight: ranked.weight,
        optimised: ranked.fine,
    }
}

fn best_table(ranking: &[Ranked]) -> String {
    let number = |value: f64| if value.is_finite() { format!("{value:.3}") } else { "-".into() };
    let rows: Vec<Vec<String>> = ranking
        .iter()
        .take(MAX_SHOWN)
        .map(|ranked| {
            vec![
                ranked.model.label(),
                number(ranked.lnl),
                ranked.num_parameters.to_string(),
                number(ranked.scores.aic),
                number(ranked.scores.aicc),
                number(ranked.scores.bic),
                format!("{:.4}", ranked.weight),
            ]
        })
        .collect();
    table(&["model", "lnL", "parameters", "AIC", "AICc", "BIC", "weight"], &rows)
}
