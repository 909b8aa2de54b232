//! Simulated data as text: relaxed PHYLIP and a partition file.

use crate::error::{Error, Result};
use crate::taxa::Taxa;

/// One simulated gene.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gene {
    /// Its name in the partition file.
    pub name: String,
    /// Its model in the partition file.
    pub model: String,
    /// States of every taxon: `states[taxon][site]`.
    pub states: Vec<Vec<u8>>,
    /// Which taxa have data.
    pub present: Vec<bool>,
}

impl Gene {
    fn num_sites(&self) -> usize {
        self.states.first().map_or(0, Vec::len)
    }
}

/// All genes side by side in relaxed PHYLIP, one line per taxon; `alphabet[state]` is the character,
/// `-` stands where a gene is missing.
///
/// # Errors
/// [`Error::Usage`] naming the taxa that PHYLIP cannot hold (white space or nothing in the name).
pub fn to_phylip(taxa: &Taxa, genes: &[Gene], alphabet: &[u8]) -> Result<String> {
    let unfit: Vec<&str> = taxa
        .names()
        .iter()
        .map(String::as_str)
        .filter(|name| name.is_empty() || name.contains(char::is_whitespace))
        .collect();
    if !unfit.is_empty() {
        return Err(Error::Usage(format!(
            "PHYLIP cannot hold taxon names with white space; rename in the tree: '{}'",
            unfit.join("', '")
        )));
    }
    let num_sites: usize = genes.iter().map(Gene::num_sites).sum();
    let width = taxa.names().iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut text = format!("{} {num_sites}\n", taxa.len());
    for (taxon, name) in taxa.names().iter().enumerate() {
        text.push_str(name);
        text.push_str(&" ".repeat(width + 2 - name.chars().count()));
        for gene in genes {
            let character = |&state: &u8| match gene.present[taxon] {
                true => char::from(alphabet[usize::from(state)]),
                false => '-',
            };
            text.extend(gene.states[taxon].iter().map(character));
        }
        text.push('\n');
    }
    Ok(text)
}

/// The genes' ranges, one line `MODEL, NAME = FIRST-LAST` each.
pub fn to_partition_file(genes: &[Gene]) -> String {
    let mut first = 1;
    let mut text = String::new();
    for gene in genes {
        let last = first + gene.num_sites() - 1;
        text.push_str(&format!("{}, {} = {first}-{last}\n", gene.model, gene.name));
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

    fn genes() -> Vec<Gene> {
        let gene = |name: &str, states: [&[u8]; 2], present| Gene {
            name: name.into(),
            model: "GTR+G".into(),
            states: states.map(<[u8]>::to_vec).to_vec(),
            present,
        };
        vec![
            gene("a", [&[0, 1, 2], &[3, 3, 3]], vec![true, true]),
            gene("b", [&[1, 1], &[2, 2]], vec![true, false]),
        ]
    }

    #[test]
    fn genes_stand_side_by_side_with_gaps_where_missing() {
        let text = to_phylip(&taxa(&["x", "Käfer"]), &genes(), b"ACGT").unwrap();
        assert_eq!(text, "2 5\nx      ACGCC\nKäfer  TTT--\n");
        assert_eq!(to_partition_file(&genes()), "GTR+G, a = 1-3\nGTR+G, b = 4-5\n");
    }

    #[test]
    fn names_that_phylip_cannot_hold_are_refused_by_name() {
        let error = to_phylip(&taxa(&["Homo sapiens", "x"]), &genes(), b"ACGT").unwrap_err();
        assert!(error.to_string().contains("'Homo sapiens'"));
    }
}
