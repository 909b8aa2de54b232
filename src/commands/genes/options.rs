//! The options of `genes`.

use super::collapse::Collapse;
use super::lengths::LENGTH_PLOT;
use super::merge::MergeShards;
use super::report::SECTION;
use super::run::GeneTrees;
use super::search_gene::GeneSearch;
use super::shard::SHARD;
use super::tables::{GENE_MODELS, GENE_TABLE, GENE_TREES};
use crate::bootstrap::SamplingUnit;
use crate::commands::{Analysis, Group, Word, guide};
use crate::dataset::GeneSource;
use crate::plan::{
    DataArgs, DataOptions, ModelIs, OutputArgs, Plan, Reading, Refusals, RunArgs, TreeSource,
};
use crate::steps::concordance::{CONCORDANCE, CONCORDANCE_SECTION};
use crate::steps::options::{
    BranchTestArgs, ClimbArgs, FitArgs, IdenticalArgs, MetricArgs, ReplicateArgs, read_quartets,
};
use crate::steps::replicates::BOOTSTRAPS;
use crate::steps::support::SUPPORT;
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::{Path, PathBuf};

const DATA: &str = "Data and model";
const GENES: &str = "Genes";

/// The word.
pub(crate) const WORD: Word = Word {
    name: "genes",
    group: Group::FromAlignments,
    about: "the tree of each of many genes, in one run",
    usage: "-s <PATH> -m <MODEL>",
    guide: guide!("genes"),
    outputs: &[
        GENE_TREES,
        GENE_TABLE,
        GENE_MODELS,
        LENGTH_PLOT,
        BOOTSTRAPS,
        SHARD,
        SUPPORT,
        CONCORDANCE,
    ],
    sections: &[SECTION.schema(), CONCORDANCE_SECTION.schema()],
    args: GeneArgs::augment_args,
    read,
    ..Word::BLANK
};

/// How genes have replicates.
const HOW: &str = "--bs-trees N adds some to each gene";

/// What a user may type.
#[derive(Debug, Clone, Args)]
struct GeneArgs {
    /// Folder of alignments, or list of their paths
    ///
    /// One alignment of each gene, in any format of -s, gzipped or not; or a text with one path a line; or, with -q,
    /// an alignment whose partitions are the genes.
    #[arg(short = 's', long = "msa", value_name = "PATH", help_heading = DATA)]
    msa: Option<PathBuf>,
    /// GTR+G ...; auto; DNA=GTR+G,AA=LG+G
    ///
    /// The model of all genes; auto selects one for each gene; or one for each type of data: DNA, AA, CODON, BIN, MULTI.
    #[arg(short = 'm', long, value_name = "MODEL", help_heading = DATA)]
    model: Option<String>,
    /// Partition file: each partition is a gene
    #[arg(short = 'q', long, value_name = "FILE", help_heading = DATA)]
    partitions: Option<PathBuf>,
    /// Criterion for model selection with auto [default: bic]
    #[arg(long, alias = "auto-prot", value_enum, ignore_case = true, value_name = "bic|aic|aicc", hide_possible_values = true, help_heading = DATA, hide_short_help = true)]
    auto_criterion: Option<crate::plan::AutoCriterion>,
    /// Model selection compares profile mixtures of amino acids (C10 to C60), too [default: off]
    #[arg(long, help_heading = DATA, hide_short_help = true)]
    mixtures: bool,
    /// Recode amino acids as states of multi-state data: dayhoff6, sr4, sr6, kgb6, or groups such as AGPST/C/DENQ/FWY/HKR/ILMV
    #[arg(long, value_name = "GROUPS", help_heading = DATA, hide_short_help = true)]
    recode: Option<String>,
    /// File that defines profiles and models under names, as IQ-TREE reads them
    #[arg(long = "definitions", value_name = "FILE", help_heading = DATA, hide_short_help = true)]
    model_definitions: Option<PathBuf>,
    /// Use the medians of the +G rate categories instead of their means [default: means]
    #[arg(short = 'u', long, help_heading = DATA, hide_short_help = true)]
    gamma_median: bool,
    /// Data type of genes that name none: DNA, AA, BIN, MULTI, CODON, CODON2 (NCBI genetic code 2) ... [default: that of
    /// the model; with auto that of the characters]; also -st
    #[arg(long, visible_aliases = ["seqtype", "st"], value_name = "TYPE", help_heading = DATA, hide_short_help = true)]
    data_type: Option<String>,
    /// Leave out branches with less support (%)
    ///
    /// Inner branches of the gene trees with less support than this, in percent, become polytomies: support of
    /// replicates, or else SH-aLRT, or else aBayes.
    #[arg(long, value_name = "PERCENT", help_heading = GENES)]
    collapse: Option<f64>,
    /// Leave out branches of at most this length
    ///
    /// Inner branches of the gene trees that are not longer than this (substitutions per site) become polytomies.
    #[arg(long, value_name = "LENGTH", help_heading = GENES)]
    collapse_length: Option<f64>,
    /// A tree that gene trees are compared with
    ///
    /// Gene concordance factors of its branches, and the Robinson-Foulds distance of every gene tree to it.
    #[arg(long, value_name = "FILE", help_heading = GENES)]
    gcf_tree: Option<PathBuf>,
    /// Site concordance factors of --gcf-tree
    ///
    /// How many sites of all genes support the branches of the tree, on average over this number of quartets of taxa
    /// per branch [default: 100].
    #[arg(long, num_args = 0..=1, value_name = "N", help_heading = GENES)]
    scf: Option<Option<String>>,
    /// Only every N-th gene, from the K-th
    ///
    /// For jobs on several computers: each writes a file of its genes, and --merge puts these together.
    #[arg(long, value_name = "K/N", help_heading = GENES)]
    shard: Option<String>,
    /// Put the shards of a run together
    ///
    /// Into the files of a run that was not divided.
    #[arg(long, value_name = "SHARDS", help_heading = GENES)]
    merge: Vec<PathBuf>,
    #[command(flatten)]
    replicates: ReplicateArgs,
    #[command(flatten)]
    metric: MetricArgs,
    #[command(flatten)]
    tests: BranchTestArgs,
    #[command(flatten)]
    climb: ClimbArgs,
    #[command(flatten)]
    fit: FitArgs,
    #[command(flatten)]
    identical: IdenticalArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    run: RunArgs,
}

fn read(matches: &ArgMatches, reading: &mut Reading) -> clap::error::Result<Analysis> {
    let args = GeneArgs::from_arg_matches(matches)?;
    if !args.merge.is_empty() {
        return Ok(read_merge(args, reading));
    }
    let data = args.data().read(ModelIs::Needed, reading);
    let is_divided = data.partitions.is_some();
    args.replicates.draw.note_rapid(&mut reading.notes);
    // Without its last separator, a folder names results beside it.
    let msa: PathBuf = args.msa.iter().flat_map(|path| path.components()).collect();
    let source = match args.msa {
        Some(_) if is_divided => GeneSource::Partitions(msa.clone()),
        Some(_) if msa.is_dir() => GeneSource::Folder(msa.clone()),
        _ => GeneSource::List(msa.clone()),
    };
    let is_named = args.output.name.is_some() || args.output.prefix.is_some();
    if args.msa.is_some() && msa.file_name().is_none() && !is_named {
        let shown = msa.display();
        reading.refusals.add(format!(
            "output files cannot be named after the folder '{shown}': give --prefix PATH or -n NAME"
        ));
    }
    if is_divided && msa.is_dir() {
        reading.refusals.add(
            "-q has the partitions of an alignment, but -s is a folder: give only one of them",
        );
    }
    let mut plan = reading.plan(data, &args.run.of_search(), &args.output, Some(&msa));
    // It is a folder, a list, or an input of this analysis alone.
    plan.data.msa = None;
    let refusals = &mut reading.refusals;
    let mut search = args.fit.read(refusals);
    args.climb.read(&mut search, refusals);
    search.trees = vec![TreeSource::Auto];
    search.keep_identical = args.identical.keep_identical;
    let mut plan = Plan { search, ..plan };
    args.tests.read(&mut plan, refusals);
    let draw = &args.replicates.draw;
    let replicates = draw.demand_some() || draw.runs.is_some();
    if replicates {
        plan.bootstrap = args.replicates.read(plan.seed, true, refusals);
        if plan.bootstrap.sampling.unit != SamplingUnit::Sites {
            refusals.add("--sampling: a gene is one partition, of which only sites can be drawn");
        }
        plan.support.kinds.extend(args.metric.read("fbp", refusals));
    } else {
        args.replicates.refuse(HOW, refusals);
        if args.metric.bs_metric.is_some() {
            refusals.add(format!("--bs-metric applies only to bootstrap replicates: {HOW}"));
        }
    }
    let collapse = args.collapse(&plan, refusals);
    let shard = args.shard.as_deref().and_then(|text| parse_shard(text, refusals));
    // A page of some of the genes: --merge makes that of all.
    plan.output.page &= shard.is_none();
    if shard.is_some() && args.gcf_tree.is_some() {
        refusals.add("--gcf-tree compares all genes: give it with --merge, not with --shard");
    }
    if args.scf.is_some() && args.gcf_tree.is_none() {
        refusals.add("--scf counts sites for the branches of a tree: add --gcf-tree FILE");
    }
    let quartets = read_quartets(args.scf, refusals);
    let gcf_tree = args.gcf_tree;
    let search = GeneSearch { replicates, collapse };
    Ok(Analysis::new(
        &WORD,
        plan,
        Box::new(GeneTrees { source, search, shard, gcf_tree, quartets }),
    ))
}

impl GeneArgs {
    /// The options on data and model that one gene has, too.
    fn data(&self) -> DataArgs {
        DataArgs {
            msa: self.msa.clone(),
            model: self.model.clone(),
            partitions: self.partitions.clone(),
            auto_criterion: self.auto_criterion,
            mixtures: self.mixtures,
            recode: self.recode.clone(),
            model_definitions: self.model_definitions.clone(),
            gamma_median: self.gamma_median,
            data_type: self.data_type.clone(),
            ..DataArgs::default()
        }
    }

    fn collapse(&self, plan: &Plan, refusals: &mut Refusals) -> Collapse {
        if self.collapse.is_some_and(|percent| !(percent > 0.0 && percent <= 100.0)) {
            refusals.add("--collapse: expected a support above 0 and up to 100 (percent)");
        }
        if self.collapse.is_some() && plan.support.kinds.is_empty() {
            refusals.add(
                "--collapse compares the support of branches: add --alrt, --abayes or --bs-trees N; \
                 --collapse-length compares their lengths",
            );
        }
        if self.collapse_length.is_some_and(|length| !(length >= 0.0 && length.is_finite())) {
            refusals.add("--collapse-length: expected a length (substitutions per site)");
        }
        Collapse { support: self.collapse, length: self.collapse_length }
    }
}

/// `2/10`
fn parse_shard(text: &str, refusals: &mut Refusals) -> Option<[usize; 2]> {
    let parts = text.split_once('/');
    let numbers = parts.and_then(|(k, n)| Some([k.parse().ok()?, n.parse().ok()?]));
    let found = numbers.filter(|&[k, n]: &[usize; 2]| (1..=n).contains(&k));
    if found.is_none() {
        refusals.add(format!(
            "--shard {text}: expected K/N, the number of the shard and how many there are, as 1/10 to 10/10"
        ));
    }
    found
}

/// Shards that are put together: all about the genes is in them.
fn read_merge(args: GeneArgs, reading: &mut Reading) -> Analysis {
    let given = [
        (args.msa.is_some(), "-s"),
        (args.model.is_some(), "-m"),
        (args.partitions.is_some(), "-q"),
        (args.recode.is_some(), "--recode"),
        (args.shard.is_some(), "--shard"),
        (args.collapse.is_some(), "--collapse"),
        (args.collapse_length.is_some(), "--collapse-length"),
        (args.replicates.draw.demand_some() || args.replicates.draw.runs.is_some(), "--bs-trees"),
        (args.tests.alrt.is_some(), "--alrt"),
        (args.tests.abayes, "--abayes"),
    ];
    if args.scf.is_some() {
        reading.refusals.add(
            "--scf counts the sites of genes, which shards do not have: mlsearch concordance --scf has them from an alignment",
        );
    }
    for (_, option) in given.into_iter().filter(|(is_given, _)| *is_given) {
        reading
            .refusals
            .add(format!("--merge puts shards together as they were computed: leave out {option}"));
    }
    let first: Option<&Path> = args.merge.first().map(PathBuf::as_path);
    let plan = reading.plan(DataOptions::default(), &args.run, &args.output, first);
    Analysis::new(
        &WORD,
        plan,
        Box::new(MergeShards { shards: args.merge, gcf_tree: args.gcf_tree }),
    )
}
