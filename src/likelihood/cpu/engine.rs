//! The engine over worker threads: which worker does which unit, and the sums in block order.

use super::super::Engine;
use super::super::data::{GeneData, GeneModel};
use super::super::layout::{Dims, block_lens};
use super::super::operation::{EdgeJob, InsertionProgram, SweepProgram, TraversalDescriptor};
use super::body::pmatrix::ModelBlock;
use super::kernels::Kernels;
use super::sweep::{Derivatives, job_length, run_sweep, with_lengths};
use super::unit::{Scratch, Unit};
use crate::parallel::{Pool, deal};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

/// Likelihoods on the processor.
pub struct CpuEngine {
    kernels: Box<dyn Kernels>,
    pool: Pool,
    models: Vec<ModelBlock>,
    /// Units of all genes, in gene and block order. The locks are never contended: a worker only
    /// takes its own units, and the caller only between regions.
    units: Vec<Mutex<Unit>>,
    gene_units: Vec<Range<usize>>,
    hands: Vec<Vec<usize>>,
    scratch: Vec<Mutex<Scratch>>,
}

/// A gene is split into several units only if it has at least this many blocks per worker: below
/// that, the matrices every unit computes for itself cost more than the split gains.
const MIN_BLOCKS_PER_UNIT: usize = 2;

impl CpuEngine {
    /// An engine for these genes with `num_workers` threads. Genes without models must be given one
    /// before anything is computed.
    pub fn new(
        data: &[GeneData],
        kernels: Box<dyn Kernels>,
        num_workers: usize,
        pin: bool,
    ) -> Self {
        let mut pool = Pool::new(num_workers, pin);
        let models: Vec<ModelBlock> = data.iter().map(empty_model).collect();
        // Blocks of each unit, as (gene, first block, lengths, constant patterns).
        let mut plans: Vec<(usize, usize, Vec<usize>, Option<GeneData>)> = Vec::new();
        let mut gene_units = Vec::new();
        for (gene, data) in data.iter().enumerate() {
            let first = plans.len();
            if data.num_tips() > 0 {
                let lens = block_lens(data.num_patterns());
                let parts = (lens.len() / MIN_BLOCKS_PER_UNIT).clamp(1, num_workers);
                for part in 0..parts {
                    let range = lens.len() * part / parts..lens.len() * (part + 1) / parts;
                    let is_last = part + 1 == parts;
                    let constants = is_last.then(|| data.constant_patterns()).flatten();
                    plans.push((gene, range.start, lens[range].to_vec(), constants));
                }
            }
            gene_units.push(first..plans.len());
        }
        let costs: Vec<u64> = plans
            .iter()
            .map(|(gene, _, lens, constants)| {
                let row = models[*gene].dims.row() * models[*gene].dims.num_states;
                let constants = constants.as_ref().map_or(0, GeneData::num_patterns);
                let patterns = lens.iter().sum::<usize>() + constants;
                (patterns * data[*gene].num_tips() * row) as u64
            })
            .collect();
        let hands = deal(&costs, num_workers);
        let slots: Vec<Mutex<Option<Unit>>> = plans.iter().map(|_| Mutex::new(None)).collect();
        // Every worker makes its own units, so that their memory lies near it.
        pool.run(&|worker| {
            for &unit in &hands[worker] {
                let (gene, first_block, lens, constants) = &plans[unit];
                let (data, dims) = (&data[*gene], models[*gene].dims);
                let made = Unit::new(*gene, data, dims, lens, *first_block, constants.as_ref());
                *lock(&slots[unit]) = Some(made);
            }
        });
        let units = slots
            .into_iter()
            .map(|slot| {
                let unit = slot.into_inner().unwrap_or_else(|e| e.into_inner());
                Mutex::new(unit.expect("every unit was dealt to a worker"))
            })
            .collect();
        let scratch = (0..num_workers).map(|_| Mutex::new(Scratch::default())).collect();
        CpuEngine { kernels, pool, models, units, gene_units, hands, scratch }
    }

    /// Runs `work` for every unit of every gene in `genes` (given as a mark per gene), each on its
    /// worker.
    fn for_units(
        &mut self,
        wanted: &[bool],
        work: impl Fn(&dyn Kernels, &ModelBlock, &mut Unit, &mut Scratch) + Sync,
    ) {
        let CpuEngine { kernels, pool, models, units, hands, scratch, .. } = self;
        let kernels = kernels.as_ref();
        pool.run(&|worker| {
            let mut scratch = lock(&scratch[worker]);
            for &unit in &hands[worker] {
                let mut unit = lock(&units[unit]);
                if wanted[unit.gene] {
                    let model = &models[unit.gene];
                    work(kernels, model, &mut unit, &mut scratch);
                }
            }
        });
    }

    /// Sum over the blocks of a gene, in block order.
    fn gene_sums(&self, gene: usize) -> [f64; 3] {
        let mut total = [0.0; 3];
        for unit in self.gene_units[gene].clone() {
            for sums in &lock(&self.units[unit]).sums {
                for (total, sum) in total.iter_mut().zip(sums) {
                    *total += sum;
                }
            }
        }
        total
    }
}

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
        let wanted: Vec<bool> = of_gene.iter().map(Option::is_some).collect();
        self.for_units(&wanted, |kernels, model, unit, scratch| {
            let operations = &of_gene[unit.gene].expect("only wanted genes are run").operations;
            unit.update_partials(kernels, model, operations.iter().copied(), scratch);
        });
    }

    fn log_likelihoods(&mut self, jobs: &[EdgeJob]) -> Vec<f64> {
        let mut of_gene: Vec<Option<&EdgeJob>> = vec![None; self.models.len()];
        for job in jobs {
            assert!(of_gene[job.gene].replace(job).is_none(), "one job per gene");
        }
        let wanted: Vec<bool> = of_gene.iter().map(Option::is_some).collect();
        self.for_units(&wanted, |kernels, model, unit, scratch| {
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
        let wanted: Vec<bool> =
            of_gene.iter().map(|program| program.is_some_and(|p| !p.steps.is_empty())).collect();
        self.for_units(&wanted, |kernels, model, unit, scratch| {
            let program = of_gene[unit.gene].expect("only wanted genes are run");
            unit.insertion_scores(kernels, model, program, scratch);
        });
        programs.iter().map(|program| self.program_scores(program)).collect()
    }

    fn optimize_branches(&mut self, programs: &mut [SweepProgram]) {
        // Programs of one gene that is one unit run from end to end on that unit's worker.
        let mut local: Vec<Option<Mutex<&mut SweepProgram>>> = Vec::new();
        local.resize_with(self.models.len(), || None);
        let mut together = Vec::new();
        for program in programs {
            match program.genes[..] {
                [ref only] if self.gene_units[only.gene].len() == 1 => {
                    let gene = only.gene;
                    local[gene] = Some(Mutex::new(program));
                }
                _ => together.push(program),
            }
        }
        let wanted: Vec<bool> = local.iter().map(Option::is_some).collect();
        if wanted.contains(&true) {
            self.for_units(&wanted, |kernels, model, unit, scratch| {
                let mut program =
                    lock(local[unit.gene].as_ref().expect("only wanted genes are run"));
                run_sweep(&mut program, &mut OneUnit { kernels, model, unit, scratch });
            });
        }
        for program in together {
            run_sweep(program, &mut AllUnits { engine: self });
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

/// A whole gene in one unit: no other worker is needed.
struct OneUnit<'a> {
    kernels: &'a dyn Kernels,
    model: &'a ModelBlock,
    unit: &'a mut Unit,
    scratch: &'a mut Scratch,
}

impl Derivatives for OneUnit<'_> {
    fn start_step(&mut self, program: &SweepProgram, step: usize) {
        for job in &program.jobs[program.steps[step].jobs.clone()] {
            start_job(self.kernels, self.model, self.unit, self.scratch, program, job);
        }
    }

    fn at(&mut self, program: &SweepProgram, step: usize, t: f64) -> [f64; 3] {
        let job = program.steps[step].jobs.start;
        let length = job_length(program, job, step, t);
        self.unit.derivatives(self.kernels, self.model, length, self.scratch);
        let mut total = [0.0; 3];
        for sums in &self.unit.sums {
            total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
        }
        chain_rule(total, program.genes[0].brlen_scaler)
    }
}

/// Several genes, or a gene in several units: one region of all workers per evaluation.
struct AllUnits<'a> {
    engine: &'a mut CpuEngine,
}

impl AllUnits<'_> {
    fn jobs_of_genes(&self, program: &SweepProgram, step: usize) -> Vec<Option<usize>> {
        let mut of_gene = vec![None; self.engine.models.len()];
        for job in program.steps[step].jobs.clone() {
            of_gene[program.genes[program.jobs[job].member].gene] = Some(job);
        }
        of_gene
    }
}

impl Derivatives for AllUnits<'_> {
    fn start_step(&mut self, program: &SweepProgram, step: usize) {
        let of_gene = self.jobs_of_genes(program, step);
        let wanted: Vec<bool> = of_gene.iter().map(Option::is_some).collect();
        self.engine.for_units(&wanted, |kernels, model, unit, scratch| {
            let job = &program.jobs[of_gene[unit.gene].expect("only wanted genes are run")];
            start_job(kernels, model, unit, scratch, program, job);
        });
    }

    fn at(&mut self, program: &SweepProgram, step: usize, t: f64) -> [f64; 3] {
        let of_gene = self.jobs_of_genes(program, step);
        let wanted: Vec<bool> = of_gene.iter().map(Option::is_some).collect();
        self.engine.for_units(&wanted, |kernels, model, unit, scratch| {
            let job = of_gene[unit.gene].expect("only wanted genes are run");
            unit.derivatives(kernels, model, job_length(program, job, step, t), scratch);
        });
        let mut total = [0.0; 3];
        for (gene, job) in of_gene.iter().enumerate() {
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
    job: &super::super::operation::SweepJob,
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

/// A lock that is never contended; a panic elsewhere is reported there.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The model block of a gene before it has a model: sizes, and what depends on the tip codes alone.
pub fn empty_model(data: &GeneData) -> ModelBlock {
    let dims = Dims::new(data.num_states, data.num_rates, data.code_masks.len(), data.num_tips());
    let states_of =
        |mask: &u64| (0..data.num_states as u8).filter(|s| mask >> s & 1 == 1).collect();
    let code_states: Vec<Vec<u8>> = data.code_masks.iter().map(states_of).collect();
    let mut indicator = vec![0.0; dims.tip_table()];
    for rate in 0..dims.num_rates {
        for (code, states) in code_states.iter().enumerate() {
            for &state in states {
                indicator[code * dims.row() + rate * dims.num_states + state as usize] = 1.0;
            }
        }
    }
    ModelBlock {
        dims,
        matrix_of_rate: Vec::new(),
        eigenvals: Vec::new(),
        eigenvec_columns: Vec::new(),
        inv_eigenvec_columns: Vec::new(),
        rates: Vec::new(),
        rate_weights: Vec::new(),
        weighted_freqs: Vec::new(),
        code_states,
        sumtable_left: Vec::new(),
        sumtable_right: Vec::new(),
        sumtable_left_tip: vec![0.0; dims.tip_table()],
        sumtable_right_tip: vec![0.0; dims.tip_table()],
        indicator,
    }
}

/// Takes a model over into a gene's block, and makes the tables of sumtables from it.
///
/// # Panics
/// If its number of rates is not the block's, or it has more states.
pub fn fill_model(block: &mut ModelBlock, model: &GeneModel, kernels: &dyn Kernels) {
    let Dims { num_states: n, num_rates, .. } = block.dims;
    let states = model.freqs.len();
    assert_eq!(model.rates.len(), num_rates, "a gene's number of rates is fixed");
    assert!(states <= n, "a gene's number of states is fixed");
    block.matrix_of_rate.clone_from(&model.matrix_of_rate);
    block.rates.clone_from(&model.rates);
    block.rate_weights.clone_from(&model.rate_weights);
    // Whatever belongs to the states that pad the alphabet is 0.
    let num_matrices = model.matrices.len();
    block.eigenvals = vec![0.0; num_matrices * n];
    block.eigenvec_columns = vec![0.0; num_matrices * n * n];
    block.inv_eigenvec_columns = vec![0.0; num_matrices * n * n];
    for (m, matrix) in model.matrices.iter().enumerate() {
        for k in 0..states {
            block.eigenvals[m * n + k] = matrix.eigenvals[k];
            for i in 0..states {
                let at = (m * n + k) * n + i;
                block.eigenvec_columns[at] = matrix.eigenvecs[i * states + k];
                let column = (m * n + i) * n + k;
                block.inv_eigenvec_columns[column] = matrix.inv_eigenvecs[k * states + i];
            }
        }
    }
    block.weighted_freqs = vec![0.0; num_rates * n];
    block.sumtable_left = vec![0.0; block.dims.pmatrix()];
    block.sumtable_right = vec![0.0; block.dims.pmatrix()];
    for (r, weight) in model.rate_weights.iter().enumerate() {
        let matrix = model.matrix(r);
        for i in 0..states {
            block.weighted_freqs[r * n + i] = weight * matrix.freqs[i];
            for k in 0..states {
                let at = (r * n + i) * n + k;
                let eigenvec = matrix.eigenvecs[i * states + k];
                block.sumtable_left[at] = weight * matrix.freqs[i] * eigenvec;
                block.sumtable_right[at] = matrix.inv_eigenvecs[k * states + i];
            }
        }
    }
    let mut table = vec![0.0; block.dims.tip_table()];
    kernels.update_tip_table(block, &block.sumtable_left, &mut table);
    std::mem::swap(&mut block.sumtable_left_tip, &mut table);
    kernels.update_tip_table(block, &block.sumtable_right, &mut table);
    std::mem::swap(&mut block.sumtable_right_tip, &mut table);
}
