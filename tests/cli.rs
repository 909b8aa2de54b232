//! Flags, exit codes and refusals, as a user meets them.

use crate::util::Scratch;

const ALIGNMENT: &str = "4 8\na  ACGTACGT\nb  ACGTACGA\nc  ACGAACGA\nd  ACCAACGA\n";

#[test]
fn help_and_version_go_to_standard_output_and_succeed() {
    let scratch = Scratch::new();
    for flag in ["--help", "-h"] {
        let ran = scratch.run(flag);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        for word in [
            "Examples",
            "--msa",
            "-#",
            "Bootstrap and support",
            "Exit codes",
            "simulate",
            "-P, --protein-matrix",
            "-K, --multistate",
            "--data-type",
            "--seqtype",
            "--asc-corr",
        ] {
            assert!(
                ran.stdout.contains(word) || flag == "-h",
                "'{word}' is missing: {}",
                ran.stdout
            );
        }
    }
    for flag in ["--version", "-v"] {
        let ran = scratch.run(flag);
        assert_eq!(ran.stdout, format!("mlsearch {}\n", env!("CARGO_PKG_VERSION")));
        assert_eq!(ran.code, 0);
    }
}

#[test]
fn every_refusal_of_a_command_is_said_at_once() {
    let scratch = Scratch::new();
    scratch.write("a.phy", ALIGNMENT);
    for (arguments, expected) in [
        ("", &["mlsearch WORD", "search", "bootstrap", "--guide"][..]),
        ("--nonsense", &["--nonsense"]),
        ("-s", &["value"]),
        ("-s a.phy", &["no model"]),
        ("-s a.phy -m GTR+G -f ?", &["-f ? is unknown"]),
        ("-s a.phy -m GTR+G -x 1 -A S16", &["-x 1", "'-A'", "-# N"]),
        ("-s a.phy -m GTR+G -o A,", &["-o A,: expected names"]),
        ("-s a.phy -m GTR+G -o A --root midpoint", &["give only one of them"]),
        ("-s a.phy -m GTR+G --root A", &["--root A: expected midpoint"]),
        ("--consense -t x.nwk --root midpoint", &["no middle"]),
        ("--bootstrap -s a.phy -m GTR+G -o A", &["'-o' is no option of bootstrap; search,"]),
        ("-f I -t x.nwk", &["where is the root?"]),
        ("-s a.phy -m GTR+G -b 1 -# autoMRE_IGN", &["-# autoMRE_IGN", "autoMRE, autoMR, autoFC"]),
        ("-s a.phy -m GTR+G --all --bs-trees autoMRE{0}", &["autoMRE{0}", "autoMRE{1000}"]),
        ("-s a.phy -m GTR+G --all --bs-cutoff 0.01", &["--bs-cutoff (-B) applies only"]),
        ("-s a.phy -m GTR+G --all --bs-trees autoFC -B 0.01", &["--bs-cutoff (-B) applies only"]),
        ("-s a.phy -m GTR+G --all --bs-trees autoMRE --bs-cutoff 3", &["--bs-cutoff (-B) 3"]),
        ("-s a.phy -m GTR+G --bootstrap --sampling genes", &["--sampling genes: expected"]),
        ("--bsconverge best --bs-trees x", &["bootstopping rule 'best'"]),
        ("-I autoMRE -z x --bs-perms 9", &["--bs-perms 9: expected at least 100"]),
        ("-s a.phy -m GTR+G --all --bs-perms 500", &["--bs-perms applies only"]),
        ("-s a.phy -m GTR+G --all --bs-metric ps", &["--bs-metric ps", "fbp,tbe"]),
        ("-s a.phy -m GTR+G --backend cuda", &["cuda"]),
        ("-s a.phy -m GTR+G --search --evaluate -t x", &["--search, --evaluate"]),
        ("-s a.phy -m GTR+G -T none", &["--threads"]),
        ("-s a.phy -m GTR+G extra", &["'extra' belongs to no option"]),
        ("a.phy", &["'a.phy' belongs to no option", "Try: mlsearch -s a.phy -m GTR+G"]),
        ("-s a.phy -m GTR+G --bootstap", &["--bootstap", "'--bootstrap'"]),
        ("-s a.phy -m GTR+G -p x", &["--seed x", "a seed is a whole number"]),
        (
            "simulate",
            &["no tree", "no number of sites", "no model", "no name for the output files"],
        ),
        ("simulate --tree rand{5} --sites 10 --prefix x", &["no model"]),
        ("simulate --no-such", &["--no-such"]),
    ] {
        let ran = scratch.run(arguments);
        ran.assert_refused(expected);
        assert_eq!(ran.stdout, "", "{arguments}");
        assert_eq!(scratch.files(), ["a.phy"], "{arguments} left something behind");
    }
}

#[test]
fn missing_input_files_are_all_named() {
    let scratch = Scratch::new();
    let ran = scratch.run("-s none.phy -q none.part -m GTR+G -t none.nwk");
    ran.assert_refused(&["none.phy", "none.part", "none.nwk"]);
    let ran = scratch.run("-s . -m GTR+G");
    ran.assert_refused(&["folder"]);
}

#[test]
fn existing_results_are_refused_before_anything_is_read_or_computed() {
    let scratch = Scratch::new();
    scratch.write("a.phy", ALIGNMENT);
    scratch.write("run.mlsearch.bestTree", "(a,b,(c,d));\n");
    scratch.write("run.mlsearch.json", "{}\n");
    let before = scratch.files();
    for prefix in ["-n run", "--prefix run", "-w . -n run"] {
        let ran = scratch.run(&format!("-s a.phy -m GTR+G {prefix}"));
        ran.assert_refused(&["run.mlsearch.bestTree", "run.mlsearch.json", "--redo"]);
    }
    assert_eq!(scratch.files(), before);
    let ran = scratch.run("-s a.phy -m GTR+G --prefix nowhere/run");
    ran.assert_refused(&["nowhere", "does not exist", "--prefix"]);
    // Names that no file can have fail at once, not after the search.
    let ran = scratch.run(&format!("-s a.phy -m GTR+G -n {}", "x".repeat(300)));
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("results cannot be written")
            && ran.stderr.contains("--prefix")
            && !ran.stderr.contains("reading")
    );
    assert_eq!(scratch.files(), before);
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_not_utf8_is_refused_not_a_panic() {
    use std::os::unix::ffi::OsStrExt;
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_mlsearch"))
        .arg(std::ffi::OsStr::from_bytes(b"-s\xff"))
        .output()
        .expect("the binary can be started");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("UTF-8"));
}

/// Each rank would do the whole run, over the same files.
#[cfg(not(feature = "mpi"))]
#[test]
fn a_program_without_mpi_refuses_to_be_one_of_several_ranks() {
    let scratch = Scratch::new();
    scratch.write("four.phy", ALIGNMENT);
    for variables in [
        &[("OMPI_COMM_WORLD_SIZE", "3")][..],
        &[("PMI_SIZE", "2")],
        &[("PMIX_RANK", "0"), ("SLURM_STEP_NUM_TASKS", "4")],
    ] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_mlsearch"))
            .args(["search", "-s", "four.phy", "-m", "JC"])
            .current_dir(scratch.path())
            .envs(variables.iter().copied())
            .output();
        let ran = crate::util::Ran::new(output.expect("the binary can be started"));
        assert_eq!(ran.code, 2, "{variables:?}");
        assert!(ran.stderr.contains("built without MPI"), "{}", ran.stderr);
        assert_eq!(scratch.files(), ["four.phy"]);
    }
}

/// Where Linux gives huge pages to programs that ask, the program asks: by a variable of its own environment.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn huge_pages_are_asked_for_unless_the_environment_decides() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};
    let chosen = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    let ours =
        chosen.is_ok_and(|chosen| chosen.contains("[madvise]")).then_some("glibc.malloc.hugetlb=1");
    for (given, wanted) in [
        (None, ours),
        (Some(""), Some("")),
        (Some("glibc.malloc.perturb=0"), Some("glibc.malloc.perturb=0")),
    ] {
        let scratch = Scratch::new();
        let mut command = Command::new(env!("CARGO_BIN_EXE_mlsearch"));
        command.args("search -s - -m JC --prefix x".split(' ')).current_dir(scratch.path());
        command.env_remove("GLIBC_TUNABLES").envs(given.map(|given| ("GLIBC_TUNABLES", given)));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The heading comes before the alignment is read.
        let mut output = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert!(line.contains("search for the best tree"), "{line}");
        let environment = std::fs::read_to_string(format!("/proc/{}/environ", child.id())).unwrap();
        let found = environment.split('\0').find_map(|one| one.strip_prefix("GLIBC_TUNABLES="));
        assert_eq!(found, wanted);
        child.stdin.take().unwrap().write_all(ALIGNMENT.as_bytes()).unwrap();
        std::io::copy(&mut output, &mut std::io::sink()).unwrap();
        assert!(child.wait().unwrap().success());
    }
}
