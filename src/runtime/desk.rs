//! [`Desk`]: where a job tells how far it has come and leaves its state; and [`run_kept`], which does jobs that are
//! kept in the checkpoint.

use super::checkpoint::keeper::{Keeper, since};
use super::checkpoint::{Key, Kind};
use super::interrupt::{InSteps, interrupted};
use super::jobs::Jobs;
use crate::error::Result;
use crate::observer::{Advance, Event, Observer};
use crate::panics::caught;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::{Duration, Instant};

/// The desk of one job.
pub(crate) struct Desk<'a> {
    observer: &'a mut dyn Observer,
    kept: Option<Kept<'a>>,
    is_muffled: bool,
}

/// What a desk has if there is a checkpoint.
struct Kept<'a> {
    keeper: &'a Keeper,
    key: Key,
    /// All events of the job so far: a resumed run tells them again.
    events: Vec<Event>,
    /// The state with which the job goes on.
    state: Option<Vec<u8>>,
    /// When the last state was kept, and how long that took.
    last: Instant,
    cost: Duration,
    in_steps: Option<InSteps>,
}

/// What is kept of a job in progress: its events so far, and its state as bytes.
type InProgress = (Vec<Event>, Vec<u8>);

impl<'a> Desk<'a> {
    /// The desk of a job, with the state that was kept, whose events are told again.
    fn new(observer: &'a mut dyn Observer, keeper: Option<&'a Keeper>, key: Key) -> Result<Self> {
        let is_muffled = false;
        let Some(keeper) = keeper else {
            return Ok(Desk { observer, kept: None, is_muffled });
        };
        let (events, state) = match keeper.find::<InProgress>(Kind::State, key)? {
            None => (Vec::new(), None),
            Some((events, state)) => (events, Some(state)),
        };
        events.iter().for_each(|event| observer.event(event));
        let (last, cost) = (Instant::now(), Duration::ZERO);
        let kept = Kept { keeper, key, events, state, last, cost, in_steps: None };
        Ok(Desk { observer, kept: Some(kept), is_muffled })
    }

    /// True if the job was interrupted and goes on: what it told at its beginning was told again.
    pub(crate) fn is_resumed(&self) -> bool {
        self.kept.as_ref().is_some_and(|kept| kept.state.is_some())
    }

    /// Events are no longer passed on until this is taken back; how far the job has come is.
    pub(crate) fn muffle(&mut self, is_muffled: bool) {
        self.is_muffled = is_muffled;
    }

    /// The state with which the job goes on, if it was interrupted; `fits` tells if it belongs to the job's data. From
    /// now on the job answers signals between its steps, by [`Desk::keep`].
    ///
    /// # Errors
    /// A checkpoint that has something else.
    pub(crate) fn begin_steps<S: DeserializeOwned>(
        &mut self,
        fits: impl FnOnce(&S) -> bool,
    ) -> Result<Option<S>> {
        let Some(kept) = &mut self.kept else { return Ok(None) };
        kept.in_steps = Some(InSteps::begin());
        let Some(bytes) = kept.state.take() else { return Ok(None) };
        let state: S = kept.keeper.decode(&bytes)?;
        match fits(&state) {
            true => Ok(Some(state)),
            false => Err(kept.keeper.unusable("the state of a job")),
        }
    }

    /// Between two steps: the state is kept if it is time for it. With the state comes the best tree so far (its
    /// log-likelihood and Newick text), if it is to be shown.
    ///
    /// # Errors
    /// [`crate::error::Error::Interrupted`] if the run is to end; the state was kept.
    pub(crate) fn keep<S: Serialize>(
        &mut self,
        at_phase_end: bool,
        state: impl FnOnce() -> (S, Option<(f64, String)>),
    ) -> Result<()> {
        let Some(kept) = &mut self.kept else { return Ok(()) };
        let must_stop = kept.keeper.must_stop();
        let (elapsed, begin) = since(kept.last);
        if !must_stop && elapsed < kept.keeper.pause(kept.cost, at_phase_end) {
            return Ok(());
        }
        let (state, best) = state();
        if let Some((lnl, newick)) = best {
            kept.keeper.show_tree(lnl, &newick);
        }
        if let Ok(bytes) = postcard::to_stdvec(&state) {
            kept.keeper.keep(Kind::State, kept.key, &(&kept.events, bytes), true);
        }
        (kept.cost, kept.last) = since(begin);
        if must_stop { Err(interrupted()) } else { Ok(()) }
    }
}

impl Observer for Desk<'_> {
    fn event(&mut self, event: &Event) {
        // A warning is always told.
        if self.is_muffled && !matches!(event, Event::Warning(_)) {
            return;
        }
        if let Some(kept) = &mut self.kept {
            kept.events.push(event.clone());
        }
        self.observer.event(event);
    }

    fn advance(&mut self, advance: Advance) {
        self.observer.advance(advance);
    }
}

/// Does `work(job, desk)` for every job of the next stage that is not finished, and keeps the results. `seen` gets each
/// result as soon as it is known, in any order.
///
/// # Errors
/// That of the first job that failed; a panic is one.
pub(crate) fn run_kept<T: Send + Serialize + DeserializeOwned>(
    keeper: Option<&Keeper>,
    jobs: Jobs,
    observer: &mut dyn Observer,
    work: impl Fn(usize, &mut Desk) -> Result<T> + Sync,
    seen: impl Fn(usize, &T) + Sync,
) -> Result<Vec<T>> {
    let stage = keeper.map_or(0, Keeper::next_stage);
    jobs.run(observer, |job, observer| {
        let key = Key { stage, job: job as u32 };
        if let Some(keeper) = keeper {
            if let Some((events, result)) = keeper.find::<(Vec<Event>, T)>(Kind::Finished, key)? {
                events.iter().for_each(|event| observer.event(event));
                seen(job, &result);
                return Ok(result);
            }
            if keeper.must_stop() {
                return Err(interrupted());
            }
        }
        let mut desk = Desk::new(observer, keeper, key)?;
        let mut has_panicked = true;
        let result = caught(|| {
            let result = work(job, &mut desk);
            has_panicked = false;
            result
        });
        if has_panicked && let Some(keeper) = keeper {
            keeper.stop();
        }
        let result = result?;
        if let Some(Kept { keeper, events, .. }) = &desk.kept {
            keeper.keep(Kind::Finished, key, &(events, &result), false);
        }
        seen(job, &result);
        Ok(result)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::observer::Silent;
    use crate::output::Progress;
    use crate::runtime::checkpoint::Identity;
    use std::path::Path;
    use std::sync::Mutex;

    fn keeper(folder: &Path, resumes: bool) -> Keeper {
        let paths = ["x.mlsearch.checkpoint", "x.mlsearch.lastTree"].map(|name| folder.join(name));
        let terminal = Progress::on_terminal(true).terminal();
        Keeper::open(paths, Identity::default(), resumes, false, terminal)
            .unwrap()
            .0
            .of_every_step()
    }

    fn jobs(at_once: usize) -> Jobs {
        Jobs::all("job", 6, at_once)
    }

    /// Counts to ten in steps, and keeps every one.
    fn count(desk: &mut Desk, fails: impl Fn(u32) -> bool) -> Result<u32> {
        let mut number = desk.begin_steps(|number: &u32| *number <= 10)?.unwrap_or(0);
        while number < 10 {
            desk.keep(false, || (number, None))?;
            assert!(!fails(number), "the bug");
            desk.event(&Event::Detail(number.to_string()));
            number += 1;
        }
        Ok(number)
    }

    #[derive(Default)]
    struct Heard(Vec<Event>);

    impl Observer for Heard {
        fn event(&mut self, event: &Event) {
            self.0.push(event.clone());
        }
    }

    #[test]
    fn a_panic_ends_the_run_with_one_message_and_what_was_kept_remains() {
        let mut expected = Heard::default();
        run_kept(None, jobs(1), &mut expected, |_, desk| count(desk, |_| false), |_, _| {})
            .unwrap();
        for at_once in [1, 3] {
            let folder = tempfile::tempdir().unwrap();
            let begun = keeper(folder.path(), false);
            let work = |job, desk: &mut Desk| count(desk, |number| job == 2 && number == 7);
            let result = run_kept(Some(&begun), jobs(at_once), &mut Silent, work, |_, _| {});
            let Err(Error::Failed(message)) = result else { panic!("it failed") };
            assert!(
                message.contains("this is an error of mlsearch") && message.contains("the bug")
            );
            drop(begun);
            // The same run without the bug: nothing is done twice.
            let resumed = keeper(folder.path(), true);
            let (done, mut heard) = (Mutex::new(Vec::new()), Heard::default());
            let work = |job, desk: &mut Desk| {
                let state = desk.is_resumed();
                done.lock().unwrap().push((job, state));
                count(desk, |_| false)
            };
            let results = run_kept(Some(&resumed), jobs(at_once), &mut heard, work, |_, _| {});
            assert_eq!(results.unwrap(), [10; 6]);
            assert_eq!(heard.0, expected.0, "all events, in order");
            let done = done.into_inner().unwrap();
            assert!(done.contains(&(2, true)));
            // Others at the same time may have been stopped.
            assert!(at_once > 1 || !done.iter().any(|job| job.0 < 2));
        }
    }

    #[test]
    fn what_does_not_fit_the_data_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let begun = keeper(folder.path(), false);
        begun.keep(Kind::State, Key::default(), &(Vec::<Event>::new(), vec![99_u8]), true);
        let work = |_, desk: &mut Desk| count(desk, |_| false);
        let error = run_kept(Some(&begun), jobs(1), &mut Silent, work, |_, _| {}).unwrap_err();
        assert!(error.to_string().contains("do not fit the data") && error.exit_code() == 2);
    }
}
