//! `--dist`: distances between the sequences of an alignment, and trees of distances.

use super::bootstrap::{collect_replicates, resample};
use super::distance_tally::Tally;
use super::distance_trees::{
    BAND, MOST_EXACT, Store, Trees, check_size, folder_of, set_f84, tree_of_pairs,
};
use crate::alphabet::DataType;
use crate::distance::{DistanceMethod, JoinedTree, PairDistances, SquareMatrix, TaxonRows};
use crate::error::{Error, Result};
use crate::model::Model;
use crate::observer::{Advance, Event, Observer};
use crate::optimize::{OptimizeOptions, optimize};
use crate::output::{MatrixReport, MatrixTreeReport, OutputKind};
use crate::partition::Partition;
use crate::run::deliver::{BranchSupport, deliver_support};
use crate::run::plan::{DistanceFormula, MatrixPlan, Plan};
use crate::run::prepare::{Identical, read_distances};
use crate::run::work::{RunRecord, Session, first_tree, thread_pool, with_threads};
use crate::taxa::Taxa;
use crate::tree::Tree;
use flate2::{Compression, write::GzEncoder};
use std::io::Write;

/// Gain in log-likelihood below which the estimation of the model ends.
const MODEL_EPSILON: f64 = 0.1;

/// Computes and writes distances, or reads them, and makes trees of them.
///
/// # Errors
/// Refused input; a file that cannot be written.
pub(crate) fn distances(plan: &Plan, asked: &MatrixPlan, record: &mut RunRecord) -> Result<()> {
    match &asked.file {
        None => of_alignment(asked, Session::start(plan, record)?),
        Some(file) => {
            let (taxa, matrix) = read_distances(file)?;
            check_size(&asked.trees, taxa.len(), &folder_of(plan))?;
            let mut tally = Tally::default();
            for a in 0..taxa.len() {
                let row: Vec<f64> = (0..a).map(|b| matrix.get(a, b)).collect();
                tally.add(a, &row, |taxon| taxa.name(taxon));
            }
            let report = tally.report(format!("the file {}", file.display()), taxa.len());
            record.progress.result(&describe(&report));
            let trees = Some((Store::Exact(matrix), None));
            finish(asked, trees, &taxa, report, record).map(drop)
        }
    }
}

fn of_alignment(asked: &MatrixPlan, mut session: Session) -> Result<()> {
    check_size(&asked.trees, session.setup.num_reduced_taxa(), &folder_of(session.setup.plan))?;
    let found = find_method(asked, &mut session)?;
    let (method, name) = (&found.0, found.1.clone());
    session.stage("distances");
    let setup = &session.setup;
    let set = setup.plan.run.instruction_set;
    let partitions = setup.reduced(&setup.loaded.partitions);
    let pairs = PairDistances::new(setup.num_reduced_taxa(), &partitions, method, set);
    drop(partitions);
    let trees = write(asked, &pairs, name, &mut session)?;
    drop(pairs);
    match &trees[..] {
        [tree] if session.setup.plan.bootstrap.replicates > 0 => {
            support(asked, method, &tree.to_tree(), session)
        }
        _ => Ok(()),
    }
}

/// Makes trees of resampled columns in the same way, and counts how often they have the branches of the tree.
fn support(
    asked: &MatrixPlan,
    method: &DistanceMethod,
    tree: &Tree,
    mut session: Session,
) -> Result<()> {
    let ratio = match asked.formula {
        DistanceFormula::F84(ratio) => Some(ratio),
        _ => None,
    };
    let trees = collect_replicates(&mut session, |setup, machine, number, _| {
        let mut method = method.clone();
        let mut models = match &mut method {
            DistanceMethod::Likelihood { models, .. } => std::mem::take(models),
            _ => setup.models(),
        };
        let partitions = resample(setup, &mut models, number);
        if let DistanceMethod::Likelihood { models: of_method, .. } = &mut method {
            for model in &mut models {
                // A ratio that is not possible with the frequencies of the replicate remains that of the data.
                if let Some(ratio) = ratio {
                    let _ = set_f84(model, ratio);
                }
            }
            *of_method = models;
        }
        let partitions = setup.reduced(&partitions);
        let set = setup.plan.run.instruction_set;
        let pairs = PairDistances::new(setup.num_reduced_taxa(), &partitions, &method, set);
        let found = tree_of_pairs(asked.trees[0], &pairs, machine.threads(), setup, |_, _| {})?;
        Ok(whole(found, setup.identical.as_ref()).to_tree())
    })?;
    let mut support = BranchSupport::default();
    let kinds = &session.setup.plan.support.kinds;
    with_threads(session.setup.plan, || support.add_replicates(tree, &trees, kinds));
    deliver_support(tree, &support, &session.setup.loaded.taxa, None, session.record)
}

/// The formula with its models, and its name.
fn find_method(asked: &MatrixPlan, session: &mut Session) -> Result<(DistanceMethod, String)> {
    check_types(asked.formula, &session.setup.loaded.partitions)?;
    let ratio = match asked.formula {
        DistanceFormula::Uncorrected => {
            return Ok((DistanceMethod::Uncorrected, "the share of different sites".into()));
        }
        DistanceFormula::LogDet => return Ok((DistanceMethod::LogDet, "LogDet".into())),
        DistanceFormula::F84(ratio) => Some(ratio),
        DistanceFormula::Models => None,
    };
    let mut models = session.setup.models();
    for model in &mut models {
        if model.ascertainment.is_some() {
            return Err(Error::Usage(format!(
                "model {}: distances have no correction for ascertainment bias: leave out +ASC",
                model.label()
            )));
        }
        if asked.gamma.is_some() && model.rate_cats().rates.len() > 1 {
            return Err(Error::Usage(format!(
                "model {}: +GC and other rates over sites exclude each other: give only one of them",
                model.label()
            )));
        }
        if let Some(ratio) = ratio {
            set_f84(model, ratio).map_err(Error::Usage)?;
        }
    }
    let is_open = |model: &Model| !model.free_parameters().is_empty();
    if session.setup.plan.search.opt_model && models.iter().any(is_open) {
        estimate(session, &mut models)?;
    }
    let mut names: Vec<String> = Vec::new();
    for (number, model) in models.iter().enumerate() {
        let mut name = model.to_string();
        if let (Some(ratio), Some((_, rest))) = (ratio, name.split_once('+')) {
            name = format!("F84{{{ratio}}}+{rest}");
        }
        if let Some(shape) = asked.gamma {
            name.push_str(&format!("+GC{{{shape}}}"));
        }
        let partition = &session.setup.loaded.partitions[number].name;
        session.event(Event::Detail(format!("partition '{partition}': {name}")));
        names.push(name);
    }
    names.dedup();
    let name = match &names[..] {
        [one] => format!("maximum likelihood, {one}"),
        several => format!("maximum likelihood, {} models", several.len()),
    };
    Ok((DistanceMethod::Likelihood { models, gamma: asked.gamma }, name))
}

/// Refuses formulas that count states for partitions with different states, and F84 for others than nucleotides.
fn check_types(formula: DistanceFormula, partitions: &[Partition]) -> Result<()> {
    let first = partitions[0].patterns.data_type;
    let other = partitions.iter().find(|partition| match formula {
        DistanceFormula::Models => false,
        DistanceFormula::F84(_) => partition.patterns.data_type != DataType::Dna,
        DistanceFormula::Uncorrected | DistanceFormula::LogDet => {
            partition.patterns.data_type != first
        }
    });
    other.map_or(Ok(()), |other| {
        let needs = match formula {
            DistanceFormula::F84(_) => "F84 is a model of nucleotides".to_string(),
            _ => {
                format!("distances by p and LogDet need partitions of one type ({})", first.name())
            }
        };
        let (name, found) = (&other.name, other.patterns.data_type.name());
        Err(Error::Usage(format!("{needs}, but partition '{name}' has {found} data")))
    })
}

/// Estimates the free parameters on a parsimony tree.
fn estimate(session: &mut Session, models: &mut [Model]) -> Result<()> {
    session.stage("model");
    let setup = &session.setup;
    let (tree, _) = first_tree(setup.plan, &setup.loaded);
    session
        .record
        .progress
        .event(&Event::Note("the model is estimated on a parsimony tree".into()));
    let partitions = &setup.loaded.partitions;
    let mut evaluator = setup.evaluator(setup.machine, partitions, models, tree, setup.linkage)?;
    let options = OptimizeOptions::to(MODEL_EPSILON);
    optimize(&mut evaluator, models, &options, &mut session.record.progress)?;
    Ok(())
}

/// Computes and writes the distances row by row, then makes the trees.
fn write(
    asked: &MatrixPlan,
    pairs: &PairDistances,
    name: String,
    session: &mut Session,
) -> Result<Vec<JoinedTree>> {
    let (setup, record) = (&session.setup, &mut *session.record);
    let (taxa, identical) = (&setup.loaded.taxa, setup.identical.as_ref());
    let mut rows_of_taxa = TaxonRows::new(pairs, identical.map(|identical| identical.group_of()));
    let num_taxa = taxa.len();
    let pool = thread_pool(setup.plan);
    let mut tally = Tally::default();
    let mut store = match asked.trees.is_empty() {
        true => None,
        false => Some(Store::new(pairs.num_taxa(), &folder_of(setup.plan))?),
    };
    // From a matrix of all digits, a square one is written when it is complete; each pair is then computed once.
    let waits = asked.format.is_square() && num_taxa <= MOST_EXACT;
    let mut matrix = SquareMatrix::<f64>::zero(if waits { num_taxa } else { 0 });
    let whole_rows = asked.format.is_square() && !waits;
    let mut part = record.part(asked.output_kinds(false)[0])?;
    let mut sink: Box<dyn Write + '_> = match asked.gzip {
        true => Box::new(GzEncoder::new(&mut part, Compression::default())),
        false => Box::new(&mut part),
    };
    let mut written = asked.format.begin(num_taxa, &mut sink);
    for start in (0..num_taxa).step_by(BAND) {
        let rows = start..(start + BAND).min(num_taxa);
        let width = if whole_rows { num_taxa } else { rows.end };
        let found = pool.install(|| rows_of_taxa.next(rows.clone(), width));
        for (taxon, row) in rows.clone().zip(found.chunks_exact(width)) {
            tally.add(taxon, &row[..taxon], |taxon| taxa.name(taxon));
            if let Some(store) = &mut store {
                match identical {
                    None => store.push(&row[..taxon])?,
                    Some(identical) => {
                        let sequence = identical.group_of()[taxon];
                        if identical.kept()[sequence] == taxon {
                            let before = identical.kept()[..sequence].iter();
                            let before: Vec<f64> = before.map(|&other| row[other]).collect();
                            store.push(&before)?;
                        }
                    }
                }
            }
            if waits {
                row[..taxon].iter().enumerate().for_each(|(other, d)| matrix.set(taxon, other, *d));
            } else if written.is_ok() {
                let shown = if whole_rows { row } else { &row[..taxon] };
                written = asked.format.row(taxon, taxa.names(), shown, &mut sink);
            }
        }
        let share = rows.end as f64 / num_taxa as f64;
        let share = if whole_rows { share } else { share * share };
        record.progress.advance(Advance { phase: Some(share), ..Advance::default() });
    }
    let mut row_of_matrix = Vec::new();
    for taxon in 0..matrix.size() {
        row_of_matrix.clear();
        row_of_matrix.extend((0..num_taxa).map(|other| matrix.get(taxon, other)));
        if written.is_ok() {
            written = asked.format.row(taxon, taxa.names(), &row_of_matrix, &mut sink);
        }
    }
    let written = written.and_then(|()| sink.flush());
    drop(sink);
    written.map_err(|source| part.failed(source))?;
    record.complete(part)?;
    tally.warn("are written as -1", record);
    let report = tally.report(name, num_taxa);
    record.progress.result(&describe(&report));
    let trees = store.map(|store| (store, identical));
    finish(asked, trees, taxa, report, record)
}

/// Makes and writes the trees, if some are asked for, and completes the report.
fn finish(
    asked: &MatrixPlan,
    of: Option<(Store, Option<&Identical>)>,
    taxa: &Taxa,
    mut report: MatrixReport,
    record: &mut RunRecord,
) -> Result<Vec<JoinedTree>> {
    let mut whole_trees = Vec::new();
    if let Some((store, identical)) = of {
        record.progress.stage("trees", None);
        let Trees { trees, filled, largest } = store.trees(&asked.trees)?;
        if filled > 0 {
            let warning = format!(
                "{filled} pairs have no distance: in the trees, the largest distance, {largest:.6}, takes their place"
            );
            record.progress.event(&Event::Warning(warning));
        }
        for (tree, kind) in trees.into_iter().zip(&asked.trees) {
            let tree = whole(tree, identical);
            let newick = tree.newick(|taxon| taxa.name(taxon));
            report.trees.push(MatrixTreeReport { method: kind.name(), newick });
            whole_trees.push(tree);
        }
        let lines: String = report.trees.iter().map(|tree| format!("{}\n", tree.newick)).collect();
        record.write(OutputKind::DistanceTrees, &lines)?;
    }
    record.report.distances = Some(report);
    Ok(whole_trees)
}

/// A tree with all taxa.
fn whole(tree: JoinedTree, identical: Option<&Identical>) -> JoinedTree {
    identical.map_or_else(|| tree.clone(), |identical| tree.with_copies(identical.groups()))
}

fn describe(report: &MatrixReport) -> String {
    let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.6}"));
    format!(
        "{} distances of {} taxa ({}): from {} to {}, mean {}; {} saturated, {} without overlap\n",
        report.pairs,
        report.taxa,
        report.method,
        number(report.least),
        number(report.largest),
        number(report.mean),
        report.saturated,
        report.without_overlap
    )
}
