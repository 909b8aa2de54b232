//! Errors of the program itself (panics), as one message instead of a trace.

use crate::error::{Error, Result};
use std::any::Any;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Mutex;

/// The first panic of the run: what the others of other threads say follows from it.
static FIRST: Mutex<Option<String>> = Mutex::new(None);

/// From now on, panics are kept for the message of the run instead of being printed.
pub fn keep() {
    std::panic::set_hook(Box::new(|panic: &PanicHookInfo| {
        let place = panic.location().map_or(String::new(), |place| format!(" ({place})"));
        let text = format!("{}{place}", text_of(panic.payload()));
        let mut first = FIRST.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        first.get_or_insert(text);
    }));
}

/// A run begins in a process that has seen others: their panics are not its own.
pub fn forget() {
    *FIRST.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = None;
}

fn text_of(payload: &dyn Any) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("unknown")
}

/// The result of some work; its panic as an error.
///
/// # Errors
/// Those of the work, and [`Error::Failed`] if it panicked.
pub fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let first = FIRST.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let text = first.clone().unwrap_or_else(|| text_of(payload.as_ref()).to_string());
        Err(Error::Failed(format!("this is an error of mlsearch; please report it: {text}")))
    })
}
