//! What was typed, word for word; no meaning is given to it here.

use crate::likelihood::select::INSTRUCTION_SET_HELP;
use clap::{Parser, ValueEnum};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  mlsearch -s primates.phy -m GTR+G
      the maximum-likelihood tree of an alignment
  mlsearch -s aln.phy -q genes.part -m GTRGAMMA -M -T 4 -n run1
      many genes, each with its own branch lengths, 4 threads, files run1.mlsearch.*
  mlsearch --all --msa aln.phy --model GTR+G --bs-trees 100 --seed 7
      search, 100 bootstrap replicates, support on the best tree
  mlsearch --evaluate -s aln.phy -m HKY+G -t trees.nwk
      likelihood of trees you already have (RAxML: -f e)
  mlsearch --support --tree best.nwk --bs-trees boots.nwk
      support values from trees you already have (RAxML: -f b -t best.nwk -z boots.nwk)
  mlsearch --check -s aln.phy -q genes.part -m GTR+G
      describes the data and the time and memory that a run needs
  mlsearch simulate --tree rand{50} --model JC+G4{0.5} --sites 1000 --prefix sim
      sequences along a random tree

Exit codes: 0 done, 1 failed, 2 command line or input refused.";

const DATA: &str = "Data and model";
const COMMAND: &str = "What to do (default: --search)";
const TREES: &str = "Trees";
const OPTIMISE: &str = "Optimisation and search";
const BOOTSTRAP: &str = "Bootstrap and support";
const OUTPUT: &str = "Output";
const RUN: &str = "Run";

/// "on" or "off".
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// Yes.
    On,
    /// No.
    Off,
}

/// Spellings of information criteria.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AutoCriterion {
    /// Bayesian
    Bic,
    /// Akaike's
    Aic,
    /// Akaike's, corrected for small samples
    Aicc,
}

/// Spellings of branch-length linkage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Brlen {
    /// Shared by all partitions
    Linked,
    /// Shared, times one factor for each partition
    Scaled,
    /// Each partition has its own
    Unlinked,
}

/// The seed of everything random, or of the resampling.
fn parse_seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "a seed is a whole number".to_string())
}

/// Maximum-likelihood phylogenetic trees from real, gappy, multi-gene alignments.
///
/// RAxML's letters and RAxML-NG's long names mean what they mean there. An option that is not
/// supported is refused, never ignored; the refusal shows the corrected command where there is one.
#[derive(Debug, Clone, Parser)]
#[command(
    name = "mlsearch",
    version,
    disable_version_flag = true,
    after_help = EXAMPLES,
    infer_long_args = true,
    args_conflicts_with_subcommands = true,
    max_term_width = 110
)]
pub struct Args {
    /// Another kind of run
    #[command(subcommand)]
    pub mode: Option<Mode>,

    /// Alignment: PHYLIP or FASTA, gzipped or not; - is standard input
    #[arg(short = 's', long = "msa", value_name = "FILE", help_heading = DATA)]
    pub msa: Option<PathBuf>,
    /// Model: GTR+G, HKY+I+G, LG+F+G, GY+F3X4, BIN, MK, GTRGAMMA, PROTGAMMALG ..., or auto, which
    /// selects one; a file is read like that of -q
    #[arg(short = 'm', long, value_name = "MODEL", help_heading = DATA)]
    pub model: Option<String>,
    /// Criterion that selects the model where -m (or a partition) says auto [default: bic]
    #[arg(long, alias = "auto-prot", value_enum, ignore_case = true, value_name = "bic|aic|aicc", hide_possible_values = true, help_heading = DATA)]
    pub auto_criterion: Option<AutoCriterion>,
    /// Partition file of RAxML or RAxML-NG, or NEXUS charsets [default: one partition]
    #[arg(short = 'q', long, value_name = "FILE", help_heading = DATA)]
    pub partitions: Option<PathBuf>,
    /// Branch lengths of partitions [default: linked]
    #[arg(long, value_enum, value_name = "HOW", help_heading = DATA)]
    pub brlen: Option<Brlen>,
    /// The same as --brlen unlinked
    #[arg(short = 'M', help_heading = DATA)]
    pub unlinked: bool,
    /// Rates of +G are medians of their categories [default: means]
    #[arg(short = 'u', long, help_heading = DATA)]
    pub gamma_median: bool,
    /// For comparison: off keeps all taxa in every partition, which is slower and gives the same
    /// likelihood [default: on]
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true, help_heading = DATA)]
    pub restricted: Option<Switch>,
    /// Type of data where partitions name none: DNA, AA, BIN, MULTI, CODON, CODON2 (NCBI's genetic
    /// code 2) ... [default: that of the model]; also -st
    #[arg(long, visible_aliases = ["seqtype", "st"], value_name = "TYPE", help_heading = DATA)]
    pub data_type: Option<String>,
    /// Amino-acid matrix in the format of PAML or RAxML, which replaces the model's own; also
    /// PROTGTR{FILE}
    #[arg(short = 'P', long, value_name = "FILE", help_heading = DATA)]
    pub protein_matrix: Option<PathBuf>,
    /// Exchange rates of RAxML's multi-state models (MULTI): MK all equal, GTR all different
    /// [default: GTR]
    #[arg(short = 'K', long, value_name = "MK|GTR", help_heading = DATA)]
    pub multistate: Option<String>,
    /// Ascertainment correction of RAxML's ASC_ models: lewis; the others are +ASC_FELS{n} and
    /// +ASC_STAM{n/n/...} in the model [default: lewis]
    #[arg(long, value_name = "KIND", help_heading = DATA)]
    pub asc_corr: Option<String>,

    /// RAxML's letter: d search, e evaluate, a all, b support, c check, r Robinson-Foulds distances
    #[arg(short = 'f', value_name = "LETTER", help_heading = COMMAND)]
    pub algorithm: Option<String>,
    /// Search for the best tree
    #[arg(long, help_heading = COMMAND)]
    pub search: bool,
    /// Optimise branch lengths and model on the trees of --tree, which keep their topologies
    #[arg(long, help_heading = COMMAND)]
    pub evaluate: bool,
    /// Search, bootstrap replicates [default: 100], support values on the best tree
    #[arg(long, help_heading = COMMAND)]
    pub all: bool,
    /// Bootstrap replicates only [default: 100]
    #[arg(long, help_heading = COMMAND)]
    pub bootstrap: bool,
    /// Map support values from the trees of --bs-trees FILE onto the tree of --tree FILE
    #[arg(long, help_heading = COMMAND)]
    pub support: bool,
    /// Robinson-Foulds distances between all pairs of trees of FILE, or of --tree FILE
    #[arg(long, num_args = 0..=1, value_name = "FILE", help_heading = COMMAND)]
    pub rfdist: Option<Option<PathBuf>>,
    /// Consensus of the trees of --tree FILE: MR (majority rule), STRICT or MRE (extended majority
    /// rule) [default: MR]
    #[arg(long, num_args = 0..=1, value_name = "RULE", help_heading = COMMAND)]
    pub consense: Option<Option<String>>,
    /// RAxML's letter for --consense: -J MR -z FILE
    #[arg(short = 'J', value_name = "RULE", help_heading = COMMAND)]
    pub raxml_consense: Option<String>,
    /// Describe the data and the memory (bytes), time and threads that a run needs, without running
    /// it; can be added to any command
    #[arg(long, alias = "parse", help_heading = COMMAND)]
    pub check: bool,
    /// Write starting trees only
    #[arg(short = 'y', long, help_heading = COMMAND)]
    pub start: bool,

    /// Starting trees, or the trees to evaluate: FILE, pars{5}, rand{5}, or several of these with
    /// commas, with one search from each; auto is one search that continues from the best of 4
    /// parsimony trees (--fast: 1, --thorough: 10) [default: auto]
    #[arg(short = 't', long, value_name = "TREES", help_heading = TREES)]
    pub tree: Option<String>,
    /// File of many trees, as in RAxML's -f b, -f r and -J
    #[arg(short = 'z', value_name = "FILE", help_heading = TREES)]
    pub many_trees: Option<PathBuf>,
    /// Starting trees are random instead of parsimony trees
    #[arg(short = 'd', help_heading = TREES)]
    pub random_start: bool,
    /// Trees with each partition's own branch lengths (a bestPartitionTrees file), from which
    /// --evaluate -M starts
    #[arg(long, value_name = "FILE", help_heading = TREES)]
    pub partition_trees: Option<PathBuf>,

    /// Estimate the parameters of the model [default: on]
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true, help_heading = OPTIMISE)]
    pub opt_model: Option<Switch>,
    /// Optimise branch lengths; off only with --evaluate [default: on]
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true, help_heading = OPTIMISE)]
    pub opt_branches: Option<Switch>,
    /// Optimisation ends when a round gains less than this (log-likelihood units) [default: 0.1 in
    /// the last rounds of a search, 0.001 for the final branch lengths and parameters]
    #[arg(short = 'e', long, value_name = "LNL", allow_negative_numbers = true, help_heading = OPTIMISE)]
    pub lh_epsilon: Option<f64>,
    /// One starting tree and no perturbations: a third of the time, 0.6 to 22 log-likelihood units
    /// lower where that was measured
    #[arg(long, help_heading = OPTIMISE)]
    pub fast: bool,
    /// More starting trees and perturbations: about five times the time
    #[arg(long, help_heading = OPTIMISE)]
    pub thorough: bool,
    /// Greatest distance from which a pruned subtree is regrafted (branches) [default: 5 to 20, by
    /// phase of the search]
    #[arg(short = 'i', long, value_name = "N", help_heading = OPTIMISE)]
    pub spr_radius: Option<usize>,
    /// A regraft position is tried only if its approximate log-likelihood is at most this far below
    /// the present one (log-likelihood units), or off [default: 40]
    #[arg(long, value_name = "X|off", help_heading = OPTIMISE)]
    pub spr_cutoff: Option<String>,

    /// Standard bootstrap; SEED is that of the resampling; needs -# N
    #[arg(short = 'b', value_name = "SEED", value_parser = parse_seed, help_heading = BOOTSTRAP)]
    pub bootstrap_seed: Option<u64>,
    /// The same as -b: there are no rapid replicates, standard ones are made instead
    #[arg(short = 'x', value_name = "SEED", value_parser = parse_seed, conflicts_with = "bootstrap_seed", help_heading = BOOTSTRAP)]
    pub rapid_seed: Option<u64>,
    /// Number of replicates (with -b, -x, -f a), otherwise of starting trees; also -N
    #[arg(short = '#', short_alias = 'N', value_name = "N", help_heading = BOOTSTRAP)]
    pub runs: Option<String>,
    /// Number of replicates [default: 100]; with --support the file of their trees
    #[arg(long, value_name = "N|FILE", help_heading = BOOTSTRAP)]
    pub bs_trees: Option<String>,
    /// Kind of support: fbp
    #[arg(long, value_name = "KIND", hide = true)]
    pub bs_metric: Option<String>,
    /// Trees of replicates get optimised branch lengths (substitutions per site) [default: off]
    #[arg(short = 'k', long, help_heading = BOOTSTRAP)]
    pub bs_brlens: bool,

    /// Output files are NAME.mlsearch.* [default: path of the alignment]
    #[arg(short = 'n', value_name = "NAME", help_heading = OUTPUT)]
    pub name: Option<String>,
    /// Output files are PATH.mlsearch.* [default: path of the alignment]
    #[arg(long, value_name = "PATH", help_heading = OUTPUT)]
    pub prefix: Option<PathBuf>,
    /// Folder of the output files [default: that of the alignment; with -n the present one]
    #[arg(short = 'w', long, value_name = "DIR", help_heading = OUTPUT)]
    pub out_dir: Option<PathBuf>,
    /// Replace the results of an earlier run, all of them [default: refuse]
    #[arg(long, help_heading = OUTPUT)]
    pub redo: bool,
    /// Write the log-likelihood of every site (natural logarithms)
    #[arg(long, help_heading = OUTPUT)]
    pub sitelh: bool,
    /// Print warnings and results only, no progress
    #[arg(long, alias = "silent", help_heading = OUTPUT)]
    pub quiet: bool,

    /// Seed of everything random; the same seed gives the same result [default: 12345]
    #[arg(short = 'p', long, value_name = "N", value_parser = parse_seed, help_heading = RUN)]
    pub seed: Option<u64>,
    /// Number of threads; auto: as many as are worthwhile, auto{N}: at most N; the result does not
    /// depend on it [default: auto]
    #[arg(short = 'T', long, value_name = "N", help_heading = RUN)]
    pub threads: Option<String>,
    // Its help names the instruction sets, which only the engines know.
    #[allow(missing_docs)]
    #[arg(long, value_name = "SET", help_heading = RUN, help = INSTRUCTION_SET_HELP)]
    pub simd: Option<String>,
    /// What computes likelihoods
    #[arg(long, value_name = "ENGINE", hide = true)]
    pub backend: Option<String>,
    /// Print version
    #[arg(short = 'v', long, action = clap::ArgAction::Version, help_heading = RUN)]
    pub version: Option<bool>,

    /// The command as typed.
    #[arg(skip)]
    pub command_line: String,
    /// What the user should know about options that were taken as others.
    #[arg(skip)]
    pub notes: Vec<String>,
}

impl Args {
    /// The seed of `-b` or `-x`.
    pub fn replicate_seed(&self) -> Option<u64> {
        self.bootstrap_seed.or(self.rapid_seed)
    }
}

/// Modes that are not options on an alignment.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum Mode {
    /// Simulate sequences along a given or a random tree, with missing genes if wanted
    Simulate(SimulateArgs),
}

/// What was typed after `simulate`.
#[derive(Debug, Clone, clap::Args)]
pub struct SimulateArgs {
    /// The tree: FILE (with branch lengths) or rand{TAXA}
    #[arg(short = 't', long, value_name = "TREE")]
    pub tree: Option<String>,
    /// Model with its parameters: GTR{1/2/1/1/2/1}+FU{.3/.2/.2/.3}+G4{0.5}
    #[arg(short = 'm', long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Number of alignment columns (three for a codon), if there is no partition file
    #[arg(long, value_name = "N")]
    pub sites: Option<usize>,
    /// Partition file: names, models and columns of the partitions
    #[arg(short = 'q', long, value_name = "FILE")]
    pub partitions: Option<PathBuf>,
    /// Share of (taxon x partition) cells without data, from 0 to below 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, allow_negative_numbers = true)]
    pub missing: f64,
    /// Mean branch length of a random tree (substitutions per site)
    #[arg(long, value_name = "LENGTH", default_value_t = 0.05, allow_negative_numbers = true)]
    pub mean_brlen: f64,
    /// Seed; the same seed gives the same sequences [default: 12345]
    #[arg(short = 'p', long, value_name = "N", value_parser = parse_seed)]
    pub seed: Option<u64>,
    /// Output files are NAME.mlsearch.*
    #[arg(short = 'n', value_name = "NAME")]
    pub name: Option<String>,
    /// Output files are PATH.mlsearch.*
    #[arg(long, value_name = "PATH")]
    pub prefix: Option<PathBuf>,
    /// Folder for output files
    #[arg(short = 'w', long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
    /// Replace results of an earlier run
    #[arg(long)]
    pub redo: bool,
}
