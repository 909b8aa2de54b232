//! Ranks: processes of one run, on one machine or many, that hand each other numbers. What they need of MPI is a trait
//! ([`Communicator`]), with ranks that are threads of one process (`threads`, for tests). The program, if it is built with the feature
//! `mpi`, has that of an installed MPI (`run/installed_mpi`): so the library is the same with it and without. What is computed by several ranks is above: the
//! likelihood in `likelihood/distributed`, changes in `parsimony`; all ranks but rank 0 follow.

mod communicator;
mod follow;
mod threads;
mod world;

pub use communicator::Communicator;
pub use follow::{Follower, Subject, Then, follow};
pub use threads::as_threads;
pub use world::{Groups, Ranks, Traffic, Turn, World, decode};
