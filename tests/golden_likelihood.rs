//! Log-likelihoods of other programs, reached by the binary on real alignments.
//!
//! On the alignments of `datasets/` they are part of this file. More are read from the folder that the
//! environment variable MLSEARCH_DATA names, where there is one; those that take minutes run only if
//! MLSEARCH_LONG is set.

use crate::util::{Scratch, repository};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Optimised likelihoods may lie this far below a reference, in log units.
const OPTIMISER_TOLERANCE: f64 = 0.01;

/// `raxmlHPC-PTHREADS-AVX -y -p 1 -m GTRGAMMA -s FILE`, RAxML 8.2.12: trees to evaluate.
const TREES: [(&str, &str); 3] = [
    (
        "primates",
        "(Lemur_catta,((Saimiri_sciureus,(M_sylvanus,(Macaca_fuscata,(M_fascicularis,M_mulatta)))),(Homo_sapiens,((Gorilla,Pan),(Hylobates,Pongo)))),Tarsius_syrichta);",
    ),
    (
        "gallwasps",
        "((Neaylax,(Diplolepis,Parnips)),(((Synergus,Paramblynotus),((Eschatocerus,Pediaspis),((Periclistus,(((Gonaspis,Diastrophus),Xestophanes),Synophromorpha)),(Liposthenes_ker,(((Plagiotrochus,(Rhodus,Aulacidea)),((Isocolus,((Phanacis_2,Phanacis_1),Timaspis)),(Andricus,(Neuroterus,Biorhiza)))),((Panteliella,(Hedickiana,Antistrophus)),(Liposthenes_gle,(Iraella,(Aylax,Barbotinia))))))))),Ceroptres),Ibalia);",
    ),
    (
        "anolis",
        "((((Anolis_marcanoi,Anolis_strahmi),(Anolis_loysiana,(Anolis_lineatopus,Anolis_vanidicus))),((Anolis_alutaceus,((((Anolis_brevirostris,Anolis_distichus),(Anolis_cristatellus,(Anolis_stratulus,Anolis_krugi))),(Anolis_sagrei,Anolis_ophiolepis)),((Anolis_cuvieri,Anolis_barahonae),((Anolis_paternus,Anolis_angusticeps),(((Anolis_insolitus,Anolis_occultus),Anolis_bahorucoensis),((Anolis_equestris,Anolis_luteogularis),(Anolis_coelestinus,Anolis_aliniger))))))),Anolis_olssoni)),((Anolis_grahami,Anolis_garmani),Anolis_valencienni),Anolis_ahli);",
    ),
];

/// A model all of whose parameters are given, with invariant sites and gamma.
const FIXED_MODEL: &str = "GTR{1.5/4/0.7/1.2/5/1}+FU{0.3/0.2/0.15/0.35}+IU{0.2}+G4{0.6}";

/// Fixed likelihoods: every length is 0.07 and the model is FIXED_MODEL. IQ-TREE 2.0.7, `iqtree2 -s FILE -te
/// TREE -blfix -m GTR{1.5,4,0.7,1.2,5}+F{0.3,0.2,0.15,0.35}+I{0.2}+G4{0.6}`, printed to four decimals.
const FIXED: [(&str, f64); 3] =
    [("primates", -6348.3444), ("gallwasps", -27585.1428), ("anolis", -21688.9519)];

/// Optimised likelihoods under GTR+F+G4 (per partition if there are options): the better of RAxML 8.2.12
/// (`raxmlHPC-PTHREADS-AVX -T 2 -f e -e 0.001 -m GTRGAMMA -t TREE -s FILE [-q PARTITIONS [-M]]`) and IQ-TREE
/// 2.0.7 (`iqtree2 -te TREE -m GTR+F+G4 -me 0.001 [-q|-p|-Q PARTITIONS]`), and the other one.
const OPTIMISED: [(&str, Option<&str>, f64, &str); 9] = [
    ("primates", None, -5778.757650, "RAxML; IQ-TREE -5778.7602"),
    ("gallwasps", None, -25031.1946, "IQ-TREE; RAxML -25031.209397"),
    ("anolis", None, -20529.448474, "RAxML; IQ-TREE -20529.4500"),
    ("primates", Some("--brlen linked"), -5732.454929, "RAxML; IQ-TREE -q -5736.4618"),
    ("primates", Some("--brlen scaled"), -5730.0540, "IQ-TREE -p"),
    ("primates", Some("-M"), -5702.339752, "RAxML; IQ-TREE -Q -5705.3285"),
    ("gallwasps", Some("--brlen linked"), -24753.896716, "RAxML; IQ-TREE -q -24753.9075"),
    ("gallwasps", Some("--brlen scaled"), -24560.1133, "IQ-TREE -p"),
    ("gallwasps", Some("-M"), -24170.2168, "IQ-TREE -Q; RAxML -24170.223824"),
];

/// A reference row's model in our spelling, and what else its command needs. `lengths`: every branch gets
/// this length instead of the file's.
struct Row {
    id: &'static str,
    model: &'static str,
    options: &'static str,
    lengths: Option<f64>,
    /// Takes minutes, or much memory.
    long: bool,
    /// Frequencies of the states as the reference had them, per partition: other programs count gaps as
    /// states and stop early, so on gappy data likelihoods are compared at their frequencies.
    freqs: &'static [&'static str],
    /// The reference took partial codons (`T--`) for unknown ones, which here stand for all codons they
    /// may be (worth 8.6 log units for the carnivores' 30).
    whole_codons: bool,
}

const fn row(id: &'static str, model: &'static str) -> Row {
    Row { id, model, options: "", lengths: None, long: false, freqs: &[], whole_codons: false }
}

const fn with_lengths(id: &'static str, model: &'static str, lengths: f64) -> Row {
    Row { lengths: Some(lengths), ..row(id, model) }
}

const fn with_options(id: &'static str, model: &'static str, options: &'static str) -> Row {
    Row { options, ..row(id, model) }
}

const fn with_freqs(row: Row, freqs: &'static [&'static str]) -> Row {
    Row { freqs, ..row }
}

const fn long(row: Row) -> Row {
    Row { long: true, ..row }
}

/// RAxML 8.2.12, `-f e -m GTRGAMMA`, as its info file prints them.
const D59_FREQS: &[&str] = &["0.279308/0.218953/0.223257/0.278482"];
/// The same with `-q d59_8.part -M`.
const D59_8_FREQS: &[&str] = &[
    "0.273827/0.162848/0.177013/0.386312",
    "0.271179/0.192821/0.248964/0.287036",
    "0.398199/0.151105/0.281057/0.169639",
    "0.572079/0.427694/0.000113/0.000113",
    "0.215036/0.270237/0.292199/0.222529",
    "0.228085/0.286376/0.287125/0.198414",
    "0.165579/0.345699/0.339792/0.148931",
    "0.218426/0.291182/0.325999/0.164393",
];
/// IQ-TREE 2.0.7, `-q d224_7.part -m GTR+F+G4`, as its report prints them.
const D224_7_FREQS: &[&str] = &[
    "0.25001/0.24851/0.25124/0.25024",
    "0.249666/0.249737/0.252044/0.248553",
    "0.253068/0.246687/0.24862/0.251624",
    "0.21469/0.280236/0.289007/0.216067",
    "0.367924/0.161102/0.159602/0.311372",
    "0.268017/0.209041/0.242607/0.280334",
    "0.349814/0.164779/0.184258/0.301149",
];

const ROWS: &[Row] = &[
    row("beagle-jc", "JC"),
    row("beagle-jcg", "JC+G4{0.5}"),
    row("huelsenbeck-hky", "HKY{5}+FU{0.4/0.3/0.2/0.1}"),
    row(
        "ape5-gtr",
        "GTR{0.077275972/1/0.031184397/0.04150869/1/0.0001}+FU{0.29540/0.35320/0.10420/0.24720}",
    ),
    row("ape5-k80", "K80{19.432093}"),
    row("ape5-hky", "HKY{20.357397}+FU{0.29540/0.35320/0.10420/0.24720}"),
    row("prim-jcg", "JC+G4{0.5}"),
    with_lengths("d59_8-jcg", "JC+G4{0.7}", 0.05),
    with_lengths("d224_7-jcg", "JC+G4{0.7}", 0.05),
    with_lengths("d404_11-jcg", "JC+G4{0.7}", 0.05),
    with_lengths("d813_29-jcg", "JC+G4{0.7}", 0.05),
    with_lengths("d125_34-jcg", "JC+G4{0.7}", 0.05),
    with_lengths("d2554-jcg", "JC+G4{0.7}", 0.05),
    long(row("s2177_68-jcg", "JC+G4{0.7}")),
    row("ape5-jc", "JC"),
    row("prim-jc", "JC"),
    row("prim-jc+g4", "JC+G4"),
    row("prim-k80+g4", "K80+G4"),
    row("prim-hky+f+g4", "HKY+F+G4"),
    row("prim-gtr+fo", "GTR+FO"),
    row("prim-gtr+fo+g4", "GTR+FO+G4"),
    row("prim-gtr+fo+r4", "GTR+FO+R4"),
    row("prim-gtr+f+g4", "GTR+F+G4"),
    with_options("prim-3p-linked", "GTR+F+G4", "--brlen linked"),
    with_options("prim-3p-scaled", "GTR+F+G4", "--brlen scaled"),
    with_options("prim-3p-unlinked", "GTR+F+G4", "-M"),
    with_freqs(row("d59_8", "GTR+F+G4"), D59_FREQS),
    with_freqs(with_options("d59_8-linked", "GTR+F+G4", "--brlen linked"), D59_8_FREQS),
    with_options("d59_8-scaled", "GTR+F+G4", "--brlen scaled"),
    with_freqs(with_options("d59_8-unlinked", "GTR+F+G4", "-M"), D59_8_FREQS),
    with_freqs(with_options("d224_7-linked", "GTR+F+G4", "--brlen linked"), D224_7_FREQS),
    with_freqs(with_options("d224_7-unlinked", "GTR+F+G4", "-M"), D224_7_FREQS),
    row("d354", "GTR+F+G4"),
    row("d101", "GTR+F+G4"),
    row("d150", "GTR+F+G4"),
    long(row("carn-nt", "GTR+F+G4")),
    long(with_options("carn-nt-pos", "GTR+F+G4", "--brlen linked")),
    row("trim5-wag", "WAG"),
    row("trim5-hivb", "HIVB"),
    row("trim5-blosum", "BLOSUM62"),
    row("mtpri7-m0-fequal", "GY{7.41748/0.11278}+FE+CODE{2}"),
    row("mtpri7-m0-f3x4", "GY{14.24945/0.04108}+F3X4+CODE{2}"),
    row("mtpri7aa-jttf", "JTT+F"),
    row("p140-wag", "WAG+G4"),
    row("p140-lgf", "LG+F+G4"),
    with_lengths("carn-m0", "GY{3/0.1}+F3X4+CODE{2}", 0.05),
    with_lengths("carn-m0-eq", "GY{3/0.1}+FE+CODE{2}", 0.05),
    row("lysozyme7-m0", "GY+F3X4"),
    row("lysozyme7-m0-eq", "GY+FE"),
    row("hivenv13-m0", "GY+F3X4"),
    long(Row { whole_codons: true, ..row("carn-gy-f3x4", "GY+F3X4+CODE{2}") }),
];

/// One evaluation by the binary.
struct Evaluation<'a> {
    msa: &'a Path,
    tree: &'a str,
    partitions: Option<PathBuf>,
    model: &'a str,
    options: &'a str,
}

impl Evaluation<'_> {
    fn log_likelihood(&self) -> f64 {
        lnl(&self.report())
    }

    fn report(&self) -> Value {
        let scratch = Scratch::new();
        scratch.write("tree", self.tree);
        let msa = self.msa.display().to_string();
        let mut words = vec!["--evaluate", "-s", &msa, "-t", "tree", "-m", self.model];
        let partitions = self.partitions.as_ref().map(|path| path.display().to_string());
        if let Some(path) = &partitions {
            words.extend(["-q", path]);
        }
        words.extend(self.options.split_whitespace());
        words.extend(["-n", "x", "--quiet"]);
        let ran = scratch.run_words(&words);
        assert_eq!(ran.code, 0, "{words:?}: {}", ran.stderr);
        let text =
            std::fs::read_to_string(scratch.path().join("x.mlsearch.json")).expect("a report");
        serde_json::from_str(&text).expect("JSON")
    }
}

fn lnl(report: &Value) -> f64 {
    report["log_likelihood"].as_f64().expect("a log-likelihood")
}

/// The tree with this length at every branch but the root's.
fn set_lengths(newick: &str, length: f64) -> String {
    let mut text = String::new();
    let mut depth = 0usize;
    let mut skipping = false;
    for c in newick.chars() {
        match c {
            ':' => skipping = true,
            ',' | ')' => {
                skipping = false;
                text.push_str(&format!(":{length}"));
            }
            _ => {}
        }
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ';' => skipping = false,
            _ => {}
        }
        if !skipping {
            text.push(c);
        }
    }
    assert_eq!(depth, 0, "balanced brackets");
    text
}

fn own_tree(data: &str) -> &'static str {
    TREES.iter().find(|tree| tree.0 == data).expect("a tree").1
}

fn own_alignment(data: &str) -> PathBuf {
    repository(&format!("datasets/{data}.phy"))
}

#[test]
fn fixed_likelihoods_of_our_data_sets_are_those_of_iqtree() {
    for (data, expected) in FIXED {
        let evaluation = Evaluation {
            msa: &own_alignment(data),
            tree: &set_lengths(own_tree(data), 0.07),
            partitions: None,
            model: FIXED_MODEL,
            options: "--opt-model off --opt-branches off",
        };
        let lnl = evaluation.log_likelihood();
        assert!((lnl - expected).abs() < 1e-4, "{data}: {lnl}, IQ-TREE {expected}");
    }
}

#[test]
fn optimised_likelihoods_of_our_data_sets_are_not_below_those_of_others() {
    for (data, options, expected, source) in OPTIMISED {
        let partitions = options.map(|_| repository(&format!("partitions/{data}.part")));
        let evaluation = Evaluation {
            msa: &own_alignment(data),
            tree: own_tree(data),
            partitions,
            model: "GTR+F+G4",
            options: options.unwrap_or_default(),
        };
        let lnl = evaluation.log_likelihood();
        let gain = lnl - expected;
        println!("{data} {options:?}: {lnl:.6}, {gain:+.4} against {source}");
        // Much more than theirs would mean another model, or other data (IQ-TREE's bounds of the rates
        // bind for the primates' tRNA genes, which is worth 4 log units).
        assert!(
            (-OPTIMISER_TOLERANCE..5.0).contains(&gain),
            "{data} {options:?}: {lnl}, expected {expected} ({source})"
        );
    }
}

#[test]
fn reference_table() {
    let Some(folder) = std::env::var_os("MLSEARCH_DATA").map(PathBuf::from) else {
        println!("skipped: MLSEARCH_DATA is not set");
        return;
    };
    let table = std::fs::read_to_string(folder.join("ref/refs.tsv")).expect("ref/refs.tsv");
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().expect("a header").split('\t').collect();
    let column = |name: &str| header.iter().position(|found| *found == name).expect(name);
    let columns = ["id", "kind", "msa", "tree", "partitions", "model", "lnL", "tol"].map(column);
    let unpacked = Scratch::new();
    let mut failures = Vec::new();
    let mut checked = 0;
    for line in lines.filter(|line| !line.is_empty()) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [id, kind, msa, tree, partitions, said, expected, tolerance] =
            columns.map(|c| cells[c]);
        if kind == "search" {
            continue;
        }
        let row = ROWS.iter().find(|row| row.id == id);
        let row = row.unwrap_or_else(|| panic!("row {id} of the table is unknown to this test"));
        if row.long && std::env::var_os("MLSEARCH_LONG").is_none() {
            println!("{id}: skipped, MLSEARCH_LONG is not set");
            continue;
        }
        let Some(msa) = unpack(&folder, msa, &unpacked) else {
            println!("{id}: skipped, no xz to unpack {msa}");
            continue;
        };
        let msa = if row.whole_codons { without_partial_codons(&msa, &unpacked) } else { msa };
        let newick = std::fs::read_to_string(folder.join(tree)).expect("a tree");
        let newick = match row.lengths {
            Some(length) => set_lengths(&newick, length),
            None => newick,
        };
        let models: Vec<String> = row
            .freqs
            .iter()
            .map(|freqs| row.model.replace("+F", &format!("+FU{{{freqs}}}")))
            .collect();
        let mut partitions = (!partitions.is_empty()).then(|| folder.join(partitions));
        if let (Some(path), false) = (&mut partitions, models.is_empty()) {
            let text = std::fs::read_to_string(&*path).expect("a partition file");
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let with_models = lines.zip(&models).map(|(line, model)| {
                let (_, rest) = line.split_once(',').expect("a partition line");
                format!("{model},{rest}\n")
            });
            let text: String = with_models.collect();
            *path = unpacked.path().join(unpacked.write("models.part", &text));
        }
        let model = models.first().map_or(row.model, String::as_str);
        let fixed = kind == "fixed";
        let kept = if fixed { "--opt-model off --opt-branches off" } else { "" };
        let evaluation = Evaluation {
            msa: &msa,
            tree: &newick,
            partitions,
            model,
            options: &format!("{} {kept}", row.options),
        };
        let report = evaluation.report();
        let found = lnl(&report);
        let expected: f64 = expected.parse().expect("a log-likelihood");
        let gain = found - expected;
        println!("{id}: {found:.6}, {gain:+.6} against {expected} ({kind})");
        let fits = if fixed {
            gain.abs() <= read_tolerance(tolerance, expected)
        } else {
            gain >= -OPTIMISER_TOLERANCE
        };
        checked += 1;
        if !fits {
            failures.push(format!("{id}: {found:.6} instead of {expected} ({kind})"));
        }
        if !fixed && let Some([kappa, omega]) = kappa_and_omega(said) {
            let model = report["model"].as_str().expect("one model");
            let values = model.split(['{', '}']).nth(1).expect("values").split('/');
            let values: Vec<f64> = values.map(|value| value.parse().expect("a number")).collect();
            println!("{id}: kappa {} ({kappa}), omega {} ({omega})", values[0], values[1]);
            if !same_digits(values[0], kappa) || !same_digits(values[1], omega) {
                failures.push(format!("{id}: {model} instead of kappa {kappa}, omega {omega}"));
            }
        }
    }
    assert!(checked > 20, "only {checked} rows were checked");
    assert!(failures.is_empty(), "{failures:#?}");
}

/// The estimates in a row's words: `M0 universal F3x4 (kappa 4.54008 omega 0.80663)`.
fn kappa_and_omega(said: &str) -> Option<[f64; 2]> {
    let (_, after) = said.split_once("(kappa ")?;
    let (kappa, omega) = after.split_once(')')?.0.split_once(" omega ")?;
    Some([kappa, omega].map(|text| text.parse().expect("a number")))
}

/// True if the first three digits are the same.
fn same_digits(found: f64, expected: f64) -> bool {
    format!("{found:.2e}") == format!("{expected:.2e}")
}

/// The alignment with `---` for every codon that is not three nucleotides: the copy's path.
fn without_partial_codons(msa: &Path, scratch: &Scratch) -> PathBuf {
    let text = std::fs::read_to_string(msa).expect("an alignment");
    let mut copy = String::new();
    for (i, line) in text.lines().filter(|line| !line.trim().is_empty()).enumerate() {
        let Some((name, row)) = line.split_once(char::is_whitespace).filter(|_| i > 0) else {
            copy.push_str(&format!("{line}\n"));
            continue;
        };
        let row: Vec<char> = row.chars().filter(|c| !c.is_whitespace()).collect();
        copy.push_str(&format!("{name}  "));
        for codon in row.chunks(3) {
            let whole = codon.iter().all(|c| "ACGTU".contains(c.to_ascii_uppercase()));
            copy.push_str(&if whole { codon.iter().collect() } else { "---".to_string() });
        }
        copy.push('\n');
    }
    scratch.path().join(scratch.write("codons.phy", &copy))
}

/// Every published protein model, nothing optimised: `model`, `lnl`, `tolerance` and where they come from.
fn check_proteins(table: &str, msa: &Path, newick: &str) {
    let mut failures = Vec::new();
    let table = std::fs::read_to_string(repository(&format!("tests/golden/{table}"))).unwrap();
    let rows = table.lines().filter(|line| !line.starts_with('#')).skip(1);
    let mut checked = 0;
    for row in rows {
        let cells: Vec<&str> = row.split('\t').collect();
        let number = |cell: &str| cell.parse::<f64>().expect("a number");
        let (model, expected, tolerance) = (cells[0], number(cells[1]), number(cells[2]));
        let evaluation = Evaluation {
            msa,
            tree: newick,
            partitions: None,
            model,
            options: "--opt-model off --opt-branches off",
        };
        let found = evaluation.log_likelihood();
        checked += 1;
        if (found - expected).abs() > tolerance {
            failures.push(format!("{model}: {found:.6}, not {expected} ({})", cells[3]));
        }
    }
    assert!(checked > 60, "{checked} models");
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn every_protein_model_has_the_likelihood_that_others_give() {
    let newick = std::fs::read_to_string(repository("tests/golden/ovomucoids.tree")).unwrap();
    check_proteins("protein_ovomucoids.tsv", &own_alignment("ovomucoids"), &newick);
    let Some(folder) = std::env::var_os("MLSEARCH_DATA").map(PathBuf::from) else {
        println!("140 proteins skipped: MLSEARCH_DATA is not set");
        return;
    };
    let newick = std::fs::read_to_string(folder.join("p140.tree")).expect("a tree");
    check_proteins("protein_p140.tsv", &folder.join("p140.phy"), &set_lengths(&newick, 0.05));
}

/// `1e-5`, or `1e-5 rel 1e-9`: the larger of an absolute and a relative tolerance.
fn read_tolerance(text: &str, expected: f64) -> f64 {
    let (absolute, relative) = text.split_once(" rel ").unwrap_or((text, "0"));
    let read = |text: &str| text.trim().parse::<f64>().expect("a tolerance");
    read(absolute).max(read(relative) * expected.abs())
}

/// The alignment, or its unpacked copy if only `FILE.xz` is there; `None` without the program xz.
fn unpack(folder: &Path, name: &str, scratch: &Scratch) -> Option<PathBuf> {
    let plain = folder.join(name);
    if plain.is_file() {
        return Some(plain);
    }
    let copy = scratch.path().join(name.replace('/', "_"));
    if !copy.is_file() {
        let packed = folder.join(format!("{name}.xz"));
        let output = Command::new("xz").arg("-dc").arg(packed).output().ok()?;
        if !output.status.success() {
            return None;
        }
        std::fs::write(&copy, output.stdout).expect("scratch file can be written");
    }
    Some(copy)
}
