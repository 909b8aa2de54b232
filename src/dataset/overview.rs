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
    let Counts { determined, states } = Counts::of(&in_file, num_taxa);
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
        composition: states.iter().map(|(of, counts)| composition(*of, counts, &name)).collect(),
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

/// What the sequences have, and how often: every code is looked at once.
struct Counts {
    /// `[partition][taxon]`: number of determined characters.
    determined: Vec<Vec<u64>>,
    /// `[taxon][state]` of the data of each type but codons, whose states are too many to look at.
    states: Vec<(DataType, Vec<Vec<u64>>)>,
}

impl Counts {
    fn of(partitions: &[&Partition], num_taxa: usize) -> Self {
        let mut all = Counts { determined: Vec::new(), states: Vec::new() };
        for Partition { patterns, .. } in partitions {
            let data_type = patterns.data_type;
            let is_looked_at =
                matches!(data_type, DataType::Dna | DataType::Protein | DataType::Binary);
            if is_looked_at && all.states.iter().all(|of| of.0 != data_type) {
                all.states.push((data_type, vec![vec![0; data_type.num_states()]; num_taxa]));
            }
            let mut states = all.states.iter_mut().find(|of| of.0 == data_type);
            let nothing = usize::from(data_type.undetermined());
            let per_site = data_type.chars_per_site() as u64;
            let mut determined = vec![0; num_taxa];
            for (row, &taxon) in patterns.codes.iter().zip(&patterns.tip_taxa) {
                let counts = count_codes(row, &patterns.weights, patterns.code_masks.len());
                let of_nothing = counts.get(nothing).copied().unwrap_or(0);
                determined[taxon] = (counts.iter().sum::<u64>() - of_nothing) * per_site;
                let Some((_, states)) = &mut states else { continue };
                for (count, mask) in counts.iter().zip(&patterns.code_masks) {
                    if mask.is_power_of_two() {
                        states[taxon][mask.trailing_zeros() as usize] += count;
                    }
                }
            }
            all.determined.push(determined);
        }
        all
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

/// Frequencies of states, of all taxa and of those that differ most from these.
fn composition(
    data_type: DataType,
    counts: &[Vec<u64>],
    name: &impl Fn(usize) -> String,
) -> CompositionReport {
    let frequencies = |counts: &[u64]| -> Vec<f64> {
        let total = counts.iter().sum::<u64>().max(1) as f64;
        counts.iter().map(|&count| count as f64 / total).collect()
    };
    let sums: Vec<u64> =
        (0..data_type.num_states()).map(|state| counts.iter().map(|of| of[state]).sum()).collect();
    let all = frequencies(&sums);
    let mut taxa: Vec<TaxonCompositionReport> = (0..counts.len())
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
pub(super) mod tests {
    use super::*;
    use crate::alignment::Patterns;
    use crate::model::Model;

    /// DNA of these sequences.
    pub(in crate::dataset) fn partition(rows: &[&str]) -> Partition {
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
        let counts = Counts::of(&[&first, &second], 3);
        assert_eq!(counts.determined, [[2, 0, 1], [1, 4, 0]]);
        let states = [[2, 1, 0, 0], [1, 1, 1, 1], [1, 0, 0, 0]].map(Vec::from);
        assert_eq!(counts.states, [(DataType::Dna, states.to_vec())]);
    }

    #[test]
    fn composition_counts_unambiguous_characters() {
        let partition = partition(&["AAC-", "AARN", "TTTT"]);
        let name = |taxon: usize| format!("t{taxon}");
        let (data_type, counts) = Counts::of(&[&partition], 3).states.remove(0);
        let found = composition(data_type, &counts, &name);
        assert_eq!(found.frequencies, [4.0 / 9.0, 1.0 / 9.0, 0.0, 4.0 / 9.0]);
        assert_eq!(found.taxa[0].taxon, "t1");
        assert_eq!(found.taxa[0].frequencies, [1.0, 0.0, 0.0, 0.0]);
        assert!((found.taxa[0].distance - 5.0 / 9.0).abs() < 1e-12);
    }
}
