//! The data at a glance: what is missing, composition, identical sequences. It takes one look at every pattern of every taxon.

use super::load::Loaded;
use crate::alphabet::DataType;
use crate::output::{
    CompositionReport, GappyTaxonReport, MapReport, OverviewReport, TaxonCompositionReport,
};
use crate::partition::Partition;
use std::cmp::Reverse;

/// Most rows and columns of a map.
const MAP: usize = 500;
/// Most characters that are looked at for the columns of a map: of longer alignments, sites are left out at equal distances.
const MOST_LOOKS: usize = 20_000_000;
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
    let determined: Vec<Vec<u64>> = in_file.iter().map(|p| determined_of(p, num_taxa)).collect();
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
        composition: compositions(&in_file, num_taxa, &name),
        map: (report.undetermined_fraction > 0.0).then(|| match in_file.as_slice() {
            [only] => map_of_columns(only, &totals),
            several => map_of_partitions(several, &determined),
        }),
    }
}

/// Number of columns of a partition.
fn columns_of(partition: &Partition) -> u64 {
    let per_site = partition.patterns.data_type.chars_per_site();
    (partition.patterns.num_sites * per_site) as u64
}

/// `[taxon]`: number of determined characters.
fn determined_of(partition: &Partition, num_taxa: usize) -> Vec<u64> {
    let patterns = &partition.patterns;
    let (nothing, per_site) =
        (patterns.data_type.undetermined(), patterns.data_type.chars_per_site() as u64);
    let mut determined = vec![0; num_taxa];
    for (row, &taxon) in patterns.codes.iter().zip(&patterns.tip_taxa) {
        let weights = row.iter().zip(&patterns.weights);
        let sum: u64 =
            weights.map(|(&code, &weight)| u64::from(weight) * u64::from(code != nothing)).sum();
        determined[taxon] = sum * per_site;
    }
    determined
}

/// Digits of a map: `cells` are shares of data, a row of so many after the other.
fn digits(cells: &[f64], columns: usize) -> Vec<String> {
    let digit = |&share: &f64| match share {
        s if s <= 0.0 => '0',
        s if s >= 1.0 - 1e-12 => '9',
        s => char::from(b'1' + ((s * 8.0) as u8).min(7)),
    };
    cells.chunks(columns.max(1)).map(|row| row.iter().map(digit).collect()).collect()
}

/// The map of several partitions: taxa with data in many of them are first, those with the same ones together.
fn map_of_partitions(partitions: &[&Partition], determined: &[Vec<u64>]) -> MapReport {
    let num_taxa = determined.first().map_or(0, Vec::len);
    let has = |taxon: usize| determined.iter().map(move |of| of[taxon] > 0);
    let mut order: Vec<usize> = (0..num_taxa).collect();
    order.sort_by_cached_key(|&taxon| {
        Reverse((has(taxon).filter(|there| *there).count(), has(taxon).collect::<Vec<bool>>()))
    });
    let (taxa_per_row, per_column) =
        (num_taxa.div_ceil(MAP).max(1), partitions.len().div_ceil(MAP).max(1));
    let columns = partitions.len().div_ceil(per_column);
    let mut lengths = vec![0; columns];
    for (number, partition) in partitions.iter().enumerate() {
        lengths[number / per_column] += columns_of(partition);
    }
    let mut cells = Vec::new();
    for taxa in order.chunks(taxa_per_row) {
        let mut sums = vec![0; columns];
        for (number, of) in determined.iter().enumerate() {
            sums[number / per_column] += taxa.iter().map(|&taxon| of[taxon]).sum::<u64>();
        }
        let whole = |length: u64| (length * taxa.len() as u64).max(1) as f64;
        cells.extend(sums.iter().zip(&lengths).map(|(sum, length)| *sum as f64 / whole(*length)));
    }
    let rows = digits(&cells, columns);
    MapReport { columns: "partitions", per_column, taxa_per_row, rows }
}

/// The map of a single partition, by its sites.
fn map_of_columns(partition: &Partition, totals: &[u64]) -> MapReport {
    let patterns = &partition.patterns;
    let nothing = patterns.data_type.undetermined();
    let mut order: Vec<usize> = (0..patterns.codes.len()).collect();
    order.sort_by_key(|&tip| Reverse(totals[patterns.tip_taxa[tip]]));
    let num_sites = patterns.site_to_pattern.len();
    let taxa_per_row = order.len().div_ceil(MAP).max(1);
    let per_bin = num_sites.div_ceil(MAP).max(1);
    let columns = num_sites.div_ceil(per_bin);
    let step = (order.len() * num_sites / MOST_LOOKS + 1).min(per_bin);
    let mut cells = Vec::new();
    for tips in order.chunks(taxa_per_row) {
        for sites in patterns.site_to_pattern.chunks(per_bin) {
            let looked = sites.len().div_ceil(step) * tips.len();
            let found = tips.iter().map(|&tip| {
                let row = &patterns.codes[tip];
                sites.iter().step_by(step).filter(|&&site| row[site as usize] != nothing).count()
            });
            cells.push(found.sum::<usize>() as f64 / looked.max(1) as f64);
        }
    }
    let per_column = per_bin * patterns.data_type.chars_per_site();
    MapReport { columns: "columns", per_column, taxa_per_row, rows: digits(&cells, columns) }
}

/// Frequencies of states of all data of each type but codons, whose states are too many to look at.
fn compositions(
    partitions: &[&Partition],
    num_taxa: usize,
    name: &impl Fn(usize) -> String,
) -> Vec<CompositionReport> {
    let mut types: Vec<DataType> = Vec::new();
    for partition in partitions {
        let data_type = partition.patterns.data_type;
        if matches!(data_type, DataType::Dna | DataType::Protein | DataType::Binary)
            && !types.contains(&data_type)
        {
            types.push(data_type);
        }
    }
    types.into_iter().map(|data_type| composition(partitions, data_type, num_taxa, name)).collect()
}

fn composition(
    partitions: &[&Partition],
    data_type: DataType,
    num_taxa: usize,
    name: &impl Fn(usize) -> String,
) -> CompositionReport {
    let num_states = data_type.num_states();
    // `[taxon][state]`.
    let mut counts = vec![vec![0u64; num_states]; num_taxa];
    for partition in partitions.iter().filter(|p| p.patterns.data_type == data_type) {
        let patterns = &partition.patterns;
        let state_of: Vec<Option<usize>> = patterns
            .code_masks
            .iter()
            .map(|mask| mask.is_power_of_two().then(|| mask.trailing_zeros() as usize))
            .collect();
        for (row, &taxon) in patterns.codes.iter().zip(&patterns.tip_taxa) {
            let mut of_codes = vec![0u64; state_of.len()];
            for (&code, &weight) in row.iter().zip(&patterns.weights) {
                of_codes[usize::from(code)] += u64::from(weight);
            }
            for (count, state) in of_codes.iter().zip(&state_of) {
                if let Some(state) = *state {
                    counts[taxon][state] += count;
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
    use crate::alphabet::Code;
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
    fn maps_have_a_digit_for_each_share() {
        assert_eq!(digits(&[0.0, 1.0, 1e-9, 0.5, 0.999, 1.0], 3), ["091", "589"]);
        let (first, second) =
            (partition(&["AC", "--", "A-"]), partition(&["---A", "ACGT", "----"]));
        let determined: Vec<Vec<u64>> = [&first, &second].map(|p| determined_of(p, 3)).to_vec();
        assert_eq!(determined, [[2, 0, 1], [1, 4, 0]]);
        let map = map_of_partitions(&[&first, &second], &determined);
        assert_eq!((map.columns, map.per_column, map.taxa_per_row), ("partitions", 1, 1));
        assert_eq!(map.rows, ["93", "50", "09"]);
        let map = map_of_columns(&second, &[1, 4, 0]);
        // Taxa without data are not in the patterns.
        assert_eq!(
            (map.columns, map.rows),
            ("columns", vec!["9999".to_string(), "0009".to_string()])
        );
    }

    #[test]
    fn large_maps_have_bins() {
        let row = "A".repeat(1200) + &"-".repeat(300);
        let rows: Vec<&str> = (0..1001).map(|_| row.as_str()).collect();
        let map = map_of_columns(&partition(&rows), &vec![1200; 1001]);
        assert_eq!((map.rows.len(), map.rows[0].len()), (334, 500));
        assert_eq!((map.taxa_per_row, map.per_column), (3, 3));
        assert!(map.rows.iter().all(|row| *row == "9".repeat(400) + &"0".repeat(100)));
    }

    #[test]
    fn composition_counts_unambiguous_characters() {
        let partition = partition(&["AAC-", "AARN", "TTTT"]);
        let name = |taxon: usize| format!("t{taxon}");
        let found = compositions(&[&partition], 3, &name);
        assert_eq!(found[0].frequencies, [4.0 / 9.0, 1.0 / 9.0, 0.0, 4.0 / 9.0]);
        assert_eq!(found[0].taxa[0].taxon, "t1");
        assert_eq!(found[0].taxa[0].frequencies, [1.0, 0.0, 0.0, 0.0]);
        assert!((found[0].taxa[0].distance - 5.0 / 9.0).abs() < 1e-12);
    }
}
