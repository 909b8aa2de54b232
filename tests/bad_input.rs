//! Input that must be refused: exit code 2, one message with every fault, nothing left behind.

use crate::util::{Scratch, repository};
use flate2::{Compression, write::GzEncoder};
use std::io::Write;

const GOOD: &str = "5 8\na  ACGTACGT\nb  ACGTACGA\nc  ACGAACGA\nd  ACCAACGA\ne  TCCAACGA\n";
const TREE: &str = "((a:0.1,b:0.1):0.1,c:0.1,(d:0.1,e:0.1):0.1);\n";

/// Runs a command that must be refused with a message that holds all of `expected`.
fn refuse(files: &[(&str, &str)], arguments: &str, expected: &[&str]) -> String {
    let scratch = Scratch::new();
    for (name, content) in files {
        scratch.write(name, content);
    }
    let before = scratch.files();
    let ran = scratch.run(&format!("{arguments} -n out"));
    ran.assert_refused(expected);
    assert_eq!(ran.stdout, "", "{arguments}");
    assert_eq!(scratch.files(), before, "{arguments} left something behind");
    ran.stderr
}

fn refuse_alignment(text: &str, expected: &[&str]) {
    for command in ["", "--evaluate -t t", "--all", "--check", "--start"] {
        let files = [("a.phy", text), ("t", TREE)];
        refuse(&files, &format!("-s a.phy -m GTR+G {command}"), expected);
    }
}

#[test]
fn unequal_lengths() {
    let text = "4 8\na  ACGTACGT\nb  ACGTACG\nc  ACGAACGAA\nd  ACCAACGA\n";
    refuse_alignment(text, &["a.phy, line 3", "'b'", "a.phy, line 4", "'c'", "8"]);
    let fasta = ">a\nACGT\n>b\nACG\n>c\nACGTA\n>d\nACGT\n";
    refuse_alignment(fasta, &["a.phy, line", "'b'", "'c'"]);
}

#[test]
fn duplicate_names() {
    let text = "5 4\na  ACGT\nb  ACGT\na  ACGA\nb  CCGA\nc  CCGA\n";
    refuse_alignment(text, &["a.phy, line 4", "'a'", "a.phy, line 5", "'b'"]);
}

#[test]
fn unknown_characters() {
    let text = "4 8\na  ACGTACGT\nb  ACGTACEA\nc  ACG1ACGA\nd  ACCAACGA\n";
    let expected = [
        "a.phy, line 3, column 7, 'b': unknown character 'E'",
        "a.phy, line 4, column 4, 'c': unknown character '1'",
    ];
    refuse_alignment(text, &expected);
    refuse_alignment("4 4\na  ACGT\nb  AC!T\nc  ACGT\nd  ACGT\n", &["a.phy, line 3", "'!'"]);
}

#[test]
fn empty_files_and_headers_that_lie() {
    refuse_alignment("", &["a.phy", "empty"]);
    refuse_alignment("\n \n", &["a.phy"]);
    refuse_alignment(&GOOD.replacen('5', "6", 1), &["a.phy", "6"]);
    refuse_alignment(&GOOD.replacen('5', "4", 1), &["a.phy", "4"]);
    refuse_alignment(&GOOD.replacen('8', "9", 1), &["a.phy", "9"]);
    refuse_alignment("0 0\n", &["a.phy"]);
    refuse_alignment("99999999999999999999 8\na  ACGT\n", &["a.phy"]);
    refuse_alignment("hello\n", &["a.phy, line 1"]);
    let gaps = "5 2\na  --\nb  ??\nc  NN\nd  --\ne  -X\n";
    refuse_alignment(gaps, &["a.phy", "no taxon has any data"]);
}

#[test]
fn partitions_that_overlap_end_too_late_or_forget_columns() {
    let part = "DNA, g1 = 1-3\nDNA, g2 = 3-5\nDNA, g3 = 7-9\n";
    let files = [("a.phy", GOOD), ("q", part)];
    let message = refuse(
        &files,
        "-s a.phy -m GTR+G -q q",
        &[
            "q, line 2, 'g2'",
            "column 3 already belongs to 'g1'",
            "q, line 3, column 11, 'g3'",
            "'7-9'",
            "column 6",
            "no partition",
            "3 errors",
        ],
    );
    assert_eq!(message.matches("q, line").count(), 2, "{message}");
    for (part, expected) in [
        ("", "no partition"),
        ("DNA, g1 = 1-8\nDNA, g1 = 1-8\n", "g1"),
        ("DNA g1 1-8\n", "q, line 1"),
        ("DNA, g1 = 8-1\n", "'g1'"),
    ] {
        refuse(&[("a.phy", GOOD), ("q", part)], "-s a.phy -m GTR+G -q q", &[expected]);
    }
}

#[test]
fn a_model_that_is_refused_does_not_make_faults_of_the_characters() {
    let proteins = "4 4\na  EFIL\nb  EFIL\nc  EFIP\nd  PFIL\n";
    let said = refuse(&[("a.phy", proteins)], "-s a.phy -m LG+FU{1/2}", &["-m: model"]);
    assert!(!said.contains("unknown character"), "{said}");
}

#[test]
fn unknown_models() {
    refuse(&[("a.phy", GOOD)], "-s a.phy -m FOO+G", &["-m", "FOO"]);
    refuse(&[("a.phy", GOOD)], "-s a.phy -m LG9+G", &["LG9"]);
    refuse(&[("a.phy", GOOD)], "-s a.phy -m GTR+G{-1}", &["G{-1}"]);
    let part = "FOO, g1 = 1-4\nGTR+XYZ, g2 = 5-6\nDNA, g3 = 7-8\n";
    let files = [("a.phy", GOOD), ("q", part)];
    refuse(
        &files,
        "-s a.phy -m BAR -q q",
        &["-m: model 'BAR'", "q, line 1, 'g1'", "q, line 2, 'g2'", "3 errors"],
    );
    let part = "JC+BU{0}, g1 = 1-4\nJC+BU{2}, g2 = 5-8\n";
    let files = [("a.phy", GOOD), ("q", part)];
    refuse(&files, "-s a.phy -q q", &["q, line 1, 'g1'", "q, line 2, 'g2'", "--brlen scaled"]);
}

#[test]
fn trees_that_do_not_match() {
    for (tree, expected) in [
        ("((a,b),c,(d,x));", &["'x'", "'e'"][..]),
        ("((a,b),c,(d,a));", &["'a'", "twice", "'e'"]),
        ("((a,b),c,d,e);", &["t, line 1", "multifurcation"]),
        ("((a,b),c,(d,e;", &["t, line 1"]),
        ("((a:1e6,b),c,(d,e:1e9));", &["'a'", "'e'"]),
        ("", &["t"]),
    ] {
        let files = [("a.phy", GOOD), ("t", tree)];
        refuse(&files, "--evaluate -s a.phy -m JC -t t", expected);
    }
    // Negative lengths, as neighbour joining makes them, cannot be kept.
    let files = [("a.phy", GOOD), ("t", "((a:-1,b:1):1,c:1,(d:1,e:1):1);")];
    refuse(&files, "--evaluate -s a.phy -m JC -t t --opt-branches off", &["'a'", "negative"]);
    let scratch = Scratch::new();
    for (name, text) in files {
        scratch.write(name, text);
    }
    let ran = scratch.succeed("--evaluate -s a.phy -m JC -t t -n optimised");
    assert!(ran.stderr.contains("1 were raised to"), "{}", ran.stderr);
    // Faults of several files and trees are told together.
    let part = "FOO, g1 = 1-8\n";
    let trees = "((a,b),c,(d,x));\n((a,b),c,(d,y));\n";
    let files = [("a.phy", GOOD), ("q", part), ("t", trees)];
    refuse(&files, "--evaluate -s a.phy -q q -t t", &["FOO", "'x'", "'y'", "t, line 2"]);
}

#[test]
fn too_few_taxa() {
    let three = "3 8\na  ACGTACGT\nb  ACGTACGA\nc  ACGAACGA\n";
    let two = "2 8\na  ACGTACGT\nb  ACGTACGA\n";
    for command in ["--all", "-b 1 -# 2"] {
        let files = [("a.phy", three)];
        let expected = ["a.phy", "fewer than 4 taxa", "--search"];
        refuse(&files, &format!("-s a.phy -m JC {command}"), &expected);
    }
    let files = [("a.phy", two), ("t", "(a:0.1,b:0.1);")];
    for command in ["", "--evaluate -t t", "--check", "--start"] {
        refuse(&files, &format!("-s a.phy -m JC {command}"), &["a.phy", "fewer than 3 taxa"]);
    }
    let scratch = Scratch::new();
    scratch.write("a.phy", three);
    scratch.write("t", "(a:0.1,b:0.1,c:0.1);");
    let ran = scratch.run("--evaluate -s a.phy -m JC -t t -n out");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn partition_trees_that_do_not_fit() {
    let part = "JC, g1 = 1-4\nJC, g2 = 5-8\n";
    let own = "((a:1,b:1):1,c:1,(d:1,e:1):1);\n";
    let other = "((a:1,c:1):1,b:1,(d:1,e:1):1);\n";
    for (trees, expected) in [
        (own.to_string(), "1 trees, but 2 partitions"),
        (format!("{own}{other}"), "'g2': the topology of the partition's tree differs"),
        (format!("{own}(a:1,b:1,c:1);\n"), "'g2': the partition's tree lacks these taxa: d, e"),
        (
            format!("{own}((a,b),c,(d,e));\n"),
            "'g2': the partition's tree has branches without a length",
        ),
    ] {
        let files = [("a.phy", GOOD), ("q", part), ("t", TREE), ("p", trees.as_str())];
        let command = "--evaluate -s a.phy -q q -t t -M --partition-trees p";
        refuse(&files, command, &["p", expected]);
    }
}

#[test]
fn trees_without_an_alignment() {
    let boots = "((a,b),c,(d,x));\n((a,b),(c,d));\n";
    let files = [("t", TREE), ("b", boots)];
    refuse(&files, "--support --tree t --bs-trees b", &["b, line 1", "'x'", "'e'", "b, line 2"]);
    let files = [("t", "((a,b),c,(d,a));")];
    refuse(&files, "--rfdist --tree t", &["t, line 1", "'a'", "twice"]);
    refuse(&[("t", "((a,b),c,,d);")], "--consense --tree t", &["t, line 1"]);
}

#[test]
fn simulations_without_values_or_lengths() {
    let run = |files: &[(&str, &str)], arguments: &str, expected: &[&str]| {
        refuse(files, &format!("simulate {arguments}"), expected);
    };
    run(&[], "--tree rand{5} -m HKY+G --sites 10", &["frequencies", "alpha"]);
    run(
        &[("t", "((a,b),c,(d,e));")],
        "--tree t -m JC --sites 10",
        &["t", "branches without a length"],
    );
    run(&[], "--tree rand{99999999999} -m JC --sites 10", &["rand{99999999999}"]);
    let part = "JC, a = 1-99999999999999999999999\n";
    run(&[("q", part)], "--tree rand{5} -q q", &["q: the partitions have columns beyond"]);
    let part = "JC, a = 1-4\nJC+G, b = 6-8\n";
    run(&[("q", part)], "--tree rand{5} -q q", &["column 5"]);
}

#[test]
fn data_that_are_odd_but_usable_give_warnings_that_name_them() {
    let scratch = Scratch::new();
    let text = "6 12\na  ACGTACGT----\nb  ACGTACGA----\nc  ACGAACGA----\nd  ACCAACGAACGT\n\
                e  ACGAACGA----\nf  ------------\n";
    scratch.write("a.phy", text);
    scratch.write("q", "DNA, g1 = 1-8\nDNA, g2 = 9-10\nDNA, g3 = 11-12\n");
    for mode in ["", "-M", "--brlen scaled"] {
        let command = format!("-s a.phy -q q -m GTR+G -n out --redo --sitelh {mode}");
        let ran = scratch.run(&command);
        assert_eq!(ran.code, 0, "{mode}: {}", ran.stderr);
        for expected in [
            "without any data, whose position in the tree is arbitrary: f",
            "identical sequences: c, e",
            "partition 'g2' has data for 1 taxon (d)",
        ] {
            let found = ran
                .stderr
                .lines()
                .any(|line| line.starts_with("warning: ") && line.contains(expected));
            assert!(found, "{mode}: '{expected}' is missing in {}", ran.stderr);
        }
        let json = std::fs::read_to_string(scratch.path().join("out.mlsearch.json")).unwrap();
        let report: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert!(report["log_likelihood"].as_f64().unwrap().is_finite());
        assert_eq!(report["partitions"][1]["taxa"], 1);
        let undetermined = report["undetermined_edges"].as_array().unwrap();
        assert!(undetermined.iter().any(|edge| edge["taxa"][0] == "f"), "{undetermined:?}");
    }
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn nucleotides_under_models_of_other_data_give_a_warning() {
    let primates = std::fs::read_to_string(repository("datasets/primates.phy")).unwrap();
    let scratch = Scratch::new();
    scratch.write("a.phy", &primates);
    scratch.write("q", "LG, a = 1-30\nDNA, b = 31-898\n");
    for (command, partition) in [
        ("-m LG+G", "all"),
        ("-m PROTGAMMAAUTO", "all"),
        ("-m GTR+G -q q", "a"),
        ("-m MK+G", "all"),
    ] {
        let ran = scratch.succeed(&format!("--check -s a.phy {command} -n out"));
        let expected = format!("the characters of partition '{partition}' look like DNA");
        assert_eq!(ran.stderr.matches("look like DNA").count(), 1, "{command}: {}", ran.stderr);
        assert!(ran.stderr.contains(&expected), "{command}: {}", ran.stderr);
    }
    let ran = scratch.succeed("--check -s a.phy -m GTR+G -n out");
    assert!(!ran.stderr.contains("look like"), "{}", ran.stderr);
}

#[test]
fn characters_no_protein_model_knows_give_one_warning() {
    let scratch = Scratch::new();
    scratch.write("a.fa", ">a\nMKVUU\n>b\nMKVLL\n>c\nMKVO*\n>d\nMKILU\n");
    let ran = scratch.succeed("--check -s a.fa -m LG -n out");
    let expected = "U (selenocysteine) 3 times, O (pyrrolysine) once, * (stop) once, first in a.fa, line 2, column 4, 'a'";
    assert_eq!(ran.stderr.matches(expected).count(), 1, "{}", ran.stderr);
}

#[test]
fn dots_that_may_mean_the_first_row_are_refused_in_every_format() {
    let said = ["'b'", "occurs 3 times in 2 sequences but not in the first", "'-' for a gap"];
    for text in [
        "4 4\na ACGT\nb A..T\nc ACGT\nd AC.T\n",
        "4 4\na AC\nb A.\nc AC\nd AC\n\nGT\n.T\nGT\n.T\n",
        ">a\nACGT\n>b\nA..T\n>c\nACGT\n>d\nAC.T\n",
    ] {
        refuse_alignment(text, &said);
        refuse(&[("a.phy", text)], "-s a.phy -m LG", &said);
    }
    let scratch = Scratch::new();
    scratch.write("a.phy", "4 4\na AC.T\nb A..T\nc ACGT\nd AC.T\n");
    scratch.succeed("--check -s a.phy -m GTR -n out");
}

#[test]
fn several_trees_where_one_is_expected_are_refused() {
    let files = [("t", &*TREE.repeat(2)), ("b", TREE)];
    refuse(
        &files,
        "--support --tree t --bs-trees b",
        &["t: the file contains 2 trees, but one is expected"],
    );
    refuse(
        &files,
        "simulate --tree t -m JC --sites 9",
        &["t: the file contains 2 trees, but one is expected"],
    );
}

#[test]
fn standard_input_is_read_and_nothing_is_named_after_it() {
    let scratch = Scratch::new();
    scratch.write("t", TREE);
    let command = "--evaluate -m JC -t t";
    let ran = scratch.run_with_input(&format!("{command} -s - -n out"), GOOD);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    scratch.write("a.phy", GOOD);
    scratch.succeed(&format!("{command} -s a.phy -n file"));
    assert_eq!(
        crate::util::results(&scratch, "out")["bestTree"],
        crate::util::results(&scratch, "file")["bestTree"]
    );
    let before = scratch.files();
    for (words, expected) in [
        ("-s -", "cannot be named after standard input: give --prefix"),
        ("-s /dev/stdin", "cannot be named after /dev/stdin: give --prefix"),
        ("-s /dev/stdin -w .", "cannot be named after /dev/stdin: give --prefix"),
        ("-s a.phy --prefix /dev/full", "/dev/full, is that of a device"),
        ("-s a.phy --prefix .", "folder"),
    ] {
        let ran = scratch.run_with_input(&format!("{command} {words}"), GOOD);
        ran.assert_refused(&[expected]);
    }
    assert_eq!(scratch.files(), before);
    let ran = scratch.run_with_input("evaluate -m JC -s - -t - -n new", GOOD);
    ran.assert_refused(&["standard input (-) can be read only once: name a file for the other"]);
    assert_eq!(scratch.files(), before);
    let ran = scratch.run_with_input("-m JC -s - -n new", "2 4\na ACGT\nb ACG\n");
    ran.assert_refused(&["standard input, line 3, 'b'"]);
}

#[test]
fn devices_without_an_end_are_refused_at_once() {
    let files = [("a.phy", GOOD), ("t", TREE)];
    refuse(&[], "-s /dev/zero -m JC", &["/dev/zero", "begins with"]);
    refuse(&files, "-s a.phy -m JC -q /dev/zero", &["/dev/zero", "text: expected"]);
    refuse(&files, "-s a.phy -m PROTGTR{/dev/zero}", &["/dev/zero", "text: expected"]);
    refuse(&files, "-s a.phy -m LG -P /dev/zero", &["/dev/zero", "text: expected"]);
    refuse(&files, "--evaluate -s a.phy -m JC -t /dev/zero", &["/dev/zero", "text: expected"]);
}

#[test]
fn gzipped_trees_and_partitions_are_read_and_those_that_break_off_are_named() {
    let scratch = Scratch::new();
    scratch.write("a.phy", GOOD);
    let files = [("t.gz", TREE), ("q.gz", "JC, g1 = 1-4\nJC, g2 = 5-8\n"), ("a.gz", GOOD)];
    for (name, text) in files {
        std::fs::write(scratch.path().join(name), gzip(text)).unwrap();
        let cut = &gzip(text)[..20];
        std::fs::write(scratch.path().join(format!("cut-{name}")), cut).unwrap();
    }
    scratch.succeed("--evaluate -s a.gz -q q.gz -t t.gz -n out");
    for (cut, command) in [
        ("cut-a.gz", "-s cut-a.gz -q q.gz -t t.gz"),
        ("cut-q.gz", "-s a.gz -q cut-q.gz -t t.gz"),
        ("cut-t.gz", "-s a.gz -q q.gz -t cut-t.gz"),
    ] {
        let ran = scratch.run(&format!("--evaluate {command} -n new"));
        ran.assert_refused(&[&format!("{cut}: the gzipped data end prematurely")]);
    }
}

#[test]
fn messages_quote_little_and_print_short_numbers() {
    let name = "n".repeat(1_000_000);
    let text = GOOD.replace("a  ACGT", &format!("{name}  ACG"));
    for (files, command) in [
        (vec![("a.phy", text.as_str())], "-s a.phy -m JC"),
        (
            vec![("a.phy", GOOD), ("t", &*TREE.replace('e', &name[..1000]))],
            "--evaluate -s a.phy -m JC -t t",
        ),
        (vec![("a.phy", GOOD), ("q", &*format!("DNA, {name} = 1-9"))], "-s a.phy -m JC -q q"),
        (vec![("a.phy", GOOD), ("q", &*format!("{name}, a = 1-8"))], "-s a.phy -m JC -q q"),
    ] {
        let said = refuse(&files, command, &["nnnn"]);
        assert!(said.len() < 3000, "{command}: {} bytes", said.len());
    }
    let files = [("a.phy", GOOD), ("t", &*TREE.replace("(a:0.1", "(a:1e308"))];
    refuse(&files, "--evaluate -s a.phy -m JC -t t", &["length 1e308 is more than"]);
    refuse(&files, "-s a.phy -m GTR+G{1e308}", &["alpha 1e308 in"]);
    refuse(&files, "-s a.phy -m GTR{1e308/1/1/1/1/1}", &["rate 1e308 of GTR"]);
    refuse(
        &files,
        "-s a.phy -m typo.part",
        &["'typo.part' is neither a model nor an existing file"],
    );
}
