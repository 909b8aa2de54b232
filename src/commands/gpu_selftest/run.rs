//! `mlsearch gpu-selftest`: whether GPUs give the processor's bits, and how fast they are.

use super::compare::{agreement, single_scores};
use super::measure::measure;
use super::report::SelftestReport;
use crate::commands::Command;
use crate::conformance::{CASES, CaseShape, WIDE_CASES};
use crate::error::{Error, Result};
use crate::likelihood::select::{ENGINE_OF_GPUS, describe_gpus, engine_names};
use crate::likelihood::{EngineOptions, ScorePrecision};
use crate::output::Section;
use crate::parallel::available_cores;
use crate::plan::{Facts, Plan};
use crate::runtime::RunRecord;

/// Its section of the JSON file.
pub(super) const SECTION: Section<SelftestReport> = Section::new("gpu_selftest");

/// A self-test of GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GpuSelftest {
    /// Only what takes seconds.
    pub quick: bool,
    /// Only comparisons, until a number differs.
    pub compare: bool,
}

impl Command for GpuSelftest {
    fn facts(&self, _: &Plan) -> Facts {
        Facts { task: "self-test of GPUs".into(), ..Facts::default() }
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        gpu_selftest(plan, self, record)
    }
}

/// Compares and measures the GPUs, and writes what was found.
///
/// # Errors
/// [`Error::Usage`] if there is no GPU that can be used; [`Error::Failed`] if its numbers differ.
fn gpu_selftest(plan: &Plan, options: &GpuSelftest, record: &mut RunRecord) -> Result<()> {
    let threads = available_cores();
    let base = EngineOptions { gpus: plan.run.gpus, threads, ..EngineOptions::default() };
    let on_gpus = EngineOptions { name: Some(ENGINE_OF_GPUS), ..base };
    let on_processor = EngineOptions { name: Some(engine_names()[0]), ..base };
    let in_single = EngineOptions { score_precision: ScorePrecision::Single, ..on_gpus };
    let mut report = SelftestReport {
        gpus: describe_gpus(&on_gpus).map_err(|error| Error::Usage(error.to_string()))?,
        threads,
        ..SelftestReport::default()
    };
    let wide = if options.quick { &[] } else { WIDE_CASES };
    // Deep trees take an emulator long.
    let is_wanted = |shape: &&CaseShape| !(options.quick && shape.is_deep());
    for shape in CASES.iter().chain(wide).filter(is_wanted) {
        record.progress.stage(&format!("comparing: {}", shape.name), None);
        let linkages = if options.quick { &shape.linkages()[..1] } else { shape.linkages() };
        let engines = [&on_processor, &on_gpus];
        report.agreement.push(agreement(shape, linkages, engines)?);
        if options.compare && report.num_differing() > 0 {
            break;
        }
    }
    if !options.compare {
        for shape in CASES.iter().filter(is_wanted) {
            let engines = [&on_gpus, &in_single, &in_single];
            report.single.push(single_scores(shape, engines)?);
        }
        let engines = [&on_processor, &on_gpus, &in_single];
        measure(plan.seed, options.quick, engines, &mut report, record)?;
    }
    record.progress.result(&report.tables());
    let num_differing = report.num_differing();
    record.report.write_section(&SECTION, &report);
    if num_differing == 0 {
        return Ok(());
    }
    Err(Error::Failed(format!(
        "{num_differing} numbers of the GPU differ from those of the processor: do not use it, and please report this \
         with the tables above"
    )))
}
