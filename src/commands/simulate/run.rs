//! `simulate`: sequences along a tree, optionally with missing partitions.

use crate::alignment::Patterns;
use crate::alphabet::Code;
use crate::commands::Command;
use crate::dataset::{MAX_PARTITION_FILE, ModelChoice, own_taxa, read_one_tree, resolve_model};
use crate::error::{Error, Fault, Faults, Place, Result, collect};
use crate::input::read_text;
use crate::model::Model;
use crate::output::{AlignmentReport, OutputKind, PartitionReport};
use crate::partition::{PartitionDef, check_frame, parse_partitions, whole_alignment};
use crate::plan::{Facts, Plan, TreeSource};
use crate::rng::{Purpose, stream};
use crate::runtime::RunRecord;
use crate::runtime::interrupt::go_on;
use crate::simulate::{
    SimModel, SimPartition, draw_presence, random_names, simulate_states, to_partition_file,
    to_phylip, yule_tree,
};
use crate::taxa::Taxa;
use crate::tree::{NewickOptions, Tree, write_newick};
use std::path::{Path, PathBuf};

/// Simulated sequences.
pub(crate) const ALIGNMENT: OutputKind = OutputKind::new(37, "phy", "the simulated sequences");

/// Partitions of simulated sequences.
pub(crate) const PARTITIONS: OutputKind =
    OutputKind::new(38, "part", "their partitions and models");

/// The tree of simulated sequences.
pub(crate) const TRUE_TREE: OutputKind =
    OutputKind::new(39, "trueTree", "the tree along which they were simulated").of_trees("support");

/// Most columns of a simulated alignment: a typing error must not exhaust the memory.
const MAX_SITES: usize = 100_000_000;

/// Under a model of variable sites, so many times as many sites are drawn, at most, until enough of them are variable.
const MOST_DRAWS: usize = 1000;
/// When so many sites are drawn, it is known whether enough will be variable.
const TELLING: usize = 100_000;

/// A simulated data set.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Simulate {
    /// The tree: `File` (its first tree), or `Random(number of taxa)`.
    pub tree: TreeSource,
    /// Number of sites, unless there is a partition file.
    pub num_sites: Option<usize>,
    /// Share of (taxon x partition) cells to leave without data, in [0, 1).
    pub missing: f64,
    /// Mean branch length of a random tree, in substitutions per site.
    pub mean_brlen: f64,
}

impl Command for Simulate {
    fn facts(&self, _: &Plan) -> Facts {
        Facts {
            task: "simulation of sequences".into(),
            inputs: self.tree.file().map(PathBuf::from).into_iter().collect(),
            outputs: vec![ALIGNMENT, PARTITIONS, TRUE_TREE],
            ..Facts::default()
        }
    }

    fn run(&self, plan: &Plan, record: &mut RunRecord) -> Result<()> {
        simulate(plan, self, record)
    }
}

/// Simulates sequences; the files are an alignment, its partitions with their models, and the tree.
///
/// # Errors
/// Refused input: models with parameters left open, trees without lengths, unusable partitions.
fn simulate(plan: &Plan, simulate: &Simulate, record: &mut RunRecord) -> Result<()> {
    let mut faults = Faults::new();
    let (taxa, tree) = match collect(make_tree(plan, simulate), &mut faults)? {
        Some(found) => found,
        None => return Err(Error::Input(faults)),
    };
    let defs = collect(read_defs(plan, simulate), &mut faults)?.unwrap_or_default();
    let models = resolve_models(plan, &defs, &mut faults);
    if !faults.is_empty() {
        return Err(Error::Input(faults));
    }
    let mut rng = stream(plan.seed, Purpose::SimulatedGaps, 0);
    let presence = draw_presence(&tree, defs.len(), simulate.missing, &mut rng)?;
    let mut partitions = Vec::new();
    for (i, ((def, (model, scaler)), present)) in defs.iter().zip(&models).zip(presence).enumerate()
    {
        go_on(plan.run.stop)?;
        let mut scaled = tree.clone();
        for edge in tree.edges() {
            scaled.set_brlen(edge, tree.brlen(edge) * scaler);
        }
        let mut rng = stream(plan.seed, Purpose::SimulatedSequences, i as u64);
        let num_sites = def.sites.len() / model.data_type.chars_per_site();
        let states = simulate_partition(&scaled, model, num_sites, &present, &mut rng)
            .map_err(|message| Error::input(def.place.clone(), message))?;
        let scaler_text = if *scaler == 1.0 { String::new() } else { format!("+BU{{{scaler}}}") };
        partitions.push(SimPartition {
            name: def.name.clone(),
            model: format!("{model}{scaler_text}"),
            data_type: model.data_type,
            columns: def.sites.clone(),
            states,
            present,
        });
    }
    go_on(plan.run.stop)?;
    describe(&taxa, &defs, &partitions, record);
    go_on(plan.run.stop)?;
    let newick = write_newick(&tree, |i| taxa.name(i), &NewickOptions::default());
    record.write(ALIGNMENT, &to_phylip(&taxa, &partitions)?)?;
    record.write(PARTITIONS, &to_partition_file(&partitions))?;
    record.write(TRUE_TREE, &(newick + "\n"))
}

fn make_tree(plan: &Plan, simulate: &Simulate) -> Result<(Taxa, Tree)> {
    match &simulate.tree {
        TreeSource::File(path) => {
            let newick = read_one_tree(path)?;
            let file = path.display().to_string();
            let taxa = own_taxa(&newick, &file)?;
            if taxa.len() < 3 {
                let message = format!("the tree has {} taxa: at least 3 are needed", taxa.len());
                return Err(Error::input(Place::file(file), message));
            }
            let mut rng = stream(plan.seed, Purpose::Multifurcation, 0);
            let (tree, has_lengths) = newick.to_tree(&taxa, &file, Some(&mut rng))?;
            if !has_lengths {
                let message =
                    "the tree has branches without a length: a simulation needs all of them";
                return Err(Error::input(Place::file(file), message));
            }
            Ok((taxa, tree))
        }
        TreeSource::Auto | TreeSource::Distances(_) => {
            Err(Error::Usage("simulate needs a tree: --tree FILE or --tree rand{50}".into()))
        }
        TreeSource::Random(n) | TreeSource::Parsimony(n) => {
            let mut rng = stream(plan.seed, Purpose::SimulatedTree, 0);
            let tree = yule_tree(*n, simulate.mean_brlen, &mut rng);
            let taxa = Taxa::new(random_names(*n)).expect("made names differ");
            Ok((taxa, tree))
        }
    }
}

fn read_defs(plan: &Plan, simulate: &Simulate) -> Result<Vec<PartitionDef>> {
    let Some(path) = &plan.data.partitions else {
        let num_sites = simulate.num_sites.unwrap_or(0);
        if num_sites > MAX_SITES {
            return Err(Error::Usage(format!("--sites must be at most {MAX_SITES}")));
        }
        return Ok(whole_alignment(num_sites, ""));
    };
    let text = read_text(path, MAX_PARTITION_FILE, "a partition file")?;
    let file = path.display().to_string();
    let num_sites = last_column(&text, path)?;
    let defs = parse_partitions(&text, &file, num_sites, true)?;
    let of_longer = parse_partitions(&text, &file, num_sites + 1, true)?;
    let ends = defs.iter().zip(&of_longer).find(|(def, longer)| def.sites != longer.sites);
    if let Some((def, _)) = ends {
        let message = "a range that ends with '.' ends with the alignment, which is still to be simulated: give its last column";
        return Err(Error::input(def.place.clone(), message));
    }
    // What the file leaves out below its last column is a mistake here, too.
    let last = defs.iter().flat_map(|def| &def.sites).max().map_or(0, |&site| site as usize + 1);
    parse_partitions(&text, &file, last, false)
}

/// The largest number behind the first `=` of a line: no column lies beyond.
fn last_column(text: &str, path: &Path) -> Result<usize> {
    let ranges = text.lines().filter_map(|line| line.split_once('=').map(|(_, ranges)| ranges));
    let numbers = ranges.flat_map(|ranges| ranges.split(|c: char| !c.is_ascii_digit()));
    let largest = numbers
        .filter(|digits| !digits.is_empty())
        .map(|digits| digits.parse().unwrap_or(usize::MAX))
        .max()
        .unwrap_or(0);
    if largest > MAX_SITES {
        let place = Place::file(path.display().to_string());
        let message =
            format!("the partitions have columns beyond {MAX_SITES}, the limit of a simulation");
        return Err(Error::input(place, message));
    }
    Ok(largest)
}

/// The model of every partition and its scaler of branch lengths (1 if it gives none).
fn resolve_models(plan: &Plan, defs: &[PartitionDef], faults: &mut Faults) -> Vec<(Model, f64)> {
    let choice = ModelChoice::new(&plan.data, faults);
    if choice.option_is_bad {
        return Vec::new();
    }
    let mut models = Vec::new();
    for def in defs {
        if !matches!(choice.to_be_chosen(def), Ok(None)) {
            let message = "a simulation has no data for model selection: name a model";
            faults.push(Fault::new(def.place.clone(), message));
            continue;
        }
        match resolve_model(def, &choice, || None, &mut Vec::new()) {
            Ok((model, scaler)) => {
                let open = open_parameters(&model);
                if !open.is_empty() {
                    let message = format!(
                        "model {}: a simulation needs values in braces for {}",
                        model.label(),
                        open.join(", ")
                    );
                    faults.push(Fault::new(def.place.clone(), message));
                }
                faults.extend(check_frame(def, model.data_type));
                models.push((model, scaler.unwrap_or(1.0)));
            }
            Err(fault) => faults.push(fault),
        }
    }
    models
}

/// Parameters without a value, as users know them.
fn open_parameters(model: &Model) -> Vec<String> {
    let free = model.free_parameters().into_iter().map(|parameter| parameter.name);
    let counted = model.wants_counts().then(|| "frequencies".to_string());
    let of_classes = model.estimates_class_weights().then(|| "weights of classes".to_string());
    free.chain(of_classes).chain(counted).collect()
}

/// The states of every taxon. Under a model of variable sites, those that are not variable among the `present` taxa are left out,
/// and more are drawn.
///
/// # Errors
/// The message if hardly any site is variable.
fn simulate_partition(
    tree: &Tree,
    model: &Model,
    num_sites: usize,
    present: &[bool],
    rng: &mut crate::rng::Rng,
) -> std::result::Result<Vec<Vec<u8>>, String> {
    let (matrices, cats) = (model.eigen_models(), model.rate_cats());
    let sim_model = SimModel { matrices: &matrices, cats: &cats };
    if model.ascertainment.is_none() {
        return Ok(simulate_states(tree, &sim_model, num_sites, rng));
    }
    let mut kept: Vec<Vec<u8>> = vec![Vec::with_capacity(num_sites); tree.num_tips()];
    for draws in 1..=MOST_DRAWS {
        let states = simulate_states(tree, &sim_model, num_sites, rng);
        let is_variable = |&site: &usize| {
            let here = states.iter().zip(present).filter(|&(_, &is_present)| is_present);
            let mut here = here.map(|(states, _)| states[site]);
            let first = here.next();
            here.any(|state| Some(state) != first)
        };
        let num_kept = |kept: &[Vec<u8>]| kept.first().map_or(num_sites, Vec::len);
        let left = num_sites - num_kept(&kept);
        for site in (0..num_sites).filter(is_variable).take(left) {
            kept.iter_mut().zip(&states).for_each(|(kept, states)| kept.push(states[site]));
        }
        let (found, drawn) = (num_kept(&kept), draws * num_sites);
        if found == num_sites {
            return Ok(kept);
        }
        if drawn >= TELLING && found * MOST_DRAWS < drawn {
            break;
        }
    }
    Err(format!(
        "model {}: +ASC leaves out invariable sites, and hardly any site is variable on this tree: give longer branches, or \
         remove +ASC from the model",
        model.label()
    ))
}

/// Distinct columns of a partition.
fn count_patterns(partition: &SimPartition) -> usize {
    let data_type = partition.data_type;
    let num_sites = partition.states.first().map_or(0, Vec::len);
    let encode = |taxon: usize, row: &mut [Code]| {
        for (out, &state) in row.iter_mut().zip(&partition.states[taxon]) {
            *out = match partition.present[taxon] {
                true => data_type.code_of_state(usize::from(state)),
                false => data_type.undetermined(),
            };
        }
    };
    Patterns::compress(data_type, partition.states.len(), num_sites, encode).num_patterns()
}

fn describe(
    taxa: &Taxa,
    defs: &[PartitionDef],
    partitions: &[SimPartition],
    record: &mut RunRecord,
) {
    let report = &mut record.report;
    let num_sites: usize = defs.iter().map(|def| def.sites.len()).sum();
    let (mut cells, mut missing, mut num_patterns) = (0, 0, 0);
    for (def, partition) in defs.iter().zip(partitions) {
        let absent = partition.present.iter().filter(|&&present| !present).count();
        cells += taxa.len() * def.sites.len();
        missing += absent * def.sites.len();
        let patterns = count_patterns(partition);
        num_patterns += patterns;
        report.model.push(partition.model.clone());
        report.partitions.push(PartitionReport {
            name: partition.name.clone(),
            model: partition.model.clone(),
            sites: def.sites.len() / partition.data_type.chars_per_site(),
            patterns,
            taxa: taxa.len() - absent,
            brlen_scaler: 1.0,
            ..PartitionReport::default()
        });
    }
    let gappyness = missing as f64 / cells.max(1) as f64;
    report.alignment = Some(AlignmentReport {
        taxa: taxa.len(),
        sites: num_sites,
        patterns: num_patterns,
        gappyness,
        overview: None,
    });
    record.progress.result(&format!(
        "{} taxa, {num_sites} sites, {} partition{}, gappyness {:.1} %\n",
        taxa.len(),
        partitions.len(),
        if partitions.len() == 1 { "" } else { "s" },
        100.0 * gappyness
    ));
}
