//! Published alignments to measure on, from the folder that the environment variable MLSEARCH_DATA names, and the words
//! that choose among them. Nothing is measured here.

use crate::partitions::build_partitions;
use mlsearch::alignment::{Alignment, read_alignment, read_alignment_from};
use mlsearch::partition::{Partition, parse_partitions, whole_alignment};
use std::path::Path;
use std::process::Command;

/// Words on the command line that are neither options nor values of options.
pub fn chosen_names() -> Vec<String> {
    let arguments: Vec<String> = std::env::args().collect();
    let takes_value = |option: &str| {
        option.starts_with("--") && !["--bench", "--test", "--quick", "--noplot"].contains(&option)
    };
    let words =
        arguments.windows(2).filter(|pair| !pair[1].starts_with('-') && !takes_value(&pair[0]));
    words.map(|pair| pair[1].clone()).collect()
}

/// An alignment (`NAME.phy` or `NAME.phy.xz`) and its partitions: those of `NAME.part`, or a single one if there is no such
/// file. Or why there are none.
pub fn read_partitions(folder: &Path, name: &str) -> Result<(Alignment, Vec<Partition>), String> {
    let alignment = read_phylip(folder, name)?;
    let file = format!("{name}.part");
    let defs = match folder.join(&file).is_file() {
        true => {
            parse_partitions(&read_text(&folder.join(&file))?, &file, alignment.num_sites(), false)
                .map_err(|error| error.to_string())?
        }
        false => whole_alignment(alignment.num_sites(), ""),
    };
    let partitions = build_partitions(&alignment, defs);
    Ok((alignment, partitions))
}

/// An alignment, decompressed by the program `xz` if need be.
fn read_phylip(folder: &Path, name: &str) -> Result<Alignment, String> {
    let plain = folder.join(format!("{name}.phy"));
    if plain.is_file() {
        return read_alignment(&plain).map_err(|error| error.to_string());
    }
    let packed = folder.join(format!("{name}.phy.xz"));
    if !packed.is_file() {
        return Err(format!("neither {name}.phy nor {name}.phy.xz is there"));
    }
    let output = Command::new("xz").arg("-dc").arg(&packed).output();
    let output = output.map_err(|error| format!("xz cannot be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("xz: {}", String::from_utf8_lossy(&output.stderr)));
    }
    read_alignment_from(&output.stdout[..], name).map_err(|error| error.to_string())
}

/// A text file, or why it cannot be read.
fn read_text(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
