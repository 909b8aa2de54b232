//! Trees with a root: beside an outgroup, in the middle, with labels at their branches; and with polytomies.

use crate::util::{Scratch, log_likelihood, report, repository};
use mlsearch::tree::{NewickTree, read_newick};
use std::collections::BTreeMap;

/// An inner branch of a text: the taxa on its side without the first taxon (by name), its label and its length.
type Branches = BTreeMap<Vec<String>, (Option<String>, f64)>;

/// The inner branches of an unrooted picture of a tree; the halves of a branch with the root in it are one, and must have
/// the same label.
fn branches(text: &str) -> Branches {
    let tree = &read_newick(text, "t").expect("Newick")[0];
    let all = tips_below(tree)[0].clone();
    let mut found = Branches::new();
    for (tips, node) in tips_below(tree).into_iter().zip(tree.nodes()).skip(1) {
        let others: Vec<String> = all.iter().filter(|name| !tips.contains(name)).cloned().collect();
        let side = if tips.contains(&all[0]) { others } else { tips };
        if side.len() < 2 || side.len() + 1 == all.len() {
            continue;
        }
        let length = node.length().unwrap_or(0.0);
        match found.get_mut(&side) {
            Some((label, sum)) => {
                assert_eq!(label.as_deref(), node.name(), "{text}");
                *sum += length;
            }
            None => {
                found.insert(side, (node.name().map(String::from), length));
            }
        }
    }
    found
}

fn tips_below(tree: &NewickTree) -> Vec<Vec<String>> {
    let mut below: Vec<Vec<String>> = vec![Vec::new(); tree.num_nodes()];
    for node in tree.nodes().rev() {
        let of_children = node.children().flat_map(|child| below[child.number() as usize].clone());
        let mut tips: Vec<String> = of_children.collect();
        if node.is_tip() {
            tips.extend(node.name().map(String::from));
        }
        tips.sort();
        below[node.number() as usize] = tips;
    }
    below
}

/// The taxa on the sides of the root, which is in a branch.
fn sides(text: &str) -> [Vec<String>; 2] {
    let tree = &read_newick(text, "t").expect("Newick")[0];
    let below = tips_below(tree);
    let sides: Vec<_> =
        tree.root().children().map(|side| below[side.number() as usize].clone()).collect();
    sides.try_into().unwrap_or_else(|_| panic!("no root in a branch: {text}"))
}

fn assert_same_branches(a: &str, b: &str) {
    let [a, b] = [a, b].map(branches);
    assert!(a.keys().eq(b.keys()), "{a:?} {b:?}");
    for (side, (label, length)) in &a {
        assert_eq!(*label, b[side].0, "{side:?}");
        assert!((length - b[side].1).abs() < 1e-9, "{side:?}");
    }
}

fn read(scratch: &Scratch, name: &str) -> String {
    std::fs::read_to_string(scratch.path().join(name)).expect(name)
}

fn primates() -> String {
    format!("-s {} -m GTR+G --quiet", repository("datasets/primates.phy").display())
}

#[test]
fn an_outgroup_changes_the_drawing_and_nothing_else() {
    let scratch = Scratch::new();
    let all = format!("{} --all --bs-trees 20 --bs-metric fbp,tbe --fast", primates());
    scratch.succeed(&format!("{all} -n plain"));
    scratch.succeed(&format!("{all} -n rooted -o Tarsius_syrichta,Lemur_catta"));
    scratch.succeed(&format!("{all} -n middle --root midpoint"));
    let lnls = ["plain", "rooted", "middle"].map(|name| log_likelihood(&scratch, name).to_bits());
    assert_eq!([lnls[0]; 3], lnls);
    for kind in ["bestTree", "mlTrees", "support"] {
        let texts = ["plain", "rooted", "middle"]
            .map(|name| read(&scratch, &format!("{name}.mlsearch.{kind}")));
        assert_same_branches(&texts[0], &texts[1]);
        assert_same_branches(&texts[0], &texts[2]);
        let sides = sides(&texts[1]);
        assert!(sides.contains(&vec!["Lemur_catta".to_string(), "Tarsius_syrichta".into()]));
    }
    for kind in ["bestModel", "bootstraps", "startTree"] {
        let [plain, rooted] =
            ["plain", "rooted"].map(|name| read(&scratch, &format!("{name}.mlsearch.{kind}")));
        assert_eq!(plain, rooted, "{kind}");
    }
    let report = report(&scratch, "rooted");
    let best = read(&scratch, "rooted.mlsearch.bestTree");
    assert_eq!(report["best_tree"].as_str(), Some(best.trim()));
    // Every label has its entry: that of the branch with the root in it twice.
    let entries = report["support"]["branches"].as_array().expect("a list");
    let text = report["support"]["tree"].as_str().expect("a tree");
    let labels: Vec<&str> =
        text.split(')').skip(1).filter_map(|rest| rest.split([':', ';']).next()).collect();
    let labels: Vec<&str> = labels.into_iter().filter(|label| !label.is_empty()).collect();
    let values: Vec<String> = entries
        .iter()
        .map(|entry| {
            format!("{:.0}/{:.3}", entry["fbp"].as_f64().unwrap(), entry["tbe"].as_f64().unwrap())
        })
        .collect();
    assert_eq!(labels.len(), 12 - 3 + 1);
    let fbp = |label: &str| label.split('/').next().map(str::to_string);
    assert!(
        labels.iter().map(|l| fbp(l)).eq(values.iter().map(|v| fbp(v))),
        "{labels:?} {values:?}"
    );
    // The same support from its files, with another root, and without one again.
    let files =
        "--support -t rooted.mlsearch.bestTree -z rooted.mlsearch.bootstraps --bs-metric fbp,tbe";
    scratch.succeed(&format!("{files} -n again -o Homo_sapiens"));
    let again = read(&scratch, "again.mlsearch.support");
    assert!(sides(&again).contains(&vec!["Homo_sapiens".to_string()]));
    assert_same_branches(&read(&scratch, "plain.mlsearch.support"), &again);
}

#[test]
fn an_outgroup_that_is_no_clade_is_warned_of_and_unknown_taxa_are_refused() {
    let scratch = Scratch::new();
    let ran = scratch.succeed(&format!("{} --fast -o Homo_sapiens,Gorilla -n x", primates()));
    let start = "the outgroup (Homo_sapiens, Gorilla) is not a clade of the best tree";
    let end = "too: Pan; the root is at Homo_sapiens";
    assert!(ran.stderr.contains(start) && ran.stderr.contains(end), "{}", ran.stderr);
    assert!(
        sides(&read(&scratch, "x.mlsearch.bestTree")).contains(&vec!["Homo_sapiens".to_string()])
    );
    assert!(report(&scratch, "x")["warnings"][0].as_str().is_some_and(|said| said.contains(start)));
    let ran = scratch.run(&format!("{} -o Homo,Pan,pongo -n y", primates()));
    ran.assert_refused(&["-o (--outgroup): not a taxon of the alignment: Homo, pongo;"]);
    assert_eq!(ran.stderr.matches("--outgroup").count(), 1, "{}", ran.stderr);
    scratch.write("t.nwk", "(A,B,(C,D));");
    scratch.run("--consense -t t.nwk -o A,E -n z").assert_refused(&["not a taxon of t.nwk: E;"]);
    scratch.succeed("--consense -t t.nwk -o C -n z");
    assert_eq!(read(&scratch, "z.mlsearch.consensusTree"), "(((A,B)100,D),C);\n");
}

#[test]
fn given_trees_are_rooted_with_their_labels() {
    let scratch = Scratch::new();
    scratch.write(
        "t.nwk",
        "((A:1,B:2)70:1,(C:3,(D:1,E:1)80:1)70:1); (P:1,(Q:1,R:5)'50/0.5':0,S:1);\n",
    );
    scratch.succeed("-t t.nwk --root midpoint -n mid --quiet");
    let text = read(&scratch, "mid.mlsearch.rootedTree");
    let lines: Vec<&str> = text.lines().collect();
    // The longest paths have the lengths 7 (from B to C) and 6 (from P, Q or S to R).
    assert_eq!(lines[0], "((A:1,B:2)70:1.5,(C:3,(D:1,E:1)80:1)70:0.5);");
    assert_eq!(lines[1], "(((P:1,S:1)50/0.5:0,Q:1):2,R:3);");
    assert_eq!(report(&scratch, "mid")["rooted_trees"], serde_json::json!(lines));
    scratch.write("one.nwk", "((A:1,B:2)70:1,(C:3,(D:1,E:1)80:1)90:1);");
    let ran = scratch.succeed("-f I -t one.nwk -o E,D -n out");
    assert_eq!(
        read(&scratch, "out.mlsearch.rootedTree"),
        "(((A:1,B:2)70:2,C:3)80:0.5,(D:1,E:1)80:0.5);\n"
    );
    assert!(ran.stderr.contains("different labels, '70' and '90'; it gets the first"), "{ran:?}");
    // Names stay at their nodes.
    scratch.write("names.nwk", "((A:1,B:2)x:1,C:3,(D:1,E:1)y:1)z;");
    scratch.succeed("-f I -t names.nwk -o E,D -n names");
    assert_eq!(
        read(&scratch, "names.mlsearch.rootedTree"),
        "(((A:1,B:2)x:1,C:3)z:0.5,(D:1,E:1)y:0.5);\n"
    );
    scratch.run("-t t.nwk -o A -n no").assert_refused(&["not a taxon of t.nwk, tree 2: A;"]);
    scratch.write("bare.nwk", "(A,B,(C,D));");
    scratch
        .run("-t bare.nwk --root midpoint -n no")
        .assert_refused(&["bare.nwk, tree 1", "lengths"]);
}

#[test]
fn branches_without_length_become_polytomies() {
    let scratch = Scratch::new();
    let mut text = "14 898\n".to_string();
    let data = std::fs::read_to_string(repository("datasets/primates.phy")).expect("data");
    for (i, line) in data.lines().skip(1).enumerate() {
        text.push_str(&format!("{line}\n"));
        if i == 0 {
            let (_, row) = line.split_once(' ').expect("a name");
            text.push_str(&format!("copy1 {row}\ncopy2 {row}\n"));
        }
    }
    scratch.write("a.phy", &text);
    let ran = scratch.succeed("-s a.phy -m GTR+G --fast -n x");
    assert!(ran.stderr.contains("of the 11 inner branches of the best tree have no length"));
    let [best, collapsed] =
        ["bestTree", "bestTreeCollapsed"].map(|kind| read(&scratch, &format!("x.mlsearch.{kind}")));
    let mut kept = branches(&best);
    kept.retain(|_, (_, length)| *length > 2e-6);
    let left = branches(&collapsed);
    assert!(left.len() < 11 && left.keys().eq(kept.keys()), "{collapsed}");
    assert_eq!(report(&scratch, "x")["best_tree_collapsed"].as_str(), Some(collapsed.trim()));
    // The root may be at such a branch.
    scratch.succeed("-s a.phy -m GTR+G --fast -n y -o copy1,copy2 --quiet");
    let rooted = read(&scratch, "y.mlsearch.bestTreeCollapsed");
    assert!(left.keys().eq(branches(&rooted).keys()), "{rooted}");
    // Without such branches there is no such file, and none of an earlier run remains.
    scratch.succeed(&format!("{} --fast -n x --redo", primates()));
    assert!(!scratch.files().contains(&"x.mlsearch.bestTreeCollapsed".to_string()));
    assert!(report(&scratch, "x").get("best_tree_collapsed").is_none());
}
