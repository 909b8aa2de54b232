//! Files that are either complete or absent: written under a temporary name, then moved to their place.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Result, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Separates the prefix of a run from the kind of a file, in the names of all files of a run.
pub const MARK: &str = ".mlsearch";

/// A file without content beside this one, which disappears unless it is moved to its place.
///
/// # Errors
/// The system's.
pub fn temporary(path: &Path) -> Result<NamedTempFile> {
    let start = start_of_names(path);
    // Not as a private file: results get what the user's umask allows.
    let create = |path: &Path| File::options().read(true).write(true).create_new(true).open(path);
    tempfile::Builder::new().prefix(&start).make_in(folder(path), create)
}

/// Writes all of a temporary file. What the system says is told without its name, which would be confusing.
///
/// # Errors
/// The system's.
pub fn fill(file: &mut NamedTempFile, content: &[u8]) -> Result<()> {
    file.as_file_mut().write_all(content)?;
    file.as_file().sync_all()
}

/// Writes a file as a whole, in the place of any other.
///
/// # Errors
/// The system's; then the file is as before.
pub fn replace(path: &Path, content: &[u8]) -> Result<()> {
    let mut file = temporary(path)?;
    fill(&mut file, content)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Removes the temporary files that a killed run has left beside this file. No other run may use its prefix.
pub fn remove_leftovers(path: &Path) {
    let start = start_of_names(path);
    let Ok(entries) = std::fs::read_dir(folder(path)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let bytes = name.as_encoded_bytes();
        if bytes.len() == start.len() + NUM_RANDOM && bytes.starts_with(start.as_encoded_bytes()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Random characters at the end of a temporary name.
const NUM_RANDOM: usize = 6;

/// The beginning of temporary names: `.PREFIX.mlsearch-` for `PREFIX.mlsearch.KIND`.
fn start_of_names(path: &Path) -> OsString {
    let name = path.file_name().unwrap_or_default();
    let prefix = name.to_string_lossy();
    let prefix = prefix.rsplit_once(&format!("{MARK}.")).map_or(&*prefix, |(prefix, _)| prefix);
    OsString::from(format!(".{prefix}{MARK}-"))
}

/// The folder of a file.
pub fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_of_a_prefix_are_removed_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.mlsearch.bestTree");
        let killed = temporary(&path).unwrap().keep().unwrap().1;
        let others = [".runs.mlsearch-abcdef", "run.mlsearch.log", ".run.mlsearch-my_notes"];
        for name in others {
            std::fs::write(dir.path().join(name), "x").unwrap();
        }
        replace(&path, b"tree").unwrap();
        remove_leftovers(&path);
        assert!(!killed.exists() && path.exists());
        assert!(others.iter().all(|name| dir.path().join(name).exists()));
    }
}
