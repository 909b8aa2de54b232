//! The trees of many genes: every gene is surveyed, the searches are dealt over threads, and what was found is written in order.

use super::lengths::LENGTH_PLOT;
use super::record::{GeneRecord, GeneRun, ListedGene};
use super::search_gene::{GeneSearch, ranks_of_genes};
use super::shard::{self, SHARD};
use super::species_tree::SpeciesTree;
use super::survey::{Survey, Surveyed};
use super::tables::{GENE_MODELS, GENE_TABLE, GENE_TREES, deliver_genes};
use crate::commands::Command;
use crate::dataset::{GeneSource, Genes};
use crate::error::{Error, Result};
use crate::observer::{Event, Observer};
use crate::output::{Tally, pairs};
use crate::panics::{caught, forget};
use crate::parallel::used_memory;
use crate::plan::{Facts, Plan};
use crate::runtime::{
    Checkpoint, Deal, Dealt, Kind, RunRecord, Task, allowed_threads, carry_out_on_all,
    format_bytes, identify_many, warn_of_each,
};
use crate::steps::concordance::CONCORDANCE;
use crate::steps::replicates::BOOTSTRAPS;
use crate::steps::support::SUPPORT;
use std::path::PathBuf;
use std::time::Instant;

/// The trees of the genes of a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GeneTrees {
    /// Where the genes are.
    pub source: GeneSource,
    /// How each is searched.
    pub(super) search: GeneSearch,
    /// Only every N-th gene, beginning with the K-th: K and N.
    pub shard: Option<[usize; 2]>,
    /// A tree with which the gene trees are compared.
    pub gcf_tree: Option<PathBuf>,
    /// For so many quartets of taxa of each of its branches, sites are counted.
    pub quartets: Option<usize>,
}

impl Command for GeneTrees {
    fn facts(&self, plan: &Plan) -> Facts {
        let mut inputs: Vec<PathBuf> = match &self.source {
            GeneSource::Partitions(path) | GeneSource::List(path) => vec![path.clone()],
            GeneSource::Folder(_) => Vec::new(),
        };
        inputs.extend(self.gcf_tree.clone());
        let mut task = "tree of each gene".to_string();
        let mut outputs = vec![GENE_TREES, GENE_TABLE, GENE_MODELS, LENGTH_PLOT];
        if self.search.replicates {
            task.push_str(&format!(", bootstrap, {}", plan.bootstrap.describe()));
            outputs.push(BOOTSTRAPS);
        }
        if self.gcf_tree.is_some() {
            outputs.extend([SUPPORT, CONCORDANCE]);
        }
        if self.shard.is_some() {
            outputs = vec![SHARD];
        }
        let identity = vec![("--collapse", self.search.collapse.describe())];
        Facts { task, inputs, outputs, resumes: true, identity, ..Facts::default() }
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        record.progress.stage("reading", None);
        let used = used_memory().unwrap_or(0);
        let genes = Genes::find(&self.source, plan)?;
        let mut species_tree = self.gcf_tree.as_deref().map(SpeciesTree::read).transpose()?;
        let survey = Survey::of(&genes, plan, &self.search);
        let memory = survey.check_memory(&genes, plan, used)?;
        let run = self.describe_run(&genes, &survey, plan, record)?;
        self.report(&survey, plan, record);
        let mine = self.numbers(genes.all().len());
        let is_open =
            |number: &usize| survey.0[*number].settled.is_none() && !is_finished(record, *number);
        let open: Vec<usize> = mine.iter().copied().filter(is_open).collect();
        let searches = Searches { genes: &genes, survey: &survey, search: self.search, plan };
        searches.run(&open, &mine, memory, record)?;
        if ranks_of_genes(plan).is_some_and(|ranks| !ranks.leads()) {
            return Ok(());
        }
        if let (Some(species_tree), Some(quartets)) = (&mut species_tree, self.quartets) {
            record.progress.stage("site concordance", None);
            species_tree.count_sites(&genes, &self.search, quartets, plan);
        }
        record.progress.stage("writing", None);
        let record_of = |record: &mut RunRecord, number: usize| record_of(&survey, record, number);
        match self.shard {
            None => deliver_genes(&run, species_tree, plan, record, record_of),
            Some(_) => {
                let mut part = record.part(SHARD)?;
                shard::begin(&mut part, &run).map_err(|source| part.failed(source))?;
                let mut failures = Vec::new();
                for number in mine {
                    let entry = (number as u32, record_of(record, number)?);
                    shard::append(&mut part, &entry).map_err(|source| part.failed(source))?;
                    failures.extend(entry.1.failure(&run.genes[number].name));
                }
                record.complete(part)?;
                let summary = format!("{} genes of this shard could not be done", failures.len());
                warn_of_each(record, &summary, failures);
                Ok(())
            }
        }
    }

    fn check(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        let used = used_memory().unwrap_or(0);
        let genes = Genes::find(&self.source, plan)?;
        let survey = Survey::of(&genes, plan, &self.search);
        let memory = survey.check_memory(&genes, plan, used)?;
        let mut text: String = plan.notes.iter().map(|note| format!("note: {note}\n")).collect();
        text.push_str(&pairs("Genes", &describe(&survey, memory)));
        for (gene, one) in genes.all().iter().zip(&survey.0) {
            if let Some(settled) = &one.settled {
                text.push_str(&format!(
                    "gene '{}': {}\n",
                    gene.name,
                    settled.all_remarks().join("; ")
                ));
            }
        }
        text.push_str("The time of this analysis is not estimated.\n");
        record.progress.result(&text);
        Ok(())
    }
}

impl GeneTrees {
    /// The numbers of the genes of the shard, or of all.
    fn numbers(&self, count: usize) -> Vec<usize> {
        let [first, step] = self.shard.unwrap_or([1, 1]);
        (first - 1..count).step_by(step).collect()
    }

    /// Opens the checkpoint, and begins the log.
    fn describe_run(
        &self,
        genes: &Genes,
        survey: &Survey,
        plan: &Plan,
        record: &mut RunRecord,
    ) -> Result<GeneRun> {
        let hashes = genes.all().iter().zip(&survey.0);
        let data = hashes.map(|(gene, one)| (gene.name.as_str(), one.hash.as_str()));
        let mut identity = identify_many(plan, data);
        let listed = genes.all().iter().map(|gene| ListedGene {
            name: gene.name.clone(),
            file: gene.file(),
            ranges: gene.ranges(),
            given_model: gene.given_model().to_string(),
        });
        let run = GeneRun {
            identity: identity.entries.clone(),
            seed: plan.seed,
            has_replicates: self.search.replicates,
            genes: listed.collect(),
        };
        let shard = self.shard.map_or("none".to_string(), |[k, n]| format!("{k}/{n}"));
        identity.add("--shard", shard);
        if let Some(ranks) = ranks_of_genes(plan) {
            carry_out_on_all(ranks, &identity, 1)?;
        }
        record.open_checkpoint(plan, identity)?;
        record.begin()?;
        Ok(run)
    }

    /// Says what the genes are like.
    fn report(&self, survey: &Survey, plan: &Plan, record: &mut RunRecord) {
        let rows = describe(survey, None);
        record.progress.text(&pairs("Genes", &rows));
        if let Some(ranks) = plan.run.ranks {
            let size = ranks.size();
            record.progress.about_run(&match ranks_of_genes(plan) {
                Some(_) => format!("{size} ranks, to which genes are dealt"),
                None => format!("{size} ranks, which compute each likelihood together"),
            });
        }
        if let Some([k, n]) = self.shard {
            record.progress.event(&Event::Note(format!(
                "shard {k} of {n}: one of {n} genes, beginning with number {k}; mlsearch genes --merge puts the \
                 {n} shards together"
            )));
        }
    }
}

/// What the genes are like, as names and values.
fn describe(survey: &Survey, memory: Option<u64>) -> Vec<(&'static str, String)> {
    let to_search = || survey.0.iter().filter(|one| one.settled.is_none());
    let range = |value: fn(&Surveyed) -> Option<usize>| {
        let values = || to_search().filter_map(value);
        match (values().min(), values().max()) {
            (Some(least), Some(most)) => format!("{least} to {most}"),
            _ => "none".to_string(),
        }
    };
    let mut types: Vec<(&str, usize)> = Vec::new();
    for data in to_search().filter_map(|one| one.data.as_ref()) {
        match types.iter_mut().find(|known| known.0 == data.data_type) {
            Some(known) => known.1 += 1,
            None => types.push((&data.data_type, 1)),
        }
    }
    let types: Vec<String> = types.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let mut rows = vec![
        ("number", survey.0.len().to_string()),
        ("to be searched", to_search().count().to_string()),
        ("types", types.join(", ")),
        ("taxa", range(|one| one.data.as_ref().map(|data| data.taxa))),
        ("sites", range(|one| one.data.as_ref().map(|data| data.sites))),
    ];
    let most = to_search().map(|one| one.task.bytes).max();
    if let (Some(memory), Some(most)) = (memory, most) {
        rows.push(("memory of the largest, for each thread", format_bytes(most)));
        rows.push(("memory that is free or allowed", format_bytes(memory)));
    }
    rows
}

/// The searches are the run's only stage.
const STAGE: u32 = 0;

/// True if the gene was searched before the run was interrupted.
fn is_finished(record: &RunRecord, number: usize) -> bool {
    record.checkpoint.as_ref().is_some_and(|file| file.has(Kind::Finished, file.key(STAGE, number)))
}

/// What became of a gene.
fn record_of(survey: &Survey, record: &RunRecord, number: usize) -> Result<GeneRecord> {
    if let Some(settled) = &survey.0[number].settled {
        return Ok(settled.clone());
    }
    let found = match &record.checkpoint {
        Some(file) => file.find(Kind::Finished, file.key(STAGE, number))?,
        None => None,
    };
    found.ok_or_else(|| {
        Error::Failed(
            "the checkpoint has lost genes, because it could not be written: repeat the command"
                .into(),
        )
    })
}

/// The searches of a run.
struct Searches<'a> {
    genes: &'a Genes,
    survey: &'a Survey,
    search: GeneSearch,
    plan: &'a Plan,
}

impl Searches<'_> {
    /// Searches the genes that are open, of those that are this run's own, and keeps each in the checkpoint as soon as it is known.
    fn run(
        &self,
        open: &[usize],
        mine: &[usize],
        memory: Option<u64>,
        record: &mut RunRecord,
    ) -> Result<()> {
        record.progress.stage("genes", None);
        let tasks: Vec<Task> = self.survey.0.iter().map(|one| one.task).collect();
        let threads = allowed_threads(self.plan);
        record.report.run.threads = threads.min(open.len().max(1));
        let whole: f64 = open.iter().map(|&number| tasks[number].work).sum();
        let before = mine.len() - open.len();
        let is_settled = |number: &&usize| self.survey.0[**number].settled.is_some();
        let mut tally = Tally {
            noun: "genes",
            done: before,
            before,
            total: mine.len(),
            with_remarks: mine.iter().filter(is_settled).count(),
            share: 0.0,
        };
        record.progress.count(tally);
        let RunRecord { checkpoint, progress, .. } = record;
        let search = |dealt: Dealt| {
            let start = Instant::now();
            let checkpoint = checkpoint.as_ref().map(|file| file.of_job(dealt.task as u32));
            let found = self.search(dealt.task, dealt, checkpoint)?;
            Ok((found, start.elapsed().as_secs_f64()))
        };
        let (stop, ranks) = (self.plan.run.stop, ranks_of_genes(self.plan));
        let deal = Deal { tasks: &tasks, open, threads, memory, stop, ranks };
        deal.run(search, |dealt, (found, seconds): (GeneRecord, f64)| {
            if let Some(file) = checkpoint.as_ref() {
                let key = file.key(STAGE, dealt.task);
                file.write(Kind::Finished, key, &found, false);
            }
            tally.done += 1;
            tally.with_remarks += usize::from(!found.all_remarks().is_empty());
            tally.share += tasks[dealt.task].work / whole.max(f64::MIN_POSITIVE);
            progress.count(tally);
            let (name, threads) = (&self.genes.all()[dealt.task].name, dealt.threads);
            let line = format!("gene '{name}': {seconds:.2} s, threads: {threads}");
            progress.detail_about_run(&line);
            Ok(())
        })
    }

    /// Searches a gene, whatever comes of it.
    ///
    /// # Errors
    /// The run is to end.
    fn search(
        &self,
        number: usize,
        dealt: Dealt,
        checkpoint: Option<Checkpoint>,
    ) -> Result<GeneRecord> {
        match caught(|| self.search.search(self.genes, number, self.plan, dealt, checkpoint)) {
            Err(Error::Interrupted { signal, resume }) => {
                Err(Error::Interrupted { signal, resume })
            }
            Err(error) => {
                // If another gene panics, too, that has reasons of its own.
                forget();
                let data = self.survey.0[number].data.clone();
                Ok(GeneRecord::failed(data, &error.to_string()))
            }
            found => found,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::parse;
    use crate::error::Error;
    use crate::likelihood::failing::{CALLS, PANICS, TURN};
    use crate::run::execute;
    use std::path::Path;
    use std::sync::atomic::Ordering;

    /// Genes that the message names.
    const NAMED: usize = 5;

    /// The trees of a run, and how it ended.
    fn run(options: &str, folder: &Path) -> (Vec<String>, Result<(), Error>) {
        let prefix = folder.join("x");
        let data = "-s datasets/gappy.phy -q partitions/gappy.part -m JC --fast -T 2 --quiet";
        let line = format!("mlsearch genes {data} --redo --prefix {} {options}", prefix.display());
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        let Ok(analysis) = parse(&words) else { panic!("{line}") };
        let ended = execute(&analysis);
        let trees = std::fs::read_to_string(folder.join("x.mlsearch.geneTrees")).unwrap();
        (trees.lines().map(String::from).collect(), ended)
    }

    #[test]
    fn a_gene_that_fails_or_panics_is_listed_and_all_others_are_done() {
        let _turn = TURN.lock();
        let folder = tempfile::tempdir().unwrap();
        let (all, ended) = run("", folder.path());
        assert!(ended.is_ok() && all.len() == 8);
        for panics in [false, true] {
            PANICS.store(panics, Ordering::Relaxed);
            let mut seen = Vec::new();
            for calls in [0, 200, 400, 800, 1600] {
                CALLS.store(calls, Ordering::Relaxed);
                let (trees, ended) = run("--backend failing", folder.path());
                let lost = all.len() - trees.len();
                let mut known = all.iter();
                assert!(trees.iter().all(|tree| known.any(|one| one == tree)), "in their order");
                if lost > 0 {
                    let error = ended.unwrap_err();
                    assert_eq!(error.exit_code(), 1);
                    let said = error.to_string();
                    assert!(said.contains(&format!("{lost} of 8 genes")), "{said}");
                    let reason = if panics { "the failing engine panics" } else { "pulled out" };
                    assert_eq!(said.matches(reason).count(), lost.min(NAMED), "{said}");
                }
                seen.push(lost);
            }
            assert!(seen[0] == 8 && seen.iter().any(|lost| (1..8).contains(lost)), "{seen:?}");
        }
        PANICS.store(false, Ordering::Relaxed);
    }
}
