//! What the commands that compute likelihoods share: data, machine, and where events go.

use super::jobs::run_jobs;
use super::load::{Loaded, load};
use super::machine::Machine;
use super::plan::Plan;
use crate::alphabet::DataType;
use crate::error::Result;
use crate::likelihood::{BrlenLinkage, Evaluator};
use crate::model::Model;
use crate::output::{AlignmentReport, Kind, Progress, Report, table};
use crate::partition::Partition;
use crate::search::{Event, Observer};
use crate::tree::{NewickOptions, Tree, write_newick};

/// Output files of a run, to be written when all is done.
pub type Files = Vec<(Kind, String)>;

/// What is read-only while a run computes: shared by all its threads.
#[derive(Debug)]
pub struct Setup<'a> {
    /// What is to be done.
    pub plan: &'a Plan,
    /// The data.
    pub loaded: Loaded,
    /// Threads and kernels.
    pub machine: Machine,
    /// How branch lengths are tied.
    pub linkage: BrlenLinkage,
}

/// One run on sequences, from the moment its data are read.
pub struct Session<'a> {
    /// Data and machine.
    pub setup: Setup<'a>,
    /// Who hears of it.
    pub progress: &'a mut Progress,
    /// What goes into the JSON file.
    pub report: &'a mut Report,
}

impl<'a> Session<'a> {
    /// Reads the data and says what they are like.
    ///
    /// # Errors
    /// Refused input, or kernels that this machine lacks.
    pub fn start(
        plan: &'a Plan,
        progress: &'a mut Progress,
        report: &'a mut Report,
    ) -> Result<Self> {
        progress.event(&Event::Phase { name: "reading".into() });
        let loaded = load(plan)?;
        let (machine, warning) = Machine::new(plan, &loaded.partitions)?;
        report.alignment = Some(AlignmentReport {
            taxa: loaded.taxa.len(),
            sites: loaded.num_sites,
            patterns: loaded.num_patterns(),
            gappyness: loaded.gappyness,
        });
        report.run.threads = machine.threads;
        report.run.simd = machine.kernels().to_string();
        report.run.backend = "cpu".to_string();
        progress.text(&describe_data(&loaded));
        for note in &loaded.remarks.notes {
            progress.event(&Event::Note(note.clone()));
        }
        for warning in &loaded.remarks.warnings {
            progress.event(&Event::Warning(warning.clone()));
        }
        // Not among the warnings of the report, which must not depend on the number of threads.
        if let Some(warning) = warning {
            progress.about_run(&format!("warning: {warning}"));
        }
        let setup = Setup { plan, loaded, machine, linkage: plan.linkage() };
        Ok(Session { setup, progress, report })
    }

    /// Begins a phase of the run.
    pub fn phase(&mut self, name: impl Into<String>) {
        self.progress.event(&Event::Phase { name: name.into() });
    }

    /// Does independent jobs with their results and events in order, on as many threads as the user
    /// allows: one thread for each job, unless there are few jobs with much work in each.
    ///
    /// # Errors
    /// That of the first job that failed.
    pub fn run_jobs<T: Send>(
        &mut self,
        num_jobs: usize,
        work: impl Fn(&Setup, Machine, usize, &mut dyn Observer) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let (jobs_at_once, machine) = self.setup.machine.share_out(self.setup.plan, num_jobs);
        self.report.run.threads = jobs_at_once.max(machine.threads);
        let (threads, kernels) = (machine.threads, machine.kernels());
        let at_once = match jobs_at_once {
            1 => String::new(),
            jobs => format!("{jobs} jobs at a time, each with "),
        };
        self.progress.about_run(&format!("{at_once}threads: {threads}, kernels: {kernels}"));
        let setup = &self.setup;
        run_jobs(num_jobs, jobs_at_once, self.progress, |job, observer| {
            work(setup, machine, job, observer)
        })
    }
}

impl Setup<'_> {
    /// The models as they were read.
    pub fn models(&self) -> Vec<Model> {
        let partitions = self.loaded.partitions.iter();
        partitions.map(|partition| partition.model.clone()).collect()
    }

    /// An evaluator for a tree, with the scalers that the partition file gives. The partitions are
    /// those that were read, or replicates of them.
    pub fn evaluator(
        &self,
        machine: Machine,
        partitions: &[Partition],
        models: &[Model],
        tree: Tree,
        linkage: BrlenLinkage,
    ) -> Evaluator {
        let mut evaluator = machine.evaluator(partitions, models, tree, linkage);
        for (gene, scaler) in self.loaded.brlen_scalers.iter().enumerate() {
            if let Some(scaler) = scaler {
                evaluator.set_brlen_scaler(gene, *scaler);
            }
        }
        evaluator
    }

    /// A tree over all taxa as Newick text, with or without lengths.
    pub fn newick(&self, tree: &Tree, brlens: bool) -> String {
        let options = NewickOptions { brlens, ..NewickOptions::default() };
        write_newick(tree, |taxon| self.loaded.taxa.name(taxon), &options)
    }
}

/// The alignment and its partitions, as the user should see them before anything is computed.
pub fn describe_data(loaded: &Loaded) -> String {
    let (taxa, sites) = (loaded.taxa.len(), loaded.num_sites);
    let patterns = loaded.num_patterns();
    let mut text = format!("{taxa} taxa, {sites} sites, {patterns} patterns");
    text.push_str(&format!(
        ", {:.1} % of the cells undetermined\n",
        100.0 * loaded.report.undetermined_fraction
    ));
    if loaded.partitions.len() > 1 {
        text.push_str(&format!(
            "{} partitions, gappyness {:.1} %\n",
            loaded.partitions.len(),
            100.0 * loaded.gappyness
        ));
    }
    let rows: Vec<Vec<String>> = loaded
        .partitions
        .iter()
        .zip(&loaded.presence)
        .zip(&loaded.questions)
        .map(|((partition, presence), question)| {
            let chosen_later = || format!("auto ({})", partition.model.data_type.name());
            vec![
                partition.name.clone(),
                describe_type(partition.model.data_type),
                partition.model.num_states().to_string(),
                question.map_or_else(|| short_label(&partition.model), |_| chosen_later()),
                partition.patterns.num_sites.to_string(),
                partition.patterns.num_patterns().to_string(),
                presence.len().to_string(),
            ]
        })
        .collect();
    let header = ["partition", "type", "states", "model", "sites", "patterns", "taxa"];
    text.push_str(&table(&header, &rows));
    let is_codon = |p: &Partition| matches!(p.model.data_type, DataType::Codon(_));
    if loaded.partitions.iter().any(is_codon) {
        text.push_str(
            "Sites of a codon partition are codons, and its branch lengths are per codon.\n",
        );
    }
    text
}

/// The type of data, with the number of a genetic code.
fn describe_type(data_type: DataType) -> String {
    match data_type {
        DataType::Codon(code) => format!("{} {}", data_type.name(), code.number()),
        _ => data_type.name().to_string(),
    }
}

/// The model as a user would type it; long lists of given values (a user's matrix) are cut.
fn short_label(model: &Model) -> String {
    const MOST: usize = 120;
    let label = model.label();
    match label.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}...", &label[..at]),
        None => label,
    }
}
