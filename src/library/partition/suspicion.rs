//! Characters that are accepted although they suggest a mistake: nucleotides under a model of proteins or of
//! multi-state data, characters of proteins that no model has, and variable characters alone under a model that expects others, too.

use super::resolved::Partition;
use crate::alignment::Alignment;
use crate::alphabet::DataType;
use crate::error::{Place, abridged};

/// From this share of nucleotides among its letters, a partition looks like DNA. In proteins, a quarter of all
/// letters are A, C, G, T or N.
const LOOKS_LIKE_DNA: f64 = 0.95;
/// Letters that at least one sequence must have for a warning.
const MIN_LETTERS: usize = 20;
/// How many of A, C, G and T (or U) must occur.
const MIN_DIFFERENT: usize = 3;

/// Least number of variable characters for a warning that there are no others.
const MIN_VARIABLE: usize = 10;

/// Warnings about the partitions of an alignment.
pub fn suspicions(alignment: &Alignment, partitions: &[Partition]) -> Vec<String> {
    let mut warnings: Vec<String> = partitions
        .iter()
        .filter(|partition| reads_letters_as_states(partition) && is_like_dna(alignment, partition))
        .map(|partition| {
            let kind = partition.model.data_type.name();
            format!(
                "the characters of partition '{}' look like DNA (nearly all letters are A, C, G, T, U or N), but are \
                 read as {kind} data under {}: if they are DNA, give a DNA model such as GTR+G",
                abridged(&partition.name),
                partition.model.name
            )
        })
        .collect();
    warnings.extend(warn_of_strangers(alignment, partitions));
    warnings.extend(partitions.iter().filter_map(warn_of_missing_constants));
    warnings
}

/// A warning about data as morphologists collect them, without characters that are the same in all taxa (Lewis 2001, Syst Biol 50:913).
fn warn_of_missing_constants(partition: &Partition) -> Option<String> {
    let Partition { name, model, patterns, sites } = partition;
    let corrected = match model.data_type {
        DataType::Binary => "BIN+ASC",
        DataType::Multistate(_) => "MK+ASC",
        _ => return None,
    };
    let is_variable = |pattern| patterns.shared_states(pattern) == 0;
    let all_variable = (0..patterns.num_patterns()).all(is_variable);
    let is_suspect = model.ascertainment.is_none() && all_variable && sites.len() >= MIN_VARIABLE;
    is_suspect.then(|| {
        format!(
            "all {} characters of partition '{}' are variable: if the others were left out, as is usual in morphological \
             data, branches come out too long without a correction for that: give a model with one, such as {corrected}+G",
            sites.len(),
            abridged(name)
        )
    })
}

/// True if the letters of nucleotides stand for other states.
fn reads_letters_as_states(partition: &Partition) -> bool {
    matches!(partition.model.data_type, DataType::Protein | DataType::Multistate(_))
}

fn is_like_dna(alignment: &Alignment, partition: &Partition) -> bool {
    let mut counts = [0usize; 256];
    let mut longest = 0;
    for taxon in 0..alignment.num_taxa() {
        let row = alignment.row(taxon);
        let mut letters = 0;
        for &site in &partition.sites {
            let byte = row[site as usize];
            counts[usize::from(byte)] += 1;
            letters += usize::from(byte.is_ascii_alphanumeric());
        }
        longest = longest.max(letters);
    }
    let count = |letters: &[u8]| -> usize {
        letters
            .iter()
            .map(|&byte| counts[usize::from(byte)] + counts[usize::from(byte.to_ascii_lowercase())])
            .sum()
    };
    let all: usize =
        (0..=255u8).filter(u8::is_ascii_alphanumeric).map(|byte| counts[usize::from(byte)]).sum();
    let different =
        [&b"A"[..], b"C", b"G", b"TU"].iter().filter(|letters| count(letters) > 0).count();
    longest >= MIN_LETTERS
        && different >= MIN_DIFFERENT
        && count(b"ACGTUN") as f64 >= LOOKS_LIKE_DNA * all as f64
}

/// One warning about the characters of proteins that stand for something and are read as undetermined.
fn warn_of_strangers(alignment: &Alignment, partitions: &[Partition]) -> Option<String> {
    const STRANGERS: [(u8, &str); 3] =
        [(b'U', "selenocysteine"), (b'O', "pyrrolysine"), (b'*', "stop")];
    let mut counts = [0usize; 256];
    let mut first: Option<Place> = None;
    let is_stranger =
        |byte: u8| STRANGERS.iter().any(|&(stranger, _)| byte.to_ascii_uppercase() == stranger);
    for partition in partitions.iter().filter(|p| p.model.data_type == DataType::Protein) {
        for taxon in 0..alignment.num_taxa() {
            let row = alignment.row(taxon);
            let strangers = partition.sites.iter().filter(|&&site| is_stranger(row[site as usize]));
            for (number, &site) in strangers.enumerate() {
                counts[usize::from(row[site as usize].to_ascii_uppercase())] += 1;
                // The rows need not be in the order of the file.
                let place = (number == 0).then(|| alignment.place(taxon, site as usize));
                first = [first, place].into_iter().flatten().min_by_key(|place| place.line);
            }
        }
    }
    let first = first?;
    let found = STRANGERS.iter().filter(|&&(stranger, _)| counts[usize::from(stranger)] > 0);
    let found: Vec<String> = found
        .map(|&(stranger, name)| {
            let count = counts[usize::from(stranger)];
            let times = if count == 1 { "once" } else { "times" };
            let count = if count == 1 { String::new() } else { format!("{count} ") };
            format!("{} ({name}) {count}{times}", char::from(stranger))
        })
        .collect();
    Some(format!(
        "characters that are not states of protein models are read as undetermined: {}, first in {}",
        found.join(", "),
        first
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::read_alignment_from;
    use crate::model::Model;
    use crate::partition::{build_patterns, whole_alignment};

    fn warnings(rows: [&str; 2], model: &str) -> Vec<String> {
        let text = format!(">x\n{}\n>y\n{}\n", rows[0], rows[1]);
        let alignment = read_alignment_from(text.as_bytes(), "f").unwrap();
        let def = whole_alignment(rows[0].len(), model).remove(0);
        let model = Model::parse(model).unwrap();
        let patterns = build_patterns(&alignment, &def, model.data_type).unwrap();
        let partition = Partition { name: def.name, model, patterns, sites: def.sites };
        suspicions(&alignment, &[partition])
    }

    #[test]
    fn nucleotides_under_a_model_of_other_data_are_suspected() {
        let dna = ["ACGTACGTNNACGTACGT--ACGT", "acguacguRYacguacgu--acgu"];
        for (model, kind) in
            [("LG+G", "protein data under LG"), ("MULTI36_MK", "multi-state data under")]
        {
            let found = warnings([dna[0], &dna[0].to_lowercase()], model);
            assert_eq!(found.len(), 1, "{found:?}");
            let start = "the characters of partition 'all' look like DNA";
            assert!(found[0].starts_with(start) && found[0].contains(kind), "{found:?}");
        }
        assert!(warnings(dna, "GTR").is_empty());
        // Proteins, too few letters, and letters of one kind.
        let protein = ["MKVLITGAGSGIGLAAARQFAAEGAEVV", "MKALVTGAGQGIGRAAALAFAREGARVV"];
        assert!(warnings(protein, "LG").is_empty());
        assert!(warnings(["ACGTACGTACGT", "ACGTACGTACGT"], "LG").is_empty());
        assert!(
            warnings(["AAAAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAANNNNNNNNNNNN"], "LG").is_empty()
        );
    }

    #[test]
    fn variable_characters_alone_are_suspected_unless_the_model_expects_them() {
        let [first, second] = ["010101010101", "101010101010"];
        let found = warnings([first, second], "MULTI2_MK");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("all 12 characters of partition 'all' are variable"));
        assert!(found[0].ends_with("such as MK+ASC+G"), "{found:?}");
        assert!(warnings([first, second], "BIN+G")[0].ends_with("such as BIN+ASC+G"));
        for model in ["BIN+ASC", "MULTI2_MK+ASC+G"] {
            assert!(warnings([first, second], model).is_empty());
        }
        // One that may be constant, and few.
        assert!(warnings([first, "10101010101?"], "BIN").is_empty());
        assert!(warnings(["01010", "10101"], "BIN").is_empty());
    }

    #[test]
    fn characters_of_proteins_that_no_model_knows_are_counted() {
        let found = warnings(["MKV*", "MuUO"], "LG");
        assert_eq!(found.len(), 1, "{found:?}");
        let end = "undetermined: U (selenocysteine) 2 times, O (pyrrolysine) once, * (stop) once, first in \
                   f, line 2, column 4, 'x'";
        assert!(found[0].ends_with(end), "{found:?}");
        assert!(warnings(["MKVX", "M-?B"], "LG").is_empty());
    }
}
