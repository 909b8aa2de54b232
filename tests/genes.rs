//! The trees of many genes in one run: each that of a search of its own, whatever the others, the threads and interruptions;
//! broken files among good ones; shards; folders, lists and partitions.

use crate::util::{Scratch, assert_same_bytes_on, report, repository, results};
use mlsearch::conformance::some_of;
use mlsearch::tree::read_newick;
use std::path::Path;
use std::process::Command;

/// Names and rows of an alignment of the repository.
fn rows(name: &str) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(repository(&format!("datasets/{name}.phy"))).expect("data");
    let lines = text.lines().skip(1).filter_map(|line| line.split_once(' '));
    lines.map(|(taxon, row)| (taxon.to_string(), row.trim().to_string())).collect()
}

/// Columns of some taxa as FASTA.
fn fasta<'a>(
    rows: impl Iterator<Item = &'a (String, String)>,
    columns: std::ops::Range<usize>,
) -> String {
    rows.map(|(taxon, row)| format!(">{taxon}\n{}\n", &row[columns.clone()])).collect()
}

/// The taxa of `gappy.phy` that have data in one of its small partitions (4, and 6 to 8): enough for genes of 4 to 23 taxa, which
/// are compared with many runs. The options of a command that reads them.
fn some_taxa(scratch: &Scratch) -> String {
    let mut rows = rows("gappy");
    let small = [1430..1940, 2090..3090];
    rows.retain(|(_, row)| small.iter().any(|columns| row[columns.clone()].contains(DATA)));
    let lines: String = rows.iter().map(|(taxon, row)| format!("{taxon} {row}\n")).collect();
    scratch.write("some.phy", &format!("{} {}\n{lines}", rows.len(), rows[0].1.len()));
    format!("-s some.phy -q {}", repository("partitions/gappy.part").display())
}

/// Characters that are not missing data.
const DATA: [char; 3] = ['A', 'C', 'G'];

/// The partitions of `gappy.phy`, as an alignment of each in a folder, with the taxa of `some.phy` that have data
/// in it, in another order.
fn folder_of_partitions(scratch: &Scratch) -> Vec<String> {
    let text = read(scratch, "some.phy");
    let lines = text.lines().skip(1).filter_map(|line| line.split_once(' '));
    let rows: Vec<_> = lines.map(|(taxon, row)| (taxon.to_string(), row.to_string())).collect();
    std::fs::create_dir(scratch.path().join("genes")).expect("a folder");
    let lines = std::fs::read_to_string(repository("partitions/gappy.part")).expect("partitions");
    let mut names = Vec::new();
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        let (left, right) = line.split_once('=').expect("a line");
        let name = left.split_once(',').expect("a type").1.trim().to_string();
        let (first, last) = right.trim().split_once('-').expect("a range");
        let columns = first.parse::<usize>().unwrap() - 1..last.parse::<usize>().unwrap();
        let has_data = |row: &&(String, String)| row.1[columns.clone()].contains(DATA);
        let text = fasta(rows.iter().rev().filter(has_data), columns.clone());
        std::fs::write(scratch.path().join(format!("genes/{name}.fa")), text).expect("a file");
        names.push(name);
    }
    names
}

fn read(scratch: &Scratch, file: &str) -> String {
    let path = scratch.path().join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The cells of the table of a run, without its head.
fn table(scratch: &Scratch, prefix: &str) -> Vec<Vec<String>> {
    let text = read(scratch, &format!("{prefix}.mlsearch.geneTable"));
    let cells = |line: &str| line.split('\t').map(String::from).collect();
    text.lines().skip(1).map(cells).collect()
}

fn gappy() -> String {
    let [msa, part] = ["datasets/gappy.phy", "partitions/gappy.part"].map(repository);
    format!("-s {} -q {}", msa.display(), part.display())
}

#[test]
fn a_gene_has_the_tree_and_model_of_a_search_with_it_alone() {
    let scratch = Scratch::new();
    let data = some_taxa(&scratch);
    let names = folder_of_partitions(&scratch);
    let cases = [
        ("-m GTR+G", "bestTree", ""),
        ("-m JC --fast --bs-trees autoMRE{50}", "support", "--all"),
        ("-m GTR+G --fast --alrt 50 --abayes", "support", ""),
        ("-m JC --thorough", "bestTree", ""),
        ("-m HKY+G --fast --bs-trees 3 --bs-metric tbe,fbp", "support", "--all"),
        ("-m auto --fast -p 7", "bestTree", ""),
    ];
    for &(options, file, others) in some_of(&cases, 0, 2) {
        scratch.succeed(&format!("genes {data} {options} -n parts -T 2 --redo"));
        scratch.succeed(&format!("genes -s genes/ {options} -n files -T 3 --redo"));
        for kind in ["geneTrees", "bootstraps"] {
            let of = |prefix: &str| scratch.path().join(format!("{prefix}.mlsearch.{kind}"));
            assert_eq!(of("parts").exists(), of("files").exists());
            let text = |prefix| std::fs::read_to_string(of(prefix)).unwrap_or_default();
            assert_eq!(text("parts"), text("files"), "{options}: {kind}");
        }
        let trees = read(&scratch, "parts.mlsearch.geneTrees");
        let models = read(&scratch, "parts.mlsearch.geneModels");
        let rows = table(&scratch, "parts");
        assert_eq!(trees.lines().count(), names.len());
        for (number, name) in names.iter().enumerate() {
            scratch.succeed(&format!("search -s genes/{name}.fa {options} {others} -n one --redo"));
            let tree = read(&scratch, &format!("one.mlsearch.{file}"));
            assert_eq!(trees.lines().nth(number), tree.lines().next(), "{options}: {name}");
            let own = read(&scratch, "one.mlsearch.bestModel");
            let model = own.split(',').next().expect("a model");
            let line = models.lines().nth(number).expect("a line");
            assert!(line.starts_with(&format!("{model}, {name} = ")), "{options}: {line}");
            let lnl = report(&scratch, "one")["log_likelihood"].as_f64().expect("a number");
            assert_eq!(rows[number][8], format!("{lnl:.6}"));
            if others.is_empty() {
                continue;
            }
            let (first, last) = rows[number][15].split_once('-').expect("lines of replicates");
            let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
            let replicates = read(&scratch, "parts.mlsearch.bootstraps");
            let own = read(&scratch, "one.mlsearch.bootstraps");
            assert_eq!(own.lines().count(), last + 1 - first);
            assert!(replicates.lines().skip(first - 1).zip(own.lines()).all(|(a, b)| a == b));
        }
        // The models are a partition file for all genes together.
        scratch.succeed("check -s some.phy -q parts.mlsearch.geneModels");
    }
}

#[test]
fn the_files_do_not_depend_on_threads_kernels_or_memory() {
    let scratch = Scratch::new();
    let data = some_taxa(&scratch);
    let command = format!("genes {data} -m GTR+G --fast --alrt 20 --bs-trees 2");
    let kinds = ["geneTrees", "geneTable", "geneModels", "bootstraps", "json", "log"];
    let machines = ["-T 2", "-T 3", "-T 2 --mem 24M", "-T 1 --simd scalar"];
    let machines: Vec<&str> = some_of(&machines, 2, 1).copied().collect();
    assert_same_bytes_on(&machines, &scratch, &command, &kinds);
}

#[test]
fn broken_files_among_good_ones_are_listed_and_all_others_done() {
    let scratch = Scratch::new();
    let rows = rows("primates");
    std::fs::create_dir(scratch.path().join("genes")).expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(scratch.path().join("genes").join(name), text).expect("a file");
    };
    write("a.fa", &fasta(rows.iter(), 0..200));
    write("b.fa", "this is nothing");
    write("c.fa", &fasta(rows.iter().chain(&rows[..1]), 200..400));
    write("d.fa", &fasta(rows.iter().take(3), 200..400));
    write("e.fa", &fasta(rows.iter().take(2), 200..400));
    write("f.fa", ">x\nACGT\n>y\nACGT\n>z\nAC-T\n>w\nACGT\n");
    write("g.phy", "4 4\nx ACGT\ny ACTT\nz CCGT\nw !CGT\n");
    write("h.fa", &fasta(rows.iter().skip(1), 400..600));
    write("run.mlsearch.bestTree", "not a gene");
    write(".hidden", "not a gene");
    #[cfg(unix)]
    std::os::unix::fs::symlink("a.fa", scratch.path().join("genes/i.fa")).expect("a link");
    for options in ["", "--bs-trees 2 --shard 1/1"] {
        let ran =
            scratch.run(&format!("genes -s genes -m GTR+G --fast -n x -T 2 --redo {options}"));
        if !options.is_empty() {
            assert_eq!(ran.code, 0, "a shard is complete: {}", ran.stderr);
            for gene in ["b", "c", "g"] {
                let said = format!("warning: gene '{gene}' could not be done");
                assert!(ran.stderr.contains(&said), "{}", ran.stderr);
            }
            continue;
        }
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        assert!(ran.stderr.contains("3 of 9 genes could not be done"), "{}", ran.stderr);
        for part in ["gene 'b'", "gene 'c'", "gene 'g'"] {
            assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
        }
        let rows = table(&scratch, "x");
        let names: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "d", "e", "f", "g", "h", "i"]);
        let lines: Vec<&str> = rows.iter().map(|row| row[14].as_str()).collect();
        assert_eq!(lines, ["1", "NA", "NA", "2", "NA", "NA", "NA", "3", "4"]);
        for (row, reason) in
            [(1, "genes/b.fa"), (2, "Tarsius_syrichta"), (4, "at least 3"), (5, "no site differs")]
        {
            assert!(rows[row][18].contains(reason), "{:?}", rows[row]);
        }
        let trees = read(&scratch, "x.mlsearch.geneTrees");
        assert_eq!(trees.lines().count(), 4);
        assert_eq!(trees.lines().next(), trees.lines().last(), "the same file twice");
        let genes = &report(&scratch, "x")["genes"];
        assert_eq!(
            (&genes["with_tree"], &genes["without_tree"], &genes["failed"]),
            (&4.into(), &2.into(), &3.into())
        );
        assert!(!scratch.path().join("x.mlsearch.checkpoint").exists(), "the run is complete");
    }
    // The same faults are told of shards when they are put together.
    let ran = scratch.run("genes --merge x.mlsearch.shard -n merged");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let merged = table(&scratch, "merged");
    assert_eq!(merged[3][15], "NA", "three taxa have no replicates");
    assert!(merged[3][18].contains("no replicates"), "{:?}", merged[3]);
}

#[test]
fn shards_put_together_are_the_files_of_an_undivided_run() {
    let scratch = Scratch::new();
    let command = format!("genes {} -m GTR+G --fast --bs-trees 2", gappy());
    scratch.succeed(&format!("{command} -n whole"));
    for k in 1..=3 {
        scratch.succeed(&format!("{command} --shard {k}/3 -n part{k} -T {k}"));
        let of_shard =
            scratch.files().iter().filter(|name| name.starts_with(&format!("part{k}."))).count();
        assert_eq!(of_shard, 3, "shard, log and json");
    }
    let shards = [3, 1, 2].map(|k| format!("part{k}.mlsearch.shard"));
    scratch.succeed(&format!("genes --merge {} -n whole2", shards.join(" ")));
    let (mut whole, mut merged) = (results(&scratch, "whole"), results(&scratch, "whole2"));
    for files in [&mut whole, &mut merged] {
        assert!(files.remove("log").is_some());
    }
    assert_eq!(whole, merged);
    let run = |shards: &[String], what: &str| {
        scratch.run(&format!("genes --merge {} -n x", shards.join(" "))).assert_refused(&[what]);
    };
    run(&shards[..2], "3 of 8 genes are in none of these shards, by their numbers 2, 5, 8");
    run(&[&shards[..], &shards[..1]].concat(), "name it once");
    run(&["whole.mlsearch.geneTrees".into()], "this is no shard");
    scratch.succeed(&format!("{command} -p 2 --shard 2/3 -n other"));
    let others = [&shards[0], &shards[1], &"other.mlsearch.shard".to_string()].map(String::clone);
    run(&others, "seed: 12345 there, 2 here");
    let mut bytes = std::fs::read(scratch.path().join(&shards[0])).expect("a shard");
    bytes.truncate(bytes.len() - 1);
    std::fs::write(scratch.path().join("torn.shard"), bytes).expect("a file");
    run(&["torn.shard".into()], "damaged or incomplete");
}

#[test]
fn a_model_for_each_type_of_data_and_a_list_of_files_in_any_format() {
    let scratch = Scratch::new();
    let dna = rows("primates");
    scratch.write("dna.fa", &fasta(dna.iter(), 0..300));
    let proteins = rows("ovomucoids");
    scratch.write("aa.fa", &fasta(proteins.iter().take(8), 0..88));
    scratch.write("bin.phy", "5 6\na 010100\nb 011100\nc 110100\nd 110111\ne 010111\n");
    scratch.write("list", "# three genes\ndna.fa\naa.fa\n\nbin.phy\n");
    scratch.succeed("genes -s list -m DNA=HKY+G,AA=LG+G,BIN=BIN --fast -n x");
    let rows = table(&scratch, "x");
    let types: Vec<[&str; 2]> = rows.iter().map(|row| [row[0].as_str(), row[2].as_str()]).collect();
    assert_eq!(types, [["dna", "DNA"], ["aa", "protein"], ["bin", "binary"]]);
    for (row, model) in rows.iter().zip(["HKY{", "LG+", "BIN"]) {
        assert!(row[7].starts_with(model), "{row:?}");
    }
    let models = read(&scratch, "x.mlsearch.geneModels");
    let places: Vec<&str> =
        models.lines().filter_map(|line| line.split_once(", ")).map(|one| one.1).collect();
    assert_eq!(places, ["dna = 1-300", "aa = 301-388", "bin = 389-394"]);
    for (name, model) in [("dna.fa", "HKY+G"), ("aa.fa", "LG+G"), ("bin.phy", "BIN")] {
        scratch.succeed(&format!("search -s {name} -m {model} --fast -n one --redo"));
        let tree = read(&scratch, "one.mlsearch.bestTree");
        assert!(read(&scratch, "x.mlsearch.geneTrees").contains(&tree), "{name}");
    }
    let ran = scratch.run("genes -s list -m DNA=HKY+G,AA=LG+G --fast -n y");
    assert_eq!(ran.code, 1);
    assert!(
        ran.stderr.contains("these are binary data, for which -m has no model"),
        "{}",
        ran.stderr
    );
}

#[test]
fn branches_with_little_support_or_without_length_become_polytomies() {
    let scratch = Scratch::new();
    let run = |options: &str| {
        let command = format!("genes {} -m GTR+G --fast --alrt 50 {options} -n x --redo", gappy());
        scratch.succeed(&command);
        read(&scratch, "x.mlsearch.geneTrees")
    };
    let labels = |text: &str| -> Vec<f64> {
        let trees = read_newick(text, "x").expect("trees");
        let nodes = trees.iter().flat_map(|tree| tree.nodes().filter(|node| !node.is_tip()));
        nodes.filter_map(|node| node.name()?.parse().ok()).collect()
    };
    let (all, some) = (labels(&run("")), labels(&run("--collapse 60")));
    // Labels are rounded.
    assert!(some.iter().all(|&value| value >= 59.9), "{some:?}");
    let strong = all.iter().filter(|&&value| value >= 60.1).count();
    let perhaps = all.iter().filter(|&&value| value >= 59.9).count();
    assert!((strong..=perhaps).contains(&some.len()) && some.len() < all.len());
    let short = run("--collapse-length 1000000");
    assert!(labels(&short).is_empty());
    assert_eq!(short.lines().next().map(|tree| tree.matches('(').count()), Some(1));
}

#[test]
fn gene_trees_are_compared_with_a_species_tree() {
    let scratch = Scratch::new();
    let tree = repository("datasets/gappy.tree").display().to_string();
    let command = format!("genes {} -m JC --fast", gappy());
    scratch.succeed(&format!("{command} --gcf-tree {tree} --scf 20 -n sites"));
    let whole = format!("concordance --tree {tree} --gcf sites.mlsearch.geneTrees {}", gappy());
    scratch.succeed(&format!("{whole} --scf 20 -n whole"));
    let of = |prefix: &str| read(&scratch, &format!("{prefix}.mlsearch.concordance"));
    assert_eq!(of("sites"), of("whole"), "sites of all genes as of one alignment");
    scratch.succeed(&format!("{command} --gcf-tree {tree} -n x"));
    scratch.succeed(&format!("concordance --tree {tree} --gcf x.mlsearch.geneTrees -n own"));
    for kind in ["support", "concordance"] {
        let of = |prefix: &str| read(&scratch, &format!("{prefix}.mlsearch.{kind}"));
        assert_eq!(of("x"), of("own"), "{kind}");
    }
    let [all, own] = ["x", "own"].map(|prefix| report(&scratch, prefix)["concordance"].clone());
    assert_eq!(all, own);
    // The distance of a gene tree to the tree that lacks what the gene lacks.
    let text = read(&scratch, "x.mlsearch.geneTrees");
    let genes: Vec<&str> = text.lines().collect();
    for row in table(&scratch, "x") {
        let line: usize = row[14].parse().expect("a line");
        let most = 2 * (row[3].parse::<usize>().expect("taxa") - 3);
        let different: usize = row[16].parse().expect("a distance");
        assert_eq!(row[17], format!("{:.4}", different as f64 / most as f64));
        scratch.write("gene.nwk", genes[line - 1]);
        scratch.succeed(&format!("{command} --gcf-tree gene.nwk -n y --redo"));
        let own = &table(&scratch, "y")[line - 1];
        assert_eq!([&own[16], &own[17]], ["0", "0.0000"]);
        if line == 1 {
            continue;
        }
        let other = &table(&scratch, "y")[0];
        assert_eq!(other[16], "NA", "the first gene has taxa that this one lacks");
        assert!(other[18].contains("not in the tree of --gcf-tree"), "{other:?}");
        break;
    }
    for k in [1, 2] {
        scratch.succeed(&format!("{command} --shard {k}/2 -n part{k}"));
    }
    let shards = "part1.mlsearch.shard part2.mlsearch.shard";
    scratch.succeed(&format!("genes --merge {shards} --gcf-tree {tree} -n merged"));
    let (mut whole, mut merged) = (results(&scratch, "x"), results(&scratch, "merged"));
    for files in [&mut whole, &mut merged] {
        assert!(files.remove("log").is_some());
    }
    assert_eq!(whole, merged);
    scratch.write("others.nwk", "((Ann,Bob),Cyd,Dan);");
    let ran = scratch.run(&format!("genes --merge {shards} --gcf-tree others.nwk -n none"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("have they the same names?"), "{}", ran.stderr);
}

/// Readers of trees that species-tree and plotting programs are made with; those that this machine has.
#[test]
fn other_programs_read_the_trees() {
    let scratch = Scratch::new();
    let command = format!("genes {} -m JC --fast --alrt 20 --collapse 50 -n x", gappy());
    scratch.succeed(&command);
    let expected = read(&scratch, "x.mlsearch.geneTrees").lines().count().to_string();
    for (module, count) in [
        ("dendropy", "len(dendropy.TreeList.get(path=file, schema='newick'))"),
        ("treeswift", "len(treeswift.read_tree_newick(file))"),
        ("Bio.Phylo", "len(list(Bio.Phylo.parse(file, 'newick')))"),
        ("ete3", "len([ete3.Tree(line) for line in open(file)])"),
    ] {
        let code = format!("import {module}; file = 'x.mlsearch.geneTrees'; print({count})");
        let mut python = Command::new("python3");
        let ran = python.args(["-c", &code]).current_dir(scratch.path()).output();
        match ran {
            Ok(ran) if ran.status.success() => {
                assert_eq!(String::from_utf8_lossy(&ran.stdout).trim(), expected, "{module}");
            }
            Ok(ran) if !String::from_utf8_lossy(&ran.stderr).contains("ModuleNotFoundError") => {
                panic!("{module}: {}", String::from_utf8_lossy(&ran.stderr));
            }
            _ => println!("{module}: skipped, it is not installed"),
        }
    }
}

#[test]
fn what_cannot_be_done_is_refused_at_once() {
    let scratch = Scratch::new();
    let rows = rows("primates");
    scratch.write("aln.fa", &fasta(rows.iter(), 0..200));
    scratch.write("list", "aln.fa\nnone.fa\naln.fa\n");
    scratch.write("nothing", "none.fa\n");
    scratch.write("empty", "\n");
    std::fs::create_dir(scratch.path().join("folder")).expect("a folder");
    for (command, parts) in [
        ("genes -m JC", &["no alignment"][..]),
        ("genes -s list", &["no model"]),
        ("genes -s aln.fa -m JC", &["this is an alignment", "mlsearch search"]),
        ("genes -s list -m JC", &["list, line 3: 'aln.fa' is also on line 1"]),
        ("genes -s nothing -m JC", &["none of its lines is the path of a file"]),
        ("genes -s empty -m JC", &["the list is empty"]),
        ("genes -s folder -m JC", &["the folder has no files"]),
        ("genes -s folder -q list -m JC", &["-s is a folder"]),
        ("genes -s missing -m JC", &["missing"]),
        ("genes -s list -m NOSUCH+G", &["-m", "NOSUCH"]),
        ("genes -s list -m DNA=JC,AA=NOSUCH,x", &["NOSUCH", "cannot read 'x'"]),
        ("genes -s list -m JC --collapse 10", &["add --alrt, --abayes or --bs-trees"]),
        ("genes -s list -m JC --alrt --collapse 101", &["up to 100"]),
        ("genes -s list -m JC --shard 4/3 --bs-metric tbe", &["--shard 4/3", "--bs-metric"]),
        ("genes -s list -m JC --bs-trees 9 --sampling gene", &["of which only sites can be drawn"]),
        ("genes -s list -m JC --shard 1/2 --gcf-tree list", &["give it with --merge"]),
        ("genes -s list -m JC --scf", &["add --gcf-tree"]),
        ("genes --merge a.shard --scf", &["which shards do not have"]),
        ("genes --merge a.shard -m JC --alrt", &["leave out -m", "leave out --alrt"]),
        (
            "search -s aln.fa -m JC --collapse 10",
            &["'--collapse' is no option of search; genes has it"],
        ),
    ] {
        scratch.run(&format!("{command} -n x")).assert_refused(parts);
    }
    let ran = scratch.run(&format!("genes {} -m GTR+G --mem 1M -n x", gappy()));
    ran.assert_refused(&["--mem", "gene 'gene1' needs", "nothing was computed"]);
    assert!(!scratch.files().iter().any(|name| name.starts_with("x.")), "{:?}", scratch.files());
    let checked = scratch.succeed(&format!("genes {} -m GTR+G --check", gappy()));
    assert!(checked.stdout.contains("4 to 60"), "{}", checked.stdout);
    assert!(Path::new(&scratch.path().join("list")).exists());
}
