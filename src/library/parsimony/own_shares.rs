//! [`OwnShares`]: what every rank but rank 0 counts changes with.

use super::columns::Columns;
use super::other_ranks::{Request, Seen};
use super::threads::{Threads, sums};
use super::views::{OwnViews, three_taxa};
use crate::mpi::{Follower, Ranks, decode};
use crate::tree::Tree;
use std::collections::BTreeMap;
use std::sync::Arc;

/// This rank's columns, and views over them, by the numbers that rank 0 has given them.
#[derive(Default)]
pub struct OwnShares {
    columns: BTreeMap<u64, (Vec<Arc<Columns>>, Threads)>,
    /// With the trees.
    views: BTreeMap<u64, (Tree, OwnViews)>,
}

impl Follower for OwnShares {
    fn follow(&mut self, ranks: Ranks, message: &[u8]) -> Result<(), String> {
        match decode::<Request>(message) {
            Request::Take(number) => {
                let columns: Vec<Columns> = ranks.receive(0);
                let threads = Threads::new(columns.len());
                let columns = columns.into_iter().map(Arc::new).collect();
                self.columns.insert(number, (columns, threads));
            }
            Request::Drop(number) => drop(self.columns.remove(&number)),
            Request::Thin(number, thinned, thinning) => {
                let (columns, threads) = &self.columns[&number];
                let columns = columns.iter().map(|own| Arc::new(thinning.of(own))).collect();
                let threads = threads.clone();
                self.columns.insert(thinned, (columns, threads));
            }
            Request::Compute(number, order) => {
                let (columns, threads) = &self.columns[&number];
                let of_share = |number: usize| order.carry_out(&columns[number]);
                ranks.sums(&sums(threads.map(columns.len(), of_share)));
            }
            Request::Look(number, views, seen) => {
                let (columns, threads) = &self.columns[&number];
                let tree = match seen {
                    Seen::Whole(tree) => tree.into_owned(),
                    Seen::Three(taxa) => three_taxa(columns[0].num_taxa(), taxa),
                };
                let own = OwnViews::new(&tree, columns, threads);
                self.views.insert(views, (tree, own));
            }
            Request::DropViews(views) => drop(self.views.remove(&views)),
            Request::ComputeViews(views, order) => {
                let (tree, own) = self.views.get_mut(&views).expect("views that were made");
                ranks.sums(&order.carry_out(tree, own));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::ParsimonyData;
    use super::super::naive::Sample;
    use super::super::{
        ParsimonyViews, parsimony_brlens, parsimony_score, parsimony_spr, stepwise_addition,
    };
    use super::*;
    use crate::mpi::{Subject, as_threads, follow};
    use crate::rng::{Purpose, stream};
    use crate::tree::{EdgeId, NodeId, random_tree};

    #[derive(PartialEq)]
    struct Everything {
        trees: [Tree; 2],
        scores: Vec<u64>,
        shortlists: Vec<Vec<(EdgeId, u64)>>,
    }

    /// Whatever is computed, on a tree that was made of the data and on another one.
    fn everything(data: &ParsimonyData) -> Everything {
        let mut rng = stream(5, Purpose::Test, 1);
        let num_taxa = data.num_taxa();
        let mut made = stepwise_addition(data, &mut rng);
        let mut scores = vec![parsimony_spr(&mut made, data, 20, &mut rng)];
        let mut other = random_tree(num_taxa, 0.1, &mut rng);
        scores.push(parsimony_score(&other, data));
        parsimony_brlens(&mut made, data);
        parsimony_brlens(&mut other, data);
        // Two views at the same time.
        let mut views = [&made, &other].map(|tree| ParsimonyViews::new(tree, data));
        let mut shortlists = Vec::new();
        for (tree, views) in [&made, &other].into_iter().zip(&mut views) {
            for node in num_taxa..tree.num_nodes() {
                let node = NodeId(node as u32);
                let edges: Vec<EdgeId> = tree.links(node).map(|(_, edge)| edge).collect();
                for edge in edges {
                    shortlists.push(views.cheapest_insertions(tree, node, edge, 6, 5, 12));
                }
            }
        }
        drop(views);
        let thinned = data.thinned(30, &mut rng);
        scores.push(parsimony_score(&made, &thinned));
        scores.push(parsimony_spr(&mut other, &thinned, 6, &mut rng));
        Everything { trees: [made, other], scores, shortlists }
    }

    #[test]
    fn threads_and_ranks_find_what_one_thread_does() {
        // The last has enough columns for each thread to see that others have passed a limit.
        for (num_taxa, shapes, columns) in
            [(3, &[4][..], 300), (14, &[4, 20, 4], 400), (30, &[2, 4], 900), (12, &[4], 9000)]
        {
            let data =
                Sample::draw(num_taxa, shapes, columns, &mut stream(5, Purpose::Test, 0)).pack();
            let want = everything(&data);
            for threads in [2, 3, 8] {
                assert!(everything(&data.clone().on_exactly(threads)) == want, "{threads} threads");
            }
            for (num_ranks, threads) in [(1, 1), (2, 1), (3, 2), (5, 1)] {
                let work = |ranks: Ranks| {
                    if !ranks.leads() {
                        follow(ranks, &mut [(Subject::Parsimony, &mut OwnShares::default())]);
                        return None;
                    }
                    let found = everything(&data.clone().on_ranks(ranks, threads));
                    ranks.end();
                    Some(found)
                };
                let found = as_threads(num_ranks, work).into_iter().flatten().next();
                assert!(found.as_ref() == Some(&want), "{num_ranks} ranks with {threads} threads");
            }
        }
    }
}
