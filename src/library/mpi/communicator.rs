//! [`Communicator`]: the little of MPI that a run needs.

/// A rank's view of all ranks of a run. Each operation is called by all ranks (by both, for [`send`](Communicator::send)), in the same
/// order; none of them adds up numbers, because MPI leaves the order of such sums open.
pub trait Communicator: Send + Sync {
    /// The number of this rank.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn size(&self) -> usize;

    /// Number of ranks on the machine of this one, itself included, and how many of these may run on the same cores as this one.
    fn num_beside(&self) -> [usize; 2];

    /// The numbers of all ranks, one rank after the other: each gives as many.
    ///
    /// # Panics
    /// If `all` has not room for exactly these.
    fn all_gather(&self, own: &[f64], all: &mut [f64]);

    /// What rank 0 has in `bytes`, to all others, who have as many.
    fn broadcast(&self, bytes: &mut [u8]);

    /// Sends bytes to a rank that [receives](Communicator::receive) as many.
    fn send(&self, to: usize, bytes: &[u8]);

    /// Receives bytes from a rank that [sends](Communicator::send) as many.
    fn receive(&self, from: usize, bytes: &mut [u8]);

    /// Sends a letter to a rank that looks for [letters](Communicator::letter). It has been taken when this returns, or copied.
    fn post(&self, to: usize, letter: &[u8]);

    /// A letter that has come, and who has sent it.
    fn letter(&self) -> Option<(usize, Vec<u8>)>;

    /// The ranks of this rank's group, in their order: all call it, each with the number of its group.
    fn split(&self, group: usize) -> Box<dyn Communicator>;

    /// Ends all ranks, those of other groups and this one included, with this exit code, after a failure that only this one knows. What has not been written is lost.
    fn abort(&self, exit_code: u8) -> !;
}
