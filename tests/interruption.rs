//! Runs that are killed at random moments, resumed and killed again end in the same files as one that never was; what
//! else may happen to its checkpoint.

use crate::fuzz_targets::with_check_sums;
use crate::mutator::Mutator;
use crate::util::{Ran, Scratch, has_avx2, repository, results};
use mlsearch::conformance::all_cases_are_asked;
use mlsearch::rng::{Purpose, Rng, stream};
use mlsearch::runtime::checkpoint::{Journal, Kind};
use rand::RngExt;
use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Number of the tests that call [`survives`].
const CASES: usize = 13;
/// Kills of a run, each signal once, ...
const KILLS: usize = 3;
/// ... or, if all cases are asked for, kills in all tests together; the environment may ask for more.
const ALL_KILLS: usize = 200;
/// The most kills of one run before it may end.
const MOST_IN_A_ROW: usize = 3;

const SIGINT: i32 = 2;
const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;

/// Where a run is begun and where it goes on must not show. Not everybody has the last.
const MACHINES: [&str; 4] = ["-T 2", "-T 1", "-T 3 --simd scalar", "-T 1 --simd avx2"];

fn data(name: &str) -> String {
    let [msa, part] = [format!("datasets/{name}.phy"), format!("partitions/{name}.part")];
    format!("-s {} -q {}", repository(&msa).display(), repository(&part).display())
}

/// Begins a run inside the folder. States are written all `pause` seconds.
pub fn begin(scratch: &Scratch, command: &str, pause: f64) -> Child {
    Command::new(env!("CARGO_BIN_EXE_mlsearch"))
        .args(command.split_whitespace())
        .current_dir(scratch.path())
        .env("MLSEARCH_CHECKPOINT_SECONDS", pause.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary can be started")
}

/// Sends a signal after some time, and says how the run ended: true if it was killed before its end.
fn kill(mut child: Child, after: Duration, signal: i32, command: &str) -> bool {
    std::thread::sleep(after);
    match signal {
        SIGKILL => child.kill().expect("the run is our own"),
        _ => {
            let pid = child.id().to_string();
            let sent = Command::new("kill").args([format!("-{signal}"), pid]).output();
            sent.expect("there is a program 'kill'");
        }
    }
    let output = child.wait_with_output().expect("the run ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked") && !said.contains("error of mlsearch"), "{command}: {said}");
    match (output.status.code(), output.status.signal()) {
        (Some(0), _) => false,
        // The run before was killed after its end.
        (Some(2), _) if said.contains("results of an earlier run exist") => false,
        (Some(code), _) if code == 128 + signal => true,
        (None, Some(by)) if by == signal => true,
        other => panic!("{command}: signal {signal}, but {other:?}: {said}"),
    }
}

/// Runs a command without interruption, then kills it again and again.
fn survives(command: &str, number: u64) {
    let kills = std::env::var("MLSEARCH_KILLS").ok().and_then(|text| text.parse().ok());
    let all_kills = if all_cases_are_asked() { ALL_KILLS } else { KILLS * CASES };
    let kills = kills.unwrap_or(all_kills).div_ceil(CASES);
    let seed = std::env::var("MLSEARCH_KILL_SEED").ok().and_then(|text| text.parse().ok());
    let mut rng = stream(seed.unwrap_or(number), Purpose::Test, number);
    let scratch = Scratch::new();
    let began = Instant::now();
    scratch.succeed(&format!("{command} -n ref --quiet -T 1"));
    let (whole, expected) = (began.elapsed(), results(&scratch, "ref"));
    let mut done = 0;
    for run in 0.. {
        if done >= kills {
            break;
        }
        let prefix = format!("run{run}");
        let machines = &MACHINES[..MACHINES.len() - usize::from(!has_avx2())];
        let machine = |rng: &mut Rng| machines[rng.random_range(0..machines.len())];
        let mut in_a_row = 0;
        while in_a_row < MOST_IN_A_ROW && done < kills {
            let signal = [SIGKILL, SIGTERM, SIGINT][done % 3];
            let pause = [0.0, 0.01, 30.0][rng.random_range(0..3)];
            let command = format!("{command} -n {prefix} {}", machine(&mut rng));
            let after = whole.mul_f64(rng.random_range(0.0..1.2));
            if !kill(begin(&scratch, &command, pause), after, signal, &command) {
                break;
            }
            done += 1;
            in_a_row += 1;
        }
        // A run that was not killed has ended.
        if in_a_row > 0 {
            let ended = scratch.run(&format!("{command} -n {prefix} {}", machine(&mut rng)));
            let has_results = ended.stderr.contains("results of an earlier run exist");
            assert!(ended.code == 0 || has_results, "{command}, run {run}: {}", ended.stderr);
        }
        assert_same(&expected, &scratch, &prefix, &format!("{command}, run {run}"));
        for name in scratch.files().iter().filter(|name| !name.starts_with("ref.")) {
            std::fs::remove_file(scratch.path().join(name)).expect("a result");
        }
    }
}

pub fn assert_same(
    expected: &BTreeMap<String, String>,
    scratch: &Scratch,
    prefix: &str,
    what: &str,
) {
    let found = results(scratch, prefix);
    assert!(expected.keys().eq(found.keys()), "{what}: other files: {:?}", scratch.files());
    for (kind, text) in expected {
        let differing = found[kind].lines().zip(text.lines()).find(|(found, text)| found != text);
        assert!(found[kind] == *text, "{what}: {kind}: {differing:?}");
    }
    let hidden: Vec<String> =
        scratch.files().into_iter().filter(|name| name.starts_with('.')).collect();
    assert!(hidden.is_empty(), "{what}: left behind: {hidden:?}");
}

#[test]
fn killed_searches_end_the_same() {
    survives(&format!("{} --search -m GTR+G -t pars{{2}},rand{{1}} --sitelh", data("primates")), 1);
}

#[test]
fn a_killed_search_with_replicates_ends_the_same() {
    survives(&format!("{} -m GTR+G --all --bs-trees 5 -k", data("primates")), 2);
}

#[test]
fn a_killed_selection_of_models_ends_the_same() {
    let primates = repository("datasets/primates.phy").display().to_string();
    survives(&format!("-s {primates} -m auto --fast"), 3);
}

#[test]
fn a_killed_merging_of_partitions_ends_the_same() {
    survives(&format!("select {} -m auto --brlen scaled --merge rclusterf", data("primates")), 12);
}

#[test]
fn a_killed_search_with_own_lengths_ends_the_same() {
    survives(&format!("{} -m GTR+I+G -M --thorough", data("primates")), 4);
}

#[test]
fn killed_evaluations_and_replicates_end_the_same() {
    survives(&format!("{} -m GTR+G -M --evaluate -t pars{{4}},rand{{2}}", data("primates")), 5);
}

/// One class, and then all of them.
#[test]
fn a_killed_search_under_profiles_ends_the_same() {
    let sequences = [
        "VKYPNTNEEGKEVV",
        "VKYPSTNDEGREVV",
        "VRFPSANDDGREVI",
        "LRFPSAQDDGKLVI",
        "LRWPAAQDEGKLVI",
        "LKWPTAQEEGHLIL",
    ];
    let rows = sequences.iter().enumerate().map(|(taxon, row)| format!("t{taxon} {row}\n"));
    let text = format!("6 14\n{}", rows.collect::<String>());
    let folder = Scratch::new();
    let path = folder.path().join("aa.phy");
    std::fs::write(&path, text).expect("a small file can be written");
    survives(&format!("-s {} -m LG+C10+F+G4 --site-rates", path.display()), 13);
    // A random tree contradicts the data, and then all classes from the beginning follow.
    survives(&format!("-s {} -m LG+C10+G4 --evaluate -t rand{{1}}", path.display()), 11);
}

/// One tree, so that every kill is inside of its evaluation.
#[test]
fn a_killed_evaluation_ends_the_same() {
    let primates = repository("datasets/primates.phy").display().to_string();
    survives(&format!("-s {primates} -m GTR+FO+R3 --evaluate -t pars{{1}}"), 7);
}

#[test]
fn killed_replicates_of_unknown_number_end_the_same() {
    survives(&format!("{} -m JC --fast --bootstrap --bs-trees autoFC{{100}}", data("primates")), 6);
}

#[test]
fn killed_trees_of_genes_end_the_same() {
    survives(&format!("genes {} -m GTR+G --fast --bs-trees 2 --alrt 20", data("gappy")), 11);
}

#[test]
fn a_gene_goes_on_from_inside_its_search() {
    let scratch = Scratch::new();
    let command = format!("genes {} -m HKY+G --fast -T 1", data("gappy"));
    scratch.succeed(&format!("{command} -n ref"));
    // Which parts have states. An entry that is being written is incomplete.
    let parts = || {
        let journal = Journal::open(&scratch.path().join("x.mlsearch.checkpoint"));
        let Ok(Some(mut journal)) = journal else { return Vec::new() };
        let payloads = journal.payloads().expect("our own").into_iter();
        let states = payloads.filter(|(kind, ..)| *kind == Kind::State);
        states.map(|(_, key, _)| key.part).collect::<Vec<_>>()
    };
    // A gene may be finished before the run is killed; then it is another's turn.
    while !matches!(parts()[..], [part] if part > 0) {
        let mut child = begin(&scratch, &format!("{command} -n x"), 0.0);
        while parts().is_empty() {
            assert!(child.try_wait().expect("our own").is_none(), "it is over");
        }
        child.kill().expect("our own");
        child.wait().expect("our own");
    }
    scratch.succeed(&format!("{command} -n x --simd scalar"));
    assert_same(&results(&scratch, "ref"), &scratch, "x", "resumed");
}

#[test]
fn a_killed_search_under_a_constraint_ends_the_same() {
    let other = Scratch::new();
    other.write("constraint", "((Homo_sapiens,Macaca_fuscata),(Pan,Gorilla,Pongo),Lemur_catta);");
    let constraint = other.path().join("constraint");
    let options = format!("-m GTR+G --search -g {} --ancestral --mutmap", constraint.display());
    survives(&format!("{} {options}", data("primates")), 8);
}

#[test]
fn killed_tests_of_topologies_end_the_same() {
    let options = "-m HKY+G --evaluate -t pars{3},rand{3} --tests all --abayes --alrt 1000";
    survives(&format!("{} {options}", data("primates")), 9);
}

#[test]
fn killed_samples_end_the_same() {
    let options = "--ngen 400 --samplefreq 20 --diagnfreq 100 --nchains 2 --brlen scaled --ss 3";
    survives(&format!("{} --mcmc -m GTR+FO+G {options}", data("primates")), 10);
}

/// A run with a checkpoint, killed in the middle.
fn unfinished(scratch: &Scratch, command: &str) {
    for tenths in 1.. {
        let child = begin(scratch, command, 0.0);
        let was_killed = kill(child, Duration::from_millis(100 * tenths), SIGTERM, command);
        let states = std::fs::metadata(scratch.path().join("x.mlsearch.checkpoint"));
        if states.is_ok_and(|found| found.len() > 10_000) {
            break;
        }
        assert!(was_killed, "the run has ended: {command}");
    }
}

pub fn search() -> String {
    format!("{} --search -m GTR+G -t pars{{2}},rand{{2}} -n x -T 1", data("primates"))
}

#[test]
fn another_run_does_not_go_on_from_a_checkpoint() {
    let scratch = Scratch::new();
    let constraint =
        scratch.write("c.tree", "((Tarsius_syrichta,Homo_sapiens),(Lemur_catta,Pan));");
    unfinished(&scratch, &search());
    let before = scratch.files();
    let checkpoint = std::fs::read(scratch.path().join("x.mlsearch.checkpoint")).expect("there");
    let whole_alignment = format!("-s {}", repository("datasets/primates.phy").display());
    for (change, said) in [
        (search() + " -p 7", "seed: 12345 in the checkpoint, 7 now"),
        (search().replace("rand{2}", "rand{3}"), "--tree: pars{2},rand{2} in the checkpoint"),
        (search().replace("GTR+G", "GTR"), "model: GTR+FC+G4m"),
        (
            search() + &format!(" -g {constraint}"),
            "--tree-constraint: none in the checkpoint, hash",
        ),
        (search() + " --spr-radius 4", "--spr-radius: default in the checkpoint, 4 now"),
        (search().replace(&data("primates"), &whole_alignment), "partitions: 3, hash"),
        (
            search().replace("--search", "--all --bs-trees 4"),
            "task: search for the best tree in the checkpoint",
        ),
    ] {
        scratch.run(&change).assert_refused(&[
            said,
            "To resume that run, repeat its command: mlsearch -s",
            "--redo",
        ]);
    }
    let trees = scratch.write("a.tree", "(a,b,(c,d));\n(a,c,(b,d));\n");
    scratch.run(&format!("--rfdist {trees} -n x")).assert_refused(&["unfinished run", "--redo"]);
    std::fs::remove_file(scratch.path().join(trees)).expect("our own");
    assert_eq!(scratch.files(), before);
    let after = std::fs::read(scratch.path().join("x.mlsearch.checkpoint")).expect("there");
    assert!(after == checkpoint, "a refused run changes no checkpoint");
    // Begun anew, it is another run.
    scratch.succeed(&(search().replace("-n x", "-n fresh") + " -p 7"));
    scratch.succeed(&(search() + " -p 7 --redo"));
    assert_same(&results(&scratch, "fresh"), &scratch, "x", "begun anew");
}

/// Distances have no checkpoint: a signal ends the run at once, which the program says, and which the next run sees.
#[test]
fn what_cannot_be_resumed_says_so_when_a_signal_ends_it() {
    let scratch = Scratch::new();
    let command = format!("distance {} -m GTR+G --tree bme --bs-trees 9999 -n x", data("primates"));
    let mut child = begin(&scratch, &command, 30.0);
    let trees = scratch.path().join("x.mlsearch.distanceTrees");
    while !trees.exists() {
        assert!(child.try_wait().expect("our own").is_none(), "it is over");
        std::thread::sleep(Duration::from_millis(10));
    }
    let said = said_when_terminated(child, 1);
    assert!(said.contains("terminated (SIGTERM); this analysis has no checkpoint"), "{said}");
    scratch.run(&command).assert_refused(&["results of an earlier run exist (it was killed"]);
}

/// What a run says that gets this number of signals at once, as from `timeout`.
fn said_when_terminated(child: Child, signals: usize) -> String {
    let pid = child.id().to_string();
    for _ in 0..signals {
        Command::new("kill").args(["-15", &pid]).output().expect("there is a program 'kill'");
    }
    let output = child.wait_with_output().expect("the run ends");
    assert_eq!(output.status.code(), Some(143));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A simulation writes nothing before all sequences are there.
#[test]
fn a_run_that_a_signal_ends_before_it_writes_says_so_and_leaves_nothing() {
    let scratch = Scratch::new();
    let command = "simulate --tree rand{500} --model JC+G4{0.5} --sites 120000 -n x";
    let mut child = begin(&scratch, command, 30.0);
    while !scratch.path().join("x.mlsearch.log").exists() {
        assert!(child.try_wait().expect("our own").is_none(), "it is over");
        std::thread::sleep(Duration::from_millis(10));
    }
    let said = said_when_terminated(child, 2);
    assert!(said.contains("mlsearch: terminated (SIGTERM)"), "{said}");
    assert!(scratch.files().is_empty(), "{:?}", scratch.files());
}

#[test]
fn a_damaged_checkpoint_is_refused_and_one_that_lacks_its_end_is_not() {
    let scratch = Scratch::new();
    scratch.succeed(&search().replace("-n x", "-n ref"));
    unfinished(&scratch, &search());
    let path = scratch.path().join("x.mlsearch.checkpoint");
    let whole = std::fs::read(&path).expect("there");
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    for bytes in [damaged, b"(a,b,c);\n".to_vec(), Vec::new()] {
        std::fs::write(&path, bytes).expect("our own");
        scratch.run(&search()).assert_refused(&[
            "x.mlsearch.checkpoint",
            "cannot be used",
            "--redo",
        ]);
    }
    std::fs::write(&path, &whole[..whole.len() - 5]).expect("our own");
    let ran = scratch.succeed(&search());
    assert!(ran.stderr.contains("resuming the run of 'x.mlsearch.checkpoint'"), "{}", ran.stderr);
    assert_same(&results(&scratch, "ref"), &scratch, "x", "resumed");
    // It has ended.
    scratch.run(&search()).assert_refused(&["results of an earlier run exist"]);
}

#[test]
fn a_signal_is_answered_with_the_command_that_goes_on_and_the_best_tree_so_far() {
    let scratch = Scratch::new();
    unfinished(&scratch, &(search() + " --redo"));
    let log = std::fs::read_to_string(scratch.path().join("x.mlsearch.log")).expect("a log");
    let said = "# run: terminated (SIGTERM); to resume, repeat: mlsearch -s";
    let line = log.lines().find(|line| line.starts_with(said)).expect("the command in the log");
    assert!(!line.contains("--redo"), "{line}");
    let tree = std::fs::read_to_string(scratch.path().join("x.mlsearch.lastTree"));
    assert!(tree.expect("a tree").ends_with(";\n"));
}

/// Whatever a checkpoint has become, it is refused, or the run goes on from what is whole in it. `true` if it ended.
fn goes_on_or_is_refused(scratch: &Scratch, bytes: &[u8]) -> bool {
    std::fs::write(scratch.path().join("x.mlsearch.checkpoint"), bytes).expect("our own");
    let child = begin(scratch, &search(), 30.0);
    let ran = Ran::new(child.wait_with_output().expect("the run ends"));
    let said = "the checkpoint 'x.mlsearch.checkpoint' ";
    match ran.code {
        0 => {}
        2 => assert!(ran.stderr.matches(said).count() == 1, "{}", ran.stderr),
        _ => panic!("{}", ran.stderr),
    }
    ran.code == 0
}

#[test]
fn whatever_a_checkpoint_has_become_it_is_refused_or_the_run_goes_on() {
    let scratch = Scratch::new();
    scratch.succeed(&search().replace("-n x", "-n ref"));
    let expected = results(&scratch, "ref");
    unfinished(&scratch, &search());
    let whole = std::fs::read(scratch.path().join("x.mlsearch.checkpoint")).expect("there");
    let mut mutator = Mutator::new(3, vec![whole.clone()], 4 * whole.len());
    let tries = std::env::var("MLSEARCH_KILLS").ok().and_then(|text| text.parse().ok());
    for number in 0..tries.unwrap_or(40) {
        let bytes = mutator.next();
        // Others than random damage: what the check sums cannot find must not be a reason for a panic.
        let is_damage = number % 2 == 0;
        let bytes = if is_damage { bytes } else { with_check_sums(&bytes) };
        if goes_on_or_is_refused(&scratch, &bytes) && is_damage {
            assert_same(&expected, &scratch, "x", "damaged");
        }
        for name in scratch.files().iter().filter(|name| name.starts_with("x.")) {
            std::fs::remove_file(scratch.path().join(name)).expect("our own");
        }
    }
}
