//! Numerical stress: data, models and branch lengths at the ends of what is possible. Likelihoods, lengths and
//! parameters remain numbers, and no round of an optimisation ends lower than the one before it.

use crate::util::{Scratch, log_likelihood};
use mlsearch::conformance::some_of;
use mlsearch::rng::{Purpose, stream};
use rand::RngExt;

/// What an optimisation may lose from one round to the next, and what its result may depend on its start (log units).
const LOSS: f64 = 1e-3;
const SAME_OPTIMUM: f64 = 0.01;

/// Sequences of `num_sites` sites that differ from a common one in a share of their sites.
fn sequences(num_taxa: usize, num_sites: usize, changed: f64) -> Vec<String> {
    let mut rng = stream(3, Purpose::Test, num_sites as u64);
    let mut any = move || char::from(b"ACGT"[rng.random_range(0..4)]);
    let ancestor: Vec<char> = (0..num_sites).map(|_| any()).collect();
    let mut rng = stream(4, Purpose::Test, num_sites as u64);
    let mut evolve = |&state: &char| if rng.random_bool(changed) { any() } else { state };
    (0..num_taxa).map(|_| ancestor.iter().map(&mut evolve).collect()).collect()
}

fn phylip(rows: &[String]) -> String {
    let lines = rows.iter().enumerate().map(|(taxon, row)| format!("t{taxon} {row}\n"));
    format!("{} {}\n{}", rows.len(), rows[0].len(), lines.collect::<String>())
}

/// A tree of eight taxa with these lengths in turn.
fn tree(lengths: &[&str]) -> String {
    let mut lengths = lengths.iter().cycle();
    let shape = "((t0:L,t1:L):L,t2:L,(t3:L,(t4:L,(t5:L,(t6:L,t7:L):L):L):L):L);\n";
    let parts: Vec<&str> = shape.split('L').collect();
    let last = parts.len() - 1;
    let lines = parts.iter().enumerate().map(|(i, part)| match i == last {
        true => part.to_string(),
        false => format!("{part}{}", lengths.next().expect("a cycle")),
    });
    lines.collect()
}

/// Asserts that no round and no phase of a run with a single start ends lower than the one before it.
fn assert_rising(command: &str, log: &str, lnl: f64) {
    let lnls = log.lines().filter_map(|line| line.rsplit_once(": lnL ")?.1.parse::<f64>().ok());
    let lnls: Vec<f64> = lnls.chain([lnl]).collect();
    for pair in lnls.windows(2) {
        assert!(pair[1] > pair[0] - LOSS, "{command}: {} after {}\n{log}", pair[1], pair[0]);
    }
}

/// Runs an evaluation like [`sound`].
fn evaluate(scratch: &Scratch, command: &str) -> f64 {
    sound(scratch, &format!("--evaluate {command}"))
}

/// Runs a command, and looks at everything that it wrote; returns the log-likelihood.
fn sound(scratch: &Scratch, command: &str) -> f64 {
    let ran = scratch.succeed(&format!("{command} -n out --redo"));
    let read = |suffix: &str| {
        std::fs::read_to_string(scratch.path().join(format!("out.mlsearch.{suffix}")))
            .expect("a result")
    };
    for text in [&ran.stderr, &read("log"), &read("bestModel"), &read("bestTree")] {
        let has = |word: &str| {
            text.split(|c: char| !c.is_ascii_alphanumeric()).any(|found| found == word)
        };
        assert!(!has("NaN") && !has("inf"), "{command}: {text}");
    }
    for piece in read("bestTree").split(':').skip(1) {
        let end = piece.find([',', ')', ';']).expect("an end");
        let length: f64 = piece[..end].parse().expect("a length");
        assert!((1e-7..=100.0).contains(&length), "{command}: length {length}");
    }
    let lnl = log_likelihood(scratch, "out");
    assert!(lnl.is_finite() && lnl < 1e-9, "{command}: {lnl}");
    assert_rising(command, &read("log"), lnl);
    lnl
}

#[test]
fn lengths_of_any_size_lead_to_the_same_optimum() {
    let scratch = Scratch::new();
    scratch.write("a.phy", &phylip(&sequences(8, 200, 0.1)));
    for model in ["JC", "GTR+G", "GTR+FO+I+G"] {
        let mut best = f64::NEG_INFINITY;
        let starts: [&[&str]; 8] = [
            &["0.1"],
            &["0"],
            &["1e-300"],
            &["1e-8"],
            &["99"],
            &["100"],
            &["0", "1e-300", "100"],
            &["0.1", "-0.02"],
        ];
        for lengths in starts {
            scratch.write("t", &tree(lengths));
            let lnl = evaluate(&scratch, &format!("-s a.phy -m {model} -t t"));
            best = best.max(lnl);
            assert!(lnl > best - SAME_OPTIMUM, "{model}, {lengths:?}: {lnl}, not {best}");
        }
    }
    // What is raised is said, and what is no length is refused with its place.
    scratch.write("t", &tree(&["0"]));
    let ran = scratch.succeed("--evaluate -s a.phy -m JC -t t -n out --redo");
    assert!(ran.stderr.contains("13 were raised to 0.000001"), "{}", ran.stderr);
    for length in ["1e300", "1e309", "nan", "inf"] {
        scratch.write("t", &tree(&["0.1", length]));
        let ran = scratch.run("--evaluate -s a.phy -m JC -t t -n out --redo");
        ran.assert_refused(&["t, line 1, column"]);
    }
    scratch.write("t", &tree(&["0.1", "-1e-300"]));
    let ran = scratch.run("--evaluate -s a.phy -m JC -t t -n out --redo --opt-branches off");
    ran.assert_refused(&["t, line 1, column", "negative branch length"]);
}

#[test]
fn lengths_of_zero_that_must_stay_are_a_failure_that_names_the_column() {
    let scratch = Scratch::new();
    scratch.write("a.phy", &phylip(&sequences(8, 200, 0.1)));
    scratch.write("t", &tree(&["0"]));
    let ran = scratch.run("--evaluate -s a.phy -m GTR+G -t t --opt-branches off -n out");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("the likelihood of column"), "{}", ran.stderr);
    // Sequences that do not differ have a likelihood.
    scratch.write("a.phy", &phylip(&vec!["ACGTTGCA".to_string(); 8]));
    scratch.succeed("--evaluate -s a.phy -m GTR+G -t t --opt-branches off -n out --redo");
}

#[test]
fn models_at_the_ends_of_their_parameters() {
    let scratch = Scratch::new();
    scratch.write("some.phy", &phylip(&sequences(8, 200, 0.1)));
    scratch.write("random.phy", &phylip(&sequences(8, 200, 1.0)));
    scratch.write("same.phy", &phylip(&vec![sequences(1, 200, 0.0).remove(0); 8]));
    scratch.write("constant.phy", &phylip(&vec!["A".repeat(100); 8]));
    scratch.write("t", &tree(&["0.1", "0.02"]));
    let models = [
        "JC",
        "GTR+FO+I+G",
        "GTR+R4",
        "HKY+I",
        "GTR+G{0.02}",
        "GTR+G{1000}",
        "GTR+I{0.99}+G{0.02}",
        "GTR+I{0}+G64{0.02}",
        "GTR{1e-10/1e-10/1e-10/1e-10/1e-10/1}",
        "GTR{1e-10/1/1/1/1/1}+G",
        "GTR+FU{1e-300/1/1/1}+G",
        "GTR+FU{1/1e-300/1e-300/1e-300}",
        "GTR+FU{1e-300/1/1e-300/1}+G",
        "JC+I+G64{0.02}",
        // Nearly singular: many branches are as long or as short as they may be.
        "GTR{1e-5/1/1e5/1/1/1}+G",
        "GTR{1e-10/1/1e10/1/1/1}+G",
        "HKY{1e10}+G",
    ];
    for (number, model) in models.iter().enumerate() {
        for data in some_of(&["some", "random", "same", "constant"], number % 2, 2) {
            evaluate(&scratch, &format!("-s {data}.phy -t t -m {model}"));
            sound(&scratch, &format!("--fast -s {data}.phy -m {model}"));
        }
    }
}

#[test]
fn partitions_of_one_site_and_partitions_without_data() {
    let scratch = Scratch::new();
    let rows = sequences(8, 40, 0.2);
    let without = |row: &String| "-".repeat(20) + &row[20..];
    scratch.write("a.phy", &phylip(&rows));
    scratch.write("g.phy", &phylip(&rows.iter().map(without).collect::<Vec<_>>()));
    let sites: String = (1..=40).map(|site| format!("DNA, g{site} = {site}\n")).collect();
    scratch.write("sites", &sites);
    scratch.write("halves", "DNA, a = 1-20\nDNA, b = 21-40\n");
    scratch.write("t", &tree(&["0.1", "0.02"]));
    for linkage in ["linked", "scaled", "unlinked"] {
        let options = format!("--brlen {linkage} -m GTR+G");
        sound(&scratch, &format!("--fast -s a.phy -q sites {options}"));
        sound(&scratch, &format!("--fast -s g.phy -q halves {options}"));
        evaluate(&scratch, &format!("-t t -s g.phy -q halves {options}"));
    }
    // A partition's own lengths or scaler can only add to the likelihood.
    let of_linkage =
        |linkage| evaluate(&scratch, &format!("-t t -s a.phy -q sites -m GTR+G --brlen {linkage}"));
    let [linked, scaled, unlinked] = ["linked", "scaled", "unlinked"].map(of_linkage);
    assert!(linked < scaled && scaled < unlinked, "{linked}, {scaled}, {unlinked}");
    scratch.write("gaps.phy", &phylip(&vec!["-".repeat(20); 8]));
    scratch.run("-s gaps.phy -m JC -n none").assert_refused(&["no taxon has any data"]);
}

/// Constant partitions want a scaler of 0. Against their bound, the others and the lengths once crept for 100 rounds.
#[test]
fn scalers_of_many_partitions_of_one_site_converge_soon() {
    let scratch = Scratch::new();
    scratch.write("a.phy", &phylip(&sequences(8, 300, 0.1)));
    let partitions = (1..=300).map(|site| format!("JC, g{site} = {site}\n"));
    scratch.write("q", &partitions.collect::<String>());
    scratch.write("t", &tree(&["0.1", "0.02"]));
    evaluate(&scratch, "-s a.phy -q q -t t --brlen scaled");
    let log = std::fs::read_to_string(scratch.path().join("out.mlsearch.log")).expect("a log");
    let rounds = log.matches(", round ").count();
    assert!(rounds <= 12, "{rounds} rounds:\n{log}");
}

#[test]
fn two_thousand_partitions_and_five_thousand_taxa() {
    let scratch = Scratch::new();
    scratch.write("a.phy", &phylip(&sequences(8, 4000, 0.1)));
    let partitions = (0..2000).map(|partition| {
        format!("JC, g{partition} = {}-{}\n", 2 * partition + 1, 2 * partition + 2)
    });
    scratch.write("q", &partitions.collect::<String>());
    scratch.write("t", &tree(&["0.1", "0.02"]));
    for linkage in ["linked", "scaled", "unlinked"] {
        evaluate(&scratch, &format!("-s a.phy -q q -t t --brlen {linkage}"));
    }
    scratch.succeed("simulate --tree rand{5000} -m JC --sites 20 -n big");
    evaluate(&scratch, "-s big.mlsearch.phy -t big.mlsearch.trueTree -m JC+G");
}
