//! Searches and evaluations under mixtures of profiles and matrices, and the rates and profiles of sites, as a user gets them.

use crate::util::{Scratch, assert_same_bytes_on, log_likelihood, report};

/// All of them are for the kernels; that these give the same bits is tested elsewhere.
const FEW_MACHINES: [&str; 2] = ["-T 2 --simd avx2", "-T 3"];

/// A folder with eight taxa and 40 amino acids, `x.mlsearch.phy`, and the tree with which they were simulated.
fn simulated() -> Scratch {
    let scratch = Scratch::new();
    scratch.succeed("simulate -t rand{8} --mean-brlen 0.2 --sites 40 -m LG+C10+G4{0.7} -p 3 -n x");
    scratch
}

#[test]
fn a_search_that_begins_with_one_class_ends_where_one_with_all_classes_does() {
    let scratch = simulated();
    let command = "-s x.mlsearch.phy -m LG+C10+G4 --quiet";
    assert_same_bytes_on(
        &FEW_MACHINES,
        &scratch,
        command,
        &["bestTree", "bestModel", "log", "json"],
    );
    scratch.succeed(&format!("{command} -T 1 -n a"));
    scratch.succeed(&format!("{command} -T 1 -n b --whole-mixture"));
    let [a, b] = ["a", "b"].map(|prefix| log_likelihood(&scratch, prefix));
    assert!((a - b).abs() < 0.01, "{a} {b}");
    for (prefix, more) in [("c", ""), ("d", "--whole-mixture")] {
        scratch
            .succeed(&format!("evaluate {command} -T 1 -t x.mlsearch.trueTree -n {prefix} {more}"));
    }
    let [c, d] = ["c", "d"].map(|prefix| log_likelihood(&scratch, prefix));
    assert!((c - d).abs() < 0.01 && c <= a + 0.01, "{a} {c} {d}");
    // Replicates begin with one class, too.
    scratch.succeed(&format!("{command} -T 2 --bootstrap --bs-trees 2 -n e"));
    scratch
        .run(&format!("{command} -n a --whole-mixture"))
        .assert_refused(&["results of an earlier run"]);
}

/// Branch lengths of such a tree have several optima: from one class alone, the first one ends 2.04 lower than from all classes.
#[test]
fn a_tree_that_contradicts_the_data_is_evaluated_from_one_class_and_from_all() {
    let scratch = Scratch::new();
    let model = "LG+C10+G4{0.7}";
    scratch.succeed(&format!(
        "simulate -t rand{{16}} --mean-brlen 0.4 --sites 40 -m {model} -p 5 -n x"
    ));
    let command = "evaluate -s x.mlsearch.phy -m LG+C10+G4 -t rand{2} --quiet";
    let lnls = |options: &str| -> Vec<f64> {
        scratch.succeed(&format!("{command} {options} -n y --redo"));
        let trees = report(&scratch, "y")["trees"].clone();
        let lnl = |tree: &serde_json::Value| tree["log_likelihood"].as_f64().expect("a number");
        trees.as_array().expect("trees").iter().map(lnl).collect()
    };
    for (both, all) in lnls("").into_iter().zip(lnls("--whole-mixture")) {
        assert!(both > all - 1e-3, "{both} {all}");
    }
}

#[test]
fn profiles_of_a_file_are_mixtures_that_are_printed_in_full() {
    let scratch = simulated();
    let even = "0.05 ".repeat(20);
    let uneven = format!("0.43 {}", "0.03 ".repeat(19));
    scratch.write(
        "m.nex",
        &format!(
            "#nexus\nbegin models;\nfrequency one = {even};\nfrequency two = {uneven};\n\
             frequency both = FMIX{{one:1:0.4,two:1:0.6}};\nmodel mine = LG+both+G4{{0.5}};\nend;\n"
        ),
    );
    let evaluate = "evaluate -s x.mlsearch.phy -t x.mlsearch.trueTree --quiet -T 1";
    scratch.succeed(&format!("{evaluate} -m mine --definitions m.nex -n a"));
    scratch.succeed(&format!("{evaluate} -m a.mlsearch.bestModel -n b"));
    let [a, b] = ["a", "b"].map(|prefix| log_likelihood(&scratch, prefix));
    assert!((a - b).abs() < 1e-3, "{a} {b}");
    // Weights that are estimated are better.
    scratch.succeed(&format!("{evaluate} -m LG+FMIX{{one,two}}+G4{{0.5}} -mdef m.nex -n c"));
    assert!(log_likelihood(&scratch, "c") >= a - 1e-3);
    scratch.succeed(&format!("{evaluate} -m MIX{{LG:0.5/WAG:1.5}}+G4 -n d"));
    scratch.succeed(&format!("{evaluate} -m d.mlsearch.bestModel -n e"));
    let [d, e] = ["d", "e"].map(|prefix| log_likelihood(&scratch, prefix));
    assert!((d - e).abs() < 1e-3, "{d} {e}");
    let unknown = scratch.run(&format!("{evaluate} -m LG+FMIX{{one,none}} -mdef m.nex -n f"));
    unknown.assert_refused(&["'NONE' in FMIX{...} is not defined"]);
    scratch.write("bad.nex", "begin models;\nfrequency one = 0.5 0.5;\nend;\n");
    let bad = scratch.run(&format!("{evaluate} -m LG+one -mdef bad.nex -n f"));
    bad.assert_refused(&["bad.nex, line 2: '0.5 0.5' is neither 20 frequencies nor FMIX"]);
}

#[test]
fn recoded_amino_acids_are_states_of_groups() {
    let scratch = simulated();
    let evaluate = "evaluate -s x.mlsearch.phy -t x.mlsearch.trueTree --quiet -T 1";
    scratch.succeed(&format!("{evaluate} -m MULTI6_GTR+G --recode dayhoff6 -n a"));
    // The same by hand.
    let text = std::fs::read_to_string(scratch.path().join("x.mlsearch.phy")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let groups = ["AGPST", "C", "DENQ", "FWY", "HKR", "ILMV"];
    let state = |letter: char| match groups.iter().position(|group| group.contains(letter)) {
        Some(state) => char::from(b'0' + state as u8),
        None => letter,
    };
    let recoded = rows.lines().map(|row| {
        let (name, letters) = row.rsplit_once(' ').unwrap();
        format!("{name} {}\n", letters.chars().map(state).collect::<String>())
    });
    scratch.write("r.phy", &format!("{header}\n{}", recoded.collect::<String>()));
    scratch
        .succeed(&format!("{} -m MULTI6_GTR+G -n b", evaluate.replace("x.mlsearch.phy", "r.phy")));
    let [a, b] = ["a", "b"].map(|prefix| log_likelihood(&scratch, prefix));
    assert_eq!(a, b);
    // A partition file may say that they are amino acids.
    let columns = header.split_whitespace().nth(1).unwrap();
    scratch.write("aa", &format!("AA, all = 1-{columns}\n"));
    scratch.succeed(&format!("{evaluate} -q aa -m MULTI6_GTR+G --recode dayhoff6 -n c"));
    assert_eq!(log_likelihood(&scratch, "c"), a);
    let other = scratch.run(&format!("{evaluate} -m LG+G --recode sr4 -n c2"));
    other.assert_refused(&["--recode makes data of 4 states, but LG+G4m", "MULTI4_GTR+G"]);
    let unknown = scratch.run(&format!("{evaluate} -m LG+G --recode dayhoff7 -n c3"));
    unknown.assert_refused(&["'dayhoff7' is neither dayhoff6, sr4, sr6, kgb6 nor groups"]);
    // Of many genes, each.
    let search = "-m MULTI6_GTR+G --recode dayhoff6 --fast --quiet -T 1";
    let columns = header.split_whitespace().nth(1).unwrap();
    scratch.write("q.part", &format!("MULTI6_GTR+G, one = 1-{columns}\n"));
    scratch.write("list.txt", "x.mlsearch.phy\n");
    scratch.succeed(&format!("search -s x.mlsearch.phy {search} -n s"));
    scratch.succeed(&format!("genes -s x.mlsearch.phy -q q.part {search} -n p"));
    scratch.succeed(&format!("genes -s list.txt {search} -n l"));
    let files = ["s.mlsearch.bestTree", "p.mlsearch.geneTrees", "l.mlsearch.geneTrees"];
    let [own, part, listed] =
        files.map(|file| std::fs::read_to_string(scratch.path().join(file)).unwrap());
    assert_eq!([&part, &listed], [&own, &own]);
}

#[test]
fn rates_and_profiles_of_sites_are_written_for_every_site() {
    let scratch = simulated();
    let evaluate = "evaluate -s x.mlsearch.phy -t x.mlsearch.trueTree --site-rates --quiet";
    assert_same_bytes_on(
        &FEW_MACHINES,
        &scratch,
        &format!("{evaluate} -m LG+C10+G4"),
        &["siteRates", "siteFreqs"],
    );
    scratch.succeed(&format!("{evaluate} -m LG+C10+G4 -n a"));
    let read = |name: &str| std::fs::read_to_string(scratch.path().join(name)).unwrap();
    let rates: Vec<f64> = read("a.mlsearch.siteRates")
        .lines()
        .skip(1)
        .map(|line| line.split('\t').nth(2).unwrap().parse().unwrap())
        .collect();
    assert_eq!(rates.len(), 40);
    // The mean of posterior means is about that of the prior.
    let mean = rates.iter().sum::<f64>() / 40.0;
    assert!((mean - 1.0).abs() < 0.2, "{mean}");
    let profiles = read("a.mlsearch.siteFreqs");
    for (number, line) in profiles.lines().enumerate() {
        let words: Vec<f64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
        assert_eq!((words.len(), words[0]), (21, number as f64 + 1.0));
        assert!((words[1..].iter().sum::<f64>() - 1.0).abs() < 1e-4);
    }
    assert_eq!(profiles.lines().count(), 40);
    scratch.write("v.phy", "5 5\na ACGTA\nb ACGTC\nc CATGA\nd CATGC\ne GATCA\n");
    scratch.write("v.nwk", "((a,b),c,(d,e));");
    let corrected = "evaluate -s v.phy -t v.nwk -m JC+G4+ASC_LEWIS --site-rates --quiet -n c";
    let corrected = scratch.run(corrected);
    corrected.assert_refused(&["--site-rates is not available under +ASC", "partition 'all'"]);
    // Without a mixture, there are no profiles.
    scratch.succeed(&format!("{evaluate} -m LG+I+R3 -n b"));
    assert!(!scratch.files().contains(&"b.mlsearch.siteFreqs".to_string()));
}
