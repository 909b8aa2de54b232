//! A run, from the analysis that is asked for to the last output file.

use crate::commands::Analysis;
use crate::error::{DONE, Error, Fault, Faults, Place, Result};
use crate::input::STANDARD_INPUT;
use crate::observer::{Event, Observer};
use crate::output::Watched;
use crate::panics::{caught, forget};
use crate::plan::Plan;
use crate::runtime::RunRecord;
use crate::stop::Stop;
use std::path::Path;

/// Carries out an analysis. A file is written as a whole as soon as its content is final, and remains if the
/// run fails later.
///
/// # Errors
/// Refused input or output names (exit code 2) before anything is computed; failures later (1).
pub fn execute(analysis: &Analysis) -> Result<()> {
    carry_out(analysis, None)
}

/// The same inside another program, which watches the run and ends it by `stop`. Nothing is printed.
///
/// # Errors
/// As of [`execute`]; [`Error::Interrupted`] if it was ended.
pub fn execute_watched(mut analysis: Analysis, stop: Stop, watched: &Watched) -> Result<()> {
    analysis.plan.run.stop = stop;
    forget();
    carry_out(&analysis, Some(watched))
}

/// Carries out what rank 0 carries out, on another rank, to which jobs are dealt: nothing is shown or written.
///
/// # Errors
/// Those of rank 0, too, or of this rank alone.
pub(super) fn execute_along(analysis: &Analysis) -> Result<()> {
    let mut record = RunRecord::in_memory(&analysis.plan, None)?;
    caught(|| analysis.carry_out(&mut record))
}

fn carry_out(analysis: &Analysis, watched: Option<&Watched>) -> Result<()> {
    let plan = &analysis.plan;
    check_input_files(plan)?;
    let mut record = RunRecord::open(plan, watched)?;
    introduce(plan, &mut record);
    let ended = caught(|| analysis.carry_out(&mut record));
    if let Some(ranks) = plan.run.ranks {
        record.progress.detail_about_run(&format!("messages between ranks: {}", ranks.traffic()));
    }
    let has_checkpoint = record.checkpoint.is_some();
    let that_resumes = |error: Error| match has_checkpoint {
        true => error
            .that_goes_on("to go on from the checkpoint on the processor", &plan.processor_command)
            .that_resumes(plan.resuming_command.clone()),
        false => error.that_goes_on("to begin again on the processor", &plan.processor_command),
    };
    match ended {
        Ok(()) => {
            let failure = record.failure.take();
            let state = failure.as_ref().map_or(DONE, Error::state);
            record.close(plan, state).map_err(that_resumes)?;
            failure.map_or(Ok(()), Err)
        }
        Err(error) => {
            let error = that_resumes(error);
            record.fail(&error);
            Err(error)
        }
    }
}

/// The first lines of a run.
fn introduce(plan: &Plan, record: &mut RunRecord) {
    let (version, task, seed) = (&record.report.version, &plan.facts.task, plan.seed);
    let head = format!("mlsearch {version}: {task}, seed {seed}");
    record.progress.text(&head);
    record.progress.detail_about_run(&format!("command: {}", plan.command_line));
    for note in &plan.notes {
        record.progress.event(&Event::Note(note.clone()));
    }
}

/// Every named input file must be there and be a file; all that are not are listed at once.
pub(super) fn check_input_files(plan: &Plan) -> Result<()> {
    let mut faults = Faults::new();
    let files = plan.input_files().into_iter();
    for path in files.filter(|path| *path != Path::new(STANDARD_INPUT)) {
        let place = Place::file(path.display().to_string());
        match std::fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                faults.push(Fault::new(place, "this is a folder: a file is expected (mlsearch genes -s FOLDER makes a tree of each alignment in a folder)"))
            }
            Ok(_) => {}
            Err(error) => {
                faults.push(Fault::new(place, format!("the file cannot be read: {error}")))
            }
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Error::Input(faults)) }
}
