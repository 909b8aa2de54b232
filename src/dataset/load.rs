//! From files to [`Loaded`] data: alignment, partitions with their models, given trees.
//!
//! Every fault of every file is collected before the run is refused. Warnings and notes about data that
//! are accepted are in `remarks`.

use super::candidates::{candidates_of, explain_characters};
use super::constraint::{check_trees, read_constraint};
use super::invariable::check_all_variable;
use super::linked_rates::link_exchange_rates;
use super::models::{ModelChoice, resolve_model};
use super::remarks::{Remarks, note_unused, remark, warn_of_shared_lengths};
use super::rooting::{Root, find_root};
use super::site_frequencies::{
    apply_file, check_models, give_frequencies, read_guide_tree, rounded,
};
use super::site_weights::SiteWeights;
use super::trees::{GivenTree, read_partition_trees, read_trees};
use crate::alignment::{Alignment, AlignmentSummary, Patterns, read_alignment};
use crate::alphabet::DataType;
use crate::bootstrap::SamplingUnit;
use crate::error::{Error, Fault, Faults, Place, Result, abridged, collect};
use crate::input::{name_of, read_text};
use crate::likelihood::BrlenLinkage;
use crate::model::Model;
use crate::model_selection::CandidateSet;
use crate::partition::{
    Partition, PartitionDef, build_patterns, count_freqs, gappyness, num_states_seen,
    parse_partitions, suspicions, whole_alignment,
};
use crate::plan::{Plan, TreeSource};
use crate::taxa::Taxa;
use crate::tree::{Constraint, SubsetTree};
use std::path::Path;

/// Longest partition file, in bytes: a hundred thousand lines.
pub(crate) const MAX_PARTITION_FILE: usize = 16 << 20;
/// Number of sites from which an alignment that is refused is not checked any further.
const MANY_SITES: usize = 1 << 20;

/// Everything read for one run, and found to be usable.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The taxa in the order of their names; their numbers are those of the tips of every global tree.
    pub taxa: Taxa,
    /// The taxa in the order of the rows of the alignment, in which distances between sequences are written.
    pub row_order: Vec<usize>,
    /// Columns of the alignment.
    pub num_sites: usize,
    /// The partitions with their data and models, in the order of their names: no result depends on the order of the
    /// files.
    pub partitions: Vec<Partition>,
    /// Numbers of the partitions in the order of the partition file, in which they are shown and written.
    pub file_order: Vec<usize>,
    /// With weights of columns: per partition all its columns (counted from 0), also those that do not count.
    weighted_columns: Option<Vec<Vec<u32>>>,
    /// Per partition whose model is to be selected, the models to compare; until then the model of the
    /// partition is the richest of these.
    pub candidates: Vec<Option<CandidateSet>>,
    /// Per partition the scaler of the shared lengths that its line gives (`+BU{0.8}`).
    pub brlen_scalers: Vec<Option<f64>>,
    /// Per partition, numbers of the taxa that have data in it, ascending: also where the analysis
    /// keeps all taxa in every partition.
    pub presence: Vec<Vec<usize>>,
    /// Share of (taxon x partition) cells without data.
    pub gappyness: f64,
    /// What the alignment is like.
    pub report: AlignmentSummary,
    /// The trees of each file among the plan's trees, in order.
    pub trees: Vec<Vec<GivenTree>>,
    /// The tree of `--pmsf`.
    pub guide_tree: Option<GivenTree>,
    /// What the trees of searches must satisfy.
    pub constraint: Option<Constraint>,
    /// The trees of `--partition-trees`: one per partition with data, `None` for the others.
    pub partition_trees: Option<Vec<Option<SubsetTree>>>,
    /// Where trees are rooted when they are written.
    pub root: Option<Root>,
    /// The alignment, of the command that writes its columns again.
    pub alignment: Option<Alignment>,
    /// Warnings and notes.
    pub remarks: Remarks,
}

impl Loaded {
    /// Number of patterns of all partitions.
    pub(crate) fn num_patterns(&self) -> usize {
        let patterns = self.partitions.iter().map(|p| p.patterns.num_patterns());
        patterns.sum()
    }

    /// True if sites have frequencies of their own.
    pub(crate) fn has_site_frequencies(&self) -> bool {
        self.partitions.iter().any(|partition| partition.patterns.freqs.is_some())
    }

    /// Gives the patterns of all partitions frequencies: `of_patterns[partition][pattern]`, as they would be read from a file.
    pub(crate) fn give_site_frequencies(&mut self, of_patterns: &[Vec<Vec<f64>>]) {
        for (partition, of_patterns) in self.partitions.iter_mut().zip(of_patterns) {
            let mut of_columns = vec![Vec::new(); self.num_sites];
            for (columns, pattern) in partition.sites_and_patterns() {
                of_columns[columns[0] as usize] = rounded(&of_patterns[pattern]);
            }
            give_frequencies(partition, &of_columns);
        }
    }

    /// All columns of a partition (counted from 0), each once, as a partition file has them.
    pub(crate) fn columns_of(&self, partition: usize) -> &[u32] {
        match &self.weighted_columns {
            Some(columns) => &columns[partition],
            None => &self.partitions[partition].sites,
        }
    }

    /// The number of each partition in the file, from 1.
    pub(crate) fn numbers_in_file(&self) -> Vec<usize> {
        let mut numbers = vec![0; self.file_order.len()];
        for (number, &partition) in self.file_order.iter().enumerate() {
            numbers[partition] = number + 1;
        }
        numbers
    }
}

/// Reads and checks everything a command on sequences needs.
///
/// # Errors
/// [`Error::Input`] with every fault of the alignment, the model, the partition file, the characters,
/// the trees; [`Error::Io`] for a file that cannot be read at all.
pub(crate) fn load(plan: &Plan) -> Result<Loaded> {
    let mut faults = Faults::new();
    let choice = model_choice(plan, &mut faults);
    let path = plan.data.msa.as_deref().expect("the command line was checked");
    let Some(alignment) = collect(read_alignment(path), &mut faults)? else {
        return Err(Error::Input(faults));
    };
    let names_of_rows = alignment.taxa().names().to_vec();
    let Some(alignment) = collect(recoded(alignment.sorted_by_name(), plan), &mut faults)? else {
        return Err(Error::Input(faults));
    };
    let defs = |faults: &mut Faults| read_defs(plan, &alignment, faults);
    let loaded = load_partitions(plan, &choice, &alignment, &names_of_rows, defs, faults)?;
    Ok(Loaded { alignment: plan.facts.needs.alignment.then_some(alignment), ..loaded })
}

/// The alignment as `--recode` has it.
///
/// # Errors
/// As of [`Recoding::apply`](crate::alignment::Recoding::apply).
pub(super) fn recoded(alignment: Alignment, plan: &Plan) -> Result<Alignment> {
    match &plan.data.recode {
        Some(recoding) => recoding.apply(&alignment),
        None => Ok(alignment),
    }
}

/// The same for one gene that has an alignment of its own, as if a file had this alone: its rows are in the order of their
/// names.
///
/// # Errors
/// As of [`load`].
pub(super) fn load_gene(plan: &Plan, alignment: &Alignment, def: PartitionDef) -> Result<Loaded> {
    let mut faults = Faults::new();
    let choice = model_choice(plan, &mut faults);
    let names = alignment.taxa().names();
    load_partitions(plan, &choice, alignment, names, |_| Ok(vec![def]), faults)
}

/// The taxa that have data in a partition, by their numbers.
///
/// # Errors
/// [`Error::Input`] with the faults of its model and its characters.
pub(super) fn taxa_of(
    plan: &Plan,
    alignment: &Alignment,
    def: &PartitionDef,
) -> Result<Vec<usize>> {
    let mut faults = Faults::new();
    let choice = model_choice(plan, &mut faults);
    let builder = Builder { plan, alignment, choice: &choice, weights: None };
    match builder.build(def.clone(), &mut faults, &mut Remarks::default()) {
        Some(built) if faults.is_empty() => Ok(built.partition.patterns.tip_taxa),
        _ => Err(Error::Input(faults)),
    }
}

/// What the command line says about models; what is wrong joins the faults.
fn model_choice(plan: &Plan, faults: &mut Faults) -> ModelChoice {
    let mut choice = ModelChoice::new(&plan.data, faults);
    choice.is_asked_for = plan.facts.needs.models;
    choice
}

/// Data and models of the partitions of an alignment, whose rows are in the order of their names, and all else that a run
/// reads.
fn load_partitions(
    plan: &Plan,
    choice: &ModelChoice,
    alignment: &Alignment,
    names_of_rows: &[String],
    defs: impl FnOnce(&mut Faults) -> Result<Vec<PartitionDef>>,
    mut faults: Faults,
) -> Result<Loaded> {
    let path = plan.data.msa.as_deref().expect("the command line was checked");
    check_size(alignment, plan, path, &mut faults);
    // Nothing more is worth the time and memory that a long alignment of few taxa takes.
    if !faults.is_empty() && alignment.num_sites() > MANY_SITES {
        return Err(Error::Input(faults));
    }
    let mut remarks = Remarks::default();
    if alignment.num_taxa() == 3 && plan.facts.needs.note_of_one_tree {
        let note = "3 taxa have only one tree, which is evaluated without a search";
        remarks.notes.push(note.into());
    }
    if plan.data.partitions.is_none() && alignment.num_charsets() > 0 {
        let file = path.display();
        remarks.notes.push(format!(
            "{file} has charsets, which are not used: -q {file} makes partitions of them"
        ));
    }
    let defs = defs(&mut faults)?;
    let (mut partitions, mut columns, mut brlen_scalers) = (Vec::new(), Vec::new(), Vec::new());
    let mut candidates = Vec::new();
    let weights = match &plan.data.site_weights {
        Some(path) => collect(SiteWeights::read(path, alignment.num_sites()), &mut faults)?,
        None => None,
    };
    remarks.notes.extend(weights.as_ref().map(SiteWeights::describe));
    if let Some(recoding) = &plan.data.recode {
        remarks.notes.push(format!("amino acids are recoded: {}", recoding.describe()));
    }
    let builder = Builder { plan, alignment, choice, weights: weights.as_ref() };
    for def in defs {
        if let Some(built) = builder.build(def, &mut faults, &mut remarks) {
            partitions.push(built.partition);
            columns.push(built.columns);
            brlen_scalers.push(built.brlen_scaler);
            candidates.push(built.candidates);
        }
    }
    if faults.is_empty() && partitions.iter().all(|p| p.patterns.num_tips() == 0) {
        let place = Place::file(name_of(path));
        let message = "no taxon has any data: every cell is a gap or undetermined";
        faults.push(Fault::new(place, message));
    }
    let draws_partitions = plan.bootstrap.sampling.unit != SamplingUnit::Sites;
    if faults.is_empty() && draws_partitions && partitions.len() < 2 {
        let place = Place::file(plan.data.partitions.as_deref().map_or("-q".into(), name_of));
        let message = "--sampling gene and genesite draw partitions, but there is only one";
        faults.push(Fault::new(place, message));
    }
    let taxa = alignment.taxa().clone();
    let row_order = names_of_rows.iter().filter_map(|name| taxa.index(name)).collect();
    let root = find_root(plan.output.root.as_ref(), &taxa, "the alignment");
    let root = root.unwrap_or_else(|fault| {
        faults.push(fault);
        None
    });

    // A tree that is evaluated must be the user's own; a starting tree may be resolved by chance.
    let seed = (!plan.facts.needs.own_trees).then_some(plan.seed);
    let constraint = match &plan.search.constraint {
        Some(path) => read_constraint(path, &taxa, &mut faults, &mut remarks)?,
        None => None,
    };
    let trees = read_all_trees(plan, &taxa, seed, constraint.as_ref(), &mut faults)?;
    if let (Some(constraint), Some(path)) = (&constraint, &plan.search.constraint) {
        check_trees(constraint, path, trees.iter().flatten(), &taxa, &mut faults);
    }
    let guide_tree = collect(read_guide_tree(plan, &taxa), &mut faults)?.flatten();
    let is_selected: Vec<bool> = candidates.iter().map(Option::is_some).collect();
    check_models(plan, &partitions, &is_selected, &mut faults);
    let note = link_exchange_rates(plan, &mut partitions, &is_selected, &mut faults);
    remarks.notes.extend(note);
    // Which taxa a partition's tree must have is known only when all partitions are.
    let partition_trees = match &plan.search.partition_trees {
        Some(file) if faults.is_empty() => {
            collect(read_partition_trees(file, &taxa, &partitions), &mut faults)?
        }
        _ => None,
    };
    if !faults.is_empty() {
        return Err(Error::Input(faults));
    }
    let gappyness = gappyness(partitions.iter().map(|p| &p.patterns), taxa.len());
    let views: Vec<(&Patterns, &[u32])> =
        partitions.iter().map(|p| (&p.patterns, p.sites.as_slice())).collect();
    let report = AlignmentSummary::new(&taxa, &views);
    remarks.warnings.extend(suspicions(alignment, &partitions));
    remark(&taxa, &partitions, &report, &mut remarks);
    note_unused(plan, &partitions, &candidates, &mut remarks);
    if plan.facts.needs.models && plan.linkage() == BrlenLinkage::Linked {
        warn_of_shared_lengths(&partitions, &mut remarks);
    }
    for (partition, candidates) in partitions.iter_mut().zip(&candidates) {
        let warning = count_with_warning(partition);
        // The selected model may not count frequencies.
        remarks.warnings.extend(warning.filter(|_| candidates.is_none()));
    }
    apply_file(plan, &mut partitions, alignment.num_sites())?;
    // From here on, the order of the file shows only where partitions are listed.
    let mut by_name: Vec<usize> = (0..partitions.len()).collect();
    by_name.sort_unstable_by(|&a, &b| partitions[a].name.cmp(&partitions[b].name));
    let mut file_order = vec![0; by_name.len()];
    by_name.iter().enumerate().for_each(|(number, &in_file)| file_order[in_file] = number);
    let mut partitions = in_order(partitions, &by_name);
    let presence = partitions.iter().map(|p| p.patterns.tip_taxa.clone()).collect();
    if !plan.data.restricted {
        partitions.iter_mut().for_each(|p| p.patterns.add_missing_taxa(taxa.len()));
    }
    Ok(Loaded {
        num_sites: alignment.num_sites(),
        taxa,
        row_order,
        partitions,
        file_order,
        weighted_columns: weights.map(|_| in_order(columns, &by_name)),
        candidates: in_order(candidates, &by_name),
        brlen_scalers: in_order(brlen_scalers, &by_name),
        presence,
        gappyness,
        report,
        trees,
        guide_tree,
        constraint,
        partition_trees: partition_trees.map(|trees| in_order(trees, &by_name)),
        root,
        alignment: None,
        remarks,
    })
}

/// What a partition is built from, besides its definition.
struct Builder<'a> {
    plan: &'a Plan,
    alignment: &'a Alignment,
    choice: &'a ModelChoice,
    weights: Option<&'a SiteWeights>,
}

/// A partition with its data.
struct Built {
    partition: Partition,
    /// With weights of columns: all its columns, also those that do not count.
    columns: Vec<u32>,
    /// As given in its model.
    brlen_scaler: Option<f64>,
    /// Its model is still to be selected.
    candidates: Option<CandidateSet>,
}

impl Builder<'_> {
    /// Model and patterns of a partition, or the faults of its definition.
    fn build(
        &self,
        def: PartitionDef,
        faults: &mut Faults,
        remarks: &mut Remarks,
    ) -> Option<Built> {
        let Builder { plan, alignment, choice, weights } = *self;
        // Without the model the characters cannot be checked.
        if choice.option_is_bad && (def.model.is_empty() || Model::is_type(&def.model)) {
            return None;
        }
        // Recoded amino acids have the model of the command line.
        let is_recoded = plan.data.recode.is_some() && Model::is_protein_type(&def.model);
        let model = if is_recoded { String::new() } else { def.model };
        let def = PartitionDef { model, ..def };
        let num_states = || Some(num_states_seen(alignment, &def));
        let auto = candidates_of(&def, choice, alignment, plan);
        let auto = auto.map_err(|fault| faults.push(fault)).ok()?;
        let resolved = match &auto {
            Some((candidates, scaler)) => Ok((candidates.placeholder(), *scaler)),
            None => resolve_model(&def, choice, num_states, &mut remarks.notes),
        };
        let (model, brlen_scaler) = resolved.map_err(|fault| faults.push(fault)).ok()?;
        if let Some(recoding) = &plan.data.recode {
            let groups = recoding.num_states();
            let is_of_states =
                matches!(model.data_type, DataType::Multistate(_) | DataType::Binary);
            if !is_of_states || model.num_states() != groups {
                let (label, kind) = (model.short_label(), model.data_type.name());
                let message = format!(
                    "--recode makes data of {groups} states, but {label} is a model of {} states of {kind} data: give one such as \
                     MULTI{groups}_GTR+G",
                    model.num_states()
                );
                faults.push(Fault::new(def.place, message));
                return None;
            }
        }
        if brlen_scaler.is_some() && !plan.linkage().has_scalers() {
            faults.push(Fault::new(
                def.place.clone(),
                "'+BU{...}' scales branch lengths: add --brlen scaled, or remove it from the model",
            ));
        }
        let (columns, def) = match weights {
            Some(weights) => (def.sites.clone(), weights.apply(def, model.data_type)),
            None => (Vec::new(), Ok(def)),
        };
        let def = def.map_err(|fault| faults.push(fault)).ok()?;
        let patterns = build_patterns(alignment, &def, model.data_type);
        let explain = |more| match auto {
            Some(_) => explain_characters(more, &def, model.data_type, choice, alignment),
            None => more,
        };
        let patterns = patterns.map_err(|more| faults.append(explain(more))).ok()?;
        let PartitionDef { name, sites, .. } = def;
        let partition = Partition { name, model, patterns, sites };
        let path = plan.data.msa.as_deref().expect("the command line was checked");
        faults.extend(check_all_variable(&partition, &name_of(path)));
        Some(Built {
            partition,
            columns,
            brlen_scaler,
            candidates: auto.map(|(candidates, _)| candidates),
        })
    }
}

/// Refuses too few taxa. Three have one tree, which a search evaluates; there is nothing to resample for.
fn check_size(alignment: &Alignment, plan: &Plan, path: &Path, faults: &mut Faults) {
    let n = alignment.num_taxa();
    let message = if n < 3 {
        format!("fewer than 3 taxa: the alignment has {n}, but a tree needs at least 3")
    } else if n < plan.facts.needs.least_taxa {
        "fewer than 4 taxa: 3 taxa have only one tree, so replicates cannot differ; --search evaluates this \
         tree"
            .to_string()
    } else {
        return;
    };
    faults.push(Fault::new(Place::file(name_of(path)), message));
}

/// The partitions of the partition file, or the whole alignment.
pub(super) fn read_defs(
    plan: &Plan,
    alignment: &Alignment,
    faults: &mut Faults,
) -> Result<Vec<PartitionDef>> {
    let Some(path) = &plan.data.partitions else {
        return Ok(whole_alignment(alignment.num_sites(), ""));
    };
    let Some(text) = collect(read_text(path, MAX_PARTITION_FILE, "a partition file"), faults)?
    else {
        return Ok(Vec::new());
    };
    let name = path.display().to_string();
    let defs = parse_partitions(&text, &name, alignment.num_sites(), false);
    Ok(collect(defs, faults)?.unwrap_or_default())
}

fn read_all_trees(
    plan: &Plan,
    taxa: &Taxa,
    seed: Option<u64>,
    constraint: Option<&Constraint>,
    faults: &mut Faults,
) -> Result<Vec<Vec<GivenTree>>> {
    let mut trees: Vec<Vec<GivenTree>> = Vec::new();
    for source in &plan.search.trees {
        if let TreeSource::File(path) = source {
            let first = trees.iter().map(Vec::len).sum();
            let more = collect(
                read_trees(path, taxa, seed, first, constraint, plan.search.opt_branches),
                faults,
            )?;
            trees.push(more.unwrap_or_default());
        }
    }
    Ok(trees)
}

/// Items in this order of their numbers.
fn in_order<T>(items: Vec<T>, order: &[usize]) -> Vec<T> {
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    order.iter().filter_map(|&item| items[item].take()).collect()
}

/// Counts the frequencies of the model's states, where it needs them; a warning of states that are rare or absent.
pub(crate) fn count_with_warning(partition: &mut Partition) -> Option<String> {
    let raised = count_freqs(&mut partition.model, &partition.patterns);
    let names = partition.model.data_type.state_names();
    let states: Vec<&str> = raised.iter().map(|&state| names[state]).collect();
    (!raised.is_empty()).then(|| {
        format!(
            "partition '{}' has few or no characters {}: their counted frequencies were raised to 0.0001",
            abridged(&partition.name),
            states.join(", ")
        )
    })
}
