//! The order of rows and of lines of the partition file does not matter: the same bytes but for the order of lists.

use crate::util::{Scratch, repository, results};
use std::collections::BTreeMap;

/// Another order of the lines after `keep` first ones: the same for the same key.
fn shuffled(text: &str, keep: usize, key: u64) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut rest: Vec<(u64, &str)> = lines[keep..]
        .iter()
        .enumerate()
        .map(|(i, line)| ((i as u64 + 1).wrapping_mul(key).rotate_left(29) % 1_000_003, *line))
        .collect();
    rest.sort_unstable();
    let all = lines[..keep].iter().copied().chain(rest.into_iter().map(|(_, line)| line));
    all.flat_map(|line| [line, "\n"]).collect()
}

fn sorted_lines(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

/// Results with what stands in the order of the partition file in the order of the partitions' names.
fn without_order_of_partitions(mut results: BTreeMap<String, String>) -> BTreeMap<String, String> {
    for kind in ["bestModel", "bestPartitionTrees"] {
        results.entry(kind.into()).and_modify(|text| *text = sorted_lines(text));
    }
    let json = results.get_mut("json").expect("a report");
    let mut report: serde_json::Value = serde_json::from_str(json).expect("JSON");
    for list in ["partitions", "model_selection", "model", "warnings"] {
        if let Some(items) = report[list].as_array_mut() {
            items.sort_by_key(ToString::to_string);
        }
    }
    *json = report.to_string();
    // Tables of the log follow the file.
    results.remove("log");
    results
}

/// Runs a command on the data as they are, with the rows in another order on two threads, and with rows and partitions in
/// another order.
fn assert_order_does_not_matter(msa: &str, part: Option<&str>, options: &str) {
    let scratch = Scratch::new();
    let run = |name: &str, msa: &str, part: Option<&str>, threads: usize| {
        scratch.write("a.phy", msa);
        let part = part.map_or("", |part| {
            scratch.write("a.part", part);
            "-q a.part"
        });
        scratch.succeed(&format!("-s a.phy {part} {options} --quiet -T {threads} -n {name}"));
        results(&scratch, name)
    };
    let as_it_is = run("given", msa, part, 1);
    let rows = shuffled(msa, 1, 0x9E37_79B9_7F4A_7C15);
    assert_ne!(rows, msa);
    assert_same(&as_it_is, &run("rows", &rows, part, 2), options);
    let key = 0xC2B2_AE3D_27D4_EB4F;
    let lines = part.map(|part| shuffled(part, 0, key));
    let both = run("both", &shuffled(msa, 1, key), lines.as_deref(), 1);
    let [expected, found] = [as_it_is, both].map(without_order_of_partitions);
    assert_same(&expected, &found, options);
}

fn assert_same(
    expected: &BTreeMap<String, String>,
    found: &BTreeMap<String, String>,
    options: &str,
) {
    assert!(expected.keys().eq(found.keys()), "{options}: other files");
    for (kind, text) in expected {
        assert_eq!(&found[kind], text, "{options}: {kind}");
    }
}

fn data(path: &str) -> String {
    std::fs::read_to_string(repository(path)).expect("a file of the repository")
}

#[test]
fn searches_and_replicates_do_not_depend_on_the_order_of_rows_and_partitions() {
    let (primates, partitions) = (data("datasets/primates.phy"), data("partitions/primates.part"));
    let all = "-m GTR+G --all --bs-trees 3 -k --alrt 50 --sitelh --bs-metric fbp,tbe";
    assert_order_does_not_matter(&primates, Some(&partitions), &format!("{all} --brlen scaled"));
    assert_order_does_not_matter(
        &primates,
        Some(&partitions),
        &format!("{all} -t rand{{1}},pars{{1}}"),
    );
    let birds = data("datasets/ovomucoids.phy");
    assert_order_does_not_matter(&birds, None, "-m LG+G --all --bs-trees 2 --fast");
    let wasps = (data("datasets/gallwasps.phy"), data("partitions/gallwasps.part"));
    assert_order_does_not_matter(&wasps.0, Some(&wasps.1), "-m HKY+G --fast");
}

#[test]
fn missing_partitions_with_own_lengths_do_not_depend_on_the_order() {
    let (gappy, partitions) = (data("datasets/gappy.phy"), data("partitions/gappy.part"));
    let options = "-m GTR+G -M --all --bs-trees 1 --fast";
    assert_order_does_not_matter(&gappy, Some(&partitions), options);
}

#[test]
fn identical_sequences_do_not_depend_on_the_order() {
    let mut text = "18 898\n".to_string();
    for (i, line) in data("datasets/primates.phy").lines().skip(1).enumerate() {
        let (name, row) = line.split_once(' ').expect("a name");
        text.push_str(&format!("{name} {row}\n"));
        if i % 2 == 0 {
            // Before and after the name of the sequence that it repeats.
            let copy = if i % 4 == 0 { "A_copy" } else { "z_copy" };
            text.push_str(&format!("{copy}{i} {row}\n"));
        }
    }
    let partitions = data("partitions/primates.part");
    assert_order_does_not_matter(&text, Some(&partitions), "-m GTR+G --all --bs-trees 3");
    assert_order_does_not_matter(&text, Some(&partitions), "-m GTR+G -M --fast --keep-identical");
}

#[test]
fn selected_models_do_not_depend_on_the_order() {
    let (primates, partitions) = (data("datasets/primates.phy"), data("partitions/primates.part"));
    assert_order_does_not_matter(&primates, Some(&partitions), "-m auto --fast");
    let mut codons = "7 300\n".to_string();
    for line in data("datasets/hominoids.phy").lines().skip(1) {
        let (name, row) = line.split_once(' ').expect("a name");
        codons.push_str(&format!("{name} {}\n", &row.trim()[..300]));
    }
    assert_order_does_not_matter(&codons, None, "-m GY+F3X4 --data-type CODON2 --fast");
}

/// Model and trees of the partitions are written in the order of the file, and can be given again in it.
#[test]
fn what_a_run_writes_is_in_the_order_of_its_partition_file() {
    let scratch = Scratch::new();
    let gappy = repository("datasets/gappy.phy").display().to_string();
    let tree = repository("datasets/gappy.tree").display().to_string();
    let lines = shuffled(&data("partitions/gappy.part"), 0, 0x9E37_79B9_7F4A_7C15);
    scratch.write("genes.part", &lines);
    let given = format!("--evaluate -s {gappy} -t {tree} -M --quiet");
    scratch.succeed(&format!("{given} -q genes.part -m HKY+G -n first -e 1"));
    let first = results(&scratch, "first");
    let names = |text: &str| -> Vec<String> {
        let name = text.lines().filter_map(|line| line.split('=').next()?.rsplit(',').next());
        name.map(|name| name.trim().to_string()).collect()
    };
    assert_eq!(names(&first["bestModel"]), names(&lines));
    scratch.succeed(&format!(
        "{given} -q first.mlsearch.bestModel --partition-trees first.mlsearch.bestPartitionTrees \
         --opt-model off --opt-branches off -n again"
    ));
    let again = results(&scratch, "again");
    assert_eq!(names(&again["bestModel"]), names(&lines));
    assert_eq!(again["bestPartitionTrees"], first["bestPartitionTrees"]);
    let lnl = |results: &BTreeMap<String, String>| {
        let report: serde_json::Value = serde_json::from_str(&results["json"]).expect("JSON");
        report["log_likelihood"].as_f64().expect("a log-likelihood")
    };
    assert!((lnl(&again) - lnl(&first)).abs() < 1e-4, "{} {}", lnl(&again), lnl(&first));
}

/// Faults are told in the order of the file.
#[test]
fn faults_are_told_in_the_order_of_the_rows() {
    let scratch = Scratch::new();
    scratch.write("a.phy", "4 4\nz ACGT\ny ACET\nb ACGT\na ACZT\n");
    let ran = scratch.run("-s a.phy -m GTR -n a");
    ran.assert_refused(&["line 3, column 3, 'y'", "line 5, column 3, 'a'"]);
    assert!(ran.stderr.find("'y'") < ran.stderr.find("'a'"), "{}", ran.stderr);
}
