//! From a partition's columns to its encoded patterns, and how gappy a set of partitions is.

use super::parse::PartitionDef;
use crate::alignment::{Alignment, Patterns};
use crate::alphabet::{Code, DataType};
use crate::error::Fault;

/// Encodes and compresses the columns of one partition; site i of the result is column `def.sites[i]`.
///
/// # Errors
/// A fault per taxon and character the data type does not know, at the first such cell.
///
/// # Panics
/// If the definition has a column the alignment does not have.
pub fn build_patterns(
    alignment: &Alignment,
    def: &PartitionDef,
    data_type: DataType,
) -> Result<Patterns, Vec<Fault>> {
    let mut faults = Vec::new();
    for taxon in 0..alignment.num_taxa() {
        check_row(alignment, taxon, def, data_type, &mut faults);
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let undetermined = data_type.undetermined();
    let encode_row = |taxon: usize, codes: &mut [Code]| {
        let row = alignment.row(taxon);
        for (code, &site) in codes.iter_mut().zip(&def.sites) {
            *code = data_type.encode(row[site as usize]).unwrap_or(undetermined);
        }
    };
    Ok(Patterns::compress(data_type, alignment.num_taxa(), def.sites.len(), encode_row))
}

/// Unknown characters of one taxon, each named once.
fn check_row(
    alignment: &Alignment,
    taxon: usize,
    def: &PartitionDef,
    data_type: DataType,
    faults: &mut Vec<Fault>,
) {
    let row = alignment.row(taxon);
    // (character, first site, how often), in the order of the partition
    let mut unknown: Vec<(u8, u32, usize)> = Vec::new();
    for &site in &def.sites {
        let byte = row[site as usize];
        if data_type.encode(byte).is_some() {
            continue;
        }
        match unknown.iter_mut().find(|(known, ..)| *known == byte) {
            Some((.., count)) => *count += 1,
            None => unknown.push((byte, site, 1)),
        }
    }
    for (byte, site, count) in unknown {
        let times = if count > 1 { format!(", {count} times") } else { String::new() };
        faults.push(Fault::new(
            alignment.place(taxon, site as usize),
            format!(
                "unknown character '{}' in {} partition '{}'{times} (known: {}): correct it, or the \
                 partition's type",
                byte.escape_ascii(),
                data_type.name(),
                def.name,
                data_type.known_characters()
            ),
        ));
    }
}

/// Share of (taxon, partition) cells without any data, weighted by the partitions' lengths in sites: 0 if every
/// taxon has data everywhere (Stamatakis & Ott 2008 call it gappyness).
pub fn gappyness(partitions: &[Patterns], num_taxa: usize) -> f64 {
    let mut missing = 0u64;
    let mut cells = 0u64;
    for patterns in partitions {
        let num_sites = patterns.num_sites as u64;
        missing += (num_taxa - patterns.num_tips()) as u64 * num_sites;
        cells += num_taxa as u64 * num_sites;
    }
    missing as f64 / cells.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::read_alignment_from;
    use crate::partition::{parse_partitions, whole_alignment};

    const ALIGNMENT: &[u8] = b"3 6\nx ACGTAC\ny ACNN--\nz ------\n";

    #[test]
    fn columns_are_taken_in_the_written_order() {
        let alignment = read_alignment_from(ALIGNMENT, "f").unwrap();
        let text = "DNA, a = 5-6, 1-2\nDNA, b = 3-4";
        let defs = parse_partitions(text, "q", 6, false).unwrap();
        let built: Vec<_> = defs
            .iter()
            .map(|def| build_patterns(&alignment, def, DataType::Dna).unwrap())
            .collect();
        assert_eq!(built[0].tip_taxa, [0, 1]);
        assert_eq!(built[0].codes, [[1, 2, 1, 2], [15, 15, 1, 2]]);
        assert_eq!(built[1].tip_taxa, [0]);
        // z misses 6 of 6 sites, y the second partition of 2 sites.
        assert_eq!(gappyness(&built, 3), 8.0 / 18.0);
        assert_eq!(gappyness(&[], 3), 0.0);
    }

    #[test]
    fn unknown_characters_name_file_line_column_taxon_and_partition() {
        let text: &[u8] = b"2 6\nx ACG\ny ACE\n\nTTT\n1EE\n";
        let alignment = read_alignment_from(text, "f.phy").unwrap();
        let faults =
            build_patterns(&alignment, &whole_alignment(6, "GTR")[0], DataType::Dna).unwrap_err();
        let messages: Vec<_> = faults.iter().map(Fault::to_string).collect();
        assert_eq!(messages.len(), 2, "{messages:#?}");
        let first =
            "f.phy, line 3, column 3, 'y': unknown character 'E' in DNA partition 'all', 3 times";
        assert!(messages[0].starts_with(first), "{messages:#?}");
        let second =
            "f.phy, line 6, column 4, 'y': unknown character '1' in DNA partition 'all' (known";
        assert!(messages[1].starts_with(second), "{messages:#?}");
    }
}
