//! From a partition's columns to its encoded patterns, and how gappy a set of partitions is.

use super::definition::PartitionDef;
use crate::alignment::{Alignment, Patterns};
use crate::alphabet::{Code, DataType, Encoder, Unreadable, num_multistate_states};
use crate::error::{Fault, Faults, abridged};

/// From this share of characters that nucleotides do not have, a nucleotide partition looks like another type: in proteins,
/// E, F, I, L, P and Q are a third of all letters.
pub(super) const LOOKS_LIKE_ANOTHER_TYPE: f64 = 0.1;

/// Fewer such characters than this may be slips, and are listed.
const FEWEST_FOR_ONE_FAULT: usize = 10;

/// Encodes and compresses the columns of one partition. Site i of the result is column `def.sites[i]`; in codon
/// data it is the codon in columns `def.sites[3 * i..3 * i + 3]`, in the order written.
///
/// # Errors
/// A fault per taxon and character that the data type does not have, at the first such cell, or one for all if they
/// are those of another type; for codons also a
/// number of columns that is not a multiple of three, and a fault per taxon that has stop codons, at the first.
///
/// # Panics
/// If the definition has a column the alignment does not have.
pub fn build_patterns(
    alignment: &Alignment,
    def: &PartitionDef,
    data_type: DataType,
) -> Result<Patterns, Faults> {
    let per_site = data_type.chars_per_site();
    if let Some(fault) = check_frame(def, data_type) {
        return Err(fault.into());
    }
    let mut encoder = Encoder::new(data_type);
    let mut survey = Survey::default();
    for taxon in 0..alignment.num_taxa() {
        survey.read_row(alignment, taxon, def, &mut encoder, data_type);
    }
    let faults = survey.into_faults(def, data_type);
    if !faults.is_empty() {
        return Err(faults);
    }
    let undetermined = data_type.undetermined();
    let encode_row = |taxon: usize, codes: &mut [Code]| {
        let row = alignment.row(taxon);
        if per_site == 1 {
            let code_at = |&column: &u32| encoder.code_of_character(row[column as usize]);
            for (code, column) in codes.iter_mut().zip(&def.sites) {
                *code = code_at(column).unwrap_or(undetermined);
            }
            return;
        }
        for (code, columns) in codes.iter_mut().zip(def.sites.chunks_exact(per_site)) {
            *code = encoder.code(&characters(row, columns)[..per_site]);
        }
    };
    let (num_taxa, num_sites) = (alignment.num_taxa(), def.sites.len() / per_site);
    let code_masks = encoder.code_masks().to_vec();
    Ok(Patterns::compress_with(data_type, code_masks, num_taxa, num_sites, encode_row))
}

/// Number of states of a multi-state partition whose model does not say it (RAxML's `MULTI`): the highest state
/// that is seen, and all below it; at least 2. Unknown characters say nothing.
pub fn num_states_seen(alignment: &Alignment, def: &PartitionDef) -> usize {
    let row = |taxon| {
        let row = alignment.row(taxon);
        def.sites.iter().map(move |&site| row[site as usize])
    };
    num_multistate_states((0..alignment.num_taxa()).flat_map(row))
}

/// The characters of one site: the first, or all three in codon data.
#[inline]
fn characters(row: &[u8], columns: &[u32]) -> [u8; 3] {
    let mut characters = [0; 3];
    for (character, &column) in characters.iter_mut().zip(columns) {
        *character = row[column as usize];
    }
    characters
}

/// A fault for codon data whose columns cannot be taken in threes, `None` if they can.
pub fn check_frame(def: &PartitionDef, data_type: DataType) -> Option<Fault> {
    let per_site = data_type.chars_per_site();
    let num_columns = def.sites.len();
    (!num_columns.is_multiple_of(per_site)).then(|| {
        Fault::new(
            def.place.clone(),
            format!(
                "broken reading frame: codon partition '{}' has {num_columns} columns, which is not a multiple \
                 of {per_site}: it must begin and end with whole codons",
                abridged(&def.name)
            ),
        )
    })
}

/// What was found wrong with the rows of a partition.
#[derive(Default)]
struct Survey {
    /// The rows need not be in the order of the file.
    faults: Faults,
    /// Unknown characters that stand for something in another type of data.
    of_other_types: [Foreign; OTHER_TYPES.len()],
    /// Letters and digits in rows with unknown characters: other rows do not suggest that the type is wrong.
    num_signs: usize,
}

/// Unknown characters that stand for something in another type of data.
#[derive(Default)]
struct Foreign {
    faults: Faults,
    count: usize,
}

/// What data may be that are taken for nucleotides.
struct OtherType {
    /// The characters that show it.
    shown_by: fn(u8) -> bool,
    /// What these are.
    what: &'static str,
    /// What to do.
    remedy: &'static str,
}

const OTHER_TYPES: [OtherType; 2] = [
    OtherType {
        shown_by: |byte| byte.is_ascii_alphabetic() && DataType::Protein.knows(byte),
        what: "letters of amino acids alone",
        remedy: "if these are proteins, give a protein model such as -m LG+G4",
    },
    OtherType {
        shown_by: |byte| byte.is_ascii_digit(),
        what: "digits",
        remedy: "if these are character states, give a model such as -m MK (or -m BIN for 0 and 1 alone)",
    },
];

impl Survey {
    /// Unknown characters of one taxon, each named once, and its stop codons, named together.
    fn read_row(
        &mut self,
        alignment: &Alignment,
        taxon: usize,
        def: &PartitionDef,
        encoder: &mut Encoder,
        data_type: DataType,
    ) {
        let row = alignment.row(taxon);
        let per_site = data_type.chars_per_site();
        let is_known = |&column: &u32| encoder.code_of_character(row[column as usize]).is_some();
        if per_site == 1 && def.sites.iter().all(is_known) {
            return;
        }
        // (character, first column, how often), in the order of the partition
        let mut unknown: Vec<(u8, u32, usize)> = Vec::new();
        let mut stops: Vec<usize> = Vec::new();
        for (site, columns) in def.sites.chunks_exact(per_site).enumerate() {
            match encoder.learn(&characters(row, columns)[..per_site]) {
                Ok(_) => {}
                Err(Unreadable::Stop) => stops.push(site),
                Err(Unreadable::Character(_)) => {
                    let cells = columns.iter().map(|&column| (row[column as usize], column));
                    for (byte, column) in cells.filter(|&(byte, _)| !data_type.knows(byte)) {
                        match unknown.iter_mut().find(|(known, ..)| *known == byte) {
                            Some((.., count)) => *count += 1,
                            None => unknown.push((byte, column, 1)),
                        }
                    }
                }
            }
        }
        if !unknown.is_empty() {
            let is_sign = |&&column: &&u32| row[column as usize].is_ascii_alphanumeric();
            self.num_signs += def.sites.iter().filter(is_sign).count();
        }
        for (byte, column, count) in unknown {
            let times = if count > 1 { format!(", {count} times") } else { String::new() };
            let of_type = OTHER_TYPES.iter().position(|other| (other.shown_by)(byte));
            let faults = match of_type.map(|number| &mut self.of_other_types[number]) {
                Some(foreign) => {
                    foreign.count += count;
                    &mut foreign.faults
                }
                None => &mut self.faults,
            };
            faults.push_by_line(Fault::new(
                alignment.place(taxon, column as usize),
                format!(
                    "unknown character '{}' in {} partition '{}'{times} (allowed: {}): correct it, or change \
                     the data type of the partition",
                    byte.escape_ascii(),
                    data_type.name(),
                    abridged(&def.name),
                    data_type.known_characters()
                ),
            ));
        }
        if let Some(&first) = stops.first() {
            let columns = &def.sites[first * per_site..(first + 1) * per_site];
            let place = alignment.place(taxon, columns[0] as usize);
            self.faults
                .push_by_line(Fault::new(place, describe_stops(row, def, data_type, &stops)));
        }
    }

    /// The faults in the order of the file. Where many characters are those of another type of data, one fault says so for
    /// all of them, or the first if they are few.
    fn into_faults(mut self, def: &PartitionDef, data_type: DataType) -> Faults {
        let is_nucleotide = matches!(data_type, DataType::Dna | DataType::Codon(_));
        for (mut foreign, OtherType { what, remedy, .. }) in
            self.of_other_types.into_iter().zip(OTHER_TYPES)
        {
            let share = foreign.count as f64 / self.num_signs.max(1) as f64;
            let is_likely = is_nucleotide && share >= LOOKS_LIKE_ANOTHER_TYPE;
            match foreign.faults.kept_mut() {
                [first, ..] if is_likely && foreign.count >= FEWEST_FOR_ONE_FAULT => {
                    let message = format!(
                        "{} characters of {} partition '{}', of which this is the first, are {what}: {remedy}; else \
                         correct them",
                        foreign.count,
                        data_type.name(),
                        abridged(&def.name)
                    );
                    self.faults.push_by_line(Fault::new(first.place.clone(), message));
                }
                kept => {
                    if let Some(first) = kept.first_mut().filter(|_| is_likely) {
                        first.message.push_str(&format!("; {remedy}"));
                    }
                    self.faults.append_by_line(foreign.faults);
                }
            }
        }
        self.faults
    }
}

/// The stop codons of one taxon, `sites` of them (at least one).
fn describe_stops(row: &[u8], def: &PartitionDef, data_type: DataType, sites: &[usize]) -> String {
    let columns = &def.sites[3 * sites[0]..3 * sites[0] + 3];
    let triplet = String::from_utf8_lossy(&characters(row, columns)).to_ascii_uppercase();
    let [first, second, third] = [0, 1, 2].map(|i| columns[i] + 1);
    let code = match data_type {
        DataType::Codon(code) => format!(" in genetic code {} ({})", code.number(), code.name()),
        _ => String::new(),
    };
    let more = if sites.len() > 1 {
        format!(", one of {} stop codons in this sequence", sites.len())
    } else {
        String::new()
    };
    let remedy = if sites == [def.sites.len() / 3 - 1] {
        "it ends the gene: remove the columns of the last codon, or write NNN"
    } else {
        "check the genetic code (CODON2 for vertebrate mitochondria, for example) and the reading frame, or write \
         NNN"
    };
    format!(
        "'{triplet}' (columns {first}, {second}, {third}; codon {} of partition '{}') is a stop codon{code}{more}: \
         {remedy}",
        sites[0] + 1,
        abridged(&def.name)
    )
}

/// Share of (taxon, partition) cells without any data, weighted by the partitions' lengths in columns: 0 if every
/// taxon has data everywhere (Stamatakis & Ott 2008 call it gappyness).
pub fn gappyness<'a>(partitions: impl IntoIterator<Item = &'a Patterns>, num_taxa: usize) -> f64 {
    let mut missing = 0u64;
    let mut cells = 0u64;
    for patterns in partitions {
        let num_columns = patterns.num_columns() as u64;
        missing += (num_taxa - patterns.num_tips()) as u64 * num_columns;
        cells += num_taxa as u64 * num_columns;
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
        let sites = |row: &Vec<_>| -> Vec<_> {
            built[0].site_to_pattern.iter().map(|&pattern| row[pattern as usize]).collect()
        };
        let codes: Vec<Vec<_>> = built[0].codes.iter().map(sites).collect();
        assert_eq!(codes, [[1, 2, 1, 2], [15, 15, 1, 2]]);
        assert_eq!(built[1].tip_taxa, [0]);
        // z misses 6 of 6 sites, y the second partition of 2 sites.
        assert_eq!(gappyness(&built, 3), 8.0 / 18.0);
        assert_eq!(gappyness([], 3), 0.0);
    }

    #[test]
    fn unknown_characters_name_file_line_column_taxon_and_partition() {
        let text: &[u8] = b"2 6\nx ACG\ny ACE\n\nTTT\n1EE\n";
        let alignment = read_alignment_from(text, "f.phy").unwrap();
        let faults =
            build_patterns(&alignment, &whole_alignment(6, "GTR")[0], DataType::Dna).unwrap_err();
        let messages: Vec<_> = faults.kept().iter().map(Fault::to_string).collect();
        assert_eq!(messages.len(), 2, "{messages:#?}");
        let first =
            "f.phy, line 3, column 3, 'y': unknown character 'E' in DNA partition 'all', 3 times";
        assert!(messages[0].starts_with(first), "{messages:#?}");
        let second =
            "f.phy, line 6, column 4, 'y': unknown character '1' in DNA partition 'all' (allowed";
        assert!(messages[1].starts_with(second), "{messages:#?}");
    }

    fn codons(text: &[u8], ranges: &str, number: u8) -> Result<Patterns, Vec<String>> {
        let alignment = read_alignment_from(text, "f").unwrap();
        let line = format!("CODON, g = {ranges}");
        let def = &parse_partitions(&line, "q", alignment.num_sites(), true).unwrap()[0];
        let built = build_patterns(&alignment, def, DataType::codon(number).unwrap());
        built.map_err(|faults| faults.kept().iter().map(Fault::to_string).collect())
    }

    #[test]
    fn codons_are_taken_in_threes_in_the_written_order() {
        // Columns 7-9, then 1, 3, 5, then 2, 4, 6.
        let text = b"3 9\nx AATTGGNNN\ny CTTAYTAAA\nz ---------\n";
        let built = codons(text, "7-9, 1-6\\2, 2-6\\2", 1).unwrap();
        let names = DataType::codon(1).unwrap().state_names();
        let meaning = |code: Code| {
            let mask = built.code_masks[usize::from(code)];
            let states = (0..61).filter(|state| mask >> state & 1 == 1);
            states.map(|state| names[state]).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(built.tip_taxa, [0, 1]);
        assert_eq!((built.num_sites, built.num_columns()), (3, 9));
        assert_eq!(built.codes[0][0], 61);
        assert_eq!(meaning(built.codes[0][1]), "ATG");
        assert_eq!(meaning(built.codes[0][2]), "ATG");
        assert_eq!(meaning(built.codes[1][0]), "AAA");
        assert_eq!(meaning(built.codes[1][1]), "CTC CTT");
        assert_eq!(meaning(built.codes[1][2]), "TAT");
        assert_eq!(built.code_masks.len(), 63);
        let partition = crate::partition::Partition {
            name: "g".into(),
            model: crate::model::Model::parse("JC").unwrap(),
            patterns: built,
            sites: vec![6, 7, 8, 0, 2, 4, 1, 3, 5],
        };
        let firsts: Vec<_> = (0..4).map(|pattern| partition.first_column_of(pattern)).collect();
        assert_eq!(firsts, [Some(7), Some(1), Some(2), None]);
    }

    #[test]
    fn sites_that_count_several_times_are_listed_once() {
        let alignment = read_alignment_from(&b"2 4\nx ACGT\ny CCAT\n"[..], "f").unwrap();
        let mut def = whole_alignment(4, "").swap_remove(0);
        def.sites = vec![0, 0, 1, 3, 3, 3];
        let partition = crate::partition::Partition {
            name: "g".into(),
            model: crate::model::Model::parse("JC").unwrap(),
            patterns: build_patterns(&alignment, &def, DataType::Dna).unwrap(),
            sites: def.sites,
        };
        let weights = &partition.patterns.weights;
        let counted = partition.sites_and_patterns().map(|(site, at)| (site[0], weights[at]));
        assert_eq!(counted.collect::<Vec<_>>(), [(0, 2), (1, 1), (3, 3)]);
    }

    #[test]
    fn gaps_weigh_by_columns() {
        let alignment = read_alignment_from(&b"2 5\nx AAAAA\ny A----\n"[..], "f").unwrap();
        let defs = parse_partitions("D, a = 1-2\nC, b = 3-5", "q", 5, false).unwrap();
        let built = [(0, DataType::Dna), (1, DataType::codon(1).unwrap())]
            .map(|(i, data_type)| build_patterns(&alignment, &defs[i], data_type).unwrap());
        assert_eq!(gappyness(&built, 2), 3.0 / 10.0);
    }

    #[test]
    fn broken_frames_and_stops_are_refused_with_their_places() {
        let text = b"2 9\nx AAATAAAAA\ny TARAATTGA\n";
        let found = codons(text, "1-8", 1).unwrap_err();
        assert_eq!(found.len(), 1, "{found:#?}");
        let broken = "q, line 1, 'g': broken reading frame: codon partition 'g' has 8 columns";
        assert!(found[0].starts_with(broken), "{found:#?}");

        let found = codons(text, "1-9", 1).unwrap_err();
        assert_eq!(found.len(), 2, "{found:#?}");
        let first = "f, line 2, column 4, 'x': 'TAA' (columns 4, 5, 6; codon 2 of partition 'g') is a stop \
                     codon in genetic code 1 (Standard): check";
        assert!(found[0].starts_with(first), "{found:#?}");
        let second = "f, line 3, column 1, 'y': 'TAR' (columns 1, 2, 3; codon 1 of partition 'g') is a stop \
                      codon in genetic code 1 (Standard), one of 2 stop codons in this sequence: check";
        assert!(found[1].starts_with(second), "{found:#?}");
        assert_eq!(codons(text, "1-9", 31).unwrap().num_sites, 3);

        let found = codons(b"2 6\nx AAATGA\ny AAA---\n", "1-6", 1).unwrap_err();
        assert!(found[0].contains("it ends the gene"), "{found:#?}");
        let found = codons(b"2 6\nx AAAA9A\ny AAA---\n", "1-6", 1).unwrap_err();
        let unknown =
            "f, line 2, column 5, 'x': unknown character '9' in codon partition 'g' (allowed";
        assert!(found.len() == 1 && found[0].starts_with(unknown), "{found:#?}");
    }

    #[test]
    fn proteins_taken_for_nucleotides_are_recognised() {
        let messages = |text: &[u8]| {
            let alignment = read_alignment_from(text, "f").unwrap();
            let def = &whole_alignment(alignment.num_sites(), "")[0];
            let faults = build_patterns(&alignment, def, DataType::Dna).unwrap_err();
            faults.kept().iter().map(Fault::to_string).collect::<Vec<_>>()
        };
        let hint = "if these are proteins, give a protein model such as -m LG+G4";
        let found = messages(b"2 16\nx MKVLITGAGFLLEIQP\ny MKALVTG--FIIEQ-P\n");
        assert_eq!(
            found,
            [format!(
                "f, line 2, column 4, 'x': 16 characters of DNA partition 'all', of which this is the first, are letters \
                 of amino acids alone: {hint}; else correct them"
            )]
        );
        let few = messages(b"2 10\nx MKVLITGAGF\ny !KALVTG--F\n");
        assert!(few.len() == 6 && few[3].contains("'!'"), "{few:#?}");
        assert!(few[0].ends_with(hint), "{few:#?}");
        assert!(few[1..].iter().all(|message| !message.contains(hint)), "once is enough");
        let one_slip = messages(b"2 20\nx ACGTACGTACGTACGTACGE\ny ACGTACGTACGTACGTACGT\n");
        assert!(!one_slip[0].contains("protein"), "{one_slip:#?}");
        let digits = messages(b"2 10\nx 0101001010\ny 1100110011\n");
        assert!(digits.len() == 1 && digits[0].contains("20 characters"), "{digits:#?}");
        assert!(digits[0].contains("-m BIN") && !digits[0].contains("protein"), "{digits:#?}");
    }

    #[test]
    fn other_types_are_read_and_states_counted() {
        let text = b"2 8\nx ARNJ0102\ny XBZW01-v\n";
        let alignment = read_alignment_from(&text[..], "f").unwrap();
        let defs = parse_partitions("P, a = 1-4\nB, b = 5-6\nM, c = 7-8", "q", 8, false).unwrap();
        let seen = num_states_seen(&alignment, &defs[2]);
        assert_eq!((seen, num_states_seen(&alignment, &defs[1])), (32, 2));
        let types = [DataType::Protein, DataType::Binary, DataType::multistate(seen).unwrap()];
        let built: Vec<_> = types
            .iter()
            .zip(&defs)
            .map(|(&data_type, def)| build_patterns(&alignment, def, data_type).unwrap())
            .collect();
        assert_eq!(built[0].codes, [[0, 1, 2, 23], [20, 21, 22, 17]]);
        assert_eq!(built[1].codes, [[0, 1], [0, 1]]);
        assert_eq!(built[2].codes, [[0, 2], [32, 31]]);
        let few = DataType::multistate(3).unwrap();
        let faults = build_patterns(&alignment, &defs[2], few).unwrap_err();
        let message = faults.kept()[0].to_string();
        let start = "f, line 3, column 8, 'y': unknown character 'v' in multi-state partition 'c' (allowed: \
                     the first 3 of 0-9 A-Z";
        assert!(faults.len() == 1 && message.starts_with(start), "{message}");
    }
}
