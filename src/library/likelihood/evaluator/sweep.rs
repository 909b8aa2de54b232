//! Branch-length optimisation: makes programs for the engine with the branches in their order.

use super::evaluator::{BranchOptions, Evaluator};
use super::length_sets::LengthSet;
use super::moves::{ChangedLength, SubtreeMove};
use super::partition_state::PartitionState;
use crate::likelihood::engine::{Goal, Result, SweepJob, SweepPartition, SweepProgram, SweepStep};
use crate::numeric::{Gamma, GammaPrior};
use crate::tree::{EdgeId, NodeId, PrunedSubtree, RegraftUndo, Tree};

/// The branches and edges of a sweep, by their numbers in its program.
struct Swept {
    /// The lengths that are optimised.
    set: LengthSet,
    /// The branches.
    branches: Vec<EdgeId>,
    /// For each partition of the program, the edges of its tree that the program uses.
    edges: Vec<Vec<EdgeId>>,
}

impl Evaluator {
    /// Optimises all branch lengths in sweeps of Newton-Raphson, until a sweep over all branches gains less than
    /// `lnl_epsilon`. Between such sweeps, others visit only branches that have changed in the last one, and their
    /// neighbours. First, lengths are set to within
    /// [`BRLEN_BOUNDS`](crate::likelihood::BRLEN_BOUNDS). Returns the log-likelihood, which is not lower than
    /// that of the tree with these lengths.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn optimize_branches(&mut self, options: &BranchOptions) -> Result<f64> {
        self.optimize_branches_to(options, 0.0)
    }

    /// [`Evaluator::optimize_branches`] that, if `share_of_gain` is not 0, ends after any sweep that gains less than
    /// this share of what all its sweeps gained, or less than `lnl_epsilon`. From two slowly converging sweeps, lengths
    /// are extrapolated.
    ///
    /// # Errors
    /// The engine has failed.
    pub(crate) fn optimize_branches_to(
        &mut self,
        options: &BranchOptions,
        share_of_gain: f64,
    ) -> Result<f64> {
        self.clamp_brlens();
        let mut active: Vec<usize> = (0..self.partitions.len())
            .filter(|&partition| self.num_taxa_of(partition) >= 2)
            .collect();
        let mut gained = 0.0;
        let mut way = Way::default();
        let mut due = Due::all(&self.brlen_sets());
        let mut most = options.max_sweeps * due.num_branches();
        while most >= due.num_due().max(1) {
            let lengths = self.brlen_sets();
            let before = self.partition_log_likelihoods()?;
            let is_full = due.is_full();
            most -= self.sweep_all(&active, &due, options.gain_tolerance)?;
            let after = self.partition_log_likelihoods()?;
            let gain = |partition: &usize| after[*partition] - before[*partition];
            let total: f64 = active.iter().map(gain).sum();
            gained += total;
            if due.num_due() == 0 || total < options.lnl_epsilon.max(share_of_gain * gained) {
                if is_full || share_of_gain > 0.0 {
                    break;
                }
                due = Due::all(&lengths);
                continue;
            }
            if self.linkage.has_own_lengths() {
                // Partitions converge independently; a partition continues if its gain is a relevant part of epsilon.
                let share = options.lnl_epsilon / active.len().max(1) as f64;
                active.retain(|partition| gain(partition) >= share);
            }
            way.note(lengths.clone());
            due = self.due_since(&lengths);
            if most >= due.num_due()
                && let Some(further) = way.further(self.brlen_sets(), total)
            {
                self.try_lengths(further, &after)?;
                due = self.due_since(&lengths);
            }
        }
        self.log_likelihood()
    }

    /// The branches that have changed since lengths were these, and their neighbours.
    fn due_since(&self, before: &[Vec<f64>]) -> Due {
        let trees = self.length_sets().into_iter().map(|set| self.tree_of(set));
        Due { branches: trees.zip(before).map(|(tree, before)| due_of(tree, before)).collect() }
    }

    /// Sets these lengths, and keeps those of sets whose log-likelihood does not decrease. `before` are the present
    /// log-likelihoods of all partitions.
    fn try_lengths(&mut self, mut lengths: Vec<Vec<f64>>, before: &[f64]) -> Result<()> {
        let kept = self.brlen_sets();
        self.set_brlen_sets(&lengths);
        let after = self.partition_log_likelihoods()?;
        let is_worse = |set: usize| match self.linkage.has_own_lengths() {
            true => after[set] < before[set],
            false => after.iter().sum::<f64>() < before.iter().sum::<f64>(),
        };
        let worse: Vec<usize> = (0..lengths.len()).filter(|&set| is_worse(set)).collect();
        if !worse.is_empty() {
            for set in worse {
                lengths[set].clone_from(&kept[set]);
            }
            self.set_brlen_sets(&lengths);
        }
        Ok(())
    }

    /// One sweep over the branches that are due, of the global tree or, under unlinked lengths, of the trees of
    /// `partitions`. Returns how many they were.
    fn sweep_all(&mut self, partitions: &[usize], due: &Due, gain_tolerance: f64) -> Result<usize> {
        let sets: Vec<(LengthSet, &[bool])> = match self.linkage.has_own_lengths() {
            true => partitions.iter().map(|&g| (LengthSet::Own(g), &due.branches[g][..])).collect(),
            false => vec![(LengthSet::Shared, &due.branches[0])],
        };
        let mut sweeps = Vec::with_capacity(sets.len());
        let mut number = 0;
        for (set, due) in sets {
            let mut edges = depth_first(self.tree_of(set));
            edges.retain(|edge| due[edge.index()]);
            number += edges.len();
            sweeps.push(self.sweep(set, &edges, gain_tolerance));
        }
        self.run_sweeps(sweeps)?;
        Ok(number)
    }

    /// Optimises the branches around the new and the old position of a moved subtree, in the global tree or,
    /// under unlinked lengths, in each restricted tree that has changed: the three branches at the new
    /// position and the merged one at the old, and for `radius` > 0 all branches within `radius` edges of these
    /// positions.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn optimize_around(
        &mut self,
        moved: &mut SubtreeMove,
        radius: usize,
        gain_tolerance: f64,
    ) -> Result<()> {
        let mut sweeps = Vec::new();
        for set in self.length_sets() {
            if let Some((pruned, regraft)) = moved.of(set) {
                let edges = around(self.tree_of(set), &pruned, &regraft, radius);
                sweeps.push(self.sweep(set, &edges, gain_tolerance));
            }
        }
        moved.lengths.extend(self.run_sweeps(sweeps)?);
        Ok(())
    }

    /// Optimises the lengths of these edges of the global tree, in their order; under unlinked lengths, those of the
    /// edges of restricted trees on whose paths they are.
    ///
    /// # Errors
    /// The engine has failed.
    pub(crate) fn optimize_edges(&mut self, edges: &[EdgeId], gain_tolerance: f64) -> Result<()> {
        self.optimize_edges_of(&self.length_sets(), edges, gain_tolerance)?;
        Ok(())
    }

    /// [`Evaluator::optimize_edges`] for these sets of lengths alone. Returns the lengths with their values before.
    pub(super) fn optimize_edges_of(
        &mut self,
        sets: &[LengthSet],
        edges: &[EdgeId],
        gain_tolerance: f64,
    ) -> Result<Vec<ChangedLength>> {
        let mut sweeps = Vec::new();
        for &set in sets {
            let edges = match set {
                LengthSet::Shared => edges.to_vec(),
                LengthSet::Own(partition) => {
                    let restriction = &self.restrictions[self.partitions[partition].set];
                    let mut own = Vec::new();
                    for &edge in edges.iter().filter(|&&edge| restriction.is_on_path(edge)) {
                        let image = restriction.image(edge).edge;
                        if !own.contains(&image) {
                            own.push(image);
                        }
                    }
                    own
                }
            };
            sweeps.push(self.sweep(set, &edges, gain_tolerance));
        }
        self.run_sweeps(sweeps)
    }

    /// The gamma distribution nearest to the density of the length of an edge of the global tree or, under unlinked lengths,
    /// of the tree of `partition`: the likelihood to a power times a prior density. It does not depend on the present length.
    /// `start` is where the likelihood is evaluated first. `None` if the density is not like one. Virtual roots are moved
    /// to the edge.
    ///
    /// # Errors
    /// The engine has failed.
    pub fn length_density(
        &mut self,
        partition: Option<usize>,
        edge: EdgeId,
        prior: GammaPrior,
        start: f64,
    ) -> Result<Option<Gamma>> {
        let (_, mut program) =
            self.sweep(partition.map_or(LengthSet::Shared, LengthSet::Own), &[edge], 0.0);
        if program.steps.is_empty() {
            return Ok(prior.alone());
        }
        program.goal = Goal::Density { prior, start };
        self.compute(|engine| engine.optimize_branches(std::slice::from_mut(&mut program)))?;
        Ok(program.density)
    }

    /// First and second derivative of the log-likelihood with respect to the lengths of these edges of the global tree; 0 for
    /// those on which no partition depends. Virtual roots are moved.
    ///
    /// # Errors
    /// The engine has failed.
    ///
    /// # Panics
    /// Under unlinked lengths, where each partition has edges of its own.
    pub fn brlen_derivatives(&mut self, edges: &[EdgeId]) -> Result<Vec<[f64; 2]>> {
        assert!(!self.linkage.has_own_lengths(), "partitions share their branch lengths");
        let (swept, mut program) = self.sweep(LengthSet::Shared, edges, 0.0);
        program.goal = Goal::Derivatives;
        if !program.steps.is_empty() {
            self.compute(|engine| engine.optimize_branches(std::slice::from_mut(&mut program)))?;
        }
        let mut found = swept.branches.iter().zip(&program.derivatives).peekable();
        let of_edge = |edge: &EdgeId| match found.next_if(|(branch, _)| *branch == edge) {
            Some((_, &[_, first, second])) => [first, second],
            None => [0.0; 2],
        };
        Ok(edges.iter().map(of_edge).collect())
    }

    /// A sweep that optimises the given edges of a set's tree, in their order.
    fn sweep(
        &mut self,
        set: LengthSet,
        edges: &[EdgeId],
        gain_tolerance: f64,
    ) -> (Swept, SweepProgram) {
        self.update_restrictions();
        let mut program = SweepProgram::new(Vec::new(), gain_tolerance);
        let mut branches = Vec::new();
        let members: Vec<usize> = match set {
            LengthSet::Shared => (0..self.partitions.len())
                .filter(|&partition| self.num_taxa_of(partition) >= 2)
                .collect(),
            LengthSet::Own(partition) => vec![partition],
        };
        for &edge in edges {
            let first = program.jobs.len();
            for (member, &partition) in members.iter().enumerate() {
                let edge = match set {
                    LengthSet::Shared => {
                        let restriction = &self.restrictions[self.partitions[partition].set];
                        if !restriction.is_on_path(edge) {
                            continue;
                        }
                        restriction.image(edge).edge
                    }
                    LengthSet::Own(_) => edge,
                };
                let job = self.sweep_job(member, partition, edge, &mut program);
                program.jobs.push(job);
            }
            if program.jobs.len() > first {
                let jobs = first..program.jobs.len();
                program.steps.push(SweepStep { jobs, branch: branches.len() as u32 });
                program.brlens.push(self.tree_of(set).brlen(edge));
                branches.push(edge);
            }
        }
        let mut edges = Vec::with_capacity(members.len());
        for partition in members {
            let state = &mut self.partitions[partition];
            let own = state.numbers.take();
            let brlens = own.iter().map(|&edge| state.tree.tree().brlen(edge)).collect();
            program.partitions.push(SweepPartition {
                partition,
                brlen_scaler: state.brlen_scaler,
                brlens,
            });
            edges.push(own);
        }
        (Swept { set, branches, edges }, program)
    }

    /// Moves the partition's virtual root to an edge, in the partition's state and by updates in the program. A length
    /// that changes while its edge is the virtual root makes no CLV stale.
    fn sweep_job(
        &mut self,
        member: usize,
        partition: usize,
        edge: EdgeId,
        program: &mut SweepProgram,
    ) -> SweepJob {
        let PartitionState { tree, numbers, .. } = &mut self.partitions[partition];
        tree.move_root(edge);
        let first = program.operations.len();
        tree.take_stale(&mut program.operations);
        for operation in &mut program.operations[first..] {
            operation.edges = operation.edges.map(|edge| numbers.of(EdgeId(edge)));
        }
        SweepJob {
            member,
            operations: first..program.operations.len(),
            ends: tree.root_ends(),
            edge: numbers.of(edge),
        }
    }

    /// Runs sweeps and adopts their lengths. Returns these with their values before.
    fn run_sweeps(&mut self, sweeps: Vec<(Swept, SweepProgram)>) -> Result<Vec<ChangedLength>> {
        let with_steps = sweeps.into_iter().filter(|(_, program)| !program.steps.is_empty());
        let (swept, mut programs): (Vec<_>, Vec<_>) = with_steps.unzip();
        self.compute(|engine| engine.optimize_branches(&mut programs))?;
        let mut changed = Vec::new();
        for (Swept { set, branches, edges }, program) in swept.into_iter().zip(programs) {
            for &edge in &branches {
                changed.push(ChangedLength { set, edge, before: self.tree_of(set).brlen(edge) });
            }
            for (member, edges) in program.partitions.iter().zip(edges) {
                let state = &mut self.partitions[member.partition];
                // The log-likelihood of a partition without any of these edges is still known, as of another virtual root.
                if !edges.is_empty() {
                    state.lnl = None;
                }
                for (edge, &length) in edges.into_iter().zip(&member.brlens) {
                    state.tree.adopt_brlen(edge, length);
                }
            }
            if set == LengthSet::Shared {
                for (&edge, &length) in branches.iter().zip(&program.brlens) {
                    self.tree.set_brlen(edge, length);
                }
                // The restricted trees already have their new lengths; distances along them are outdated.
                self.outdated.mark(branches);
            }
        }
        Ok(changed)
    }
}

/// The branches that a sweep must visit, by set and edge. A branch whose length is right for its neighbours'
/// remains so until one of these changes, up to what changes farther away do: a full sweep has the last word.
struct Due {
    branches: Vec<Vec<bool>>,
}

impl Due {
    /// All branches of sets with these lengths.
    fn all(lengths: &[Vec<f64>]) -> Self {
        Due { branches: lengths.iter().map(|lengths| vec![true; lengths.len()]).collect() }
    }

    fn num_branches(&self) -> usize {
        self.branches.iter().map(Vec::len).sum()
    }

    fn num_due(&self) -> usize {
        self.branches.iter().flatten().filter(|&&is_due| is_due).count()
    }

    fn is_full(&self) -> bool {
        self.branches.iter().flatten().all(|&is_due| is_due)
    }
}

/// The edges of a tree that have changed since lengths were these, and their neighbours.
fn due_of(tree: &Tree, before: &[f64]) -> Vec<bool> {
    let mut due = vec![false; tree.num_edges()];
    for edge in tree.edges().filter(|edge| tree.brlen(*edge) != before[edge.index()]) {
        for end in tree.ends(edge) {
            tree.links(end).for_each(|(_, near)| due[near.index()] = true);
        }
    }
    due
}

/// The last lengths of a sequence of sweeps, for extrapolation.
#[derive(Default)]
struct Way {
    lengths: Vec<Vec<Vec<f64>>>,
    gain: f64,
}

impl Way {
    /// The lengths before a sweep.
    fn note(&mut self, lengths: Vec<Vec<f64>>) {
        self.lengths.drain(..self.lengths.len().saturating_sub(1));
        self.lengths.push(lengths);
    }

    /// After a sweep to the lengths `now` with its gain: lengths further on, if the last two sweeps converge slowly.
    ///
    /// The method is SQUAREM's third scheme (Varadhan & Roland 2008, Scand. J. Stat. 35:335-353), for the square roots
    /// of the lengths, which have about the same variance at all lengths.
    fn further(&mut self, now: Vec<Vec<f64>>, gain: f64) -> Option<Vec<Vec<f64>>> {
        let before = std::mem::replace(&mut self.gain, gain);
        let [.., first, second] = self.lengths.as_slice() else {
            return None;
        };
        if gain < SLOW * before {
            return None;
        }
        let further = |set: usize| extrapolate(&first[set], &second[set], &now[set]);
        let lengths = (0..now.len()).map(further).collect();
        self.lengths.clear();
        Some(lengths)
    }
}

/// Sweeps converge slowly if one gains more than this share of the gain of the previous one.
const SLOW: f64 = 0.15;

/// Longest step of an extrapolation, in units of the step made by sweeps.
const MAX_EXTRAPOLATION: f64 = 8.0;

/// Lengths extrapolated from three in a row.
fn extrapolate(first: &[f64], second: &[f64], third: &[f64]) -> Vec<f64> {
    let steps = |i: usize| {
        let [a, b, c] = [first[i], second[i], third[i]].map(libm::sqrt);
        (b - a, c - 2.0 * b + a)
    };
    let (mut of_step, mut of_change) = (0.0, 0.0);
    for (step, change) in (0..third.len()).map(steps) {
        of_step += step * step;
        of_change += change * change;
    }
    if of_change == 0.0 {
        return third.to_vec();
    }
    let far = libm::sqrt(of_step / of_change).clamp(1.0, MAX_EXTRAPOLATION);
    let length = |i: usize| {
        let (step, change) = steps(i);
        let root = libm::sqrt(first[i]) + 2.0 * far * step + far * far * change;
        (root.max(0.0) * root).clamp(0.25 * third[i], 4.0 * third[i])
    };
    (0..third.len()).map(length).collect()
}

/// The edges that [`Evaluator::optimize_around`] optimises, those nearest to the two positions first.
fn around(
    tree: &Tree,
    pruned: &PrunedSubtree,
    regraft: &RegraftUndo,
    radius: usize,
) -> Vec<EdgeId> {
    let mut edges = vec![pruned.pendant, regraft.target, pruned.spare];
    if regraft.target != pruned.merged {
        edges.push(pruned.merged);
    }
    if radius > 0 {
        for place in [pruned.pendant, pruned.merged] {
            for (edge, _) in tree.edges_within(place, radius) {
                if !edges.contains(&edge) {
                    edges.push(edge);
                }
            }
        }
    }
    edges
}

/// All edges in depth-first order from tip 0: consecutive edges are close, so few CLVs change direction.
fn depth_first(tree: &Tree) -> Vec<EdgeId> {
    match tree.links(NodeId(0)).next() {
        Some((neighbour, edge)) => {
            tree.preorder(neighbour, edge).into_iter().map(|(_, edge)| edge).collect()
        }
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_due_where_they_or_their_neighbours_have_changed() {
        // Tips 0 to 5 along the path of inner nodes 6, 7, 8, 9.
        let ends = [(0, 6), (1, 6), (6, 7), (2, 7), (7, 8), (3, 8), (8, 9), (4, 9), (5, 9)];
        let mut tree = Tree::from_edges(6, &ends.map(|(a, b)| (a, b, 0.1)));
        let before: Vec<f64> = tree.edges().map(|edge| tree.brlen(edge)).collect();
        assert_eq!(due_of(&tree, &before), [false; 9]);
        tree.set_brlen(EdgeId(3), 0.2);
        let due: Vec<usize> = (0..9).filter(|&edge| due_of(&tree, &before)[edge]).collect();
        assert_eq!(due, [2, 3, 4]);
        tree.set_brlen(EdgeId(7), 0.2);
        let due: Vec<usize> = (0..9).filter(|&edge| due_of(&tree, &before)[edge]).collect();
        assert_eq!(due, [2, 3, 4, 6, 7, 8]);
    }

    #[test]
    fn lengths_are_extrapolated_to_the_limit_of_a_geometric_sequence() {
        // Square roots: the distance from the limit is halved, or falls by a fifth.
        for (factor, error) in [(0.5, 1e-12), (0.8, 1e-12)] {
            let at = |k: i32| -> Vec<f64> {
                [0.3, 0.5]
                    .iter()
                    .map(|end| libm::pow(end + 0.1 * libm::pow(factor, f64::from(k)), 2.0))
                    .collect()
            };
            let found = extrapolate(&at(0), &at(1), &at(2));
            assert!(
                (found[0] - 0.09).abs() < error && (found[1] - 0.25).abs() < error,
                "{found:?}"
            );
        }
        let same = [0.1, 0.2];
        assert_eq!(extrapolate(&same, &same, &same), same);
    }
}
