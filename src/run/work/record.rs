//! [`Record`]: the messages and results of a run, from its first line to its last file.

use crate::error::{Error, Result};
use crate::output::{Kind, OutputFiles, Progress, Report, pairs};
use crate::run::plan::{Command, Plan};
use std::path::PathBuf;

/// Progress, report and files of one run.
pub struct Record {
    /// The terminal, standard output and the log.
    pub progress: Progress,
    /// What goes into the JSON file.
    pub report: Report,
    files: OutputFiles,
    written: Vec<(Kind, PathBuf)>,
    begun: bool,
}

impl Record {
    /// Reserves the files of the run.
    ///
    /// # Errors
    /// Those of [`OutputFiles::reserve`].
    pub fn open(plan: &Plan) -> Result<Self> {
        let (kinds, redo) = (plan.output_kinds(), plan.output.redo);
        let inputs = plan.input_files();
        let replaced = plan.replaced_kinds();
        let files = OutputFiles::reserve(&plan.output.prefix, &kinds, redo, &replaced, &inputs)?;
        // A check prints its result only.
        let quiet = plan.output.quiet || plan.command == Command::Check;
        Ok(Record {
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
    pub fn begin(&mut self) -> Result<()> {
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
    pub fn write(&mut self, kind: Kind, content: &str) -> Result<()> {
        self.begin()?;
        let path = self.files.write(kind, content.as_bytes())?;
        self.progress.detail_about_run(&format!("written: {}", path.display()));
        self.written.push((kind, path));
        Ok(())
    }

    /// The run has ended early. A run that was refused leaves nothing; a run that failed leaves the log and
    /// what was written before.
    pub fn fail(mut self, error: &Error) {
        self.progress.detail_about_run(&format!("failed: {error}"));
        if error.exit_code() == 2 {
            self.files.refuse();
        }
    }

    /// Writes the report, lists the files that were written, and ends the log.
    ///
    /// # Errors
    /// A file that cannot be written, the log among them.
    pub fn close(mut self, plan: &Plan) -> Result<()> {
        let kinds = plan.output_kinds();
        self.report.warnings = self.progress.warnings().to_vec();
        for (stage, seconds) in self.progress.timings().to_vec() {
            self.report.timings.add(&stage, seconds);
        }
        let elapsed = self.progress.elapsed().as_secs_f64();
        self.report.timings.add("total", elapsed);
        if kinds.contains(&Kind::Json) {
            let report = self.report.to_json();
            self.write(Kind::Json, &report)?;
        }
        if kinds.contains(&Kind::Log) {
            self.written.push((Kind::Log, self.files.path(Kind::Log)));
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
                path: self.files.path(Kind::Log).display().to_string(),
                source,
                writing: true,
            }),
        }
    }
}
