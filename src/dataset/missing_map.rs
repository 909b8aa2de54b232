//! The map of missing data: taxa by partitions, or by columns if there is one partition. Taxa with data at the same places are beside
//! each other, and so are partitions with the same taxa; where there are more than a map has room for, those that are most alike
//! share a row or a column.

use crate::output::{MapReport, cluster_features};
use crate::partition::Partition;

/// Most rows and columns of a map.
const MAP: usize = 500;
/// Most characters that are looked at for the columns of a map: of longer alignments, sites are left out at equal distances.
const MOST_LOOKS: usize = 20_000_000;

/// Digits of a row of shares of data.
fn digits(shares: impl Iterator<Item = f64>) -> String {
    let digit = |share: f64| match share {
        s if s <= 0.0 => '0',
        s if s >= 1.0 - 1e-12 => '9',
        s => char::from(b'1' + ((s * 8.0) as u8).min(7)),
    };
    shares.map(digit).collect()
}

/// A share as a feature: something differs from nothing, and from all.
fn feature(share: f32) -> u8 {
    match share {
        s if s <= 0.0 => 0,
        s if s >= 1.0 => 255,
        s => 1 + (253.0 * s) as u8,
    }
}

/// The numbers of things in each cluster, where some have several.
fn sizes(clusters: &[Vec<usize>]) -> Vec<usize> {
    match clusters.iter().all(|of| of.len() == 1) {
        true => Vec::new(),
        false => clusters.iter().map(Vec::len).collect(),
    }
}

fn largest(clusters: &[Vec<usize>]) -> usize {
    clusters.iter().map(Vec::len).max().unwrap_or(1)
}

/// The clusters of things with these shares of data (of many taxa, which is why they are short): those with most data are in the first
/// half.
fn clusters_of(shares: &[Vec<f32>]) -> Vec<Vec<usize>> {
    let features: Vec<Vec<u8>> =
        shares.iter().map(|of| of.iter().copied().map(feature).collect()).collect();
    let mut clusters = cluster_features(&features, MAP);
    let data = |of: &[Vec<usize>]| -> f64 {
        let things: Vec<usize> = of.iter().flatten().copied().collect();
        let of_thing =
            |thing: &usize| shares[*thing].iter().map(|&share| f64::from(share)).sum::<f64>();
        let sum: f64 = things.iter().map(of_thing).sum();
        sum / things.len().max(1) as f64
    };
    let (first, second) = clusters.split_at(clusters.len() / 2);
    if data(first) < data(second) {
        clusters.reverse();
    }
    clusters
}

/// The map of several partitions, with so many columns of the alignment and so many determined characters (`[partition][taxon]`).
pub(super) fn map_of_partitions(
    columns: &[u64],
    determined: &[&Vec<u64>],
    name: impl Fn(usize) -> String,
    name_of_partition: impl Fn(usize) -> String,
) -> MapReport {
    let num_taxa = determined.first().map_or(0, |of| of.len());
    let share = |found: u64, of: u64| found as f64 / of.max(1) as f64;
    // Some taxa are enough to say which partitions are alike.
    let step = num_taxa.div_ceil(MAP).max(1);
    let of_partition = |(of, &length): (&&Vec<u64>, &u64)| -> Vec<f32> {
        of.iter().step_by(step).map(|&found| share(found, length) as f32).collect()
    };
    let partitions =
        clusters_of(&determined.iter().zip(columns).map(of_partition).collect::<Vec<_>>());
    let of_taxa = |taxa: &[usize]| -> Vec<f64> {
        let of_cluster = |numbers: &Vec<usize>| {
            let of_partition =
                |&number: &usize| taxa.iter().map(|&taxon| determined[number][taxon]).sum::<u64>();
            let found = numbers.iter().map(of_partition).sum();
            let length: u64 = numbers.iter().map(|&number| columns[number]).sum();
            share(found, length * taxa.len() as u64)
        };
        partitions.iter().map(of_cluster).collect()
    };
    let of_taxon = |taxon: usize| of_taxa(&[taxon]).into_iter().map(|share| share as f32).collect();
    let taxa = clusters_of(&(0..num_taxa).map(of_taxon).collect::<Vec<_>>());
    MapReport {
        columns: "partitions",
        per_column: largest(&partitions),
        taxa_per_row: largest(&taxa),
        rows: taxa.iter().map(|of| digits(of_taxa(of).into_iter())).collect(),
        taxa: taxa.iter().flatten().map(|&taxon| name(taxon)).collect(),
        row_sizes: sizes(&taxa),
        partitions: partitions.iter().flatten().map(|&number| name_of_partition(number)).collect(),
        column_sizes: sizes(&partitions),
    }
}

/// The map of a single partition, by its sites.
pub(super) fn map_of_columns(partition: &Partition, name: impl Fn(usize) -> String) -> MapReport {
    let patterns = &partition.patterns;
    let nothing = patterns.data_type.undetermined();
    let num_sites = patterns.site_to_pattern.len();
    let per_bin = num_sites.div_ceil(MAP).max(1);
    let step = (patterns.codes.len() * num_sites / MOST_LOOKS + 1).min(per_bin);
    let shares: Vec<Vec<f32>> = patterns
        .codes
        .iter()
        .map(|row| {
            let of_bin = |sites: &[u32]| {
                let looked = sites.iter().step_by(step);
                let found = looked.filter(|&&site| row[site as usize] != nothing).count();
                found as f32 / sites.len().div_ceil(step) as f32
            };
            patterns.site_to_pattern.chunks(per_bin).map(of_bin).collect()
        })
        .collect();
    let tips = clusters_of(&shares);
    let mean = |of: &Vec<usize>, bin: usize| {
        of.iter().map(|&tip| f64::from(shares[tip][bin])).sum::<f64>() / of.len() as f64
    };
    let num_bins = num_sites.div_ceil(per_bin);
    MapReport {
        columns: "columns",
        per_column: per_bin * patterns.data_type.chars_per_site(),
        taxa_per_row: largest(&tips),
        rows: tips.iter().map(|of| digits((0..num_bins).map(|bin| mean(of, bin)))).collect(),
        taxa: tips.iter().flatten().map(|&tip| name(patterns.tip_taxa[tip])).collect(),
        row_sizes: sizes(&tips),
        ..MapReport::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::overview::tests::partition;
    use super::*;

    fn name(taxon: usize) -> String {
        format!("t{taxon}")
    }

    #[test]
    fn maps_have_a_digit_for_each_share() {
        assert_eq!(digits([0.0, 1.0, 1e-9, 0.5, 0.999].into_iter()), "09158");
        let (first, second) = (vec![2, 0, 1, 2], vec![1, 4, 0, 1]);
        let of_partition = |number: usize| format!("p{number}");
        let map = map_of_partitions(&[2, 4], &[&first, &second], name, of_partition);
        assert_eq!((map.columns, map.per_column, map.taxa_per_row), ("partitions", 1, 1));
        assert_eq!(map.partitions, ["p0", "p1"]);
        // Those that are alike are together.
        assert_eq!(map.taxa, ["t0", "t3", "t2", "t1"]);
        assert_eq!(map.rows, ["93", "93", "50", "09"]);
        assert!(map.row_sizes.is_empty() && map.column_sizes.is_empty());
        let map = map_of_columns(&partition(&["---A", "ACGT", "----"]), name);
        // Taxa without data are not in the patterns.
        assert_eq!((map.columns, map.rows), ("columns", vec!["9999".into(), "0009".into()]));
        assert_eq!((map.taxa, map.partitions.len()), (vec!["t1".to_string(), "t0".into()], 0));
    }

    #[test]
    fn rows_of_large_maps_are_taxa_with_the_same_data() {
        let shapes = ["A".repeat(1200) + &"-".repeat(300), "-".repeat(900) + &"A".repeat(600)];
        let rows: Vec<&str> = (0..1001).map(|taxon| shapes[taxon % 2].as_str()).collect();
        let map = map_of_columns(&partition(&rows), name);
        let both = ["9".repeat(400) + &"0".repeat(100), "0".repeat(300) + &"9".repeat(200)];
        assert_eq!((map.rows, map.row_sizes), (both.to_vec(), vec![501, 500]));
        assert_eq!((map.taxa_per_row, map.per_column, map.taxa.len()), (501, 3, 1001));
        let has = |taxon: usize, number: usize| u64::from((taxon + number).is_multiple_of(3)) * 5;
        let determined: Vec<Vec<u64>> =
            (0..600).map(|number| (0..700).map(|taxon| has(taxon, number)).collect()).collect();
        let all: Vec<&Vec<u64>> = determined.iter().collect();
        let map = map_of_partitions(&[5; 600], &all, name, name);
        assert_eq!((map.row_sizes.len(), map.column_sizes.clone()), (3, vec![200; 3]));
        assert_eq!((map.rows.len(), map.per_column, map.partitions.len()), (3, 200, 600));
        for row in &map.rows {
            assert_eq!(row.matches('9').count(), 1, "{:?}", map.rows);
            assert_eq!(row.matches('0').count(), 2);
        }
    }
}
