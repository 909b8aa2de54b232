//! Ancestral states and changes along branches: printed, reported and written.

use super::outcome::Outcome;
use crate::alphabet::DataType;
use crate::ancestral::{AncestralStates, Change, ChangedTo, InnerNodes, most_likely};
use crate::dataset::Loaded;
use crate::error::Result;
use crate::output::{AncestralNodeReport, BranchChangesReport, OutputKind, Part};
use crate::partition::Partition;
use crate::runtime::Session;
use crate::tree::{EdgeId, NewickOptions, NodeId, Tree, format_brlen, write_newick};
use std::fmt::Write as _;
use std::io::Write;

/// The tree with names of its inner nodes.
pub(crate) const ANCESTRAL_TREE: OutputKind =
    OutputKind::new(20, "ancestralTree", "the best tree with names of its inner nodes")
        .of_trees("support");

/// The most likely states at inner nodes.
pub(crate) const ANCESTRAL_STATES: OutputKind =
    OutputKind::new(21, "ancestralStates", "the most likely states at these nodes, as sequences");

/// The probabilities of all states at inner nodes.
pub(crate) const ANCESTRAL_PROBS: OutputKind =
    OutputKind::new(22, "ancestralProbs", "the probabilities of all states at these nodes");

/// The tree with numbers of changes.
pub(crate) const MUTATION_MAP_TREE: OutputKind = OutputKind::new(
    23,
    "mutationMapTree",
    "the best tree with names of its inner nodes and the number of changes of every branch",
);

/// Changes of states along branches.
pub(crate) const MUTATION_MAP_LIST: OutputKind =
    OutputKind::new(24, "mutationMapList", "the changes of every branch");

/// The table of the probabilities of all states, which is written while they are computed: a line for each inner node,
/// partition and site.
pub(crate) struct ProbabilityTable {
    part: Part,
}

impl ProbabilityTable {
    /// Writes the header. If all partitions have the same states, it names them.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn begin(mut part: Part, loaded: &Loaded) -> Result<Self> {
        let types = loaded.partitions.iter().map(|partition| partition.patterns.data_type);
        let mut types: Vec<DataType> = types.collect();
        types.dedup();
        let mut header = "Node\tPart\tSite\tState".to_string();
        match types[..] {
            [data_type] => data_type.state_names().iter().for_each(|name| {
                let _ = write!(header, "\tp_{name}");
            }),
            _ => {
                let most = types.iter().map(|data_type| data_type.num_states()).max();
                (1..=most.unwrap_or(0)).for_each(|state| {
                    let _ = write!(header, "\tp_{state}");
                });
            }
        }
        writeln!(part, "{header}").map_err(|source| part.failed(source))?;
        Ok(ProbabilityTable { part })
    }

    /// Writes the lines of a node, with the partitions in the order of their file. `probabilities[partition]` are those of `[pattern][state]`.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn add(
        &mut self,
        node: &str,
        probabilities: &[Option<Vec<f64>>],
        loaded: &Loaded,
    ) -> Result<()> {
        for &index in &loaded.file_order {
            let partition = &loaded.partitions[index];
            let Some(probabilities) = &probabilities[index] else { continue };
            let names = partition.patterns.data_type.state_names();
            // Each pattern is written once for all its sites.
            let patterns = probabilities.chunks_exact(names.len());
            let texts: Vec<String> = patterns.map(|pattern| describe(pattern, names)).collect();
            for (columns, pattern) in partition.sites_and_patterns() {
                let (name, column) = (&partition.name, columns[0] + 1);
                writeln!(self.part, "{node}\t{name}\t{column}\t{}", texts[pattern])
                    .map_err(|source| self.part.failed(source))?;
            }
        }
        Ok(())
    }

    /// The file with all lines.
    pub(crate) fn end(self) -> Part {
        self.part
    }
}

/// The most likely state and the probabilities of all states.
fn describe(probabilities: &[f64], names: &[&str]) -> String {
    let mut text = names[most_likely(probabilities)].to_string();
    for probability in probabilities {
        let _ = write!(text, "\t{probability:.6}");
    }
    text
}

/// Prints, reports and writes the most likely states.
///
/// # Errors
/// A file that cannot be written.
pub(crate) fn deliver_states(
    session: &mut Session,
    best: &Outcome,
    nodes: &InnerNodes,
    found: &AncestralStates,
) -> Result<()> {
    let Session { setup, record } = session;
    let newick = newick_with_names(&best.tree, nodes, |tip| setup.loaded.taxa.name(tip), None);
    record.write(ANCESTRAL_TREE, &format!("{newick}\n"))?;
    let mut part = record.part(ANCESTRAL_STATES)?;
    let (partitions, num_columns) = (&setup.loaded.partitions, setup.loaded.num_sites);
    let written = write_states(&mut part, nodes, found, partitions, num_columns);
    written.map_err(|source| part.failed(source))?;
    record.complete(part)?;
    record.progress.result(&summary_of_states(nodes, found));
    let report = &mut record.report.ancestral;
    report.get_or_insert_default().tree = Some(newick);
    let of_node = |(number, mean): (usize, &Option<f64>)| AncestralNodeReport {
        name: nodes.name(number),
        mean_probability: *mean,
    };
    let of_nodes = found.mean_probabilities.iter().enumerate().map(of_node);
    report.get_or_insert_default().nodes = of_nodes.collect();
    Ok(())
}

fn summary_of_states(nodes: &InnerNodes, found: &AncestralStates) -> String {
    let with_states = found.mean_probabilities.iter().enumerate();
    let with_states: Vec<(usize, f64)> =
        with_states.filter_map(|(number, mean)| Some((number, (*mean)?))).collect();
    let Some(least) = with_states.iter().min_by(|a, b| a.1.total_cmp(&b.1)) else {
        return "Ancestral states: no inner node has any\n".into();
    };
    let mean = with_states.iter().map(|node| node.1).sum::<f64>() / with_states.len() as f64;
    format!(
        "Ancestral states of {} inner nodes: the most likely ones have a mean probability of {mean:.3}, from {:.3} at {} on\n",
        with_states.len(),
        least.1,
        nodes.name(least.0)
    )
}

/// The most likely states as sequences with the columns of the alignment, in relaxed PHYLIP; `-` where a partition says
/// nothing about a node.
fn write_states(
    part: &mut Part,
    nodes: &InnerNodes,
    found: &AncestralStates,
    partitions: &[Partition],
    num_columns: usize,
) -> std::io::Result<()> {
    let names: Vec<String> = (0..nodes.nodes().len()).map(|number| nodes.name(number)).collect();
    let width = names.iter().map(String::len).max().unwrap_or(0);
    writeln!(part, "{} {num_columns}", names.len())?;
    for (name, states) in names.iter().zip(&found.states) {
        let mut sequence = vec![b'-'; num_columns];
        for (partition, states) in partitions.iter().zip(states) {
            let Some(states) = states else { continue };
            let state_names = partition.patterns.data_type.state_names();
            for (columns, pattern) in partition.sites_and_patterns() {
                let characters = state_names[usize::from(states[pattern])].bytes();
                for (&column, character) in columns.iter().zip(characters) {
                    sequence[column as usize] = character;
                }
            }
        }
        write!(part, "{name:width$}  ")?;
        part.write_all(&sequence)?;
        part.write_all(b"\n")?;
    }
    Ok(())
}

/// Prints, reports and writes the changes of all branches.
///
/// # Errors
/// A file that cannot be written.
pub(crate) fn deliver_changes(
    session: &mut Session,
    best: &Outcome,
    nodes: &InnerNodes,
    changes: &[Vec<Change>],
) -> Result<()> {
    let Session { setup, record } = session;
    let (taxa, partitions) = (&setup.loaded.taxa, &setup.loaded.partitions);
    let name = |node: NodeId| match nodes.number(node) {
        Some(number) => nodes.name(number),
        None => taxa.name(node.index()).to_string(),
    };
    let mut counts = vec![0; best.tree.num_edges()];
    let mut text = "From\tTo\tLength\tCount\tChanges\n".to_string();
    let mut branches = Vec::with_capacity(changes.len());
    for (branch, changes) in nodes.branches().iter().zip(changes) {
        counts[branch.edge.index()] = changes.len();
        let report = BranchChangesReport {
            from: nodes.name(branch.from),
            to: name(branch.to),
            brlen: best.tree.brlen(branch.edge),
            changes: changes.len(),
        };
        let list: Vec<String> =
            changes.iter().map(|change| describe_change(change, partitions)).collect();
        let BranchChangesReport { from, to, brlen, changes } = &report;
        let (length, list) = (format_brlen(*brlen), list.join(","));
        let _ = writeln!(text, "{from}\t{to}\t{length}\t{changes}\t{list}");
        branches.push(report);
    }
    record.write(MUTATION_MAP_LIST, &text)?;
    let label = |edge: EdgeId| Some(counts[edge.index()].to_string());
    let newick = newick_with_names(&best.tree, nodes, |tip| taxa.name(tip), Some(&label));
    record.write(MUTATION_MAP_TREE, &format!("{newick}\n"))?;
    record.progress.result(&summary_of_changes(&branches));
    record.report.ancestral.get_or_insert_default().branches = branches;
    Ok(())
}

fn summary_of_changes(branches: &[BranchChangesReport]) -> String {
    let all: usize = branches.iter().map(|branch| branch.changes).sum();
    // The first of those with the most.
    let most = branches.iter().rev().max_by_key(|branch| branch.changes);
    let most = most.map_or(String::new(), |branch| {
        format!("; most of them, {}, from {} to {}", branch.changes, branch.from, branch.to)
    });
    format!("Changes along the branches: {all}{most}\n")
}

/// As in `A123T`: the state before, the column (of a codon the first), and the state after.
fn describe_change(change: &Change, partitions: &[Partition]) -> String {
    let names = partitions[change.partition].patterns.data_type.state_names();
    let (from, column) = (names[usize::from(change.from)], change.column);
    match change.to {
        ChangedTo::State(state) => format!("{from}{column}{}", names[usize::from(state)]),
        ChangedTo::OneOf(mask) => {
            let states = names.iter().enumerate().filter(|(state, _)| mask >> state & 1 == 1);
            let states: Vec<&str> = states.map(|(_, name)| *name).collect();
            format!("{from}{column}{{{}}}", states.join("/"))
        }
    }
}

/// A tree with its lengths and the names of its inner nodes, and labels of its branches.
fn newick_with_names<'n>(
    tree: &Tree,
    nodes: &InnerNodes,
    taxon: impl Fn(usize) -> &'n str,
    branch_labels: Option<&dyn Fn(EdgeId) -> Option<String>>,
) -> String {
    let name = |node| nodes.number(node).map_or(String::new(), |number| nodes.name(number));
    let options =
        NewickOptions { inner_names: Some(&name), branch_labels, ..NewickOptions::default() };
    write_newick(tree, taxon, &options)
}
