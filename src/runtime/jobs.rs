//! [`Jobs`]: independent jobs on several threads, with results and events in the order of the jobs, kept in the checkpoint.
//!
//! Replicates and starting trees are independent, so one thread for each is faster than many threads
//! inside one likelihood.

use super::checkpoint::Kind;
use super::checkpoint::file::Checkpoint;
use super::interrupt::interrupted;
use super::job_context::JobContext;
use super::jobs_progress::{JobCounts, JobsProgress};
use super::resources::Shares;
use super::shared_jobs::{FromRank0, Outcome, deal_to_ranks};
use crate::error::{Error, Result};
use crate::mpi::Ranks;
use crate::observer::{Observer, Silent};
use crate::panics::caught;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Independent jobs of one kind.
pub(crate) struct Jobs<'a, T> {
    /// What one is called: "replicate".
    pub noun: &'static str,
    /// How many of this kind were done before.
    pub before: usize,
    /// How many there are.
    pub count: usize,
    /// How many of this kind there are at most with those of before and those that may follow.
    pub most: usize,
    /// As many are expected, so that the share of all that is done is known.
    pub is_most_expected: bool,
    /// How they share the threads.
    pub shares: Shares,
    /// Gets each result as soon as it is known, in any order.
    pub on_result: &'a (dyn Fn(usize, &T) + Sync),
}

impl<T: Send + Serialize + DeserializeOwned> Jobs<'_, T> {
    /// So many jobs and no others, with one thread for each unless there are few jobs with much work in each.
    pub(crate) fn new(noun: &'static str, count: usize, shares: Shares) -> Self {
        let on_result = &|_: usize, _: &T| {};
        Jobs { noun, before: 0, count, most: count, is_most_expected: true, shares, on_result }
    }

    /// Does `work` for every job of the next stage of the checkpoint that is not finished. After a failure no new job is begun.
    ///
    /// # Errors
    /// That of the first job that failed; a panic is one.
    pub(crate) fn run(
        &self,
        checkpoint: Option<&Checkpoint>,
        observer: &mut dyn Observer,
        work: impl Fn(&mut JobContext) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let Jobs { noun, before, count, most, is_most_expected, .. } = *self;
        let ranks = self.shares.resources.job_ranks();
        if let Some(ranks) = ranks.filter(|ranks| !ranks.leads()) {
            return self.run_for_rank_0(ranks, work);
        }
        let counts = JobCounts { noun, before, count, most, is_most_expected };
        let at_once = self.shares.jobs.min(count);
        let is_concurrent = at_once > 1 || ranks.is_some();
        let progress = Mutex::new(JobsProgress::new(observer, counts, is_concurrent));
        let checkpoint = checkpoint.map(|file| (file, file.next_stage()));
        if !is_concurrent {
            let mut results = Vec::with_capacity(count);
            for job in 0..count {
                results.push(self.run_one(job, &progress, checkpoint, &work)?);
            }
            return Ok(results);
        }
        let results: Vec<Mutex<Option<Result<T>>>> = (0..count).map(|_| Mutex::new(None)).collect();
        let next_job = AtomicUsize::new(0);
        // Jobs are taken one by one in their order, so that events need not wait for long.
        let take = || Some(next_job.fetch_add(1, Ordering::Relaxed)).filter(|&job| job < count);
        let has_failed = AtomicBool::new(false);
        let put = |job: usize, result: Result<T>| {
            if result.is_err() {
                next_job.store(count, Ordering::Relaxed);
                has_failed.store(true, Ordering::Relaxed);
            }
            *lock(&results[job]) = Some(result);
        };
        let work_here = || {
            while let Some(job) = take() {
                put(job, self.run_one(job, &progress, checkpoint, &work));
            }
        };
        let deal = |ranks: Ranks| {
            let is_finished = |job: usize| {
                let has = |file: &Checkpoint, stage| file.has(Kind::Finished, file.key(stage, job));
                checkpoint.is_some_and(|(file, stage)| has(file, stage))
            };
            let take_open = || {
                loop {
                    match take()? {
                        // What is known need not be computed.
                        job if is_finished(job) => {
                            put(job, self.run_one(job, &progress, checkpoint, &work));
                        }
                        job => return Some(job),
                    }
                }
            };
            let done = |job: usize, outcome: Outcome| {
                put(job, self.take_over(job, outcome, &progress, checkpoint));
            };
            let must_stop = || checkpoint.is_some_and(|(file, _)| file.must_stop());
            let is_over = || has_failed.load(Ordering::Relaxed) || must_stop();
            deal_to_ranks(ranks, checkpoint, take_open, done, is_over);
        };
        std::thread::scope(|scope| {
            let deal = &deal;
            ranks.into_iter().for_each(|ranks| drop(scope.spawn(move || deal(ranks))));
            if at_once > 1 {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(at_once).build();
                pool.expect("the system can start threads").broadcast(|_| work_here());
            } else {
                work_here();
            }
        });
        let results = results
            .into_iter()
            .map(|slot| slot.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()));
        // Jobs that were not begun come after the one that failed, and those that it stopped are no failures.
        let (stopped, done): (Vec<_>, Vec<_>) =
            results.flatten().partition(|result| matches!(result, Err(Error::Interrupted { .. })));
        let done: Result<Vec<T>> = done.into_iter().collect();
        let done = match stopped.into_iter().next() {
            Some(stopped) if done.is_ok() => stopped.map(|result| vec![result]),
            _ => done,
        }?;
        // Another rank computed when the run was to end.
        if done.len() < count {
            return Err(interrupted());
        }
        if let Some(ranks) = ranks {
            let bytes = done.iter().map(|result| postcard::to_stdvec(result).unwrap_or_default());
            ranks.tell(&bytes.collect::<Vec<_>>());
        }
        Ok(done)
    }

    /// Does jobs that rank 0 deals, and returns the results of all ranks.
    fn run_for_rank_0(
        &self,
        ranks: Ranks,
        work: impl Fn(&mut JobContext) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let Jobs { noun, before, count, most, is_most_expected, .. } = *self;
        let counts = JobCounts { noun, before, count, most, is_most_expected };
        let mut silent = Silent;
        let progress = Mutex::new(JobsProgress::new(&mut silent, counts, true));
        let dealt = FromRank0::of_next_stage(ranks);
        let work_here = || {
            while let Some((number, state)) = dealt.next() {
                let resources = self.shares.resources_of(number);
                let mut job =
                    JobContext::begin_for_rank_0(number, resources, &progress, &dealt, state);
                let result = caught(|| work(&mut job));
                dealt.tell(number, Outcome::of(&result, job.into_events()));
            }
        };
        let at_once = self.shares.jobs.min(count);
        if at_once > 1 {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(at_once).build();
            pool.expect("the system can start threads").broadcast(|_| work_here());
        } else {
            work_here();
        }
        let bytes = dealt.results();
        let result = |bytes: &Vec<u8>| {
            postcard::from_bytes(bytes).map_err(|error| Error::Failed(error.to_string()))
        };
        let results: Vec<T> = bytes.iter().map(result).collect::<Result<_>>()?;
        results.iter().enumerate().for_each(|(job, result)| (self.on_result)(job, result));
        Ok(results)
    }

    /// Takes over what came of a job of another rank.
    fn take_over<'p>(
        &self,
        number: usize,
        outcome: Outcome,
        progress: &'p Mutex<JobsProgress<'p>>,
        checkpoint: Option<(&'p Checkpoint, u32)>,
    ) -> Result<T> {
        let result: T = outcome.result()?;
        if let Outcome::Finished(events, _) = outcome {
            if let Some((file, stage)) = checkpoint {
                let key = file.key(stage, number);
                file.write(Kind::Finished, key, &(&events, &result), false);
            }
            (self.on_result)(number, &result);
            lock(progress).finish(number, events);
        }
        Ok(result)
    }

    /// Does one job, or takes its result from the checkpoint.
    fn run_one<'p>(
        &self,
        number: usize,
        progress: &'p Mutex<JobsProgress<'p>>,
        checkpoint: Option<(&'p Checkpoint, u32)>,
        work: &(impl Fn(&mut JobContext) -> Result<T> + Sync),
    ) -> Result<T> {
        let checkpoint = checkpoint.map(|(file, stage)| (file, file.key(stage, number)));
        let resources = self.shares.resources_of(number);
        let mut job = JobContext::begin(number, resources, progress, checkpoint);
        let result = match job.load() {
            Ok(None) => {
                let mut has_panicked = true;
                let result = caught(|| {
                    let result = work(&mut job);
                    has_panicked = false;
                    result
                });
                if has_panicked {
                    job.stop_others();
                }
                result.inspect(|result| job.save_result(result))
            }
            Ok(Some(result)) => Ok(result),
            Err(error) => Err(error),
        };
        if let Ok(result) = &result {
            (self.on_result)(number, result);
        }
        // When the run is resumed, what a stopped job has told is told again, before what later jobs tell.
        if !matches!(result, Err(Error::Interrupted { .. })) {
            job.finish();
        }
        result
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpi::as_threads;
    use crate::observer::{Advance, Event};
    use crate::output::Progress;
    use crate::runtime::checkpoint::{Identity, Key};
    use crate::runtime::resources::Resources;
    use crate::stop::Stop;
    use std::path::Path;

    #[derive(Default)]
    struct Heard {
        events: Vec<Event>,
        advances: Vec<Advance>,
    }

    impl Observer for Heard {
        fn event(&mut self, event: &Event) {
            self.events.push(event.clone());
        }
        fn advance(&mut self, advance: Advance) {
            self.advances.push(advance);
        }
    }

    fn jobs<T: Send + Serialize + DeserializeOwned>(
        count: usize,
        at_once: usize,
    ) -> Jobs<'static, T> {
        let resources = Resources::with_one_thread();
        Jobs::new("job", count, Shares { jobs: at_once, parts: 1, resources })
    }

    fn note(job: usize) -> Event {
        Event::Note(job.to_string())
    }

    #[test]
    fn results_and_events_come_in_the_order_of_the_jobs() {
        for threads in [1, 2, 5] {
            let mut heard = Heard::default();
            let results = jobs(20, threads).run(None, &mut heard, |job| {
                // Earlier jobs take longer.
                std::thread::sleep(std::time::Duration::from_millis(20 - job.number as u64));
                job.event(&note(job.number));
                Ok(job.number)
            });
            assert_eq!(results.unwrap(), (0..20).collect::<Vec<_>>());
            assert_eq!(heard.events, (0..20).map(note).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_phase_of_a_job_beside_others_is_told_as_one_that_is_over() {
        let name = "fast SPR".to_string();
        let phase = Event::Phase { name: name.clone() };
        for (threads, expected) in [(1, phase.clone()), (2, Event::PastPhase { name })] {
            let mut heard = Heard::default();
            let work = |job: &mut JobContext| {
                job.event(&phase);
                Ok(())
            };
            jobs(2, threads).run(None, &mut heard, work).unwrap();
            assert_eq!(heard.events, [expected.clone(), expected]);
        }
    }

    #[test]
    fn how_far_all_jobs_are_is_told_on_any_number_of_threads() {
        for threads in [1, 3] {
            let mut heard = Heard::default();
            let work = |job: &mut JobContext| {
                job.advance(Advance { whole: Some(0.5), phase: Some(0.2), pieces: None });
                Ok(job.number)
            };
            jobs(4, threads).run(None, &mut heard, work).unwrap();
            let shares: Vec<f64> = heard.advances.iter().filter_map(|a| a.whole).collect();
            assert!(shares.is_sorted() && shares[shares.len() - 1] >= 0.875, "{shares:?}");
            assert!(shares.contains(&0.125));
            assert!(heard.advances.iter().all(|a| a.pieces.is_some_and(|p| p.2 == 4)));
        }
        let mut heard = Heard::default();
        let half = Advance { whole: Some(0.5), phase: Some(0.2), pieces: None };
        let work = |job: &mut JobContext| {
            job.advance(half);
            Ok(())
        };
        jobs(1, 4).run(None, &mut heard, work).unwrap();
        assert_eq!(heard.advances, [Advance::default(), half], "a single job is the whole");
    }

    #[test]
    fn what_later_jobs_tell_is_not_told_after_a_job_that_was_stopped() {
        let mut heard = Heard::default();
        let stopped = jobs(4, 3).run(None, &mut heard, |job| {
            job.event(&note(job.number));
            match job.number {
                1 => Err(Error::Interrupted { signal: 15, resume: None }),
                number => Ok(number),
            }
        });
        assert_eq!(stopped.unwrap_err().exit_code(), 143);
        assert_eq!(heard.events, [note(0)]);
    }

    #[test]
    fn jobs_that_are_dealt_to_ranks_have_the_results_and_events_of_a_single_process() {
        for at_once in [1, 2] {
            let folder = tempfile::tempdir().unwrap();
            let file = checkpoint(folder.path(), false);
            // One is finished, and one goes on from its seventh step.
            let key = |job| file.key(0, job);
            file.write(Kind::Finished, key(2), &(vec![note(2)], 10_u32), true);
            let state = (vec![note(5)], postcard::to_stdvec(&7_u32).unwrap());
            file.write(Kind::State, key(5), &state, true);
            let (begun, heard) = (Mutex::new(vec![0; 9]), Mutex::new(Heard::default()));
            let results = as_threads(3, |ranks| {
                let mut of_ranks = jobs(9, at_once);
                of_ranks.shares.resources = of_ranks.shares.resources.with_job_ranks(ranks);
                let mut own = Heard::default();
                let file = ranks.leads().then_some(&file);
                let work = |job: &mut JobContext| {
                    let from = job.resume_state(|_: &u32| true)?.unwrap_or(0);
                    lock(&begun)[job.number] += 1;
                    assert_eq!(from, if job.number == 5 { 7 } else { 0 });
                    if job.number != 5 {
                        job.event(&note(job.number));
                    }
                    job.save_state(true, || (from, None))?;
                    std::thread::sleep(std::time::Duration::from_millis(5));
                    Ok(10 * job.number as u32)
                };
                let results = of_ranks.run(file, &mut own, work).unwrap();
                if ranks.leads() {
                    *lock(&heard) = own;
                }
                results
            });
            let expected: Vec<u32> =
                (0..9).map(|job| if job == 2 { 10 } else { 10 * job }).collect();
            assert!(results.iter().all(|of_rank| *of_rank == expected), "{results:?}");
            assert_eq!(lock(&heard).events, (0..9).map(note).collect::<Vec<_>>());
            assert_eq!(*lock(&begun), [1, 1, 0, 1, 1, 1, 1, 1, 1], "each open one once");
            let all = (0..9).all(|job| file.has(Kind::Finished, key(job)));
            assert!(all, "rank 0 has kept all results");
        }
    }

    #[test]
    fn the_first_failure_is_the_one_that_is_told() {
        for threads in [1, 3] {
            let fail = |job: &mut JobContext| match job.number {
                number @ 0..4 => Ok(number),
                number => Err(Error::Failed(number.to_string())),
            };
            let error = jobs(50, threads).run(None, &mut Heard::default(), fail).unwrap_err();
            assert_eq!(error.to_string(), "4");
        }
    }

    fn checkpoint(folder: &Path, resumes: bool) -> Checkpoint {
        let paths = ["x.mlsearch.checkpoint", "x.mlsearch.lastTree"].map(|name| folder.join(name));
        let terminal = Progress::on_terminal(true).terminal();
        Checkpoint::open(paths, Identity::default(), resumes, false, terminal, Stop::default())
            .unwrap()
            .0
            .of_every_step()
    }

    /// Counts to ten in steps, and saves every one.
    fn count(job: &mut JobContext, fails: impl Fn(u32) -> bool) -> Result<u32> {
        let mut number = job.resume_state(|number: &u32| *number <= 10)?.unwrap_or(0);
        while number < 10 {
            job.save_state(false, || (number, None))?;
            assert!(!fails(number), "the bug");
            job.event(&Event::Detail(number.to_string()));
            number += 1;
        }
        Ok(number)
    }

    #[test]
    fn a_panic_ends_the_run_with_one_message_and_what_was_saved_remains() {
        let mut expected = Heard::default();
        jobs(6, 1).run(None, &mut expected, |job| count(job, |_| false)).unwrap();
        for at_once in [1, 3] {
            let folder = tempfile::tempdir().unwrap();
            let begun = checkpoint(folder.path(), false);
            let work = |job: &mut JobContext| {
                let number = job.number;
                count(job, |step| number == 2 && step == 7)
            };
            let result = jobs(6, at_once).run(Some(&begun), &mut Silent, work);
            let Err(Error::Failed(message)) = result else { panic!("it failed") };
            assert!(
                message.contains("this is an error of mlsearch") && message.contains("the bug")
            );
            drop(begun);
            // The same run without the bug: nothing is done twice.
            let resumed = checkpoint(folder.path(), true);
            let (done, mut heard) = (Mutex::new(Vec::new()), Heard::default());
            let work = |job: &mut JobContext| {
                done.lock().unwrap().push((job.number, job.is_resumed()));
                count(job, |_| false)
            };
            let results = jobs(6, at_once).run(Some(&resumed), &mut heard, work);
            assert_eq!(results.unwrap(), [10; 6]);
            assert_eq!(heard.events, expected.events, "all events, in order");
            let done = done.into_inner().unwrap();
            assert!(done.contains(&(2, true)));
            // Others at the same time may have been stopped.
            assert!(at_once > 1 || !done.iter().any(|job| job.0 < 2));
        }
    }

    #[test]
    fn what_does_not_fit_the_data_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let begun = checkpoint(folder.path(), false);
        begun.write(Kind::State, Key::default(), &(Vec::<Event>::new(), vec![99_u8]), true);
        let work = |job: &mut JobContext| count(job, |_| false);
        let error = jobs(6, 1).run(Some(&begun), &mut Silent, work).unwrap_err();
        assert!(error.to_string().contains("do not fit the data") && error.exit_code() == 2);
    }
}
