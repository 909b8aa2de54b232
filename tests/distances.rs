//! Distances between sequences and their trees, beside PHYLIP and IQ-TREE; formats; what is refused.

use crate::util::{FIVE_TAXA, Scratch, report, repository};
use std::collections::BTreeMap;

fn golden(name: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(repository("tests/golden").join(name)).expect("a table");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split('\t').map(String::from).collect()).collect()
}

fn dataset(name: &str) -> String {
    repository("datasets").join(name).display().to_string()
}

fn read(scratch: &Scratch, name: &str) -> String {
    std::fs::read_to_string(scratch.path().join(name)).expect("a result")
}

/// The distances of a run in the format tsv.
fn distances(scratch: &Scratch, options: &str) -> BTreeMap<(String, String), f64> {
    scratch.succeed(&format!("--dist {options} --dist-format tsv -n x --redo"));
    let text = read(scratch, "x.mlsearch.distances");
    let mut found = BTreeMap::new();
    for line in text.lines().skip(1) {
        let words: Vec<&str> = line.split('\t').collect();
        let distance: f64 = words[2].parse().expect("a distance");
        found.insert((words[0].to_string(), words[1].to_string()), distance);
        found.insert((words[1].to_string(), words[0].to_string()), distance);
    }
    found
}

/// Compares with a column; other programs end their search when they are within `tolerance`, after rounding.
fn check(
    table: &[Vec<String>],
    column: &str,
    found: &BTreeMap<(String, String), f64>,
    tolerance: f64,
) {
    let column = table[0].iter().position(|name| name == column).expect("a column");
    for row in &table[1..] {
        let expected: f64 = row[column].parse().expect("a distance");
        let found = found[&(row[0].clone(), row[1].clone())];
        assert!((found - expected).abs() <= tolerance, "{row:?}: {found}");
    }
}

#[test]
fn distances_of_nucleotides_are_those_of_phylip() {
    let scratch = Scratch::new();
    let table = golden("sequence_distances_dna.tsv");
    let file = dataset("primates.phy");
    for (column, model) in
        [("f84", ""), ("k80", "-m K80{4}"), ("jc", "-m JC"), ("f84_gamma", "-m F84{2.0}+GC{1}")]
    {
        // dnadist is within 2e-7 of the maximum, and rounds to 1e-6.
        check(&table, column, &distances(&scratch, &format!("-s {file} {model}")), 7e-7);
    }
}

#[test]
fn distances_of_proteins_are_those_of_phylip_and_iqtree() {
    let scratch = Scratch::new();
    let table = golden("sequence_distances_protein.tsv");
    let file = dataset("ovomucoids.phy");
    for (column, model) in [("jtt", "JTT-DCMUT"), ("pam", "DCMUT"), ("lg", "LG")] {
        check(&table, column, &distances(&scratch, &format!("-s {file} -m {model}")), 2e-6);
    }
}

/// Of the last four clusters, two pairs are equally good for BIONJ; which of them IQ-TREE 2.0.7 joins depends on the order of
/// the rows. The golden tree is from the rows of the file beginning with Pan, whose pair is that of mlsearch's rule.
#[test]
fn trees_are_those_of_phylip_and_iqtree() {
    let scratch = Scratch::new();
    let file = dataset("primates.phy");
    let golden =
        std::fs::read_to_string(repository("tests/golden/sequence_distances.nwk")).unwrap();
    for (tree, (kind, model)) in
        golden.lines().zip([("nj", "F84"), ("upgma", "F84"), ("bionj", "JC")])
    {
        scratch.write("peer.nwk", tree);
        scratch.succeed(&format!("--dist -s {file} -m {model} --tree {kind} -n d --redo"));
        // Also from the distances as they were written.
        scratch.succeed(&format!("--dist d.mlsearch.distances --tree {kind} -n again --redo"));
        for trees in ["d.mlsearch.distanceTrees", "again.mlsearch.distanceTrees"] {
            scratch.succeed(&format!(
                "-t peer.nwk --rfdist {trees} --rfdist-metric rf,wrf -n rf --redo"
            ));
            let text = read(&scratch, "rf.mlsearch.rfDistances");
            let words: Vec<&str> = text.lines().nth(1).unwrap().split('\t').collect();
            let [rf, wrf] = [2, 4].map(|at: usize| words[at].parse::<f64>().unwrap());
            // 21 branches, printed with 5 digits.
            assert!(rf == 0.0 && wrf < 21.0 * 1e-5, "{kind}: {rf} {wrf}");
        }
    }
}

#[test]
fn the_same_bits_with_any_number_of_threads_in_every_format() {
    let scratch = Scratch::new();
    let file = dataset("gappy.phy");
    let partitions = repository("partitions/gappy.part").display().to_string();
    for format in ["square", "lower", "tsv", "npy", "lower.gz"] {
        let name = match format {
            "npy" => "distances.npy",
            "lower.gz" => "distances.gz",
            _ => "distances",
        };
        let run = |options: &str| {
            let typed = format!(
                "distance -s {file} -q {partitions} --opt-model off --dist-format {format} --tree nj,bionj {options}"
            );
            scratch.succeed(&format!("{typed} -n r --redo"));
            let path = scratch.path().join(format!("r.mlsearch.{name}"));
            (std::fs::read(path).unwrap(), read(&scratch, "r.mlsearch.distanceTrees"))
        };
        let one = run("-T 1");
        assert!(one == run("-T 3") && one == run("-T 2 --simd scalar"), "{format}");
    }
}

#[test]
fn models_are_estimated_and_reported() {
    let scratch = Scratch::new();
    let file = dataset("primates.phy");
    scratch.succeed(&format!("-f x -s {file} -m GTR+G -n gtr"));
    let found = report(&scratch, "gtr");
    let method = found["distances"]["method"].as_str().unwrap();
    assert!(method.contains("GTR{") && method.contains("+G4"), "{method}");
    assert_eq!(found["distances"]["pairs"], 66);
    for model in ["p", "LogDet", "JC+I{0.2}", "TN93+F+GC{0.5}"] {
        scratch.succeed(&format!("--dist -s {file} -m {model} -n other --redo"));
    }
}

#[test]
fn pairs_without_a_distance_are_named() {
    let scratch = Scratch::new();
    let text = "4 8\na ACGTACGT\nb ----ACGA\nc TGCA----\nd ACGTAC--\n";
    scratch.write("a.phy", text);
    let ran = scratch.succeed("--dist -s a.phy -m JC -n x --tree nj");
    assert!(ran.stderr.contains("b, c: no site at which both have data"), "{}", ran.stderr);
    assert!(ran.stderr.contains("the largest distance"), "{}", ran.stderr);
    let matrix = read(&scratch, "x.mlsearch.distances");
    // a and c differ everywhere, and so do c and d; b and c share no site.
    assert_eq!(matrix.lines().nth(3).unwrap().split_whitespace().nth(2), Some("-1.00000000"));
    let found = report(&scratch, "x");
    assert_eq!(found["distances"]["saturated"], 2);
    assert_eq!(found["distances"]["without_overlap"], 1);
}

#[test]
fn searches_start_from_trees_of_distances() {
    let scratch = Scratch::new();
    let file = dataset("primates.phy");
    scratch.succeed(&format!("-s {file} -m GTR+G -t nj,bionj,upgma,bme --start -n x"));
    assert_eq!(read(&scratch, "x.mlsearch.startTree").lines().count(), 4);
    scratch.succeed(&format!("-s {file} -m GTR+G -t nj -n y"));
    let found = report(&scratch, "y");
    assert!((found["log_likelihood"].as_f64().unwrap() + 5709.0).abs() < 20.0);
}

#[test]
fn files_of_distances_that_are_none_are_refused() {
    let scratch = Scratch::new();
    for (text, expected) in [
        ("", "the file is empty"),
        ("x\n", "expected the number of taxa"),
        ("3\na 0 1 2\nb 1 0 3\n", "8 words follow, but a matrix of 3 taxa has 12"),
        ("2\na 0 x\nb 1 0\n", "line 2, 'a': 'x': expected a distance"),
        ("2\na 1 1\nb 1 0\n", "from itself is 1, not 0"),
        ("2\na 0 1\na 1 0\n", "'a': this taxon is there twice"),
        ("99999999999\na\n", "at most 5000"),
    ] {
        scratch.write("d.phy", text);
        scratch.run("--dist d.phy --tree nj -n x").assert_refused(&["d.phy", expected]);
    }
    scratch.write("a.phy", FIVE_TAXA);
    for (options, expected) in [
        ("-m JC+G+GC{1}", "exclude each other"),
        ("-m F84{0.001}", "cannot be as small"),
        ("-m JC --tree a.nwk", "expected nj"),
    ] {
        scratch.run(&format!("--dist -s a.phy {options} -n x")).assert_refused(&[expected]);
    }
    scratch.write("v.phy", "4 3\na ACG\nb CGT\nc GTA\nd TAC\n");
    scratch.run("--dist -s v.phy -m JC+ASC -n x").assert_refused(&["leave out +ASC"]);
    scratch.write("mixed.phy", "4 6\na ACGLEK\nb ACTLEK\nc AGTLDK\nd TGTIDK\n");
    scratch.write("mixed.part", "JC, dna = 1-3\nLG, protein = 4-6\n");
    scratch
        .run("--dist -s mixed.phy -q mixed.part -m p -n x")
        .assert_refused(&["need partitions of one type (DNA), but partition 'protein'"]);
    scratch.succeed("--dist -s mixed.phy -q mixed.part -n x");
    // A lower triangle with its rows over several lines, and one with a diagonal.
    for text in ["4\na\nb 1\nc 2\n 2\nd 2 2\n1\n", "4\na 0\nb 1 0\nc 2 2 0\nd 2 2 1 0"] {
        scratch.write("d.phy", text);
        scratch.succeed("--dist d.phy --tree upgma -n x --redo");
        assert_eq!(
            read(&scratch, "x.mlsearch.distanceTrees"),
            "((a:0.5,b:0.5):0.5,(c:0.5,d:0.5):0.5);\n"
        );
    }
}

/// Twelve primates, and three of them again under other names.
fn with_copies(scratch: &Scratch) -> (String, Vec<String>) {
    let text = std::fs::read_to_string(dataset("primates.phy")).unwrap();
    let mut rows: Vec<String> = text.lines().skip(1).map(String::from).collect();
    let sites = text.lines().next().unwrap().split_whitespace().nth(1).unwrap().to_string();
    let row = |rows: &[String], at: usize| {
        rows[at].split_once(char::is_whitespace).map(|x| x.1.to_string())
    };
    let copies =
        [("Aa", 0), ("Zz", 0), ("Mm", 5)].map(|(name, at)| (name, row(&rows, at).unwrap()));
    rows.extend(copies.map(|(name, sequence)| format!("{name} {sequence}")));
    scratch.write("copies.phy", &format!("{} {sites}\n{}\n", rows.len(), rows.join("\n")));
    (scratch.path().join("copies.phy").display().to_string(), rows)
}

#[test]
fn identical_sequences_have_the_same_distances_and_are_beside_each_other() {
    let scratch = Scratch::new();
    let (file, rows) = with_copies(&scratch);
    let names: Vec<&str> = rows.iter().map(|row| row.split_whitespace().next().unwrap()).collect();
    for model in ["F84", "p", "LogDet"] {
        for format in ["square", "lower", "tsv", "npy"] {
            let name = if format == "npy" { "distances.npy" } else { "distances" };
            let found = ["", "--keep-identical"].map(|option| {
                let options = format!("-m {model} --dist-format {format} {option}");
                scratch.succeed(&format!("--dist -s {file} {options} -n x --redo"));
                std::fs::read(scratch.path().join(format!("x.mlsearch.{name}"))).unwrap()
            });
            assert!(found[0] == found[1], "{model} {format}");
        }
    }
    for kind in ["nj", "bionj", "bme", "upgma"] {
        scratch.succeed(&format!("--dist -s {file} --tree {kind} -n x --redo"));
        let tree = read(&scratch, "x.mlsearch.distanceTrees");
        let cherry = |a: &str, b: &str| tree.contains(&format!("({a}:0,{b}:0)"));
        assert!(cherry("Aa", names[0]) || cherry(names[0], "Zz"), "{kind}: {tree}");
        assert!(cherry("Mm", names[5]) || cherry(names[5], "Mm"), "{kind}: {tree}");
        // Without them, the tree of the others is the same.
        let others = dataset("primates.phy");
        scratch.succeed(&format!("--dist -s {others} --tree {kind} -n y --redo"));
        assert_eq!(
            tree.matches(',').count(),
            read(&scratch, "y.mlsearch.distanceTrees").matches(',').count() + 3
        );
    }
}

/// The first word of each line.
fn firsts<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    lines.filter_map(|line| line.split_whitespace().next()).collect()
}

/// A matrix of NumPy, row by row.
fn numbers_of_npy(path: &std::path::Path) -> Vec<u64> {
    let bytes = std::fs::read(path).expect("a matrix");
    let numbers = bytes[128..].as_chunks::<8>().0;
    numbers.iter().map(|number| u64::from_le_bytes(*number)).collect()
}

#[test]
fn matrices_are_in_the_order_of_the_alignment_and_trees_in_none() {
    let scratch = Scratch::new();
    let (_, rows) = with_copies(&scratch);
    let sites = rows[0].split_whitespace().nth(1).unwrap().len();
    let mut sorted = rows.clone();
    sorted.sort();
    // Every seventh row; copies come before and after the rows that they repeat.
    let mixed: Vec<String> = (0..rows.len()).map(|at| rows[at * 7 % rows.len()].clone()).collect();
    for (name, rows) in [("sorted.phy", &sorted), ("mixed.phy", &mixed)] {
        scratch.write(name, &format!("{} {sites}\n{}\n", rows.len(), rows.join("\n")));
    }
    scratch.write("genes.part", &format!("HKY{{4}}, a = 1-400\nJC, b = 401-{sites}\n"));
    let names = firsts(mixed.iter().map(String::as_str));
    let by_name = firsts(sorted.iter().map(String::as_str));
    let place: Vec<usize> =
        names.iter().map(|name| by_name.iter().position(|other| other == name).unwrap()).collect();
    let n = names.len();
    let matrices = |options: &str, kinds: [&str; 2]| {
        for data in ["sorted", "mixed"] {
            let typed = format!("--dist -s {data}.phy {options} -n {data} --redo");
            scratch.succeed(&format!("{typed} --dist-format npy --tree nj,bionj,bme,upgma"));
            scratch.succeed(&format!("{typed} --dist-format lower.gz"));
            scratch.succeed(&format!("{typed} --dist-format tsv"));
            for kind in kinds.iter().filter(|kind| !kind.is_empty()) {
                let path = scratch.path().join(format!("{data}.mlsearch.{kind}"));
                std::fs::rename(&path, path.with_extension("tsv")).unwrap();
            }
            scratch.succeed(&format!("{typed} --dist-format square"));
        }
        let [expected, found] =
            ["sorted", "mixed"].map(|data| report(&scratch, data)["distances"].clone());
        assert_eq!(expected, found, "{options}");
        for kind in kinds.iter().filter(|kind| !kind.is_empty()) {
            let [expected, found] = ["sorted", "mixed"].map(|data| {
                numbers_of_npy(&scratch.path().join(format!("{data}.mlsearch.{kind}.npy")))
            });
            for (at, number) in found.iter().enumerate() {
                let same = expected[place[at / n] * n + place[at % n]];
                assert_eq!(*number, same, "{options} {kind}: {} {}", names[at / n], names[at % n]);
            }
            let square = read(&scratch, &format!("mixed.mlsearch.{kind}"));
            assert_eq!(firsts(square.lines().skip(1)), names, "{options}");
            let cell = |a: usize, b: usize| {
                square.lines().nth(a + 1).unwrap().split_whitespace().nth(b + 1).unwrap()
            };
            let pairs = || (0..n).flat_map(|a| (0..a).map(move |b| (a, b)));
            let tsv =
                read(&scratch, &format!("mixed.mlsearch.{}", kind.replace("distances", "tsv")));
            let expected =
                pairs().map(|(a, b)| format!("{}\t{}\t{}", names[a], names[b], cell(a, b)));
            assert_eq!(tsv.lines().skip(1).collect::<Vec<_>>(), expected.collect::<Vec<_>>());
            let mut lower = String::new();
            let packed = scratch.path().join(format!("mixed.mlsearch.{kind}.gz"));
            let mut packed = flate2::read::GzDecoder::new(std::fs::File::open(packed).unwrap());
            std::io::Read::read_to_string(&mut packed, &mut lower).unwrap();
            let words = lower.split_whitespace().skip(1);
            let expected = (0..n).flat_map(|a| {
                let row = (0..a).map(move |b| cell(a, b));
                std::iter::once(names[a]).chain(row).collect::<Vec<_>>()
            });
            assert_eq!(words.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }
    };
    for options in ["", "-m LogDet", "--keep-identical -m p", "-q genes.part"] {
        matrices(options, ["distances", ""]);
    }
    matrices("-q genes.part -M -T 2", ["partition1.distances", "partition2.distances"]);
    scratch.succeed("--dist -s mixed.phy --tree nj,bionj,bme,upgma -n mixed --redo");
    scratch.succeed("--dist -s sorted.phy --tree nj,bionj,bme,upgma -n sorted --redo");
    let [expected, found] =
        ["sorted", "mixed"].map(|data| read(&scratch, &format!("{data}.mlsearch.distanceTrees")));
    assert_eq!(expected, found);
}

#[test]
fn starting_trees_name_pairs_without_a_distance() {
    let scratch = Scratch::new();
    scratch.write("a.phy", "5 8\na ACGTACGT\nb ----ACGA\nc TGCA----\nd ACGTAC--\ne ACGAACGT\n");
    let ran = scratch.succeed("-s a.phy -m JC --start -t nj -n x");
    let summary = "4 pairs of sequences have no distance and get the largest distance in the starting tree 'nj'";
    assert!(ran.stderr.contains(summary), "{}", ran.stderr);
    let log = read(&scratch, "x.mlsearch.log");
    assert!(log.contains("b, c: no site at which both have data"), "{log}");
}

#[test]
fn trees_of_distances_get_support_from_resampled_columns() {
    let scratch = Scratch::new();
    let (file, _) = with_copies(&scratch);
    let run = |options: &str| {
        scratch.succeed(&format!("distance -s {file} --bs-trees 20 -n x --redo {options}"));
        ["distanceTrees", "bootstraps", "support"]
            .map(|kind| read(&scratch, &format!("x.mlsearch.{kind}")))
    };
    for options in ["--tree nj", "--tree bme -m JC+G4{0.5}", "--tree upgma -m p"] {
        let one = run(&format!("{options} -T 1"));
        assert!(one == run(&format!("{options} -T 3 --simd scalar")), "{options}");
        assert!(one[1].lines().count() == 20 && one[2].contains(")100:"), "{options}: {}", one[2]);
        assert!(one[1] != run(&format!("{options} -b 7"))[1], "another seed, other replicates");
        // The same as mapped by hand.
        scratch.write("tree.nwk", &one[0].replace(":-", ":"));
        scratch.write("replicates.nwk", &one[1]);
        scratch.succeed("--support -t tree.nwk --bs-trees replicates.nwk -n y --redo");
        let values = |text: &str| {
            let labels = text.split(')').skip(1).filter_map(|rest| rest.split(':').next());
            let mut values: Vec<String> = labels.map(String::from).collect();
            values.sort();
            values
        };
        assert_eq!(values(&one[2]), values(&read(&scratch, "y.mlsearch.support")));
    }
    for options in ["--bs-trees 5", "--tree nj,bme --bs-trees 5"] {
        scratch
            .run(&format!("--dist -s {file} {options} -n z"))
            .assert_refused(&["one of --tree nj"]);
    }
}

#[test]
fn checks_know_the_models_of_distances() {
    let scratch = Scratch::new();
    let file = dataset("primates.phy");
    for model in ["", "-m F84{1.5}+GC{0.5}", "-m p", "-m LogDet"] {
        for command in ["distance", "-f x"] {
            scratch.succeed(&format!("{command} -s {file} {model} --tree nj --check"));
        }
    }
    scratch
        .run(&format!("--dist -s {file} -m F84{{x}} --check"))
        .assert_refused(&["F84 needs one number"]);
    scratch.run(&format!("-s {file} -m F84 --check")).assert_refused(&["F84"]);
}

/// The columns of a partition, for the taxa that have data in them.
fn extract(text: &str, columns: std::ops::Range<usize>) -> String {
    let rows = text.lines().skip(1).filter_map(|line| {
        let (name, row) = line.split_once(char::is_whitespace)?;
        let row = &row.trim()[columns.clone()];
        row.contains(|c| !"-?N".contains(c)).then(|| format!("{name} {row}"))
    });
    let rows: Vec<String> = rows.collect();
    format!("{} {}\n{}\n", rows.len(), columns.len(), rows.join("\n"))
}

#[test]
fn each_partition_has_distances_of_its_own_with_unlinked_lengths() {
    let scratch = Scratch::new();
    let text = std::fs::read_to_string(dataset("gappy.phy")).unwrap();
    let file = dataset("gappy.phy");
    // Not in the order of the columns.
    let partitions = [("b", 480..1180), ("a", 0..480), ("c", 1180..1430), ("d", 1430..3090)];
    let line = |(name, range): &(&str, std::ops::Range<usize>)| {
        format!("GTR, {name} = {}-{}\n", range.start + 1, range.end)
    };
    scratch.write("genes.part", &partitions.iter().map(line).collect::<String>());
    for (model, own) in
        [("", "-m GTR --opt-model off"), ("-m p", "-m p"), ("-m LogDet", "-m LogDet")]
    {
        for format in ["square", "lower.gz", "npy"] {
            let ending = match format {
                "npy" => ".npy",
                "lower.gz" => ".gz",
                _ => "",
            };
            let options =
                format!("--opt-model off --dist-format {format} --tree nj,upgma -n x --redo");
            let model = if model.is_empty() {
                "-q genes.part".into()
            } else {
                format!("-q genes.part {model}")
            };
            scratch.succeed(&format!("--dist -s {file} {model} -M {options}"));
            let whole = report(&scratch, "x");
            let whole = &whole["distances"];
            let trees = read(&scratch, "x.mlsearch.distanceTrees");
            let mut pairs = 0;
            for (number, (name, range)) in partitions.iter().enumerate() {
                scratch.write("gene.phy", &extract(&text, range.clone()));
                scratch.succeed(&format!(
                    "--dist -s gene.phy {own} --dist-format {format} --tree nj,upgma -n y --redo"
                ));
                let bytes =
                    |name: String| std::fs::read(scratch.path().join(name)).expect("a matrix");
                let found = bytes(format!("x.mlsearch.partition{}.distances{ending}", number + 1));
                assert!(
                    found == bytes(format!("y.mlsearch.distances{ending}")),
                    "{model} {name} {format}"
                );
                let own_trees = read(&scratch, "y.mlsearch.distanceTrees");
                let lines: Vec<&str> = trees.lines().skip(2 * number).take(2).collect();
                assert_eq!(lines, own_trees.lines().collect::<Vec<_>>(), "{name}");
                let (found, alone) = (&whole["partitions"][number], report(&scratch, "y"));
                assert_eq!(found["name"], *name);
                for field in [
                    "taxa",
                    "pairs",
                    "saturated",
                    "without_overlap",
                    "least",
                    "mean",
                    "largest",
                    "trees",
                ] {
                    assert_eq!(found[field], alone["distances"][field], "{name} {field}");
                }
                pairs += found["pairs"].as_u64().unwrap();
            }
            assert_eq!(whole["pairs"], pairs);
            assert!(!scratch.path().join("x.mlsearch.distances").exists());
        }
    }
    // Results of an earlier run are not overwritten.
    scratch
        .run(&format!("--dist -s {file} -q genes.part -M -n x"))
        .assert_refused(&["partition1.distances", "--redo"]);
    scratch
        .run(&format!("--dist -s {file} -q genes.part -M --tree nj --bs-trees 5 -n z"))
        .assert_refused(&["leave out -M"]);
}

/// The bytes after a word in what `--check` prints: the first number before `MiB`, rounded up.
fn mebibytes(text: &str, what: &str) -> f64 {
    let line = text.lines().find(|line| line.contains(what)).unwrap_or_else(|| panic!("{text}"));
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "MiB").unwrap_or_else(|| panic!("{line}"));
    words[at - 1].parse().expect("a number")
}

#[test]
fn checks_say_what_distances_cost_and_memory_can_be_limited() {
    let scratch = Scratch::new();
    scratch.succeed("simulate --tree rand{4050} --model JC --sites 60 --mean-brlen 0.3 -n d -p 3");
    let data = "-s d.mlsearch.phy -m JC";
    let check = |options: &str| scratch.succeed(&format!("--dist {data} {options} --check")).stdout;
    let said = check("--dist-format lower --tree nj");
    for row in ["distances", "8199225", "files of distances", "of writing them", "of trees"] {
        assert!(said.contains(row), "{said}");
    }
    let (usual, least) = (mebibytes(&said, "memory  "), mebibytes(&said, "at least, with --mem"));
    assert!(least + 40.0 < usual, "{said}");
    assert!(check("--dist-format square").contains("each computed twice"));
    let run = |name: &str, options: &str| {
        let typed = format!("--dist {data} --dist-format lower --tree nj {options}");
        scratch.run(&format!("{typed} -n {name} --redo"))
    };
    assert_eq!(run("x", "").code, 0);
    // A check takes more itself than a run when it begins.
    assert_eq!(run("y", &format!("--mem {}M", least.ceil() + 2.0)).code, 0);
    for kind in ["distances", "distanceTrees"] {
        let [x, y] = ["x", "y"].map(|name| read(&scratch, &format!("{name}.mlsearch.{kind}")));
        assert!(x == y, "{kind}");
    }
    // From a temporary file, too, the tree does not depend on the order of the rows; the file of distances is in this order.
    let text = read(&scratch, "d.mlsearch.phy");
    let lines: Vec<&str> = text.lines().collect();
    let backwards: Vec<&str> = lines[1..].iter().rev().copied().collect();
    scratch.write("d.mlsearch.phy", &format!("{}\n{}\n", lines[0], backwards.join("\n")));
    assert_eq!(run("w", &format!("--mem {}M", least.ceil() + 2.0)).code, 0);
    let [x, w] = ["x", "w"].map(|name| read(&scratch, &format!("{name}.mlsearch.distanceTrees")));
    assert!(x == w);
    let matrix = read(&scratch, "w.mlsearch.distances");
    assert_eq!(firsts(matrix.lines().skip(1)), firsts(backwards.iter().copied()));
    // The likelihoods that estimate a model may take more than distances.
    scratch
        .succeed("simulate --tree rand{40} --model JC --sites 4000 --mean-brlen 0.3 -n few -p 3");
    let said =
        |model| scratch.succeed(&format!("--dist -s few.mlsearch.phy -m {model} --check")).stdout;
    let (fixed, free) = (said("JC"), said("GTR+G4"));
    let estimation = mebibytes(&free, "memory of the model's estimation");
    assert_eq!(mebibytes(&free, "memory  "), estimation, "{free}");
    assert!(estimation > mebibytes(&fixed, "memory  "), "{fixed}{free}");
    assert!(free.contains("time of the model's estimation"), "{free}");
    assert!(!fixed.contains("estimation"), "{fixed}");
    for (model, shown) in
        [("F84+G4", "TN93+FC+G4m"), ("p", "share of different sites"), ("LogDet", "LogDet")]
    {
        let said = said(model);
        assert!(said.contains(&format!("DNA   {shown}  ")), "{said}");
    }
    run("z", "--mem 20M")
        .assert_refused(&["--mem: 20.0 MiB are not enough for these distances", "at least"]);
    // Each partition has its own.
    let (file, partitions) = (dataset("gappy.phy"), repository("partitions/gappy.part"));
    let apart = format!("distance -s {file} -q {} -M --tree bme", partitions.display());
    let said = scratch.succeed(&format!("{apart} --check")).stdout;
    assert!(said.contains("time of the distances"), "{said}");
    scratch.run(&format!("{apart} --mem 5M -n z")).assert_refused(&["in partition 'gene"]);
}

#[test]
fn models_that_are_to_be_selected_are_selected() {
    let scratch = Scratch::new();
    let data = format!("-s {} -m auto", dataset("primates.phy"));
    scratch.succeed(&format!("select {data} -n selected"));
    scratch.succeed(&format!("distance {data} -n x"));
    let chosen = |prefix: &str| report(&scratch, prefix)["model_selection"][0]["chosen"].clone();
    assert_eq!(chosen("x"), chosen("selected"));
    let method = report(&scratch, "x")["distances"]["method"].as_str().unwrap().to_string();
    assert!(method.contains("TPM2uf") && !method.contains("GTR"), "{method}");
}

#[test]
fn trees_of_distances_are_read_by_other_analyses() {
    let scratch = Scratch::new();
    scratch.succeed(&format!("distance -s {} -m LG --tree nj -n nj", dataset("ovomucoids.phy")));
    let tree = "nj.mlsearch.distanceTrees";
    assert!(read(&scratch, tree).contains(":-"), "some lengths are negative");
    scratch.succeed(&format!("support --tree {tree} --bs-trees {tree} -n support"));
    assert!(read(&scratch, "support.mlsearch.support").contains(":-"), "they are kept");
    scratch.succeed(&format!("concordance --tree {tree} --gcf {tree} -n concordance"));
    scratch.write("both.nwk", &read(&scratch, tree).repeat(2));
    scratch.succeed("compare both.nwk --rfdist-metric wrf -n wrf");
    let data = format!("-s {} -m JTT", dataset("ovomucoids.phy"));
    scratch.succeed(&format!("evaluate {data} --opt-model off -t {tree} -n evaluated"));
}
