//! Huge pages of memory for the likelihood vectors, where Linux gives them to programs that ask.
//!
//! Likelihood vectors are gone through far more often than the processor remembers where pages of 4 kB are, and each time that it has to look one up
//! again, a kernel waits. The allocator of glibc asks for pages of 2 MB if a variable of the environment says so when a program begins, and in no
//! other way: `GLIBC_TUNABLES` (glibc manual, "Memory Allocation Tunables"; from 2.35 on, others ignore it). So the program sets it and begins again, in the same
//! process. Whoever has set the variable, to whatever value, has decided otherwise.

/// The variable.
const VARIABLE: &str = "GLIBC_TUNABLES";
/// Its value.
const WITH_HUGE_PAGES: &str = "glibc.malloc.hugetlb=1";
/// Where Linux says who gets huge pages: the chosen of several words is in brackets.
const WHO_GETS_THEM: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// Begins the program again with an allocator that asks for huge pages, if that is of use. Otherwise, or if it fails, the program goes on
/// as it is. To be called before anything else.
pub fn begin_with_huge_pages() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use std::os::unix::process::CommandExt;
        let asks =
            std::fs::read_to_string(WHO_GETS_THEM).is_ok_and(|who| who.contains("[madvise]"));
        if !asks || std::env::var_os(VARIABLE).is_some() {
            return;
        }
        // Its own name, not that of a link in /proc, so that lists of processes show it.
        let Ok(program) = std::env::current_exe() else { return };
        let mut words = std::env::args_os();
        let mut again = std::process::Command::new(program);
        if let Some(name) = words.next() {
            again.arg0(name);
        }
        let error = again.args(words).env(VARIABLE, WITH_HUGE_PAGES).exec();
        log::debug!("without huge pages: {error}");
    }
}
