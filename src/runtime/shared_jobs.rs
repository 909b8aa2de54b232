//! Jobs that are dealt to several ranks: each asks rank 0 for the next one whenever a thread of it is free, so that nobody waits for a slow
//! job of another. Rank 0 computes, too, and answers from a thread of its own.

use super::checkpoint::file::Checkpoint;
use super::checkpoint::{Identity, Kind};
use super::interrupt::interrupted;
use crate::error::{Error, Result};
use crate::mpi::Ranks;
use crate::observer::Event;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Time between two looks for questions: a small part of what a job takes.
const LOOK: Duration = Duration::from_millis(1);

/// The state of a job in progress: its events so far, and what it has saved.
pub(super) type State = (Vec<Event>, Vec<u8>);

/// What a rank asks, or tells.
#[derive(Debug, Serialize, Deserialize)]
enum Question {
    /// The next job of the stage of this number.
    Next(u64),
    /// The state of a job, to be kept.
    State(u32, State),
    /// What came of a job.
    Done(u32, Outcome),
    /// No thread of this rank will ask for more of this stage.
    Over,
}

/// What came of a job.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Outcome {
    /// Its events, and its result.
    Finished(Vec<Event>, Vec<u8>),
    /// It was stopped.
    Stopped,
    /// It has failed, with this message.
    Failed(String),
}

/// What rank 0 replies.
#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    /// This job, which goes on from its state if it has one.
    Job(u32, Option<State>),
    /// There is none left.
    NoneLeft,
    /// That is all.
    GoOn,
}

/// Lets all ranks carry out the run that has this identity, on rank 0 and then on each of the others, because computations will be dealt to
/// them, or to groups of so many.
///
/// # Errors
/// The run of this rank is not that of rank 0.
pub(crate) fn carry_out_on_all(
    ranks: Ranks,
    identity: &Identity,
    ranks_per_job: usize,
) -> Result<()> {
    let run = identity.hash();
    match ranks.leads() {
        true => ranks.share_jobs(run, ranks_per_job),
        false if ranks.jobs_of() == Some(run) => {}
        false => {
            let why = "the data, options or version of this rank are not those of rank 0";
            return Err(Error::Usage(why.to_string()));
        }
    }
    Ok(())
}

/// Jobs of a stage, as a rank that is not rank 0 gets them.
#[derive(Debug)]
pub(super) struct FromRank0 {
    ranks: Ranks,
    stage: u64,
}

impl FromRank0 {
    /// Those of the next stage.
    pub(super) fn of_next_stage(ranks: Ranks) -> Self {
        FromRank0 { ranks, stage: ranks.next_number() }
    }

    /// The next job, if one is left, and its state.
    pub(super) fn next(&self) -> Option<(usize, Option<State>)> {
        match self.ranks.ask(&Question::Next(self.stage)) {
            Reply::Job(job, state) => Some((job as usize, state)),
            Reply::NoneLeft | Reply::GoOn => None,
        }
    }

    /// Has a state kept. (If the run is to end, rank 0 ends this process.)
    pub(super) fn keep(&self, job: usize, state: State) {
        let _: Reply = self.ranks.ask(&Question::State(job as u32, state));
    }

    /// Tells what came of a job.
    pub(super) fn tell(&self, job: usize, outcome: Outcome) {
        let _: Reply = self.ranks.ask(&Question::Done(job as u32, outcome));
    }

    /// The results of all jobs of all ranks, when rank 0 has them.
    pub(super) fn results(&self) -> Vec<Vec<u8>> {
        let _: Reply = self.ranks.ask(&Question::Over);
        self.ranks.hear()
    }
}

/// Rank 0's side: deals the jobs that `take` gives until all ranks have had enough, and passes on what comes of them. `is_over` ends this
/// early.
pub(super) fn deal_to_ranks(
    ranks: Ranks,
    checkpoint: Option<(&Checkpoint, u32)>,
    take: impl Fn() -> Option<usize>,
    done: impl Fn(usize, Outcome),
    is_over: impl Fn() -> bool,
) {
    let stage = ranks.next_number();
    answer_until_over(ranks, is_over, |question, asking| match question {
        Question::Next(of_stage) => {
            assert_eq!(of_stage, stage, "all ranks do the same");
            let Some(job) = take() else { return Reply::NoneLeft };
            let state = checkpoint.and_then(|(file, stage)| {
                file.find::<State>(Kind::State, file.key(stage, job)).ok().flatten()
            });
            Reply::Job(job as u32, state)
        }
        Question::State(job, state) => {
            if let Some((file, stage)) = checkpoint {
                file.write(Kind::State, file.key(stage, job as usize), &state, true);
            }
            Reply::GoOn
        }
        Question::Done(job, outcome) => {
            done(job as usize, outcome);
            Reply::GoOn
        }
        Question::Over => {
            *asking -= 1;
            Reply::GoOn
        }
    });
}

/// Answers the questions of the other ranks by `reply`, which counts down the number of those that will ask for more, until there are none or
/// `is_over` ends this early.
pub(super) fn answer_until_over<Q: DeserializeOwned, R: Serialize>(
    ranks: Ranks,
    is_over: impl Fn() -> bool,
    mut reply: impl FnMut(Q, &mut usize) -> R,
) {
    let mut asking = ranks.size() - 1;
    while asking > 0 && !is_over() {
        if !ranks.answer(|_, question| reply(question, &mut asking)) {
            std::thread::sleep(LOOK);
        }
    }
}

impl Outcome {
    /// Of a job with this result and these events.
    pub(super) fn of<T: Serialize>(result: &Result<T>, events: Vec<Event>) -> Self {
        match result {
            Ok(result) => match postcard::to_stdvec(result) {
                Ok(bytes) => Outcome::Finished(events, bytes),
                Err(error) => Outcome::Failed(error.to_string()),
            },
            Err(Error::Interrupted { .. }) => Outcome::Stopped,
            Err(error) => Outcome::Failed(error.to_string()),
        }
    }

    /// The result, as that of a job of this rank.
    pub(super) fn result<T: DeserializeOwned>(&self) -> Result<T> {
        match self {
            Outcome::Finished(_, bytes) => {
                postcard::from_bytes(bytes).map_err(|error| Error::Failed(error.to_string()))
            }
            Outcome::Stopped => Err(interrupted()),
            Outcome::Failed(message) => Err(Error::Failed(message.clone())),
        }
    }
}
