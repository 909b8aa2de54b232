//! [`Workers`]: who computes with the columns of parsimony data.

use super::distributed::OtherRanks;
use crate::parallel::Pool;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// One thread, several of this process, or also those of other ranks.
#[derive(Clone, Default)]
pub(super) struct Workers {
    /// The threads of this process, if there are several.
    threads: Option<Arc<Mutex<Pool>>>,
    /// Other ranks, which have columns of their own.
    pub(super) others: Option<Arc<OtherRanks>>,
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers").field("others", &self.others).finish_non_exhaustive()
    }
}

impl Workers {
    /// So many threads of this process.
    pub(super) fn of_threads(count: usize) -> Self {
        let threads = (count > 1).then(|| Arc::new(Mutex::new(Pool::beside_another(count))));
        Workers { threads, others: None }
    }

    /// These, with other ranks.
    pub(super) fn with_others(self, others: OtherRanks) -> Self {
        Workers { others: Some(Arc::new(others)), ..self }
    }

    /// True if one thread does all.
    pub(super) fn is_one(&self) -> bool {
        self.threads.is_none() && self.others.is_none()
    }

    /// The sums of the numbers that each of `count` shares of this process leads to; all have as many.
    pub(super) fn sum(
        &self,
        count: usize,
        numbers_of: impl Fn(usize) -> Vec<u64> + Sync,
    ) -> Vec<u64> {
        let Some(threads) = &self.threads else { return numbers_of(0) };
        let found: Vec<Mutex<Vec<u64>>> = (0..count).map(|_| Mutex::default()).collect();
        let work = |number: usize| {
            *found[number].lock().unwrap_or_else(PoisonError::into_inner) = numbers_of(number)
        };
        let mut pool = threads.lock().unwrap_or_else(PoisonError::into_inner);
        pool.run(&vec![1; count], &work);
        let found =
            found.into_iter().map(|one| one.into_inner().unwrap_or_else(PoisonError::into_inner));
        found
            .reduce(|mut sums, one| {
                sums.iter_mut().zip(one).for_each(|(sum, number)| *sum += number);
                sums
            })
            .unwrap_or_default()
    }
}
