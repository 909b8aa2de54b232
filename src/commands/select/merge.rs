//! Merging of the partitions of a run: a fit of all of them, fits of unions of two subsets, models of the merged ones, and a fit of
//! the final scheme.
//!
//! Subsets are compared on one tree. Under linked and scaled lengths, it keeps the lengths of the first fit of all partitions, and a
//! subset is fitted with its model (and its scaler) alone; under unlinked lengths a subset has its own lengths, which are fitted,
//! too. Only the first and the last scheme are fitted with all their parameters.

use super::report::{MergeReport, MergingReport, SchemeReport, SubsetReport};
use super::subset_fit::{
    FitStart, Found, SubsetFit, fit_subset, in_file_order, num_parameters, starts_of_union,
    union_of,
};
use crate::alphabet::DataType;
use crate::error::Result;
use crate::likelihood::BrlenLinkage;
use crate::model::{Ascertainment, Model, ModelValues};
use crate::model_selection::{
    CandidateSet, Choosing, Merge, MergeMethod, Merging, SchemeParts, Scores,
};
use crate::observer::{Event, Observer};
use crate::optimize::{Goal, OptimizeOptions};
use crate::output::table;
use crate::partition::{Partition, count_freqs};
use crate::runtime::{Jobs, RunRecord, Session, Setup, first_tree};
use crate::steps::optimize::optimize_in_steps;
use crate::steps::select::{FitLengths, OpenModel, compare_models};
use crate::tree::Tree;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Accuracy of the fits of whole schemes (log units).
const SCHEME_EPSILON: f64 = 0.1;
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
    /// By its partitions, the fit of every subset that was considered.
    fits: BTreeMap<Vec<usize>, SubsetFit>,
}

/// A fit of a scheme.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct SchemeFit {
    tree: Tree,
    own_trees: Vec<Tree>,
    scalers: Vec<f64>,
    values: Vec<ModelValues>,
    lnls: Vec<f64>,
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
    session.stage("merging of partitions");
    let Session { setup, record } = session;
    let setup: &Setup = setup;
    let num_taxa = setup.loaded.taxa.len();
    let num_shared = match setup.linkage {
        BrlenLinkage::Linked => 2 * num_taxa - 3,
        // The scalers have a mean of 1.
        BrlenLinkage::Scaled => 2 * num_taxa - 4,
        BrlenLinkage::Unlinked => 0,
    };
    let criterion = setup.plan.data.auto_criterion.unwrap_or_default();
    let parts = SchemeParts { criterion, num_sites: sample_size(setup), num_shared };
    let (tree, which) = first_tree(setup.plan, &setup.loaded);
    record.progress.event(&Event::Note(format!(
        "partitions are merged on {which} by {}: {}; the sample size is the number of sites of all partitions",
        criterion.name(),
        method.describe()
    )));
    let fits = BTreeMap::new();
    let mut merger = Merger { setup, method, candidates, parts, tree, fits };
    merger.find(record)
}

impl Merger<'_> {
    fn find(&mut self, record: &mut RunRecord) -> Result<Scheme> {
        let setup = self.setup;
        let partitions = &setup.loaded.partitions;
        let before = self.fit_scheme(partitions, &setup.models(), None, record)?;
        self.tree = before.tree.clone();
        let mut merging = self.begin(&before, record)?;
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

    /// Fits a scheme with all its parameters. It begins with the lengths of the tree, and these scalers and own trees.
    fn fit_scheme(
        &self,
        subsets: &[Partition],
        models: &[Model],
        starts: Option<&[SubsetFit]>,
        record: &mut RunRecord,
    ) -> Result<SchemeFit> {
        let jobs = self.setup.jobs("scheme", 1);
        let RunRecord { checkpoint, progress, .. } = record;
        let mut found = jobs.run(checkpoint.as_ref(), progress, |job| {
            let tree = self.tree.clone();
            let linkage = self.setup.linkage;
            let mut models = models.to_vec();
            let mut evaluator = match starts {
                None => self.setup.evaluator(job.resources, subsets, &models, tree, linkage)?,
                Some(_) => job.resources.evaluator(subsets, &models, tree, linkage)?,
            };
            for (number, start) in starts.unwrap_or_default().iter().enumerate() {
                evaluator.set_brlen_scaler(number, start.scaler);
                if let Some(tree) = &start.own_tree {
                    evaluator.set_partition_brlens(number, tree);
                }
            }
            let options = OptimizeOptions::to(SCHEME_EPSILON);
            optimize_in_steps(Goal::NearbyAgain, &mut evaluator, &mut models, &options, job)?;
            let lnls = evaluator.partition_log_likelihoods()?;
            let all = 0..subsets.len();
            let own_trees = match linkage.has_own_lengths() {
                true => all.clone().map(|i| evaluator.partition_tree(i).0.clone()).collect(),
                false => Vec::new(),
            };
            if linkage.has_own_lengths() {
                evaluator.average_brlens();
                evaluator.clamp_brlens();
            }
            Ok(SchemeFit {
                tree: evaluator.tree().clone(),
                own_trees,
                scalers: all.map(|i| evaluator.brlen_scaler(i)).collect(),
                values: models.iter().map(Model::values).collect(),
                lnls,
            })
        })?;
        Ok(found.remove(0))
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
        for round in 1.. {
            let asked = merging.ask();
            let linkage = self.setup.linkage;
            let mut wanted = Vec::new();
            for &[a, b] in &asked {
                let [a, b] = [a, b].map(|subset| merging.members(subset));
                let fits = [a, b].map(|members| (&self.fits[members], self.num_sites(members)));
                let mut union = [a, b].concat();
                union.sort_unstable();
                wanted.push((union, starts_of_union(fits)));
            }
            if !wanted.is_empty() {
                self.fit_all(&wanted, false, record)?;
            }
            for (pair, (union, _)) in asked.into_iter().zip(&wanted) {
                let fit = &self.fits[union];
                merging.tell(pair, fit.score(linkage), fit.traits());
            }
            let merges = merging.merge();
            if merges.is_empty() {
                break;
            }
            for merge in merges {
                let [a, b] = merge.merged.each_ref().map(|members| self.name_of(members));
                record.progress.text(&format!(
                    "{a} + {b}: {} {:.3} -> {:.3}",
                    self.parts.criterion.name(),
                    merge.before,
                    merge.after
                ));
                all.push(merge);
            }
            let lnl = merging.value();
            record.progress.event(&Event::Detail(format!("merging, round {round}: {lnl:.6}")));
        }
        let present: Vec<usize> = merging.scheme().into_iter().map(|(number, _)| number).collect();
        let new = all[first..].iter().map(|merge| merge.subset);
        Ok(new.filter(|subset| present.contains(subset)).collect())
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
        let mut lnls = before.lnls.clone();
        let mut of_after = of_before;
        if !merges.is_empty() {
            let models: Vec<Model> = subsets.iter().map(|subset| subset.model.clone()).collect();
            let after = self.fit_scheme(&subsets, &models, Some(&starts), record)?;
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

/// The merges and the scheme, for the terminal and the log.
pub(super) fn describe(report: &MergingReport) -> String {
    let rows: Vec<Vec<String>> = report
        .merges
        .iter()
        .enumerate()
        .map(|(step, merge)| {
            vec![
                (step + 1).to_string(),
                merge.first.join(", "),
                merge.second.join(", "),
                format!("{:.3}", merge.criterion_before),
                format!("{:.3}", merge.criterion_after),
            ]
        })
        .collect();
    let name = &report.criterion;
    let head = ["step", "merged", "with", &format!("{name} before"), &format!("{name} after")];
    let mut text = if rows.is_empty() { String::new() } else { table(&head, &rows) };
    let rows: Vec<Vec<String>> = report
        .subsets
        .iter()
        .map(|subset| {
            vec![
                subset.subset.clone(),
                subset.model.clone(),
                subset.sites.to_string(),
                subset.of.len().to_string(),
                format!("{:.3}", subset.log_likelihood),
            ]
        })
        .collect();
    text.push_str(&table(&["subset", "model", "sites", "partitions", "lnL"], &rows));
    let one = |scheme: &SchemeReport| {
        format!(
            "{} subsets, lnL {:.3}, {} parameters, {name} {}",
            scheme.subsets,
            scheme.log_likelihood,
            scheme.parameters,
            scheme.value(name).map_or("-".to_string(), |value| format!("{value:.3}"))
        )
    };
    let [before, after] = [&report.before, &report.after].map(one);
    text.push_str(&format!("before merging: {before}\nafter merging:  {after}\n"));
    text
}
