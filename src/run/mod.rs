//! One run, from its plan to the last file (`execute`), on the terminal or inside another program; and the likelihood of the data of
//! a run, for programs that compute with it themselves (`opened`). Under `mpirun`, a run is carried out by `ranks`, with the MPI that is
//! installed (`installed_mpi`). Before all that, the program asks for huge pages of memory (`huge_pages`).

mod execute;
mod huge_pages;
#[cfg(feature = "mpi")]
mod installed_mpi;
mod opened;
mod ranks;

pub use execute::{execute, execute_watched};
pub use huge_pages::begin_with_huge_pages;
pub use opened::Opened;
pub use ranks::Processes;

// For programs that use the library, and for tests of hostile input.
pub use crate::commands::Analysis;
pub use crate::dataset::{SiteWeights, parse_distances, parse_site_frequencies};
pub use crate::output::{MatrixFormat, Moment, OutputKind, Watched};
pub use crate::runtime::interrupt::{ignore as ignore_signals, listen as listen_to_signals};
