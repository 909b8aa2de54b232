//! [`RunRecord`]: the messages and results of a run, from its first line to its last file.

use crate::error::{Error, Result};
use crate::output::{OutputFiles, OutputKind, Progress, Report, pairs};
use crate::run::plan::{Command, Plan};
use std::path::PathBuf;

/// Progress, report and files of one run.
pub(crate) struct RunRecord {
    /// The terminal, standard output and the log.
    pub progress: Progress,
    /// What goes into the JSON file.
    pub report: Report,
    files: OutputFiles,
    written: Vec<(OutputKind, PathBuf)>,
    begun: bool,
}

impl RunRecord {
    /// Reserves the files of the run.
    ///
    /// # Errors
    /// Those of [`OutputFiles::reserve`].
    pub(crate) fn open(plan: &Plan) -> Result<Self> {
        let (kinds, redo) = (plan.output_kinds(), plan.output.redo);
        let inputs = plan.input_files();
        let replaced = plan.replaced_kinds();
        let files = OutputFiles::reserve(&plan.output.prefix, &kinds, redo, &replaced, &inputs)?;
        // A check prints its result only.
        let quiet = plan.output.quiet || plan.command == Command::Check;
        Ok(RunRecord {
            progress: Progress::on_terminal(quiet),
            report: Report::new(&plan.command_line, plan.seed),
            files,
            written: Vec::new(),
            begun: false,
        })
    }

    /// The input was accepted: the log grows from now on.
    ///
    /// # Errors
    /// A log that cannot be written.
    pub(crate) fn begin(&mut self) -> Result<()> {
        if !std::mem::replace(&mut self.begun, true)
            && let Some(log) = self.files.begin()?
        {
            self.progress.log_to(Box::new(log));
        }
        Ok(())
    }

    /// Writes a result file as a whole.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn write(&mut self, kind: OutputKind, content: &str) -> Result<()> {
        self.begin()?;
        let path = self.files.write(kind, content.as_bytes())?;
        self.progress.detail_about_run(&format!("written: {}", path.display()));
        self.written.push((kind, path));
        Ok(())
    }

    /// The run has ended early. A run that was refused leaves nothing; a run that failed leaves the log and
    /// what was written before.
    pub(crate) fn fail(mut self, error: &Error) {
        self.progress.detail_about_run(&format!("failed: {error}"));
        if error.exit_code() == 2 {
            self.files.refuse();
        }
    }

    /// Writes the report, lists the files that were written, and ends the log.
    ///
    /// # Errors
    /// A file that cannot be written, the log among them.
    pub(crate) fn close(mut self, plan: &Plan) -> Result<()> {
        let kinds = plan.output_kinds();
        self.report.warnings = self.progress.warnings().to_vec();
        for (stage, seconds) in self.progress.timings().to_vec() {
            self.report.timings.add(&stage, seconds);
        }
        let elapsed = self.progress.elapsed().as_secs_f64();
        self.report.timings.add("total", elapsed);
        if kinds.contains(&OutputKind::Json) {
            let report = self.report.to_json();
            self.write(OutputKind::Json, &report)?;
        }
        if kinds.contains(&OutputKind::Log) {
            self.written.push((OutputKind::Log, self.files.path(OutputKind::Log)));
        }
        // The most important ones come first.
        self.written.sort_by_key(|(kind, _)| *kind as u8);
        let names: Vec<String> =
            self.written.iter().map(|(_, path)| path.display().to_string()).collect();
        let rows: Vec<(&str, String)> = names
            .iter()
            .zip(&self.written)
            .map(|(name, (kind, _))| (name.as_str(), kind.content().to_string()))
            .collect();
        if !rows.is_empty() {
            self.progress.result_about_run(&pairs("Files", &rows));
            self.progress.about_run(&format!("Time: {elapsed:.1} s"));
        }
        match self.progress.log_error() {
            None => Ok(()),
            Some(source) => Err(Error::Io {
                path: self.files.path(OutputKind::Log).display().to_string(),
                source,
                writing: true,
            }),
        }
    }
}
