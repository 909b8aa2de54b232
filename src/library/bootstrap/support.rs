//! Bootstrap support of the branches of a tree: the percentage of replicate trees with the same split (Felsenstein
//! 1985, Evolution 39:783).

use rayon::prelude::*;

use crate::tree::{Multifurcating, Split, SplitTable, Tree, tree_splits};

/// For each edge of `best`, by edge number, the percentage of replicates with the same split; `None`
/// for edges to tips, and for all edges if there are no replicates. All trees must have the same tips.
///
/// # Panics
/// If a replicate has another number of tips.
pub fn map_support(best: &Tree, replicates: &[Multifurcating]) -> Vec<Option<f64>> {
    let mut table = SplitTable::default();
    let edges: Vec<_> =
        tree_splits(best).into_iter().map(|(edge, split)| (edge, table.insert(split))).collect();
    let found: Vec<Vec<u32>> = replicates
        .par_iter()
        .map(|tree| {
            assert_eq!(tree.tips().len(), best.num_tips(), "all trees must have the same tips");
            tree.splits().iter().filter_map(|(_, split)| table.number(split)).collect()
        })
        .collect();
    let mut counts = vec![0usize; table.splits().len()];
    for number in found.into_iter().flatten() {
        counts[number as usize] += 1;
    }
    let mut support = vec![None; best.num_edges()];
    if !replicates.is_empty() {
        for (edge, number) in edges {
            support[edge.index()] =
                Some(100.0 * counts[number as usize] as f64 / replicates.len() as f64);
        }
    }
    support
}

/// The distinct splits of trees of the same tips, which are given by their splits, and how many of the trees have each.
pub(super) fn count_splits(
    trees: impl Iterator<Item = impl Iterator<Item = Split>>,
) -> (SplitTable, Vec<u32>) {
    let mut table = SplitTable::default();
    let mut counts = Vec::new();
    for split in trees.flatten() {
        let number = table.insert(split) as usize;
        counts.resize(table.splits().len(), 0);
        counts[number] += 1;
    }
    (table, counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::taxa::Taxa;
    use crate::tree::{EdgeId, NewickOptions, read_newick, support_label, write_newick};

    #[test]
    fn support_is_the_share_of_replicates_with_the_split() {
        let names = ["A", "B", "C", "D", "E", "F"];
        let taxa = Taxa::new(names.map(String::from).to_vec()).unwrap();
        let best = &read_newick("(A,B,(C,(D,(E,F))));", "t").unwrap()[0];
        let best = &best.to_tree(&taxa, "t", None).unwrap().0;
        // One of them of any degrees.
        let replicates = read_newick(
            "((E,F),(D,((A,B),C))); ((A,B),D,C,(E,F)); (A,C,(B,(D,(E,F)))); ((A,F),B,(C,(D,E))); (A,B,(C,(F,(D,E))));",
            "t",
        );
        let replicates: Vec<Multifurcating> = replicates
            .unwrap()
            .iter()
            .map(|tree| tree.to_multifurcating(&taxa, "t", true).unwrap())
            .collect();
        let support = map_support(best, &replicates);
        let label = |edge: EdgeId| support[edge.index()].map(support_label);
        let options = NewickOptions {
            brlens: false,
            branch_labels: Some(&label),
            ..NewickOptions::default()
        };
        assert_eq!(write_newick(best, |i| names[i], &options), "(A,B,(C,(D,(E,F)[60])[60])[60]);");
        assert_eq!(support.iter().flatten().count(), 3);
        assert!(map_support(best, &[]).iter().all(Option::is_none));
    }
}
