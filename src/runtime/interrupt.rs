//! Signals that end a run: SIGINT and SIGTERM.
//!
//! The first one is answered by the jobs, which give their states between two steps; a second one, unless it comes with the first (as
//! from `timeout`, which sends one to the program and one to all of its group), ends the program at once. Jobs that are in the middle
//! of a long step, or have no steps, are not waited for longer than [`GRACE`]: the run then goes on from what was written before. A run inside another program is ended by its [`Stop`] instead, and signals are
//! that program's.

use crate::error::{Error, Result};
use crate::stop::Stop;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long jobs in a step are waited for.
const GRACE: Duration = Duration::from_secs(10);
/// How long the run is waited for when no job is in a step.
const SHORT_GRACE: Duration = Duration::from_millis(500);
/// Time between two looks at the signals.
const BEAT: Duration = Duration::from_millis(50);
/// Signals that come within this time are one.
const TOGETHER: Duration = Duration::from_millis(200);

/// The signal that was received, or 0.
static RECEIVED: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);
/// Number of jobs that answer signals between their steps.
static IN_STEPS: AtomicUsize = AtomicUsize::new(0);
static WORDS: Mutex<Words> = Mutex::new(Words::NoneYet);

/// What is said when the program ends by itself, before the run does.
enum Words {
    /// There is no run yet: nothing.
    NoneYet,
    /// This.
    Last(Box<dyn FnOnce(Error) + Send>),
    /// Nothing: the run is ending.
    Said,
}

fn words() -> MutexGuard<'static, Words> {
    WORDS.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// From now on signals are answered as described above; for programs, not for libraries.
///
/// # Errors
/// The system's.
pub fn listen() -> std::io::Result<()> {
    let again = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, again.clone())?;
        signal_hook::flag::register_usize(signal, RECEIVED.clone(), signal as usize)?;
    }
    // A file beyond the limit of the system (`ulimit -f`) is an error of writing, not the end of the program.
    #[cfg(unix)]
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default())?;
    let watch = move || {
        while signal().is_none() {
            sleep(BEAT);
        }
        sleep(TOGETHER);
        again.store(true, Ordering::Relaxed);
        end_in_time();
    };
    std::thread::Builder::new().name("signals".into()).spawn(watch)?;
    Ok(())
}

/// From now on signals are not answered: another process of the run does that.
pub fn ignore() {
    for signal in [SIGINT, SIGTERM] {
        if let Err(error) = signal_hook::flag::register(signal, Arc::default()) {
            log::warn!("a signal ends this process: {error}");
        }
    }
}

/// The signal that was received.
pub(crate) fn signal() -> Option<u8> {
    u8::try_from(RECEIVED.load(Ordering::Relaxed)).ok().filter(|&signal| signal > 0)
}

/// True if a run is to end.
pub(crate) fn must_end(stop: Stop) -> bool {
    stop.is_asked() || signal().is_some()
}

/// Between two steps of a run: nothing, if it is to go on.
///
/// # Errors
/// [`Error::Interrupted`] if it is to end.
pub(crate) fn go_on(stop: Stop) -> Result<()> {
    if must_end(stop) { Err(interrupted()) } else { Ok(()) }
}

/// The error of a job that was stopped: by a signal, or because another one failed.
pub(crate) fn interrupted() -> Error {
    Error::Interrupted { signal: signal().unwrap_or(0), resume: None }
}

/// A job that gives its state between its steps, as long as this lives.
pub(crate) struct InSteps(());

impl InSteps {
    pub(crate) fn begin() -> Self {
        IN_STEPS.fetch_add(1, Ordering::Relaxed);
        InSteps(())
    }
}

impl Drop for InSteps {
    fn drop(&mut self) {
        IN_STEPS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What is said from now on if the program ends before the run does.
pub(crate) fn prepare_last_words(say: impl FnOnce(Error) + Send + 'static) {
    *words() = Words::Last(Box::new(say));
}

/// The run is ending, and says itself what is to be said.
pub(crate) fn run_is_ending() {
    *words() = Words::Said;
}

/// Waits for the run, and ends the program if that takes too long.
fn end_in_time() {
    let (begin, mut in_steps) = (Instant::now(), Instant::now());
    while begin.elapsed() < GRACE && in_steps.elapsed() < SHORT_GRACE {
        if IN_STEPS.load(Ordering::Relaxed) > 0 {
            in_steps = Instant::now();
        }
        sleep(BEAT);
    }
    let error = interrupted();
    let code = error.exit_code();
    match std::mem::replace(&mut *words(), Words::Said) {
        Words::NoneYet => {}
        Words::Last(say) => say(error),
        // The last files are being written.
        Words::Said => sleep(GRACE),
    }
    signal_hook::low_level::exit(code.into());
}
