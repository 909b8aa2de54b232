//! Numbers of GPUs beside those of the processor.

use super::report::{Agreement, SingleScores};
use crate::conformance::{Case, CaseShape, everything};
use crate::error::Result;
use crate::likelihood::select::make_engine;
use crate::likelihood::{BrlenLinkage, EngineOptions, Evaluator, Result as EngineResult};
use crate::tree::{EdgeId, NodeId, Tree};

/// Compares all numbers of a case with branch lengths that are shared in these ways, on engines of these options: the processor's
/// and the GPUs'.
pub(super) fn agreement(
    shape: &CaseShape,
    linkages: &[BrlenLinkage],
    [on_processor, on_gpus]: [&EngineOptions; 2],
) -> Result<Agreement> {
    let case = Case::new(shape);
    let (mut numbers, mut differing) = (0, 0);
    for &linkage in linkages {
        let found =
            |options| everything(&case, linkage, make_engine(&case.data(), options)?, |_| ());
        let (of_linkage, other) = found(on_processor)?.differing(&found(on_gpus)?);
        numbers += of_linkage;
        differing += other;
    }
    Ok(Agreement { partitions: shape.name.to_string(), numbers, differing })
}

/// Scores in double precision, and twice in single, on engines of these options.
pub(super) fn single_scores(
    shape: &CaseShape,
    options: [&EngineOptions; 3],
) -> Result<SingleScores> {
    let case = Case::new(shape);
    let of = |options: &EngineOptions| scores_of(&mut evaluator(&case, options)?);
    let [exact, scores, again] = options.map(of);
    let (exact, scores, again) = (exact?, scores?, again?);
    let differing = scores.iter().zip(&again).filter(|(a, b)| a.to_bits() != b.to_bits());
    let differences = scores.iter().zip(&exact).map(|(a, b)| (a - b).abs() / case.num_sites());
    Ok(SingleScores {
        partitions: shape.name.to_string(),
        scores: scores.len(),
        differing: differing.count(),
        largest_difference: differences.fold(0.0, f64::max),
    })
}

/// An evaluator on an engine of these options.
pub(super) fn evaluator(case: &Case, options: &EngineOptions) -> EngineResult<Evaluator> {
    Ok(case.evaluator(BrlenLinkage::Linked, make_engine(&case.data(), options)?))
}

/// A subtree, and edges that it could be put into.
pub(super) fn subtree(tree: &Tree) -> ((NodeId, EdgeId), Vec<EdgeId>) {
    let attach = tree.nodes().nth(tree.num_tips()).expect("a tree of four taxa or more");
    let (_, pendant) = tree.links(attach).next().expect("an inner node has neighbours");
    let behind = |(node, edge)| tree.preorder(node, edge).into_iter().skip(1).map(|(_, edge)| edge);
    ((attach, pendant), tree.other_links(attach, pendant).into_iter().flat_map(behind).collect())
}

/// Scores of regraft positions of a subtree.
pub(super) fn scores_of(evaluator: &mut Evaluator) -> EngineResult<Vec<f64>> {
    let (place, edges) = subtree(evaluator.tree());
    let prune = &evaluator.prune(&[place], None)?[0];
    Ok(evaluator.score(&[(prune, &edges[..])])?.swap_remove(0))
}
