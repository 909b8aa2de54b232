//! What a long computation tells the outside while it runs.
//!
//! The search never prints, writes or looks at a clock: it hands events to an [`Observer`]. Events
//! are raised by one thread in one fixed order, because they end up in the log, whose bytes must not
//! depend on the number of threads.

/// One thing worth telling.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A new phase of the run begins, for example "fast SPR".
    Phase {
        /// Its name, as the user reads it.
        name: String,
    },
    /// One round of a phase is done.
    Progress {
        /// The phase it belongs to.
        phase: String,
        /// Round, replicate or tree number, counted from 1.
        round: usize,
        /// Log-likelihood after it (natural logarithm).
        lnl: f64,
    },
    /// The best tree so far was found.
    NewBest {
        /// Its log-likelihood (natural logarithm).
        lnl: f64,
    },
    /// Something the user should know before trusting the result; kept in the report.
    Warning(String),
    /// Something good to know.
    Note(String),
}

/// Receives events.
pub trait Observer: Send {
    /// Takes note of one event; must not influence the computation.
    fn event(&mut self, event: &Event);
}

/// An observer that does not care.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn event(&mut self, _event: &Event) {}
}
