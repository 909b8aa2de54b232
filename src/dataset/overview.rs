//! The data at a glance: what is missing, composition, identical sequences. It takes one look at every pattern of every taxon.

use super::load::Loaded;
use super::missing_map::{map_of_columns, map_of_partitions};
use crate::alphabet::{Code, DataType};
use crate::output::{CompositionReport, GappyTaxonReport, OverviewReport, TaxonCompositionReport};
use crate::partition::Partition;
use std::cmp::Reverse;

/// Most taxa of a list.
const MOST_TAXA: usize = 20;
/// Most groups of identical sequences, and most names in each.
const MOST_IDENTICAL: usize = 50;

/// The data at a glance.
pub(crate) fn overview(loaded: &Loaded) -> OverviewReport {
    let num_taxa = loaded.taxa.len();
    let name = |taxon: usize| loaded.taxa.name(taxon).to_string();
    let in_file: Vec<&Partition> =
        loaded.file_order.iter().map(|&number| &loaded.partitions[number]).collect();
    let counts: Vec<CodeCounts> = in_file.iter().map(|p| CodeCounts::of(p)).collect();
    let determined: Vec<Vec<u64>> = counts.iter().map(|of| of.determined(num_taxa)).collect();
    let totals: Vec<u64> =
        (0..num_taxa).map(|taxon| determined.iter().map(|of| of[taxon]).sum()).collect();
    let length: u64 = in_file.iter().map(|p| columns_of(p)).sum();
    let share = |taxon: usize| 1.0 - totals[taxon] as f64 / length.max(1) as f64;
    let mut by_gaps: Vec<usize> = (0..num_taxa).collect();
    by_gaps.sort_by_key(|&taxon| totals[taxon]);
    let gappiest = by_gaps
        .iter()
        .take(MOST_TAXA)
        .map(|&taxon| GappyTaxonReport { taxon: name(taxon), undetermined: share(taxon) });
    let report = &loaded.report;
    let mut groups: Vec<&Vec<String>> = report.duplicate_sequences.iter().collect();
    groups.sort_by_key(|group| Reverse(group.len()));
    let few = |group: &&Vec<String>| group.iter().take(MOST_IDENTICAL).cloned().collect();
    OverviewReport {
        undetermined: report.undetermined_fraction,
        invariant_sites: report.invariant_sites,
        empty_taxa: report.gap_taxa.len(),
        identical_groups: groups.len(),
        identical: groups.iter().take(MOST_IDENTICAL).map(few).collect(),
        gappiest: gappiest.filter(|taxon| taxon.undetermined > 0.0).collect(),
        composition: compositions(&counts, num_taxa, &name),
        map: (report.undetermined_fraction > 0.0).then(|| match loaded.partitions.as_slice() {
            [only] => map_of_columns(only, name),
            several => {
                let columns: Vec<u64> = several.iter().map(columns_of).collect();
                // In the order of the names of the partitions, so that the map does not depend on their file.
                let mut by_name = vec![&determined[0]; several.len()];
                for (of, &number) in determined.iter().zip(&loaded.file_order) {
                    by_name[number] = of;
                }
                let name_of_partition = |number: usize| several[number].name.clone();
                map_of_partitions(&columns, &by_name, name, name_of_partition)
            }
        }),
    }
}

/// Number of columns of a partition.
fn columns_of(partition: &Partition) -> u64 {
    let per_site = partition.patterns.data_type.chars_per_site();
    (partition.patterns.num_sites * per_site) as u64
}

/// How often each code occurs in the sequences of a partition: `[tip][code]`. All else follows from these, so that every code is looked
/// at once.
struct CodeCounts<'p> {
    partition: &'p Partition,
    counts: Vec<Vec<u64>>,
}

impl<'p> CodeCounts<'p> {
    fn of(partition: &'p Partition) -> Self {
        let patterns = &partition.patterns;
        let num_codes = patterns.code_masks.len();
        let count = |row: &Vec<Code>| count_codes(row, &patterns.weights, num_codes);
        CodeCounts { partition, counts: patterns.codes.iter().map(count).collect() }
    }

    /// `[taxon]`: number of determined characters.
    fn determined(&self, num_taxa: usize) -> Vec<u64> {
        let patterns = &self.partition.patterns;
        let nothing = usize::from(patterns.data_type.undetermined());
        let per_site = patterns.data_type.chars_per_site() as u64;
        let mut determined = vec![0; num_taxa];
        for (counts, &taxon) in self.counts.iter().zip(&patterns.tip_taxa) {
            let of_nothing = counts.get(nothing).copied().unwrap_or(0);
            determined[taxon] = (counts.iter().sum::<u64>() - of_nothing) * per_site;
        }
        determined
    }
}

/// `[code]`: how often it occurs, by the weights of the patterns.
fn count_codes(row: &[Code], weights: &[u32], num_codes: usize) -> Vec<u64> {
    // Neighbours are often the same: with several sums for a code, none has to wait for the one before.
    const SUMS: usize = 4;
    let mut counts = vec![[0_u64; SUMS]; num_codes];
    let (rows, rest_of_row) = row.as_chunks::<SUMS>();
    let (weights, rest_of_weights) = weights.as_chunks::<SUMS>();
    for (codes, weights) in rows.iter().zip(weights) {
        for (sum, (&code, &weight)) in codes.iter().zip(weights).enumerate() {
            counts[usize::from(code)][sum] += u64::from(weight);
        }
    }
    for (&code, &weight) in rest_of_row.iter().zip(rest_of_weights) {
        counts[usize::from(code)][0] += u64::from(weight);
    }
    counts.iter().map(|sums| sums.iter().sum()).collect()
}

/// Frequencies of states of all data of each type but codons, whose states are too many to look at.
fn compositions(
    all: &[CodeCounts],
    num_taxa: usize,
    name: &impl Fn(usize) -> String,
) -> Vec<CompositionReport> {
    let mut types: Vec<DataType> = Vec::new();
    for CodeCounts { partition, .. } in all {
        let data_type = partition.patterns.data_type;
        if matches!(data_type, DataType::Dna | DataType::Protein | DataType::Binary)
            && !types.contains(&data_type)
        {
            types.push(data_type);
        }
    }
    types.into_iter().map(|data_type| composition(all, data_type, num_taxa, name)).collect()
}

fn composition(
    all: &[CodeCounts],
    data_type: DataType,
    num_taxa: usize,
    name: &impl Fn(usize) -> String,
) -> CompositionReport {
    let num_states = data_type.num_states();
    // `[taxon][state]`.
    let mut counts = vec![vec![0u64; num_states]; num_taxa];
    for of in all.iter().filter(|of| of.partition.patterns.data_type == data_type) {
        let patterns = &of.partition.patterns;
        for (of_codes, &taxon) in of.counts.iter().zip(&patterns.tip_taxa) {
            for (count, mask) in of_codes.iter().zip(&patterns.code_masks) {
                if mask.is_power_of_two() {
                    counts[taxon][mask.trailing_zeros() as usize] += count;
                }
            }
        }
    }
    let frequencies = |counts: &[u64]| -> Vec<f64> {
        let total = counts.iter().sum::<u64>().max(1) as f64;
        counts.iter().map(|&count| count as f64 / total).collect()
    };
    let sums: Vec<u64> =
        (0..num_states).map(|state| counts.iter().map(|of| of[state]).sum()).collect();
    let all = frequencies(&sums);
    let mut taxa: Vec<TaxonCompositionReport> = (0..num_taxa)
        .filter(|&taxon| counts[taxon].iter().any(|count| *count > 0))
        .map(|taxon| {
            let own = frequencies(&counts[taxon]);
            let distance = 0.5 * own.iter().zip(&all).map(|(a, b)| (a - b).abs()).sum::<f64>();
            TaxonCompositionReport { taxon: name(taxon), distance, frequencies: own }
        })
        .collect();
    taxa.sort_by(|a, b| b.distance.total_cmp(&a.distance));
    taxa.truncate(MOST_TAXA);
    let states = data_type.state_names().to_vec();
    CompositionReport { data_type: data_type.name(), states, frequencies: all, taxa }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::Patterns;
    use crate::model::Model;

    fn partition(rows: &[&str]) -> Partition {
        let code = |byte| DataType::Dna.encode(byte).unwrap();
        let rows: Vec<Vec<Code>> = rows.iter().map(|row| row.bytes().map(code).collect()).collect();
        let num_sites = rows[0].len();
        Partition {
            name: "p".into(),
            model: Model::parse("JC").unwrap(),
            patterns: Patterns::compress(DataType::Dna, rows.len(), num_sites, |taxon, row| {
                row.copy_from_slice(&rows[taxon]);
            }),
            sites: (0..num_sites as u32).collect(),
        }
    }

    #[test]
    fn codes_are_counted_by_the_weights_of_their_patterns() {
        assert_eq!(count_codes(&[1, 1, 0, 2, 1, 2, 2], &[1, 2, 3, 4, 5, 6, 7], 4), [3, 8, 17, 0]);
        let (first, second) =
            (partition(&["AC", "--", "A-"]), partition(&["---A", "ACGT", "----"]));
        let determined = [&first, &second].map(|p| CodeCounts::of(p).determined(3));
        assert_eq!(determined, [[2, 0, 1], [1, 4, 0]]);
    }

    #[test]
    fn composition_counts_unambiguous_characters() {
        let partition = partition(&["AAC-", "AARN", "TTTT"]);
        let name = |taxon: usize| format!("t{taxon}");
        let found = compositions(&[CodeCounts::of(&partition)], 3, &name);
        assert_eq!(found[0].frequencies, [4.0 / 9.0, 1.0 / 9.0, 0.0, 4.0 / 9.0]);
        assert_eq!(found[0].taxa[0].taxon, "t1");
        assert_eq!(found[0].taxa[0].frequencies, [1.0, 0.0, 0.0, 0.0]);
        assert!((found[0].taxa[0].distance - 5.0 / 9.0).abs() < 1e-12);
    }
}
