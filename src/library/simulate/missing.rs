//! Simulation of missing partitions.
//!
//! Missing data in real supermatrices are clustered: some partitions are sequenced in nearly all taxa and some in
//! few, some taxa are well studied, and some partitions are sequenced in one clade only. Each (taxon, partition) cell
//! therefore gets a score, the sum of a value of the partition, a value of the taxon and a value that is inherited
//! along the tree; the cells with the lowest scores are missing.

use crate::error::{Error, Result};
use crate::rng::Rng;
use crate::tree::{NodeId, Tree};
use rand::RngExt;

/// Correlation of a partition's clade value across one edge.
const INHERITED: f64 = 0.8;

/// Fewest taxa of a partition: with fewer it is not informative about the tree.
const MIN_TAXA_PER_PARTITION: usize = 4;

/// Standard normal deviate (Box & Muller 1958).
fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * libm::log(1.0 - rng.random::<f64>())).sqrt();
    radius * libm::cos(2.0 * std::f64::consts::PI * rng.random::<f64>())
}

/// A value per tip that evolves along the tree as a stationary autoregressive process of unit variance.
fn inherited_values(tree: &Tree, rng: &mut Rng) -> Vec<f64> {
    let mut values = vec![0.0; tree.num_nodes()];
    let root = NodeId(tree.num_nodes() as u32 - 1);
    values[root.index()] = normal(rng);
    for (first, first_edge) in tree.links(root).collect::<Vec<_>>() {
        for (node, edge) in tree.preorder(first, first_edge) {
            let parent = tree.other_end(edge, node);
            values[node.index()] = INHERITED * values[parent.index()]
                + (1.0 - INHERITED * INHERITED).sqrt() * normal(rng);
        }
    }
    values.truncate(tree.num_tips());
    values
}

/// Presence of data: `result[partition][taxon]`. Exactly round(`missing` x cells) cells are without data;
/// every taxon keeps a partition, every partition at least four taxa (all, if there are fewer).
///
/// # Errors
/// [`Error::Usage`] if this share of missing cells is impossible under these rules.
pub fn draw_presence(
    tree: &Tree,
    num_partitions: usize,
    missing: f64,
    rng: &mut Rng,
) -> Result<Vec<Vec<bool>>> {
    let num_taxa = tree.num_tips();
    let num_cells = num_taxa * num_partitions;
    let wanted = (missing * num_cells as f64).round() as usize;
    let partition_effect: Vec<f64> = (0..num_partitions).map(|_| normal(rng)).collect();
    let taxon_effect: Vec<f64> = (0..num_taxa).map(|_| 0.5 * normal(rng)).collect();
    let mut score = vec![0.0; num_cells];
    for partition in 0..num_partitions {
        let inherited = inherited_values(tree, rng);
        for taxon in 0..num_taxa {
            score[partition * num_taxa + taxon] =
                partition_effect[partition] + taxon_effect[taxon] + inherited[taxon];
        }
    }
    // Equal scores are ordered by number, so the order is total.
    let rising = |cells: &mut Vec<usize>| {
        cells.sort_by(|&a, &b| score[a].total_cmp(&score[b]).then(a.cmp(&b)));
    };
    let mut kept = vec![false; num_cells];
    for partition in 0..num_partitions {
        let mut cells: Vec<usize> = (partition * num_taxa..(partition + 1) * num_taxa).collect();
        rising(&mut cells);
        cells.iter().rev().take(MIN_TAXA_PER_PARTITION).for_each(|&cell| kept[cell] = true);
    }
    for taxon in 0..num_taxa {
        let mut cells: Vec<usize> =
            (0..num_partitions).map(|partition| partition * num_taxa + taxon).collect();
        rising(&mut cells);
        if !cells.iter().any(|&cell| kept[cell])
            && let Some(&best) = cells.last()
        {
            kept[best] = true;
        }
    }
    let mut free: Vec<usize> = (0..num_cells).filter(|&cell| !kept[cell]).collect();
    if wanted > free.len() {
        return Err(Error::Usage(format!(
            "--missing {missing}: at most {:.4} of the cells of {num_taxa} taxa and {num_partitions} partitions \
             can be without data, because every taxon keeps a partition and every partition {MIN_TAXA_PER_PARTITION} taxa",
            free.len() as f64 / num_cells as f64
        )));
    }
    rising(&mut free);
    let mut presence = vec![vec![true; num_taxa]; num_partitions];
    for &cell in &free[..wanted] {
        presence[cell / num_taxa][cell % num_taxa] = false;
    }
    Ok(presence)
}

#[cfg(test)]
mod tests {
    use super::super::yule::yule_tree;
    use super::*;
    use crate::rng::{Purpose, stream};

    fn drawn(
        num_taxa: usize,
        num_partitions: usize,
        missing: f64,
        seed: u64,
    ) -> Result<Vec<Vec<bool>>> {
        let tree = yule_tree(num_taxa, 0.1, &mut stream(seed, Purpose::Test, 0));
        draw_presence(&tree, num_partitions, missing, &mut stream(seed, Purpose::Test, 1))
    }

    #[test]
    fn the_ordered_share_is_missing_and_everyone_keeps_something() {
        for (taxa, partitions, missing) in
            [(60, 8, 0.28), (100, 10, 0.73), (200, 20, 0.9), (5, 2, 0.0)]
        {
            let presence = drawn(taxa, partitions, missing, 3).unwrap();
            let absent = presence.iter().flatten().filter(|&&p| !p).count();
            assert_eq!(absent, (missing * (taxa * partitions) as f64).round() as usize);
            assert!(presence.iter().all(|partition| partition.iter().filter(|&&p| p).count() >= 4));
            assert!((0..taxa).all(|taxon| presence.iter().any(|partition| partition[taxon])));
            assert_eq!(presence, drawn(taxa, partitions, missing, 3).unwrap());
        }
    }

    #[test]
    fn partitions_differ_in_how_widely_they_are_sampled() {
        let presence = drawn(200, 12, 0.5, 1).unwrap();
        let sizes: Vec<usize> =
            presence.iter().map(|partition| partition.iter().filter(|&&p| p).count()).collect();
        let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
        assert!(most - least > 60, "{sizes:?}");
    }

    #[test]
    fn too_much_is_refused_with_what_is_possible() {
        let error = drawn(10, 2, 0.95, 1).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("at most 0."), "{error}");
    }
}
