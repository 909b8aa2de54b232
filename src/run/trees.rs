//! Trees given in files, over the taxa of the run.

use super::load::{collect, read_text};
use crate::error::{Error, Fault, Place, Result};
use crate::partition::Partition;
use crate::rng::{Purpose, stream};
use crate::taxa::Taxa;
use crate::tree::{NewickTree, SubsetTree, Tree, read_newick};
use std::collections::BTreeSet;
use std::path::Path;

/// A tree and where it came from.
#[derive(Debug, Clone)]
pub struct GivenTree {
    /// `FILE, tree 2`.
    pub source: String,
    /// Tip i is taxon i.
    pub tree: Tree,
    /// True if every branch was written with a length.
    pub has_lengths: bool,
}

/// All trees of a file. With a `seed`, multifurcations are resolved at random, by tree number
/// (`first` and on); without one they are refused.
///
/// # Errors
/// [`Error::Input`] with every fault of every tree, [`Error::Io`].
pub fn read_trees(
    path: &Path,
    taxa: &Taxa,
    seed: Option<u64>,
    first: usize,
) -> Result<Vec<GivenTree>> {
    let file = path.display().to_string();
    let mut faults = Vec::new();
    let mut trees = Vec::new();
    for (i, newick) in read_newick(&read_text(path)?, &file)?.iter().enumerate() {
        let mut rng = seed.map(|seed| stream(seed, Purpose::Multifurcation, (first + i) as u64));
        let tree = newick.to_tree(taxa, &file, rng.as_mut());
        if let Some((tree, has_lengths)) = collect(tree, &mut faults)? {
            trees.push(GivenTree { source: format!("{file}, tree {}", i + 1), tree, has_lengths });
        }
    }
    if faults.is_empty() { Ok(trees) } else { Err(Error::Input(faults)) }
}

/// The trees of `--partition-trees`: one for each partition with data, in their order, over exactly
/// the taxa that have data there.
///
/// # Errors
/// [`Error::Input`] with every fault, [`Error::Io`].
pub fn read_partition_trees(
    path: &Path,
    taxa: &Taxa,
    partitions: &[Partition],
) -> Result<Vec<Option<SubsetTree>>> {
    let file = path.display().to_string();
    let newicks = read_newick(&read_text(path)?, &file)?;
    let with_data = partitions.iter().filter(|p| p.patterns.num_tips() > 0).count();
    if newicks.len() != with_data {
        let message = format!(
            "{} trees, but {with_data} partitions with data: expected one tree for each, in their order",
            newicks.len()
        );
        return Err(Error::input(Place::file(file), message));
    }
    let mut faults = Vec::new();
    let mut newicks = newicks.iter();
    let mut trees = Vec::new();
    for partition in partitions {
        let has_data = partition.patterns.num_tips() > 0;
        trees.push(match has_data.then(|| newicks.next()).flatten() {
            Some(newick) => read_partition_tree(newick, &file, taxa, partition, &mut faults)?,
            None => None,
        });
    }
    if faults.is_empty() { Ok(trees) } else { Err(Error::Input(faults)) }
}

fn read_partition_tree(
    newick: &NewickTree,
    file: &str,
    taxa: &Taxa,
    partition: &Partition,
    faults: &mut Vec<Fault>,
) -> Result<Option<SubsetTree>> {
    let Some(subset) = collect(newick.to_tree_on_subset(taxa, file, None), faults)? else {
        return Ok(None);
    };
    let place = Place::file(file).at_line(newick.nodes[0].line as usize).named(&partition.name);
    let expected = &partition.patterns.tip_taxa;
    let names = |taxa_of: &mut dyn Iterator<Item = usize>| {
        taxa_of.map(|taxon| taxa.name(taxon)).collect::<Vec<_>>().join(", ")
    };
    let missing = names(&mut expected.iter().copied().filter(|t| !subset.taxa.contains(t)));
    let surplus = names(&mut subset.taxa.iter().copied().filter(|t| !expected.contains(t)));
    if !missing.is_empty() {
        faults.push(Fault::new(place.clone(), format!("the partition's tree lacks {missing}")));
    }
    if !surplus.is_empty() {
        let message = format!("the partition has no data of {surplus}, which its tree has");
        faults.push(Fault::new(place.clone(), message));
    }
    if !subset.has_lengths {
        let message = "the partition's tree lacks branch lengths, which are all it is read for";
        faults.push(Fault::new(place, message));
    }
    Ok(Some(subset))
}

/// The first tree of a file, as syntax.
///
/// # Errors
/// [`Error::Input`] with every syntax fault of the file, [`Error::Io`].
pub fn read_first_tree(path: &Path) -> Result<NewickTree> {
    let file = path.display().to_string();
    let mut trees = read_newick(&read_text(path)?, &file)?;
    Ok(trees.swap_remove(0))
}

/// The taxa of a tree, in the order in which it names them: for commands without an alignment.
///
/// # Errors
/// Tips without a name, and names that occur twice.
pub fn own_taxa(newick: &NewickTree, file: &str) -> Result<Taxa> {
    let tips: Vec<_> = newick.nodes.iter().filter(|node| node.children.is_empty()).collect();
    let mut faults = Vec::new();
    let mut seen = BTreeSet::new();
    let mut names = Vec::new();
    for tip in tips {
        let name = tip.name.clone().unwrap_or_default();
        let place = Place::file(file).at_line(tip.line as usize).at_column(tip.column as usize);
        if name.is_empty() {
            faults.push(Fault::new(place, "a tip without a name"));
        } else if !seen.insert(name.clone()) {
            faults.push(Fault::new(place.named(name), "this taxon is in the tree twice"));
        } else {
            names.push(name);
        }
    }
    if faults.is_empty() {
        Ok(Taxa::new(names).expect("the names differ"))
    } else {
        Err(Error::Input(faults))
    }
}

/// All trees of a file over the taxa of `reference`, the name of what has them. Lengths are not
/// looked at.
///
/// # Errors
/// [`Error::Input`] with every fault of every tree, [`Error::Io`].
pub fn read_topologies(path: &Path, taxa: &Taxa, reference: &str) -> Result<Vec<Tree>> {
    let file = path.display().to_string();
    let mut faults = Vec::new();
    let mut trees = Vec::new();
    for mut newick in read_newick(&read_text(path)?, &file)? {
        newick.drop_lengths();
        let tree = newick.to_tree(taxa, &file, None).map_err(|error| against(error, reference));
        if let Some((tree, _)) = collect(tree, &mut faults)? {
            trees.push(tree);
        }
    }
    if faults.is_empty() { Ok(trees) } else { Err(Error::Input(faults)) }
}

/// Faults about taxa speak of the alignment, which is what a tree is usually held against.
fn against(error: Error, reference: &str) -> Error {
    match error {
        Error::Input(mut faults) => {
            for fault in &mut faults {
                fault.message = fault.message.replace("the alignment", reference);
            }
            Error::Input(faults)
        }
        other => other,
    }
}
