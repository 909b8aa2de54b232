//! From a plan to its command.

use super::all::all;
use super::bootstrap::bootstrap;
use super::check::check;
use super::consense::consense;
use super::evaluate::evaluate;
use super::plan::{Command, Plan};
use super::rfdist::rfdist;
use super::search::search;
use super::select::select_models;
use super::session::{Files, Session};
use super::simulate::simulate;
use super::start::start;
use super::support::support;
use crate::error::{Error, Fault, Place, Result};
use crate::input::STANDARD_INPUT;
use crate::output::{Kind, OutputFiles, Progress, Report};
use crate::search::{Event, Observer};
use std::path::Path;

/// Carries out a plan. Files are written when all is computed; a run that fails leaves none behind.
///
/// # Errors
/// Refused input or output names (exit code 2) before anything is computed; failures later (1).
pub fn execute(plan: &Plan) -> Result<()> {
    check_input_files(plan)?;
    let files = OutputFiles::reserve(&plan.output.prefix, &plan.output_kinds(), plan.output.redo)?;
    // A check speaks on standard output; only warnings go elsewhere.
    let quiet = plan.output.quiet || plan.command == Command::Check;
    let mut progress = Progress::on_stderr(quiet);
    let mut report = Report::new(&plan.command_line, plan.seed);
    let result = carry_out(plan, &mut progress, &mut report);
    let result = result.and_then(|made| write(plan, &files, made, &mut progress, report));
    progress.finish();
    result
}

fn carry_out(plan: &Plan, progress: &mut Progress, report: &mut Report) -> Result<Files> {
    progress.text(&format!("mlsearch {}, seed {}", report.version, plan.seed));
    progress.about_run(&format!("command: {}", plan.command_line));
    for note in &plan.notes {
        progress.event(&Event::Note(note.clone()));
    }
    match &plan.command {
        Command::Search => search(select_models(Session::start(plan, progress, report)?)?),
        Command::Evaluate => evaluate(select_models(Session::start(plan, progress, report)?)?),
        Command::Bootstrap => bootstrap(select_models(Session::start(plan, progress, report)?)?),
        Command::All => all(select_models(Session::start(plan, progress, report)?)?),
        Command::Start => start(Session::start(plan, progress, report)?),
        Command::Check => check(Session::start(plan, progress, report)?),
        Command::Support { tree, bs_trees } => support(plan, tree, bs_trees, progress, report),
        Command::RfDist { trees } => rfdist(plan, trees, progress, report),
        Command::Consense { rule, trees } => consense(*rule, trees, progress, report),
        Command::Simulate(what) => simulate(plan, what, progress, report),
    }
}

/// Writes all files; the log and the report come last, because they speak of everything before.
fn write(
    plan: &Plan,
    files: &OutputFiles,
    made: Files,
    progress: &mut Progress,
    mut report: Report,
) -> Result<()> {
    let kinds = plan.output_kinds();
    for (kind, content) in made {
        debug_assert!(kinds.contains(&kind), "{kind:?} was reserved");
        let path = files.write(kind, content.as_bytes())?;
        progress.about_run(&format!("written: {}", path.display()));
    }
    report.warnings = progress.warnings().to_vec();
    for (phase, seconds) in progress.timings().to_vec() {
        report.timings.add(&phase, seconds);
    }
    let elapsed = progress.elapsed().as_secs_f64();
    report.timings.add("total", elapsed);
    progress.about_run(&format!("elapsed: {elapsed:.1} s"));
    for (kind, content) in
        [(Kind::Log, progress.log_text().to_string()), (Kind::Json, report.to_json())]
    {
        if kinds.contains(&kind) {
            files.write(kind, content.as_bytes())?;
        }
    }
    Ok(())
}

/// Every named input file must be there and be a file; all that are not are listed at once.
fn check_input_files(plan: &Plan) -> Result<()> {
    let mut paths: Vec<&Path> = Vec::new();
    paths.extend(plan.data.msa.as_deref());
    paths.extend(plan.data.partitions.as_deref());
    paths.extend(plan.data.protein_matrix.as_deref());
    paths.extend(plan.search.partition_trees.as_deref());
    let mut sources: Vec<&super::TreeSource> = plan.search.trees.iter().collect();
    match &plan.command {
        Command::Support { tree, bs_trees } => paths.extend([tree.as_path(), bs_trees.as_path()]),
        Command::RfDist { trees } | Command::Consense { trees, .. } => paths.push(trees),
        Command::Simulate(simulate) => sources.push(&simulate.tree),
        _ => {}
    }
    for source in sources {
        if let super::TreeSource::File(path) = source {
            paths.push(path);
        }
    }
    let mut faults = Vec::new();
    for path in paths.into_iter().filter(|path| *path != Path::new(STANDARD_INPUT)) {
        let place = Place::file(path.display().to_string());
        match std::fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                faults.push(Fault::new(place, "is a folder, not a file"))
            }
            Ok(_) => {}
            Err(error) => faults.push(Fault::new(place, format!("cannot be read: {error}"))),
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Error::Input(faults)) }
}
