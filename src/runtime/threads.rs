//! How many threads a run uses: what the user allows, and what the data can keep busy.

use crate::parallel::available_cores;
use crate::partition::Partition;
use crate::plan::{Plan, Threads};

/// Pattern rows (as [`count_rows`] counts them) below which another thread costs more than it saves.
const MIN_ROWS_PER_THREAD: usize = 500;

/// How many threads the user allows.
pub(crate) fn allowed_threads(plan: &Plan) -> usize {
    match plan.run.threads {
        Threads::Fixed(threads) => threads,
        Threads::Auto { max } => max.unwrap_or(usize::MAX).min(available_cores()),
    }
}

/// Pattern rows (four rate categories of a pattern) of all partitions with a tree. A row of more states
/// than DNA's four counts as many times as it takes longer: by the square of their number.
pub(super) fn count_rows(partitions: &[Partition]) -> usize {
    let informative = partitions.iter().filter(|p| p.patterns.num_tips() >= 2);
    let rows = informative.map(|partition| {
        let states = partition.model.num_states().max(4);
        let cats = partition.model.rate_cats().rates.len();
        partition.patterns.num_patterns() * cats * states * states / 16
    });
    rows.sum::<usize>() / 4
}

/// Threads that a likelihood over these partitions can keep busy.
pub(crate) fn useful_threads(partitions: &[Partition]) -> usize {
    useful_for(count_rows(partitions))
}

/// Threads that so many rows can keep busy.
pub(super) fn useful_for(rows: usize) -> usize {
    (rows / MIN_ROWS_PER_THREAD).max(1)
}

/// Threads for a likelihood of so many rows, and a warning if the user wants more than there are cores.
pub(super) fn choose_threads(wanted: Threads, rows: usize) -> (usize, Option<String>) {
    let cores = available_cores();
    match wanted {
        Threads::Fixed(threads) => {
            let warning = (threads > cores).then(|| {
                format!(
                    "{threads} threads on {cores} cores: more threads than cores slow the run down"
                )
            });
            (threads, warning)
        }
        Threads::Auto { max } => {
            (useful_for(rows).min(cores).min(max.unwrap_or(cores)).max(1), None)
        }
    }
}

/// Runs work that uses rayon on no more threads than the user allows.
pub(crate) fn with_threads<T: Send>(plan: &Plan, work: impl FnOnce() -> T + Send) -> T {
    thread_pool(plan).install(work)
}

/// As many threads as the user allows, for work that is divided by `rayon`.
pub(crate) fn thread_pool(plan: &Plan) -> rayon::ThreadPool {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(allowed_threads(plan));
    pool.build().expect("the system can start threads")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn automatic_threads_follow_the_work_and_explicit_ones_the_user() {
        let cores = available_cores();
        let auto = |max, rows| choose_threads(Threads::Auto { max }, rows).0;
        assert_eq!(auto(None, 0), 1);
        assert_eq!(auto(None, 999), 1);
        assert_eq!(auto(None, 1_000_000_000), cores);
        assert_eq!(auto(Some(1), 1_000_000_000), 1);
        let (threads, warning) = choose_threads(Threads::Fixed(cores + 1), 0);
        assert_eq!(threads, cores + 1);
        assert!(warning.unwrap().contains("slow"));
        assert_eq!(choose_threads(Threads::Fixed(1), 0), (1, None));
    }
}
