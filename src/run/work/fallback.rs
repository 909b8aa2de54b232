//! What a stage goes on with when the engine that computes stops working.

use super::desk::Desk;
use super::machine::Machine;
use crate::error::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The machine of a stage, and whether it is replaced by the next one.
#[derive(Debug)]
pub(crate) struct Fallback {
    machine: Machine,
    is_replaced: Arc<AtomicBool>,
}

impl Fallback {
    /// A stage begins with this machine.
    pub(crate) fn new(machine: Machine) -> Self {
        Fallback { machine, is_replaced: Arc::default() }
    }

    /// Does a job. If its engine fails and there is another one, the job goes on with that from the state at its desk (or
    /// begins again, if there is none), and later jobs of the stage use it from the beginning. (So they do if a job has replaced
    /// the engine itself, with [`Desk::tell_replaced`].) Results do not depend on it, and it is told once.
    ///
    /// # Errors
    /// Those of the job.
    pub(crate) fn run<T>(
        &self,
        desk: &mut Desk,
        work: impl Fn(Machine, &mut Desk) -> Result<T>,
    ) -> Result<T> {
        desk.share(&self.is_replaced);
        let next = self.machine.after_failure();
        if let Some(next) = self.replaced() {
            return work(next, desk);
        }
        match (work(self.machine, desk), next) {
            (Err(Error::Engine(reason)), Some(next)) => {
                let name = next.engine().engine;
                desk.begin_again(format!("{reason}; the run continues with the {name} engine"))?;
                work(next, desk)
            }
            (result, _) => result,
        }
    }

    /// The machine that has replaced the first one.
    pub(crate) fn replaced(&self) -> Option<Machine> {
        let is_replaced = self.is_replaced.load(Ordering::Relaxed);
        self.machine.after_failure().filter(|_| is_replaced)
    }
}
