//! `--bootstrap`: searches on resampled columns.

use crate::error::Result;
use crate::runtime::Session;
use crate::steps::replicates::make_replicates;

/// Replicates only.
///
/// # Errors
/// A file that cannot be written.
pub(crate) fn bootstrap(mut session: Session) -> Result<()> {
    let models = session.setup.models();
    make_replicates(&mut session, &models)?;
    Ok(())
}
