//! The core on which a worker runs.
//!
//! Workers are pinned, one to a core, only where that does no harm: if they are as many as the cores that
//! this process may use, and if no other pool on this machine has its workers pinned. Two runs with
//! workers pinned to the same cores would share these and leave the others idle. Otherwise the operating
//! system decides, because it knows the other processes.

use core_affinity::CoreId;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// File whose lock shows that a pool has pinned its workers; it remains empty.
const CLAIM: &str = "mlsearch.pinned";

/// Threads of other kinds may need the cores, too.
static ARE_SHARED: AtomicBool = AtomicBool::new(false);

/// From now on the operating system chooses the cores of all workers: this process has other threads, of which nothing is known
/// here.
pub fn share_cores() {
    ARE_SHARED.store(true, Ordering::Relaxed);
}

/// The cores of the machine, as long as it lives.
pub(super) struct Claim {
    cores: Vec<CoreId>,
    _lock: File,
}

impl Claim {
    /// The cores for this number of workers; `None` if the operating system should choose them.
    pub(super) fn new(num_workers: usize) -> Option<Self> {
        let cores = core_affinity::get_core_ids().unwrap_or_default();
        let is_possible = num_workers > 1 && !ARE_SHARED.load(Ordering::Relaxed);
        let fits = is_possible && num_workers == cores.len();
        let lock = fits.then(|| lock(&std::env::temp_dir().join(CLAIM))).flatten();
        lock.map(|lock| Claim { cores, _lock: lock })
    }

    /// Core of a worker. The caller, worker 0, has none: it is the thread that can leave a busy core.
    pub(super) fn core(&self, worker: usize) -> Option<CoreId> {
        self.cores.get(worker).copied().filter(|_| worker > 0)
    }
}

fn lock(path: &Path) -> Option<File> {
    // Another user's file can only be read, which is enough.
    let opened = File::options().create(true).truncate(false).write(true).open(path);
    let file = opened.or_else(|_| File::open(path)).ok()?;
    file.try_lock().is_ok().then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_at_a_time_has_the_cores() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(CLAIM);
        let first = lock(&path).unwrap();
        assert!(lock(&path).is_none());
        drop(first);
        assert!(lock(&path).is_some());
        assert!(lock(&dir.path().join("no/folder")).is_none());
    }

    #[test]
    fn a_part_of_the_cores_is_not_pinned() {
        assert!(Claim::new(1).is_none());
        let cores = core_affinity::get_core_ids().unwrap_or_default().len();
        assert!(Claim::new(cores + 1).is_none());
    }
}
