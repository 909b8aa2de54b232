//! Options of RAxML 8, RAxML-NG and IQ-TREE that this program does not have under that name.
//!
//! Each is accepted where it means exactly one thing here and no RAxML user can mean another, accepted
//! with a note where it changes nothing, or refused with what to do instead. Letters that mean something
//! else in RAxML are always refused. An option leaves this table on the day it works; what depends on an
//! option's value or on the rest of the command is in `verdict`.

use Here::{Idle, Instead, Not, Same};
use Takes::{Always, Maybe, Never};

/// Whether a value belongs to an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Never,
    Maybe,
    Always,
}

impl Takes {
    pub(super) fn always(self) -> bool {
        self == Always
    }

    pub(super) fn ever(self) -> bool {
        self != Never
    }
}

/// What becomes of an option here; `{}` stands for its value, and is left out where a value that may be there is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Here {
    /// Accepted: these words mean the same.
    Same(&'static [&'static str]),
    /// Accepted: it changes nothing.
    Idle,
    /// Refused; the corrected command has these words in its place, or none.
    Instead(&'static [&'static str]),
    /// Refused, and no other command does it.
    Not,
}

/// Options with the same answer: their names without dashes.
pub(super) struct Entry {
    pub(super) names: &'static [&'static str],
    pub(super) takes: Takes,
    pub(super) here: Here,
    /// What it means where it is from (`Same`), why it changes nothing (`Idle`), or what is not available
    /// and what to do (`Instead`, `Not`).
    pub(super) says: &'static str,
}

const fn entry(
    names: &'static [&'static str],
    takes: Takes,
    here: Here,
    says: &'static str,
) -> Entry {
    Entry { names, takes, here, says }
}

const LEAVE_OUT: Here = Instead(&[]);
const DATING: &str = "dating of trees is not available; the branch lengths of bestTree are substitutions per site, which \
     programs for dating (LSD2, treePL) read";
const LIKELIHOOD_MAPPING: &str = "likelihood mapping of quartets is not available; --scf N counts quartets at the branches \
     of a tree";
const SYMMETRY: &str = "tests of symmetry are not available; every model here assumes stationary and reversible substitutions";
const PLACEMENT: &str = "placement of sequences on a tree is not available";
const STRUCTURE: &str = "models of RNA secondary structure are not available";
const LOCAL_BOOTSTRAP: &str =
    "the local bootstrap is not available; --alrt N and --abayes test single branches";
pub(super) const SH_LIKE: &str =
    "SH-like support of the branches is --alrt N, with --search, --evaluate or --all";
const SELECTION: &str =
    "model selection is not a command of its own; -m auto adds it to any command";
const CANDIDATES: &str = "the set of models that -m auto compares cannot be changed; leave it out";
const CRITERION: &str = "IQ-TREE's name of --auto-criterion";
const CONSTANT_SITES: &str = "constant sites that the alignment lacks (A, C, G, T) are part of the model: -m GTR+G+ASC_STAM{10/10/10/10}";
const OWN_SCHEDULE: &str = "the search has a schedule and a stopping rule of its own (--fast and --thorough choose \
     how much time it takes); leave it out";
const SITE_RATES: &str = "posterior means of the rates and profiles of sites are written with --site-rates; leave it out";
const BOUNDS: &str =
    "the bounds of branch lengths are fixed at 1e-6 and 100 substitutions per site; leave it out";
const BY_ITSELF: &str = "this is automatic and never changes the result";
const UNDETERMINED: &str = "taxa and columns without data are always accepted";
const COMPRESSED: &str = "identical columns are always compressed, which never changes the result";
const ONE_OPTIMISER: &str = "there is only one optimiser, which is numerically safe";
/// A search with replicates.
pub(super) const ALL_REPLICATES: &[&str] = &["--all", "--bs-trees", "{}"];

const TABLE: &[Entry] = &[
    // RAxML 8's letters.
    entry(
        &["c"],
        Always,
        LEAVE_OUT,
        "per-site rate categories (GTRCAT) are not available; the number of rates is that of +G4 or +R4 in the model",
    ),
    entry(&["A"], Always, Not, STRUCTURE),
    entry(
        &["S"],
        Always,
        Not,
        "models of RNA secondary structure (RAxML) are not available; the tree of each locus (IQ-TREE) is made by another word: \
         mlsearch genes -s FILE -q PARTITIONS -m MODEL, or -s FOLDER with a file for each",
    ),
    entry(&["fconst"], Always, Not, CONSTANT_SITES),
    entry(&["AIC"], Never, Same(&["--auto-criterion", "aic"]), CRITERION),
    entry(&["AICc"], Never, Same(&["--auto-criterion", "aicc"]), CRITERION),
    entry(&["BIC"], Never, Same(&["--auto-criterion", "bic"]), CRITERION),
    entry(&["nni5"], Never, LEAVE_OUT, OWN_SCHEDULE),
    entry(&["C"], Never, LEAVE_OUT, "conflicting splits are not written; leave it out"),
    entry(&["D"], Never, LEAVE_OUT, OWN_SCHEDULE),
    entry(
        &["E"],
        Always,
        Not,
        "excluding columns is not available; leave them out of the alignment",
    ),
    entry(
        &["F"],
        Never,
        Idle,
        "there is no CAT phase, and thus no final optimisation under Gamma to leave out",
    ),
    entry(&["H"], Never, Idle, COMPRESSED),
    entry(&["O", "no-seq-check"], Never, Idle, UNDETERMINED),
    entry(&["U"], Never, Idle, "taxa without data in a partition never take memory there"),
    entry(
        &["V"],
        Never,
        LEAVE_OUT,
        "a model without rate heterogeneity is written without +G or +R",
    ),
    entry(
        &["JC69", "K80", "HKY85"],
        Never,
        LEAVE_OUT,
        "the matrix is named in the model: -m JC+G, K80+G or HKY+F+G",
    ),
    entry(&["G", "W"], Always, Not, PLACEMENT),
    entry(
        &["R"],
        Always,
        Not,
        "binary model files are not read; give parameters in the model, as in GTR{...}+G{...}, or a bestModel file with -q",
    ),
    entry(
        &["X"],
        Never,
        Instead(&["-y"]),
        "there is one kind of parsimony starting tree; -y (--start) writes starting trees",
    ),
    entry(&["Y"], Always, Not, "quartets are not available"),
    entry(&["j"], Never, LEAVE_OUT, "intermediate trees are not written; leave it out"),
    entry(&["no-bfgs"], Never, Idle, ONE_OPTIMISER),
    entry(&["flag-check"], Never, Idle, "all options are checked before every run"),
    entry(&["set-thread-affinity"], Never, Idle, BY_ITSELF),
    entry(
        &["mesquite"],
        Never,
        LEAVE_OUT,
        "files for Mesquite are not written, which reads bestTree; leave it out",
    ),
    entry(&["print-identical-sequences"], Never, Idle, "identical sequences are always reported"),
    entry(
        &["bootstop-perms"],
        Always,
        Same(&["--bs-perms", "{}"]),
        "RAxML's number of halvings in each test of bootstopping",
    ),
    // RAxML-NG.
    entry(
        &["loglh"],
        Never,
        Same(&["--evaluate", "--opt-model", "off", "--opt-branches", "off"]),
        "the likelihood of a tree as it is (RAxML-NG)",
    ),
    entry(
        &["search1"],
        Never,
        Same(&["--search", "--tree", "rand{1}"]),
        "one search from a random tree (RAxML-NG)",
    ),
    entry(
        &["allfast"],
        Never,
        Instead(&["--all", "--fast"]),
        "a fast run of everything is --all --fast here",
    ),
    entry(&["moose", "modeltest"], Never, Instead(&["-m", "auto"]), SELECTION),
    entry(&["pythia", "pt"], Never, Not, "prediction of difficulty (Pythia) is not available"),
    entry(&["sh"], Maybe, Instead(&["--alrt", "{}"]), SH_LIKE),
    entry(&["sh-reps"], Always, Instead(&["--alrt", "{}"]), SH_LIKE),
    entry(
        &["ebg"],
        Never,
        Not,
        "educated bootstrap guessing is not available; --all makes standard replicates",
    ),
    entry(
        &["scfl"],
        Always,
        Instead(&["--scf", "{}"]),
        "site concordance factors are computed by parsimony, as with IQ-TREE's --scf",
    ),
    entry(
        &["df-tree", "cf-verbose", "cf-quartet"],
        Never,
        LEAVE_OUT,
        "the file `concordance` has the numbers of every branch; leave it out",
    ),
    entry(
        &["adaptive", "opt-topology", "stop-rule", "lh-epsilon-triplet"],
        Always,
        LEAVE_OUT,
        OWN_SCHEDULE,
    ),
    entry(&["blopt"], Always, Idle, ONE_OPTIMISER),
    entry(&["blmin", "blmax"], Always, LEAVE_OUT, BOUNDS),
    entry(&["msa-format"], Always, Idle, "the format is recognised by the content of the file"),
    entry(&["prob-msa"], Maybe, Not, "probabilistic alignments are not available"),
    entry(&["pat-comp"], Always, Idle, COMPRESSED),
    entry(&["tip-inner", "site-repeats", "rate-scalers"], Maybe, Idle, BY_ITSELF),
    entry(&["workers"], Always, Idle, "the work is distributed over the threads automatically"),
    entry(
        &["force"],
        Maybe,
        Idle,
        "there are no safety checks to switch off; unusual but usable input is accepted with a warning",
    ),
    entry(
        &["extra"],
        Always,
        LEAVE_OUT,
        "RAxML-NG's extra options are not available; leave it out",
    ),
    entry(
        &["nofiles"],
        Maybe,
        LEAVE_OUT,
        "runs without result files are not available; --prefix says where they go",
    ),
    entry(&["log"], Always, Idle, "the log file is always complete; --quiet prints less"),
    entry(&["precision"], Always, Idle, "numbers in result files always have full precision"),
    // IQ-TREE. Its words are accepted where they mean the same; its letters with another meaning are not.
    entry(&["nt"], Always, Same(&["-T", "{}"]), "IQ-TREE's number of threads"),
    entry(
        &["ntmax", "threads-max"],
        Always,
        Instead(&["-T", "auto{{}}"]),
        "a limit for automatic threads is written -T auto{N}",
    ),
    entry(&["te"], Always, Same(&["--evaluate", "-t", "{}"]), "IQ-TREE's tree of fixed topology"),
    entry(&["tree-fix"], Never, Same(&["--evaluate"]), "IQ-TREE's way to keep the topology"),
    entry(
        &["me", "epsilon"],
        Always,
        Same(&["--lh-epsilon", "{}"]),
        "IQ-TREE's improvement that ends an optimisation",
    ),
    entry(&["pre"], Always, Same(&["--prefix", "{}"]), "IQ-TREE's name of output files"),
    entry(&["wsl"], Never, Same(&["--sitelh"]), "IQ-TREE's log-likelihoods of sites"),
    entry(&["fs"], Always, Same(&["--site-frequencies", "{}"]), "IQ-TREE's frequencies of sites"),
    entry(&["ft"], Always, Same(&["--pmsf", "{}"]), "IQ-TREE's guide tree of PMSF"),
    entry(&["wsr", "rate"], Never, Same(&["--site-rates"]), "IQ-TREE's rates of sites"),
    entry(
        &["spp"],
        Always,
        Same(&["-q", "{}", "--brlen", "scaled"]),
        "IQ-TREE's partitions with proportional branch lengths",
    ),
    entry(
        &["sp"],
        Always,
        Same(&["-q", "{}", "-M"]),
        "IQ-TREE's partitions with branch lengths of their own",
    ),
    entry(
        &["Q"],
        Always,
        Instead(&["-q", "{}", "-M"]),
        "IQ-TREE's partitions with branch lengths of their own are -q FILE -M here",
    ),
    entry(
        &["bo", "bonly"],
        Always,
        Same(&["--bootstrap", "--bs-trees", "{}"]),
        "IQ-TREE's replicates without a search",
    ),
    entry(
        &["bc", "bcon"],
        Always,
        Instead(&["--bootstrap", "--bs-trees", "{}"]),
        "IQ-TREE's replicates with their consensus take two commands here: --bootstrap, then --consense --tree NAME.mlsearch.bootstraps",
    ),
    entry(
        &["boot"],
        Always,
        Instead(ALL_REPLICATES),
        "IQ-TREE's search with standard replicates is --all --bs-trees N here",
    ),
    entry(&["bb", "ufboot"], Always, Instead(ALL_REPLICATES), ULTRAFAST),
    entry(
        &["bnni"],
        Never,
        LEAVE_OUT,
        "the ultrafast bootstrap and its refinement are not available; leave it out",
    ),
    entry(
        &["bcor", "beps", "nm"],
        Always,
        LEAVE_OUT,
        "the ultrafast bootstrap and its stopping rule are not available; leave it out",
    ),
    entry(
        &["jack"],
        Always,
        Instead(&["--all", "--jackknife", "0.5", "--bs-trees", "{}"]),
        "IQ-TREE's ultrafast jackknife is not available; --all --jackknife 0.5 --bs-trees N makes N standard replicates",
    ),
    entry(
        &["jack-prop"],
        Always,
        Instead(&["--jackknife", "{}"]),
        "the share of the sites that replicates lack is --jackknife SHARE here",
    ),
    entry(&["lbp"], Always, LEAVE_OUT, LOCAL_BOOTSTRAP),
    entry(
        &["zb", "test"],
        Always,
        Same(&["--tests", "bp,kh,sh,elw", "--rell", "{}"]),
        "IQ-TREE's tests of topologies with this number of replicates",
    ),
    entry(
        &["zw", "test-weight"],
        Never,
        Same(&["--tests", "wkh,wsh"]),
        "IQ-TREE's weighted tests of topologies",
    ),
    entry(
        &["au", "test-au"],
        Never,
        Same(&["--tests", "au"]),
        "IQ-TREE's approximately unbiased test of topologies",
    ),
    entry(
        &["bsam", "bspec"],
        Always,
        Same(&["--sampling", "{}"]),
        "IQ-TREE's choice of what is drawn for a replicate",
    ),
    entry(
        &["tbe"],
        Never,
        Same(&["--bs-metric", "tbe"]),
        "IQ-TREE's support by transfer distances",
    ),
    entry(&["wbt"], Never, Idle, "the trees of replicates are always written"),
    entry(
        &["wbtl"],
        Never,
        Same(&["--bs-brlens"]),
        "IQ-TREE's trees of replicates with branch lengths",
    ),
    entry(&["mlrate", "wspr", "wslr", "wspm", "wslm"], Never, LEAVE_OUT, SITE_RATES),
    entry(&["asr"], Never, Same(&["--ancestral"]), "IQ-TREE's name of ancestral states"),
    entry(
        &["asr-min"],
        Always,
        LEAVE_OUT,
        "the most likely state is written whatever its probability; leave it out",
    ),
    entry(
        &["czb", "polytomy"],
        Never,
        Idle,
        "the best tree with polytomies in place of branches without length is always written (bestTreeCollapsed)",
    ),
    entry(
        &["con", "con-tree"],
        Maybe,
        Same(&["--consense", "MRE"]),
        "IQ-TREE's consensus of trees",
    ),
    entry(&["minsup"], Always, LEAVE_OUT, "it is about consensus trees (-con); leave it out"),
    entry(
        &["net", "con-net"],
        Maybe,
        Not,
        "networks of conflicting splits are not available; --consense --tree FILE makes a consensus tree",
    ),
    entry(
        &["sup"],
        Always,
        Instead(&["--support", "--tree", "{}"]),
        "support from given trees is --support --tree FILE --bs-trees FILE here",
    ),
    entry(
        &["rf_all", "tree-dist-all"],
        Maybe,
        Same(&["--rfdist", "{}"]),
        "IQ-TREE's distances between all trees of a file",
    ),
    entry(
        &["rf_adj"],
        Maybe,
        Instead(&["--rfdist", "{}"]),
        "distances between trees that follow each other are not written by themselves; --rfdist FILE has those between all",
    ),
    entry(
        &["rf", "tree-dist"],
        Maybe,
        Same(&["--rfdist", "{}"]),
        "distances between trees (RAxML-NG), and from other trees (IQ-TREE)",
    ),
    entry(
        &["runs"],
        Always,
        Instead(&["--tree", "pars{{}}"]),
        "several searches start from several starting trees: --tree pars{N}, or rand{N}",
    ),
    entry(
        &["starttree"],
        Always,
        LEAVE_OUT,
        "IQ-TREE's choice of starting trees is --tree here, as in --tree pars{5} or rand{5}; by default a search chooses; leave it out",
    ),
    entry(&["safe"], Never, Idle, "likelihoods are always scaled against underflow"),
    entry(
        &["keep-ident", "keep_ident"],
        Never,
        Same(&["--keep-identical"]),
        "IQ-TREE's searches with all of several identical sequences",
    ),
    entry(
        &["undo"],
        Never,
        LEAVE_OUT,
        "only interrupted runs are continued, by the same command; leave it out",
    ),
    entry(
        &["cptime"],
        Always,
        LEAVE_OUT,
        "the state of a run is kept every 30 seconds; leave it out",
    ),
    entry(
        &["ninit", "ntop", "nbest", "nstop", "pers", "perturb", "radius"],
        Always,
        LEAVE_OUT,
        OWN_SCHEDULE,
    ),
    entry(&["allnni", "pathogen"], Never, LEAVE_OUT, OWN_SCHEDULE),
    entry(
        &["merit"],
        Always,
        Same(&["--auto-criterion", "{}"]),
        "IQ-TREE's criterion of model selection",
    ),
    entry(
        &["mset", "mrate", "mfreq", "madd", "cmin", "cmax", "msub"],
        Always,
        LEAVE_OUT,
        CANDIDATES,
    ),
    entry(
        &["rcluster"],
        Always,
        Same(&["--merge", "rcluster:{}"]),
        "IQ-TREE's relaxed clustering of partitions",
    ),
    entry(
        &["rclusterf"],
        Always,
        Same(&["--merge", "rclusterf:{}"]),
        "IQ-TREE's fast relaxed clustering of partitions",
    ),
    entry(
        &["rcluster-max"],
        Always,
        LEAVE_OUT,
        "relaxed clustering (--merge rcluster:PERCENT) limits the number of pairs by itself; leave it out",
    ),
    entry(&["date"], Always, Not, DATING),
    entry(
        &["date-tip", "date-root", "date-ci", "date-options"],
        Always,
        Not,
        "it is about the dating of trees, which is not available",
    ),
    entry(&["lmap", "lmclust"], Always, Not, LIKELIHOOD_MAPPING),
    entry(
        &["symtest", "symtest-only", "symtest-remove-bad", "symtest-remove-good"],
        Never,
        Not,
        SYMMETRY,
    ),
    entry(
        &["alisim"],
        Always,
        Not,
        "alignments are simulated by mlsearch simulate --tree FILE --model MODEL --sites N --prefix NAME",
    ),
    entry(
        &["blfix", "fixbr"],
        Never,
        Instead(&["--evaluate", "--opt-branches", "off"]),
        "branch lengths are kept with --evaluate --opt-branches off",
    ),
];

/// Why `-B 1000` and `-bb 1000` are refused.
pub(super) const ULTRAFAST: &str = "IQ-TREE's ultrafast bootstrap is not available; --all --bs-trees N searches and makes \
     N standard replicates (of those, 100 are usual)";

/// The answer to an option, given without dashes.
pub(super) fn find(name: &str) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.names.contains(&name))
}

/// Whether a value belongs to an option of the table; `None` if it is not in it.
pub(super) fn takes(name: &str) -> Option<Takes> {
    find(name).map(|entry| entry.takes)
}

/// What RAxML's `-f` letter means, where it is not available under that letter, and the words that do it
/// here, if any.
pub(super) fn algorithm(letter: &str) -> Option<(&'static str, Option<&'static [&'static str]>)> {
    const FAST: &[&str] = &["--search", "--fast"];
    const SITELH: &[&str] = &["--evaluate", "--sitelh"];
    const SEARCH: &[&str] = &["--search"];
    Some(match letter {
        "B" => (
            "scalers of branch lengths are optimised by --evaluate --brlen scaled",
            Some(&["--evaluate", "--brlen", "scaled"]),
        ),
        "D" => (
            "the RELL bootstrap is not available; --search only searches, --all also makes standard replicates",
            Some(SEARCH),
        ),
        "E" | "F" => ("a very fast search is --search --fast here", Some(FAST)),
        "o" => ("RAxML's old search is not available; --search finds the best tree", Some(SEARCH)),
        "T" => (
            "a thorough search from a given tree is --search --thorough here",
            Some(&["--search", "--thorough"]),
        ),
        "g" | "G" => (
            "log-likelihoods of sites on given trees are written by --evaluate --sitelh -t FILE",
            Some(SITELH),
        ),
        "n" | "N" => {
            ("likelihoods of many trees are computed by --evaluate -t FILE", Some(&["--evaluate"]))
        }
        "u" => ("calibration of column weights is not available", None),
        "J" => (SH_LIKE, Some(&["--evaluate", "--alrt"])),
        "C" => ("conflicting splits are not written; -f i computes internode certainty", None),
        "k" => ("correction of long branches is not available", None),
        "m" => ("comparison of two sets of splits is not available", None),
        "p" => ("parsimony insertion of taxa into a tree is not available", None),
        "P" | "v" | "V" | "y" | "S" => (PLACEMENT, None),
        "q" => ("quartets are not available", None),
        "s" => (
            "splitting of alignments is not available; -q defines the partitions of one alignment",
            None,
        ),
        "t" => (
            "random searches from one tree are not available; --tree rand{N} starts from N random trees",
            None,
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_one_answer_which_names_what_it_speaks_of() {
        let mut names: Vec<&str> = TABLE.iter().flat_map(|entry| entry.names).copied().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "a name is there twice");
        for entry in TABLE {
            assert!(entry.says.split(' ').count() > 3, "'{}' says nothing", entry.says);
            assert!(!entry.says.starts_with("not available"), "{}", entry.says);
            let (Same(words) | Instead(words)) = entry.here else { continue };
            let uses_value = words.iter().any(|word| word.contains("{}"));
            assert!(!uses_value || entry.takes.ever(), "{:?} has no value to use", entry.names);
        }
        for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".chars() {
            if let Some((says, _)) = algorithm(&letter.to_string()) {
                assert!(says.split(' ').count() > 3, "-f {letter}: {says}");
            }
        }
    }
}
