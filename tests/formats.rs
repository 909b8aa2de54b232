//! NEXUS, Clustal and Stockholm files give what the same data give in PHYLIP; trees in NEXUS files what they give in
//! Newick; and trees are written as NEXUS and PhyloXML.

use crate::util::{Scratch, log_likelihood, repository, results};
use mlsearch::tree::{NewickTree, read_newick};

fn dataset(path: &str) -> String {
    std::fs::read_to_string(repository(path)).expect("a data set")
}

/// Names and rows of relaxed PHYLIP with one line for each taxon.
fn rows(phylip: &str) -> Vec<(&str, &str)> {
    let words = phylip.lines().skip(1).map(|line| line.split_once(' ').expect("name and row"));
    words.map(|(name, row)| (name, row.trim())).collect()
}

/// An interleaved NEXUS file in which other rows repeat the first with dots.
fn nexus(rows: &[(&str, &str)]) -> String {
    let first = rows[0].1;
    let mut text = format!(
        "#NEXUS\nbegin taxa;\ndimensions ntax={};\ntaxlabels {};\nend;\n\
         begin characters;\ndimensions nchar={};\nformat datatype=dna missing=? gap=- matchchar=. interleave;\nmatrix\n",
        rows.len(),
        rows.iter().map(|row| row.0).collect::<Vec<_>>().join("\n"),
        first.len()
    );
    for start in (0..first.len()).step_by(97) {
        let end = (start + 97).min(first.len());
        text.push_str(&format!("[{}]\n", start + 1));
        for (name, row) in rows {
            let cells = row[start..end].bytes().zip(first[start..end].bytes());
            let cells = cells.map(|(own, of_first)| match own == of_first && *row != first {
                true => '.',
                false => char::from(own),
            });
            text.push_str(&format!("{name} {}\n", cells.collect::<String>()));
        }
    }
    text + ";\nend;\n"
}

/// Rows in blocks of 60 columns.
fn blocks(rows: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for start in (0..rows[0].1.len()).step_by(60) {
        text.push('\n');
        for (name, row) in rows {
            text.push_str(&format!("{name}  {}\n", &row[start..(start + 60).min(row.len())]));
        }
    }
    text
}

#[test]
fn all_formats_give_the_same_results() {
    let phylip = dataset("datasets/primates.phy");
    let rows = rows(&phylip);
    let scratch = Scratch::new();
    scratch.write("t", &dataset("tests/golden/primates.tree"));
    let run = |name: &str, text: &str| {
        scratch.write("a", text);
        scratch.succeed(&format!("evaluate -s a -t t -m GTR+G -n {name}"));
        let mut results = results(&scratch, name);
        results.retain(|kind, _| kind == "bestTree" || kind == "bestModel");
        assert_eq!(results.len(), 2);
        results
    };
    let expected = run("phylip", &phylip);
    assert_eq!(run("nexus", &nexus(&rows)), expected);
    assert_eq!(run("clustal", &format!("CLUSTAL W (1.8)\n\n{}", blocks(&rows))), expected);
    assert_eq!(run("stockholm", &format!("# STOCKHOLM 1.0\n{}//\n", blocks(&rows))), expected);
}

#[test]
fn charsets_of_the_alignment_are_used_if_they_are_asked_for() {
    let phylip = dataset("datasets/primates.phy");
    let scratch = Scratch::new();
    scratch.write("t", &dataset("tests/golden/primates.tree"));
    scratch.write("p", "DNA, a = 1-400\nDNA, b = 401-898\n");
    scratch.write("a.phy", &phylip);
    let sets = "begin sets; charset a = 1-400; charset b = 401-.; end;\n";
    scratch.write("a.nex", &format!("{}{sets}", nexus(&rows(&phylip))));
    scratch.succeed("evaluate -s a.phy -q p -t t -m GTR+G -n p");
    scratch.succeed("evaluate -s a.nex -q a.nex -t t -m GTR+G -n q");
    let whole = scratch.succeed("evaluate -s a.nex -t t -m GTR+G -n whole");
    assert_eq!(log_likelihood(&scratch, "p"), log_likelihood(&scratch, "q"));
    assert!(log_likelihood(&scratch, "whole") < log_likelihood(&scratch, "q"));
    let note = "a.nex has charsets, which are not used: -q a.nex makes partitions of them";
    assert!(whole.stderr.contains(note), "{}", whole.stderr);
}

#[test]
fn trees_of_nexus_files_are_read_wherever_trees_are() {
    let scratch = Scratch::new();
    scratch
        .write("a.phy", "5 8\na  ACGTACGT\nb  ACGTACGA\nc  ACGAACGA\nd  ACCAACGA\ne  TCCAACGA\n");
    scratch.write("one.nwk", "((a:0.1,b:0.1):0.1,c:0.1,(d:0.1,e:0.1):0.1);\n");
    scratch.write("more.nwk", "((a,b),c,(d,e));((a,c),b,(d,e));((a,b),d,(c,e));\n");
    let begin = "#NEXUS\nbegin trees;\ntranslate 1 a, 2 b, 3 c, 4 d, 5 'e';\n";
    scratch.write(
        "one.nex",
        &format!("{begin}tree x = [&U] ((1:0.1,2[&rate=1]:0.1)[&posterior=1]:0.1,3:0.1,(4:0.1,5:0.1):0.1);\nend;\n"),
    );
    scratch.write(
        "more.nex",
        &format!(
            "{begin}tree x = ((1,2),3,(4,5));tree y = ((1,3),2,(4,5));tree z = ((1,2),4,(3,5));end;"
        ),
    );
    for command in [
        "evaluate -s a.phy -m JC -t one.EXT",
        "search -s a.phy -m JC -t one.EXT -g one.EXT",
        "support --tree one.EXT --bs-trees more.EXT",
        "consensus --tree more.EXT",
        "compare --tree more.EXT",
        "root --tree more.EXT -o a",
        "concordance --tree one.EXT --gcf more.EXT",
        "-f b -t one.EXT -z more.EXT",
    ] {
        scratch.succeed(&format!("{} -n newick --redo", command.replace("EXT", "nwk")));
        scratch.succeed(&format!("{} -n nexus --redo", command.replace("EXT", "nex")));
        let [newick, nexus] = ["newick", "nexus"].map(|name| {
            let mut results = results(&scratch, name);
            results.retain(|kind, _| !["json", "log"].contains(&kind.as_str()));
            results
        });
        assert!(!newick.is_empty(), "{command}");
        for (kind, content) in &newick {
            let other = nexus[kind].replace(".nex", ".nwk");
            assert_eq!(&other, content, "{command}: {kind}");
        }
    }
    let other = scratch.run("evaluate -s a.phy -m JC -t a.phy -n refused");
    other.assert_refused(&["a.phy, line 1"]);
    scratch.write("none.nex", "#NEXUS\nbegin trees;\n tree = (a,b\n");
    let none = scratch.run("consensus --tree none.nex -n refused");
    none.assert_refused(&[
        "none.nex, line 3",
        "none.nex, line 2, column 1: the block that begins here",
    ]);
}

/// Names of tips and lengths, in the order of the text.
fn describe(trees: &str) -> Vec<(Option<String>, Option<f64>)> {
    let trees = read_newick(trees, "t").expect("trees");
    let nodes = trees.iter().flat_map(NewickTree::nodes);
    nodes
        .map(|node| (node.name().filter(|_| node.is_tip()).map(String::from), node.length()))
        .collect()
}

#[test]
fn trees_are_written_in_other_formats_beside_newick() {
    let scratch = Scratch::new();
    scratch.write(
        "a.phy",
        "6 9\nit's  ACGTACGTA\nb  ACGTACGAA\nc|1  ACGAACGAC\nd  ACCAACGAC\ne  TCCAACGAC\nf&  TCCAACGTC\n",
    );
    scratch.succeed("search -s a.phy -m JC --bs-trees 20 -n x --tree-format nexus");
    let found = results(&scratch, "x");
    for kind in ["bestTree", "mlTrees", "bootstraps", "support"] {
        let nexus = &found[&format!("{kind}.nex")];
        assert!(nexus.starts_with("#NEXUS\nbegin trees;\n\ttree tree_1 = [&U] ("), "{nexus}");
        assert_eq!(describe(nexus), describe(&found[kind]), "{kind}");
    }
    assert!(found["support.nex"].contains(")[&support="), "{}", found["support.nex"]);
    assert!(!found.contains_key("bestModel.nex") && !found.contains_key("bestTree.xml"));
    // Results are not overwritten, and replaced with all that belongs to them.
    std::fs::remove_file(scratch.path().join("x.mlsearch.bestTree")).unwrap();
    let again = scratch.run("search -s a.phy -m JC -n x --tree-format nexus");
    again.assert_refused(&["x.mlsearch.bestTree.nex"]);
    scratch.succeed("search -s a.phy -m JC -n x --tree-format phyloxml --redo");
    let found = results(&scratch, "x");
    assert!(found.keys().all(|kind| !kind.ends_with(".nex")), "{:?}", found.keys());
    let xml = &found["bestTree.xml"];
    assert!(xml.contains("<name>f&amp;</name><branch_length>"), "{xml}");
    assert_eq!(xml.matches("<clade>").count(), xml.matches("</clade>").count());
    assert!(xml.trim_end().ends_with("</phyloxml>"));
    scratch.run("search -s a.phy -m JC -n y --tree-format nexml").assert_refused(&["nexml"]);
    // Posterior probabilities have their name.
    scratch.succeed("sample -s a.phy -m JC --ngen 2000 -n s --tree-format nexus");
    let found = results(&scratch, "s");
    assert!(found["posteriorTree.nex"].contains("[&posterior="), "{}", found["posteriorTree.nex"]);
}

/// Runs a script of commands, in which a link to mlsearch has this name.
fn run_script(scratch: &Scratch, program: &str, lines: &[&str]) {
    let link = scratch.path().join(program);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_mlsearch"), link).expect("a link");
    let script = lines.join(" &&\n");
    let mut shell = std::process::Command::new("sh");
    let path = format!("{}:/usr/bin:/bin", scratch.path().display());
    let ran = shell.args(["-c", &script]).current_dir(scratch.path()).env("PATH", path).output();
    let ran = ran.expect("a shell");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[cfg(unix)]
#[test]
fn pipelines_of_other_programs_find_their_files() {
    let scratch = Scratch::new();
    let data =
        "6 9\na  ACGTACGTA\nb  ACGTACGAA\nc  ACGAACGAC\nd  ACCAACGAC\ne  TCCAACGAC\nf  TCCAACGTC\n";
    scratch.write("a.phy", data);
    run_script(
        &scratch,
        "raxmlHPC",
        &[
            "raxmlHPC -s a.phy -m GTRGAMMA -p 1 -n T1",
            "raxmlHPC -s a.phy -m GTRGAMMA -p 1 -b 1 -# 10 -n T2",
            "raxmlHPC -f b -m GTRGAMMA -t RAxML_bestTree.T1 -z RAxML_bootstrap.T2 -n T3",
        ],
    );
    let read = |name: &str| std::fs::read_to_string(scratch.path().join(name)).expect("a file");
    assert_eq!(read("RAxML_bestTree.T1"), read("T1.mlsearch.bestTree"));
    assert_eq!(read("RAxML_bootstrap.T2").lines().count(), 10);
    assert_eq!(read("RAxML_bipartitions.T3"), read("T3.mlsearch.support"));
    assert!(read("T1.mlsearch.log").starts_with(&read("RAxML_info.T1")));
    scratch.run("search -s a.phy -m JC -n T1 --names raxml").assert_refused(&["RAxML_bestTree.T1"]);
    run_script(
        &scratch,
        "raxml-ng",
        &[
            "raxml-ng --search --msa a.phy --model GTR+G --prefix x --seed 1",
            "raxml-ng --bootstrap --msa a.phy --model GTR+G --prefix y --bs-trees 10 --seed 1",
            "raxml-ng --support --tree x.raxml.bestTree --bs-trees y.raxml.bootstraps --prefix z",
        ],
    );
    assert_eq!(read("x.raxml.bestModel"), read("x.mlsearch.bestModel"));
    assert_eq!(read("z.raxml.support"), read("z.mlsearch.support"));
    assert!(read("z.mlsearch.log").starts_with(&read("z.raxml.log")));
    // With `--redo` nothing of the earlier run remains.
    scratch.succeed("search -s a.phy -m JC --prefix x --redo");
    assert!(!scratch.files().contains(&"x.raxml.bestTree".to_string()), "{:?}", scratch.files());
}
