//! The pool and the barrier of a team under schedules chosen by Shuttle: nobody waits for ever, and everybody sees what the
//! others have written before. Only with `--cfg shuttle`, see `.ci/unsafe`.

use super::pool::Pool;
use super::sync::{AtomicUsize, Ordering};
use super::team::{Abandoned, Barrier, Team};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

const SCHEDULES: usize = 20_000;

/// Random schedules, and such with few changes of the thread, which find other faults.
fn try_schedules(test: impl Fn() + Send + Sync + Copy + 'static) {
    shuttle::check_random(test, SCHEDULES);
    shuttle::check_pct(test, SCHEDULES, 3);
}

/// Runs a member of a team on each of several threads.
fn on_threads(size: usize, member: impl Fn(usize, &mut Team) + Send + Sync + 'static) {
    let (barrier, member) = (Arc::new(Barrier::new(size, Duration::ZERO)), Arc::new(member));
    let spawn = |number| {
        let (barrier, member) = (Arc::clone(&barrier), Arc::clone(&member));
        shuttle::thread::spawn(move || member(number, &mut Team::member(number, &barrier)))
    };
    let threads: Vec<_> = (0..size).map(spawn).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// At each meeting, members find what all have written before it.
fn meet_again_and_again(size: usize, meetings: usize) {
    let written: Vec<AtomicUsize> = (0..size).map(|_| AtomicUsize::new(0)).collect();
    on_threads(size, move |member, team| {
        for meeting in 1..=meetings {
            written[member].store(meeting, Ordering::Relaxed);
            team.meet().unwrap();
            for number in &written {
                let seen = number.load(Ordering::Relaxed);
                assert!(seen == meeting || seen == meeting + 1, "{seen} at meeting {meeting}");
            }
        }
    });
}

#[test]
fn two_members_meet() {
    try_schedules(|| meet_again_and_again(2, 3));
}

#[test]
fn three_members_meet() {
    try_schedules(|| meet_again_and_again(3, 3));
}

#[test]
fn all_schedules_of_one_meeting_of_two_end() {
    shuttle::check_dfs(|| meet_again_and_again(2, 1), None);
}

#[test]
fn nobody_waits_for_a_member_that_has_left() {
    try_schedules(|| {
        on_threads(3, |member, team| {
            for meeting in 0..3 {
                if (member, meeting) == (1, 1) {
                    return team.leave();
                }
                if team.meet() == Err(Abandoned) {
                    // Whoever is late at the meeting before may see it there.
                    return assert!(meeting <= 1);
                }
            }
            panic!("a meeting without a member");
        });
    });
}

#[test]
fn every_worker_runs_every_job_once_and_ends() {
    for size in [2, 3] {
        try_schedules(move || {
            let mut pool = Pool::new(size);
            for _ in 0..3 {
                let counts: Vec<AtomicUsize> = (0..size).map(|_| AtomicUsize::new(0)).collect();
                let job = |worker: usize| {
                    counts[worker].fetch_add(1, Ordering::Relaxed);
                };
                pool.run_together(&job, Instant::now());
                assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1));
            }
        });
    }
}

#[test]
fn a_panic_of_a_worker_reaches_the_caller() {
    try_schedules(|| {
        let mut pool = Pool::new(2);
        let fail = |worker: usize| {
            if worker == 1 {
                std::panic::resume_unwind(Box::new("on purpose"));
            }
        };
        let result = catch_unwind(AssertUnwindSafe(|| pool.run_together(&fail, Instant::now())));
        assert!(result.is_err());
    });
}
