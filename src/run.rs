//! One run, from the validated plan to the last output file.

use crate::commands::bootstrap::bootstrap;
use crate::commands::check::check;
use crate::commands::compare::rfdist;
use crate::commands::concordance::concordance;
use crate::commands::consensus::consense;
use crate::commands::converge::bsconverge;
use crate::commands::distance::distances;
use crate::commands::evaluate::evaluate;
use crate::commands::gpu_selftest::gpu_selftest;
use crate::commands::resample::bsmsa;
use crate::commands::root::root;
use crate::commands::sample::sample;
use crate::commands::search::{all, search};
use crate::commands::simulate::simulate;
use crate::commands::start::start;
use crate::commands::support::support;
use crate::commands::terrace::terrace;
use crate::error::{Error, Fault, Faults, Place, Result};
use crate::input::STANDARD_INPUT;
use crate::observer::{Event, Observer};
use crate::panics::caught;
use crate::plan::Command;
use crate::runtime::{RunRecord, Session};
use crate::steps::select::select_models;
use std::path::Path;

// For programs that use the library, and for tests of hostile input.
pub use crate::dataset::{SiteWeights, parse_distances};
pub use crate::output::{MatrixFormat, OutputKind};
pub use crate::plan::Plan;
pub use crate::runtime::interrupt::listen as listen_to_signals;

/// Carries out a plan. A file is written as a whole as soon as its content is final, and remains if the
/// run fails later.
///
/// # Errors
/// Refused input or output names (exit code 2) before anything is computed; failures later (1).
pub fn execute(plan: &Plan) -> Result<()> {
    check_input_files(plan)?;
    let mut record = RunRecord::open(plan)?;
    let ended = caught(|| carry_out(plan, &mut record));
    let has_checkpoint = record.checkpoint.is_some();
    let that_resumes = |error: Error| match has_checkpoint {
        true => error
            .that_goes_on("to go on from the checkpoint on the processor", &plan.processor_command)
            .that_resumes(plan.resuming_command.clone()),
        false => error.that_goes_on("to begin again on the processor", &plan.processor_command),
    };
    match ended {
        Ok(()) => record.close(plan).map_err(that_resumes),
        Err(error) => {
            let error = that_resumes(error);
            record.fail(&error);
            Err(error)
        }
    }
}

fn carry_out(plan: &Plan, record: &mut RunRecord) -> Result<()> {
    let head = format!("mlsearch {}: {}, seed {}", record.report.version, plan.task(), plan.seed);
    record.progress.text(&head);
    record.progress.detail_about_run(&format!("command: {}", plan.command_line));
    for note in &plan.notes {
        record.progress.event(&Event::Note(note.clone()));
    }
    match &plan.command {
        Command::Search => search(select_models(Session::start(plan, record)?)?),
        Command::Evaluate => evaluate(select_models(Session::start(plan, record)?)?),
        Command::Bootstrap => bootstrap(select_models(Session::start(plan, record)?)?),
        Command::All => all(select_models(Session::start(plan, record)?)?),
        Command::BsMsa => bsmsa(Session::start(plan, record)?),
        Command::Start => start(Session::start(plan, record)?),
        Command::Check(run) => check(run, Session::start(plan, record)?),
        Command::Support { tree, bs_trees } => support(plan, tree, bs_trees, record),
        Command::RfDist(asked) => rfdist(plan, asked, record),
        Command::Distances(asked) => distances(plan, asked, record),
        Command::BsConverge { trees } => bsconverge(plan, trees, record),
        Command::Terrace(asked) => terrace(asked, Session::start(plan, record)?),
        Command::Concordance(asked) => concordance(plan, asked, record),
        Command::Consense { rule, trees } => consense(plan, *rule, trees, record),
        Command::Root { trees } => root(plan, trees, record),
        Command::Sample(asked) => sample(asked, select_models(Session::start(plan, record)?)?),
        Command::Simulate(what) => simulate(plan, what, record),
        Command::GpuSelftest(asked) => gpu_selftest(plan, asked, record),
    }
}

/// Every named input file must be there and be a file; all that are not are listed at once.
fn check_input_files(plan: &Plan) -> Result<()> {
    let mut faults = Faults::new();
    let files = plan.input_files().into_iter();
    for path in files.filter(|path| *path != Path::new(STANDARD_INPUT)) {
        let place = Place::file(path.display().to_string());
        match std::fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                faults.push(Fault::new(place, "this is a folder: a file is expected"))
            }
            Ok(_) => {}
            Err(error) => {
                faults.push(Fault::new(place, format!("the file cannot be read: {error}")))
            }
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Error::Input(faults)) }
}
