//! Merging on partitions whose unions have known log-likelihoods: what is asked, what is merged, and that no scheme is worse than
//! that of the beginning.

use super::*;
use crate::model::Model;
use crate::model_selection::Criterion;
use proptest::prelude::*;

/// Partitions at places on a line: a subset loses by how far its members are from their mean.
struct Line {
    places: Vec<f64>,
    asked: Vec<Vec<usize>>,
}

const PARAMETERS: usize = 5;
const SITES: usize = 1000;

impl Line {
    fn score(&self, members: &[usize]) -> SubsetScore {
        let mean = members.iter().map(|&m| self.places[m]).sum::<f64>() / members.len() as f64;
        let loss: f64 =
            members.iter().map(|&m| (self.places[m] - mean) * (self.places[m] - mean)).sum();
        SubsetScore { lnl: -100.0 * members.len() as f64 - loss, num_parameters: PARAMETERS }
    }

    fn traits(&self, members: &[usize]) -> SubsetTraits {
        let mean = members.iter().map(|&m| self.places[m]).sum::<f64>() / members.len() as f64;
        SubsetTraits::of(&Model::parse("JC").unwrap(), libm::exp(mean))
    }

    fn begin(&self, method: MergeMethod, criterion: Criterion) -> Merging {
        self.begin_with(method, criterion, SITES)
    }

    fn begin_with(&self, method: MergeMethod, criterion: Criterion, num_sites: usize) -> Merging {
        let parts = SchemeParts { criterion, num_sites, num_shared: 7 };
        let one = |number| (0, self.score(&[number]), self.traits(&[number]));
        Merging::new(method, parts, (0..self.places.len()).map(one).collect())
    }

    fn step(&mut self, merging: &mut Merging) -> Vec<Merge> {
        loop {
            match merging.ask() {
                Asked::Nothing => return merging.merge(),
                Asked::Trials(pairs) => {
                    for pair in pairs {
                        // Unions of more partitions are tried less well.
                        let union = self.union(merging, pair);
                        let mut score = self.score(&union);
                        score.lnl -= union.len().min(5) as f64;
                        merging.tell_trial(pair, score);
                    }
                }
                Asked::Fits(pairs) => {
                    for pair in pairs {
                        let union = self.union(merging, pair);
                        merging.tell(pair, self.score(&union), self.traits(&union));
                        self.asked.push(union);
                    }
                }
            }
        }
    }

    fn union(&self, merging: &Merging, [a, b]: [usize; 2]) -> Vec<usize> {
        let mut union = [merging.members(a), merging.members(b)].concat();
        union.sort_unstable();
        union
    }

    fn finish(&mut self, merging: &mut Merging) -> Vec<Merge> {
        let mut all = Vec::new();
        loop {
            let merges = self.step(merging);
            if merges.is_empty() {
                return all;
            }
            all.extend(merges);
        }
    }
}

fn line(places: &[f64]) -> Line {
    Line { places: places.to_vec(), asked: Vec::new() }
}

fn members(merging: &Merging) -> Vec<Vec<usize>> {
    merging.scheme().into_iter().map(|(_, members)| members.to_vec()).collect()
}

#[test]
fn those_that_are_alike_are_merged_and_others_not() {
    for method in [MergeMethod::Greedy, MergeMethod::Relaxed(10.0), MergeMethod::FastRelaxed(50.0)]
    {
        let mut line = line(&[0.0, 20.0, 1.0, 19.0, 2.0, -30.0]);
        let mut merging = line.begin(method, Criterion::Bic);
        let merges = line.finish(&mut merging);
        assert_eq!(members(&merging), [vec![0, 2, 4], vec![1, 3], vec![5]], "{method:?}");
        assert_eq!(merges.len(), 3);
        let is_chain = |pair: &[Merge]| pair[1].before == pair[0].after;
        assert!(merges.windows(2).all(is_chain) && merges.iter().all(|m| m.after < m.before));
        assert_eq!(merges[2].after, merging.value());
        // No union twice.
        let mut asked = line.asked.clone();
        asked.sort();
        asked.dedup();
        assert_eq!(asked.len(), line.asked.len());
    }
}

#[test]
fn greedy_asks_all_pairs_and_relaxed_clustering_the_most_similar() {
    let places: Vec<f64> = (0..20).map(|i| f64::from(i * i)).collect();
    let (mut all, mut few) = (line(&places), line(&places));
    let tried = |merging: &Merging| match merging.ask() {
        Asked::Trials(pairs) => pairs,
        other => panic!("{other:?}"),
    };
    let mut merging = all.begin(MergeMethod::Greedy, Criterion::Bic);
    assert_eq!(tried(&merging).len(), 190);
    all.step(&mut merging);
    assert!(all.asked.len() < 30, "{} pairs were fitted", all.asked.len());
    assert_eq!(tried(&merging).len(), 18, "only the new subset is paired");
    let mut merging = few.begin(MergeMethod::Relaxed(10.0), Criterion::Bic);
    let asked = tried(&merging);
    assert_eq!((asked.len(), asked[0]), (19, [0, 1]));
    few.step(&mut merging);
    assert!(tried(&merging).len() <= 18);
}

#[test]
fn several_are_merged_at_once_if_they_do_not_overlap() {
    let mut line = line(&[0.0, 0.1, 50.0, 50.1, 90.0, 90.1, 90.2]);
    let mut merging = line.begin(MergeMethod::FastRelaxed(100.0), Criterion::Bic);
    assert_eq!(line.step(&mut merging).len(), 3);
    assert_eq!(line.step(&mut merging).len(), 1);
    assert_eq!(members(&merging), [vec![0, 1], vec![2, 3], vec![4, 5, 6]]);
}

#[test]
fn groups_stay_apart_and_an_improved_subset_is_paired_anew() {
    let line = line(&[0.0, 0.0, 0.0, 0.0]);
    let parts = SchemeParts { criterion: Criterion::Bic, num_sites: SITES, num_shared: 7 };
    let one = |number: usize| (number % 2, line.score(&[number]), line.traits(&[number]));
    let mut merging = Merging::new(MergeMethod::Greedy, parts, (0..4).map(one).collect());
    assert_eq!(merging.ask(), Asked::Trials(vec![[0, 2], [1, 3]]));
    let before = merging.value();
    let better = SubsetScore { lnl: -90.0, num_parameters: PARAMETERS };
    merging.improve(2, better, line.traits(&[2]));
    assert_eq!(before - merging.value(), 20.0);
    let Asked::Trials(mut asked) = merging.ask() else { panic!("nothing is known") };
    asked.sort_unstable();
    assert_eq!(asked, [[0, 2], [1, 3]]);
}

#[test]
fn undefined_aicc_is_decided_by_aic() {
    let places: Vec<f64> = (0..60).map(|i| f64::from(i % 2) * 100.0).collect();
    let mut line = line(&places);
    // More parameters than sites.
    let mut merging = line.begin_with(MergeMethod::FastRelaxed(100.0), Criterion::Aicc, 200);
    assert!(merging.value().is_infinite());
    line.finish(&mut merging);
    assert!(merging.value().is_finite());
    assert_eq!(merging.scheme().len(), 2);
}

proptest! {
    #[test]
    fn no_scheme_is_worse_than_that_of_the_beginning(
        places in prop::collection::vec(-20.0f64..20.0, 2..12),
        method in 0usize..3,
        criterion in 0usize..3,
    ) {
        let method =
            [MergeMethod::Greedy, MergeMethod::Relaxed(20.0), MergeMethod::FastRelaxed(60.0)][method];
        let criterion = [Criterion::Bic, Criterion::Aic, Criterion::Aicc][criterion];
        let mut line = line(&places);
        let mut merging = line.begin(method, criterion);
        let before = merging.value();
        let merges = line.finish(&mut merging);
        prop_assert!(merging.value() <= before);
        prop_assert_eq!(merging.value() < before, !merges.is_empty());
        let mut all: Vec<usize> = members(&merging).concat();
        all.sort_unstable();
        prop_assert_eq!(all, (0..places.len()).collect::<Vec<_>>());
    }
}
