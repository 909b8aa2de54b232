//! What restricted trees save: a table of ratios, restricted against unrestricted computation.
//!
//! A simulated alignment always; `cargo bench --bench restriction` measures three gappy multi-gene
//! alignments besides if the environment variable MLSEARCH_DATA names the folder that has them
//! (`NAME.phy` or `NAME.phy.xz`, `NAME.part`, a tree). Words after `--` choose data sets by name. The
//! published ratios are those of Stamatakis & Ott (2008, Phil. Trans. R. Soc. B 363:3977).

mod comparison;
mod partitions;
mod published;

use comparison::{compare, is_test_run, print_head};
use mlsearch::partition::Partition;
use mlsearch::rng::{Purpose, stream};
use mlsearch::tree::{Tree, read_newick};
use partitions::{Shape, simulate};
use published::{chosen_names, read_partitions};
use std::path::Path;

/// Data sets and the published ratios of traversal and branch-length optimisation. The last stands
/// in for one of the same shape (2177 taxa, 68 partitions, 91 % gappy).
const PUBLISHED: [(&str, [f64; 2]); 3] =
    [("d59_8", [1.57, 4.67]), ("d404_11", [4.58, 33.69]), ("s2177_68", [10.98, 45.11])];

const SMALL: Shape =
    Shape { num_taxa: 60, num_partitions: 8, sites_per_partition: 200, missing: 0.6 };
const LARGE: Shape =
    Shape { num_taxa: 300, num_partitions: 12, sites_per_partition: 600, missing: 0.75 };

/// Length of all branches of a tree that comes without.
const BRLEN: f64 = 0.05;

const REPETITIONS: usize = 5;

fn main() {
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let wanted = chosen_names();
    let is_wanted =
        |name: &str| wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str()));
    print_head();
    if is_wanted("simulated") {
        let (shape, repetitions) = if is_test_run() { (SMALL, 1) } else { (LARGE, REPETITIONS) };
        let (tree, partitions) = simulate(&shape);
        compare("simulated", &tree, &partitions, repetitions, None);
    }
    let folder = std::env::var_os("MLSEARCH_DATA").filter(|_| !is_test_run());
    for (name, published) in PUBLISHED.into_iter().filter(|(name, _)| is_wanted(name)) {
        if let Some(folder) = &folder {
            match read(Path::new(folder), name) {
                Ok((tree, partitions)) => {
                    compare(name, &tree, &partitions, REPETITIONS, Some(published));
                }
                Err(why) => println!("{name:<12}not measured: {why}"),
            }
        }
    }
}

/// Tree and partitions of a data set, or why there are none.
fn read(folder: &Path, name: &str) -> Result<(Tree, Vec<Partition>), String> {
    let (alignment, partitions) = read_partitions(folder, name)?;
    let trees =
        [format!("{name}.tree"), format!("ref/{name}.balanced.tree"), format!("{name}.true.tree")];
    let file = trees
        .iter()
        .find(|file| folder.join(file).is_file())
        .ok_or_else(|| format!("none of {} is there", trees.join(", ")))?;
    let text = std::fs::read_to_string(folder.join(file)).map_err(|e| format!("{file}: {e}"))?;
    let newicks = read_newick(&text, file).map_err(|e| e.to_string())?;
    let mut rng = stream(1, Purpose::Multifurcation, 0);
    let (mut tree, has_lengths) = newicks[0]
        .to_tree(alignment.taxa(), file, Some(&mut rng))
        .map_err(|error| error.to_string())?;
    if !has_lengths {
        for edge in tree.edges() {
            tree.set_brlen(edge, BRLEN);
        }
    }
    Ok((tree, partitions))
}
