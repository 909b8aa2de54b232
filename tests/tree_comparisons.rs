//! Commands on trees: distances, consensus, internode certainty and concordance factors, beside other programs.

use crate::util::{FIVE_TAXA, Scratch, report, repository, taxa_behind};
use mlsearch::tree::read_newick;
use std::collections::BTreeSet;

/// The rows of a table beside the golden values, without comments and heading.
fn golden(name: &str) -> Vec<Vec<String>> {
    let path = repository("tests/golden").join(name);
    let text = std::fs::read_to_string(path).expect("a golden table");
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| line.split('\t').map(String::from).collect()).collect()
}

fn golden_path(name: &str) -> String {
    repository("tests/golden").join(name).display().to_string()
}

fn read(scratch: &Scratch, name: &str) -> String {
    std::fs::read_to_string(scratch.path().join(name)).expect("a result")
}

fn numbers(line: &str) -> Vec<f64> {
    line.split('\t').map(|word| word.parse().expect("a number")).collect()
}

/// The side of a branch that lacks the first taxon by name, sorted, as in the golden tables.
fn side(taxa: impl IntoIterator<Item = String>, all: &BTreeSet<String>) -> String {
    let side: BTreeSet<String> = taxa.into_iter().collect();
    let other: BTreeSet<String> = all.difference(&side).cloned().collect();
    let side = if side.contains(all.first().expect("taxa")) { other } else { side };
    side.into_iter().collect::<Vec<_>>().join(",")
}

/// Asserts that the labels of the branches of `x.mlsearch.support` are the values of a golden table, up to the last of three digits.
fn assert_support(scratch: &Scratch, table: &str) {
    let newick = read_newick(&read(scratch, "x.mlsearch.support"), "support").unwrap().remove(0);
    let behind = taxa_behind(&newick);
    let labels = newick.nodes().zip(&behind).filter(|(node, _)| !node.is_tip());
    let mut found: Vec<(String, Vec<f64>)> = labels
        .filter_map(|(node, taxa)| {
            let values = node.name()?.split('/').map(|word| word.parse().unwrap()).collect();
            Some((side(taxa.iter().cloned(), &behind[0]), values))
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let golden = golden(table);
    assert_eq!(found.len(), golden.len());
    for ((taxa, values), expected) in found.iter().zip(&golden) {
        assert_eq!(*taxa, expected[0]);
        for (value, expected) in values.iter().zip(&expected[1..]) {
            let expected: f64 = expected.parse().unwrap();
            assert!((value - expected).abs() < 1.001e-3, "{taxa}: {value}, expected {expected}");
        }
    }
}

#[test]
fn distances_between_trees_are_those_of_other_programs() {
    let scratch = Scratch::new();
    let trees = golden_path("distances.nwk");
    scratch.succeed(&format!("--rfdist {trees} --rfdist-metric rf,wrf,kf,quartet -T 2 -n all"));
    let text = read(&scratch, "all.mlsearch.rfDistances");
    let heading = "tree1\ttree2\trf\trelative_rf\twrf\tkf\tquartet\trelative_quartet";
    assert_eq!(text.lines().next(), Some(heading));
    let golden = golden("distances.tsv");
    assert_eq!(text.lines().count(), golden.len() + 1);
    for (line, expected) in text.lines().skip(1).zip(&golden) {
        let found = numbers(line);
        let expected: Vec<f64> = expected.iter().map(|word| word.parse().unwrap()).collect();
        for (at, number) in [0, 1, 2, 4, 5, 6].into_iter().zip(expected) {
            assert!((found[at] - number).abs() < 1e-8, "{line}: expected {number}");
        }
        assert!((found[3] - found[2] / 18.0).abs() < 1e-6, "2(n-3) = 18: {line}");
        assert!((found[7] - found[6] / 495.0).abs() < 1e-6, "C(12, 4) = 495: {line}");
    }
    // Plain distances have no heading, as RAxML-NG writes them; the same bytes with another number of threads.
    scratch.succeed(&format!("--rfdist {trees} -T 1 -n plain"));
    let plain = read(&scratch, "plain.mlsearch.rfDistances");
    let cut: Vec<String> = text
        .lines()
        .skip(1)
        .map(|line| line.split('\t').take(4).collect::<Vec<_>>().join("\t") + "\n")
        .collect();
    assert_eq!(plain, cut.concat());
    let report = report(&scratch, "all");
    let distances = &report["rf_distances"];
    assert_eq!((&distances["trees"], &distances["topologies"]), (&12.into(), &12.into()));
    let names: Vec<&str> = distances["metrics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|metric| metric["metric"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["rf", "wrf", "kf", "quartet"]);
}

#[test]
fn one_tree_is_compared_with_many() {
    let scratch = Scratch::new();
    let trees = std::fs::read_to_string(golden_path("distances.nwk")).unwrap();
    let (first, others) = trees.split_once('\n').unwrap();
    scratch.write("first", first);
    scratch.write("others", others);
    let all = golden("distances.tsv");
    for (command, name) in [
        ("--tree first --rfdist others", "ng"),
        ("-f R -t first -z others", "raxml"),
        ("-t first -rf others", "iqtree"),
    ] {
        scratch.succeed(&format!("{command} --rfdist-metric quartet,rf -n {name}"));
        let text = read(&scratch, &format!("{name}.mlsearch.rfDistances"));
        let rows: Vec<Vec<f64>> = text.lines().skip(1).map(numbers).collect();
        assert_eq!(rows.len(), 11);
        for (row, expected) in rows.iter().zip(&all) {
            assert_eq!(row[0], 0.0);
            assert_eq!(row[1] + 1.0, expected[1].parse::<f64>().unwrap());
            assert_eq!(row[2], expected[2].parse::<f64>().unwrap());
            assert_eq!(row[4], expected[5].parse::<f64>().unwrap());
        }
    }
    assert_eq!(report(&scratch, "ng")["rf_distances"]["references"], 1);
}

#[test]
fn trees_that_cannot_be_compared_are_refused() {
    let scratch = Scratch::new();
    scratch.write("trees", "(A:1,B:1,(C:1,D:1):1);\n(A,B,(C,D));\n(A,B,(C,E));\n");
    let ran = scratch.run("--rfdist trees --rfdist-metric wrf -n x");
    ran.assert_refused(&[
        "trees, line 2",
        "without a length",
        "trees, line 3",
        "'E'",
        "the first tree",
    ]);
    scratch.write("first", "(A,B,(C,D));");
    scratch.run("--rfdist trees -t first -n x").assert_refused(&["trees, line 3", "'E'", "first"]);
    assert_eq!(scratch.files(), ["first", "trees"]);
}

#[test]
fn trees_without_lengths_are_one_fault_of_weighted_distances() {
    let scratch = Scratch::new();
    // Replicates without lengths are one fault, which says how to write them with lengths.
    scratch.write("a.phy", FIVE_TAXA);
    let replicates = "--bootstrap -s a.phy -m JC --bs-trees 4 --quiet";
    scratch.succeed(&format!("{replicates} -n plain"));
    scratch.succeed(&format!("{replicates} -k -n long"));
    for (command, said) in [
        ("--rfdist plain.mlsearch.bootstraps", "4 of 4 trees"),
        ("--rfdist plain.mlsearch.bootstraps -t long.mlsearch.bootstraps", "4 of 4 trees"),
        ("--rfdist long.mlsearch.bootstraps -t plain.mlsearch.bootstraps", "4 of 4 trees"),
    ] {
        let ran = scratch.run(&format!("{command} --rfdist-metric kf -n x"));
        let place = "plain.mlsearch.bootstraps, line 1: ";
        ran.assert_refused(&[place, said, "the first is tree 1", "-k (--bs-brlens)"]);
        assert!(!ran.stderr.contains("errors"), "{}", ran.stderr);
    }
    scratch.succeed("--rfdist long.mlsearch.bootstraps --rfdist-metric wrf,kf -n y");
    scratch.write("some", "(A:1,B:1,(C:1,D:1):1);\n(A:1,B:1,(C:1,D));\n(A,B,(C,D));\n");
    scratch
        .run("--rfdist some --rfdist-metric rf,wrf -n x")
        .assert_refused(&["some, line 2: 2 of 3 trees", "the first is tree 2"]);
}

#[test]
fn consensus_trees_have_mean_lengths() {
    let scratch = Scratch::new();
    scratch.write(
        "trees",
        "((A:1,B:2):3,C:4,(D:1,E:1):1);\n((E:3,D:1):2,(A:3,B:2):4,C:1);\n(A:2,B:5,C:1,D:1,E:2);\n",
    );
    scratch.succeed("--consense --tree trees -n x");
    let consensus = read(&scratch, "x.mlsearch.consensusTree");
    assert_eq!(consensus, "(A:2,B:3,(C:2,(D:1,E:2)67:1.5)67:3.5);\n");
    // Lengths in units of time are no reason to refuse trees.
    scratch.write("timed", "((A:1e6,B:2e6):3e6,C:4e6,(D:1,E:1):-1);");
    scratch.succeed("--consense --tree timed -n y");
    assert_eq!(read(&scratch, "y.mlsearch.consensusTree"), "(A,B,(C,(D,E)100)100);\n");
}

#[test]
fn internode_certainty_is_that_of_raxml() {
    let scratch = Scratch::new();
    let (tree, set) = (golden_path("gallwasps.tree"), golden_path("gallwasps_set.nwk"));
    let ran = scratch.succeed(&format!("-f i -t {tree} -z {set} -n x"));
    // RAxML's TC and TCA.
    assert!(ran.stdout.contains("17.160") && ran.stdout.contains("16.806"), "{}", ran.stdout);
    assert_support(&scratch, "gallwasps_certainty.tsv");
    let report = report(&scratch, "x");
    assert_eq!(report["support"]["label"], serde_json::json!(["ic1", "ica"]));
    assert_eq!(report["support"]["branches"].as_array().unwrap().len(), 29);
}

#[test]
fn consensus_trees_have_the_internode_certainty_of_raxml() {
    let scratch = Scratch::new();
    let set = golden_path("gallwasps_set.nwk");
    for rule in ["MR", "MRE"] {
        let ran = scratch.succeed(&format!("-L {rule} -z {set} -n x --redo"));
        // raxmlHPC 8.2.12 -L MR (MRE) -z TREES -m GTRGAMMA: TC, TCA, and labels of the tree.
        assert!(ran.stdout.contains("17.160") && ran.stdout.contains("16.806"), "{}", ran.stdout);
        let tree = read(&scratch, "x.mlsearch.consensusTree");
        for label in ["Phanacis_2)0.566/0.566", "Gonaspis)0.699/0.699", "Rhodus)0.642/0.642"] {
            assert!(tree.contains(label), "{label}: {tree}");
        }
        let report = report(&scratch, "x");
        assert_eq!(report["support"]["label"], serde_json::json!(["ic1", "ica"]));
        assert_eq!(report["support"]["branches"].as_array().unwrap().len(), 29);
        assert_eq!(report["consensus_tree"], report["support"]["tree"]);
    }
    // A rule that only branches of all trees meet.
    scratch.succeed(&format!("--consense MR100 -t {set} -n all"));
    scratch.succeed(&format!("--consense STRICT -t {set} -n strict"));
    let strict = read(&scratch, "strict.mlsearch.consensusTree");
    assert_eq!(read(&scratch, "all.mlsearch.consensusTree"), strict);
}

#[test]
fn support_of_a_tree_without_lengths_has_none() {
    let scratch = Scratch::new();
    scratch.write("b.nwk", "(A:1,B:1,(C:1,(D:1,E:1):1):1);\n(A,B,(D,(C,E)));\n");
    for (tree, warns) in [("(A,B,(C,(D,E)));", false), ("(A:1,B:1,(C,(D:1,E:1):1):1);", true)] {
        scratch.write("t.nwk", tree);
        let ran = scratch.succeed("support --tree t.nwk --bs-trees b.nwk -n x --quiet --redo");
        let found = std::fs::read_to_string(scratch.path().join("x.mlsearch.support"));
        assert_eq!(found.expect("support"), "(A,B,(C,(D,E)50)100);\n");
        assert_eq!(ran.stderr.contains("have no length"), warns, "{}", ran.stderr);
    }
    scratch
        .run("support --tree t.nwk --bs-trees b.nwk --root midpoint -n y")
        .assert_refused(&["the middle of a tree needs the lengths"]);
}

/// Only branches that are in the tree get support, and replicates count for those that they have.
#[test]
fn support_of_trees_with_multifurcations() {
    let scratch = Scratch::new();
    scratch.write("b.nwk", "(A,B,(C,(D,(E,F))));\n(A,B,C,D,(E,F));\n(A,(B,C),(D,E,F));\n");
    let text = "(A:1,B:1,C:1,(D:1,E:1,F:5):1);\n";
    scratch.write("t.nwk", text);
    scratch.succeed("support --tree t.nwk --bs-trees b.nwk --bs-metric fbp,tbe,ic1 -n x");
    let found = read(&scratch, "x.mlsearch.support");
    // In the second tree, one taxon must be moved, of at most 2.
    assert_eq!(found, text.replace("F:5):1", "F:5)67/0.833/1:1"));
    assert_eq!(report(&scratch, "x")["support"]["branches"].as_array().unwrap().len(), 1);
    scratch.succeed("support --tree t.nwk --bs-trees b.nwk --root midpoint -n y");
    assert_eq!(read(&scratch, "y.mlsearch.support"), "(((A:1,B:1,C:1)67:1,D:1,E:1):1.5,F:3.5);\n");
    scratch.write("star.nwk", "(A,B,C,D,E,F);");
    scratch.succeed("support --tree star.nwk --bs-trees b.nwk -n z");
    assert_eq!(read(&scratch, "z.mlsearch.support"), "(A,B,C,D,E,F);\n");
}

#[test]
fn bootstrap_and_transfer_supports_are_those_of_phangorn() {
    let scratch = Scratch::new();
    let replicates = read(&scratch, &golden_path("replicates.nwk"));
    scratch.write("first", replicates.lines().next().expect("a tree"));
    let all = golden_path("replicates.nwk");
    scratch.succeed(&format!("--support --tree first --bs-trees {all} --bs-metric fbp,tbe -n x"));
    assert_support(&scratch, "replicates_support.tsv");
}

#[test]
fn concordance_factors_are_those_of_iq_tree() {
    let scratch = Scratch::new();
    let (tree, genes) = (golden_path("gallwasps.tree"), golden_path("gallwasps_genes.nwk"));
    let data = repository("datasets/gallwasps.phy").display().to_string();
    scratch.succeed(&format!("-t {tree} --gcf {genes} --scf 2000 -s {data} -T 2 -n x"));
    let text = read(&scratch, "x.mlsearch.concordance");
    let mut lines = text.lines();
    let heading: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let column = |name: &str| heading.iter().position(|head| *head == name).unwrap();
    let golden = golden("gallwasps_concordance.tsv");
    let all: BTreeSet<String> =
        taxa_behind(&read_newick(&std::fs::read_to_string(&tree).unwrap(), "t").unwrap()[0])
            .swap_remove(0);
    let mut num_branches = 0;
    for line in lines {
        num_branches += 1;
        let cells: Vec<&str> = line.split('\t').collect();
        let number = |name: &str| -> f64 { cells[column(name)].parse().unwrap() };
        let taxa = side(cells[column("taxa")].split(',').map(String::from), &all);
        let expected = golden.iter().find(|row| row[0] == taxa).expect("the branch");
        let wanted = |at: usize| -> f64 { expected[at].parse().unwrap() };
        assert_eq!(
            [number("gCF_N"), number("gDFP_N"), number("gN")],
            [wanted(1), wanted(4), wanted(5)]
        );
        // Which of the other resolutions is the first, is another convention.
        let mut others = [number("gDF1_N"), number("gDF2_N")];
        let mut wanted_others = [wanted(2), wanted(3)];
        others.sort_by(f64::total_cmp);
        wanted_others.sort_by(f64::total_cmp);
        assert_eq!(others, wanted_others, "{taxa}");
        assert!((number("gCF") - 100.0 * wanted(1) / wanted(5)).abs() < 0.006);
        // Both draw quartets; the standard deviation of a mean of 2000 is about 0.5 percent.
        assert!((number("sCF") - wanted(6)).abs() < 2.5, "{taxa}: {line}");
        assert!((number("sN") / wanted(7) - 1.0).abs() < 0.06, "{taxa}: {line}");
    }
    assert_eq!(num_branches, golden.len());
    // The same draws with another number of threads.
    scratch.succeed(&format!("-t {tree} --gcf {genes} --scf 2000 -s {data} -T 1 -n y"));
    assert_eq!(read(&scratch, "y.mlsearch.concordance"), text);
    // Gene trees alone need no alignment.
    scratch.succeed(&format!("-t {tree} --gcf {genes} -n z"));
    let report = report(&scratch, "z");
    assert_eq!(report["support"]["label"], serde_json::json!(["gcf"]));
    assert_eq!(report["concordance"].as_array().unwrap().len(), golden.len());
    scratch.write("others", "(A,B,C);");
    let ran = scratch.run(&format!("-t {tree} --gcf others -n w"));
    ran.assert_refused(&["others, line 1", "'A'", "not in"]);
}

#[test]
fn trees_of_a_terrace_have_the_same_likelihood() {
    let scratch = Scratch::new();
    let rows = [
        ("A", "ACGTAACCTTAAGGTACGATCGAT", true, true),
        ("B", "ACGTAACCTGAAGGTACGTTCGAT", true, false),
        ("C", "ACGTTACCTTAAGCTACGATGGAA", true, true),
        ("D", "ACCTAAGCTTATGGAACGATCCAT", true, false),
        ("E", "AGGTAACGTTAAGGTACCATCGTT", false, true),
        ("F", "ACGAAACCTCAAGGTTCGATCGAT", false, true),
    ];
    let half = |data: &str, present: bool| if present { data.to_string() } else { "-".repeat(12) };
    let lines = rows.map(|(name, data, first, second)| {
        format!("{name} {}{}\n", half(&data[..12], first), half(&data[12..], second))
    });
    scratch.write("a.phy", &format!("6 24\n{}", lines.concat()));
    scratch.write("q", "DNA, one = 1-12\nDNA, two = 13-24\n");
    scratch.write("t", "((A,B),(C,D),(E,F));");
    let ran = scratch.succeed("--terrace -t t -s a.phy -q q -n x");
    assert!(!ran.stderr.contains("-m"), "no model is needed: {}", ran.stderr);
    let trees = read(&scratch, "x.mlsearch.terrace");
    let terrace = report(&scratch, "x")["terrace"].clone();
    assert_eq!(terrace["is_exact"], true);
    let number = trees.lines().count();
    assert_eq!(terrace["trees"], number.to_string());
    assert!(number > 1 && ran.stdout.contains(&format!("{number} trees")), "{}", ran.stdout);
    scratch.succeed("--evaluate -t x.mlsearch.terrace -s a.phy -q q -M -m JC -n e");
    let evaluated = report(&scratch, "e")["trees"].as_array().unwrap().clone();
    assert_eq!(evaluated.len(), number);
    for tree in &evaluated {
        let [found, first] =
            [tree, &evaluated[0]].map(|tree| tree["log_likelihood"].as_f64().unwrap());
        assert!((found - first).abs() < 1e-3, "{found} {first}");
    }
    // Fewer are written than there are.
    scratch.succeed("--terrace 2 -t t -s a.phy -q q -n y");
    let few = report(&scratch, "y")["terrace"].clone();
    assert_eq!((&few["written"], &few["trees"]), (&2.into(), &number.to_string().into()));
}
