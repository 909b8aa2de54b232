//! [`Genes`]: many alignments of one run, each with taxa of its own: the partitions of one alignment, the files of a folder, or
//! those of a list. Files are read one at a time, when it is their turn.

use super::load::{Loaded, MAX_PARTITION_FILE, load_gene, read_defs, recoded, taxa_of};
use super::models_by_type::ModelsByType;
use crate::alignment::{Alignment, read_alignment};
use crate::error::{Error, Fault, Faults, Place, Result, abridged, collect};
use crate::input::{name_of, read_text};
use crate::partition::{PartitionDef, format_ranges, whole_alignment};
use crate::plan::{Facts, Plan};
use crate::whole_file::MARK;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Fewest taxa of a tree.
const MIN_TAXA: usize = 3;

/// Where the genes of a run are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GeneSource {
    /// Each partition of this alignment is one.
    Partitions(PathBuf),
    /// Each file of this folder has one.
    Folder(PathBuf),
    /// Each line of this file is the path of one.
    List(PathBuf),
}

/// The genes of a run.
#[derive(Debug)]
pub(crate) struct Genes {
    genes: Vec<Gene>,
    /// The alignment of which they are partitions, with its rows in the order of their names.
    alignment: Option<Alignment>,
    models: ModelsByType,
}

/// One of them.
#[derive(Debug)]
pub(crate) struct Gene {
    /// Its name, which no other has.
    pub name: String,
    /// The file that has it, as the user typed it.
    pub path: PathBuf,
    /// The partition that it is, in an alignment of several.
    def: Option<PartitionDef>,
}

/// A gene with its data.
pub(crate) enum Opened {
    /// The plan of a search with it alone, and its data.
    Data(Box<(Plan, Loaded)>),
    /// It has so many taxa with data and so many columns: there is no tree of so few.
    TooFew {
        /// Number of taxa.
        taxa: usize,
        /// Number of columns.
        columns: usize,
    },
}

impl Gene {
    /// The file that has it, as the user typed it.
    pub(crate) fn file(&self) -> String {
        self.path.display().to_string()
    }

    /// Its columns in an alignment of several genes, as a partition file has them.
    pub(crate) fn ranges(&self) -> Option<String> {
        self.def.as_ref().map(|def| format_ranges(&def.sites))
    }

    /// The model or type in its line of the partition file.
    pub(crate) fn given_model(&self) -> &str {
        self.def.as_ref().map_or("", |def| &def.model)
    }
}

impl Genes {
    /// Finds the genes of a run. Of files nothing is read.
    ///
    /// # Errors
    /// [`Error::Input`] with every fault of the model, of the alignment of which they are partitions and of the partition file,
    /// or of the list; [`Error::Io`] for a file that cannot be read at all.
    pub(crate) fn find(source: &GeneSource, plan: &Plan) -> Result<Self> {
        let mut faults = Faults::new();
        let models = ModelsByType::read(&plan.data, &mut faults);
        let (genes, alignment) = match source {
            GeneSource::Partitions(path) => {
                let read = || recoded(read_alignment(path)?.sorted_by_name(), plan);
                let alignment = collect(read(), &mut faults)?;
                let defs = match &alignment {
                    Some(alignment) => read_defs(plan, alignment, &mut faults)?,
                    None => Vec::new(),
                };
                let gene = |def: PartitionDef| Gene {
                    name: def.name.clone(),
                    path: path.clone(),
                    def: Some(def),
                };
                (defs.into_iter().map(gene).collect(), alignment)
            }
            GeneSource::Folder(path) => (named_after_files(files_in(path, &mut faults)?), None),
            GeneSource::List(path) => (named_after_files(listed_in(path, &mut faults)?), None),
        };
        if faults.is_empty() {
            Ok(Genes { genes, alignment, models })
        } else {
            Err(Error::Input(faults))
        }
    }

    /// All of them, in their order.
    pub(crate) fn all(&self) -> &[Gene] {
        &self.genes
    }

    /// Reads the data of a gene, as a search with this alone would. `facts` are those of a search, by its number of taxa.
    ///
    /// # Errors
    /// As of [`super::load`].
    pub(crate) fn open(
        &self,
        number: usize,
        plan: &Plan,
        facts: impl Fn(usize) -> Facts,
    ) -> Result<Opened> {
        let gene = &self.genes[number];
        let file = name_of(&gene.path);
        let mut plan = plan.clone();
        plan.data.msa = Some(gene.path.clone());
        plan.data.partitions = None;
        let model_of = |alignment: &Alignment, def: &PartitionDef| {
            self.models.of(alignment, def, &file).map_err(|fault| Error::Input(fault.into()))
        };
        let (alignment, def) = match (&self.alignment, &gene.def) {
            (Some(whole), Some(def)) => {
                plan.data.model = model_of(whole, def)?;
                let rows = taxa_of(&plan, whole, def)?;
                let alignment = whole.part(&rows, &def.sites);
                let sites = (0..def.sites.len() as u32).collect();
                (alignment, PartitionDef { sites, ..def.clone() })
            }
            _ => {
                let alignment = recoded(read_alignment(&gene.path)?.sorted_by_name(), &plan)?;
                let mut def = whole_alignment(alignment.num_sites(), "").swap_remove(0);
                def.name.clone_from(&gene.name);
                plan.data.model = model_of(&alignment, &def)?;
                (alignment, def)
            }
        };
        let (taxa, columns) = (alignment.num_taxa(), alignment.num_sites());
        if taxa < MIN_TAXA {
            return Ok(Opened::TooFew { taxa, columns });
        }
        plan.facts = facts(taxa);
        let loaded = load_gene(&plan, &alignment, def)?;
        Ok(Opened::Data(Box::new((plan, loaded))))
    }
}

/// The files of a folder in the order of their names, without hidden ones and those that runs have written.
fn files_in(folder: &Path, faults: &mut Faults) -> Result<Vec<PathBuf>> {
    let failed = |source| Error::Io { path: folder.display().to_string(), source, writing: false };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_of_run = name.contains(&format!("{MARK}."));
        if !name.starts_with('.') && !is_of_run && path.is_file() {
            files.push(path);
        }
    }
    files.sort_unstable();
    if files.is_empty() {
        let place = Place::file(folder.display().to_string());
        faults.push(Fault::new(
            place,
            "the folder has no files: an alignment of each gene is expected",
        ));
    }
    Ok(files)
}

/// The files that a text has, one in each line.
fn listed_in(list: &Path, faults: &mut Faults) -> Result<Vec<PathBuf>> {
    let Some(text) = collect(read_text(list, MAX_PARTITION_FILE, "a list of alignments"), faults)?
    else {
        return Ok(Vec::new());
    };
    let file = name_of(list);
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    let lines: Vec<(usize, &str)> =
        lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).collect();
    let first = lines.first().map_or("", |line| line.1);
    let numbers = first.split_whitespace().filter(|word| word.parse::<u64>().is_ok()).count();
    if first.starts_with('>') || (numbers >= 2 && !Path::new(first).exists()) {
        let message = "this is an alignment, not a list of the paths of alignments: give its partitions with -q; \
                       a single gene is searched with mlsearch search";
        faults.push(Fault::new(Place::file(file), message));
        return Ok(Vec::new());
    }
    if lines.is_empty() {
        let message = "the list is empty: the path of an alignment is expected in each line";
        faults.push(Fault::new(Place::file(file), message));
        return Ok(Vec::new());
    }
    let mut first_with: HashMap<&str, usize> = HashMap::new();
    for (number, path) in &lines {
        if let Some(first) = first_with.insert(path, *number) {
            let message = format!("'{}' is also on line {first}: list it once", abridged(path));
            faults.push(Fault::new(Place::file(&file).at_line(*number), message));
        }
    }
    if !lines.iter().any(|(_, path)| Path::new(path).is_file()) {
        let message = format!(
            "none of its lines is the path of a file, the first is '{}': paths are relative to the current folder",
            abridged(first)
        );
        faults.push(Fault::new(Place::file(&file), message));
    }
    Ok(lines.iter().map(|(_, path)| PathBuf::from(path)).collect())
}

/// Genes with the names of their files: without the extension, with it where that is not enough, or else the paths.
fn named_after_files(files: Vec<PathBuf>) -> Vec<Gene> {
    let whole = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = |path: &Path| {
        let name = whole(path);
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match name.rsplit_once('.') {
            Some((stem, _)) if !stem.is_empty() => stem.to_string(),
            _ => name.to_string(),
        }
    };
    let count = |name: &dyn Fn(&Path) -> String| {
        let mut counts: HashMap<String, usize> = HashMap::new();
        files.iter().for_each(|path| *counts.entry(name(path)).or_default() += 1);
        counts
    };
    let (stems, wholes) = (count(&stem), count(&whole));
    let name = |path: &Path| match (stems[&stem(path)], wholes[&whole(path)]) {
        (1, _) => stem(path),
        (_, 1) => whole(path),
        _ => path.display().to_string(),
    };
    files.iter().map(|path| Gene { name: name(path), path: path.clone(), def: None }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_files_and_no_two_are_the_same() {
        let files = ["x/a.phy", "x/b.fa.gz", "x/b.phy", "y/c.1.fa", "x/d.phy", "y/d.phy", "z/e"];
        let genes = named_after_files(files.map(PathBuf::from).to_vec());
        let names: Vec<&str> = genes.iter().map(|gene| gene.name.as_str()).collect();
        assert_eq!(names, ["a", "b.fa.gz", "b.phy", "c.1", "x/d.phy", "y/d.phy", "e"]);
    }
}
