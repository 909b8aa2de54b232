//! The file of a shard: what became of every N-th gene of a run, until all shards are put together.
//!
//! ```text
//! mlsearch genes 1\n
//! entry*                  entry = length u32, CRC-32 u32, payload      all numbers little-endian
//! ```
//!
//! The first payload is the [`GeneRun`], which is the same in all shards of a run; the others are genes with their numbers.

use super::record::{GeneRecord, GeneRun};
use crate::error::{Error, Place, Result};
use crate::output::OutputKind;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The genes of a shard.
pub(super) const SHARD: OutputKind =
    OutputKind::new(49, "shard", "the genes of a part of a run, for --merge");

/// The first line.
const MAGIC: &[u8] = b"mlsearch genes 1\n";
/// Bytes before a payload.
const HEAD: usize = 8;

/// Writes the beginning of a shard.
///
/// # Errors
/// The system's.
pub(super) fn begin(out: &mut impl Write, run: &GeneRun) -> std::io::Result<()> {
    out.write_all(MAGIC)?;
    append(out, run)
}

/// Writes an entry.
///
/// # Errors
/// The system's.
pub(super) fn append(out: &mut impl Write, value: &impl Serialize) -> std::io::Result<()> {
    let payload = postcard::to_stdvec(value).map_err(std::io::Error::other)?;
    let len = u32::try_from(payload.len()).map_err(std::io::Error::other)?;
    out.write_all(&len.to_le_bytes())?;
    out.write_all(&crc32fast::hash(&payload).to_le_bytes())?;
    out.write_all(&payload)
}

/// A shard that was written, whose genes are read when they are needed.
pub(super) struct Shard {
    path: PathBuf,
    file: BufReader<File>,
    /// The run of which it is a part.
    pub run: GeneRun,
    /// Numbers of its genes, and where they are in the file.
    pub genes: Vec<(usize, u64)>,
}

impl Shard {
    /// Reads which genes a shard has.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be read, [`Error::Input`] for a file that is no whole shard.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|source| reading(path, source))?;
        let mut file = BufReader::new(file);
        let mut magic = vec![0; MAGIC.len()];
        let is_shard = file.read_exact(&mut magic).is_ok() && magic == MAGIC;
        if !is_shard {
            let message = "this is no shard of this version of mlsearch: expected a file NAME.mlsearch.shard \
                           that mlsearch genes --shard K/N has written";
            return Err(Error::input(Place::file(path.display().to_string()), message));
        }
        let run = next(&mut file, path)?.ok_or_else(|| damaged(path))?;
        let mut shard = Shard { path: path.to_path_buf(), file, run, genes: Vec::new() };
        loop {
            let at = shard.file.stream_position().map_err(|source| reading(path, source))?;
            let found: Option<(u32, GeneRecord)> = next(&mut shard.file, path)?;
            let Some((number, _)) = found else { break };
            shard.genes.push((number as usize, at));
        }
        Ok(shard)
    }

    /// A gene, by its place in the file.
    ///
    /// # Errors
    /// As of [`Shard::open`].
    pub(super) fn read(&mut self, at: u64) -> Result<GeneRecord> {
        let found = self.file.seek(SeekFrom::Start(at));
        found.map_err(|source| reading(&self.path, source))?;
        let found: Option<(u32, GeneRecord)> = next(&mut self.file, &self.path)?;
        found.map(|(_, record)| record).ok_or_else(|| damaged(&self.path))
    }
}

/// The next entry; `None` at the end of the file.
fn next<T: DeserializeOwned>(file: &mut BufReader<File>, path: &Path) -> Result<Option<T>> {
    let mut head = Vec::with_capacity(HEAD);
    let read = file.take(HEAD as u64).read_to_end(&mut head);
    read.map_err(|source| reading(path, source))?;
    if head.is_empty() {
        return Ok(None);
    }
    let [a, b, c, d, e, f, g, h] = head[..] else { return Err(damaged(path)) };
    let (len, crc) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
    let mut payload = Vec::new();
    let read = file.take(u64::from(len)).read_to_end(&mut payload);
    read.map_err(|source| reading(path, source))?;
    if payload.len() as u64 != u64::from(len) || crc32fast::hash(&payload) != crc {
        return Err(damaged(path));
    }
    postcard::from_bytes(&payload).map(Some).map_err(|_| damaged(path))
}

fn reading(path: &Path, source: std::io::Error) -> Error {
    Error::Io { path: path.display().to_string(), source, writing: false }
}

fn damaged(path: &Path) -> Error {
    let message = "the shard is damaged or incomplete: compute it again with --redo";
    Error::input(Place::file(path.display().to_string()), message)
}
