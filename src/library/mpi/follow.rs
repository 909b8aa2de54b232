//! [`follow`]: what every rank but rank 0 does.

use super::world::{Ranks, decode_first};
use serde::{Deserialize, Serialize};

/// What rank 0 has computed by all ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Subject {
    /// Likelihoods.
    Likelihood,
    /// Numbers of changes by parsimony.
    Parsimony,
}

/// How a message of rank 0 begins.
#[derive(Serialize, Deserialize)]
enum Message {
    /// What is to be computed follows.
    Compute(Subject),
    /// Carries out the whole run, which has this hash of data and options, without writing anything: jobs will be dealt to all ranks.
    ShareJobs(u64),
    /// Nothing more is asked.
    End,
}

/// What computes one subject's part of a rank.
pub trait Follower {
    /// Does what a message of rank 0 says.
    ///
    /// # Errors
    /// It has failed; the message is for the user.
    fn follow(&mut self, ranks: Ranks, message: &[u8]) -> Result<(), String>;
}

/// What rank 0 asks of another rank that only that rank's program can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// To carry out the whole run, too, and then to [follow] again: jobs will be dealt to all ranks.
    ShareJobs,
    /// To end.
    End,
}

impl Ranks {
    /// Rank 0 tells all others what to compute.
    ///
    /// # Panics
    /// If the message cannot be written, as no message of mlsearch.
    pub fn let_compute(self, subject: Subject, message: &impl Serialize) {
        self.tell(&(Message::Compute(subject), message));
    }

    /// Tells the other ranks to carry out the whole run, too, once: jobs will be dealt to all. `run` is a hash of its data and options.
    pub fn share_jobs(self, run: u64) {
        if self.deal_jobs(run) {
            let _turn = self.turn();
            self.tell(&Message::ShareJobs(run));
        }
    }

    /// Tells the other ranks that nothing more will be asked of them.
    pub fn end(self) {
        let _turn = self.turn();
        self.tell(&Message::End);
    }
}

/// Does what rank 0 asks, until that is not a computation. A failure ends the run.
pub fn follow(ranks: Ranks, followers: &mut [(Subject, &mut dyn Follower)]) -> Then {
    // If this panics, the run ends.
    let _turn = ranks.turn();
    loop {
        let message = ranks.hear_bytes();
        let (first, rest) = decode_first::<Message>(&message);
        match first {
            Message::Compute(subject) => {
                let follower = followers.iter_mut().find(|follower| follower.0 == subject);
                let (_, follower) = follower.expect("one for every subject");
                if let Err(error) = follower.follow(ranks, rest) {
                    ranks.abort(&error);
                }
            }
            Message::ShareJobs(run) => {
                ranks.deal_jobs(run);
                return Then::ShareJobs;
            }
            Message::End => return Then::End,
        }
    }
}
