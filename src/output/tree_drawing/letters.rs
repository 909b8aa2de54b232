//! How wide text is: the widths of Helvetica, which Arial and the font of PDF and PNG share. Other sans-serif fonts differ little.

/// Widths of the characters from space to tilde, in thousandths of the size of the font (Adobe's metrics of Helvetica).
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
/// The same of the characters of Latin-1 from the blank that does not break.
const LATIN_1: [u16; 96] = [
    278, 333, 556, 556, 556, 556, 260, 556, 333, 737, 370, 556, 584, 333, 737, 552, 400, 549, 333,
    333, 333, 576, 537, 333, 333, 333, 365, 556, 834, 834, 834, 611, 667, 667, 667, 667, 667, 667,
    1000, 722, 667, 667, 667, 667, 278, 278, 278, 278, 722, 722, 778, 778, 778, 778, 778, 584, 778,
    722, 722, 722, 722, 667, 667, 611, 556, 556, 556, 556, 556, 556, 889, 500, 556, 556, 556, 556,
    278, 278, 278, 278, 556, 556, 556, 556, 556, 556, 556, 549, 611, 556, 556, 556, 556, 500, 556,
    500,
];
/// Of other characters, in the same unit: too much rather than too little.
const OTHER: u16 = 1100;

/// Stands for what is left out, with its width.
const ELLIPSIS: (&str, f64) = ("…", 1.0);

/// The width of a text in a font of size 1.
pub(super) fn width_of(text: &str) -> f64 {
    let width = |c: char| match c {
        ' '..='~' => WIDTHS[c as usize - ' ' as usize],
        '\u{a0}'..='ÿ' => LATIN_1[c as usize - 0xa0],
        _ => OTHER,
    };
    text.chars().map(|c| f64::from(width(c))).sum::<f64>() / 1000.0
}

/// The text if it is at most so wide in a font of size 1, or else its beginning and an ellipsis.
pub(super) fn abridged_to(width: f64, text: &str) -> Option<String> {
    if width_of(text) <= width {
        return None;
    }
    let mut shown: String = text.into();
    while shown.pop().is_some() && width_of(&shown) + ELLIPSIS.1 > width {}
    Some(shown + ELLIPSIS.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_helvetica() {
        assert_eq!(width_of(""), 0.0);
        assert!((width_of("Homo") - (0.722 + 0.556 + 0.833 + 0.556)).abs() < 1e-12);
        assert!((width_of("~i é") - (0.584 + 0.222 + 0.278 + 0.556)).abs() < 1e-12);
    }

    #[test]
    fn long_texts_are_abridged() {
        assert_eq!(abridged_to(10.0, "Homo"), None);
        assert_eq!(abridged_to(2.4, "Homo").as_deref(), Some("Ho…"));
        assert_eq!(abridged_to(0.1, "Homo").as_deref(), Some("…"));
    }
}
