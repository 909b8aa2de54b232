//! `--start`: starting trees alone.

use crate::error::Result;
use crate::output::OutputKind;
use crate::runtime::Session;
use crate::steps::starts::{StartLengths, make_starts, write_starts};

/// Makes starting trees and nothing else.
///
/// # Errors
/// As [`make_starts`].
pub(crate) fn start(mut session: Session) -> Result<()> {
    let starts = make_starts(&mut session, StartLengths::FromParsimony)?;
    let newicks = write_starts(&session, &starts);
    session.record.write(OutputKind::StartTree, &newicks)
}
