//! [`OtherRanks`]: how rank 0 lets the other ranks count changes at their columns. It decides what is counted; numbers of changes are
//! whole, so that their sums do not depend on who has which columns.

use super::columns::Columns;
use super::orders::{Order, ViewsOrder};
use super::thinning::Thinning;
use crate::mpi::{Ranks, Subject};
use crate::tree::Tree;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;

/// One thing that all ranks do at the same time.
#[derive(Serialize, Deserialize)]
pub(super) enum Request<'a> {
    /// Takes the columns of this number, which are then sent in a share for each of its threads.
    Take(u64),
    /// Drops them.
    Drop(u64),
    /// Makes columns of another number of them, without those that are left out.
    Thin(u64, u64, Thinning),
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

    /// Their columns without some.
    pub(super) fn thinned(&self, thinning: Thinning) -> Self {
        let number = self.ranks.next_number();
        let _turn = self.ranks.turn();
        self.tell(&Request::Thin(self.number, number, thinning));
        OtherRanks { ranks: self.ranks, number }
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
