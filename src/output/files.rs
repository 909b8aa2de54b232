//! Names of output files, and writing them so that they are whole or absent.
//!
//! All names start with the run's prefix: `PREFIX.mlsearch.bestTree` and so on. Before anything is
//! computed a run reserves its names; what exists already is refused unless `--redo` was given.

use crate::error::{Error, Result};
use std::io::Write;
use std::path::{Path, PathBuf};

/// One kind of output file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The tree with the highest likelihood.
    BestTree,
    /// Its model, usable as `-q` or `-m`.
    BestModel,
    /// The final tree of every starting tree, or every evaluated tree.
    MlTrees,
    /// The starting trees.
    StartTree,
    /// The trees of the bootstrap replicates.
    Bootstraps,
    /// The tree with support values.
    Support,
    /// The consensus tree.
    ConsensusTree,
    /// Robinson-Foulds distances.
    RfDistances,
    /// Log-likelihood of every site.
    SiteLh,
    /// One tree per partition with its own lengths.
    BestPartitionTrees,
    /// Everything that was said.
    Log,
    /// Everything, for programs.
    Json,
    /// Simulated sequences.
    Alignment,
    /// Partitions of simulated sequences.
    Partitions,
    /// The tree of simulated sequences.
    TrueTree,
}

impl Kind {
    /// What follows `PREFIX.mlsearch.`.
    pub fn suffix(self) -> &'static str {
        match self {
            Kind::BestTree => "bestTree",
            Kind::BestModel => "bestModel",
            Kind::MlTrees => "mlTrees",
            Kind::StartTree => "startTree",
            Kind::Bootstraps => "bootstraps",
            Kind::Support => "support",
            Kind::ConsensusTree => "consensusTree",
            Kind::RfDistances => "rfDistances",
            Kind::SiteLh => "siteLH",
            Kind::BestPartitionTrees => "bestPartitionTrees",
            Kind::Log => "log",
            Kind::Json => "json",
            Kind::Alignment => "phy",
            Kind::Partitions => "part",
            Kind::TrueTree => "trueTree",
        }
    }
}

/// The output files of one run.
#[derive(Debug, Clone)]
pub struct OutputFiles {
    prefix: PathBuf,
    redo: bool,
}

impl OutputFiles {
    /// Makes sure that every file can be written later.
    ///
    /// # Errors
    /// [`Error::Usage`] if the folder is missing, or if results exist and `redo` is false; all
    /// existing ones are named. [`Error::Failed`] if no file can be made in the folder.
    pub fn reserve(prefix: &Path, kinds: &[Kind], redo: bool) -> Result<Self> {
        let files = OutputFiles { prefix: prefix.to_path_buf(), redo };
        let folder = files.folder();
        if !kinds.is_empty() && !folder.is_dir() {
            return Err(Error::Usage(format!(
                "the output folder '{}' does not exist: make it, or name another place with --prefix (-n, -w)",
                folder.display()
            )));
        }
        let paths: Vec<PathBuf> = kinds.iter().map(|&kind| files.path(kind)).collect();
        let folders: Vec<&PathBuf> = paths.iter().filter(|path| path.is_dir()).collect();
        if !folders.is_empty() {
            return Err(Error::Usage(format!("these are folders, not files:{}", list(&folders))));
        }
        let existing: Vec<&PathBuf> =
            paths.iter().filter(|path| path.symlink_metadata().is_ok()).collect();
        if !redo && !existing.is_empty() {
            return Err(Error::Usage(format!(
                "results of an earlier run exist and are not overwritten:{}\n\
                 Give --redo to replace them, or another --prefix (-n) to keep them.",
                list(&existing)
            )));
        }
        // Better said now than after hours of computing. The temporary file is gone at once.
        let impossible = paths.iter().find_map(|path| match path.symlink_metadata() {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Some(error),
            _ => None,
        });
        let trial = || if kinds.is_empty() { None } else { files.temporary().err() };
        if let Some(error) = impossible.or_else(trial) {
            let prefix = prefix.display();
            return Err(Error::Failed(format!(
                "no results can be written to '{prefix}.*': {error}; name another place with --prefix (-n, -w)"
            )));
        }
        Ok(files)
    }

    /// A file without content in the folder, which disappears unless it is moved to its place.
    fn temporary(&self) -> std::io::Result<tempfile::NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".mlsearch-");
        // Temporary files are private by default; results get what the user's umask allows.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        // The file's own made-up name would only confuse in the message.
        builder.tempfile_in(self.folder()).map_err(|error| match error.raw_os_error() {
            Some(code) => std::io::Error::from_raw_os_error(code),
            None => std::io::Error::from(error.kind()),
        })
    }

    /// Path of one kind.
    pub fn path(&self, kind: Kind) -> PathBuf {
        let mut path = self.prefix.clone().into_os_string();
        path.push(".mlsearch.");
        path.push(kind.suffix());
        PathBuf::from(path)
    }

    /// Writes a whole file: first beside its place, then moved there, so that no reader and no
    /// crash ever sees half of it.
    ///
    /// # Errors
    /// [`Error::Io`] (writing) with the path; the place is then as it was.
    pub fn write(&self, kind: Kind, content: &[u8]) -> Result<PathBuf> {
        let path = self.path(kind);
        let failed = |source: std::io::Error| Error::Io {
            path: path.display().to_string(),
            source,
            writing: true,
        };
        let mut file = self.temporary().map_err(failed)?;
        file.write_all(content).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        let moved = if self.redo { file.persist(&path) } else { file.persist_noclobber(&path) };
        moved.map_err(|e| failed(e.error))?;
        Ok(path)
    }

    fn folder(&self) -> PathBuf {
        match self.prefix.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
            _ => PathBuf::from("."),
        }
    }
}

fn list(paths: &[&PathBuf]) -> String {
    paths.iter().map(|path| format!("\n  {}", path.display())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Kind; 3] = [Kind::BestTree, Kind::Log, Kind::Json];

    #[test]
    fn results_are_written_whole_and_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("a.phy");
        let files = OutputFiles::reserve(&prefix, &KINDS, false).unwrap();
        let path = files.write(Kind::BestTree, b"(a,b,c);\n").unwrap();
        assert_eq!(path, dir.path().join("a.phy.mlsearch.bestTree"));
        assert_eq!(std::fs::read(&path).unwrap(), b"(a,b,c);\n");
        assert_eq!(files.write(Kind::BestTree, b"x").unwrap_err().exit_code(), 1);
        assert_eq!(std::fs::read(&path).unwrap(), b"(a,b,c);\n");
        // Nothing but the one result: no temporary file is left, not even by the failed write.
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn every_existing_result_is_named_and_redo_replaces_it() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("run");
        let files = OutputFiles::reserve(&prefix, &KINDS, false).unwrap();
        files.write(Kind::Log, b"old").unwrap();
        files.write(Kind::Json, b"old").unwrap();
        let error = OutputFiles::reserve(&prefix, &KINDS, false).unwrap_err();
        let message = error.to_string();
        assert_eq!(error.exit_code(), 2);
        assert!(message.contains("run.mlsearch.log") && message.contains("run.mlsearch.json"));
        assert!(!message.contains("bestTree") && message.contains("--redo"));
        let files = OutputFiles::reserve(&prefix, &KINDS, true).unwrap();
        let path = files.write(Kind::Log, b"new").unwrap();
        assert_eq!(std::fs::read(path).unwrap(), b"new");
    }

    #[test]
    fn a_missing_folder_is_refused_before_computing() {
        let dir = tempfile::tempdir().unwrap();
        let error = OutputFiles::reserve(&dir.path().join("none/run"), &KINDS, true).unwrap_err();
        assert!(error.to_string().contains("does not exist"));
        OutputFiles::reserve(&dir.path().join("none/run"), &[], false).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_where_nothing_can_be_written_is_refused_before_computing() {
        let error = OutputFiles::reserve(Path::new("/proc/run"), &KINDS, false).unwrap_err();
        assert_eq!(error.exit_code(), 1);
        assert!(error.to_string().contains("/proc"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_dangling_link_counts_as_existing() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/nowhere", dir.path().join("run.mlsearch.log")).unwrap();
        assert!(OutputFiles::reserve(&dir.path().join("run"), &KINDS, false).is_err());
    }
}
