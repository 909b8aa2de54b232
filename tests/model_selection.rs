//! Models that are chosen from the data: what runs say of it, and that they agree with a peer.

use crate::util::{Scratch, report, repository, results};

/// The tree on which IQ-TREE compared models, too.
const PRIMATES_TREE: &str = "(Tarsius_syrichta:0.4908302149,Lemur_catta:0.33546037215,((((((Homo_sapiens:0.0490767885,Pan:0.0596368538):0.02522828843,Gorilla:0.05843310966):0.07574260177,Pongo:0.13710399263):0.0478767585,Hylobates:0.1689941115):0.11516598763,(((Macaca_fuscata:0.0160323707,M_mulatta:0.0225630002):0.0340511611,M_fascicularis:0.0557531891):0.0427229739,M_sylvanus:0.07128955814):0.24359510693):0.1107631069,Saimiri_sciureus:0.44174369535):0.2577922193);";

/// `iqtree2 -s primates.phy -te TREE -m TESTONLY -nt 1 -keep-ident`, IQ-TREE 2.0.7: lnL and BIC. Its
/// TPM2+F is TPM2u+F (TPM2uf here).
const IQTREE: [(&str, f64, f64); 6] = [
    ("TPM2uf+FC+G4m", -5721.626, 11626.856),
    ("HKY+FC+G4m", -5728.087, 11632.978),
    ("TIM2uf+FC+G4m", -5721.545, 11633.494),
    ("TPM3uf+FC+G4m", -5726.280, 11636.164),
    ("TVM+FC+G4m", -5719.506, 11636.217),
    ("K81uf+FC+G4m", -5726.694, 11636.993),
];

#[test]
fn the_choice_for_primates_is_iqtree_s() {
    let scratch = Scratch::new();
    scratch.write("tree", PRIMATES_TREE);
    let msa = repository("datasets/primates.phy");
    scratch.succeed(&format!("--evaluate -s {} -t tree -m auto --quiet -n run", msa.display()));
    let report = report(&scratch, "run");
    let selection = &report["model_selection"][0];
    assert_eq!(selection["chosen"], IQTREE[0].0);
    assert_eq!(selection["criterion"], "BIC");
    assert_eq!(selection["data_type"], "DNA");
    assert!(report["model"].as_str().expect("a model").starts_with("TPM2uf{"));
    let candidates = selection["candidates"].as_array().expect("a list");
    for (model, lnl, bic) in IQTREE {
        let found = candidates.iter().find(|c| c["model"] == model).expect(model);
        let number = |name: &str| found[name].as_f64().expect(name);
        // IQ-TREE stops optimising earlier, and so is a little lower.
        let gain = number("log_likelihood") - lnl;
        assert!((-0.005..0.06).contains(&gain), "{model}: {gain}");
        assert!((number("bic") - bic).abs() < 0.12, "{model}");
    }
    let log = std::fs::read_to_string(scratch.path().join("run.mlsearch.log")).expect("a log");
    assert!(log.contains("selected by BIC with weight") && log.contains("auto (DNA)"), "{log}");
}

/// Four partitions, the second with a model of its own.
fn mixed(scratch: &Scratch) -> String {
    scratch
        .write("q", "auto, a = 1-200\nHKY+G, b = 201-400\nDNA, c = 401-600\nauto, d = 601-898\n");
    format!("-s {} -q q -m auto", repository("datasets/primates.phy").display())
}

#[test]
fn partitions_choose_for_themselves_and_threads_do_not_show() {
    let scratch = Scratch::new();
    let command = format!("{} --evaluate -t pars{{1}} -e 0.1 --quiet", mixed(&scratch));
    scratch.succeed(&format!("{command} --auto-criterion aicc -T 1 -n one"));
    scratch.succeed(&format!("{command} --auto-prot=aicc -T 3 -n other"));
    assert_eq!(results(&scratch, "one"), results(&scratch, "other"));
    let report = report(&scratch, "one");
    let chosen = report["model_selection"].as_array().expect("a list");
    let names: Vec<&str> = chosen.iter().map(|s| s["partition"].as_str().expect("name")).collect();
    assert_eq!(names, ["a", "c", "d"]);
    assert!(chosen.iter().all(|selection| selection["criterion"] == "AICc"));
    assert!(report["partitions"][1]["model"].as_str().expect("a model").starts_with("HKY{"));
}

#[test]
fn a_check_says_what_would_be_chosen_from_and_a_simulation_refuses() {
    let scratch = Scratch::new();
    let ran = scratch.succeed(&format!("{} --check", mixed(&scratch)));
    let expected = "partition 'a': a run will select the model by BIC among 22 DNA matrices with \
                    frequencies; rates over sites: equal, +I, +G4, +I+G4, +R2, +R3, and more as long as they are better";
    assert!(ran.stdout.contains(expected), "{}", ran.stdout);
    let ran = scratch.run("simulate --tree rand{5} --model auto --sites 10 -n sim");
    ran.assert_refused(&["no data for model selection"]);
    let ran = scratch.run(&format!("{} --auto-criterion ml", mixed(&scratch)));
    ran.assert_refused(&["aicc"]);
}

#[test]
fn codons_are_not_chosen_for_and_that_is_said() {
    let scratch = Scratch::new();
    scratch.write("q", "CODON, a = 1-9\nAA, b = 10-14\n");
    scratch.write(
        "aln",
        "4 14\na AAACCCGGGMKVLI\nb AAACCTGGGMKVLV\nc AAGCCCGGAMRVLI\nd AAGCCTGGAMRALI\n",
    );
    let ran = scratch.succeed("-s aln -q q -m auto --check");
    assert!(
        ran.stdout.contains("no model selection for partitions of type 'CODON'"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("partition 'b': a run will select"), "{}", ran.stdout);
}

#[test]
fn models_are_selected_for_the_data_type_of_the_command_line() {
    let scratch = Scratch::new();
    scratch.write("bits", "4 8\na 01010101\nb 01010110\nc 11010100\nd 10100101\n");
    // Of letters that proteins, nucleotides and multi-state data have.
    scratch.write("letters", "4 8\na ACGTACGT\nb ACGTACTT\nc ACCTACGA\nd AAGTACGT\n");
    for (data, typed, chosen, matrices) in [
        ("bits", "MULTI", "multi-state", "2 multi-state matrices"),
        ("bits", "BIN", "binary", "2 binary matrices"),
        ("letters", "auto", "DNA", "22 DNA matrices"),
        ("letters", "AA", "protein", "66 protein matrices"),
        ("letters", "MORPH", "multi-state", "2 multi-state matrices"),
    ] {
        let command = format!("-s {data} -m auto --data-type {typed} --check");
        let said = scratch.succeed(&command).stdout;
        assert!(said.contains(&format!("auto ({chosen})")), "{command}: {said}");
        assert!(said.contains(&format!("by BIC among {matrices}")), "{command}: {said}");
    }
    // Lines with `auto` take the type, too; lines with a type keep theirs.
    scratch.write("q", "auto, a = 1-4\nDNA, b = 5-8\n");
    let said = scratch.succeed("-s letters -q q -m auto --data-type AA --check").stdout;
    let sorts = ["partition 'a': a run will select the model by BIC among 66 protein", "22 DNA"];
    assert!(sorts.iter().all(|sort| said.contains(sort)), "{said}");
}

#[test]
fn data_types_for_which_no_model_can_be_selected_are_refused() {
    let scratch = Scratch::new();
    let proteins = repository("datasets/ovomucoids.phy").display().to_string();
    scratch.write("letters", "4 9\na ACGTACGTA\nb ACGTACTTA\nc ACCTACGAA\nd AAGTACGTA\n");
    for (command, expected) in [
        ("-s letters -m auto --data-type CODON2", "-m GY+F3X4 --data-type CODON2"),
        ("-s letters -m MFP -st CODON", "only for DNA, AA, BIN and MULTI"),
        ("-s letters -m auto --data-type RNA", "unknown data type 'RNA'"),
        ("-s letters -m PROTGAMMAAUTO --data-type DNA", "-m auto --data-type DNA"),
        ("-s letters -m auto --data-type BIN", "letters, line 2, column 1, 'a': --data-type BIN"),
        ("-s PROTEINS -m auto --data-type DNA", "which are protein data"),
    ] {
        let ran = scratch.run(&format!("{} -n x", command.replace("PROTEINS", &proteins)));
        ran.assert_refused(&[expected]);
        // One message, not one for each character.
        assert!(!ran.stderr.contains("errors:"), "{command}: {}", ran.stderr);
    }
    scratch.write("q", "auto, a = 1-9\n");
    scratch
        .run("-s letters -q q --data-type CODON -n x")
        .assert_refused(&["q, line 1, 'a': auto --data-type CODON", "-m GY+F3X4"]);
}

/// Five partitions, simulated along one tree: a, c and e with one model, b and d with another.
fn two_models(scratch: &Scratch) -> &'static str {
    let (one, other) = (
        "GTR{1/8/1/1/8/1}+FU{.25/.25/.25/.25}+G4{0.3}",
        "GTR{3/1/2/.3/1/1}+FU{.4/.1/.1/.4}+G4{1.5}",
    );
    let columns = [(1, 600), (601, 1100), (1101, 1500), (1501, 2200), (2201, 2800)];
    let lines = "abcde".chars().zip(columns).enumerate().map(|(i, (name, (first, last)))| {
        let model = if i % 2 == 0 { one } else { other };
        (format!("{model}, {name} = {first}-{last}\n"), format!("DNA, {name} = {first}-{last}\n"))
    });
    let (truth, given): (String, String) = lines.unzip();
    scratch.write("truth", &truth);
    scratch.write("q", &given);
    scratch.succeed("simulate --tree rand{14} -q truth --seed 5 --prefix sim");
    "select -s sim.mlsearch.phy -q q --quiet"
}

#[test]
fn partitions_of_one_model_are_merged_and_others_not() {
    let scratch = Scratch::new();
    let select = two_models(&scratch);
    for (number, options) in [
        "-m GTR+G --brlen scaled --merge greedy",
        "-m GTR+G --brlen linked --merge rcluster:50",
        "-m auto --brlen scaled --merge rclusterf",
        "-m GTR+G -M --merge greedy",
    ]
    .into_iter()
    .enumerate()
    {
        let mut found = Vec::new();
        for threads in 1..=3 {
            let name = format!("r{number}t{threads}");
            scratch.succeed(&format!("{select} {options} -T {threads} -n {name}"));
            found.push(results(&scratch, &name));
        }
        assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "{options}");
        let scheme = &found[0]["bestScheme"];
        let lines: Vec<&str> = scheme.lines().collect();
        assert_eq!(lines.len(), 2, "{options}: {scheme}");
        assert!(lines[0].ends_with(", a_c_e = 1-600, 1101-1500, 2201-2800"), "{scheme}");
        assert!(lines[1].ends_with(", b_d = 601-1100, 1501-2200"), "{scheme}");
        let report = report(&scratch, &format!("r{number}t1"));
        let merging = &report["partition_merging"];
        let value = |when: &str| merging[when]["bic"].as_f64().expect("a number");
        assert!(value("after") < value("before"), "{options}");
        let merges = merging["merges"].as_array().expect("a list");
        assert_eq!((merges.len(), found[0]["merges"].lines().count()), (3, 4), "{options}");
    }
    // What was written is read back as it was meant, and there is nothing left to merge.
    let again =
        "select -s sim.mlsearch.phy -q r2t1.mlsearch.bestScheme --brlen scaled --quiet -n again";
    scratch.succeed(&format!("{again} --merge greedy"));
    let [first, again] = ["r2t1", "again"].map(|name| report(&scratch, name));
    assert_eq!(first["model"], again["model"]);
    let lnl = |report: &serde_json::Value, when: &str| {
        report["partition_merging"][when]["log_likelihood"].as_f64().expect("a number")
    };
    assert_eq!(again["partition_merging"]["after"]["subsets"], 2);
    assert!((lnl(&first, "after") - lnl(&again, "before")).abs() < 0.5);
    // Exchange rates that partitions share count once.
    let linked = "select -s sim.mlsearch.phy -q q -m GTR+FE+G --link-exchange-rates --merge greedy";
    scratch.succeed(&format!("{linked} --quiet -n linked"));
    let merging = &report(&scratch, "linked")["partition_merging"];
    let parameters = |when: &str| merging[when]["parameters"].as_u64().expect("a number");
    // 25 lengths, five rates, and an alpha of each subset.
    assert_eq!(parameters("before"), 25 + 5 + 5);
    assert_eq!(parameters("after"), 25 + 5 + merging["after"]["subsets"].as_u64().unwrap());
    scratch.succeed(
        "search -s sim.mlsearch.phy -q r0t1.mlsearch.bestScheme --brlen scaled --fast -n found",
    );
    let models = &report(&scratch, "found")["partitions"];
    assert_eq!((&models[0]["name"], &models[1]["name"]), (&"a_c_e".into(), &"b_d".into()));
}

/// An alignment of the repository and its partitions, as options.
fn data_of(name: &str) -> String {
    let file = |path: String| repository(&path).display().to_string();
    let msa = file(format!("datasets/{name}.phy"));
    format!("-s {msa} -q {}", file(format!("partitions/{name}.part")))
}

/// Exchange rates of partitions that share lengths have several optima; another one is 193 log units lower.
#[test]
fn a_scheme_has_the_likelihood_of_an_evaluation() {
    let scratch = Scratch::new();
    let data = format!("{} -m GTR+G --quiet", data_of("hominoids"));
    scratch.succeed(&format!("start {data} -n begin"));
    let given = format!("{data} -t begin.mlsearch.startTree");
    scratch.succeed(&format!("select {given} --brlen linked --merge greedy -n merged"));
    scratch.succeed(&format!("evaluate {given} --brlen linked -n evaluated"));
    let before = &report(&scratch, "merged")["partition_merging"]["before"]["log_likelihood"];
    let evaluated = &report(&scratch, "evaluated")["log_likelihood"];
    let [before, evaluated] = [before, evaluated].map(|lnl| lnl.as_f64().expect("a number"));
    assert!((before - evaluated).abs() < 0.5, "{before} {evaluated}");
}

/// The order of the partition file (ND4, tRNA, ND5) is not that of the names.
#[test]
fn partitions_that_stay_as_they_are_have_their_own_likelihoods() {
    let scratch = Scratch::new();
    let data = format!("{} --brlen scaled --quiet", data_of("primates"));
    scratch.succeed(&format!("select {data} --merge greedy --auto-criterion aic -n x"));
    scratch.succeed(&format!("start {data} -m GTR+G -n begin"));
    let msa = repository("datasets/primates.phy").display().to_string();
    let evaluate = format!("evaluate -s {msa} -q x.mlsearch.bestScheme --brlen scaled --quiet");
    scratch.succeed(&format!("{evaluate} -t begin.mlsearch.startTree -n y"));
    let subsets = &report(&scratch, "x")["partition_merging"]["subsets"];
    let partitions = &report(&scratch, "y")["partitions"];
    for (name, lnl) in [("subset", subsets), ("name", partitions)] {
        let found: Vec<&str> =
            lnl.as_array().unwrap().iter().map(|one| one[name].as_str().unwrap()).collect();
        assert_eq!(found, ["ND4", "tRNA", "ND5"]);
    }
    for number in 0..3 {
        let lnl = |list: &serde_json::Value| list[number]["log_likelihood"].as_f64().unwrap();
        assert!((lnl(subsets) - lnl(partitions)).abs() < 20.0, "{subsets} {partitions}");
    }
}

/// 32 gall wasps have a few very fast sites: from one start, +R5 ended below +R4.
#[test]
fn more_free_rates_are_not_less_likely() {
    let scratch = Scratch::new();
    let msa = repository("datasets/gallwasps.phy").display().to_string();
    scratch.succeed(&format!("select -s {msa} --quiet -n x"));
    let table = results(&scratch, "x")["criteria"].clone();
    let lnl = |rates: &str| {
        let line = table.lines().find(|line| line.contains(&format!("GTR+FC+{rates}\t")));
        line.and_then(|line| line.split('\t').nth(2)?.parse::<f64>().ok())
    };
    let found = ["R2", "R3", "R4", "R5"].map(|rates| lnl(rates).expect(rates));
    assert!(found.is_sorted(), "{found:?}");
    // The one that is chosen is fitted well, and others that are far worse are not.
    let marks = |line: &str| line.rsplit('\t').take(2).map(String::from).collect::<Vec<_>>();
    assert_eq!(marks(table.lines().nth(1).expect("a model")), ["1", "1"]);
    assert!(table.lines().skip(2).any(|line| marks(line) == ["0", "0"]), "{table}");
}

#[test]
fn no_scheme_is_worse_than_the_partitions_as_they_were() {
    let scratch = Scratch::new();
    let msa = repository("datasets/primates.phy");
    // Stretches of different sizes, one with a model of its own, one a single column.
    scratch.write(
        "q",
        "auto, a = 1-150\nauto, b = 151-170\nHKY+G, c = 171-400\nauto, d = 401-401\nHKY, e = 402-640\n\
         auto, f = 641-898\\2\nauto, g = 642-898\\2\n",
    );
    for (number, options) in [
        "--merge greedy",
        "--merge rcluster:30 --brlen scaled --auto-criterion aic",
        "--merge rclusterf:60 -M --auto-criterion aicc",
    ]
    .into_iter()
    .enumerate()
    {
        scratch.succeed(&format!(
            "select -s {} -q q -m auto {options} --quiet -n r{number}",
            msa.display()
        ));
        let report = report(&scratch, &format!("r{number}"));
        let merging = &report["partition_merging"];
        let criterion = merging["criterion"].as_str().expect("a name").to_lowercase();
        let value = |when: &str| merging[when][&criterion].as_f64().unwrap_or(f64::INFINITY);
        assert!(value("after") <= value("before"), "{options}: {merging}");
        let subsets = merging["subsets"].as_array().expect("a list").iter();
        let mut names: Vec<&str> = subsets
            .flat_map(|subset| subset["of"].as_array().expect("a list"))
            .map(|name| name.as_str().expect("a name"))
            .collect();
        names.sort_unstable();
        assert_eq!(names, ["a", "b", "c", "d", "e", "f", "g"]);
        // Given models and selected ones stay apart.
        let mixed = |subset: &serde_json::Value| {
            let of = subset["of"].as_array().expect("a list").iter();
            let given = of.clone().filter(|name| *name == "c" || *name == "e").count();
            given > 0 && given < of.count()
        };
        assert!(!merging["subsets"].as_array().expect("a list").iter().any(mixed), "{merging}");
    }
}

#[test]
fn partitions_that_cannot_be_merged_are_refused() {
    let scratch = Scratch::new();
    let msa = repository("datasets/primates.phy").display().to_string();
    scratch.write("q", "DNA, a = 1-400\nDNA, b = 401-898\n");
    scratch.write("one", "DNA, all = 1-898\n");
    for (options, expected) in [
        (
            "--merge greedy",
            "--merge merges the partitions of a partition file: give one with -q FILE",
        ),
        ("-q one --merge greedy", "there is only one, 'all'"),
        ("-q q --merge rcluster:0", "no percentage of pairs above 0 and up to 100"),
        ("-q q --merge rcluster:101", "no percentage of pairs above 0 and up to 100"),
        ("-q q -rcluster x", "'x' is no percentage"),
        ("-q q --merge kmeans", "expected off, greedy, rcluster, rclusterf or rcluster:PERCENT"),
        ("-q q --merge greedy:3", "takes no percentage"),
    ] {
        scratch.run(&format!("select -s {msa} {options} -n x")).assert_refused(&[expected]);
    }
    scratch.succeed(&format!("select -s {msa} -q q -m JC --merge off --quiet -n off"));
    assert!(!scratch.files().iter().any(|file| file.contains("bestScheme")));
    let said = scratch.succeed(&format!("-s {msa} -q q -m TESTMERGEONLY -rcluster 20 -n y")).stdout;
    assert!(said.contains("after merging"), "{said}");
}
