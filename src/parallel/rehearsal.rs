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
    /// Number of regions in which more than one worker has work, and of meetings of teams.
    pub regions: usize,
    /// Time of the longest share of each region.
    pub longest: f64,
    /// Time of all shares.
    pub shares: f64,
    /// The part of the run's time here that workers would share.
    pub here: f64,
}

/// A place for the sums, which are read while the pool that adds to them belongs to an engine.
pub type RehearsalSums = Arc<Mutex<Rehearsed>>;

/// The times of shares, which are added to the sums at the end.
pub(super) struct Rehearsal<'a> {
    sums: &'a RehearsalSums,
    new: Rehearsed,
    /// Time of each worker's share of the present region.
    shares: Vec<f64>,
}

impl<'a> Rehearsal<'a> {
    pub(super) fn new(sums: &'a RehearsalSums, num_workers: usize) -> Self {
        Rehearsal { sums, new: Rehearsed::default(), shares: vec![0.0; num_workers] }
    }

    /// Runs a part of a worker's share of the present region.
    pub(super) fn time<T>(&mut self, worker: usize, part: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = part();
        let seconds = started.elapsed().as_secs_f64();
        self.shares[worker] += seconds;
        self.new.here += seconds;
        result
    }

    /// Ends a region: all workers would meet here.
    pub(super) fn end_region(&mut self) {
        self.new.regions += 1;
        self.new.longest += self.shares.iter().copied().fold(0.0, f64::max);
        self.new.shares += self.shares.iter().sum::<f64>();
        self.shares.fill(0.0);
    }
}

impl Drop for Rehearsal<'_> {
    fn drop(&mut self) {
        let mut sums = self.sums.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        sums.regions += self.new.regions;
        sums.longest += self.new.longest;
        sums.shares += self.new.shares;
        sums.here += self.new.here;
    }
}

/// Runs all shares of a region.
pub(super) fn rehearse(sums: &RehearsalSums, loads: &[UnitCost], job: &(dyn Fn(usize) + Sync)) {
    let mut rehearsal = Rehearsal::new(sums, loads.len());
    (0..loads.len()).for_each(|worker| rehearsal.time(worker, || job(worker)));
    rehearsal.end_region();
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
