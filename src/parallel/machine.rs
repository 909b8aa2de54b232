//! What the operating system lets this process use.

/// Number of cores this process may run on (its affinity mask, and CPU quota where there is one).
pub fn available_cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}
