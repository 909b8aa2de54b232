//! What the workers use to start and to wait for each other: that of the system, or, to try their schedules
//! (`schedule_tests`), that of Shuttle, which decides at each use which thread goes on.

#[cfg(not(all(test, shuttle)))]
mod chosen {
    pub(in super::super) use crossbeam::sync::{Parker, Unparker};
    pub(in super::super) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
    pub(in super::super) use std::sync::{Condvar, Mutex};
    pub(in super::super) use std::thread::{Builder, JoinHandle};
}

#[cfg(all(test, shuttle))]
mod chosen {
    pub(in super::super) use shuttle::sync::atomic::{
        AtomicBool, AtomicU64, AtomicUsize, Ordering,
    };
    pub(in super::super) use shuttle::sync::{Condvar, Mutex};
    pub(in super::super) use shuttle::thread::{Builder, JoinHandle};
    use std::sync::Arc;

    /// As that of crossbeam.
    pub(in super::super) struct Parker(Unparker);

    /// As that of crossbeam.
    #[derive(Clone)]
    pub(in super::super) struct Unparker(Arc<(Mutex<bool>, Condvar)>);

    impl Parker {
        pub(in super::super) fn new() -> Self {
            Parker(Unparker(Arc::new((Mutex::new(false), Condvar::new()))))
        }

        pub(in super::super) fn park(&self) {
            let (has_token, wake) = &*self.0.0;
            let mut guard = has_token.lock().unwrap();
            while !std::mem::take(&mut *guard) {
                guard = wake.wait(guard).unwrap();
            }
        }

        pub(in super::super) fn unparker(&self) -> &Unparker {
            &self.0
        }
    }

    impl Unparker {
        pub(in super::super) fn unpark(&self) {
            let (has_token, wake) = &*self.0;
            *has_token.lock().unwrap() = true;
            wake.notify_one();
        }
    }
}

pub(super) use chosen::{
    AtomicBool, AtomicU64, AtomicUsize, Builder, Condvar, JoinHandle, Mutex, Ordering, Parker,
    Unparker,
};
