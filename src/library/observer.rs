//! What a long computation reports while it runs.
//!
//! A computation never prints, writes or reads a clock: it passes [`Event`]s to an [`Observer`], and
//! reports from time to time how far it has come ([`Advance`]). Events are raised by one thread in a
//! fixed order, because they are written to the log, whose bytes must not depend on the number of
//! threads. An advance is only displayed.

use serde::{Deserialize, Serialize};

/// One event of a computation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// A phase of the computation begins, for example "fast SPR".
    Phase {
        /// Its name, as it is shown to the user.
        name: String,
    },
    /// One round of a phase is done.
    Progress {
        /// The phase it belongs to.
        phase: String,
        /// Round, counted from 1.
        round: usize,
        /// Log-likelihood after it (natural logarithm).
        lnl: f64,
    },
    /// All branch lengths and parameters of the current tree were optimised.
    Optimized {
        /// The log-likelihood after it (natural logarithm).
        lnl: f64,
    },
    /// Something that the user should know before relying on the result; kept in the report.
    Warning(String),
    /// Further information for the user.
    Note(String),
    /// Information for the log only.
    Detail(String),
    /// A phase of a computation that was done beside others, and is told when it is over: what follows belongs to it.
    PastPhase {
        /// Its name, as it is shown to the user.
        name: String,
    },
}

/// How far a computation has come.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Advance {
    /// Share of the current phase that is done, in [0, 1], where it is known.
    pub phase: Option<f64>,
    /// Estimated share of the whole computation that is done, in [0, 1], where there is an estimate.
    pub whole: Option<f64>,
    /// Of several pieces of work of one kind: their name, how many are done, how many there are.
    pub pieces: Option<(&'static str, usize, usize)>,
}

/// Receives events.
pub trait Observer: Send {
    /// Receives one event; must not influence the computation.
    fn event(&mut self, event: &Event);

    /// Receives how far the computation has come. May be called often, so it must be cheap.
    fn advance(&mut self, _advance: Advance) {}

    /// True if the computation is to stop as soon as possible, at a point from which it can be resumed.
    fn must_stop(&self) -> bool {
        false
    }
}

/// An observer that ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn event(&mut self, _event: &Event) {}
}
