//! Simulated data as text: relaxed PHYLIP and a partition file.

use crate::alphabet::DataType;
use crate::error::{Error, Result};
use crate::partition::{format_ranges, partition_line};
use crate::taxa::Taxa;

/// One simulated partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimPartition {
    /// Its name in the partition file.
    pub name: String,
    /// Its model in the partition file.
    pub model: String,
    /// Data type.
    pub data_type: DataType,
    /// Its columns in the alignment, counted from 0, in the order of its sites.
    pub columns: Vec<u32>,
    /// States of every taxon: `states[taxon][site]`.
    pub states: Vec<Vec<u8>>,
    /// Which taxa have data.
    pub present: Vec<bool>,
}

/// All partitions, each at its columns, in relaxed PHYLIP, one line per taxon; a state is written with the characters of its
/// name (three for a codon), a missing partition as gaps.
///
/// # Errors
/// [`Error::Usage`] naming the taxa that PHYLIP cannot hold (white space or nothing in the name).
pub fn to_phylip(taxa: &Taxa, partitions: &[SimPartition]) -> Result<String> {
    let columns = partitions.iter().flat_map(|partition| &partition.columns);
    let num_columns = columns.max().map_or(0, |&last| last as usize + 1);
    write_phylip(taxa, num_columns, |taxon, text| {
        let mut row = vec!['-'; num_columns];
        for partition in partitions.iter().filter(|partition| partition.present[taxon]) {
            let names = partition.data_type.state_names();
            let states = partition.states[taxon].iter();
            let characters = states.flat_map(|&state| names[usize::from(state)].chars());
            for (&column, character) in partition.columns.iter().zip(characters) {
                row[column as usize] = character;
            }
        }
        text.extend(row);
    })
}

/// Rows of `num_columns` characters, which `write_row` appends to a text, in relaxed PHYLIP, one line per taxon.
///
/// # Errors
/// [`Error::Usage`] naming the taxa that PHYLIP cannot hold (white space or nothing in the name).
pub fn write_phylip(
    taxa: &Taxa,
    num_columns: usize,
    write_row: impl Fn(usize, &mut String),
) -> Result<String> {
    let unfit: Vec<&str> = taxa
        .names()
        .iter()
        .map(String::as_str)
        .filter(|name| name.is_empty() || name.contains(char::is_whitespace))
        .collect();
    if !unfit.is_empty() {
        return Err(Error::Usage(format!(
            "PHYLIP cannot hold taxon names with white space; rename these taxa: '{}'",
            unfit.join("', '")
        )));
    }
    let width = taxa.names().iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut text = format!("{} {num_columns}\n", taxa.len());
    for (taxon, name) in taxa.names().iter().enumerate() {
        text.push_str(name);
        text.push_str(&" ".repeat(width + 2 - name.chars().count()));
        write_row(taxon, &mut text);
        text.push('\n');
    }
    Ok(text)
}

/// The partitions' ranges, one line `MODEL, NAME = RANGES` each.
pub fn to_partition_file(partitions: &[SimPartition]) -> String {
    let line = |SimPartition { model, name, columns, .. }: &SimPartition| {
        partition_line(model, name, format_ranges(columns))
    };
    partitions.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taxa(names: &[&str]) -> Taxa {
        Taxa::new(names.iter().map(|name| (*name).to_string()).collect()).unwrap()
    }

    fn partitions() -> Vec<SimPartition> {
        let partition =
            |name: &str, data_type, columns: &[u32], states: [&[u8]; 2], present| SimPartition {
                name: name.into(),
                model: "M".into(),
                data_type,
                columns: columns.to_vec(),
                states: states.map(<[u8]>::to_vec).to_vec(),
                present,
            };
        let codon = DataType::codon(1).unwrap();
        let multistate = DataType::multistate(37).unwrap();
        vec![
            partition("a", DataType::Dna, &[0, 1, 2], [&[0, 1, 2], &[3, 3, 3]], vec![true, true]),
            partition("b", DataType::Protein, &[10, 4], [&[1, 2], &[2, 2]], vec![true, false]),
            partition("c", codon, &[5, 6, 7, 8, 9, 3], [&[0, 60], &[14, 14]], vec![false, true]),
            partition("d", multistate, &[11], [&[36], &[9]], vec![true, true]),
        ]
    }

    #[test]
    fn partitions_stand_at_their_columns_with_gaps_where_missing() {
        let text = to_phylip(&taxa(&["x", "Käfer"]), &partitions()).unwrap();
        assert_eq!(text, "2 12\nx      ACG-N-----R!\nKäfer  TTTG-ATGAT-9\n");
        let expected = "M, a = 1-3\nM, b = 11, 5\nM, c = 6-10, 4\nM, d = 12\n";
        assert_eq!(to_partition_file(&partitions()), expected);
    }

    #[test]
    fn names_that_phylip_cannot_hold_are_refused_by_name() {
        let error = to_phylip(&taxa(&["Homo sapiens", "x"]), &partitions()).unwrap_err();
        assert!(error.to_string().contains("'Homo sapiens'"));
    }
}
