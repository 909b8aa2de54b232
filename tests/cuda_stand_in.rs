//! The engine for NVIDIA GPUs without a GPU: a C++ compiler makes a stand-in for the driver's library from the kernels
//! and `cuda/emulator/`, through which the unmodified engine runs. Skipped where there is no C++ compiler.

use crate::util::{Ran, Scratch, report, repository, results};
use mlsearch::conformance::{CASES, some_of};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The kernels' sources, in the order of `cuda/build_ptx.py`.
const SOURCES: [&str; 11] = [
    "common.cuh",
    "precision.cuh",
    "operand.cuh",
    "pmatrix.cu",
    "partials.cu",
    "likelihood.cu",
    "derivatives.cu",
    "newton.cuh",
    "team.cuh",
    "sweep.cu",
    "kernels.cu",
];

/// The units that are made of these sources, and others with their own.
const UNITS: [&str; 7] =
    ["states_4", "states_20", "states_64", "states_any", "single_4", "single_20", "single_64"];
const OTHER_UNITS: [(&str, &[&str]); 2] = [
    ("probe", &["common.cuh", "team.cuh", "probe.cu"]),
    ("distances", &["common.cuh", "distances.cu"]),
];

#[test]
fn the_compiled_kernels_are_those_of_the_sources() {
    let script = std::fs::read_to_string(repository("cuda/build_ptx.py")).expect("the script");
    let units = UNITS.map(|unit| (unit, &SOURCES[..])).into_iter().chain(OTHER_UNITS);
    for (unit, sources) in units {
        let mut sum = crc32fast::Hasher::new();
        for name in sources {
            let text = std::fs::read(repository("cuda").join(name)).expect("a source");
            sum.update(&text);
            assert!(script.contains(&format!("\"{name}\"")), "build_ptx.py lacks {name}");
        }
        let expected = format!("CRC-32 {:08x}.", sum.finalize());
        let ptx = repository("cuda/ptx").join(format!("{unit}_75.ptx"));
        let ptx = std::fs::read_to_string(ptx).expect("PTX");
        let head = ptx.lines().next().unwrap_or_default();
        assert!(
            head.ends_with(&expected),
            "run cuda/build_ptx.py: '{head}' does not end with {expected}"
        );
    }
}

/// The folder of the stand-in, which is made once; `None` without a compiler.
fn stand_in() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let make = || {
        let compiler = compiler()?;
        let folder = make_stand_in(compiler, "cuda_stand_in", "fibers.cpp", &["-O3"]);
        Some(folder.unwrap_or_else(|complaint| panic!("{complaint}")))
    };
    FOLDER.get_or_init(make).as_deref()
}

fn compiler() -> Option<&'static str> {
    ["c++", "g++", "clang++"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok())
}

/// Compiles the stand-in with `threads` for the threads of a CTA, into a folder of this name; what the compiler says if it
/// does not succeed.
fn make_stand_in(
    compiler: &str,
    name: &str,
    threads: &str,
    options: &[&str],
) -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    // Linked under a name of its own first: another process may be using the old one.
    let new = folder.join(format!("new.{}", std::process::id()));
    let mut command = Command::new(compiler);
    command.args(["-std=c++17", "-ffp-contract=off", "-fPIC", "-shared", "-o"]).arg(&new);
    command.args(options);
    // Most important, fused multiplication and addition as one instruction.
    #[cfg(target_arch = "x86_64")]
    command.arg("-march=native");
    let sources = ["driver.cpp", threads].map(|name| repository("cuda/emulator").join(name));
    let output = command.args(sources).output().expect("the compiler can be started");
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    std::fs::rename(&new, folder.join("libcuda.so.1")).expect("the library can be renamed");
    Ok(folder)
}

/// The stand-in with one thread of the system per thread of a CTA, for a thread sanitizer, and the sanitizer's library;
/// `None` if this machine does not have what it takes.
fn sanitized() -> Option<(PathBuf, String)> {
    let compiler = compiler()?;
    let options = ["-O1", "-g", "-fsanitize=thread", "-DTHREADS_OF_THE_SYSTEM"];
    let folder = make_stand_in(compiler, "cuda_threads", "threads.cpp", &options).ok()?;
    let found = Command::new(compiler).arg("-print-file-name=libtsan.so").output().ok()?;
    let library = String::from_utf8(found.stdout).ok()?.trim().to_string();
    // A linker script or a bare name cannot be loaded.
    let library = std::fs::canonicalize(library).ok()?.to_str()?.to_string();
    let starts = Command::new("true").env("LD_PRELOAD", &library).output().ok()?;
    (starts.status.success() && starts.stderr.is_empty()).then_some((folder, library))
}

/// A test of this binary, run with the stand-in and with these switches of it; it must pass and not be skipped. What it
/// prints; `None` without a compiler.
fn run_test(name: &str, switches: &[(&str, &str)]) -> Option<String> {
    let Some(folder) = stand_in() else {
        println!("skipped: no C++ compiler");
        return None;
    };
    let output = Command::new(std::env::current_exe().expect("this binary has a path"))
        .args(["--exact", name, "--nocapture"])
        .env("LD_LIBRARY_PATH", folder)
        .envs(switches.iter().copied())
        .output()
        .expect("the program can be started");
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{switches:?}: {said}{complaint}");
    assert!(said.contains("1 passed") && !said.contains("skipped:"), "{switches:?}: {said}");
    Some(said.into_owned())
}

const AGREE: &str = "backends_agree::gpus_give_the_bits_of_the_processor";

#[test]
fn a_gpu_gives_the_bits_of_the_processor() {
    run_test(AGREE, &[]);
}

/// Without cooperative launches, Newton-Raphson is on the host.
#[test]
fn a_gpu_whose_ctas_cannot_wait_for_each_other_gives_the_same_bits() {
    let (order, third) = (("STAND_IN_REVERSED", "1"), ("MLSEARCH_TEST_THIRD", "0"));
    run_test(AGREE, &[("STAND_IN_COOPERATIVE", "0"), order, ("STAND_IN_THREADS", "256"), third]);
}

/// CLVs that have no place are computed again whenever they are read.
#[test]
fn a_gpu_without_room_for_all_clvs_gives_the_same_bits() {
    run_test(AGREE, &[("MLSEARCH_TEST_CLV_BYTES", "1"), ("MLSEARCH_TEST_THIRD", "1")]);
}

/// What must not show: the number of CTAs, the order of threads and CTAs, the number of GPUs.
#[test]
fn any_grid_order_and_number_of_gpus_gives_the_same_bits() {
    let (grid, order) = (("STAND_IN_MULTIPROCESSORS", "1"), ("STAND_IN_REVERSED", "1"));
    let third = ("MLSEARCH_TEST_THIRD", "2");
    run_test(AGREE, &[grid, order, ("STAND_IN_GPUS", "3"), ("MLSEARCH_TEST_GPUS", "7"), third]);
}

/// Nor in scores of single precision, whatever the grid, the order, the number of GPUs, and the room for CLVs.
#[test]
fn scores_in_single_precision_are_the_same_on_any_grid_and_number_of_gpus() {
    let test = "backends_agree::scores_in_single_precision_are_close_and_nothing_else_changes";
    let (grid, order) = (("STAND_IN_MULTIPROCESSORS", "1"), ("STAND_IN_REVERSED", "1"));
    let (cooperative, clv_bytes) =
        (("STAND_IN_COOPERATIVE", "0"), ("MLSEARCH_TEST_CLV_BYTES", "1"));
    let two = [("STAND_IN_GPUS", "2"), ("MLSEARCH_TEST_GPUS", "3")];
    let found = |switches: &[(&str, &str)]| {
        let said = run_test(test, switches)?;
        let lines = said.lines().filter(|line| line.starts_with("single: "));
        Some(lines.map(str::to_string).collect::<Vec<_>>())
    };
    let Some(want) = found(&[]) else { return };
    want.iter().for_each(|line| println!("{line}"));
    assert!(want.len() > 12, "{want:?}");
    let each = [&[grid, order, two[0], two[1]][..], &[cooperative, clv_bytes]];
    for (third, switches) in each.into_iter().enumerate() {
        let number = third.to_string();
        let switches = [switches, &[("MLSEARCH_TEST_THIRD", &number)]].concat();
        // A case has a line, or one for each way to share lengths if all are asked for.
        let want = some_of(&want, third, 3).cloned().collect();
        assert_eq!(found(&switches), Some(want), "{switches:?}");
    }
}

/// Runs the binary in a scratch folder with the stand-in and these switches; `None` without a compiler.
fn run(scratch: &Scratch, arguments: &str, switches: &[(&str, &str)]) -> Option<Ran> {
    let Some(folder) = stand_in() else {
        println!("skipped: no C++ compiler");
        return None;
    };
    let output = Command::new(env!("CARGO_BIN_EXE_mlsearch"))
        .args(arguments.split_whitespace())
        .current_dir(scratch.path())
        .env("LD_LIBRARY_PATH", folder)
        .envs(switches.iter().copied())
        .env_remove("RUST_LOG")
        .output()
        .expect("the binary can be started");
    Some(Ran::new(output))
}

/// A search on several partitions with gaps, with every second taxon.
fn search(scratch: &Scratch) -> String {
    let text = std::fs::read_to_string(repository("datasets/gappy.phy")).expect("data");
    let rows: Vec<&str> = text.lines().skip(1).step_by(2).collect();
    let sites = text.lines().next().and_then(|head| head.split_whitespace().last());
    let head = format!("{} {}", rows.len(), sites.expect("a number of sites"));
    scratch.write("some.phy", &format!("{head}\n{}\n", rows.join("\n")));
    let partitions = repository("partitions/gappy.part");
    format!("-s some.phy -q {} -m GTR+G --fast -t pars{{1}} -T 1", partitions.display())
}

/// Searches whose scores are in single precision end alike on one GPU and two, and wherever they look ahead. On these data,
/// they also try and make the moves of the processor.
#[test]
fn searches_with_scores_in_single_precision_write_the_same_bytes() {
    let scratch = Scratch::new();
    let command = search(&scratch);
    let single = format!("{command} --gpu-precision single");
    let ways = [
        ("", &[("STAND_IN_MULTIPROCESSORS", "132")][..]),
        ("--backend cuda", &[("STAND_IN_MULTIPROCESSORS", "1")]),
        ("--gpu 0,1", &[("STAND_IN_GPUS", "2")]),
    ];
    let kinds = ["bestTree", "bestModel", "mlTrees"];
    let ways: Vec<_> = some_of(&ways, 2, 3).copied().collect();
    assert_gpus_write(&scratch, [&command, &single], &ways, |kind| kinds.contains(&kind));
    // A run that is resumed must not mix precisions.
    let lost = [("STAND_IN_LAUNCHES", "300")];
    let Some(ran) = run(&scratch, &format!("{single} -n GPU --redo"), &lost) else { return };
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    scratch.run(&format!("{command} -n GPU")).assert_refused(&["--gpu-precision"]);
}

#[test]
fn whole_runs_write_the_same_bytes() {
    let scratch = Scratch::new();
    let command = search(&scratch);
    let ways = [
        ("--backend cuda", &[][..]),
        ("--gpu 0,1", &[("STAND_IN_GPUS", "2")]),
        // Little memory: less goes on side by side, and CLVs are forgotten.
        ("--backend cuda", &[("STAND_IN_MEMORY", LITTLE_MEMORY)]),
        ("--backend cuda", &[("STAND_IN_MEMORY", FEW_CLVS)]),
    ];
    let ways: Vec<_> = some_of(&ways, 1, 2).copied().collect();
    assert_gpus_write(&scratch, [&command, &command], &ways, |_| true);
}

/// Sums over more than 16 blocks are made by all threads of a CTA, 128 blocks at a time.
#[test]
fn sums_over_many_blocks_have_the_bits_of_the_processor() {
    let scratch = Scratch::new();
    scratch.succeed("simulate --tree rand{8} --model JC --sites 22000 --mean-brlen 2 -n data -p 3");
    let command = "--evaluate -s data.mlsearch.phy -m JC -t rand{1} --lh-epsilon 1000 -T 1";
    assert_gpus_write(&scratch, [command, command], &[("--backend cuda", &[])], |_| true);
    let patterns = report(&scratch, "cpu")["partitions"][0]["patterns"].as_u64();
    assert!(patterns > Some(128 * 128), "{patterns:?}");
}

/// Chains on threads of their own share a GPU, as far as it has room for them.
#[test]
fn samples_write_the_same_bytes() {
    let path = |name: &str| repository(name).display().to_string();
    let (data, partitions) = (path("datasets/gappy.phy"), path("partitions/gappy.part"));
    let sample = format!(
        "sample -s {data} -q {partitions} -m HKY+G --ngen 150 --samplefreq 50 --diagnfreq 100 --nchains 2"
    );
    let scratch = Scratch::new();
    let ways = [
        ("--backend cuda -T 1", &[][..], "at the same time: 1, threads"),
        ("--backend cuda -T 4", &[], "at the same time: 2, parts of each: 2"),
        ("--gpu 0,1 -T 3", &[("STAND_IN_GPUS", "2")], "at the same time: 1, parts of each: 2"),
        ("--backend cuda -T 4", &[("STAND_IN_MEMORY", ONE_ENGINE)], "at the same time: 1, threads"),
        // The first engine must leave its share to the second.
        ("--backend cuda", &[("STAND_IN_MEMORY", TWO_ENGINES)], "at the same time: 1, threads"),
    ];
    for &(options, switches, shares) in some_of(&ways, 2, 2) {
        let on_processor = format!("{sample} -T 1 --redo");
        assert_gpus_write(&scratch, [&on_processor, &sample], &[(options, switches)], |_| true);
        let Ok(log) = std::fs::read_to_string(scratch.path().join("GPU.mlsearch.log")) else {
            return;
        };
        assert!(log.contains(shares), "{options}: {log}");
    }
}

/// On GPUs, in all these ways (options and switches of the stand-in), the second command writes what the first one writes on
/// the processor: the results of these kinds.
fn assert_gpus_write(
    scratch: &Scratch,
    [on_processor, on_gpus]: [&str; 2],
    ways: &[(&str, &[(&str, &str)])],
    is_compared: impl Fn(&str) -> bool,
) {
    scratch.succeed(&format!("{on_processor} -n cpu"));
    let mut want = results(scratch, "cpu");
    want.retain(|kind, _| is_compared(kind));
    assert!(!want.is_empty());
    for (options, switches) in ways {
        let words = format!("{on_gpus} -n GPU --redo {options}");
        let Some(ran) = run(scratch, &words, switches) else { return };
        assert_eq!(ran.code, 0, "{switches:?}: {}", ran.stderr);
        assert_eq!(report(scratch, "GPU")["run"]["backend"], "cuda");
        let found = results(scratch, "GPU");
        for (kind, bytes) in &want {
            assert_eq!(&found[kind], bytes, "{switches:?}: {kind}");
        }
    }
}

/// Bytes with which a search of `search` runs, but not with all work side by side.
const LITTLE_MEMORY: &str = "14000000";
/// Bytes with which it has no room for all CLVs.
const FEW_CLVS: &str = "5000000";
/// Bytes with which one engine of `samples_write_the_same_bytes` has room, but not two.
const ONE_ENGINE: &str = "26000000";
/// Bytes with which two engines have room, but not for all CLVs of both.
const TWO_ENGINES: &str = "12000000";

/// The words of the command that the message of a lost GPU names for this purpose.
fn after_loss(ran: &Ran, purpose: &str) -> String {
    let lost = "the cuda engine stopped working: unspecified launch failure";
    assert!(ran.stderr.contains(lost), "{}", ran.stderr);
    let said = format!("; {purpose}, repeat: mlsearch ");
    let command = ran.stderr.split_once(&said).unwrap_or_else(|| panic!("{}", ran.stderr)).1;
    let words = command.lines().next().unwrap_or_default();
    assert!(!words.contains("cuda"), "{words}");
    words.replace('\'', "")
}

#[test]
fn a_run_on_a_gpu_that_is_lost_is_resumed_with_the_processor() {
    let scratch = Scratch::new();
    let command = search(&scratch);
    scratch.succeed(&format!("{command} -n cpu"));
    let want = results(&scratch, "cpu");
    // Lost at once, and late.
    for launches in ["40", "600"] {
        let lost = [("STAND_IN_LAUNCHES", launches)];
        let asked = format!("{command} -n GPU --redo --backend cuda");
        let Some(ran) = run(&scratch, &asked, &lost) else { return };
        assert_eq!(ran.code, 1, "after {launches} launches: {}", ran.stderr);
        let resuming = after_loss(&ran, "to go on from the checkpoint on the processor");
        scratch.succeed(&resuming);
        let found = results(&scratch, "GPU");
        for kind in ["bestTree", "bestModel", "mlTrees", "startTree"] {
            assert_eq!(found[kind], want[kind], "after {launches} launches: {kind}");
        }
    }
}

/// Each of two GPUs has its own replicates, or a part of the columns if it has no room for all.
#[test]
fn replicates_on_several_gpus_are_those_of_the_processor() {
    let scratch = Scratch::new();
    let data = repository("datasets/gappy.phy").display().to_string();
    let command = format!("--bootstrap --bs-trees 3 --fast -s {data} -m JC -T 1");
    scratch.succeed(&format!("{command} -n cpu"));
    let want = results(&scratch, "cpu");
    for memory in some_of(&["4000000000", "5000000"], 1, 2) {
        let switches = [("STAND_IN_GPUS", "2"), ("STAND_IN_MEMORY", memory)];
        let Some(ran) = run(&scratch, &format!("{command} -n gpus --gpu 0,1 --redo"), &switches)
        else {
            return;
        };
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let found = results(&scratch, "gpus");
        assert_eq!(found["bootstraps"], want["bootstraps"], "{memory} bytes");
        let said =
            std::fs::read_to_string(scratch.path().join("gpus.mlsearch.log")).expect("a log");
        let at_once =
            format!("computations at the same time: {}", if memory.len() > 9 { 2 } else { 1 });
        assert!(said.contains(&at_once), "{memory} bytes: {said}");
    }
}

/// The climbs of a default search go on side by side on a GPU, and so do replicates.
#[test]
fn climbs_and_replicates_side_by_side_write_the_same_bytes() {
    let scratch = Scratch::new();
    let data = repository("datasets/primates.phy").display().to_string();
    let search = format!("-s {data} -m HKY+G");
    let replicates = format!("--bootstrap --bs-trees 3 --fast -s {data} -m JC");
    let ways = [("--backend cuda -T 4", &[("STAND_IN_MULTIPROCESSORS", "7")][..])];
    let said_of = [
        (search, "climbs go on side by side on 4 evaluators"),
        (replicates, "computations at the same time: 3"),
    ];
    for (command, said) in said_of {
        let on_processor = format!("{command} -T 1 --redo");
        assert_gpus_write(&scratch, [&on_processor, &command], &ways, |_| true);
        let Ok(log) = std::fs::read_to_string(scratch.path().join("GPU.mlsearch.log")) else {
            return;
        };
        assert!(log.contains(said), "{log}");
    }
}

/// All kernels for 4, 20 and 64 states and those of distances, on data of a few patterns: each barrier wakes 128 threads of
/// the system. With 300 sites, a team of two CTAs shares the work of sweeps.
#[test]
#[ignore = "takes minutes; run by .ci/unsafe"]
fn no_two_threads_of_a_cta_race_which_may_take_minutes() {
    let Some((folder, library)) = sanitized() else {
        println!("skipped: no C++ compiler with a thread sanitizer");
        return;
    };
    let scratch = Scratch::new();
    let lengths = "--evaluate -t rand{1} --opt-model off";
    let run = |model: &str, sites: usize, options: &str| {
        scratch.succeed(&format!(
            "simulate --tree rand{{4}} --model {model} --sites {sites} --mean-brlen 1 -n data -p 3 --redo"
        ));
        let output = Command::new(env!("CARGO_BIN_EXE_mlsearch"))
            .args(format!("-s data.mlsearch.phy -m {model} {options} -T 1").split_whitespace())
            .args(["--backend", "cuda", "-n", "run", "--redo"])
            .current_dir(scratch.path())
            .env("LD_LIBRARY_PATH", &folder)
            .env("LD_PRELOAD", &library)
            // A search must look ahead for temporaries of both precisions to be in one program.
            .env("STAND_IN_MULTIPROCESSORS", if options.contains("single") { "3" } else { "1" })
            // The rest of the program is not instrumented, so that it is taken to race.
            .env("TSAN_OPTIONS", "exitcode=0")
            .output()
            .expect("the program can be started");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{model}: {said}");
        assert!(!said.contains("libcuda.so.1"), "{model}: {said}");
    };
    run("GTR{1/2/1/1/2/1}+FU{0.3/0.2/0.2/0.3}+G4{0.5}", 10, lengths);
    run("JC", 10, "--fast -t rand{1}");
    for (model, sites) in [("JC+G2{0.5}", 10), ("LG+G2{0.5}", 8), ("GY{0.5/2}+FE", 3)] {
        run(model, sites, "--fast -t rand{1} --gpu-precision single");
    }
    run("JC", 300, lengths);
    run("LG+G2{0.5}", 8, lengths);
    run("GY{0.5/2}+FE", 3, lengths);
    // Several chunks of sites.
    for (model, sites) in
        [("JC", 1500), ("GTR{1/2/1/1/2/1}+FU{0.3/0.2/0.2/0.3}", 600), ("LG+G2{0.5}", 150)]
    {
        run(model, sites, "--dist --opt-model off");
    }
}

#[test]
fn the_self_test_finds_the_same_bits_and_tells_of_others() {
    let scratch = Scratch::new();
    // As many threads for a pattern as a GPU has.
    let threads = [("STAND_IN_THREADS", "512")];
    let Some(ran) = run(&scratch, "gpu-selftest --quick -n test", &threads) else { return };
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("stand-in, compute capability 9.0"), "{}", ran.stdout);
    let report = report(&scratch, "test");
    crate::schema::assert_conforms(&scratch, &report);
    let rows = report["gpu_selftest"]["agreement"].as_array().expect("rows");
    let num_cases = CASES.iter().filter(|case| !case.is_deep()).count();
    assert_eq!(rows.len(), num_cases + 1);
    for row in rows {
        let is_search =
            row["partitions"].as_str().is_some_and(|partitions| partitions.starts_with("searches"));
        let least = if is_search { 2 } else { 50 };
        assert!(row["numbers"].as_u64() >= Some(least) && row["differing"] == 0, "{row}");
    }
    assert_eq!(report["gpu_selftest"]["times"].as_array().map(Vec::len), Some(7));
    let rooflines = report["gpu_selftest"]["rooflines"].as_array().expect("rows");
    assert_eq!(rooflines.len(), 4);
    for row in rooflines {
        assert!(row["bytes_per_second"].as_f64() > Some(0.0), "{row}");
        assert!(row["operations_per_second"].as_f64() > Some(0.0), "{row}");
    }
    let single = report["gpu_selftest"]["single"].as_array().expect("rows");
    assert_eq!(single.len(), num_cases);
    for row in single {
        assert!(row["scores"].as_u64() > Some(0) && row["differing"] == 0, "{row}");
        let difference = row["largest_difference"].as_f64();
        assert!(difference > Some(0.0) && difference < Some(1e-6), "{row}");
    }
    let rates = &report["gpu_selftest"]["rates"][0];
    for rate in ["launch_seconds", "answer_seconds", "copy_bytes_per_second"] {
        assert!(rates[rate].as_f64() > Some(0.0), "{rates}");
    }
    // A difference of two measurements, which is nothing on a busy machine.
    assert!(rates["barrier_seconds"].as_f64() >= Some(0.0), "{rates}");
    assert!(ran.stdout.contains("% of copy"), "{}", ran.stdout);
    let wrong = [("STAND_IN_WRONG", "1")];
    let Some(ran) = run(&scratch, "gpu-selftest --compare -n wrong", &wrong) else { return };
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("differ from those of the processor"), "{}", ran.stderr);
    scratch.run("gpu-selftest --gpu x").assert_refused(&["--gpu x"]);
}

/// Nothing is known of the speed of GPUs.
#[test]
fn a_gpu_is_used_only_if_it_is_asked_for() {
    let scratch = Scratch::new();
    for backend in ["", "--backend auto"] {
        let command = format!("{} -n auto --redo {backend}", search(&scratch));
        let Some(ran) = run(&scratch, &command, &[]) else { return };
        assert_eq!(ran.code, 0, "{backend}: {}", ran.stderr);
        assert_eq!(report(&scratch, "auto")["run"]["backend"], "cpu", "{backend}");
    }
}

#[test]
fn what_cannot_compute_is_refused_with_what_is_missing() {
    let scratch = Scratch::new();
    let command = search(&scratch);
    for (backend, switches, expected) in [
        ("--backend cuda", &[("STAND_IN_GPUS", "0")][..], &["found no NVIDIA GPU"][..]),
        (
            "--gpu-precision single",
            &[("STAND_IN_GPUS", "0")],
            &["found no NVIDIA GPU", "which --gpu-precision single needs"],
        ),
        ("--gpu 7", &[], &["there is no GPU 7", "only GPU 0"]),
        ("--gpu 0,7", &[("STAND_IN_GPUS", "2")], &["there is no GPU 7", "GPUs 0 to 1"]),
        ("--backend cuda", &[("STAND_IN_CAPABILITY", "70")], &["too old", "7.0", "7.5"]),
    ] {
        let Some(ran) = run(&scratch, &format!("{command} -n x {backend}"), switches) else {
            return;
        };
        ran.assert_refused(expected);
        ran.assert_refused(&["--backend cuda", "Leave the option out"]);
        assert_eq!(scratch.files(), ["some.phy"], "{switches:?}");
    }
    for little in ["100000", "3000000"] {
        let little = [("STAND_IN_MEMORY", little)];
        let Some(ran) = run(&scratch, &format!("{command} -n x --backend cuda --redo"), &little)
        else {
            return;
        };
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        let said = "not enough memory on the GPU: it takes ";
        assert!(ran.stderr.contains(said) && ran.stderr.contains(" are free"), "{}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    }
}

/// Each call of the driver fails, in turn: what is known before anything is computed is refused, what comes later ends the run with the
/// command that goes on, and what a run can do without changes nothing.
#[test]
fn each_call_of_the_driver_that_fails_ends_with_a_message_or_changes_nothing() {
    let scratch = Scratch::new();
    let data = repository("datasets/primates.phy");
    let command = format!("-s {} -m GTR+G --fast -t pars{{1}} -T 1 --report off", data.display());
    scratch.succeed(&format!("{command} -n cpu"));
    let want = results(&scratch, "cpu");
    let trees = ["bestTree", "bestModel", "mlTrees", "startTree"];
    let failing = |call, others: &[(&str, &str)]| {
        let switches = [&[("STAND_IN_FAULT", call)], others].concat();
        run(&scratch, &format!("{command} -n GPU --redo --backend cuda"), &switches)
    };
    let before = [
        "cuInit",
        "cuDriverGetVersion",
        "cuDeviceGetCount",
        "cuDeviceGet",
        "cuDeviceGetName",
        "cuDeviceGetAttribute",
    ];
    for call in before {
        let Some(ran) = failing(call, &[]) else { return };
        ran.assert_refused(&["--backend cuda", "error of the stand-in", "Leave the option out"]);
        assert!(scratch.files().iter().all(|file| !file.starts_with("GPU")), "{call}");
    }
    let (unusable, stopped) = ("the cuda engine cannot be used", "the cuda engine stopped working");
    for (call, said) in [
        ("cuDevicePrimaryCtxRetain", unusable),
        ("cuStreamCreate", unusable),
        ("cuModuleLoadData", unusable),
        ("cuModuleGetFunction", unusable),
        ("cuMemAllocAsync", stopped),
        ("cuMemcpyHtoDAsync", stopped),
        ("cuMemcpyDtoHAsync", stopped),
        ("cuLaunchKernel", stopped),
        ("cuLaunchCooperativeKernel", stopped),
        ("cuStreamSynchronize", stopped),
    ] {
        let Some(ran) = failing(call, &[]) else { return };
        assert_eq!(ran.code, 1, "{call}: {}", ran.stderr);
        assert!(ran.stderr.contains(said) && !ran.stderr.contains("panicked"), "{}", ran.stderr);
        let (_, resuming) = ran.stderr.split_once("repeat: mlsearch ").expect("what goes on");
        scratch.succeed(&resuming.lines().next().unwrap_or_default().replace('\'', ""));
        let found = results(&scratch, "GPU");
        assert!(trees.iter().all(|kind| found[*kind] == want[*kind]), "{call}");
    }
    let occupancy = "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags";
    let no_pools = [("STAND_IN_POOLS", "0")];
    for (call, others) in
        [("cuMemGetInfo", &[][..]), (occupancy, &[]), ("cuMemAllocAsync", &no_pools)]
    {
        let Some(ran) = failing(call, others) else { return };
        assert_eq!(ran.code, 0, "{call}: {}", ran.stderr);
        let found = results(&scratch, "GPU");
        assert!(trees.iter().all(|kind| found[*kind] == want[*kind]), "{call}");
    }
}

#[test]
fn without_a_driver_a_gpu_is_refused_and_not_missed() {
    let scratch = Scratch::new();
    let command = search(&scratch);
    let ran = scratch.run(&format!("{command} -n x --backend cuda"));
    if ran.code == 0 {
        println!("skipped: this machine has a GPU");
        return;
    }
    ran.assert_refused(&["--backend cuda", "Leave the option out"]);
    scratch.succeed(&format!("{command} -n y --backend auto"));
}

/// The bytes of matrices and trees of a run, by what follows its name.
fn matrices(scratch: &Scratch, name: &str) -> BTreeMap<String, Vec<u8>> {
    let files = scratch.files().into_iter().filter_map(|file| {
        let kind = file.strip_prefix(&format!("{name}.mlsearch."))?.to_string();
        let bytes = std::fs::read(scratch.path().join(&file)).expect("a result");
        (!["log", "json", "html"].contains(&kind.as_str())).then_some((kind, bytes))
    });
    files.collect()
}

/// Every kernel of distances: numbers in registers (7 and 10 classes), and lists (ambiguous nucleotides, several partitions,
/// other characters, many terms). An array of NumPy has all bits.
#[test]
fn distances_have_the_bits_of_the_processor() {
    let scratch = Scratch::new();
    let path = |name: &str| repository(name).display().to_string();
    let simulate = |name: &str, model: &str, taxa: usize, sites: usize| {
        scratch.succeed(&format!(
            "simulate --tree rand{{{taxa}}} --model {model} --sites {sites} --mean-brlen 0.2 -n {name} -p 5"
        ));
    };
    simulate("dna", "GTR{1/2/1/1/3/1}+FU{0.3/0.2/0.2/0.3}", 150, 700);
    simulate("protein", "LG+G4{0.7}", 40, 130);
    simulate("binary", "BIN+FU{0.3/0.7}", 20, 90);
    // Gaps, and characters that stand for several nucleotides; one pair shares no site, one sequence says nothing.
    let text = std::fs::read_to_string(scratch.path().join("dna.mlsearch.phy")).unwrap();
    let mut rows: Vec<(String, Vec<u8>)> = text
        .lines()
        .skip(1)
        .take(37)
        .map(|line| line.split_once(char::is_whitespace).unwrap())
        .map(|(name, row)| (name.to_string(), row.trim().as_bytes().to_vec()))
        .collect();
    for (number, (_, row)) in rows.iter_mut().enumerate() {
        for at in (number % 7..row.len()).step_by(11 + number) {
            row[at] = b"-RYKNMWSBDHV?"[(at + number) % 13];
        }
        let half = row.len() / 2;
        match number {
            3 => row[..half].fill(b'-'),
            9 => row[half..].fill(b'-'),
            _ => {}
        }
    }
    let lines = rows.iter().map(|(name, row)| format!("{name} {}\n", String::from_utf8_lossy(row)));
    scratch.write("ambiguous.phy", &format!("37 700\n{}", lines.collect::<String>()));
    let gappy = format!("-s {} -q {}", path("datasets/gappy.phy"), path("partitions/gappy.part"));
    let dna = "-s dna.mlsearch.phy";
    let cases = [
        format!("{dna} -m F84 --tree nj --bs-trees 3 -b 7"),
        format!("{dna} -m JC --keep-identical"),
        format!("{dna} -m GTR+FC+G4{{0.6}}"),
        format!("{dna} -m TN93+FC+GC{{0.8}}+I{{0.1}}"),
        "-s ambiguous.phy -m F84".to_string(),
        "-s ambiguous.phy -m GTR+FC+I{0.2}".to_string(),
        format!("{gappy} -M"),
        format!("{gappy} --tree bionj"),
        "-s protein.mlsearch.phy -m LG+G4{0.7}".to_string(),
        "-s protein.mlsearch.phy -m LG4X".to_string(),
        "-s protein.mlsearch.phy -m WAG+GC{0.5}".to_string(),
        "-s binary.mlsearch.phy -m BIN".to_string(),
        format!("{dna} -m LogDet"),
    ];
    let (grid, order) = (("STAND_IN_MULTIPROCESSORS", "1"), ("STAND_IN_REVERSED", "1"));
    for case in cases {
        let command = format!("--dist {case} --opt-model off --dist-format npy -T 1 --redo");
        scratch.succeed(&format!("{command} -n cpu --backend cpu"));
        let want = matrices(&scratch, "cpu");
        for (backend, switches) in [
            ("--backend cuda", &[][..]),
            ("--gpu 0,1", &[("STAND_IN_GPUS", "2"), grid, order]),
            ("--gpu 0,1,2", &[("STAND_IN_GPUS", "3")]),
        ] {
            let Some(ran) = run(&scratch, &format!("{command} -n GPU {backend}"), switches) else {
                return;
            };
            assert_eq!(ran.code, 0, "{case}: {}", ran.stderr);
            let found = matrices(&scratch, "GPU");
            assert!(!want.is_empty() && found.keys().eq(want.keys()), "{case}");
            for (kind, bytes) in &want {
                assert!(found[kind] == *bytes, "{case}, {switches:?}: {kind}");
            }
        }
    }
    // A GPU that is lost, and one with too little memory.
    let command = format!("--dist {dna} -m F84 --dist-format npy -T 1 --redo");
    scratch.succeed(&format!("{command} -n cpu"));
    let want = matrices(&scratch, "cpu");
    // Of the matrix, and of a replicate.
    for (launches, more) in [("2", ""), ("6", " --tree nj --bs-trees 3 -b 7")] {
        let lost = [("STAND_IN_LAUNCHES", launches)];
        let command = format!("{command}{more} -n GPU --backend cuda");
        let Some(ran) = run(&scratch, &command, &lost) else { return };
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        scratch.succeed(&format!("{} --redo", after_loss(&ran, "to begin again on the processor")));
        assert!(matrices(&scratch, "GPU")["distances.npy"] == want["distances.npy"]);
    }
    let little = [("STAND_IN_MEMORY", "20000")];
    let Some(ran) = run(&scratch, &format!("{command} -n x --backend cuda"), &little) else {
        return;
    };
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("not enough memory"), "{}", ran.stderr);
}
