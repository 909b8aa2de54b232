//! Bootstrap replicates, as a user makes them.

use crate::util::{FIVE_TAXA, Scratch, assert_same_bytes, report, repository};

/// Seven taxa, of which 300 replicates are not enough.
const UNCLEAR: &str = "7 60\n\
    a  CCGATCACATCACGGCAGCAGGCCGGGAGTCCCGGACAGACTTGTTTCGATAATGTGCCA\n\
    b  CGGTTCAAATGACGGCAGCAGGCCGGGAGTCCCTGCAGGGCTCGTTCCGGAAGTCGGCCA\n\
    c  AGATTAAAATGTCGGCAGCAGGCCGCGAGTCCCTGAGAGGCTTATTCCGGAGACGTACCA\n\
    d  CGATTTAGATTATGGCAGCAGGCCGGGAGTCCCTGATAGCCTGGTTCCGGAAATGTGCCA\n\
    e  CAATTGAAACGACGGCAAGCGGCCGGCGCAGCCGGATAGCCTTGGTCCGGACATGTCCGG\n\
    f  CGATTCAAATCACTGCACCGGACCGGTAGTCCCCGAGTGGCCTGTACAGGAGATGTGTCA\n\
    g  CGATACAAATGACGGCATTAGCCCGGGACTCCTTGAAAGGCATGTACCCGAAATGTGCAA\n";

/// `tests/golden/replicates.nwk` are 100 replicates of `datasets/anolis.phy` (mlsearch, JC), with numbers instead of names.
/// The values are those of RAxML 8.2.12: `raxmlHPC -I RULE -z replicates.nwk -m GTRGAMMA -p 1 -B 0.05
/// --bs-perms=10000 -n x`. Its autoMRE is not that of the publication: it gives the values of its autoMRE_IGN, which
/// leaves the compatibility of splits out of account.
#[test]
fn bootstopping_has_raxmls_values() {
    let trees = repository("tests/golden/replicates.nwk").display().to_string();
    let scratch = Scratch::new();
    for (rule, golden) in [
        ("autoFC", [(0.975_240, 0.0), (0.989_384, 4646.0)]),
        ("autoMR --bs-cutoff 0.05", [(0.0782, 550.0), (0.0550, 3695.0)]),
    ] {
        scratch.succeed(&format!("-I {rule} -z {trees} --bs-perms 10000 -n x --redo"));
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
    scratch.write("a.phy", UNCLEAR);
    let command = "-s a.phy -m JC --bootstrap --fast --bs-trees autoFC{100} --bs-brlens --quiet";
    assert_same_bytes(&scratch, command, &["bootstraps", "log", "json"]);
    let ran = scratch.succeed("-s a.phy -m JC --all --fast -# autoFC{150} -b 12345 -n all");
    assert!(ran.stderr.contains("after 100 replicates: mean correlation"), "{}", ran.stderr);
    assert!(ran.stderr.contains("autoFC: 150 replicates are not enough"), "{}", ran.stderr);
    let found = &report(&scratch, "all")["bootstrap"];
    assert_eq!(found["bootstopping"]["tests"].as_array().unwrap().len(), 3);
    assert_eq!((&found["replicates"], &found["sampling"]), (&150.into(), &"site".into()));
    let file = scratch.path().join("all.mlsearch.bootstraps");
    assert_eq!(std::fs::read_to_string(file).unwrap().lines().count(), 150);
    // The file of the replicates says the same.
    scratch.succeed("--bsconverge autoFC --bs-trees all.mlsearch.bootstraps -n again");
    let again = &report(&scratch, "again")["bootstrap"]["bootstopping"];
    assert_eq!(*again, found["bootstopping"]);
    scratch.write("b.phy", FIVE_TAXA);
    let ran = scratch.succeed("-s b.phy -m JC --bootstrap --fast --bs-trees autoFC -n clear");
    assert!(ran.stdout.contains("autoFC: 50 replicates are enough"), "{}", ran.stdout);
    let found = &report(&scratch, "clear")["bootstrap"];
    assert_eq!(
        (&found["replicates"], &found["bootstopping"]["converged"]),
        (&50.into(), &true.into())
    );
}

#[test]
fn too_few_replicates_are_said_to_be_so() {
    let scratch = Scratch::new();
    scratch.write("a.phy", UNCLEAR);
    let command = "-s a.phy -m JC --bootstrap --fast -# autoMRE{60} -b 1 -B 0.0001 -n x";
    let ran = scratch.succeed(command);
    let expected = "autoMRE: 50 replicates are not enough for stable support values, and whether all 60 are is not known";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    let found = &report(&scratch, "x")["bootstrap"];
    assert_eq!(
        (&found["replicates"], &found["bootstopping"]["converged"]),
        (&60.into(), &false.into())
    );
    scratch.write("t", "(a,b,(c,d));\n");
    let ran = scratch.run("--bsconverge --bs-trees t -n y");
    ran.assert_refused(&["the file contains 1 trees", "50 replicates are needed"]);
}

/// Partitions that are not drawn, and taxa whose only data are in them.
#[test]
fn partitions_and_their_sites_are_drawn_and_deleted() {
    let data = format!(
        "-s {} -q {}",
        repository("datasets/gappy.phy").display(),
        repository("partitions/gappy.part").display()
    );
    let scratch = Scratch::new();
    let mut seen = Vec::new();
    for sampling in [
        "gene",
        "genesite",
        "gene --jackknife 0.5",
        "genesite --jackknife 0.3",
        "site --jackknife 0.3",
    ] {
        for linkage in ["", "-M"] {
            let line = format!(
                "{data} {linkage} -m JC --fast --bootstrap --bs-trees 2 --sampling {sampling}"
            );
            scratch.succeed(&format!("{line} --quiet -n x --redo"));
            let trees =
                std::fs::read_to_string(scratch.path().join("x.mlsearch.bootstraps")).unwrap();
            assert_eq!(trees.lines().count(), 2);
            assert!(!seen.contains(&trees), "{sampling}");
            seen.push(trees);
        }
        let found = &report(&scratch, "x")["bootstrap"];
        assert_eq!(found["sampling"], sampling.split(' ').next().unwrap());
    }
    let first = repository("datasets/primates.phy").display().to_string();
    let refused = |options: &str, expected: &str| {
        scratch.run(&format!("-s {first} -m JC -n y {options}")).assert_refused(&[expected]);
    };
    refused("--bootstrap --sampling gene", "give a partition file");
    refused("--bootstrap --sampling codon", "expected site, gene or genesite");
    refused("--bootstrap --jackknife 1", "above 0 and below 1");
    refused("--search --jackknife 0.5", "--jackknife applies only to bootstrap replicates");
    scratch.write("one", "DNA, all = 1-898\n");
    refused("-q one --bootstrap --sampling genesite", "there is only one");
}

/// The definition: a column of weight 2 is two columns, one of weight 0 is none.
#[test]
fn weights_of_columns_are_columns_written_so_often() {
    let weights = [2, 0, 1, 3, 1];
    let columns = |row: &str| -> String {
        let chars = row.chars().enumerate();
        chars.flat_map(|(i, c)| std::iter::repeat_n(c, weights[i % 5])).collect()
    };
    let rows = FIVE_TAXA.lines().skip(1).map(|line| line.trim().split_once("  ").unwrap());
    let rows: Vec<String> = rows.map(|(name, row)| format!("{name}  {}\n", columns(row))).collect();
    let number = weights.iter().sum::<usize>() * 6;
    let scratch = Scratch::new();
    scratch.write("a.phy", FIVE_TAXA);
    scratch.write("b.phy", &format!("5 {number}\n{}", rows.concat()));
    scratch.write("w", &"2 0 1 3 1\n".repeat(6));
    let whole = |name: &str| {
        let read = |kind: &str| {
            std::fs::read_to_string(scratch.path().join(format!("{name}.mlsearch.{kind}"))).unwrap()
        };
        ["bestTree", "bootstraps", "support"].map(read)
    };
    for sampling in ["", "--jackknife 0.4"] {
        let options = format!("-m HKY+G --all --bs-trees 5 --quiet --redo {sampling}");
        let ran = scratch.succeed(&format!("-s a.phy -a w {options} -n weighted"));
        scratch.succeed(&format!("-s b.phy {options} -n written"));
        assert_eq!(whole("weighted"), whole("written"), "{sampling} {}", ran.stderr);
        let [weighted, written] = ["weighted", "written"].map(|name| report(&scratch, name));
        let bits =
            |report: &serde_json::Value| report["log_likelihood"].as_f64().unwrap().to_bits();
        assert_eq!(bits(&weighted), bits(&written));
    }
    scratch.succeed(
        "-s a.phy --site-weights w -m JC --evaluate -t weighted.mlsearch.bestTree --sitelh -n e",
    );
    let sites = std::fs::read_to_string(scratch.path().join("e.mlsearch.siteLH")).unwrap();
    assert!(sites.starts_with("1 30\n"), "one value for every column of the file");
    // What is written of columns has those that count, once each; the model has all, and is read as it was.
    let all: Vec<usize> = (1..=30).filter(|column| column % 5 != 2).collect();
    let read = |file: &str| std::fs::read_to_string(scratch.path().join(file)).unwrap();
    let model = read("weighted.mlsearch.bestModel");
    assert!(model.ends_with("all = 1-30\n"), "{model}");
    let data = "-s a.phy -a w -q weighted.mlsearch.bestModel -t weighted.mlsearch.bestTree";
    let fixed = "--opt-model off --opt-branches off";
    scratch.succeed(&format!("evaluate {data} {fixed} --site-rates --ancestral -n again"));
    let lnl = |name: &str| report(&scratch, name)["log_likelihood"].as_f64().unwrap();
    let [a, b] = ["weighted", "again"].map(lnl);
    assert!((a - b).abs() < 1e-6, "{a} {b}");
    for profile in ["site_profile", "site_rates"] {
        let values = report(&scratch, "again")[profile]["values"].as_array().unwrap().len();
        assert_eq!(values, all.len(), "{profile}");
    }
    for (file, field, nodes) in [("siteRates", 1, 1), ("ancestralProbs", 2, 3)] {
        let text = read(&format!("again.mlsearch.{file}"));
        let column = |line: &str| line.split('\t').nth(field).unwrap().parse().unwrap();
        let columns: Vec<usize> = text.lines().skip(1).map(column).collect();
        assert_eq!(columns, all.repeat(nodes), "{file}");
    }
    scratch.write("short", "1 1 -1\n");
    let ran = scratch.run("-s a.phy -a short -m JC -n z");
    ran.assert_refused(&[
        "short, line 1: the weight of column 3, '-1', is negative",
        "3 weights, but the alignment has 30",
    ]);
}

/// An analysis of a written alignment is that of the replicate: here their only difference is the order of columns.
#[test]
fn written_alignments_have_the_columns_of_the_replicates() {
    let data = format!(
        "-s {} -q {}",
        repository("datasets/gappy.phy").display(),
        repository("partitions/gappy.part").display()
    );
    let scratch = Scratch::new();
    let original = std::fs::read_to_string(repository("datasets/gappy.phy")).unwrap();
    let size = |text: &str| text.lines().next().unwrap().trim().to_string();
    scratch.succeed(&format!("-f j {data} -b 5 -# 3 -m GTR+G -n x"));
    for number in 1..=3 {
        let read = |suffix: &str| {
            let name = format!("x.mlsearch.bootstrapMSA.{number}.{suffix}");
            std::fs::read_to_string(scratch.path().join(name)).unwrap()
        };
        assert_eq!(size(&read("phy")), size(&original));
        assert_eq!(read("part").lines().count(), 8);
        let own = format!(
            "-s x.mlsearch.bootstrapMSA.{number}.phy -q x.mlsearch.bootstrapMSA.{number}.part"
        );
        scratch.succeed(&format!("--check {own} --quiet"));
    }
    assert!(!scratch.path().join("x.mlsearch.bootstrapMSA.4.phy").exists());
    // Existing files are not overwritten; --redo removes those of an earlier run.
    let again = scratch.run(&format!("--bsmsa {data} --bs-trees 2 -n x"));
    again.assert_refused(&["bootstrapMSA.1.phy", "bootstrapMSA.3.part", "--redo"]);
    scratch.succeed(&format!(
        "--bsmsa {data} --bs-trees 2 --sampling gene --jackknife 0.5 -n x --redo"
    ));
    assert!(!scratch.path().join("x.mlsearch.bootstrapMSA.3.phy").exists());
    let part =
        std::fs::read_to_string(scratch.path().join("x.mlsearch.bootstrapMSA.2.part")).unwrap();
    assert_eq!(part.lines().count(), 4);
    scratch
        .run(&format!("--bsmsa {data} --bs-trees autoMRE -n y"))
        .assert_refused(&["resampled alignments are no trees"]);
}

#[test]
fn resampled_partitions_have_their_models_and_scalers_or_none_yet() {
    let scratch = Scratch::new();
    scratch.write("p.part", "JC+BU{2}, a = 1-300\nGTR+G, b = 301-898\n");
    let data =
        format!("-s {} -q p.part --brlen scaled", repository("datasets/primates.phy").display());
    let models = |prefix: &str| -> Vec<String> {
        let name = format!("{prefix}.mlsearch.bootstrapMSA.1.part");
        let text = std::fs::read_to_string(scratch.path().join(name)).unwrap();
        text.lines().map(|line| line.split(',').next().unwrap_or_default().to_string()).collect()
    };
    scratch.succeed(&format!("resample {data} -# 1 -n given"));
    assert_eq!(models("given"), ["JC+FE+BU{2}", "GTR+FC+G4m"]);
    scratch.write("q.part", "DNA, a = 1-300\nDNA, b = 301-898\n");
    let open = data.replace("p.part", "q.part");
    scratch.succeed(&format!("resample {open} -m auto -# 1 -n two"));
    assert_eq!(models("two"), ["auto", "auto"]);
    let again = "-s two.mlsearch.bootstrapMSA.1.phy -q two.mlsearch.bootstrapMSA.1.part";
    let ran = scratch.succeed(&format!("--check {again}"));
    assert!(ran.stdout.contains("auto"), "{}", ran.stdout);
}
