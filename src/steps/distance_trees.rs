//! Trees of distances: where the distances are until the trees are made, and the starting trees of searches.

use super::distance_memory::{BAND, DistanceStorage};
use super::distance_tally::Tally;
use crate::distance::{
    DistanceMethod, DistanceTree, JoinedTree, PairDistances, RowFileWriter, SquareMatrix,
    row_file_bytes,
};
use crate::error::{Error, Result};
use crate::likelihood::BRLEN_BOUNDS;
use crate::model::{Exchange, Model, f84_rates};
use crate::partition::{Partition, count_freqs};
use crate::plan::Plan;
use crate::runtime::{Setup, allowed_threads, format_bytes};
use crate::tree::Tree;
use crate::whole_file;
use std::path::{Path, PathBuf};

/// Ratio of transitions and transversions of F84 in starting trees: that of PHYLIP.
const START_RATIO: f64 = 2.0;

/// The distances of which trees are made, and which have come so far.
pub(crate) struct Store {
    kept: Kept,
    /// The taxa in the order in which they come; `None` if that is the order of their numbers.
    taxa: Option<Vec<usize>>,
}

/// Where the distances are.
enum Kept {
    Exact(SquareMatrix<f64>),
    Rounded(SquareMatrix<f32>),
    /// In a temporary file in this folder.
    File(RowFileWriter, PathBuf),
}

/// Trees, and what took the place of distances that are not known.
pub(crate) struct Trees {
    pub trees: Vec<JoinedTree>,
    /// How many were not known.
    pub filled: u64,
    /// The distance that took their place.
    pub largest: f64,
}

/// The folder of the results of a run, where its temporary files are.
pub(crate) fn folder_of(plan: &Plan) -> PathBuf {
    whole_file::folder(&plan.output.prefix)
}

fn file_failed(folder: &Path, error: std::io::Error) -> Error {
    Error::Failed(format!(
        "the temporary file of distances in '{}': {error}; its place is the folder of the results, which --prefix (-n, -w) names",
        folder.display()
    ))
}

impl Store {
    /// Room for the distances of so many taxa, which come in the order of `taxa` or, without these, in that of their numbers.
    pub(crate) fn new(
        storage: DistanceStorage,
        num_taxa: usize,
        taxa: Option<Vec<usize>>,
        folder: &Path,
    ) -> Result<Self> {
        let kept = match storage {
            DistanceStorage::Exact => Kept::Exact(SquareMatrix::zero(num_taxa)),
            DistanceStorage::Rounded => Kept::Rounded(SquareMatrix::zero(num_taxa)),
            DistanceStorage::File { memory } => {
                let writer = RowFileWriter::new(folder, num_taxa, memory);
                let writer = writer.map_err(|error| file_failed(folder, error))?;
                Kept::File(writer, folder.to_path_buf())
            }
        };
        Ok(Store { kept, taxa })
    }

    /// A matrix with all distances.
    pub(crate) fn of_matrix(matrix: SquareMatrix<f64>) -> Self {
        Store { kept: Kept::Exact(matrix), taxa: None }
    }

    /// The distances of the next taxon from those that came before it.
    pub(crate) fn push(&mut self, before: &[f64]) -> Result<()> {
        let taxa = self.taxa.as_deref();
        let number = |came: usize| taxa.map_or(came, |taxa| taxa[came]);
        let taxon = number(before.len());
        let distances =
            before.iter().enumerate().map(|(other, &distance)| (number(other), distance));
        match &mut self.kept {
            Kept::Exact(matrix) => distances.for_each(|(other, d)| matrix.set(taxon, other, d)),
            Kept::Rounded(matrix) => distances.for_each(|(other, d)| matrix.set(taxon, other, d)),
            Kept::File(writer, folder) => {
                writer.push(before).map_err(|error| file_failed(folder, error))?;
            }
        }
        Ok(())
    }

    /// The trees; the distances are used up.
    pub(crate) fn trees(self, kinds: &[DistanceTree]) -> Result<Trees> {
        /// The last tree uses the matrix up.
        fn of_matrix<T: crate::distance::Stored>(
            mut matrix: SquareMatrix<T>,
            kinds: &[DistanceTree],
        ) -> Trees {
            let (filled, largest) = matrix.fill_unknown();
            let mut trees = Vec::new();
            for (number, kind) in kinds.iter().enumerate() {
                let own = match number + 1 == kinds.len() {
                    true => std::mem::replace(&mut matrix, SquareMatrix::zero(0)),
                    false => matrix.clone(),
                };
                trees.push(kind.tree(own));
            }
            Trees { trees, filled: filled as u64, largest }
        }
        match self.kept {
            Kept::Exact(matrix) => Ok(of_matrix(matrix, kinds)),
            Kept::Rounded(matrix) => Ok(of_matrix(matrix, kinds)),
            Kept::File(writer, folder) => {
                let make = || {
                    let (rows, filled, largest) = writer.finish(self.taxa.as_deref())?;
                    let (mut rows, mut trees) = (Some(rows), Vec::new());
                    for (number, kind) in kinds.iter().enumerate() {
                        let own = match number + 1 == kinds.len() {
                            true => rows.take().expect("only the last tree takes it"),
                            false => rows.as_ref().expect("it is there").duplicate()?,
                        };
                        trees.push(kind.tree_of_file(own)?);
                    }
                    Ok(Trees { trees, filled, largest })
                };
                make().map_err(|error| file_failed(&folder, error))
            }
        }
    }
}

/// Refuses trees that cannot be made of so many taxa.
pub(crate) fn check_size(kinds: &[DistanceTree], num_taxa: usize) -> Result<()> {
    let too_many = |kind: &&DistanceTree| kind.most_taxa().is_some_and(|most| num_taxa > most);
    kinds.iter().find(too_many).map_or(Ok(()), |kind| {
        Err(Error::Usage(format!(
            "--tree {}: there are {num_taxa} taxa, but such a tree can be made of at most {}",
            kind.name(),
            kind.most_taxa().unwrap_or(num_taxa)
        )))
    })
}

/// Refuses trees that cannot be made where distances usually are.
pub(crate) fn check_usual_place(
    kinds: &[DistanceTree],
    num_taxa: usize,
    folder: &Path,
) -> Result<()> {
    check_size(kinds, num_taxa)?;
    match DistanceStorage::usual(num_taxa) {
        DistanceStorage::File { .. } => check_disk(kinds, num_taxa, folder),
        _ => Ok(()),
    }
}

/// Refuses a temporary file for which this folder has no room.
pub(crate) fn check_disk(kinds: &[DistanceTree], num_taxa: usize, folder: &Path) -> Result<()> {
    let needed = file_bytes(kinds, num_taxa);
    match free_space(folder) {
        Some(free) if free < needed => Err(Error::Usage(format!(
            "--tree: the distances of {num_taxa} taxa take up to {} in a temporary file in '{}', where {} are free: choose \
             another folder for the results with --prefix (-n, -w)",
            format_bytes(needed),
            folder.display(),
            format_bytes(free)
        ))),
        _ => Ok(()),
    }
}

/// Bytes of the temporary file of these trees at most.
pub(crate) fn file_bytes(kinds: &[DistanceTree], num_taxa: usize) -> u64 {
    // All but the last tree are made of a copy.
    let last = kinds.len().saturating_sub(1);
    let copies =
        |(number, kind): (usize, &DistanceTree)| kind.num_matrices() + usize::from(number < last);
    let most = kinds.iter().enumerate().map(copies).max().unwrap_or(0);
    row_file_bytes(num_taxa, most)
}

/// Bytes that can be written to a folder, if the system tells.
#[cfg(unix)]
fn free_space(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
fn free_space(_: &Path) -> Option<u64> {
    None
}

/// Makes a model of nucleotides that of Felsenstein (1984) with this ratio of transitions and transversions.
pub(crate) fn set_f84(model: &mut Model, ratio: f64) -> std::result::Result<(), String> {
    let rates = f84_rates(&model.freqs, ratio).ok_or_else(|| {
        format!("F84: with these frequencies, the ratio of transitions and transversions cannot be as small as {ratio}")
    })?;
    if let Exchange::Classes(classes) = &mut model.exchange {
        classes.fix(&rates);
    }
    Ok(())
}

/// A starting tree of the distances of these partitions, and the pairs that have none: by maximum likelihood, of
/// nucleotides under F84, of others under their models as they are.
pub(crate) fn starting_tree(
    kind: DistanceTree,
    setup: &Setup,
    partitions: &[Partition],
) -> Result<(Tree, Tally)> {
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
    let set = setup.plan.run.instruction_set;
    let mut pairs = PairDistances::new(num_taxa, partitions, &method, set);
    if let Some(gpus) = setup.resources.gpus() {
        pairs.compute_on_gpus(gpus)?;
    }
    let name = |taxon: usize| {
        let taxon = setup.identical.as_ref().map_or(taxon, |identical| identical.kept()[taxon]);
        setup.loaded.taxa.name(taxon)
    };
    let mut tally = Tally::default();
    let see = |taxon: usize, row: &[f64]| tally.add(taxon, row, name);
    let made = tree_of_pairs(kind, &pairs, allowed_threads(setup.plan), setup, see)?;
    let mut tree = made.to_tree();
    let [least, most] = BRLEN_BOUNDS;
    tree.clamp_brlens(least, most);
    Ok((tree, tally))
}

/// The tree of distances as they are computed by so many threads; `see` gets the row of each taxon, its distances from
/// those before it.
pub(crate) fn tree_of_pairs(
    kind: DistanceTree,
    pairs: &PairDistances,
    threads: usize,
    setup: &Setup,
    mut see: impl FnMut(usize, &[f64]),
) -> Result<JoinedTree> {
    let num_taxa = pairs.num_taxa();
    let mut store =
        Store::new(DistanceStorage::usual(num_taxa), num_taxa, None, &folder_of(setup.plan))?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool =
        pool.map_err(|error| Error::Failed(format!("threads cannot be started: {error}")))?;
    for start in (0..num_taxa).step_by(BAND) {
        let rows = start..(start + BAND).min(num_taxa);
        let found = pool.install(|| pairs.rows(rows.clone(), 0..rows.end))?;
        for (taxon, row) in rows.clone().zip(found.chunks_exact(rows.end)) {
            see(taxon, &row[..taxon]);
            store.push(&row[..taxon])?;
        }
    }
    let mut made = store.trees(&[kind])?;
    Ok(made.trees.swap_remove(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use DistanceTree::{Bionj, MinimumEvolution, NeighborJoining};

    #[test]
    fn trees_that_are_too_large_are_refused_before_anything_is_computed() {
        assert!(check_size(&[NeighborJoining, Bionj], 20_000).is_ok());
        assert!(check_size(&[], 100_000_000).is_ok());
        let message = check_size(&[Bionj, MinimumEvolution], 4001).unwrap_err().to_string();
        assert!(message.contains("bme") && message.contains("at most 4000"), "{message}");
        let folder = std::env::temp_dir();
        assert!(check_disk(&[], 100_000_000, &folder).is_ok());
        if cfg!(unix) {
            // 50 PB.
            let refused = check_disk(&[NeighborJoining], 100_000_000, &folder);
            let message = refused.unwrap_err().to_string();
            assert!(
                message.contains("temporary file") && message.contains("--prefix"),
                "{message}"
            );
        }
    }
}
