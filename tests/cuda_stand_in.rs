//! The engine for NVIDIA cards without a card: a C++ compiler makes a stand-in for the driver's library from the kernels
//! and `cuda/emulator/`, through which the unmodified engine runs. Skipped where there is no C++ compiler.

use crate::util::repository;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The folder of the stand-in, which is made once; `None` without a compiler.
fn stand_in() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER.get_or_init(make_stand_in).as_deref()
}

fn make_stand_in() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cuda_stand_in");
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    // Linked under a name of its own first: another process may be using the old one.
    let new = folder.join(format!("new.{}", std::process::id()));
    let compiler = ["c++", "g++", "clang++"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok())?;
    let mut command = Command::new(compiler);
    command.args(["-std=c++17", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-o"]).arg(&new);
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("fma") {
        command.arg("-mfma");
    }
    let sources = ["driver.cpp", "fibers.cpp"].map(|name| repository("cuda/emulator").join(name));
    let output = command.args(sources).output().expect("the compiler can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::rename(&new, folder.join("libcuda.so.1")).expect("the library can be renamed");
    Some(folder)
}

/// Runs a program with the stand-in, and with these switches of it.
fn run(program: &Path, arguments: &[&str], folder: &Path, switches: &[(&str, &str)]) -> Output {
    Command::new(program)
        .args(arguments)
        .env("LD_LIBRARY_PATH", folder)
        .envs(switches.iter().copied())
        .env_remove("RUST_LOG")
        .output()
        .expect("the program can be started")
}

/// Runs one test of this binary with the stand-in; it must pass and not be skipped.
fn run_test(name: &str, switches: &[(&str, &str)]) {
    let Some(folder) = stand_in() else {
        println!("skipped: no C++ compiler");
        return;
    };
    let program = std::env::current_exe().expect("this binary has a path");
    let output = run(&program, &["--exact", name, "--nocapture"], folder, switches);
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{switches:?}: {said}{complaint}");
    assert!(said.contains("1 passed") && !said.contains("skipped:"), "{switches:?}: {said}");
}

#[test]
fn the_engine_for_cards_gives_the_bits_of_the_processor() {
    run_test("backends_agree::cards_give_the_bits_of_the_processor", &[]);
}
