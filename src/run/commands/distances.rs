//! `--dist`: distances between the sequences of an alignment, and trees of distances.

use super::bootstrap::{collect_replicates, resample};
use super::distance_matrix::{Computed, Sequences, describe, make_trees, whole, write_trees};
use super::distance_tally::Tally;
use super::distance_trees::{Store, check_size, folder_of, set_f84, tree_of_pairs};
use crate::alphabet::DataType;
use crate::distance::{DistanceMethod, PairDistances};
use crate::error::{Error, Result};
use crate::model::Model;
use crate::observer::{Event, Observer};
use crate::optimize::{OptimizeOptions, optimize};
use crate::output::{MatrixReport, PartitionMatrixReport};
use crate::partition::Partition;
use crate::run::deliver::{BranchSupport, deliver_support};
use crate::run::plan::{DistanceFormula, MatrixPlan, Plan};
use crate::run::prepare::{Identical, read_distances};
use crate::run::work::{RunRecord, Session, Setup, first_tree, with_threads};
use crate::tree::Tree;

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
            let mut report = tally.report(format!("the file {}", file.display()), taxa.len());
            record.progress.result(&describe(&report));
            record.progress.stage("trees", None);
            let store = Store::Exact(matrix);
            make_trees(asked, store, taxa.names(), None, &mut report, record)?;
            write_trees(&report, record)?;
            record.report.distances = Some(report);
            Ok(())
        }
    }
}

fn of_alignment(asked: &MatrixPlan, mut session: Session) -> Result<()> {
    let setup = &session.setup;
    let most_taxa = match asked.apart {
        true => setup.loaded.presence.iter().map(Vec::len).max().unwrap_or(0),
        false => setup.num_reduced_taxa(),
    };
    check_size(&asked.trees, most_taxa, &folder_of(setup.plan))?;
    let found = find_method(asked, &mut session)?;
    session.stage("distances");
    if asked.apart {
        return of_partitions(asked, &found, session);
    }
    let Session { setup, record } = &mut session;
    let set = setup.plan.run.instruction_set;
    let partitions = setup.reduced(&setup.loaded.partitions);
    let pairs = PairDistances::new(setup.num_reduced_taxa(), &partitions, &found.method, set);
    drop(partitions);
    let sequences = Sequences {
        names: setup.loaded.taxa.names(),
        identical: setup.identical.as_ref(),
        pairs: &pairs,
        number: None,
        place: String::new(),
    };
    let mut all = Tally::default();
    let Computed { tally, store } = sequences.write(asked, setup, [0.0, 1.0], &mut all, record)?;
    let mut report = tally.report(found.name(), sequences.names.len());
    record.progress.result(&describe(&report));
    let trees = match store {
        Some(store) => {
            record.progress.stage("trees", None);
            let identical = sequences.identical;
            make_trees(asked, store, sequences.names, identical, &mut report, record)?
        }
        None => Vec::new(),
    };
    drop(pairs);
    write_trees(&report, record)?;
    record.report.distances = Some(report);
    match &trees[..] {
        [tree] if setup.plan.bootstrap.replicates > 0 => {
            support(asked, &found.method, &tree.to_tree(), session)
        }
        _ => Ok(()),
    }
}

/// The distances of each partition by itself, between the taxa that have data in it, and their trees.
fn of_partitions(asked: &MatrixPlan, found: &Found, session: Session) -> Result<()> {
    let Session { setup, record } = session;
    let loaded = &setup.loaded;
    let work = |gene: usize| loaded.presence[gene].len().pow(2) as f64;
    let total: f64 = loaded.file_order.iter().map(|&gene| work(gene)).sum();
    let mut all = Tally::default();
    let (mut reports, mut before) = (Vec::new(), 0.0);
    for (place, &gene) in loaded.file_order.iter().enumerate() {
        let after = before + work(gene);
        let phase = [before / total.max(1.0), after / total.max(1.0)];
        before = after;
        let distances =
            of_partition(asked, found, [place + 1, gene], phase, &setup, &mut all, record)?;
        let name = loaded.partitions[gene].name.clone();
        reports.push(PartitionMatrixReport { number: place + 1, name, distances });
    }
    let name = format!("each partition by itself, {}", found.name());
    let mut report = all.report(name, loaded.taxa.len());
    report.partitions = reports;
    record.progress.result(&describe(&report));
    write_trees(&report, record)?;
    record.report.distances = Some(report);
    Ok(())
}

/// Those of the partition that has a number in the names of files and one among the partitions.
fn of_partition(
    asked: &MatrixPlan,
    found: &Found,
    [number, gene]: [usize; 2],
    phase: [f64; 2],
    setup: &Setup,
    all: &mut Tally,
    record: &mut RunRecord,
) -> Result<MatrixReport> {
    let loaded = &setup.loaded;
    let mut partition = loaded.partitions[gene].clone();
    let num_tips = partition.patterns.num_tips();
    partition.patterns.tip_taxa = (0..num_tips).collect();
    let taxa = loaded.presence[gene].iter();
    let names: Vec<String> = taxa.map(|&taxon| loaded.taxa.name(taxon).to_string()).collect();
    let is_wanted = setup.plan.leaves_out_identical();
    let identical = Identical::of_tips(&partition.patterns).filter(|_| is_wanted);
    let mut partitions = vec![partition];
    if let Some(identical) = &identical {
        partitions = identical.reduce(&partitions);
    }
    let method = found.of_partition(gene);
    let set = setup.plan.run.instruction_set;
    let num_sequences = identical.as_ref().map_or(num_tips, Identical::num_kept);
    let pairs = PairDistances::new(num_sequences, &partitions, &method, set);
    drop(partitions);
    let sequences = Sequences {
        names: &names,
        identical: identical.as_ref(),
        pairs: &pairs,
        number: Some(number),
        place: format!(" in partition '{}'", loaded.partitions[gene].name),
    };
    let Computed { tally, store } = sequences.write(asked, setup, phase, all, record)?;
    let mut report = tally.report(found.name_of_partition(gene), num_tips);
    match store {
        Some(_) if num_tips < 2 => {
            let place = &sequences.place;
            let warning = format!("there is no tree of the {num_tips} taxa with data{place}");
            record.progress.event(&Event::Warning(warning));
        }
        Some(store) => {
            make_trees(asked, store, &names, identical.as_ref(), &mut report, record)?;
        }
        None => {}
    }
    Ok(report)
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

/// What a distance is, with its names.
struct Found {
    method: DistanceMethod,
    /// `[partition]`: the model.
    names: Vec<String>,
}

impl Found {
    fn new(method: DistanceMethod, name: &str, num_partitions: usize) -> Self {
        Found { method, names: vec![name.to_string(); num_partitions] }
    }

    /// What it is in all partitions.
    fn name(&self) -> String {
        match self.names.iter().all(|name| *name == self.names[0]) {
            true => self.name_of_partition(0),
            false => format!("maximum likelihood, {} models", self.names.len()),
        }
    }

    fn name_of_partition(&self, gene: usize) -> String {
        let by = match self.method {
            DistanceMethod::Likelihood { .. } => "maximum likelihood, ",
            _ => "",
        };
        format!("{by}{}", self.names[gene])
    }

    /// The same for one of the partitions.
    fn of_partition(&self, gene: usize) -> DistanceMethod {
        match &self.method {
            DistanceMethod::Likelihood { models, gamma } => {
                DistanceMethod::Likelihood { models: vec![models[gene].clone()], gamma: *gamma }
            }
            other => other.clone(),
        }
    }
}

/// The formula with its models.
fn find_method(asked: &MatrixPlan, session: &mut Session) -> Result<Found> {
    let partitions = &session.setup.loaded.partitions;
    check_types(asked, partitions)?;
    let count = partitions.len();
    let ratio = match asked.formula {
        DistanceFormula::Uncorrected => {
            let name = "the share of different sites";
            return Ok(Found::new(DistanceMethod::Uncorrected, name, count));
        }
        DistanceFormula::LogDet => return Ok(Found::new(DistanceMethod::LogDet, "LogDet", count)),
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
    Ok(Found { method: DistanceMethod::Likelihood { models, gamma: asked.gamma }, names })
}

/// Refuses formulas that count states for partitions with different states, and F84 for others than nucleotides.
fn check_types(asked: &MatrixPlan, partitions: &[Partition]) -> Result<()> {
    let (formula, first) = (asked.formula, partitions[0].patterns.data_type);
    let other = partitions.iter().find(|partition| match formula {
        DistanceFormula::Models => false,
        DistanceFormula::F84(_) => partition.patterns.data_type != DataType::Dna,
        DistanceFormula::Uncorrected | DistanceFormula::LogDet => {
            !asked.apart && partition.patterns.data_type != first
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
