//! Shards of a run, put together into its files.

use super::lengths::LENGTH_PLOT;
use super::record::GeneRun;
use super::shard::Shard;
use super::species_tree::SpeciesTree;
use super::tables::{GENE_MODELS, GENE_TABLE, GENE_TREES, deliver_genes};
use crate::commands::Command;
use crate::error::{Error, Fault, Faults, Place, Result, collect};
use crate::plan::{Facts, Plan};
use crate::runtime::RunRecord;
use crate::steps::concordance::CONCORDANCE;
use crate::steps::replicates::BOOTSTRAPS;
use crate::steps::support::SUPPORT;
use std::path::{Path, PathBuf};

/// Most numbers of genes that a message lists.
const MAX_NUMBERS: usize = 10;

/// The shards of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MergeShards {
    /// Their files.
    pub shards: Vec<PathBuf>,
    /// A tree with which the gene trees are compared.
    pub gcf_tree: Option<PathBuf>,
}

impl Command for MergeShards {
    fn facts(&self, _: &Plan) -> Facts {
        let mut outputs = vec![GENE_TREES, GENE_TABLE, GENE_MODELS, LENGTH_PLOT, BOOTSTRAPS];
        if self.gcf_tree.is_some() {
            outputs.extend([SUPPORT, CONCORDANCE]);
        }
        Facts {
            task: "shards of genes put together".into(),
            inputs: self.shards.iter().chain(&self.gcf_tree).cloned().collect(),
            outputs,
            ..Facts::default()
        }
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        record.progress.stage("reading", None);
        let mut shards = open_all(&self.shards)?;
        let run = shards[0].run.clone();
        let places = find_genes(&shards, &run, &self.shards)?;
        let species_tree = self.gcf_tree.as_deref().map(SpeciesTree::read).transpose()?;
        record.begin()?;
        deliver_genes(&run, species_tree, plan, record, |_, number| {
            let (shard, at) = places[number];
            shards[shard].read(at)
        })
    }
}

/// Opens all shards, which must be of the same run.
fn open_all(paths: &[PathBuf]) -> Result<Vec<Shard>> {
    let mut faults = Faults::new();
    let mut shards = Vec::new();
    for path in paths {
        shards.extend(collect(Shard::open(path), &mut faults)?);
    }
    if let Some((first, others)) = shards.split_first().filter(|_| faults.is_empty()) {
        for (other, path) in others.iter().zip(&paths[1..]) {
            if other.run == first.run {
                continue;
            }
            let pairs = first.run.identity.iter().zip(&other.run.identity);
            let different = pairs.filter(|(a, b)| a != b);
            let list: Vec<String> = different
                .map(|((name, a), (_, b))| format!("{name}: {a} there, {b} here"))
                .collect();
            let why = if list.is_empty() { "other genes".to_string() } else { list.join("; ") };
            let message =
                format!("this is a shard of another run than '{}': {why}", paths[0].display());
            faults.push(Fault::new(place(path), message));
        }
    }
    if faults.is_empty() { Ok(shards) } else { Err(Error::Input(faults)) }
}

/// By gene, the shard that has it, and its place there.
fn find_genes(shards: &[Shard], run: &GeneRun, paths: &[PathBuf]) -> Result<Vec<(usize, u64)>> {
    let mut places: Vec<Option<(usize, u64)>> = vec![None; run.genes.len()];
    let mut faults = Faults::new();
    for (shard, found) in shards.iter().enumerate() {
        let mut earlier = None;
        for &(number, at) in &found.genes {
            match places.get_mut(number) {
                Some(free @ None) => *free = Some((shard, at)),
                Some(Some((other, _))) => earlier = Some(*other),
                None => faults.push(Fault::new(place(&paths[shard]), "the shard is damaged")),
            }
        }
        if let Some(other) = earlier {
            let message =
                format!("it has the same genes as '{}': name it once", paths[other].display());
            faults.push(Fault::new(place(&paths[shard]), message));
        }
    }
    let missing = || (0..places.len()).filter(|&number| places[number].is_none());
    let count = missing().count();
    if count > 0 && faults.is_empty() {
        let numbers: Vec<String> =
            missing().take(MAX_NUMBERS).map(|number| (number + 1).to_string()).collect();
        let more = if count > MAX_NUMBERS { " ..." } else { "" };
        let message = format!(
            "{count} of {} genes are in none of these shards, by their numbers {}{more}: name all shards of the run",
            places.len(),
            numbers.join(", ")
        );
        faults.push(Fault::new(Place::default(), message));
    }
    if faults.is_empty() {
        Ok(places.into_iter().flatten().collect())
    } else {
        Err(Error::Input(faults))
    }
}

fn place(path: &Path) -> Place {
    Place::file(path.display().to_string())
}
