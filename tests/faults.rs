//! What the system may do to a run: full disks, folders that cannot be written or vanish. The fault is told, what was
//! computed is kept, and the same command ends with the files of a run without it.

use crate::interruption::{assert_same, begin, search};
use crate::util::{Ran, Scratch, results};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Runs a command that can write no file beyond a size, as on a full disk.
fn run_with_little_space(scratch: &Scratch, command: &str, blocks: usize) -> Ran {
    let program = env!("CARGO_BIN_EXE_mlsearch");
    let script = format!("ulimit -f {blocks}; exec {program} {}", command.replace('{', "\\{"));
    let output = Command::new("sh")
        .args(["-c", &script])
        .current_dir(scratch.path())
        .env("MLSEARCH_CHECKPOINT_SECONDS", "0")
        .output()
        .expect("a shell");
    Ran::new(output)
}

#[test]
fn a_full_disk_is_told_before_anything_is_computed() {
    let scratch = Scratch::new();
    let ran = run_with_little_space(&scratch, &search(), 0);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(
        ran.stderr.ends_with("mlsearch: x.mlsearch.checkpoint: File too large (os error 27)\n")
    );
    assert!(!ran.stderr.contains("starting trees"), "{}", ran.stderr);
    assert_eq!(scratch.files(), [""; 0]);
}

#[test]
fn without_space_nothing_is_lost() {
    let scratch = Scratch::new();
    scratch.succeed(&search().replace("-n x", "-n ref"));
    // Too little for the states, enough for the results: 4 KiB or 8 KiB, depending on the shell.
    let ran = run_with_little_space(&scratch, &(search() + " --sitelh"), 8);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let last = ran.stderr.lines().last().expect("a message");
    for said in [
        "warning: x.mlsearch.checkpoint: File too large (os error 27); the run goes on",
        "\nmlsearch: x.mlsearch.siteLH: File too large (os error 27); to resume the run",
    ] {
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    assert!(last.contains("repeat: mlsearch -s") && last.ends_with(" -T 1 --sitelh"), "{last}");
    scratch.run(&search()).assert_refused(&["--sitelh: true in the checkpoint, false now"]);
    let ran = scratch.succeed(&(search() + " --sitelh"));
    assert!(ran.stderr.contains("resuming"), "{}", ran.stderr);
    assert!(scratch.files().contains(&"x.mlsearch.siteLH".to_string()));
    std::fs::remove_file(scratch.path().join("x.mlsearch.siteLH")).expect("our own");
    assert_same(&results(&scratch, "ref"), &scratch, "x", "resumed");
}

/// A file system in memory, in a folder of its own, as long as this lives.
struct Mounted(PathBuf);

impl Mounted {
    /// `None` where users cannot mount anything.
    fn new(path: PathBuf, options: &str) -> Option<Self> {
        std::fs::create_dir(&path).expect("a scratch folder");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&path);
        let is_mounted = mount.output().is_ok_and(|output| output.status.success());
        if !is_mounted {
            println!("skipped: nothing can be mounted here");
        }
        is_mounted.then(|| Mounted(path))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).output();
    }
}

#[test]
fn a_disk_that_becomes_full_leaves_what_was_finished() {
    let scratch = Scratch::new();
    let command = search().replace("-n x", "") + " --report off";
    scratch.succeed(&(command.clone() + " -n ref"));
    let Some(disk) = Mounted::new(scratch.path().join("disk"), "size=112k") else { return };
    let run = |pause| {
        let child = begin(&scratch, &format!("{command} --prefix disk/x"), pause);
        Ran::new(child.wait_with_output().expect("the run ends"))
    };
    let rest = disk.0.join("rest");
    // Pages of 4 KiB for the log, the checkpoint and one more file.
    std::fs::write(&rest, vec![1; 100 << 10]).expect("there is space");
    let ran = run(0.0);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("No space left on device (os error 28); "), "{}", ran.stderr);
    assert!(!ran.stderr.contains(".mlsearch-"), "no temporary names: {}", ran.stderr);
    std::fs::remove_file(&rest).expect("our own");
    let ran = run(30.0);
    assert!(ran.code == 0 && ran.stderr.contains("resuming"), "{}", ran.stderr);
    for entry in std::fs::read_dir(&disk.0).expect("it is mounted") {
        let path = entry.expect("an entry").path();
        std::fs::copy(&path, scratch.path().join(path.file_name().expect("a name")))
            .expect("copied");
    }
    assert_same(&results(&scratch, "ref"), &scratch, "x", "with space again");
}

#[test]
fn prefixes_that_cannot_be_written_are_told_at_once() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path().join("closed")).expect("a scratch folder");
    let closed = std::fs::Permissions::from_mode(0o555);
    std::fs::set_permissions(scratch.path().join("closed"), closed).expect("our own");
    let is_closed = std::fs::write(scratch.path().join("closed/x"), "").is_err();
    let read_only = Mounted::new(scratch.path().join("mounted"), "ro");
    scratch.write("file", "");
    let (long, cases) = (
        "n".repeat(300),
        [
            ("no_folder/x", true, 2, "the output folder 'no_folder' does not exist"),
            ("file/x", true, 2, "the output folder 'file' does not exist"),
            (
                "closed/x",
                is_closed,
                1,
                "results cannot be written to 'closed/x.*': Permission denied",
            ),
            ("mounted/x", read_only.is_some(), 1, "'mounted/x.*': Read-only file system"),
            ("/proc/x", cfg!(target_os = "linux"), 1, "results cannot be written to '/proc/x.*'"),
            ("LONG", true, 1, "File name too long"),
        ],
    );
    for (prefix, happens, code, said) in cases {
        let prefix = prefix.replace("LONG", &long);
        let ran = scratch.run(&search().replace("-n x", &format!("--prefix {prefix}")));
        assert!(!happens || ran.code == code && ran.stderr.contains(said), "{prefix}: {ran:?}");
        assert!(!happens || !ran.stderr.contains("12 taxa"), "at once: {}", ran.stderr);
    }
}

/// Begins a search with its files in `folder`, and comes back when its states are there.
fn begin_in(scratch: &Scratch, command: &str, folder: &Path) -> Child {
    std::fs::create_dir(folder).expect("a scratch folder");
    let child = begin(scratch, command, 0.0);
    let start = Instant::now();
    let size =
        || std::fs::metadata(folder.join("x.mlsearch.checkpoint")).map_or(0, |file| file.len());
    while size() < 8_000 {
        assert!(start.elapsed() < Duration::from_secs(60), "there is no state");
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

#[test]
fn a_folder_that_vanishes_keeps_what_was_there_and_may_come_back() {
    let scratch = Scratch::new();
    let command = search().replace("rand{2}", "rand{6}").replace("-n x", "");
    scratch.succeed(&(command.clone() + " -n ref"));
    let expected = results(&scratch, "ref");
    let command = command + " --prefix folder/x";
    let [folder, elsewhere] = ["folder", "elsewhere"].map(|name| scratch.path().join(name));
    for comes_back in [false, true] {
        let child = begin_in(&scratch, &command, &folder);
        std::fs::rename(&folder, &elsewhere).expect("our own");
        if comes_back {
            std::thread::sleep(Duration::from_millis(100));
            std::fs::rename(&elsewhere, &folder).expect("our own");
        }
        let mut ran = Ran::new(child.wait_with_output().expect("the run ends"));
        let warning = "warning: folder/x.mlsearch.checkpoint: No such file or directory";
        assert!(comes_back || ran.stderr.contains(warning), "{}", ran.stderr);
        if !comes_back {
            assert_eq!(ran.code, 1, "{}", ran.stderr);
            assert!(ran.stderr.contains("repeat: mlsearch -s"), "{}", ran.stderr);
            std::fs::rename(&elsewhere, &folder).expect("our own");
            ran = scratch.run(&command);
            assert!(ran.stderr.contains("resuming"), "{}", ran.stderr);
        }
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        for entry in std::fs::read_dir(&folder).expect("it is back") {
            let path = entry.expect("an entry").path();
            std::fs::rename(&path, scratch.path().join(path.file_name().expect("a name")))
                .expect("moved");
        }
        std::fs::remove_dir(&folder).expect("nothing is left");
        assert_same(&expected, &scratch, "x", "the folder is back");
    }
}

#[test]
fn nothing_needs_a_folder_of_temporary_files() {
    let scratch = Scratch::new();
    scratch.succeed(&search().replace("-n x", "-n ref"));
    for folder in ["/nonexistent", "/dev/full"] {
        let output = Command::new(env!("CARGO_BIN_EXE_mlsearch"))
            .args(search().replace("-T 1", "-T 2 --redo").split_whitespace())
            .current_dir(scratch.path())
            .env("TMPDIR", folder)
            .output();
        let ran = Ran::new(output.expect("the binary can be started"));
        assert_eq!(ran.code, 0, "{folder}: {}", ran.stderr);
        assert_same(&results(&scratch, "ref"), &scratch, "x", folder);
    }
}

#[test]
fn output_that_nobody_can_take_ends_no_run() {
    let scratch = Scratch::new();
    scratch.succeed(&search().replace("-n x", "-n ref"));
    let full = || std::fs::File::options().write(true).open("/dev/full");
    let Ok(_) = full() else { return println!("skipped: there is no /dev/full") };
    let status = Command::new(env!("CARGO_BIN_EXE_mlsearch"))
        .args(search().split_whitespace())
        .current_dir(scratch.path())
        .stdout(full().expect("it is there"))
        .stderr(full().expect("it is there"))
        .status();
    assert!(status.expect("the binary can be started").success());
    assert_same(&results(&scratch, "ref"), &scratch, "x", "/dev/full");
}
