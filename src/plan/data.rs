//! [`DataArgs`]: the options on data and model, and what they mean.

use super::options::{DataOptions, SiteFrequencies};
use super::reading::Reading;
use super::refusals::Refusals;
use super::values::Switch;
use crate::alignment::Recoding;
use crate::likelihood::BrlenLinkage;
use crate::model_selection::Criterion;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

const DATA: &str = "Data and model";

/// The refusal of a command without a model.
pub(crate) const NO_MODEL: &str =
    "no model: give -m MODEL, for example -m GTR+G, or -m auto to have one selected";

/// Spellings of information criteria.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AutoCriterion {
    /// Bayesian
    Bic,
    /// Akaike's
    Aic,
    /// Akaike's, corrected for small samples
    Aicc,
}

/// Spellings of branch-length linkage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Brlen {
    /// The same in all partitions
    Linked,
    /// The same in all partitions, up to one factor per partition
    Scaled,
    /// Separate for each partition
    Unlinked,
}

/// The options on data and model.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct DataArgs {
    /// Alignment in PHYLIP, FASTA, NEXUS, Clustal or Stockholm format
    ///
    /// Gzipped or not; - reads standard input.
    #[arg(short = 's', long = "msa", value_name = "FILE", help_heading = DATA)]
    pub msa: Option<PathBuf>,
    /// GTR+G, HKY+I, LG+F+G, BIN, MK ...; or auto
    ///
    /// Also GY+F3X4, GTRGAMMA, PROTGAMMALG and others; auto selects one for each partition; a file is read as with
    /// -q.
    #[arg(short = 'm', long, value_name = "MODEL", help_heading = DATA)]
    pub model: Option<String>,
    /// Criterion for model selection with auto [default: bic]
    #[arg(long, alias = "auto-prot", value_enum, ignore_case = true, value_name = "bic|aic|aicc", hide_possible_values = true, help_heading = DATA, hide_short_help = true)]
    pub auto_criterion: Option<AutoCriterion>,
    /// Model selection compares profile mixtures of amino acids (C10 to C60), too [default: off]
    #[arg(long, help_heading = DATA, hide_short_help = true)]
    pub mixtures: bool,
    /// Partition file: RAxML, RAxML-NG, NEXUS charsets
    ///
    /// [default: one partition]
    #[arg(short = 'q', long, value_name = "FILE", help_heading = DATA)]
    pub partitions: Option<PathBuf>,
    /// File of the weights of the columns: whole numbers separated by white space, one for each column; a column of weight
    /// 2 counts as two, one of weight 0 is left out [default: all 1]
    #[arg(short = 'a', long, value_name = "FILE", help_heading = DATA, hide_short_help = true)]
    pub site_weights: Option<PathBuf>,
    /// Branch lengths of partitions [default: linked]
    ///
    /// The same in all partitions, the same up to one factor per partition, or separate for each.
    #[arg(long, value_enum, value_name = "HOW", help_heading = DATA)]
    pub brlen: Option<Brlen>,
    /// The same as --brlen unlinked
    #[arg(short = 'M', help_heading = DATA)]
    pub unlinked: bool,
    /// Partitions that estimate the exchange rates of the same matrix (GTR20, GTR ...) have the same ones [default: each has its
    /// own]
    #[arg(long, visible_alias = "link-exchange", help_heading = DATA, hide_short_help = true)]
    pub link_exchange_rates: bool,
    /// Use the medians of the +G rate categories instead of their means [default: means]
    #[arg(short = 'u', long, help_heading = DATA, hide_short_help = true)]
    pub gamma_median: bool,
    /// For comparison: off keeps all taxa in every partition; slower, with the same likelihood
    /// [default: on]
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true, help_heading = DATA, hide_short_help = true)]
    pub restricted: Option<Switch>,
    /// Data type of partitions that name none: DNA, AA, BIN, MULTI, CODON, CODON2 (NCBI genetic
    /// code 2) ...; with -m auto, models of this type are compared, but not of codons [default:
    /// that of the model; with auto that of the characters]; also -st
    #[arg(long, visible_aliases = ["seqtype", "st"], value_name = "TYPE", help_heading = DATA, hide_short_help = true)]
    pub data_type: Option<String>,
    /// Amino-acid matrix in the format of PAML or RAxML, used instead of the matrix of the model;
    /// also PROTGTR{FILE}
    #[arg(short = 'P', long, value_name = "FILE", help_heading = DATA, hide_short_help = true)]
    pub protein_matrix: Option<PathBuf>,
    /// Recode amino acids as states of multi-state data: dayhoff6, sr4, sr6, kgb6, or groups such as AGPST/C/DENQ/FWY/HKR/ILMV
    #[arg(long, value_name = "GROUPS", help_heading = DATA, hide_short_help = true)]
    pub recode: Option<String>,
    /// File that defines profiles and models under names, as IQ-TREE reads them: LG+NAME, LG+FMIX{NAME,NAME}
    #[arg(long = "definitions", visible_alias = "mdef", value_name = "FILE", help_heading = DATA, hide_short_help = true)]
    pub model_definitions: Option<PathBuf>,
    /// Exchange rates of RAxML's multi-state models (MULTI): MK, all equal; GTR, one for each pair
    /// of states [default: GTR]
    #[arg(short = 'K', long, value_name = "MK|GTR", help_heading = DATA, hide_short_help = true)]
    pub multistate: Option<String>,
    /// Ascertainment bias correction of RAxML's ASC_ models: only lewis; the others are written in the
    /// model, as +ASC_FELS{sites} or +ASC_STAM{sites/sites/...} [default: lewis]
    #[arg(long, value_name = "KIND", help_heading = DATA, hide_short_help = true)]
    pub asc_corr: Option<String>,
}

/// Whether an analysis can do without a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelIs {
    /// It cannot.
    Needed,
    /// There is a default, or nothing is computed with a model.
    Optional,
}

impl DataArgs {
    /// The data and its model, with what is wrong with them.
    pub(crate) fn read(&self, model_is: ModelIs, reading: &mut Reading) -> DataOptions {
        let Reading { refusals, notes, .. } = reading;
        if self.msa.is_none() {
            refusals.add("no alignment: give -s FILE (--msa FILE)");
        }
        let (mut model, mut partitions) = (self.model.clone(), self.partitions.clone());
        if self.model_is_file() {
            let file = model.take().map(PathBuf::from);
            if partitions.is_some() {
                refusals.add(
                    "-m names a file, which is read as a partition file, but -q names one as well: give only \
                     one of them",
                );
            } else {
                partitions = file;
            }
        }
        if model_is == ModelIs::Needed && model.is_none() && partitions.is_none() {
            refusals.add(NO_MODEL);
        }
        if self.protein_matrix.is_some() && model.is_none() {
            refusals.add(
                "-P gives an amino-acid matrix, but there is no protein model to use it: add one, for example -m LG+G",
            );
        }
        check_asc_corr(self, model.as_deref(), partitions.is_some(), refusals);
        let brlen = self.linkage(refusals);
        if brlen != BrlenLinkage::Linked && partitions.is_none() {
            notes.push(
                "without a partition file there is only one partition: --brlen (-M) has no effect"
                    .into(),
            );
        }
        DataOptions {
            msa: self.msa.clone(),
            partitions,
            site_weights: self.site_weights.clone(),
            model,
            data_type: self.data_type.clone().filter(|kind| !kind.eq_ignore_ascii_case("auto")),
            protein_matrix: self.protein_matrix.clone(),
            recode: self.recode.as_deref().and_then(|text| match Recoding::read(text) {
                Ok(recoding) => Some(recoding),
                Err(wrong) => {
                    refusals.add(format!("--recode: {wrong}"));
                    None
                }
            }),
            model_definitions: self.model_definitions.clone(),
            site_frequencies: SiteFrequencies::OfModel,
            multistate_equal: self.multistate_equal(refusals),
            auto_mixtures: self.mixtures,
            auto_criterion: self.auto_criterion.map(|criterion| match criterion {
                AutoCriterion::Bic => Criterion::Bic,
                AutoCriterion::Aic => Criterion::Aic,
                AutoCriterion::Aicc => Criterion::Aicc,
            }),
            link_exchange_rates: self.link_exchange_rates,
            gamma_median: self.gamma_median,
            brlen,
            restricted: self.restricted != Some(Switch::Off),
        }
    }

    /// As in RAxML-NG, a model that is a file is a partition file.
    fn model_is_file(&self) -> bool {
        self.model.as_deref().is_some_and(|model| Path::new(model).is_file())
    }

    /// True if there is a partition file.
    pub(crate) fn has_partitions(&self) -> bool {
        self.partitions.is_some() || self.model_is_file()
    }

    /// A note on those that were given to a run that reads no alignment.
    pub(crate) fn note_unused(&self, notes: &mut Vec<String>) {
        let given = [
            (self.msa.is_some(), "-s"),
            (self.model.is_some(), "-m"),
            (self.partitions.is_some(), "-q"),
            (self.site_weights.is_some(), "--site-weights"),
            (self.protein_matrix.is_some(), "-P"),
            (self.recode.is_some(), "--recode"),
            (self.model_definitions.is_some(), "--definitions"),
            (self.link_exchange_rates, "--link-exchange-rates"),
            (self.multistate.is_some(), "-K"),
            (self.data_type.is_some(), "--data-type"),
        ];
        let unused: Vec<&str> = given.iter().filter(|one| one.0).map(|one| one.1).collect();
        if !unused.is_empty() {
            notes.push(not_used(&unused));
        }
    }

    fn multistate_equal(&self, refusals: &mut Refusals) -> Option<bool> {
        self.multistate.as_deref().map(|kind| match kind {
            _ if kind.eq_ignore_ascii_case("MK") => true,
            _ if kind.eq_ignore_ascii_case("GTR") => false,
            _ => {
                refusals.add(format!("-K {kind}: expected MK or GTR (ORDERED is not available)"));
                true
            }
        })
    }

    fn linkage(&self, refusals: &mut Refusals) -> BrlenLinkage {
        match (self.brlen, self.unlinked) {
            (None | Some(Brlen::Unlinked), true) | (Some(Brlen::Unlinked), false) => {
                BrlenLinkage::Unlinked
            }
            (Some(Brlen::Scaled), false) => BrlenLinkage::Scaled,
            (None | Some(Brlen::Linked), false) => BrlenLinkage::Linked,
            (Some(_), true) => {
                refusals.add(
                    "-M means --brlen unlinked, but --brlen has another value: give only one of them",
                );
                BrlenLinkage::Unlinked
            }
        }
    }
}

/// The note on options that are about an alignment, in a run that reads trees alone.
pub(crate) fn not_used(options: &[&str]) -> String {
    format!("this command reads only trees; not used: {}", options.join(", "))
}

/// RAxML's `--asc-corr`: the correction that `ASC_` stands for, or how to write the others.
fn check_asc_corr(
    args: &DataArgs,
    model: Option<&str>,
    has_partitions: bool,
    refusals: &mut Refusals,
) {
    let Some(kind) = args.asc_corr.as_deref() else {
        return;
    };
    match kind.to_ascii_lowercase().as_str() {
        "lewis" => {
            let corrected = |model: &str| model.to_ascii_uppercase().contains("ASC");
            if !has_partitions && !model.is_some_and(corrected) {
                refusals.add(
                    "--asc-corr lewis needs a model with ascertainment bias correction: ASC_GTRGAMMA or \
                     MK+ASC, for example",
                );
            }
        }
        "felsenstein" => refusals.add(
            "--asc-corr felsenstein is not supported: write the number of invariable sites in the model, \
             as in GTR+G+ASC_FELS{1000}",
        ),
        "stamatakis" => refusals.add(
            "--asc-corr stamatakis is not supported: write the numbers of invariable sites in the model, \
             as in GTR+G+ASC_STAM{300/200/200/300}",
        ),
        _ => refusals.add(format!("--asc-corr {kind}: expected lewis")),
    }
}
