//! Whether every column belongs to exactly one partition.

use super::definition::PartitionDef;
use super::ranges::format_some_ranges;
use crate::error::{Fault, Faults, Place, abridged};
use std::collections::BTreeMap;

/// Overlaps, partitions without columns and, with `report_unassigned`, columns in no partition.
///
/// # Panics
/// If a partition has a column beyond `num_sites`.
pub(super) fn check_coverage(
    defs: &[PartitionDef],
    file: &str,
    num_sites: usize,
    report_unassigned: bool,
    faults: &mut Faults,
) {
    let mut owner: Vec<Option<u32>> = vec![None; num_sites];
    for (second, def) in defs.iter().enumerate() {
        // The columns that it shares with each of those before it, or has twice.
        let mut shared: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &site in &def.sites {
            match owner[site as usize] {
                Some(first) => shared.entry(first).or_default().push(site),
                None => owner[site as usize] = Some(second as u32),
            }
        }
        for (first, mut sites) in shared {
            sites.sort_unstable();
            sites.dedup();
            let (plural, columns) = (plural(&sites), format_some_ranges(&sites));
            let message = if first as usize == second {
                format!(
                    "column{plural} {columns} occur{} in it twice: a column can be used only once",
                    verb(&sites)
                )
            } else {
                let first = &defs[first as usize];
                let line = first.place.line.unwrap_or(1);
                format!(
                    "column{plural} {columns} already belong{} to '{}' (line {line}): partitions must not overlap",
                    verb(&sites),
                    abridged(&first.name)
                )
            };
            faults.push(Fault::new(def.place.clone(), message));
        }
    }
    for def in defs.iter().filter(|def| def.sites.is_empty()) {
        faults.push(Fault::new(def.place.clone(), "the partition has no columns of the alignment"));
    }
    let unassigned: Vec<u32> =
        (0..num_sites as u32).filter(|&site| owner[site as usize].is_none()).collect();
    if report_unassigned && !unassigned.is_empty() {
        faults.push(Fault::new(
            Place::file(file),
            format!(
                "column{} {} of the alignment {} in no partition: add {} to one, or remove {} from the alignment",
                plural(&unassigned),
                format_some_ranges(&unassigned),
                if unassigned.len() == 1 { "is" } else { "are" },
                if unassigned.len() == 1 { "it" } else { "them" },
                if unassigned.len() == 1 { "it" } else { "them" },
            ),
        ));
    }
}

fn plural(sites: &[u32]) -> &'static str {
    if sites.len() == 1 { "" } else { "s" }
}

fn verb(sites: &[u32]) -> &'static str {
    if sites.len() == 1 { "s" } else { "" }
}

#[cfg(test)]
mod tests {
    use crate::partition::parse_partitions;

    #[test]
    fn overlaps_name_columns_and_both_partitions() {
        let text = "DNA, a = 1-10\nDNA, b = 5-12, 20\nDNA, c = 10, 13-20\nDNA, d = 21-23, 22\n";
        let message = parse_partitions(text, "q", 23, false).unwrap_err().to_string();
        let expected = "\
            q, line 2, 'b': columns 5-10 already belong to 'a' (line 1): partitions must not overlap\n\
            q, line 3, 'c': column 10 already belongs to 'a' (line 1): partitions must not overlap\n\
            q, line 3, 'c': column 20 already belongs to 'b' (line 2): partitions must not overlap\n\
            q, line 4, 'd': column 22 occurs in it twice: a column can be used only once";
        assert_eq!(message, expected);
    }

    #[test]
    fn unassigned_columns_are_listed_or_allowed() {
        let text = "DNA, a = 1-9\\3\nDNA, b = 15\n";
        let message = parse_partitions(text, "q", 15, false).unwrap_err().to_string();
        let start = "q: columns 2-3, 5-6, 8-14 of the alignment are in no partition: ";
        assert!(message.starts_with(start), "{message}");
        assert_eq!(parse_partitions(text, "q", 15, true).unwrap().len(), 2);
        let one = parse_partitions("DNA, a = 2-3", "q", 3, false).unwrap_err().to_string();
        assert!(
            one.starts_with("q: column 1 of the alignment is in no partition: add it"),
            "{one}"
        );
    }

    #[test]
    fn strides_that_interleave_do_not_overlap() {
        let text = "DNA, a = 1-6\\3\nDNA, b = 2-6\\3\nDNA, c = 3-6\\3\n";
        assert_eq!(parse_partitions(text, "q", 6, false).unwrap().len(), 3);
    }
}
