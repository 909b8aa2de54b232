//! What users of RAxML 8, RAxML-NG and IQ-TREE type most, from the examples of their manuals: each command works as it
//! stands, or is refused with the whole corrected command, which works, or with what cannot be done and what is nearest.

use crate::util::{Scratch, log_likelihood, repository};

/// The answer to a command.
#[derive(Clone, Copy)]
enum Answer {
    /// It works; tried with `--check`.
    Works,
    /// It works and takes no `--check`, being about trees.
    WorksOnTrees,
    /// It is refused with this command, tried with `--check`.
    Try(&'static str),
    /// The same, about trees.
    TryOnTrees(&'static str),
    /// It is refused with these words and no command, because nothing here does it.
    Never(&'static str),
}
use Answer::{Never, Try, TryOnTrees, Works, WorksOnTrees};

/// Commands without the name that they have in the manual of their program.
type Commands = &'static [(&'static str, Answer)];

const RAXML: Commands = &[
    // Searches.
    ("-m GTRGAMMA -p 12345 -# 20 -s a.phy -n T2", Works),
    ("-m BINGAMMA -p 12345 -s bin.phy -n T1", Works),
    ("-m PROTGAMMAWAG -p 12345 -s aa.phy -n T2", Works),
    ("-m MULTIGAMMA -p 12345 -s multi.phy -K MK -n T3", Works),
    ("-m MULTIGAMMA -p 12345 -s multi.phy -K ORDERED -n T3", Never("ORDERED is not available")),
    ("-f d -m GTRGAMMAI -p 12345 -s a.phy -q p.txt -M -T 2 -n T5", Works),
    ("-m GTRCATI -p 12345 -s a.phy -n T4", Works),
    ("-m GTRGAMMAX -p 12345 -s a.phy -a weights.txt -n T4", Works),
    ("-m PROTCATLGF -p 12345 -s aa.phy -n T4", Works),
    ("-m PROTGAMMAAUTO --auto-prot=bic -p 12345 -s aa.phy -n T4", Works),
    ("-m ASC_GTRGAMMA --asc-corr=lewis -p 12345 -s variable.phy -n T1", Works),
    ("-m ASC_GTRGAMMA --asc-corr=felsenstein -p 1 -s variable.phy", Never("GTR+G+ASC_FELS{1000}")),
    ("-m GTRGAMMA -p 12345 -g guide.nwk -s a.phy -n T8", Works),
    ("-m GTRGAMMA -p 12345 -r guide.nwk -o Gorilla,Pan -w . -s a.phy -n T9", Works),
    ("-m GTRGAMMA -p 12345 -t t.nwk -i 10 -e 0.01 -s a.phy -n T4 --silent", Works),
    ("-y -d -m GTRCAT -p 12345 -s a.phy -n T13", Works),
    ("-m GTRGAMMA -p 12345 -s a.phy -n T4 --flag-check --set-thread-affinity", Works),
    ("-m GTRCAT -c 40 -D -p 1 -s a.phy -n T4", Try("-m GTRCAT -p 1 -s a.phy -n T4")),
    ("-m GTRGAMMA -j --mesquite -p 1 -s a.phy", Try("-m GTRGAMMA -p 1 -s a.phy")),
    ("-m GTRCAT -V -p 1 -s a.phy -n T11", Try("-m GTR+F -p 1 -s a.phy -n T11")),
    ("-m GTRGAMMA --HKY85 -p 1 -s a.phy -n T12", Try("-m HKY+F+G4 -p 1 -s a.phy -n T12")),
    ("-f E -m GTRCAT -p 1 -s a.phy", Try("--search --fast -m GTRCAT -p 1 -s a.phy")),
    ("-m GTRGAMMA -p 12345 -S struct.txt -s a.phy -n T13", Never("secondary structure")),
    ("-m GTRGAMMA -p 12345 -A S16 -s a.phy", Never("secondary structure")),
    ("-m GTRGAMMA -p 12345 -E exclude.txt -s a.phy", Never("leave them out of the alignment")),
    // Replicates.
    ("-f a -x 12345 -p 12345 -# 100 -m GTRGAMMA -s a.phy -n T1", Works),
    ("-f a -x 12345 -p 12345 -# autoMRE -B 0.02 -m GTRGAMMA -s a.phy -q p.txt -n T9", Works),
    ("-m GTRCAT -p 12345 -b 12345 -# 100 -s a.phy -n T3", Works),
    ("-m GTRGAMMA -p 12345 -x 12345 -N 100 -s a.phy -n T4 -U -H -O -F", Works),
    ("-b 12345 -# autoFC --bootstop-perms=1000 -p 1 -m GTRGAMMA -k -s a.phy -n T5", Works),
    ("-f j -b 12345 -# 100 -m GTRCAT -s a.phy -n REPS", Works),
    ("-f a -x 1 -p 1 -m GTRGAMMA -s a.phy", Try("-f a -x 1 -# 100 -p 1 -m GTRGAMMA -s a.phy")),
    // Given trees, with an alignment.
    ("-f e -t t.nwk -m GTRGAMMA -s a.phy -n T6", Works),
    ("-f h -t t.nwk -z boots.nwk -m GTRGAMMA -s a.phy -n T6", Works),
    ("-f A -t t.nwk -m GTRGAMMA -s a.phy -n T6", Works),
    ("-f x -p 12345 -m GTRGAMMA -s a.phy -n T6", Works),
    ("-f c -m GTRGAMMA -s a.phy -n T6", Works),
    ("-f J -t t.nwk -m GTRGAMMA -s a.phy", Try("--evaluate --alrt -t t.nwk -m GTRGAMMA -s a.phy")),
    ("-f n -z boots.nwk -m GTRGAMMA -s a.phy", Try("--evaluate -t boots.nwk -m GTRGAMMA -s a.phy")),
    (
        "-f g -z boots.nwk -m GTRGAMMA -s a.phy",
        Try("--evaluate --sitelh -t boots.nwk -m GTRGAMMA -s a.phy"),
    ),
    ("-f v -t t.nwk -m GTRCAT -s a.phy -n T6", Never("placement of sequences")),
    ("-f q -m GTRGAMMA -s a.phy", Never("quartets")),
    ("-Y q.txt -m GTRGAMMA -s a.phy", Never("quartets")),
    // Trees alone.
    ("-f b -m GTRGAMMA -t t.nwk -z boots.nwk -n T7", WorksOnTrees),
    ("-f i -m GTRGAMMA -t t.nwk -z boots.nwk -n T8", WorksOnTrees),
    ("-f r -m GTRGAMMA -z boots.nwk -n T9", WorksOnTrees),
    ("-f R -m GTRGAMMA -t t.nwk -z boots.nwk -n T10", WorksOnTrees),
    ("-I autoMRE -m GTRGAMMA -z boots.nwk -p 12345 -n T11", WorksOnTrees),
    ("-m GTRCAT -J MRE -z boots.nwk -n T12", WorksOnTrees),
    ("-m GTRCAT -J T_75 -z boots.nwk -n T13", WorksOnTrees),
    ("-m GTRCAT -L MR -z boots.nwk -n T14", WorksOnTrees),
    ("-f I -m GTRGAMMA -t t.nwk -o Gorilla -n T15", WorksOnTrees),
    ("-f I -m GTRCAT -t t.nwk -n r", TryOnTrees("-f I -m GTRCAT -t t.nwk -n r --root midpoint")),
    ("-m GTRCAT -J MR_DROP -z boots.nwk -n d", TryOnTrees("-m GTRCAT -J MR -z boots.nwk -n d")),
    ("-f m -m GTRGAMMA -t t.nwk -z boots.nwk", Never("comparison of two sets of splits")),
];

const RAXML_NG: Commands = &[
    // Searches.
    ("--msa a.phy --model GTR+G --prefix N1 --threads 2 --seed 2", Works),
    ("--msa a.phy --model GTR+G --tree pars{25},rand{25} --workers 4 --force perf_threads", Works),
    ("--search1 --msa a.phy --msa-format PHYLIP --model GTR+G --prefix N3", Works),
    ("--msa a.phy --model p.txt --brlen unlinked --prefix N4", Works),
    ("--msa a.phy --model GTR+R4+FO --tree-constraint guide.nwk --outgroup Gorilla,Pan", Works),
    ("--msa a.phy --model GTR+G --site-weights weights.txt --lh-epsilon 0.1 --log debug", Works),
    ("--msa a.phy --model JC+G4{0.5} --precision 8 --simd avx2 --redo --rate-scalers on", Works),
    ("--msa aa.phy --data-type AA --model LG+G8+F --pat-comp off --blopt nr_safe", Works),
    ("--msa variable.phy --model GTR+ASC_LEWIS --tree rand{1}", Works),
    ("--msa a.phy --model auto", Works),
    ("--fast --msa a.phy --model DNA", Works),
    ("--check --msa a.phy --model GTR+G --prefix N5", WorksOnTrees),
    ("--parse --msa a.phy --model GTR+G --prefix N6", WorksOnTrees),
    ("--start --msa a.phy --model GTR+G --tree pars{10}", Works),
    (
        "--msa a.phy --model GTR+G --outgroup Gorilla --blmin 1e-9 --stop-rule off",
        Try("--msa a.phy --model GTR+G --outgroup Gorilla"),
    ),
    (
        "--msa a.phy --model GTR+G --nofiles --extra thread-nopin --adaptive off",
        Try("--msa a.phy --model GTR+G"),
    ),
    ("--moose --msa a.phy", Try("-m auto --msa a.phy")),
    ("--modeltest --msa a.phy --model DNA", Try("-m auto --msa a.phy --data-type DNA")),
    ("--pythia --msa a.phy --model GTR+G", Never("prediction of difficulty")),
    // Replicates.
    ("--all --msa a.phy --model p.txt --brlen scaled --bs-trees 100 --tip-inner off", Works),
    ("--all --msa a.phy --model GTR+G --bs-trees autoMRE{500} --bs-metric fbp,tbe", Works),
    (
        "--bootstrap --msa a.phy --model GTR+G --bs-trees 200 --threads auto{4} --workers auto",
        Works,
    ),
    ("--bsmsa --msa a.phy --model GTR+G --bs-trees 10", Works),
    ("--allfast --msa a.phy --model GTR+G", Try("--all --fast --msa a.phy --model GTR+G")),
    (
        "--all --msa a.phy --model GTR+G --bs-metric fbp,sh",
        Try("--all --msa a.phy --model GTR+G --alrt --bs-metric fbp"),
    ),
    ("--ebg --msa a.phy --model GTR+G --tree t.nwk", Never("educated bootstrap guessing")),
    // Given trees, with an alignment.
    (
        "--evaluate --msa a.phy --model GTR+R4 --tree t.nwk --opt-model off --opt-branches off",
        Works,
    ),
    ("--sitelh --msa a.phy --model GTR+G --tree t.nwk", Works),
    ("--loglh --msa a.phy --model GTR+G --tree t.nwk", Works),
    ("--ancestral --msa a.phy --model HKY --tree t.nwk --prefix ASR", Works),
    ("--mutmap --msa a.phy --model HKY --tree t.nwk", Works),
    ("--terrace --msa a.phy --model p.txt --tree t.nwk", Works),
    (
        "--evaluate --sh 1000 --msa a.phy --model GTR+G --tree t.nwk",
        Try("--evaluate --alrt 1000 --msa a.phy --model GTR+G --tree t.nwk"),
    ),
    // Trees alone.
    ("--support --tree t.nwk --bs-trees boots.nwk --prefix S1 --threads 2", WorksOnTrees),
    ("--support --tree t.nwk --bs-trees boots.nwk --prefix S2 --bs-metric tbe", WorksOnTrees),
    ("--rfdist --tree boots.nwk --prefix R1", WorksOnTrees),
    ("--rf --tree boots.nwk --prefix R2", WorksOnTrees),
    ("--rf boots.nwk --prefix R3", WorksOnTrees),
    ("--consense MRE --tree boots.nwk --prefix C1", WorksOnTrees),
    ("--consense MR75 --tree boots.nwk --prefix C2", WorksOnTrees),
    ("--bsconverge --bs-trees boots.nwk --prefix B1 --seed 2 --bs-cutoff 0.01", WorksOnTrees),
    ("--gcf boots.nwk --tree t.nwk --prefix G1", WorksOnTrees),
    (
        "--support --bs-metric gcf --tree t.nwk --bs-trees boots.nwk",
        Never("--gcf FILE --tree FILE"),
    ),
];

const IQTREE: Commands = &[
    // Searches.
    ("-s a.phy -m GTR+G -o Gorilla -pre I3", Works),
    ("-s a.phy -m TEST -nt AUTO -pre I1 -redo", Works),
    ("-s a.phy -m GTR+I+G -seed 7 -mem 4G -fast -quiet -wsl", Works),
    ("-s a.phy -m TIM2+I+G -g guide.nwk -T AUTO -v", Works),
    ("-s a.phy -m GTR+G -t rand", Works),
    ("-s a.phy -m HKY{2.0}+F{0.2,0.3,0.3,0.2} -me 0.05", Works),
    ("-s aa.phy -st AA -m LG4X", Works),
    ("-s cod.phy -st CODON -m GY+F3X4", Works),
    ("-s multi.phy -st MORPH -m MK", Works),
    ("-s a.phy -spp p.txt -m MFP -T AUTO --safe --keep-ident", Works),
    ("-s a.phy", Try("-s a.phy -m auto")),
    ("a.phy", Try("-s a.phy -m GTR+G")),
    ("-s cod.phy --st CODON", Try("-s cod.phy --st CODON -m GY+F3X4")),
    ("-s a.phy -m MF", Works),
    ("-s a.phy -m MF -mset GTR,HKY -mrate E,I,G -cmax 5", Try("-s a.phy -m auto --merge off")),
    ("-s a.phy -Q p.txt -m GTR+G", Try("-s a.phy -q p.txt -M -m GTR+G")),
    ("-s a.phy -m GTR+G --runs 5", Try("-s a.phy -m GTR+G --tree 'pars{5}'")),
    ("-s a.phy -m GTR+G -t RAND", Try("-s a.phy -m GTR+G -t rand")),
    ("-s a.phy -m GTR+G -nt AUTO -ntmax 8", Try("-s a.phy -m GTR+G -T 'auto{8}'")),
    ("-s a.phy -m GTR+G -allnni -ninit 2 -pers 0.2 --rate", Try("-s a.phy -m GTR+G --site-rates")),
    ("-s aa.phy -m LG+C20+G", Works),
    ("-s a.phy -m MIX{HKY,GTR}+G", Never("mixtures of several matrices")),
    ("-s a.phy -m GTR+FO*H4", Never("heterotachy")),
    ("-s cod.phy -st NT2AA -m LG", Never("translation is not available")),
    ("-p folder -m GTR+G", Never("joined into one alignment")),
    ("-S folder -m GTR+G -T AUTO", Never("mlsearch genes -s FILE -q PARTITIONS -m MODEL")),
    ("-s a.phy -m GTR+G --date dates.txt", Never("dating of trees")),
    ("-s a.phy -m GTR+G -lmap 1000", Never("likelihood mapping")),
    ("-s a.phy -q p.txt --symtest-only", Never("tests of symmetry")),
    ("--alisim out -m GTR+G -t t.nwk", Never("mlsearch simulate --tree FILE")),
    // Replicates.
    ("-s a.phy -m GTR+G -bo 100 -wbtl", Works),
    ("-s a.phy -m GTR+G -alrt 1000 -abayes", Works),
    ("-s a.phy -m MFP -B 1000 -T AUTO", Try("-s a.phy -m MFP --all --bs-trees 1000 -T AUTO")),
    (
        "-s a.phy -m MFP -bb 1000 -alrt 1000 -bnni -nt AUTO",
        Try("-s a.phy -m MFP --all --bs-trees 1000 --alrt 1000 -T AUTO"),
    ),
    (
        "-s a.phy -p p.txt -m MFP+MERGE -rcluster 10 -B 1000",
        Try("-s a.phy -q p.txt --brlen scaled -m auto --merge rcluster:10"),
    ),
    ("-s a.phy -spp p.txt -m TESTMERGEONLY", Works),
    ("-s a.phy -spp p.txt -m MF+MERGE -rclusterf 5", Works),
    ("-s a.phy -q p.txt -m GTR+G --merge rcluster", Works),
    ("-s a.phy -q p.txt -m TESTMERGE", Try("-s a.phy -q p.txt -m auto --merge greedy")),
    (
        "-s a.phy -spp p.txt -m GTR+G -bb 1000 -bspec GENESITE",
        Try("-s a.phy -q p.txt --brlen scaled -m GTR+G --all --bs-trees 1000 --sampling GENESITE"),
    ),
    (
        "-s a.phy -m GTR+G -b 100 --tbe",
        Try("-s a.phy -m GTR+G --all --bs-trees 100 --bs-metric tbe"),
    ),
    // Given trees, with an alignment.
    ("-s a.phy -m GTR+G -te t.nwk -nt 2 -asr", Works),
    ("-s a.phy -m GTR+G --tree-fix -t t.nwk", Works),
    ("-s a.phy -m GTR+G -t t.nwk -n 0", Try("-s a.phy -m GTR+G -t t.nwk --evaluate")),
    ("-s a.phy -m GTR+G -n 100 -czb -AICc", Works),
    ("-s a.phy -m GTR+G -fconst 10,10,10,10", Never("GTR+G+ASC_STAM{10/10/10/10}")),
    (
        "-s a.phy -m GTR+G -J 50 --jack-prop 0.4",
        Try("-s a.phy -m GTR+G --all --bs-trees 50 --jackknife 0.4"),
    ),
    ("-s a.phy -m GTR+G -z boots.nwk -n 0 -zb 10000 -zw -au", Works),
    ("-s a.phy -m GTR+G --trees boots.nwk --test 10000 --test-weight --test-au", Works),
    (
        "-s a.phy -m GTR+G -te t.nwk -blfix",
        Try("-s a.phy -m GTR+G --evaluate -t t.nwk --opt-branches off"),
    ),
    ("-t t.nwk --gcf boots.nwk -s a.phy --scf 100 --prefix concord", WorksOnTrees),
    (
        "-te t.nwk -s a.phy -m GTR+G --scfl 100",
        TryOnTrees("--tree t.nwk -s a.phy -m GTR+G --scf 100"),
    ),
    // Trees alone.
    ("-con -t boots.nwk --prefix I2", WorksOnTrees),
    ("-con boots.nwk -minsup 0.5 --prefix I4", WorksOnTrees),
    ("-rf_all boots.nwk --prefix I5", WorksOnTrees),
    ("-rf t.nwk -t boots.nwk --prefix I6", WorksOnTrees),
    ("-rf boots.nwk t.nwk", TryOnTrees("--rfdist boots.nwk --tree t.nwk")),
    ("-sup t.nwk -t boots.nwk", TryOnTrees("--support --tree t.nwk --bs-trees boots.nwk")),
    ("-net boots.nwk", Never("networks")),
    ("-r 17 random.nwk", Never("mlsearch simulate --tree 'rand{N}'")),
];

/// Words for analyses, which users of other programs may guess.
const WORDS: Commands = &[
    ("search -s a.phy -m GTR+G", Works),
    ("evaluate -s a.phy -m GTR+G -t t.nwk", Works),
    ("bootstrap -s a.phy -m GTR+G", Works),
    ("distance -s a.phy", Works),
    ("consensus --tree boots.nwk --prefix W1", WorksOnTrees),
    ("support --tree t.nwk --bs-trees boots.nwk --prefix W2", WorksOnTrees),
    ("rfdist boots.nwk --prefix W3", WorksOnTrees),
    ("root --root midpoint --tree boots.nwk --prefix W4", WorksOnTrees),
    ("check -s a.phy -m GTR+G", WorksOnTrees),
    ("support --help", WorksOnTrees),
    ("select -s a.phy", Works),
    ("select -s a.phy -q p.txt -M --merge rclusterf:50", Works),
    ("test -s a.phy -m JC -z boots.nwk", Works),
    ("ancestral -s a.phy -m JC -t t.nwk", Works),
    ("resample -s a.phy --bs-trees 2", Works),
    ("converge autoMRE --bs-trees boots.nwk --prefix W5", WorksOnTrees),
    ("compare boots.nwk --prefix W6", WorksOnTrees),
    ("terrace 5 -s a.phy -q p.txt --tree t.nwk --prefix W7", WorksOnTrees),
    ("concordance --gcf boots.nwk --tree t.nwk --prefix W8", WorksOnTrees),
    ("support --tree t.nwk --bs-trees boots.nwk --check", WorksOnTrees),
    ("sample -s a.phy -m JC --ngen 1000", Works),
    ("all -s a.phy -m JC --bs-trees 2", Works),
    ("search -s a.phy -m JC --bs-trees 2 --bs-metric tbe", Works),
    ("check --mcmc -s a.phy -m JC --ngen 1000", WorksOnTrees),
    ("help compare --guide", WorksOnTrees),
    ("completions bash", WorksOnTrees),
    ("help sample", WorksOnTrees),
    ("root boots.nwk --root midpoint --prefix W9", WorksOnTrees),
    ("consensus boots.nwk --prefix W10", WorksOnTrees),
    ("draw t.nwk boots.nwk", Never("mlsearch draw <TREE>")),
    ("serch -s a.phy -m GTR+G", Try("search -s a.phy -m GTR+G")),
    ("mcmc -s a.phy -m GTR+G", Never("there is no word 'mcmc'")),
    ("-i a.phy -d nt -m GTR -b 100", Try("all -s a.phy -m GTR+G4 --bs-trees 100")),
];

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    let copied = |name: &str| std::fs::read_to_string(repository(name)).unwrap();
    let primates = copied("datasets/primates.phy");
    scratch.write("a.phy", &primates);
    scratch.write("cod.phy", &copied("datasets/lysozyme.phy"));
    scratch.write("p.txt", "DNA, first = 1-400\nDNA, second = 401-898\n");
    scratch.write("weights.txt", &"1 2 ".repeat(449));
    scratch.write("guide.nwk", "((Gorilla,Pan),(Lemur_catta,Tarsius_syrichta),Pongo);");
    for (name, rows) in [
        ("variable.phy", ["ACGTAC", "ACGTAG", "CAGGTC", "CATGTC", "AATGAC"]),
        ("aa.phy", ["MKVLAA", "MKVLSA", "MRVIAG", "MRIIAG", "MKVLAG"]),
        ("bin.phy", ["010011", "010010", "001011", "101001", "001001"]),
        ("multi.phy", ["012301", "012310", "302211", "102211", "012211"]),
    ] {
        let lines = rows.iter().enumerate().map(|(i, row)| format!("taxon{i}  {row}\n"));
        scratch.write(name, &format!("5 6\n{}", lines.collect::<String>()));
    }
    std::fs::create_dir(scratch.path().join("folder")).unwrap();
    scratch.succeed("--start -s a.phy -t rand{60} -n made");
    let trees = std::fs::read_to_string(scratch.path().join("made.mlsearch.startTree")).unwrap();
    scratch.write("boots.nwk", &trees);
    scratch.write("t.nwk", trees.lines().next().unwrap());
    scratch
}

fn assert_answers(commands: Commands) {
    let scratch = scratch();
    for (command, answer) in commands {
        let before = scratch.files();
        match answer {
            Works => drop(scratch.succeed(&format!("{command} --check"))),
            WorksOnTrees => drop(scratch.succeed(command)),
            Try(expected) | TryOnTrees(expected) => {
                let ran = scratch.run(command);
                ran.assert_refused(&[&format!("\nTry: mlsearch {expected}\n")]);
                assert_eq!(ran.stderr.matches("Try").count(), 1, "{}", ran.stderr);
                assert_eq!(scratch.files(), before, "{command}");
                let tried = expected.replace('\'', "");
                let check =
                    if matches!(answer, Try(_)) { "--check" } else { "--prefix tried --redo" };
                let named = tried.contains("-n ") && check != "--check";
                scratch.succeed(&if named { tried } else { format!("{tried} {check}") });
            }
            Never(words) => {
                let ran = scratch.run(command);
                ran.assert_refused(&[words, "mlsearch --help"]);
                assert!(!ran.stderr.contains("Try: "), "{command}: {}", ran.stderr);
                assert_eq!(scratch.files(), before, "{command}");
            }
        }
    }
}

#[test]
fn commands_of_raxml_are_answered() {
    assert_answers(RAXML);
}

#[test]
fn commands_of_raxml_ng_are_answered() {
    assert_answers(RAXML_NG);
}

#[test]
fn commands_of_iqtree_are_answered() {
    assert_answers(IQTREE);
}

#[test]
fn words_for_analyses_are_understood() {
    assert_answers(WORDS);
}

#[test]
fn options_of_other_analyses_are_named_with_the_words_that_have_them() {
    let scratch = scratch();
    let ran =
        scratch.run("bootstrap -s a.phy -m JC --alrt 5 -z boots.nwk --ngen 10 --sites 5 --abayes");
    ran.assert_refused(&[
        "'--alrt' is no option of bootstrap; search, genes and evaluate have it",
        "'--abayes' is no option of bootstrap; search, genes and evaluate have it",
        "'-z' is no option of bootstrap; support, converge, evaluate, compare, consensus and root have it",
        "'--ngen' is no option of bootstrap; sample has it",
        "'--sites' is no option of bootstrap; simulate has it",
    ]);
    // In the spelling of the user, who may be one of another program.
    scratch
        .run("-b 5 -# 2 -s a.phy -m JC -i 3 -o Pan")
        .assert_refused(&["'-o' is no option of bootstrap"]);
    scratch
        .run("-con boots.nwk --sitelh")
        .assert_refused(&["'--sitelh' is no option of consensus"]);
    // What other programs are always given is a remark.
    let ran = scratch.succeed("support -m GTR+G -s a.phy -t t.nwk -z boots.nwk -e 0.1 --prefix x");
    for note in ["this command reads only trees; not used: -m, -s", "'-e' has no effect on support"]
    {
        assert!(ran.stderr.contains(note), "{}", ran.stderr);
    }
}

#[test]
fn the_command_is_recorded_as_it_was_typed() {
    let scratch = scratch();
    scratch.succeed("compare boots.nwk --prefix x");
    let json = std::fs::read_to_string(scratch.path().join("x.mlsearch.json")).unwrap();
    assert!(json.contains("\"command\": \"mlsearch compare boots.nwk --prefix x\""), "{json}");
}

#[test]
fn other_faults_of_a_refused_command_are_said_with_it() {
    let scratch = Scratch::new();
    let ran = scratch.run("-s a.phy -B 1000 -T none");
    ran.assert_refused(&["ultrafast", "no model", "--threads"]);
    // What would be wrong with the corrected command alone is not the user's fault.
    let ran = scratch.run("--search -s a.phy -m GTR+G -b 100");
    ran.assert_refused(&["'-b 100'", "is a number of replicates"]);
    assert!(!ran.stderr.contains("different analyses"), "{}", ran.stderr);
}

#[test]
fn rapid_seeds_make_standard_replicates_and_a_note_says_so() {
    let scratch = scratch();
    let raxml = "-m GTRGAMMA -p 5 -# 2 -s a.phy --fast";
    let ran = scratch.succeed(&format!("{raxml} -f a -x 7 -n rapid"));
    assert!(
        ran.stderr.contains("note: -x: rapid bootstrapping is not available"),
        "{}",
        ran.stderr
    );
    let ran = scratch.succeed(&format!("{raxml} -f a -b 7 -n standard"));
    assert!(!ran.stderr.contains("rapid"), "{}", ran.stderr);
    for kind in ["bootstraps", "support", "bestTree"] {
        let [rapid, standard] = ["rapid", "standard"].map(|name| {
            std::fs::read_to_string(scratch.path().join(format!("{name}.mlsearch.{kind}"))).unwrap()
        });
        assert_eq!(rapid, standard, "{kind}");
    }
    scratch.run(&format!("{raxml} -x 7 -b 7")).assert_refused(&["-b", "-x", "exclude each other"]);
}

#[test]
fn words_that_are_taken_as_others_or_change_nothing_are_said() {
    let scratch = scratch();
    let ran = scratch.succeed("-s a.phy -m JC -te t.nwk -nt 1 -pre x --workers 2 --force -O");
    for note in [
        "note: -te t.nwk is read as --evaluate -t t.nwk",
        "note: -nt 1 is read as -T 1",
        "note: -pre x is read as --prefix x",
        "note: --workers 2 has no effect here: ",
        "note: --force has no effect here: ",
        "note: -O has no effect here: ",
    ] {
        assert!(ran.stderr.contains(note), "'{note}' is missing in {}", ran.stderr);
    }
    scratch.succeed("-s a.phy -m JC --evaluate -t t.nwk -T 1 -n y");
    assert_eq!(log_likelihood(&scratch, "x").to_bits(), log_likelihood(&scratch, "y").to_bits());
}
