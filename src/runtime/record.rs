//! [`RunRecord`]: the messages and results of a run, from its first line to its last file.

use super::checkpoint::Identity;
use super::checkpoint::file::Checkpoint;
use super::interrupt;
use super::job_context::JobContext;
use super::jobs::Jobs;
use super::resources::Shares;
use crate::error::{Error, Result};
use crate::observer::{Event, Observer};
use crate::output::{CHECKPOINT, JSON, LAST_TREE, LOG, PAGE, page_of};
use crate::output::{Growing, OutputFiles, OutputKind, Part, Progress, Report, Request, pairs};
use crate::output::{Names, TreeFormat, Watched, write_trees};
use crate::panics::caught;
use crate::plan::Plan;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

/// What becomes of a run that cannot be resumed.
const WITHOUT_CHECKPOINT: &str =
    "this analysis has no checkpoint: it begins anew, with --redo if it has written files";

/// Progress, report and files of one run.
pub(crate) struct RunRecord {
    /// The terminal, standard output and the log.
    pub progress: Progress,
    /// What goes into the JSON file.
    pub report: Report,
    /// The checkpoint, of a run that can be resumed.
    pub checkpoint: Option<Checkpoint>,
    /// Why the run is a failure although all of its results are written.
    pub failure: Option<Error>,
    files: OutputFiles,
    /// Results, where they are kept in memory.
    kept: Option<Vec<(OutputKind, Vec<u8>)>>,
    written: Vec<(OutputKind, PathBuf)>,
    /// Files of trees are also written in this format.
    tree_format: TreeFormat,
    /// Results are also written with these names.
    names: Names,
    begun: bool,
}

impl RunRecord {
    /// Reserves the files of the run, which is shown on the terminal, or to the program that watches it.
    ///
    /// # Errors
    /// Those of [`OutputFiles::reserve`].
    pub(crate) fn open(plan: &Plan, watched: Option<&Watched>) -> Result<Self> {
        let files = OutputFiles::reserve(Request {
            prefix: plan.output.prefix.clone(),
            kinds: plan.facts.outputs.clone(),
            redo: plan.output.redo,
            replaced: plan.facts.replaced.clone(),
            numbered: plan.facts.numbered,
            inputs: plan.input_files().into_iter().map(PathBuf::from).collect(),
            resumable: plan.facts.resumes,
        })?;
        // A check prints its result only.
        let quiet = plan.output.quiet || plan.is_check;
        let progress = watched.map_or_else(|| Progress::on_terminal(quiet), Watched::progress);
        let (terminal, log) = (progress.terminal(), files.empty_log());
        interrupt::prepare_last_words(move |error| {
            terminal.insist(&format!("mlsearch: {error}"));
            // That it cannot be removed is less important.
            log.map(std::fs::remove_file);
        });
        Ok(RunRecord {
            progress,
            report: Report::new(&plan.command_line, plan.seed),
            checkpoint: None,
            failure: None,
            files,
            kept: None,
            written: Vec::new(),
            tree_format: plan.output.tree_format,
            names: plan.output.names,
            begun: false,
        })
    }

    /// The record of one of many computations of a run: it shows nothing, and keeps its results in memory. `checkpoint` is its part of
    /// that of the run.
    ///
    /// # Errors
    /// None.
    pub(crate) fn in_memory(plan: &Plan, checkpoint: Option<Checkpoint>) -> Result<Self> {
        let [shown, results] = [std::io::sink(), std::io::sink()].map(Box::new);
        Ok(RunRecord {
            progress: Progress::new(shown, results, false, true),
            report: Report::new(&plan.command_line, plan.seed),
            checkpoint,
            files: OutputFiles::reserve(Request::default())?,
            kept: Some(Vec::new()),
            written: Vec::new(),
            tree_format: TreeFormat::Newick,
            names: Names::Mlsearch,
            begun: true,
            failure: None,
        })
    }

    /// A result that was kept in memory.
    pub(crate) fn kept(&self, kind: OutputKind) -> Option<&str> {
        let found = self.kept.iter().flatten().find(|kept| kept.0 == kind);
        found.and_then(|(_, bytes)| std::str::from_utf8(bytes).ok())
    }

    /// Opens the checkpoint of a run of this identity, which resumes an unfinished one if it is the same. One that keeps its results
    /// in memory has none of its own.
    ///
    /// # Errors
    /// The checkpoint of another run, or a damaged one; results that are not its own.
    pub(crate) fn open_checkpoint(&mut self, plan: &Plan, identity: Identity) -> Result<()> {
        if self.kept.is_some() {
            return Ok(());
        }
        let paths = [CHECKPOINT, LAST_TREE].map(|kind| self.files.path(kind));
        let (checkpoint, begun) = Checkpoint::open(
            paths,
            identity,
            self.files.is_unfinished(),
            self.files.replaces(),
            self.progress.terminal(),
            plan.run.stop,
        )?;
        if let Some(begun) = begun {
            let is_begun = |kind: &&OutputKind| begun.kinds.contains(&u32::from(kind.rank()));
            let kinds = plan.facts.replaced.iter().filter(is_begun).copied().collect();
            self.files.resume(kinds, begun.replaces)?;
            let path = self.files.path(CHECKPOINT);
            self.progress.about_run(&format!("resuming the run of '{}'", path.display()));
        }
        self.checkpoint = Some(checkpoint);
        let (terminal, command) = (self.progress.terminal(), plan.resuming_command.clone());
        interrupt::prepare_last_words(move |error| {
            terminal.insist(&format!("mlsearch: {}", error.that_resumes(command)));
        });
        Ok(())
    }

    /// Does jobs that the checkpoint keeps, and says how they share the threads.
    ///
    /// # Errors
    /// That of the first job that failed.
    pub(crate) fn run_jobs<T: Send + Serialize + DeserializeOwned>(
        &mut self,
        jobs: &Jobs<T>,
        work: impl Fn(&mut JobContext) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let Shares { jobs: at_once, parts, resources } = jobs.shares;
        let (threads, kernels) = (resources.threads(), resources.engine().instruction_set);
        self.report.run.threads = at_once * parts * threads;
        if jobs.before == 0 {
            let parts = if parts > 1 { format!("parts of each: {parts}, ") } else { String::new() };
            self.progress.detail_about_run(&format!(
                "computations at the same time: {at_once}, {parts}threads in each: {threads}, kernels: {kernels}"
            ));
        }
        jobs.run(self.checkpoint.as_ref(), &mut self.progress, work)
    }

    /// The input was accepted: the log grows from now on.
    ///
    /// # Errors
    /// A log that cannot be written.
    pub(crate) fn begin(&mut self) -> Result<()> {
        if !std::mem::replace(&mut self.begun, true)
            && let Some((log, already)) = self.files.begin()?
        {
            self.progress.log_to(Box::new(log), &already);
            if self.checkpoint.is_none() {
                let terminal = self.progress.terminal();
                interrupt::prepare_last_words(move |error| {
                    terminal.insist(&format!("mlsearch: {error}; {WITHOUT_CHECKPOINT}"));
                });
            }
        }
        Ok(())
    }

    /// Writes a result file as a whole.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn write(&mut self, kind: OutputKind, content: &str) -> Result<()> {
        self.write_from(kind, |file| file.write_all(content.as_bytes()))
    }

    /// The same, for content that is never in memory as a whole: `write` writes it.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn write_from(
        &mut self,
        kind: OutputKind,
        write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<()> {
        if let Some(kept) = &mut self.kept {
            let mut bytes = Vec::new();
            let failed = |source| Error::Io { path: kind.suffix().into(), source, writing: true };
            write(&mut bytes).map_err(failed)?;
            kept.push((kind, bytes));
            return Ok(());
        }
        let mut part = self.part(kind)?;
        write(&mut part).map_err(|source| part.failed(source))?;
        self.complete(part)
    }

    /// A result file that is written part by part, and is not there before it is complete; where results are kept in memory, it is not
    /// written.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn part(&mut self, kind: OutputKind) -> Result<Part> {
        self.begin()?;
        match self.kept {
            Some(_) => Ok(Part::nowhere(kind)),
            None => self.files.part(kind),
        }
    }

    /// The same for one of several result files of a kind, numbered from 1.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn numbered_part(&mut self, kind: OutputKind, number: usize) -> Result<Part> {
        self.begin()?;
        match self.kept {
            Some(_) => Ok(Part::nowhere(kind)),
            None => self.files.numbered_part(kind, number),
        }
    }

    /// Such a file is complete.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn complete(&mut self, part: Part) -> Result<()> {
        if self.kept.is_some() {
            return Ok(());
        }
        let kind = part.kind();
        if let Some(checkpoint) = &self.checkpoint {
            checkpoint.begin_file(kind)?;
        }
        let path = self.files.complete(part)?;
        if !kind.is_numbered() {
            self.progress.detail_about_run(&format!("written: {}", path.display()));
            self.written.push((kind, path.clone()));
        } else if !self.written.iter().any(|(written, _)| *written == kind) {
            self.written.push((kind, self.files.path(kind)));
        }
        if let Some((other, labels)) = kind.in_format(self.tree_format) {
            self.write_again(&path, other, labels)?;
        }
        match kind.with_name_of(self.names) {
            Some(other) => self.copy(&path, other),
            None => Ok(()),
        }
    }

    /// Writes the same content in a file with another name.
    fn copy(&mut self, file: &Path, kind: OutputKind) -> Result<()> {
        let path = file.display().to_string();
        let opened = File::open(file);
        let mut opened = opened.map_err(|source| Error::Io { path, source, writing: true })?;
        let mut part = self.part(kind)?;
        std::io::copy(&mut opened, &mut part).map_err(|source| part.failed(source))?;
        self.complete(part)
    }

    /// Writes the trees of a Newick file in the other format, too.
    fn write_again(&mut self, newick: &Path, kind: OutputKind, labels: &str) -> Result<()> {
        let path = newick.display().to_string();
        let opened = File::open(newick);
        let opened =
            opened.map_err(|source| Error::Io { path: path.clone(), source, writing: true })?;
        let mut part = self.part(kind)?;
        let reader = BufReader::new(opened);
        let written = write_trees(reader, &path, self.tree_format, labels, &mut part)?;
        written.map_err(|source| part.failed(source))?;
        self.complete(part)
    }

    /// Writes one of several result files of a kind, numbered from 1.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn write_numbered(
        &mut self,
        kind: OutputKind,
        number: usize,
        content: &str,
    ) -> Result<()> {
        let mut part = self.numbered_part(kind, number)?;
        part.write_all(content.as_bytes()).map_err(|source| part.failed(source))?;
        self.complete(part)
    }

    /// A result file that grows while the run goes on.
    ///
    /// # Errors
    /// A file that is not the run's own.
    pub(crate) fn grow(&mut self, kind: OutputKind) -> Result<Growing> {
        if self.kept.is_some() {
            return Ok(Growing::nowhere());
        }
        if let Some(checkpoint) = &self.checkpoint {
            checkpoint.begin_file(kind)?;
        }
        self.files.grow(kind)
    }

    /// The same for one of several result files of a kind, numbered from 1. The first line must be that of the first of them.
    ///
    /// # Errors
    /// A file that is not the run's own.
    pub(crate) fn grow_numbered(&mut self, kind: OutputKind, number: usize) -> Result<Growing> {
        if self.kept.is_some() {
            return Ok(Growing::nowhere());
        }
        if let Some(checkpoint) = &self.checkpoint {
            checkpoint.begin_file(kind)?;
        }
        self.files.grow_numbered(kind, number)
    }

    /// The run has ended early. A run that was refused leaves nothing; a run that failed leaves the log and
    /// what was written before.
    pub(crate) fn fail(mut self, error: &Error) {
        interrupt::run_is_ending();
        match error {
            Error::Interrupted { .. } => self.progress.detail_about_run(&error.to_string()),
            _ => self.progress.detail_about_run(&format!("failed: {error}")),
        }
        self.progress.detail_about_run(&format!("state: {}", error.state()));
        if error.exit_code() == 2 {
            if let Some(checkpoint) = self.checkpoint.take().filter(Checkpoint::is_new) {
                // That it cannot be removed is less important than the refusal.
                let _ = checkpoint.remove();
            }
            self.files.refuse();
        }
    }

    /// Writes the page of a JSON report. The results are there without it: nothing that goes wrong is an error of the run.
    fn write_page(&mut self, report: &str) {
        let written = caught(|| {
            let page = page_of(report).map_err(Error::Failed)?;
            self.write(PAGE, &page)
        });
        if let Err(error) = written {
            let path = self.files.path(PAGE);
            let message = format!("'{}' is not written: {error}", path.display());
            self.progress.event(&Event::Warning(message));
        }
    }

    /// Writes the report, lists the files that were written, and ends the log with the state in which the run has ended.
    ///
    /// # Errors
    /// A file that cannot be written, the log among them.
    pub(crate) fn close(mut self, plan: &Plan, state: &str) -> Result<()> {
        interrupt::run_is_ending();
        let kinds = &plan.facts.outputs;
        self.report.warnings = self.progress.warnings().to_vec();
        for (stage, seconds) in self.progress.timings().to_vec() {
            self.report.timings.add(&stage, seconds);
        }
        self.report.run.log_likelihoods = self.progress.history().to_vec();
        let elapsed = self.progress.elapsed().as_secs_f64();
        self.report.timings.add("total", elapsed);
        if kinds.contains(&JSON) {
            let report = self.report.to_json();
            self.write(JSON, &report)?;
            if kinds.contains(&PAGE) {
                self.write_page(&report);
            }
        }
        if kinds.contains(&LOG) {
            self.written.push((LOG, self.files.path(LOG)));
        }
        // The most important ones come first.
        self.written.sort_by_key(|(kind, _)| kind.listed());
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
        self.progress.detail_about_run(&format!("state: {state}"));
        if let Some(source) = self.progress.log_error() {
            let path = self.files.path(LOG).display().to_string();
            return Err(Error::Io { path, source, writing: true });
        }
        // The log is complete, and no message follows.
        if let Some(info) = LOG.with_name_of(self.names).filter(|kind| kinds.contains(kind)) {
            let log = self.files.path(LOG);
            self.copy(&log, info)?;
        }
        self.checkpoint.take().map_or(Ok(()), Checkpoint::remove)
    }
}
