//! [`Likelihood`]: the likelihood of a tree, for those who develop methods.

use crate::exceptions::refusal;
use crate::own_thread::{Interruption, on_own_thread};
use crate::runs::analysis;
use mlsearch::error::{Error, Result};
use mlsearch::likelihood::Trial;
use mlsearch::observer::Silent;
use mlsearch::optimize::{OptimizeOptions, optimize};
use mlsearch::run::Opened;
use mlsearch::tree::{EdgeId, NewickOptions, NodeId, Tree, tree_splits, write_newick};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// Expected gain (log units) of the next step below which the optimisation of a branch of a neighbour ends.
const NEIGHBOUR_TOLERANCE: f64 = 1e-4;

/// The likelihood of a tree under models: `mlsearch.Likelihood` is around it.
#[pyclass(frozen, module = "mlsearch._native")]
pub(crate) struct Likelihood(Mutex<Opened>);

/// A branch: taxa on one of its sides, and its length.
type Branch = (Vec<String>, f64);

impl Likelihood {
    /// What is computed with. Two threads cannot compute with the same likelihood at the same time.
    fn opened(&self) -> PyResult<MutexGuard<'_, Opened>> {
        match self.0.try_lock() {
            Ok(opened) => Ok(opened),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(refusal(
                "another thread computes with this likelihood: make one for each thread",
            )),
        }
    }

    /// Does work with it on a thread of its own.
    fn compute<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Opened) -> Result<T> + Send,
    ) -> PyResult<T> {
        let mut opened = self.opened()?;
        let opened = &mut *opened;
        on_own_thread(
            py,
            Interruption::AtOnce,
            |_| Ok(()),
            |stop| {
                opened.evaluator.ends_by(stop);
                let result = work(opened);
                opened.evaluator.ends_by(Default::default());
                result
            },
        )
    }
}

#[pymethods]
impl Likelihood {
    /// Reads the data of `mlsearch evaluate` with these words.
    #[new]
    fn new(py: Python<'_>, words: Vec<String>) -> PyResult<Self> {
        let analysis = analysis(["evaluate".to_string()].into_iter().chain(words).collect())?;
        let read = |_| Opened::of(&analysis);
        let opened = on_own_thread(py, Interruption::AtOnce, |_| Ok(()), read)?;
        Ok(Likelihood(Mutex::new(opened)))
    }

    /// The log-likelihood of the tree.
    fn log_likelihood(&self, py: Python<'_>) -> PyResult<f64> {
        self.compute(py, |opened| Ok(opened.evaluator.log_likelihood()?))
    }

    /// The log-likelihood of each column of the alignment, as bytes of numbers of double precision; NaN for those of no partition.
    fn site_log_likelihoods<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let values = self.compute(py, site_log_likelihoods)?;
        Ok(bytes_of(py, &values))
    }

    /// Optimises branch lengths, models or both up to this gain (log units); returns the log-likelihood.
    fn optimize(&self, py: Python<'_>, model: bool, branches: bool, epsilon: f64) -> PyResult<f64> {
        self.compute(py, |Opened { evaluator, models, .. }| {
            let options = OptimizeOptions { model, branches, ..OptimizeOptions::to(epsilon) };
            Ok(optimize(evaluator, models, &options, &mut Silent)?)
        })
    }

    /// First and second derivatives of the log-likelihood with respect to the lengths of these branches, as bytes.
    fn derivatives<'py>(
        &self,
        py: Python<'py>,
        branches: Vec<usize>,
    ) -> PyResult<[Bound<'py, PyBytes>; 2]> {
        let edges = self.edges(branches)?;
        let found =
            self.compute(py, move |opened| Ok(opened.evaluator.brlen_derivatives(&edges)?))?;
        let of_order = |order: usize| found.iter().map(|both| both[order]).collect::<Vec<_>>();
        Ok([0, 1].map(|order| bytes_of(py, &of_order(order))))
    }

    /// All trees to which pruning a subtree at this branch and regrafting it elsewhere leads: the branch of the position, the
    /// log-likelihood with the lengths of the three branches there and of the one left behind optimised, and the tree.
    fn spr_neighbours(&self, py: Python<'_>, branch: usize) -> PyResult<Vec<(usize, f64, String)>> {
        let edge = self.edges(vec![branch])?[0];
        self.compute(py, move |opened| spr_neighbours(opened, edge))
    }

    /// The branches: the taxa on one side of each, and its length.
    fn branches(&self) -> PyResult<Vec<Branch>> {
        let opened = self.opened()?;
        let tree = opened.evaluator.tree();
        let mut sides: Vec<Vec<String>> = vec![Vec::new(); tree.num_edges()];
        for (edge, split) in tree_splits(tree) {
            sides[edge.index()] =
                split.tips().map(|tip| opened.taxa.name(tip).to_string()).collect();
        }
        for edge in tree.edges().filter(|&edge| tree.is_terminal(edge)) {
            let tip = tree.ends(edge).into_iter().find(|&end| tree.is_tip(end));
            sides[edge.index()] =
                tip.into_iter().map(|tip| opened.taxa.name(tip.index()).to_string()).collect();
        }
        let lengths = tree.edges().map(|edge| tree.brlen(edge));
        Ok(sides.into_iter().zip(lengths).collect())
    }

    /// Sets the length of a branch.
    fn set_length(&self, branch: usize, length: f64) -> PyResult<()> {
        let edge = self.edges(vec![branch])?[0];
        if !(0.0..=MOST_LENGTH).contains(&length) {
            return Err(refusal(&format!("length {length}: expected one from 0 to {MOST_LENGTH}")));
        }
        self.opened()?.evaluator.set_brlen(edge, length);
        Ok(())
    }

    /// The tree with its present lengths, in Newick format.
    fn newick(&self) -> PyResult<String> {
        let opened = self.opened()?;
        Ok(text_of(&opened, opened.evaluator.tree()))
    }

    /// Names and models of the partitions, in the order of the partition file.
    fn models(&self) -> PyResult<Vec<(String, String)>> {
        let opened = self.opened()?;
        let of = |&number: &usize| {
            (opened.partitions[number].name.clone(), opened.models[number].to_string())
        };
        Ok(opened.file_order.iter().map(of).collect())
    }

    /// The taxa, in the order of their names.
    fn taxa(&self) -> PyResult<Vec<String>> {
        Ok(self.opened()?.taxa.names().to_vec())
    }
}

/// Longest length that can be set.
const MOST_LENGTH: f64 = 1000.0;

impl Likelihood {
    fn edges(&self, branches: Vec<usize>) -> PyResult<Vec<EdgeId>> {
        let count = self.opened()?.evaluator.tree().num_edges();
        let edge = |branch: usize| match branch < count {
            true => Ok(EdgeId(branch as u32)),
            false => Err(refusal(&format!(
                "branch {branch}: the tree has branches 0 to {}",
                count.saturating_sub(1)
            ))),
        };
        branches.into_iter().map(edge).collect()
    }
}

fn bytes_of<'py>(py: Python<'py>, values: &[f64]) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    PyBytes::new(py, &bytes)
}

fn text_of(opened: &Opened, tree: &Tree) -> String {
    write_newick(tree, |tip| opened.taxa.name(tip), &NewickOptions::default())
}

fn site_log_likelihoods(opened: &mut Opened) -> Result<Vec<f64>> {
    let mut values = vec![f64::NAN; opened.num_sites];
    for (number, partition) in opened.partitions.iter().enumerate() {
        let of_patterns = opened.evaluator.pattern_log_likelihoods(number)?;
        for (columns, pattern) in partition.sites_and_patterns() {
            // The three columns of a codon are one site, whose value stands at the first of them.
            if let Some(value) = of_patterns.get(pattern) {
                values[columns[0] as usize] = *value;
            }
        }
    }
    Ok(values)
}

/// A subtree at an edge, and where it may go.
fn positions(tree: &Tree, attach: NodeId, pendant: EdgeId) -> Vec<EdgeId> {
    let beside = tree.other_links(attach, pendant).map(|(_, edge)| edge);
    let rest = tree.other_links(attach, pendant);
    let outwards = rest.into_iter().flat_map(|(node, edge)| tree.preorder(node, edge));
    outwards.map(|(_, edge)| edge).filter(|edge| !beside.contains(edge)).collect()
}

fn spr_neighbours(opened: &mut Opened, edge: EdgeId) -> Result<Vec<(usize, f64, String)>> {
    let mut neighbours = Vec::new();
    let ends = opened.evaluator.tree().ends(edge);
    for attach in ends {
        if opened.evaluator.tree().is_tip(attach) {
            continue;
        }
        let candidates = positions(opened.evaluator.tree(), attach, edge);
        let pruned = opened.evaluator.prune(&[(attach, edge)], Some(NEIGHBOUR_TOLERANCE))?;
        let [prune] = &pruned[..] else {
            return Err(Error::Failed("one subtree is pruned".into()));
        };
        let requests: Vec<_> = candidates.iter().map(|&candidate| (prune, candidate)).collect();
        let trials: Vec<Trial> =
            opened.evaluator.try_insertions(&requests, NEIGHBOUR_TOLERANCE, f64::NEG_INFINITY)?;
        for (candidate, trial) in candidates.into_iter().zip(&trials) {
            let moved = opened.evaluator.insert(prune, trial);
            let newick = text_of(opened, opened.evaluator.tree());
            opened.evaluator.undo_move(moved);
            neighbours.push((candidate.index(), trial.lnl, newick));
        }
    }
    Ok(neighbours)
}
