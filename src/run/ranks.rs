//! A run on several ranks, which `mpirun` has started: rank 0 carries it out, and the others compute what it asks of them.

use super::execute::execute_along;
#[cfg(feature = "mpi")]
use super::installed_mpi::Running;
use crate::commands::Analysis;
use crate::error::{Error, Result};
use crate::likelihood::distributed::Engines;
use crate::mpi::{Ranks, Subject, Then, follow};
use crate::parsimony::OwnShares;
use std::time::Duration;

/// How long a rank that has failed waits for rank 0 to have failed for the same reason.
const PATIENCE: Duration = Duration::from_secs(10);

/// The processes of a run.
pub struct Processes {
    /// If there are several.
    ranks: Option<Ranks>,
    /// Dropped after rank 0 has told the others that the run has ended.
    #[cfg(feature = "mpi")]
    _mpi: Option<Running>,
}

/// Variables by which Open MPI and MPICH (and what is made of it) tell a process the number of ranks.
const NUMBER_OF_RANKS: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];
/// Where Slurm starts ranks itself (`srun --mpi=pmix`), this tells that they are ranks, and the other their number.
const OF_SLURM: [&str; 2] = ["PMIX_RANK", "SLURM_STEP_NUM_TASKS"];

/// True if this process is one of several that were started as ranks.
fn is_one_of_several() -> bool {
    let number = |name| std::env::var(name).ok()?.parse::<usize>().ok();
    let of_slurm = number(OF_SLURM[0]).and_then(|_| number(OF_SLURM[1]));
    NUMBER_OF_RANKS.into_iter().filter_map(number).chain(of_slurm).any(|number| number > 1)
}

impl Processes {
    /// Those that were started together with this one. A rank that ends the run because it has failed says so by `say`.
    ///
    /// # Errors
    /// [`Error::Usage`] if there are several and this build cannot use MPI, or MPI itself cannot be used.
    #[cfg(feature = "mpi")]
    pub fn begin(say: fn(&str)) -> Result<Self> {
        if !is_one_of_several() {
            return Ok(Processes { ranks: None, _mpi: None });
        }
        let mpi = Running::begin().map_err(Error::Usage)?;
        let ranks = Ranks::of(crate::mpi::World::new(mpi.world(), say));
        let [on_machine, on_cores] = ranks.num_beside();
        log::debug!(
            "{ranks:?}, {on_machine} on this machine, {on_cores} on the same cores, {}",
            mpi.library()
        );
        crate::parallel::share_machine([on_machine, on_cores]);
        Ok(Processes { ranks: Some(ranks).filter(|ranks| ranks.size() > 1), _mpi: Some(mpi) })
    }

    /// As with the feature `mpi`.
    ///
    /// # Errors
    /// [`Error::Usage`] if there are several.
    #[cfg(not(feature = "mpi"))]
    pub fn begin(_say: fn(&str)) -> Result<Self> {
        match is_one_of_several() {
            false => Ok(Processes { ranks: None }),
            true => Err(Error::Usage(
                "this process was started as one of several ranks, but this mlsearch is built without MPI: each rank would do \
                 the whole run. Build it with 'cargo build --release --features mpi' (see 'mlsearch help run --guide'), or \
                 start it without mpirun"
                    .to_string(),
            )),
        }
    }

    /// True for all ranks but rank 0.
    pub fn only_follows(&self) -> bool {
        self.ranks.is_some_and(|ranks| !ranks.leads())
    }

    /// Does what rank 0 asks, until it ends. `analysis` is what rank 0 carries out.
    pub fn follow(self, analysis: impl Fn() -> Option<Analysis>) {
        let Some(ranks) = self.ranks else { return };
        let (mut engines, mut columns) = (Engines::default(), OwnShares::default());
        let mut next = || {
            follow(
                ranks,
                &mut [(Subject::Likelihood, &mut engines), (Subject::Parsimony, &mut columns)],
            )
        };
        while next() == Then::ShareJobs {
            let Some(mut analysis) = analysis() else {
                ranks.abort("its command line is not that of rank 0");
            };
            self.take_part_in(&mut analysis);
            if let Err(error) = execute_along(&analysis) {
                // What rank 0 has met, too, ends the run there.
                std::thread::spawn(move || {
                    std::thread::sleep(PATIENCE);
                    ranks.abort(&error.to_string());
                });
            }
            ranks.end_group();
        }
    }

    /// Gives the ranks to an analysis that rank 0 carries out.
    pub fn take_part_in(&self, analysis: &mut Analysis) {
        analysis.plan.run.ranks = self.ranks;
    }

    /// The run of rank 0 has ended with this error, whose message has been printed.
    pub fn fail(&self, error: &Error) {
        // The others may be in the middle of jobs, and ask for more.
        if let Some(ranks) = self.ranks.filter(|ranks| ranks.jobs_of().is_some()) {
            ranks.end_all(error.exit_code());
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        if let Some(ranks) = self.ranks.filter(|ranks| ranks.leads()) {
            ranks.end();
        }
    }
}
