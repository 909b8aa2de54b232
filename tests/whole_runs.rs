//! Whole runs on small real alignments: what they write, and that it can be read back.

use crate::util::{Scratch, report, repository};
use serde_json::Value;
use std::path::Path;

fn dataset(name: &str) -> String {
    repository(&format!("datasets/{name}.phy")).display().to_string()
}

fn partitions(name: &str) -> String {
    repository(&format!("partitions/{name}.part")).display().to_string()
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn lnl(report: &Value) -> f64 {
    report["log_likelihood"].as_f64().expect("a log-likelihood")
}

fn run(scratch: &Scratch, arguments: &str) {
    let ran = scratch.run(&format!("{arguments} --quiet"));
    assert_eq!(ran.code, 0, "{arguments}: {}", ran.stderr);
}

#[test]
fn best_model_and_best_trees_give_the_same_likelihood_again() {
    let (msa, part) = (dataset("gallwasps"), partitions("gallwasps"));
    for mode in ["linked", "scaled", "unlinked"] {
        let scratch = Scratch::new();
        let command = format!("-s {msa} --brlen {mode}");
        run(
            &scratch,
            &format!("{command} --evaluate -q {part} -m HKY+I+G -t pars{{1}} -e 1 -n one"),
        );
        let own = match mode {
            "unlinked" => "--partition-trees one.mlsearch.bestPartitionTrees",
            _ => "",
        };
        run(
            &scratch,
            &format!(
                "{command} --evaluate -m one.mlsearch.bestModel -t one.mlsearch.bestTree {own} \
                 --opt-model off --opt-branches off -n two"
            ),
        );
        let (one, two) = (report(&scratch, "one"), report(&scratch, "two"));
        // The same, except that CLVs point elsewhere: node numbers of a tree read back may differ.
        assert!((lnl(&one) - lnl(&two)).abs() < 1e-7, "{mode}: {} {}", lnl(&one), lnl(&two));
        for partition in 0..4 {
            let scaler = |report: &Value| report["partitions"][partition]["brlen_scaler"].clone();
            assert_eq!(scaler(&one), scaler(&two), "{mode}");
        }
        let models = |prefix: &str| read(scratch.path(), &format!("{prefix}.mlsearch.bestModel"));
        assert_eq!(models("one").matches("+BU{").count(), if mode == "scaled" { 4 } else { 0 });
    }
}

/// Every partition alone, on the tree of its own taxa with its own lengths, has the likelihood that it
/// has in the whole: in scaled mode with its scaler, in unlinked mode with its own tree.
#[test]
fn partitions_evaluated_alone_add_up_to_the_whole() {
    let part = partitions("gallwasps");
    let alignment = std::fs::read_to_string(repository("datasets/gallwasps.phy")).expect("data");
    let rows: Vec<(&str, &str)> = alignment
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(' '))
        .map(|(name, row)| (name, row.trim()))
        .collect();
    for mode in ["scaled", "unlinked"] {
        let scratch = Scratch::new();
        let msa = dataset("gallwasps");
        let command = format!("--evaluate -s {msa} -q {part} -m GTR+G -t pars{{1}} -e 1");
        run(&scratch, &format!("{command} --brlen {mode} -n all"));
        let whole = report(&scratch, "all");
        let models = read(scratch.path(), "all.mlsearch.bestModel");
        let mut own_trees = match mode {
            "unlinked" => read(scratch.path(), "all.mlsearch.bestPartitionTrees"),
            _ => String::new(),
        };
        let mut sum = 0.0;
        for (partition, line) in models.lines().enumerate() {
            let (model, rest) = line.split_once(',').expect("a line");
            let (first, last) = rest
                .split_once('=')
                .and_then(|(_, range)| range.trim().split_once('-'))
                .map(|(a, b)| (a.parse::<usize>().unwrap(), b.parse::<usize>().unwrap()))
                .expect("one range");
            let has_data = |row: &str| row[first - 1..last].contains(['A', 'C', 'G', 'T']);
            let present: Vec<_> = rows.iter().filter(|(_, row)| has_data(row)).collect();
            let mut text = format!("{} {}\n", present.len(), last - first + 1);
            for (name, row) in &present {
                text.push_str(&format!("{name}  {}\n", &row[first - 1..last]));
            }
            scratch.write("partition.phy", &text);
            let tree = if mode == "unlinked" {
                let (tree, rest) = own_trees.split_once('\n').expect("a tree per line");
                let tree = tree.to_string();
                own_trees = rest.to_string();
                tree
            } else {
                let names: Vec<&str> = present.iter().map(|row| row.0).collect();
                prune(&read(scratch.path(), "all.mlsearch.bestTree"), &names)
            };
            scratch.write("partition.tree", &tree);
            scratch.write("partition.part", &format!("{model}, g = 1-{}\n", last - first + 1));
            let brlen = if mode == "scaled" { "scaled" } else { "linked" };
            run(
                &scratch,
                &format!(
                    "--evaluate -s partition.phy -q partition.part -t partition.tree --brlen {brlen} --opt-model off \
                     --opt-branches off -n partition --redo"
                ),
            );
            let alone = lnl(&report(&scratch, "partition"));
            let part = whole["partitions"][partition]["log_likelihood"].as_f64().unwrap();
            assert!((alone - part).abs() < 1e-7, "{mode}, partition {partition}: {alone} {part}");
            sum += alone;
        }
        assert!((sum - lnl(&whole)).abs() < 1e-6, "{mode}");
        let scalers =
            |partition: usize| whole["partitions"][partition]["brlen_scaler"].as_f64().unwrap();
        assert_eq!(
            (0..4).any(|partition| (scalers(partition) - 1.0).abs() > 0.05),
            mode == "scaled"
        );
    }
}

/// The tree without the taxa that are not in `keep`, nodes of degree two suppressed, lengths added: a
/// second implementation, on text.
fn prune(newick: &str, keep: &[&str]) -> String {
    fn subtree<'a>(text: &'a str, keep: &[&str]) -> (Option<(String, f64)>, &'a str) {
        let (inner, mut rest) = match text.strip_prefix('(') {
            None => {
                let end = text.find(':').expect("a length");
                let name = &text[..end];
                let found = keep.contains(&name).then(|| (name.to_string(), 0.0));
                (found, &text[end..])
            }
            Some(mut rest) => {
                let mut parts = Vec::new();
                loop {
                    let (part, after) = subtree(rest, keep);
                    parts.extend(part);
                    rest = &after[1..];
                    if after.starts_with(')') {
                        break;
                    }
                }
                let written = |parts: &[(String, f64)]| {
                    let texts: Vec<_> = parts.iter().map(|(t, l)| format!("{t}:{l:.11}")).collect();
                    format!("({})", texts.join(","))
                };
                let joined = match parts.len() {
                    0 => None,
                    1 => parts.pop(),
                    _ => Some((written(&parts), 0.0)),
                };
                (joined, rest)
            }
        };
        let mut length = 0.0;
        if let Some(after) = rest.strip_prefix(':') {
            let end = after.find([',', ')', ';']).expect("an end");
            length = after[..end].parse().expect("a length");
            rest = &after[end..];
        }
        (inner.map(|(text, below)| (text, below + length)), rest)
    }
    let (tree, _) = subtree(newick.trim(), keep);
    tree.expect("taxa are left").0 + ";"
}

#[test]
fn a_simulated_tree_is_found_again_and_its_splits_are_supported() {
    let scratch = Scratch::new();
    let model = "HKY{3}+FU{0.3/0.2/0.2/0.3}+G4{1}";
    scratch.write("genes", &format!("{model}, a = 1-900\n{model}, b = 901-1500\n"));
    let ran = scratch
        .run("simulate --tree rand{12} -q genes --missing 0.2 --mean-brlen 0.1 --prefix sim -p 3");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let data = "-s sim.mlsearch.phy -q sim.mlsearch.part";
    run(&scratch, &format!("{data} --all --bs-trees 5 -n found"));
    let trees = read(scratch.path(), "sim.mlsearch.trueTree")
        + &read(scratch.path(), "found.mlsearch.bestTree");
    scratch.write("both", &trees);
    run(&scratch, "--rfdist --tree both -n rf");
    let rf = report(&scratch, "rf");
    assert!(rf["rf_distances"]["mean_absolute"].as_f64().unwrap() <= 2.0, "{rf}");
    let gappyness = report(&scratch, "sim")["alignment"]["gappyness"].as_f64().unwrap();
    assert!((0.1..0.3).contains(&gappyness), "{gappyness}");
    // Support mapped afresh is support as the whole run mapped it.
    run(
        &scratch,
        "--support --tree found.mlsearch.bestTree --bs-trees found.mlsearch.bootstraps -n again",
    );
    let support = |name: &str| read(scratch.path(), &format!("{name}.mlsearch.support"));
    assert_eq!(support("found"), support("again"));
    let again = "--support --tree found.mlsearch.bestTree --bs-trees found.mlsearch.bootstraps";
    run(&scratch, &format!("{again} --bs-metric tbe,fbp -n both"));
    let both = report(&scratch, "both");
    let newick = both["support"]["tree"].as_str().unwrap();
    assert_eq!(newick.to_string() + "\n", support("both"));
    assert_eq!(both["support"]["label"], serde_json::json!(["fbp", "tbe"]));
    // The branches stand in the order of their labels.
    let labels = newick.split(')').skip(1).filter_map(|text| text.split(':').next());
    let labels: Vec<&str> = labels.filter(|label| label.contains('/')).collect();
    let branches = both["support"]["branches"].as_array().unwrap();
    assert_eq!((labels.len(), branches.len()), (9, 9), "{newick}");
    for (label, branch) in labels.iter().zip(branches) {
        let value = |name: &str| branch[name].as_f64().unwrap();
        let tbe = (1e3 * value("tbe")).round() / 1e3;
        assert_eq!(*label, format!("{:.0}/{tbe}", value("fbp")));
        assert!(value("transfer_distance") >= 0.0 && 100.0 * value("tbe") >= value("fbp") - 1e-9);
        assert_eq!(value("transfer_distance") == 0.0, value("fbp") == 100.0);
    }
    run(&scratch, "--consense STRICT --tree found.mlsearch.bootstraps -n strict");
    let consensus = read(scratch.path(), "strict.mlsearch.consensusTree");
    assert!(consensus.ends_with(");\n") && consensus.contains("t01"), "{consensus}");
}

#[test]
fn branches_of_evaluated_trees_are_tested_under_every_linkage() {
    let (msa, part) = (dataset("gallwasps"), partitions("gallwasps"));
    for mode in ["linked", "scaled", "unlinked"] {
        let scratch = Scratch::new();
        let data = format!("-s {msa} -q {part} -m HKY+G --brlen {mode} -t pars{{2}} -e 0.1");
        run(&scratch, &format!("--evaluate {data} --alrt 200 --abayes -n tested"));
        run(&scratch, &format!("--evaluate {data} -n plain"));
        for kind in ["bestTree", "bestModel", "mlTrees"] {
            let of = |name: &str| read(scratch.path(), &format!("{name}.mlsearch.{kind}"));
            assert_eq!(of("tested"), of("plain"), "{mode}: the tests change nothing else");
        }
        let support = report(&scratch, "tested")["support"].clone();
        assert_eq!(support["label"], serde_json::json!(["sh_alrt", "abayes"]));
        assert_eq!(support["sh_alrt_replicates"], 200);
        let branches = support["branches"].as_array().unwrap();
        assert_eq!(branches.len(), 29);
        let values = |name: &str| -> Vec<f64> {
            branches.iter().map(|branch| branch[name].as_f64().unwrap()).collect()
        };
        let (alrt, abayes) = (values("sh_alrt"), values("abayes"));
        assert!(
            alrt.iter().all(|&value| (0.0..=100.0).contains(&value) && (2.0 * value) % 1.0 == 0.0)
        );
        assert!(abayes.iter().all(|value| (0.0..=1.0).contains(value)));
        // A branch with a lead has more than a third of the probability; what leads clearly is sure.
        for (alrt, abayes) in alrt.iter().zip(&abayes) {
            assert!(*alrt == 0.0 || *abayes > 1.0 / 3.0, "{mode}: {alrt} and {abayes}");
            assert!(*alrt < 99.0 || *abayes > 0.9, "{mode}: {alrt} and {abayes}");
        }
        assert!(alrt.iter().any(|&value| value > 95.0), "{mode}: {alrt:?}");
        assert!(!report(&scratch, "plain").as_object().unwrap().contains_key("support"));
    }
}

#[test]
fn a_check_speaks_on_standard_output_and_writes_nothing() {
    let scratch = Scratch::new();
    let (msa, part) = (dataset("gallwasps"), partitions("gallwasps"));
    let ran = scratch.run(&format!("--check -s {msa} -q {part} -m GTR+G"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for word in ["32 taxa, 3080 sites", "LWRh", "gappyness 5.3 %", "memory", "time", "threads"] {
        assert!(ran.stdout.contains(word), "'{word}' is missing in {}", ran.stdout);
    }
    assert!(scratch.files().is_empty());
}

#[test]
fn several_starting_trees_are_all_searched_and_the_best_wins() {
    let scratch = Scratch::new();
    let msa = dataset("primates");
    scratch.write(
        "one",
        "(Lemur_catta,((Saimiri_sciureus,(M_sylvanus,(Macaca_fuscata,(M_fascicularis,M_mulatta)))),(Homo_sapiens,((Gorilla,Pan),(Hylobates,Pongo)))),Tarsius_syrichta);",
    );
    run(&scratch, &format!("-s {msa} -m HKY+G -t pars{{2}},one,rand{{1}} -n four"));
    let found = report(&scratch, "four");
    let trees = found["trees"].as_array().unwrap();
    let sources: Vec<&str> = trees.iter().map(|tree| tree["source"].as_str().unwrap()).collect();
    assert_eq!(sources, ["pars 1", "pars 2", "one, tree 1", "rand 1"]);
    let all: Vec<f64> = trees.iter().map(|tree| tree["log_likelihood"].as_f64().unwrap()).collect();
    assert_eq!(all.iter().copied().fold(f64::NEG_INFINITY, f64::max), lnl(&found));
    for file in ["startTree", "mlTrees"] {
        let text = read(scratch.path(), &format!("four.mlsearch.{file}"));
        assert_eq!(text.lines().count(), 4, "{file}");
    }
    // Starting trees alone are those of the search.
    run(&scratch, &format!("--start -s {msa} -m HKY+G -t pars{{2}},one,rand{{1}} -n start"));
    let starts = |name: &str| read(scratch.path(), &format!("{name}.mlsearch.startTree"));
    assert_eq!(starts("start"), starts("four"));
}
