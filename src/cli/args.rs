//! What was typed, word for word; no meaning is given to it here.

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
      what the data are like and what a run will take
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
    /// Shared, times one scaler per partition
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
    /// chooses one; a file is taken as -q
    #[arg(short = 'm', long, value_name = "MODEL", help_heading = DATA)]
    pub model: Option<String>,
    /// What chooses a model where -m (or a partition) says auto [default: bic]
    #[arg(long, alias = "auto-prot", value_enum, ignore_case = true, value_name = "bic|aic|aicc", hide_possible_values = true, help_heading = DATA)]
    pub auto_criterion: Option<AutoCriterion>,
    /// Partition file: RAxML's, RAxML-NG's or NEXUS charsets
    #[arg(short = 'q', long, value_name = "FILE", help_heading = DATA)]
    pub partitions: Option<PathBuf>,
    /// Branch lengths of partitions [default: linked]
    #[arg(long, value_enum, value_name = "HOW", help_heading = DATA)]
    pub brlen: Option<Brlen>,
    /// The same as --brlen unlinked
    #[arg(short = 'M', help_heading = DATA)]
    pub unlinked: bool,
    /// Gamma rates are medians of their categories, not means
    #[arg(short = 'u', long, help_heading = DATA)]
    pub gamma_median: bool,
    /// Expert: "off" keeps all taxa in every partition (slower, same likelihood)
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true, help_heading = DATA)]
    pub restricted: Option<Switch>,
    /// Type of data where partitions name none: DNA, AA, BIN, MULTI, CODON, CODON2 (NCBI's genetic
    /// code 2) ... [default: that of the model]; also -st
    #[arg(long, visible_aliases = ["seqtype", "st"], value_name = "TYPE", help_heading = DATA)]
    pub data_type: Option<String>,
    /// Amino-acid matrix in PAML's or RAxML's form, instead of the model's own; also PROTGTR{FILE}
    #[arg(short = 'P', long, value_name = "FILE", help_heading = DATA)]
    pub protein_matrix: Option<PathBuf>,
    /// Rates of multi-state models (RAxML's MULTI): MK equal, GTR all different [default: GTR]
    #[arg(short = 'K', long, value_name = "MK|GTR", help_heading = DATA)]
    pub multistate: Option<String>,
    /// Ascertainment correction of ASC_ models: lewis
    #[arg(long, value_name = "KIND", help_heading = DATA)]
    pub asc_corr: Option<String>,

    /// RAxML's letter: d search, e evaluate, a all, b support, c check, r RF distances
    #[arg(short = 'f', value_name = "LETTER", help_heading = COMMAND)]
    pub algorithm: Option<String>,
    /// Search for the best tree
    #[arg(long, help_heading = COMMAND)]
    pub search: bool,
    /// Optimise lengths and model on the trees of --tree, without changing them
    #[arg(long, help_heading = COMMAND)]
    pub evaluate: bool,
    /// Search, bootstrap replicates, support on the best tree
    #[arg(long, help_heading = COMMAND)]
    pub all: bool,
    /// Bootstrap replicates only
    #[arg(long, help_heading = COMMAND)]
    pub bootstrap: bool,
    /// Map support from --bs-trees FILE onto --tree FILE
    #[arg(long, help_heading = COMMAND)]
    pub support: bool,
    /// Robinson-Foulds distances between the trees of --tree FILE
    #[arg(long, num_args = 0..=1, value_name = "FILE", help_heading = COMMAND)]
    pub rfdist: Option<Option<PathBuf>>,
    /// Consensus of the trees of --tree FILE: MR (default), STRICT or MRE
    #[arg(long, num_args = 0..=1, value_name = "RULE", help_heading = COMMAND)]
    pub consense: Option<Option<String>>,
    /// RAxML's spelling of --consense: -J MR -z FILE
    #[arg(short = 'J', value_name = "RULE", help_heading = COMMAND)]
    pub raxml_consense: Option<String>,
    /// Describe the data, the memory and threads a run will take; compute nothing
    #[arg(long, alias = "parse", help_heading = COMMAND)]
    pub check: bool,
    /// Write starting trees only
    #[arg(short = 'y', long, help_heading = COMMAND)]
    pub start: bool,

    /// Trees: pars{5}, rand{5}, FILE, several with commas, or auto: one search that goes on from
    /// the best of 4 parsimony trees (--fast: 1, --thorough: 10) [default: auto]
    #[arg(short = 't', long, value_name = "TREES", help_heading = TREES)]
    pub tree: Option<String>,
    /// File of many trees (RAxML, with -f b, -f r, -J)
    #[arg(short = 'z', value_name = "FILE", help_heading = TREES)]
    pub many_trees: Option<PathBuf>,
    /// Random instead of parsimony starting trees
    #[arg(short = 'd', help_heading = TREES)]
    pub random_start: bool,
    /// Per-partition trees (.bestPartitionTrees) whose lengths start --evaluate -M
    #[arg(long, value_name = "FILE", help_heading = TREES)]
    pub partition_trees: Option<PathBuf>,

    /// Optimise model parameters [default: on]
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true, help_heading = OPTIMISE)]
    pub opt_model: Option<Switch>,
    /// Optimise branch lengths [default: on]
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true, help_heading = OPTIMISE)]
    pub opt_branches: Option<Switch>,
    /// Optimisation ends below this gain in lnL
    #[arg(short = 'e', long, value_name = "LNL", allow_negative_numbers = true, help_heading = OPTIMISE)]
    pub lh_epsilon: Option<f64>,
    /// One starting tree, no perturbations: a third of the time, some log units lower
    #[arg(long, help_heading = OPTIMISE)]
    pub fast: bool,
    /// More starting trees and perturbations: about five times the time
    #[arg(long, help_heading = OPTIMISE)]
    pub thorough: bool,
    /// Largest distance of a regraft
    #[arg(short = 'i', long, value_name = "N", help_heading = OPTIMISE)]
    pub spr_radius: Option<usize>,
    /// Cutoff of the lazy search, or off
    #[arg(long, value_name = "X|off", help_heading = OPTIMISE)]
    pub spr_cutoff: Option<String>,

    /// Standard bootstrap with this seed; needs -# N
    #[arg(short = 'b', value_name = "SEED", value_parser = parse_seed, help_heading = BOOTSTRAP)]
    pub bootstrap_seed: Option<u64>,
    /// The same as -b: RAxML's rapid replicates are not available, standard ones take their place
    #[arg(short = 'x', value_name = "SEED", value_parser = parse_seed, conflicts_with = "bootstrap_seed", help_heading = BOOTSTRAP)]
    pub rapid_seed: Option<u64>,
    /// Number of replicates (with -b, -x, -f a), else of starting trees; also -N
    #[arg(short = '#', short_alias = 'N', value_name = "N", help_heading = BOOTSTRAP)]
    pub runs: Option<String>,
    /// Number of replicates, or with --support the file of their trees
    #[arg(long, value_name = "N|FILE", help_heading = BOOTSTRAP)]
    pub bs_trees: Option<String>,
    /// Kind of support: fbp
    #[arg(long, value_name = "KIND", hide = true)]
    pub bs_metric: Option<String>,
    /// Replicates' trees get optimised branch lengths
    #[arg(short = 'k', long, help_heading = BOOTSTRAP)]
    pub bs_brlens: bool,

    /// Output files are NAME.mlsearch.* [default: path of the alignment]
    #[arg(short = 'n', value_name = "NAME", help_heading = OUTPUT)]
    pub name: Option<String>,
    /// Output files are PATH.mlsearch.*
    #[arg(long, value_name = "PATH", help_heading = OUTPUT)]
    pub prefix: Option<PathBuf>,
    /// Folder for output files
    #[arg(short = 'w', long, value_name = "DIR", help_heading = OUTPUT)]
    pub out_dir: Option<PathBuf>,
    /// Replace results of an earlier run
    #[arg(long, help_heading = OUTPUT)]
    pub redo: bool,
    /// Write the log-likelihood of every site
    #[arg(long, help_heading = OUTPUT)]
    pub sitelh: bool,
    /// No progress, only warnings and results
    #[arg(long, alias = "silent", help_heading = OUTPUT)]
    pub quiet: bool,

    /// Seed of everything random; the same seed gives the same result
    #[arg(short = 'p', long, value_name = "N", value_parser = parse_seed, help_heading = RUN)]
    pub seed: Option<u64>,
    /// Threads: N, auto or auto{N}; the result does not depend on it [default: auto]
    #[arg(short = 'T', long, value_name = "N", help_heading = RUN)]
    pub threads: Option<String>,
    /// Kernels: auto, scalar, avx2, avx512; the result does not depend on it [default: auto]
    #[arg(long, value_name = "SET", help_heading = RUN)]
    pub simd: Option<String>,
    /// Device: auto or cpu
    #[arg(long, value_name = "DEVICE", hide = true)]
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
    /// Sequences along a given or random tree, with missing genes to order
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
    /// Number of sites (columns: three for a codon), when there is no partition file
    #[arg(long, value_name = "N")]
    pub sites: Option<usize>,
    /// Partition file: names, models and ranges
    #[arg(short = 'q', long, value_name = "FILE")]
    pub partitions: Option<PathBuf>,
    /// Share of (taxon x partition) cells without data
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, allow_negative_numbers = true)]
    pub missing: f64,
    /// Mean branch length of a random tree
    #[arg(long, value_name = "LENGTH", default_value_t = 0.05, allow_negative_numbers = true)]
    pub mean_brlen: f64,
    /// Seed; the same seed gives the same sequences
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
