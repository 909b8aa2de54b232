//! [`Growing`]: a result whose lines can be read while the run goes on.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Result, Write};
use std::path::PathBuf;
use std::sync::Mutex;

/// A file of lines that become known in any order and are appended in that of their numbers. At its end the run
/// writes the whole file anew.
#[derive(Debug)]
pub(crate) struct Growing(Mutex<Lines>);

#[derive(Debug)]
struct Lines {
    path: PathBuf,
    /// Results of an earlier run, which are replaced when the first line is known.
    replaced: Vec<PathBuf>,
    file: Option<File>,
    /// Number of the next line in the file.
    next: usize,
    waiting: BTreeMap<usize, String>,
    has_failed: bool,
}

impl Growing {
    pub(super) fn new(path: PathBuf, replaced: Vec<PathBuf>) -> Self {
        let (file, next, waiting) = (None, 0, BTreeMap::new());
        Growing(Mutex::new(Lines { path, replaced, file, next, waiting, has_failed: false }))
    }

    /// A file that is not written.
    pub(crate) fn nowhere() -> Self {
        let growing = Growing::new(PathBuf::new(), Vec::new());
        growing.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).has_failed = true;
        growing
    }

    /// A line is known. If it cannot be written, the file no longer grows; that the disk is full is told at the end
    /// of the run, when this is known of the whole file.
    pub(crate) fn add(&self, number: usize, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if !lines.has_failed {
            lines.waiting.insert(number, line);
            lines.has_failed = lines.append().is_err();
        }
    }
}

impl Lines {
    fn append(&mut self) -> Result<()> {
        let mut text = String::new();
        while let Some(line) = self.waiting.remove(&self.next) {
            text.push_str(&line);
            text.push('\n');
            self.next += 1;
        }
        if text.is_empty() {
            return Ok(());
        }
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                for earlier in std::mem::take(&mut self.replaced) {
                    std::fs::remove_file(earlier)?;
                }
                File::create(&self.path)?
            }
        };
        self.file.insert(file).write_all(text.as_bytes())
    }
}
