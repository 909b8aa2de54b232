//! Searches on small data whose best tree is known.

use crate::util::{Scratch, data_folder, log_likelihood, repository};
use mlsearch::conformance::some_of;
use mlsearch::tree::{NewickTree, read_newick};

/// What a search may lose against the best that is known, in log units.
const SEARCH_TOLERANCE: f64 = 0.05;

/// GTR+FO+G4 on the primates: RAxML-NG 1.0.2 (published log), best of 20 searches, which ended between
/// -5709.58 and this.
const PRIMATES: f64 = -5708.925988;

/// JC on five primates' sequences, topology and lengths: PhyML.
const FIVE_TAXA: f64 = -4038.721121;

fn primates() -> String {
    repository("datasets/primates.phy").display().to_string()
}

#[test]
fn primates_reach_the_best_that_is_known() {
    for starts in ["", "-t pars{1}", "-t rand{1}"] {
        for seed in [1, 2, 3] {
            let scratch = Scratch::new();
            let command = format!("-s {} -m GTR+FO+G4 {starts} -p {seed} -n x --quiet", primates());
            scratch.succeed(&command);
            let lnl = log_likelihood(&scratch, "x");
            let gain = lnl - PRIMATES;
            assert!((-SEARCH_TOLERANCE..1.0).contains(&gain), "{starts}, seed {seed}: {lnl}");
        }
    }
}

/// With so few taxa all topologies can be tried: the search must find the best of them.
#[test]
fn five_taxa_end_at_the_best_of_all_topologies() {
    let scratch = Scratch::new();
    let text = std::fs::read_to_string(primates()).expect("data");
    let rows: Vec<&str> = text.lines().skip(1).filter(|line| !line.is_empty()).collect();
    for (number, chosen) in
        [[0, 3, 5, 8, 11], [1, 2, 4, 6, 7], [0, 2, 9, 10, 11], [3, 4, 5, 6, 7]].iter().enumerate()
    {
        let names: Vec<&str> =
            chosen.iter().map(|&i| rows[i].split(' ').next().expect("a name")).collect();
        let lines: Vec<&str> = chosen.iter().map(|&i| rows[i]).collect();
        let sites = rows[0].split_whitespace().nth(1).expect("a row").len();
        scratch.write("a.phy", &format!("5 {sites}\n{}\n", lines.join("\n")));
        scratch.write("all", &all_topologies_of_five(&names));
        scratch.succeed("--evaluate -s a.phy -m HKY+G -t all -n all --redo --quiet");
        scratch.succeed("-s a.phy -m HKY+G -n found --redo --quiet");
        let [best, found] = ["all", "found"].map(|name| log_likelihood(&scratch, name));
        assert!(found > best - SEARCH_TOLERANCE, "set {number}: {found} instead of {best}");
    }
}

/// The 15 unrooted trees of five taxa: the fifth goes with one of the others, in the middle or beside
/// one of two pairs.
fn all_topologies_of_five(names: &[&str]) -> String {
    let mut trees = String::new();
    for middle in 0..5 {
        let others: Vec<&str> = (0..5).filter(|&i| i != middle).map(|i| names[i]).collect();
        for partner in 1..4 {
            let rest: Vec<&str> = (1..4).filter(|&i| i != partner).map(|i| others[i]).collect();
            trees.push_str(&format!(
                "(({},{}),{},({},{}));\n",
                others[0], others[partner], names[middle], rest[0], rest[1]
            ));
        }
    }
    trees
}

#[test]
#[ignore = "needs MLSEARCH_DATA: the folder of the larger alignments, see CONTRIBUTING.md"]
fn five_primates_reach_the_likelihood_that_phyml_found() {
    let scratch = Scratch::new();
    let msa = data_folder().join("ref/apek5.phy").display().to_string();
    for seed in [1, 2, 3] {
        scratch.succeed(&format!("-s {msa} -m JC -p {seed} -n x --redo --quiet"));
        let lnl = log_likelihood(&scratch, "x");
        assert!((lnl - FIVE_TAXA).abs() < 1e-3, "seed {seed}: {lnl}");
    }
}

#[test]
fn simulated_data_reach_at_least_the_likelihood_of_their_true_tree() {
    let scratch = Scratch::new();
    scratch.succeed(
        "simulate --tree rand{16} -m HKY{3}+FU{0.3/0.2/0.2/0.3}+G4{0.8} --sites 1500 --mean-brlen 0.08 -p 4 \
         --prefix sim",
    );
    let data = "-s sim.mlsearch.phy -m HKY+G --quiet";
    scratch.succeed(&format!("{data} --evaluate -t sim.mlsearch.trueTree -n true"));
    let truth = log_likelihood(&scratch, "true");
    for (name, starts) in [("pars", "-t pars{1}"), ("rand", "-t rand{1}"), ("auto", "")] {
        scratch.succeed(&format!("{data} {starts} -n {name}"));
        let found = log_likelihood(&scratch, name);
        assert!(found > truth - SEARCH_TOLERANCE, "{name}: {found}, true tree {truth}");
    }
}

#[test]
fn gappy_partitions_reach_at_least_the_likelihood_of_their_true_tree() {
    let scratch = Scratch::new();
    let [msa, tree, part] = ["datasets/gappy.phy", "datasets/gappy.tree", "partitions/gappy.part"]
        .map(|path| repository(path).display().to_string());
    let data = format!("-s {msa} -q {part} -m GTR+G -M --quiet");
    scratch.succeed(&format!("{data} --evaluate -t {tree} -n true"));
    scratch.succeed(&format!("{data} -t pars{{1}} -n found"));
    let [truth, found] = ["true", "found"].map(|name| log_likelihood(&scratch, name));
    assert!(found > truth - SEARCH_TOLERANCE, "{found}, true tree {truth}");
}

#[test]
fn the_only_tree_of_three_taxa_is_evaluated() {
    let scratch = Scratch::new();
    let text = "3 24\na  ACGTACGTACGGTCAAACGTACGT\nb  ACGTACGAACGGTTAAACGTCCGA\n\
                c  ACGAACGAACTGTCAA--------\n";
    scratch.write("a.phy", text);
    scratch.write("q", "DNA, g1 = 1-8\nDNA, g2 = 9-16\nDNA, g3 = 17-24\n");
    scratch.write("t", "(a:0.1,b:0.1,c:0.1);\n");
    for data in ["", "-q q", "-q q -M", "-q q --brlen scaled", "-q q -M --thorough"] {
        let ran = scratch.succeed(&format!("-s a.phy -m HKY+G {data} -n searched --redo"));
        assert!(ran.stderr.contains("note: 3 taxa have only one tree"), "{data}: {}", ran.stderr);
        for kind in ["startTree", "bestTree", "mlTrees"] {
            let path = scratch.path().join(format!("searched.mlsearch.{kind}"));
            let trees = std::fs::read_to_string(path).unwrap();
            assert_eq!(trees.lines().count(), 1, "{data}: {kind} {trees}");
        }
        let data = data.replace("--thorough", "");
        scratch.succeed(&format!("-s a.phy -m HKY+G {data} --evaluate -t t -n given --redo"));
        let [searched, given] = ["searched", "given"].map(|name| log_likelihood(&scratch, name));
        assert!((searched - given).abs() < 0.01, "{data}: {searched} {given}");
    }
}

/// A tree in Newick, without its branch lengths.
fn topology(scratch: &Scratch, prefix: &str) -> String {
    let path = scratch.path().join(format!("{prefix}.mlsearch.bestTree"));
    let newick = std::fs::read_to_string(path).expect("a tree");
    let parts = newick.split(':');
    parts.map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.')).collect()
}

/// Short alignments of similar sequences: a third of the branches have no length, and their resolution must not depend
/// on the way of the search.
#[test]
fn trees_that_are_equal_up_to_branches_without_length_are_written_alike_from_any_seed() {
    let scratch = Scratch::new();
    for data in 1..=3 {
        scratch.succeed(&format!(
            "simulate --tree rand{{16}} --model JC+G4{{0.5}} --sites 120 --mean-brlen 0.01 -p {data} -n sim --redo"
        ));
        let mut found = Vec::new();
        for seed in 1..=4 {
            scratch.succeed(&format!("-s sim.mlsearch.phy -m JC+G -p {seed} -n x --redo --quiet"));
            found.push((log_likelihood(&scratch, "x"), topology(&scratch, "x")));
        }
        for (lnl, topology) in &found {
            assert!((lnl - found[0].0).abs() < 1e-3, "data {data}: {found:?}");
            assert_eq!(*topology, found[0].1, "data {data}");
        }
    }
}

#[test]
fn identical_sequences_are_a_clade() {
    let scratch = Scratch::new();
    let rows: Vec<String> = (0..12)
        .map(|i| {
            let mutated = |at: usize| i % 4 != 0 && (at * 7).is_multiple_of(i % 4 + 11);
            let base = |at: usize| if mutated(at) { b'T' } else { b"ACGA"[at % 4] };
            let row: Vec<u8> = (0..100).map(base).collect();
            format!("t{i:02}  {}", String::from_utf8(row).expect("letters"))
        })
        .collect();
    scratch.write("a.phy", &format!("12 100\n{}\n", rows.join("\n")));
    for seed in [1, 2] {
        scratch.succeed(&format!("-s a.phy -m JC -p {seed} -n x --redo --quiet"));
        let topology = topology(&scratch, "x");
        // Written from the first taxon on, whose clade is the rest of the tree.
        for clade in ["((t01,t05),t09)", "((t02,t06),t10)", "((t03,t07),t11)"] {
            assert!(topology.contains(clade), "seed {seed}: {topology}");
        }
    }
}

/// Writes an alignment of datasets/ with `more` of its rows again, under names before and behind theirs.
fn write_with_copies(scratch: &Scratch, name: &str, more: usize) {
    let text = std::fs::read_to_string(repository(&format!("datasets/{name}.phy"))).expect("data");
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().expect("a first line").split_whitespace().collect();
    let rows: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).collect();
    let copies = (0..more).map(|i| {
        let row = rows[i * i % rows.len()];
        format!("{}{i}_{row}", if i % 2 == 0 { "A" } else { "zz" })
    });
    let all: Vec<String> = rows.iter().map(|row| row.to_string()).chain(copies).collect();
    scratch.write("copies.phy", &format!("{} {}\n{}\n", all.len(), head[1], all.join("\n")));
}

#[test]
fn identical_sequences_are_searched_once_and_lose_nothing() {
    let gappy = |mode: &str| {
        let partitions = repository("partitions/gappy.part");
        format!("-q {} -m GTR+G --fast {mode}", partitions.display())
    };
    let cases = [
        ("primates", 2, "-m GTR+G".to_string()),
        ("primates", 40, "-m GTR+G".to_string()),
        ("gappy", 15, gappy("")),
        ("gappy", 15, gappy("--brlen scaled")),
        ("gappy", 15, gappy("-M")),
    ];
    for &(name, more, ref options) in some_of(&cases, 0, 2) {
        let scratch = Scratch::new();
        write_with_copies(&scratch, name, more);
        let command = format!("-s copies.phy {options} --quiet");
        scratch.succeed(&format!("{command} -T 1 -n once"));
        scratch.succeed(&format!("{command} -T 3 -n threads"));
        scratch.succeed(&format!("{command} -T 1 --keep-identical -n all"));
        let [once, all] = ["once", "all"].map(|prefix| log_likelihood(&scratch, prefix));
        assert!(once > all - 0.1, "{name}, {more} copies, {options}: {once}, with all {all}");
        for file in ["bestTree", "bestModel", "startTree"] {
            let read = |prefix: &str| {
                let path = scratch.path().join(format!("{prefix}.mlsearch.{file}"));
                std::fs::read_to_string(path).expect(file)
            };
            assert_eq!(read("once"), read("threads"), "{name}, {options}: {file}");
        }
        // An evaluation of the tree finds nothing more.
        let linkage = options.split("--fast").collect::<Vec<_>>().concat();
        let tree = "-t once.mlsearch.bestTree";
        scratch.succeed(&format!("-s copies.phy {linkage} --evaluate {tree} --quiet -n given"));
        let given = log_likelihood(&scratch, "given");
        assert!(once > given - 0.05, "{name}, {more} copies, {options}: {once}, evaluated {given}");
    }
}

#[test]
fn replicates_have_all_of_several_identical_sequences() {
    let scratch = Scratch::new();
    write_with_copies(&scratch, "primates", 3);
    scratch.succeed("--all -s copies.phy -m HKY -# 5 -n x --quiet");
    let read = |kind: &str| {
        let path = scratch.path().join(format!("x.mlsearch.{kind}"));
        std::fs::read_to_string(path).expect(kind)
    };
    let support = read("support");
    for name in ["A0_", "zz1_", "A2_"] {
        assert!(read("bootstraps").lines().all(|tree| tree.contains(name)), "{name}");
        assert!(support.contains(name), "{name}");
    }
    assert!(support.contains(")100:"), "identical sequences are a clade in all: {support}");
}

/// Which of three identical sequences are the closest is as good as any other choice.
#[test]
fn replicates_do_not_agree_in_the_order_of_identical_sequences() {
    let scratch = Scratch::new();
    let text = std::fs::read_to_string(repository("datasets/primates.phy")).expect("data");
    let rows: Vec<&str> = text.lines().skip(1).filter(|line| !line.trim().is_empty()).collect();
    let (_, sequence) = rows[0].split_once(' ').expect("a name");
    let copies = ["copy1", "copy2", "copy3"].map(|name| format!("{name} {sequence}"));
    let head = format!("{} 898", rows.len() + 2);
    scratch.write("copies.phy", &[head, rows[1..].join("\n"), copies.join("\n")].join("\n"));
    let pairs = [["copy1", "copy2"], ["copy1", "copy3"], ["copy2", "copy3"]];
    for command in ["bootstrap -m JC --bs-trees 30", "distance -m JC --tree nj --bs-trees 30"] {
        scratch.succeed(&format!("{command} -s copies.phy -n x --quiet --redo"));
        let path = scratch.path().join("x.mlsearch.bootstraps");
        let trees = std::fs::read_to_string(path).expect("replicates");
        let trees = read_newick(&trees, "x").expect("trees");
        assert_eq!(trees.len(), 30, "{command}");
        let counts = pairs.map(|pair| {
            let is_joined = |tree: &&NewickTree| {
                tree.nodes().any(|node| {
                    let mut tips = node.children().map(|child| child.name().unwrap_or_default());
                    !node.is_tip() && tips.all(|name| pair.contains(&name))
                })
            };
            trees.iter().filter(is_joined).count()
        });
        assert_eq!(counts.iter().sum::<usize>(), 30, "{command}: {counts:?}");
        assert!(counts.iter().all(|&count| count > 2), "{command}: {counts:?}");
    }
}

#[test]
fn how_far_searches_agree_is_told_and_reported() {
    let scratch = Scratch::new();
    let report = |scratch: &Scratch| -> serde_json::Value {
        let path = scratch.path().join("x.mlsearch.json");
        serde_json::from_str(&std::fs::read_to_string(path).expect("a report")).expect("JSON")
    };
    let ran = scratch.succeed(&format!("-s {} -m GTR+G -n x --quiet", primates()));
    // After which no perturbations follow.
    let told = "Search: one round from each of 6 starting trees led to the same tree\n";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
    let agreement = &report(&scratch)["agreement"];
    assert_eq!([&agreement["starting_trees"], &agreement["perturbations"]], [6, 0]);
    let several = format!("-s {} -m GTR+G -t pars{{2}},rand{{1}} -n x --redo --quiet", primates());
    let ran = scratch.succeed(&several);
    assert!(
        ran.stdout.contains("Search: the searches from 3 starting trees led to the same tree"),
        "{}",
        ran.stdout
    );
    assert_eq!(report(&scratch)["agreement"]["most_different_branches"], 0);
    let ran = scratch.succeed(&format!("-s {} -m GTR+G --fast -n x --redo --quiet", primates()));
    assert!(!ran.stdout.contains("Search:") && report(&scratch)["agreement"].is_null());
}

#[test]
fn a_thorough_search_never_ends_lower_and_leaves_given_starts_alone() {
    let scratch = Scratch::new();
    let run = |options: &str| -> (f64, usize) {
        let anolis = repository("datasets/anolis.phy");
        let line = format!("-s {} -m HKY+G -n x --redo --quiet {options}", anolis.display());
        scratch.succeed(&line);
        let read = |kind: &str| {
            let path = scratch.path().join(format!("x.mlsearch.{kind}"));
            std::fs::read_to_string(path).expect(kind)
        };
        let report: serde_json::Value = serde_json::from_str(&read("json")).expect("JSON");
        let lnl = report["log_likelihood"].as_f64().expect("a log-likelihood");
        (lnl, read("startTree").lines().count())
    };
    for seed in some_of(&[1, 2, 3], 0, 2) {
        let (normal, starts) = run(&format!("-p {seed}"));
        let (thorough, more) = run(&format!("-p {seed} --thorough"));
        assert!(thorough >= normal - 1e-3, "seed {seed}: {thorough}, without --thorough {normal}");
        assert!(
            (3..=10).contains(&starts) && (starts + 5..=50).contains(&more),
            "{starts}, {more}"
        );
        assert_eq!(run(&format!("-p {seed} --thorough -t rand{{1}}")).1, 1, "seed {seed}");
    }
}
