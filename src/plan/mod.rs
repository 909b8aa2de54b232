//! What the user wants of one run, validated, as plain data: the options that analyses share (`options`), and what an analysis
//! says of itself (`facts`). The groups of options that every analysis has are read here, too: `data`, `files` and `machine`, with
//! the small languages of their `values`; `reading` is a command line on its way to a [`Plan`].
//!
//! Nothing here reads an input file. What only one analysis knows is in its room in `commands`.

mod data;
mod facts;
mod files;
mod machine;
mod options;
mod reading;
mod refusals;
mod values;

pub(crate) use data::{AutoCriterion, DataArgs, ModelIs, NO_MODEL, not_used};
pub(crate) use facts::{
    Facts, IdenticalSequences, LEAST_TAXA_OF_REPLICATES, MemoryPlan, Needs, Replaces, Workload,
};
pub(crate) use files::{OutputArgs, one_file};
pub(crate) use machine::RunArgs;
pub(crate) use options::{
    AnalysisOptions, AncestralOptions, BootstrapOptions, DEFAULT_ALRT_REPLICATES,
    DEFAULT_MOST_REPLICATES, DEFAULT_REPLICATES, DataOptions, OutputOptions, Plan, Rooting,
    RunOptions, SiteFrequencies, SupportOptions, TestOptions, Threads, TreeSource,
};
pub(crate) use reading::{Reading, Said};
pub(crate) use refusals::Refusals;
pub(crate) use values::{
    MAX_COUNT, Switch, parse_consensus_rule, parse_count, parse_gpus, parse_seed,
    parse_tree_metrics, parse_trees,
};
