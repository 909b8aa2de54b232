//! The engine over worker threads: which worker does which unit, and the sums in block order.

use super::super::Engine;
use super::super::data::{GeneData, GeneModel};
use super::super::layout::{Dims, block_lens};
use super::super::operation::{EdgeJob, InsertionProgram, SweepProgram, TraversalDescriptor};
use super::body::pmatrix::ModelBlock;
use super::derivatives::{AllWorkers, WholeGene};
use super::kernels::Kernels;
use super::sweep::run_sweep;
use super::unit::{Scratch, Unit};
use crate::parallel::{Pool, UnitCost, WholeTask, deal, deal_whole};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

/// Likelihoods on the processor.
pub struct CpuEngine {
    kernels: Box<dyn Kernels>,
    pool: Pool,
    models: Vec<ModelBlock>,
    /// Units of all genes, in gene and block order. The locks are never contended: in a region every
    /// unit is dealt to one worker, and the caller takes them only between regions.
    units: Vec<Mutex<Unit>>,
    gene_units: Vec<Range<usize>>,
    /// What one step (a CLV update, say) costs in each unit.
    step_costs: Vec<UnitCost>,
    /// The worker that made each unit, and works on it unless few other units have something to do.
    homes: Vec<usize>,
    scratch: Vec<Mutex<Scratch>>,
}

/// A gene is split into several units only if it has at least this many blocks per worker: below
/// that, the matrices every unit computes for itself cost more than the split gains.
const MIN_BLOCKS_PER_UNIT: usize = 2;

/// A gene stays whole if it is less than a worker's fair share divided by this: so many genes are
/// even enough when they are dealt whole, even if only some of them have something to do.
const WHOLE_GENES_PER_WORKER: usize = 16;

/// What it costs to start all workers and wait for the last, in step costs: that of 4 DNA blocks with
/// 4 rates, or about 2 µs.
const MEETING: UnitCost = 4 * 128 * 16 * 4;

/// Times that all workers meet for one branch: to turn CLVs, and for each Newton step.
const MEETINGS_PER_BRANCH: UnitCost = 5;

/// Units dealt to workers for one region.
#[derive(Default)]
pub struct Region {
    hands: Vec<Vec<usize>>,
    loads: Vec<UnitCost>,
}

impl CpuEngine {
    /// An engine for these genes with `num_workers` threads. Genes without models must be given one
    /// before anything is computed.
    pub fn new(data: &[GeneData], kernels: Box<dyn Kernels>, num_workers: usize) -> Self {
        let num_workers = num_workers.max(1);
        let mut pool = Pool::new(num_workers);
        let models: Vec<ModelBlock> = data.iter().map(empty_model).collect();
        let gene_cost = |gene: usize, data: &GeneData| {
            let Dims { num_states, .. } = models[gene].dims;
            (data.num_patterns() * data.num_tips() * models[gene].dims.row() * num_states) as u64
        };
        let all: u64 = data.iter().enumerate().map(|(gene, data)| gene_cost(gene, data)).sum();
        // Blocks of each unit, as (gene, first block, lengths, constant patterns).
        let mut plans: Vec<(usize, usize, Vec<usize>, Option<GeneData>)> = Vec::new();
        let mut gene_units = Vec::new();
        for (gene, data) in data.iter().enumerate() {
            let first = plans.len();
            if data.num_tips() > 0 {
                let lens = block_lens(data.num_patterns());
                let is_small =
                    gene_cost(gene, data) * (num_workers * WHOLE_GENES_PER_WORKER) as u64 <= all;
                let most = if is_small { 1 } else { num_workers };
                let parts = (lens.len() / MIN_BLOCKS_PER_UNIT).clamp(1, most);
                for part in 0..parts {
                    let range = lens.len() * part / parts..lens.len() * (part + 1) / parts;
                    let is_last = part + 1 == parts;
                    let constants = is_last.then(|| data.constant_patterns()).flatten();
                    plans.push((gene, range.start, lens[range].to_vec(), constants));
                }
            }
            gene_units.push(first..plans.len());
        }
        let step_costs: Vec<UnitCost> = plans
            .iter()
            .map(|(gene, _, lens, constants)| {
                let row = models[*gene].dims.row() * models[*gene].dims.num_states;
                let constants = constants.as_ref().map_or(0, GeneData::num_patterns);
                ((lens.iter().sum::<usize>() + constants) * row) as u64
            })
            .collect();
        let num_tips = |unit: usize| data[plans[unit].0].num_tips() as u64;
        let costs: Vec<UnitCost> =
            step_costs.iter().enumerate().map(|(unit, cost)| cost * num_tips(unit)).collect();
        let hands = deal(&costs, num_workers);
        let mut homes = vec![0; plans.len()];
        for (worker, hand) in hands.iter().enumerate() {
            hand.iter().for_each(|&unit| homes[unit] = worker);
        }
        let slots: Vec<Mutex<Option<Unit>>> = plans.iter().map(|_| Mutex::new(None)).collect();
        // Every worker makes its own units, so that their memory lies near it.
        pool.run(&vec![1; num_workers], &|worker| {
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
        CpuEngine { kernels, pool, models, units, gene_units, step_costs, homes, scratch }
    }

    /// Number of genes, those without data included.
    pub fn num_genes(&self) -> usize {
        self.models.len()
    }

    /// Deals the units of all genes that have something to do: so many steps in each gene, or 0. Every
    /// unit stays at home unless that makes the region last much longer than it must.
    pub fn region(&self, steps_of_gene: &[usize]) -> Region {
        let num_workers = self.scratch.len();
        let mut units = Vec::new();
        let mut costs = Vec::new();
        for (gene, &steps) in steps_of_gene.iter().enumerate().filter(|(_, steps)| **steps > 0) {
            for unit in self.gene_units[gene].clone() {
                units.push(unit);
                costs.push(self.step_costs[unit] * steps as u64);
            }
        }
        let mut hands = vec![Vec::new(); num_workers];
        (0..units.len()).for_each(|i| hands[self.homes[units[i]]].push(i));
        let mut loads = loads_of(&hands, &costs);
        let fair = costs.iter().sum::<UnitCost>().div_ceil(num_workers as u64);
        let shortest = costs.iter().copied().max().unwrap_or(0).max(fair);
        if loads.iter().any(|&load| load > shortest + shortest / 4) {
            hands = deal(&costs, num_workers);
            loads = loads_of(&hands, &costs);
        }
        hands.iter_mut().flatten().for_each(|i| *i = units[*i]);
        Region { hands, loads }
    }

    /// Runs `work` for every unit of a region, each on its worker.
    pub fn for_units(
        &mut self,
        region: &Region,
        work: impl Fn(&dyn Kernels, &ModelBlock, &mut Unit, &mut Scratch) + Sync,
    ) {
        let CpuEngine { kernels, pool, models, units, scratch, .. } = self;
        let kernels = kernels.as_ref();
        pool.run(&region.loads, &|worker| {
            let mut scratch = lock(&scratch[worker]);
            for &unit in &region.hands[worker] {
                let mut unit = lock(&units[unit]);
                let model = &models[unit.gene];
                work(kernels, model, &mut unit, &mut scratch);
            }
        });
    }

    /// Sum over the blocks of a gene, in block order.
    pub fn gene_sums(&self, gene: usize) -> [f64; 3] {
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

/// What each worker has to do of the tasks it was dealt.
fn loads_of(hands: &[Vec<usize>], costs: &[UnitCost]) -> Vec<UnitCost> {
    hands.iter().map(|hand| hand.iter().map(|&task| costs[task]).sum()).collect()
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
