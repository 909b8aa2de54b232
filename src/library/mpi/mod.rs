//! Ranks: processes of one run, on one machine or many, that hand each other numbers. What they need of MPI is a trait
//! ([`Communicator`]), with ranks that are threads of one process (`threads`, for tests) and, if the program is built with the feature
//! `mpi`, an installed MPI (`installed`). What is computed by several ranks is above: the
//! likelihood in `likelihood/distributed`, changes in `parsimony`; all ranks but rank 0 follow.

mod communicator;
mod follow;
#[cfg(feature = "mpi")]
mod installed;
mod threads;
mod world;

pub use communicator::Communicator;
pub use follow::{Follower, Subject, Then, follow};
#[cfg(feature = "mpi")]
pub use installed::Running;
pub use threads::as_threads;
pub use world::{Ranks, Traffic, Turn, World, decode};
