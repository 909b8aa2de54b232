//! The data type of a partition from its characters, where none is given.

use super::build::{LOOKS_LIKE_ANOTHER_TYPE, num_states_seen};
use super::definition::PartitionDef;
use crate::alignment::Alignment;
use crate::alphabet::DataType;

/// Least share of A, C, G, T and U among the letters of nucleotides; the rest are ambiguities. A protein of
/// letters that are all known to DNA (ACDGHKMNRSTVWY) has a third of them.
const MIN_NUCLEOTIDES: f64 = 0.5;

/// The data type that the characters of a partition show: DNA, protein, binary or multi-state; DNA if there are
/// none. Never codons: their columns look like DNA. A few wrong letters do not make nucleotides a protein, so
/// that they can be refused by name.
pub fn detect_data_type(alignment: &Alignment, def: &PartitionDef) -> DataType {
    let mut counts = [0u64; 256];
    for taxon in 0..alignment.num_taxa() {
        let row = alignment.row(taxon);
        def.sites.iter().for_each(|&site| counts[usize::from(row[site as usize])] += 1);
    }
    let count = |wanted: &dyn Fn(u8) -> bool| -> u64 {
        (0..=255u8).filter(|&byte| wanted(byte)).map(|byte| counts[usize::from(byte)]).sum()
    };
    let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    // N and X are unknown in DNA, and so say nothing.
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() && !b"NXnx".contains(&byte);
    let letters = count(&is_letter);
    let digits = count(&|byte| byte.is_ascii_digit());
    if digits > letters {
        return match num_states_seen(alignment, def) {
            2 => DataType::Binary,
            states => DataType::multistate(states).unwrap_or(DataType::Binary),
        };
    }
    let nucleotides = count(&|byte| b"ACGTUacgtu".contains(&byte));
    let strangers = count(&|byte| is_letter(byte) && !DataType::Dna.knows(byte));
    let is_dna = share(strangers, letters) < LOOKS_LIKE_ANOTHER_TYPE
        && share(nucleotides, letters) >= MIN_NUCLEOTIDES;
    if letters == 0 || is_dna { DataType::Dna } else { DataType::Protein }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::read_alignment_from;
    use crate::partition::{parse_partitions, whole_alignment};

    fn detect(rows: [&str; 2]) -> DataType {
        let text = format!("2 {}\nx {}\ny {}\n", rows[0].len(), rows[0], rows[1]);
        let alignment = read_alignment_from(text.as_bytes(), "f").unwrap();
        detect_data_type(&alignment, &whole_alignment(rows[0].len(), "")[0])
    }

    #[test]
    fn characters_tell_what_they_are() {
        assert_eq!(detect(["acgtN-?R", "ACGU----"]), DataType::Dna);
        assert_eq!(detect(["MKVLITGA", "MKALVT-X"]), DataType::Protein);
        assert_eq!(detect(["NSTGRKDS", "NSTGRKDS"]), DataType::Protein);
        assert_eq!(detect(["--------", "NNNN????"]), DataType::Dna);
        assert_eq!(detect(["01010?-0", "01110101"]), DataType::Binary);
        assert_eq!(detect(["0102", "0?3-"]), DataType::multistate(4).unwrap());
        // One slip among nucleotides is a slip.
        assert_eq!(detect(["ACGTACGTACGE", "ACGTACGTACGT"]), DataType::Dna);
    }

    #[test]
    fn only_the_columns_of_the_partition_count() {
        let alignment = read_alignment_from(&b"2 8\nx ACGTMKVL\ny ACGTMKIL\n"[..], "f").unwrap();
        let defs = parse_partitions("auto, a = 1-4\nauto, b = 5-8", "q", 8, false).unwrap();
        assert_eq!(detect_data_type(&alignment, &defs[0]), DataType::Dna);
        assert_eq!(detect_data_type(&alignment, &defs[1]), DataType::Protein);
    }
}
