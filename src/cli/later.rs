//! Options of RAxML and RAxML-NG that users will type and that this program does not have.
//!
//! They are refused by name, with what to do instead. An option leaves this table on the day it works.

const CONSTRAINT: &str = "topological constraints are not available yet";
const OUTGROUP: &str = "trees are unrooted; root them where you draw them";
const MODELS: &str = "a command with -m auto chooses models first";
const PLACEMENT: &str = "placement of sequences is not available";
const AUTOMATIC: &str = "this happens by itself here, so leave it out";
const NOT_YET: &str = "not available yet";
const STOPPING: &str = "automatic bootstopping is not available yet; give a number of replicates";

/// Option as typed, and why it is refused.
const LATER: &[(&str, &str)] = &[
    ("-x", "rapid bootstrapping is not available; -b SEED makes standard replicates"),
    ("-g", CONSTRAINT),
    ("-r", CONSTRAINT),
    ("-o", OUTGROUP),
    ("-a", "column weights are not available yet"),
    ("-c", "per-site rate categories are not available; use +G"),
    ("-A", NOT_YET),
    ("-B", STOPPING),
    ("-C", NOT_YET),
    ("-D", "the search has its own stopping rule"),
    ("-E", "leave the columns out of the alignment instead"),
    ("-F", "there is no CAT phase, so no final Gamma optimisation to leave out"),
    ("-G", PLACEMENT),
    ("-H", "identical columns are always compressed"),
    ("-I", STOPPING),
    ("-L", NOT_YET),
    ("-O", "undetermined taxa and columns are accepted anyway"),
    ("-R", "give parameters in the model string: GTR{...}+G{...}, or a bestModel file with -q"),
    ("-S", "secondary structure models are not available"),
    ("-U", AUTOMATIC),
    ("-V", "leave +G out of the model instead"),
    ("-W", NOT_YET),
    ("-X", NOT_YET),
    ("-Y", NOT_YET),
    ("-j", "intermediate trees are not kept"),
    ("--tree-constraint", CONSTRAINT),
    ("--outgroup", OUTGROUP),
    ("--site-weights", "column weights are not available yet"),
    ("--ancestral", "ancestral states are not available yet"),
    ("--mutmap", NOT_YET),
    ("--bsconverge", STOPPING),
    ("--bs-cutoff", STOPPING),
    ("--bsmsa", NOT_YET),
    ("--terrace", NOT_YET),
    ("--loglh", "use --evaluate --opt-model off --opt-branches off"),
    ("--search1", "use --search --tree pars{1} or rand{1}"),
    ("--moose", MODELS),
    ("--modeltest", MODELS),
    ("--pythia", NOT_YET),
    ("--sh", NOT_YET),
    ("--sh-reps", NOT_YET),
    ("--ebg", NOT_YET),
    ("--gcf", NOT_YET),
    ("--allfast", NOT_YET),
    ("--adaptive", NOT_YET),
    ("--opt-topology", NOT_YET),
    ("--stop-rule", "the search has its own stopping rule"),
    ("--blopt", "there is one, safe method"),
    ("--blmin", "bounds of branch lengths are fixed at 1e-6 and 100"),
    ("--blmax", "bounds of branch lengths are fixed at 1e-6 and 100"),
    ("--lh-epsilon-triplet", "use --lh-epsilon"),
    ("--msa-format", "the format is recognised by its content, so leave it out"),
    ("--prob-msa", NOT_YET),
    ("--pat-comp", "identical columns are always compressed"),
    ("--tip-inner", AUTOMATIC),
    ("--site-repeats", AUTOMATIC),
    ("--rate-scalers", AUTOMATIC),
    ("--workers", "work is dealt out by itself; give --threads"),
    ("--force", "there is no safety check to switch off"),
    ("--extra", NOT_YET),
    ("--nofiles", NOT_YET),
    ("--log", "use --quiet for less"),
    ("--precision", "files carry full precision"),
    ("--JC69", "use -m JC"),
    ("--K80", "use -m K80"),
    ("--HKY85", "use -m HKY"),
    ("--no-bfgs", "there is one, safe method"),
    ("--no-seq-check", "input is always checked"),
    ("--print-identical-sequences", "identical sequences are always reported"),
    ("--bootstop-perms", STOPPING),
];

/// Why this option is refused, if it is one of the table.
pub(super) fn find(option: &str) -> Option<&'static str> {
    LATER.iter().find(|entry| entry.0 == option).map(|entry| entry.1)
}

/// True for a long option of the table, given without dashes.
pub(super) fn is_long(name: &str) -> bool {
    LATER.iter().any(|entry| entry.0.strip_prefix("--") == Some(name))
}

/// Why RAxML's `-f` letter is refused; `None` if there is no such letter.
pub(super) fn algorithm(letter: &str) -> Option<&'static str> {
    Some(match letter {
        "A" => "ancestral states are not available yet",
        "B" => "use --evaluate --brlen scaled",
        "D" | "E" | "F" | "k" | "m" | "o" | "p" | "q" | "s" | "t" | "u" | "I" | "T" => NOT_YET,
        "g" | "G" => "use --evaluate --sitelh",
        "h" | "H" | "J" | "w" | "W" => "tests of topologies are not available yet",
        "i" | "C" => "use --support, or --consense MRE",
        "j" => "bootstrap alignments are not written",
        "n" | "N" => "use --evaluate, which takes many trees",
        "P" | "v" | "V" | "y" | "S" => PLACEMENT,
        "R" => "use --rfdist",
        "x" => "distances are not available yet",
        _ => return None,
    })
}
