//! Ranks of an installed MPI (Open MPI, MPICH or another that the crate `mpi` was built with).

use crate::mpi::Communicator;
use mpi::environment::{self, Universe};
use mpi::request::{Request, scope};
use mpi::topology::{Color, SimpleCommunicator};
// The trait of the crate that has the name of ours.
use mpi::traits::Communicator as _;
use mpi::traits::{CommunicatorCollectives, Destination, Equivalence, Root, Source};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::xxh3_64;

/// For how long a rank that waits looks again and again without a pause: about what an exchange between machines takes.
const SPIN: Duration = Duration::from_micros(50);
/// After this, others do something long, and a rank that waits sleeps between two looks.
const PATIENCE: Duration = Duration::from_millis(5);
/// How long it sleeps then.
const NAP: Duration = Duration::from_micros(100);
/// If it takes longer to get back a core that was offered to others, these use it: from then on, a rank sleeps for [`DOZE`] instead, because
/// who sleeps gets a core again at once, in this and the next [`UNTIL_NEXT_OFFER`] waits. (Twelve replicates of 8 taxa with 240 sites, two ranks in each
/// likelihood, on two cores for which eight processes were ready: 13 and 20 s with offers alone, 1.8 and 2.3 with sleep.)
const LONG_OFFER: Duration = Duration::from_micros(300);
const DOZE: Duration = Duration::from_micros(20);
const UNTIL_NEXT_OFFER: u32 = 200;
/// Marks letters, and sums.
const LETTER: i32 = 1;
const SUMS: i32 = 2;

/// MPI, which ends when this is dropped: not before all ranks have done their last exchange.
pub(super) struct Running(Universe);

/// All processes that were started together, or a group of them.
struct Installed {
    world: SimpleCommunicator,
    num_beside: [usize; 2],
}

// SAFETY: MPI was initialised so that any thread may call it, one at a time, and all calls are made in a rank's turn
// (`Ranks::turn`) or by its only thread.
#[allow(unsafe_code)]
unsafe impl Send for Installed {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl Sync for Installed {}

impl Installed {
    fn of(world: SimpleCommunicator) -> Self {
        let here = world.split_shared(world.rank());
        let cores = core_affinity::get_core_ids().unwrap_or_default();
        let cores: Vec<u64> = cores.iter().map(|core| core.id as u64).collect();
        let own = xxh3_64(bytemuck::cast_slice(&cores));
        let mut all = vec![0; here.size() as usize];
        here.all_gather_into(&own, &mut all[..]);
        let num_beside = [all.len(), all.iter().filter(|&&cores| cores == own).count()];
        Installed { world, num_beside }
    }
}

impl Running {
    /// Begins MPI.
    ///
    /// # Errors
    /// It has begun already, or cannot be called by different threads, in words.
    pub(super) fn begin() -> Result<Self, String> {
        let wanted = mpi::Threading::Serialized;
        let begun = mpi::initialize_with_threading(wanted);
        let (universe, provided) = begun.ok_or("MPI has already begun in this process")?;
        if provided < wanted {
            return Err(format!(
                "this MPI can be called by one thread only ({provided:?}), and mlsearch needs one that threads can call in \
                 turn (MPI_THREAD_SERIALIZED)"
            ));
        }
        Ok(Running(universe))
    }

    /// All processes that were started together.
    pub(super) fn world(&self) -> Box<dyn Communicator> {
        Box::new(Installed::of(self.0.world()))
    }

    /// Name and version of the library.
    pub(super) fn library(&self) -> String {
        let name = environment::library_version().unwrap_or_default();
        name.lines().next().unwrap_or_default().trim().trim_end_matches(',').to_string()
    }
}

/// Waits without taking a core from those who compute.
fn wait<'a, D: ?Sized, S: mpi::request::Scope<'a>>(mut request: Request<'a, D, S>) {
    /// In so many waits, no core is offered to others.
    static WITHOUT_OFFERS: AtomicU32 = AtomicU32::new(0);
    let started = Instant::now();
    // Ranks wait one at a time.
    let mut without = WITHOUT_OFFERS.load(Ordering::Relaxed).saturating_sub(1);
    loop {
        request = match request.test() {
            Ok(_) => break,
            Err(request) => request,
        };
        match started.elapsed() {
            waited if waited < SPIN => std::hint::spin_loop(),
            waited if waited >= PATIENCE => std::thread::sleep(NAP),
            _ if without > 0 => std::thread::sleep(DOZE),
            waited => {
                std::thread::yield_now();
                if started.elapsed() - waited > LONG_OFFER {
                    without = UNTIL_NEXT_OFFER;
                }
            }
        }
    }
    WITHOUT_OFFERS.store(without, Ordering::Relaxed);
}

impl Communicator for Installed {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn size(&self) -> usize {
        self.world.size() as usize
    }

    fn num_beside(&self) -> [usize; 2] {
        self.num_beside
    }

    /// By the algorithm of Bruck et al. 1997 (IEEE Trans. Parallel Distrib. Syst. 8:1143-1156): after the k-th of log2(ranks) exchanges, each
    /// rank has the numbers of the 2^k ranks from itself on. Open MPI's own gathering that can be waited for with pauses sends the
    /// numbers of each rank to every other.
    fn all_gather(&self, own: &[f64], all: &mut [f64]) {
        assert_eq!(all.len(), own.len() * self.size(), "as many numbers of each rank");
        let (rank, size, length) = (self.rank(), self.size(), own.len());
        let mut blocks = vec![0.0; all.len()];
        blocks[..length].copy_from_slice(own);
        let mut known = 1;
        while known < size {
            let (here, new) = blocks.split_at_mut(known * length);
            let length = known.min(size - known) * length;
            let before = self.world.process_at_rank(((rank + size - known) % size) as i32);
            let after = self.world.process_at_rank(((rank + known) % size) as i32);
            let (here, new) = (&here[..length], &mut new[..length]);
            scope(|scope| {
                let received = after.immediate_receive_into_with_tag(scope, new, SUMS);
                let sent = before.immediate_send_with_tag(scope, here, SUMS);
                wait(received);
                wait(sent);
            });
            known = (2 * known).min(size);
        }
        let own_place = rank * length;
        let (from_own, from_first) = blocks.split_at(all.len() - own_place);
        all[own_place..].copy_from_slice(from_own);
        all[..own_place].copy_from_slice(from_first);
    }

    fn broadcast(&self, bytes: &mut [u8]) {
        let root = self.world.process_at_rank(0);
        scope(|scope| wait(root.immediate_broadcast_into(scope, bytes)));
    }

    fn send(&self, to: usize, bytes: &[u8]) {
        let other = self.world.process_at_rank(to as i32);
        scope(|scope| wait(other.immediate_send(scope, bytes)));
    }

    fn receive(&self, from: usize, bytes: &mut [u8]) {
        let other = self.world.process_at_rank(from as i32);
        scope(|scope| wait(other.immediate_receive_into(scope, bytes)));
    }

    fn post(&self, to: usize, letter: &[u8]) {
        let other = self.world.process_at_rank(to as i32);
        scope(|scope| wait(other.immediate_send_with_tag(scope, letter, LETTER)));
    }

    fn letter(&self) -> Option<(usize, Vec<u8>)> {
        let found = self.world.any_process().immediate_probe_with_tag(LETTER)?;
        let from = self.world.process_at_rank(found.source_rank());
        let mut letter = vec![0; found.count(u8::equivalent_datatype()) as usize];
        scope(|scope| wait(from.immediate_receive_into_with_tag(scope, &mut letter[..], LETTER)));
        Some((found.source_rank() as usize, letter))
    }

    fn split(&self, group: usize) -> Box<dyn Communicator> {
        let color = Color::with_value(group as i32);
        Box::new(Installed::of(self.world.split_by_color(color).expect("a rank is in its group")))
    }

    fn abort(&self, exit_code: u8) -> ! {
        SimpleCommunicator::world().abort(exit_code.into())
    }
}
