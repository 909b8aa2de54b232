//! Refusal of sites that a model with correction of ascertainment bias says cannot be there.

use crate::error::{Fault, Place};
use crate::partition::Partition;

/// Columns named in a message.
const NAMED: usize = 10;

/// A fault if the partition's model takes invariable sites to have been left out, and some are there:
/// a site is one if some state fits all its determined cells, an ambiguous cell being whatever fits.
/// A partition without any data has nothing to correct.
pub(crate) fn check_all_variable(partition: &Partition, alignment: &str) -> Option<Fault> {
    let Partition { name, model, patterns, .. } = partition;
    if model.ascertainment.is_none() || patterns.num_tips() == 0 {
        return None;
    }
    let invariable: Vec<bool> =
        (0..patterns.num_patterns()).map(|pattern| patterns.shared_states(pattern) != 0).collect();
    let columns: Vec<String> = partition
        .sites_and_patterns()
        .filter(|&(_, pattern)| invariable[pattern])
        .map(|(columns, _)| (columns[0] + 1).to_string())
        .collect();
    if columns.is_empty() {
        return None;
    }
    let kind = if patterns.data_type.chars_per_site() == 1 { "column" } else { "codon at column" };
    let named = columns[..columns.len().min(NAMED)].join(", ");
    let more = match columns.len() - columns.len().min(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let plural = if columns.len() == 1 { "" } else { "s" };
    Some(Fault::new(
        Place::file(alignment),
        format!(
            "partition '{name}': +ASC is for data without invariable sites, but {} of {} sites may be \
             invariable, because one state is possible in all taxa ({kind}{plural} {named}{more}): remove \
             these sites, or remove +ASC from the model",
            columns.len(),
            partition.sites_and_patterns().count(),
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::Patterns;
    use crate::alphabet::DataType;
    use crate::model::Model;

    /// A partition of columns 11, 12, ... of an alignment.
    fn partition(model: &str, rows: &[&[u8]]) -> Partition {
        let encode = |taxon: usize, row: &mut [u16]| {
            for (code, &byte) in row.iter_mut().zip(rows[taxon]) {
                *code = DataType::Dna.encode(byte).unwrap();
            }
        };
        Partition {
            name: "g".into(),
            model: Model::parse(model).unwrap(),
            patterns: Patterns::compress(DataType::Dna, rows.len(), rows[0].len(), encode),
            sites: (10..10 + rows[0].len() as u32).collect(),
        }
    }

    fn message(model: &str, rows: &[&[u8]]) -> Option<String> {
        check_all_variable(&partition(model, rows), "a.phy").map(|fault| fault.to_string())
    }

    #[test]
    fn sites_that_may_be_invariable_are_named() {
        // Columns 12 (constant), 14 (R fits A), 16 (one cell) and 17 (none) may be.
        let rows: [&[u8]; 3] = [b"AAAATT-", b"CACAC--", b"-ATRG--"];
        for model in ["GTR+ASC_LEWIS", "GTR+ASC_FELS{7}", "GTR+G4+ASC_STAM{1/2/3/4}"] {
            let said = message(model, &rows).unwrap();
            assert!(said.starts_with("a.phy: partition 'g': "), "{said}");
            assert!(said.contains("4 of 7 sites may be invariable"), "{said}");
            assert!(said.contains("(columns 12, 14, 16, 17): remove these sites"), "{said}");
        }
        assert_eq!(message("GTR", &rows), None);
        assert_eq!(message("GTR+ASC", &[b"AC", b"CA", b"-T"]), None);
        assert_eq!(message("GTR+ASC", &[b"---", b"???"]), None, "no data");
        let one = message("GTR+ASC", &[b"AC", b"AT"]).unwrap();
        assert!(one.contains("1 of 2 sites may be invariable") && one.contains("(column 11)"));
    }

    #[test]
    fn of_many_columns_the_first_are_named() {
        let said = message("JC+ASC", &[&[b'A'; 13], &[b'A'; 13]]).unwrap();
        assert!(said.contains("18, 19, 20 and 3 more): "), "{said}");
        assert!(message("JC+ASC", &[b"ACGT"]).is_some(), "one taxon never varies");
    }
}
