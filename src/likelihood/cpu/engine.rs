//! The engine on the processor: every verb of the contract, on units dealt to workers.

use super::super::Engine;
use super::super::data::GeneModel;
use super::super::operation::{EdgeJob, InsertionProgram, SweepProgram, TraversalDescriptor};
use super::derivatives::{AllWorkers, WholeGene};
use super::model_block::fill_model;
use super::sweep::run_sweep;
use super::workers::{CpuEngine, loads_of, lock};
use crate::parallel::{UnitCost, WholeTask, deal_whole};
use std::sync::Mutex;

/// What it costs to start all workers and wait for the last, in step costs: that of 4 DNA blocks with
/// 4 rates, or about 2 µs.
const MEETING: UnitCost = 4 * 128 * 16 * 4;

/// Times that all workers meet for one branch: to turn CLVs, and for each Newton step.
const MEETINGS_PER_BRANCH: UnitCost = 5;

impl Engine for CpuEngine {
    fn set_model(&mut self, gene: usize, model: &GeneModel) {
        let block = &mut self.models[gene];
        fill_model(block, model, self.kernels.as_ref());
        for unit in self.gene_units[gene].clone() {
            lock(&self.units[unit]).set_model(&model.freqs, model.pinv);
        }
    }

    fn update_partials(&mut self, descriptors: &[TraversalDescriptor]) {
        let mut of_gene: Vec<Option<&TraversalDescriptor>> = vec![None; self.models.len()];
        for descriptor in descriptors.iter().filter(|d| !d.operations.is_empty()) {
            of_gene[descriptor.gene] = Some(descriptor);
        }
        if of_gene.iter().all(Option::is_none) {
            return;
        }
        let steps = |descriptor: &Option<&TraversalDescriptor>| {
            descriptor.map_or(0, |descriptor| descriptor.operations.len())
        };
        let region = self.region(&of_gene.iter().map(steps).collect::<Vec<_>>());
        self.for_units(&region, |kernels, model, unit, scratch| {
            let operations = &of_gene[unit.gene].expect("only wanted genes are run").operations;
            unit.update_partials(kernels, model, operations.iter().copied(), scratch);
        });
    }

    fn log_likelihoods(&mut self, jobs: &[EdgeJob]) -> Vec<f64> {
        let mut of_gene: Vec<Option<&EdgeJob>> = vec![None; self.models.len()];
        for job in jobs {
            assert!(of_gene[job.gene].replace(job).is_none(), "one job per gene");
        }
        let steps = |job: &Option<&EdgeJob>| usize::from(job.is_some());
        let region = self.region(&of_gene.iter().map(steps).collect::<Vec<_>>());
        self.for_units(&region, |kernels, model, unit, scratch| {
            let job = of_gene[unit.gene].expect("only wanted genes are run");
            unit.log_likelihoods(kernels, model, job, None, scratch);
        });
        jobs.iter().map(|job| self.gene_sums(job.gene)[0]).collect()
    }

    fn pattern_log_likelihoods(&mut self, job: &EdgeJob) -> Vec<f64> {
        let mut out = Vec::new();
        let mut scratch = lock(&self.scratch[0]);
        for unit in self.gene_units[job.gene].clone() {
            let mut unit = lock(&self.units[unit]);
            let model = &self.models[job.gene];
            unit.log_likelihoods(self.kernels.as_ref(), model, job, Some(&mut out), &mut scratch);
            // Known when the gene's last unit is through, and that of all its patterns.
            let correction = unit.correction_of_site();
            if correction != 0.0 {
                out.iter_mut().for_each(|lnl| *lnl += correction);
            }
        }
        out
    }

    fn insertion_scores(&mut self, programs: &[InsertionProgram]) -> Vec<Vec<f64>> {
        let mut of_gene: Vec<Option<&InsertionProgram>> = vec![None; self.models.len()];
        for program in programs {
            assert!(of_gene[program.gene].replace(program).is_none(), "one program per gene");
        }
        let steps =
            |program: &Option<&InsertionProgram>| program.map_or(0, |program| program.steps.len());
        let region = self.region(&of_gene.iter().map(steps).collect::<Vec<_>>());
        self.for_units(&region, |kernels, model, unit, scratch| {
            let program = of_gene[unit.gene].expect("only wanted genes are run");
            unit.insertion_scores(kernels, model, program, scratch);
        });
        programs.iter().map(|program| self.program_scores(program)).collect()
    }

    fn optimize_branches(&mut self, programs: &mut [SweepProgram]) {
        // A program of one gene is run from end to end by one worker, unless the gene is so large that
        // all others would wait for it.
        let (mut alone, mut together): (Vec<_>, Vec<_>) =
            programs.iter_mut().partition(|program| program.genes.len() == 1);
        let tasks: Vec<WholeTask> = alone.iter().map(|program| self.sweep_cost(program)).collect();
        let (hands, split) = deal_whole(&tasks, self.pool.num_workers());
        let costs: Vec<UnitCost> = tasks.iter().map(|task| task.whole).collect();
        let loads = loads_of(&hands, &costs);
        self.sweep_whole_genes(&mut alone, &hands, &loads);
        let alone = alone.into_iter().enumerate();
        together.extend(alone.filter(|(i, _)| split.contains(i)).map(|(_, program)| program));
        for program in together {
            run_sweep(program, &mut AllWorkers::new(self));
        }
    }

    fn clv(&mut self, gene: usize, slot: u32) -> (Vec<f64>, Vec<u32>) {
        let mut all = (Vec::new(), Vec::new());
        for unit in self.gene_units[gene].clone() {
            let (numbers, counts) = lock(&self.units[unit]).clv(slot);
            all.0.extend(numbers);
            all.1.extend(counts);
        }
        all
    }

    fn clv_bytes(&self) -> usize {
        self.units.iter().map(|unit| lock(unit).clv_bytes()).sum()
    }

    fn describe(&self) -> String {
        format!("cpu, {} kernels, {} threads", self.kernels.name(), self.pool.num_workers())
    }
}

impl CpuEngine {
    /// What the sweep of a single gene costs one worker, and all together.
    fn sweep_cost(&self, program: &SweepProgram) -> WholeTask {
        let units = self.gene_units[program.genes[0].gene].clone();
        // A branch takes a sumtable and a few Newton steps beside the CLVs that turn to it.
        let steps = (program.operations.len() + 2 * program.steps.len()) as UnitCost;
        let cost = |unit: usize| self.step_costs[unit] * steps;
        let meetings = MEETINGS_PER_BRANCH * program.steps.len() as UnitCost;
        let longest = units.clone().map(cost).max().unwrap_or(0);
        WholeTask { whole: units.map(cost).sum(), split: longest + meetings * MEETING }
    }

    /// Runs each worker's programs, of one gene each, from end to end.
    fn sweep_whole_genes(
        &mut self,
        programs: &mut [&mut SweepProgram],
        hands: &[Vec<usize>],
        loads: &[UnitCost],
    ) {
        let CpuEngine { kernels, pool, models, units, gene_units, scratch, .. } = self;
        let kernels = kernels.as_ref();
        let programs: Vec<Mutex<&mut SweepProgram>> =
            programs.iter_mut().map(|program| Mutex::new(&mut **program)).collect();
        pool.run(loads, &|worker| {
            let scratch = &mut lock(&scratch[worker]);
            for &i in &hands[worker] {
                let mut program = lock(&programs[i]);
                let gene = program.genes[0].gene;
                let units = units[gene_units[gene].clone()].iter().map(lock).collect();
                let model = &models[gene];
                run_sweep(&mut program, &mut WholeGene { kernels, model, units, scratch });
            }
        });
    }

    fn program_scores(&self, program: &InsertionProgram) -> Vec<f64> {
        let mut scores = vec![0.0; program.num_scores()];
        for unit in self.gene_units[program.gene].clone() {
            let unit = lock(&self.units[unit]);
            for (total, blocks) in
                scores.iter_mut().zip(unit.scores.chunks_exact(unit.num_blocks()))
            {
                blocks.iter().for_each(|block| *total += block);
            }
        }
        scores
    }
}
