//! Newton-Raphson over the steps of a sweep program, for any source of derivatives.

use super::contract::Result;
use super::program::{SweepProgram, TrialProgram};
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

/// Value and derivatives with respect to t of a function of s·t, from those with respect to s·t.
pub fn chain_rule([value, first, second]: [f64; 3], s: f64) -> [f64; 3] {
    [value, s * first, s * s * second]
}

/// The steps of each sweep of a trial that are run at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialPart {
    /// So many, from the first on.
    First(usize),
    /// All but so many at the beginning.
    Rest(usize),
}

impl TrialPart {
    /// The steps of a sweep that belong to this part.
    pub fn steps(self, sweep: &SweepProgram) -> Range<usize> {
        match self {
            TrialPart::First(number) => 0..number,
            TrialPart::Rest(number) => number..sweep.steps.len(),
        }
    }
}

/// Carries out a trial, with `run` for the sweeps of each of its two parts, and updates its log-likelihoods.
///
/// # Errors
/// Those of `run`.
pub fn run_trial(
    trial: &mut TrialProgram,
    mut run: impl FnMut(&mut [SweepProgram], TrialPart) -> Result<()>,
) -> Result<()> {
    for part in [TrialPart::First(trial.num_first), TrialPart::Rest(trial.num_first)] {
        run(&mut trial.sweeps, part)?;
        note_lnls(trial, part);
        if trial.lnl() < trial.floor {
            break;
        }
    }
    Ok(())
}

/// Updates the log-likelihoods of a trial after one of its parts.
fn note_lnls(TrialProgram { sweeps, lnls, .. }: &mut TrialProgram, part: TrialPart) {
    for sweep in sweeps {
        if let Some(last) = sweep.steps[..part.steps(sweep).end].last() {
            let mut lnl = sweep.lnl;
            for job in &sweep.jobs[last.jobs.clone()] {
                lnls[sweep.genes[job.member].gene] = std::mem::take(&mut lnl);
            }
        }
        for (job, &lnl) in sweep.finish.iter().zip(&sweep.finish_lnls) {
            lnls[sweep.genes[job.member].gene] = lnl;
        }
    }
}
