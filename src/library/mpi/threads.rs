//! Ranks that are threads of one process: for tests of what is computed on several ranks, where no MPI is installed.

use super::communicator::Communicator;
use super::world::{Ranks, World};
use crossbeam::channel::{Receiver, Sender, unbounded};
use std::sync::{Arc, Barrier, Mutex, MutexGuard};

/// What a rank has given to all, or to some rank.
type Place = Mutex<Vec<u8>>;

/// Where letters to each rank are put, and taken.
type Boxes<T> = (Vec<Sender<T>>, Vec<Receiver<T>>);

struct Shared {
    meeting: Barrier,
    /// Of each rank: numbers for all.
    numbers: Vec<Mutex<Vec<f64>>>,
    /// Bytes of rank 0 for all.
    bytes: Place,
    /// Bytes for a single rank, one message at a time, and letters with those who sent them: to and from each rank.
    mail: Boxes<Vec<u8>>,
    letters: Boxes<(usize, Vec<u8>)>,
}

struct Thread {
    rank: usize,
    shared: Arc<Shared>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Communicator for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.shared.numbers.len()
    }

    fn num_beside(&self) -> [usize; 2] {
        [self.size(); 2]
    }

    fn all_gather(&self, own: &[f64], all: &mut [f64]) {
        *lock(&self.shared.numbers[self.rank]) = own.to_vec();
        self.shared.meeting.wait();
        let each = all.chunks_exact_mut(own.len()).zip(&self.shared.numbers);
        each.for_each(|(all, numbers)| all.copy_from_slice(&lock(numbers)));
        self.shared.meeting.wait();
    }

    fn broadcast(&self, bytes: &mut [u8]) {
        if self.rank == 0 {
            *lock(&self.shared.bytes) = bytes.to_vec();
        }
        self.shared.meeting.wait();
        bytes.copy_from_slice(&lock(&self.shared.bytes));
        self.shared.meeting.wait();
    }

    fn send(&self, to: usize, bytes: &[u8]) {
        self.shared.mail.0[to].send(bytes.to_vec()).expect("all ranks live as long");
    }

    fn receive(&self, _from: usize, bytes: &mut [u8]) {
        let sent = self.shared.mail.1[self.rank].recv().expect("all ranks live as long");
        bytes.copy_from_slice(&sent);
    }

    fn post(&self, to: usize, letter: &[u8]) {
        let sent = self.shared.letters.0[to].send((self.rank, letter.to_vec()));
        sent.expect("all ranks live as long");
    }

    fn letter(&self) -> Option<(usize, Vec<u8>)> {
        self.shared.letters.1[self.rank].try_recv().ok()
    }

    fn abort(&self, _exit_code: u8) -> ! {
        // The others may wait for ever.
        std::process::abort()
    }
}

/// Runs `work` on so many ranks, all of which share their work however little it is, and returns what it returned, by rank. Only
/// one rank may send to another at a time.
pub fn as_threads<T: Send>(size: usize, work: impl Fn(Ranks) -> T + Sync) -> Vec<T> {
    let shared = Arc::new(Shared {
        meeting: Barrier::new(size),
        numbers: (0..size).map(|_| Mutex::default()).collect(),
        bytes: Place::default(),
        mail: (0..size).map(|_| unbounded()).unzip(),
        letters: (0..size).map(|_| unbounded()).unzip(),
    });
    let ranks = (0..size).map(|rank| {
        let communicator = Box::new(Thread { rank, shared: Arc::clone(&shared) });
        Ranks::of(World::new(communicator, |why| log::error!("{why}")).that_always_share())
    });
    let ranks: Vec<Ranks> = ranks.collect();
    std::thread::scope(|scope| {
        let work = &work;
        let begin = |ranks| scope.spawn(move || work(ranks));
        let threads: Vec<_> = ranks.into_iter().map(begin).collect();
        threads.into_iter().map(|thread| thread.join().expect("a rank")).collect()
    })
}
