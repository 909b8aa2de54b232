//! The one integration binary (but for `ranks.rs`, which needs MPI). A sentence above each module says what it is about.

#![allow(missing_docs)]

// Scratch folders, running the binary, named tolerances.
mod util;

// The house rules: floors, door files, line limits, where printing and unsafe code may be.
mod architecture;

// Flags, exit codes, refusals, output names.
mod cli;

// The commands that users of other programs type first.
mod first_commands;

// Runs inside another program.
mod inside_programs;

// The functions of the Python package are those of the program.
mod python_words;

// Input that must be refused, and odd input that must not.
mod bad_input;

// Formats of alignments and trees.
mod formats;

// Every reader against texts that are changed at random: the loop, what must hold, the changes, their memory.
mod fuzz;
mod fuzz_targets;
mod memory;
mod mutator;

// What is written is read as the same.
mod round_trips;

// Log-likelihoods of other programs.
mod golden_likelihood;

// Correction of ascertainment bias: likelihoods of other programs, refusals, whole runs.
mod ascertainment;

// The same bytes for any threads and kernels, the same likelihood for any order of taxa and sites.
mod determinism;

// The same bytes for any order of rows and of lines of the partition file.
mod input_order;

// Data of several types in one run.
mod mixed_data;

// Every engine computes the same numbers, or the same bits, by every verb of the contract.
mod backends_agree;

// The engine for GPUs without a GPU: its kernels and its driver are emulated.
#[cfg(all(unix, feature = "cuda"))]
mod cuda_stand_in;

// Thousands of taxa: no likelihood is lost to underflow.
mod underflow;

// Data, models and branch lengths at the ends of what is possible: everything remains a number.
mod stress;

// Gappy data: restricted trees change the work, never the likelihood.
mod invariants;

// Distances, consensus, internode certainty and concordance factors, beside other programs.
mod tree_comparisons;

// Samples from posterior distributions: files, likelihoods, bits, another program, refusals.
mod sampling;

// Searches step by step.
mod steps;

// Optimised likelihoods: the end does not depend on the start, and richer models are never lower.
mod optimum;

// Searches that must find a best tree that is known.
mod search;

// Searches, replicates and starting trees under topological constraints.
mod constraint;

// Many genes in one run: each as a search of its own, faults, shards.
mod genes;

// Models chosen from the data.
mod model_selection;

// What a run says and leaves while it goes on: progress, results, log, locks, memory.
mod reporting;

// Tests of given trees (KH, SH, ELW, AU).
mod topology_tests;

// Distances between sequences and their trees: other programs, formats, threads.
mod distances;
// Ancestral states: the definition, other programs, what is written.
mod ancestral;
// Trees with a root, and with polytomies in place of branches without length.
mod rooting;
// Bootstrap replicates: how many are enough, what is drawn for them.
mod bootstrap;

// Mixtures of profiles and matrices; rates and profiles of sites.
mod profile_mixtures;

// Frequencies of sites, from a profile mixture or a file.
mod site_frequencies;

// Whole runs: what they write, and that it can be read back.
mod whole_runs;

// Runs that are killed and resumed, damaged checkpoints.
#[cfg(unix)]
mod interruption;

// Full disks, folders that cannot be written or vanish.
#[cfg(unix)]
mod faults;

// The page of a run, also as a browser shows it.
mod page;

// The JSON Schema of the result file, and results of every kind of run that conform to it.
mod schema;

// README.md and the guides: their tables of options, models, output files and JSON fields are those of the program, their
// commands run, and their links lead somewhere.
mod readme;

// The script that compares this program with others.
mod compare_script;

// What distributes the program: its version, what is installed, examples of workflow systems.
#[cfg(unix)]
mod packaging;
