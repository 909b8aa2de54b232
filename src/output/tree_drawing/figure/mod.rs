//! Drawings as PDF and PNG, with the letters of a font that is part of the program, so that they look the same on every machine.
//! `fonts/README.md` says which one it is. The only `cfg` of the feature `figures`.

#[cfg(not(feature = "figures"))]
mod disabled;
#[cfg(feature = "figures")]
mod enabled;

#[cfg(not(feature = "figures"))]
pub(crate) use disabled::{MISSING, pdf_of, png_of, unknown_letters};
#[cfg(feature = "figures")]
pub(crate) use enabled::{MISSING, pdf_of, png_of, unknown_letters};
