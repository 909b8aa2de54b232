//! [`Survey`]: what is to be done, found out before anything is: each gene is read once, and forgotten.

use super::record::{GeneData, GeneRecord};
use super::search_gene::{GeneSearch, describe, nothing, nothing_to_search, too_few};
use crate::dataset::{Genes, Loaded, Opened};
use crate::error::{Error, Result};
use crate::panics::caught;
use crate::plan::Plan;
use crate::runtime::{
    Cost, Task, format_bytes, free_memory, hash_of_data, thread_pool, useful_threads,
};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

/// Bytes of a cell of an alignment while it is read and analysed: as a character, as a code, and in copies of both.
const BYTES_PER_CELL: u64 = 8;
/// Most genes that a message names.
const MAX_NAMED: usize = 20;

/// What is known of a gene.
pub(super) struct Surveyed {
    /// What its data are like, if they could be read.
    pub data: Option<GeneData>,
    /// What becomes of it, if it is not to be searched.
    pub settled: Option<GeneRecord>,
    /// What its search takes.
    pub task: Task,
    /// The least bytes with which it can be searched.
    pub least_bytes: u64,
    /// A hash of its data, or why they cannot be read.
    pub hash: String,
}

/// All genes.
pub(super) struct Survey(pub Vec<Surveyed>);

impl Survey {
    /// Reads all genes once.
    pub(super) fn of(genes: &Genes, plan: &Plan, search: &GeneSearch) -> Self {
        let look = |number| {
            let facts = |num_taxa| search.facts(plan, num_taxa);
            let opened = caught(|| genes.open(number, plan, facts));
            match opened {
                Ok(Opened::Data(opened)) => of_data(&opened.0, &opened.1),
                Ok(Opened::TooFew { taxa, columns }) => settled(too_few(taxa, columns)),
                Err(error) => settled(GeneRecord::failed(None, &error.to_string())),
            }
        };
        let all = || (0..genes.all().len()).into_par_iter().map(look).collect();
        Survey(thread_pool(plan).install(all))
    }

    /// Makes sure that every gene by itself fits the memory. Returns how many bytes there are for all of them.
    ///
    /// # Errors
    /// All genes that do not: [`Error::Usage`] if the user allows too little, else [`Error::Failed`].
    pub(super) fn check_memory(
        &self,
        genes: &Genes,
        plan: &Plan,
        used: u64,
    ) -> Result<Option<u64>> {
        let Some(free) = free_memory(plan, used) else { return Ok(None) };
        let pairs = self.0.iter().zip(genes.all());
        let large = pairs.filter(|(one, _)| one.settled.is_none() && one.least_bytes > free);
        let mut named: Vec<String> = large
            .map(|(one, gene)| {
                let least = format_bytes(used + one.least_bytes);
                format!("gene '{}' needs {least} at least", gene.name)
            })
            .collect();
        if named.is_empty() {
            return Ok(Some(free));
        }
        let more = named.len().saturating_sub(MAX_NAMED);
        named.truncate(MAX_NAMED);
        if more > 0 {
            named.push(format!("... and {more} more genes"));
        }
        let list = named.join("\n");
        let allowed = plan.run.memory.filter(|&memory| memory.saturating_sub(used) <= free);
        Err(match allowed {
            Some(memory) => Error::Usage(format!(
                "--mem: {} are not enough; nothing was computed:\n{list}",
                format_bytes(memory)
            )),
            None => Error::Failed(format!(
                "{} of memory are free, which is not enough; nothing was computed:\n{list}",
                format_bytes(free)
            )),
        })
    }
}

fn settled(record: GeneRecord) -> Surveyed {
    let task = Task { work: 0.0, bytes: 0, useful_threads: 1 };
    let hash = record.all_remarks().join("; ");
    Surveyed { data: record.data.clone(), settled: Some(record), task, least_bytes: 0, hash }
}

fn of_data(plan: &Plan, loaded: &Loaded) -> Surveyed {
    let data = describe(loaded);
    let hash = hash_of_data(plan, loaded);
    if let Some(reason) = nothing_to_search(loaded) {
        return Surveyed { hash, ..settled(nothing(data, reason)) };
    }
    let cost = Cost::of_data(loaded);
    let cells = BYTES_PER_CELL * (loaded.taxa.len() * loaded.num_sites) as u64;
    let bytes = cost.engine_bytes() + cost.bytes_beside_engine(plan) + cells;
    let task = Task {
        work: cost.search_work(loaded.taxa.len()),
        bytes,
        useful_threads: useful_threads(&loaded.partitions),
    };
    let least_bytes = cost.shared_bytes() + cost.least_job_bytes(plan) + cells;
    Surveyed { data: Some(data), settled: None, task, least_bytes, hash }
}
