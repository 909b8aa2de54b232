//! In the place of `enabled.rs` where the program was built without the feature `figures`.

use crate::error::{Error, Result};

/// Why there are neither PDF nor PNG.
pub(crate) const MISSING: Option<&str> = Some(
    "this mlsearch was built without PDF and PNG: build it with the feature 'figures', or write SVG",
);

fn missing() -> Error {
    Error::Usage(MISSING.unwrap_or_default().into())
}

/// The drawing as a page of PDF.
///
/// # Errors
/// Always.
pub(crate) fn pdf_of(_: &str) -> Result<Vec<u8>> {
    Err(missing())
}

/// The drawing as PNG.
///
/// # Errors
/// Always.
pub(crate) fn png_of(_: &str, _: f64) -> Result<Vec<u8>> {
    Err(missing())
}

/// Letters that the font lacks.
pub(crate) fn unknown_letters<'t>(_: impl Iterator<Item = &'t str>) -> String {
    String::new()
}
