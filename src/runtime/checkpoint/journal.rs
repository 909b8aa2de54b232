//! [`Journal`]: the file of a checkpoint.

use super::entry::{HEAD, Head, Key, Kind};
use super::identity::Identity;
use crate::whole_file::temporary;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The first line, up to the number of the format.
const MAGIC: &str = "mlsearch checkpoint ";
/// Number of the format.
const FORMAT: u32 = 12;
/// Bytes that may be out of date beside as many that are not, before the file is written anew.
const SPARE: u64 = 1 << 22;

/// An open checkpoint.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    identity: Identity,
    /// Where the last whole entry ends.
    end: u64,
    /// Where the payloads are that count, and their lengths.
    places: BTreeMap<(Kind, Key), (u64, u32)>,
    /// Bytes of these payloads with their heads.
    current: u64,
}

/// Bytes of an entry.
fn bytes_of((_, len): (u64, u32)) -> u64 {
    HEAD as u64 + u64::from(len)
}

/// Why there is no journal to go on with.
#[derive(Debug)]
pub enum Refused {
    /// The system does not let us.
    Io(io::Error),
    /// What was found in its place.
    Damaged(String),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Refused::Io(error)
    }
}

fn damaged<T>(what: &str) -> Result<T, Refused> {
    Err(Refused::Damaged(what.to_string()))
}

impl Journal {
    /// A new one, in the place of any other.
    ///
    /// # Errors
    /// The system's; then the old file is as before.
    pub fn create(path: &Path, identity: Identity) -> io::Result<Self> {
        let payload = postcard::to_stdvec(&identity).map_err(io::Error::other)?;
        Self::write(path, identity, |new| {
            new.append_whole(Kind::Identity, Key::default(), &payload)
        })
    }

    /// The one that is there, if any. Nothing is changed before the first [`Journal::append`].
    ///
    /// # Errors
    /// A file that cannot be read and written, or that is no whole journal. An incomplete entry at the end is
    /// none of these: a run that was killed may leave one.
    pub fn open(path: &Path) -> Result<Option<Self>, Refused> {
        let file = match File::options().read(true).write(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        let size = file.metadata()?.len();
        let mut reader = BufReader::with_capacity(1 << 16, file.try_clone()?);
        let magic = first_line();
        let mut start = vec![0; magic.len()];
        if size < magic.len() as u64 {
            return damaged("the file is too short");
        }
        reader.read_exact(&mut start)?;
        if start != magic.as_bytes() {
            return match start.starts_with(MAGIC.as_bytes()) {
                true => damaged("it was written by another version of mlsearch"),
                false => damaged("the file is no checkpoint"),
            };
        }
        let mut journal = Journal {
            path: path.to_path_buf(),
            file,
            identity: Identity::default(),
            end: start.len() as u64,
            places: BTreeMap::new(),
            current: 0,
        };
        journal.read_records(&mut reader, size)?;
        let Some(payload) = journal.payload(Kind::Identity, Key::default())? else {
            return damaged("it does not say of which run it is");
        };
        match postcard::from_bytes(&payload) {
            Ok(identity) => journal.identity = identity,
            Err(_) => return damaged("it does not say of which run it is"),
        }
        Ok(Some(journal))
    }

    fn read_records(&mut self, reader: &mut impl Read, size: u64) -> Result<(), Refused> {
        let mut payload = Vec::new();
        while size - self.end >= HEAD as u64 {
            let mut bytes = [0; HEAD];
            reader.read_exact(&mut bytes)?;
            let after = self.end + HEAD as u64;
            let Some(head) = Head::from_bytes(&bytes) else {
                return is_torn(reader);
            };
            if u64::from(head.len) > size - after {
                return Ok(());
            }
            // The length is no larger than the file.
            payload.resize(head.len as usize, 0);
            reader.read_exact(&mut payload)?;
            if crc32fast::hash(&payload) != head.crc {
                return is_torn(reader);
            }
            self.note(head, after);
            self.end = after + u64::from(head.len);
        }
        Ok(())
    }

    /// A payload counts from now on.
    fn note(&mut self, head: Head, at: u64) {
        if head.kind == Kind::Finished {
            self.forget((Kind::State, head.key));
            if let Key { part: 0, stage: 0, job } = head.key {
                self.forget_part(job.saturating_add(1));
            }
        }
        let new = (at, head.len);
        let old = self.places.insert((head.kind, head.key), new);
        self.current = self.current + bytes_of(new) - old.map_or(0, bytes_of);
    }

    fn forget(&mut self, entry: (Kind, Key)) {
        self.current -= self.places.remove(&entry).map_or(0, bytes_of);
    }

    fn forget_part(&mut self, part: u32) {
        for kind in [Kind::Finished, Kind::State] {
            let [first, last] = [0, u32::MAX].map(|at| (kind, Key { part, stage: at, job: at }));
            let entries = self.places.range(first..=last).map(|(&entry, _)| entry);
            let entries: Vec<(Kind, Key)> = entries.collect();
            entries.into_iter().for_each(|entry| self.forget(entry));
        }
    }

    /// What it is of.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The last payload of this kind for a job, if there is one.
    ///
    /// # Errors
    /// The system's.
    pub fn payload(&mut self, kind: Kind, key: Key) -> io::Result<Option<Vec<u8>>> {
        let Some(&(at, len)) = self.places.get(&(kind, key)) else { return Ok(None) };
        let mut payload = vec![0; len as usize];
        self.file.seek(SeekFrom::Start(at))?;
        self.file.read_exact(&mut payload)?;
        Ok(Some(payload))
    }

    /// True if there is a payload of this kind for a job.
    pub fn has(&self, kind: Kind, key: Key) -> bool {
        self.places.contains_key(&(kind, key))
    }

    /// The numbers of all jobs of a kind and stage of the run.
    pub fn jobs(&self, kind: Kind, stage: u32) -> impl Iterator<Item = u32> {
        let ends = [0, u32::MAX].map(|job| (kind, Key { part: 0, stage, job }));
        self.places.range(ends[0]..=ends[1]).map(|((_, key), _)| key.job)
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// The system's; all earlier entries remain.
    pub fn append(&mut self, kind: Kind, key: Key, payload: &[u8]) -> io::Result<()> {
        if self.is_mostly_outdated() || !self.path.exists() {
            self.compact()?;
        }
        self.append_whole(kind, key, payload)
    }

    fn append_whole(&mut self, kind: Kind, key: Key, payload: &[u8]) -> io::Result<()> {
        let Some(head) = Head::of(kind, key, payload) else {
            return Err(io::Error::other("a state of more than 4 GiB"));
        };
        if self.file.metadata()?.len() > self.end {
            self.file.set_len(self.end)?;
        }
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(&[&head.to_bytes(), payload].concat())?;
        self.note(head, self.end + HEAD as u64);
        self.end += (HEAD + payload.len()) as u64;
        Ok(())
    }

    /// What was appended will be there even if the power fails.
    ///
    /// # Errors
    /// The system's.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn is_mostly_outdated(&self) -> bool {
        self.end > 2 * self.current + SPARE
    }

    /// All payloads that count.
    ///
    /// # Errors
    /// The system's.
    pub fn payloads(&mut self) -> io::Result<Vec<(Kind, Key, Vec<u8>)>> {
        let kept: Vec<(Kind, Key)> = self.places.keys().copied().collect();
        let mut payloads = Vec::with_capacity(kept.len());
        for (kind, key) in kept {
            payloads.extend(self.payload(kind, key)?.map(|payload| (kind, key, payload)));
        }
        Ok(payloads)
    }

    /// Leaves out what is out of date.
    fn compact(&mut self) -> io::Result<()> {
        let payloads = self.payloads()?;
        *self = Self::write(&self.path, self.identity.clone(), |new| {
            payloads.iter().try_for_each(|(kind, key, bytes)| new.append_whole(*kind, *key, bytes))
        })?;
        Ok(())
    }

    /// Writes a whole file: under a temporary name, then moved to its place.
    fn write(
        path: &Path,
        identity: Identity,
        fill: impl FnOnce(&mut Journal) -> io::Result<()>,
    ) -> io::Result<Self> {
        let new = temporary(path)?;
        let mut journal = Journal {
            path: path.to_path_buf(),
            file: new.reopen()?,
            identity,
            end: first_line().len() as u64,
            places: BTreeMap::new(),
            current: 0,
        };
        journal.file.write_all(first_line().as_bytes())?;
        fill(&mut journal)?;
        journal.file.sync_all()?;
        new.persist(path).map_err(|error| error.error)?;
        Ok(journal)
    }

    /// The run is over.
    ///
    /// # Errors
    /// The system's.
    pub fn remove(&self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }
}

/// After an incomplete entry there is nothing, or zeros where the power failed.
fn is_torn(mut rest: impl Read) -> Result<(), Refused> {
    let mut bytes = [0; 1 << 12];
    loop {
        match rest.read(&mut bytes)? {
            0 => return Ok(()),
            read if bytes[..read].iter().any(|&byte| byte != 0) => {
                return damaged("it has been changed or is damaged");
            }
            _ => {}
        }
    }
}

fn first_line() -> String {
    format!("{MAGIC}{FORMAT}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(stage: u32, job: u32) -> Key {
        Key { part: 0, stage, job }
    }

    fn path(dir: &tempfile::TempDir) -> PathBuf {
        dir.path().join("x.mlsearch.checkpoint")
    }

    fn identity() -> Identity {
        let mut identity = Identity::default();
        identity.add("seed", 7);
        identity
    }

    /// Two results and a state, of which the first is out of date.
    fn written(dir: &tempfile::TempDir) -> Journal {
        let mut journal = Journal::create(&path(dir), identity()).unwrap();
        journal.append(Kind::State, key(0, 1), b"half").unwrap();
        journal.append(Kind::Finished, key(0, 1), b"one").unwrap();
        journal.append(Kind::State, key(0, 0), b"begun").unwrap();
        journal.append(Kind::State, key(0, 0), b"further").unwrap();
        journal
    }

    fn contents(journal: &mut Journal) -> Vec<Option<Vec<u8>>> {
        let kinds =
            [(Kind::Finished, key(0, 1)), (Kind::State, key(0, 0)), (Kind::State, key(0, 1))];
        kinds.map(|(kind, key)| journal.payload(kind, key).unwrap()).to_vec()
    }

    #[test]
    fn a_journal_comes_back_without_what_is_out_of_date() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Journal::open(&path(&dir)).unwrap().is_none());
        let mut journal = written(&dir);
        let expected = vec![Some(b"one".to_vec()), Some(b"further".to_vec()), None];
        assert_eq!(contents(&mut journal), expected);
        journal.compact().unwrap();
        assert_eq!(contents(&mut journal), expected);
        let mut again = Journal::open(&path(&dir)).unwrap().unwrap();
        assert_eq!(again.identity(), &identity());
        assert_eq!(contents(&mut again), expected);
        assert_eq!(again.jobs(Kind::Finished, 0).collect::<Vec<_>>(), [1]);
        again.remove().unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn parts_of_a_job_are_kept_until_it_is_finished() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = written(&dir);
        let before = journal.current;
        let of_part = |part, stage, job| Key { part, stage, job };
        for (part, stage) in [(2, 0), (3, 0), (3, 7), (4, 0)] {
            journal.append(Kind::Finished, of_part(part, stage, 5), b"done").unwrap();
            journal.append(Kind::State, of_part(part, stage, 6), b"half").unwrap();
        }
        assert_eq!(journal.payloads().unwrap().len(), 3 + 8);
        journal.append(Kind::Finished, key(0, 2), b"three").unwrap();
        let mut again = Journal::open(&path(&dir)).unwrap().unwrap();
        for journal in [&mut journal, &mut again] {
            let kept = journal.payloads().unwrap();
            let parts: Vec<u32> = kept.iter().map(|(_, key, _)| key.part).collect();
            assert_eq!(parts.iter().filter(|&&part| part > 0).count(), 4, "{parts:?}");
            assert!(!parts.contains(&3));
            let added = 5 * HEAD as u64 + 2 * (4 + 4) + 5;
            assert_eq!(journal.current, before + added);
        }
    }

    #[test]
    fn whatever_is_missing_at_the_end_only_the_last_records_are_lost() {
        let dir = tempfile::tempdir().unwrap();
        drop(written(&dir));
        let whole = std::fs::read(path(&dir)).unwrap();
        let mut journal = Journal::create(&path(&dir), identity()).unwrap();
        let first = journal.end as usize;
        drop(journal);
        for len in first..=whole.len() {
            for zeros in [0, 50] {
                let torn = [&whole[..len], &vec![0; zeros]].concat();
                std::fs::write(path(&dir), torn).unwrap();
                journal = Journal::open(&path(&dir)).unwrap().unwrap();
                let known = contents(&mut journal);
                assert!(len < whole.len() || known[1] == Some(b"further".to_vec()));
                // It goes on from there.
                journal.append(Kind::Finished, key(3, 4), b"new").unwrap();
                journal = Journal::open(&path(&dir)).unwrap().unwrap();
                assert_eq!(contents(&mut journal), known);
                let new = journal.payload(Kind::Finished, key(3, 4)).unwrap();
                assert_eq!(new.unwrap(), b"new");
            }
        }
    }

    #[test]
    fn damage_is_told_and_never_taken_for_a_state() {
        let dir = tempfile::tempdir().unwrap();
        drop(written(&dir));
        let whole = std::fs::read(path(&dir)).unwrap();
        let expected = contents(&mut Journal::open(&path(&dir)).unwrap().unwrap());
        for at in 0..whole.len() {
            let mut bad = whole.clone();
            bad[at] ^= 0x40;
            std::fs::write(path(&dir), bad).unwrap();
            match Journal::open(&path(&dir)) {
                // The last entry counts as incomplete.
                Ok(Some(mut journal)) => {
                    let found = contents(&mut journal);
                    assert!(found[0] == expected[0] && found[1] == Some(b"begun".to_vec()));
                }
                Ok(None) => panic!("it is there"),
                Err(Refused::Damaged(why)) => assert!(!why.is_empty()),
                Err(Refused::Io(error)) => panic!("byte {at}: {error}"),
            }
        }
        for text in ["", "mlsearch", "mlsearch checkpoint 5\nxxxxxxx", "(a,b,c);(a,b,c);(a,b,c);"] {
            std::fs::write(path(&dir), text).unwrap();
            assert!(matches!(Journal::open(&path(&dir)), Err(Refused::Damaged(_))), "{text}");
        }
    }

    #[test]
    fn a_journal_of_states_does_not_grow_for_ever_and_one_that_vanished_is_written_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = written(&dir);
        let state = vec![7; 1 << 20];
        for _ in 0..40 {
            journal.append(Kind::State, key(0, 0), &state).unwrap();
        }
        assert!(std::fs::metadata(path(&dir)).unwrap().len() < 10 << 20);
        std::fs::remove_file(path(&dir)).unwrap();
        journal.append(Kind::State, key(0, 2), b"new").unwrap();
        let mut again = Journal::open(&path(&dir)).unwrap().unwrap();
        assert_eq!(again.payload(Kind::State, key(0, 0)).unwrap().unwrap(), state);
        assert_eq!(again.payload(Kind::Finished, key(0, 1)).unwrap().unwrap(), b"one");
    }
}
