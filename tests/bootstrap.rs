//! Bootstrap replicates, as a user makes them.

use crate::util::{Scratch, assert_same_bytes, repository};

/// Five taxa with a branch that half of the sites support.
const DATA: &str = "5 30\n\
    a  ACGTACGTACACGTACGTACACGTACGTAC\n\
    b  ACGTACGTACACGTACGTATACGTACGTAT\n\
    c  ACGAACGAACACGAACGAACACCTACGGAC\n\
    d  ATGAACCAATACGATCGAACATCTATGGAC\n\
    e  ATGAACCAATACGATCGAATATCTATGGGC\n";

fn report(scratch: &Scratch, prefix: &str) -> serde_json::Value {
    let path = scratch.path().join(format!("{prefix}.mlsearch.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// `tests/golden/replicates.nwk` are 100 replicates of `datasets/anolis.phy` (mlsearch, JC), with numbers instead of names.
/// The values are those of RAxML 8.2.12: `raxmlHPC -I RULE -z replicates.nwk -m GTRGAMMA -p 1 -B 0.05
/// --bootstop-perms=10000 -n x`. Its autoMRE is not that of the publication: it gives the values of its autoMRE_IGN, which
/// leaves the compatibility of splits out of account.
#[test]
fn bootstopping_has_raxmls_values() {
    let trees = repository("tests/golden/replicates.nwk").display().to_string();
    let scratch = Scratch::new();
    for (rule, golden) in [
        ("autoFC", [(0.975_240, 0.0), (0.989_384, 4646.0)]),
        ("autoMR --bs-cutoff 0.05", [(0.0782, 550.0), (0.0550, 3695.0)]),
    ] {
        scratch.succeed(&format!("-I {rule} -z {trees} --bootstop-perms 10000 -n x --redo"));
        let found = &report(&scratch, "x")["bootstrap"]["bootstopping"];
        assert_eq!((&found["converged"], &found["halvings"]), (&false.into(), &10_000.into()));
        for (i, (mean, agreeing)) in golden.into_iter().enumerate() {
            let test = &found["tests"][i];
            assert_eq!(test["replicates"], 50 * (i + 1));
            let deviation = (test["mean"].as_f64().unwrap() - mean).abs();
            assert!(deviation < 0.01 * mean, "{rule}: {test}, RAxML {mean}");
            // Four standard errors of the difference between two numbers of 10000.
            let share: f64 = agreeing / 1e4;
            let bound = 4.0 * (2e4 * share * (1.0 - share)).sqrt();
            let deviation = (test["agreeing"].as_f64().unwrap() - agreeing).abs();
            assert!(deviation <= bound, "{rule}: {test}, RAxML {agreeing}");
        }
    }
}

#[test]
fn replicates_are_made_until_there_are_enough_on_any_number_of_threads() {
    let scratch = Scratch::new();
    scratch.write("a.phy", DATA);
    let command = "-s a.phy -m JC --bootstrap --fast --bs-trees autoFC{300} --bs-brlens --quiet";
    assert_same_bytes(&scratch, command, &["bootstraps", "log", "json"]);
    let ran = scratch.succeed("-s a.phy -m JC --all --fast -# autoFC -b 12345 -n all");
    assert!(ran.stderr.contains("after 50 replicates: mean correlation"), "{}", ran.stderr);
    let found = &report(&scratch, "all")["bootstrap"];
    let tests = found["bootstopping"]["tests"].as_array().unwrap();
    assert_eq!(found["bootstopping"]["converged"], true);
    assert_eq!(found["replicates"], 50 * tests.len());
    assert!(tests.len() > 1, "{found}");
    let file = scratch.path().join("all.mlsearch.bootstraps");
    assert_eq!(std::fs::read_to_string(file).unwrap().lines().count(), 50 * tests.len());
    assert!(ran.stdout.contains(&format!("{} replicates are enough", 50 * tests.len())));
    // The file of the replicates says the same.
    scratch.succeed("--bsconverge autoFC --bs-trees all.mlsearch.bootstraps -n again");
    assert_eq!(report(&scratch, "again")["bootstrap"], *found);
}

#[test]
fn too_few_replicates_are_said_to_be_so() {
    let scratch = Scratch::new();
    scratch.write("a.phy", DATA);
    let ran =
        scratch.succeed("-s a.phy -m JC --bootstrap --fast -# autoMRE{60} -b 1 -B 0.0001 -n x");
    assert!(ran.stderr.contains("autoMRE: 50 replicates are not enough"), "{}", ran.stderr);
    let found = &report(&scratch, "x")["bootstrap"];
    assert_eq!(
        (&found["replicates"], &found["bootstopping"]["converged"]),
        (&60.into(), &false.into())
    );
    scratch.write("t", "(a,b,(c,d));\n");
    scratch
        .run("--bsconverge --bs-trees t -n y")
        .assert_refused(&["t: the file contains 1 trees", "50"]);
}
