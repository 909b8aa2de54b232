//! The same input gives the same bytes, whatever the threads and the kernels; the same likelihood
//! whatever the order of taxa and sites.

use crate::util::{
    Scratch, assert_same_bytes, assert_same_bytes_on, log_likelihood, repository, results,
};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};

/// Relative difference of likelihoods that are sums of the same terms in another order.
const ORDER_TOLERANCE: f64 = 1e-9;

fn primates() -> String {
    format!(
        "-s {} -q {} -m GTR+G",
        repository("datasets/primates.phy").display(),
        repository("partitions/primates.part").display()
    )
}

#[test]
fn searches_with_replicates_write_the_same_bytes_on_every_machine() {
    for (mode, extra, kinds) in [
        (
            "linked",
            "--all --bs-trees 3 -k -t pars{2},rand{1} --bs-metric fbp,tbe --alrt 50 --abayes",
            &["bootstraps", "support"][..],
        ),
        ("scaled", "--search --alrt 50", &["support"]),
        ("unlinked", "--all --bs-trees 2 -k", &["bootstraps", "bestPartitionTrees"]),
    ] {
        let always = ["bestTree", "bestModel", "mlTrees", "startTree", "siteLH", "log", "json"];
        let kinds: Vec<&str> = always.iter().chain(kinds).copied().collect();
        let command = format!("{} --brlen {mode} --sitelh --quiet {extra}", primates());
        assert_same_bytes(&Scratch::new(), &command, &kinds);
    }
}

#[test]
fn an_evaluation_with_own_lengths_writes_the_same_bytes_on_every_machine() {
    let data = "-s {}/gappy.phy -t {}/gappy.tree".replace("{}", &folder("datasets"));
    let command = format!(
        "--evaluate {data} -q {}/gappy.part -m GTR+G -M -e 0.1 --sitelh --alrt 50 --abayes --quiet",
        folder("partitions")
    );
    assert_same_bytes(
        &Scratch::new(),
        &command,
        &["bestTree", "bestModel", "bestPartitionTrees", "siteLH", "support", "json"],
    );
    let command = format!("--evaluate {} -t pars{{3}} -M --quiet", primates());
    assert_same_bytes(
        &Scratch::new(),
        &command,
        &["bestTree", "bestPartitionTrees", "mlTrees", "json", "log"],
    );
}

/// Small partitions that are dealt to workers whole, and one so large that all work on it together.
#[test]
fn many_partitions_with_own_lengths_give_the_same_bytes_on_any_number_of_threads() {
    let scratch = Scratch::new();
    let (mut part, mut next) = (String::new(), 1);
    for partition in 1..=40 {
        let sites = if partition == 7 { 6000 } else { 300 };
        part.push_str(&format!("JC+G4{{0.5}}, g{partition} = {next}-{}\n", next + sites - 1));
        next += sites;
    }
    scratch.write("genes.part", &part);
    scratch.succeed("simulate -t rand{12} -q genes.part --missing 0.2 -p 3 -n sim");
    scratch.write("fitted.part", &part.replace("{0.5}", ""));
    let data = "-s sim.mlsearch.phy -q fitted.part -t sim.mlsearch.trueTree";
    let command = format!("--evaluate {data} -M -e 10 --sitelh --quiet");
    let kinds = ["bestTree", "bestModel", "bestPartitionTrees", "siteLH"];
    assert_same_bytes_on(&["-T 2", "-T 3", "-T 7"], &scratch, &command, &kinds);
}

fn folder(name: &str) -> String {
    repository(name).display().to_string()
}

#[test]
fn the_seed_decides_what_is_random_and_nothing_else_does() {
    let scratch = Scratch::new();
    let command = format!("{} --all --bs-trees 3 --tree rand{{2}} --quiet", primates());
    for (seed, name) in [(7, "first"), (7, "again"), (8, "other")] {
        scratch.succeed(&format!("{command} -p {seed} -n {name}"));
    }
    let [first, again, other] = ["first", "again", "other"].map(|name| results(&scratch, name));
    assert_eq!(first, again);
    assert_ne!(first["startTree"], other["startTree"]);
    assert_ne!(first["bootstraps"], other["bootstraps"]);
    // Another seed, but the same data and the same summit.
    let [first, other] = ["first", "other"].map(|name| log_likelihood(&scratch, name));
    assert!((first - other).abs() < 0.1, "{first} {other}");
}

/// Likelihood of an alignment at given lengths and model.
fn fixed_likelihood(scratch: &Scratch, rows: &[(&str, Vec<u8>)], part: &str) -> f64 {
    let mut text = format!("{} {}\n", rows.len(), rows[0].1.len());
    for (name, row) in rows {
        text.push_str(&format!("{name}  {}\n", String::from_utf8_lossy(row)));
    }
    scratch.write("a.phy", &text);
    scratch.write("a.part", part);
    scratch.write("a.tree", TREE);
    scratch.succeed(
        "--evaluate -s a.phy -q a.part -t a.tree --opt-model off --opt-branches off -n a --redo --quiet",
    );
    log_likelihood(scratch, "a")
}

/// A tree of the primates, with lengths.
const TREE: &str = "(Lemur_catta:0.3,((Saimiri_sciureus:0.25,(M_sylvanus:0.04,(Macaca_fuscata:0.02,\
(M_fascicularis:0.05,M_mulatta:0.03):0.01):0.02):0.2):0.05,(Homo_sapiens:0.06,((Gorilla:0.07,Pan:0.06)\
:0.02,(Hylobates:0.12,Pongo:0.1):0.01):0.02):0.15):0.11,Tarsius_syrichta:0.35);";

const MODELS: [&str; 3] = [
    "GTR{1.5/4/0.7/1.2/5/1}+FU{0.3/0.2/0.15/0.35}+G4{0.6}",
    "HKY{5}+FU{0.3/0.3/0.1/0.3}+IU{0.2}",
    "JC+G4{0.3}",
];

#[test]
fn the_order_of_taxa_and_sites_does_not_matter() {
    let text = std::fs::read_to_string(repository("datasets/primates.phy")).expect("data");
    let rows: Vec<(&str, Vec<u8>)> = text
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(' '))
        .map(|(name, row)| (name, row.trim().bytes().collect()))
        .collect();
    let num_sites = rows[0].1.len();
    // Partitions of interleaved columns: with the sites, their numbers in the partition file move.
    let partition_of = |site: usize| site % 3;
    let part_of = |order: &[usize]| -> String {
        let sites = |partition: usize| {
            let of_partition = (0..order.len()).filter(|&at| partition_of(order[at]) == partition);
            of_partition.map(|at| (at + 1).to_string()).collect::<Vec<_>>().join(", ")
        };
        (0..3)
            .map(|partition| {
                format!("{}, g{partition} = {}\n", MODELS[partition], sites(partition))
            })
            .collect()
    };
    let as_it_is: Vec<usize> = (0..num_sites).collect();
    let scratch = Scratch::new();
    let expected = fixed_likelihood(&scratch, &rows, &part_of(&as_it_is));
    let orders = (
        Just((0..rows.len()).collect::<Vec<_>>()).prop_shuffle(),
        Just(as_it_is.clone()).prop_shuffle(),
    );
    let mut runner = TestRunner::new(ProptestConfig::with_cases(12));
    runner
        .run(&orders, |(taxa, sites)| {
            let shuffled: Vec<(&str, Vec<u8>)> = taxa
                .iter()
                .map(|&taxon| {
                    let (name, row) = &rows[taxon];
                    (*name, sites.iter().map(|&site| row[site]).collect())
                })
                .collect();
            let found = fixed_likelihood(&scratch, &shuffled, &part_of(&sites));
            if (found - expected).abs() > ORDER_TOLERANCE * expected.abs() {
                return Err(TestCaseError::fail(format!("{found} instead of {expected}")));
            }
            Ok(())
        })
        .expect("orders do not matter");
}
