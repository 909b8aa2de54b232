//! Column ranges, `1-900\3, 1001-1300, 1400`: text to columns, and columns back to text.
//!
//! A range is a column, or first and last column, or first-last with a stride after `\` or `/`; `.` is the last
//! column of the alignment. Columns are counted from 1 in text and from 0 in memory.

use super::glyphs::{Glyph, place_of, spell, trim};
use crate::error::{Fault, Faults, Place, abridged};

/// Faults in one partition after which its other ranges are not read.
const MAX_FAULTS: usize = 100;

/// Columns of a partition, and what is wrong with them.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    /// The columns that could be read and exist, in the order written.
    pub sites: Vec<u32>,
    pub faults: Faults,
    /// True if a range could not be read at all (rather than reaching too far).
    pub incomplete: bool,
}

/// How ranges are set apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    Comma,
    /// NEXUS.
    CommaOrSpace,
}

/// Reads a list of ranges of the partition called `name`.
pub(super) fn parse_ranges(
    text: &[Glyph],
    separator: Separator,
    num_sites: usize,
    file: &str,
    name: &str,
) -> Ranges {
    let mut ranges = Ranges::default();
    for item in split_items(text, separator) {
        let refuse = |message: String| {
            Fault::new(Place { name: Some(name.to_string()), ..place_of(item, file) }, message)
        };
        let mut written = spell(item);
        if split_at_space(item).1.is_none() {
            written.retain(|character| !character.is_whitespace());
        }
        // More columns than the alignment has must repeat some, and so many faults need not be listed.
        if ranges.sites.len() > num_sites || ranges.faults.len() > MAX_FAULTS {
            ranges.incomplete = true;
            break;
        }
        match parse_range(&written, num_sites) {
            Ok((first, last, stride)) => {
                if last > num_sites {
                    ranges.faults.push(refuse(format!(
                        "range '{}' reaches beyond the alignment, which has {num_sites} columns",
                        abridged(&written)
                    )));
                }
                let existing = (first..=last.min(num_sites)).step_by(stride);
                ranges.sites.extend(existing.map(|column| (column - 1) as u32));
            }
            Err(message) => {
                ranges.faults.push(refuse(message));
                ranges.incomplete = true;
            }
        }
    }
    ranges
}

/// The ranges, each with its place; an empty one stays, so that it is refused.
fn split_items(text: &[Glyph], separator: Separator) -> impl Iterator<Item = &[Glyph]> {
    let by_comma = text.split(|glyph| glyph.character == ',').map(trim);
    by_comma.flat_map(move |item| {
        let splits = separator == Separator::CommaOrSpace;
        // Not split, it is followed by nothing.
        let mut rest = Some(item);
        std::iter::from_fn(move || {
            let whole = rest?;
            let (first, others) = if splits { split_at_space(whole) } else { (whole, None) };
            rest = others;
            Some(first)
        })
    })
}

/// What stands before the first white space between two ranges, and what follows it. White space around `-`, `\` or `/` is
/// none. The text has none outside.
fn split_at_space(text: &[Glyph]) -> (&[Glyph], Option<&[Glyph]>) {
    let is_space = |glyph: &&Glyph| glyph.character.is_whitespace();
    let joins = |glyph: &Glyph| matches!(glyph.character, '-' | '\\' | '/');
    let mut i = 0;
    while i < text.len() {
        let length = text[i..].iter().take_while(is_space).count();
        let (before, after) = (&text[..i], &text[i + length..]);
        if length > 0 && !joins(&before[before.len() - 1]) && !joins(&after[0]) {
            return (before, Some(after));
        }
        i += length.max(1);
    }
    (text, None)
}

/// First column, last column (perhaps too large), stride of a range; white space in it makes it unreadable.
fn parse_range(written: &str, num_sites: usize) -> Result<(usize, usize, usize), String> {
    let shown = abridged(written);
    let unreadable = || {
        format!(
            "cannot read '{shown}' as a range: expected a column (200), first-last (1-100), or first-last\\stride \
             (1-100\\3)"
        )
    };
    let (columns, stride) = match written.split_once(['\\', '/']) {
        Some((columns, stride)) => (columns, parse_number(stride).ok_or_else(unreadable)?),
        None => (written, 1),
    };
    let column = |text: &str| match text {
        "." => Some(num_sites),
        _ => parse_number(text),
    };
    let (first, last) = match columns.split_once('-') {
        Some((first, last)) => (column(first), column(last)),
        None if columns.len() == written.len() => (column(columns), column(columns)),
        None => (None, None), // a stride without a last column
    };
    let (Some(first), Some(last)) = (first, last) else {
        return Err(unreadable());
    };
    if first == 0 {
        Err(format!("range '{shown}' begins at 0, but columns are counted from 1"))
    } else if stride == 0 {
        Err(format!("range '{shown}' has stride 0: expected 1 or more"))
    } else if first > last {
        Err(format!("range '{shown}' begins after its end: expected first-last"))
    } else {
        Ok((first, last, stride))
    }
}

/// Digits only (no sign). A number that is too large becomes the largest one.
fn parse_number(text: &str) -> Option<usize> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(usize::MAX))
}

/// Columns (counted from 0) as the shortest list of ranges read from left to right, in the given order:
/// `1-100\3, 200-300`. Reading it gives the same columns.
pub fn format_ranges(sites: &[u32]) -> String {
    let runs = split_runs(sites);
    runs.iter().map(format_run).collect::<Vec<_>>().join(", ")
}

/// As [`format_ranges`], but only the first ones of many, for a message.
pub(super) fn format_some_ranges(sites: &[u32]) -> String {
    const MAX_SHOWN: usize = 12;
    let runs = split_runs(sites);
    let mut shown = runs.iter().take(MAX_SHOWN).map(format_run).collect::<Vec<_>>().join(", ");
    if runs.len() > MAX_SHOWN {
        let columns: usize = runs[MAX_SHOWN..].iter().map(|run| run.length).sum();
        shown += &format!(" and {columns} more");
    }
    shown
}

/// Columns first, first + stride, ...
struct Run {
    first: u32,
    stride: u32,
    length: usize,
}

fn split_runs(sites: &[u32]) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut rest = sites;
    while let [first, after @ ..] = rest {
        let stride = after.first().and_then(|next| next.checked_sub(*first)).unwrap_or(0);
        let steps = rest.windows(2).take_while(|pair| pair[0].checked_add(stride) == Some(pair[1]));
        // Two columns that are not neighbours may begin different runs: 5, 10-20.
        let length = match (stride, 1 + steps.count()) {
            (0, _) => 1,
            (1, length) => length,
            (_, length) if length > 2 => length,
            _ => 1,
        };
        runs.push(Run { first: *first, stride, length });
        rest = &rest[length..];
    }
    runs
}

fn format_run(run: &Run) -> String {
    let (first, last) = (run.first + 1, run.first + 1 + run.stride * (run.length as u32 - 1));
    match (run.length, run.stride) {
        (1, _) => first.to_string(),
        (_, 1) => format!("{first}-{last}"),
        (_, stride) => format!("{first}-{last}\\{stride}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str, separator: Separator, num_sites: usize) -> Ranges {
        let characters = text.chars().enumerate();
        let glyphs: Vec<Glyph> = characters
            .map(|(i, character)| Glyph { character, line: 1, column: i as u32 + 1 })
            .collect();
        parse_ranges(&glyphs, separator, num_sites, "q", "g")
    }

    #[test]
    fn columns_ranges_strides_and_the_last_column() {
        let read = |text, separator| {
            let ranges = parse(text, separator, 10);
            assert!(ranges.faults.is_empty() && !ranges.incomplete, "{text} {:?}", ranges.faults);
            ranges.sites
        };
        assert_eq!(read("3", Separator::Comma), [2]);
        assert_eq!(read(" 8 - 10 ,1-7 \\ 3", Separator::Comma), [7, 8, 9, 0, 3, 6]);
        assert_eq!(read("1-9/4,10-10", Separator::Comma), [0, 4, 8, 9]);
        assert_eq!(read("1 - 3\\2 5 . 7-.\\2", Separator::CommaOrSpace), [0, 2, 4, 9, 6, 8]);
        assert_eq!(read("1,2\n3 , 4", Separator::CommaOrSpace), [0, 1, 2, 3]);
    }

    #[test]
    fn bad_ranges_are_refused_with_their_place() {
        let message = |text: &str| {
            let ranges = parse(text, Separator::Comma, 10);
            assert_eq!(ranges.faults.len(), 1, "{text} {:?}", ranges.faults);
            (ranges.faults.kept()[0].to_string(), ranges.incomplete)
        };
        let (zero, incomplete) = message("3, 0-2");
        assert!(zero.starts_with("q, line 1, column 4, 'g': range '0-2' begins at 0"), "{zero}");
        assert!(incomplete);
        assert!(message("5-3").0.contains("begins after its end"));
        assert!(message("1-9\\0").0.contains("stride 0"));
        for text in ["", "x", "1-", "-3", "1-2-3", "1 2", "3\\3", "1-5\\", "+1", "1,,3", "1-\u{b2}"]
        {
            assert!(message(text).0.contains("as a range"), "{text}");
        }
        let (beyond, incomplete) = message("9-99999999999999999999999");
        assert!(beyond.contains("reaches beyond the alignment, which has 10 columns"), "{beyond}");
        assert!(!incomplete, "the columns that exist are known");
        assert_eq!(parse("8-12,15", Separator::Comma, 10).sites, [7, 8, 9]);
        assert_eq!(parse("8-12,15", Separator::Comma, 10).faults.len(), 2);
    }

    #[test]
    fn columns_are_written_as_ranges() {
        assert_eq!(format_ranges(&[]), "");
        assert_eq!(format_ranges(&[0, 1, 2, 4]), "1-3, 5");
        assert_eq!(format_ranges(&[0, 3, 6, 7, 8, 20]), "1-7\\3, 8-9, 21");
        assert_eq!(format_ranges(&[4, 9, 10, 11]), "5, 10-12");
        assert_eq!(format_ranges(&[5, 4, 3]), "6, 5, 4");
        let scattered: Vec<u32> = (0..40).map(|i| i * i).collect();
        assert!(format_some_ranges(&scattered).ends_with(", 145 and 27 more"));
    }

    proptest! {
        #[test]
        fn written_columns_read_back_in_the_same_order(
            sites in prop::collection::vec(0u32..40, 1..30),
        ) {
            prop_assert_eq!(parse(&format_ranges(&sites), Separator::Comma, 40).sites, sites);
        }
    }
}
