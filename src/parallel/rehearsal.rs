//! Rehearsals: what the parallel regions of a computation would take with more workers than there are cores.
//!
//! The calling thread runs the shares of all workers one after the other and times each. With as many cores as
//! workers, a region would last as long as its longest share, besides the time to start the workers and to wait for
//! the last.

use super::assign::UnitCost;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Sums over all regions of a rehearsal; times are in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rehearsed {
    /// Number of regions in which more than one worker has work.
    pub regions: usize,
    /// Time of the longest share of each region.
    pub longest: f64,
    /// Time of all shares.
    pub shares: f64,
    /// Time that the regions took here, with that of looking at the clock.
    pub here: f64,
}

/// A place for the sums, which are read while the pool that adds to them belongs to an engine.
pub type RehearsalSums = Arc<Mutex<Rehearsed>>;

/// Runs all shares of a region, and adds their times to the sums.
pub(super) fn rehearse(sums: &RehearsalSums, loads: &[UnitCost], job: &(dyn Fn(usize) + Sync)) {
    let started = Instant::now();
    let (mut last, mut longest, mut shares) = (started, 0.0_f64, 0.0);
    for (worker, &load) in loads.iter().enumerate() {
        job(worker);
        if load > 0 {
            let now = Instant::now();
            let share = (now - last).as_secs_f64();
            (longest, shares, last) = (longest.max(share), shares + share, now);
        }
    }
    let mut sums = sums.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    sums.regions += 1;
    sums.longest += longest;
    sums.shares += shares;
    sums.here += started.elapsed().as_secs_f64();
}

#[cfg(test)]
mod tests {
    use super::super::Pool;
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_rehearsed_region_lasts_as_long_as_its_longest_share() {
        let sums = RehearsalSums::default();
        let mut pool = Pool::rehearsing(5, Arc::clone(&sums));
        assert_eq!(pool.num_workers(), 5);
        let order = Mutex::new(Vec::new());
        pool.run(&[1, 0, 3, 1, 0], &|worker| {
            order.lock().unwrap().push(worker);
            let ms = [2, 0, 6, 2, 0][worker];
            std::thread::sleep(Duration::from_millis(ms));
        });
        assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3, 4]);
        let Rehearsed { regions, longest, shares, here } = *sums.lock().unwrap();
        assert!(regions == 1 && (0.006..shares).contains(&longest) && shares <= here);
        // With work for one worker only there is no region.
        pool.run(&[0, 0, 3, 0, 0], &|_| ());
        assert_eq!(sums.lock().unwrap().regions, 1);
    }
}
