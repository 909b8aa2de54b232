//! What a long computation tells the outside while it runs.
//!
//! A computation never prints, writes or looks at a clock: it hands [`Event`]s to an [`Observer`], and
//! says now and then how far it is ([`Advance`]). Events are raised by one thread in one fixed order,
//! because they end up in the log, whose bytes must not depend on the number of threads. An advance is
//! for the display alone.

/// One thing worth telling.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A phase of the computation begins, for example "fast SPR".
    Phase {
        /// Its name, as the user reads it.
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
    /// All lengths and parameters of the present tree were optimised.
    Optimized {
        /// The log-likelihood then (natural logarithm).
        lnl: f64,
    },
    /// Something the user should know before trusting the result; kept in the report.
    Warning(String),
    /// Something good to know.
    Note(String),
    /// Something for the log alone.
    Detail(String),
}

/// How far a computation is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Advance {
    /// Share of the present phase that is done, in [0, 1], where it is known.
    pub phase: Option<f64>,
    /// Share of the whole computation that is probably done, in [0, 1], where it can be told.
    pub whole: Option<f64>,
    /// Of several equal pieces of work: what one is called, how many are done, how many there are.
    pub pieces: Option<(&'static str, usize, usize)>,
}

/// Receives events.
pub trait Observer: Send {
    /// Takes note of one event; must not influence the computation.
    fn event(&mut self, event: &Event);

    /// Takes note of how far the computation is. May be called often, so it must cost little.
    fn advance(&mut self, _advance: Advance) {}
}

/// Passes on how far a computation is, but none of its events.
pub(crate) struct Muffled<'a>(pub &'a mut dyn Observer);

impl Observer for Muffled<'_> {
    fn event(&mut self, _event: &Event) {}

    fn advance(&mut self, advance: Advance) {
        self.0.advance(advance);
    }
}

/// An observer that does not care.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn event(&mut self, _event: &Event) {}
}
