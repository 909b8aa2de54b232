//! [`Division`]: how jobs, each of parts that meet often, divide the threads.

use crate::parallel::{UnitCost, deal, loads_of};

/// What a second thread inside one likelihood brings, in proportion to a thread for another likelihood.
const WORTH_INSIDE: f64 = 0.6;

/// How much longer than by their shares of the work parts at the same time take, because they wait for each other where they
/// meet.
const WAITING: f64 = 1.2;

/// Parts that take turns wake the threads inside their likelihoods each time: these are useful where so many times as many
/// would be without.
const TURNS: usize = 8;

/// A division of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Division {
    /// Jobs at the same time.
    pub(super) jobs: usize,
    /// Parts of each of them at the same time.
    pub(super) parts: usize,
    /// Threads inside the likelihoods of a part.
    pub(super) inside: usize,
}

impl Division {
    /// The fastest way to divide the threads among at most `most` jobs at the same time, of parts with these costs. So many threads inside
    /// a likelihood are `useful`.
    pub(super) fn fastest(
        [threads, most]: [usize; 2],
        num_jobs: usize,
        costs: &[UnitCost],
        useful: usize,
    ) -> Self {
        let useful = if costs.len() > 1 { (useful / TURNS).max(1) } else { useful };
        let mut best = (f64::INFINITY, Division { jobs: 1, parts: 1, inside: 1 });
        for jobs in (1..=most).rev() {
            for parts in 1..=(threads / jobs).clamp(1, costs.len()) {
                let inside = (threads / (jobs * parts)).clamp(1, useful);
                let longest =
                    loads_of(&deal(costs, parts), costs).into_iter().max().unwrap_or(0) as f64;
                let job = if parts > 1 { longest * WAITING } else { longest };
                let rounds = num_jobs.div_ceil(jobs) as f64;
                let time = rounds * job / (1.0 + WORTH_INSIDE * (inside - 1) as f64);
                if time < best.0 {
                    best = (time, Division { jobs, parts, inside });
                }
            }
        }
        best.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_go_to_jobs_first_then_into_large_likelihoods_or_to_the_parts() {
        let shared = |threads: usize, num_jobs: usize, parts: &[UnitCost], useful: usize| {
            let most = threads.min(num_jobs);
            let Division { jobs, parts, inside } =
                Division::fastest([threads, most], num_jobs, parts, useful);
            [jobs, parts, inside]
        };
        let equal = [1; 4];
        assert_eq!(shared(1, 2, &equal, 1), [1, 1, 1]);
        assert_eq!(shared(2, 2, &equal, 72), [2, 1, 1]);
        assert_eq!(shared(2, 1, &equal, 1), [1, 2, 1]);
        assert_eq!(shared(3, 2, &equal, 1), [2, 1, 1]);
        assert_eq!(shared(4, 2, &equal, 72), [2, 2, 1]);
        assert_eq!(shared(4, 1, &equal[..1], 9), [1, 1, 4]);
        assert_eq!(shared(4, 1, &equal[..1], 2), [1, 1, 2]);
        assert_eq!(shared(16, 2, &equal, 72), [2, 4, 2]);
        assert_eq!(shared(16, 2, &equal, 9), [2, 4, 1]);
        // One part takes longer than all others together: more than two threads bring nothing.
        let unequal = [80, 10, 10, 10];
        assert_eq!(shared(2, 1, &unequal, 9), [1, 2, 1]);
        assert_eq!(shared(8, 2, &unequal, 1), [2, 2, 1]);
        assert_eq!(shared(2, 1, &unequal, 16), [1, 1, 2]);
        assert_eq!(shared(4, 1, &unequal, 16), [1, 2, 2]);
        assert_eq!(shared(8, 2, &unequal, 72), [2, 1, 4]);
    }
}
