//! Which files a run reads its trees from, and where its results go: [`OutputArgs`].

use super::options::OutputOptions;
use super::refusals::Refusals;
use super::values::Switch;
use crate::input::{is_stream, name_of};
use crate::output::{Names, TreeFormat};
use clap::Args;
use std::path::{Path, PathBuf};

const OUTPUT: &str = "Output";

/// The options on output files that every analysis has.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct OutputArgs {
    /// Output files are NAME.mlsearch.*
    ///
    /// [default: path of the alignment, or of the trees]
    #[arg(short = 'n', value_name = "NAME", help_heading = OUTPUT)]
    pub name: Option<String>,
    /// The same with a folder: PATH.mlsearch.*
    ///
    /// [default: path of the alignment, or of the trees]
    #[arg(long, value_name = "PATH", help_heading = OUTPUT)]
    pub prefix: Option<PathBuf>,
    /// Folder of the output files
    ///
    /// [default: that of the alignment; with -n the current folder]
    #[arg(short = 'w', long, value_name = "DIR", help_heading = OUTPUT)]
    pub out_dir: Option<PathBuf>,
    /// Replace the results of an earlier run
    ///
    /// And begin an interrupted one anew [default: refuse; resume].
    #[arg(long, help_heading = OUTPUT)]
    pub redo: bool,
    /// Print only warnings and results
    ///
    /// No progress [default: off].
    #[arg(long, alias = "silent", help_heading = OUTPUT)]
    pub quiet: bool,
    /// Write trees also as NEXUS (for FigTree) or PhyloXML
    ///
    /// In files with .nex or .xml at the end of their names, beside those in Newick format.
    #[arg(long, value_enum, ignore_case = true, default_value = "newick", value_name = "newick|nexus|phyloxml", hide_possible_values = true, help_heading = OUTPUT, hide_short_help = true)]
    pub tree_format: TreeFormat,
    /// on or off: the page PREFIX.mlsearch.html [default: on]
    ///
    /// All results in one file, to be looked at in a browser.
    #[arg(long, value_name = "on|off", hide_short_help = true, help_heading = OUTPUT)]
    pub report: Option<Switch>,
    /// Write results also with the names of RAxML or RAxML-NG
    ///
    /// RAxML_bestTree.NAME, or PATH.raxml.bestTree, beside NAME.mlsearch.bestTree [default: mlsearch; of a link called
    /// raxmlHPC or raxml-ng the names of that program].
    #[arg(long, value_enum, ignore_case = true, default_value = "mlsearch", value_name = "mlsearch|raxml|raxml-ng", hide_default_value = true, hide_possible_values = true, help_heading = OUTPUT, hide_short_help = true)]
    pub names: Names,
}

impl OutputArgs {
    /// Their meaning; without a name, results are named after `input`.
    pub(crate) fn read(&self, input: Option<&Path>, refusals: &mut Refusals) -> OutputOptions {
        let names = (self.name.as_deref(), self.prefix.as_deref(), self.out_dir.as_deref());
        let prefix = resolve_prefix(names, input, refusals);
        OutputOptions {
            prefix,
            redo: self.redo,
            sitelh: false,
            site_rates: false,
            root: None,
            quiet: self.quiet,
            tree_format: self.tree_format,
            page: self.report != Some(Switch::Off),
            names: self.names,
        }
    }
}

/// One of two options that name the same thing.
pub(crate) fn one_of<T>(
    a: Option<T>,
    a_name: &str,
    b: Option<T>,
    b_name: &str,
    refusals: &mut Refusals,
) -> Option<T> {
    if a.is_some() && b.is_some() {
        refusals.add(format!(
            "{a_name} and {b_name} both name the file of trees: give only one of them"
        ));
    }
    a.or(b)
}

/// The file of trees that two options may name.
pub(crate) fn one_file(
    a: Option<PathBuf>,
    a_name: &str,
    b: Option<PathBuf>,
    b_name: &str,
    refusals: &mut Refusals,
) -> PathBuf {
    one_of(a, a_name, b, b_name, refusals).unwrap_or_else(|| {
        refusals.add(format!("no file of trees: give {a_name} FILE (or {b_name} FILE)"));
        PathBuf::new()
    })
}

/// Start of all output paths, from (-n, --prefix, -w) and the input it is named after by default.
pub(crate) fn resolve_prefix(
    (name, prefix, out_dir): (Option<&str>, Option<&Path>, Option<&Path>),
    input: Option<&Path>,
    refusals: &mut Refusals,
) -> PathBuf {
    let chosen = match (name, prefix) {
        (Some(_), Some(_)) => {
            refusals.add("-n and --prefix both name the output files: give only one of them");
            None
        }
        (Some(name), None) => Some(PathBuf::from(name)),
        (None, prefix) => prefix.map(Path::to_path_buf),
    };
    let no_name = |prefix: &PathBuf| {
        prefix.file_name().is_none() || prefix.to_string_lossy().ends_with(std::path::is_separator)
    };
    if chosen.as_ref().is_some_and(no_name) {
        refusals.add(
            "the name of the output files (-n, --prefix) must end in a file name, not in a folder",
        );
    }
    if let (None, Some(input)) = (&chosen, input)
        && is_stream(input)
    {
        refusals.add(format!(
            "output files cannot be named after {}: give --prefix PATH or -n NAME",
            name_of(input)
        ));
    }
    let chosen_here = chosen.is_some();
    let path = match (chosen, input, out_dir) {
        (Some(chosen), _, _) => chosen,
        // Beside the input, unless a folder was named.
        (None, Some(input), None) => input.to_path_buf(),
        (None, Some(input), Some(_)) => PathBuf::from(input.file_name().unwrap_or_default()),
        // No input file either: that fault was noted already.
        (None, None, _) => PathBuf::from("mlsearch"),
    };
    let path = match out_dir {
        Some(_) if path.is_absolute() => {
            refusals.add(
                "-w names the output folder, but --prefix is an absolute path: give only one of them",
            );
            path
        }
        Some(dir) => dir.join(path),
        None => path,
    };
    if chosen_here && (path.is_dir() || is_stream(&path)) {
        let kind = if path.is_dir() { "folder" } else { "device" };
        refusals.add(format!(
            "the name of the output files (-n, --prefix), {}, is that of a {kind}: add a file name, as in \
             results/run1",
            path.display()
        ));
    }
    path
}
