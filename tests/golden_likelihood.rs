//! Log-likelihoods of other programs, reached by the binary on real alignments.
//!
//! Those of the alignments in `datasets/` stand in `tests/golden/`, each row with the program, its version and
//! the command that gave it. Larger alignments lie in the folder that the environment variable MLSEARCH_DATA
//! names; the tests that need them are ignored unless they are asked for (CONTRIBUTING.md, *Tests*).

use crate::util::{Scratch, data_folder, repository};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Optimised log-likelihoods may lie this far below a reference.
const OPTIMISER_TOLERANCE: f64 = 0.01;

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

/// One row of `tests/golden/datasets.tsv`.
struct DatasetRow<'a> {
    dataset: &'a str,
    tree: &'a str,
    lengths: &'a str,
    partitions: &'a str,
    model: &'a str,
    options: &'a str,
    lnl: f64,
    tolerance: f64,
    source: String,
}

/// The rows of `tests/golden/datasets.tsv` of that kind: `fixed` or `optimised`.
fn check_datasets(kind: &str, fits: impl Fn(f64, f64) -> bool) {
    let table = read(&repository("tests/golden/datasets.tsv"));
    let rows = table.lines().filter(|line| !line.starts_with('#')).skip(1);
    let mut failures = Vec::new();
    let mut checked = 0;
    for row in rows {
        let cells: Vec<&str> = row.split('\t').collect();
        assert_eq!(cells.len(), 12, "{row}");
        if cells[4] != kind {
            continue;
        }
        let number = |cell: &str| cell.parse::<f64>().expect("a number");
        let row = DatasetRow {
            dataset: cells[0],
            tree: cells[1],
            lengths: cells[2],
            partitions: cells[3],
            model: cells[5],
            options: cells[6],
            lnl: number(cells[7]),
            tolerance: number(cells[8]),
            source: format!("{}, {}", cells[9], cells[11]),
        };
        let found = row.evaluate(kind == "fixed");
        let gain = found - row.lnl;
        println!(
            "{} {} {}: {found:.6}, {gain:+.6} against {}",
            row.dataset, row.model, row.options, row.source
        );
        checked += 1;
        if !fits(gain, row.tolerance) {
            failures.push(format!(
                "{} {} {}: {found:.6} instead of {} ({})",
                row.dataset, row.model, row.options, row.lnl, row.source
            ));
        }
    }
    assert!(checked > 4, "{checked} rows of {kind} log-likelihoods");
    assert!(failures.is_empty(), "{failures:#?}");
}

impl DatasetRow<'_> {
    fn evaluate(&self, fixed: bool) -> f64 {
        let newick = read(&repository(self.tree));
        let kept = if fixed { "--opt-model off --opt-branches off" } else { "" };
        let given = |cell: &str| (cell != "-").then(|| cell.to_string());
        let evaluation = Evaluation {
            msa: &own_alignment(self.dataset),
            tree: &match given(self.lengths) {
                Some(length) => set_lengths(&newick, length.parse().expect("a length")),
                None => newick,
            },
            partitions: given(self.partitions).map(|path| repository(&path)),
            model: self.model,
            options: &format!("{} {kept}", given(self.options).unwrap_or_default()),
        };
        evaluation.log_likelihood()
    }
}

fn own_alignment(data: &str) -> PathBuf {
    repository(&format!("datasets/{data}.phy"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|cause| panic!("{}: {cause}", path.display()))
}

#[test]
fn fixed_likelihoods_of_our_data_sets_are_those_of_other_programs() {
    check_datasets("fixed", |gain, tolerance| gain.abs() <= tolerance);
}

#[test]
fn optimised_likelihoods_of_our_data_sets_are_not_below_those_of_other_programs() {
    // Much more than theirs would mean another model, or other data.
    check_datasets("optimised", |gain, above| (-OPTIMISER_TOLERANCE..above).contains(&gain));
}

#[test]
#[ignore = "needs MLSEARCH_DATA: the folder of the larger alignments, see CONTRIBUTING.md"]
fn the_rows_of_the_reference_table_have_the_likelihoods_that_others_give() {
    check_reference_table(|row| !row.long, 20);
}

#[test]
#[ignore = "needs MLSEARCH_DATA: the folder of the larger alignments, see CONTRIBUTING.md; takes minutes"]
fn those_rows_of_the_reference_table_that_take_minutes_have_them_too() {
    check_reference_table(|row| row.long, 3);
}

/// Checks the chosen rows of `ref/refs.tsv`, which are at least so many.
fn check_reference_table(chosen: impl Fn(&Row) -> bool, at_least: usize) {
    let folder = data_folder();
    let table = read(&folder.join("ref/refs.tsv"));
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
        if !chosen(row) {
            continue;
        }
        let msa = unpack(&folder, msa, &unpacked);
        let msa = if row.whole_codons { without_partial_codons(&msa, &unpacked) } else { msa };
        let newick = read(&folder.join(tree));
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
            let text = read(path);
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
    assert!(checked >= at_least, "only {checked} rows were checked");
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
    let text = read(msa);
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
    let table = read(&repository(&format!("tests/golden/{table}")));
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
    let newick = read(&repository("tests/golden/ovomucoids.tree"));
    check_proteins("protein_ovomucoids.tsv", &own_alignment("ovomucoids"), &newick);
}

#[test]
#[ignore = "needs MLSEARCH_DATA: the folder of the larger alignments, see CONTRIBUTING.md"]
fn every_protein_model_has_it_on_140_papillomavirus_proteins_too() {
    let folder = data_folder();
    let newick = set_lengths(&read(&folder.join("p140.tree")), 0.05);
    check_proteins("protein_p140.tsv", &folder.join("p140.phy"), &newick);
}

/// `1e-5`, or `1e-5 rel 1e-9`: the larger of an absolute and a relative tolerance.
fn read_tolerance(text: &str, expected: f64) -> f64 {
    let (absolute, relative) = text.split_once(" rel ").unwrap_or((text, "0"));
    let read = |text: &str| text.trim().parse::<f64>().expect("a tolerance");
    read(absolute).max(read(relative) * expected.abs())
}

/// The alignment, or its copy unpacked by the program xz if only `FILE.xz` is there.
fn unpack(folder: &Path, name: &str, scratch: &Scratch) -> PathBuf {
    let plain = folder.join(name);
    if plain.is_file() {
        return plain;
    }
    let copy = scratch.path().join(name.replace('/', "_"));
    if !copy.is_file() {
        let packed = folder.join(format!("{name}.xz"));
        let output = Command::new("xz").arg("-dc").arg(&packed).output();
        let output = output.expect("the program xz, which unpacks alignments, can be started");
        assert!(output.status.success(), "xz cannot unpack {}", packed.display());
        std::fs::write(&copy, output.stdout).expect("scratch file can be written");
    }
    copy
}
