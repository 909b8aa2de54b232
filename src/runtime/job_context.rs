//! [`JobContext`]: what a job is given, and where it reports progress, events and its state.

use super::checkpoint::file::{Checkpoint, interval, pause, since};
use super::checkpoint::{Key, Kind};
use super::interrupt::{InSteps, interrupted};
use super::jobs_progress::JobsProgress;
use super::resources::Resources;
use super::shared_jobs::{FromRank0, State};
use crate::error::{Error, Result};
use crate::observer::{Advance, Event, Observer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// What one of several independent jobs works with.
pub(crate) struct JobContext<'a> {
    /// Its number among the jobs of its kind, from 0.
    pub number: usize,
    /// Its threads and engine.
    pub resources: Resources,
    progress: &'a Mutex<JobsProgress<'a>>,
    checkpoint: Option<JobCheckpoint<'a>>,
    /// All events of the job so far: a resumed run tells them again.
    events: Vec<Event>,
    is_muted: bool,
}

/// Who keeps the states of jobs.
#[derive(Clone, Copy)]
enum Keeper<'a> {
    /// The checkpoint of the run.
    File(&'a Checkpoint),
    /// Rank 0, in its checkpoint.
    Rank0(&'a FromRank0),
}

impl Keeper<'_> {
    fn must_stop(&self) -> bool {
        match self {
            Keeper::File(file) => file.must_stop(),
            // Rank 0 decides that, and ends this process.
            Keeper::Rank0(_) => false,
        }
    }

    fn unusable(&self, why: &str) -> Error {
        match self {
            Keeper::File(file) => file.unusable(why),
            Keeper::Rank0(_) => {
                Error::Failed(format!("the checkpoint does not fit the data: {why}"))
            }
        }
    }

    fn pause(&self, cost: Duration, at_phase_end: bool) -> Duration {
        match self {
            Keeper::File(file) => file.pause(cost, at_phase_end),
            Keeper::Rank0(_) => pause(interval(), cost, at_phase_end),
        }
    }
}

/// The job in the checkpoint of the run.
struct JobCheckpoint<'a> {
    keeper: Keeper<'a>,
    key: Key,
    /// The state with which the job goes on.
    state: Option<Vec<u8>>,
    /// When the last state was saved, and how long that took.
    last: Instant,
    cost: Duration,
    in_steps: Option<InSteps>,
}

impl<'a> JobContext<'a> {
    /// A job begins, which reports to `progress` and whose results and states are in the checkpoint under this key.
    pub(super) fn begin(
        number: usize,
        resources: Resources,
        progress: &'a Mutex<JobsProgress<'a>>,
        checkpoint: Option<(&'a Checkpoint, Key)>,
    ) -> Self {
        let (last, cost) = (Instant::now(), Duration::ZERO);
        let of_job = |(file, key)| {
            let keeper = Keeper::File(file);
            JobCheckpoint { keeper, key, state: None, last, cost, in_steps: None }
        };
        let (events, is_muted) = (Vec::new(), false);
        let checkpoint = checkpoint.map(of_job);
        let job = JobContext { number, resources, progress, checkpoint, events, is_muted };
        job.progress().begin(number);
        job
    }

    /// A job that rank 0 has dealt to this rank begins, or goes on from a state.
    pub(super) fn begin_for_rank_0(
        number: usize,
        resources: Resources,
        progress: &'a Mutex<JobsProgress<'a>>,
        rank_0: &'a FromRank0,
        state: Option<State>,
    ) -> Self {
        let (last, cost) = (Instant::now(), Duration::ZERO);
        let (events, state) =
            state.map_or((Vec::new(), None), |(events, bytes)| (events, Some(bytes)));
        let (keeper, key) = (Keeper::Rank0(rank_0), Key::default());
        let checkpoint = Some(JobCheckpoint { keeper, key, state, last, cost, in_steps: None });
        JobContext { number, resources, progress, checkpoint, events, is_muted: false }
    }

    /// All that it has told.
    pub(super) fn into_events(self) -> Vec<Event> {
        self.events
    }

    /// True if the program that the run is inside of ends it.
    fn is_ended(&self) -> bool {
        self.resources.stop().is_asked()
    }

    fn progress(&self) -> MutexGuard<'a, JobsProgress<'a>> {
        self.progress.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The result of the job, if it was finished before the run was interrupted; else its state is loaded, if it has one. In both
    /// cases its events are told again.
    ///
    /// # Errors
    /// A checkpoint that cannot be read or has something else; the run is to end.
    pub(super) fn load<T: DeserializeOwned>(&mut self) -> Result<Option<T>> {
        let is_ended = self.is_ended();
        let Some(JobCheckpoint { keeper: Keeper::File(file), key, state, .. }) =
            &mut self.checkpoint
        else {
            return if is_ended { Err(interrupted()) } else { Ok(None) };
        };
        let (events, result) = match file.find::<(Vec<Event>, T)>(Kind::Finished, *key)? {
            Some((events, result)) => (events, Some(result)),
            None if file.must_stop() => return Err(interrupted()),
            None => match file.find::<(Vec<Event>, Vec<u8>)>(Kind::State, *key)? {
                Some((events, bytes)) => {
                    *state = Some(bytes);
                    (events, None)
                }
                None => (Vec::new(), None),
            },
        };
        let mut progress = self.progress();
        events.iter().for_each(|event| progress.event(event));
        self.events = events;
        Ok(result)
    }

    /// The result of the job is known.
    pub(super) fn save_result<T: Serialize>(&self, result: &T) {
        if let Some(JobCheckpoint { keeper: Keeper::File(file), key, .. }) = &self.checkpoint
            && file.keeps_results()
        {
            file.write(Kind::Finished, *key, &(&self.events, result), false);
        }
    }

    /// The job has panicked: the others stop.
    pub(super) fn stop_others(&self) {
        if let Some(JobCheckpoint { keeper: Keeper::File(file), .. }) = &self.checkpoint {
            file.stop();
        }
    }

    /// Nothing more will be told.
    pub(super) fn finish(self) {
        self.progress().finish(self.number, self.events);
    }

    /// True if the job was interrupted and goes on: what it told at its beginning was told again.
    pub(crate) fn is_resumed(&self) -> bool {
        self.checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.state.is_some())
    }

    /// Events other than warnings are no longer passed on until this is taken back; progress is.
    pub(crate) fn mute(&mut self, is_muted: bool) {
        self.is_muted = is_muted;
    }

    /// The state with which the job goes on, if it was interrupted; `fits` tells if it belongs to the job's data. From
    /// now on the job answers signals between its steps, by [`JobContext::save_state`].
    ///
    /// # Errors
    /// A checkpoint that has something else.
    pub(crate) fn resume_state<S: DeserializeOwned>(
        &mut self,
        fits: impl FnOnce(&S) -> bool,
    ) -> Result<Option<S>> {
        let Some(checkpoint) = &mut self.checkpoint else { return Ok(None) };
        checkpoint.in_steps = Some(InSteps::begin());
        let Some(bytes) = checkpoint.state.take() else { return Ok(None) };
        let decoded = postcard::from_bytes::<S>(&bytes);
        let state = decoded.map_err(|error| checkpoint.keeper.unusable(&error.to_string()))?;
        match fits(&state) {
            true => Ok(Some(state)),
            false => Err(self.unusable_state()),
        }
    }

    /// The error of a state in the checkpoint that does not belong to the job's data.
    ///
    /// # Panics
    /// If the job has no checkpoint, and so no state.
    pub(crate) fn unusable_state(&self) -> Error {
        let checkpoint = self.checkpoint.as_ref().expect("a state comes from a checkpoint");
        checkpoint.keeper.unusable("the state of a job")
    }

    /// Between two steps: saves the state if it is time for it. With the state comes the best tree so far (its
    /// log-likelihood and Newick text), if it is to be shown.
    ///
    /// # Errors
    /// [`crate::error::Error::Interrupted`] if the run is to end; the state was saved.
    pub(crate) fn save_state<S: Serialize>(
        &mut self,
        at_phase_end: bool,
        state: impl FnOnce() -> (S, Option<(f64, String)>),
    ) -> Result<()> {
        let is_ended = self.is_ended();
        let Some(checkpoint) = &mut self.checkpoint else {
            return if is_ended { Err(interrupted()) } else { Ok(()) };
        };
        let keeper = checkpoint.keeper;
        let must_stop = keeper.must_stop();
        let (elapsed, begin) = since(checkpoint.last);
        if !must_stop && elapsed < keeper.pause(checkpoint.cost, at_phase_end) {
            return Ok(());
        }
        let (state, best) = state();
        let bytes = postcard::to_stdvec(&state);
        match keeper {
            Keeper::File(file) => {
                if let Some((lnl, newick)) = best {
                    file.show_tree(lnl, &newick);
                }
                if let Ok(bytes) = bytes {
                    file.write(Kind::State, checkpoint.key, &(&self.events, bytes), true);
                }
            }
            Keeper::Rank0(rank_0) => {
                if let Ok(bytes) = bytes {
                    rank_0.keep(self.number, (self.events.clone(), bytes));
                }
            }
        }
        (checkpoint.cost, checkpoint.last) = since(begin);
        if must_stop { Err(interrupted()) } else { Ok(()) }
    }
}

impl Observer for JobContext<'_> {
    fn event(&mut self, event: &Event) {
        if self.is_muted && !matches!(event, Event::Warning(_)) {
            return;
        }
        self.events.push(event.clone());
        self.progress().event(event);
    }

    fn advance(&mut self, advance: Advance) {
        self.progress().advance(self.number, advance);
    }

    fn must_stop(&self) -> bool {
        let of_file = self.checkpoint.as_ref().map(|checkpoint| checkpoint.keeper.must_stop());
        of_file.unwrap_or_else(|| self.is_ended())
    }
}
