//! `--check`: describes the data of a run and estimates its memory and time; those of searches from a sweep over the branches
//! of a parsimony tree. No file is written.

use super::one_class::guides;
use super::replicates::BOOTSTRAPS;
use super::site_frequencies::plan_again;
use crate::error::Result;
use crate::output::pairs;
use crate::parallel::{available_cores, available_memory, used_memory};
use crate::partition::Partition;
use crate::plan::Plan;
use crate::runtime::{
    Calibration, Cost, GAPS, RunRecord, Session, Setup, describe_data, first_tree, format_bytes,
    format_seconds, useful_threads,
};

/// Shares of the memory that a run would like to have, for which is said what they cost.
const SHARES: [f64; 3] = [0.75, 0.5, 0.25];

/// Names and values that are shown.
pub(crate) type Rows = Vec<(&'static str, String)>;

/// Describes the data of a run, and what it requires; `requirements` adds this to the rows, and returns a remark on it.
///
/// # Errors
/// Those of `requirements`.
pub(crate) fn describe_run(
    session: Session,
    requirements: impl FnOnce(&Setup, &mut Rows) -> Result<&'static str>,
) -> Result<()> {
    let Session { setup, record } = session;
    let loaded = &setup.loaded;
    let mut text = describe_data(setup.plan, loaded).short;
    for note in setup.plan.notes.iter().chain(&loaded.remarks.notes) {
        text.push_str(&format!("note: {note}\n"));
    }
    for &partition in &loaded.file_order {
        if let (Some(candidates), None) = (loaded.candidates[partition], setup.plan.facts.formula) {
            let name = &loaded.partitions[partition].name;
            let criterion = setup.plan.data.auto_criterion;
            text.push_str(&format!(
                "partition '{name}': a run will select the model by {} among {}\n",
                criterion.unwrap_or_default().name(),
                candidates.describe()
            ));
        }
    }
    let mut rows = vec![
        ("constant sites", loaded.report.invariant_sites.to_string()),
        ("sites without data", loaded.report.gap_columns.len().to_string()),
    ];
    let remark = requirements(&setup, &mut rows)?;
    rows.push(("kernels", setup.resources.engine().instruction_set.to_string()));
    text.push_str(&pairs("Data and requirements of a run", &rows));
    text.push_str(remark);
    record.progress.result(&text);
    Ok(())
}

/// Describes searches and evaluations on the data of a run.
///
/// # Errors
/// A column with likelihood 0.
pub(crate) fn describe_searches(mut session: Session) -> Result<()> {
    let used = used_memory().unwrap_or(0);
    let of_mixture = describe_mixture(&mut session)?;
    describe_run(session, |setup, rows| {
        let remark = require_for_searches(setup, used, rows)?;
        rows.extend(of_mixture);
        Ok(remark)
    })
}

/// What the profile mixture of `--pmsf` takes on the guide tree, and once more on the best tree. From then on, sites have frequencies: the
/// mean ones of the profiles stand for all.
fn describe_mixture(session: &mut Session) -> Result<Rows> {
    let setup = &mut session.setup;
    let Some(guide) = setup.loaded.guide_tree.take() else { return Ok(Rows::new()) };
    let known = setup.resources.estimate(&setup.loaded, &guide.tree, setup.linkage)?;
    let memory = known.engine_bytes as f64 * known.gaps();
    let freqs_of = |partition: &Partition| {
        let guide = partition.model.guide().expect("--pmsf needs a profile mixture");
        vec![guide.freqs; partition.patterns.num_patterns()]
    };
    let freqs: Vec<Vec<Vec<f64>>> = setup.loaded.partitions.iter().map(freqs_of).collect();
    setup.loaded.give_site_frequencies(&freqs);
    plan_again(session)?;
    Ok(vec![
        ("memory of the profile mixture", format!("about {}", format_bytes(memory as u64))),
        ("time of the profile mixture on a tree", format_seconds(known.evaluation_seconds())),
    ])
}

/// Describes the data of a run that computes no likelihoods.
///
/// # Errors
/// None.
pub(crate) fn describe_data_alone(session: Session) -> Result<()> {
    describe_run(session, |_, _| Ok("The time and memory of this analysis are not estimated.\n"))
}

/// Names the files that a run reads, which are there.
pub(crate) fn describe_files(plan: &Plan, record: &mut RunRecord) {
    let mut text: String = plan.notes.iter().map(|note| format!("note: {note}\n")).collect();
    let names = plan.input_files().into_iter().map(|path| path.display().to_string());
    text.push_str(&pairs("Files of a run", &names.map(|name| ("input", name)).collect::<Vec<_>>()));
    text.push_str("The time and memory of this analysis are not estimated.\n");
    record.progress.result(&text);
}

/// What a search and an evaluation take.
///
/// # Errors
/// A column with likelihood 0.
fn require_for_searches(setup: &Setup, used: u64, rows: &mut Rows) -> Result<&'static str> {
    let loaded = &setup.loaded;
    let num_taxa = loaded.taxa.len();
    let present: Vec<usize> = loaded.presence.iter().map(Vec::len).collect();
    let all = vec![num_taxa; present.len()];
    let [ours, unrestricted] = [&present, &all].map(|tips| Cost::of(&loaded.partitions, tips));
    let of_rank = ours.of_each_of(setup.resources.num_ranks());
    let calibration = describe_memory(setup, &of_rank, used, rows)?;
    if unrestricted.clv_bytes > ours.clv_bytes {
        let saved = unrestricted.clv_bytes as f64 / ours.clv_bytes.max(1) as f64;
        let saved = format!("1/{saved:.1} of those with all taxa in all partitions");
        rows.push(("  likelihood vectors", saved));
    }
    if let Some(free) = available_memory() {
        rows.push(("  free on this machine", format_bytes(free)));
    }
    let time = |seconds: Option<f64>| seconds.map_or("unknown".into(), format_seconds);
    let effort = setup.plan.search.effort;
    let begins_with_one_class = guides(setup, &setup.models()).is_some();
    let of_search = |effort| {
        let usual = |known: Calibration| known.search_seconds(effort, num_taxa);
        match begins_with_one_class {
            true => calibration.map(|known| known.search_seconds_after_one_class(effort)),
            false => calibration.map(usual),
        }
    };
    rows.push(("time of a search", time(of_search(effort))));
    let outputs = &setup.plan.facts.outputs;
    if outputs.contains(&BOOTSTRAPS) {
        let number = setup.plan.bootstrap.replicates;
        let all = of_search(effort.lower()).map(|one| one * number as f64);
        let bound = if setup.plan.bootstrap.bootstop.is_some() { "at most " } else { "" };
        rows.push(("time of the replicates", format!("{bound}{number}, {}", time(all))));
    }
    let evaluation = calibration.map(|known| known.evaluation_seconds());
    rows.push(("time of the evaluation of a tree", time(evaluation)));
    let scanning = setup.resources.of_one_search(setup.plan).companions().count();
    let useful = match useful_threads(&loaded.partitions).max(scanning) {
        useful if useful >= available_cores() => format!("all {}", available_cores()),
        useful => useful.to_string(),
    };
    rows.push(("useful threads for one search", useful));
    rows.push(("  used on this machine", setup.resources.threads().max(scanning).to_string()));
    Ok(
        "Times are rough estimates for one core; a run may take from half to twice as long. Several\n\
        searches or replicates run at the same time, one on each thread.\n",
    )
}

/// The memory of a run, and what it costs to have less; from a calibration, for which there may be too little memory.
fn describe_memory(
    setup: &Setup,
    cost: &Cost,
    used: u64,
    rows: &mut Rows,
) -> Result<Option<Calibration>> {
    let Setup { plan, loaded, resources, linkage, .. } = setup;
    let beside = used + cost.shared_bytes() + cost.bytes_beside_engine(plan);
    let least = used + cost.shared_bytes() + cost.least_job_bytes(plan);
    let free = available_memory().map_or(u64::MAX, |free| used.saturating_add(free));
    let mut calibration = None;
    if free > least {
        let (tree, _) = first_tree(plan, loaded);
        let within = |bytes: u64| {
            let resources = resources.limited_to(((bytes - beside) as f64 / GAPS) as u64);
            resources.estimate(loaded, &tree, *linkage)
        };
        let whole = match beside + cost.engine_bytes() <= free {
            true => resources.estimate(loaded, &tree, *linkage)?,
            false => within(free)?,
        };
        calibration = Some(whole);
        let most = beside + whole.most_engine_bytes(plan);
        let more = if whole.is_complete() { "about" } else { "more than" };
        let each = most - used - cost.shared_bytes();
        let side_by_side = resources.of_one_search(plan).companions().count() as u64 * each;
        let what = if plan.run.ranks.is_some() { "memory of each rank" } else { "memory" };
        rows.push((what, format!("{more} {}", format_bytes(most + side_by_side))));
        if side_by_side > 0 {
            rows.push(("  of which for scans and climbs side by side", format_bytes(side_by_side)));
        }
        rows.push(("  for each further search or replicate at the same time", format_bytes(each)));
        for share in SHARES {
            let limit = (most as f64 * share) as u64;
            if limit > least {
                let times = format!("{:.1} times as long", within(limit)?.slowdown());
                rows.push(("  with --mem", format!("{}: {times}", format_bytes(limit))));
            }
        }
    }
    rows.push(("  at least, with --mem", format!("about {}", format_bytes(least))));
    if let Some(allowed) = plan.run.memory {
        let verdict = if allowed < least { ": too little, a run is refused" } else { "" };
        rows.push(("  allowed (--mem)", format!("{}{verdict}", format_bytes(allowed))));
    }
    Ok(calibration)
}
