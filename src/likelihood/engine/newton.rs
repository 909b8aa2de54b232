//! Newton-Raphson over the steps of a sweep program, whatever computes the derivatives.

use super::contract::Result;
use super::program::SweepProgram;
use crate::numeric::Newton;
use crate::tree::to_length_grid;
use std::ops::Range;

/// What computes derivatives for a sweep.
pub trait Derivatives {
    /// Turns the vectors of a step's genes to its branch and makes the sumtables.
    fn start_step(&mut self, program: &SweepProgram, step: usize) -> Result<()>;
    /// Value and two derivatives with respect to the step's branch, at length `t`.
    fn at(&mut self, program: &SweepProgram, step: usize, t: f64) -> Result<[f64; 3]>;
}

/// Optimises the branches of some steps of the program, in order.
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
        // Halves of a short branch lie below the bounds, and two long ones merged above.
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
            // Exact: all lengths lie on one grid.
            *brlen += after - before;
        }
    }
    Ok(())
}
