//! The files of a run, written gene by gene in the order of the genes, whatever the order in which they were computed.

use super::lengths::{LENGTH_PLOT, Lengths};
use super::record::{GeneOutcome, GeneRecord, GeneRun, GeneTree, ListedGene};
use super::report::{GeneReport, GenesReport, SECTION};
use super::species_tree::{Difference, SpeciesTree};
use crate::error::{Error, Result};
use crate::output::{OutputKind, Part};
use crate::partition::partition_line;
use crate::plan::Plan;
use crate::runtime::{RunRecord, warn_of_each};
use crate::steps::replicates::BOOTSTRAPS;
use std::io::Write;

/// The trees of the genes.
pub(super) const GENE_TREES: OutputKind =
    OutputKind::new(46, "geneTrees", "the tree of each gene that has one").of_trees("support");
/// What is known of each gene.
pub(super) const GENE_TABLE: OutputKind =
    OutputKind::new(47, "geneTable", "data, model, likelihood and remarks of each gene");
/// The models of the genes.
pub(super) const GENE_MODELS: OutputKind =
    OutputKind::new(48, "geneModels", "the models of the genes; can be given as -q");

/// The first line of the table.
const HEADER: &str = "gene\tfile\ttype\ttaxa\tsites\tpatterns\tgaps\tmodel\tlnL\ttree_length\tlongest_branch\talpha\tmean_support\t\
                      zero_length\tline\treplicates\trf\trelative_rf\tremarks\n";
/// What stands in the table where there is no value.
const NONE: &str = "NA";
/// Most genes that the message at the end names.
const MAX_NAMED: usize = 5;

/// The files, to which genes are added one after the other.
struct Tables {
    trees: Part,
    table: Part,
    models: Part,
    replicates: Option<Part>,
    /// Trees and replicates so far, a line each.
    num_trees: usize,
    num_replicates: usize,
    /// Columns so far, of genes that have alignments of their own.
    num_columns: usize,
}

/// Writes all files of a run, and says what became of its genes; `record_of` has what is known of each, and `species_tree` is a
/// tree with which they are compared.
///
/// # Errors
/// A file that cannot be written, and what `record_of` fails with.
pub(super) fn deliver_genes(
    run: &GeneRun,
    mut species_tree: Option<SpeciesTree>,
    plan: &Plan,
    record: &mut RunRecord,
    mut record_of: impl FnMut(&mut RunRecord, usize) -> Result<GeneRecord>,
) -> Result<()> {
    let mut lengths = Lengths::default();
    for number in 0..run.genes.len() {
        let found = record_of(record, number)?;
        lengths.add(found.data.as_ref(), found.tree());
    }
    lengths.complete();
    let replicates = run.has_replicates.then(|| record.part(BOOTSTRAPS)).transpose()?;
    let [trees, table, models] =
        [GENE_TREES, GENE_TABLE, GENE_MODELS].map(|kind| record.part(kind));
    let (trees, mut table, models) = (trees?, table?, models?);
    table.write_all(HEADER.as_bytes()).map_err(|source| table.failed(source))?;
    let mut tables = Tables {
        trees,
        table,
        models,
        replicates,
        num_trees: 0,
        num_replicates: 0,
        num_columns: 0,
    };
    let mut report = GenesReport::default();
    let (mut failures, mut reasons, mut far_out) = (Vec::new(), Vec::new(), Vec::new());
    for (number, gene) in run.genes.iter().enumerate() {
        let mut found = record_of(record, number)?;
        let remarks = lengths.remarks(number);
        if !remarks.is_empty() {
            far_out.push(format!("gene '{}' is {}", gene.name, remarks.join(", and ")));
        }
        found.remarks.extend(remarks);
        let mut difference = None;
        if let (Some(species_tree), Some(tree)) = (&mut species_tree, found.tree()) {
            difference = species_tree.compare(&tree.newick, &gene.name)?;
            if difference.is_none() {
                found.remarks.push("it has taxa that are not in the tree of --gcf-tree".into());
            }
        }
        let line = tables.add(gene, &found, difference)?;
        match &found.outcome {
            GeneOutcome::Tree(_) => report.with_tree += 1,
            GeneOutcome::Nothing(reason) => {
                report.without_tree += 1;
                reasons.push(format!("gene '{}' has no tree: {reason}", gene.name));
            }
            GeneOutcome::Failed(_) => report.failed += 1,
        }
        failures.extend(found.failure(&gene.name));
        report.each.push(report_of(gene, &found, line, difference));
    }
    let Tables { trees, table, models, replicates, .. } = tables;
    for part in [Some(trees), Some(table), Some(models), replicates].into_iter().flatten() {
        record.complete(part)?;
    }
    record.write(LENGTH_PLOT, &lengths.draw())?;
    let summary = format!("{} genes have no tree", reasons.len());
    warn_of_each(record, &summary, reasons);
    let summary = format!("{} genes could not be done (all listed in the log)", failures.len());
    warn_of_each(record, &summary, failures.clone());
    let summary = format!(
        "{} gene trees are far longer or shorter than others: look at their alignments",
        far_out.len()
    );
    warn_of_each(record, &summary, far_out);
    let num_genes = run.genes.len();
    let mut text = format!("Trees of {} of {num_genes} genes\n", report.with_tree);
    if report.without_tree > 0 {
        text.push_str(&format!("Genes without a tree: {}\n", report.without_tree));
    }
    record.progress.result(&text);
    record.report.seed = run.seed;
    record.report.write_section(&SECTION, &report);
    if let Some(species_tree) = species_tree {
        species_tree.deliver(plan, record)?;
    }
    if !failures.is_empty() {
        record.failure = Some(failure_of(&failures, num_genes));
    }
    Ok(())
}

/// The failure of a run all of whose other genes are done.
fn failure_of(failures: &[String], num_genes: usize) -> Error {
    let count = failures.len();
    let mut text = format!("{count} of {num_genes} genes could not be done, all others are:");
    for failure in failures.iter().take(MAX_NAMED) {
        text.push_str(&format!("\n  {failure}"));
    }
    if count > MAX_NAMED {
        text.push_str(&format!("\n  ... and {} more, see geneTable", count - MAX_NAMED));
    }
    Error::Failed(text)
}

impl Tables {
    /// Adds a gene; returns the line of its tree.
    fn add(
        &mut self,
        gene: &ListedGene,
        found: &GeneRecord,
        difference: Option<Difference>,
    ) -> Result<Option<usize>> {
        let tree = found.tree();
        let replicates = tree.map_or("", |tree| &tree.replicates);
        let first = self.num_replicates + 1;
        self.num_replicates += replicates.lines().count();
        let lines = match &self.replicates {
            Some(_) if self.num_replicates >= first => format!("{first}-{}", self.num_replicates),
            _ => NONE.to_string(),
        };
        if let Some(tree) = tree {
            self.num_trees += 1;
            write(&mut self.trees, &format!("{}\n", tree.newick))?;
        }
        if let Some(part) = &mut self.replicates {
            write(part, replicates)?;
        }
        let line = tree.map(|_| self.num_trees);
        let row = row(gene, found, [count(line), lines], difference);
        write(&mut self.table, &row)?;
        let model = self.model_line(gene, found);
        write(&mut self.models, &model)?;
        Ok(line)
    }

    /// The line of a gene in the partition file. One without an estimated model has that of its line before, if it is a part of
    /// an alignment, all of whose columns must be in the file; genes with alignments of their own follow each other as if these
    /// were one.
    fn model_line(&mut self, gene: &ListedGene, found: &GeneRecord) -> String {
        let model = found.tree().map(|tree| tree.model.as_str());
        let given = if gene.given_model.is_empty() { "auto" } else { &gene.given_model };
        match (&gene.ranges, model, &found.data) {
            (Some(ranges), model, _) => {
                partition_line(model.unwrap_or(given), &plain(&gene.name), ranges)
            }
            (None, Some(model), Some(data)) => {
                let first = self.num_columns + 1;
                self.num_columns += data.columns;
                let ranges = format!("{first}-{}", self.num_columns);
                partition_line(model, &plain(&gene.name), ranges)
            }
            _ => String::new(),
        }
    }
}

/// A name that a line of a partition file can have.
fn plain(name: &str) -> String {
    name.replace(['\n', '\r', '\t'], "_")
}

fn write(part: &mut Part, text: &str) -> Result<()> {
    part.write_all(text.as_bytes()).map_err(|source| part.failed(source))
}

/// A whole number, or what stands for none.
fn count(value: Option<usize>) -> String {
    value.map_or(NONE.to_string(), |value| value.to_string())
}

/// A number with so many decimals, or what stands for none.
fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or(NONE.to_string(), |value| format!("{value:.decimals$}"))
}

/// The row of a gene in the table.
fn row(
    gene: &ListedGene,
    found: &GeneRecord,
    [line, replicates]: [String; 2],
    difference: Option<Difference>,
) -> String {
    let data = found.data.as_ref();
    let typed = data.filter(|data| !data.data_type.is_empty());
    let tree = found.tree();
    let of_tree = |value: fn(&GeneTree) -> Option<f64>| tree.and_then(value);
    let cells = [
        gene.name.replace(['\t', '\n'], " "),
        gene.file.replace(['\t', '\n'], " "),
        typed.map_or(NONE.into(), |data| data.data_type.clone()),
        count(data.map(|data| data.taxa)),
        count(typed.map(|data| data.sites)),
        count(typed.map(|data| data.patterns)),
        number(typed.map(|data| data.gaps), 4),
        tree.map_or(NONE.into(), |tree| tree.model.clone()),
        number(of_tree(|tree| Some(tree.lnl)), 6),
        number(of_tree(|tree| Some(tree.length)), 6),
        number(of_tree(|tree| Some(tree.longest)), 6),
        number(of_tree(|tree| tree.alpha), 4),
        number(of_tree(|tree| tree.mean_support), 3),
        number(of_tree(|tree| tree.without_length), 4),
        line,
        replicates,
        count(difference.map(|one| one.different)),
        number(difference.and_then(Difference::relative), 4),
        match found.all_remarks() {
            none if none.is_empty() => NONE.into(),
            remarks => remarks.join("; "),
        },
    ];
    cells.join("\t") + "\n"
}

fn report_of(
    gene: &ListedGene,
    found: &GeneRecord,
    line: Option<usize>,
    difference: Option<Difference>,
) -> GeneReport {
    let data = found.data.as_ref();
    let typed = data.filter(|data| !data.data_type.is_empty());
    let tree = found.tree();
    GeneReport {
        gene: gene.name.clone(),
        file: gene.file.clone(),
        data_type: typed.map(|data| data.data_type.clone()),
        taxa: data.map(|data| data.taxa),
        sites: typed.map(|data| data.sites),
        patterns: typed.map(|data| data.patterns),
        gaps: typed.map(|data| data.gaps),
        model: tree.map(|tree| tree.model.clone()),
        log_likelihood: tree.map(|tree| tree.lnl),
        tree_length: tree.map(|tree| tree.length),
        longest_branch: tree.map(|tree| tree.longest),
        mean_support: tree.and_then(|tree| tree.mean_support),
        line,
        rf: difference.map(|one| one.different),
        relative_rf: difference.and_then(Difference::relative),
        remarks: found.all_remarks().into_iter().map(String::from).collect(),
    }
}
