//! Ranks that are threads of one process: for tests of what is computed on several ranks, where no MPI is installed.

use super::communicator::Communicator;
use super::world::{Ranks, World};
use crossbeam::channel::{Receiver, Sender, unbounded};
use std::collections::BTreeMap;
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
    /// Bytes for a single rank: by the number of this rank, times that of all, plus that of the sender.
    mail: Boxes<Vec<u8>>,
    /// Letters with those who sent them, to each rank.
    letters: Boxes<(usize, Vec<u8>)>,
    /// What the ranks of each group share that is being made.
    groups: Mutex<BTreeMap<usize, Arc<Shared>>>,
}

impl Shared {
    /// For so many ranks.
    fn new(size: usize) -> Arc<Self> {
        Arc::new(Shared {
            meeting: Barrier::new(size),
            numbers: (0..size).map(|_| Mutex::default()).collect(),
            bytes: Place::default(),
            mail: (0..size * size).map(|_| unbounded()).unzip(),
            letters: (0..size).map(|_| unbounded()).unzip(),
            groups: Mutex::default(),
        })
    }
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
        let place = to * self.size() + self.rank;
        self.shared.mail.0[place].send(bytes.to_vec()).expect("all ranks live as long");
    }

    fn receive(&self, from: usize, bytes: &mut [u8]) {
        let place = self.rank * self.size() + from;
        let sent = self.shared.mail.1[place].recv().expect("all ranks live as long");
        bytes.copy_from_slice(&sent);
    }

    fn post(&self, to: usize, letter: &[u8]) {
        let sent = self.shared.letters.0[to].send((self.rank, letter.to_vec()));
        sent.expect("all ranks live as long");
    }

    fn letter(&self) -> Option<(usize, Vec<u8>)> {
        self.shared.letters.1[self.rank].try_recv().ok()
    }

    fn split(&self, group: usize) -> Box<dyn Communicator> {
        let mut groups = vec![0.0; self.size()];
        self.all_gather(&[group as f64], &mut groups);
        let members: Vec<usize> =
            (0..self.size()).filter(|&rank| groups[rank] == group as f64).collect();
        let rank = members.iter().position(|&rank| rank == self.rank).expect("a group of its own");
        let make = || Shared::new(members.len());
        let shared = Arc::clone(lock(&self.shared.groups).entry(group).or_insert_with(make));
        self.shared.meeting.wait();
        lock(&self.shared.groups).remove(&group);
        self.shared.meeting.wait();
        Box::new(Thread { rank, shared })
    }

    fn abort(&self, _exit_code: u8) -> ! {
        // The others may wait for ever.
        std::process::abort()
    }
}

/// Runs `work` on so many ranks, all of which share their work however little it is, and returns what it returned, by rank.
pub fn as_threads<T: Send>(size: usize, work: impl Fn(Ranks) -> T + Sync) -> Vec<T> {
    let shared = Shared::new(size);
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
