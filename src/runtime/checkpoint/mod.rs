//! The file that an interrupted run is resumed from: a journal of what is finished and of the states of what is not.
//!
//! ```text
//! mlsearch checkpoint 5\n
//! entry*                  entry = head, payload                     all numbers little-endian
//!   head = payload length u32, kind u8, part u32, stage u32, job u32, CRC-32 of the payload u32, CRC-32 of the head u32
//! ```
//!
//! The first entry has the [`Identity`] of the run. The others are appended: nothing that was written changes, so that a
//! run that is killed while it writes leaves at most an incomplete entry at the end, which is cut off. A later state
//! of a job replaces the earlier one; when most of the file is out of date, it is written anew under a temporary name.
//!
//! The journal knows nothing of what the payloads mean; `file` writes them, and `fingerprint` is what a run must have in common
//! with the one that it resumes.

mod entry;
pub(crate) mod file;
pub(crate) mod fingerprint;
mod identity;
mod journal;

pub use entry::{Key, Kind};
pub use identity::Identity;
pub use journal::{Journal, Refused};
