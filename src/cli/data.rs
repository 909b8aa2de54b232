//! What the options on data and model mean.

use super::args::{Args, AutoCriterion, Brlen, Switch};
use super::verb::{Faults, Verb};
use crate::plan::{BrlenLinkage, Criterion, DataOptions};
use std::path::{Path, PathBuf};

/// The fault of a command without a model.
pub(super) const NO_MODEL: &str =
    "no model: give -m MODEL, for example -m GTR+G, or -m auto to have one selected";

/// The data and its model, with what is wrong with them.
pub(super) fn resolve_data(
    args: &Args,
    verb: Verb,
    faults: &mut Faults,
    notes: &mut Vec<String>,
) -> DataOptions {
    let on_sequences = verb.is_on_sequences(args);
    if on_sequences && args.msa.is_none() {
        faults.add("no alignment: give -s FILE (--msa FILE)");
    }
    // As in RAxML-NG, a model that is a file is a partition file.
    let model_is_file = args.model.as_deref().is_some_and(|model| Path::new(model).is_file());
    let (mut model, mut partitions) = (args.model.clone(), args.partitions.clone());
    if model_is_file {
        let file = model.take().map(PathBuf::from);
        if partitions.is_some() {
            faults.add(
                "-m names a file, which is read as a partition file, but -q names one as well: give only \
                 one of them",
            );
        } else {
            partitions = file;
        }
    }
    if !on_sequences {
        let unused = [
            (args.msa.is_some(), "-s"),
            (args.model.is_some(), "-m"),
            (args.partitions.is_some(), "-q"),
            (args.site_weights.is_some(), "--site-weights"),
            (args.protein_matrix.is_some(), "-P"),
            (args.multistate.is_some(), "-K"),
            (args.data_type.is_some(), "--data-type"),
        ];
        let unused: Vec<&str> = unused.iter().filter(|one| one.0).map(|one| one.1).collect();
        if !unused.is_empty() {
            notes.push(format!("this command reads only trees; not used: {}", unused.join(", ")));
        }
    }
    let needs_model =
        matches!(verb, Verb::Search | Verb::Evaluate | Verb::Bootstrap | Verb::All | Verb::Sample);
    if needs_model && model.is_none() && partitions.is_none() {
        faults.add(NO_MODEL);
    }
    if args.protein_matrix.is_some() && model.is_none() && on_sequences {
        faults.add(
            "-P gives an amino-acid matrix, but there is no protein model to use it: add one, for example -m LG+G",
        );
    }
    check_asc_corr(args, model.as_deref(), partitions.is_some(), faults);
    let multistate_equal = args.multistate.as_deref().map(|kind| match kind {
        _ if kind.eq_ignore_ascii_case("MK") => true,
        _ if kind.eq_ignore_ascii_case("GTR") => false,
        _ => {
            faults.add(format!("-K {kind}: expected MK or GTR (ORDERED is not available)"));
            true
        }
    });
    let brlen = match (args.brlen, args.unlinked) {
        (None | Some(Brlen::Unlinked), true) | (Some(Brlen::Unlinked), false) => {
            BrlenLinkage::Unlinked
        }
        (Some(Brlen::Scaled), false) => BrlenLinkage::Scaled,
        (None | Some(Brlen::Linked), false) => BrlenLinkage::Linked,
        (Some(_), true) => {
            faults.add(
                "-M means --brlen unlinked, but --brlen has another value: give only one of them",
            );
            BrlenLinkage::Unlinked
        }
    };
    if brlen != BrlenLinkage::Linked && partitions.is_none() && on_sequences {
        notes.push(
            "without a partition file there is only one partition: --brlen (-M) has no effect"
                .into(),
        );
    }
    DataOptions {
        msa: args.msa.clone(),
        partitions,
        site_weights: args.site_weights.clone(),
        model,
        data_type: args.data_type.clone().filter(|kind| !kind.eq_ignore_ascii_case("auto")),
        protein_matrix: args.protein_matrix.clone(),
        multistate_equal,
        auto_criterion: args.auto_criterion.map(|criterion| match criterion {
            AutoCriterion::Bic => Criterion::Bic,
            AutoCriterion::Aic => Criterion::Aic,
            AutoCriterion::Aicc => Criterion::Aicc,
        }),
        gamma_median: args.gamma_median,
        brlen,
        restricted: args.restricted != Some(Switch::Off),
    }
}

/// RAxML's `--asc-corr`: the correction that `ASC_` stands for, or how to write the others.
fn check_asc_corr(args: &Args, model: Option<&str>, has_partitions: bool, faults: &mut Faults) {
    let Some(kind) = args.asc_corr.as_deref() else {
        return;
    };
    match kind.to_ascii_lowercase().as_str() {
        "lewis" => {
            let corrected = |model: &str| model.to_ascii_uppercase().contains("ASC");
            if !has_partitions && !model.is_some_and(corrected) {
                faults.add(
                    "--asc-corr lewis needs a model with ascertainment bias correction: ASC_GTRGAMMA or \
                     MK+ASC, for example",
                );
            }
        }
        "felsenstein" => faults.add(
            "--asc-corr felsenstein is not supported: write the number of invariable sites in the model, \
             as in GTR+G+ASC_FELS{1000}",
        ),
        "stamatakis" => faults.add(
            "--asc-corr stamatakis is not supported: write the numbers of invariable sites in the model, \
             as in GTR+G+ASC_STAM{300/200/200/300}",
        ),
        _ => faults.add(format!("--asc-corr {kind}: expected lewis")),
    }
}
