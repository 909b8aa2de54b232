//! A crew: evaluators of the same data, with the same tree, that scan its subtrees side by side, or try in this way what trees are
//! recombined of.
//!
//! Each scans whole subtrees on its own, and they meet only when a subtree was moved or none is left: threads inside a
//! likelihood meet after every branch length, which small likelihoods do not pay for. Of the moves that are found at the
//! same time, the first in the order of the subtrees is made, and the others are thrown away with all that came after it. The
//! result is therefore that of one subtree after the other, in every bit, however many evaluators there are.

use super::changed::Changed;
use super::scan::{Moved, RoundResult, Scan, Scanner};
use super::schedule::RoundOptions;
use crate::likelihood::{Evaluator, Result, Snapshot};
use crate::model::Model;
use crate::parallel::Pool;
use crate::parsimony::{ParsimonyData, ParsimonyViews};
use crate::tree::{EdgeId, NodeId, Tree};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Evaluators of the data of a search, beside its own: the climbs of a wave go on side by side there, and they form a crew with
/// that of the search.
pub(super) struct Companions {
    pub(super) evaluators: Vec<Evaluator>,
    /// A thread for each of them; `None` if there are not several.
    pub(super) pool: Option<Pool>,
    /// Subtrees are scanned side by side. Otherwise, the engine is better used by one evaluator that scans many at a time.
    pub(super) scan_side_by_side: bool,
    /// True if they have the present models and linkage.
    pub(super) are_ready: bool,
}

impl Companions {
    /// None.
    pub(super) fn none() -> Self {
        Companions { evaluators: Vec::new(), pool: None, scan_side_by_side: true, are_ready: true }
    }

    /// The crew of this leader, who has the models.
    pub(super) fn crew<'e>(&'e mut self, leader: &'e mut Evaluator, models: &[Model]) -> Crew<'e> {
        match &mut self.pool {
            Some(pool) if self.scan_side_by_side => {
                if !std::mem::replace(&mut self.are_ready, true) {
                    let begin = leader.snapshot();
                    self.evaluators.iter_mut().for_each(|other| other.resume(&begin, models));
                }
                Crew::new(leader, self.evaluators.iter_mut(), pool)
            }
            _ => Crew::alone(leader),
        }
    }
}

/// The evaluators of a climb.
pub(super) struct Crew<'e> {
    /// Has the tree of the climb, and optimises its branches.
    pub(super) leader: &'e mut Evaluator,
    /// Others, which may have any tree.
    others: Vec<&'e mut Evaluator>,
    /// Threads for those that scan: the others, and the leader if there is one thread more.
    pool: Option<&'e mut Pool>,
}

impl<'e> Crew<'e> {
    /// A leader who scans alone.
    pub(super) fn alone(leader: &'e mut Evaluator) -> Self {
        Crew { leader, others: Vec::new(), pool: None }
    }

    /// A leader with others; on a pool of as many threads as there are others, they alone scan.
    pub(super) fn new(
        leader: &'e mut Evaluator,
        others: impl IntoIterator<Item = &'e mut Evaluator>,
        pool: &'e mut Pool,
    ) -> Self {
        let others: Vec<_> = others.into_iter().collect();
        debug_assert!((others.len()..=others.len() + 1).contains(&pool.num_workers()));
        Crew { leader, others, pool: Some(pool) }
    }

    /// Number of evaluators that scan.
    pub(super) fn num_scanning(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.num_workers())
    }

    /// Lets `work` scan the leader's tree. `views` are those of this tree, one for each evaluator that scans, or none, if they
    /// are still to be made. Afterwards, the leader has the tree that the scans have led to, and the views are those of
    /// this tree.
    pub(super) fn scan<'d>(
        &mut self,
        views: &mut Vec<ParsimonyViews<'d>>,
        data: &'d ParsimonyData,
        work: impl FnOnce(&mut dyn Scanner) -> Result<()>,
    ) -> Result<()> {
        let num_scanning = self.num_scanning();
        if views.len() != num_scanning {
            views.clear();
            views.extend((0..num_scanning).map(|_| ParsimonyViews::new(self.leader.tree(), data)));
        }
        let Some(pool) = &mut self.pool else {
            let most_ahead = self.leader.capabilities().best_batch;
            let (evaluator, views) = (&mut *self.leader, &mut views[0]);
            return work(&mut Scan { evaluator, views, most_ahead, is_in_vain: &|| false });
        };
        let begin = self.leader.snapshot();
        for other in self.others.iter_mut() {
            other.return_to(&begin);
        }
        let leader_scans = num_scanning > self.others.len();
        let leader = leader_scans.then_some(&mut *self.leader);
        let others = self.others.iter_mut().map(|other| &mut **other);
        let evaluators = leader.into_iter().chain(others);
        let member = |(evaluator, views)| Mutex::new(Member { evaluator, views });
        let members = evaluators.zip(views.iter_mut()).map(member).collect();
        let mut side_by_side = SideBySide { members, pool, latest: 0, news: None };
        work(&mut side_by_side)?;
        side_by_side.all(|_, _| false);
        if !leader_scans {
            self.leader.return_to(&self.others[0].snapshot());
        }
        Ok(())
    }

    /// Makes so many attempts on the leader's tree, in their order, until one succeeds; its number. An attempt that does not must
    /// leave the evaluator as it was. Afterwards, the leader is as the successful attempt has left its evaluator.
    pub(super) fn first_success(
        &mut self,
        num_attempts: usize,
        attempt: impl Fn(&mut Evaluator, usize) -> Result<bool> + Sync,
    ) -> Result<Option<usize>> {
        let pool = match &mut self.pool {
            Some(pool) if num_attempts > 1 => pool,
            _ => {
                for number in 0..num_attempts {
                    if attempt(self.leader, number)? {
                        return Ok(Some(number));
                    }
                }
                return Ok(None);
            }
        };
        // The members take one after the other, until one before the next has succeeded.
        let begin = self.leader.snapshot();
        let (next, least) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
        let leader = (pool.num_workers() > self.others.len()).then_some(&mut *self.leader);
        let others = self.others.iter_mut().map(|other| &mut **other);
        let members: Vec<_> = leader.into_iter().chain(others).map(Mutex::new).collect();
        let first = Mutex::new(None);
        let prepare = |member: usize| locked(&members[member]).return_to(&begin);
        pool.deal(&prepare, &|member| {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= num_attempts.min(least.load(Ordering::Relaxed)) {
                return false;
            }
            let evaluator = &mut **locked(&members[member]);
            let result = attempt(evaluator, number);
            let goes_on = matches!(result, Ok(false));
            if !goes_on {
                least.fetch_min(number, Ordering::Relaxed);
                let mut first = locked(&first);
                if first.as_ref().is_none_or(|(before, _)| number < *before) {
                    *first = Some((number, result.map(|_| evaluator.snapshot())));
                }
            }
            goes_on
        });
        drop(members);
        let Some((number, snapshot)) = first.into_inner().unwrap_or_else(PoisonError::into_inner)
        else {
            return Ok(None);
        };
        self.leader.return_to(&snapshot?);
        Ok(Some(number))
    }
}

/// An evaluator that scans.
struct Member<'e, 'v, 'd> {
    evaluator: &'e mut Evaluator,
    views: &'v mut ParsimonyViews<'d>,
}

impl Member<'_, '_, '_> {
    /// Takes over a move, which it has made itself or not.
    fn learn(&mut self, news: &News, is_its_own: bool) {
        if !is_its_own {
            self.evaluator.return_to(&news.snapshot);
        }
        let ((attach, pendant), target) = (news.subtree, news.target);
        self.views.spr(&mut news.before.clone(), attach, pendant, target);
    }
}

/// A move that was made.
struct News {
    /// Of the evaluator that has made it.
    snapshot: Snapshot,
    /// The tree before the move.
    before: Tree,
    /// The subtree, and the edge into which it was regrafted.
    subtree: (NodeId, EdgeId),
    target: EdgeId,
}

/// Evaluators that scan side by side.
struct SideBySide<'p, 'e, 'v, 'd> {
    members: Vec<Mutex<Member<'e, 'v, 'd>>>,
    pool: &'p mut Pool,
    /// The member who has made the latest move.
    latest: usize,
    /// The latest move, until all members know it.
    news: Option<News>,
}

/// What a member has found out about a subtree.
struct Found {
    number: usize,
    member: usize,
    result: RoundResult,
    moved: Result<Option<Moved>>,
}

impl SideBySide<'_, '_, '_, '_> {
    /// Each member learns the news, and then takes one piece of work after the other until nothing is left.
    fn all(&mut self, take: impl Fn(usize, &mut Member) -> bool + Sync) {
        let (members, news, latest) = (&self.members, self.news.take(), self.latest);
        let learn = |number: usize| {
            if let Some(news) = &news {
                locked(&members[number]).learn(news, number == latest);
            }
        };
        self.pool.deal(&learn, &|number| take(number, &mut locked(&members[number])));
    }
}

impl Scanner for SideBySide<'_, '_, '_, '_> {
    fn ahead(&self) -> RangeInclusive<usize> {
        usize::MAX..=usize::MAX
    }

    fn tree(&mut self) -> &Tree {
        let member = self.members[self.latest].get_mut();
        member.unwrap_or_else(PoisonError::into_inner).evaluator.tree()
    }

    fn first_move(
        &mut self,
        batch: &[(NodeId, EdgeId)],
        options: &RoundOptions,
        result: &mut RoundResult,
    ) -> Result<Option<Moved>> {
        // The members take one subtree after the other, until one before the next is moved.
        let (next, least) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
        let all_found = Mutex::new(Vec::new());
        let lnl = result.lnl;
        self.all(|number_of_member, member| {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let is_in_vain = || number > least.load(Ordering::Relaxed);
            if number >= batch.len() || is_in_vain() {
                return false;
            }
            let (evaluator, views) = (&mut *member.evaluator, &mut *member.views);
            let mut scan = Scan { evaluator, views, most_ahead: 1, is_in_vain: &is_in_vain };
            let mut result = RoundResult { lnl, ..RoundResult::default() };
            let moved = scan.first_move(&batch[number..=number], options, &mut result);
            let goes_on = matches!(moved, Ok(None));
            if !goes_on {
                least.fetch_min(number, Ordering::Relaxed);
            }
            locked(&all_found).push(Found { number, member: number_of_member, result, moved });
            goes_on
        });
        let mut all_found = all_found.into_inner().unwrap_or_else(PoisonError::into_inner);
        all_found.sort_unstable_by_key(|found| found.number);
        for Found { number, member, result: of_subtree, moved } in all_found {
            result.add(&of_subtree);
            if let Some(mut moved) = moved? {
                self.latest = member;
                moved.number = number;
                return Ok(Some(moved));
            }
        }
        Ok(None)
    }

    fn adopt(&mut self, moved: &Moved, batch: &[(NodeId, EdgeId)], changed: &mut Changed) {
        let member = self.members[self.latest].get_mut();
        let evaluator = &member.unwrap_or_else(PoisonError::into_inner).evaluator;
        moved.mark(evaluator.tree(), changed);
        self.news = Some(News {
            snapshot: evaluator.snapshot(),
            before: moved.tree_before(evaluator.tree()),
            subtree: batch[moved.number],
            target: moved.target,
        });
    }
}

/// A panic of another thread ends the work of all.
pub(super) fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
