//! A search from its starting trees to the supported best tree: what `search` does with an alignment, and `genes` with each of many.

use super::ancestral::{self, deliver_ancestral};
use super::branch_tests::{self, support_by_likelihood};
use super::climb::search_all;
use super::replicates::{BOOTSTRAPS, make_replicates};
use super::results::{self, BEST_MODEL, BEST_TREE, ML_TREES};
use super::site_frequencies::{self, begin_with_guide_tree, end_with_mixture};
use super::site_rates::{self, deliver_site_rates};
use super::starts::START_TREE;
use super::support::{BranchSupport, SUPPORT, deliver_support};
use super::{Outcome, best_of, tested_trees};
use crate::dataset::Loaded;
use crate::error::Result;
use crate::output::Next;
use crate::plan::{
    Facts, IdenticalSequences, LEAST_TAXA_OF_REPLICATES, MemoryPlan, Needs, Plan, Workload,
};
use crate::runtime::{Session, Setup, sweeps_of_search, with_threads};
use crate::tree::Multifurcating;

/// A search with n threads takes 1/n to this power of the time of one: 0.6 to 0.7 with two.
const THREADS_OF_A_SEARCH: f64 = 0.6;

/// Share of the time of a search of the same effort that a replicate takes, which begins with the models of the best tree and has fewer
/// patterns: 0.25 to 0.84 on seven alignments of 55 to 354 taxa.
const TIME_OF_A_REPLICATE: f64 = 0.6;

/// What such a search says of itself; replicates follow it, or do not.
pub(crate) fn facts_of_search(plan: &Plan, replicates: bool) -> Facts {
    let mut outputs = vec![START_TREE, BEST_TREE, BEST_MODEL, ML_TREES];
    let (mut task, mut needs) = ("search for the best tree".to_string(), Needs::default());
    if replicates {
        outputs.extend([BOOTSTRAPS, SUPPORT]);
        task.push_str(&format!(", bootstrap, {}, support", plan.bootstrap.describe()));
        needs.least_taxa = LEAST_TAXA_OF_REPLICATES;
    } else {
        needs.note_of_one_tree = true;
    }
    outputs.extend(results::outputs(plan));
    if !replicates {
        outputs.extend(branch_tests::outputs(plan));
    }
    outputs.extend(tested_trees::outputs(plan));
    outputs.extend(ancestral::outputs(plan));
    outputs.extend(site_rates::outputs(plan));
    outputs.extend(site_frequencies::outputs(plan));
    Facts {
        task,
        outputs,
        resumes: true,
        needs,
        workload: Workload {
            memory: MemoryPlan::Jobs,
            is_one_search: !replicates,
            identical: IdenticalSequences::OneInSearches,
            ..Workload::default()
        },
        ..Facts::default()
    }
}

/// What such a search found.
pub(crate) struct Found {
    /// The end of each of its climbs.
    pub outcomes: Vec<Outcome>,
    /// The support of the branches of the best of them, as far as that was asked for.
    pub support: BranchSupport,
}

impl Found {
    /// The best tree.
    pub(crate) fn best(&self) -> &Outcome {
        &self.outcomes[best_of(&self.outcomes)]
    }
}

/// How many times as long as the search the replicates take: these have a thread each, of which a search makes less.
fn times_of_search(setup: &Setup) -> f64 {
    let Plan { search, bootstrap, .. } = setup.plan;
    let num_taxa = setup.num_reduced_taxa();
    let threads = setup.resources.threads().max(setup.companions_of_search().count()) as f64;
    let one = sweeps_of_search(search.effort.lower(), num_taxa)
        / sweeps_of_search(search.effort, num_taxa);
    TIME_OF_A_REPLICATE * one * bootstrap.replicates as f64
        / libm::pow(threads, 1.0 - THREADS_OF_A_SEARCH)
}

/// Searches from every starting tree, tests the branches of the best tree and reconstructs its ancestral states if that is
/// asked for; with `replicates` these begin with the models of the best tree, whose support is mapped. All results are delivered.
///
/// # Errors
/// A column with likelihood 0, or a file that cannot be written.
pub(crate) fn search_whole(session: &mut Session, replicates: bool) -> Result<Found> {
    site_rates::check(&session.setup)?;
    let mixtures = begin_with_guide_tree(session)?;
    let described = session.setup.plan.bootstrap.describe();
    let next = match replicates {
        false => Next::Little,
        // How many are enough is not known before.
        true if session.setup.plan.bootstrap.bootstop.is_some() => Next::AtMost(&described),
        true => Next::Known(&described, times_of_search(&session.setup)),
    };
    let outcomes = search_all(session, next)?;
    let best = &outcomes[best_of(&outcomes)];
    let mut support = support_by_likelihood(session, best)?;
    if replicates {
        deliver_ancestral(session, &outcomes)?;
        let trees = make_replicates(session, &best.models)?;
        let trees: Vec<Multifurcating> = trees.iter().map(Multifurcating::from).collect();
        let kinds = &session.setup.plan.support.kinds;
        with_threads(session.setup.plan, || support.add_replicates(&best.tree, &trees, kinds));
    }
    if !support.kinds.is_empty() {
        let Loaded { taxa, root, .. } = &session.setup.loaded;
        deliver_support(&best.tree, &support, taxa, root.as_ref(), session.record)?;
    }
    if !replicates {
        deliver_ancestral(session, &outcomes)?;
    }
    deliver_site_rates(session, &outcomes)?;
    end_with_mixture(session, mixtures, &outcomes)?;
    Ok(Found { outcomes, support })
}
