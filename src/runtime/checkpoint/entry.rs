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

/// Which job of which stage of the run an entry belongs to, both numbered from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Key {
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
pub(crate) const HEAD: usize = 21;

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
        bytes[5..9].copy_from_slice(&self.key.stage.to_le_bytes());
        bytes[9..13].copy_from_slice(&self.key.job.to_le_bytes());
        bytes[13..17].copy_from_slice(&self.crc.to_le_bytes());
        let own = crc32fast::hash(&bytes[..17]);
        bytes[17..].copy_from_slice(&own.to_le_bytes());
        bytes
    }

    /// `None` if these bytes are no head.
    pub(crate) fn from_bytes(bytes: &[u8; HEAD]) -> Option<Self> {
        let number = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        if crc32fast::hash(&bytes[..17]) != number(17) {
            return None;
        }
        let kinds = [Kind::Identity, Kind::Finished, Kind::State, Kind::Remark];
        let kind = kinds.into_iter().find(|kind| *kind as u8 == bytes[4])?;
        let key = Key { stage: number(5), job: number(9) };
        Some(Head { kind, key, len: number(0), crc: number(13) })
    }
}
