//! [`RowOrder`]: the rows of a matrix of distances are in the order of the alignment, while taxa and sequences have numbers in
//! the order of the names, on which trees depend.

use crate::dataset::Identical;

/// The rows of a matrix, and the order in which they need the sequences.
#[derive(Debug, Default)]
pub(crate) struct RowOrder {
    /// `[row]`: the taxon.
    pub taxa: Vec<usize>,
    /// The sequences in the order of their first rows: how they are numbered while distances are computed.
    pub sequences: Vec<usize>,
    /// `[sequence in that order]`: its first row.
    first_rows: Vec<usize>,
    /// `[row]`: the number of its sequence in that order; `None` if each taxon has its own.
    sequence_of_row: Option<Vec<usize>>,
}

impl RowOrder {
    /// The order of these taxa, of which some may have the same sequence.
    pub(crate) fn new(taxa: Vec<usize>, identical: Option<&Identical>) -> Self {
        let Some(identical) = identical else {
            let first_rows = (0..taxa.len()).collect();
            return RowOrder { sequences: taxa.clone(), taxa, first_rows, sequence_of_row: None };
        };
        let mut numbers = vec![None; identical.num_kept()];
        let mut order = RowOrder::default();
        let mut sequence_of_row = Vec::with_capacity(taxa.len());
        for (row, &taxon) in taxa.iter().enumerate() {
            let sequence = identical.group_of()[taxon];
            let number = *numbers[sequence].get_or_insert_with(|| {
                order.sequences.push(sequence);
                order.first_rows.push(row);
                order.sequences.len() - 1
            });
            sequence_of_row.push(number);
        }
        RowOrder { taxa, sequence_of_row: Some(sequence_of_row), ..order }
    }

    /// `[row]`: the number of its sequence in the order of their first rows; `None` if each taxon has its own.
    pub(crate) fn sequence_of_row(&self) -> Option<&[usize]> {
        self.sequence_of_row.as_deref()
    }

    /// The earlier rows that stand for their sequences, if this row is the first of its own; `None` otherwise.
    pub(crate) fn sequences_before(&self, row: usize) -> Option<&[usize]> {
        let number = self.sequence_of_row.as_ref().map_or(row, |numbers| numbers[row]);
        (self.first_rows[number] == row).then(|| &self.first_rows[..number])
    }
}
