//! What command lines mean, and what is refused.

use super::parse::{Stop as NoAnalysis, parse};
use crate::commands::Analysis;
use crate::error::Result;
use crate::likelihood::{BrlenLinkage, ScorePrecision};
use crate::plan::{DEFAULT_REPLICATES, Plan, RunOptions, Threads, TreeSource};
use crate::search::SearchEffort;
use crate::stop::Stop;
use std::path::PathBuf;

fn analysis(line: &str) -> Analysis {
    try_plan(line).unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn plan(line: &str) -> Plan {
    analysis(line).plan
}

/// The analysis of a line with its options.
fn command(line: &str) -> String {
    format!("{:?}", analysis(line).command)
}

fn try_plan(line: &str) -> Result<Analysis> {
    let words: Vec<String> = line.split_whitespace().map(String::from).collect();
    match parse(&words) {
        Ok(analysis) => Ok(analysis),
        Err(NoAnalysis::Refused(error)) => Err(error),
        Err(NoAnalysis::Clap(error)) => panic!("{line}: {error}"),
        Err(stop) => panic!("{line} is no command: {stop:?}"),
    }
}

const DATA: &str = "mlsearch -s d/a.phy -m GTR+G";

#[test]
fn starting_trees_are_named_in_small_letters() {
    for (word, trees) in [
        ("auto", [TreeSource::Auto]),
        ("pars", [TreeSource::Parsimony(1)]),
        ("rand", [TreeSource::Random(1)]),
    ] {
        assert_eq!(plan(&format!("{DATA} -t {word}")).search.trees, trees);
        let message = try_plan(&format!("{DATA} -t {}", word.to_uppercase())).unwrap_err();
        assert!(message.to_string().contains(&format!("-t {word}")), "{message}");
    }
}

#[test]
fn a_plain_search_has_the_documented_defaults() {
    let plan = plan(DATA);
    assert_eq!(command(DATA), "Search { replicates: false }");
    assert_eq!(plan.search.trees, [TreeSource::Auto]);
    assert_eq!((plan.seed, plan.data.brlen), (12345, BrlenLinkage::Linked));
    assert!(plan.data.restricted && plan.search.opt_model && plan.search.opt_branches);
    assert_eq!(
        plan.run,
        RunOptions {
            threads: Threads::Auto { max: None },
            memory: None,
            engine: None,
            gpus: 0,
            score_precision: ScorePrecision::Double,
            instruction_set: None,
            stop: Stop::default(),
            ranks: None,
            ranks_per_job: None,
        }
    );
    assert_eq!(plan.output.prefix, PathBuf::from("d/a.phy"));
    assert_eq!(plan.search.trees, [TreeSource::Auto]);
}

#[test]
fn raxml_and_raxml_ng_spellings_mean_the_same() {
    for (raxml, ng) in [
        ("-f d", "--search"),
        ("-f e -t t.nwk", "--evaluate --tree t.nwk"),
        ("-b 7 -# 5", "--bootstrap --bs-trees 5 -b 7"),
        ("-f a -b 7 -N 5 -p 3", "--all --bs-trees 5 -b 7 --seed 3"),
        ("-y -# 4 -d", "--start --tree rand{4}"),
        ("-M -q g.part", "--brlen unlinked -q g.part"),
        ("-f c", "--parse"),
        ("-# 20", "--tree pars{20}"),
        ("-n run -w out", "--prefix run -w out"),
        ("-f H -t a.nwk -z t.nwk", "--tests sh -t a.nwk -z t.nwk"),
        ("-f W -z t.nwk --rell 5", "--evaluate --tree t.nwk --tests elw --rell 5"),
        ("-z t.nwk --tests all", "-t t.nwk --tests au,elw,wsh --tests KH,sh,wkh,bp"),
        ("-P lg.dat -K MK", "--protein-matrix lg.dat --multistate mk"),
        ("-st CODON2", "--data-type CODON2"),
        ("--seqtype BIN", "--st BIN"),
        ("--data-type auto", ""),
    ] {
        let [mut a, b] = [raxml, ng].map(|words| analysis(&format!("{DATA} {words}")));
        assert_eq!(format!("{:?}", a.command), format!("{:?}", b.command), "{raxml}");
        let (a, b) = (&mut a.plan, &b.plan);
        a.command_line.clone_from(&b.command_line);
        a.resuming_command.clone_from(&b.resuming_command);
        a.processor_command.clone_from(&b.processor_command);
        assert_eq!(*a, *b, "{raxml} against {ng}");
    }
    let raxml = "mlsearch -f b -t best.nwk -z boots.nwk -m GTRCAT -n x";
    let support = plan(raxml);
    let expected = r#"Support { tree: "best.nwk", bs_trees: "boots.nwk" }"#;
    assert_eq!(command(raxml), expected);
    assert_eq!(support.notes.len(), 1, "-m is said to be unused");
    let ng = "mlsearch --support --tree best.nwk --bs-trees boots.nwk --prefix x";
    assert_eq!(command(ng), expected);
    for line in [
        "-J MRE -z t.nwk",
        "-L MRE -z t.nwk",
        "--consense MRE --tree t.nwk",
        "--consense=mre -t t.nwk",
    ] {
        let expected = r#"Consensus { rule: Extended, trees: "t.nwk" }"#;
        assert_eq!(command(&format!("mlsearch {line}")), expected);
    }
    for line in ["-f r -z t.nwk", "--rfdist --tree t.nwk", "--rfdist t.nwk"] {
        let line = format!("mlsearch {line}");
        let expected = r#"Compare { trees: "t.nwk", reference: None, metrics: [RobinsonFoulds] }"#;
        assert_eq!(command(&line), expected);
        assert_eq!(plan(&line).output.prefix, PathBuf::from("t.nwk"));
    }
}

#[test]
fn trees_are_compared_with_others_by_several_distances() {
    for line in ["-f R -t r.nwk -z t.nwk", "--rfdist t.nwk --tree r.nwk", "-t r.nwk -rf t.nwk"] {
        let compared = command(&format!("mlsearch {line} --rfdist-metric quartet,rf,KF"));
        let metrics = "[RobinsonFoulds, BranchScore, Quartet]";
        let expected = format!(
            r#"Compare {{ trees: "t.nwk", reference: Some("r.nwk"), metrics: {metrics} }}"#
        );
        assert_eq!(compared, expected, "{line}");
    }
    let certainty = plan("mlsearch -f i -t best.nwk -z boots.nwk").support.kinds;
    assert_eq!(certainty.iter().map(|kind| kind.name()).collect::<Vec<_>>(), ["ic1", "ica"]);
    let expected =
        r#"Concordance { tree: "r.nwk", gene_trees: Some("genes.nwk"), quartets: Some(100) }"#;
    let line = "mlsearch -t r.nwk --gcf genes.nwk --scf -s a.phy";
    assert_eq!(command(line), expected);
}

#[test]
fn seeds_prefixes_and_replicates() {
    assert_eq!(plan(&format!("{DATA} --all")).bootstrap.replicates, DEFAULT_REPLICATES);
    let all = plan(&format!("{DATA} --all -p 3 -k"));
    assert_eq!((all.seed, all.bootstrap.seed, all.bootstrap.with_brlens), (3, 3, true));
    assert_eq!(plan(&format!("{DATA} -w out")).output.prefix, PathBuf::from("out/a.phy"));
    assert_eq!(plan(&format!("{DATA} --prefix /x/y")).output.prefix, PathBuf::from("/x/y"));
    assert_eq!(command(&format!("{DATA} --sitelh -t a.nwk")), "Evaluate");
    assert_eq!(plan(&format!("{DATA} --spr-cutoff off")).search.spr_cutoff, Some(None));
    assert_eq!(plan(DATA).search.effort, SearchEffort::Normal);
    assert_eq!(plan(&format!("{DATA} --fast")).search.effort, SearchEffort::Fast);
    assert_eq!(plan(&format!("{DATA} --thorough")).search.effort, SearchEffort::Thorough);
}

#[test]
fn check_takes_the_command_line_of_the_run_it_describes() {
    for words in [
        "-f a -b 3 -# 50 -t pars{5} --spr-radius 9",
        "--mcmc --ngen 5000 --nchains 2",
        "--dist --tree nj",
        "--support -t a.nwk --bs-trees b.nwk",
    ] {
        let line = format!("{DATA} {words}");
        let [run, check] = [line.clone(), format!("{line} --check")].map(|line| analysis(&line));
        assert_eq!(format!("{:?}", run.command), format!("{:?}", check.command));
        assert!(check.plan.is_check && !run.plan.is_check);
        assert!(check.plan.facts.outputs.is_empty(), "nothing is written");
    }
    // What a run refuses is refused.
    for words in ["-s a.phy", "-s a.phy -m JC -k", "-s a.phy -m JC --all --bs-trees x"] {
        try_plan(&format!("mlsearch {words} --check")).unwrap_err();
    }
}

#[test]
fn contradictions_and_gaps_are_refused() {
    for (line, expected) in [
        ("mlsearch -m GTR+G", "no alignment"),
        ("mlsearch -s a.phy", "no model"),
        ("mlsearch -s a -m JC --evaluate", "no tree to evaluate"),
        ("mlsearch -s a -m JC --search --all", "name different analyses"),
        ("mlsearch -s a -m JC --search -f e -t x", "--search, -f e"),
        ("mlsearch -s a -m JC -f q", "'-f q' is not supported: quartets"),
        ("mlsearch --dist d.phy", "give --tree nj"),
        ("mlsearch --dist -s a --tree pars{1}", "expected nj, bionj"),
        ("mlsearch --dist -s a --dist-format csv", "expected square"),
        ("mlsearch --dist -s a --dist-format npy.gz", "expected square"),
        ("mlsearch -s a -m JC --dist-format lower", "no option of search; distance has it"),
        ("mlsearch --dist -s a -m F84{x}", "F84 needs one number"),
        ("mlsearch --dist -s a -m F84+GC", "+GC needs the shape"),
        ("mlsearch -s a -m JC -f ?", "-f ? is unknown"),
        ("mlsearch -s a -m JC -b 1", "the number of replicates"),
        ("mlsearch -s a -m JC -b 1 -# autoX", "-# autoX: expected"),
        ("mlsearch -s a -m JC -# autoMRE", "-# autoMRE: expected a number"),
        ("mlsearch --start -s a --bs-trees 10", "'--bs-trees' is no option of start"),
        ("mlsearch -s a -m JC --all -# 5 --bs-trees 10", "give only one of them"),
        ("mlsearch -s a -m JC -# 5 -t pars{2}", "give only one of them"),
        ("mlsearch -s a -m JC -d -t pars{2}", "-d means"),
        ("mlsearch -s a -m JC -z f", "'-z' is no option of search; support, "),
        ("mlsearch -s a -m JC -z f --tests foo", "--tests foo: expected"),
        ("mlsearch -s a -m JC -z f --tests au,", "--tests : expected"),
        ("mlsearch -s a -m JC -z f --tests au --rell 0", "--rell 0: expected a number"),
        ("mlsearch -s a -m JC --evaluate -t f --rell 10", "--rell applies only to --tests"),
        ("mlsearch -s a -m JC --search --tests au", "no option of search; evaluate has it"),
        ("mlsearch -s a -m JC --tests au", "no tree to evaluate"),
        ("mlsearch -s a -m JC -M --brlen scaled", "-M means"),
        ("mlsearch -s a -m JC -n x --prefix y", "-n and --prefix"),
        ("mlsearch -s a -m JC -w d --prefix /y", "absolute"),
        ("mlsearch -s a -m JC --prefix ..", "must end in a file name"),
        ("mlsearch -s a -m JC --bs-metric tbe", "--bs-metric applies only to"),
        ("mlsearch -s a -m JC --all --bs-metric tbe,ps", "--bs-metric ps: expected"),
        ("mlsearch -s a -m JC --bootstrap --alrt", "search, genes and evaluate have it"),
        ("mlsearch -s a -m JC --alrt 0", "--alrt 0: expected"),
        ("mlsearch --support -t a -z b --abayes", "search, genes and evaluate have it"),
        ("mlsearch -s a -m JC --evaluate -t x --opt-branches off --abayes", "leave out"),
        ("mlsearch -s a -m JC --all --bs-metric tbe,tbe", "names tbe twice"),
        ("mlsearch -s a -m JC --backend abacus", "--backend abacus"),
        ("mlsearch -s a -m JC --gpu first", "--gpu first"),
        ("mlsearch -s a -m JC --backend cpu --gpu 1", "--gpu 1 chooses"),
        ("mlsearch -s a -m JC --gpu-precision half", "expected double or single"),
        ("mlsearch -s a -m JC --backend cpu --gpu-precision single", "not for cpu"),
        ("mlsearch -s a -m JC --backend cpu --gpu-precision double", "not for cpu"),
        ("mlsearch -s a -m JC --dist --gpu-precision single", "only to searches"),
        ("mlsearch -s a -m JC --mcmc --gpu-precision single", "only to searches"),
        ("mlsearch -s a -K ORDERED -m MULTIGAMMA", "-K ORDERED"),
        ("mlsearch -s a -q b -P lg.dat", "no protein model"),
        ("mlsearch -s a -m GTR+G --asc-corr lewis", "ASC_GTRGAMMA"),
        ("mlsearch -s a -m ASC_GTRGAMMA --asc-corr felsenstein", "+ASC_FELS{"),
        ("mlsearch -s a -m ASC_GTRGAMMA --asc-corr stamatakis", "+ASC_STAM{"),
        ("mlsearch -s a -m ASC_GTRGAMMA --asc-corr other", "expected lewis"),
        ("mlsearch -s a -m JC --opt-branches off", "evaluate has it"),
        ("mlsearch -s a -m JC --evaluate -t x --partition-trees y", "--evaluate -M"),
        (
            "mlsearch -s a -m JC --evaluate -t x -i 3",
            "'-i' is no option of evaluate; search, genes",
        ),
        ("mlsearch -s a -m JC --evaluate -t x --fast", "search, genes and bootstrap have it"),
        ("mlsearch -s a -m JC --fast --thorough", "give only one of them"),
        ("mlsearch -s a -m JC -e 0", "positive"),
        ("mlsearch -s a -m JC -e -1", "positive"),
        ("mlsearch -s a -m JC -T 0", "--threads"),
        ("mlsearch -s a -m JC --prefix out/", "must end in a file name"),
        ("mlsearch -s a -m JC -t pars{1000001}", "from 1 to 1000000"),
        ("mlsearch -s a -m JC --simd sse3", "--simd sse3"),
        ("mlsearch -s a -m JC -k", "-k"),
        ("mlsearch --support -z boots", "no tree to map"),
        ("mlsearch --rfdist", "no file of trees"),
        ("mlsearch --rfdist a -z b", "both name the file of trees"),
        ("mlsearch --rfdist a --rfdist-metric rf,tbe", "--rfdist-metric tbe: expected"),
        ("mlsearch --consense -t a --rfdist-metric rf", "consensus; compare has it"),
        ("mlsearch -f R -z a", "-f R compares"),
        ("mlsearch --gcf a", "no tree whose branches"),
        ("mlsearch --terrace -s a -q b", "no tree whose terrace"),
        ("mlsearch --terrace -s a -t b", "needs partitions"),
        ("mlsearch --terrace 0 -s a -t b -q c", "--terrace 0: expected"),
        ("mlsearch --scf 100 -t a", "no alignment"),
        ("mlsearch --scf 0 -t a -s b", "--scf 0: expected"),
        ("mlsearch --gcf a -t b --support", "name different analyses"),
        ("mlsearch --consense BEST -t x", "consensus rule"),
        ("mlsearch --consense MR40 -t x", "consensus rule"),
        ("mlsearch --consense -t x --bs-metric tbe", "does not apply to --consense"),
        ("mlsearch simulate -t pars{3} -m JC --sites 5 -n x", "one file, or rand"),
        ("mlsearch simulate -t rand{9} -m JC -n x", "no number of sites"),
        ("mlsearch simulate -t rand{9} --sites 5 -n x --missing 1", "less than 1"),
    ] {
        match try_plan(line) {
            Err(error) => {
                assert_eq!(error.exit_code(), 2);
                assert!(error.to_string().contains(expected), "{line}: {error}");
            }
            Ok(plan) => panic!("{line} was accepted: {plan:?}"),
        }
    }
    let message = try_plan("mlsearch -T 0 -e 0").unwrap_err().to_string();
    assert_eq!(message.lines().count(), 4, "alignment, model, epsilon, threads: {message}");
}

#[test]
fn a_simulation_needs_a_tree_a_model_sites_and_a_name() {
    let line = "mlsearch simulate --tree rand{50} --model GTR+G --sites 100 --missing 0.4 --prefix sim -p 9";
    let plan = plan(line);
    let expected =
        "Simulate { tree: Random(50), num_sites: Some(100), missing: 0.4, mean_brlen: 0.05 }";
    assert_eq!(command(line), expected);
    assert_eq!((plan.data.model.as_deref(), plan.seed), (Some("GTR+G"), 9));
    assert_eq!(plan.output.prefix, PathBuf::from("sim"));
}
