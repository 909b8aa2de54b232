//! Every reader against random texts: `tests/corpus/` changed at random, always in the same way. What a text may
//! do: be refused with a message that says where, or be read, written and read again as the same. It may not
//! make a reader panic, take time or memory out of proportion, or overflow the stack.
//!
//! `MLSEARCH_FUZZ_SECONDS` is the time for each reader (without it, each gets 100 000 texts); `MLSEARCH_FUZZ_SEED`
//! another seed. With
//! `RUSTFLAGS="-C instrument-coverage --cfg fuzz_coverage"`, texts that reach new code join the corpus, and the
//! number of regions of code reached is told:
//!
//! ```sh
//! MLSEARCH_FUZZ_SECONDS=600 cargo test --test tests fuzz:: -- --nocapture --test-threads 1
//! ```
//!
//! A text that fails is written to a file, whose name is in the message. Put it into the folder of its reader in
//! `tests/corpus/`: all files there are tried first.

use crate::fuzz_targets as targets;
use crate::memory::peak_of;
use crate::mutator::Mutator;
use crate::util::repository;
use mlsearch::conformance::all_cases_are_asked;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// What a reader makes of a text: `Ok` for whatever may be, otherwise what is wrong with the reader.
pub type Verdict = std::result::Result<(), String>;

/// Texts that each reader gets unless a time is given, so that every run of the tests has the same ones, ...
const NUM_TEXTS: u64 = 25_000;
/// ... and if all cases are asked for. The slowest reader needs 10 s.
const MOST_TEXTS: u64 = 100_000;
/// Longest text, in bytes.
const MAX_LENGTH: usize = 1 << 16;
/// Memory that a reader may take: this many times the text ...
const MEMORY_PER_BYTE: usize = 10;
/// ... and this, for buffers and for what every record, however short, takes: a sequence of one character has a name, places
/// and lengths. 2.5 MiB were the most in a million texts.
const MEMORY_BESIDES: usize = 4 << 20;
/// The same for command lines, which the option parser keeps several times: 5.0 MiB for 9000 words were the most.
const MEMORY_OF_COMMANDS: usize = 8 << 20;
/// Time that a reader may take, generous because other tests run at the same time ...
const TIME_BESIDES: Duration = Duration::from_secs(2);
/// ... and for every byte.
const TIME_PER_BYTE: Duration = Duration::from_micros(20);
/// A text that takes longer is tried again so often: another program may have had the processor.
const TRIES: usize = 3;

thread_local! {
    /// The most memory that a reader took for the present text.
    static MEMORY: Cell<usize> = const { Cell::new(0) };
}

/// Runs a reader on the texts of these folders, and on changed ones until the time is over.
fn fuzz(name: &str, folders: &[&str], try_one: fn(&[u8]) -> Verdict) {
    let seconds = number("MLSEARCH_FUZZ_SECONDS");
    let corpus: Vec<Vec<u8>> = folders.iter().flat_map(|folder| texts(folder)).collect();
    assert!(!corpus.is_empty(), "{name}: no corpus");
    let mut most = (0, 0);
    let mut check = |text: &[u8]| match cost(text, try_one) {
        Ok(memory) => most = most.max((memory, text.len())),
        Err(wrong) => panic!("{name}: {wrong}; the text is {}", keep(name, text)),
    };
    corpus.iter().for_each(|text| check(text));
    let at_first = regions_reached();
    let mut mutator = Mutator::new(number("MLSEARCH_FUZZ_SEED").unwrap_or(1), corpus, MAX_LENGTH);
    let (start, mut count, mut reached) = (Instant::now(), 0u64, at_first);
    let goes_on = |count| match seconds {
        Some(seconds) => start.elapsed() < Duration::from_secs(seconds),
        None => count < if all_cases_are_asked() { MOST_TEXTS } else { NUM_TEXTS },
    };
    while goes_on(count) {
        let text = mutator.next();
        check(&text);
        count += 1;
        let now = regions_reached();
        // Long texts would slow everything down.
        if now > reached && text.len() < MAX_LENGTH / 16 {
            mutator.corpus.push(text);
        }
        reached = now;
    }
    println!(
        "{name}: {count} texts in {:.0} s, at most {} KiB of memory (for a text of {} KiB), regions of code \
         reached by the corpus: {at_first}, in the end: {reached}",
        start.elapsed().as_secs_f64(),
        most.0 >> 10,
        most.1 >> 10
    );
}

/// The memory that a reader takes for a text, or what is wrong.
fn cost(text: &[u8], try_one: fn(&[u8]) -> Verdict) -> std::result::Result<usize, String> {
    let limit = TIME_BESIDES + TIME_PER_BYTE * text.len() as u32;
    let mut elapsed = Duration::ZERO;
    for _ in 0..TRIES {
        let start = Instant::now();
        MEMORY.set(0);
        let result = catch_unwind(AssertUnwindSafe(|| try_one(text)));
        result.map_err(|_| "panic".to_string())??;
        elapsed = start.elapsed();
        if elapsed <= limit {
            return Ok(MEMORY.get());
        }
    }
    Err(format!("{elapsed:?} for a text of {} bytes", text.len()))
}

/// What a reader returns for a text of so many bytes.
///
/// # Errors
/// It has taken too much memory.
pub fn read<T>(length: usize, reader: impl FnOnce() -> T) -> std::result::Result<T, String> {
    read_within(MEMORY_PER_BYTE * length + MEMORY_BESIDES, length, reader)
}

/// The same for words of a command.
///
/// # Errors
/// It has taken too much memory.
pub fn read_command<T>(
    length: usize,
    reader: impl FnOnce() -> T,
) -> std::result::Result<T, String> {
    read_within(MEMORY_PER_BYTE * length + MEMORY_OF_COMMANDS, length, reader)
}

fn read_within<T>(
    limit: usize,
    length: usize,
    reader: impl FnOnce() -> T,
) -> std::result::Result<T, String> {
    let (result, memory) = peak_of(reader);
    MEMORY.set(MEMORY.get().max(memory));
    match memory > limit {
        true => Err(format!("{memory} bytes of memory for a text of {length} bytes")),
        false => Ok(result),
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

/// All files of a folder of `tests/corpus/`.
fn texts(folder: &str) -> Vec<Vec<u8>> {
    let folder = repository("tests/corpus").join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a file")).collect()
}

/// Writes a text that failed to a file.
fn keep(name: &str, text: &[u8]) -> String {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{name}"));
    std::fs::write(&path, text).expect("the text can be kept");
    path.display().to_string()
}

/// Number of regions of the program's code that have been executed so far.
#[cfg(fuzz_coverage)]
fn regions_reached() -> usize {
    #[allow(unsafe_code)]
    unsafe extern "C" {
        #[link_name = "__start___llvm_prf_cnts"]
        static FIRST: u64;
        #[link_name = "__stop___llvm_prf_cnts"]
        static END: u64;
    }
    let (first, end) = (&raw const FIRST, &raw const END);
    let count = (end as usize - first as usize) / size_of::<u64>();
    // SAFETY: the linker puts all counters between these two symbols.
    #[allow(unsafe_code)]
    let is_reached = |i: &usize| unsafe { first.add(*i).read_volatile() > 0 };
    (0..count).filter(is_reached).count()
}

#[cfg(not(fuzz_coverage))]
fn regions_reached() -> usize {
    0
}

#[test]
fn phylip() {
    fuzz("phylip", &["phylip"], targets::alignment);
}

#[test]
fn fasta() {
    fuzz("fasta", &["fasta"], targets::alignment);
}

#[test]
fn nexus() {
    fuzz("nexus", &["nexus"], targets::alignment);
}

#[test]
fn clustal() {
    fuzz("clustal", &["clustal"], targets::alignment);
}

#[test]
fn stockholm() {
    fuzz("stockholm", &["stockholm"], targets::alignment);
}

#[test]
fn gzip() {
    fuzz("gzip", &["fasta", "phylip"], targets::gzipped);
}

#[test]
fn partition_lines() {
    fuzz("partition_lines", &["partition_lines"], targets::partitions);
}

#[test]
fn partition_nexus() {
    fuzz("partition_nexus", &["partition_nexus"], targets::partitions);
}

#[test]
fn newick() {
    fuzz("newick", &["newick"], targets::newick);
}

#[test]
fn weights() {
    fuzz("weights", &["weights"], targets::weights);
}

#[test]
fn site_frequencies() {
    fuzz("site_frequencies", &["site_frequencies"], targets::site_frequencies);
}

#[test]
fn constraint() {
    fuzz("constraint", &["constraint", "newick"], targets::constraint);
}

#[test]
fn distances() {
    fuzz("distances", &["distances"], targets::distances);
}

#[test]
fn model() {
    fuzz("model", &["model"], targets::model);
}

#[test]
fn matrix() {
    fuzz("matrix", &["matrix"], targets::matrix);
}

#[test]
fn checkpoint() {
    fuzz("checkpoint", &["checkpoint"], targets::checkpoint);
}

#[test]
fn command() {
    fuzz("command", &["command"], targets::command);
}
