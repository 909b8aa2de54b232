//! Models with correction of ascertainment bias (+ASC), on the variable columns of the primates and on
//! binary and three-state recodings of them.

use crate::util::{Scratch, log_likelihood, repository, results};

/// Every length 0.07.
const TREE: &str = "(Lemur_catta:0.07,((Saimiri_sciureus:0.07,(M_sylvanus:0.07,(Macaca_fuscata:0.07,(M_fascicularis:0.07,M_mulatta:0.07):0.07):0.07):0.07):0.07,(Homo_sapiens:0.07,((Gorilla:0.07,Pan:0.07):0.07,(Hylobates:0.07,Pongo:0.07):0.07):0.07):0.07):0.07,Tarsius_syrichta:0.07);";

/// IQ-TREE 2.0.7, `iqtree2 -s FILE -te TREE -blfix -m MODEL [-st MORPH|BIN]`, printed to four decimals. Our
/// model, data, IQ-TREE's model, log-likelihood.
const FIXED: [(&str, &str, &str, f64); 5] = [
    (
        "GTR{1.5/4/0.7/1.2/5/1}+FU{0.3/0.2/0.15/0.35}+ASC+G4{0.6}",
        "dna",
        "GTR{1.5,4,0.7,1.2,5}+F{0.3,0.2,0.15,0.35}+ASC+G4{0.6}",
        -5188.5921,
    ),
    ("MULTI3_MK+ASC", "multi", "MK+ASC", -4159.7082),
    ("MULTI3_MK+ASC+G4{0.6}", "multi", "MK+ASC+G4{0.6}", -4088.7636),
    ("BIN+FE+ASC", "binary", "JC2+ASC", -1475.5808),
    ("BIN+FU{0.3/0.7}+ASC", "binary", "GTR2+F{0.3,0.7}+ASC", -1486.9475),
];

/// RAxML 8.2.12, `raxmlHPC -f e -e 0.0001 -p 1 -m ASC_GTRGAMMA --asc-corr=CORRECTION -s FILE -t TREE [-q
/// PARTITION]`, where the partition file is `[asc~COUNTS], ASC_DNA, p1 = 1-521` and the file COUNTS holds what
/// stands here in braces. Log-likelihood, and the lengths (rounded to 7 decimals) and parameters it is printed
/// with; frequencies are [`RAXML_FREQS`].
const RAXML: [(&str, &str, f64, &str, &str); 3] = [
    (
        "ASC_LEWIS",
        "lewis",
        -4611.743391,
        "(Lemur_catta:0.3691870,((Saimiri_sciureus:0.5153713,(M_sylvanus:0.0614514,(Macaca_fuscata:0.0123557,(M_fascicularis:0.0659172,M_mulatta:0.0167722):0.0000010):0.0554596):0.2901224):0.0000010,(Homo_sapiens:0.0382069,((Gorilla:0.0597668,Pan:0.0502303):0.0047350,(Hylobates:0.1977939,Pongo:0.1300978):0.0591538):0.0000010):0.2498599):0.3724897,Tarsius_syrichta:0.5150038);",
        "GTR{30.405317/820.093460/34.935355/40.117227/324.456675/1}+G4{0.185153}",
    ),
    (
        "ASC_FELS{377}",
        "felsenstein",
        -5225.483612,
        "(Lemur_catta:0.4664907,((Saimiri_sciureus:0.6690088,(M_sylvanus:0.0850795,(Macaca_fuscata:0.0168522,(M_fascicularis:0.0927912,M_mulatta:0.0233703):0.0000010):0.0792846):0.3703160):0.0000010,(Homo_sapiens:0.0517775,((Gorilla:0.0837244,Pan:0.0702018):0.0098101,(Hylobates:0.2745070,Pongo:0.1812023):0.0859710):0.0000010):0.3290413):0.4893979,Tarsius_syrichta:0.6627713);",
        "GTR{28.780378/735.986728/34.085698/37.569790/289.920036/1}+G4{0.351122}",
    ),
    (
        "ASC_STAM{130/100/60/87}",
        "stamatakis",
        -5770.054279,
        "(Lemur_catta:0.4483653,((Saimiri_sciureus:0.6500071,(M_sylvanus:0.0816285,(Macaca_fuscata:0.0167817,(M_fascicularis:0.0899559,M_mulatta:0.0225370):0.0000010):0.0760089):0.3600267):0.0000010,(Homo_sapiens:0.0516216,((Gorilla:0.0796451,Pan:0.0675200):0.0082004,(Hylobates:0.2692199,Pongo:0.1756122):0.0838905):0.0000010):0.3201834):0.4697631,Tarsius_syrichta:0.6409766);",
        "GTR{44.359365/822.047468/48.140228/42.063952/458.162516/1}+G4{0.334414}",
    ),
];
const RAXML_FREQS: &str = "+FU{0.307766/0.371337/0.068215/0.252682}";

/// Optimised likelihoods that ours must reach: model, data, options, log-likelihood, source. IQ-TREE as above
/// with `-me 0.0001` and without -blfix; RAxML as above, for two partitions with `ASC_DNA, p1 = 1-260` and `ASC_DNA,
/// p2 = 261-521`, [-M].
const OPTIMISED: [(&str, &str, &str, f64, &str); 7] = [
    ("GTR+F+ASC+G4", "dna", "", -4611.3307, "IQ-TREE GTR+F+ASC+G4; RAxML -4611.743391"),
    ("GTR+F+ASC_FELS{377}+G4", "dna", "", -5225.483612, "RAxML"),
    ("GTR+F+ASC_STAM{130/100/60/87}+G4", "dna", "", -5770.054279, "RAxML"),
    ("GTR+F+ASC+G4", "dna", "-q genes.part --brlen linked", -4593.408376, "RAxML"),
    // RAxML stops 7 log units below.
    ("GTR+F+ASC+G4", "dna", "-q genes.part -M", -4591.176665, "RAxML"),
    ("MULTI3_MK+ASC", "multi", "", -3764.4141, "IQ-TREE MK+ASC"),
    ("BIN+FO+ASC", "binary", "", -1161.0238, "IQ-TREE GTR2+FO+ASC"),
];

/// A folder with the three alignments, `dna` (521 columns), `multi` (444) and `binary` (264), all columns
/// variable, the tree, and a partition file of two partitions.
fn data() -> Scratch {
    let text = std::fs::read_to_string(repository("datasets/primates.phy")).expect("data");
    let rows: Vec<(&str, &str)> = text
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(' '))
        .map(|(name, row)| (name, row.trim()))
        .collect();
    let scratch = Scratch::new();
    write_variable(&scratch, "dna", &rows, |letter| letter, 521);
    // Purines are one state; the pyrimidines are two, or one.
    let three = |letter| match letter {
        'A' | 'G' => '0',
        'C' => '1',
        'T' => '2',
        _ => '?',
    };
    let two = |letter| if three(letter) == '2' { '1' } else { three(letter) };
    write_variable(&scratch, "multi", &rows, three, 444);
    write_variable(&scratch, "binary", &rows, two, 264);
    scratch.write("tree", TREE);
    scratch.write("genes.part", "DNA, p1 = 1-260\nDNA, p2 = 261-521\n");
    scratch
}

fn write_variable(
    scratch: &Scratch,
    name: &str,
    rows: &[(&str, &str)],
    recode: impl Fn(char) -> char,
    expected: usize,
) {
    let rows: Vec<(&str, Vec<char>)> =
        rows.iter().map(|(name, row)| (*name, row.chars().map(&recode).collect())).collect();
    let varies = |column: usize| {
        let mut seen = rows.iter().map(|row| row.1[column]).filter(|c| c.is_ascii_alphanumeric());
        let first = seen.next();
        seen.any(|c| Some(c) != first)
    };
    let kept: Vec<usize> = (0..rows[0].1.len()).filter(|&column| varies(column)).collect();
    assert_eq!(kept.len(), expected, "variable columns of {name}");
    let mut text = format!("{} {}\n", rows.len(), kept.len());
    for (taxon, row) in &rows {
        let row: String = kept.iter().map(|&column| row[column]).collect();
        text += &format!("{taxon}  {row}\n");
    }
    scratch.write(name, &text);
}

fn evaluate(scratch: &Scratch, data: &str, tree: &str, model: &str, options: &str) -> f64 {
    let command = format!("--evaluate -s {data} -t {tree} -m {model} {options}");
    scratch.succeed(&format!("{command} -n x --redo --quiet"));
    log_likelihood(scratch, "x")
}

const FIX: &str = "--opt-model off --opt-branches off";

#[test]
fn likelihoods_at_given_lengths_and_parameters_are_those_of_others() {
    let scratch = data();
    for (model, data, theirs, expected) in FIXED {
        let lnl = evaluate(&scratch, data, "tree", model, FIX);
        assert!((lnl - expected).abs() < 1e-4, "{model}: {lnl}, IQ-TREE {theirs} {expected}");
    }
    for (correction, name, expected, tree, model) in RAXML {
        scratch.write("raxml.tree", tree);
        let model = format!("{model}{RAXML_FREQS}+{correction}");
        let lnl = evaluate(&scratch, "dna", "raxml.tree", &model, FIX);
        // Parameters are printed to six decimals, frequencies among them.
        assert!((lnl - expected).abs() < 1e-3, "{name}: {lnl}, RAxML {expected}");
    }
}

#[test]
fn optimised_likelihoods_are_not_below_those_of_others() {
    let scratch = data();
    for (model, data, options, expected, source) in OPTIMISED {
        let lnl = evaluate(&scratch, data, "tree", model, &format!("-e 0.001 {options}"));
        println!("{model} {data} {options}: {lnl:.6}, {:+.4} against {source}", lnl - expected);
        assert!((-0.01..8.0).contains(&(lnl - expected)), "{model} {options}: {lnl}, {source}");
    }
}

#[test]
fn site_likelihoods_leave_out_sites_that_were_left_out() {
    let scratch = data();
    let sum = |model: &str| -> (f64, usize, f64) {
        let total = evaluate(&scratch, "dna", "tree", model, &format!("{FIX} --sitelh"));
        let text = std::fs::read_to_string(scratch.path().join("x.mlsearch.siteLH")).unwrap();
        let line = text.lines().last().expect("one line per tree");
        let lnls: Vec<f64> = line.split_whitespace().skip(1).map(|x| x.parse().unwrap()).collect();
        (total, lnls.len(), lnls.iter().sum())
    };
    let (plain, sites, plain_sum) = sum("JC+G4{0.6}");
    assert!(sites == 521 && (plain - plain_sum).abs() < 1e-3);
    // Given that every site varies, each is the more probable.
    let (total, sites, lewis_sum) = sum("JC+G4{0.6}+ASC_LEWIS");
    assert!(sites == 521 && (total - lewis_sum).abs() < 1e-3 && total > plain + 100.0);
    for model in ["JC+G4{0.6}+ASC_FELS{377}", "JC+G4{0.6}+ASC_STAM{130/100/60/87}"] {
        let (total, sites, sites_sum) = sum(model);
        assert!(sites == 521 && (sites_sum - plain_sum).abs() < 1e-3 && total < plain - 100.0);
    }
}

#[test]
fn searches_and_replicates_write_the_same_bytes_on_every_machine() {
    let scratch = data();
    let partitions = "GTR+G+ASC, p1 = 1-130\nHKY+I, p2 = 131-260\nGTR+ASC_FELS{90}, p3 = 261-390\n\
        K80+G+ASC_STAM{30/20/10/20}, p4 = 391-521\n";
    scratch.write("mixed.part", partitions);
    for mode in ["linked", "unlinked"] {
        let command =
            format!("--all --bs-trees 2 -s dna -q mixed.part --brlen {mode} --sitelh --quiet");
        scratch.succeed(&format!("{command} -n one -T 1 --redo"));
        let expected = results(&scratch, "one");
        assert!(expected.contains_key("bootstraps") && expected.contains_key("siteLH"));
        for machine in ["-T 3", "-T 2 --simd scalar"] {
            scratch.succeed(&format!("{command} -n other --redo {machine}"));
            assert_eq!(results(&scratch, "other"), expected, "{mode} {machine}");
        }
    }
}

/// What is simulated has variable sites only, and as many of each kind as the model expects.
#[test]
fn sites_that_are_simulated_are_variable() {
    let scratch = Scratch::new();
    scratch.write("t", "(a:0.2,b:0.2,c:0.2);");
    scratch.write("q", "BIN+FU{0.3/0.7}+ASC, one = 1-20000\nJC+ASC_FELS{9}, other = 20001-20100\n");
    scratch.succeed("simulate -t t -q q -n s");
    // All sites would be refused.
    scratch.succeed("evaluate -s s.mlsearch.phy -q s.mlsearch.part -t t --brlen unlinked -n e");
    let tree = std::fs::read_to_string(scratch.path().join("e.mlsearch.bestTree")).unwrap();
    let text = std::fs::read_to_string(scratch.path().join("s.mlsearch.phy")).unwrap();
    let row = |name: &str| {
        let mut lines = text.lines().map(str::split_whitespace);
        let mut line = lines.find(|line| line.clone().next() == Some(name)).unwrap();
        line.nth(1).unwrap().as_bytes()[..20_000].to_vec()
    };
    let [a, b, c] = ["a", "b", "c"].map(row);
    // The three ways in which one of three is different have the same probability.
    let alone = |one: &[u8], two: &[u8]| one.iter().zip(two).filter(|(x, y)| x == y).count();
    for count in [alone(&a, &b), alone(&b, &c), alone(&a, &c)] {
        assert!((count as f64 - 20_000.0 / 3.0).abs() < 300.0, "{count}; {tree}");
    }
    scratch.write("short", "(a:1e-9,b:1e-9,c:1e-9);");
    for number in [10, 200_000] {
        let ran = scratch.run(&format!("simulate -t short -m JC+ASC --sites {number} -n none"));
        ran.assert_refused(&["hardly any site is variable on this tree: give longer branches"]);
    }
}

/// IQ-TREE 2.0.7 (`iqtree2 -te tree -m GTR+FO+G4+ASC`) ends at -1735.4538; from one shape, evaluations stopped at -1742.76.
#[test]
fn short_branches_with_strong_variation_of_rates_are_found() {
    let scratch = data();
    let text = std::fs::read_to_string(scratch.path().join("dna")).unwrap();
    let rows = text.lines().skip(1).filter_map(|line| line.split_once("  "));
    let rows: String = rows.map(|(name, row)| format!("{name}  {}\n", &row[..200])).collect();
    scratch.write("few", &format!("12 200\n{rows}"));
    let lnl = evaluate(&scratch, "few", "tree", "GTR+FO+G4+ASC", "");
    assert!(lnl > -1735.4538, "{lnl}");
}

#[test]
fn data_with_invariable_sites_are_refused() {
    let scratch = data();
    let primates = repository("datasets/primates.phy").display().to_string();
    let part =
        "GTR+ASC_LEWIS, first = 1-300\nGTR, second = 301-600\nJC+ASC_FELS{3}, third = 601-898\n";
    scratch.write("bad.part", part);
    let ran = scratch.run(&format!("--evaluate -s {primates} -t tree -q bad.part -n x"));
    ran.assert_refused(&[
        "partition 'first'",
        "partition 'third'",
        "may be invariable",
        "remove these sites",
    ]);
    assert!(!ran.stderr.contains("'second'"), "{}", ran.stderr);
}
