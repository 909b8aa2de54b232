//! Scratch folders and running the binary.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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
    fn new(output: Output) -> Self {
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
