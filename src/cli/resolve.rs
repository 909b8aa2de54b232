//! From the options as typed to an [`Analysis`], or to everything that is wrong with the command.

use super::ancestral::resolve_ancestral;
use super::args::{Args, Mode, Switch};
use super::bootstrap::resolve_bootstrap;
use super::data::{NO_MODEL, resolve_data};
use super::files::{resolve_command, resolve_prefix};
use super::gpu_selftest::resolve_gpu_selftest;
use super::mcmc::{check_mcmc_options, give_each_chain_a_tree};
use super::rooting::{NO_ROOT, resolve_rooting};
use super::simulate::resolve_simulate;
use super::support::resolve_support;
use super::topologies::resolve_tests;
use super::values::{
    parse_cards, parse_count, parse_engine, parse_instruction_set, parse_memory, parse_precision,
    parse_threads, parse_trees,
};
use super::verb::{Faults, Verb, find_verb};
use crate::commands::Analysis;
use crate::commands::sample::Sample;
use crate::error::{Error, Result, shorten};
use crate::likelihood::ScorePrecision;
use crate::plan::{
    AnalysisOptions, BrlenLinkage, DEFAULT_SEED, DataOptions, Facts, OutputOptions, Plan,
    RunOptions, SearchEffort, Threads, TreeSource,
};
use std::any::Any;
use std::path::PathBuf;

/// Gives a meaning to what was typed.
///
/// # Errors
/// [`Error::Usage`] with every contradiction, missing option and unusable value.
pub fn resolve(args: &Args) -> Result<Analysis> {
    let mut faults = Faults::default();
    let analysis = match &args.mode {
        Some(Mode::Simulate(simulate)) => resolve_simulate(simulate, args, &mut faults),
        Some(Mode::GpuSelftest(selftest)) => resolve_gpu_selftest(selftest, args, &mut faults),
        None => resolve_main(args, &mut faults),
    };
    if faults.0.is_empty() {
        return Ok(analysis);
    }
    shorten(&mut faults.0);
    // The plainest command of all: users who name no model may want one selected, as in IQ-TREE.
    if faults.0 == [NO_MODEL] {
        // None can be selected for codons.
        let data_type = args.data_type.as_deref().unwrap_or_default().to_ascii_uppercase();
        let model = if data_type.starts_with("CODON") { "GY+F3X4" } else { "auto" };
        faults.add(format!("Try: {} -m {model}", args.command_line));
    }
    if faults.0 == [NO_ROOT] {
        faults.add(format!("Try: {} --root midpoint", args.command_line));
    }
    Err(Error::Usage(faults.0.join("\n")))
}

fn resolve_main(args: &Args, faults: &mut Faults) -> Analysis {
    let verb = find_verb(args, faults);
    let mut notes = args.notes.clone();
    if args.rapid_seed.is_some() {
        notes.push(
            "-x: rapid bootstrapping is not available; standard replicates are made instead, as with -b"
                .into(),
        );
    }
    let mut data = resolve_data(args, verb, faults, &mut notes);
    let seed = args.seed.unwrap_or(DEFAULT_SEED);
    let analysis = resolve_command(args, verb, &mut data, faults);
    check_mcmc_options(args, verb, faults);
    let mut search = resolve_search(args, verb, &data, faults);
    let command: &dyn Any = analysis.as_ref();
    if let Some(Sample(asked)) = command.downcast_ref() {
        give_each_chain_a_tree(&mut search.trees, asked);
    }
    let input = analysis.named_after().or(data.msa.as_deref()).map(PathBuf::from);
    let engine = faults.or(parse_engine(args.backend.as_deref(), args.gpu.as_deref()), None);
    let precision = parse_precision(args.gpu_precision.as_deref(), engine, searches(verb));
    let (engine, score_precision) = faults.or(precision, (engine, ScorePrecision::Double));
    let names = (args.name.as_deref(), args.prefix.as_deref(), args.out_dir.as_deref());
    let prefix = resolve_prefix(names, input.as_deref(), faults);
    let plan = Plan {
        facts: Facts::default(),
        is_check: args.check || args.algorithm.as_deref() == Some("c"),
        data,
        search,
        bootstrap: resolve_bootstrap(args, verb, faults),
        support: resolve_support(args, verb, faults),
        tests: resolve_tests(args, verb, faults, &mut notes),
        ancestral: resolve_ancestral(args, verb, faults),
        seed,
        run: RunOptions {
            threads: faults.or(parse_threads(args.threads.as_deref()), Threads::Fixed(1)),
            memory: faults.or(parse_memory(args.mem.as_deref()), None),
            engine,
            cards: faults.or(parse_cards(args.gpu.as_deref()), 0),
            score_precision,
            instruction_set: faults.or(parse_instruction_set(args.simd.as_deref()), None),
        },
        output: OutputOptions {
            prefix,
            redo: args.redo,
            sitelh: args.sitelh,
            root: resolve_rooting(args, verb, faults),
            quiet: args.quiet,
        },
        command_line: args.command_line.clone(),
        resuming_command: args.resuming_command.clone(),
        processor_command: args.processor_command.clone(),
        notes,
    };
    Analysis::new(plan, analysis)
}

/// True for what searches trees.
fn searches(verb: Verb) -> bool {
    matches!(verb, Verb::Search | Verb::All | Verb::Bootstrap)
}

fn resolve_search(
    args: &Args,
    verb: Verb,
    data: &DataOptions,
    faults: &mut Faults,
) -> AnalysisOptions {
    let (opt_model, opt_branches) =
        (args.opt_model != Some(Switch::Off), args.opt_branches != Some(Switch::Off));
    let searches = searches(verb);
    if !searches && (args.spr_radius.is_some() || args.spr_cutoff.is_some()) {
        faults.add("--spr-radius (-i) and --spr-cutoff apply only to searches: leave them out");
    }
    if !searches && (args.fast || args.thorough) {
        faults.add("--fast and --thorough apply only to searches: leave them out");
    }
    if !searches && !matches!(verb, Verb::Start | Verb::Dist) && args.keep_identical {
        faults.add("--keep-identical applies only to searches and --dist: leave it out");
    }
    if !searches && !matches!(verb, Verb::Start | Verb::Sample) && args.tree_constraint.is_some() {
        faults.add("--tree-constraint (-g, -r) applies only to searches and samples: leave it out");
    }
    if args.fast && args.thorough {
        faults.add("--fast and --thorough exclude each other: give only one of them");
    }
    let effort = match (args.fast, args.thorough) {
        (true, _) => SearchEffort::Fast,
        (_, true) => SearchEffort::Thorough,
        _ => SearchEffort::Normal,
    };
    if !opt_branches && verb != Verb::Evaluate {
        faults.add("--opt-branches off applies only to --evaluate");
    }
    if args.partition_trees.is_some()
        && (verb != Verb::Evaluate || data.brlen != BrlenLinkage::Unlinked)
    {
        faults.add("--partition-trees applies only to --evaluate -M");
    }
    if args.sitelh && !matches!(verb, Verb::Search | Verb::Evaluate | Verb::All) {
        faults.add("--sitelh applies only to --search, --evaluate and --all");
    }
    if args.lh_epsilon.is_some_and(|e| !(e > 0.0 && e.is_finite())) {
        faults.add("--lh-epsilon (-e) must be a positive number (log-likelihood units)");
    }
    if args.spr_radius == Some(0) {
        faults.add("--spr-radius (-i) must be at least 1 (branches)");
    }
    let spr_cutoff = args.spr_cutoff.as_deref().map(|text| match text.parse::<f64>() {
        Ok(cutoff) if cutoff > 0.0 && cutoff.is_finite() => Some(cutoff),
        _ if text.eq_ignore_ascii_case("off") => None,
        _ => {
            faults.add(format!("--spr-cutoff {text}: expected a positive number or 'off'"));
            None
        }
    });
    AnalysisOptions {
        trees: resolve_trees(args, verb, faults),
        partition_trees: args.partition_trees.clone(),
        opt_model,
        opt_branches,
        lh_epsilon: args.lh_epsilon,
        effort,
        spr_radius: args.spr_radius,
        spr_cutoff,
        keep_identical: args.keep_identical,
        constraint: args.tree_constraint.clone(),
    }
}

/// Starting trees, or the trees to evaluate; empty for commands that take files of their own.
fn resolve_trees(args: &Args, verb: Verb, faults: &mut Faults) -> Vec<TreeSource> {
    if !verb.takes_trees() {
        return Vec::new();
    }
    let many_trees = args.many_trees.clone().map(TreeSource::File);
    if many_trees.is_some() && verb != Verb::Evaluate {
        faults.add("-z applies only to --evaluate, --tests, -f b, -f r and -J: give trees with -t");
    }
    if args.random_start && args.tree.is_some() {
        faults.add(
            "-d means random starting trees, but -t (--tree) names the trees: give only one of them",
        );
    }
    // -# counts replicates where there are some, else runs from different starting trees.
    let counts_runs = matches!(verb, Verb::Search | Verb::Start);
    let runs = match args.runs.as_deref().filter(|_| counts_runs) {
        None => 1,
        Some(text) => faults.or(parse_count("-#", text), 1),
    };
    match args.tree.as_deref() {
        Some(text) => {
            if counts_runs && args.runs.is_some() {
                faults.add(
                    "-# sets the number of starting trees, but -t (--tree) names the trees: give only one of \
                     them",
                );
            }
            let mut trees = faults.or(parse_trees(text), Vec::new());
            trees.extend(many_trees);
            trees
        }
        None if many_trees.is_some() => many_trees.into_iter().collect(),
        None if verb == Verb::Evaluate => {
            faults.add("no tree to evaluate: give -t FILE (--tree FILE)");
            Vec::new()
        }
        None if args.random_start => vec![TreeSource::Random(runs)],
        None if (args.runs.is_none() || !counts_runs)
            && matches!(verb, Verb::Search | Verb::All) =>
        {
            vec![TreeSource::Auto]
        }
        None => vec![TreeSource::Parsimony(runs)],
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::{Stop, parse};
    use super::*;
    use crate::commands::Command;
    use crate::commands::compare::Compare;
    use crate::commands::concordance::Concordance;
    use crate::commands::consensus::Consensus;
    use crate::commands::evaluate::Evaluate;
    use crate::commands::search::Search;
    use crate::commands::simulate::Simulate;
    use crate::commands::support::Support;
    use crate::plan::{ConsensusRule, DEFAULT_REPLICATES, TreeMetric};

    fn analysis(line: &str) -> Analysis {
        try_plan(line).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    fn plan(line: &str) -> Plan {
        analysis(line).plan
    }

    /// The analysis of a line, which must be of this kind.
    fn command<T: Command + Clone>(line: &str) -> T {
        let analysis = analysis(line);
        let command: &dyn Any = analysis.command.as_ref();
        command.downcast_ref::<T>().unwrap_or_else(|| panic!("{line}: {analysis:?}")).clone()
    }

    fn try_plan(line: &str) -> Result<Analysis> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        match parse(&words) {
            Ok(args) => resolve(&args),
            Err(Stop::Refused(error)) => Err(error),
            Err(Stop::Clap(error)) => panic!("{line}: {error}"),
            Err(Stop::Guide(_)) => panic!("{line} is no command"),
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
        assert_eq!(command::<Search>(DATA), Search { replicates: false });
        assert_eq!(plan.search.trees, [TreeSource::Auto]);
        assert_eq!((plan.seed, plan.data.brlen), (DEFAULT_SEED, BrlenLinkage::Linked));
        assert!(plan.data.restricted && plan.search.opt_model && plan.search.opt_branches);
        assert_eq!(
            plan.run,
            RunOptions {
                threads: Threads::Auto { max: None },
                memory: None,
                engine: None,
                cards: 0,
                score_precision: ScorePrecision::Double,
                instruction_set: None
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
        let expected = Support { tree: "best.nwk".into(), bs_trees: "boots.nwk".into() };
        assert_eq!(command::<Support>(raxml), expected);
        assert_eq!(support.notes.len(), 1, "-m is said to be unused");
        let ng = "mlsearch --support --tree best.nwk --bs-trees boots.nwk --prefix x";
        assert_eq!(command::<Support>(ng), expected);
        for line in [
            "-J MRE -z t.nwk",
            "-L MRE -z t.nwk",
            "--consense MRE --tree t.nwk",
            "--consense=mre -t t.nwk",
        ] {
            let rule = ConsensusRule::Extended;
            let expected = Consensus { rule, trees: "t.nwk".into() };
            assert_eq!(command::<Consensus>(&format!("mlsearch {line}")), expected);
        }
        for line in ["-f r -z t.nwk", "--rfdist --tree t.nwk", "--rfdist t.nwk"] {
            let line = format!("mlsearch {line}");
            let metrics = vec![TreeMetric::RobinsonFoulds];
            let expected = Compare { trees: "t.nwk".into(), reference: None, metrics };
            assert_eq!(command::<Compare>(&line), expected);
            assert_eq!(plan(&line).output.prefix, PathBuf::from("t.nwk"));
        }
    }

    #[test]
    fn trees_are_compared_with_others_by_several_distances() {
        for line in ["-f R -t r.nwk -z t.nwk", "--rfdist t.nwk --tree r.nwk", "-t r.nwk -rf t.nwk"]
        {
            let asked: Compare = command(&format!("mlsearch {line} --rfdist-metric quartet,rf,KF"));
            assert_eq!(asked.reference, Some("r.nwk".into()), "{line}");
            use TreeMetric::{BranchScore, Quartet, RobinsonFoulds};
            assert_eq!(asked.metrics, [RobinsonFoulds, BranchScore, Quartet]);
        }
        let certainty = plan("mlsearch -f i -t best.nwk -z boots.nwk").support.kinds;
        assert_eq!(certainty.iter().map(|kind| kind.name()).collect::<Vec<_>>(), ["ic1", "ica"]);
        let expected = Concordance {
            tree: "r.nwk".into(),
            gene_trees: Some("genes.nwk".into()),
            quartets: Some(100),
        };
        let line = "mlsearch -t r.nwk --gcf genes.nwk --scf -s a.phy";
        assert_eq!(command::<Concordance>(line), expected);
    }

    #[test]
    fn seeds_prefixes_and_replicates() {
        assert_eq!(plan(&format!("{DATA} --all")).bootstrap.replicates, DEFAULT_REPLICATES);
        let all = plan(&format!("{DATA} --all -p 3 -k"));
        assert_eq!((all.seed, all.bootstrap.seed, all.bootstrap.with_brlens), (3, 3, true));
        assert_eq!(plan(&format!("{DATA} -w out")).output.prefix, PathBuf::from("out/a.phy"));
        assert_eq!(plan(&format!("{DATA} --prefix /x/y")).output.prefix, PathBuf::from("/x/y"));
        assert_eq!(command::<Evaluate>(&format!("{DATA} --sitelh -t a.nwk")), Evaluate);
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
            let [run, check] =
                [line.clone(), format!("{line} --check")].map(|line| analysis(&line));
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
            ("mlsearch -s a -m JC --dist-format lower", "applies only to --dist"),
            ("mlsearch --dist -s a -m F84{x}", "F84 needs one number"),
            ("mlsearch --dist -s a -m F84+GC", "+GC needs the shape"),
            ("mlsearch -s a -m JC -f ?", "-f ? is unknown"),
            ("mlsearch -s a -m JC -b 1", "the number of replicates"),
            ("mlsearch -s a -m JC -b 1 -# autoX", "-# autoX: expected"),
            ("mlsearch -s a -m JC -# autoMRE", "-# autoMRE: expected a number"),
            ("mlsearch -s a -m JC --bs-trees 10", "--bs-trees applies only to"),
            ("mlsearch -s a -m JC --all -# 5 --bs-trees 10", "give only one of them"),
            ("mlsearch -s a -m JC -# 5 -t pars{2}", "give only one of them"),
            ("mlsearch -s a -m JC -d -t pars{2}", "-d means"),
            ("mlsearch -s a -m JC -z f", "-z applies only to"),
            ("mlsearch -s a -m JC -z f --tests foo", "--tests foo: expected"),
            ("mlsearch -s a -m JC -z f --tests au,", "--tests : expected"),
            ("mlsearch -s a -m JC -z f --tests au --rell 0", "--rell 0: expected a number"),
            ("mlsearch -s a -m JC --evaluate -t f --rell 10", "--rell applies only to --tests"),
            ("mlsearch -s a -m JC --search --tests au", "--tests applies only to"),
            ("mlsearch -s a -m JC --tests au", "no tree to evaluate"),
            ("mlsearch -s a -m JC -M --brlen scaled", "-M means"),
            ("mlsearch -s a -m JC -n x --prefix y", "-n and --prefix"),
            ("mlsearch -s a -m JC -w d --prefix /y", "absolute"),
            ("mlsearch -s a -m JC --prefix ..", "must end in a file name"),
            ("mlsearch -s a -m JC --bs-metric tbe", "--bs-metric applies only to"),
            ("mlsearch -s a -m JC --all --bs-metric tbe,ps", "--bs-metric ps: expected"),
            ("mlsearch -s a -m JC --bootstrap --alrt", "--alrt applies only to"),
            ("mlsearch -s a -m JC --alrt 0", "--alrt 0: expected"),
            ("mlsearch --support -t a -z b --abayes", "--abayes applies only to"),
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
            ("mlsearch -s a -m JC --opt-branches off", "only to --evaluate"),
            ("mlsearch -s a -m JC --evaluate -t x --partition-trees y", "--evaluate -M"),
            ("mlsearch -s a -m JC --evaluate -t x --spr-radius 3", "apply only to searches"),
            ("mlsearch -s a -m JC --evaluate -t x --fast", "apply only to searches"),
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
            ("mlsearch --consense -t a --rfdist-metric rf", "only to --rfdist"),
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
        let (simulate, plan): (Simulate, _) = (command(line), plan(line));
        assert_eq!((&simulate.tree, simulate.num_sites), (&TreeSource::Random(50), Some(100)));
        assert_eq!((simulate.missing, plan.seed), (0.4, 9));
        assert_eq!(plan.output.prefix, PathBuf::from("sim"));
    }
}
