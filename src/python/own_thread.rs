//! Computations on threads of their own, while the thread that called looks for signals.

use crate::exceptions::{exception, refusal};
use mlsearch::error::Result;
use mlsearch::panics::caught;
use mlsearch::stop::{Stop, Stopper};
use pyo3::prelude::*;
use std::process;
use std::sync::OnceLock;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{Builder, scope};
use std::time::{Duration, Instant};

/// Time between two looks at signals.
const BEAT: Duration = Duration::from_millis(100);
/// How long a computation may take to save its state before it is ended at once.
const GRACE: Duration = Duration::from_millis(300);
/// As much as the first thread of a program has: trees may be deep.
const STACK: usize = 8 << 20;

/// The process that has loaded the library.
static PROCESS: OnceLock<u32> = OnceLock::new();

/// The library is used in this process only.
pub(crate) fn remember_process() {
    PROCESS.get_or_init(process::id);
}

/// After a fork, locks that other threads held remain closed for ever.
fn refuse_after_fork() -> PyResult<()> {
    if PROCESS.get().is_some_and(|&known| known != process::id()) {
        return Err(refusal(
            "mlsearch cannot be used in a process that was forked after it was imported: start processes by 'spawn' or \
             'forkserver' (multiprocessing.get_context), or import mlsearch in the child only",
        ));
    }
    Ok(())
}

/// What an interruption leaves time for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interruption {
    /// The state is saved first, from which the run can be resumed.
    SavesState,
    /// Nothing.
    AtOnce,
}

/// Does `work` on a thread of its own, without the interpreter, and calls `look` meanwhile. What `look` raises ends the work,
/// and so does a signal (Ctrl-C). No thread is left when this returns.
pub(crate) fn on_own_thread<T: Send>(
    py: Python<'_>,
    interruption: Interruption,
    mut look: impl FnMut(Python<'_>) -> PyResult<()> + Send,
    work: impl FnOnce(Stop) -> Result<T> + Send,
) -> PyResult<T> {
    refuse_after_fork()?;
    let stopper = Stopper::new();
    let stop = stopper.handle();
    let ended = py.detach(|| {
        scope(|scope| {
            let (sender, receiver) = channel();
            let work = move || {
                // If nobody waits any more, there is nothing to be told.
                let _ = sender.send(caught(|| work(stop)));
            };
            let thread = Builder::new().name("mlsearch".into()).stack_size(STACK);
            let thread = thread.spawn_scoped(scope, work).map_err(|error| {
                let message = format!("the system cannot start a thread: {error}");
                exception(&mlsearch::error::Error::Failed(message))
            })?;
            let mut interrupted: Option<(PyErr, Instant)> = None;
            let result = loop {
                match receiver.recv_timeout(BEAT) {
                    Ok(result) => break result,
                    Err(RecvTimeoutError::Disconnected) => {
                        break Err(mlsearch::error::Error::Failed("the thread has ended".into()));
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
                match &interrupted {
                    Some((_, since)) if since.elapsed() > GRACE => stopper.insist(),
                    Some(_) => {}
                    None => {
                        let seen = Python::attach(|py| py.check_signals().and_then(|()| look(py)));
                        if let Err(error) = seen {
                            match interruption {
                                Interruption::SavesState => stopper.ask(),
                                Interruption::AtOnce => stopper.insist(),
                            }
                            interrupted = Some((error, Instant::now()));
                        }
                    }
                }
            };
            // It has sent its result: there is nothing to wait for but its end.
            let _ = thread.join();
            match interrupted {
                Some((error, _)) => Err(error),
                None => result.map_err(|error| exception(&error)),
            }
        })
    })?;
    Ok(ended)
}
