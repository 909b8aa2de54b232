//! Newton-Raphson sweeps: sumtables and their derivatives on the cards, the decisions on the host.
//!
//! Sweeps that do not depend on each other go on side by side: each launch computes the next sumtables of all of them that
//! begin with a branch, or their derivatives at the length that each asks for. Launches and copies are therefore as many
//! as the longest of the sweeps needs, however many there are.

use super::batch::{At, Batch};
use super::card::{Card, Results, Sumtable};
use super::engine::{CudaEngine, add_update, resolve};
use super::gene::CardGene;
use super::modules::KernelId;
use super::program::{Place, StepKind};
use crate::likelihood::engine::constant_patterns::derivatives_of_sum;
use crate::likelihood::engine::layout::STATE_COUNTS;
use crate::likelihood::engine::{
    EdgeJob, Places, Result, SweepProgram, TrialProgram, TrialSweep, Vector, begin_step,
    chain_rule, end_step, run_trials,
};
use crate::numeric::Newton;
use std::ops::Range;

/// Most bytes of temporaries and sumtables of the sweeps that go on side by side, beyond the first of them.
const MOST_BYTES: usize = 1 << 30;

/// Where the temporaries of a sweep are, for one of its genes: they begin with the gene's temporary `first` on the cards, and
/// are followed by the sumtable. They stay there between the parts of a sweep.
#[derive(Debug)]
struct MemberPlaces {
    places: Places,
    first: u32,
}

impl MemberPlaces {
    fn at(&self, vector: Vector) -> At {
        let At { place, index } = resolve(vector, &self.places, Place::Temporary);
        let first = if place == Place::Temporary { self.first } else { 0 };
        At { place, index: first + index }
    }

    fn sumtable(&self) -> u32 {
        self.first + self.places.count() as u32
    }
}

/// Steps of a sweep in progress.
#[derive(Debug)]
struct Sweep<'a> {
    program: &'a mut SweepProgram,
    /// Steps that have not begun.
    left: Range<usize>,
    /// By gene of the program.
    places: &'a [MemberPlaces],
    /// The present step and the optimisation of its branch.
    present: Option<(usize, Newton)>,
}

impl<'a> Sweep<'a> {
    /// Steps of a program, whose temporaries are at these places.
    fn new(program: &'a mut SweepProgram, steps: Range<usize>, places: &'a [MemberPlaces]) -> Self {
        Sweep { program, left: steps, places, present: None }
    }

    /// The sumtables of the present step at the length that is asked for, in the order of the genes' numbers, in which the
    /// CPU engine adds them up, and the genes' factors of lengths.
    fn asked(&self) -> Option<Vec<(Sumtable, f64)>> {
        let (step, newton) = self.present.as_ref()?;
        let t = newton.ask()?;
        let step = &self.program.steps[*step];
        let mut asked: Vec<(Sumtable, f64)> = self.program.jobs[step.jobs.clone()]
            .iter()
            .map(|job| {
                let member = &self.program.genes[job.member];
                let brlen = self.program.job_length(job, step, t);
                let at = self.places[job.member].sumtable();
                (Sumtable { gene: member.gene, at, brlen }, member.brlen_scaler)
            })
            .collect();
        asked.sort_by_key(|(sumtable, _)| sumtable.gene);
        Some(asked)
    }

    /// Takes the derivatives that were asked for.
    fn tell(&mut self, [value, first, second]: [f64; 3]) {
        let Some((step, newton)) = &mut self.present else { return };
        newton.tell(value, first, second);
        if newton.ask().is_none() {
            end_step(self.program, *step, newton);
            self.present = None;
        }
    }
}

impl CudaEngine {
    /// Runs sweeps that do not depend on each other.
    ///
    /// # Errors
    /// Not enough memory, or a card is lost.
    pub(super) fn sweep_all(&mut self, mut programs: &mut [SweepProgram]) -> Result<()> {
        while !programs.is_empty() {
            let (together, places) = self.side_by_side(programs, std::slice::from_ref)?;
            let (now, later) = programs.split_at_mut(together);
            let all = now.iter_mut().zip(&places).map(|(program, places)| {
                let steps = 0..program.steps.len();
                Sweep::new(program, steps, places)
            });
            self.sweep(all.collect())?;
            programs = later;
        }
        Ok(())
    }

    /// Carries out trials.
    ///
    /// # Errors
    /// Not enough memory, or a card is lost.
    pub(super) fn try_all(&mut self, mut trials: &mut [TrialProgram]) -> Result<()> {
        while !trials.is_empty() {
            let (together, places) = self.side_by_side(trials, |trial| &trial.sweeps)?;
            let (now, later) = trials.split_at_mut(together);
            run_trials(now, |sweeps| {
                let all = sweeps.into_iter().map(|TrialSweep { number, program, steps }| {
                    Sweep::new(program, steps, &places[number])
                });
                self.sweep(all.collect())
            })?;
            trials = later;
        }
        Ok(())
    }

    /// How many of these jobs, from the first on, go on side by side, and where the temporaries of their sweeps are.
    ///
    /// # Errors
    /// Not enough memory, or a card is lost.
    fn side_by_side<Job>(
        &mut self,
        jobs: &[Job],
        sweeps_of: impl Fn(&Job) -> &[SweepProgram],
    ) -> Result<(usize, Vec<Vec<MemberPlaces>>)> {
        let mut num_temporaries = vec![0; self.dims.len()];
        let (mut bytes, mut num_jobs, mut all) = (0, 0, Vec::new());
        for job in jobs {
            let sweeps = sweeps_of(job);
            let of_job: Vec<Vec<Places>> = sweeps.iter().map(Places::of_sweep).collect();
            for (sweep, places) in sweeps.iter().zip(&of_job) {
                for (member, places) in sweep.genes.iter().zip(places) {
                    let of_gene = |card: &Card| card.genes[member.gene].temporary_bytes();
                    bytes += (places.count() + 1) * self.cards.iter().map(of_gene).sum::<usize>();
                }
            }
            if num_jobs > 0 && bytes > MOST_BYTES {
                break;
            }
            num_jobs += 1;
            for (sweep, places) in sweeps.iter().zip(of_job) {
                let members = sweep.genes.iter().zip(places).map(|(member, places)| {
                    let first = num_temporaries[member.gene];
                    num_temporaries[member.gene] += places.count() as u32 + 1;
                    MemberPlaces { places, first }
                });
                all.push(members.collect());
            }
        }
        for (gene, number) in
            num_temporaries.into_iter().enumerate().filter(|(_, number)| *number > 0)
        {
            self.reserve(gene, number as usize)?;
        }
        Ok((num_jobs, all))
    }

    /// Runs steps of sweeps side by side; evaluates the edges of [`SweepProgram::finish`] of those whose last step is among
    /// them.
    ///
    /// # Errors
    /// Not enough memory, or a card is lost.
    fn sweep(&mut self, mut sweeps: Vec<Sweep>) -> Result<()> {
        loop {
            self.begin_steps(&mut sweeps)?;
            let asked: Vec<_> = sweeps.iter().map(Sweep::asked).collect();
            if asked.iter().all(Option::is_none) {
                break;
            }
            let sumtables: Vec<Sumtable> =
                asked.iter().flatten().flatten().map(|(sumtable, _)| *sumtable).collect();
            let mut derivatives = self.derivatives(&sumtables)?.into_iter();
            for (sweep, asked) in sweeps.iter_mut().zip(asked) {
                let Some(asked) = asked else { continue };
                let mut total = [0.0; 3];
                for ((_, scaler), own) in asked.into_iter().zip(derivatives.by_ref()) {
                    let own = chain_rule(own, scaler);
                    total.iter_mut().zip(own).for_each(|(total, own)| *total += own);
                }
                sweep.tell(total);
            }
        }
        self.finish_sweeps(&mut sweeps)
    }

    /// Begins the next step of each sweep that is not in the middle of one: makes its sumtables.
    fn begin_steps(&mut self, sweeps: &mut [Sweep]) -> Result<()> {
        let mut batches = Self::batches();
        for Sweep { program, left, places, present } in sweeps {
            if present.is_some() {
                continue;
            }
            let Some(step) = left.next() else { continue };
            for job in &program.jobs[program.steps[step].jobs.clone()] {
                let gene = program.genes[job.member].gene;
                let (dims, places) = (self.dims[gene], &places[job.member]);
                let batch = &mut batches[self.batch_of(gene)];
                batch.begin(gene, 0);
                for update in program.operations_of(job) {
                    if batch.is_full() {
                        self.run(KernelId::Sumtable, batch)?;
                        batch.begin(gene, 0);
                    }
                    let children = update.children.map(|child| places.at(child));
                    add_update(batch, dims, places.at(update.parent), children, update.brlens);
                }
                let ends = job.ends.map(|end| batch.end(dims, places.at(end), None));
                let out = At { place: Place::Temporary, index: places.sumtable() };
                batch.push(StepKind::Sumtable, out, ends);
            }
            *present = Some((step, begin_step(program, step)));
        }
        for batch in batches.iter_mut().filter(|batch: &&mut Batch| !batch.steps.is_empty()) {
            self.run(KernelId::Sumtable, batch)?;
        }
        Ok(())
    }

    /// Evaluates the last edges of all sweeps whose steps have come to their end.
    fn finish_sweeps(&mut self, sweeps: &mut [Sweep]) -> Result<()> {
        let mut last: Vec<&mut Sweep> =
            sweeps.iter_mut().filter(|sweep| sweep.left.end == sweep.program.steps.len()).collect();
        let mut jobs: Vec<EdgeJob> = Vec::new();
        let mut places: Vec<&MemberPlaces> = Vec::new();
        for Sweep { program, places: of_members, .. } in last.iter() {
            jobs.extend(program.finish.iter().map(|job| program.edge_job(job)));
            places.extend(program.finish.iter().map(|job| &of_members[job.member]));
        }
        let lnls = self.edges(&jobs, |number, end| places[number].at(end))?;
        let mut lnls = lnls.into_iter();
        for sweep in &mut last {
            let count = sweep.program.finish.len();
            sweep.program.finish_lnls = lnls.by_ref().take(count).collect();
        }
        Ok(())
    }

    /// The derivatives of a sumtable whose number among those of a launch is given: sums over all blocks of all cards.
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

    /// Values and derivatives of sumtables, in their order.
    fn derivatives(&mut self, sumtables: &[Sumtable]) -> Result<Vec<[f64; 3]>> {
        let mut out = vec![[0.0; 3]; sumtables.len()];
        for (of_states, states) in STATE_COUNTS.into_iter().enumerate() {
            let chosen = |number: &usize| self.batch_of(sumtables[*number].gene) == of_states;
            let numbers: Vec<usize> = (0..sumtables.len()).filter(chosen).collect();
            if numbers.is_empty() {
                continue;
            }
            let chosen: Vec<Sumtable> = numbers.iter().map(|&number| sumtables[number]).collect();
            let started: Vec<_> = self
                .cards
                .iter_mut()
                .map(|card| card.start_derivatives(states, &chosen))
                .collect::<Result<_>>()?;
            let cards = self.cards.iter().zip(started);
            let results: Vec<_> =
                cards.map(|(card, started)| card.finish(started)).collect::<Result<_>>()?;
            for (at, number) in numbers.into_iter().enumerate() {
                out[number] = self.derivative_sums(&results, at, sumtables[number].gene);
            }
        }
        Ok(out)
    }
}
