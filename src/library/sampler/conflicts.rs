//! Which inner branches the data give up most readily: proposals of topologies look there first.
//!
//! An inner branch has three resolutions: the present one, and two by an interchange. With the numbers of changes that they
//! need by parsimony, each of the other two has the weight exp(-[`LN_WEIGHT_OF_CHANGE`] * changes more than the present one), at most 1,
//! besides [`LEAST_WEIGHT`]. Where splits were seen in the adaptation, this counts [`BESIDE_SEEN`] times, and to it
//! comes the frequency of the split of the resolution among them: the likelihood may keep branches that parsimony would not.
//! A branch has the weight of both. The weights depend on nothing but the topology.

use super::seen_splits::SeenSplits;
use crate::parsimony::{KnownRows, ParsimonyData};
use crate::rng::Rng;
use crate::tree::{EdgeId, NodeId, Tree};
use rand::RngExt;

/// A resolution weighs exp(-this) as much for every change that it needs more than the present one.
const LN_WEIGHT_OF_CHANGE: f64 = 1.0;

/// What a resolution weighs that needs many changes more.
const LEAST_WEIGHT: f64 = 0.0025;

/// What changes count beside the frequency of a split.
const BESIDE_SEEN: f64 = 0.03;

/// Share of subtrees, and of branches to cut, that are drawn around a branch that was drawn by its weight.
const LOOSE: f64 = 0.9;

/// What a proposal of a topology drew by the weights of the tree. The way back has to draw the same by those of the new one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Drawn {
    /// See [`Conflicts::draw`].
    Branch(EdgeId),
    /// See [`Conflicts::draw_subtree`].
    Subtree((NodeId, EdgeId)),
    /// See [`Conflicts::draw_cut`].
    Cut(EdgeId),
}

/// What leads proposals of topologies.
#[derive(Clone, Copy)]
pub(super) struct Guide<'a> {
    /// `None` if parsimony is to say nothing.
    pub(super) data: Option<&'a ParsimonyData>,
    /// Splits that were seen; none in steps to the marginal likelihood, and before the first were learned.
    pub(super) seen: &'a SeenSplits,
    /// The power to which the likelihood is raised at all temperatures. Temperatures do not count: a place is kept
    /// while chains swap them.
    pub(super) power: f64,
}

impl Guide<'_> {
    /// The weight of a resolution beside the present one.
    fn weight(&self, present: Resolution, other: Resolution) -> f64 {
        let more = other.cost.saturating_sub(present.cost);
        let by_changes = libm::exp(-self.power * LN_WEIGHT_OF_CHANGE * more as f64);
        let share = if self.seen.is_empty() { 1.0 } else { BESIDE_SEEN };
        LEAST_WEIGHT + share * by_changes + other.frequency
    }
}

/// A resolution of a branch.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Resolution {
    /// Changes that it needs.
    cost: u64,
    /// How often its split was seen.
    frequency: f64,
}

/// The conflicts of a tree: the changes that the resolutions of all its inner branches need, and what these weigh.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Conflicts {
    /// [`Guide::power`] of the weights.
    power: f64,
    /// The present resolution of every inner branch, and the others, in the order of [`KnownRows::resolution_costs`].
    resolutions: Vec<(EdgeId, [Resolution; 3])>,
    /// The weight of every inner branch, in the same order.
    weights: Vec<f64>,
    all_weights: f64,
}

impl Conflicts {
    /// Those of a tree. `rows` are those of trees over the same data.
    pub(super) fn of(tree: &Tree, guide: &Guide, rows: &mut KnownRows) -> Self {
        let costs = match guide.data {
            None => {
                let inner = tree.edges().filter(|&edge| !tree.is_terminal(edge));
                inner.map(|edge| (edge, [0; 3])).collect()
            }
            Some(data) => rows.resolution_costs(tree, data),
        };
        let frequencies = guide.seen.of_resolutions(tree, costs.iter().map(|one| one.0));
        let resolutions: Vec<(EdgeId, [Resolution; 3])> = costs
            .into_iter()
            .zip(frequencies)
            .map(|((edge, costs), frequencies)| {
                let one = |number: usize| Resolution {
                    cost: costs[number],
                    frequency: frequencies[number],
                };
                (edge, [one(0), one(1), one(2)])
            })
            .collect();
        let weight = |&(_, [present, first, second]): &(EdgeId, [Resolution; 3])| {
            guide.weight(present, first) + guide.weight(present, second)
        };
        let weights: Vec<f64> = resolutions.iter().map(weight).collect();
        let all_weights = weights.iter().sum();
        Conflicts { power: guide.power, resolutions, weights, all_weights }
    }

    /// Every inner branch with its weight.
    fn weighted(&self) -> impl Iterator<Item = (EdgeId, f64)> {
        self.resolutions.iter().map(|one| one.0).zip(self.weights.iter().copied())
    }

    /// The share of some branches in the sum of all weights.
    fn share_of(&self, edges: &[EdgeId]) -> f64 {
        let own = self.weighted().filter(|(edge, _)| edges.contains(edge));
        own.map(|one| one.1).sum::<f64>() / self.all_weights
    }

    /// An inner branch, drawn by its weight; `None` if there is none.
    pub(super) fn draw(&self, rng: &mut Rng) -> Option<EdgeId> {
        branch_at(rng.random::<f64>() * self.all_weights, self.weighted())
    }

    /// Logarithm of the probability with which something is drawn. If it is a branch to be cut, there are others.
    pub(super) fn ln_chance(&self, tree: &Tree, drawn: Drawn) -> f64 {
        libm::log(match drawn {
            Drawn::Branch(edge) => self.share_of(&[edge]),
            Drawn::Subtree(subtree) => self.chance_of_subtree(tree, subtree),
            Drawn::Cut(cut) => {
                let chances = self.chances_to_cut(tree);
                chances.into_iter().find(|one| one.0 == cut).expect("an inner branch").1
            }
        })
    }

    /// One of the other two resolutions of a branch, drawn by its weight: 0 or 1, and the logarithm of the probability of the
    /// way back by that of the way there.
    pub(super) fn draw_resolution(
        &self,
        guide: &Guide,
        edge: EdgeId,
        rng: &mut Rng,
    ) -> (usize, f64) {
        let resolutions = self.resolutions.iter().find(|one| one.0 == edge);
        let [present, first, second] = resolutions.expect("an inner branch").1;
        let share = |from: Resolution, to: Resolution, other: Resolution| {
            let to = guide.weight(from, to);
            to / (to + guide.weight(from, other))
        };
        let of_first = share(present, first, second);
        match rng.random::<f64>() < of_first {
            true => (0, libm::log(share(first, present, second) / of_first)),
            false => {
                let there = share(present, second, first);
                (1, libm::log(share(second, present, first) / there))
            }
        }
    }

    /// A subtree by the inner node from which it hangs and the branch between: mostly one of the four around a branch that is
    /// drawn by its weight.
    pub(super) fn draw_subtree(&self, tree: &Tree, rng: &mut Rng) -> (NodeId, EdgeId) {
        if rng.random::<f64>() < LOOSE
            && let Some(edge) = self.draw(rng)
        {
            let attach = tree.ends(edge)[rng.random_range(0..2)];
            return (attach, tree.other_links(attach, edge)[rng.random_range(0..2)].1);
        }
        random_subtree(tree, rng)
    }

    fn chance_of_subtree(&self, tree: &Tree, (attach, pendant): (NodeId, EdgeId)) -> f64 {
        let of_all = 1.0 / (3 * (tree.num_nodes() - tree.num_tips())) as f64;
        if self.resolutions.is_empty() {
            return of_all;
        }
        let beside = tree.other_links(attach, pendant).map(|link| link.1);
        let by_weight = 0.25 * self.share_of(&beside);
        (1.0 - LOOSE) * of_all + LOOSE * by_weight
    }

    /// An inner branch that is to be cut: mostly one of those beside a branch that is drawn by its weight. `None` if there are
    /// less than two.
    pub(super) fn draw_cut(&self, tree: &Tree, rng: &mut Rng) -> Option<EdgeId> {
        branch_at(rng.random(), self.chances_to_cut(tree).into_iter())
    }

    /// Of each inner branch the probability that it is cut. None if there are less than two.
    fn chances_to_cut(&self, tree: &Tree) -> Vec<(EdgeId, f64)> {
        let mut weights = vec![0.0; tree.num_edges()];
        self.weighted().for_each(|(edge, weight)| weights[edge.index()] = weight);
        let beside = |edge: EdgeId| -> f64 {
            let links = tree.ends(edge).map(|end| tree.other_links(end, edge));
            links.as_flattened().iter().map(|(_, edge)| weights[edge.index()]).sum()
        };
        let inner = tree.edges().filter(|&edge| !tree.is_terminal(edge));
        let mut chances: Vec<(EdgeId, f64)> = inner.map(|edge| (edge, beside(edge))).collect();
        if chances.len() < 2 {
            return Vec::new();
        }
        let all: f64 = chances.iter().map(|one| one.1).sum();
        let of_all = 1.0 / chances.len() as f64;
        chances.iter_mut().for_each(|one| one.1 = (1.0 - LOOSE) * of_all + LOOSE * one.1 / all);
        chances
    }
}

/// The branch at which the sum of weights so far exceeds a number, or else the last one.
fn branch_at(mut at: f64, weighted: impl Iterator<Item = (EdgeId, f64)>) -> Option<EdgeId> {
    let mut found = None;
    for (edge, weight) in weighted {
        found = Some(edge);
        at -= weight;
        if at < 0.0 {
            break;
        }
    }
    found
}

/// A subtree by the inner node from which it hangs and the branch between, all with the same probability.
pub(super) fn random_subtree(tree: &Tree, rng: &mut Rng) -> (NodeId, EdgeId) {
    let num_inner = tree.num_nodes() - tree.num_tips();
    let attach = NodeId((tree.num_tips() + rng.random_range(0..num_inner)) as u32);
    let number = rng.random_range(0..3);
    (attach, tree.links(attach).nth(number).expect("an inner node has three").1)
}

/// What is known of the conflicts of a chain's tree: computed once for each topology.
#[derive(Debug, Clone, Default)]
pub(super) struct KnownConflicts {
    now: Option<Conflicts>,
    /// Those before the last proposal of another topology.
    before: Option<Conflicts>,
    /// What is known of all trees so far, for guided proposals, too.
    pub(super) rows: KnownRows,
}

impl KnownConflicts {
    /// Those of the present tree.
    pub(super) fn get(&mut self, tree: &Tree, guide: &Guide) -> &Conflicts {
        let KnownConflicts { now, rows, .. } = self;
        if now.as_ref().is_some_and(|now| now.power != guide.power) {
            *now = None;
        }
        now.get_or_insert_with(|| Conflicts::of(tree, guide, rows))
    }

    /// Forgets all but the rows: other splits were seen.
    pub(super) fn forget(&mut self) {
        (self.now, self.before) = (None, None);
    }

    /// Logarithm of the probability with which something is drawn in the present tree.
    pub(super) fn ln_chance(&mut self, tree: &Tree, guide: &Guide, drawn: Drawn) -> f64 {
        self.get(tree, guide).ln_chance(tree, drawn)
    }

    /// The tree has another topology now. Must be called once by each proposal of one.
    pub(super) fn renew(&mut self) {
        self.before = self.now.take();
    }

    /// The tree has the topology again that it had before [`KnownConflicts::renew`].
    pub(super) fn take_back(&mut self) {
        self.now = self.before.take();
    }

    /// Fails if what is known is not that of this tree.
    #[cfg(test)]
    pub(super) fn assert_those_of(&self, tree: &Tree, guide: &Guide) {
        let fresh = Conflicts::of(tree, guide, &mut KnownRows::default());
        assert!(self.now.as_ref().is_none_or(|now| *now == fresh));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::data;
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::tree::random_tree;

    /// Branches, those to be cut and subtrees are drawn as often as is said, and nothing else is drawn.
    #[test]
    fn what_is_drawn_has_its_probability() {
        const DRAWS: usize = 40_000;
        let data = ParsimonyData::of_partitions(6, &data(6, "JC").0);
        let mut rng = stream(42, Purpose::Test, 0);
        let tree = random_tree(6, 0.1, &mut rng);
        let assert_share = |expected: f64, drawn: usize| {
            let found = drawn as f64 / DRAWS as f64;
            assert!((found - expected).abs() < 0.012, "{found}, not {expected}");
        };
        for data in [Some(&data), None] {
            let guide = Guide { data, seen: &SeenSplits::default(), power: 1.0 };
            let conflicts = Conflicts::of(&tree, &guide, &mut KnownRows::default());
            let drawn: Vec<EdgeId> =
                (0..DRAWS).map(|_| conflicts.draw(&mut rng).expect("there are some")).collect();
            let mut least_and_most: [f64; 2] = [1.0, 0.0];
            for edge in tree.edges() {
                let expected = libm::exp(conflicts.ln_chance(&tree, Drawn::Branch(edge)));
                assert_share(expected, drawn.iter().filter(|one| **one == edge).count());
                if expected > 0.0 {
                    let [least, most] = least_and_most;
                    least_and_most = [least.min(expected), most.max(expected)];
                }
            }
            assert_eq!(least_and_most[0] < 0.9 * least_and_most[1], data.is_some());
            let drawn: Vec<EdgeId> = (0..DRAWS)
                .map(|_| conflicts.draw_cut(&tree, &mut rng).expect("there are several"))
                .collect();
            for edge in tree.edges().filter(|&edge| !tree.is_terminal(edge)) {
                let expected = libm::exp(conflicts.ln_chance(&tree, Drawn::Cut(edge)));
                assert_share(expected, drawn.iter().filter(|one| **one == edge).count());
            }
            let drawn: Vec<(NodeId, EdgeId)> =
                (0..DRAWS).map(|_| conflicts.draw_subtree(&tree, &mut rng)).collect();
            let mut all = 0.0;
            for attach in tree.nodes().filter(|&node| !tree.is_tip(node)) {
                for (_, pendant) in tree.links(attach) {
                    let subtree = (attach, pendant);
                    let expected = libm::exp(conflicts.ln_chance(&tree, Drawn::Subtree(subtree)));
                    all += expected;
                    assert_share(expected, drawn.iter().filter(|one| **one == subtree).count());
                }
            }
            assert!((all - 1.0).abs() < 1e-12, "{all}");
        }
    }

    /// The ratio that comes with a resolution is that of the probabilities of both ways, and that of the way back with that
    /// of the way there is 1.
    #[test]
    fn resolutions_are_drawn_by_their_weights() {
        let data = ParsimonyData::of_partitions(6, &data(6, "JC").0);
        let mut rng = stream(43, Purpose::Test, 0);
        let mut tree = random_tree(6, 0.1, &mut rng);
        let mut seen = SeenSplits::default();
        (0..3).for_each(|_| seen.see(&random_tree(6, 0.1, &mut rng)));
        let guide = Guide { data: Some(&data), seen: &seen, power: 1.0 };
        let inner: Vec<EdgeId> = tree.edges().filter(|&edge| !tree.is_terminal(edge)).collect();
        for edge in inner {
            let conflicts = Conflicts::of(&tree, &guide, &mut KnownRows::default());
            let drawn: Vec<(usize, f64)> =
                (0..20_000).map(|_| conflicts.draw_resolution(&guide, edge, &mut rng)).collect();
            for number in 0..2 {
                let own: Vec<_> = drawn.iter().filter(|one| one.0 == number).collect();
                let there = own.len() as f64 / drawn.len() as f64;
                let [a, b] = tree.ends(edge);
                let swap = [tree.other_links(a, edge)[0].1, tree.other_links(b, edge)[number].1];
                tree.swap_subtrees(edge, swap[0], swap[1]);
                // The way back swaps the same branches, whatever their places are.
                let back = Conflicts::of(&tree, &guide, &mut KnownRows::default());
                let [a, b] = tree.ends(edge);
                let returns = |to: usize| {
                    let pair = [tree.other_links(a, edge)[0].1, tree.other_links(b, edge)[to].1];
                    let is_same = |one: EdgeId| swap.contains(&one);
                    pair.iter().all(|&one| is_same(one)) || !pair.iter().any(|&one| is_same(one))
                };
                let number_back = (0..2).find(|&to| returns(to)).expect("one leads back");
                let drawn: Vec<usize> =
                    (0..20_000).map(|_| back.draw_resolution(&guide, edge, &mut rng).0).collect();
                let same = drawn.iter().filter(|one| **one == number_back).count();
                let back = same as f64 / drawn.len() as f64;
                let ratio = libm::exp(own[0].1);
                assert!((ratio * there - back).abs() < 0.02, "{ratio}: {there}, {back}");
                tree.swap_subtrees(edge, swap[1], swap[0]);
            }
        }
    }
}
