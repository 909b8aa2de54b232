//! [`Section`]: a part of the page.

use maud::Markup;

/// A part of the page with its heading.
pub(super) struct Section {
    /// Its name in links.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// Its content.
    pub body: Markup,
}
