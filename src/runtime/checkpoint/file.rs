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
use std::sync::{Arc, Mutex, MutexGuard};
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

/// The checkpoint of a run in progress, or of one of the jobs of its first stage, which consists of jobs of its own.
pub(crate) struct Checkpoint {
    of_run: Arc<OfRun>,
    is_new: bool,
    interval: Duration,
    /// As in [`Key`].
    part: u32,
    /// When the run or the part was begun.
    begun: Instant,
    /// Stages so far.
    stages: AtomicU32,
    /// A part shows no tree.
    last_tree: Option<Mutex<LastTree>>,
    /// A job has failed: the others stop.
    has_failed: AtomicBool,
    stop: Stop,
}

/// What the checkpoint of a run has in common with those of its parts.
struct OfRun {
    path: PathBuf,
    journal: Mutex<Journal>,
    /// Time of the last fsync.
    synced: Mutex<Instant>,
    terminal: Terminal,
    /// Files whose failure has been told.
    complained: Mutex<Vec<PathBuf>>,
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
                    let key = Key { stage: REPLACES, ..Key::default() };
                    journal.append(Kind::Remark, key, &[]).map_err(failed)?;
                }
                (journal, None)
            }
        };
        let last_tree = LastTree { path: last_tree, lnl: f64::NEG_INFINITY };
        let of_run = OfRun {
            path,
            journal: Mutex::new(journal),
            synced: Mutex::new(Instant::now()),
            terminal,
            complained: Mutex::default(),
        };
        let checkpoint = Checkpoint {
            of_run: Arc::new(of_run),
            is_new: begun.is_none(),
            interval: interval(),
            part: 0,
            begun: Instant::now(),
            stages: AtomicU32::new(0),
            last_tree: Some(Mutex::new(last_tree)),
            has_failed: AtomicBool::new(false),
            stop,
        };
        Ok((checkpoint, begun))
    }

    /// The checkpoint of a job of the first stage that consists of jobs itself. What these have done is kept once the job takes long, and
    /// until it is finished. One of them that fails ends this job only.
    pub(crate) fn of_job(&self, job: u32) -> Self {
        Checkpoint {
            of_run: self.of_run.clone(),
            is_new: self.is_new,
            interval: self.interval,
            part: job + 1,
            begun: Instant::now(),
            stages: AtomicU32::new(0),
            last_tree: None,
            has_failed: AtomicBool::new(false),
            stop: self.stop,
        }
    }

    /// The key of a job of this run or part.
    pub(crate) fn key(&self, stage: u32, job: usize) -> Key {
        Key { part: self.part, stage, job: job as u32 }
    }

    /// True if what is finished is to be kept: that of parts that are soon finished themselves is not.
    pub(crate) fn keeps_results(&self) -> bool {
        self.part == 0 || self.begun.elapsed() >= self.pause(Duration::ZERO, true)
    }

    /// The same, with a state of every step.
    #[cfg(test)]
    pub(crate) fn of_every_step(self) -> Self {
        Checkpoint { interval: Duration::ZERO, ..self }
    }

    fn journal(&self) -> MutexGuard<'_, Journal> {
        self.of_run.journal.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
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
        let payload = payload.map_err(|error| refuse(&self.of_run.path, Refused::Io(error)))?;
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
        let why = format!("its contents do not fit the data: {why}");
        refuse(&self.of_run.path, Refused::Damaged(why))
    }

    /// Writes what is known of a job. A failure is told once and does not end the run: what was written before remains,
    /// and results can perhaps be written later.
    pub(crate) fn write(&self, kind: Kind, key: Key, value: &impl Serialize, sync: bool) {
        let written = postcard::to_stdvec(value).map_err(std::io::Error::other).and_then(|bytes| {
            let mut journal = self.journal();
            journal.append(kind, key, &bytes)?;
            let synced = self.of_run.synced.lock();
            let mut synced = synced.unwrap_or_else(|poisoned| poisoned.into_inner());
            if sync || synced.elapsed() > INTERVAL {
                journal.sync()?;
                *synced = Instant::now();
            }
            Ok(())
        });
        self.complain(written, &self.of_run.path);
    }

    fn complain(&self, result: std::io::Result<()>, path: &Path) {
        let Err(error) = result else { return };
        let complained = self.of_run.complained.lock();
        let mut complained = complained.unwrap_or_else(|poisoned| poisoned.into_inner());
        if !complained.iter().any(|earlier| earlier == path) {
            complained.push(path.to_path_buf());
            let path = path.display();
            self.of_run.terminal.insist(&format!(
                "warning: {path}: {error}; the run goes on, and tries again later"
            ));
        }
    }

    /// Writes the best tree so far, if no other is better.
    pub(crate) fn show_tree(&self, lnl: f64, newick: &str) {
        let Some(last) = &self.last_tree else { return };
        let mut last = last.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
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
        let key = Key { part: 0, stage: BEGUN, job: u32::from(kind.rank()) };
        let written = self.journal().append(Kind::Remark, key, &[]);
        written.map_err(|source| writing(&self.of_run.path, source))
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
        if let Some(last) = &self.last_tree {
            let last = last.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            match std::fs::remove_file(&last.path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(writing(&last.path, error));
                }
                _ => {}
            }
        }
        self.journal().remove().map_err(|source| writing(&self.of_run.path, source))
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
