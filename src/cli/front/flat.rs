//! Command lines without a word, as RAxML, RAxML-NG and earlier versions have them: options that name an analysis, beside the
//! options of all words.

use crate::commands::{WORDS, Word, find_word};
use clap::{Arg, Args, Command, Id};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::LazyLock;

const COMMAND: &str = "Analysis (default: --search)";
const RUN: &str = "Run";

const EXAMPLES: &str = "\
Examples:
  mlsearch -s primates.phy -m GTR+G
      the maximum-likelihood tree of an alignment
  mlsearch -s aln.phy -q partitions.part -m GTRGAMMA -M -T 4 -n run1
      many partitions, each with its own branch lengths, 4 threads, files run1.mlsearch.*
  mlsearch --all --msa aln.phy --model GTR+G --bs-trees 100 --seed 7
      search, 100 bootstrap replicates, support on the best tree
  mlsearch --all --msa aln.phy --model GTR+G --bs-trees autoMRE
      the same, with as many replicates as are needed (RAxML: -f a -x 1 -# autoMRE)
  mlsearch --evaluate -s aln.phy -m HKY+G -t trees.nwk
      log-likelihoods of given trees (RAxML: -f e)
  mlsearch -s aln.phy -m GTR+G -z trees.nwk --tests au,sh
      which of several trees the data reject (IQ-TREE: -z trees.nwk -zb 10000 -au)
  mlsearch --support --tree best.nwk --bs-trees boots.nwk
      support values from given trees (RAxML: -f b -t best.nwk -z boots.nwk)
  mlsearch --root midpoint --tree best.nwk
      roots a tree; its labels stay with their branches
  mlsearch sample -s aln.phy -m GTR+FO+G --ngen 1000000
      trees, lengths and parameters from their posterior distribution (MrBayes: mcmc ngen=1000000)
  mlsearch --check -s aln.phy -q partitions.part -m GTR+G
      describes the data and estimates the time and memory that a run needs
  mlsearch simulate --tree rand{50} --model JC+G4{0.5} --sites 1000 --prefix sim
      sequences simulated along a random tree

Guides (mlsearch help WORD --guide): search, select, genes, start, distance,
  sample, bootstrap, support, concordance, terrace, evaluate, compare,
  consensus, root, draw, report, simulate, gpu-selftest, data, run, differences

Exit codes: 0 success, 1 failure, 2 command line or input refused.";

const ABOUT: &str = "\
Finds maximum-likelihood phylogenetic trees from alignments of one or many genes with missing data.

All options of all analyses. mlsearch alone lists the words for analyses, and mlsearch help WORD has the options of one; mlsearch completions \
SHELL prints completions for a shell, and mlsearch help --man DIR writes a manual. The option \
letters of RAxML and the long option names of RAxML-NG keep their meaning. An option that is not supported is refused, with the \
corrected command where there is one.";

// Options that name an analysis. (What is said of a structure would be said in the help, too.)
#[derive(Debug, Clone, Args)]
struct FlatArgs {
    /// Analysis by RAxML's letter: d search, e evaluate, a all, b support, c check, i internode certainty, j bootstrap
    /// alignments, r and R distances between trees, x distances between sequences, h SH test, w expected likelihood
    /// weights, A ancestral states, I root trees (with -o or --root)
    #[arg(short = 'f', value_name = "LETTER", help_heading = COMMAND)]
    algorithm: Option<String>,
    /// Search for the best tree
    #[arg(long, help_heading = COMMAND)]
    search: bool,
    /// Optimise branch lengths and model parameters on the trees of --tree, keeping their topologies
    #[arg(long, help_heading = COMMAND)]
    evaluate: bool,
    /// Bootstrap replicates only [default: 100]
    #[arg(long, help_heading = COMMAND)]
    bootstrap: bool,
    /// Write the alignments of the bootstrap replicates [default: 100]
    #[arg(long, help_heading = COMMAND)]
    bsmsa: bool,
    /// Map support values from the trees of --bs-trees FILE onto the tree of --tree FILE
    #[arg(long, help_heading = COMMAND)]
    support: bool,
    /// Distances between all pairs of trees of FILE, or of --tree FILE; with both, between the trees of --tree and those
    /// of FILE
    #[arg(long, num_args = 0..=1, value_name = "FILE", help_heading = COMMAND)]
    rfdist: Option<Option<PathBuf>>,
    /// Distances between all sequences of the alignment by maximum likelihood (RAxML: -f x), under --model: F84
    /// (PHYLIP's dnadist; F84{R} with another ratio of transitions and transversions), any other model, whose free
    /// parameters are estimated on a parsimony tree, p (share of different sites) or LogDet; +GC{alpha}: continuous
    /// gamma rates; with --tree nj, bionj, bme or upgma, also their tree; with -M a matrix for each partition; with FILE,
    /// only the tree of the distances in this file [default: -m F84{2}; with -q the models of its file]
    #[arg(long, num_args = 0..=1, value_name = "FILE", help_heading = COMMAND)]
    dist: Option<Option<PathBuf>>,
    /// Count the trees on the terrace of --tree FILE, which have exactly the same likelihood under -M: they give every
    /// partition the same tree of its taxa; and write this number of them [default: 100]
    #[arg(long, num_args = 0..=1, value_name = "N", help_heading = COMMAND)]
    terrace: Option<Option<String>>,
    /// Consensus of the trees of --tree FILE: MR (majority rule), STRICT, MRE (extended majority rule), or MR75 (T_75) for
    /// branches of at least 75 % of the trees [default: MR]
    #[arg(long, num_args = 0..=1, value_name = "RULE", help_heading = COMMAND)]
    consense: Option<Option<String>>,
    /// The same as --consense, in RAxML's form: -J MR -z FILE
    #[arg(short = 'J', value_name = "RULE", help_heading = COMMAND)]
    raxml_consense: Option<String>,
    /// The same with the internode certainty of its branches (--bs-metric ic1,ica), in RAxML's form: -L MR -z FILE
    #[arg(short = 'L', value_name = "RULE", help_heading = COMMAND)]
    raxml_certainty: Option<String>,
    /// Test if the replicate trees of --bs-trees FILE are enough, by the rule autoMRE, autoMR or autoFC
    /// [default: autoMRE]
    #[arg(long, num_args = 0..=1, value_name = "RULE", help_heading = COMMAND)]
    bsconverge: Option<Option<String>>,
    /// The same as --bsconverge, in RAxML's form: -I autoMRE -z FILE
    #[arg(short = 'I', value_name = "RULE", help_heading = COMMAND)]
    raxml_bsconverge: Option<String>,
    /// Write the starting trees only
    #[arg(short = 'y', long, help_heading = COMMAND)]
    start: bool,
    /// Sample trees, branch lengths and parameters from their posterior distribution, by Metropolis-coupled Markov chains;
    /// also: mlsearch sample ...
    #[arg(long, help_heading = COMMAND)]
    mcmc: bool,
    /// Print version
    #[arg(short = 'v', long, action = clap::ArgAction::Version, help_heading = RUN)]
    version: Option<bool>,
}

/// The words for which these options stand, by their identifiers.
pub(super) const WORDS_OF_OPTIONS: [(&str, &str); 18] = [
    ("search", "search"),
    ("all", "search"),
    ("evaluate", "evaluate"),
    ("bootstrap", "bootstrap"),
    ("bsmsa", "resample"),
    ("support", "support"),
    ("rfdist", "compare"),
    ("dist", "distance"),
    ("gcf", "concordance"),
    ("scf", "concordance"),
    ("terrace", "terrace"),
    ("consense", "consensus"),
    ("raxml_consense", "consensus"),
    ("raxml_certainty", "consensus"),
    ("bsconverge", "converge"),
    ("raxml_bsconverge", "converge"),
    ("start", "start"),
    ("mcmc", "sample"),
];

/// The options of a word. Option parsers take much memory, and are made when they are needed.
pub(super) struct OfWord {
    /// The word.
    pub word: &'static Word,
    /// Identifiers and long names.
    options: Vec<(String, Option<String>)>,
}

impl OfWord {
    fn new(word: &'static Word) -> Self {
        let option = |arg: &Arg| (arg.get_id().to_string(), arg.get_long().map(String::from));
        OfWord { word, options: word.command().get_arguments().map(option).collect() }
    }

    /// True if the word has this option.
    pub(super) fn has(&self, id: &str) -> bool {
        self.options.iter().any(|option| option.0 == id)
    }
}

static OF_WORDS: LazyLock<Vec<OfWord>> = LazyLock::new(|| WORDS.iter().map(OfWord::new).collect());

/// The options of a word.
pub(super) fn of_word(word: &Word) -> &'static OfWord {
    let found = OF_WORDS.iter().find(|of| of.word.name == word.name);
    found.unwrap_or(&OF_WORDS[0])
}

/// The words that have an option, without those that are another word with an option.
pub(super) fn words_with(id: &str) -> Vec<&'static str> {
    let own = OF_WORDS.iter().filter(|of| of.word.preset.is_none() && of.has(id));
    own.map(|of| of.word.name).collect()
}

/// The option of a word with this identifier, as it is typed.
pub(super) fn option_of(word: &Word, id: &str) -> String {
    let option = of_word(word).options.iter().find(|option| option.0 == id);
    let long = option.and_then(|option| option.1.as_deref());
    long.map_or_else(String::new, |long| format!("--{long}"))
}

/// All options but those of tools, for command lines without a word.
pub fn flat() -> Command {
    let command = Command::new("mlsearch")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Finds maximum-likelihood phylogenetic trees from alignments of one or many genes with missing data")
        .long_about(ABOUT)
        .override_usage("mlsearch [WORD] [OPTIONS]")
        .disable_version_flag(true)
        .after_help(EXAMPLES)
        .infer_long_args(true)
        .max_term_width(110);
    let command = FlatArgs::augment_args(command);
    let mut known: BTreeSet<Id> = command.get_arguments().map(|arg| arg.get_id().clone()).collect();
    let mut more = Vec::new();
    for word in WORDS.iter().filter(|word| word.preset.is_none() && !word.has_own_options) {
        for arg in word.command().get_arguments() {
            if known.insert(arg.get_id().clone()) {
                more.push(arg.clone());
            }
        }
    }
    command.args(more)
}

/// The options of this program: every spelling, the identifier, and whether a value follows.
pub(super) struct Vocabulary(Vec<(String, String, bool)>);

static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| {
    // Options of tools come last: a name that is cut short means another one.
    let tools = WORDS.iter().filter(|word| word.has_own_options).map(Word::command);
    let mut spellings: Vec<(String, String, bool)> = Vec::new();
    let mut known = BTreeSet::new();
    for mut command in std::iter::once(flat()).chain(tools) {
        // Help is an option, too.
        command.build();
        for arg in command.get_arguments() {
            let takes_value = arg.get_action().takes_values();
            let long = arg.get_long().into_iter().chain(arg.get_all_aliases().unwrap_or_default());
            let short =
                arg.get_short().into_iter().chain(arg.get_all_short_aliases().unwrap_or_default());
            for name in long.map(String::from).chain(short.map(String::from)) {
                if known.insert(name.clone()) {
                    spellings.push((name, arg.get_id().to_string(), takes_value));
                }
            }
        }
    }
    Vocabulary(spellings)
});

/// The options of all words.
pub(super) fn vocabulary() -> &'static Vocabulary {
    &VOCABULARY
}

impl Vocabulary {
    /// The option of this name: its identifier, and whether a value follows.
    pub(super) fn exact(&self, name: &str) -> Option<(&str, bool)> {
        let found = self.0.iter().find(|spelling| spelling.0 == name);
        found.map(|(_, id, takes_value)| (id.as_str(), *takes_value))
    }

    /// Long names may be cut where one option is left.
    pub(super) fn by_prefix(&self, name: &str) -> Option<(&str, bool)> {
        let mut found = self.0.iter().filter(|spelling| {
            spelling.0.len() > 1 && name.len() > 1 && spelling.0.starts_with(name)
        });
        let first = found.next()?;
        found.all(|other| other.1 == first.1).then_some((first.1.as_str(), first.2))
    }
}

/// The word for an option that names an analysis.
pub(super) fn word_of_option(id: &str) -> Option<&'static Word> {
    let known = WORDS_OF_OPTIONS.iter().find(|known| known.0 == id);
    known.and_then(|known| find_word(known.1))
}

#[cfg(test)]
mod tests {
    use super::super::peers;
    use super::*;

    #[test]
    fn the_option_tables_are_consistent() {
        for of in OF_WORDS.iter() {
            of.word.command().debug_assert();
            assert!(of.word.value.is_none_or(|id| of.has(id)), "{}", of.word.name);
            assert!(of.word.about.len() <= 54, "{} is described at length", of.word.name);
        }
        flat().debug_assert();
        assert!(WORDS_OF_OPTIONS.iter().all(|(id, _)| vocabulary().0.iter().any(|s| s.1 == *id)));
        let command = flat();
        for argument in command.get_arguments() {
            for name in argument.get_short_and_visible_aliases().unwrap_or_default() {
                assert!(
                    peers::takes(&name.to_string()).is_none(),
                    "-{name} is offered and refused"
                );
            }
            for name in argument.get_long_and_visible_aliases().unwrap_or_default() {
                assert!(peers::takes(name).is_none(), "--{name} offered and refused");
            }
        }
    }

    #[test]
    fn an_option_of_several_words_has_the_same_spelling_in_all() {
        let flat = flat();
        for of in OF_WORDS.iter().filter(|of| !of.word.has_own_options) {
            for arg in of.word.command().get_arguments() {
                let known = flat.get_arguments().find(|known| known.get_id() == arg.get_id());
                let known = known.unwrap_or_else(|| panic!("{arg}: no option without a word"));
                assert_eq!(known.get_long(), arg.get_long(), "{}", of.word.name);
                assert_eq!(known.get_short(), arg.get_short(), "{}", of.word.name);
            }
        }
    }
}
