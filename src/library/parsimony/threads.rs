//! [`Threads`]: who of a process computes with the columns of parsimony data.

use crate::parallel::Pool;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// One thread, or several.
#[derive(Clone, Default)]
pub(super) struct Threads(Option<Arc<Mutex<Pool>>>);

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", if self.0.is_some() { "several threads" } else { "one thread" })
    }
}

impl Threads {
    /// So many.
    pub(super) fn new(count: usize) -> Self {
        Threads((count > 1).then(|| Arc::new(Mutex::new(Pool::beside_another(count)))))
    }

    /// What each of `count` shares of this process leads to, in their order.
    pub(super) fn map<T: Send>(&self, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let Some(threads) = &self.0 else { return (0..count).map(work).collect() };
        let found: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
        let mut pool = threads.lock().unwrap_or_else(PoisonError::into_inner);
        pool.run(&vec![1; count], &|number| {
            *found[number].lock().unwrap_or_else(PoisonError::into_inner) = Some(work(number));
        });
        let found = found.into_iter().flat_map(Mutex::into_inner);
        found.map(|one| one.expect("all shares are done")).collect()
    }
}

/// The sums of lists of numbers, all of which are as long.
pub(super) fn sums(lists: Vec<Vec<u64>>) -> Vec<u64> {
    let add = |mut sums: Vec<u64>, list: Vec<u64>| {
        sums.iter_mut().zip(list).for_each(|(sum, number)| *sum += number);
        sums
    };
    lists.into_iter().reduce(add).unwrap_or_default()
}
