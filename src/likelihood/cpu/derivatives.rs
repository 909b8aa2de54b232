//! Derivatives for a sweep: by one worker that has a whole gene, or by all workers together.

use super::super::operation::{SweepJob, SweepProgram};
use super::body::pmatrix::ModelBlock;
use super::kernels::Kernels;
use super::sweep::{Derivatives, job_length, with_lengths};
use super::unit::{Scratch, Unit};
use super::workers::{CpuEngine, Region};
use std::sync::MutexGuard;

/// A whole gene in the hands of one worker, from the first branch to the last.
pub struct WholeGene<'a> {
    pub kernels: &'a dyn Kernels,
    pub model: &'a ModelBlock,
    /// All units of the gene, in block order.
    pub units: Vec<MutexGuard<'a, Unit>>,
    pub scratch: &'a mut Scratch,
}

impl Derivatives for WholeGene<'_> {
    fn start_step(&mut self, program: &SweepProgram, step: usize) {
        for job in &program.jobs[program.steps[step].jobs.clone()] {
            for unit in &mut self.units {
                start_job(self.kernels, self.model, unit, self.scratch, program, job);
            }
        }
    }

    fn at(&mut self, program: &SweepProgram, step: usize, t: f64) -> [f64; 3] {
        let job = program.steps[step].jobs.start;
        let length = job_length(program, job, step, t);
        let mut total = [0.0; 3];
        for unit in &mut self.units {
            unit.derivatives(self.kernels, self.model, length, self.scratch);
            for sums in &unit.sums {
                total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
            }
        }
        chain_rule(total, program.genes[0].brlen_scaler)
    }
}

/// Several genes, or a gene too large for one worker: one region of all workers per evaluation.
pub struct AllWorkers<'a> {
    engine: &'a mut CpuEngine,
    /// The step's job of each gene that it touches.
    job_of_gene: Vec<Option<usize>>,
    region: Region,
}

impl<'a> AllWorkers<'a> {
    /// On the workers of an engine.
    pub fn new(engine: &'a mut CpuEngine) -> Self {
        AllWorkers { engine, job_of_gene: Vec::new(), region: Region::default() }
    }
}

impl Derivatives for AllWorkers<'_> {
    fn start_step(&mut self, program: &SweepProgram, step: usize) {
        self.job_of_gene.clear();
        self.job_of_gene.resize(self.engine.num_genes(), None);
        let mut steps = vec![0; self.engine.num_genes()];
        for job in program.steps[step].jobs.clone() {
            let gene = program.genes[program.jobs[job].member].gene;
            self.job_of_gene[gene] = Some(job);
            // The sumtable, too, is a step.
            steps[gene] = program.jobs[job].operations.len() + 1;
        }
        self.region = self.engine.region(&steps);
        let job_of_gene = &self.job_of_gene;
        self.engine.for_units(&self.region, |kernels, model, unit, scratch| {
            let job = job_of_gene[unit.gene].expect("only genes of the step are run");
            start_job(kernels, model, unit, scratch, program, &program.jobs[job]);
        });
    }

    fn at(&mut self, program: &SweepProgram, step: usize, t: f64) -> [f64; 3] {
        let job_of_gene = &self.job_of_gene;
        self.engine.for_units(&self.region, |kernels, model, unit, scratch| {
            let job = job_of_gene[unit.gene].expect("only genes of the step are run");
            unit.derivatives(kernels, model, job_length(program, job, step, t), scratch);
        });
        let mut total = [0.0; 3];
        for (gene, job) in job_of_gene.iter().enumerate() {
            if let Some(job) = job {
                let scaler = program.genes[program.jobs[*job].member].brlen_scaler;
                let sums = chain_rule(self.engine.gene_sums(gene), scaler);
                total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
            }
        }
        total
    }
}

fn start_job(
    kernels: &dyn Kernels,
    model: &ModelBlock,
    unit: &mut Unit,
    scratch: &mut Scratch,
    program: &SweepProgram,
    job: &SweepJob,
) {
    let gene = &program.genes[job.member];
    let operations = &program.operations[job.operations.clone()];
    unit.update_partials(kernels, model, operations.iter().map(|o| with_lengths(gene, o)), scratch);
    unit.update_sumtable(kernels, model, job.ends);
}

/// Derivatives with respect to t of a function of s·t.
fn chain_rule([value, first, second]: [f64; 3], s: f64) -> [f64; 3] {
    [value, s * first, s * s * second]
}
