//! Frequencies of sites (`--pmsf`, `--site-frequencies`) as a user gets them, and beside those of IQ-TREE.

use crate::util::{Scratch, assert_same_bytes_on, log_likelihood, repository};
use serde_json::Value;

/// A folder with eight taxa and 150 amino acids, `x.mlsearch.phy`, and the tree with which they were simulated.
fn simulated() -> Scratch {
    let scratch = Scratch::new();
    scratch.succeed("simulate -t rand{8} --mean-brlen 0.2 --sites 150 -m LG+C10+G4{0.7} -p 3 -n x");
    scratch
}

fn report(scratch: &Scratch, prefix: &str) -> Value {
    let path = scratch.path().join(format!("{prefix}.mlsearch.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The frequencies and the value are those of
///
/// ```text
/// iqtree2 -s ovomucoids.phy -m LG+C10+G4 -ft ovomucoids.tree -te ovomucoids.tree -keep-ident -seed 1 -nt 1     (ovomucoids.sitefreq)
/// iqtree2 -s ovomucoids.phy -m LG+G4 -fs ovomucoids.sitefreq -te ovomucoids.tree -keep-ident -seed 1 -nt 1     (-2962.701, alpha 1.115)
/// ```
///
/// of IQ-TREE 2.0.7.
#[test]
fn the_likelihood_under_frequencies_of_iqtree_is_that_of_iqtree() {
    let scratch = Scratch::new();
    let file = |path: &str| repository(path).display().to_string();
    let (data, tree) = (file("datasets/ovomucoids.phy"), file("tests/golden/ovomucoids.tree"));
    let freqs = file("tests/golden/ovomucoids.sitefreq");
    scratch.succeed(&format!(
        "evaluate -s {data} -t {tree} -m LG+G4 --site-frequencies {freqs} --quiet -T 2 -n a"
    ));
    let lnl = log_likelihood(&scratch, "a");
    assert!((lnl - -2962.701).abs() < 0.05, "{lnl}");
    let report = report(&scratch, "a");
    let model = report["model"].as_str().unwrap();
    let alpha: f64 = model.split("+G4m{").nth(1).unwrap().trim_end_matches('}').parse().unwrap();
    assert!((alpha - 1.115).abs() < 0.005, "{model}");
    assert_eq!(report["site_frequencies"]["source"], "file");
}

#[test]
fn a_file_with_the_same_frequencies_for_all_sites_gives_the_likelihood_of_one_matrix() {
    let scratch = simulated();
    let freqs: Vec<String> = (1..=20).map(|i| (f64::from(i) / 210.0).to_string()).collect();
    let lines = (1..=150).map(|site| format!("{site} {}\n", freqs.join(" ")));
    scratch.write("f", &lines.collect::<String>());
    let evaluate =
        "evaluate -s x.mlsearch.phy -t x.mlsearch.trueTree --quiet -T 1 --lh-epsilon 1e-6";
    scratch.succeed(&format!("{evaluate} -m WAG+C20+I+R3 --site-frequencies f -n a"));
    scratch.succeed(&format!("{evaluate} -m WAG+FU{{{}}}+I+R3 -n b", freqs.join("/")));
    let [a, b] = ["a", "b"].map(|prefix| log_likelihood(&scratch, prefix));
    assert!((a - b).abs() < 1e-4, "{a} {b}");
    let fixed = "--opt-model off --opt-branches off";
    for model in ["LG+G4{0.6}", "LG+I{0.1}+G5{2}"] {
        let (matrix, rates) = model.split_once('+').unwrap();
        let given = format!("{matrix}+FU{{{}}}+{rates}", freqs.join("/"));
        scratch.succeed(&format!("{evaluate} {fixed} -m {model} --site-frequencies f -n c --redo"));
        scratch.succeed(&format!("{evaluate} {fixed} -m {given} -n d --redo"));
        let [c, d] = ["c", "d"].map(|prefix| log_likelihood(&scratch, prefix));
        assert!((c - d).abs() < 1e-8, "{model}: {c} {d}");
    }
}

#[test]
fn a_search_under_frequencies_of_a_guide_tree_is_the_same_with_any_number_of_threads() {
    let scratch = simulated();
    let search = "-s x.mlsearch.phy -m LG+C10+G4 --pmsf x.mlsearch.trueTree --quiet --fast";
    let machines = ["-T 1", "-T 2 --simd avx2", "-T 3"];
    let files = ["bestTree", "bestModel", "siteFreqs", "log", "json"];
    assert_same_bytes_on(&machines, &scratch, search, &files);
    scratch.succeed(&format!("{search} -T 1 -n a"));
    let found = report(&scratch, "a");
    let frequencies = &found["site_frequencies"];
    assert_eq!(frequencies["source"], "pmsf");
    let of_guide = frequencies["guides"][0]["log_likelihood"].as_f64().unwrap();
    let of_best = frequencies["mixture_on_best_tree"]["log_likelihood"].as_f64().unwrap();
    let lnl = log_likelihood(&scratch, "a");
    assert!(lnl > of_best && (of_best - of_guide).abs() < 5.0, "{lnl} {of_guide} {of_best}");
    // The mixture has the likelihoods that evaluations under it have.
    let evaluate = "evaluate -s x.mlsearch.phy -m LG+C10+G4 --quiet -T 1";
    scratch.succeed(&format!("{evaluate} -t x.mlsearch.trueTree -n b"));
    // The guide tree itself is not fitted again.
    let of_itself = "--pmsf x.mlsearch.trueTree -t x.mlsearch.trueTree -n itself";
    scratch.succeed(&format!("{evaluate} {of_itself}"));
    let found = &report(&scratch, "itself")["site_frequencies"];
    let [guide, best] = [&found["guides"][0], &found["mixture_on_best_tree"]];
    assert_eq!(guide["log_likelihood"], best["log_likelihood"]);
    assert_eq!(guide["models"], best["models"]);
    scratch.succeed(&format!("{evaluate} -t a.mlsearch.bestTree -n c"));
    let [b, c] = ["b", "c"].map(|prefix| log_likelihood(&scratch, prefix));
    assert!((b - of_guide).abs() < 0.01 && (c - of_best).abs() < 0.01, "{b} {c}");
    // The file of frequencies serves another run.
    let file = "evaluate -s x.mlsearch.phy -m LG+G4 --site-frequencies a.mlsearch.siteFreqs";
    scratch.succeed(&format!("{file} -t a.mlsearch.bestTree --quiet -T 1 -n d"));
    assert!((log_likelihood(&scratch, "d") - lnl).abs() < 0.01);
    let again = "-m a.mlsearch.bestModel --opt-model off";
    scratch
        .succeed(&format!("{} {again} -t a.mlsearch.bestTree -n e", file.replace("-m LG+G4", "")));
    assert!((log_likelihood(&scratch, "e") - lnl).abs() < 0.01);
    // Columns without weight have no frequencies, and need none.
    let rows = std::fs::read_to_string(scratch.path().join("x.mlsearch.phy")).unwrap();
    let num_columns: usize = rows.split_whitespace().nth(1).unwrap().parse().unwrap();
    scratch.write("w", &format!("0 {}", "2 ".repeat(num_columns - 1)));
    scratch.succeed(&format!("{search} -a w -T 1 -n f"));
    let file = file.replace("a.mlsearch", "f.mlsearch");
    scratch.succeed(&format!("{file} -a w -t f.mlsearch.bestTree --quiet -T 1 -n g"));
    let [f, g] = ["f", "g"].map(|prefix| log_likelihood(&scratch, prefix));
    assert!((f - g).abs() < 0.01, "{f} {g}");
    let ran = scratch.run(&format!("{file} -t f.mlsearch.bestTree --quiet -T 1 -n h"));
    ran.assert_refused(&["columns that count have no line, the first of them is column 1"]);
}

#[test]
fn estimated_exchange_rates_are_those_of_the_mixture_on_the_guide_tree() {
    let scratch = simulated();
    let common = "-s x.mlsearch.phy --quiet --lh-epsilon 0.5";
    let tree = "x.mlsearch.trueTree";
    scratch.succeed(&format!("evaluate {common} -t {tree} -m GTR20+C10 -T 2 -n mixture"));
    scratch.succeed(&format!("search {common} -m GTR20+C10 --pmsf {tree} --fast -T 2 -n pmsf"));
    let rates = |prefix: &str| {
        let path = scratch.path().join(format!("{prefix}.mlsearch.bestModel"));
        let text = std::fs::read_to_string(path).unwrap();
        text.split(['{', '}']).nth(1).unwrap().to_string()
    };
    assert_eq!(rates("pmsf").split('/').count(), 190);
    assert_eq!(rates("pmsf"), rates("mixture"));
}

#[test]
fn replicates_rounds_rates_and_tests_have_frequencies_of_sites() {
    let scratch = simulated();
    let data = "-s x.mlsearch.phy -m LG+C10+G4 --pmsf x.mlsearch.trueTree --quiet --fast";
    scratch.succeed(&format!("--all --bs-trees 3 {data} --pmsf-rounds 2 -T 2 -n a"));
    assert_eq!(report(&scratch, "a")["site_frequencies"]["guides"].as_array().unwrap().len(), 2);
    for file in ["support", "bootstraps", "siteFreqs"] {
        assert!(scratch.files().contains(&format!("a.mlsearch.{file}")), "{file}");
    }
    scratch.succeed(&format!("bootstrap --bs-trees 2 {data} -T 2 -n b"));
    scratch.succeed(&format!(
        "{data} --alrt 100 --ancestral --site-rates --sitelh --keep-identical -T 1 -n c"
    ));
    let lines = |file: &str| {
        let text = std::fs::read_to_string(scratch.path().join(format!("c.mlsearch.{file}")));
        text.unwrap().lines().count()
    };
    assert_eq!((lines("siteRates"), lines("siteFreqs")), (151, 150));
    // Partitions, one of which lacks taxa and one has a single one.
    let text = std::fs::read_to_string(scratch.path().join("x.mlsearch.phy")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let row = |(taxon, row): (usize, &str)| {
        let (name, letters) = row.rsplit_once(' ').unwrap();
        let mut letters: Vec<char> = letters.chars().collect();
        if taxon < 2 {
            letters[50..90].fill('-');
        }
        if taxon != 3 {
            letters[90..100].fill('-');
        }
        format!("{name} {}\n", letters.iter().collect::<String>())
    };
    let rows: String = rows.lines().filter(|row| !row.is_empty()).enumerate().map(row).collect();
    scratch.write("g.phy", &format!("{header}\n{rows}"));
    scratch
        .write("g.part", "LG+C10+G4, a = 1-50, 101-150\nWAG+C10, b = 51-90\nLG+C20, c = 91-100\n");
    for linkage in ["linked", "scaled", "unlinked"] {
        let data = "-s g.phy -q g.part --pmsf x.mlsearch.trueTree --quiet -t x.mlsearch.trueTree";
        scratch.succeed(&format!("evaluate {data} --brlen {linkage} -T 2 -n {linkage}"));
        assert!(log_likelihood(&scratch, linkage).is_finite());
    }
}

#[test]
fn what_frequencies_of_sites_do_not_suit_is_refused() {
    let scratch = simulated();
    let freqs = "0.05 ".repeat(20);
    let lines = (1..=150).map(|site| format!("{site} {freqs}\n"));
    scratch.write("f", &lines.collect::<String>());
    scratch.write("short", &format!("1 {freqs}\n2 {freqs}\n7 0.5 0.5\n"));
    scratch.write("two.nwk", "(a,b,c);\n(a,b,c);\n");
    scratch.write("d.phy", "4 4\na ACGT\nb ACGA\nc ACTA\nd GCTA\n");
    scratch.write("d.nwk", "((a,b),c,d);");
    let file = "--site-frequencies f";
    let guide = "--pmsf x.mlsearch.trueTree";
    for (options, expected) in [
        (
            format!("-m LG+G4 {guide}"),
            "--pmsf with the model LG+G4m: the frequencies of sites come from a profile mixture",
        ),
        (format!("-m LG4X {file}"), "this mixture has several"),
        (format!("-m EX2+G4 {guide}"), "this mixture has several"),
        (format!("-m LG+C10+ASC {guide}"), "+ASC"),
        (format!("-m auto {file}"), "needs a given model, but -m auto selects one"),
        (format!("-m LG+C10 {guide} {file}"), "give only one of the two"),
        (format!("-m LG+C10 {guide} --backend cuda"), "on the processor only"),
        (format!("-m LG+C10 {guide} --pmsf-rounds 0"), "--pmsf-rounds"),
        (format!("-m LG+C10 {file} --pmsf-rounds 2"), "applies only to --pmsf"),
        (
            "-m LG+C10 --site-frequencies short".into(),
            "short, line 3: column 7 has 2 frequencies: expected 20",
        ),
        ("-m LG+C10 --pmsf none.nwk".into(), "none.nwk"),
        (format!("-m LG+C10 {file} --mem 1M"), "are not enough for this run"),
    ] {
        let run = scratch.run(&format!("-s x.mlsearch.phy {options} --quiet -n r"));
        run.assert_refused(&[expected]);
    }
    let rounds = "evaluate -s x.mlsearch.phy -t x.mlsearch.trueTree -m LG+C10 --pmsf-rounds 2 -n r";
    scratch.run(&format!("{rounds} {guide}")).assert_refused(&["applies only to searches"]);
    let dna = scratch.run("-s d.phy -m GTR+G --pmsf d.nwk --quiet -n r");
    dna.assert_refused(&["only amino acids have frequencies of sites"]);
    // IQ-TREE's options.
    scratch
        .succeed("evaluate -s x.mlsearch.phy -te x.mlsearch.trueTree -m LG+G4 -fs f --quiet -n i");
    scratch.succeed(
        "evaluate -s x.mlsearch.phy -te x.mlsearch.trueTree -m LG+C10 -ft x.mlsearch.trueTree --quiet -n j",
    );
    let check = scratch.run(&format!("check -s x.mlsearch.phy -m LG+C10+G4 {guide}"));
    assert!(check.stdout.contains("time of the profile mixture on a tree"), "{}", check.stdout);
}
