//! What users of RAxML 8, RAxML-NG and IQ-TREE type most: each command works as it stands, or is refused
//! with the whole corrected command, which works.

use crate::util::{Scratch, log_likelihood, repository};

/// Commands that work, the name they have in the documentation of their program left out.
const WORK: &[&str] = &[
    // RAxML 8
    "-f a -x 12345 -p 12345 -# 100 -m GTRGAMMA -s a.phy -n T1",
    "-m GTRGAMMA -p 12345 -# 20 -s a.phy -n T2",
    "-m GTRCAT -p 12345 -b 12345 -# 100 -s a.phy -n T3",
    "-m GTRGAMMA -p 12345 -x 12345 -N 100 -s a.phy -n T4 -U -H -O -F",
    "-f d -m GTRGAMMAI -p 12345 -s a.phy -q p.txt -M -T 2 -n T5",
    "-f e -t t.nwk -m GTRGAMMA -s a.phy -n T6",
    // RAxML-NG
    "--msa a.phy --model GTR+G --prefix N1 --threads 2 --seed 2",
    "--msa a.phy --model GTR+G --prefix N2 --tree pars{25},rand{25} --workers 4 --force perf_threads",
    "--all --msa a.phy --model p.txt --brlen scaled --bs-trees 100 --site-repeats on --tip-inner off",
    "--search1 --msa a.phy --msa-format PHYLIP --model GTR+G --prefix N3",
    "-f a -x 12345 -p 12345 -# autoMRE -B 0.02 -m GTRGAMMA -s a.phy -q p.txt -n T9",
    "--all --msa a.phy --model GTR+G --tree pars{10} --bs-trees autoMRE{500} --bs-metric fbp,tbe",
    "--bootstrap --msa a.phy --model GTR+G --bs-trees 200 --threads auto{4} --workers auto",
    "--msa a.phy --model GTR+G --outgroup Gorilla,Pan --prefix N7",
    // IQ-TREE
    "-s a.phy -m GTR+G -o Gorilla -pre I3",
    "-s a.phy -m TEST -nt AUTO -pre I1 -redo",
    "-s a.phy -m GTR+I+G -seed 7 -fast -quiet -wsl",
    "-s a.phy -m GTR+G -te t.nwk -nt 2",
    "-s a.phy -m GTR+G -t pars",
    "-s a.phy -m GTR+G -t rand",
    "-s a.phy -m GTR+G -t auto",
    "-s a.phy -spp p.txt -m MFP -T AUTO --safe --keep-ident",
];

/// Commands that work and take no `--check`, being about trees.
const WORK_ON_TREES: &[&str] = &[
    "-f I -m GTRGAMMA -t t.nwk -o Gorilla -n T13",
    "--root midpoint --tree boots.nwk --prefix N6",
    "-f b -m GTRGAMMA -t t.nwk -z boots.nwk -n T7",
    "-m GTRCAT -J MRE -z boots.nwk -n T8",
    "--support --tree t.nwk --bs-trees boots.nwk --prefix N4",
    "--rfdist --tree boots.nwk --prefix N5",
    "-con -t boots.nwk --prefix I2",
];

/// Commands that are refused, and what they are told to try.
const REFUSED: &[(&str, &str)] = &[
    // RAxML 8
    ("-f a -x 1 -p 1 -m GTRGAMMA -s a.phy", "-f a -x 1 -# 100 -p 1 -m GTRGAMMA -s a.phy"),
    ("-m GTRCAT -V -p 1 -s a.phy -n T11", "-m GTR+F -p 1 -s a.phy -n T11"),
    ("-m GTRGAMMA --HKY85 -p 1 -s a.phy -n T12", "-m HKY+F+G4 -p 1 -s a.phy -n T12"),
    ("-f J -t t.nwk -m GTRGAMMA -s a.phy", "--evaluate --alrt -t t.nwk -m GTRGAMMA -s a.phy"),
    ("-f n -z boots.nwk -m GTRGAMMA -s a.phy", "--evaluate -t boots.nwk -m GTRGAMMA -s a.phy"),
    // RAxML-NG
    (
        "--msa a.phy --model GTR+G --outgroup Gorilla --blmin 1e-9 --stop-rule off",
        "--msa a.phy --model GTR+G --outgroup Gorilla",
    ),
    // IQ-TREE
    ("-s a.phy", "-s a.phy -m auto"),
    ("a.phy", "-s a.phy -m GTR+G"),
    ("-s a.phy -m MFP -B 1000 -T AUTO", "-s a.phy -m MFP --all --bs-trees 1000 -T AUTO"),
    (
        "-s a.phy -m MFP -bb 1000 -alrt 1000 -bnni -nt AUTO",
        "-s a.phy -m MFP --all --bs-trees 1000 --alrt 1000 -T AUTO",
    ),
    (
        "-s a.phy -p p.txt -m MFP+MERGE -B 1000",
        "-s a.phy -q p.txt --brlen scaled -m auto --all --bs-trees 1000",
    ),
    ("-s a.phy -Q p.txt -m GTR+G", "-s a.phy -q p.txt -M -m GTR+G"),
    ("-s a.phy -m GTR+G -b 100", "-s a.phy -m GTR+G --all --bs-trees 100"),
    ("-s a.phy -m MF -mset GTR,HKY", "-s a.phy -m auto"),
    ("-s a.phy -m GTR+G --runs 5", "-s a.phy -m GTR+G --tree 'pars{5}'"),
    ("-s a.phy -m GTR+G -t RAND", "-s a.phy -m GTR+G -t rand"),
];

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    let primates = std::fs::read_to_string(repository("datasets/primates.phy")).unwrap();
    scratch.write("a.phy", &primates);
    scratch.write("p.txt", "DNA, first = 1-400\nDNA, second = 401-898\n");
    scratch.succeed("--start -s a.phy -t rand{3} -n made");
    let trees = std::fs::read_to_string(scratch.path().join("made.mlsearch.startTree")).unwrap();
    scratch.write("boots.nwk", &trees);
    scratch.write("t.nwk", trees.lines().next().unwrap());
    scratch
}

#[test]
fn commands_of_other_programs_work_as_they_stand() {
    let scratch = scratch();
    for command in WORK {
        scratch.succeed(&format!("{command} --check"));
    }
    for command in WORK_ON_TREES {
        scratch.succeed(command);
    }
}

#[test]
fn a_refused_command_is_answered_with_a_whole_command_that_works() {
    let scratch = scratch();
    let before = scratch.files();
    for (command, expected) in REFUSED {
        let ran = scratch.run(command);
        let wanted = format!("\nTry: mlsearch {expected}\n");
        ran.assert_refused(&[&wanted]);
        assert_eq!(ran.stderr.matches("Try").count(), 1, "{}", ran.stderr);
        let tried = expected.replace('\'', "");
        scratch.succeed(&format!("{tried} --check"));
    }
    assert_eq!(scratch.files(), before);
}

#[test]
fn what_no_command_here_does_is_refused_by_its_name() {
    let scratch = scratch();
    for (option, name) in [
        ("-f x", "distances between taxa"),
        ("--ebg", "educated bootstrap guessing"),
        ("-Y q", "quartets"),
        ("-A S16", "secondary structure"),
    ] {
        let ran = scratch.run(&format!("-s a.phy -m GTR+G {option}"));
        let typed = option.split(' ').next().unwrap();
        ran.assert_refused(&[typed, name, "mlsearch --help"]);
        assert!(!ran.stderr.contains("Try: "), "{}", ran.stderr);
    }
}

#[test]
fn other_faults_of_a_refused_command_are_said_with_it() {
    let scratch = Scratch::new();
    let ran = scratch.run("-s a.phy -B 1000 -T none");
    ran.assert_refused(&["ultrafast", "no model", "--threads"]);
    // What would be wrong with the corrected command alone is not the user's fault.
    let ran = scratch.run("--search -s a.phy -m GTR+G -b 100");
    ran.assert_refused(&["'-b 100'", "is a number of replicates"]);
    assert!(!ran.stderr.contains("different analyses"), "{}", ran.stderr);
}

#[test]
fn rapid_seeds_make_standard_replicates_and_a_note_says_so() {
    let scratch = scratch();
    let raxml = "-m GTRGAMMA -p 5 -# 2 -s a.phy --fast";
    let ran = scratch.succeed(&format!("{raxml} -f a -x 7 -n rapid"));
    assert!(
        ran.stderr.contains("note: -x: rapid bootstrapping is not available"),
        "{}",
        ran.stderr
    );
    let ran = scratch.succeed(&format!("{raxml} -f a -b 7 -n standard"));
    assert!(!ran.stderr.contains("rapid"), "{}", ran.stderr);
    for kind in ["bootstraps", "support", "bestTree"] {
        let [rapid, standard] = ["rapid", "standard"].map(|name| {
            std::fs::read_to_string(scratch.path().join(format!("{name}.mlsearch.{kind}"))).unwrap()
        });
        assert_eq!(rapid, standard, "{kind}");
    }
    scratch.run(&format!("{raxml} -x 7 -b 7")).assert_refused(&["-b", "-x", "cannot be used with"]);
}

#[test]
fn words_that_are_taken_as_others_or_change_nothing_are_said() {
    let scratch = scratch();
    let ran = scratch.succeed("-s a.phy -m JC -te t.nwk -nt 1 -pre x --workers 2 --force -O");
    for note in [
        "note: -te t.nwk is read as --evaluate -t t.nwk",
        "note: -nt 1 is read as -T 1",
        "note: -pre x is read as --prefix x",
        "note: --workers 2 has no effect here: ",
        "note: --force has no effect here: ",
        "note: -O has no effect here: ",
    ] {
        assert!(ran.stderr.contains(note), "'{note}' is missing in {}", ran.stderr);
    }
    scratch.succeed("-s a.phy -m JC --evaluate -t t.nwk -T 1 -n y");
    assert_eq!(log_likelihood(&scratch, "x").to_bits(), log_likelihood(&scratch, "y").to_bits());
}
