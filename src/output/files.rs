//! Output files: their paths, and writing them so that they are either complete or absent.
//!
//! All names start with the prefix of the run: `PREFIX.mlsearch.bestTree` and so on. A run reserves its
//! names before anything is computed; existing files are refused unless `--redo` was given.

use super::growing::Growing;
use super::kinds::OutputKind;
use super::kinds::{CHECKPOINT, LOG};
use super::progress::RUN_MARKER;
use crate::error::{Error, Result};
use crate::whole_file;
use std::fs::{File, TryLockError};
use std::io::{BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The files that a run asks for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request {
    /// The start of all names.
    pub prefix: PathBuf,
    /// All kinds that the run writes.
    pub kinds: Vec<OutputKind>,
    /// Existing results may be replaced.
    pub redo: bool,
    /// Of these kinds, with `redo`.
    pub replaced: Vec<OutputKind>,
    /// How many files there are of each kind of which there are several.
    pub numbered: usize,
    /// The inputs of the run; one may be a result that is replaced.
    pub inputs: Vec<PathBuf>,
    /// An unfinished run with this prefix may be resumed.
    pub resumable: bool,
}

/// The output files of one run.
///
/// From [`OutputFiles::reserve`] on, no other run can use the prefix: its log is locked. The log changes at
/// [`OutputFiles::begin`], and results of an earlier run are removed when the first new one is there: a run that
/// is refused, or fails before, destroys no result.
#[derive(Debug)]
pub(crate) struct OutputFiles {
    request: Request,
    /// Results of an earlier run that are replaced by those of this one.
    replaced: Vec<PathBuf>,
    /// Inputs of this run that will be replaced: they remain until the result is there.
    inputs: Vec<PathBuf>,
    /// Files that this run may have written before it was interrupted.
    begun: Vec<OutputKind>,
    /// There is a run to be resumed.
    is_unfinished: bool,
    log: Option<File>,
    /// The log was made by this run.
    log_is_new: bool,
    /// The log remains after the run.
    keeps_log: bool,
    has_written: bool,
}

impl OutputFiles {
    /// Makes sure that every file can be written later. With `redo`, existing files of the kinds `replaced` will be
    /// removed before the first one is written; the run's own inputs stay until a result takes their place.
    ///
    /// # Errors
    /// [`Error::Usage`] if the folder is missing, if another run uses the prefix, or if results exist
    /// and `redo` is false; all existing ones are named. A log alone does not count: a run that failed
    /// leaves one. [`Error::Failed`] if no file can be created in the folder.
    pub(crate) fn reserve(request: Request) -> Result<Self> {
        let mut files = OutputFiles {
            request,
            replaced: Vec::new(),
            inputs: Vec::new(),
            begun: Vec::new(),
            is_unfinished: false,
            log: None,
            log_is_new: false,
            keeps_log: false,
            has_written: false,
        };
        let Request { prefix, kinds, redo, resumable, .. } = &files.request.clone();
        if kinds.is_empty() {
            return Ok(files);
        }
        let folder = whole_file::folder(prefix);
        if !folder.is_dir() {
            return Err(Error::Usage(format!(
                "the output folder '{}' does not exist: create it, or choose another one with --prefix (-n, -w)",
                folder.display()
            )));
        }
        let paths: Vec<PathBuf> = kinds.iter().flat_map(|&kind| files.paths(kind)).collect();
        let folders: Vec<&PathBuf> = paths.iter().filter(|path| path.is_dir()).collect();
        if !folders.is_empty() {
            return Err(Error::Usage(format!(
                "these output files are existing folders:{}\nGive another --prefix (-n).",
                list(&folders)
            )));
        }
        // Reported now rather than after hours of computation. The temporary file is removed at once.
        let impossible = paths.iter().find_map(|path| match path.symlink_metadata() {
            Err(error) if error.kind() != ErrorKind::NotFound => Some(error),
            _ => None,
        });
        let failed = |error: std::io::Error| {
            let prefix = prefix.display();
            Error::Failed(format!(
                "results cannot be written to '{prefix}.*': {error}; choose another folder with --prefix (-n, -w)"
            ))
        };
        let log = files.path(LOG);
        if let Some(error) = impossible.or_else(|| whole_file::temporary(&log).err()) {
            return Err(failed(error));
        }
        // The lock is taken before existing files are checked: of two runs that start at once, one gets it.
        if kinds.contains(&LOG) {
            files.lock_log().map_err(failed)?.ok_or_else(|| {
                Error::Usage(format!(
                    "another run is writing to '{}.mlsearch.*': wait until it ends, or choose another \
                     --prefix (-n)",
                    prefix.display()
                ))
            })?;
        }
        whole_file::remove_leftovers(&log);
        let checkpoint = files.path(CHECKPOINT);
        if *redo {
            files.replace_earlier();
        } else if !exists(&checkpoint) {
            files.refuse_existing()?;
        } else if *resumable {
            files.is_unfinished = true;
        } else {
            return Err(Error::Usage(format!(
                "'{}' belongs to an unfinished run: repeat its command to resume it. Give --redo to replace its \
                 results, or another --prefix (-n) to keep them.",
                checkpoint.display()
            )));
        }
        Ok(files)
    }

    /// True if an unfinished run is there, to be resumed by [`OutputFiles::resume`].
    pub(crate) fn is_unfinished(&self) -> bool {
        self.is_unfinished
    }

    /// The unfinished run is resumed, which has begun to write these files. `replaces` says if it replaces earlier
    /// results.
    ///
    /// # Errors
    /// [`Error::Usage`] if there are results that are not its own.
    pub(crate) fn resume(&mut self, begun: Vec<OutputKind>, replaces: bool) -> Result<()> {
        self.begun = begun;
        if replaces {
            self.replace_earlier();
            Ok(())
        } else {
            self.refuse_existing()
        }
    }

    /// Results that exist must not be there.
    fn refuse_existing(&self) -> Result<()> {
        let others = self.request.kinds.iter().filter(|kind| !self.begun.contains(kind));
        let others = others.filter(|kind| **kind != LOG);
        let paths = others.flat_map(|&kind| self.paths(kind));
        let existing: Vec<PathBuf> = paths.filter(|path| exists(path)).collect();
        if existing.is_empty() {
            return Ok(());
        }
        let how = if self.earlier_has_ended() { "" } else { " (it was killed before its end)" };
        Err(Error::Usage(format!(
            "results of an earlier run exist{how} and are not overwritten:{}\n\
             Give --redo to replace them, or another --prefix (-n) to keep them.",
            list(&existing.iter().collect::<Vec<_>>())
        )))
    }

    /// False if there is a log that says nothing of the end of its run.
    fn earlier_has_ended(&self) -> bool {
        let log = std::fs::read_to_string(self.path(LOG)).unwrap_or_default();
        log.is_empty() || log.contains(&format!("{RUN_MARKER} state: "))
    }

    /// Results that exist will be replaced.
    fn replace_earlier(&mut self) {
        let is_input = |path: &Path| self.request.inputs.iter().any(|input| same_file(path, input));
        // A run that can be resumed replaces the checkpoint itself, as soon as its input is accepted.
        let stays = |kind: &OutputKind| match *kind {
            kind if kind == LOG => true,
            kind if kind == CHECKPOINT => self.request.resumable,
            kind => self.begun.contains(&kind),
        };
        let earlier = self.request.replaced.iter().filter(|kind| !stays(kind));
        let earlier = earlier.flat_map(|&kind| self.paths(kind)).filter(|path| exists(path));
        (self.inputs, self.replaced) = earlier.partition(|path| is_input(path));
    }

    /// True if results of an earlier run will be replaced.
    pub(crate) fn replaces(&self) -> bool {
        !self.replaced.is_empty() || !self.inputs.is_empty()
    }

    /// Opens and locks the log; `None` if another run has it.
    fn lock_log(&mut self) -> std::io::Result<Option<()>> {
        let path = self.path(LOG);
        let is_new = !path.exists();
        let file =
            File::options().create(true).truncate(false).read(true).write(true).open(path)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            // On a file system without locks, two runs with one prefix cannot be detected.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        self.log = Some(file);
        self.log_is_new = is_new;
        Ok(Some(()))
    }

    /// The input was accepted: the log, to be written from now on, and its earlier text if the run is resumed.
    ///
    /// # Errors
    /// [`Error::Io`] (writing).
    pub(crate) fn begin(&mut self) -> Result<Option<(File, String)>> {
        self.keeps_log = true;
        let path = self.path(LOG);
        let resumed = self.is_unfinished;
        let open = |log: &File| {
            let (mut log, mut text) = (log.try_clone()?, Vec::new());
            log.seek(SeekFrom::Start(0))?;
            if resumed {
                log.read_to_end(&mut text)?;
                // A line that a killed run could not complete.
                text.truncate(text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1));
            }
            log.set_len(text.len() as u64)?;
            log.seek(SeekFrom::End(0))?;
            Ok((log, String::from_utf8_lossy(&text).into_owned()))
        };
        self.log.as_ref().map(open).transpose().map_err(|source| writing(&path, source))
    }

    /// The run is refused after all: unless it has written something, it leaves no log.
    pub(crate) fn refuse(mut self) {
        self.keeps_log = self.has_written;
    }

    /// Path of one kind.
    pub(crate) fn path(&self, kind: OutputKind) -> PathBuf {
        if let Some((names, word)) = kind.name_of_other() {
            return names.path(&self.request.prefix, word);
        }
        let mut path = self.request.prefix.clone().into_os_string();
        path.push(format!("{}.", whole_file::MARK));
        path.push(kind.suffix());
        path.push(kind.extension());
        PathBuf::from(path)
    }

    /// Path of one of several files of a kind, numbered from 1.
    fn numbered_path(&self, kind: OutputKind, number: usize) -> PathBuf {
        let mut path = self.request.prefix.clone().into_os_string();
        let suffix = kind.suffix().replace('N', &number.to_string());
        path.push(format!("{}.{suffix}", whole_file::MARK));
        PathBuf::from(path)
    }

    /// Paths of all files of a kind, with those that an earlier run may have left beyond the last number.
    fn paths(&self, kind: OutputKind) -> Vec<PathBuf> {
        if !kind.is_numbered() {
            return vec![self.path(kind)];
        }
        let path = |number| self.numbered_path(kind, number);
        let own = (1..=self.request.numbered).map(path);
        own.chain((self.request.numbered + 1..).map(path).take_while(|path| exists(path))).collect()
    }

    /// A file that grows while the run goes on, until it is written as a whole.
    ///
    /// # Errors
    /// [`Error::Io`] (writing) if there is such a file, which is not the run's own.
    pub(crate) fn grow(&mut self, kind: OutputKind) -> Result<Growing> {
        self.grow_at(self.path(kind), kind)
    }

    /// The same for one of several files of a kind, numbered from 1. The first line must be that of the first of them.
    ///
    /// # Errors
    /// [`Error::Io`] (writing) if there is such a file, which is not the run's own.
    pub(crate) fn grow_numbered(&mut self, kind: OutputKind, number: usize) -> Result<Growing> {
        self.grow_at(self.numbered_path(kind, number), kind)
    }

    fn grow_at(&mut self, path: PathBuf, kind: OutputKind) -> Result<Growing> {
        if !self.begun.contains(&kind) && !self.replaced.contains(&path) && exists(&path) {
            return Err(writing(&path, ErrorKind::AlreadyExists.into()));
        }
        self.begun.push(kind);
        self.has_written = true;
        let is_own = |earlier: &PathBuf| *earlier != path;
        let replaced = std::mem::take(&mut self.replaced).into_iter().filter(is_own).collect();
        Ok(Growing::new(path, replaced))
    }

    /// The log, if nothing is in it that is to be kept.
    pub(crate) fn empty_log(&self) -> Option<PathBuf> {
        (self.log_is_new && !self.keeps_log).then(|| self.path(LOG))
    }

    /// A file that is written part by part under a temporary name, until [`OutputFiles::complete`] moves it to its place.
    ///
    /// # Errors
    /// [`Error::Io`] (writing).
    pub(crate) fn part(&self, kind: OutputKind) -> Result<Part> {
        self.part_at(self.path(kind), kind)
    }

    /// The same for one of several files of a kind, numbered from 1.
    ///
    /// # Errors
    /// [`Error::Io`] (writing).
    pub(crate) fn numbered_part(&self, kind: OutputKind, number: usize) -> Result<Part> {
        self.part_at(self.numbered_path(kind, number), kind)
    }

    fn part_at(&self, path: PathBuf, kind: OutputKind) -> Result<Part> {
        let open = || {
            let file = whole_file::temporary(&path)?;
            let out = BufWriter::new(file.as_file().try_clone()?);
            Ok((file, out))
        };
        let (file, out) = open().map_err(|source| writing(&path, source))?;
        Ok(Part { kind, path, to: Some((file, out)) })
    }

    /// Moves a file to its place, so that it is never there before it is complete. Before the first one, results of an
    /// earlier run are removed. A file that has appeared since the start is not overwritten.
    ///
    /// # Errors
    /// [`Error::Io`] (writing) with the path, whose file is then unchanged.
    pub(crate) fn complete(&mut self, part: Part) -> Result<PathBuf> {
        let Part { kind, path, to } = part;
        let Some((file, mut out)) = to else { return Ok(path) };
        let failed = |source: std::io::Error| writing(&path, source);
        out.flush().and_then(|()| file.as_file().sync_all()).map_err(failed)?;
        for earlier in std::mem::take(&mut self.replaced) {
            std::fs::remove_file(&earlier).map_err(|source| writing(&earlier, source))?;
        }
        self.has_written = true;
        let replaces = self.inputs.contains(&path) || self.begun.contains(&kind);
        let moved = if replaces { file.persist(&path) } else { file.persist_noclobber(&path) };
        moved.map_err(|e| failed(e.error))?;
        Ok(path)
    }
}

/// A file that is not complete yet; it disappears unless it is completed.
#[derive(Debug)]
pub(crate) struct Part {
    kind: OutputKind,
    path: PathBuf,
    /// The file, and the way into it; `None` for one that is not written. What the system says is told without the temporary name, which would
    /// be confusing.
    to: Option<(NamedTempFile, BufWriter<File>)>,
}

impl Part {
    /// One that is not written.
    pub(crate) fn nowhere(kind: OutputKind) -> Self {
        Part { kind, path: PathBuf::new(), to: None }
    }

    /// What it will be.
    pub(crate) fn kind(&self) -> OutputKind {
        self.kind
    }

    /// The error of a write.
    pub(crate) fn failed(&self, source: std::io::Error) -> Error {
        writing(&self.path, source)
    }
}

impl Write for Part {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.to.as_mut().map_or(Ok(bytes.len()), |(_, out)| out.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.to.as_mut().map_or(Ok(()), |(_, out)| out.flush())
    }
}

impl Drop for OutputFiles {
    /// A run that was refused before it began leaves no log.
    fn drop(&mut self) {
        self.empty_log().map(std::fs::remove_file);
    }
}

fn writing(path: &Path, source: std::io::Error) -> Error {
    Error::Io { path: path.display().to_string(), source, writing: true }
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn list(paths: &[&PathBuf]) -> String {
    paths.iter().map(|path| format!("\n  {}", path.display())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::kinds::{JSON, OF_EVERY_RUN};
    use super::*;

    const TREE: OutputKind = OutputKind::new(0, "bestTree", "a tree");
    const KINDS: [OutputKind; 3] = [TREE, LOG, JSON];

    fn reserve(prefix: &Path, redo: bool) -> Result<OutputFiles> {
        OutputFiles::reserve(request(prefix, redo))
    }

    fn request(prefix: &Path, redo: bool) -> Request {
        Request {
            prefix: prefix.to_path_buf(),
            kinds: KINDS.to_vec(),
            redo,
            replaced: [&[TREE][..], &OF_EVERY_RUN].concat(),
            numbered: 0,
            inputs: Vec::new(),
            resumable: true,
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn write(files: &mut OutputFiles, kind: OutputKind, content: &[u8]) -> Result<PathBuf> {
        let mut part = files.part(kind)?;
        part.write_all(content).map_err(|source| part.failed(source))?;
        files.complete(part)
    }

    #[test]
    fn results_are_written_whole_and_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("a.phy");
        let mut files = reserve(&prefix, false).unwrap();
        files.begin().unwrap();
        let path = write(&mut files, TREE, b"(a,b,c);\n").unwrap();
        assert_eq!(path, dir.path().join("a.phy.mlsearch.bestTree"));
        assert_eq!(std::fs::read(&path).unwrap(), b"(a,b,c);\n");
        assert_eq!(write(&mut files, TREE, b"x").unwrap_err().exit_code(), 1);
        assert_eq!(std::fs::read(&path).unwrap(), b"(a,b,c);\n");
        // No temporary file is left, not even by the failed write.
        assert_eq!(names(dir.path()), ["a.phy.mlsearch.bestTree", "a.phy.mlsearch.log"]);
    }

    #[test]
    fn every_existing_result_is_named_and_redo_removes_all_of_the_prefix() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("run");
        let file = |suffix: &str| dir.path().join(format!("run.mlsearch.{suffix}"));
        for suffix in ["bestTree", "json", "support", "log", "phy"] {
            std::fs::write(file(suffix), "old").unwrap();
        }
        std::fs::write(dir.path().join("runs.mlsearch.json"), "another's").unwrap();
        let error = reserve(&prefix, false).unwrap_err();
        let message = error.to_string();
        assert_eq!(error.exit_code(), 2);
        assert!(message.contains("run.mlsearch.bestTree") && message.contains("run.mlsearch.json"));
        assert!(message.contains("--redo"));
        let input = file("bestTree");
        let kinds = vec![OutputKind::new(1, "mlTrees", "trees"), LOG, JSON];
        let wanted = Request { kinds, inputs: vec![input], ..request(&prefix, true) };
        let redo = || OutputFiles::reserve(wanted.clone()).unwrap();
        // A run that is refused before it begins changes nothing.
        drop(redo());
        assert_eq!(names(dir.path()).len(), 6);
        assert_eq!(std::fs::read(file("log")).unwrap(), b"old");
        // One that fails before its first result only has the log.
        redo().begin().unwrap();
        assert_eq!(names(dir.path()).len(), 6);
        let mut files = redo();
        files.begin().unwrap().unwrap().0.write_all(b"new").unwrap();
        write(&mut files, JSON, b"new").unwrap();
        drop(files);
        // A simulated alignment, the run's own input and other prefixes are not the run's to remove.
        let left =
            ["bestTree", "json", "log", "phy"].map(|suffix| format!("run.mlsearch.{suffix}"));
        assert_eq!(names(dir.path())[..4], left);
        assert_eq!(std::fs::read(file("log")).unwrap(), b"new");
        assert_eq!(std::fs::read(file("json")).unwrap(), b"new");
    }

    #[test]
    fn a_prefix_belongs_to_one_run_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("run");
        let first = reserve(&prefix, false).unwrap();
        for redo in [false, true] {
            let error = reserve(&prefix, redo).unwrap_err();
            assert!(error.to_string().contains("another run is writing"), "{error}");
            assert_eq!(error.exit_code(), 2);
        }
        drop(first);
        assert!(names(dir.path()).is_empty(), "the refused run made no log either");
        let mut refused = reserve(&prefix, false).unwrap();
        refused.begin().unwrap();
        refused.refuse();
        assert!(names(dir.path()).is_empty(), "nor one that was refused late");
        // A run that failed leaves its log, which is no obstacle.
        let mut failed = reserve(&prefix, false).unwrap();
        failed.begin().unwrap();
        drop(failed);
        assert_eq!(names(dir.path()), ["run.mlsearch.log"]);
        reserve(&prefix, false).unwrap();
        assert_eq!(names(dir.path()), ["run.mlsearch.log"]);
    }

    #[test]
    fn a_missing_folder_is_refused_before_computing() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("none/run");
        let error = reserve(&prefix, true).unwrap_err();
        assert!(error.to_string().contains("does not exist"));
        OutputFiles::reserve(Request { prefix, ..Request::default() }).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_where_nothing_can_be_written_is_refused_before_computing() {
        let error = reserve(Path::new("/proc/run"), false).unwrap_err();
        assert_eq!(error.exit_code(), 1);
        assert!(error.to_string().contains("/proc"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_dangling_link_counts_as_existing() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/nowhere", dir.path().join("run.mlsearch.json")).unwrap();
        assert!(reserve(&dir.path().join("run"), false).is_err());
    }
}
