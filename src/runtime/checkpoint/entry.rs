//! The entries of a journal, as bytes.

/// What an entry holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// What the checkpoint is of; the first entry.
    Identity = 1,
    /// The result of a job.
    Finished = 2,
    /// The state of a job in progress.
    State = 3,
    /// A remark on the run as a whole.
    Remark = 4,
}

/// Which job of which stage an entry belongs to, both numbered from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Key {
    /// 0 for the run's own jobs, and n + 1 for those of which job n of its first stage consists. When that is finished, these are out
    /// of date.
    pub part: u32,
    /// Stages that do independent jobs, in the order of the run.
    pub stage: u32,
    /// The job.
    pub job: u32,
}

/// The beginning of an entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Head {
    pub kind: Kind,
    pub key: Key,
    /// Length of the payload in bytes.
    pub len: u32,
    /// CRC-32 of the payload.
    pub crc: u32,
}

/// Bytes of a head.
pub(crate) const HEAD: usize = 25;

impl Head {
    /// Of a payload, of at most `u32::MAX` bytes.
    pub(crate) fn of(kind: Kind, key: Key, payload: &[u8]) -> Option<Self> {
        let len = u32::try_from(payload.len()).ok()?;
        Some(Head { kind, key, len, crc: crc32fast::hash(payload) })
    }

    pub(crate) fn to_bytes(self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[..4].copy_from_slice(&self.len.to_le_bytes());
        bytes[4] = self.kind as u8;
        let Key { part, stage, job } = self.key;
        for (number, bytes) in [part, stage, job, self.crc].iter().zip(bytes[5..].chunks_mut(4)) {
            bytes.copy_from_slice(&number.to_le_bytes());
        }
        let own = crc32fast::hash(&bytes[..HEAD - 4]);
        bytes[HEAD - 4..].copy_from_slice(&own.to_le_bytes());
        bytes
    }

    /// `None` if these bytes are no head.
    pub(crate) fn from_bytes(bytes: &[u8; HEAD]) -> Option<Self> {
        let number = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        if crc32fast::hash(&bytes[..HEAD - 4]) != number(HEAD - 4) {
            return None;
        }
        let kinds = [Kind::Identity, Kind::Finished, Kind::State, Kind::Remark];
        let kind = kinds.into_iter().find(|kind| *kind as u8 == bytes[4])?;
        let key = Key { part: number(5), stage: number(9), job: number(13) };
        Some(Head { kind, key, len: number(0), crc: number(17) })
    }
}
