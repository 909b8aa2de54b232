//! Merging of the partitions of a run: a fit of all of them, fits of unions of two subsets, models of the merged ones, and a fit of
//! the final scheme.
//!
//! Subsets are compared on one tree. Under linked and scaled lengths, it keeps the lengths of the first fit of all partitions, and a
//! subset is fitted with its model (and its scaler) alone; under unlinked lengths a subset has its own lengths, which are fitted,
//! too. Only the first and the last scheme are fitted with all their parameters.

use super::report::{MergeReport, MergingReport, SchemeReport, SubsetReport};
use super::scheme_fit::SchemeFit;
use super::subset_fit::{
    FitStart, Found, SubsetFit, fit_subset, in_file_order, num_parameters, starts_of_union,
    union_of,
};
use super::trial::{Fitted, try_unions};
use crate::alphabet::DataType;
use crate::error::Result;
use crate::likelihood::BrlenLinkage;
use crate::model::{Ascertainment, Model};
use crate::model_selection::{
    Asked, CandidateSet, Choosing, Merge, MergeMethod, Merging, SchemeParts, Scores,
};
use crate::observer::{Event, Observer};
use crate::partition::{Partition, count_freqs};
use crate::runtime::{Jobs, RunRecord, Session, Setup, first_tree};
use crate::steps::select::{FitLengths, OpenModel, compare_models};
use crate::tree::Tree;
use std::collections::BTreeMap;

/// Fewest taxa whose data say anything about a model.
const MIN_TAXA: usize = 3;
/// How often models are selected anew, and merging goes on with them, at most.
const MAX_SELECTIONS: usize = 5;
/// Most names of partitions in the name of a subset.
const MAX_NAMES: usize = 4;
/// Longest name of a subset.
const MAX_NAME: usize = 80;

/// The partitions of a run are to be merged.
pub(super) struct Merger<'a> {
    setup: &'a Setup<'a>,
    method: MergeMethod,
    /// The models to compare, by partition.
    candidates: Vec<Option<CandidateSet>>,
    parts: SchemeParts,
    /// The tree, with the lengths of the first fit.
    tree: Tree,
    /// By its partitions, the data of every merged subset of the scheme.
    data: BTreeMap<Vec<usize>, Partition>,
    /// By its partitions, the fit of every subset that was considered.
    fits: BTreeMap<Vec<usize>, SubsetFit>,
}

/// The scheme that was found.
pub(super) struct Scheme {
    /// Its subsets with their models, in the order of the partition file by their first partitions.
    pub subsets: Vec<Partition>,
    /// The partitions of each.
    pub members: Vec<Vec<usize>>,
    /// What is reported.
    pub report: MergingReport,
}

/// Number of sites of all partitions: the sample size.
pub(super) fn sample_size(setup: &Setup) -> usize {
    setup.loaded.partitions.iter().map(|partition| partition.patterns.num_sites).sum()
}

/// Merges the partitions of a run, whose models are known.
///
/// # Errors
/// A fit has failed, or the run is to end.
pub(super) fn merge_partitions(
    session: &mut Session,
    method: MergeMethod,
    candidates: Vec<Option<CandidateSet>>,
) -> Result<Scheme> {
    session.stage("fit of all partitions");
    let Session { setup, record } = session;
    let setup: &Setup = setup;
    let num_taxa = setup.loaded.taxa.len();
    let num_lengths = match setup.linkage {
        BrlenLinkage::Linked => 2 * num_taxa - 3,
        // The scalers have a mean of 1.
        BrlenLinkage::Scaled => 2 * num_taxa - 4,
        BrlenLinkage::Unlinked => 0,
    };
    let criterion = setup.plan.data.auto_criterion.unwrap_or_default();
    let num_shared = num_lengths + Model::num_linked_rates(&setup.models());
    let parts = SchemeParts { criterion, num_sites: sample_size(setup), num_shared };
    let (tree, which) = first_tree(setup.plan, &setup.loaded);
    record.progress.event(&Event::Note(format!(
        "partitions are merged on {which} by {}: {}; the sample size is the number of sites of all partitions",
        criterion.name(),
        method.describe()
    )));
    let (data, fits) = (BTreeMap::new(), BTreeMap::new());
    let mut merger = Merger { setup, method, candidates, parts, tree, data, fits };
    merger.find(record)
}

impl Merger<'_> {
    fn find(&mut self, record: &mut RunRecord) -> Result<Scheme> {
        let setup = self.setup;
        let partitions = &setup.loaded.partitions;
        let before = SchemeFit::fit(setup, &self.tree, partitions, &setup.models(), None, record)?;
        self.tree = before.tree.clone();
        record.progress.stage("fit of each partition", None);
        let mut merging = self.begin(&before, record)?;
        record.progress.stage("merging of partitions", None);
        let mut merges = Vec::new();
        for _ in 0..MAX_SELECTIONS {
            let more = self.merge_all(&mut merging, &mut merges, record)?;
            if more.is_empty() || !self.select_anew(&mut merging, &more, record)? {
                break;
            }
        }
        let scheme: Vec<Vec<usize>> =
            merging.scheme().into_iter().map(|(_, members)| members.to_vec()).collect();
        self.conclude(scheme, &before, &merges, record)
    }

    /// The criteria of a fitted scheme.
    fn scores(
        &self,
        subsets: &[Partition],
        models: &[Model],
        fit: &SchemeFit,
    ) -> (f64, usize, Scores) {
        let own = |(subset, model): (&Partition, &Model)| {
            num_parameters(model, subset.patterns.num_tips(), self.setup.linkage)
        };
        let num_parameters: usize = subsets.iter().zip(models).map(own).sum();
        let lnl: f64 = fit.lnls.iter().sum();
        let all = num_parameters + self.parts.num_shared;
        (lnl, all, self.parts.scores(lnl, num_parameters))
    }

    /// Fits each partition on its own, and begins with these.
    fn begin(&mut self, before: &SchemeFit, record: &mut RunRecord) -> Result<Merging> {
        let partitions = &self.setup.loaded.partitions;
        let mut starts = Vec::new();
        for (number, partition) in partitions.iter().enumerate() {
            let fit = SubsetFit {
                model: partition.model.with_values(&before.values[number]),
                scaler: before.scalers[number],
                own_tree: before.own_trees.get(number).cloned(),
                lnl: before.lnls[number],
                num_taxa: partition.patterns.num_tips(),
                optimum: None,
            };
            starts.push((vec![number], vec![fit.start(1.0)]));
            self.fits.insert(vec![number], fit);
        }
        if !self.setup.linkage.has_own_lengths() {
            self.fit_all(&starts, true, record)?;
        }
        let groups = self.groups();
        let linkage = self.setup.linkage;
        let of_partition = |(number, group): (usize, usize)| {
            let fit = &self.fits[&vec![number]];
            (group, fit.score(linkage), fit.traits())
        };
        let all = groups.into_iter().enumerate().map(of_partition).collect();
        Ok(Merging::new(self.method, self.parts, all))
    }

    /// Fits subsets that are not known yet, each from some starts, and keeps the results.
    fn fit_all(
        &mut self,
        wanted: &[(Vec<usize>, Vec<FitStart>)],
        measures: bool,
        record: &mut RunRecord,
    ) -> Result<()> {
        // The number of further fits is unknown, and with it the share of the whole.
        let jobs = Jobs { is_most_expected: false, ..self.setup.jobs("subset", wanted.len()) };
        let RunRecord { checkpoint, progress, .. } = record;
        let found: Vec<Found> = jobs.run(checkpoint.as_ref(), progress, |job| {
            let (members, starts) = &wanted[job.number];
            fit_subset(self.setup, &self.tree, members, starts, (&self.parts, measures), job)
        })?;
        for ((members, starts), found) in wanted.iter().zip(found) {
            self.fits.insert(members.clone(), found.of(starts));
        }
        Ok(())
    }

    /// Only partitions of the same number may be merged: those of the same data type and correction for ascertainment whose
    /// models are selected among the same ones, or given.
    fn groups(&self) -> Vec<usize> {
        type Group = (DataType, Option<Ascertainment>, Option<CandidateSet>);
        let mut groups: Vec<Group> = Vec::new();
        let partitions = self.setup.loaded.partitions.iter().zip(&self.candidates);
        let mut numbers = Vec::new();
        for (partition, candidates) in partitions {
            let model = &partition.model;
            let group = (model.data_type, model.ascertainment.clone(), *candidates);
            // Numbers of sites that were left out are those of one partition.
            let stays_alone = !matches!(group.1, None | Some(Ascertainment::Lewis));
            let known = groups.iter().position(|known| *known == group && !stays_alone);
            numbers.push(known.unwrap_or(groups.len()));
            if known.is_none() {
                groups.push(group);
            }
        }
        numbers
    }

    /// Merges as long as the criterion improves. Returns the subsets that are new and still there.
    fn merge_all(
        &mut self,
        merging: &mut Merging,
        all: &mut Vec<Merge>,
        record: &mut RunRecord,
    ) -> Result<Vec<usize>> {
        let first = all.len();
        let is_shared = !self.setup.linkage.has_own_lengths();
        loop {
            match merging.ask() {
                Asked::Trials(pairs) if is_shared => self.try_all(merging, &pairs, record)?,
                Asked::Trials(pairs) | Asked::Fits(pairs) => {
                    self.fit_unions(merging, &pairs, record)?;
                }
                Asked::Nothing => {
                    let merges = merging.merge();
                    if merges.is_empty() {
                        break;
                    }
                    for merge in merges {
                        self.take(&merge, record);
                        all.push(merge);
                    }
                }
            }
        }
        let present: Vec<usize> = merging.scheme().into_iter().map(|(number, _)| number).collect();
        let new = all[first..].iter().map(|merge| merge.subset);
        Ok(new.filter(|subset| present.contains(subset)).collect())
    }

    /// Tries unions of two subsets.
    fn try_all(
        &self,
        merging: &mut Merging,
        pairs: &[[usize; 2]],
        record: &mut RunRecord,
    ) -> Result<()> {
        let fitted = |&number: &usize| {
            let members = merging.members(number);
            let data = match members {
                [only] => &self.setup.loaded.partitions[*only],
                _ => &self.data[members],
            };
            Fitted { number, data, fit: &self.fits[members] }
        };
        let subsets: Vec<[Fitted; 2]> =
            pairs.iter().map(|pair| pair.each_ref().map(fitted)).collect();
        let scores = try_unions(self.setup, &self.tree, &self.parts, &subsets, record)?;
        for (&pair, score) in pairs.iter().zip(scores) {
            merging.tell_trial(pair, score);
        }
        Ok(())
    }

    /// Fits unions of two subsets.
    fn fit_unions(
        &mut self,
        merging: &mut Merging,
        pairs: &[[usize; 2]],
        record: &mut RunRecord,
    ) -> Result<()> {
        let mut wanted = Vec::new();
        for pair in pairs {
            let [a, b] = pair.map(|subset| merging.members(subset));
            let fits = [a, b].map(|members| (&self.fits[members], self.num_sites(members)));
            let mut union = [a, b].concat();
            union.sort_unstable();
            wanted.push((union, starts_of_union(fits)));
        }
        self.fit_all(&wanted, false, record)?;
        for (&pair, (union, _)) in pairs.iter().zip(&wanted) {
            let fit = &self.fits[union];
            merging.tell(pair, fit.score(self.setup.linkage), fit.traits());
        }
        Ok(())
    }

    /// Two subsets were merged.
    fn take(&mut self, merge: &Merge, record: &mut RunRecord) {
        let [a, b] = merge.merged.each_ref().map(|members| self.name_of(members));
        let criterion = self.parts.criterion.name();
        record
            .progress
            .text(&format!("{a} + {b}: {criterion} {:.3} -> {:.3}", merge.before, merge.after));
        merge.merged.iter().for_each(|members| drop(self.data.remove(members)));
        let mut members = merge.merged.concat();
        members.sort_unstable();
        let union = union_of(self.setup, &members, "");
        self.data.insert(members, union);
    }

    fn num_sites(&self, members: &[usize]) -> f64 {
        let partitions = &self.setup.loaded.partitions;
        let sites: usize = members.iter().map(|&m| partitions[m].patterns.num_sites).sum();
        sites as f64
    }

    /// Selects the models of merged subsets anew where they are not given. True if any is better, and merging may go on.
    fn select_anew(
        &mut self,
        merging: &mut Merging,
        subsets: &[usize],
        record: &mut RunRecord,
    ) -> Result<bool> {
        let (setup, parts) = (self.setup, self.parts);
        let mut unions = Vec::new();
        for &subset in subsets {
            let members = merging.members(subset);
            if let Some(candidates) = self.candidates[members[0]] {
                let union = union_of(setup, members, &self.name_of(members));
                if union.patterns.num_tips() >= MIN_TAXA {
                    unions.push((subset, candidates, union));
                }
            }
        }
        let mut open: Vec<OpenModel> = unions
            .iter()
            .map(|(_, candidates, partition)| {
                let num_taxa = partition.patterns.num_tips();
                let choosing =
                    Choosing::new(*candidates, parts.criterion, parts.num_sites, num_taxa);
                OpenModel { partition, choosing }
            })
            .collect();
        let lengths = match setup.linkage {
            BrlenLinkage::Linked => FitLengths::Given,
            BrlenLinkage::Scaled => FitLengths::Scaled,
            BrlenLinkage::Unlinked => FitLengths::Own,
        };
        compare_models(setup, record, &mut open, &self.tree, lengths)?;
        let mut wanted = Vec::new();
        let mut places = Vec::new();
        for ((subset, ..), open) in unions.iter().zip(&open) {
            let members = merging.members(*subset).to_vec();
            let known = &self.fits[&members];
            let ranking = open.choosing.ranking();
            let Some(best) = ranking.first() else { continue };
            if best.model.label() != known.model.label() {
                let start =
                    FitStart { model: best.model.clone(), scaler: known.scaler, optimum: None };
                places.push(*subset);
                wanted.push((members, vec![start]));
            }
        }
        let before: Vec<SubsetFit> =
            wanted.iter().map(|(members, _)| self.fits[members].clone()).collect();
        self.fit_all(&wanted, !setup.linkage.has_own_lengths(), record)?;
        let mut any_better = false;
        for (((members, _), before), subset) in wanted.iter().zip(before).zip(places) {
            let fit = &self.fits[members];
            let value = |fit: &SubsetFit| parts.value_of(fit.score(setup.linkage));
            if value(fit) < value(&before) {
                merging.improve(subset, fit.score(setup.linkage), fit.traits());
                record.progress.text(&format!(
                    "{}: {} instead of {}",
                    self.name_of(members),
                    fit.model.label(),
                    before.model.label()
                ));
                any_better = true;
            } else {
                self.fits.insert(members.clone(), before);
            }
        }
        Ok(any_better)
    }

    /// A name for a subset: those of its partitions, or of the first one.
    fn name_of(&self, members: &[usize]) -> String {
        let partitions = &self.setup.loaded.partitions;
        let names: Vec<&str> = in_file_order(self.setup, members)
            .into_iter()
            .map(|member| partitions[member].name.as_str())
            .collect();
        let joined = names.join("_");
        match names.as_slice() {
            [first, others @ ..] if names.len() > MAX_NAMES || joined.len() > MAX_NAME => {
                if others.is_empty() {
                    return first.to_string();
                }
                format!("{first}_and_{}_more", others.len())
            }
            _ => joined,
        }
    }

    /// Fits the scheme with all parameters, and takes it if it is better than the partitions as they were.
    fn conclude(
        &mut self,
        mut scheme: Vec<Vec<usize>>,
        before: &SchemeFit,
        merges: &[Merge],
        record: &mut RunRecord,
    ) -> Result<Scheme> {
        let setup = self.setup;
        let numbers = setup.loaded.numbers_in_file();
        let first_in_file = |members: &Vec<usize>| members.iter().map(|&m| numbers[m]).min();
        scheme.sort_by_key(first_in_file);
        let partitions = &setup.loaded.partitions;
        let models: Vec<Model> = partitions
            .iter()
            .zip(&before.values)
            .map(|(partition, values)| partition.model.with_values(values))
            .collect();
        let of_before = self.scores(partitions, &models, before);
        let names = self.names_of(&scheme);
        let starts: Vec<SubsetFit> =
            scheme.iter().map(|members| self.fits[members].clone()).collect();
        let mut subsets: Vec<Partition> = Vec::new();
        for ((members, name), start) in scheme.iter().zip(&names).zip(&starts) {
            let mut subset = union_of(setup, members, name);
            subset.model = start.model.clone();
            count_freqs(&mut subset.model, &subset.patterns);
            subsets.push(subset);
        }
        let mut lnls: Vec<f64> = scheme.iter().map(|members| before.lnls[members[0]]).collect();
        let mut of_after = of_before;
        if !merges.is_empty() {
            record.progress.stage("fit of the scheme", None);
            let models: Vec<Model> = subsets.iter().map(|subset| subset.model.clone()).collect();
            let after =
                SchemeFit::fit(setup, &self.tree, &subsets, &models, Some(&starts), record)?;
            for (subset, values) in subsets.iter_mut().zip(&after.values) {
                subset.model = subset.model.with_values(values);
            }
            of_after = self.scores(&subsets, &models, &after);
            lnls.clone_from(&after.lnls);
        }
        let criterion = self.parts.criterion;
        let (value_before, value_after) = (of_before.2.by(criterion), of_after.2.by(criterion));
        if value_after > value_before {
            record.progress.event(&Event::Note(format!(
                "with all parameters optimised, the merged scheme is not better ({} {value_after:.3} instead of \
                 {value_before:.3}): the partitions stay as they are",
                criterion.name()
            )));
            let alone = (0..partitions.len()).map(|partition| vec![partition]).collect();
            return self.conclude(alone, before, &[], record);
        }
        let scheme_report =
            |subsets: usize, (lnl, parameters, scores): (f64, usize, Scores)| SchemeReport {
                subsets,
                log_likelihood: lnl,
                parameters,
                aic: scores.aic,
                aicc: Some(scores.aicc).filter(|value| value.is_finite()),
                bic: scores.bic,
            };
        let names_of = |members: &Vec<usize>| -> Vec<String> {
            let members = in_file_order(setup, members).into_iter();
            members.map(|member| partitions[member].name.clone()).collect()
        };
        let report = MergingReport {
            method: self.method.describe(),
            criterion: criterion.name().to_string(),
            sample_size: self.parts.num_sites,
            fitted: self.fits.len(),
            before: scheme_report(partitions.len(), of_before),
            after: scheme_report(subsets.len(), of_after),
            merges: merges
                .iter()
                .map(|merge| MergeReport {
                    first: names_of(&merge.merged[0]),
                    second: names_of(&merge.merged[1]),
                    criterion_before: merge.before,
                    criterion_after: merge.after,
                })
                .collect(),
            subsets: subsets
                .iter()
                .zip(&scheme)
                .zip(lnls)
                .map(|((subset, members), lnl)| SubsetReport {
                    subset: subset.name.clone(),
                    of: names_of(members),
                    model: subset.model.label(),
                    sites: subset.patterns.num_sites,
                    log_likelihood: lnl,
                })
                .collect(),
        };
        Ok(Scheme { subsets, members: scheme, report })
    }

    /// Names of subsets, no two of which are the same.
    fn names_of(&self, scheme: &[Vec<usize>]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for members in scheme {
            let name = self.name_of(members);
            let taken = |name: &String| {
                names.contains(name)
                    || members.len() > 1
                        && self.setup.loaded.partitions.iter().any(|other| other.name == *name)
            };
            let numbered = (2..).map(|number| format!("{name}_{number}"));
            let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken(name));
            names.push(free.unwrap_or(name));
        }
        names
    }
}
