//! Runs on several ranks of an installed MPI, compared with runs of one process. Only in builds with the feature `mpi`; `MLSEARCH_MPIEXEC`
//! names the command that starts ranks (`mpiexec` by default), which has to belong to the MPI that the program was built with.

#![allow(missing_docs)]

// What runs of one process need beside this stays unused here.
#[allow(dead_code)]
mod util;

use crate::util::{Ran, Scratch, repository};
use mlsearch::conformance::some_of;
use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

/// A command that starts the program on so many ranks.
fn command(scratch: &Scratch, num_ranks: usize, arguments: &str) -> Command {
    let starter = std::env::var("MLSEARCH_MPIEXEC").unwrap_or_else(|_| "mpiexec".to_string());
    let mut command = Command::new(starter);
    command
        .args(["-n", &num_ranks.to_string(), env!("CARGO_BIN_EXE_mlsearch")])
        .args(arguments.split_whitespace())
        .current_dir(scratch.path())
        // Open MPI: more ranks than cores, none of which is bound to a core, also in a container.
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .env("OMPI_MCA_hwloc_base_binding_policy", "none")
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command
}

fn run(scratch: &Scratch, num_ranks: usize, arguments: &str) -> Ran {
    Ran::new(command(scratch, num_ranks, arguments).output().expect("an installed MPI"))
}

/// The files of a run that do not tell how it was computed.
fn results(scratch: &Scratch, prefix: &str) -> BTreeMap<String, Vec<u8>> {
    let is_result = |name: &String| {
        let kind = name.rsplit('.').next().unwrap_or_default();
        name.starts_with(&format!("{prefix}.mlsearch.")) && !["log", "json", "html"].contains(&kind)
    };
    let read = |name: String| {
        let bytes = std::fs::read(scratch.path().join(&name)).expect("a result");
        (name.replacen(prefix, "", 1), bytes)
    };
    scratch.files().into_iter().filter(is_result).map(read).collect()
}

/// What is run: together they have every analysis that computes likelihoods, and every kind of data.
fn commands(scratch: &Scratch) -> Vec<String> {
    let text = std::fs::read_to_string(repository("datasets/primates.phy")).expect("data");
    let rows: Vec<&str> = text.lines().skip(1).collect();
    let sites = text.lines().next().and_then(|head| head.split_whitespace().last());
    let copies = rows.iter().step_by(3).map(|row| format!("Copy{row}\n"));
    let head = format!("{} {}\n", rows.len() + copies.len(), sites.expect("a number of sites"));
    let copies: String = copies.collect();
    scratch.write("copies.phy", &format!("{head}{}\n{copies}", rows.join("\n")));
    let data = repository("datasets").display().to_string();
    let partitions = repository("partitions").display().to_string();
    let gappy = format!("-s {data}/gappy.phy -q {partitions}/gappy.part");
    let primates = format!("-s {data}/primates.phy");
    let lysozyme = format!("-s {data}/lysozyme.phy");
    let guide = "-m LG -t pars{1} --prefix guide --quiet --report off";
    scratch.succeed(&format!("start -s {data}/ovomucoids.phy {guide}"));
    vec![
        format!("search {gappy} -M --fast"),
        format!("search {primates} -m GTR+G --all --bs-trees 3 --alrt 50"),
        format!("search -s {data}/ovomucoids.phy -m LG+G --fast"),
        format!("search {lysozyme} --st CODON -m GY --fast"),
        format!("search {primates} -m GTR+G --fast --mem 40M"),
        format!("search {primates} -m JC --backend auto --fast --ancestral"),
        format!("evaluate {gappy} -t {data}/gappy.tree -m GTR+I+R3 --brlen scaled --sitelh"),
        format!("evaluate {gappy} -t {data}/gappy.tree -m GTR+G -M --sitelh"),
        format!("evaluate -s {data}/ovomucoids.phy -t pars{{1}} -m LG+C10"),
        format!(
            "search -s {data}/ovomucoids.phy -m LG+C10+G --pmsf guide.mlsearch.startTree --fast -t pars{{1}}"
        ),
        format!("bootstrap {primates} -m HKY+G --bs-trees 4"),
        format!("sample {primates} -m HKY+G --ngen 400 --samplefreq 20"),
        format!("distance {primates} --tree nj"),
        format!("distance {gappy} -M -m GTR+G --tree bme"),
        "distance -s copies.phy -m HKY+G --dist-format lower --tree bionj --bs-trees 5".to_string(),
        format!("select {primates}"),
        format!("genes {gappy} -m GTR+G --fast"),
        format!("ancestral {primates} -m HKY+G -t pars{{1}}"),
    ]
}

#[test]
fn runs_on_several_ranks_write_the_bytes_of_a_single_process() {
    let scratch = Scratch::new();
    for (number, words) in commands(&scratch).iter().enumerate() {
        let words = format!("{words} --quiet --report off --redo");
        let alone = scratch.run(&format!("{words} -T 1 --prefix alone{number}"));
        assert_eq!(alone.code, 0, "{words}: {}", alone.stderr);
        let expected = results(&scratch, &format!("alone{number}"));
        assert!(!expected.is_empty(), "{words}");
        // All ranks in each likelihood, jobs dealt to them, and to two groups of two.
        let ways = [(2, 2, 2), (4, 1, 2), (1, 1, 1), (3, 1, 1)];
        for &(num_ranks, threads, together) in some_of(&ways, number % 2, 2) {
            let prefix = format!("ranks{number}");
            let more = format!("-T {threads} --ranks-per-job {together} --prefix {prefix}");
            let ran = run(&scratch, num_ranks, &format!("{words} {more}"));
            let place = format!("{num_ranks} ranks with {threads} threads: {words}");
            assert_eq!(ran.code, 0, "{place}: {}", ran.stderr);
            let found = results(&scratch, &prefix);
            assert!(found.keys().eq(expected.keys()), "{place}: {:?}", found.keys());
            for (name, bytes) in &expected {
                assert!(found[name] == *bytes, "{place}: {name} differs");
            }
        }
    }
    let is_own = |name: &String| {
        ["alone", "ranks", "copies", "guide"].iter().any(|own| name.starts_with(own))
    };
    let others: Vec<String> = scratch.files().into_iter().filter(|name| !is_own(name)).collect();
    assert!(others.is_empty(), "only rank 0 writes files: {others:?}");
}

/// `mpiexec -n 1 A : -n 1 B` starts ranks with different command lines.
#[test]
fn ranks_with_other_options_end_the_run() {
    let scratch = Scratch::new();
    let primates = repository("datasets/primates.phy").display().to_string();
    let data = format!("-s {primates} -m JC --bs-trees 200 --prefix other");
    let bootstrap = format!("bootstrap {data} --ranks-per-job 1 -T 1");
    let mut command = command(&scratch, 1, &format!("{bootstrap} -p 1"));
    command.args([":", "-n", "1", env!("CARGO_BIN_EXE_mlsearch")]);
    command.args(format!("{bootstrap} -p 2").split_whitespace());
    let ran = Ran::new(command.output().expect("an installed MPI"));
    assert_ne!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("are not those of rank 0"), "{}", ran.stderr);
}

#[test]
fn a_refusal_ends_all_ranks_with_its_code() {
    let scratch = Scratch::new();
    let ran = run(&scratch, 3, "search -s nothing.phy -m JC");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("nothing.phy: the file cannot be read").count(), 1);
    let primates = repository("datasets/primates.phy").display().to_string();
    let ran = run(&scratch, 2, &format!("search -s {primates} --backend cuda"));
    assert_eq!(ran.code, 2, "{}", ran.stderr);
}

/// Only rank 0 has it, so that nothing can be dealt to the others.
#[test]
fn an_alignment_may_come_from_standard_input() {
    let scratch = Scratch::new();
    let primates = repository("datasets/primates.phy");
    let words = "search -m JC --fast --quiet --report off -T 1";
    scratch.succeed(&format!("{words} -s {} --prefix alone", primates.display()));
    let mut command = command(&scratch, 2, &format!("{words} -s - --prefix ranks"));
    command.stdin(std::fs::File::open(primates).expect("data"));
    let ran = Ran::new(command.output().expect("an installed MPI"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(results(&scratch, "ranks"), results(&scratch, "alone"));
}

/// Process numbers of the ranks of a run, by their command lines.
fn ranks_of(prefix: &str) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").expect("Linux");
    let numbers = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_rank = |number: &u32| {
        let words = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).into_owned();
        let program = words.split('\0').next().unwrap_or_default();
        program == env!("CARGO_BIN_EXE_mlsearch") && words.contains(prefix)
    };
    numbers.filter(is_rank).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_rank_that_is_killed_ends_the_run_which_others_resume() {
    let scratch = Scratch::new();
    let data = repository("datasets/anolis.phy").display().to_string();
    let words = format!("search -s {data} -m GTR+G --thorough --quiet --report off");
    assert_eq!(scratch.run(&format!("{words} -T 1 --prefix whole")).code, 0);
    let expected = results(&scratch, "whole");
    // Rank 0, and another one.
    for (number, victim, then) in [(0, 0, 1), (1, 1, 3)] {
        let prefix = format!("killed{number}-{}", std::process::id());
        let words = format!("{words} -T 1 --prefix {prefix}");
        let mut child = command(&scratch, 2, &format!("{words} --ranks-per-job 2"))
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("an installed MPI");
        let checkpoint = scratch.path().join(format!("{prefix}.mlsearch.checkpoint"));
        let begun = Instant::now();
        while !checkpoint.exists() && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(300));
        let ranks = ranks_of(&prefix);
        let kill = |rank: &u32| Command::new("kill").args(["-9", &rank.to_string()]).status();
        let killed = ranks.get(victim).map(kill);
        let ended = child.wait().expect("it ends");
        if let Some(killed) = killed {
            assert!(killed.is_ok_and(|status| status.success()));
            assert!(!ended.success(), "a rank was killed");
        }
        let ran = run(&scratch, then, &format!("{words} --ranks-per-job {then}"));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert_eq!(results(&scratch, &prefix), expected.clone());
    }
}
