//! Newton-Raphson over the steps of a sweep program, for any source of derivatives.

use super::contract::Result;
use super::program::SweepProgram;
use crate::numeric::Newton;
use crate::tree::to_length_grid;
use std::ops::Range;

/// Source of the derivatives for a sweep. The CPU engine computes them from sumtables, as RAxML does (Stamatakis
/// 2006, Bioinformatics 22:2688).
pub trait Derivatives {
    /// Carries out the updates of a step's jobs, and prepares their edges (in the CPU engine, by sumtables).
    fn start_step(&mut self, program: &SweepProgram, step: usize) -> Result<()>;
    /// Log-likelihood and its first and second derivative with respect to the length of the step's branch,
    /// at length `t`, summed over the genes of the step.
    fn at(&mut self, program: &SweepProgram, step: usize, t: f64) -> Result<[f64; 3]>;
}

/// Optimises the branches of the given steps of the program, in order.
///
/// # Errors
/// Those of `derivatives`.
pub fn run_sweep(
    program: &mut SweepProgram,
    steps: Range<usize>,
    derivatives: &mut impl Derivatives,
) -> Result<()> {
    let [lo, hi] = program.bounds.map(to_length_grid);
    for i in steps {
        derivatives.start_step(program, i)?;
        let branch = program.steps[i].branch as usize;
        let before = program.brlens[branch];
        // Half of a short branch may lie below the lower bound, and the sum of two long ones above the upper.
        let start = before.clamp(lo, hi);
        let mut newton = Newton::new(start, lo, hi, program.gain_tolerance, to_length_grid);
        while let Some(t) = newton.ask() {
            let [value, first, second] = derivatives.at(program, i, t)?;
            newton.tell(value, first, second);
        }
        let (after, lnl) = newton.best();
        program.lnl = lnl;
        program.brlens[branch] = after;
        for job in program.steps[i].jobs.clone() {
            let job = &program.jobs[job];
            let brlen = &mut program.genes[job.member].brlens[job.edge as usize];
            // This is exact because all lengths are multiples of the same grid spacing.
            *brlen += after - before;
        }
    }
    Ok(())
}
