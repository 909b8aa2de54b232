//! The search of one gene, by the steps of a search of its own.

use super::collapse::{Collapse, counting};
use super::record::{GeneData, GeneOutcome, GeneRecord, GeneTree};
use crate::dataset::{Genes, Loaded, Opened};
use crate::error::Result;
use crate::likelihood::NO_LENGTH;
use crate::model::Heterogeneity;
use crate::mpi::Ranks;
use crate::plan::{Facts, LEAST_TAXA_OF_REPLICATES, MemoryPlan, Plan, Threads};
use crate::runtime::{Checkpoint, Dealt, RunRecord, Session};
use crate::steps::replicates::BOOTSTRAPS;
use crate::steps::select::select_models;
use crate::steps::support::draw_collapsed;
use crate::steps::whole_search::{Found, facts_of_search, search_whole};
use crate::tree::Drawing;

/// How the genes of a run are searched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct GeneSearch {
    /// Replicates follow.
    pub replicates: bool,
    /// Which branches are left out of the trees.
    pub collapse: Collapse,
}

impl GeneSearch {
    /// Three taxa have only one tree, of which there are no replicates.
    pub(super) fn has_replicates(&self, num_taxa: usize) -> bool {
        self.replicates && num_taxa >= LEAST_TAXA_OF_REPLICATES
    }

    /// What the search of a gene with so many taxa says of itself.
    pub(super) fn facts(&self, plan: &Plan, num_taxa: usize) -> Facts {
        let facts = facts_of_search(plan, self.has_replicates(num_taxa));
        Facts { resumes: false, ..facts }
    }

    /// Reads a gene, and searches its tree as a run with it alone would; if it was interrupted, from where its part of the checkpoint
    /// has it.
    ///
    /// # Errors
    /// Refused input, and what fails.
    pub(super) fn search(
        &self,
        genes: &Genes,
        number: usize,
        plan: &Plan,
        dealt: Dealt,
        checkpoint: Option<Checkpoint>,
    ) -> Result<GeneRecord> {
        let facts = |num_taxa| self.facts(plan, num_taxa);
        let (mut plan, loaded) = match genes.open(number, plan, facts)? {
            Opened::Data(opened) => *opened,
            Opened::TooFew { taxa, columns } => return Ok(too_few(taxa, columns)),
        };
        plan.run.threads = Threads::Auto { max: Some(dealt.threads) };
        if ranks_of_genes(&plan).is_some() {
            plan.run.ranks = None;
        } else if plan.run.ranks.is_some() {
            // Those that follow are not in groups.
            plan.run.ranks_per_job = Some(usize::MAX);
        }
        if !dealt.is_alone {
            // The memory was planned for all genes together.
            plan.run.memory = None;
            plan.facts.workload.memory = MemoryPlan::Own;
        }
        let data = describe(&loaded);
        if let Some(reason) = nothing_to_search(&loaded) {
            return Ok(nothing(data, reason));
        }
        let num_taxa = loaded.taxa.len();
        let mut record = RunRecord::in_memory(&plan, checkpoint)?;
        let mut session = select_models(Session::of_data(&plan, &mut record, loaded)?)?;
        let found = search_whole(&mut session, self.has_replicates(num_taxa))?;
        let newick = self.draw(&found, &session.setup.loaded);
        let mut tree = describe_tree(&found, newick);
        tree.replicates = record.kept(BOOTSTRAPS).unwrap_or_default().to_string();
        let mut remarks: Vec<String> =
            record.progress.warnings().iter().map(|text| text.replace(['\t', '\n'], " ")).collect();
        if self.replicates && !self.has_replicates(num_taxa) {
            remarks.push("3 taxa have only one tree: no replicates were made".into());
        }
        Ok(GeneRecord { data: Some(data), outcome: GeneOutcome::Tree(Box::new(tree)), remarks })
    }

    /// The tree as it is written.
    fn draw(&self, found: &Found, loaded: &Loaded) -> String {
        let tree = &found.best().tree;
        let leaves_out = |branch| self.collapse.leaves_out(tree, &found.support, branch);
        draw_collapsed(tree, &found.support, &loaded.taxa, leaves_out).newick
    }
}

/// The ranks to which genes are dealt; `None` if there is only one, or if all of them compute each likelihood together.
pub(super) fn ranks_of_genes(plan: &Plan) -> Option<Ranks> {
    let are_dealt = plan.run.ranks_per_job.is_none_or(|number| number == 1);
    plan.run.ranks.filter(|_| are_dealt && plan.can_be_read_again())
}

/// What the data of a gene are like.
pub(super) fn describe(loaded: &Loaded) -> GeneData {
    let partition = &loaded.partitions[0];
    GeneData {
        data_type: partition.model.data_type.name().to_string(),
        taxa: loaded.taxa.len(),
        columns: loaded.num_sites,
        sites: partition.patterns.num_sites,
        patterns: partition.patterns.num_patterns(),
        gaps: loaded.report.undetermined_fraction,
    }
}

/// Why there is nothing to search, if so.
pub(super) fn nothing_to_search(loaded: &Loaded) -> Option<&'static str> {
    let patterns = &loaded.partitions[0].patterns;
    let empty = loaded.report.gap_columns.len() / patterns.data_type.chars_per_site();
    let is_constant = loaded.report.invariant_sites + empty >= patterns.num_sites;
    is_constant.then_some("no site differs between taxa: all trees have the same likelihood")
}

/// A gene without a tree.
pub(super) fn nothing(data: GeneData, reason: &str) -> GeneRecord {
    let outcome = GeneOutcome::Nothing(reason.to_string());
    GeneRecord { data: Some(data), outcome, remarks: Vec::new() }
}

/// A gene with too few taxa for a tree.
pub(super) fn too_few(taxa: usize, columns: usize) -> GeneRecord {
    let data = GeneData { taxa, columns, ..GeneData::default() };
    let plural = if taxa == 1 { "taxon has" } else { "taxa have" };
    nothing(data, &format!("{taxa} {plural} data: a tree needs at least 3"))
}

fn describe_tree(found: &Found, newick: String) -> GeneTree {
    let best = found.best();
    let tree = &best.tree;
    let inner = tree.num_tips().saturating_sub(3);
    let short = Drawing::of_tree(tree, |_| None).count_short(NO_LENGTH);
    let support = counting(&found.support);
    let values = || support.into_iter().flat_map(|support| support.values.iter().flatten());
    let count = values().count();
    GeneTree {
        newick,
        model: best.models[0].to_string(),
        lnl: best.lnl,
        length: tree.total_length(),
        longest: tree.edges().map(|edge| tree.brlen(edge)).fold(0.0, f64::max),
        alpha: match &best.models[0].heterogeneity {
            Heterogeneity::Gamma(gamma) => Some(gamma.alpha),
            _ => None,
        },
        mean_support: (count > 0).then(|| values().sum::<f64>() / count as f64),
        without_length: (inner > 0).then(|| short as f64 / inner as f64),
        replicates: String::new(),
    }
}
