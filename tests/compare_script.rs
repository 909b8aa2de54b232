//! `benches/compare.py`, which runs this program beside others, without the others. Skipped where there is no Python.

use crate::util::{Scratch, repository};
use std::process::Command;

fn python_is_there() -> bool {
    let new_enough =
        "import os, sys; sys.exit(sys.version_info < (3, 9) or not hasattr(os, 'wait4'))";
    Command::new("python3")
        .args(["-c", new_enough])
        .output()
        .is_ok_and(|output| output.status.success())
}

#[test]
fn two_configurations_are_run_scored_and_tabulated() {
    if !python_is_there() {
        println!("skipped: no python3");
        return;
    }
    let scratch = Scratch::new();
    let data = |name: &str| repository(name).display().to_string();
    let partitioned =
        format!("{}:{}", data("datasets/primates.phy"), data("partitions/primates.part"));
    let output = Command::new("python3")
        .arg(repository("benches/compare.py"))
        .args(["--mlsearch", env!("CARGO_BIN_EXE_mlsearch"), "--peers", "none", "--seeds", "2"])
        .args(["--config", "refused=--no-such-option", "--config", "random=-t rand{1}"])
        .args(["--out", "x", &data("datasets/primates.phy"), &partitioned])
        .current_dir(scratch.path())
        .output()
        .expect("python3 can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(scratch.files(), ["x.runs.tsv", "x.svg", "x.tsv"]);

    let read = |name: &str| std::fs::read_to_string(scratch.path().join(name)).expect("written");
    let table = read("x.tsv");
    let mut lines = table.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let heads = lines.next().expect("a line of heads");
    let column = |name: &str| heads.iter().position(|head| *head == name).expect("a column");
    for dataset in ["primates", "primates_partitioned"] {
        for (program, good) in [("mlsearch", "2"), ("refused", "0"), ("random", "2")] {
            let row = lines.next().expect("a row");
            assert_eq!(
                (row[0], row[1], row[column("good_runs")]),
                (dataset, program, good),
                "{said}"
            );
            let below: Option<f64> = row[column("below_best_median")].parse().ok();
            assert_eq!(below.is_some(), good == "2", "{row:?}");
            assert!(below.is_none_or(|below| (0.0..1.0).contains(&below)), "{row:?}");
        }
    }
    assert_eq!(read("x.runs.tsv").lines().count(), 1 + 2 * 3 * 2);
    let plot = read("x.svg");
    assert!(plot.starts_with("<svg ") && plot.ends_with("</svg>\n"));
}
