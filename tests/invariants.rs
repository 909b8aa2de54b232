//! What must hold on gappy data: missing partitions change the work, never the likelihood.

use crate::util::{Scratch, log_likelihood, repository};
use std::fs::read_to_string;

/// Relative difference of likelihoods at given lengths.
const GIVEN: f64 = 1e-9;
/// What an optimiser that takes another way may lose, in log units.
const OPTIMISED: f64 = 0.1;

fn gappy() -> String {
    format!(
        "--evaluate -s {} -t {}",
        repository("datasets/gappy.phy").display(),
        repository("datasets/gappy.tree").display()
    )
}

#[test]
fn the_gappy_data_set_is_what_its_command_makes() {
    let scratch = Scratch::new();
    let models = repository("partitions/gappy_true.part").display().to_string();
    scratch.succeed(&format!(
        "simulate --tree rand{{60}} --mean-brlen 0.06 -q {models} --missing 0.6 --seed 2008 --prefix gappy"
    ));
    for (made, kept) in [
        ("phy", "datasets/gappy.phy"),
        ("trueTree", "datasets/gappy.tree"),
        ("part", "partitions/gappy_true.part"),
    ] {
        let made = read_to_string(scratch.path().join(format!("gappy.mlsearch.{made}")));
        let kept_text = read_to_string(repository(kept)).expect("kept");
        assert!(made.expect("made") == kept_text, "{kept} is another");
    }
}

#[test]
fn restricted_trees_have_the_same_likelihood_at_given_lengths() {
    let scratch = Scratch::new();
    let models = repository("partitions/gappy_true.part").display().to_string();
    for mode in ["linked", "scaled", "unlinked"] {
        let command = format!(
            "{} -q {models} --brlen {mode} --opt-model off --opt-branches off --redo --quiet",
            gappy()
        );
        scratch.succeed(&format!("{command} -n on"));
        scratch.succeed(&format!("{command} -n off --restricted off"));
        let [on, off] = ["on", "off"].map(|name| log_likelihood(&scratch, name));
        assert!((on - off).abs() < GIVEN * on.abs(), "{mode}: {on} {off}");
    }
}

#[test]
fn restricted_trees_lose_nothing_when_optimised() {
    let scratch = Scratch::new();
    let part = repository("partitions/gappy.part").display().to_string();
    for mode in ["linked", "scaled", "unlinked"] {
        let command = format!("{} -q {part} -m GTR+G --brlen {mode} -T 1 --redo --quiet", gappy());
        scratch.succeed(&format!("{command} -n on"));
        scratch.succeed(&format!("{command} -n off --restricted off"));
        let [on, off] = ["on", "off"].map(|name| log_likelihood(&scratch, name));
        println!("{mode}: restricted {on:.6}, unrestricted {off:.6}");
        assert!(on > off - OPTIMISED, "{mode}: {on} {off}");
    }
}
