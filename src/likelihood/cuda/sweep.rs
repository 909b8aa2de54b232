//! Newton-Raphson sweeps: sumtables and their derivatives on the cards, the decisions on the host. Each evaluation of a
//! length is one launch and one small copy back.

use super::batch::{At, Batch};
use super::card::Results;
use super::engine::{CudaEngine, add_update, resolve};
use super::gene::CardGene;
use super::modules::KernelId;
use super::program::{Place, StepKind};
use crate::likelihood::engine::constant_patterns::derivatives_of_sum;
use crate::likelihood::engine::layout::STATE_COUNTS;
use crate::likelihood::engine::{
    Derivatives, EdgeJob, Places, Result, SweepProgram, chain_rule, run_sweep,
};
use std::ops::Range;

/// A sweep on the cards.
struct Sweep<'a> {
    engine: &'a mut CudaEngine,
    /// Places of the temporaries, by gene of the program.
    places: &'a [Places],
}

impl CudaEngine {
    /// Runs steps of a sweep; after the last one, evaluates the edges of [`SweepProgram::finish`].
    ///
    /// Temporaries keep their places between the parts of a sweep, because these follow from the whole program.
    ///
    /// # Errors
    /// Not enough memory, or a card is lost.
    pub(super) fn sweep(&mut self, program: &mut SweepProgram, steps: Range<usize>) -> Result<()> {
        let places = Places::of_sweep(program);
        for (member, places) in program.genes.iter().zip(&places) {
            self.reserve(member.gene, places.count())?;
        }
        let is_last = steps.end == program.steps.len();
        run_sweep(program, steps, &mut Sweep { engine: self, places: &places })?;
        if is_last {
            let jobs: Vec<EdgeJob> =
                program.finish.iter().map(|job| program.edge_job(job)).collect();
            let member = |number: usize| program.finish[number].member;
            program.finish_lnls = self.edges(&jobs, |number, end| {
                resolve(end, &places[member(number)], Place::Temporary)
            })?;
        }
        Ok(())
    }

    /// The derivatives of a gene whose number among the genes of a launch is given: sums over all blocks of all cards.
    fn derivative_sums(&self, results: &[Results], number: usize, gene: usize) -> [f64; 3] {
        let mut total = [0.0; 3];
        for (card, results) in self.cards.iter().zip(results) {
            let CardGene { num_blocks, correction, .. } = card.genes[gene];
            for (block, entry) in results.entries(number, 0, num_blocks).enumerate() {
                let own = [entry[0], entry[1], entry[2]];
                let sums = match correction.filter(|_| block + 1 == num_blocks) {
                    Some(correction) => correction.of_sum(derivatives_of_sum(own, entry[3])),
                    None => own,
                };
                total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
            }
        }
        total
    }

    /// Values and derivatives of sumtables at these lengths, by gene, in the order given.
    fn derivatives(&mut self, lengths: &[(usize, f64)]) -> Result<Vec<[f64; 3]>> {
        let mut out = vec![[0.0; 3]; lengths.len()];
        for (of_states, states) in STATE_COUNTS.into_iter().enumerate() {
            let chosen = |number: &usize| self.batch_of(lengths[*number].0) == of_states;
            let numbers: Vec<usize> = (0..lengths.len()).filter(chosen).collect();
            if numbers.is_empty() {
                continue;
            }
            let genes: Vec<(usize, f64)> = numbers.iter().map(|&number| lengths[number]).collect();
            let started: Vec<_> = self
                .cards
                .iter_mut()
                .map(|card| card.start_derivatives(states, &genes))
                .collect::<Result<_>>()?;
            let cards = self.cards.iter().zip(started);
            let results: Vec<_> =
                cards.map(|(card, started)| card.finish(started)).collect::<Result<_>>()?;
            for (at, number) in numbers.into_iter().enumerate() {
                out[number] = self.derivative_sums(&results, at, lengths[number].0);
            }
        }
        Ok(out)
    }
}

impl Derivatives for Sweep<'_> {
    fn start_step(&mut self, program: &SweepProgram, step: usize) -> Result<()> {
        let mut batches = CudaEngine::batches();
        for job in &program.jobs[program.steps[step].jobs.clone()] {
            let gene = program.genes[job.member].gene;
            let (dims, places) = (self.engine.dims[gene], &self.places[job.member]);
            let batch = &mut batches[self.engine.batch_of(gene)];
            let at = |vector| resolve(vector, places, Place::Temporary);
            batch.begin(gene, 0);
            for update in program.operations_of(job) {
                if batch.is_full() {
                    self.engine.run(KernelId::Sumtable, batch)?;
                    batch.begin(gene, 0);
                }
                add_update(batch, dims, at(update.parent), update.children.map(at), update.brlens);
            }
            let ends = job.ends.map(|end| batch.end(dims, at(end), None));
            batch.push(StepKind::Sumtable, At { place: Place::Tip, index: 0 }, ends);
        }
        for batch in batches.iter_mut().filter(|batch: &&mut Batch| !batch.steps.is_empty()) {
            self.engine.run(KernelId::Sumtable, batch)?;
        }
        Ok(())
    }

    fn at(&mut self, program: &SweepProgram, step: usize, t: f64) -> Result<[f64; 3]> {
        let step = &program.steps[step];
        let mut of_genes: Vec<(usize, f64, f64)> = program.jobs[step.jobs.clone()]
            .iter()
            .map(|job| {
                let member = &program.genes[job.member];
                (member.gene, program.job_length(job, step, t), member.brlen_scaler)
            })
            .collect();
        // Sums over genes are made in the order of their numbers, as the CPU engine does.
        of_genes.sort_by_key(|(gene, ..)| *gene);
        let lengths: Vec<(usize, f64)> =
            of_genes.iter().map(|&(gene, length, _)| (gene, length)).collect();
        let sums = self.engine.derivatives(&lengths)?;
        let mut total = [0.0; 3];
        for (sums, (.., scaler)) in sums.into_iter().zip(of_genes) {
            let sums = chain_rule(sums, scaler);
            total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
        }
        Ok(total)
    }
}
