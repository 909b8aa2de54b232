//! [`Stop`]: how another thread of the same process ends a computation. What a signal means to the program is elsewhere.
//!
//! A handle is copied to everything that takes part in a computation, so it is only a reference. The flags behind the handles
//! are never freed, but used again: there are as many as computations that went on at the same time.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard};

type Flag = &'static AtomicU8;

/// Flags that no computation uses.
static UNUSED: Mutex<Vec<Flag>> = Mutex::new(Vec::new());

const NOT_ASKED: u8 = 0;
const AFTER_STEP: u8 = 1;
const NOW: u8 = 2;

fn unused() -> MutexGuard<'static, Vec<Flag>> {
    UNUSED.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Whether a computation is to end. The default is one that nobody can end.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stop(Option<Flag>);

impl Stop {
    /// It is to end as soon as its state can be saved.
    pub fn is_asked(self) -> bool {
        self.0.is_some_and(|flag| flag.load(Ordering::Relaxed) != NOT_ASKED)
    }

    /// It is to end at once.
    pub fn is_urgent(self) -> bool {
        self.0.is_some_and(|flag| flag.load(Ordering::Relaxed) == NOW)
    }
}

impl PartialEq for Stop {
    fn eq(&self, other: &Self) -> bool {
        match (self.0, other.0) {
            (Some(one), Some(other)) => std::ptr::eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

impl Eq for Stop {}

/// Ends a computation, which has to be over before this is dropped.
#[derive(Debug)]
pub struct Stopper(Flag);

impl Stopper {
    /// For a computation that begins.
    pub fn new() -> Self {
        let flag = unused().pop().unwrap_or_else(|| Box::leak(Box::default()));
        flag.store(NOT_ASKED, Ordering::Relaxed);
        Stopper(flag)
    }

    /// What the computation asks.
    pub fn handle(&self) -> Stop {
        Stop(Some(self.0))
    }

    /// The computation ends as soon as its state can be saved.
    pub fn ask(&self) {
        self.0.fetch_max(AFTER_STEP, Ordering::Relaxed);
    }

    /// It ends at once.
    pub fn insist(&self) {
        self.0.store(NOW, Ordering::Relaxed);
    }
}

impl Default for Stopper {
    fn default() -> Self {
        Stopper::new()
    }
}

impl Drop for Stopper {
    fn drop(&mut self) {
        unused().push(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_is_of_one_computation_and_begins_anew_with_the_next() {
        let (one, other) = (Stopper::new(), Stopper::new());
        let (asked, not_asked) = (one.handle(), other.handle());
        assert_ne!(asked, not_asked);
        one.ask();
        assert!(asked.is_asked() && !asked.is_urgent() && !not_asked.is_asked());
        one.insist();
        one.ask();
        assert!(asked.is_asked() && asked.is_urgent() && !not_asked.is_urgent());
        drop(one);
        let next = Stopper::new();
        assert!(!next.handle().is_asked());
        assert!(!Stop::default().is_asked());
    }
}
