//! [`deal`]: computations of very different sizes on several threads, the largest first, in the memory that there is.
//!
//! A small computation has one thread of its own, because it then never waits for others. One that is more than its share of
//! what is left has several threads, so that the run does not end with a long wait for it. None of this shows in the results.

use super::interrupt::{interrupted, must_end};
use crate::error::{Error, Result};
use crate::stop::Stop;
use std::collections::VecDeque;
use std::sync::mpsc::{RecvTimeoutError, channel};
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dealt {
    /// Its number among the tasks.
    pub task: usize,
    /// Its threads.
    pub threads: usize,
    /// It does not fit the memory as it is, and has all of it.
    pub is_alone: bool,
}

/// Who works, and what is left.
struct Table<'a> {
    tasks: &'a [Task],
    /// Bytes for all of them; `None` if there is no limit.
    memory: Option<u64>,
    /// The largest first.
    waiting: VecDeque<usize>,
    free_threads: usize,
    num_running: usize,
    used_bytes: u64,
    /// Work of those that wait or run.
    outstanding: f64,
    /// Nothing more is begun.
    is_over: bool,
}

impl<'a> Table<'a> {
    fn new(tasks: &'a [Task], threads: usize, memory: Option<u64>) -> Self {
        let mut order: Vec<usize> = (0..tasks.len()).collect();
        order.sort_by(|&a, &b| tasks[b].work.total_cmp(&tasks[a].work));
        Table {
            tasks,
            memory,
            waiting: order.into(),
            free_threads: threads,
            num_running: 0,
            used_bytes: 0,
            outstanding: tasks.iter().map(|task| task.work).sum(),
            is_over: false,
        }
    }

    /// The next computation, if there are a thread and the memory for one.
    fn take(&mut self, all_threads: usize) -> Option<Dealt> {
        if self.free_threads == 0 {
            return None;
        }
        let left = self.memory.map_or(u64::MAX, |memory| memory.saturating_sub(self.used_bytes));
        let fits = |&task: &usize| self.tasks[task].bytes <= left;
        let place = self.waiting.iter().take(LOOK_AHEAD).position(fits);
        let (place, is_alone) = match place {
            Some(place) => (place, false),
            None if self.num_running == 0 && !self.waiting.is_empty() => (0, true),
            None => return None,
        };
        let task = self.waiting.remove(place)?;
        let Task { work, bytes, useful_threads } = self.tasks[task];
        let share = (work * all_threads as f64 / self.outstanding.max(work)) as usize;
        let threads = if is_alone { all_threads } else { share };
        let mut threads = threads.min(useful_threads).min(self.free_threads).max(1);
        if !is_alone {
            threads = threads.min((left / bytes.max(1)) as usize).max(1);
        }
        let dealt = Dealt { task, threads, is_alone };
        self.free_threads -= threads;
        self.num_running += 1;
        self.used_bytes += self.bytes_of(dealt);
        Some(dealt)
    }

    /// What a computation takes of the memory: one that is alone leaves nothing.
    fn bytes_of(&self, Dealt { task, threads, is_alone }: Dealt) -> u64 {
        match is_alone {
            true => self.memory.unwrap_or(0),
            false => self.tasks[task].bytes.saturating_mul(threads as u64),
        }
    }

    fn give_back(&mut self, dealt: Dealt) {
        self.free_threads += dealt.threads;
        self.num_running -= 1;
        self.used_bytes -= self.bytes_of(dealt);
        self.outstanding = (self.outstanding - self.tasks[dealt.task].work).max(0.0);
    }
}

/// Does all computations. `work` does one, and `finished` gets what it returned, in any order.
///
/// # Errors
/// That of `finished`, after which nothing more is begun; [`Error::Interrupted`] after a signal, or when `stop` asks for it.
pub(crate) fn deal<T: Send>(
    tasks: &[Task],
    threads: usize,
    memory: Option<u64>,
    stop: Stop,
    work: impl Fn(Dealt) -> T + Sync,
    mut finished: impl FnMut(Dealt, T) -> Result<()>,
) -> Result<()> {
    let table = Mutex::new(Table::new(tasks, threads, memory));
    let given_back = Condvar::new();
    let lock = || table.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let wait = |guard| given_back.wait(guard).unwrap_or_else(|poisoned| poisoned.into_inner());
    let (sender, results) = channel();
    let mut error: Option<Error> = None;
    std::thread::scope(|scope| {
        for _ in 0..threads.min(tasks.len()) {
            let sender = sender.clone();
            scope.spawn(|| {
                let sender = sender;
                loop {
                    let mut at: MutexGuard<Table> = lock();
                    let dealt = loop {
                        if at.is_over || at.waiting.is_empty() {
                            return;
                        }
                        match at.take(threads) {
                            Some(dealt) => break dealt,
                            None => at = wait(at),
                        }
                    };
                    drop(at);
                    let result = work(dealt);
                    lock().give_back(dealt);
                    given_back.notify_all();
                    if sender.send((dealt, result)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        loop {
            match results.recv_timeout(BEAT) {
                Ok((dealt, result)) => {
                    if let Err(failed) = finished(dealt, result) {
                        error.get_or_insert(failed);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if must_end(stop) {
                error.get_or_insert_with(interrupted);
            }
            if error.is_some() {
                lock().is_over = true;
                given_back.notify_all();
            }
        }
    });
    error.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    fn tasks(work: &[u32], bytes: u64) -> Vec<Task> {
        let task = |&work: &u32| Task { work: f64::from(work), bytes, useful_threads: 4 };
        work.iter().map(task).collect()
    }

    #[test]
    fn the_largest_come_first_and_only_those_beyond_their_share_have_several_threads() {
        let tasks = tasks(&[1, 8, 1, 3, 2, 1], 1);
        let mut table = Table::new(&tasks, 4, None);
        let next = |table: &mut Table| table.take(4).map(|dealt| (dealt.task, dealt.threads));
        assert_eq!(next(&mut table), Some((1, 2)));
        assert_eq!(next(&mut table), Some((3, 1)));
        assert_eq!(next(&mut table), Some((4, 1)));
        assert_eq!(next(&mut table), None, "no thread is left");
        table.give_back(Dealt { task: 1, threads: 2, is_alone: false });
        assert_eq!(next(&mut table), Some((0, 1)));
    }

    #[test]
    fn what_does_not_fit_waits_and_what_never_fits_is_alone() {
        let mut tasks = tasks(&[9, 5, 4, 3], 40);
        tasks[0].bytes = 101;
        let mut table = Table::new(&tasks, 8, Some(100));
        let first = table.take(8).expect("one that fits");
        assert_eq!((first.task, first.is_alone), (1, false));
        let second = table.take(8).expect("one that fits");
        assert_eq!((second.task, second.threads), (2, 1));
        assert_eq!(table.take(8), None);
        table.give_back(first);
        let third = table.take(8).expect("one that fits");
        assert_eq!(third.task, 3);
        table.give_back(second);
        assert_eq!(table.take(8), None, "the last one waits until it is alone");
        table.give_back(third);
        assert_eq!(table.take(8), Some(Dealt { task: 0, threads: 4, is_alone: true }));
        assert_eq!(table.take(8), None);
    }

    #[test]
    fn every_task_is_done_once_within_threads_and_memory() {
        let work: Vec<u32> = (1..200).collect();
        let tasks = tasks(&work, 10);
        for (threads, memory) in [(1, None), (3, Some(25)), (5, Some(9))] {
            let (running, most) = (AtomicU64::new(0), AtomicUsize::new(0));
            let mut done = vec![0; tasks.len()];
            let work = |dealt: Dealt| {
                let now = running.fetch_add(dealt.threads as u64, Ordering::SeqCst);
                most.fetch_max(now as usize + dealt.threads, Ordering::SeqCst);
                running.fetch_sub(dealt.threads as u64, Ordering::SeqCst);
                dealt.task
            };
            let finished = |dealt: Dealt, task: usize| {
                assert_eq!(dealt.task, task);
                done[task] += 1;
                Ok(())
            };
            deal(&tasks, threads, memory, Stop::default(), work, finished).unwrap();
            assert!(done.iter().all(|&times| times == 1), "{done:?}");
            let limit = memory.map_or(threads, |memory| threads.min((memory / 10).max(4) as usize));
            assert!(most.into_inner() <= limit);
        }
    }

    #[test]
    fn nothing_is_begun_after_a_failure() {
        let tasks = tasks(&[1; 1000], 1);
        let finished = |_: Dealt, ()| Err(Error::Failed("full".into()));
        let work = |_: Dealt| std::thread::sleep(Duration::from_millis(1));
        let error = deal(&tasks, 2, None, Stop::default(), work, finished).unwrap_err();
        assert_eq!(error.to_string(), "full");
    }
}
