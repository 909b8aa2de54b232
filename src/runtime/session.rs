//! What the commands that compute likelihoods have in common: data, resources, and the record of the run.

use super::checkpoint::fingerprint::identify;
use super::cost::format_bytes;
use super::jobs::Jobs;
use super::record::RunRecord;
use super::resources::Resources;
use crate::alphabet::DataType;
use crate::dataset::{Identical, Loaded, Remarks, load, overview};
use crate::error::Result;
use crate::likelihood::select::why_slow;
use crate::likelihood::{BrlenLinkage, Evaluator};
use crate::model::Model;
use crate::observer::{Event, Observer};
use crate::output::{AlignmentReport, Next, table};
use crate::parsimony::ParsimonyData;
use crate::partition::Partition;
use crate::plan::{IdenticalSequences, Plan};
use crate::rng::{Purpose, stream};
use crate::search::schedule::are_small;
use crate::tree::{Constraint, NewickOptions, Tree, write_newick};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;

/// Most rows of a table that a terminal shows.
const MAX_ROWS: usize = 30;

/// What does not change while a run computes; shared by all its threads.
#[derive(Debug)]
pub(crate) struct Setup<'a> {
    /// The plan of the run.
    pub plan: &'a Plan,
    /// The data.
    pub loaded: Loaded,
    /// Threads and kernels.
    pub resources: Resources,
    /// How branch lengths are linked.
    pub linkage: BrlenLinkage,
    /// The identical sequences that searches need only once.
    pub identical: Option<Identical>,
    /// The constraint on the taxa that searches need.
    reduced_constraint: Option<Constraint>,
}

/// One run on sequences, from the moment its data are read.
pub(crate) struct Session<'a> {
    /// Data and resources.
    pub setup: Setup<'a>,
    /// The record of the run: messages and results.
    pub record: &'a mut RunRecord,
}

impl<'a> Session<'a> {
    /// Reads the data and describes them.
    ///
    /// # Errors
    /// Refused input, or kernels that this machine lacks.
    pub(crate) fn start(plan: &'a Plan, record: &'a mut RunRecord) -> Result<Self> {
        record.progress.stage("reading", None);
        Self::of_data(plan, record, load(plan)?)
    }

    /// The same for data that were read before.
    ///
    /// # Errors
    /// Kernels that this machine lacks, too little memory, or the checkpoint of another run.
    pub(crate) fn of_data(
        plan: &'a Plan,
        record: &'a mut RunRecord,
        loaded: Loaded,
    ) -> Result<Self> {
        let (resources, warning) = Resources::new(plan, &loaded.partitions)?;
        let resources =
            resources.begun_on_all(plan, &loaded.partitions, &identify(plan, &loaded))?;
        let identical = plan.facts.workload.identical;
        let (resources, calibration) = resources.planned(plan, &loaded)?;
        if plan.facts.resumes {
            record.open_checkpoint(plan, identify(plan, &loaded))?;
        }
        record.begin()?;
        let (progress, report) = (&mut record.progress, &mut record.report);
        report.alignment = Some(AlignmentReport {
            taxa: loaded.taxa.len(),
            sites: loaded.num_sites,
            patterns: loaded.num_patterns(),
            gappyness: loaded.gappyness,
            overview: Some(overview(&loaded)),
        });
        let engine = resources.engine();
        report.run.threads = resources.threads();
        report.run.simd = engine.instruction_set.to_string();
        report.run.backend = engine.engine.to_string();
        let data = describe_data(plan, &loaded);
        progress.abridged(&data.short, &data.full);
        for note in &loaded.remarks.notes {
            progress.event(&Event::Note(note.clone()));
        }
        for warning in &loaded.remarks.warnings {
            progress.event(&Event::Warning(warning.clone()));
        }
        for detail in &loaded.remarks.details {
            progress.event(&Event::Detail(detail.clone()));
        }
        if let Some(ranks) = plan.run.ranks {
            progress.about_run(&resources.use_of_ranks(ranks));
        }
        let slowdown = calibration.map_or(1.0, |calibration| calibration.slowdown());
        if let Some(bytes) = resources.clv_bytes().filter(|_| slowdown > 1.0) {
            progress.about_run(&format!(
                "likelihood vectors are kept in {}; others are computed again when they are needed, {slowdown:.1} times \
                 as many in all",
                format_bytes(bytes)
            ));
        }
        // Not among the warnings of the report, which must not depend on the number of threads and the kernels.
        let warnings = warning.into_iter().chain(why_slow(&engine).map(String::from));
        let warnings = warnings.map(|warning| format!("warning: {warning}"));
        for remark in warnings {
            progress.about_run(&remark);
        }
        let what = match identical {
            _ if plan.search.keep_identical => None,
            IdenticalSequences::AllTakePart => None,
            IdenticalSequences::OneInSearches => {
                Some("are left out of the search, and put back into its tree")
            }
            IdenticalSequences::OneInDistances => {
                Some("have the same distances, and are put beside them in trees")
            }
        };
        let identical = what.and_then(|_| Identical::find(&loaded));
        if let (Some(identical), Some(what)) = (&identical, what) {
            let count = identical.num_left_out();
            let message = format!("{count} sequences that are identical to others {what}");
            progress.event(&Event::Detail(message));
        }
        let reduced_constraint = match (&identical, &loaded.constraint) {
            (Some(identical), Some(constraint)) => identical.reduce_constraint(constraint),
            (_, constraint) => constraint.clone(),
        };
        let linkage = plan.linkage();
        let setup = Setup { plan, loaded, resources, linkage, identical, reduced_constraint };
        Ok(Session { setup, record })
    }

    /// Begins a stage of the run.
    pub(crate) fn stage(&mut self, name: &str) {
        self.record.progress.stage(name, None);
    }

    /// The same, before what takes longer, if that is named.
    pub(crate) fn stage_before(&mut self, name: &str, then: Option<&str>) {
        self.record.progress.stage_before(name, then.map_or(Next::Little, Next::Unknown));
    }

    /// Reports an event.
    pub(crate) fn event(&mut self, event: Event) {
        self.record.progress.event(&event);
    }
}

/// Warns of each of several cases of one kind, or of all of them in one line if they are many.
pub(crate) fn warn_of_each(record: &mut RunRecord, summary: &str, cases: Vec<String>) {
    let mut remarks = Remarks::default();
    remarks.warn_of_each(summary, cases);
    for warning in remarks.warnings {
        record.progress.event(&Event::Warning(warning));
    }
    for detail in remarks.details {
        record.progress.event(&Event::Detail(detail));
    }
}

impl Setup<'_> {
    /// So many jobs, which share the threads that the user allows.
    pub(crate) fn jobs<T: Send + Serialize + DeserializeOwned>(
        &self,
        noun: &'static str,
        count: usize,
    ) -> Jobs<'static, T> {
        Jobs::new(noun, count, self.resources.share_out(self.plan, count))
    }

    /// What computes on each of the evaluators beside its own that a single search has, on which subtrees are scanned side by side.
    pub(crate) fn companions_of_search(&self) -> impl Iterator<Item = Resources> {
        let climbs = !self.plan.facts.workload.only_evaluates;
        let resources = self.resources.share_out(self.plan, 1).resources;
        resources.companions().filter(move |_| climbs)
    }

    /// The models as they were read.
    pub(crate) fn models(&self) -> Vec<Model> {
        let partitions = self.loaded.partitions.iter();
        partitions.map(|partition| partition.model.clone()).collect()
    }

    /// The partitions as searches use them: of taxa with identical sequences only one.
    pub(crate) fn reduced<'p>(&self, partitions: &'p [Partition]) -> Cow<'p, [Partition]> {
        match &self.identical {
            Some(identical) => Cow::Owned(identical.reduce(partitions)),
            None => Cow::Borrowed(partitions),
        }
    }

    /// True if the data are small for a search. Under a constraint, none are: what more starting trees gain there was not measured.
    pub(crate) fn is_small(&self) -> bool {
        self.reduced_constraint.is_none() && are_small(&self.loaded.partitions)
    }

    /// Number of taxa in these partitions.
    pub(crate) fn num_reduced_taxa(&self) -> usize {
        self.identical.as_ref().map_or(self.loaded.taxa.len(), Identical::num_kept)
    }

    /// The parsimony data of these partitions, or of replicates of them, under the constraint of the run, divided among what
    /// computes one likelihood.
    pub(crate) fn parsimony_data(
        &self,
        resources: Resources,
        partitions: &[Partition],
    ) -> ParsimonyData {
        let data = ParsimonyData::of_partitions(self.num_reduced_taxa(), partitions);
        resources.divide(data.constrained(self.reduced_constraint.clone()))
    }

    /// A tree of all taxa with those of these partitions.
    pub(crate) fn reduced_tree(&self, tree: &Tree) -> Tree {
        self.identical.as_ref().map_or_else(|| tree.clone(), |one| one.reduce_tree(tree))
    }

    /// A tree of the taxa of these partitions with all taxa.
    pub(crate) fn whole_tree(&self, tree: &Tree) -> Tree {
        self.identical.as_ref().map_or_else(|| tree.clone(), |one| one.put_back(tree))
    }

    /// The tree of a replicate with all taxa, on branches of length `brlen` in a group of identical sequences. Which of these are the closest
    /// is a matter of chance in each replicate, because all would support it otherwise.
    pub(crate) fn whole_tree_of_replicate(&self, tree: &Tree, number: usize, brlen: f64) -> Tree {
        let Some(identical) = &self.identical else { return tree.clone() };
        let seed = self.plan.bootstrap.seed;
        let mut rng = stream(seed, Purpose::IdenticalSequences, number as u64);
        identical.put_back_by_chance(tree, brlen, &mut rng)
    }

    /// An evaluator for a tree, with the scalers that the partition file gives. The partitions are
    /// those that were read, or replicates of them.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn evaluator(
        &self,
        resources: Resources,
        partitions: &[Partition],
        models: &[Model],
        tree: Tree,
        linkage: BrlenLinkage,
    ) -> Result<Evaluator> {
        let mut evaluator = resources.evaluator(partitions, models, tree, linkage)?;
        for (partition, scaler) in self.loaded.brlen_scalers.iter().enumerate() {
            if let Some(scaler) = scaler {
                evaluator.set_brlen_scaler(partition, *scaler);
            }
        }
        Ok(evaluator)
    }

    /// An evaluator of the data as they were read for a tree, with the scalers of all partitions and, under unlinked
    /// lengths, each partition's own tree with its lengths.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn evaluator_as_it_was(
        &self,
        resources: Resources,
        models: &[Model],
        tree: Tree,
        linkage: BrlenLinkage,
        scalers: &[f64],
        partition_trees: &[&Tree],
    ) -> Result<Evaluator> {
        let mut evaluator = resources.evaluator(&self.loaded.partitions, models, tree, linkage)?;
        for (partition, &scaler) in scalers.iter().enumerate() {
            evaluator.set_brlen_scaler(partition, scaler);
        }
        for (partition, tree) in partition_trees.iter().enumerate() {
            evaluator.set_partition_brlens(partition, tree);
        }
        Ok(evaluator)
    }

    /// A tree over all taxa as Newick text, with or without lengths.
    pub(crate) fn newick(&self, tree: &Tree, brlens: bool) -> String {
        let options = NewickOptions { brlens, ..NewickOptions::default() };
        write_newick(tree, |taxon| self.loaded.taxa.name(taxon), &options)
    }
}

/// A text for the terminal, and a longer one for the log.
pub(crate) struct Described {
    /// With long tables cut.
    pub short: String,
    /// All of it.
    pub full: String,
}

/// The alignment and its partitions, as they are shown before anything is computed.
pub(crate) fn describe_data(plan: &Plan, loaded: &Loaded) -> Described {
    let (taxa, sites) = (loaded.taxa.len(), loaded.num_sites);
    let patterns = loaded.num_patterns();
    let mut text = format!("{taxa} taxa, {sites} sites, {patterns} patterns (distinct columns)");
    text.push_str(&format!(
        ", {:.1} % of the characters undetermined\n",
        100.0 * loaded.report.undetermined_fraction
    ));
    if loaded.partitions.len() > 1 {
        let lengths = match plan.linkage() {
            _ if !plan.facts.needs.models => "",
            BrlenLinkage::Linked => " with the same branch lengths (--brlen linked)",
            BrlenLinkage::Scaled => " with the same branch lengths up to a factor",
            BrlenLinkage::Unlinked => " with their own branch lengths",
        };
        text.push_str(&format!(
            "{} partitions{lengths}, gappyness {:.1} % (taxon x partition cells without data)\n",
            loaded.partitions.len(),
            100.0 * loaded.gappyness
        ));
    }
    let rows: Vec<Vec<String>> = loaded
        .file_order
        .iter()
        .map(|&index| {
            let partition = &loaded.partitions[index];
            let chosen_later = || format!("auto ({})", partition.model.data_type.name());
            let of_models =
                || loaded.candidates[index].map_or_else(|| label(partition), |_| chosen_later());
            vec![
                partition.name.clone(),
                describe_type(partition.model.data_type),
                plan.facts.formula.map_or_else(of_models, str::to_string),
                partition.patterns.num_sites.to_string(),
                partition.patterns.num_patterns().to_string(),
                loaded.presence[index].len().to_string(),
            ]
        })
        .collect();
    let header = ["partition", "type", "model", "sites", "patterns", "taxa"];
    let is_codon = |p: &Partition| matches!(p.model.data_type, DataType::Codon(_));
    let codons = match loaded.partitions.iter().any(is_codon) {
        true => {
            "In codon partitions, a site is a codon, and branch lengths are substitutions per codon.\n"
        }
        false => "",
    };
    let full = format!("{text}{}{codons}", table(&header, &rows));
    let shown = &rows[..rows.len().min(MAX_ROWS)];
    let more = match rows.len() - shown.len() {
        0 => String::new(),
        more => format!("  ... and {more} more partitions, listed in the log\n"),
    };
    Described { short: format!("{text}{}{more}{codons}", table(&header, shown)), full }
}

/// The model, with what it does not say itself.
fn label(partition: &Partition) -> String {
    match partition.patterns.freqs {
        Some(_) => partition.model.label_under_site_frequencies(),
        None => partition.model.short_label(),
    }
}

/// The type of data, with the number of a genetic code.
fn describe_type(data_type: DataType) -> String {
    match data_type {
        DataType::Codon(code) => format!("{} {}", data_type.name(), code.number()),
        _ => data_type.name().to_string(),
    }
}
