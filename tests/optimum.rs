//! Optimisation on given trees: the end does not depend on where it began, nor on which partition is done first.

use crate::util::{Scratch, assert_same_bytes, assert_same_bytes_on, log_likelihood, repository};
use std::fs::read_to_string;

/// What two ways to the same optimum may differ by, in log units.
const SAME: f64 = 0.01;

/// Codon positions, tRNA and ND5 of the primates.
const FOUR_PARTITIONS: &str =
    "DNA, p12 = 1-504\\3, 2-504\\3\nDNA, p3 = 3-504\\3\nDNA, tRNA = 505-656\nDNA, ND5 = 657-898\n";

/// A parsimony tree of the primates.
const PRIMATES: &str = "(Lemur_catta,((Saimiri_sciureus,(M_sylvanus,(Macaca_fuscata,(M_fascicularis,M_mulatta)))),(Homo_sapiens,((Gorilla,Pan),(Hylobates,Pongo)))),Tarsius_syrichta);\n";

fn primates() -> String {
    repository("datasets/primates.phy").display().to_string()
}

/// A length made of its number and what it was.
type Change = fn(usize, f64) -> f64;

/// A Newick text with other lengths: `change(number, length)` of each.
fn with_lengths(newick: &str, change: impl Fn(usize, f64) -> f64) -> String {
    let mut pieces = newick.split(':');
    let mut text = pieces.next().expect("a tree").to_string();
    for (number, piece) in pieces.enumerate() {
        let end = piece.find([',', ')', ';']).expect("something ends a length");
        let length: f64 = piece[..end].parse().expect("a length");
        text += &format!(":{:.12}{}", change(number, length), &piece[end..]);
    }
    text
}

fn lengths(newick: &str) -> Vec<f64> {
    let pieces = newick.split(':').skip(1);
    pieces
        .map(|piece| {
            piece[..piece.find([',', ')', ';']).expect("an end")].parse().expect("a length")
        })
        .collect()
}

fn result(scratch: &Scratch, prefix: &str, kind: &str) -> String {
    read_to_string(scratch.path().join(format!("{prefix}.mlsearch.{kind}"))).expect("a result")
}

/// Log-likelihood that an evaluation of `tree` ends with.
fn evaluate(scratch: &Scratch, tree: &str, options: &str) -> f64 {
    scratch.write("tree", tree);
    scratch.succeed(&format!("--evaluate -t tree {options} -n end --redo --quiet -T 1"));
    log_likelihood(scratch, "end")
}

#[test]
fn a_tiny_partition_does_not_end_the_optimisation_of_all() {
    let scratch = Scratch::new();
    scratch.write("q", "DNA, a = 1-41\nDNA, b = 42-395\nDNA, tiny = 396-417\nDNA, c = 418-430\nDNA, d = 431-776\nDNA, e = 777-898\n");
    let options = format!("-s {} -q q -m GTR+I+G4 --brlen scaled", primates());
    let by_default = evaluate(&scratch, PRIMATES, &options);
    let tightly = evaluate(&scratch, PRIMATES, &format!("{options} -e 1e-5"));
    assert!(by_default > tightly - SAME, "{by_default} {tightly}");
}

#[test]
fn a_search_ends_where_an_evaluation_of_its_tree_does() {
    for options in ["--brlen scaled", "--brlen linked --fast", "-M --fast"] {
        let scratch = Scratch::new();
        scratch.write("q", FOUR_PARTITIONS);
        let data = format!("-s {} -q q -m GTR+FO+R4", primates());
        scratch.succeed(&format!("{data} {options} -n found --quiet -T 1"));
        let found = log_likelihood(&scratch, "found");
        let options = options.replace("--fast", "");
        let afresh = evaluate(
            &scratch,
            &result(&scratch, "found", "bestTree"),
            &format!("{data} {options}"),
        );
        assert!(found > afresh - SAME, "{options}: {found} {afresh}");
    }
}

#[test]
fn the_end_on_a_poor_tree_does_not_depend_on_the_given_lengths() {
    for seed in [3, 5] {
        let scratch = Scratch::new();
        scratch.succeed(&format!(
            "simulate --tree rand{{24}} -m GTR{{1.5/7/2/0.8/9/1}}+FU{{.22/.29/.26/.23}}+G4{{0.28}} --sites 500 \
             --mean-brlen 0.12 --seed {seed} -n sim"
        ));
        scratch.succeed(&format!(
            "--start -s sim.mlsearch.phy -m JC -t rand{{3}} -p {seed} -n random"
        ));
        let trees = result(&scratch, "random", "startTree");
        let tree = trees.lines().nth(if seed == 3 { 0 } else { 2 }).expect("three trees");
        let ends = [0.01, 0.1, 0.3].map(|length| {
            evaluate(&scratch, &with_lengths(tree, |_, _| length), "-s sim.mlsearch.phy -m GTR+G")
        });
        let best = ends.into_iter().fold(f64::NEG_INFINITY, f64::max);
        assert!(ends.iter().all(|end| *end > best - SAME), "seed {seed}: {ends:?}");
    }
}

/// Sixty partitions of 72 sites with lengths of their own: one of them was caught where path sums led it.
#[test]
fn own_lengths_of_a_partition_do_not_stay_where_path_sums_led_them() {
    let scratch = Scratch::new();
    let model = "GTR{1.2/5/0.8/1.1/6/1}+FU{.3/.2/.2/.3}";
    let partitions = |model: &str| -> String {
        let line = |i| format!("{model}, g{i} = {}-{}\n", 72 * i + 1, 72 * i + 72);
        (0..60).map(line).collect()
    };
    scratch.write("true", &partitions(model));
    scratch.write("q", &partitions("DNA"));
    scratch.succeed(
        "simulate --tree rand{11} -q true --missing 0.2 --mean-brlen 0.05 --seed 11 -n sim",
    );
    scratch.succeed("--start -s sim.mlsearch.phy -m JC -t pars{1} -n start");
    let tree = result(&scratch, "start", "startTree");
    let options = "-s sim.mlsearch.phy -q q -m GTR+F -M";
    let from_parsimony = evaluate(&scratch, &tree, options);
    let from_equal = evaluate(&scratch, &with_lengths(&tree, |_, _| 0.1), options);
    assert!((from_parsimony - from_equal).abs() < SAME, "{from_parsimony} {from_equal}");
}

#[test]
fn saturated_and_absent_lengths_end_where_others_do() {
    let scratch = Scratch::new();
    let data = format!("-s {} -m GTR+G4", primates());
    let expected = evaluate(&scratch, PRIMATES, &data);
    let good = result(&scratch, "end", "bestTree");
    let changes: [(&str, Change); 5] = [
        ("times 1000", |_, length| 1e3 * length),
        ("times 10 000", |_, length| 1e4 * length),
        ("all 1e5", |_, _| 1e5),
        ("all 0", |_, _| 0.0),
        ("some 0, some 1e4", |number, length| [0.0, 1e4, length][number % 3]),
    ];
    for (what, change) in changes {
        let end = evaluate(&scratch, &with_lengths(&good, change), &data);
        assert!((end - expected).abs() < SAME, "{what}: {end} instead of {expected}");
    }
    scratch.write("far", &with_lengths(&good, |_, length| 1e4 * length));
    scratch.succeed(&format!("--search {data} -t far --fast -n found --quiet -T 1"));
    let found = log_likelihood(&scratch, "found");
    assert!(found > expected - SAME, "{found} {expected}");
}

#[test]
fn no_optimised_length_lies_outside_the_bounds() {
    let tree = read_to_string(repository("datasets/gappy.tree")).expect("a tree");
    let data = format!(
        "-s {} -q {} -m HKY+G4 -e 0.1",
        repository("datasets/gappy.phy").display(),
        repository("partitions/gappy.part").display()
    );
    let odd = with_lengths(&tree, |number, length| [1e-9, 1e4, length][number % 3]);
    for mode in ["--brlen linked", "--brlen scaled", "-M"] {
        let scratch = Scratch::new();
        evaluate(&scratch, &odd, &format!("{data} {mode}"));
        let mut kinds = vec!["bestTree"];
        if mode == "-M" {
            kinds.push("bestPartitionTrees");
        }
        for kind in kinds {
            for length in lengths(&result(&scratch, "end", kind)) {
                assert!((9.999e-7..=100.0).contains(&length), "{mode}, {kind}: {length}");
            }
        }
    }
}

#[test]
fn richer_models_are_never_below_poorer_ones() {
    let rates = ["", "+I", "+G4", "+I+G4", "+R2", "+R3", "+R4", "+R5", "+I+R4"];
    let nested = [
        ("", "+I"),
        ("", "+G4"),
        ("+I", "+I+G4"),
        ("+G4", "+I+G4"),
        ("+I", "+R2"),
        ("+R2", "+R3"),
        ("+R3", "+R4"),
        ("+R4", "+R5"),
        ("+G4", "+R4"),
        ("+I+G4", "+R5"),
        ("+R4", "+I+R4"),
        ("+I+R4", "+R5"),
    ];
    for name in ["primates", "gallwasps"] {
        let scratch = Scratch::new();
        let data = format!("-s {}", repository(&format!("datasets/{name}.phy")).display());
        scratch.succeed(&format!("--start {data} -m JC -t pars{{1}} -n start"));
        let tree = result(&scratch, "start", "startTree");
        let end = |model: &str| evaluate(&scratch, &tree, &format!("{data} -m {model}"));
        for matrices in [["JC", "K80", "TN93ef", "SYM"], ["F81+F", "HKY+F", "TN93+F", "GTR+F"]] {
            let ends = matrices.map(|matrix| end(&format!("{matrix}+G4")));
            assert!(ends.windows(2).all(|two| two[1] > two[0] - SAME), "{name}: {ends:?}");
        }
        let ends = rates.map(|rates| end(&format!("GTR+F{rates}")));
        let of =
            |wanted: &str| ends[rates.iter().position(|rates| *rates == wanted).expect("listed")];
        for (poorer, richer) in nested {
            let [lower, higher] = [poorer, richer].map(of);
            assert!(higher > lower - SAME, "{name}: GTR+F{richer} {higher}, GTR+F{poorer} {lower}");
        }
    }
}

/// The exchange rates of each partition, as they are in the file of models.
fn exchange_rates(scratch: &Scratch, prefix: &str) -> Vec<String> {
    let path = scratch.path().join(format!("{prefix}.mlsearch.bestModel"));
    let text = read_to_string(path).expect("models");
    let rates = |line: &str| Some(line.split_once('{')?.1.split_once('}')?.0.to_string());
    text.lines().map(|line| rates(line).expect("rates")).collect()
}

#[test]
fn linked_exchange_rates_are_the_same_in_all_partitions_and_the_best_for_them_together() {
    let scratch = Scratch::new();
    scratch.write("p.part", FOUR_PARTITIONS);
    scratch.write("p.nwk", PRIMATES);
    let primates = primates();
    let data = format!("-s {primates} -q p.part -m GTR+FE+G4 --quiet");
    let linked = format!("{data} --link-exchange-rates");
    for (name, options) in [("apart", &data), ("linked", &linked)] {
        scratch.succeed(&format!("evaluate {options} -t p.nwk -n {name}"));
    }
    scratch.succeed(&format!("evaluate -s {primates} -m GTR+FE+G4 --quiet -t p.nwk -n one"));
    let rates = exchange_rates(&scratch, "linked");
    assert!(rates.iter().all(|of_partition| of_partition == &rates[0]), "{rates:?}");
    assert_ne!(exchange_rates(&scratch, "apart")[0], exchange_rates(&scratch, "apart")[1]);
    let [apart, together, one] = ["apart", "linked", "one"].map(|n| log_likelihood(&scratch, n));
    assert!(one < together && together < apart, "{one} {together} {apart}");
    // No rate is better, all else the same.
    let text = read_to_string(scratch.path().join("linked.mlsearch.bestModel")).expect("models");
    let tree = "linked.mlsearch.bestTree";
    let fixed =
        format!("evaluate -s {primates} --quiet -t {tree} --opt-model off --opt-branches off");
    for (number, rate) in rates[0].split('/').enumerate().take(5) {
        for factor in [0.95, 1.05] {
            let mut changed: Vec<String> = rates[0].split('/').map(String::from).collect();
            changed[number] = (rate.parse::<f64>().expect("a rate") * factor).to_string();
            scratch.write("c.part", &text.replace(&rates[0], &changed.join("/")));
            scratch.succeed(&format!("{fixed} -q c.part -n changed --redo"));
            let lnl = log_likelihood(&scratch, "changed");
            assert!(lnl < together + 0.001, "rate {number}: {lnl} {together}");
        }
    }
    let other = Scratch::new();
    other.write("p.part", FOUR_PARTITIONS);
    assert_same_bytes(&other, &format!("search {linked} --fast"), &["log", "json"]);
    for (models, answer) in [
        ("-m HKY{2}+G4", "no two partitions estimate the exchange rates of the same matrix"),
        ("-m auto", "-m auto selects a model for each partition by itself"),
    ] {
        let refused = format!("search -s {primates} -q p.part {models} --link-exchange-rates -n r");
        scratch.run(&refused).assert_refused(&["--link-exchange-rates", answer]);
    }
    let sample = format!("sample {data} --link-exchange-rates -n s");
    scratch.run(&sample).assert_refused(&["--link-exchange-rates"]);
}

/// Of proteins, whose 189 rates have slopes that are not finite differences.
#[test]
fn exchange_rates_of_proteins_are_the_best_and_the_same_on_every_machine() {
    let scratch = Scratch::new();
    scratch.succeed("simulate -t rand{7} --mean-brlen 0.3 --sites 90 -m WAG+G4{0.8} -p 5 -n x");
    scratch.write("q.part", "GTR20+G2, a = 1-60\nGTR20+R2, b = 61-90\n");
    let data = "-s x.mlsearch.phy -t x.mlsearch.trueTree --quiet";
    let linked = format!("evaluate {data} -q q.part --link-exchange-rates");
    let machines = ["-T 3", "-T 1 --simd scalar", "-T 1 --simd avx2"];
    assert_same_bytes_on(&machines, &scratch, &linked, &["log", "bestModel"]);
    let best = log_likelihood(&scratch, "one");
    let rates = exchange_rates(&scratch, "one");
    assert_eq!(rates[0], rates[1]);
    let text = read_to_string(scratch.path().join("one.mlsearch.bestModel")).expect("models");
    let fixed = "--opt-model off --opt-branches off";
    for number in (0..189).step_by(27) {
        for factor in [0.9, 1.1] {
            let mut changed: Vec<String> = rates[0].split('/').map(String::from).collect();
            let rate: f64 = changed[number].parse().expect("a rate");
            changed[number] = (rate * factor).to_string();
            scratch.write("c.part", &text.replace(&rates[0], &changed.join("/")));
            let tree = "-t one.mlsearch.bestTree";
            let command = format!("evaluate -s x.mlsearch.phy {tree} -q c.part {fixed} --quiet");
            scratch.succeed(&format!("{command} -n changed --redo"));
            let lnl = log_likelihood(&scratch, "changed");
            assert!(lnl < best + 0.002, "rate {number}: {lnl} {best}");
        }
    }
}
