//! [`Merging`]: a scheme on its way to the best one, as a machine that asks for fits and is told of them.
//!
//! ```text
//! trials   the likelihood of each union of two subsets that are compared now, at parameters that are expected to be good for it;
//!          not where it is known
//! fits     of those unions that may be the best, by their trials
//! merge    the best pair, or several that do not overlap, if the criterion of the scheme is better with it
//! ```
//!
//! until nothing is merged. The log-likelihoods of the subsets are fitted apart from each other, so that only that of the union
//! changes: one fit tells what a merge brings. Parameters that a subset has for itself (its model, its scaler, its own branch
//! lengths) go with it; those that all subsets share are counted once.

use super::super::criteria::{Criterion, Scores};
use super::dissimilarity::SubsetTraits;
use super::method::MergeMethod;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// A merge must improve the criterion by more than this.
const LEAST_GAIN: f64 = 1e-6;
/// Where several pairs are merged at once, those that gain at least this share of what the best one does.
const SHARE_OF_BEST: f64 = 0.5;

/// What a subset adds to the criterion of a scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubsetScore {
    /// Its log-likelihood.
    pub lnl: f64,
    /// Number of parameters that it has for itself.
    pub num_parameters: usize,
}

/// What the criterion of a scheme consists of beside its subsets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SchemeParts {
    /// The criterion.
    pub criterion: Criterion,
    /// Number of sites of all partitions.
    pub num_sites: usize,
    /// Number of parameters that all subsets share: branch lengths.
    pub num_shared: usize,
}

impl SchemeParts {
    /// The criteria of a scheme of subsets with these log-likelihoods and numbers of parameters together.
    pub fn scores(&self, lnl: f64, num_parameters: usize) -> Scores {
        Scores::new(lnl, self.num_shared + num_parameters, self.num_sites)
    }

    /// The criterion of a single subset, by which models for it are compared. Its differences are those of the scheme's, except
    /// that AICc corrects for the parameters of this subset alone.
    pub fn value_of(&self, score: SubsetScore) -> f64 {
        let scores = Scores::new(score.lnl, score.num_parameters, self.num_sites);
        let value = scores.by(self.criterion);
        if value.is_finite() { value } else { scores.aic }
    }

    /// AICc may be undefined, and AIC determines the order then.
    fn key(&self, lnl: f64, num_parameters: usize) -> [f64; 2] {
        let scores = self.scores(lnl, num_parameters);
        [scores.by(self.criterion), scores.aic]
    }
}

/// True if a scheme with the second key is better than one with the first.
fn is_better([before, aic_before]: [f64; 2], [after, aic_after]: [f64; 2]) -> bool {
    match (before.is_finite(), after.is_finite()) {
        (true, _) => after < before - LEAST_GAIN,
        (false, true) => true,
        (false, false) => aic_after < aic_before - LEAST_GAIN,
    }
}

/// By how much the fit of a union may be better than its trial.
#[derive(Debug, Clone, Copy)]
struct Missed {
    /// Log units.
    by: f64,
    /// A share of what the trial has lost against the two subsets.
    share: f64,
}

/// Measured (561 pairs of 34 genes, 1830 of 61 codon positions): the fits of pairs that are worth merging are 0 to 3 better than
/// their trials, of one in two hundred 10 to 24, and of a few 200, whose frequencies or rates are far apart. These are looked for only
/// where nothing else is worth merging.
const USUALLY_MISSED: Missed = Missed { by: 10.0, share: 0.1 };
const RARELY_MISSED: Missed = Missed { by: 20.0, share: 0.75 };
/// Of a union that was fitted.
const NOT_MISSED: Missed = Missed { by: 0.0, share: 0.0 };
/// Fits that are asked for at once, where one pair is merged and where several are: after them, fewer others may be better. The
/// number of threads must not change it.
const FITS_AT_ONCE: [usize; 2] = [8, 64];

/// By how much the second key is better.
fn gain([before, aic_before]: [f64; 2], [after, aic_after]: [f64; 2]) -> f64 {
    match before.is_finite() && after.is_finite() {
        true => before - after,
        false => aic_before - aic_after,
    }
}

/// What a merging needs next, as pairs of subsets by their numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// Trials of their unions; fits will do.
    Trials(Vec<[usize; 2]>),
    /// Fits of their unions.
    Fits(Vec<[usize; 2]>),
    /// Nothing: it can be decided what is merged.
    Nothing,
}

/// A merge that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Merge {
    /// The number of the union among the subsets.
    pub subset: usize,
    /// The partitions of both, by their numbers, in ascending order.
    pub merged: [Vec<usize>; 2],
    /// The criterion before and after it.
    pub before: f64,
    /// The criterion after it.
    pub after: f64,
}

/// A subset of the partitions.
#[derive(Debug, Clone, PartialEq)]
struct Subset {
    members: Vec<usize>,
    /// Only subsets of the same group may be merged.
    group: usize,
    score: SubsetScore,
    traits: SubsetTraits,
}

/// What is known of a union.
#[derive(Debug, Clone, PartialEq)]
struct Known {
    score: SubsetScore,
    /// Of its fit; `None` after a trial.
    traits: Option<SubsetTraits>,
}

/// Two subsets, by their numbers, the smaller one first.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pair {
    dissimilarity: f64,
    subsets: [usize; 2],
}

impl Pair {
    fn order(&self, other: &Pair) -> Ordering {
        let by_distance = self.dissimilarity.total_cmp(&other.dissimilarity);
        by_distance.then(self.subsets.cmp(&other.subsets))
    }
}

/// Merging of partitions, in progress.
#[derive(Debug, Clone)]
pub struct Merging {
    method: MergeMethod,
    parts: SchemeParts,
    /// By number; `None` for those that were merged.
    subsets: Vec<Option<Subset>>,
    spreads: [f64; 4],
    /// All pairs of present subsets of the same group.
    pairs: Vec<Pair>,
    /// How many of them, the first ones, are compared now.
    num_compared: usize,
    /// What is known of unions, by their partitions.
    known: BTreeMap<Vec<usize>, Known>,
}

impl Merging {
    /// Begins with a subset for each partition: its group (only those of the same group may be merged), and what is known of it.
    pub fn new(
        method: MergeMethod,
        parts: SchemeParts,
        partitions: Vec<(usize, SubsetScore, SubsetTraits)>,
    ) -> Self {
        let traits: Vec<&SubsetTraits> = partitions.iter().map(|(.., traits)| traits).collect();
        let spreads = SubsetTraits::spreads(&traits);
        let subset = |(number, (group, score, traits))| {
            Some(Subset { members: vec![number], group, score, traits })
        };
        let subsets: Vec<Option<Subset>> = partitions.into_iter().enumerate().map(subset).collect();
        let (pairs, known) = (Vec::new(), BTreeMap::new());
        let mut merging =
            Merging { method, parts, subsets, spreads, pairs, num_compared: 0, known };
        (0..merging.subsets.len())
            .for_each(|subset| merging.add_pairs(subset, |other| other < subset));
        merging.choose_compared();
        merging
    }

    /// What is needed next.
    pub fn ask(&self) -> Asked {
        let compared = self.pairs[..self.num_compared].iter().map(|pair| pair.subsets);
        let is_unknown = |pair: &[usize; 2]| !self.known.contains_key(&self.union_of(*pair));
        let unknown: Vec<[usize; 2]> = compared.filter(is_unknown).collect();
        if !unknown.is_empty() {
            return Asked::Trials(unknown);
        }
        let total = self.total();
        let before = self.parts.key(total.0, total.1);
        let (mut best, mut tried) = (0.0_f64, Vec::new());
        for pair in &self.pairs[..self.num_compared] {
            match self.known[&self.union_of(pair.subsets)].traits {
                None => tried.push(pair.subsets),
                Some(_) => {
                    let after = self.key_with(pair.subsets, total, NOT_MISSED);
                    best = best.max(after.map_or(0.0, |after| gain(before, after)));
                }
            }
        }
        let wanted = if self.method.merges_several() { SHARE_OF_BEST * best } else { best };
        let could_be_best = |missed: Missed| {
            let most = |&subsets: &[usize; 2]| {
                let after = self.key_with(subsets, total, missed)?;
                Some((gain(before, after), subsets)).filter(|(most, _)| *most > wanted + LEAST_GAIN)
            };
            tried.iter().filter_map(most).collect::<Vec<_>>()
        };
        let mut asked = could_be_best(USUALLY_MISSED);
        if asked.is_empty() && best <= LEAST_GAIN {
            asked = could_be_best(RARELY_MISSED);
        }
        // A stable sort: of equal ones the more similar come first.
        asked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        asked.truncate(FITS_AT_ONCE[usize::from(self.method.merges_several())]);
        match asked.is_empty() {
            true => Asked::Nothing,
            false => Asked::Fits(asked.into_iter().map(|(_, subsets)| subsets).collect()),
        }
    }

    /// What a trial of the union of two subsets has found.
    pub fn tell_trial(&mut self, subsets: [usize; 2], score: SubsetScore) {
        self.known.entry(self.union_of(subsets)).or_insert(Known { score, traits: None });
    }

    /// What the fit of the union of two subsets has found.
    pub fn tell(&mut self, subsets: [usize; 2], score: SubsetScore, traits: SubsetTraits) {
        self.known.insert(self.union_of(subsets), Known { score, traits: Some(traits) });
    }

    /// Merges the best of the pairs that are compared, or several, if the criterion is better with them. Of equally good ones the
    /// more similar comes first.
    pub fn merge(&mut self) -> Vec<Merge> {
        let total = self.total();
        let before = self.parts.key(total.0, total.1);
        let mut better: Vec<([f64; 2], [usize; 2])> = Vec::new();
        for pair in &self.pairs[..self.num_compared] {
            if self.known.get(&self.union_of(pair.subsets)).is_none_or(|one| one.traits.is_none()) {
                continue;
            }
            let after = self.key_with(pair.subsets, total, NOT_MISSED);
            if let Some(after) = after.filter(|&after| is_better(before, after)) {
                better.push((after, pair.subsets));
            }
        }
        // A stable sort.
        better.sort_by(|(a, _), (b, _)| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        let least = better.first().map_or(0.0, |&(best, _)| SHARE_OF_BEST * gain(before, best));
        let at_once = if self.method.merges_several() { better.len() } else { 1 };
        let mut merges = Vec::new();
        for (after, subsets) in better.into_iter().take(at_once) {
            // The number of parameters has changed, and AICc is no sum.
            let total = self.total();
            let now = self.parts.key(total.0, total.1);
            let again = self.key_with(subsets, total, NOT_MISSED);
            let Some(again) = again.filter(|&again| is_better(now, again)) else { continue };
            if gain(before, after) >= least {
                merges.push(self.unite(subsets, now[0], again[0]));
            }
        }
        if !merges.is_empty() {
            let subsets = &self.subsets;
            self.pairs.retain(|pair| pair.subsets.iter().all(|&subset| subsets[subset].is_some()));
            for merge in &merges {
                self.add_pairs(merge.subset, |other| other < merge.subset);
            }
            self.choose_compared();
        }
        merges
    }

    /// A better model of a present subset was found.
    pub fn improve(&mut self, subset: usize, score: SubsetScore, traits: SubsetTraits) {
        if let Some(known) = &mut self.subsets[subset] {
            (known.score, known.traits) = (score, traits);
            self.pairs.retain(|pair| !pair.subsets.contains(&subset));
            self.add_pairs(subset, |other| other != subset);
            self.choose_compared();
        }
    }

    /// The present subsets: their numbers, and their partitions in ascending order. Those with the first partitions come first.
    pub fn scheme(&self) -> Vec<(usize, &[usize])> {
        let present = self.subsets.iter().enumerate();
        let mut scheme: Vec<(usize, &[usize])> = present
            .filter_map(|(number, subset)| Some((number, subset.as_ref()?.members.as_slice())))
            .collect();
        scheme.sort_by_key(|(_, members)| members[0]);
        scheme
    }

    /// The partitions of a present subset.
    ///
    /// # Panics
    /// If it was merged with another one.
    pub fn members(&self, subset: usize) -> &[usize] {
        &self.subsets[subset].as_ref().expect("a present subset").members
    }

    /// The criterion of the scheme.
    pub fn value(&self) -> f64 {
        self.key()[0]
    }

    fn total(&self) -> (f64, usize) {
        let scores = || self.subsets.iter().flatten().map(|subset| subset.score);
        (scores().map(|s| s.lnl).sum(), scores().map(|s| s.num_parameters).sum())
    }

    fn key(&self) -> [f64; 2] {
        let (lnl, num_parameters) = self.total();
        self.parts.key(lnl, num_parameters)
    }

    /// The key of a scheme of this log-likelihood and number of parameters with these two merged, if both are present and their
    /// union is known, with what its trial may have missed.
    fn key_with(
        &self,
        subsets: [usize; 2],
        (lnl, num_parameters): (f64, usize),
        missed: Missed,
    ) -> Option<[f64; 2]> {
        let [a, b] = subsets.map(|number| self.subsets[number].as_ref().map(|s| s.score));
        let (a, b) = (a?, b?);
        let union = self.known.get(&self.union_of(subsets))?.score;
        let lost = a.lnl + b.lnl - union.lnl;
        let lnl = lnl - lost + missed.by + missed.share * lost.max(0.0);
        let num_parameters =
            num_parameters - a.num_parameters - b.num_parameters + union.num_parameters;
        Some(self.parts.key(lnl, num_parameters))
    }

    /// The partitions of both.
    fn union_of(&self, subsets: [usize; 2]) -> Vec<usize> {
        let both = subsets.iter().filter_map(|&subset| self.subsets[subset].as_ref());
        let mut members: Vec<usize> = both.flat_map(|s| s.members.iter().copied()).collect();
        members.sort_unstable();
        members
    }

    fn unite(&mut self, subsets: [usize; 2], before: f64, after: f64) -> Merge {
        let members = self.union_of(subsets);
        let Known { score, traits } = self.known[&members].clone();
        let traits = traits.expect("only fitted unions are merged");
        let taken = subsets.map(|subset| self.subsets[subset].take().expect("a present subset"));
        let group = taken[0].group;
        let subset = self.subsets.len();
        self.subsets.push(Some(Subset { members, group, score, traits }));
        Merge { subset, merged: taken.map(|subset| subset.members), before, after }
    }

    /// Pairs of a subset with others.
    fn add_pairs(&mut self, number: usize, is_partner: impl Fn(usize) -> bool) {
        let Some(subset) = &self.subsets[number] else { return };
        let others = self.subsets.iter().enumerate().filter(|&(other, _)| is_partner(other));
        let pairs: Vec<Pair> = others
            .filter_map(|(other, there)| Some((other, there.as_ref()?)))
            .filter(|(_, there)| there.group == subset.group)
            .map(|(other, there)| Pair {
                dissimilarity: subset.traits.dissimilarity(&there.traits, &self.spreads),
                subsets: [other.min(number), other.max(number)],
            })
            .collect();
        self.pairs.extend(pairs);
    }

    /// The most similar pairs come first, in order.
    fn choose_compared(&mut self) {
        let num_subsets = self.subsets.iter().flatten().count();
        let count = self.method.num_compared(self.pairs.len(), num_subsets);
        if count > 0 && count < self.pairs.len() {
            self.pairs.select_nth_unstable_by(count - 1, Pair::order);
        }
        self.pairs[..count].sort_unstable_by(Pair::order);
        self.num_compared = count;
    }
}
