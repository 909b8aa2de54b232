//! Constrained runs: their trees satisfy the constraint, and are no worse than they must be.

use crate::util::{Scratch, assert_same_bytes_on, log_likelihood, repository, taxa_behind};
use mlsearch::rng::{Purpose, Rng, stream};
use mlsearch::tree::{NewickTree, read_newick};
use rand::RngExt;
use rand::seq::SliceRandom;
use std::collections::BTreeSet;

type Names = BTreeSet<String>;

/// True if each split of the constraint is one of the tree, restricted to the taxa of the constraint.
fn satisfies(tree: &NewickTree, constraint: &str) -> bool {
    let constraint = taxa_behind(&read_newick(constraint, "constraint").unwrap()[0]);
    let all = &constraint[0];
    let restricted: Vec<Names> =
        taxa_behind(tree).iter().map(|clade| clade.intersection(all).cloned().collect()).collect();
    constraint.iter().all(|clade| {
        let rest: Names = all.difference(clade).cloned().collect();
        rest.is_empty() || restricted.iter().any(|own| own == clade || *own == rest)
    })
}

/// All trees of a result.
fn trees(scratch: &Scratch, file: &str) -> Vec<NewickTree> {
    let text = std::fs::read_to_string(scratch.path().join(file)).expect("a result");
    read_newick(&text, file).unwrap()
}

fn assert_satisfied(scratch: &Scratch, files: &[&str], constraint: &str) {
    for file in files {
        for (number, tree) in trees(scratch, file).iter().enumerate() {
            assert!(satisfies(tree, constraint), "{file}, tree {number}: {constraint}");
        }
    }
}

/// A random multifurcating tree of a share of the taxa: random groups of parts are united, as often as a share of what is
/// possible.
fn random_constraint(names: &[String], shares: [f64; 2], rng: &mut Rng) -> String {
    let mut parts: Vec<String> =
        names.iter().filter(|_| rng.random_bool(shares[0])).cloned().collect();
    let unions = (shares[1] * (parts.len() as f64 - 3.0)).max(1.0) as usize;
    for _ in 0..unions {
        parts.shuffle(rng);
        let size = if rng.random_bool(0.7) { 2 } else { 3 };
        if parts.len() < size + 2 {
            break;
        }
        let group = parts.split_off(parts.len() - size);
        parts.push(format!("({})", group.join(",")));
    }
    format!("({});", parts.join(","))
}

fn taxon_names(count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("t{number}")).collect()
}

#[test]
fn no_tree_of_a_run_violates_its_constraint() {
    let mut rng = stream(1, Purpose::Test, 0);
    for case in 0..12 {
        let scratch = Scratch::new();
        let count = rng.random_range(8..20usize);
        let simulate =
            format!("simulate -t rand{{{count}}} -m JC+G4{{0.5}} --sites 150 -p {case} -n d");
        scratch.succeed(&simulate);
        let names =
            taxa_behind(&trees(&scratch, "d.mlsearch.trueTree")[0])[0].iter().cloned().collect();
        let names: Vec<String> = names;
        let shares = [[1.0, 0.7, 0.5][case as usize % 3], [1.0, 0.6, 0.3][case as usize / 3 % 3]];
        let constraint = random_constraint(&names, shares, &mut rng);
        if taxa_behind(&read_newick(&constraint, "c").unwrap()[0])[0].len() < 4 {
            continue;
        }
        scratch.write("c", &constraint);
        let given = "-s d.mlsearch.phy -m JC+G4 -T 1 -g c --quiet --redo";
        scratch.succeed(&format!("{given} --start -t pars{{3}},rand{{3}} -n start"));
        assert_satisfied(&scratch, &["start.mlsearch.startTree"], &constraint);
        let effort = ["--fast", "", "--thorough"][case as usize % 3];
        scratch.succeed(&format!("{given} {effort} -n x"));
        assert_satisfied(&scratch, &["x.mlsearch.startTree", "x.mlsearch.bestTree"], &constraint);
        scratch.succeed(&format!("{given} -t start.mlsearch.startTree --fast -n y"));
        assert_satisfied(&scratch, &["y.mlsearch.mlTrees"], &constraint);
        scratch.succeed(&format!("{given} --bootstrap -# 3 -n b"));
        assert_satisfied(&scratch, &["b.mlsearch.bootstraps"], &constraint);
    }
}

/// Most branches have no length, most sequences are equal to others, and the constraint is against both.
#[test]
fn polytomies_and_identical_sequences_are_resolved_as_the_constraint_demands() {
    let mut rng = stream(2, Purpose::Test, 0);
    let names = taxon_names(14);
    for case in 0..8 {
        let scratch = Scratch::new();
        // Rows are equal but for a few columns.
        let mut columns = [[b'A'; 14]; 8];
        for column in &mut columns {
            let size = rng.random_range(1..6usize);
            (0..size).for_each(|_| column[rng.random_range(0..names.len())] = b'C');
        }
        let rows = names.iter().enumerate().map(|(i, name)| {
            let own: String = columns.iter().map(|column| char::from(column[i])).collect();
            format!("{name} {own}{}\n", "ACGT".repeat(5))
        });
        let text: String = rows.collect();
        scratch.write("a.phy", &format!("{} 28\n{text}", names.len()));
        let shares = [[1.0, 0.7][case % 2], [1.0, 0.5][case / 2 % 2]];
        let constraint = random_constraint(&names, shares, &mut rng);
        scratch.write("c", &constraint);
        for options in ["", "--keep-identical"] {
            let command = "-s a.phy -m JC -T 1 -g c --quiet --redo -n x";
            scratch.succeed(&format!("{command} --all -# 2 {options}"));
            let files = ["startTree", "bestTree", "bootstraps", "support"]
                .map(|kind| format!("x.mlsearch.{kind}"));
            assert_satisfied(&scratch, &files.each_ref().map(String::as_str), &constraint);
        }
    }
}

/// A text of the tree with some of its inner branches only, over some of its taxa.
fn weakened(
    tree: &NewickTree,
    keep: impl Fn(usize) -> bool,
    taxa: impl Fn(&str) -> bool,
) -> String {
    let mut texts: Vec<Vec<String>> = vec![Vec::new(); tree.num_nodes()];
    for node in tree.nodes().rev() {
        let i = node.number() as usize;
        if node.is_tip() {
            texts[i].extend(node.name().filter(|name| taxa(name)).map(String::from));
            continue;
        }
        let parts: Vec<String> =
            node.children().flat_map(|child| texts[child.number() as usize].clone()).collect();
        texts[i] = match keep(i) && parts.len() > 1 {
            true => vec![format!("({})", parts.join(","))],
            false => parts,
        };
    }
    format!("({});", texts[0].join(","))
}

#[test]
fn splits_of_the_best_tree_lead_to_it() {
    let data = repository("datasets/anolis.phy").display().to_string();
    let scratch = Scratch::new();
    scratch.succeed(&format!("-s {data} -m HKY+F+G4 -n free --quiet"));
    let best = log_likelihood(&scratch, "free");
    let tree = &trees(&scratch, "free.mlsearch.bestTree")[0];
    let whole = weakened(tree, |node| node > 0, |_| true);
    let half = weakened(tree, |node| node > 0 && node % 2 == 0, |_| true);
    let some = weakened(tree, |node| node > 0 && node % 3 > 0, |name| name.len() % 3 > 0);
    for (name, constraint, options) in
        [("whole", &whole, "-t rand{1} --fast"), ("half", &half, ""), ("some", &some, "")]
    {
        scratch.write(name, constraint);
        scratch.succeed(&format!("-s {data} -m HKY+F+G4 {options} -g {name} -n {name} --quiet"));
        let lnl = log_likelihood(&scratch, name);
        assert!(lnl > best - 0.01, "{name}: {lnl} instead of {best}: {constraint}");
        assert_satisfied(&scratch, &[&format!("{name}.mlsearch.bestTree")], constraint);
    }
    assert!(satisfies(&trees(&scratch, "whole.mlsearch.bestTree")[0], &whole));
}

/// Four inner branches that the data contradict, so that most branches have no length and the others have several optima.
/// IQ-TREE 2.0.7 (`-m GTR+F+G -g FILE`, any seed) ends at -6247.426; searches that changed one subtree at a time from
/// parsimony trees alone ended at -6277.77.
#[test]
fn the_best_tree_under_a_contradicted_constraint_is_found() {
    let data = repository("datasets/primates.phy").display().to_string();
    let scratch = Scratch::new();
    let constraint = "(Tarsius_syrichta,Gorilla,((M_fascicularis,Pan,Lemur_catta,Pongo),((Macaca_fuscata,M_mulatta),\
                      Homo_sapiens),M_sylvanus),Saimiri_sciureus);";
    scratch.write("c", constraint);
    for seed in 1..=5 {
        let ran = scratch.succeed(&format!("-s {data} -m GTR+G -g c -p {seed} --redo -n x"));
        // Also where all starting trees lead to the same tree, as with the last seed.
        assert!(ran.stdout.contains(" perturbations led to a better tree"), "{}", ran.stdout);
        let lnl = log_likelihood(&scratch, "x");
        assert!(lnl > -6247.427, "seed {seed}: {lnl}");
        assert_satisfied(&scratch, &["x.mlsearch.bestTree"], constraint);
        let said = "warning: the data contradict the constraint: a parsimony tree has 1470 changes under the constraint, \
                    1153 without it";
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    // One that the data support is not worth further starting trees.
    scratch.write(
        "c",
        "((Macaca_fuscata,M_mulatta,M_fascicularis,M_sylvanus),Homo_sapiens,Pan,Gorilla);",
    );
    let ran = scratch.succeed(&format!("-s {data} -m GTR+G -g c -n y"));
    assert!(ran.stderr.contains("note: a parsimony tree has 1153 changes"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
}

/// Distances know nothing of a constraint: where their tree has its clades, it is taken, elsewhere it is refused.
#[test]
fn starting_trees_from_distances_satisfy_the_constraint_or_are_refused() {
    let data = repository("datasets/primates.phy").display().to_string();
    let scratch = Scratch::new();
    scratch.write("bad", "((Tarsius_syrichta,Pan),(Gorilla,Lemur_catta),Homo_sapiens);");
    for command in ["search --fast -t nj", "start -t bme", "sample -t upgma --ngen 1000"] {
        let ran = scratch.run(&format!("{command} -s {data} -m GTR+G -g bad -n bad"));
        ran.assert_refused(&[
            "the tree violates the constraint of bad: no branch separates the following",
            "Begin with --tree pars{N} or rand{N}",
        ]);
    }
    let good = "((Macaca_fuscata,M_mulatta),Homo_sapiens,Lemur_catta);";
    scratch.write("good", good);
    scratch.succeed(&format!("search --fast -t nj -s {data} -m GTR+G -g good -n good"));
    assert_satisfied(&scratch, &["good.mlsearch.bestTree", "good.mlsearch.startTree"], good);
}

#[test]
fn constraints_that_cannot_be_used_are_refused() {
    let scratch = Scratch::new();
    let data = repository("datasets/primates.phy").display().to_string();
    let names = std::fs::read_to_string(&data).expect("data");
    let names: Vec<&str> =
        names.lines().skip(1).filter_map(|line| line.split_whitespace().next()).take(5).collect();
    let [a, b, c, d, e] = names[..] else { panic!("{names:?}") };
    let command = format!("-s {data} -m JC --quiet --redo -n x");
    let refused = |text: &str, parts: &[&str]| {
        scratch.write("c.tre", text);
        scratch.run(&format!("{command} -g c.tre")).assert_refused(parts);
    };
    refused(
        &format!("(({a},{b}),({c},Yeti));"),
        &["c.tre, line 1", "'Yeti'", "not in the alignment"],
    );
    refused(&format!("(({a},{b}),({c},{b},{d}));"), &["c.tre", b, "twice"]);
    refused(&format!("(({a},{b}),{c});"), &["c.tre", "3 of the taxa", "4 or more"]);
    refused(&format!("(({a},{b}),({c},{d}));\n(({a},{c}),({b},{d}));"), &["c.tre", "2 trees"]);
    refused("((", &["c.tre", "line 1"]);
    scratch.write("c.tre", &format!("({a},{b},{c},{d},{e});"));
    let ran = scratch.succeed(&format!("{command} --fast --tree-constraint c.tre"));
    assert!(ran.stderr.contains("warning: c.tre") && ran.stderr.contains("constrains nothing"));

    // A given tree that violates it, with the clade that it lacks.
    scratch.succeed(&format!("{command} --start -t pars{{1}}"));
    let start = trees(&scratch, "x.mlsearch.startTree").remove(0);
    let mut rng = stream(1, Purpose::Test, 0);
    let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
    let constraint = loop {
        let constraint = random_constraint(&names, [1.0, 0.5], &mut rng);
        if !satisfies(&start, &constraint) {
            break constraint;
        }
    };
    std::fs::rename(scratch.path().join("x.mlsearch.startTree"), scratch.path().join("given.tre"))
        .expect("a start tree");
    scratch.write("c.tre", &constraint);
    let ran = scratch.run(&format!("{command} -r c.tre -t given.tre"));
    ran.assert_refused(&[
        "given.tre, tree 1",
        "violates the constraint of c.tre",
        "no branch separates",
    ]);
    scratch.run(&format!("{command} -g c.tre --evaluate -t given.tre")).assert_refused(&[
        "'-g' is no option of evaluate; search, start, sample and bootstrap have it",
    ]);
    // A check has the same faults, and says what the constraint demands.
    scratch.run(&format!("{command} --check -g c.tre -t given.tre")).assert_refused(&["violates"]);
    let ran = scratch.succeed(&format!("{command} --check -g c.tre"));
    assert!(ran.stdout.contains("the constraint tree c.tre"), "{}", ran.stdout);
}

#[test]
fn a_constrained_run_gives_the_same_bytes_on_any_machine() {
    let scratch = Scratch::new();
    let data = repository("datasets/gappy.phy").display().to_string();
    let part = repository("partitions/gappy.part").display().to_string();
    let text = std::fs::read_to_string(&data).expect("data");
    let names: Vec<String> = text
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next().map(String::from))
        .collect();
    let mut rng = stream(3, Purpose::Test, 0);
    scratch.write("c", &random_constraint(&names, [0.7, 0.6], &mut rng));
    let command = format!("-s {data} -q {part} -m GTR+G -M --fast --quiet -g c");
    assert_same_bytes_on(&["-T 2", "-T 3"], &scratch, &command, &["bestTree", "log", "json"]);
}

#[test]
fn a_result_does_not_depend_on_how_the_constraint_is_written() {
    let scratch = Scratch::new();
    let data = repository("datasets/primates.phy").display().to_string();
    scratch.succeed(&format!("-s {data} -m JC --quiet --fast -n x"));
    let names =
        taxa_behind(&trees(&scratch, "x.mlsearch.bestTree")[0])[0].iter().cloned().collect();
    let names: Vec<String> = names;
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| names[i].as_str());
    for (file, text) in [
        ("c1", format!("(({a},{b}),({c},{d}));")),
        ("c2", format!("({d},{c},({b},{a}));")),
        ("c3", format!("(({a},{c}),({b},{d}));")),
    ] {
        scratch.write(file, &text);
        scratch.succeed(&format!("-s {data} -m JC --quiet --fast -n {file} -g {file}"));
    }
    let tree = |name: &str| {
        std::fs::read(scratch.path().join(format!("{name}.mlsearch.bestTree"))).expect("a tree")
    };
    assert_eq!(tree("c1"), tree("c2"));
    assert_ne!(tree("c1"), tree("c3"));
}
