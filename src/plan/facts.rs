//! [`Facts`]: what an analysis says of itself before any file is read. Lower floors know an analysis by them only.

use crate::output::OutputKind;
use std::path::PathBuf;

/// What an analysis says of itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Facts {
    /// What the run does, in a few words.
    pub(crate) task: String,
    /// The files that it reads besides those of the shared options.
    pub(crate) inputs: Vec<PathBuf>,
    /// Every kind of file that it writes: all have to be free before anything is computed.
    pub(crate) outputs: Vec<OutputKind>,
    /// Number of files of each kind of which there are several.
    pub(crate) numbered: usize,
    /// The kinds of files that `--redo` removes.
    pub(crate) replaced: Vec<OutputKind>,
    /// An interrupted run can be resumed.
    pub(crate) resumes: bool,
    /// What it needs of the alignment.
    pub(crate) needs: Needs,
    /// What it computes.
    pub(crate) workload: Workload,
    /// It leaves neither a log nor a JSON file: its input is the record of another run.
    pub(crate) leaves_no_record: bool,
    /// What it computes with instead of the models, which are then not shown.
    pub(crate) formula: Option<&'static str>,
    /// Names and values of its own options that determine the results.
    pub(crate) identity: Vec<(&'static str, String)>,
}

/// What `--redo` removes before the first result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Replaces {
    /// Only files of the kinds that the analysis writes: it follows another one under the same prefix.
    #[default]
    Own,
    /// All files that an analysis of sequences may have left under the prefix, so that the results are those of one run.
    AllOfAnalyses,
}

/// What an analysis needs of its alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Needs {
    /// The models make a difference to the results.
    pub models: bool,
    /// At least so many taxa: replicates of three cannot differ.
    pub least_taxa: usize,
    /// The alignment itself, not only its patterns.
    pub alignment: bool,
    /// Given trees are evaluated as they are, and not resolved by chance.
    pub own_trees: bool,
    /// The criterion of model selection is needed also if all models are given.
    pub criterion: bool,
    /// Three taxa, which have only one tree, are worth a note.
    pub note_of_one_tree: bool,
}

impl Default for Needs {
    fn default() -> Self {
        let least_taxa = 3;
        Needs {
            models: true,
            least_taxa,
            alignment: false,
            own_trees: false,
            criterion: false,
            note_of_one_tree: false,
        }
    }
}

/// Least number of taxa of replicates.
pub(crate) const LEAST_TAXA_OF_REPLICATES: usize = 4;

/// What an analysis computes, for plans of memory and threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Workload {
    /// How its likelihoods share the memory.
    pub memory: MemoryPlan,
    /// Its jobs evaluate trees, without a search.
    pub only_evaluates: bool,
    /// Starting trees that it chooses itself serve a single search.
    pub is_one_search: bool,
    /// What becomes of taxa with identical sequences.
    pub identical: IdenticalSequences,
    /// Its jobs are replicates, without a search before them.
    pub only_replicates: bool,
    /// It computes distances of pairs, which several ranks share.
    pub has_pairs: bool,
    /// It describes a run that has jobs.
    pub describes_jobs: bool,
}

/// How the likelihoods of an analysis share the memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum MemoryPlan {
    /// There are none, or the analysis makes a plan of its own.
    #[default]
    Own,
    /// One engine in each job.
    Jobs,
    /// So many engines in each job, one for each of its chains.
    Chains(usize),
}

impl MemoryPlan {
    /// Number of engines in each of the jobs that may run at the same time.
    pub(crate) fn engines_per_job(self) -> usize {
        match self {
            MemoryPlan::Chains(engines) => engines,
            MemoryPlan::Own | MemoryPlan::Jobs => 1,
        }
    }
}

/// What becomes of taxa with identical sequences.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum IdenticalSequences {
    /// All take part.
    #[default]
    AllTakePart,
    /// One of them takes part in searches.
    OneInSearches,
    /// One of them takes part in distances and trees of these.
    OneInDistances,
}

impl Facts {
    /// Those of a run that is described only: it writes nothing, and likelihoods are measured without a plan of memory.
    pub(crate) fn of_check(self) -> Self {
        let Workload { memory, identical, only_replicates, .. } = self.workload;
        let workload = Workload {
            only_replicates,
            describes_jobs: memory != MemoryPlan::Own,
            memory: if memory == MemoryPlan::Jobs { MemoryPlan::Own } else { memory },
            identical: match identical {
                IdenticalSequences::OneInSearches => IdenticalSequences::AllTakePart,
                other => other,
            },
            ..Workload::default()
        };
        Facts { task: "check".into(), outputs: Vec::new(), resumes: false, workload, ..self }
    }
}
