//! Derivatives for a sweep: computed by one worker for a whole gene, or by all workers together.

use super::unit::{GeneKernels, Scratch, Unit};
use super::workers::{CpuEngine, Region};
use crate::likelihood::engine::{
    Derivatives, EdgeJob, Operation, Result, SweepJob, SweepProgram, Vector,
};
use std::ops::Range;
use std::sync::MutexGuard;

/// A part of a sweep program that is to be run.
pub(super) struct Sweep<'a> {
    /// The program.
    pub program: &'a mut SweepProgram,
    /// The steps to be run.
    pub steps: Range<usize>,
    /// Slot of each temporary, by gene of the program.
    pub slots: &'a [Vec<u32>],
}

/// The vector, with a temporary replaced by the slot in which it is stored.
pub(super) fn resolve(vector: Vector, slots: &[u32]) -> Vector {
    match vector {
        Vector::Temporary(number) => Vector::Clv(slots[number as usize]),
        stored => stored,
    }
}

/// Computation of all steps of a gene by one worker.
pub(super) struct WholeGene<'a> {
    pub with: GeneKernels<'a>,
    /// All units of the gene, in block order.
    pub units: Vec<MutexGuard<'a, Unit>>,
    /// Slots of the gene's temporaries.
    pub slots: &'a [u32],
    pub scratch: &'a mut Scratch,
}

impl WholeGene<'_> {
    /// The gene's log-likelihood at an edge whose ends are stored vectors.
    pub(super) fn log_likelihood(&mut self, job: &EdgeJob) -> f64 {
        let mut total = 0.0;
        for unit in &mut self.units {
            unit.log_likelihoods(self.with, job, None, self.scratch);
            unit.sums.iter().for_each(|sums| total += sums[0]);
        }
        total
    }
}

impl Derivatives for WholeGene<'_> {
    fn start_step(&mut self, program: &SweepProgram, step: usize) -> Result<()> {
        for job in &program.jobs[program.steps[step].jobs.clone()] {
            for unit in &mut self.units {
                start_job(self.with, unit, self.scratch, program, job, self.slots)?;
            }
        }
        Ok(())
    }

    fn at(&mut self, program: &SweepProgram, step: usize, t: f64) -> Result<[f64; 3]> {
        let step = &program.steps[step];
        let length = program.job_length(&program.jobs[step.jobs.start], step, t);
        let mut total = [0.0; 3];
        for unit in &mut self.units {
            unit.derivatives(self.with, length, self.scratch);
            for sums in &unit.sums {
                total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
            }
        }
        Ok(chain_rule(total, program.genes[0].brlen_scaler))
    }
}

/// Computation of several genes, or of a gene that is too large for one worker, by all workers: each evaluation
/// is one parallel region.
pub(super) struct AllWorkers<'a> {
    engine: &'a mut CpuEngine,
    /// Slots of the temporaries of each gene of the program.
    slots: &'a [Vec<u32>],
    /// Index of the step's job, by gene; `None` for genes without a job.
    job_of_gene: Vec<Option<usize>>,
    region: Region,
}

impl<'a> AllWorkers<'a> {
    /// Computes with the workers of an engine.
    pub(super) fn new(engine: &'a mut CpuEngine, slots: &'a [Vec<u32>]) -> Self {
        AllWorkers { engine, slots, job_of_gene: Vec::new(), region: Region::default() }
    }
}

impl Derivatives for AllWorkers<'_> {
    fn start_step(&mut self, program: &SweepProgram, step: usize) -> Result<()> {
        self.job_of_gene.clear();
        self.job_of_gene.resize(self.engine.num_genes(), None);
        let mut steps = vec![0; self.engine.num_genes()];
        for job in program.steps[step].jobs.clone() {
            let gene = program.genes[program.jobs[job].member].gene;
            self.job_of_gene[gene] = Some(job);
            // The sumtable counts as a further step.
            steps[gene] = program.jobs[job].operations.len() + 1;
        }
        self.region = self.engine.region(&steps);
        let AllWorkers { engine, slots, job_of_gene, region } = self;
        engine.for_units(region, |with, unit, scratch| {
            let job = job_of_gene[unit.gene].expect("only genes of the step are run");
            let job = &program.jobs[job];
            start_job(with, unit, scratch, program, job, &slots[job.member])
        })
    }

    fn at(&mut self, program: &SweepProgram, step: usize, t: f64) -> Result<[f64; 3]> {
        let job_of_gene = &self.job_of_gene;
        let step = &program.steps[step];
        self.engine.for_units(&self.region, |with, unit, scratch| {
            let job = job_of_gene[unit.gene].expect("only genes of the step are run");
            unit.derivatives(with, program.job_length(&program.jobs[job], step, t), scratch);
            Ok(())
        })?;
        let mut total = [0.0; 3];
        for (gene, job) in job_of_gene.iter().enumerate() {
            if let Some(job) = job {
                let scaler = program.genes[program.jobs[*job].member].brlen_scaler;
                let sums = chain_rule(self.engine.gene_sums(gene), scaler);
                total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
            }
        }
        Ok(total)
    }
}

fn start_job(
    with: GeneKernels,
    unit: &mut Unit,
    scratch: &mut Scratch,
    program: &SweepProgram,
    job: &SweepJob,
    slots: &[u32],
) -> Result<()> {
    let operations = program.operations_of(job).map(|operation| Operation {
        parent: resolve(operation.parent, slots),
        children: operation.children.map(|child| resolve(child, slots)),
        ..operation
    });
    unit.update_partials(with, operations, scratch)?;
    unit.update_sumtable(with, job.ends.map(|end| resolve(end, slots)), scratch)
}

/// Value and derivatives with respect to t of a function of s·t, from those with respect to s·t.
fn chain_rule([value, first, second]: [f64; 3], s: f64) -> [f64; 3] {
    [value, s * first, s * s * second]
}
