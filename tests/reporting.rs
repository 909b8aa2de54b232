//! What a run says, and what it leaves, while it goes on and when it ends.

use crate::util::{Scratch, has_avx2, repository, results};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn primates() -> String {
    repository("datasets/primates.phy").display().to_string()
}

#[test]
fn results_go_to_standard_output_and_the_rest_to_standard_error() {
    let scratch = Scratch::new();
    let ran = scratch.succeed(&format!("--all -s {} -m GTR+G+I --bs-trees 4 -n a", primates()));
    for expected in [
        "Final log-likelihood: -57",
        "tree length",
        "A-C",
        "alpha",
        "invariant sites",
        "Support (FBP) of the 9 inner branches by 4 trees",
        "a.mlsearch.support",
        "a.mlsearch.log",
        "a.mlsearch.json",
    ] {
        assert!(ran.stdout.contains(expected), "'{expected}' is missing in {}", ran.stdout);
        assert!(!ran.stderr.contains(expected), "'{expected}' is also in {}", ran.stderr);
    }
    assert!(ran.stderr.contains("12 taxa, 898 sites"), "{}", ran.stderr);
    let log = std::fs::read_to_string(scratch.path().join("a.mlsearch.log")).expect("a log");
    for expected in
        ["12 taxa", "fast SPR, starting tree 3, round 1", "replicate 4 of 4", "Final log"]
    {
        assert!(log.contains(expected), "'{expected}' is missing in {log}");
    }
    let quiet = scratch.succeed(&format!("-s {} -m GTR+G -n b --quiet", primates()));
    assert_eq!(quiet.stderr, "");
    assert!(quiet.stdout.starts_with("Final log-likelihood: -57"), "{}", quiet.stdout);
}

/// Waits for something that a run in the background must do.
fn wait_for(what: &str, mut happened: impl FnMut() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what} did not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn results_are_there_as_soon_as_they_are_final_and_a_prefix_belongs_to_one_run() {
    let scratch = Scratch::new();
    let search = format!("--all -s {} -m GTR+G --bs-trees 100000 -n a", primates());
    let mut run = Command::new(env!("CARGO_BIN_EXE_mlsearch"))
        .args(search.split_whitespace())
        .current_dir(scratch.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary can be started");
    wait_for("a best tree", || scratch.files().iter().any(|name| name == "a.mlsearch.mlTrees"));
    for name in ["a.mlsearch.bestTree", "a.mlsearch.bestModel"] {
        assert!(scratch.files().iter().any(|file| file == name), "no {name}");
    }
    let log = || std::fs::read_to_string(scratch.path().join("a.mlsearch.log")).expect("a log");
    wait_for("a replicate", || log().contains("replicate 1 of 100000"));
    for redo in ["", "--redo"] {
        scratch.run(&format!("{search} {redo}")).assert_refused(&["another run is writing"]);
    }
    assert!(run.try_wait().expect("status").is_none(), "the first run goes on");
    run.kill().expect("it can be killed");
    run.wait().expect("it ends");
    // Results of a killed run are only for the same run to replace.
    let other = scratch.run(&format!("{search} -p 2"));
    other.assert_refused(&["a.mlsearch.checkpoint", "seed: 12345 in the checkpoint", "--redo"]);
    std::fs::remove_file(scratch.path().join("a.mlsearch.checkpoint")).expect("a checkpoint");
    scratch.run(&search).assert_refused(&["a.mlsearch.bestTree", "--redo"]);
}

#[test]
fn redo_leaves_nothing_of_the_run_before() {
    let scratch = Scratch::new();
    scratch.succeed(&format!("--all -s {} -m JC --bs-trees 3 -n a", primates()));
    assert!(scratch.files().contains(&"a.mlsearch.support".to_string()));
    // Refused: everything stays.
    let before = scratch.files();
    scratch
        .run(&format!("-s {} -m NONSENSE -n a --redo", primates()))
        .assert_refused(&["NONSENSE"]);
    assert_eq!(scratch.files(), before);
    scratch.succeed(&format!("-s {} -m HKY -n a --redo --fast", primates()));
    let left = ["bestModel", "bestTree", "html", "json", "log", "mlTrees", "startTree"];
    assert_eq!(scratch.files(), left.map(|kind| format!("a.mlsearch.{kind}")));
    // A command on trees replaces only its own results, and never what it reads.
    scratch.succeed("--rfdist a.mlsearch.mlTrees -n a --redo");
    assert!(scratch.files().contains(&"a.mlsearch.bestTree".to_string()));
}

#[test]
fn many_warnings_of_one_kind_are_one_with_all_cases_in_the_log() {
    let scratch = Scratch::new();
    let rows: Vec<String> = (0..20)
        .map(|i| {
            let bits = i / 2 + 1;
            let row: String =
                (0..8).map(|b| if bits >> (b % 5) & 1 == 1 { 'A' } else { 'C' }).collect();
            format!("t{i}  {row}")
        })
        .collect();
    scratch.write("a.phy", &format!("20 8\n{}\n", rows.join("\n")));
    let ran = scratch.succeed("--start -s a.phy -m JC -n a");
    assert!(ran.stderr.contains("10 sequences are identical to an earlier one"), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("identical sequences: t").count(), 1, "one example");
    let log = std::fs::read_to_string(scratch.path().join("a.mlsearch.log")).expect("a log");
    assert_eq!(log.matches("\ntaxa with identical sequences: t").count(), 10, "{log}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_that_does_not_fit_into_the_memory_is_refused_before_it_begins() {
    let scratch = Scratch::new();
    scratch.succeed("simulate --tree rand{200} --model JC --sites 10000 -n sim");
    let limited = |arguments: &str| {
        let program = env!("CARGO_BIN_EXE_mlsearch");
        let output = Command::new("sh")
            .args(["-c", &format!("ulimit -v 250000; exec {program} {arguments}")])
            .current_dir(scratch.path())
            .output()
            .expect("a shell");
        (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
    };
    let (code, message) = limited("-s sim.mlsearch.phy -m GTR+G64 -n a -T 1");
    assert_eq!(code, Some(1), "{message}");
    assert!(
        message.contains("are free; nothing") && message.contains("nothing was computed"),
        "{message}"
    );
    assert!(!message.contains("panicked") && !message.contains("allocation"), "{message}");
    assert!(!scratch.files().iter().any(|name| name.starts_with("a.mlsearch")));
    let (code, message) = limited("--start -s sim.mlsearch.phy -m GTR+G64 -n a -T 1");
    assert_eq!(code, Some(0), "{message}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_with_less_memory_has_the_same_results() {
    let scratch = Scratch::new();
    scratch.succeed("simulate --tree rand{32} --model JC --sites 2000 -n sim");
    let results = |options: &str| {
        scratch.succeed(&format!("-s sim.mlsearch.phy -m GTR+G --fast -n a --redo {options}"));
        let read =
            |kind| std::fs::read_to_string(scratch.path().join(format!("a.mlsearch.{kind}")));
        ["bestTree", "bestModel", "log"].map(|kind| read(kind).expect("a result"))
    };
    let [tree, model, log] = results("-T 1");
    assert!(!log.contains("computed again"), "{log}");
    let least = scratch.least_memory("-s sim.mlsearch.phy -m GTR+G --fast -n b -T 2");
    let limited = results(&format!("-T 2 --mem {least}M"));
    assert_eq!(limited[..2], [tree, model]);
    assert!(limited[2].contains("others are computed again"), "{}", limited[2]);
    let refused = scratch.run("-s sim.mlsearch.phy -m GTR+G -n b --mem 5M");
    assert_eq!(refused.code, 2);
    let expected = "--mem: 5.0 MiB are not enough for this run, which needs ";
    assert!(refused.stderr.contains(expected), "{refused:?}");
    assert!(!scratch.files().iter().any(|name| name.starts_with("b.mlsearch")));
}

#[test]
fn lengths_of_given_trees_are_brought_within_their_bounds() {
    let scratch = Scratch::new();
    scratch.write("a.phy", "4 8\na  ACGTACGT\nb  ACGTACGA\nc  ACGAACGA\nd  ACCAACGA\n");
    scratch.write("t", "((a:0,b:0):0,c:1000,d:0.1);\n");
    for command in ["--evaluate", "--search"] {
        let ran = scratch.succeed(&format!("{command} -s a.phy -m JC -t t -n {}", &command[2..]));
        let expected =
            "t, tree 1: of 5 branch lengths, 3 were raised to 0.000001 and 1 reduced to 100";
        assert!(ran.stderr.contains(expected), "{command}: {}", ran.stderr);
    }
    // Lengths that are not optimised are the user's.
    let kept =
        scratch.run("--evaluate -s a.phy -m JC -t t --opt-branches off --opt-model off -n k");
    assert_eq!(kept.code, 1);
    assert!(kept.stderr.contains("branches of length 0 between different sequences"), "{kept:?}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn kernels_that_are_much_slower_give_a_warning_that_changes_no_result() {
    let scratch = Scratch::new();
    let data = repository("datasets/lysozyme.phy").display().to_string();
    let command = format!("-s {data} -m LG --fast -T 1");
    let ran = scratch.succeed(&format!("{command} --simd scalar -n slow"));
    let expected = "warning: the likelihood kernels for any x86-64 processor are used, which are about 12 times slower";
    assert_eq!(ran.stderr.matches(expected).count(), 1, "{}", ran.stderr);
    let ran = scratch.succeed(&format!("{command} -n best"));
    // A machine without AVX2 has nothing better.
    assert_eq!(ran.stderr.contains(expected), !has_avx2(), "{}", ran.stderr);
    assert_eq!(results(&scratch, "slow"), results(&scratch, "best"));
}
