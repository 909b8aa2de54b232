//! `mlsearch sample`: files, numbers, refusals. That the chains have the right distributions is tested in `src/library/sampler`.

use crate::util::{Scratch, assert_same_bytes_on, report, repository};

const SHORT: &str = "--ngen 600 --samplefreq 20 --diagnfreq 150";

fn primates() -> String {
    format!("-s {}", repository("datasets/primates.phy").display())
}

fn read(scratch: &Scratch, kind: &str) -> String {
    let path = scratch.path().join(format!("x.mlsearch.{kind}"));
    std::fs::read_to_string(path).expect("a result")
}

/// Rows of numbers of a file of parameters, and their names.
fn parameters(scratch: &Scratch, run: usize) -> (Vec<String>, Vec<Vec<f64>>) {
    let text = read(scratch, &format!("run{run}.p"));
    let mut lines = text.lines();
    assert!(lines.next().expect("a line").starts_with("[ID: "));
    let names = lines.next().expect("a line").split('\t').map(String::from).collect();
    let row = |line: &str| line.split('\t').map(|value| value.parse().expect("a number")).collect();
    (names, lines.map(row).collect())
}

#[test]
fn a_sample_has_all_its_files() {
    let scratch = Scratch::new();
    let ran = scratch.succeed(&format!("sample {} -m HKY+FO+I+G {SHORT} -n x -T 1", primates()));
    assert!(ran.stderr.contains("the effective sample size is below 200"), "{}", ran.stderr);
    let (names, rows) = parameters(&scratch, 2);
    let expected = "Gen LnL LnPr TL kappa pi(A) pi(C) pi(G) pi(T) alpha pinvar";
    assert_eq!(names.join(" "), expected);
    assert_eq!(rows.len(), 31);
    assert_eq!((rows[0][0], rows[30][0]), (0.0, 600.0));
    assert!(rows.iter().all(|row| (row[5..9].iter().sum::<f64>() - 1.0).abs() < 1e-9));
    let trees = read(&scratch, "run2.trees");
    assert_eq!(trees.lines().count(), 31);
    // What is sampled is read by the other commands.
    scratch.write("last.nwk", trees.lines().last().expect("a tree"));
    scratch.succeed("--consense --tree x.mlsearch.run2.trees -n c");
    let report = report(&scratch, "x");
    let sampling = &report["sampling"];
    assert_eq!((&sampling["samples"], &sampling["burnin_samples"]), (&24.into(), &7.into()));
    assert_eq!(sampling["parameters"].as_array().expect("a list").len(), names.len() - 1);
    assert_eq!(sampling["acceptance"][0].as_array().expect("a list").len(), 16);
    let temperature = sampling["temperatures"][1].as_f64().expect("a number");
    assert!(temperature != 0.1, "it is adapted");
    assert!(sampling["agreement"]["asdsf"].as_f64().is_some());
    assert_eq!(sampling["brlen_prior"], "gammadir{1/0.1/1/1}");
    let consensus = read(&scratch, "posteriorTree");
    assert!(consensus.contains(")1.0000:") && consensus.contains("Homo_sapiens:0."), "{consensus}");
    let probabilities = read(&scratch, "posteriorSplits");
    assert!(probabilities.lines().count() >= 10 && probabilities.contains("1.000000\t1.000000"));
    assert_eq!(read(&scratch, "mapTree").lines().count(), 1);
}

#[test]
fn a_check_describes_the_sample() {
    let scratch = Scratch::new();
    let data = format!("{} -m HKY+FO+G -T 1", primates());
    let ran = scratch.succeed(&format!("sample {data} --ngen 3000 --nchains 3 --nruns 2 --check"));
    let row = |name: &str| {
        let line = ran.stdout.lines().find(|line| line.trim_start().starts_with(name));
        let line = line.unwrap_or_else(|| panic!("no '{name}' in {}", ran.stdout));
        line.split(name).nth(1).expect("a value").trim().to_string()
    };
    assert!(row("memory").starts_with("about "), "{}", ran.stdout);
    let per_second: f64 =
        row("generations of a run in a second")["about ".len()..].parse().unwrap();
    assert!(per_second > 1.0, "{}", ran.stdout);
    assert_eq!(row("runs at the same time"), "1");
    assert!(!ran.stdout.contains("search"), "{}", ran.stdout);
    assert!(scratch.files().is_empty());
    for (options, said) in [
        ("-m GTR+R4 --prset freeratepr=dir{1/2}", "has 4 of them"),
        ("-m GTR --opt-branches off", "'--opt-branches' is no option of sample"),
        ("-m GTR --mem 1M", "--mem: 1.0 MiB are not enough"),
        ("-m GTR --temp 1e308", "--temp 1e308: expected a number, from 0 to 1000"),
        ("-m GTR+I --prset pinvarpr=uni{0.995/1}", "within 0 and 0.99"),
    ] {
        let ran = scratch.run(&format!("sample {} {options} --check", primates()));
        assert!(ran.code == 2 && ran.stderr.contains(said), "{options}: {}", ran.stderr);
    }
    // What has no effect is said.
    let ran = scratch.succeed(&format!(
        "sample {} -m JC --prset omegapr=dir{{2/1}},brlenspr=exp{{10}} --ngen 200 --samplefreq 10 -n noted",
        primates()
    ));
    let note = "no model has a parameter for --prset omegapr: no effect";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
}

/// The likelihood of the last state, which was changed step by step, is that of its tree.
#[test]
fn a_sampled_likelihood_is_that_of_the_sampled_tree() {
    let scratch = Scratch::new();
    let data = format!(
        "-s {} -q {} -m GTR{{1/3/1/1/3/1}}+FU{{0.3/0.2/0.2/0.3}}+G{{0.6}} --restricted",
        repository("datasets/gappy.phy").display(),
        repository("partitions/gappy.part").display()
    );
    let model = scratch.write("model.part", &{
        let text = std::fs::read_to_string(repository("partitions/gappy.part")).expect("there");
        let model = "GTR{1/3/1/1/3/1}+FU{0.3/0.2/0.2/0.3}+G{0.6}";
        let line = |line: &str| line.split_once(',').map(|rest| format!("{model},{}\n", rest.1));
        text.lines().filter_map(line).collect::<String>()
    });
    let data = data.replace(&repository("partitions/gappy.part").display().to_string(), model);
    for restricted in ["on", "off"] {
        let data = format!("{data} {restricted}");
        scratch.succeed(&format!("sample {data} --ngen 700 --samplefreq 700 --redo -n x -T 1"));
        let (_, rows) = parameters(&scratch, 1);
        scratch.write("last.nwk", read(&scratch, "run1.trees").lines().last().expect("a tree"));
        scratch
            .succeed(&format!("--evaluate {data} -t last.nwk --opt-branches off --redo -n e -T 1"));
        let evaluated = report(&scratch, "e")["log_likelihood"].as_f64().expect("a number");
        let sampled = rows.last().expect("a row")[1];
        assert!((evaluated - sampled).abs() < 1e-4, "{restricted}: {sampled}, not {evaluated}");
    }
}

#[test]
fn a_sample_does_not_depend_on_threads_and_kernels() {
    let scratch = Scratch::new();
    let data = format!(
        "-s {} -q {} --brlen scaled",
        repository("datasets/primates.phy").display(),
        repository("partitions/primates.part").display()
    );
    let kinds =
        ["run1.p", "run2.p", "run1.trees", "posteriorTree", "posteriorSplits", "mapTree", "json"];
    let command = format!("sample {data} -m GTR+FO+G {SHORT} --nchains 3");
    assert_same_bytes_on(&["-T 1", "-T 2", "-T 5 --simd scalar"], &scratch, &command, &kinds);
}

#[test]
fn partitions_may_have_own_lengths_free_rates_and_other_priors() {
    let scratch = Scratch::new();
    let data = format!("{} -q {}", primates(), repository("partitions/primates.part").display());
    let options =
        "-m HKY+FO+R2 -M --brlenspr uni{0/5} --prset statefreqpr=dir{10},tratiopr=beta{2/1}";
    let command = format!("sample {data} {options} {SHORT} --nchains 2 --ss 3");
    let kinds = ["run1.p", "run2.trees", "json"];
    assert_same_bytes_on(&["-T 1", "-T 3"], &scratch, &command, &kinds);
    scratch.succeed(&format!("{command} -n x -T 2 --redo"));
    let names = parameters(&scratch, 1).0.join(" ");
    assert!(names.starts_with("Gen LnL LnPr TL{1} TL{2} TL{3} kappa{1} pi(A){1}"), "{names}");
    assert!(names.contains("rate(1){3} rate(2){3} weight(1){3} weight(2){3}"), "{names}");
    let sampling = report(&scratch, "x")["sampling"].clone();
    assert_eq!(sampling["priors"]["statefreqpr"], "dir{10}");
    assert_eq!(sampling["priors"]["brlenspr"], "uni{0/5}");
    assert_eq!(sampling["priors"]["shapepr"], "exp{1}");
    assert!(sampling["marginal_likelihood"]["ln"].as_f64().expect("a number") < -5000.0);
}

/// The numbers in names are those of the partition file, in its order, though partitions are computed in the order of their
/// names.
#[test]
fn names_have_the_numbers_of_the_partitions_in_their_file() {
    let scratch = Scratch::new();
    let parts =
        scratch.write("two.part", "JC+I, z = 1-400\nHKY+FO, y = 401-700\nJC+G, a = 701-898\n");
    let data = format!("{} -q {parts} --brlen scaled", primates());
    scratch.succeed(&format!("sample {data} {SHORT} -n x -T 1"));
    let names = parameters(&scratch, 1).0.join(" ");
    let of_partitions = "pinvar{1} kappa{2} pi(A){2} pi(C){2} pi(G){2} pi(T){2} alpha{3}";
    assert_eq!(names, format!("Gen LnL LnPr TL {of_partitions} m{{1}} m{{2}} m{{3}}"));
    let rows = parameters(&scratch, 1).1;
    let of_first = |row: &Vec<f64>| 400.0 * row[11] + 300.0 * row[12] + 198.0 * row[13];
    assert!(rows.iter().all(|row| (of_first(row) / 898.0 - 1.0).abs() < 1e-9));
    let acceptance = report(&scratch, "x")["sampling"]["acceptance"][0].clone();
    let kinds: Vec<&str> = acceptance
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["proposal"].as_str().expect("a name"))
        .filter(|name| name.contains('{'))
        .collect();
    assert_eq!(
        kinds,
        ["pinvar {1}", "all parameters {2}", "exchange rates {2}", "frequencies {2}", "alpha {3}"]
    );
}

#[test]
fn a_rule_ends_the_runs_early_and_priors_need_no_data() {
    let scratch = Scratch::new();
    let common = format!("sample {} -m JC -n x -T 1 --prior-only --samplefreq 5", primates());
    scratch.succeed(&format!("{common} --ngen 1e6 --diagnfreq 40000 --nchains 1 --stop ess=50"));
    let sampling = report(&scratch, "x")["sampling"].clone();
    assert_eq!(
        (&sampling["stopped_by_rule"], &sampling["prior_only"]),
        (&true.into(), &true.into())
    );
    let generations = sampling["generations"].as_u64().expect("a number");
    assert!((80_000..1_000_000).contains(&generations), "{generations}");
    let (_, rows) = parameters(&scratch, 1);
    assert!(rows.iter().all(|row| row[1] == 0.0), "no likelihood");
}

#[test]
fn samples_under_a_constraint_have_its_branches_and_stones_lead_to_a_likelihood() {
    let scratch = Scratch::new();
    // The data say otherwise.
    let others = "Tarsius_syrichta,Pan,Gorilla,Pongo,Hylobates,Macaca_fuscata,M_mulatta,M_fascicularis,M_sylvanus";
    scratch.write("c.nwk", &format!("((Homo_sapiens,Lemur_catta),{others},Saimiri_sciureus);"));
    let options = "-m JC -g c.nwk -n x -T 1 --temp 0.2 --ngen 3000 --samplefreq 50 --ss 4";
    let ran = scratch.succeed(&format!("sample {} {options}", primates()));
    assert!(ran.stdout.contains("by 4 stepping stones"), "{}", ran.stdout);
    let sampling = report(&scratch, "x")["sampling"].clone();
    assert_eq!(sampling["temperatures"][1], 0.2);
    let marginal = &sampling["marginal_likelihood"];
    assert_eq!((&marginal["steps"], &marginal["generations_per_step"]), (&4.into(), &600.into()));
    let of_runs = marginal["of_runs"].as_array().expect("a list");
    assert_eq!(of_runs.len(), 2);
    assert!(
        of_runs.iter().all(|ln| (-20_000.0..-5000.0).contains(&ln.as_f64().expect("a number")))
    );
    let splits = sampling["splits"].as_array().expect("a list");
    let is_forced = |split: &serde_json::Value| {
        let taxa = split["taxa"].as_array().expect("names");
        let both = ["Homo_sapiens", "Lemur_catta"];
        taxa.len() == 2 && taxa.iter().all(|name| both.contains(&name.as_str().expect("a name")))
    };
    let forced = splits.iter().find(|split| is_forced(split)).expect("the constraint");
    assert_eq!(forced["probability"], 1.0);
}

/// Means and standard deviations of the first 150 columns of primates.phy. MrBayes 3.2.7a (Debian): lset nst=2 rates=equal;
/// prset statefreqpr=fixed(equal) brlenspr=unconstrained:exponential(10); mcmc nruns=2 nchains=4 ngen=1000000
/// samplefreq=100; sump burninfrac=0.25; sumt burninfrac=0.25.
const MRBAYES: [(&str, f64, f64); 2] = [("TL", 1.428804, 0.105504), ("kappa", 5.391136, 0.934629)];

/// Probabilities of the same sample: of chimpanzee and man, chimpanzee and gorilla, the apes.
const MRBAYES_SPLITS: [(&[&str], f64); 3] = [
    (&["Homo_sapiens", "Pan"], 0.7591654),
    (&["Gorilla", "Pan"], 0.2023730),
    (&["Gorilla", "Homo_sapiens", "Hylobates", "Pan", "Pongo"], 0.8783496),
];

#[test]
fn mrbayes_has_the_same_posterior() {
    let scratch = Scratch::new();
    let primates = std::fs::read_to_string(repository("datasets/primates.phy")).expect("there");
    let rows = primates.lines().skip(1).filter_map(|line| {
        let (name, sequence) = line.split_once(' ')?;
        Some(format!("{name} {}\n", &sequence.trim()[..150]))
    });
    scratch.write("short.phy", &format!("12 150\n{}", rows.collect::<String>()));
    let options = "--brlenspr exp{10} --ngen 400000 --samplefreq 20 --nchains 2 -n x -T 2";
    scratch.succeed(&format!("sample -s short.phy -m K80 {options}"));
    let sampling = report(&scratch, "x")["sampling"].clone();
    let parameters = sampling["parameters"].as_array().expect("a list");
    for (name, expected, sd) in MRBAYES {
        let found = parameters.iter().find(|one| one["name"] == name).expect("a parameter");
        let [mean, found_sd] = ["mean", "sd"].map(|field| found[field].as_f64().expect("a number"));
        assert!((mean - expected).abs() < 0.15 * sd, "{name}: {mean}, not {expected}");
        assert!((found_sd / sd - 1.0).abs() < 0.15, "{name}: sd {found_sd}, not {sd}");
    }
    let splits = sampling["splits"].as_array().expect("a list");
    for (taxa, expected) in MRBAYES_SPLITS {
        let is_it = |split: &&serde_json::Value| {
            let found = split["taxa"].as_array().expect("names");
            let common = found.iter().filter(|name| taxa.contains(&name.as_str().expect("a name")));
            match common.count() {
                0 => found.len() + taxa.len() == 12,
                common => found.len() == taxa.len() && common == taxa.len(),
            }
        };
        let found = splits.iter().find(is_it).map(|split| split["probability"].as_f64());
        let found = found.flatten().unwrap_or(0.0);
        assert!((found - expected).abs() < 0.02, "{taxa:?}: {found}, not {expected}");
    }
}

#[test]
fn what_cannot_be_sampled_is_refused() {
    let scratch = Scratch::new();
    for (options, said) in [
        ("-m GTR+FO --prset statefreqpr=dir{1/2}", "GTR+FO has 4 of them"),
        (
            "-m GTR+G --prset shapepr=uni{3/2}",
            "--prset shapepr=uni{3/2}: expected exp{RATE} or uni{FROM/TO}",
        ),
        (
            "-m GTR+G --prset alpha=exp{1}",
            "expected NAME=PRIOR, with one of the names brlenspr, revmatpr",
        ),
        ("-m GTR+G --brlenspr exp{10} --prset brlenspr=exp{1}", "brlenspr is given twice"),
        ("-m GTR+G --ngen 0", "--ngen 0: expected a number of generations"),
        ("-m GTR+G --ngen 100", "no sample would be drawn"),
        ("-m GTR+G --ngen 1e9 --samplefreq 1", "more than 1000000 samples"),
        ("-m GTR+G --nruns 0", "--nruns 0: expected a number from 1 to 1000"),
        ("-m GTR+G --temp -1", "--temp -1"),
        ("-m GTR+G --burninfrac 1", "--burninfrac 1: expected"),
        ("-m GTR+G --stop asdsf", "--stop asdsf: expected"),
        ("-m GTR+G --nruns 1 --stop asdsf=0.01", "give --nruns 2 or more"),
        ("-m GTR+G --brlenspr exp", "--brlenspr exp: expected"),
        ("-m GTR+G --brlenspr gammadir{1/2}", "expected gammadir{SHAPE"),
        ("-m GTR+G --root midpoint", "'--root' is no option of sample; search,"),
        ("-m GTR+G --search", "name different analyses: sample, --search"),
    ] {
        let ran = scratch.run(&format!("sample {} {options} -n x", primates()));
        ran.assert_refused(&[said]);
    }
    let ran = scratch.run(&format!("--search {} -m GTR+G --ngen 10 -n x", primates()));
    ran.assert_refused(&["'--ngen' is no option of search; sample has it"]);
}
