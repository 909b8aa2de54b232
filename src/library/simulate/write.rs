//! Simulated data as text: relaxed PHYLIP and a partition file.

use crate::alphabet::DataType;
use crate::error::{Error, Result};
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
    /// States of every taxon: `states[taxon][site]`.
    pub states: Vec<Vec<u8>>,
    /// Which taxa have data.
    pub present: Vec<bool>,
}

impl SimPartition {
    fn num_columns(&self) -> usize {
        self.states.first().map_or(0, Vec::len) * self.data_type.chars_per_site()
    }
}

/// All partitions side by side in relaxed PHYLIP, one line per taxon; a state is written with the characters of its
/// name (three for a codon), a missing partition as gaps.
///
/// # Errors
/// [`Error::Usage`] naming the taxa that PHYLIP cannot hold (white space or nothing in the name).
pub fn to_phylip(taxa: &Taxa, partitions: &[SimPartition]) -> Result<String> {
    let num_columns = partitions.iter().map(SimPartition::num_columns).sum();
    write_phylip(taxa, num_columns, |taxon, text| {
        for partition in partitions {
            if partition.present[taxon] {
                let names = partition.data_type.state_names();
                text.extend(partition.states[taxon].iter().map(|&state| names[usize::from(state)]));
            } else {
                text.extend(std::iter::repeat_n('-', partition.num_columns()));
            }
        }
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

/// The partitions' ranges, one line `MODEL, NAME = FIRST-LAST` each.
pub fn to_partition_file(partitions: &[SimPartition]) -> String {
    let mut first = 1;
    let mut text = String::new();
    for partition in partitions {
        let last = first + partition.num_columns() - 1;
        text.push_str(&format!("{}, {} = {first}-{last}\n", partition.model, partition.name));
        first = last + 1;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taxa(names: &[&str]) -> Taxa {
        Taxa::new(names.iter().map(|name| (*name).to_string()).collect()).unwrap()
    }

    fn partitions() -> Vec<SimPartition> {
        let partition = |name: &str, data_type, states: [&[u8]; 2], present| SimPartition {
            name: name.into(),
            model: "M".into(),
            data_type,
            states: states.map(<[u8]>::to_vec).to_vec(),
            present,
        };
        vec![
            partition("a", DataType::Dna, [&[0, 1, 2], &[3, 3, 3]], vec![true, true]),
            partition("b", DataType::Protein, [&[1, 1], &[2, 2]], vec![true, false]),
            partition("c", DataType::codon(1).unwrap(), [&[0, 60], &[14, 14]], vec![false, true]),
            partition("d", DataType::multistate(37).unwrap(), [&[36], &[9]], vec![true, true]),
        ]
    }

    #[test]
    fn partitions_stand_side_by_side_with_gaps_where_missing() {
        let text = to_phylip(&taxa(&["x", "Käfer"]), &partitions()).unwrap();
        assert_eq!(text, "2 12\nx      ACGRR------!\nKäfer  TTT--ATGATG9\n");
        let expected = "M, a = 1-3\nM, b = 4-5\nM, c = 6-11\nM, d = 12-12\n";
        assert_eq!(to_partition_file(&partitions()), expected);
    }

    #[test]
    fn names_that_phylip_cannot_hold_are_refused_by_name() {
        let error = to_phylip(&taxa(&["Homo sapiens", "x"]), &partitions()).unwrap_err();
        assert!(error.to_string().contains("'Homo sapiens'"));
    }
}
