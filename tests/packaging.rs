//! What distributes the program: one version everywhere, what is installed, and the examples of workflow systems. What builds packages
//! is run by hand (`packaging/README.md`).

use crate::util::{Scratch, repository};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_mlsearch");
const VERSION: &str = env!("CARGO_PKG_VERSION");

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn assert_success(what: &str, output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{what}: {said}{printed}");
}

fn is_there(program: &str) -> bool {
    let is_there =
        Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    if !is_there {
        println!("skipped: no {program}");
    }
    is_there
}

#[test]
fn all_packages_and_crates_have_one_version() {
    let line = format!("version = \"{VERSION}\"");
    for path in ["src/kernels/Cargo.toml", "src/library/Cargo.toml", "cuda/Cargo.toml"] {
        assert!(read(&repository(path)).contains(&line), "{path}");
    }
    let debian = read(&repository("packaging/debian/changelog"));
    assert!(debian.starts_with(&format!("mlsearch ({VERSION}-")), "{debian}");
    let conda = read(&repository("packaging/conda/meta.yaml"));
    assert!(conda.contains(&format!("set version = \"{VERSION}\"")));
}

#[test]
fn the_oldest_rust_is_said_once() {
    let root = read(&repository("Cargo.toml"));
    let mark = "rust-version = \"";
    let oldest =
        root.split(mark).nth(1).and_then(|rest| rest.split('"').next()).expect("a version");
    for path in ["src/kernels/Cargo.toml", "src/library/Cargo.toml", "cuda/Cargo.toml"] {
        assert!(read(&repository(path)).contains(&format!("{mark}{oldest}\"")), "{path}");
    }
    let debian = read(&repository("packaging/debian/control"));
    assert!(debian.contains(&format!("cargo (>= {oldest})")));
    let container = read(&repository("packaging/Containerfile"));
    assert!(container.contains(&format!("rust:{oldest}-")));
}

/// Runs `packaging/install`; returns the folder.
fn install(scratch: &Scratch) -> PathBuf {
    let prefix = scratch.path().join("usr");
    let script = repository("packaging/install");
    let output = Command::new(script).arg(PROGRAM).arg(&prefix).output().expect("sh");
    assert_success("packaging/install", &output);
    prefix
}

#[test]
fn program_manual_completions_and_licences_are_installed() {
    let scratch = Scratch::new();
    let prefix = install(&scratch);
    let version = Command::new(prefix.join("bin/mlsearch")).arg("--version").output();
    assert_success("--version", &version.expect("the program"));
    for (path, text) in [
        ("share/man/man1/mlsearch.1", ".SH OPTIONS"),
        ("share/man/man1/mlsearch-search.1", ".SH OPTIONS"),
        ("share/bash-completion/completions/mlsearch", "complete -F"),
        ("share/fish/vendor_completions.d/mlsearch.fish", "complete -c mlsearch"),
        ("share/zsh/site-functions/_mlsearch", "#compdef mlsearch"),
        ("share/doc/mlsearch/LICENSE-MIT", "MIT License"),
        ("share/doc/mlsearch/README.md", "# mlsearch"),
    ] {
        assert!(read(&prefix.join(path)).contains(text), "{path}");
    }
    if is_there("bash") {
        let file = prefix.join("share/bash-completion/completions/mlsearch");
        let output = Command::new("bash").arg("-n").arg(file).output().expect("bash");
        assert_success("completions of bash", &output);
    }
}

/// The recipe's script with a cargo that builds nothing, because the program is there.
#[test]
fn the_script_of_the_conda_recipe_installs_the_program() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let target = scratch.path().join("target");
    std::fs::create_dir_all(target.join("dist")).expect("a folder");
    std::fs::copy(PROGRAM, target.join("dist/mlsearch")).expect("a copy");
    scratch.write("cargo", "#!/bin/sh\n[ \"$1\" = build ]\n");
    let cargo = scratch.path().join("cargo");
    std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).expect("permissions");
    let output = Command::new(repository("packaging/conda/build.sh"))
        .current_dir(repository("."))
        .env("CARGO", &cargo)
        .env("CARGO_TARGET_DIR", &target)
        .env_remove("CARGO_BUILD_TARGET")
        .env("PREFIX", scratch.path().join("prefix"))
        .output();
    assert_success("packaging/conda/build.sh", &output.expect("sh"));
    assert!(scratch.path().join("prefix/bin/mlsearch").is_file());

    let recipe = read(&repository("packaging/conda/meta.yaml"));
    let commands = recipe.lines().filter_map(|line| line.trim().strip_prefix("- mlsearch "));
    let mut count = 0;
    for command in commands {
        scratch.succeed(command);
        count += 1;
    }
    assert_eq!(count, 3);
}

/// A finished job is not run again, and one that was interrupted is resumed from its checkpoint.
#[test]
fn snakemake_runs_its_example() {
    if !is_there("snakemake") {
        return;
    }
    let scratch = Scratch::new();
    let folder = |name: &str| {
        let path = scratch.path().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        path
    };
    let alignments = folder("alignments");
    for (name, data) in [("one", "primates"), ("two", "primates")] {
        let from = repository("datasets").join(format!("{data}.phy"));
        std::fs::copy(from, alignments.join(format!("{name}.phy"))).expect("a copy");
    }
    let programs = install(&scratch).join("bin");
    let path = std::env::var("PATH").unwrap_or_default();
    let snakemake = |arguments: &[&str]| {
        let output = Command::new("snakemake")
            .arg("--snakefile")
            .arg(repository("packaging/snakemake/Snakefile"))
            .args(["--cores", "2"])
            .args(arguments)
            .env("PATH", format!("{}:{path}", programs.display()))
            // Where it keeps copies of wrappers.
            .env("XDG_CACHE_HOME", folder("cache"))
            .current_dir(scratch.path())
            .output()
            .expect("snakemake");
        assert_success("snakemake", &output);
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let options = ["--config", "model=GTR+G", "extra=--all --bs-trees 5"];
    snakemake(&options);

    scratch.succeed("--all -s alignments/one.phy -m GTR+G --bs-trees 5 --prefix direct");
    let support = read(&scratch.path().join("trees/one.mlsearch.support"));
    assert_eq!(support, read(&scratch.path().join("direct.mlsearch.support")));
    let distances = read(&scratch.path().join("trees/all.mlsearch.rfDistances"));
    assert!(distances.starts_with("0\t1\t0\t"), "{distances}");

    assert!(snakemake(&options).contains("Nothing to be done"));
    // The alignment is another one: results are replaced.
    let other = read(&repository("datasets/hominoids.phy"));
    scratch.write("alignments/one.phy", &other);
    let forced = [&options[..], &["--", "trees/one.mlsearch.support"]].concat();
    snakemake(&forced);
    assert_ne!(support, read(&scratch.path().join("trees/one.mlsearch.support")));
}
