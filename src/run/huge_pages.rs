//! Huge pages of memory for the likelihood vectors, where Linux gives them to programs that ask.
//!
//! Likelihood vectors are spread over more pages of 4 kB than the processor remembers the places of, and kernels wait while it looks them up. The
//! allocator of glibc asks for pages of 2 MB if a variable of the environment says so when a program begins (from 2.35 on; glibc manual,
//! "Memory Allocation Tunables"), and in no other way. So the program sets it and begins again, as the same process. Whoever has set
//! the variable, to whatever value, has decided otherwise.

/// Begins the program again with an allocator that asks for huge pages, if that is of use. Otherwise, or if it fails, the program goes on
/// as it is. To be called before anything else.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn begin_with_huge_pages() {
    use std::os::unix::process::CommandExt;
    const VARIABLE: &str = "GLIBC_TUNABLES";
    // Who gets huge pages: of several words, the one in brackets is chosen.
    let chosen = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    if !chosen.is_ok_and(|chosen| chosen.contains("[madvise]"))
        || std::env::var_os(VARIABLE).is_some()
    {
        return;
    }
    // Its own name, not that of a link in /proc, so that lists of processes show it.
    let Ok(program) = std::env::current_exe() else { return };
    let mut words = std::env::args_os();
    let mut again = std::process::Command::new(program);
    if let Some(name) = words.next() {
        again.arg0(name);
    }
    // It comes back only if it fails.
    let _failure = again.args(words).env(VARIABLE, "glibc.malloc.hugetlb=1").exec();
}

/// Other systems have other allocators.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn begin_with_huge_pages() {}
