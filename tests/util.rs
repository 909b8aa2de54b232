//! Scratch folders, running the binary, comparing its runs.

use mlsearch::conformance::some_of;
use mlsearch::tree::NewickTree;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Five taxa; most sites support (a,b) and (d,e), and 50 replicates are enough.
pub const FIVE_TAXA: &str = "5 30\n\
    a  ACGTACGTACACGTACGTACACGTACGTAC\n\
    b  ACGTACGTACACGTACGTATACGTACGTAT\n\
    c  ACGAACGAACACGAACGAACACCTACGGAC\n\
    d  ATGAACCAATACGATCGAACATCTATGGAC\n\
    e  ATGAACCAATACGATCGAATATCTATGGGC\n";

/// A folder of its own for one test, removed at its end, in which the binary is run.
pub struct Scratch(tempfile::TempDir);

impl Scratch {
    pub fn new() -> Self {
        Scratch(tempfile::tempdir().expect("a scratch folder can be made"))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file and returns its name inside the folder.
    pub fn write<'a>(&self, name: &'a str, content: &str) -> &'a str {
        std::fs::write(self.path().join(name), content).expect("scratch file can be written");
        name
    }

    /// Names of all files in the folder, sorted.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).expect("scratch folder can be read");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("entry").file_name().into_string().expect("UTF-8"))
            .collect();
        names.sort();
        names
    }

    /// Runs the binary inside the folder; arguments are separated by blanks.
    pub fn run(&self, arguments: &str) -> Ran {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        self.run_words(&arguments)
    }

    /// Runs the binary inside the folder; it must succeed.
    pub fn succeed(&self, arguments: &str) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{arguments}: {}", ran.stderr);
        ran
    }

    /// MiB that `--mem` must at least be for a run, by the message that refuses one with less. (How much that is depends on the size
    /// of the program, which takes more without optimisation.)
    pub fn least_memory(&self, arguments: &str) -> f64 {
        let refused = self.run(&format!("{arguments} --mem 1M"));
        assert_eq!(refused.code, 2, "{arguments}: {}", refused.stderr);
        let (_, needed) = refused.stderr.split_once("which needs ").expect("what the run needs");
        let (number, _) = needed.split_once(" MiB at least").expect("a number of MiB");
        // The program takes not quite the same each time.
        number.parse::<f64>().expect("a number").ceil() + 1.0
    }

    /// Runs the binary inside the folder with a text as standard input.
    pub fn run_with_input(&self, arguments: &str, input: &str) -> Ran {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mlsearch"))
            .args(arguments.split_whitespace())
            .current_dir(self.path())
            .env_remove("RUST_LOG")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary can be started");
        // A command that is refused at once does not read.
        let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
        Ran::new(child.wait_with_output().expect("the binary ends"))
    }

    /// Runs the binary inside the folder with these arguments.
    pub fn run_words(&self, arguments: &[&str]) -> Ran {
        let output = Command::new(env!("CARGO_BIN_EXE_mlsearch"))
            .args(arguments)
            .current_dir(self.path())
            .env_remove("RUST_LOG")
            .output()
            .expect("the binary can be started");
        Ran::new(output)
    }
}

/// What a run of the binary left behind.
#[derive(Debug)]
pub struct Ran {
    /// Exit code; a signal is a failure of the test.
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn new(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        Ran {
            code: output.status.code().expect("the binary was not killed"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Asserts a refusal (exit code 2) whose message holds all of these, and no panic.
    pub fn assert_refused(&self, expected: &[&str]) {
        assert_eq!(self.code, 2, "{self:?}");
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        for part in expected {
            assert!(self.stderr.contains(part), "'{part}' is missing in: {}", self.stderr);
        }
    }
}

/// A file of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The folder of the larger alignments, which are no part of the repository. Tests that call this are ignored
/// unless they are asked for, so that a run without the folder does not count them as passed.
pub fn data_folder() -> PathBuf {
    let folder = std::env::var_os("MLSEARCH_DATA").map(PathBuf::from);
    folder.expect("MLSEARCH_DATA names the folder of the larger alignments (see CONTRIBUTING.md)")
}

/// The log-likelihood in the report of a run inside the folder.
pub fn log_likelihood(scratch: &Scratch, prefix: &str) -> f64 {
    report(scratch, prefix)["log_likelihood"].as_f64().expect("a log-likelihood")
}

/// The report of a run inside the folder.
pub fn report(scratch: &Scratch, prefix: &str) -> serde_json::Value {
    let path = scratch.path().join(format!("{prefix}.mlsearch.json"));
    let text = std::fs::read_to_string(path).expect("a report");
    serde_json::from_str(&text).expect("JSON")
}

/// Names of the taxa behind each node of a tree; those of the first are all of its taxa.
pub fn taxa_behind(tree: &NewickTree) -> Vec<BTreeSet<String>> {
    let mut behind: Vec<BTreeSet<String>> = vec![BTreeSet::new(); tree.num_nodes()];
    for node in tree.nodes().rev() {
        let number = node.number() as usize;
        if node.is_tip() {
            behind[number].insert(node.name().expect("a taxon").to_string());
        }
        for child in node.children() {
            let of_child = behind[child.number() as usize].clone();
            behind[number].extend(of_child);
        }
    }
    behind
}

/// Contents of all files of a run by their suffix, without what may differ between two runs of the same
/// computation: `command`, `run` and `timings` in the JSON, and the log lines marked as such.
pub fn results(scratch: &Scratch, prefix: &str) -> BTreeMap<String, String> {
    let mut results = BTreeMap::new();
    for name in scratch.files() {
        let Some(suffix) = name.strip_prefix(&format!("{prefix}.mlsearch.")) else {
            continue;
        };
        // The page is made of the JSON.
        if suffix == "html" {
            continue;
        }
        let mut text = std::fs::read_to_string(scratch.path().join(&name)).expect("a result");
        if suffix == "json" {
            let mut report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            let fields = report.as_object_mut().expect("an object");
            for field in ["command", "run", "timings"] {
                assert!(fields.remove(field).is_some(), "{field} is missing");
            }
            text = report.to_string();
        } else if suffix == "log" {
            let kept = text.lines().filter(|line| !line.starts_with("# run:"));
            text = kept.collect::<Vec<_>>().join("\n");
        }
        results.insert(suffix.to_string(), text);
    }
    results
}

/// What must not show in any result. Every second one: one, two and three threads, and all kernel sets.
const MACHINES: [&str; 7] = [
    "-T 2",
    "-T 3",
    "-T 3 --simd avx2",
    "-T 5",
    "-T 1 --simd scalar",
    "-T 1 --simd avx2",
    "-T 1 --simd avx512",
];

/// True if the kernels for AVX2 can run here.
pub fn has_avx2() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// Runs a command on machines of every kind and compares every file with that of one thread.
pub fn assert_same_bytes(scratch: &Scratch, command: &str, kinds: &[&str]) {
    let machines: Vec<&str> = some_of(&MACHINES, 0, 2).copied().collect();
    assert_same_bytes_on(&machines, scratch, command, kinds);
}

/// The same, on these machines.
pub fn assert_same_bytes_on(machines: &[&str], scratch: &Scratch, command: &str, kinds: &[&str]) {
    scratch.succeed(&format!("{command} -n one -T 1"));
    let expected = results(scratch, "one");
    let found: Vec<&str> = expected.keys().map(String::as_str).collect();
    for kind in kinds {
        assert!(found.contains(kind), "{command}: no {kind} in {found:?}");
    }
    for machine in machines {
        let ran = scratch.run(&format!("{command} -n other --redo {machine}"));
        if ran.stderr.contains("is not available on this machine") {
            println!("{machine}: skipped, {}", ran.stderr.trim());
            continue;
        }
        assert_eq!(ran.code, 0, "{command} {machine}: {}", ran.stderr);
        let other = results(scratch, "other");
        assert!(expected.keys().eq(other.keys()), "{command} {machine}: other files");
        for (kind, bytes) in &expected {
            assert_eq!(&other[kind], bytes, "{command} {machine}: {kind}");
        }
    }
}
