//! [`NaiveEngine`]: all operations of the contract by their defining formulas.

use super::rows::{
    EdgeFunction, Rows, edge_functions, pmatrix_gradient, product, state_probabilities,
    through_branch, tip_rows,
};
use crate::likelihood::engine::ascertainment::Correction;
use crate::likelihood::engine::layout::num_clvs;
use crate::likelihood::engine::scaling::LN_FACTOR;
use crate::likelihood::engine::{
    Capabilities, Clv, Derivatives, EdgeJob, Engine, EngineOptions, Entry, InsertionProgram,
    InsertionStep, Operation, PartitionData, PartitionModel, PointJob, Result, SweepJob,
    SweepProgram, SweepWork, TraversalDescriptor, TrialProgram, run_sweep, run_trials,
};
use crate::model::Model;

/// Entry of this engine for `select`.
pub const ENTRY: Entry =
    Entry { name: "naive", make, instruction_set: |_| Ok("none"), gives_default_bits: false };

fn make(data: &[PartitionData], _options: &EngineOptions) -> Result<Box<dyn Engine>> {
    Ok(Box::new(NaiveEngine::new(data)))
}

/// An engine that computes likelihoods slowly, by textbook formulas.
pub struct NaiveEngine {
    partitions: Vec<Partition>,
}

/// Patterns of a partition that are processed together: those of its sites, or the constant ones.
struct Part {
    data: PartitionData,
    clvs: Vec<Rows>,
    temporaries: Vec<Rows>,
}

struct Partition {
    sites: Part,
    constants: Option<Part>,
    correction: Option<Correction>,
    model: Option<PartitionModel>,
}

impl Part {
    fn new(data: PartitionData) -> Self {
        let clvs = vec![Rows::new(); num_clvs(data.num_tips())];
        Part { data, clvs, temporaries: Vec::new() }
    }

    fn rows(&self, clv: Clv) -> Rows {
        match clv {
            Clv::Tip(tip) => tip_rows(&self.data, tip as usize),
            Clv::Stored(slot) => self.clvs[slot as usize].clone(),
            Clv::Temporary(number) => self.temporaries[number as usize].clone(),
        }
    }

    fn update(
        &mut self,
        model: &PartitionModel,
        Operation { parent, children, brlens }: Operation,
    ) {
        let seen = |i: usize| through_branch(model, brlens[i], &self.rows(children[i]));
        let rows = product(&seen(0), &seen(1));
        match parent {
            Clv::Stored(slot) => self.clvs[slot as usize] = rows,
            _ => self.temporaries.push(rows),
        }
    }

    fn edge(&self, model: &PartitionModel, ends: [Clv; 2]) -> Vec<EdgeFunction> {
        let [a, b] = ends.map(|end| self.rows(end));
        edge_functions(model, &self.data, &a, &b)
    }

    /// Likelihood functions with a pendant vector inserted between two ends, as those of a pendant edge of
    /// length 0.
    fn insertion(
        &self,
        model: &PartitionModel,
        pendant: u32,
        ends: [Clv; 2],
        brlens: [f64; 2],
    ) -> Vec<EdgeFunction> {
        let seen = |i: usize| through_branch(model, brlens[i], &self.rows(ends[i]));
        let pendant = &self.temporaries[pendant as usize];
        edge_functions(model, &self.data, &product(&seen(0), &seen(1)), pendant)
    }
}

impl Partition {
    fn parts(&mut self) -> impl Iterator<Item = &mut Part> {
        std::iter::once(&mut self.sites).chain(&mut self.constants)
    }

    fn model(&self) -> PartitionModel {
        self.model.clone().expect("a model was set")
    }

    fn update(&mut self, operation: Operation) {
        let model = self.model();
        self.parts().for_each(|part| part.update(&model, operation));
    }

    fn start_program(&mut self) {
        self.parts().for_each(|part| part.temporaries.clear());
    }

    /// The partition's log-likelihood and its first and second derivative with respect to t.
    fn sums(
        &self,
        of_part: impl Fn(&Part, &PartitionModel) -> Vec<EdgeFunction>,
        t: f64,
    ) -> [f64; 3] {
        let model = self.model();
        let mut total = weighted(&of_part(&self.sites, &model), &self.sites.data.weights, t);
        if let Some(constants) = &self.constants {
            let functions = of_part(constants, &model);
            let added = match self.correction {
                None => weighted(&functions, &constants.data.weights, t),
                Some(correction) => {
                    let (sums, count) = sum_of(&functions, t);
                    correction.of_sum(sums, count)
                }
            };
            total.iter_mut().zip(added).for_each(|(total, added)| *total += added);
        }
        total
    }

    fn edge_sums(&self, ends: [Clv; 2], t: f64) -> [f64; 3] {
        self.sums(|part, model| part.edge(model, ends), t)
    }
}

/// Weighted sums of ln L and its first and second derivative at length t.
fn weighted(functions: &[EdgeFunction], weights: &[f64], t: f64) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for (function, &weight) in functions.iter().zip(weights).filter(|(_, weight)| **weight > 0.0) {
        let [value, first, second] = function.at(t);
        sums[0] += weight * value;
        sums[1] += weight * first;
        sums[2] += weight * (second - first * first);
    }
    sums
}

/// S, S′ and S″ at length t, where S is the sum of the likelihoods: numbers and their scaler count.
fn sum_of(functions: &[EdgeFunction], t: f64) -> ([f64; 3], u32) {
    let values: Vec<[f64; 3]> = functions.iter().map(|function| function.at(t)).collect();
    let largest = values.iter().map(|value| value[0]).fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return ([0.0; 3], 0);
    }
    let count = (-largest / LN_FACTOR).max(0.0).floor();
    let mut sums = [0.0; 3];
    for [log, first, second] in values {
        let value = libm::exp(log + count * LN_FACTOR);
        sums[0] += value;
        sums[1] += value * first;
        sums[2] += value * second;
    }
    (sums, count as u32)
}

impl NaiveEngine {
    /// An engine for these partitions.
    pub fn new(data: &[PartitionData]) -> Self {
        let partition = |data: &PartitionData| Partition {
            sites: Part::new(data.clone()),
            constants: data.constant_patterns().map(Part::new),
            correction: Correction::of(data),
            model: None,
        };
        NaiveEngine { partitions: data.iter().map(partition).collect() }
    }

    fn sweep(&mut self, program: &mut SweepProgram, steps: std::ops::Range<usize>) -> Result<()> {
        if steps.start == 0 {
            program
                .partitions
                .iter()
                .for_each(|partition| self.partitions[partition.partition].start_program());
        }
        let is_last = steps.end == program.steps.len();
        run_sweep(program, steps, self)?;
        if is_last {
            let lnl = |job: &SweepJob| {
                let EdgeJob { partition, ends, brlen } = program.edge_job(job);
                self.partitions[partition].edge_sums(ends, brlen)[0]
            };
            program.finish_lnls = program.finish.iter().map(lnl).collect();
        }
        Ok(())
    }
}

impl Derivatives for NaiveEngine {
    fn start_step(&mut self, program: &SweepProgram, step: usize) -> Result<()> {
        for job in &program.jobs[program.steps[step].jobs.clone()] {
            let partition = program.partitions[job.member].partition;
            program
                .operations_of(job)
                .for_each(|operation| self.partitions[partition].update(operation));
        }
        Ok(())
    }

    fn at(&mut self, program: &SweepProgram, step: usize, t: f64) -> Result<[f64; 3]> {
        let step = &program.steps[step];
        let mut total = [0.0; 3];
        for job in &program.jobs[step.jobs.clone()] {
            let partition = &program.partitions[job.member];
            let length = program.job_length(job, step, t);
            let sums = self.partitions[partition.partition].edge_sums(job.ends, length);
            let scaler = partition.brlen_scaler;
            let by_t = [sums[0], scaler * sums[1], scaler * scaler * sums[2]];
            total.iter_mut().zip(by_t).for_each(|(total, sum)| *total += sum);
        }
        Ok(total)
    }
}

impl Engine for NaiveEngine {
    fn capabilities(&self) -> Capabilities {
        let bytes = |part: &Part| {
            let row = part.data.num_patterns() * part.data.num_rates * part.data.num_states;
            (part.clvs.len() * row * 8) as u64
        };
        let clv_bytes = self.partitions.iter().map(|partition| bytes(&partition.sites)).sum();
        Capabilities {
            name: ENTRY.name,
            clv_bytes,
            used_bytes: clv_bytes,
            updates: [0; 2],
            swept: SweepWork::default(),
            free_bytes: None,
            best_batch: 1,
        }
    }

    fn set_models(&mut self, models: &[(usize, &Model)]) -> Result<()> {
        for (partition, model) in models {
            self.partitions[*partition].model = Some(PartitionModel::new(model));
        }
        Ok(())
    }

    fn set_pattern_weights(&mut self, partition: usize, weights: &[f64]) -> Result<()> {
        let partition = &mut self.partitions[partition];
        partition.sites.data.weights = weights.to_vec();
        let num_sites = weights.iter().sum();
        partition.correction =
            partition.correction.map(|correction| correction.with_sites(num_sites));
        Ok(())
    }

    fn update_partials(&mut self, descriptors: &[TraversalDescriptor]) -> Result<()> {
        for TraversalDescriptor { partition, operations } in descriptors {
            operations.iter().for_each(|operation| self.partitions[*partition].update(*operation));
        }
        Ok(())
    }

    fn log_likelihoods(&mut self, jobs: &[EdgeJob]) -> Result<Vec<f64>> {
        let lnl = |job: &EdgeJob| self.partitions[job.partition].edge_sums(job.ends, job.brlen)[0];
        Ok(jobs.iter().map(lnl).collect())
    }

    fn pattern_log_likelihoods(&mut self, job: &EdgeJob) -> Result<Vec<f64>> {
        let partition = &self.partitions[job.partition];
        let model = partition.model();
        let lnls = partition.sites.edge(&model, job.ends).into_iter().map(|f| f.at(job.brlen)[0]);
        let added = match (&partition.constants, partition.correction) {
            (Some(constants), Some(correction)) => {
                let (sums, count) = sum_of(&constants.edge(&model, job.ends), job.brlen);
                correction.of_site(correction.of_sum(sums, count)[0])
            }
            _ => 0.0,
        };
        Ok(lnls.map(|lnl| lnl + added).collect())
    }

    fn state_probabilities(&mut self, jobs: &[PointJob]) -> Result<Vec<Vec<f64>>> {
        let of_job = |job: &PointJob| {
            let partition = &self.partitions[job.partition];
            let (model, data) = (partition.model(), &partition.sites.data);
            let seen = |i: usize| {
                through_branch(&model, job.brlens[i], &partition.sites.rows(job.ends[i]))
            };
            state_probabilities(&model, data, &product(&seen(0), &seen(1)))
        };
        Ok(jobs.iter().map(of_job).collect())
    }

    fn pmatrix_gradients(&mut self, jobs: &[EdgeJob]) -> Result<Vec<Vec<f64>>> {
        let of_job = |job: &EdgeJob| {
            let partition = &self.partitions[job.partition];
            let [a, b] = job.ends.map(|end| partition.sites.rows(end));
            pmatrix_gradient(&partition.model(), &partition.sites.data, [&a, &b], job.brlen)
        };
        Ok(jobs.iter().map(of_job).collect())
    }

    fn insertion_scores(&mut self, programs: &[InsertionProgram]) -> Result<Vec<Vec<f64>>> {
        let mut all = Vec::new();
        for InsertionProgram { partition, steps, .. } in programs {
            let partition = &mut self.partitions[*partition];
            partition.start_program();
            let model = partition.model();
            let mut scores = Vec::new();
            for step in steps {
                match *step {
                    InsertionStep::Partials(operation) => partition.update(operation),
                    InsertionStep::Pendant { source, brlen, .. } => {
                        for part in partition.parts() {
                            let seen = through_branch(&model, brlen, &part.rows(source));
                            part.temporaries.push(seen);
                        }
                    }
                    InsertionStep::Score { pendant, ends, brlens } => {
                        let edge = |part: &Part, model: &PartitionModel| {
                            part.insertion(model, pendant, ends, brlens)
                        };
                        scores.push(partition.sums(edge, 0.0)[0]);
                    }
                    InsertionStep::Edge { ends, brlen } => {
                        scores.push(partition.edge_sums(ends, brlen)[0]);
                    }
                }
            }
            all.push(scores);
        }
        Ok(all)
    }

    fn optimize_branches(&mut self, programs: &mut [SweepProgram]) -> Result<()> {
        for program in programs {
            let steps = 0..program.steps.len();
            self.sweep(program, steps)?;
        }
        Ok(())
    }

    fn try_insertions(&mut self, trials: &mut [TrialProgram]) -> Result<()> {
        // One after the other, because all have their temporaries in the same places.
        trials.iter_mut().try_for_each(|trial| {
            run_trials(std::slice::from_mut(trial), |sweeps| {
                sweeps.into_iter().try_for_each(|sweep| self.sweep(sweep.program, sweep.steps))
            })
        })
    }

    fn clv(&mut self, partition: usize, slot: u32) -> Result<(Vec<f64>, Vec<u32>)> {
        let partition = &self.partitions[partition];
        let rows = partition.sites.clvs[slot as usize].iter();
        let scales = rows.clone().map(|row| row.log_scale);
        Ok((rows.flat_map(|row| row.values.iter().copied()).chain(scales).collect(), Vec::new()))
    }
}
