//! Parsimony on several ranks: each has a share of the columns, of which it counts the changes; rank 0 decides what is counted. Numbers
//! of changes are whole, so that their sums do not depend on who has which columns.

use super::columns::Columns;
use super::data::ParsimonyData;
use super::orders::{Order, ViewsOrder};
use super::stepwise::three_taxa;
use super::views::OwnViews;
use super::workers::Workers;
use crate::mpi::{Follower, Ranks, Subject, decode};
use crate::tree::Tree;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One thing that all ranks do at the same time.
#[derive(Serialize, Deserialize)]
enum Request<'a> {
    /// Takes the columns of this number, which are then sent in a share for each of its threads.
    Take(u64),
    /// Drops them.
    Drop(u64),
    /// Computes with them.
    Compute(u64, Order<'a>),
    /// Makes views of this number over these columns.
    Look(u64, u64, Seen<'a>),
    /// Drops them.
    DropViews(u64),
    /// Computes with them.
    ComputeViews(u64, ViewsOrder<'a>),
}

/// A tree of which views are made.
#[derive(Serialize, Deserialize)]
pub(super) enum Seen<'a> {
    /// A tree of all taxa.
    Whole(Cow<'a, Tree>),
    /// That of the first three taxa of a tree that grows.
    Three([u32; 3]),
}

/// The other ranks, for rank 0: they have the other columns of some data.
#[derive(Debug)]
pub(super) struct OtherRanks {
    ranks: Ranks,
    number: u64,
}

impl OtherRanks {
    /// Gives each of the other ranks its columns.
    pub(super) fn give(ranks: Ranks, shares: impl Iterator<Item = Vec<Columns>>) -> Self {
        let number = ranks.next_number();
        let _turn = ranks.turn();
        ranks.let_compute(Subject::Parsimony, &Request::Take(number));
        (1..).zip(shares).for_each(|(rank, shares)| ranks.send(rank, &shares));
        OtherRanks { ranks, number }
    }

    /// The sums over all ranks, of which this one counts `own`.
    pub(super) fn sum(&self, order: &Order, own: impl FnOnce() -> Vec<u64>) -> Vec<u64> {
        let _turn = self.ranks.turn();
        self.tell(&Request::Compute(self.number, order.clone()));
        self.ranks.sums(&own())
    }

    fn tell(&self, request: &Request) {
        self.ranks.let_compute(Subject::Parsimony, request);
    }
}

impl Drop for OtherRanks {
    fn drop(&mut self) {
        // A panic has ended the other ranks, or will.
        if !std::thread::panicking() {
            let _turn = self.ranks.turn();
            self.tell(&Request::Drop(self.number));
        }
    }
}

/// The views that other ranks have.
pub(super) struct ViewsOfOthers {
    others: Arc<OtherRanks>,
    number: u64,
}

impl ViewsOfOthers {
    /// Lets them make views, while this one makes its `own`.
    pub(super) fn of<T>(
        others: &Arc<OtherRanks>,
        seen: Seen,
        own: impl FnOnce() -> T,
    ) -> (Self, T) {
        let number = others.ranks.next_number();
        let _turn = others.ranks.turn();
        others.tell(&Request::Look(others.number, number, seen));
        (ViewsOfOthers { others: Arc::clone(others), number }, own())
    }

    /// The sums over all ranks, of which this one counts `own`.
    pub(super) fn sum(&self, order: ViewsOrder, own: impl FnOnce() -> Vec<u64>) -> Vec<u64> {
        let _turn = self.others.ranks.turn();
        self.others.tell(&Request::ComputeViews(self.number, order));
        self.others.ranks.sums(&own())
    }
}

impl Drop for ViewsOfOthers {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _turn = self.others.ranks.turn();
            self.others.tell(&Request::DropViews(self.number));
        }
    }
}

/// This rank's columns, and views over them, by the numbers that rank 0 has given them.
#[derive(Default)]
pub struct OwnShares {
    columns: BTreeMap<u64, (Vec<Arc<Columns>>, Workers)>,
    /// With the trees.
    views: BTreeMap<u64, (Tree, OwnViews)>,
}

impl Follower for OwnShares {
    fn follow(&mut self, ranks: Ranks, message: &[u8]) -> Result<(), String> {
        match decode::<Request>(message) {
            Request::Take(number) => {
                let columns: Vec<Columns> = ranks.receive(0);
                let workers = Workers::of_threads(columns.len());
                let columns = columns.into_iter().map(Arc::new).collect();
                self.columns.insert(number, (columns, workers));
            }
            Request::Drop(number) => drop(self.columns.remove(&number)),
            Request::Compute(number, order) => {
                let (columns, workers) = &self.columns[&number];
                let own = workers.sum(columns.len(), |number| order.carry_out(&columns[number]));
                ranks.sums(&own);
            }
            Request::Look(number, views, seen) => {
                let (columns, workers) = &self.columns[&number];
                let tree = match seen {
                    Seen::Whole(tree) => tree.into_owned(),
                    Seen::Three(taxa) => three_taxa(columns[0].num_taxa(), taxa),
                };
                let own = OwnViews::new(&tree, columns, workers);
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

impl ParsimonyData {
    /// The same data, of which each rank gets a share, divided again among `threads` of each; for rank 0, when the others
    /// [follow](crate::mpi::follow) it with [`OwnShares`].
    pub fn on_ranks(self, ranks: Ranks, threads: usize) -> Self {
        let all = self.all_columns();
        let of_rank = |rank: usize| -> Vec<Columns> {
            let of_threads = (0..threads).map(|thread| thread * ranks.size() + rank);
            of_threads.map(|number| all.share(number, threads * ranks.size())).collect()
        };
        let others = OtherRanks::give(ranks, (1..ranks.size()).map(of_rank));
        let own = of_rank(0);
        self.divided(own, Workers::of_threads(threads).with_others(others))
    }
}

#[cfg(test)]
mod tests {
    use super::super::naive::Sample;
    use super::super::{
        ParsimonyViews, parsimony_brlens, parsimony_score, parsimony_spr, stepwise_addition,
    };
    use super::*;
    use crate::mpi::{as_threads, follow};
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
                    shortlists.push(views.cheapest_insertions(tree, node, edge, 6, 5));
                }
            }
        }
        drop(views);
        Everything { trees: [made, other], scores, shortlists }
    }

    #[test]
    fn threads_and_ranks_find_what_one_thread_does() {
        for (num_taxa, shapes, columns) in
            [(3, &[4][..], 300), (14, &[4, 20, 4], 400), (30, &[2, 4], 900)]
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
