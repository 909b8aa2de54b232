//! The cores and the memory that this process may use.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Processes of this run on this machine, and those that may run on the cores of this one.
static NUM_PROCESSES: AtomicUsize = AtomicUsize::new(1);
static NUM_ON_CORES: AtomicUsize = AtomicUsize::new(1);

/// From now on, so many processes of the run, this one among them, share the memory of the machine equally, and so many of these the
/// cores that this process may run on.
pub fn share_machine([num_processes, num_on_cores]: [usize; 2]) {
    NUM_PROCESSES.store(num_processes.max(1), Ordering::Relaxed);
    NUM_ON_CORES.store(num_on_cores.max(1), Ordering::Relaxed);
}

/// Number of cores this process may run on (its affinity mask, and CPU quota where there is one), or its share of them.
pub fn available_cores() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    (cores / NUM_ON_CORES.load(Ordering::Relaxed)).max(1)
}

/// Bytes of memory that this process can still get: the least of the free memory of the machine, the rest in
/// its control group (of both its share), and the rest of its address space (`ulimit -v`). `None` on systems that do not report
/// this (Linux does).
pub fn available_memory() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let free = read("/proc/meminfo").and_then(|text| free_memory(&text));
    let group = || {
        let number = |path: &str| read(path)?.trim().parse::<u64>().ok();
        let limit = number("/sys/fs/cgroup/memory.max")?;
        Some(limit.saturating_sub(number("/sys/fs/cgroup/memory.current")?))
    };
    let address_space = || {
        let limit = address_space_limit()?;
        let pages: u64 = read("/proc/self/statm")?.split_whitespace().next()?.parse().ok()?;
        Some(limit.saturating_sub(pages * page_size()))
    };
    let of_machine = [free, group()].into_iter().flatten().min();
    let share = of_machine.map(|bytes| bytes / NUM_PROCESSES.load(Ordering::Relaxed) as u64);
    [share, address_space()].into_iter().flatten().min()
}

/// Bytes of memory that this process uses; `None` on systems that do not report this.
pub fn used_memory() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * page_size())
}

/// Bytes of a page, in which the system counts.
#[cfg(unix)]
fn page_size() -> u64 {
    rustix::param::page_size() as u64
}

/// Most bytes of the address space (`ulimit -v`).
#[cfg(unix)]
fn address_space_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::As).current
}

#[cfg(not(unix))]
fn page_size() -> u64 {
    4096
}

#[cfg(not(unix))]
fn address_space_limit() -> Option<u64> {
    None
}

/// `MemAvailable:   12345 kB`
fn free_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_is_understood() {
        let meminfo = "MemTotal:       24000000 kB\nMemFree:  1 kB\nMemAvailable:   22000000 kB\n";
        assert_eq!(free_memory(meminfo), Some(22_000_000 * 1024));
        assert_eq!(free_memory("MemTotal: 5 kB\n"), None);
        if cfg!(target_os = "linux") {
            assert!(available_memory().unwrap() > 1 << 20);
        }
    }
}
