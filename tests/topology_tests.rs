//! Tests of given trees, as a user runs them.

use crate::util::{FIVE_TAXA, Scratch, assert_same_bytes, report, repository};

const BEST: &str = "((a,b),c,(d,e));\n";
const OTHER: &str = "((a,c),b,(d,e));\n";
const WORST: &str = "((a,d),c,(b,e));\n";

fn scratch(trees: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("a.phy", FIVE_TAXA);
    scratch.write("t", trees);
    scratch
}

#[test]
fn tests_write_the_same_bytes_on_every_machine() {
    let command = format!(
        "-s {} -q {} -m GTR+G -t pars{{2}},rand{{2}} --tests all --rell 250 --quiet -e 0.1",
        repository("datasets/primates.phy").display(),
        repository("partitions/primates.part").display()
    );
    let kinds = ["bestTree", "mlTrees", "topologyTests", "log", "json"];
    assert_same_bytes(&Scratch::new(), &command, &kinds);
}

#[test]
fn equal_topologies_are_named_and_tested_as_one() {
    let rerooted = "(a,b,(c,(e,d)));\n";
    let scratch = scratch(&format!("{BEST}{WORST}{rerooted}{OTHER}"));
    let ran = scratch.succeed("-s a.phy -m JC -z t --tests au,elw,kh,sh,bp -n x");
    assert!(ran.stderr.contains("t, tree 3 has the same topology as t, tree 1"), "{}", ran.stderr);
    assert!(ran.stdout.contains("Tests of the trees, 10000 RELL replicates"), "{}", ran.stdout);
    let tests = &report(&scratch, "x")["topology_tests"];
    assert_eq!(tests["replicates"], 10_000);
    let value = |tree: usize, test: &str| {
        tests["trees"][tree]["tests"][test]["value"].as_f64().unwrap_or_else(|| panic!("{tests}"))
    };
    let same = (0..4).filter(|&tree| !tests["trees"][tree]["tested_as"].is_null());
    let same: Vec<usize> = same.collect();
    assert!(same == [0] || same == [2], "{same:?}");
    for test in ["bp", "elw"] {
        assert_eq!(value(0, test), value(2, test));
        let sum: f64 = [0, 1, 3].map(|tree| value(tree, test)).iter().sum();
        assert!((sum - 1.0).abs() < 1e-9, "{test}: {sum}");
    }
    assert!(value(0, "au") > 0.5 && value(1, "au") < 0.05, "{tests}");
    assert_eq!(value(0, "sh"), 1.0);
    assert!(tests["trees"][1]["tests"]["au"]["standard_error"].is_f64());
    assert_eq!(tests["trees"][1]["tests"]["au"]["in_confidence_set"], false);
    let file = scratch.path().join("x.mlsearch.topologyTests");
    let table = std::fs::read_to_string(file).unwrap();
    let head = "tree\tsource\tlnL\tdelta\ttested_as\tbp\tbp_set\tkh\tkh_set\tsh\tsh_set\telw\telw_set\tau\tau_set";
    assert_eq!(table.lines().next(), Some(head));
    assert_eq!(table.lines().count(), 5);
    assert!(table.lines().all(|line| line.split('\t').count() == 15), "{table}");
}

#[test]
fn raxmls_and_iqtrees_options_test_the_same_trees() {
    let scratch = scratch(&format!("{WORST}{OTHER}"));
    scratch.write("best", BEST);
    scratch
        .succeed("-s a.phy -m JC -t best -z t --tests kh,sh,bp,elw,wkh,wsh,au --rell 200 -n own");
    let iqtree = scratch.succeed("-s a.phy -m JC -te best -z t -zb 200 -zw -au -n iqtree");
    assert!(iqtree.stderr.contains("-zb 200 is read as --tests"), "{}", iqtree.stderr);
    let own = &report(&scratch, "own")["topology_tests"];
    assert_eq!(*own, report(&scratch, "iqtree")["topology_tests"]);
    assert_eq!(own["trees"][0]["delta"], 0.0);
    scratch.succeed("-f h -s a.phy -m JC -t best -z t --rell 200 -n raxml");
    let raxml = &report(&scratch, "raxml")["topology_tests"];
    assert_eq!(raxml["trees"][1]["tests"]["sh"], own["trees"][1]["tests"]["sh"]);
    assert_eq!(raxml["trees"][1]["tests"].as_object().map(|tests| tests.len()), Some(1));
}

#[test]
fn trees_that_cannot_be_tested_are_refused() {
    for (trees, options, expected) in [
        (BEST.to_string(), "--tests au", "t, tree 1 is the only tree"),
        (
            format!("{BEST}(a,b,((d,e),c));\n"),
            "--tests au",
            "all 2 trees have the topology of t, tree 1",
        ),
        (format!("{BEST}((a,b),c,(d,x));\n"), "--tests au", "'x'"),
        (format!("{BEST}{OTHER}"), "--tests foo", "--tests foo: expected some of bp, kh, sh"),
        (format!("{BEST}{OTHER}"), "--tests au --rell many", "--rell many"),
        (
            format!("{BEST}{OTHER}"),
            "--search --tests au",
            "'--tests' is no option of search; evaluate has it",
        ),
    ] {
        let scratch = scratch(&trees);
        let ran = scratch.run(&format!("-s a.phy -m JC -z t {options} -n x"));
        ran.assert_refused(&[expected]);
        assert_eq!(scratch.files(), ["a.phy", "t"], "{options}");
    }
}

#[test]
fn kept_lengths_make_equal_topologies_different() {
    let lengths = |scale: f64| {
        let [short, long] = [0.05 * scale, 0.1 * scale];
        format!("((a:{short},b:{short}):{long},c:{short},(d:{short},e:{short}):{long});\n")
    };
    let scratch = scratch(&format!("{}{}", lengths(1.0), lengths(20.0)));
    scratch.succeed("-s a.phy -m JC -z t --tests kh --opt-branches off -n x");
    let tests = &report(&scratch, "x")["topology_tests"];
    assert!(tests["trees"][1]["tests"]["kh"]["value"].as_f64().unwrap() < 0.05, "{tests}");
}
