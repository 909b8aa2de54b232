//! `--dist`: distances between the sequences of an alignment, and trees of distances.

use super::matrix::{Computed, describe, make_trees, write_trees};
use super::plan::{DistanceFormula, MatrixPlan};
use super::sequences::Sequences;
use crate::alphabet::DataType;
use crate::dataset::read_distances;
use crate::distance::{DistanceMethod, JoinedTree, PairDistances};
use crate::error::{Error, Result, abridged};
use crate::likelihood::select::ENGINE_OF_GPUS;
use crate::model::Model;
use crate::mpi::Ranks;
use crate::observer::{Event, Observer};
use crate::optimize::{OptimizeOptions, optimize};
use crate::output::{MatrixFormat, MatrixReport, PartitionMatrixReport, Section};
use crate::parallel::used_memory;
use crate::partition::Partition;
use crate::plan::Plan;
use crate::runtime::{RunRecord, Session, Setup, first_tree, with_threads};
use crate::steps::distance_tally::Tally;
use crate::steps::distance_trees::{Store, check_size, set_f84, tree_of_pairs};
use crate::steps::replicates::{collect_replicates, resample};
use crate::steps::select::select_models;
use crate::steps::{BranchSupport, deliver_support};
use crate::tree::{Multifurcating, Tree};

/// Its section of the JSON file.
pub(super) const SECTION: Section<MatrixReport> = Section::new("distances");

/// Gain in log-likelihood below which the estimation of the model ends.
const MODEL_EPSILON: f64 = 0.1;

/// Computes and writes distances, or reads them, and makes trees of them.
///
/// # Errors
/// Refused input; a file that cannot be written.
pub(crate) fn distances(plan: &Plan, options: &MatrixPlan, record: &mut RunRecord) -> Result<()> {
    match &options.file {
        None => {
            let session = Session::start(plan, record)?;
            of_alignment(
                options,
                match options.formula {
                    DistanceFormula::Models => select_models(session)?,
                    _ => session,
                },
            )
        }
        Some(file) => {
            let (taxa, matrix) = read_distances(file)?;
            check_size(&options.trees, taxa.len())?;
            let mut tally = Tally::with_map();
            for a in 0..taxa.len() {
                let row: Vec<f64> = (0..a).map(|b| matrix.get(a, b)).collect();
                tally.add(a, &row, |taxon| taxa.name(taxon));
            }
            let mut report = tally.report(format!("the file {}", file.display()), taxa.len());
            record.progress.result(&describe(&report));
            record.progress.stage("trees", None);
            let store = Store::of_matrix(matrix);
            make_trees(options, store, taxa.names(), None, &mut report, record)?;
            write_trees(&report, record)?;
            record.report.write_section(&SECTION, &report);
            Ok(())
        }
    }
}

/// PHYLIP's matrices have no place for white space in names.
fn warn_of_blanks(format: MatrixFormat, session: &mut Session) {
    let is_phylip = matches!(format, MatrixFormat::Square | MatrixFormat::Lower);
    let mut names = session.setup.loaded.taxa.names().iter();
    let found = names.find(|name| name.contains(char::is_whitespace)).cloned();
    if let Some(name) = found.filter(|_| is_phylip) {
        session.event(Event::Warning(format!(
            "taxon names with white space, such as '{}', cannot be told from the distances in PHYLIP's format: --dist-format tsv has tabulators",
            abridged(&name)
        )));
    }
}

fn of_alignment(options: &MatrixPlan, mut session: Session) -> Result<()> {
    if let Some(ranks) = session.setup.resources.job_ranks().filter(|ranks| !ranks.leads()) {
        return compute_for_rank_0(options, ranks, session);
    }
    let used = used_memory().unwrap_or(0);
    for sequences in Sequences::all(options, &session.setup) {
        sequences.arrange(options, &session.setup, used)?;
    }
    warn_of_blanks(options.format, &mut session);
    let found = find_method(options, &mut session)?;
    session.stage("distances");
    if options.apart {
        return of_partitions(options, &found, used, session);
    }
    let Session { setup, record } = &mut session;
    let sequences = Sequences::whole(setup);
    let (_, report, trees) =
        matrix_and_trees(options, &found, (sequences, used), setup, [0.0, 1.0], record)?;
    record.progress.result(&describe(&report));
    write_trees(&report, record)?;
    record.report.write_section(&SECTION, &report);
    match &trees[..] {
        [tree] if setup.plan.bootstrap.replicates > 0 => {
            support(options, &found.method, &tree.to_tree(), session)
        }
        _ => Ok(()),
    }
}

/// What another rank than rank 0 does: it computes its columns of each matrix, and the replicates that are dealt to it.
fn compute_for_rank_0(options: &MatrixPlan, ranks: Ranks, mut session: Session) -> Result<()> {
    let found = find_method(options, &mut session)?;
    let mut num_taxa = 0;
    for sequences in Sequences::all(options, &session.setup) {
        num_taxa = sequences.names.len();
        let (method, _) = found.of(&sequences);
        sequences.compute_for_rank_0(ranks, &method, &session.setup)?;
    }
    let has_one_tree = options.trees.len() == 1 && num_taxa > 1 && !options.apart;
    if has_one_tree && session.setup.plan.bootstrap.replicates > 0 {
        trees_of_replicates(options, &found.method, &mut session)?;
    }
    Ok(())
}

/// The distances of each partition by itself, between the taxa that have data in it, and their trees.
fn of_partitions(options: &MatrixPlan, found: &Found, used: u64, session: Session) -> Result<()> {
    let Session { setup, record } = session;
    let loaded = &setup.loaded;
    let work = |taxa: usize| taxa.pow(2) as f64;
    let total: f64 = loaded.presence.iter().map(|taxa| work(taxa.len())).sum();
    let mut all = Tally::default();
    let (mut reports, mut before) = (Vec::new(), 0.0);
    for sequences in Sequences::all(options, &setup) {
        let after = before + work(sequences.names.len());
        let phase = [before, after].map(|done| done / total.max(1.0));
        before = after;
        let [number, partition] = sequences.partition.unwrap_or_default();
        let (tally, distances, _) =
            matrix_and_trees(options, found, (sequences, used), &setup, phase, record)?;
        all.join(&tally);
        let name = loaded.partitions[partition].name.clone();
        reports.push(PartitionMatrixReport { number, name, distances });
    }
    let name = format!("each partition by itself, {}", found.name());
    let mut report = all.report(name, loaded.taxa.len());
    report.partitions = reports;
    record.progress.result(&describe(&report));
    write_trees(&report, record)?;
    record.report.write_section(&SECTION, &report);
    Ok(())
}

/// Computes and writes the distances of these sequences, and makes their trees. The run had so many bytes before it estimated models.
fn matrix_and_trees(
    options: &MatrixPlan,
    found: &Found,
    (mut sequences, used): (Sequences, u64),
    setup: &Setup,
    phase: [f64; 2],
    record: &mut RunRecord,
) -> Result<(Tally, MatrixReport, Vec<JoinedTree>)> {
    let arrangement = sequences.arrange(options, setup, used)?;
    let (method, name) = found.of(&sequences);
    let mut pairs = sequences.prepare(&method, setup);
    if let Some(gpus) = setup.resources.gpus() {
        match pairs.compute_on_gpus(gpus)? {
            true => record.report.run.backend = ENGINE_OF_GPUS.to_string(),
            false => record.progress.about_run("these distances are computed on the processor"),
        }
    }
    if let Some(ranks) = setup.resources.job_ranks() {
        pairs.compute_on_ranks(ranks);
    }
    let prepared = (&pairs, arrangement);
    let Computed { tally, store } = sequences.write(prepared, options, setup, phase, record)?;
    drop(pairs);
    let mut report = tally.report(name, sequences.names.len());
    if options.format == MatrixFormat::Npy {
        report.order = sequences.row_names();
    }
    let trees = match store {
        Some(_) if sequences.names.len() < 2 => {
            let (count, place) = (sequences.names.len(), &sequences.place);
            let warning = format!("there is no tree of the {count} taxa with data{place}");
            record.progress.event(&Event::Warning(warning));
            Vec::new()
        }
        Some(store) => {
            if sequences.partition.is_none() {
                record.progress.stage("trees", None);
            }
            let identical = sequences.identical.as_deref();
            make_trees(options, store, &sequences.names, identical, &mut report, record)?
        }
        None => Vec::new(),
    };
    Ok((tally, report, trees))
}

/// Makes trees of resampled columns, and counts how often they have the branches of the tree.
fn support(
    options: &MatrixPlan,
    method: &DistanceMethod,
    tree: &Tree,
    mut session: Session,
) -> Result<()> {
    let trees = trees_of_replicates(options, method, &mut session)?;
    let trees: Vec<Multifurcating> = trees.iter().map(Multifurcating::from).collect();
    let mut support = BranchSupport::default();
    let kinds = &session.setup.plan.support.kinds;
    with_threads(session.setup.plan, || support.add_replicates(tree, &trees, kinds));
    deliver_support(tree, &support, &session.setup.loaded.taxa, None, session.record)
}

/// Makes trees of resampled columns in the same way.
fn trees_of_replicates(
    options: &MatrixPlan,
    method: &DistanceMethod,
    session: &mut Session,
) -> Result<Vec<Tree>> {
    let ratio = match options.formula {
        DistanceFormula::F84(ratio) => Some(ratio),
        _ => None,
    };
    collect_replicates(session, |setup, number, job| {
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
        let mut pairs = PairDistances::new(setup.num_reduced_taxa(), &partitions, &method, set);
        if let Some(gpus) = job.resources.gpus() {
            pairs.compute_on_gpus(gpus)?;
        }
        let found =
            tree_of_pairs(options.trees[0], &pairs, job.resources.threads(), setup, |_, _| {})?;
        Ok(setup.whole_tree_of_replicate(&found.to_tree(), number, 0.0))
    })
}

/// What a distance is, with its names.
pub(crate) struct Found {
    pub method: DistanceMethod,
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

    fn name_of_partition(&self, partition: usize) -> String {
        let by = match self.method {
            DistanceMethod::Likelihood { .. } => "maximum likelihood, ",
            _ => "",
        };
        format!("{by}{}", self.names[partition])
    }

    /// What it is for these sequences, and its name.
    fn of(&self, sequences: &Sequences) -> (DistanceMethod, String) {
        match sequences.partition {
            None => (self.method.clone(), self.name()),
            Some([_, partition]) => {
                (self.of_partition(partition), self.name_of_partition(partition))
            }
        }
    }

    /// The same for one of the partitions.
    pub(crate) fn of_partition(&self, partition: usize) -> DistanceMethod {
        match &self.method {
            DistanceMethod::Likelihood { models, gamma } => DistanceMethod::Likelihood {
                models: vec![models[partition].clone()],
                gamma: *gamma,
            },
            other => other.clone(),
        }
    }
}

/// The formula with its models as they are before free parameters are estimated.
///
/// # Errors
/// Formulas and models that are not for these data.
pub(crate) fn method_as_read(options: &MatrixPlan, setup: &Setup) -> Result<Found> {
    let partitions = &setup.loaded.partitions;
    check_types(options, partitions)?;
    let count = partitions.len();
    let ratio = match options.formula {
        DistanceFormula::Uncorrected => {
            let name = "the share of different sites";
            return Ok(Found::new(DistanceMethod::Uncorrected, name, count));
        }
        DistanceFormula::LogDet => return Ok(Found::new(DistanceMethod::LogDet, "LogDet", count)),
        DistanceFormula::F84(ratio) => Some(ratio),
        DistanceFormula::Models => None,
    };
    let mut models = setup.models();
    for model in &mut models {
        if model.ascertainment.is_some() {
            return Err(Error::Usage(format!(
                "model {}: distances have no correction for ascertainment bias: leave out +ASC",
                model.label()
            )));
        }
        if options.gamma.is_some() && model.rates_over_sites().rates.len() > 1 {
            return Err(Error::Usage(format!(
                "model {}: +GC and other rates over sites exclude each other: give only one of them",
                model.label()
            )));
        }
        if let Some(ratio) = ratio {
            set_f84(model, ratio).map_err(Error::Usage)?;
        }
    }
    let names = names(options, &models);
    Ok(Found { method: DistanceMethod::Likelihood { models, gamma: options.gamma }, names })
}

/// True if models have free parameters that are to be estimated first.
pub(crate) fn is_estimated(method: &DistanceMethod, setup: &Setup) -> bool {
    let is_open = |models: &[Model]| models.iter().any(Model::has_open_parameters);
    match method {
        DistanceMethod::Likelihood { models, .. } => setup.plan.search.opt_model && is_open(models),
        DistanceMethod::Uncorrected | DistanceMethod::LogDet => false,
    }
}

/// The formula with its final models.
fn find_method(options: &MatrixPlan, session: &mut Session) -> Result<Found> {
    let mut found = method_as_read(options, &session.setup)?;
    let is_estimated = is_estimated(&found.method, &session.setup);
    let DistanceMethod::Likelihood { models, .. } = &mut found.method else { return Ok(found) };
    if is_estimated {
        estimate(session, models)?;
        found.names = names(options, models);
    }
    for (partition, name) in session.setup.loaded.partitions.iter().zip(&found.names) {
        let detail = format!("partition '{}': {name}", partition.name);
        session.record.progress.event(&Event::Detail(detail));
    }
    Ok(found)
}

/// The names of the models.
fn names(options: &MatrixPlan, models: &[Model]) -> Vec<String> {
    let name = |model: &Model| {
        let mut name = model.to_string();
        if let (DistanceFormula::F84(ratio), Some((_, rest))) =
            (options.formula, name.split_once('+'))
        {
            name = format!("F84{{{ratio}}}+{rest}");
        }
        if let Some(shape) = options.gamma {
            name.push_str(&format!("+GC{{{shape}}}"));
        }
        name
    };
    models.iter().map(name).collect()
}

/// Refuses formulas that count states for partitions with different states, and F84 for others than nucleotides.
fn check_types(options: &MatrixPlan, partitions: &[Partition]) -> Result<()> {
    let (formula, first) = (options.formula, partitions[0].patterns.data_type);
    let other = partitions.iter().find(|partition| match formula {
        DistanceFormula::Models => false,
        DistanceFormula::F84(_) => partition.patterns.data_type != DataType::Dna,
        DistanceFormula::Uncorrected | DistanceFormula::LogDet => {
            !options.apart && partition.patterns.data_type != first
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
    let (resources, _) = setup.resources.within_memory(setup.plan, &setup.loaded)?;
    let mut evaluator = setup.evaluator(resources, partitions, models, tree, setup.linkage)?;
    let options = OptimizeOptions::to(MODEL_EPSILON);
    optimize(&mut evaluator, models, &options, &mut session.record.progress)?;
    Ok(())
}
