//! Trees given in files, over the taxa of the run.

use super::remarks::list_names;
use crate::error::{Error, Fault, Faults, Place, Result, collect};
use crate::input::Input;
use crate::partition::Partition;
use crate::rng::{Purpose, stream};
use crate::taxa::Taxa;
use crate::tree::{
    Constraint, Drawing, DrawingRead, Multifurcating, NewickReader, NewickTree, SubsetTree, Tree,
    is_usable_brlen,
};
use std::collections::BTreeSet;
use std::path::Path;

/// A tree and where it came from.
#[derive(Debug, Clone)]
pub(crate) struct GivenTree {
    /// `FILE, tree 2`.
    pub source: String,
    /// Tip i is taxon i.
    pub tree: Tree,
    /// True if every branch was written with a length.
    pub has_lengths: bool,
}

/// All trees of a file. With a `seed`, multifurcations are resolved at random, by tree number
/// (`first` and on), or as a constraint demands; without one they are refused. So are negative lengths, as trees of distances have them,
/// unless lengths will be `optimised`.
///
/// # Errors
/// [`Error::Input`] with every fault of every tree, [`Error::Io`].
pub(crate) fn read_trees(
    path: &Path,
    taxa: &Taxa,
    seed: Option<u64>,
    first: usize,
    constraint: Option<&Constraint>,
    optimised: bool,
) -> Result<Vec<GivenTree>> {
    let file = path.display().to_string();
    let mut trees = Vec::new();
    for_each_tree(path, Some(taxa), |i, mut newick| {
        if optimised {
            newick.raise_negative_lengths();
        }
        let mut rng = seed.map(|seed| stream(seed, Purpose::Multifurcation, (first + i) as u64));
        let (tree, has_lengths) = newick.to_tree_under(taxa, &file, rng.as_mut(), constraint)?;
        trees.push(GivenTree { source: format!("{file}, tree {}", i + 1), tree, has_lengths });
        Ok(())
    })?;
    Ok(trees)
}

/// Passes on the trees of a file, with their numbers from 0; only one at a time is in memory as syntax. `taxa` are
/// those that the trees should have, if they are known.
///
/// # Errors
/// [`Error::Input`] with the syntax faults, or else with all faults that `take` found; [`Error::Io`].
fn for_each_tree(
    path: &Path,
    taxa: Option<&Taxa>,
    mut take: impl FnMut(usize, NewickTree) -> Result<()>,
) -> Result<()> {
    let input = Input::open(path)?;
    let file = input.name().to_string();
    let mut reader = NewickReader::new(input, &file);
    if let Some(taxa) = taxa {
        reader = reader.expecting(taxa.len());
    }
    let mut faults = Faults::new();
    let mut number = 0;
    while let Some(newick) = reader.next_tree() {
        collect(take(number, newick), &mut faults)?;
        number += 1;
    }
    reader.finish()?;
    if faults.is_empty() { Ok(()) } else { Err(Error::Input(faults)) }
}

/// The trees of `--partition-trees`: one for each partition with data, in their order, over exactly
/// the taxa that have data there.
///
/// # Errors
/// [`Error::Input`] with every fault, [`Error::Io`].
pub(crate) fn read_partition_trees(
    path: &Path,
    taxa: &Taxa,
    partitions: &[Partition],
) -> Result<Vec<Option<SubsetTree>>> {
    let file = path.display().to_string();
    let mut newicks = Vec::new();
    for_each_tree(path, Some(taxa), |_, newick| {
        newicks.push(newick);
        Ok(())
    })?;
    let with_data = partitions.iter().filter(|p| p.patterns.num_tips() > 0).count();
    if newicks.len() != with_data {
        let message = format!(
            "the file contains {} trees, but {with_data} partitions have data: expected one tree for each \
             of these, in the order of the partitions",
            newicks.len()
        );
        return Err(Error::input(Place::file(file), message));
    }
    let mut faults = Faults::new();
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
    faults: &mut Faults,
) -> Result<Option<SubsetTree>> {
    let Some(subset) = collect(newick.to_tree_on_subset(taxa, file, None), faults)? else {
        return Ok(None);
    };
    let place = Place::file(file).at_line(newick.root().line() as usize).named(&partition.name);
    let expected = &partition.patterns.tip_taxa;
    let names = |taxa_of: &mut dyn Iterator<Item = usize>| {
        list_names(taxa_of.map(|taxon| taxa.name(taxon)))
    };
    let missing = names(&mut expected.iter().copied().filter(|t| !subset.taxa.contains(t)));
    let surplus = names(&mut subset.taxa.iter().copied().filter(|t| !expected.contains(t)));
    if !missing.is_empty() {
        faults.push(Fault::new(
            place.clone(),
            format!("the partition's tree lacks these taxa: {missing}"),
        ));
    }
    if !surplus.is_empty() {
        let message =
            format!("the partition's tree has taxa without data in the partition: {surplus}");
        faults.push(Fault::new(place.clone(), message));
    }
    if !subset.has_lengths {
        let message = "the partition's tree has branches without a length: every branch needs one";
        faults.push(Fault::new(place, message));
    }
    Ok(Some(subset))
}

/// The only tree of a file, as syntax.
///
/// # Errors
/// [`Error::Input`] with every syntax fault of the file, and for a file of several trees; [`Error::Io`].
pub(crate) fn read_one_tree(path: &Path) -> Result<NewickTree> {
    let mut only = None;
    let mut count = 0;
    for_each_tree(path, None, |i, newick| {
        only.get_or_insert(newick);
        count = i + 1;
        Ok(())
    })?;
    match only {
        Some(newick) if count == 1 => Ok(newick),
        _ => {
            let message =
                format!("the file contains {count} trees, but one is expected: keep only that one");
            Err(Error::input(Place::file(path.display().to_string()), message))
        }
    }
}

/// What becomes of branch lengths in a file of trees that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lengths {
    /// They are not read.
    Ignored,
    /// They are kept where all that the tree has are lengths of branches, not negative and not of units of time.
    Usable,
    /// Every branch must have one.
    Needed,
}

/// All trees of a file, of any degrees, and their taxa, which are those of the first, in the order of their names.
///
/// # Errors
/// [`Error::Input`] with every fault of every tree, [`Error::Io`].
pub(crate) fn read_forest(path: &Path, lengths: Lengths) -> Result<(Taxa, Vec<Multifurcating>)> {
    let file = path.display().to_string();
    let mut found: Option<Taxa> = None;
    let (mut trees, mut lacking) = (Vec::new(), Lacking::new(lengths));
    let read = for_each_tree(path, None, |i, newick| {
        if i == 0 {
            found = Some(own_taxa(&newick, &file)?.sorted());
        }
        // Without the taxa of the first tree the others cannot be checked.
        if let Some(taxa) = &found {
            let line = newick.root().line();
            let tree = multifurcating(newick, taxa, &file, "the first tree", lengths)?;
            lacking.see(i, line as usize, &tree);
            trees.push(tree);
        }
        Ok(())
    });
    lacking.join(read, &file)?;
    Ok((found.expect("a file without a tree was refused"), trees))
}

/// All trees of a file, of any degrees, over the taxa of `reference`, which names the source of the taxa.
///
/// # Errors
/// [`Error::Input`] with every fault of every tree, [`Error::Io`].
pub(crate) fn read_more(
    path: &Path,
    taxa: &Taxa,
    reference: &str,
    lengths: Lengths,
) -> Result<Vec<Multifurcating>> {
    let file = path.display().to_string();
    let (mut trees, mut lacking) = (Vec::new(), Lacking::new(lengths));
    let read = for_each_tree(path, Some(taxa), |i, newick| {
        let line = newick.root().line();
        let tree = multifurcating(newick, taxa, &file, reference, lengths)?;
        lacking.see(i, line as usize, &tree);
        trees.push(tree);
        Ok(())
    });
    lacking.join(read, &file)?;
    Ok(trees)
}

/// The trees of a file that lack lengths which are needed: one fault for all of them.
struct Lacking {
    are_needed: bool,
    /// Number of trees so far.
    seen: usize,
    /// Number of those without lengths.
    count: usize,
    /// The number, from 0, and the line of the first of these.
    first: Option<(usize, usize)>,
}

impl Lacking {
    fn new(lengths: Lengths) -> Self {
        Lacking { are_needed: lengths == Lengths::Needed, seen: 0, count: 0, first: None }
    }

    fn see(&mut self, number: usize, line: usize, tree: &Multifurcating) {
        self.seen += 1;
        if self.are_needed && !tree.has_lengths() {
            self.count += 1;
            self.first.get_or_insert((number, line));
        }
    }

    /// What reading the file gave, with this fault after the others.
    fn join(self, read: Result<()>, file: &str) -> Result<()> {
        let mut faults = Faults::new();
        collect(read, &mut faults)?;
        if let Some((number, line)) = self.first {
            let message = format!(
                "{} of {} trees have branches without a length (the first is tree {}), but wrf and kf compare lengths: -k \
                 (--bs-brlens) writes the trees of bootstrap replicates with lengths; --rfdist-metric rf and quartet need none",
                self.count,
                self.seen,
                number + 1
            );
            faults.push(Fault::new(Place::file(file).at_line(line), message));
        }
        if faults.is_empty() { Ok(()) } else { Err(Error::Input(faults)) }
    }
}

/// All trees of a file, of any degrees and without lengths, each over some of the taxa of `reference`.
///
/// # Errors
/// [`Error::Input`] with every fault of every tree, [`Error::Io`].
pub(crate) fn read_gene_trees(
    path: &Path,
    taxa: &Taxa,
    reference: &str,
) -> Result<Vec<Multifurcating>> {
    let file = path.display().to_string();
    let mut trees = Vec::new();
    for_each_tree(path, Some(taxa), |_, mut newick| {
        newick.drop_lengths();
        let tree = newick.to_multifurcating(taxa, &file, false);
        trees.push(tree.map_err(|error| against(error, reference))?);
        Ok(())
    })?;
    Ok(trees)
}

fn multifurcating(
    mut newick: NewickTree,
    taxa: &Taxa,
    file: &str,
    reference: &str,
    lengths: Lengths,
) -> Result<Multifurcating> {
    let usable = || newick.nodes().all(|node| node.length().is_none_or(is_usable_brlen));
    match lengths {
        Lengths::Ignored => newick.drop_lengths(),
        Lengths::Usable if !usable() => newick.drop_lengths(),
        Lengths::Usable => {}
        Lengths::Needed => newick.accept_any_lengths(),
    }
    let tree = newick.to_multifurcating(taxa, file, true);
    tree.map_err(|error| against(error, reference))
}

/// The taxa of a tree, in the order in which it names them: for commands without an alignment.
///
/// # Errors
/// Tips without a name, and names that occur twice.
pub(crate) fn own_taxa(newick: &NewickTree, file: &str) -> Result<Taxa> {
    let mut faults = Faults::new();
    let mut seen = BTreeSet::new();
    let mut names = Vec::new();
    for tip in newick.nodes().filter(|node| node.is_tip()) {
        let name = tip.name().unwrap_or_default();
        let place = Place::file(file).at_line(tip.line() as usize).at_column(tip.column() as usize);
        if name.is_empty() {
            faults.push(Fault::new(place, "the tip has no name: add one"));
        } else if !seen.insert(name) {
            faults.push(Fault::new(place.named(name), "this taxon is in the tree twice"));
        } else {
            names.push(name.to_string());
        }
    }
    if faults.is_empty() {
        Ok(Taxa::new(names).expect("the names differ"))
    } else {
        Err(Error::Input(faults))
    }
}

/// All trees of a file as they are written, each with its own taxa in the order of their names. Trees may have any
/// degrees and taxa.
///
/// # Errors
/// [`Error::Input`] with every fault of every tree, among them fewer than three taxa; [`Error::Io`].
pub(crate) fn read_drawings(path: &Path) -> Result<Vec<(Taxa, DrawingRead)>> {
    let file = path.display().to_string();
    let mut drawings = Vec::new();
    for_each_tree(path, None, |_, newick| {
        let taxa = own_taxa(&newick, &file)?.sorted();
        if taxa.len() < 3 {
            let place = Place::file(&file).at_line(newick.root().line() as usize);
            let message = format!("the tree has {} taxa: at least 3 are needed", taxa.len());
            return Err(Error::input(place, message));
        }
        let read = Drawing::of_newick(&newick, &taxa);
        drawings.push((taxa, read));
        Ok(())
    })?;
    Ok(drawings)
}

/// Faults about taxa name the alignment, with which a tree is usually compared; here they name `reference`.
fn against(error: Error, reference: &str) -> Error {
    match error {
        Error::Input(mut faults) => {
            for fault in faults.kept_mut() {
                fault.message = fault.message.replace("the alignment", reference);
            }
            Error::Input(faults)
        }
        other => other,
    }
}
