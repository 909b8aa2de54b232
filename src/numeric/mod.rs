//! Pure mathematics; nothing here knows what a tree or a sequence is.

pub mod elementary;
mod newton;

pub use newton::Newton;
