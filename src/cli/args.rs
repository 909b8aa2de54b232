//! The options as typed; they are interpreted in `resolve`.

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
  mlsearch --all --msa aln.phy --model GTR+G --bs-trees autoMRE
      the same, with as many replicates as are needed (RAxML: -f a -x 1 -# autoMRE)
  mlsearch --evaluate -s aln.phy -m HKY+G -t trees.nwk
      log-likelihoods of given trees (RAxML: -f e)
  mlsearch -s aln.phy -m GTR+G -z trees.nwk --tests au,sh
      which of several trees the data reject (IQ-TREE: -z trees.nwk -zb 10000 -au)
  mlsearch --support --tree best.nwk --bs-trees boots.nwk
      support values from given trees (RAxML: -f b -t best.nwk -z boots.nwk)
  mlsearch --root midpoint --tree best.nwk
      roots a tree; its labels stay with their branches
  mlsearch sample -s aln.phy -m GTR+FO+G --ngen 1000000
      trees, lengths and parameters from their posterior distribution (MrBayes: mcmc ngen=1000000)
  mlsearch --check -s aln.phy -q genes.part -m GTR+G
      describes the data and estimates the time and memory that a run needs
  mlsearch simulate --tree rand{50} --model JC+G4{0.5} --sites 1000 --prefix sim
      sequences simulated along a random tree

Guides (mlsearch help WORD --guide): search, select, start, distance,
  sample, bootstrap, support, concordance, terrace, evaluate, compare,
  consensus, root, simulate, gpu-selftest, data, run, differences

Exit codes: 0 success, 1 failure, 2 command line or input refused.";

const DATA: &str = "Data and model";
const COMMAND: &str = "Analysis (default: --search)";
const SAMPLING: &str = "Sampling (--mcmc)";
const TREES: &str = "Trees";
const OPTIMISE: &str = "Optimisation and search";
const BOOTSTRAP: &str = "Bootstrap and support";
const OUTPUT: &str = "Output";
const RUN: &str = "Run";

/// Headings of the options with which samples are described.
pub(super) const OF_SAMPLES: [&str; 5] = [DATA, SAMPLING, TREES, OUTPUT, RUN];

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
    /// The same in all partitions
    Linked,
    /// The same in all partitions, up to one factor per partition
    Scaled,
    /// Separate for each partition
    Unlinked,
}

/// The seed of all random numbers, or of the resampling.
fn parse_seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "a seed is a whole number".to_string())
}

/// Finds maximum-likelihood phylogenetic trees from alignments of one or many genes with missing data.
///
/// The option letters of RAxML and the long option names of RAxML-NG keep their meaning. An option
/// that is not supported is refused, with the corrected command where there is one.
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
    /// A subcommand with options of its own
    #[command(subcommand)]
    pub mode: Option<Mode>,

    /// Alignment in PHYLIP or FASTA format, gzipped or not; - reads standard input
    #[arg(short = 's', long = "msa", value_name = "FILE", help_heading = DATA)]
    pub msa: Option<PathBuf>,
    /// Model: GTR+G, HKY+I+G, LG+F+G, GY+F3X4, BIN, MK, GTRGAMMA, PROTGAMMALG ...; auto selects one
    /// for each partition; a file is read as with -q
    #[arg(short = 'm', long, value_name = "MODEL", help_heading = DATA)]
    pub model: Option<String>,
    /// Criterion for model selection with auto [default: bic]
    #[arg(long, alias = "auto-prot", value_enum, ignore_case = true, value_name = "bic|aic|aicc", hide_possible_values = true, help_heading = DATA)]
    pub auto_criterion: Option<AutoCriterion>,
    /// Partition file in the format of RAxML or RAxML-NG, or NEXUS charsets [default: one partition]
    #[arg(short = 'q', long, value_name = "FILE", help_heading = DATA)]
    pub partitions: Option<PathBuf>,
    /// File of the weights of the columns: whole numbers separated by white space, one for each column; a column of weight
    /// 2 counts as two, one of weight 0 is left out [default: all 1]
    #[arg(short = 'a', long, value_name = "FILE", help_heading = DATA)]
    pub site_weights: Option<PathBuf>,
    /// How the branch lengths of the partitions are related [default: linked]
    #[arg(long, value_enum, value_name = "HOW", help_heading = DATA)]
    pub brlen: Option<Brlen>,
    /// The same as --brlen unlinked
    #[arg(short = 'M', help_heading = DATA)]
    pub unlinked: bool,
    /// Use the medians of the +G rate categories instead of their means [default: means]
    #[arg(short = 'u', long, help_heading = DATA)]
    pub gamma_median: bool,
    /// For comparison: off keeps all taxa in every partition; slower, with the same likelihood
    /// [default: on]
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true, help_heading = DATA)]
    pub restricted: Option<Switch>,
    /// Data type of partitions that name none: DNA, AA, BIN, MULTI, CODON, CODON2 (NCBI genetic
    /// code 2) ...; with -m auto, models of this type are compared, but not of codons [default:
    /// that of the model; with auto that of the characters]; also -st
    #[arg(long, visible_aliases = ["seqtype", "st"], value_name = "TYPE", help_heading = DATA)]
    pub data_type: Option<String>,
    /// Amino-acid matrix in the format of PAML or RAxML, used instead of the matrix of the model;
    /// also PROTGTR{FILE}
    #[arg(short = 'P', long, value_name = "FILE", help_heading = DATA)]
    pub protein_matrix: Option<PathBuf>,
    /// Exchange rates of RAxML's multi-state models (MULTI): MK, all equal; GTR, one for each pair
    /// of states [default: GTR]
    #[arg(short = 'K', long, value_name = "MK|GTR", help_heading = DATA)]
    pub multistate: Option<String>,
    /// Ascertainment bias correction of RAxML's ASC_ models: only lewis; the others are written in the
    /// model, as +ASC_FELS{sites} or +ASC_STAM{sites/sites/...} [default: lewis]
    #[arg(long, value_name = "KIND", help_heading = DATA)]
    pub asc_corr: Option<String>,

    /// Analysis by RAxML's letter: d search, e evaluate, a all, b support, c check, i internode certainty, j bootstrap
    /// alignments, r and R distances between trees, x distances between sequences, h SH test, w expected likelihood
    /// weights, A ancestral states, I root trees (with -o or --root)
    #[arg(short = 'f', value_name = "LETTER", help_heading = COMMAND)]
    pub algorithm: Option<String>,
    /// Search for the best tree
    #[arg(long, help_heading = COMMAND)]
    pub search: bool,
    /// Optimise branch lengths and model parameters on the trees of --tree, keeping their topologies
    #[arg(long, help_heading = COMMAND)]
    pub evaluate: bool,
    /// Tests of the topologies of the trees of -z (or --tree), which are evaluated: au, sh, kh, wsh, wkh, elw, bp,
    /// separated by commas, or all
    #[arg(long, value_name = "TESTS", value_delimiter = ',', help_heading = COMMAND)]
    pub tests: Vec<String>,
    /// Number of RELL replicates of --tests (of each of the ten sizes for au) [default: 10000]
    #[arg(long, value_name = "N", help_heading = COMMAND)]
    pub rell: Option<String>,
    /// Most likely states at the inner nodes of the best tree, with their probabilities (marginal reconstruction); with
    /// --search, --evaluate or --all, and by itself with -t FILE the same as with --evaluate
    #[arg(long, help_heading = COMMAND)]
    pub ancestral: bool,
    /// Changes of the most likely states along the branches of the best tree; otherwise as --ancestral
    #[arg(long, help_heading = COMMAND)]
    pub mutmap: bool,
    /// Search, bootstrap replicates [default: 100] and support values on the best tree
    #[arg(long, help_heading = COMMAND)]
    pub all: bool,
    /// Bootstrap replicates only [default: 100]
    #[arg(long, help_heading = COMMAND)]
    pub bootstrap: bool,
    /// Write the alignments of the bootstrap replicates [default: 100]
    #[arg(long, help_heading = COMMAND)]
    pub bsmsa: bool,
    /// Map support values from the trees of --bs-trees FILE onto the tree of --tree FILE
    #[arg(long, help_heading = COMMAND)]
    pub support: bool,
    /// Distances between all pairs of trees of FILE, or of --tree FILE; with both, between the trees of --tree and those
    /// of FILE
    #[arg(long, num_args = 0..=1, value_name = "FILE", help_heading = COMMAND)]
    pub rfdist: Option<Option<PathBuf>>,
    /// Distances of --rfdist: rf (Robinson-Foulds), wrf (the same weighted by branch lengths), kf (branch score), quartet,
    /// or several: rf,quartet [default: rf]
    #[arg(long, value_name = "KINDS", help_heading = COMMAND)]
    pub rfdist_metric: Option<String>,
    /// Distances between all sequences of the alignment by maximum likelihood (RAxML: -f x), under --model: F84
    /// (PHYLIP's dnadist; F84{R} with another ratio of transitions and transversions), any other model, whose free
    /// parameters are estimated on a parsimony tree, p (share of different sites) or LogDet; +GC{alpha}: continuous
    /// gamma rates; with --tree nj, bionj, bme or upgma, also their tree; with -M a matrix for each partition; with FILE,
    /// only the tree of the distances in this file [default: -m F84{2}; with -q the models of its file]
    #[arg(long, num_args = 0..=1, value_name = "FILE", help_heading = COMMAND)]
    pub dist: Option<Option<PathBuf>>,
    /// How --dist writes distances: square or lower (PHYLIP's matrix or triangle), tsv (a line for each pair), npy
    /// (NumPy); square.gz, lower.gz or tsv.gz: compressed [default: square]
    #[arg(long, value_name = "FORMAT", help_heading = COMMAND)]
    pub dist_format: Option<String>,
    /// Gene concordance factors of the branches of --tree FILE: how many of the gene trees of this file have them; they
    /// may lack taxa
    #[arg(long, value_name = "FILE", help_heading = COMMAND)]
    pub gcf: Option<PathBuf>,
    /// Site concordance factors of the branches of --tree FILE: how many sites of the alignment support them, on average
    /// over this number of quartets of taxa per branch [default: 100]
    #[arg(long, num_args = 0..=1, value_name = "N", help_heading = COMMAND)]
    pub scf: Option<Option<String>>,
    /// Count the trees on the terrace of --tree FILE, which have exactly the same likelihood under -M: they give every
    /// partition the same tree of its taxa; and write this number of them [default: 100]
    #[arg(long, num_args = 0..=1, value_name = "N", help_heading = COMMAND)]
    pub terrace: Option<Option<String>>,
    /// Consensus of the trees of --tree FILE: MR (majority rule), STRICT, MRE (extended majority rule), or MR75 (T_75) for
    /// branches of at least 75 % of the trees [default: MR]
    #[arg(long, num_args = 0..=1, value_name = "RULE", help_heading = COMMAND)]
    pub consense: Option<Option<String>>,
    /// The same as --consense, in RAxML's form: -J MR -z FILE
    #[arg(short = 'J', value_name = "RULE", help_heading = COMMAND)]
    pub raxml_consense: Option<String>,
    /// The same with the internode certainty of its branches (--bs-metric ic1,ica), in RAxML's form: -L MR -z FILE
    #[arg(short = 'L', value_name = "RULE", help_heading = COMMAND)]
    pub raxml_certainty: Option<String>,
    /// Test if the replicate trees of --bs-trees FILE are enough, by the rule autoMRE, autoMR or autoFC
    /// [default: autoMRE]
    #[arg(long, num_args = 0..=1, value_name = "RULE", help_heading = COMMAND)]
    pub bsconverge: Option<Option<String>>,
    /// The same as --bsconverge, in RAxML's form: -I autoMRE -z FILE
    #[arg(short = 'I', value_name = "RULE", help_heading = COMMAND)]
    pub raxml_bsconverge: Option<String>,
    /// Describe the data and estimate the memory (bytes), time (seconds) and threads that a run needs,
    /// without running it; can be added to any command
    #[arg(long, alias = "parse", help_heading = COMMAND)]
    pub check: bool,
    /// Write the starting trees only
    #[arg(short = 'y', long, help_heading = COMMAND)]
    pub start: bool,

    /// Sample trees, branch lengths and parameters from their posterior distribution, by Metropolis-coupled Markov chains;
    /// also: mlsearch sample ...
    #[arg(long, help_heading = COMMAND)]
    pub mcmc: bool,

    /// Generations of each run: proposals in each of its chains [default: 1000000]
    #[arg(long, value_name = "N", help_heading = SAMPLING)]
    pub ngen: Option<String>,
    /// Generations between two samples [default: 500]
    #[arg(long, value_name = "N", help_heading = SAMPLING)]
    pub samplefreq: Option<String>,
    /// Generations between two comparisons of the runs [default: a twentieth of --ngen]
    #[arg(long, value_name = "N", help_heading = SAMPLING)]
    pub diagnfreq: Option<String>,
    /// Number of independent runs, which are computed at the same time if there are threads [default: 2]
    #[arg(long, value_name = "N", help_heading = SAMPLING)]
    pub nruns: Option<String>,
    /// Number of coupled chains in each run, all but the first heated [default: 4]
    #[arg(long, value_name = "N", help_heading = SAMPLING)]
    pub nchains: Option<String>,
    /// Heating: the posterior of chain i is raised to the power 1/(1+iX), from chain 0 on [default:
    /// adapted until 40 % of the swaps are accepted]
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = SAMPLING)]
    pub temp: Option<String>,
    /// Share of the samples of each run, from the first on, that is left aside [default: 0.25]
    #[arg(long, value_name = "SHARE", help_heading = SAMPLING)]
    pub burninfrac: Option<String>,
    /// The runs end when the frequencies of splits and the effective sample sizes are as good: asdsf=0.01, ess=625, or
    /// both: asdsf=0.01,ess=625 [default: off]
    #[arg(long, value_name = "RULES", help_heading = SAMPLING)]
    pub stop: Option<String>,
    /// Sample from the priors, without the data [default: off]
    #[arg(long, help_heading = SAMPLING)]
    pub prior_only: bool,
    /// Marginal likelihood by this number of stepping stones, in as many generations again as the sample has [default: 50]
    #[arg(long, num_args = 0..=1, value_name = "STEPS", help_heading = SAMPLING)]
    pub ss: Option<Option<String>>,
    /// Prior of the branch lengths: gammadir{SHAPE/RATE/ALPHA/RATIO} (gamma distribution of the tree length, Dirichlet
    /// distribution of the shares of the branches in it), exp{RATE} or uni{FROM/TO} [default: gammadir{1/0.1/1/1}]
    #[arg(long, value_name = "PRIOR", help_heading = SAMPLING)]
    pub brlenspr: Option<String>,
    /// Other priors, by MrBayes' names, separated by commas: shapepr=uni{0/50},statefreqpr=dir{10/10/10/10} [default: those
    /// of MrBayes]
    #[arg(long, value_name = "NAME=PRIOR,...", help_heading = SAMPLING)]
    pub prset: Option<String>,

    /// Starting trees, or the trees to evaluate: FILE, pars{5} (parsimony), rand{5} (random), nj, bionj, bme
    /// or upgma (of the distances between the sequences), or several of these separated by commas, with one search from each tree; auto is one search that
    /// takes what is best from 3 to 10 parsimony trees (--fast: 1, --thorough: up to 50) [default:
    /// auto]
    #[arg(short = 't', long, value_name = "TREES", help_heading = TREES)]
    pub tree: Option<String>,
    /// File of several trees, as in RAxML's -f b, -f i, -f r, -f R, -f h, -I and -J; with --evaluate and --tests, in addition to
    /// those of --tree
    #[arg(short = 'z', value_name = "FILE", help_heading = TREES)]
    pub many_trees: Option<PathBuf>,
    /// Start from random trees instead of parsimony trees
    #[arg(short = 'd', help_heading = TREES)]
    pub random_start: bool,
    /// Constraint tree: searches, starting trees, replicates and samples are restricted to trees that have all its inner
    /// branches; with multifurcations, and without some of the taxa, which may then be anywhere; also -r [default: none]
    #[arg(short = 'g', long, short_alias = 'r', value_name = "FILE", help_heading = TREES)]
    pub tree_constraint: Option<PathBuf>,
    /// Trees with the branch lengths of each partition (a bestPartitionTrees file; substitutions per
    /// site), from which --evaluate -M starts
    #[arg(long, value_name = "FILE", help_heading = TREES)]
    pub partition_trees: Option<PathBuf>,

    /// Estimate the model parameters [default: on]
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true, help_heading = OPTIMISE)]
    pub opt_model: Option<Switch>,
    /// Optimise the branch lengths; off is possible only with --evaluate [default: on]
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true, help_heading = OPTIMISE)]
    pub opt_branches: Option<Switch>,
    /// Optimisation stops when a round improves the log-likelihood by less than this (log-likelihood
    /// units) [default: 0.1 in the last rounds of a search, 0.001 for the final branch lengths and
    /// parameters]
    #[arg(short = 'e', long, value_name = "LNL", allow_negative_numbers = true, help_heading = OPTIMISE)]
    pub lh_epsilon: Option<f64>,
    /// One starting tree and no perturbations: about a third of the time; up to 68 log-likelihood
    /// units lower in our measurements
    #[arg(long, help_heading = OPTIMISE)]
    pub fast: bool,
    /// More starting trees and perturbations: three to four times the time
    #[arg(long, help_heading = OPTIMISE)]
    pub thorough: bool,
    /// Maximum distance over which a pruned subtree is regrafted (branches) [default: 5 to 20,
    /// depending on the phase of the search]
    #[arg(short = 'i', long, value_name = "N", help_heading = OPTIMISE)]
    pub spr_radius: Option<usize>,
    /// Try a regraft position only if its approximate log-likelihood is at most this far below the
    /// current one (log-likelihood units); off: no limit [default: 40]
    #[arg(long, value_name = "X|off", help_heading = OPTIMISE)]
    pub spr_cutoff: Option<String>,
    /// Search with all sequences, or make trees of distances with them; otherwise identical ones take part once and are put back beside each other
    /// [default: off]
    #[arg(long, help_heading = OPTIMISE)]
    pub keep_identical: bool,

    /// Standard bootstrap with this seed for the resampling; needs -# N
    #[arg(short = 'b', value_name = "SEED", value_parser = parse_seed, help_heading = BOOTSTRAP)]
    pub bootstrap_seed: Option<u64>,
    /// The same as -b: rapid replicates are not available; standard ones are made instead
    #[arg(short = 'x', value_name = "SEED", value_parser = parse_seed, conflicts_with = "bootstrap_seed", help_heading = BOOTSTRAP)]
    pub rapid_seed: Option<u64>,
    /// Number of replicates (with -b, -x or -f a) as in --bs-trees, otherwise of starting trees; also -N
    #[arg(short = '#', short_alias = 'N', value_name = "N", help_heading = BOOTSTRAP)]
    pub runs: Option<String>,
    /// Number of replicates [default: 100], or a rule that stops when there are enough (bootstopping): autoMRE, autoMR
    /// or autoFC, tested after every 50 replicates, with the largest number in braces: autoMRE{500} [default: 1000];
    /// with --support and --bsconverge, the file of the replicate trees
    #[arg(long, value_name = "N|RULE|FILE", help_heading = BOOTSTRAP)]
    pub bs_trees: Option<String>,
    /// Greatest weighted Robinson-Foulds distance of halves of the replicates that agree, of autoMRE and autoMR
    /// [default: 0.03]
    #[arg(short = 'B', long, value_name = "X", help_heading = BOOTSTRAP)]
    pub bs_cutoff: Option<String>,
    /// Number of random halvings of the replicates in each test of bootstopping, at least 100 [default: 1000]
    #[arg(long, value_name = "N", help_heading = BOOTSTRAP)]
    pub bs_perms: Option<String>,
    /// What is drawn for a replicate: site (sites within partitions), gene (partitions with all their sites) or genesite
    /// (partitions, then sites within those drawn) [default: site]
    #[arg(long, value_name = "WHAT", help_heading = BOOTSTRAP)]
    pub sampling: Option<String>,
    /// Jackknife: replicates lack this share of the sites of each partition (of the partitions with --sampling gene, of
    /// both with genesite) instead of a bootstrap [default: off]
    #[arg(long, value_name = "SHARE", help_heading = BOOTSTRAP)]
    pub jackknife: Option<String>,
    /// Support by replicate trees: fbp (Felsenstein's: the percentage of the replicates that have the branch), tbe
    /// (transfer bootstrap expectation, from 0 to 1), ic1 and ica (internode certainty, from -1 to 1), or several:
    /// fbp,tbe [default: fbp]
    #[arg(long, value_name = "KINDS", help_heading = BOOTSTRAP)]
    pub bs_metric: Option<String>,
    /// SH-aLRT support of the branches of the best tree, with this number of resampled alignments; with --search,
    /// --evaluate or --all [default: 1000]
    #[arg(long, num_args = 0..=1, value_name = "N", help_heading = BOOTSTRAP)]
    pub alrt: Option<Option<String>>,
    /// aBayes support of the branches of the best tree; with --search, --evaluate or --all [default: off]
    #[arg(long, help_heading = BOOTSTRAP)]
    pub abayes: bool,
    /// Write the replicate trees with optimised branch lengths (substitutions per site) [default: off]
    #[arg(short = 'k', long, help_heading = BOOTSTRAP)]
    pub bs_brlens: bool,

    /// Output files are NAME.mlsearch.* [default: path of the alignment]
    #[arg(short = 'n', value_name = "NAME", help_heading = OUTPUT)]
    pub name: Option<String>,
    /// Output files are PATH.mlsearch.* [default: path of the alignment]
    #[arg(long, value_name = "PATH", help_heading = OUTPUT)]
    pub prefix: Option<PathBuf>,
    /// Folder of the output files [default: that of the alignment; with -n the current folder]
    #[arg(short = 'w', long, value_name = "DIR", help_heading = OUTPUT)]
    pub out_dir: Option<PathBuf>,
    /// Replace all results of an earlier run, and begin an interrupted one anew [default: refuse; resume]
    #[arg(long, help_heading = OUTPUT)]
    pub redo: bool,
    /// Write the log-likelihood of every site (natural logarithm) [default: off]
    #[arg(long, help_heading = OUTPUT)]
    pub sitelh: bool,
    /// Root the trees that are written beside these taxa, separated by commas (drawing only; the likelihood does not
    /// change); without an alignment, root the trees of --tree FILE
    #[arg(short = 'o', long, value_name = "TAXA", help_heading = OUTPUT)]
    pub outgroup: Option<String>,
    /// Root the trees that are written in the middle of the longest path between two taxa; without an alignment, root
    /// the trees of --tree FILE
    #[arg(long, value_name = "midpoint", help_heading = OUTPUT)]
    pub root: Option<String>,
    /// Print only warnings and results, no progress [default: off]
    #[arg(long, alias = "silent", help_heading = OUTPUT)]
    pub quiet: bool,

    /// Seed of all random numbers; the same seed gives the same result [default: 12345]
    #[arg(short = 'p', long, value_name = "N", value_parser = parse_seed, help_heading = RUN)]
    pub seed: Option<u64>,
    /// Number of threads; auto: as many as are useful, auto{N}: at most N; the result is the same with
    /// any number [default: auto]
    #[arg(short = 'T', long, value_name = "N", help_heading = RUN)]
    pub threads: Option<String>,
    /// Most memory to use, as 500M or 8G: fewer computations at the same time, then likelihood vectors that are
    /// computed again when they are needed; the result is the same [default: what is free]
    #[arg(long, value_name = "SIZE", help_heading = RUN)]
    pub mem: Option<String>,
    // Its help names the instruction sets, which only the engines know.
    #[allow(missing_docs)]
    #[arg(long, value_name = "SET", help_heading = RUN, help = INSTRUCTION_SET_HELP)]
    pub simd: Option<String>,
    /// What computes likelihoods: cpu, cuda (NVIDIA cards), or auto, which is cpu as long as no card has been measured; the
    /// result is the same with any [default: auto]
    #[arg(long, value_name = "ENGINE", help_heading = RUN)]
    pub backend: Option<String>,
    /// Compute on these NVIDIA cards, by their numbers, as 0 or 0,1 [default: 0 with --backend cuda]
    #[arg(long, value_name = "LIST", help_heading = RUN)]
    pub gpu: Option<String>,
    /// Precision of the scores of regraft positions on NVIDIA cards: double, or single, which may lead to another tree;
    /// all that a search decides by is in double [default: double]
    #[arg(long, value_name = "PRECISION", help_heading = RUN)]
    pub gpu_precision: Option<String>,
    /// Print version
    #[arg(short = 'v', long, action = clap::ArgAction::Version, help_heading = RUN)]
    pub version: Option<bool>,

    /// The command as typed.
    #[arg(skip)]
    pub command_line: String,
    /// The same without what begins an interrupted run anew.
    #[arg(skip)]
    pub resuming_command: String,
    /// The same without what chooses cards, where the results do not depend on them.
    #[arg(skip)]
    pub processor_command: String,
    /// What the user should know about options that were read as others.
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
    /// Simulate sequences along a given or random tree, optionally with missing genes
    Simulate(SimulateArgs),
    /// Compare NVIDIA cards with the processor: whether they give the same bits, and times
    GpuSelftest(GpuSelftestArgs),
}

/// The options of `gpu-selftest`.
#[derive(Debug, Clone, clap::Args)]
pub struct GpuSelftestArgs {
    /// Numbers of the cards, as 0 or 0,1 [default: 0]
    #[arg(long, value_name = "LIST")]
    pub gpu: Option<String>,
    /// Measure the smallest alignment only
    #[arg(long)]
    pub quick: bool,
    /// Output files are NAME.mlsearch.* [default: gpu-selftest]
    #[arg(short = 'n', value_name = "NAME")]
    pub name: Option<String>,
    /// Output files are PATH.mlsearch.*
    #[arg(long, value_name = "PATH")]
    pub prefix: Option<PathBuf>,
    /// Replace the results of an earlier self-test
    #[arg(long)]
    pub redo: bool,
}

/// The options of `simulate`.
#[derive(Debug, Clone, clap::Args)]
pub struct SimulateArgs {
    /// The tree: FILE (with branch lengths), or rand{N} for a random tree of N taxa
    #[arg(short = 't', long, value_name = "TREE")]
    pub tree: Option<String>,
    /// Model with the values of its parameters: GTR{1/2/1/1/2/1}+FU{.3/.2/.2/.3}+G4{0.5}
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
    /// Folder of the output files [default: the current folder]
    #[arg(short = 'w', long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
    /// Replace the results of an earlier run [default: refuse]
    #[arg(long)]
    pub redo: bool,
}
