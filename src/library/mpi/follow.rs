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
    /// Carries out the whole run, which has this hash of data and options, without writing anything: jobs will be dealt to groups of so many
    /// ranks, of which all but the first follow that one.
    ShareJobs(u64, usize),
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

    /// Tells the other ranks to carry out the whole run, too, once: jobs will be dealt to all of them, or to [groups](Ranks::groups) of so
    /// many. `run` is a hash of its data and options.
    pub fn share_jobs(self, run: u64, ranks_per_job: usize) {
        if self.deal_jobs(run) {
            let _turn = self.turn();
            self.tell(&Message::ShareJobs(run, ranks_per_job));
            self.form_groups(ranks_per_job);
        }
    }

    fn form_groups(self, ranks_per_job: usize) {
        if ranks_per_job > 1 {
            self.divide(ranks_per_job);
        }
    }

    /// Tells the other ranks of this one's group, if it is the first of them, that nothing more will be asked of them there.
    pub fn end_group(self) {
        if let Some(own) = self.groups().map(|groups| groups.own).filter(|own| own.leads()) {
            let _turn = own.turn();
            own.tell(&Message::End);
        }
    }

    /// Tells the other ranks that nothing more will be asked of them.
    pub fn end(self) {
        self.end_group();
        let _turn = self.turn();
        self.tell(&Message::End);
    }
}

/// Does what rank 0 asks, or the first rank of the group that this one is in, until that is not a computation. A failure ends the run.
pub fn follow(ranks: Ranks, followers: &mut [(Subject, &mut dyn Follower)]) -> Then {
    loop {
        let then = listen(ranks, followers);
        match ranks.groups().filter(|groups| !groups.own.leads()) {
            Some(groups) if then == Then::ShareJobs => listen(groups.own, followers),
            _ => return then,
        };
    }
}

fn listen(ranks: Ranks, followers: &mut [(Subject, &mut dyn Follower)]) -> Then {
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
            Message::ShareJobs(run, ranks_per_job) => {
                ranks.deal_jobs(run);
                ranks.form_groups(ranks_per_job);
                return Then::ShareJobs;
            }
            Message::End => return Then::End,
        }
    }
}
