//! `--rfdist`: Robinson-Foulds distances between all trees of a file.

use crate::distance::rf_matrix;
use crate::error::Result;
use crate::output::{OutputKind, RfReport};
use crate::run::plan::Plan;
use crate::run::prepare::read_forest;
use crate::run::work::{RunRecord, with_threads};
use std::path::Path;

/// Writes a line `first second distance relative-distance` per pair, trees counted from 0, as
/// RAxML-NG does.
///
/// # Errors
/// Unreadable trees, and trees over other taxa than the first.
pub(crate) fn rfdist(plan: &Plan, trees: &Path, record: &mut RunRecord) -> Result<()> {
    let (taxa, trees) = read_forest(trees)?;
    let matrix = with_threads(plan, || rf_matrix(&trees));
    let mut text = String::new();
    for i in 0..matrix.num_trees() {
        for j in i + 1..matrix.num_trees() {
            let distance = matrix.get(i, j);
            text.push_str(&format!("{i}\t{j}\t{}\t{:.6}\n", distance.absolute, distance.relative));
        }
    }
    let found = RfReport {
        trees: matrix.num_trees(),
        topologies: matrix.num_unique(),
        mean_absolute: matrix.mean_absolute(),
        mean_relative: matrix.mean_relative(),
    };
    record.progress.result(&format!(
        "{} taxa, {} trees, {} distinct topologies\nmean Robinson-Foulds distance {:.4}, relative {:.6}\n",
        taxa.len(),
        found.trees,
        found.topologies,
        found.mean_absolute,
        found.mean_relative
    ));
    record.report.rf_distances = Some(found);
    record.write(OutputKind::RfDistances, &text)
}
