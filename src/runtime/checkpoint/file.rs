//! [`Checkpoint`]: the checkpoint of a run in progress, which all its threads write.

use super::{Identity, Journal, Key, Kind, Refused};
use crate::error::{Error, Result};
use crate::output::{OutputKind, Terminal};
use crate::runtime::interrupt;
use crate::stop::Stop;
use crate::whole_file;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Time between two states of a job.
const INTERVAL: Duration = Duration::from_secs(30);
/// At the end of a phase a state is kept if the last one is older than this share of the interval.
const AT_PHASE_END: f64 = 0.1;
/// Environment variable with another interval, in seconds; for tests.
const INTERVAL_VARIABLE: &str = "MLSEARCH_CHECKPOINT_SECONDS";
/// States are written at most so often that this share of the time is spent on it.
const MAX_SHARE: f64 = 0.005;

/// Remarks on the run as a whole, by the stage of their key: files that it may have begun to write, and the
/// replacement of earlier results.
const BEGUN: u32 = 0;
const REPLACES: u32 = 1;

/// The checkpoint of a run in progress.
pub(crate) struct Checkpoint {
    path: PathBuf,
    is_new: bool,
    journal: Mutex<Journal>,
    /// Time of the last fsync.
    synced: Mutex<Instant>,
    interval: Duration,
    /// Stages so far.
    stages: AtomicU32,
    last_tree: Mutex<LastTree>,
    terminal: Terminal,
    /// Files whose failure has been told.
    complained: Mutex<Vec<PathBuf>>,
    /// A job has failed: the others stop.
    has_failed: AtomicBool,
    stop: Stop,
}

/// The file of the best tree so far.
struct LastTree {
    path: PathBuf,
    lnl: f64,
}

/// What the state of an unfinished run says about its files.
#[derive(Debug, Default)]
pub(crate) struct Begun {
    /// The ranks of those it may have written.
    pub kinds: Vec<u32>,
    /// It replaces earlier results.
    pub replaces: bool,
}

impl Checkpoint {
    /// Opens the checkpoint of an unfinished run, if `resumes`, or begins one that replaces any other. Returns what
    /// the resumed run has written.
    ///
    /// # Errors
    /// [`Error::Usage`] for the checkpoint of another run, or one that is damaged; the system's.
    pub(crate) fn open(
        [path, last_tree]: [PathBuf; 2],
        identity: Identity,
        resumes: bool,
        replaces: bool,
        terminal: Terminal,
        stop: Stop,
    ) -> Result<(Self, Option<Begun>)> {
        let found = match resumes {
            true => Journal::open(&path).map_err(|why| refuse(&path, why))?,
            false => None,
        };
        let failed = |source| writing(&path, source);
        let (journal, begun) = match found {
            Some(journal) => {
                compare(&path, journal.identity(), &identity)?;
                let kinds = journal.jobs(Kind::Remark, BEGUN).collect();
                let replaces = journal.jobs(Kind::Remark, REPLACES).next().is_some();
                (journal, Some(Begun { kinds, replaces }))
            }
            None => {
                let mut journal = Journal::create(&path, identity).map_err(failed)?;
                if replaces {
                    let key = Key { stage: REPLACES, job: 0 };
                    journal.append(Kind::Remark, key, &[]).map_err(failed)?;
                }
                (journal, None)
            }
        };
        let last_tree = LastTree { path: last_tree, lnl: f64::NEG_INFINITY };
        let checkpoint = Checkpoint {
            path,
            is_new: begun.is_none(),
            journal: Mutex::new(journal),
            synced: Mutex::new(Instant::now()),
            interval: interval(),
            stages: AtomicU32::new(0),
            last_tree: Mutex::new(last_tree),
            terminal,
            complained: Mutex::default(),
            has_failed: AtomicBool::new(false),
            stop,
        };
        Ok((checkpoint, begun))
    }

    /// The same, with a state of every step.
    #[cfg(test)]
    pub(crate) fn of_every_step(self) -> Self {
        Checkpoint { interval: Duration::ZERO, ..self }
    }

    fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The number of the next stage that does jobs.
    pub(crate) fn next_stage(&self) -> u32 {
        self.stages.fetch_add(1, Ordering::Relaxed)
    }

    /// What was written of a job, if anything was.
    ///
    /// # Errors
    /// A checkpoint that cannot be read, or has something else.
    pub(crate) fn find<T: DeserializeOwned>(&self, kind: Kind, key: Key) -> Result<Option<T>> {
        let payload = self.journal().payload(kind, key);
        let payload = payload.map_err(|error| refuse(&self.path, Refused::Io(error)))?;
        payload.map(|payload| self.decode(&payload)).transpose()
    }

    /// True if anything was written of a job.
    pub(crate) fn has(&self, kind: Kind, key: Key) -> bool {
        self.journal().has(kind, key)
    }

    /// A value that was written.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is something else.
    pub(crate) fn decode<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T> {
        postcard::from_bytes(bytes).map_err(|error| self.unusable(&error.to_string()))
    }

    /// The error of a checkpoint whose contents do not fit the run.
    pub(crate) fn unusable(&self, why: &str) -> Error {
        refuse(&self.path, Refused::Damaged(format!("its contents do not fit the data: {why}")))
    }

    /// Writes what is known of a job. A failure is told once and does not end the run: what was written before remains,
    /// and results can perhaps be written later.
    pub(crate) fn write(&self, kind: Kind, key: Key, value: &impl Serialize, sync: bool) {
        let written = postcard::to_stdvec(value).map_err(std::io::Error::other).and_then(|bytes| {
            let mut journal = self.journal();
            journal.append(kind, key, &bytes)?;
            let mut synced = self.synced.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            if sync || synced.elapsed() > INTERVAL {
                journal.sync()?;
                *synced = Instant::now();
            }
            Ok(())
        });
        self.complain(written, &self.path);
    }

    fn complain(&self, result: std::io::Result<()>, path: &Path) {
        let Err(error) = result else { return };
        let mut complained =
            self.complained.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if !complained.iter().any(|earlier| earlier == path) {
            complained.push(path.to_path_buf());
            let path = path.display();
            self.terminal.insist(&format!(
                "warning: {path}: {error}; the run goes on, and tries again later"
            ));
        }
    }

    /// Writes the best tree so far, if no other is better.
    pub(crate) fn show_tree(&self, lnl: f64, newick: &str) {
        let mut last = self.last_tree.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if lnl >= last.lnl {
            last.lnl = lnl;
            let written = whole_file::replace(&last.path, format!("{newick}\n").as_bytes());
            self.complain(written, &last.path);
        }
    }

    /// The run begins to write a file: when it is resumed, it may find it.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn begin_file(&self, kind: OutputKind) -> Result<()> {
        let key = Key { stage: BEGUN, job: u32::from(kind.rank()) };
        let written = self.journal().append(Kind::Remark, key, &[]);
        written.map_err(|source| writing(&self.path, source))
    }

    /// The shortest time between two states of a job, if keeping one takes this long; states at the end of a phase may
    /// follow earlier ones more closely.
    pub(crate) fn pause(&self, cost: Duration, at_phase_end: bool) -> Duration {
        pause(self.interval, cost, at_phase_end)
    }

    /// True if this run has begun the checkpoint.
    pub(crate) fn is_new(&self) -> bool {
        self.is_new
    }

    /// All jobs are to stop: the run is to end, or one of them has failed.
    pub(crate) fn must_stop(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed) || interrupt::must_end(self.stop)
    }

    /// A job has failed in a way that says nothing about the others: they stop.
    pub(crate) fn stop(&self) {
        self.has_failed.store(true, Ordering::Relaxed);
    }

    /// The run is over, and all results are written.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn remove(self) -> Result<()> {
        let journal = self.journal.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        let last = self.last_tree.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        match std::fs::remove_file(&last.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(writing(&last.path, error));
            }
            _ => {}
        }
        journal.remove().map_err(|source| writing(&self.path, source))
    }
}

/// As [`Checkpoint::pause`], with states at this interval.
pub(crate) fn pause(interval: Duration, cost: Duration, at_phase_end: bool) -> Duration {
    let share = if at_phase_end { AT_PHASE_END } else { 1.0 };
    match interval.is_zero() {
        true => Duration::ZERO,
        false => interval.mul_f64(share).max(cost.div_f64(MAX_SHARE)),
    }
}

/// Time since an instant, and now.
pub(crate) fn since(then: Instant) -> (Duration, Instant) {
    let now = Instant::now();
    (now - then, now)
}

/// Time between two states of a job.
pub(crate) fn interval() -> Duration {
    let seconds = std::env::var(INTERVAL_VARIABLE).ok().and_then(|text| text.parse().ok());
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or(INTERVAL)
}

fn writing(path: &Path, source: std::io::Error) -> Error {
    Error::Io { path: path.display().to_string(), source, writing: true }
}

fn refuse(path: &Path, why: Refused) -> Error {
    let path = path.display();
    let why = match why {
        Refused::Io(error) => error.to_string(),
        Refused::Damaged(why) => why,
    };
    Error::Usage(format!(
        "the checkpoint '{path}' cannot be used: {why}. Give --redo to begin the run anew, or another --prefix (-n)."
    ))
}

/// A checkpoint of another run is refused with all reasons.
fn compare(path: &Path, then: &Identity, now: &Identity) -> Result<()> {
    let differences = then.differences(now);
    if differences.is_empty() {
        return Ok(());
    }
    let list: String = differences.iter().map(|line| format!("\n  {line}")).collect();
    Err(Error::Usage(format!(
        "the checkpoint '{}' is of an unfinished run that differs from this one:{list}\n\
         To resume that run, repeat its command: {}\n\
         Give --redo to begin this one instead, or another --prefix (-n).",
        path.display(),
        then.command
    )))
}
