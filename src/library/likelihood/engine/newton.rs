//! What the steps of a sweep program find, by Newton-Raphson or its like, for any source of derivatives.

use super::contract::Result;
use super::program::{Goal, SweepProgram, TrialProgram};
use crate::numeric::{GammaFit, Newton};
use crate::tree::to_length_grid;
use std::ops::Range;

/// Source of the derivatives for a sweep. The CPU engine computes them from sumtables, as RAxML does (Stamatakis
/// 2006, Bioinformatics 22:2688).
pub trait Derivatives {
    /// Carries out the updates of a step's jobs, and prepares their edges (in the CPU engine, by sumtables).
    fn start_step(&mut self, program: &SweepProgram, step: usize) -> Result<()>;
    /// Log-likelihood and its first and second derivative with respect to the length of the step's branch,
    /// at length `t`, summed over the partitions of the step.
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
    for step in steps {
        derivatives.start_step(program, step)?;
        let mut search = StepSearch::begin(program, step);
        while let Some(t) = search.ask() {
            search.tell(derivatives.at(program, step, t)?);
        }
        search.end(program, step);
    }
    Ok(())
}

/// The search of a step, for what its program asks of the branch.
#[derive(Debug)]
pub(crate) enum StepSearch {
    Maximum(Newton),
    Density(GammaFit),
    /// A length, and what is known there.
    Derivatives(f64, Option<[f64; 3]>),
}

impl StepSearch {
    pub(crate) fn begin(program: &SweepProgram, step: usize) -> Self {
        let [lo, hi] = program.bounds.map(to_length_grid);
        match program.goal {
            Goal::Maximum => {
                let before = program.brlens[program.steps[step].branch as usize];
                // Half of a short branch may lie below the lower bound, and the sum of two long ones above the upper.
                let start = before.clamp(lo, hi);
                let tolerance = program.gain_tolerance;
                StepSearch::Maximum(Newton::new(start, lo, hi, tolerance, to_length_grid))
            }
            Goal::Density { prior, start } => {
                StepSearch::Density(GammaFit::new(prior, start, [lo, hi], to_length_grid))
            }
            Goal::Derivatives => {
                let present = program.brlens[program.steps[step].branch as usize];
                StepSearch::Derivatives(present, None)
            }
        }
    }

    /// The next length to evaluate; `None` at the end.
    pub(crate) fn ask(&self) -> Option<f64> {
        match self {
            StepSearch::Maximum(newton) => newton.ask(),
            StepSearch::Density(fit) => fit.ask(),
            StepSearch::Derivatives(present, None) => Some(*present),
            StepSearch::Derivatives(_, Some(_)) => None,
        }
    }

    /// Takes log-likelihood, first and second derivative at the length last asked.
    pub(crate) fn tell(&mut self, [value, first, second]: [f64; 3]) {
        match self {
            StepSearch::Maximum(newton) => newton.tell(value, first, second),
            StepSearch::Density(fit) => fit.tell(first, second),
            StepSearch::Derivatives(_, known) => *known = Some([value, first, second]),
        }
    }

    /// Leaves what was found in the program.
    pub(crate) fn end(&self, program: &mut SweepProgram, step: usize) {
        match self {
            StepSearch::Maximum(newton) => end_step(program, step, newton.best()),
            StepSearch::Density(fit) => program.density = fit.found(),
            StepSearch::Derivatives(_, known) => program.derivatives.extend(known),
        }
    }
}

/// Takes over the length that was found for the branch of a step, and the log-likelihood there.
pub(crate) fn end_step(program: &mut SweepProgram, step: usize, (after, lnl): (f64, f64)) {
    let branch = program.steps[step].branch as usize;
    let before = std::mem::replace(&mut program.brlens[branch], after);
    program.lnl = lnl;
    for job in program.steps[step].jobs.clone() {
        let job = &program.jobs[job];
        let brlen = &mut program.partitions[job.member].brlens[job.edge as usize];
        // This is exact because all lengths are multiples of the same grid spacing.
        *brlen += after - before;
    }
}

/// Value and derivatives with respect to t of a function of s·t, from those with respect to s·t.
pub fn chain_rule([value, first, second]: [f64; 3], s: f64) -> [f64; 3] {
    [value, s * first, s * s * second]
}

/// A sweep of a trial, of which some steps are to be run.
#[derive(Debug)]
pub struct TrialSweep<'a> {
    /// Its number among the sweeps of all trials that are carried out together.
    pub number: usize,
    /// The sweep.
    pub program: &'a mut SweepProgram,
    /// The steps.
    pub steps: Range<usize>,
}

/// Steps that are run before the log-likelihood is compared with the floor, or those after them.
#[derive(Debug, Clone, Copy)]
enum TrialPart {
    First,
    Rest,
}

impl TrialPart {
    /// The steps of a sweep that belong to this part, of a trial with so many first ones.
    fn steps(self, num_first: usize, sweep: &SweepProgram) -> Range<usize> {
        match self {
            TrialPart::First => 0..num_first,
            TrialPart::Rest => num_first..sweep.steps.len(),
        }
    }
}

/// Carries out trials, with `run` for the first steps of all sweeps and then for the other steps of the sweeps of those
/// trials that have not ended, and updates their log-likelihoods.
///
/// # Errors
/// Those of `run`.
pub fn run_trials(
    trials: &mut [TrialProgram],
    mut run: impl FnMut(Vec<TrialSweep>) -> Result<()>,
) -> Result<()> {
    let mut goes_on = vec![true; trials.len()];
    for part in [TrialPart::First, TrialPart::Rest] {
        let mut sweeps = Vec::new();
        let mut number = 0;
        for (trial, &goes_on) in trials.iter_mut().zip(&goes_on) {
            for program in &mut trial.sweeps {
                if goes_on {
                    let steps = part.steps(trial.num_first, program);
                    sweeps.push(TrialSweep { number, program, steps });
                }
                number += 1;
            }
        }
        run(sweeps)?;
        for (trial, goes_on) in trials.iter_mut().zip(&mut goes_on).filter(|(_, goes_on)| **goes_on)
        {
            note_lnls(trial, part);
            // A log-likelihood that is not a number does not end a trial.
            let has_ended = trial.lnl() < trial.floor;
            *goes_on = !has_ended;
        }
    }
    Ok(())
}

/// Updates the log-likelihoods of a trial after one of its parts.
fn note_lnls(trial: &mut TrialProgram, part: TrialPart) {
    let TrialProgram { sweeps, lnls, num_first, .. } = trial;
    for sweep in sweeps {
        if let Some(last) = sweep.steps[..part.steps(*num_first, sweep).end].last() {
            let mut lnl = sweep.lnl;
            for job in &sweep.jobs[last.jobs.clone()] {
                lnls[sweep.partitions[job.member].partition] = std::mem::take(&mut lnl);
            }
        }
        for (job, &lnl) in sweep.finish.iter().zip(&sweep.finish_lnls) {
            lnls[sweep.partitions[job.member].partition] = lnl;
        }
    }
}
