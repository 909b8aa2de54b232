//! [`Ranks`]: all ranks of a run, as whatever computes on them knows them.

use super::communicator::Communicator;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

/// Bytes of a message of rank 0 that go with its length. Most programs of work take no more.
const FIRST_PART: usize = 2048;
/// Bytes of a length.
const LENGTH: usize = size_of::<u64>();
/// A message in one piece is shorter than this, because MPI counts by 32-bit integers.
const PIECE: usize = 1 << 30;

/// Longest pause between two looks for a reply.
const LOOK: Duration = Duration::from_millis(1);

/// What ranks have handed each other so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Messages of rank 0 to all.
    pub broadcasts: u64,
    /// Bytes of these.
    pub broadcast_bytes: u64,
    /// Exchanges of numbers by all.
    pub gathers: u64,
    /// Bytes that each rank gave in these.
    pub gathered_bytes: u64,
    /// Microseconds in which this rank worked with the others.
    pub together_micros: u64,
}

impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Traffic { broadcasts, broadcast_bytes, gathers, gathered_bytes, together_micros } =
            self;
        write!(
            f,
            "{broadcasts} of rank 0 to all, {broadcast_bytes} bytes; {gathers} exchanges of sums, {gathered_bytes} bytes of each \
             rank; {:.2} s together",
            *together_micros as f64 / 1e6
        )
    }
}

/// The ranks of a run.
pub struct World {
    communicator: Box<dyn Communicator>,
    /// Held by whoever works with other ranks: this rank takes part in one thing at a time, also if it is in a group.
    turn: &'static Mutex<()>,
    /// Tells why the run is ended.
    say: fn(&str),
    /// Work is shared however little it is.
    always: bool,
    next_number: AtomicU64,
    traffic: [AtomicU64; 5],
    /// If jobs are dealt to all ranks: of which run.
    jobs_of: OnceLock<u64>,
    /// If they are dealt to groups of ranks.
    groups: OnceLock<Groups>,
}

/// Groups of ranks, each of which does jobs together.
#[derive(Debug, Clone, Copy)]
pub struct Groups {
    /// How many there are.
    pub number: usize,
    /// The ranks of this one.
    pub own: Ranks,
    /// The first ranks of all groups, to which jobs are dealt, if this rank is one of them.
    pub first_ranks: Option<Ranks>,
}

impl World {
    /// Ranks that say by `say` why they end the run.
    pub fn new(communicator: Box<dyn Communicator>, say: fn(&str)) -> Self {
        Self::in_turn(communicator, say, Box::leak(Box::default()))
    }

    fn in_turn(
        communicator: Box<dyn Communicator>,
        say: fn(&str),
        turn: &'static Mutex<()>,
    ) -> Self {
        World {
            communicator,
            turn,
            say,
            always: false,
            next_number: AtomicU64::new(0),
            traffic: [const { AtomicU64::new(0) }; 5],
            jobs_of: OnceLock::new(),
            groups: OnceLock::new(),
        }
    }

    /// The same, who share all work however little it is.
    pub fn that_always_share(self) -> Self {
        World { always: true, ..self }
    }
}

/// A handle to the ranks of a run, which live as long as the process.
#[derive(Clone, Copy)]
pub struct Ranks(&'static World);

impl fmt::Debug for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank(), self.size())
    }
}

impl PartialEq for Ranks {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Ranks {}

impl Ranks {
    /// A handle to these ranks.
    pub fn of(world: World) -> Self {
        Ranks(Box::leak(Box::new(world)))
    }

    /// The number of this rank.
    pub fn rank(self) -> usize {
        self.0.communicator.rank()
    }

    /// True for rank 0, which decides what is done.
    pub fn leads(self) -> bool {
        self.rank() == 0
    }

    /// Number of ranks.
    pub fn size(self) -> usize {
        self.0.communicator.size()
    }

    /// Number of ranks on the machine of this one, itself included, and how many of these may run on the same cores as this one.
    pub fn num_beside(self) -> [usize; 2] {
        self.0.communicator.num_beside()
    }

    /// True if work is shared however little it is.
    pub fn always_share(self) -> bool {
        self.0.always
    }

    /// Until this is dropped, nobody else works with the other ranks. To be held by rank 0 from telling what is to be done to the
    /// end of that.
    pub fn turn(self) -> Turn {
        let guard = self.0.turn.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        Turn { ranks: self, begun: Instant::now(), _guard: guard }
    }

    /// Divides all ranks, each of which calls this once, into groups of about as many.
    pub fn divide(self, ranks_per_group: usize) {
        let number = (self.size() / ranks_per_group.max(1)).max(1);
        let World { communicator, say, turn, .. } = self.0;
        let make = |group| Ranks::of(World::in_turn(communicator.split(group), *say, turn));
        let own = make(self.rank() * number / self.size());
        let first_ranks = make(usize::from(!own.leads()));
        let first_ranks = Some(first_ranks).filter(|_| own.leads());
        let _ = self.0.groups.set(Groups { number, own, first_ranks });
    }

    /// The groups into which all ranks are [divided](Ranks::divide), if they are.
    pub fn groups(self) -> Option<Groups> {
        self.0.groups.get().copied()
    }

    /// A number that nothing else has.
    pub fn next_number(self) -> u64 {
        self.0.next_number.fetch_add(1, Ordering::Relaxed)
    }

    /// What this rank has handed to others so far.
    pub fn traffic(self) -> Traffic {
        let groups = self.groups();
        let own = groups.map(|groups| groups.own);
        let all = [Some(self), own, groups.and_then(|groups| groups.first_ranks)];
        let [broadcasts, broadcast_bytes, gathers, gathered_bytes, together_micros] =
            [0, 1, 2, 3, 4].map(|i: usize| {
                let of = |ranks: Ranks| ranks.0.traffic[i].load(Ordering::Relaxed);
                all.into_iter().flatten().map(of).sum()
            });
        Traffic { broadcasts, broadcast_bytes, gathers, gathered_bytes, together_micros }
    }

    fn count(self, first: usize, bytes: usize) {
        self.0.traffic[first].fetch_add(1, Ordering::Relaxed);
        self.0.traffic[first + 1].fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// The numbers of all ranks, one rank after the other: each gives as many.
    pub fn all_gather(self, own: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; own.len() * self.size()];
        if !own.is_empty() {
            self.count(2, size_of_val(own));
            self.0.communicator.all_gather(own, &mut all);
        }
        all
    }

    /// Rank 0 tells all others.
    ///
    /// # Panics
    /// If the message cannot be written, as no message of mlsearch.
    pub fn tell(self, message: &impl Serialize) {
        let mut bytes = vec![0; LENGTH];
        bytes = postcard::to_extend(message, bytes).expect("a message");
        let length = bytes.len() - LENGTH;
        bytes[..LENGTH].copy_from_slice(&(length as u64).to_le_bytes());
        bytes.resize(bytes.len().max(FIRST_PART), 0);
        self.count(0, bytes.len());
        let (first, rest) = bytes.split_at_mut(FIRST_PART);
        self.0.communicator.broadcast(first);
        rest.chunks_mut(PIECE).for_each(|piece| self.0.communicator.broadcast(piece));
    }

    /// What rank 0 [tells](Ranks::tell).
    ///
    /// # Panics
    /// If that is something else.
    pub fn hear<T: DeserializeOwned>(self) -> T {
        decode(&self.hear_bytes())
    }

    /// The same as bytes.
    pub(super) fn hear_bytes(self) -> Vec<u8> {
        let mut bytes = vec![0; FIRST_PART];
        self.0.communicator.broadcast(&mut bytes);
        let length = length_of(&bytes);
        bytes.resize((LENGTH + length).max(FIRST_PART), 0);
        bytes[FIRST_PART..]
            .chunks_mut(PIECE)
            .for_each(|piece| self.0.communicator.broadcast(piece));
        bytes.truncate(LENGTH + length);
        bytes.drain(..LENGTH);
        bytes
    }

    /// The sums over all ranks of numbers below 2^53, which are exact whatever their order.
    pub fn sums(self, own: &[u64]) -> Vec<u64> {
        let mut sums = vec![0; own.len()];
        let own: Vec<f64> = own.iter().map(|&number| number as f64).collect();
        let all = self.all_gather(&own);
        for of_rank in all.chunks_exact(own.len().max(1)) {
            sums.iter_mut().zip(of_rank).for_each(|(sum, &number)| *sum += number as u64);
        }
        sums
    }

    /// Sends something to a rank that [receives](Ranks::receive) it.
    ///
    /// # Panics
    /// If it cannot be written, as no message of mlsearch.
    pub fn send(self, to: usize, message: &impl Serialize) {
        let bytes = postcard::to_stdvec(message).expect("a message");
        self.0.communicator.send(to, &(bytes.len() as u64).to_le_bytes());
        bytes.chunks(PIECE).for_each(|piece| self.0.communicator.send(to, piece));
    }

    /// What a rank [sends](Ranks::send).
    ///
    /// # Panics
    /// If that is something else.
    pub fn receive<T: DeserializeOwned>(self, from: usize) -> T {
        let mut length = [0; LENGTH];
        self.0.communicator.receive(from, &mut length);
        let mut bytes = vec![0; length_of(&length)];
        bytes.chunks_mut(PIECE).for_each(|piece| self.0.communicator.receive(from, piece));
        decode(&bytes)
    }

    /// Asks rank 0, which [answers](Ranks::answer), and returns what it replies.
    ///
    /// # Panics
    /// If that is something else.
    pub fn ask<Reply: DeserializeOwned>(self, question: &impl Serialize) -> Reply {
        let question = postcard::to_stdvec(question).expect("a message");
        // The next to ask waits for the reply to this.
        let _turn = self.turn();
        self.0.communicator.post(0, &question);
        let mut waited = 0;
        loop {
            if let Some((_, reply)) = self.0.communicator.letter() {
                return decode(&reply);
            }
            waited += 1;
            std::thread::sleep(LOOK.min(Duration::from_micros(waited)));
        }
    }

    /// For rank 0: replies to the next question of another rank, if one has asked.
    ///
    /// # Panics
    /// If that is something else.
    pub fn answer<Question: DeserializeOwned, Reply: Serialize>(
        self,
        reply: impl FnOnce(usize, Question) -> Reply,
    ) -> bool {
        let _turn = self.turn();
        let Some((from, question)) = self.0.communicator.letter() else { return false };
        let reply = postcard::to_stdvec(&reply(from, decode(&question))).expect("a message");
        self.0.communicator.post(from, &reply);
        true
    }

    /// Ends the run, because this rank has failed, and others may wait for it.
    pub fn abort(self, why: &str) -> ! {
        (self.0.say)(&format!("rank {} of {}: {why}", self.rank(), self.size()));
        self.0.communicator.abort(1)
    }

    /// Ends the run, which has failed on rank 0, while other ranks still compute.
    pub fn end_all(self, exit_code: u8) -> ! {
        self.0.communicator.abort(exit_code)
    }

    /// From now on, jobs of a run with this hash of data and options are dealt to all ranks. False if jobs were dealt before.
    pub fn deal_jobs(self, run: u64) -> bool {
        self.0.jobs_of.set(run).is_ok()
    }

    /// The hash of the run of which jobs are dealt to all ranks, if they are.
    pub fn jobs_of(self) -> Option<u64> {
        self.0.jobs_of.get().copied()
    }
}

/// Somebody's turn to work with the other ranks. If it ends by a panic, so does the run, because the others may wait.
pub struct Turn {
    ranks: Ranks,
    begun: Instant,
    _guard: MutexGuard<'static, ()>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.ranks.abort("it has panicked");
        }
        let micros = self.begun.elapsed().as_micros() as u64;
        self.ranks.0.traffic[4].fetch_add(micros, Ordering::Relaxed);
    }
}

fn length_of(bytes: &[u8]) -> usize {
    u64::from_le_bytes(bytes[..LENGTH].try_into().expect("the bytes of a length")) as usize
}

/// The first part of a message of several, and the bytes of the others.
pub(super) fn decode_first<T: DeserializeOwned>(bytes: &[u8]) -> (T, &[u8]) {
    postcard::take_from_bytes(bytes).expect("all ranks run the same program")
}

/// What a message says.
///
/// # Panics
/// If it is something else.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> T {
    postcard::from_bytes(bytes).expect("all ranks run the same program")
}

#[cfg(test)]
mod tests {
    use super::super::as_threads;
    use super::*;

    #[test]
    fn all_hear_what_rank_0_tells_and_have_the_numbers_of_all() {
        let messages = || {
            let lengths = [0, 1, 100, FIRST_PART - LENGTH - 2, FIRST_PART, 100_000];
            lengths.map(|length| (0..length).map(|i| (i % 251) as u8).collect::<Vec<_>>())
        };
        let work = |ranks: Ranks| {
            for message in messages() {
                if ranks.leads() {
                    ranks.tell(&message);
                } else {
                    assert_eq!(ranks.hear::<Vec<u8>>(), message);
                }
            }
            let mut of_others = Vec::new();
            for other in 1..ranks.size() {
                if ranks.leads() {
                    ranks.send(other, &("some", other));
                } else if ranks.rank() == other {
                    of_others = ranks.receive::<(String, usize)>(0).0.into_bytes();
                }
            }
            assert_eq!(of_others.is_empty(), ranks.leads());
            let numbers = [ranks.rank() as f64, -1.5];
            let all = ranks.all_gather(&numbers);
            assert!(ranks.all_gather(&[]).is_empty());
            assert!(ranks.sums(&[]).is_empty());
            let size = ranks.size() as u64;
            let own = [ranks.rank() as u64, 1 << 40];
            assert_eq!(ranks.sums(&own), [size * (size - 1) / 2, size << 40]);
            all
        };
        for size in [1, 2, 3, 5] {
            let expected: Vec<f64> = (0..size).flat_map(|rank| [rank as f64, -1.5]).collect();
            for all in as_threads(size, work) {
                assert_eq!(all, expected);
            }
        }
    }

    #[test]
    fn groups_work_side_by_side_and_their_first_ranks_with_each_other() {
        // Ranks, ranks of a group, and the sizes of the groups.
        for (size, per_group, expected) in
            [(5, 2, &[3, 2][..]), (6, 2, &[2, 2, 2]), (4, 3, &[4]), (3, 1, &[1, 1, 1])]
        {
            let work = |ranks: Ranks| {
                ranks.divide(per_group);
                let Groups { number, own, first_ranks } = ranks.groups().expect("groups");
                assert_eq!(number, expected.len());
                let of_own = own.all_gather(&[ranks.rank() as f64]);
                assert_eq!(own.leads(), first_ranks.is_some());
                let of_first = first_ranks.map(|first| {
                    assert_eq!(first.leads(), ranks.leads());
                    first.all_gather(&[own.size() as f64])
                });
                (of_own, of_first)
            };
            let found = as_threads(size, work);
            let sizes: Vec<f64> = expected.iter().map(|&size| f64::from(size)).collect();
            assert_eq!(found.iter().filter(|found| found.1.is_some()).count(), expected.len());
            assert!(found.iter().all(|found| found.1.as_ref().is_none_or(|all| *all == sizes)));
            for (rank, (of_own, _)) in found.iter().enumerate() {
                assert!(of_own.contains(&(rank as f64)) && of_own.is_sorted());
            }
        }
    }
}
