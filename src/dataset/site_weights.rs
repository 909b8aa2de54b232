//! `--site-weights`: how often each column of the alignment counts.

use crate::alphabet::DataType;
use crate::error::{Error, Fault, Faults, Place, Result, abridged};
use crate::input::read_text;
use crate::partition::PartitionDef;
use std::path::Path;

/// Longest file of weights, in bytes.
const MAX_FILE: usize = 1 << 30;
/// Largest sum of all weights: every unit takes memory and time as a column does.
const MAX_SUM: u64 = 50_000_000;

/// The weights of the columns of an alignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteWeights {
    /// `[column]`: how often it counts.
    pub weights: Vec<u32>,
}

impl SiteWeights {
    /// Reads whole numbers, separated by white space, one for each of `num_columns` columns.
    ///
    /// # Errors
    /// [`Error::Input`] with every word that is not a weight, another number of words, and weights that are all zero or
    /// too large; [`Error::Io`].
    pub(crate) fn read(path: &Path, num_columns: usize) -> Result<Self> {
        let text = read_text(path, MAX_FILE, "a file of column weights")?;
        Self::parse(&text, &path.display().to_string(), num_columns)
    }

    /// The same for the text of a file; `file` is its name in faults.
    ///
    /// # Errors
    /// As [`SiteWeights::read`], without [`Error::Io`].
    pub fn parse(text: &str, file: &str, num_columns: usize) -> Result<Self> {
        let (mut weights, mut faults, mut number) = (Vec::new(), Faults::new(), 0);
        for (line, words) in text.lines().enumerate() {
            for word in words.split_whitespace() {
                number += 1;
                match word.parse::<u32>() {
                    Ok(weight) => weights.push(weight),
                    Err(_) => faults.push(Fault::new(
                        Place::file(file).at_line(line + 1),
                        format!(
                            "the weight of column {number}, '{}', {}",
                            abridged(word),
                            why_not(word)
                        ),
                    )),
                }
            }
        }
        let whole = |message| Fault::new(Place::file(file), message);
        let sum: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
        if number != num_columns {
            faults.push(whole(format!(
                "the file has {number} weights, but the alignment has {num_columns} columns: expected one weight per \
                 column, separated by white space"
            )));
        } else if faults.is_empty() && sum == 0 {
            faults.push(whole("all weights are 0: no column is left".to_string()));
        } else if sum > MAX_SUM {
            faults.push(whole(format!(
                "the weights add up to {sum}, but at most {MAX_SUM} are possible: divide them by a common factor"
            )));
        }
        if faults.is_empty() { Ok(SiteWeights { weights }) } else { Err(Error::Input(faults)) }
    }

    /// What is done, in a sentence.
    pub(crate) fn describe(&self) -> String {
        let sum: u64 = self.weights.iter().map(|&weight| u64::from(weight)).sum();
        let zero = self.weights.iter().filter(|&&weight| weight == 0).count();
        format!(
            "columns count as often as --site-weights says, {sum} times in all; {zero} of {} columns have weight 0 and \
             are left out",
            self.weights.len()
        )
    }

    /// The partition with each of its sites as often as its weight says.
    ///
    /// # Errors
    /// The fault of a partition without a column of positive weight, and of codons whose columns have different weights.
    pub(crate) fn apply(
        &self,
        def: PartitionDef,
        data_type: DataType,
    ) -> std::result::Result<PartitionDef, Fault> {
        let mut sites = Vec::new();
        for columns in def.sites.chunks(data_type.chars_per_site()) {
            let weight = |&column: &u32| self.weights[column as usize];
            if columns.iter().any(|column| weight(column) != weight(&columns[0])) {
                let message = format!(
                    "the columns {} of a codon of partition '{}' have different weights in --site-weights: a codon needs \
                     the same weight for its three columns",
                    columns
                        .iter()
                        .map(|column| (column + 1).to_string())
                        .collect::<Vec<_>>()
                        .join(", "),
                    abridged(&def.name)
                );
                return Err(Fault::new(def.place, message));
            }
            (0..weight(&columns[0])).for_each(|_| sites.extend_from_slice(columns));
        }
        if sites.is_empty() {
            let message = format!(
                "all columns of partition '{}' have weight 0 in --site-weights: leave it out of the partition file",
                abridged(&def.name)
            );
            return Err(Fault::new(def.place, message));
        }
        Ok(PartitionDef { sites, ..def })
    }
}

/// Why a word is not a weight.
fn why_not(word: &str) -> &'static str {
    match word.parse::<f64>() {
        Ok(number) if number < 0.0 => "is negative: expected a whole number from 0",
        Ok(number) if number.is_finite() && number.fract() != 0.0 => {
            "is not whole: weights count columns; multiply all of them by a common factor and round"
        }
        Ok(number) if number > f64::from(u32::MAX) => "is too large",
        _ => "is not a whole number from 0",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::whole_alignment;

    fn messages(text: &str) -> String {
        SiteWeights::parse(text, "w", 3).unwrap_err().to_string()
    }

    #[test]
    fn weights_repeat_columns_and_zeros_remove_them() {
        let weights = SiteWeights::parse("2 0\n\t1\r\n", "w", 3).unwrap();
        let def = whole_alignment(3, "").remove(0);
        assert_eq!(weights.apply(def.clone(), DataType::Dna).unwrap().sites, [0, 0, 2]);
        assert!(weights.describe().contains("3 times in all; 1 of 3 columns"));
        let codon = DataType::codon(1).unwrap();
        let fault = weights.apply(def.clone(), codon).unwrap_err();
        assert!(fault.message.contains("columns 1, 2, 3 of a codon"), "{}", fault.message);
        let whole = SiteWeights::parse("2 2 2", "w", 3).unwrap();
        assert_eq!(whole.apply(def.clone(), codon).unwrap().sites, [0, 1, 2, 0, 1, 2]);
        let part = PartitionDef { sites: vec![1], ..def };
        assert!(weights.apply(part, DataType::Dna).unwrap_err().message.contains("weight 0"));
    }

    #[test]
    fn what_is_no_weight_is_refused_with_its_place() {
        for (text, expected) in [
            ("1 2", "2 weights, but the alignment has 3 columns"),
            ("1 2 3 4", "4 weights"),
            ("", "0 weights"),
            ("1\n-2 3", "w, line 2: the weight of column 2, '-2', is negative"),
            ("1 0.5 3", "'0.5', is not whole"),
            ("1 2 x", "'x', is not a whole number"),
            ("1 2 99999999999", "is too large"),
            ("0 0 0", "all weights are 0"),
            ("4000000000 1 1", "at most 50000000"),
        ] {
            assert!(messages(text).contains(expected), "{text}: {}", messages(text));
        }
        assert_eq!(messages("a b c").lines().count(), 3, "all faults at once");
    }
}
