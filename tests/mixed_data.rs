//! DNA, proteins, codons, binary and multi-state characters in one run, with missing partitions: all
//! commands in all modes, and what they write read back.

use crate::util::{
    Scratch, assert_same_bytes, assert_same_bytes_on, log_likelihood, report, repository,
};
use mlsearch::conformance::some_of;

/// What the data are made with; columns 1-300 and so on.
const TRUTH: &str = "\
GTR{1.2/3.1/0.7/0.9/4.2/1}+FU{0.3/0.2/0.15/0.35}+G4{0.6}, nuclear = 1-240
LG+G4{0.8}, protein = 241-300
GY{4/0.1}+F1X4{0.3/0.25/0.15/0.3}+CODE{2}, mitochondrial = 301-480
BIN+FU{0.4/0.6}, indels = 481-520
MULTI4_MK+FE, morphology = 521-550
";

/// How a user would write it: types, a matrix by name, a whole model.
const PARTITIONS: &str = "\
DNA, nuclear = 1-240
LGF, protein = 241-300
CODON2, mitochondrial = 301-480
BIN, indels = 481-520
MULTI4_MK, morphology = 521-550
";

const MODES: [&str; 3] = ["linked", "scaled", "unlinked"];

/// Eight taxa, a quarter of the cells missing, and two partition files: `true.part` and `partitions.part`.
fn mixed_data() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("true.part", TRUTH);
    scratch.write("genes.part", PARTITIONS);
    scratch.succeed(
        "simulate --tree rand{8} -q true.part --missing 0.25 --mean-brlen 0.2 -n sim -p 4",
    );
    scratch
}

fn read(scratch: &Scratch, name: &str) -> String {
    std::fs::read_to_string(scratch.path().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

const DATA: &str = "-s sim.mlsearch.phy -q genes.part -m GTR+G --quiet";

#[test]
fn a_mixed_search_with_replicates_writes_the_same_bytes_on_every_machine() {
    // Plain code is too slow for searches with codons; it evaluates below.
    let machines = ["-T 3", "-T 2", "-T 1 --simd avx2", "-T 2 --simd avx512"];
    for (mode, what, kinds) in [
        ("linked", "--all --bs-trees 1 -k", &["bootstraps", "support"][..]),
        ("scaled", "--search", &[]),
        ("unlinked", "--bootstrap --bs-trees 2 -k", &[]),
    ] {
        let scratch = mixed_data();
        let command = format!("{DATA} {what} --brlen {mode} -e 0.5");
        let kinds: Vec<&str> = ["log", "json"].iter().chain(kinds).copied().collect();
        let machines: Vec<&str> = some_of(&machines, 0, 2).copied().collect();
        assert_same_bytes_on(&machines, &scratch, &command, &kinds);
    }
}

#[test]
fn a_mixed_evaluation_writes_the_same_bytes_on_every_machine() {
    for mode in MODES {
        let scratch = mixed_data();
        let command = format!(
            "--evaluate -s sim.mlsearch.phy -q true.part -t sim.mlsearch.trueTree --brlen {mode} --sitelh \
             --opt-model off -e 0.5 --quiet"
        );
        assert_same_bytes(&scratch, &command, &["bestTree", "bestModel", "siteLH", "log", "json"]);
    }
}

#[test]
fn the_best_model_of_mixed_data_gives_the_same_likelihood_again() {
    let scratch = mixed_data();
    for mode in MODES {
        scratch.succeed(&format!("{DATA} --search --brlen {mode} -e 0.5 -n {mode}"));
        let own = match mode {
            "unlinked" => format!("--partition-trees {mode}.mlsearch.bestPartitionTrees"),
            _ => String::new(),
        };
        scratch.succeed(&format!(
            "--evaluate -s sim.mlsearch.phy -q {mode}.mlsearch.bestModel -t {mode}.mlsearch.bestTree {own} \
             --brlen {mode} --opt-model off --opt-branches off --quiet -n again --redo"
        ));
        let [found, again] = [mode, "again"].map(|name| log_likelihood(&scratch, name));
        assert!((found - again).abs() < 1e-7, "{mode}: {found} {again}");
        let models = read(&scratch, &format!("{mode}.mlsearch.bestModel"));
        for start in ["GTR{", "LG+FC{", "GY{", "BIN+FC{", "MULTI4_MK+FE"] {
            let line = models.lines().find(|line| line.starts_with(start));
            assert!(line.is_some(), "{mode}: no {start} in {models}");
        }
        assert!(models.contains("+CODE{2}"), "{models}");
    }
}

/// Every partition alone, with its columns of those taxa that have it, has the likelihood it has in the whole.
#[test]
fn partitions_of_every_type_evaluated_alone_add_up_to_the_whole() {
    let scratch = mixed_data();
    scratch.succeed(&format!("--evaluate {DATA} -M -t sim.mlsearch.trueTree -e 0.5 -n whole"));
    let whole = report(&scratch, "whole");
    let alignment = read(&scratch, "sim.mlsearch.phy");
    let rows: Vec<(&str, &str)> = alignment
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(' '))
        .map(|(name, row)| (name, row.trim()))
        .collect();
    let models = read(&scratch, "whole.mlsearch.bestModel");
    let trees = read(&scratch, "whole.mlsearch.bestPartitionTrees");
    let mut sum = 0.0;
    for (partition, (line, tree)) in models.lines().zip(trees.lines()).enumerate() {
        let (model, rest) = line.rsplit_once(", ").expect("a line");
        let (_, range) = rest.split_once(" = ").expect("a range");
        let (first, last) = range.split_once('-').expect("one range");
        let columns = first.parse::<usize>().unwrap() - 1..last.parse::<usize>().unwrap();
        let present: Vec<_> =
            rows.iter().filter(|row| row.1[columns.clone()].contains(|c| c != '-')).collect();
        assert!(present.len() < rows.len() || partition > 0, "a gene lacks taxa");
        let mut text = format!("{} {}\n", present.len(), columns.len());
        for (name, row) in present {
            text.push_str(&format!("{name}  {}\n", &row[columns.clone()]));
        }
        scratch.write("partition.phy", &text);
        scratch.write("partition.tree", tree);
        scratch.write("partition.part", &format!("{model}, g = 1-{}\n", columns.len()));
        scratch.succeed(
            "--evaluate -s partition.phy -q partition.part -t partition.tree --opt-model off --opt-branches off -n partition \
             --redo --quiet",
        );
        let alone = log_likelihood(&scratch, "partition");
        let part = whole["partitions"][partition]["log_likelihood"].as_f64().expect("a number");
        assert!((alone - part).abs() < 1e-7, "partition {partition}: {alone} {part}");
        sum += alone;
    }
    assert!((sum - log_likelihood(&scratch, "whole")).abs() < 1e-6);
}

/// Restricted trees change nothing at given lengths, and the truth is fitted no worse than it is.
#[test]
fn mixed_data_fit_their_own_truth() {
    let scratch = mixed_data();
    for mode in MODES {
        let given = format!(
            "--evaluate -s sim.mlsearch.phy -t sim.mlsearch.trueTree --brlen {mode} --quiet --redo"
        );
        let fixed = "-q true.part --opt-model off --opt-branches off";
        scratch.succeed(&format!("{given} {fixed} -n on"));
        scratch.succeed(&format!("{given} {fixed} -n off --restricted off"));
        scratch.succeed(&format!("{given} -q genes.part -m GTR+G -e 0.5 -n fitted"));
        let [on, off, fitted] = ["on", "off", "fitted"].map(|name| log_likelihood(&scratch, name));
        assert!((on - off).abs() < 1e-9 * on.abs(), "{mode}: {on} {off}");
        assert!(fitted > on && fitted < on + 150.0, "{mode}: {fitted} {on}");
    }
}

/// Two ways to say the same model have the same likelihood.
#[test]
fn options_that_name_data_and_matrices_mean_what_the_model_string_can_say() {
    let scratch = Scratch::new();
    // Equal rates and frequencies, in PAML's form: the Poisson model.
    let rows: Vec<String> = (1..20).map(|i| "1 ".repeat(i)).collect();
    let matrix = rows.join("\n") + "\n\n" + &"0.05 ".repeat(20) + "\n";
    scratch.write("Ones.dat", &matrix);
    scratch.write("bad.dat", &matrix.replacen("1 ", "x ", 1));
    scratch.write("one.part", "PROT_FILE+G4{0.5}, all = 1-88\n");
    scratch.write("m.phy", "5 6\na  012301\nb  012201\nc  112300\nd  102311\ne  003331\n");
    scratch.write("p.phy", "5 6\na  ARNDCQ\nb  ARNECQ\nc  ARNDCE\nd  GRNDWQ\ne  ARKDCQ\n");
    let data = |name: &str| repository(&format!("datasets/{name}.phy")).display().to_string();
    let (codons, proteins) = (data("hominoids"), data("ovomucoids"));
    let lnl = |arguments: &str| {
        scratch.succeed(&format!(
            "--evaluate {arguments} -t pars{{1}} --opt-model off --opt-branches off --quiet --redo -n x"
        ));
        log_likelihood(&scratch, "x")
    };
    for (one, other) in [
        (
            format!("-s {codons} -m GY{{4/0.05}}+F1X4 --data-type CODON2"),
            format!("-s {codons} -m GY{{4/0.05}}+F1X4+CODE{{2}}"),
        ),
        (
            format!("-s {proteins} -m PROTGAMMALG -P Ones.dat"),
            format!("-s {proteins} -m POISSON+G4"),
        ),
        (
            format!("-s {proteins} -m PROTGTR{{Ones.dat}}+F+G4 -st AA"),
            format!("-s {proteins} -m POISSON+F+G4"),
        ),
        (
            format!("-s {proteins} -q one.part -m LG -P Ones.dat"),
            format!("-s {proteins} -m POISSON+G4{{0.5}}"),
        ),
        ("-s m.phy -m MULTIGAMMA -K MK".to_string(), "-s m.phy -m MULTI4_MK+G4".to_string()),
        (
            "-s m.phy -m ASC_MULTIGAMMA -K MK --asc-corr lewis".to_string(),
            "-s m.phy -m MK+G4+ASC".to_string(),
        ),
    ] {
        let (a, b) = (lnl(&one), lnl(&other));
        assert!((a - b).abs() < 1e-6, "{one}: {a}, {other}: {b}");
    }
    for (arguments, expected) in [
        ("-s p.phy -m LG -P bad.dat", &["bad.dat, line 1: 'x' is not a number"][..]),
        ("-s p.phy -m PROTGTR{bad.dat}", &["-m: bad.dat, line 1"]),
        ("-s p.phy -m GTR+G -P Ones.dat", &["model of DNA"]),
        ("-s p.phy -m LG -P none.dat", &["none.dat"]),
        ("-s p.phy -m LG --data-type BIN", &["the data type is BIN, but LG"]),
    ] {
        scratch.run(&format!("{arguments} -n bad")).assert_refused(expected);
    }
    let ran = scratch.succeed(&format!("--check -s {codons} -m GY --data-type CODON2"));
    for word in ["codon 2", "3331", "per codon"] {
        assert!(ran.stdout.contains(word), "'{word}' is missing in {}", ran.stdout);
    }
}

/// Lengths that codons and nucleotides share mean something else in each.
#[test]
fn lengths_that_types_of_data_share_are_warned_of() {
    let scratch = mixed_data();
    for (mode, warns) in MODES.into_iter().zip([true, false, false]) {
        let ran = scratch.succeed(&format!("search --check {DATA} --brlen {mode} -n x --redo"));
        let warning = "different types of data have the same branch lengths";
        assert_eq!(ran.stderr.contains(warning), warns, "{mode}: {}", ran.stderr);
    }
    scratch.write("dna.part", "DNA, a = 1-400\nDNA, b = 401-898\n");
    let primates = repository("datasets/primates.phy").display().to_string();
    let command = format!("search --check -s {primates} -q dna.part -m GTR+G -n x --redo");
    let ran = scratch.succeed(&command);
    assert!(!ran.stderr.contains("different types"), "{}", ran.stderr);
}
