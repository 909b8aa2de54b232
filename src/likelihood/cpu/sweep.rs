//! Newton-Raphson over the steps of a sweep program, whoever computes the derivatives.

use super::super::operation::{Operation, SweepGene, SweepOperation, SweepProgram};
use crate::numeric::Newton;
use crate::tree::to_length_grid;

/// What computes derivatives for a sweep: one worker with a whole gene, or all workers together.
pub trait Derivatives {
    /// Turns the CLVs of a step's genes to its branch and makes the sumtables.
    fn start_step(&mut self, program: &SweepProgram, step: usize);
    /// Value and two derivatives with respect to the step's branch, at length `t`.
    fn at(&mut self, program: &SweepProgram, step: usize, t: f64) -> [f64; 3];
}

/// Optimises every branch of the program, in order.
pub fn run_sweep(program: &mut SweepProgram, derivatives: &mut impl Derivatives) {
    let [lo, hi] = program.bounds.map(to_length_grid);
    for i in 0..program.steps.len() {
        derivatives.start_step(program, i);
        let before = program.steps[i].brlen;
        // Halves of a short branch lie below the bounds, and two long ones merged above.
        let start = before.clamp(lo, hi);
        let mut newton = Newton::new(start, lo, hi, program.gain_tolerance, to_length_grid);
        while let Some(t) = newton.ask() {
            let [value, first, second] = derivatives.at(program, i, t);
            newton.tell(value, first, second);
        }
        let (after, lnl) = newton.best();
        program.lnl = lnl;
        program.steps[i].brlen = after;
        for job in program.steps[i].jobs.clone() {
            let job = &program.jobs[job];
            let brlen = &mut program.genes[job.member].brlens[job.edge as usize];
            // Exact: all lengths lie on one grid.
            *brlen += after - before;
        }
    }
}

/// Length of a job's edge, in the gene's units, when the step's branch has length `t`.
pub fn job_length(program: &SweepProgram, job: usize, step: usize, t: f64) -> f64 {
    let job = &program.jobs[job];
    let gene = &program.genes[job.member];
    let rest = gene.brlens[job.edge as usize] - program.steps[step].brlen;
    gene.brlen_scaler * (rest + t)
}

/// An operation with the lengths of the moment.
pub fn with_lengths(gene: &SweepGene, operation: &SweepOperation) -> Operation {
    Operation {
        parent: operation.parent,
        children: operation.children,
        brlens: operation.edges.map(|edge| gene.brlen_scaler * gene.brlens[edge as usize]),
    }
}
