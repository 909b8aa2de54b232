//! Names of result files as other programs have them, for pipelines that look for these.

use clap::ValueEnum;
use std::path::{Path, PathBuf};

/// Whose names the results have, in addition to their own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Names {
    /// `PREFIX.mlsearch.bestTree` alone.
    #[default]
    Mlsearch,
    /// `RAxML_bestTree.NAME`, too.
    Raxml,
    /// `PREFIX.raxml.bestTree`, too.
    RaxmlNg,
}

/// Own kinds of files, and what RAxML calls what is in them.
const OF_RAXML: [(&str, &str); 12] = [
    ("bestTree", "bestTree"),
    ("mlTrees", "result"),
    ("startTree", "parsimonyTree"),
    ("bootstraps", "bootstrap"),
    ("support", "bipartitions"),
    ("consensusTree", "MajorityRuleConsensusTree"),
    ("rfDistances", "RF-Distances"),
    ("rootedTree", "rootedTree"),
    ("distances", "distances"),
    ("siteLH", "perSiteLLs"),
    ("ancestralTree", "nodeLabelledRootedTree"),
    ("log", "info"),
];

/// The same for RAxML-NG.
const OF_RAXML_NG: [(&str, &str); 14] = [
    ("bestTree", "bestTree"),
    ("bestTreeCollapsed", "bestTreeCollapsed"),
    ("bestModel", "bestModel"),
    ("bestPartitionTrees", "bestPartitionTrees"),
    ("mlTrees", "mlTrees"),
    ("startTree", "startTree"),
    ("bootstraps", "bootstraps"),
    ("support", "support"),
    ("consensusTree", "consensusTree"),
    ("rfDistances", "rfDistances"),
    ("siteLH", "siteLH"),
    ("ancestralTree", "ancestralTree"),
    ("terrace", "terrace"),
    ("log", "log"),
];

impl Names {
    /// Those that a program of this name writes: a link to mlsearch may be called `raxmlHPC` or `raxml-ng`.
    pub(crate) fn of_program(path: &str) -> Option<&'static str> {
        let name = Path::new(path).file_name()?.to_str()?;
        match name {
            name if name.starts_with("raxmlHPC") => Some("raxml"),
            name if name.starts_with("raxml-ng") => Some("raxml-ng"),
            _ => None,
        }
    }

    /// What the program calls a kind of files with this suffix.
    pub(super) fn word(self, suffix: &str) -> Option<&'static str> {
        let words: &[(&str, &str)] = match self {
            Names::Mlsearch => &[],
            Names::Raxml => &OF_RAXML,
            Names::RaxmlNg => &OF_RAXML_NG,
        };
        words.iter().find(|(own, _)| *own == suffix).map(|(_, word)| *word)
    }

    /// The path of a file that the program calls so.
    pub(super) fn path(self, prefix: &Path, word: &str) -> PathBuf {
        let name = prefix.file_name().unwrap_or_default().to_string_lossy();
        prefix.with_file_name(match self {
            Names::Mlsearch => name.into_owned(),
            Names::Raxml => format!("RAxML_{word}.{name}"),
            Names::RaxmlNg => format!("{name}.raxml.{word}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_programs() {
        let prefix = Path::new("out/T1");
        assert_eq!(Names::Raxml.path(prefix, "bestTree"), Path::new("out/RAxML_bestTree.T1"));
        assert_eq!(Names::RaxmlNg.path(prefix, "log"), Path::new("out/T1.raxml.log"));
        assert_eq!(Names::Raxml.path(Path::new("T"), "info"), Path::new("RAxML_info.T"));
        assert_eq!(Names::Raxml.word("support"), Some("bipartitions"));
        assert_eq!(Names::Raxml.word("json"), None);
        assert_eq!(Names::of_program("/usr/bin/raxmlHPC-PTHREADS-AVX"), Some("raxml"));
        assert_eq!(Names::of_program("raxml-ng"), Some("raxml-ng"));
        assert_eq!(Names::of_program("mlsearch"), None);
    }
}
