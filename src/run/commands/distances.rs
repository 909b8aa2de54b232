//! `--dist`: distances between the sequences of an alignment, and trees of distances.

use crate::alphabet::DataType;
use crate::distance::{DistanceMethod, DistanceTree, PairDistances, SquareMatrix, Stored};
use crate::error::{Error, Result};
use crate::likelihood::BRLEN_BOUNDS;
use crate::model::{Exchange, Model, f84_rates};
use crate::observer::{Advance, Event, Observer};
use crate::optimize::{OptimizeOptions, optimize};
use crate::output::{MatrixReport, MatrixTreeReport, OutputKind};
use crate::partition::{Partition, count_freqs};
use crate::run::plan::{DistanceFormula, MatrixPlan, Plan};
use crate::run::prepare::read_distances;
use crate::run::work::{RunRecord, Session, Setup, first_tree, thread_pool, warn_of_each};
use crate::taxa::Taxa;
use crate::tree::Tree;
use flate2::{Compression, write::GzEncoder};
use std::io::Write;

/// Rows that are computed at a time.
const BAND: usize = 64;
/// Taxa up to which all distances are in memory with 8 bytes each; those of more are computed as they are written.
const MOST_IN_MEMORY: usize = 4000;
/// Pairs without a distance that are named.
const MOST_NAMED: usize = 10_000;
/// Gain in log-likelihood below which the estimation of the model ends.
const MODEL_EPSILON: f64 = 0.1;
/// Ratio of transitions and transversions of F84 in starting trees: that of PHYLIP.
const START_RATIO: f64 = 2.0;

/// Computes and writes distances, or reads them, and makes trees of them.
///
/// # Errors
/// Refused input; a file that cannot be written.
pub(crate) fn distances(plan: &Plan, asked: &MatrixPlan, record: &mut RunRecord) -> Result<()> {
    match &asked.file {
        None => of_alignment(asked, Session::start(plan, record)?),
        Some(file) => {
            let (taxa, matrix) = read_distances(file)?;
            check_size(&asked.trees, taxa.len())?;
            let mut tally = Tally::default();
            for a in 0..taxa.len() {
                let row: Vec<f64> = (0..a).map(|b| matrix.get(a, b)).collect();
                tally.add(a, &row, &taxa);
            }
            let report = tally.report(format!("the file {}", file.display()), taxa.len());
            record.progress.result(&describe(&report));
            make_trees(asked, matrix, &taxa, report, record)
        }
    }
}

fn of_alignment(asked: &MatrixPlan, mut session: Session) -> Result<()> {
    let num_taxa = session.setup.loaded.taxa.len();
    check_size(&asked.trees, num_taxa)?;
    let (method, name) = find_method(asked, &mut session)?;
    session.stage("distances");
    let partitions = &session.setup.loaded.partitions;
    let set = session.setup.plan.run.instruction_set;
    let pairs = PairDistances::new(num_taxa, partitions, &method, set);
    match (num_taxa <= MOST_IN_MEMORY, asked.trees.is_empty()) {
        (true, _) => {
            let matrix = SquareMatrix::<f64>::zero(num_taxa);
            write(asked, &pairs, name, Some(matrix), session)
        }
        (false, true) => write(asked, &pairs, name, None::<SquareMatrix<f64>>, session),
        (false, false) => {
            let matrix = SquareMatrix::<f32>::zero(num_taxa);
            write(asked, &pairs, name, Some(matrix), session)
        }
    }
}

/// Refuses trees that would take too much memory.
pub(super) fn check_size(trees: &[DistanceTree], num_taxa: usize) -> Result<()> {
    match trees.iter().find(|kind| num_taxa > kind.most_taxa()) {
        None => Ok(()),
        Some(kind) => Err(Error::Usage(format!(
            "--tree {}: there are {num_taxa} taxa, but such a tree can be made of at most {}",
            kind.name(),
            kind.most_taxa()
        ))),
    }
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

/// Makes a model of nucleotides that of Felsenstein (1984) with this ratio of transitions and transversions.
fn set_f84(model: &mut Model, ratio: f64) -> std::result::Result<(), String> {
    let rates = f84_rates(&model.freqs, ratio).ok_or_else(|| {
        format!("F84: with these frequencies, the ratio of transitions and transversions cannot be as small as {ratio}")
    })?;
    if let Exchange::Classes(classes) = &mut model.exchange {
        classes.fix(&rates);
    }
    Ok(())
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
fn write<T: Stored>(
    asked: &MatrixPlan,
    pairs: &PairDistances,
    name: String,
    mut matrix: Option<SquareMatrix<T>>,
    session: Session,
) -> Result<()> {
    let Session { setup, record } = session;
    let (taxa, num_taxa) = (&setup.loaded.taxa, pairs.num_taxa());
    let pool = thread_pool(setup.plan);
    let mut tally = Tally::default();
    // From a matrix of all digits, a square one is written when it is complete; each pair is then computed once.
    let waits = asked.format.is_square() && num_taxa <= MOST_IN_MEMORY;
    let whole_rows = asked.format.is_square() && !waits;
    let mut part = record.part(asked.output_kinds()[0])?;
    let mut sink: Box<dyn Write + '_> = match asked.gzip {
        true => Box::new(GzEncoder::new(&mut part, Compression::default())),
        false => Box::new(&mut part),
    };
    let mut written = asked.format.begin(num_taxa, &mut sink);
    let mut row_of_matrix = Vec::new();
    for start in (0..num_taxa).step_by(BAND) {
        let rows = start..(start + BAND).min(num_taxa);
        let width = if whole_rows { num_taxa } else { rows.end };
        let found = pool.install(|| pairs.rows(rows.clone(), 0..width));
        for (taxon, row) in rows.clone().zip(found.chunks_exact(width)) {
            tally.add(taxon, &row[..taxon], taxa);
            if let Some(matrix) = &mut matrix {
                row[..taxon].iter().enumerate().for_each(|(other, d)| matrix.set(taxon, other, *d));
            }
            if !waits && written.is_ok() {
                let shown = if whole_rows { row } else { &row[..taxon] };
                written = asked.format.row(taxon, taxa.names(), shown, &mut sink);
            }
        }
        let share = rows.end as f64 / num_taxa as f64;
        let share = if whole_rows { share } else { share * share };
        record.progress.advance(Advance { phase: Some(share), ..Advance::default() });
    }
    if let (true, Some(matrix)) = (waits, &matrix) {
        for taxon in 0..num_taxa {
            row_of_matrix.clear();
            row_of_matrix.extend((0..num_taxa).map(|other| matrix.get(taxon, other)));
            if written.is_ok() {
                written = asked.format.row(taxon, taxa.names(), &row_of_matrix, &mut sink);
            }
        }
    }
    let written = written.and_then(|()| sink.flush());
    drop(sink);
    written.map_err(|source| part.failed(source))?;
    record.complete(part)?;
    let (cases, named) = (std::mem::take(&mut tally.unknown), tally.unnamed());
    let report = tally.report(name, num_taxa);
    if !cases.is_empty() {
        let more =
            if named > 0 { format!("; {named} of them are not named") } else { String::new() };
        let summary = format!(
            "{} pairs of sequences have no distance and are written as -1{more}",
            report.saturated + report.without_overlap
        );
        warn_of_each(record, &summary, cases);
    }
    record.progress.result(&describe(&report));
    match matrix {
        Some(matrix) => make_trees(asked, matrix, taxa, report, record),
        None => {
            record.report.distances = Some(report);
            Ok(())
        }
    }
}

/// Makes and writes the trees, and completes the report.
fn make_trees<T: Stored>(
    asked: &MatrixPlan,
    mut matrix: SquareMatrix<T>,
    taxa: &Taxa,
    mut report: MatrixReport,
    record: &mut RunRecord,
) -> Result<()> {
    if !asked.trees.is_empty() {
        record.progress.stage("trees", None);
        let (filled, largest) = matrix.fill_unknown();
        if filled > 0 {
            let warning = format!(
                "{filled} pairs have no distance: in the trees, the largest distance, {largest:.6}, takes their place"
            );
            record.progress.event(&Event::Warning(warning));
        }
        for (number, &kind) in asked.trees.iter().enumerate() {
            // The last tree uses the matrix up.
            let own = match number + 1 == asked.trees.len() {
                true => std::mem::replace(&mut matrix, SquareMatrix::zero(0)),
                false => matrix.clone(),
            };
            let newick = kind.tree(own).newick(|taxon| taxa.name(taxon));
            report.trees.push(MatrixTreeReport { method: kind.name(), newick });
        }
        let lines: String = report.trees.iter().map(|tree| format!("{}\n", tree.newick)).collect();
        record.write(OutputKind::DistanceTrees, &lines)?;
    }
    record.report.distances = Some(report);
    Ok(())
}

/// The starting tree of the distances of these partitions: by maximum likelihood, of nucleotides under F84, of others
/// under their models as they are. Pairs without a distance get the largest one.
pub(super) fn distance_tree(kind: DistanceTree, setup: &Setup, partitions: &[Partition]) -> Tree {
    let model = |partition: &Partition| {
        let mut model = partition.model.clone();
        if model.num_states() == 4
            && let Ok(mut f84) = Model::parse("TN93+F")
        {
            count_freqs(&mut f84, &partition.patterns);
            // A ratio that is not possible leaves the model as it is.
            if set_f84(&mut f84, START_RATIO).is_ok() {
                model = f84;
            }
        }
        model
    };
    let models = partitions.iter().map(model).collect();
    let num_taxa = setup.num_reduced_taxa();
    let method = DistanceMethod::Likelihood { models, gamma: None };
    let pairs = PairDistances::new(num_taxa, partitions, &method, setup.plan.run.instruction_set);
    let mut matrix = SquareMatrix::<f64>::zero(num_taxa);
    let pool = thread_pool(setup.plan);
    for start in (0..num_taxa).step_by(BAND) {
        let rows = start..(start + BAND).min(num_taxa);
        let found = pool.install(|| pairs.rows(rows.clone(), 0..rows.end));
        for (taxon, row) in rows.clone().zip(found.chunks_exact(rows.end)) {
            row[..taxon].iter().enumerate().for_each(|(other, d)| matrix.set(taxon, other, *d));
        }
    }
    matrix.fill_unknown();
    let mut tree = kind.tree(matrix).to_tree();
    let [least, most] = BRLEN_BOUNDS;
    tree.clamp_brlens(least, most);
    tree
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

/// What is found on the way.
#[derive(Debug)]
struct Tally {
    pairs: u64,
    saturated: u64,
    without_overlap: u64,
    sum: f64,
    least: f64,
    largest: f64,
    /// The first pairs without a distance.
    unknown: Vec<String>,
}

impl Default for Tally {
    fn default() -> Self {
        let (least, largest) = (f64::INFINITY, 0.0);
        Tally {
            pairs: 0,
            saturated: 0,
            without_overlap: 0,
            sum: 0.0,
            least,
            largest,
            unknown: Vec::new(),
        }
    }
}

impl Tally {
    /// The distances of a taxon from those before it.
    fn add(&mut self, taxon: usize, row: &[f64], taxa: &Taxa) {
        for (other, &distance) in row.iter().enumerate() {
            self.pairs += 1;
            if distance.is_finite() {
                self.sum += distance;
                self.least = self.least.min(distance);
                self.largest = self.largest.max(distance);
                continue;
            }
            let why = match distance.is_nan() {
                true => {
                    self.without_overlap += 1;
                    "no site at which both have data"
                }
                false => {
                    self.saturated += 1;
                    "saturated, the likelihood rises up to the largest distance"
                }
            };
            if self.unknown.len() < MOST_NAMED {
                self.unknown.push(format!("{}, {}: {why}", taxa.name(other), taxa.name(taxon)));
            }
        }
    }

    /// Number of pairs without a distance that are not named.
    fn unnamed(&self) -> u64 {
        (self.saturated + self.without_overlap).saturating_sub(MOST_NAMED as u64)
    }

    fn report(&self, method: String, taxa: usize) -> MatrixReport {
        let known = self.pairs - self.saturated - self.without_overlap;
        let if_any = |value: f64| (known > 0).then_some(value);
        MatrixReport {
            method,
            taxa,
            pairs: self.pairs,
            saturated: self.saturated,
            without_overlap: self.without_overlap,
            least: if_any(self.least),
            mean: if_any(self.sum / known.max(1) as f64),
            largest: if_any(self.largest),
            trees: Vec::new(),
        }
    }
}
