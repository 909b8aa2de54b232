//! [`Deal`]: computations of very different sizes on several threads, the largest first, in the memory that there is; on several ranks,
//! if there are, each of which asks rank 0 for the next one whenever it has a thread free.
//!
//! A small computation has one thread of its own, because it then never waits for others. One that is more than its share of
//! what is left has several threads, so that the run does not end with a long wait for it. None of this shows in the results.

use super::interrupt::{interrupted, must_end};
use super::shared_jobs::{Outcome, answer_until_over};
use crate::error::{Error, Result};
use crate::mpi::Ranks;
use crate::stop::Stop;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// How many of the waiting ones are asked if they fit the memory that is left.
const LOOK_AHEAD: usize = 1000;
/// Time between two looks at the signals.
const BEAT: Duration = Duration::from_millis(100);

/// A computation that is to be dealt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Task {
    /// Its work, in proportion to that of the others.
    pub work: f64,
    /// Bytes that it takes for each of its threads.
    pub bytes: u64,
    /// Most threads that are worth it.
    pub useful_threads: usize,
}

/// A computation that begins now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Dealt {
    /// Its number among the tasks.
    pub task: usize,
    /// Its threads.
    pub threads: usize,
    /// It does not fit the memory as it is, and has all of it.
    pub is_alone: bool,
    /// Bytes that it takes: one that is alone leaves nothing.
    bytes: u64,
}

/// What is left to be dealt.
struct Stock<'a> {
    tasks: &'a [Task],
    /// The largest first.
    waiting: VecDeque<usize>,
    /// Work of those that wait or run.
    outstanding: f64,
    num_ranks: usize,
    /// Nothing more is begun.
    is_over: bool,
}

impl<'a> Stock<'a> {
    fn new(tasks: &'a [Task], open: &[usize], num_ranks: usize) -> Self {
        let mut order = open.to_vec();
        order.sort_by(|&a, &b| tasks[b].work.total_cmp(&tasks[a].work));
        let outstanding = open.iter().map(|&task| tasks[task].work).sum();
        Stock { tasks, waiting: order.into(), outstanding, num_ranks, is_over: false }
    }

    /// The next computation for a rank that has so much room. All ranks are taken to have as many threads.
    fn take(&mut self, room: &Room) -> Next {
        if self.is_over || self.waiting.is_empty() {
            return Next::NoneLeft;
        }
        if room.free_threads == 0 {
            return Next::Later;
        }
        let left = room.memory.map_or(u64::MAX, |memory| memory.saturating_sub(room.used_bytes));
        let fits = |&task: &usize| self.tasks[task].bytes <= left;
        let place = self.waiting.iter().take(LOOK_AHEAD).position(fits);
        let (place, is_alone) = match place {
            Some(place) => (place, false),
            None if room.num_running == 0 => (0, true),
            None => return Next::Later,
        };
        let Some(task) = self.waiting.remove(place) else { return Next::NoneLeft };
        let Task { work, bytes, useful_threads } = self.tasks[task];
        let all_threads = (room.threads * self.num_ranks) as f64;
        let share = (work * all_threads / self.outstanding.max(work)) as usize;
        let threads = if is_alone { room.threads } else { share };
        let mut threads = threads.min(useful_threads).min(room.free_threads).max(1);
        if !is_alone {
            threads = threads.min((left / bytes.max(1)) as usize).max(1);
        }
        let bytes = match is_alone {
            true => room.memory.unwrap_or(0),
            false => bytes.saturating_mul(threads as u64),
        };
        Next::Dealt(Dealt { task, threads, is_alone, bytes })
    }

    fn end(&mut self, dealt: Dealt) {
        self.outstanding = (self.outstanding - self.tasks[dealt.task].work).max(0.0);
    }
}

/// What a rank gets that asks for a computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Next {
    Dealt(Dealt),
    /// Not before one of its own has ended.
    Later,
    NoneLeft,
}

/// The room for computations on one rank.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Room {
    threads: usize,
    free_threads: usize,
    num_running: usize,
    /// Bytes for all of them; `None` if there is no limit.
    memory: Option<u64>,
    used_bytes: u64,
}

impl Room {
    fn new(threads: usize, memory: Option<u64>) -> Self {
        Room { threads, free_threads: threads, num_running: 0, memory, used_bytes: 0 }
    }

    fn begin(&mut self, dealt: Dealt) {
        self.free_threads -= dealt.threads;
        self.num_running += 1;
        self.used_bytes += dealt.bytes;
    }

    fn end(&mut self, dealt: Dealt) {
        self.free_threads += dealt.threads;
        self.num_running -= 1;
        self.used_bytes -= dealt.bytes;
    }

    /// Carries out on this rank what `next` gives, on so many threads at most. `put` gets what each has led to.
    fn work_on<T>(
        self,
        most_threads: usize,
        next: impl Fn(&Room) -> Next + Sync,
        work: impl Fn(Dealt) -> T + Sync,
        put: impl Fn(Dealt, T) + Sync,
    ) {
        let room = Mutex::new(self);
        let ended = Condvar::new();
        let take = || {
            let mut at: MutexGuard<Room> = locked(&room);
            loop {
                match next(&at) {
                    Next::Dealt(dealt) => {
                        at.begin(dealt);
                        return Some(dealt);
                    }
                    // Something runs, and wakes this when it ends.
                    Next::Later => at = ended.wait(at).unwrap_or_else(|poison| poison.into_inner()),
                    Next::NoneLeft => return None,
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..most_threads {
                scope.spawn(|| {
                    while let Some(dealt) = take() {
                        let result = work(dealt);
                        locked(&room).end(dealt);
                        ended.notify_all();
                        put(dealt, result);
                    }
                });
            }
        });
    }
}

/// What another rank asks of rank 0, or tells it.
#[derive(Debug, Serialize, Deserialize)]
enum Question {
    /// The next computation, for so much room.
    Next(Room),
    /// What came of one.
    Ended(Dealt, Outcome),
    /// This rank will ask for no more.
    Over,
}

/// Computations, and what there is for them.
pub(crate) struct Deal<'a> {
    /// All of the run, on all ranks the same.
    pub tasks: &'a [Task],
    /// The numbers of those that are to be done, as rank 0 knows them.
    pub open: &'a [usize],
    /// Threads of this rank.
    pub threads: usize,
    /// Bytes for all that run on this rank at the same time; `None` if there is no limit.
    pub memory: Option<u64>,
    /// Whether the run is to end.
    pub stop: Stop,
    /// The ranks to which they are dealt, if there are several.
    pub ranks: Option<Ranks>,
}

impl Deal<'_> {
    /// Does all computations. `work` does one, and `finished` gets what came of it, in any order; on other ranks than rank 0, it gets
    /// nothing.
    ///
    /// # Errors
    /// That of `work` or `finished`, after which nothing more is begun; [`Error::Interrupted`] after a signal, or when `stop` asks for it.
    pub(crate) fn run<T: Send + Serialize + DeserializeOwned>(
        &self,
        work: impl Fn(Dealt) -> Result<T> + Sync,
        mut finished: impl FnMut(Dealt, T) -> Result<()>,
    ) -> Result<()> {
        if let Some(ranks) = self.ranks.filter(|ranks| !ranks.leads()) {
            self.run_for_rank_0(ranks, work);
            return Ok(());
        }
        let num_ranks = self.ranks.map_or(1, Ranks::size);
        let stock = Mutex::new(Stock::new(self.tasks, self.open, num_ranks));
        let (sender, results) = channel();
        let mut error: Option<Error> = None;
        std::thread::scope(|scope| {
            if let Some(ranks) = self.ranks {
                let (stock, sender) = (&stock, sender.clone());
                scope.spawn(move || answer_ranks(ranks, stock, &sender));
            }
            let (stock, work) = (&stock, &work);
            scope.spawn(move || {
                let put = |dealt: Dealt, result: Result<T>| {
                    locked(stock).end(dealt);
                    // Nobody waits for it after a failure.
                    let _ = sender.send((dealt, result));
                };
                let next = |room: &Room| locked(stock).take(room);
                let most_threads = self.threads.min(self.open.len());
                Room::new(self.threads, self.memory).work_on(most_threads, next, work, put);
            });
            loop {
                match results.recv_timeout(BEAT) {
                    Ok((dealt, result)) => {
                        if let Err(failed) = result.and_then(|result| finished(dealt, result)) {
                            error.get_or_insert(failed);
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                if must_end(self.stop) {
                    error.get_or_insert_with(interrupted);
                }
                if error.is_some() {
                    locked(stock).is_over = true;
                }
            }
        });
        error.map_or(Ok(()), Err)
    }

    /// Does what rank 0 deals to this rank.
    fn run_for_rank_0<T: Serialize>(&self, ranks: Ranks, work: impl Fn(Dealt) -> Result<T> + Sync) {
        let next = |room: &Room| match room.free_threads {
            0 => Next::Later,
            _ => ranks.ask(&Question::Next(*room)),
        };
        let put = |dealt: Dealt, result: Result<T>| {
            let _: Next = ranks.ask(&Question::Ended(dealt, Outcome::of(&result, Vec::new())));
        };
        Room::new(self.threads, self.memory).work_on(self.threads, next, work, put);
        let _: Next = ranks.ask(&Question::Over);
    }
}

/// Rank 0's side: deals to the other ranks until they ask for no more, or nothing is to be begun any more, and passes on what comes of it.
fn answer_ranks<T: DeserializeOwned>(
    ranks: Ranks,
    stock: &Mutex<Stock>,
    results: &Sender<(Dealt, Result<T>)>,
) {
    let is_over = || locked(stock).is_over;
    answer_until_over(ranks, is_over, |question, asking| match question {
        Question::Next(room) => locked(stock).take(&room),
        Question::Ended(dealt, outcome) => {
            locked(stock).end(dealt);
            let _ = results.send((dealt, outcome.result()));
            Next::Later
        }
        Question::Over => {
            *asking -= 1;
            Next::Later
        }
    });
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpi::as_threads;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    fn tasks(work: &[u32], bytes: u64) -> Vec<Task> {
        let task = |&work: &u32| Task { work: f64::from(work), bytes, useful_threads: 4 };
        work.iter().map(task).collect()
    }

    /// The next computation for this room.
    fn next(stock: &mut Stock, room: &mut Room) -> Option<Dealt> {
        let Next::Dealt(dealt) = stock.take(room) else { return None };
        room.begin(dealt);
        Some(dealt)
    }

    fn end(stock: &mut Stock, room: &mut Room, dealt: Dealt) {
        room.end(dealt);
        stock.end(dealt);
    }

    #[test]
    fn the_largest_come_first_and_only_those_beyond_their_share_have_several_threads() {
        let tasks = tasks(&[1, 8, 1, 3, 2, 1, 9], 1);
        let (mut stock, mut room) =
            (Stock::new(&tasks, &[0, 1, 2, 3, 4, 5], 1), Room::new(4, None));
        let first = next(&mut stock, &mut room).expect("one that fits");
        assert_eq!((first.task, first.threads), (1, 2));
        for expected in [3, 4] {
            let dealt = next(&mut stock, &mut room).map(|dealt| (dealt.task, dealt.threads));
            assert_eq!(dealt, Some((expected, 1)));
        }
        assert_eq!(next(&mut stock, &mut room), None, "no thread is left");
        end(&mut stock, &mut room, first);
        let dealt = next(&mut stock, &mut room).map(|dealt| (dealt.task, dealt.threads));
        assert_eq!(dealt, Some((0, 1)));
    }

    #[test]
    fn of_several_ranks_the_share_of_work_is_that_of_one_thread_of_all() {
        let tasks = tasks(&[8, 1, 3, 2, 1, 1], 1);
        let mut stock = Stock::new(&tasks, &[0, 1, 2, 3, 4, 5], 3);
        let mut rooms = [Room::new(4, None); 2];
        let threads = |dealt: Option<Dealt>| dealt.map(|dealt| (dealt.task, dealt.threads));
        assert_eq!(threads(next(&mut stock, &mut rooms[0])), Some((0, 4)));
        assert_eq!(threads(next(&mut stock, &mut rooms[0])), None);
        assert_eq!(threads(next(&mut stock, &mut rooms[1])), Some((2, 2)));
        assert_eq!(threads(next(&mut stock, &mut rooms[1])), Some((3, 1)));
    }

    #[test]
    fn what_does_not_fit_waits_and_what_never_fits_is_alone() {
        let mut tasks = tasks(&[9, 5, 4, 3], 40);
        tasks[0].bytes = 101;
        let (mut stock, mut room) = (Stock::new(&tasks, &[0, 1, 2, 3], 1), Room::new(8, Some(100)));
        let first = next(&mut stock, &mut room).expect("one that fits");
        assert_eq!((first.task, first.is_alone), (1, false));
        let second = next(&mut stock, &mut room).expect("one that fits");
        assert_eq!((second.task, second.threads), (2, 1));
        assert_eq!(next(&mut stock, &mut room), None);
        end(&mut stock, &mut room, first);
        let third = next(&mut stock, &mut room).expect("one that fits");
        assert_eq!(third.task, 3);
        end(&mut stock, &mut room, second);
        assert_eq!(next(&mut stock, &mut room), None, "the last one waits until it is alone");
        end(&mut stock, &mut room, third);
        let last = next(&mut stock, &mut room).expect("the last one");
        assert_eq!((last.task, last.threads, last.is_alone), (0, 4, true));
        assert_eq!(next(&mut stock, &mut room), None);
    }

    #[test]
    fn every_task_is_done_once_within_threads_and_memory() {
        let work: Vec<u32> = (1..200).collect();
        let tasks = tasks(&work, 10);
        let open: Vec<usize> = (0..tasks.len()).filter(|task| task % 7 != 3).collect();
        for (threads, memory) in [(1, None), (3, Some(25)), (5, Some(9))] {
            let (running, most) = (AtomicU64::new(0), AtomicUsize::new(0));
            let mut done = vec![0; tasks.len()];
            let work = |dealt: Dealt| {
                let now = running.fetch_add(dealt.threads as u64, Ordering::SeqCst);
                most.fetch_max(now as usize + dealt.threads, Ordering::SeqCst);
                running.fetch_sub(dealt.threads as u64, Ordering::SeqCst);
                Ok(dealt.task)
            };
            let finished = |dealt: Dealt, task: usize| {
                assert_eq!(dealt.task, task);
                done[task] += 1;
                Ok(())
            };
            let stop = Stop::default();
            let deal = Deal { tasks: &tasks, open: &open, threads, memory, stop, ranks: None };
            deal.run(work, finished).unwrap();
            let is_open = |task: usize| usize::from(open.contains(&task));
            assert!((0..tasks.len()).all(|task| done[task] == is_open(task)), "{done:?}");
            let limit = memory.map_or(threads, |memory| threads.min((memory / 10).max(4) as usize));
            assert!(most.into_inner() <= limit);
        }
    }

    #[test]
    fn every_task_is_done_once_on_one_of_several_ranks() {
        let tasks = tasks(&[1; 60], 10);
        // Other ranks do not know what was done before the run was interrupted.
        let all: Vec<usize> = (0..tasks.len()).collect();
        for (threads, memory) in [(1, None), (3, Some(25))] {
            let ended = as_threads(3, |ranks| {
                let open = if ranks.leads() { &all[20..] } else { &all };
                let stop = Stop::default();
                let deal = Deal { tasks: &tasks, open, threads, memory, stop, ranks: Some(ranks) };
                let mut done = Vec::new();
                let work = |dealt: Dealt| {
                    std::thread::sleep(Duration::from_millis(2));
                    Ok((dealt.task, ranks.rank()))
                };
                let finished = |dealt: Dealt, (task, rank): (usize, usize)| {
                    assert_eq!(dealt.task, task);
                    done.push((task, rank));
                    Ok(())
                };
                deal.run(work, finished).unwrap();
                done
            });
            let [mut done, ..] = <[_; 3]>::try_from(ended).unwrap();
            assert!((0..3).all(|rank| done.iter().any(|one| one.1 == rank)), "{done:?}");
            done.sort_unstable();
            assert!(done.into_iter().map(|(task, _)| task).eq(20..60));
        }
    }

    #[test]
    fn nothing_is_begun_after_a_failure() {
        let tasks = tasks(&[1; 1000], 1);
        let open: Vec<usize> = (0..tasks.len()).collect();
        let deal =
            |stop| Deal { tasks: &tasks, open: &open, threads: 2, memory: None, stop, ranks: None };
        let begun = AtomicUsize::new(0);
        let work = |_: Dealt| {
            begun.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(1));
            Ok(())
        };
        let finished = |_: Dealt, ()| Err(Error::Failed("full".into()));
        let error = deal(Stop::default()).run(work, finished).unwrap_err();
        assert_eq!(error.to_string(), "full");
        assert!(begun.into_inner() < tasks.len());
        let work = |_: Dealt| Err::<(), _>(Error::Failed("out of memory".into()));
        let error = deal(Stop::default()).run(work, |_, ()| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "out of memory");
    }
}
