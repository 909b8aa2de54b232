//! Derivatives in the P-matrices of an edge, computed by the processor from CLVs that were copied from the GPUs.

use super::partition::GpuPartition;
use crate::gpu::{Device, Result};
use crate::likelihood::engine::pmatrix_gradient::{GradientEnds, of_block, runs_of_blocks, total};
use crate::likelihood::engine::{Clv, EdgeJob};
use mlsearch_kernels::PartitionKernels;
use mlsearch_kernels::body::likelihood::{BlockLikelihoods, PatternData};
use mlsearch_kernels::body::operand::End;

/// The derivatives, of a partition without constant patterns. `clvs` has CLV and scaler counts of each end that is no tip, for all patterns;
/// `parts` what each GPU has of the partition.
///
/// # Errors
/// A GPU is lost.
pub(super) fn pmatrix_gradient(
    with: PartitionKernels,
    job: &EdgeJob,
    clvs: &[Option<(Vec<f64>, Vec<u32>)>],
    parts: &[(&Device, &GpuPartition)],
) -> Result<Vec<f64>> {
    let PartitionKernels { kernels, model } = with;
    let (row, count) = (model.dims.row(), model.dims.scalers());
    let mut pmatrix = vec![0.0; model.dims.pmatrix()];
    kernels.update_pmatrix(model, job.brlen, &mut pmatrix);
    let mut tip_table = vec![0.0; model.dims.tip_table()];
    kernels.update_tip_table(model, &pmatrix, &mut tip_table);
    let mut likelihoods = BlockLikelihoods::default();
    let mut sums = Vec::new();
    // Number of patterns before the block, those of other GPUs included.
    let mut before = 0;
    for (device, part) in parts {
        for block in part.site_blocks(device)? {
            let mut codes = Vec::new();
            for end in job.ends {
                codes.push(match end {
                    Clv::Tip(tip) => part.codes(device, tip, &block)?,
                    _ => Vec::new(),
                });
            }
            let own = before..before + block.num_patterns;
            let end = |i: usize, pmatrix| match &clvs[i] {
                None => End::Tip { codes: &codes[i], table: &model.indicator },
                Some((clv, scaler)) => End::Inner {
                    clv: &clv[own.start * row..own.end * row],
                    scaler: Some(&scaler[own.start * count..own.end * count]),
                    pmatrix,
                },
            };
            let moved = match end(1, &pmatrix) {
                End::Tip { codes, .. } => End::Tip { codes, table: &tip_table },
                inner => inner,
            };
            let ends = GradientEnds { plain: [end(0, &[]), end(1, &[])], moved };
            let data = PatternData { weights: block.weights, invariant: &block.invariant };
            sums.push(of_block(with, block.num_patterns, data, ends, &mut likelihoods));
            before = own.end;
        }
    }
    let num_blocks = sums.len();
    let mut sums = sums.into_iter();
    let runs = runs_of_blocks(0..num_blocks, || Ok(sums.next().expect("as many as blocks")))?;
    Ok(total(model, &runs))
}
