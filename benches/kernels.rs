//! Every kernel of every set this machine has, on one block of 128 patterns.
//!
//! Before a kernel is timed, what it computes is compared with the scalar set, bit for bit; what the
//! scalar set computes is compared with the naive truth. A report on how near the kernels come to what
//! the machine allows follows (`roofline`).

use criterion::{BenchmarkId, Criterion, Throughput};
use mlsearch::alphabet::DataType;
use mlsearch::likelihood::cpu::body::derivatives::RateRows;
use mlsearch::likelihood::cpu::body::likelihood::{BlockLikelihoods, PatternData};
use mlsearch::likelihood::cpu::body::operand::End;
use mlsearch::likelihood::cpu::{Kernels, all_kernels, select_kernels};
use mlsearch::likelihood::engine::layout::BLOCK;
use mlsearch::likelihood::engine::{
    ModelBlock, PartitionData, PartitionModel, new_block, set_model,
};
use mlsearch::likelihood::naive::naive_log_likelihood;
use mlsearch::model::{EigenModel, Model, RateCats};
use mlsearch::rng::{Purpose, stream};
use mlsearch::simulate::{SimModel, simulate_states};
use mlsearch::tree::Tree;
use std::hint::black_box;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

mod roofline;

/// The two lengths of all branches: exact on the grid of branch lengths.
const BRLENS: [f64; 2] = [0.125, 0.25];

/// Stem of the kernel, with what narrows it (`tt`, `ti`, `ii`: kinds of the two children, tip or inner
/// node), and what runs it.
type Bench = (&'static str, fn(&Fixture, &dyn Kernels, &mut Output));

const BENCHES: [Bench; 11] = [
    ("pmatrix", |f, kernels, out| {
        kernels.update_pmatrix(&f.model, BRLENS[0], &mut out.numbers[..f.model.dims.pmatrix()]);
    }),
    ("pmatrix_tip_table", |f, kernels, out| {
        let table = &mut out.numbers[..f.model.dims.tip_table()];
        kernels.update_tip_table(&f.model, &f.pmatrices[0], table);
    }),
    ("partials_tt", |f, kernels, out| out.update_clv(f, kernels, [f.tip(0, 0), f.tip(1, 1)])),
    ("partials_ti", |f, kernels, out| {
        out.update_clv(f, kernels, [f.tip(4, 0), f.inner(0, 1)]);
    }),
    ("partials_ii", |f, kernels, out| {
        out.update_clv(f, kernels, [f.inner(0, 0), f.inner(1, 1)]);
    }),
    ("partials_class_table", |f, kernels, out| {
        let rows = &f.clvs[0].numbers;
        kernels.update_class_table(&f.model, BLOCK, rows, &f.pmatrices[0], &mut out.numbers);
    }),
    ("likelihood_pendant", |f, kernels, out| {
        let Output { numbers, counts, .. } = out;
        kernels.update_pendant(&f.model, BLOCK, f.inner(2, 0), numbers, counts);
    }),
    ("likelihood_edge", |f, kernels, out| {
        out.edge_lnl(f, kernels, [f.inner(0, 0), f.inner(1, 1)]);
    }),
    ("likelihood_insertion", |f, kernels, out| {
        let (z, scaler) = (&f.pendant.numbers[..], &f.pendant.counts[..]);
        let ends = [f.inner(0, 0), f.inner(1, 1)];
        kernels.insertion_likelihoods(&f.model, BLOCK, (z, scaler), ends, &mut out.likelihoods);
        out.sums[0] = kernels.sum_logs(BLOCK, f.pattern_data(), &out.likelihoods, None);
    }),
    ("derivatives_sumtable", |f, kernels, out| {
        out.update_sumtable(f, kernels);
    }),
    ("derivatives", |f, kernels, out| out.derivatives(f, kernels, BRLENS[1])),
];

fn main() {
    // Large trees keep counts per rate; of the numbers of states, the smallest shows best what that costs.
    let fixtures = [(4, false), (20, false), (61, false), (4, true)]
        .map(|(num_states, rate_scalers)| Fixture::new(num_states, rate_scalers));
    fixtures.iter().for_each(Fixture::assert_truth);
    // `cargo bench --bench kernels -- roofline` leaves it at the report.
    if std::env::args().all(|arg| arg != "roofline") {
        run_criterion(&fixtures);
    }
    if std::env::args().any(|arg| arg == "--bench") {
        roofline::report(&fixtures);
    }
}

fn run_criterion(fixtures: &[Fixture]) {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .configure_from_args();
    for fixture in fixtures {
        for (name, run) in BENCHES {
            let mut group = criterion.benchmark_group(format!("{}/{name}", fixture.name()));
            group.throughput(Throughput::Elements(BLOCK as u64));
            for kernels in all_kernels() {
                let mut out = assert_like_scalar(name, fixture, kernels.as_ref());
                group.bench_function(BenchmarkId::from_parameter(kernels.name()), |b| {
                    b.iter(|| run(black_box(fixture), kernels.as_ref(), black_box(&mut out)));
                });
            }
            group.finish();
        }
    }
    criterion.final_summary();
}

/// Runs a bench once and panics if a set's values are not those of the scalar set, bit for bit.
fn assert_like_scalar(name: &str, fixture: &Fixture, kernels: &dyn Kernels) -> Output {
    let (_, run) = BENCHES.into_iter().find(|bench| bench.0 == name).expect("a bench's name");
    let [mut out, mut want] = [(); 2].map(|()| Output::new(&fixture.model));
    run(fixture, kernels, &mut out);
    run(fixture, scalar().as_ref(), &mut want);
    assert!(out.bits() == want.bits(), "{name}: {} is not as scalar", kernels.name());
    out
}

fn scalar() -> Box<dyn Kernels> {
    select_kernels(Some("scalar")).expect("every machine has the scalar set")
}

/// Numbers that start on a cache line, as the engine's CLVs do.
struct Numbers {
    buffer: Vec<f64>,
    start: usize,
    len: usize,
}

impl Numbers {
    /// `len` zeros.
    fn new(len: usize) -> Self {
        let buffer = vec![0.0; len + 8];
        let start = buffer.as_ptr().align_offset(64).min(8);
        Numbers { buffer, start, len }
    }
}

impl Deref for Numbers {
    type Target = [f64];
    fn deref(&self) -> &[f64] {
        &self.buffer[self.start..self.start + self.len]
    }
}

impl DerefMut for Numbers {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.buffer[self.start..self.start + self.len]
    }
}

/// Whatever a kernel writes.
struct Output {
    numbers: Numbers,
    counts: Vec<u32>,
    sumtable_counts: [u32; BLOCK],
    rate_rows: RateRows,
    likelihoods: BlockLikelihoods,
    factors: Vec<[f64; 3]>,
    sums: [f64; 3],
}

impl Output {
    fn new(model: &ModelBlock) -> Self {
        Output {
            numbers: Numbers::new(BLOCK * model.dims.row()),
            counts: vec![0; BLOCK * model.dims.scalers()],
            sumtable_counts: [0; BLOCK],
            rate_rows: [[[0.0; 4]; BLOCK]; 4],
            likelihoods: BlockLikelihoods::default(),
            factors: vec![[0.0; 3]; model.dims.row()],
            sums: [0.0; 3],
        }
    }

    fn bits(&self) -> Vec<u64> {
        let numbers = self.numbers.iter().chain(&self.likelihoods.likelihood);
        let numbers = numbers.chain(self.factors.as_flattened()).chain(&self.sums);
        let counts = self.counts.iter().chain(&self.sumtable_counts);
        let counts = counts.chain(&self.likelihoods.scaler);
        numbers.map(|x| x.to_bits()).chain(counts.map(|&count| u64::from(count))).collect()
    }

    fn update_clv(&mut self, f: &Fixture, kernels: &dyn Kernels, ends: [End<'_>; 2]) {
        kernels.update_partials(&f.model, BLOCK, ends, &mut self.numbers, &mut self.counts);
    }

    fn edge_lnl(&mut self, f: &Fixture, kernels: &dyn Kernels, ends: [End<'_>; 2]) -> f64 {
        kernels.edge_likelihoods(&f.model, BLOCK, ends, &mut self.likelihoods);
        self.sums[0] = kernels.sum_logs(BLOCK, f.pattern_data(), &self.likelihoods, None);
        self.sums[0]
    }

    fn update_sumtable(&mut self, f: &Fixture, kernels: &dyn Kernels) {
        let end = |clv: usize, pmatrix| {
            let Output { numbers, counts, .. } = &f.clvs[clv];
            End::Inner { clv: numbers, scaler: Some(counts), pmatrix }
        };
        let ends = [end(0, &f.model.sumtable_left), end(1, &f.model.sumtable_right)];
        let out = (&mut self.numbers[..], &mut self.sumtable_counts);
        kernels.update_sumtable(&f.model, BLOCK, &f.invariant, ends, &mut self.rate_rows, out);
    }

    /// At length `t` of the edge between the first two CLVs.
    fn derivatives(&mut self, f: &Fixture, kernels: &dyn Kernels, t: f64) {
        kernels.update_derivative_factors(&f.model, t, &mut self.factors);
        let Output { numbers, sumtable_counts, .. } = &f.sumtable;
        self.sums =
            kernels.derivatives(BLOCK, f.pattern_data(), numbers, sumtable_counts, &self.factors);
    }
}

/// Six tips in three cherries (0, 1), (2, 3), (4, 5), and what kernels need of them.
struct Fixture {
    data: PartitionData,
    partition_model: PartitionModel,
    model: ModelBlock,
    weights: Vec<f64>,
    invariant: Vec<f64>,
    /// Of the two [`BRLENS`].
    pmatrices: [Vec<f64>; 2],
    tables: [Vec<f64>; 2],
    /// Of the cherries.
    clvs: Vec<Output>,
    /// The third cherry behind a branch of the first length, to be inserted.
    pendant: Output,
    /// Of the edge between the first two cherries.
    sumtable: Output,
}

/// The cherries hang from one node: the third is inserted between the first two.
fn sextet() -> Tree {
    let [a, b] = BRLENS;
    let cherries = [(0, 6, a), (1, 6, b), (2, 7, a), (3, 7, b), (4, 8, a), (5, 8, b)];
    Tree::from_edges(6, &[&cherries[..], &[(6, 9, a), (7, 9, b), (8, 9, a)]].concat())
}

/// Two cherries at a distance of `t`.
fn quartet(t: f64) -> Tree {
    let [a, b] = BRLENS;
    Tree::from_edges(4, &[(0, 4, a), (1, 4, b), (2, 5, a), (3, 5, b), (4, 5, t)])
}

impl Fixture {
    fn new(num_states: usize, rate_scalers: bool) -> Self {
        let partition_model = partition_model(num_states);
        let data = simulate(&partition_model);
        let mut model = new_block(&data);
        model.dims.rate_scalers = rate_scalers;
        let kernels = scalar();
        set_model(&mut model, &partition_model);
        let pmatrices = BRLENS.map(|t| {
            let mut pmatrix = vec![0.0; model.dims.pmatrix()];
            kernels.update_pmatrix(&model, t, &mut pmatrix);
            pmatrix
        });
        let tables = pmatrices.each_ref().map(|pmatrix| {
            let mut table = vec![0.0; model.dims.tip_table()];
            kernels.update_tip_table(&model, pmatrix, &mut table);
            table
        });
        let (pendant, sumtable) = (Output::new(&model), Output::new(&model));
        let mut fixture = Fixture {
            data,
            partition_model,
            model,
            weights: vec![1.0; BLOCK],
            invariant: vec![0.0; BLOCK],
            pmatrices,
            tables,
            clvs: Vec::new(),
            pendant,
            sumtable,
        };
        for tip in [0, 2, 4] {
            let mut clv = Output::new(&fixture.model);
            let ends = [fixture.tip(tip, 0), fixture.tip(tip + 1, 1)];
            clv.update_clv(&fixture, kernels.as_ref(), ends);
            fixture.clvs.push(clv);
        }
        let Output { mut numbers, mut counts, .. } = Output::new(&fixture.model);
        let third = fixture.inner(2, 0);
        kernels.update_pendant(&fixture.model, BLOCK, third, &mut numbers, &mut counts);
        (fixture.pendant.numbers, fixture.pendant.counts) = (numbers, counts);
        let mut sumtable = Output::new(&fixture.model);
        sumtable.update_sumtable(&fixture, kernels.as_ref());
        fixture.sumtable = sumtable;
        fixture
    }

    fn name(&self) -> String {
        let counts = if self.model.dims.rate_scalers { ", counts per rate" } else { "" };
        format!("{} states{counts}", self.data.num_states)
    }

    fn tip(&self, tip: usize, brlen: usize) -> End<'_> {
        End::Tip { codes: &self.data.tip_codes[tip], table: &self.tables[brlen] }
    }

    fn inner(&self, clv: usize, brlen: usize) -> End<'_> {
        let Output { numbers, counts, .. } = &self.clvs[clv];
        End::Inner { clv: numbers, scaler: Some(counts), pmatrix: &self.pmatrices[brlen] }
    }

    fn pattern_data(&self) -> PatternData<'_> {
        PatternData { weights: &self.weights, invariant: &self.invariant }
    }

    fn truth(&self, tree: &Tree, tips: &[usize]) -> f64 {
        let tip_codes = tips.iter().map(|&tip| self.data.tip_codes[tip].clone()).collect();
        let data = PartitionData { tip_codes, ..self.data.clone() };
        naive_log_likelihood(tree, &data, &self.partition_model, 1.0)
    }

    /// The scalar set computes what the formulas of a textbook say.
    fn assert_truth(&self) {
        let kernels = scalar();
        let kernels = kernels.as_ref();
        let eigen = &self.partition_model.matrices[0];
        let (n, padded) = (eigen.num_states, self.model.dims.num_states);
        for (t, pmatrix) in BRLENS.into_iter().zip(&self.pmatrices) {
            for (r, rate) in self.partition_model.rates.iter().enumerate() {
                let truth = eigen.transition_probabilities(rate * t);
                for (i, j) in (0..n * n).map(|at| (at / n, at % n)) {
                    assert_near(
                        "pmatrix",
                        pmatrix[(r * padded + j) * padded + i],
                        truth[i * n + j],
                        1e-12,
                    );
                }
            }
        }
        let mut out = Output::new(&self.model);
        let edge = out.edge_lnl(self, kernels, [self.inner(0, 0), self.inner(1, 1)]);
        let truth = |t| self.truth(&quartet(t), &[0, 1, 2, 3]);
        assert_near("likelihood_edge", edge, truth(BRLENS[1]), 1e-11);

        let mut clv = Output::new(&self.model);
        clv.update_clv(self, kernels, [self.tip(4, 0), self.inner(0, 1)]);
        let lnl = out.edge_lnl(self, kernels, [clv.end(), self.tip(5, 1)]);
        let tip_inner = self.truth(&quartet(BRLENS[1]), &[0, 1, 4, 5]);
        assert_near("partials_ti", lnl, tip_inner, 1e-11);

        let all = self.truth(&sextet(), &[0, 1, 2, 3, 4, 5]);
        clv.update_clv(self, kernels, [self.inner(0, 0), self.inner(1, 1)]);
        let lnl = out.edge_lnl(self, kernels, [clv.end(), self.inner(2, 0)]);
        assert_near("partials_ii", lnl, all, 1e-11);
        let insertion = BENCHES.iter().find(|bench| bench.0 == "likelihood_insertion");
        insertion.expect("it is among the benches").1(self, kernels, &mut out);
        assert_near("likelihood_insertion", out.sums[0], all, 1e-11);

        out.derivatives(self, kernels, BRLENS[1]);
        assert_near("lnL of the sumtable", out.sums[0], edge, 1e-11);
        // Central differences, whose error is of the order of their step squared.
        let step = 1.0 / 1024.0;
        let [before, after] = [truth(BRLENS[1] - step), truth(BRLENS[1] + step)];
        assert_near("first derivative", out.sums[1], (after - before) / (2.0 * step), 1e-3);
        let curvature = (after - 2.0 * truth(BRLENS[1]) + before) / (step * step);
        assert_near("second derivative", out.sums[2], curvature, 1e-3);
    }
}

impl Output {
    /// A CLV as the first end of an edge, seen through no matrix.
    fn end(&self) -> End<'_> {
        End::Inner { clv: &self.numbers, scaler: Some(&self.counts), pmatrix: &[] }
    }
}

/// Panics if a value is not the truth to a relative (below 1: absolute) tolerance.
fn assert_near(what: &str, value: f64, truth: f64, tolerance: f64) {
    let difference = (value - truth).abs();
    assert!(difference <= tolerance * truth.abs().max(1.0), "{what}: {value}, not {truth}");
}

/// A general reversible model with uneven rates and frequencies, and four rate categories.
fn partition_model(num_states: usize) -> PartitionModel {
    let uneven = |i: usize| 0.5 + (i * 7 % 11) as f64 / 4.0;
    let subst_rates: Vec<f64> = (0..num_states * (num_states - 1) / 2).map(uneven).collect();
    let freqs: Vec<f64> = (0..num_states).map(uneven).collect();
    let eigen = EigenModel::new(&subst_rates, &freqs);
    let cats = Model::parse("JC+G4{0.5}").expect("the model is well written").rate_cats();
    PartitionModel::from_parts(vec![eigen], cats)
}

/// One block of simulated tips of [`sextet`], with the codes of DNA for four states, and one code per
/// state and one for "any" for other alphabets.
fn simulate(model: &PartitionModel) -> PartitionData {
    let num_states = model.freqs.len();
    let cats = RateCats {
        rates: model.rates.clone(),
        weights: model.rate_weights.clone(),
        matrices: model.matrix_of_rate.clone(),
        pinv: model.pinv,
    };
    let sim = SimModel { matrices: &model.matrices, cats: &cats };
    let mut rng = stream(1, Purpose::SimulatedSequences, num_states as u64);
    let states = simulate_states(&sextet(), &sim, BLOCK, &mut rng);
    let code_masks: Vec<u64> = if num_states == 4 {
        DataType::Dna.code_masks()
    } else {
        let any = (1 << num_states) - 1;
        (0..num_states).map(|state| 1 << state).chain([any]).collect()
    };
    let code_of = |state: &u8| {
        let code = code_masks.iter().position(|&mask| mask == 1 << *state);
        code.expect("every state has a code") as u16
    };
    let tip_codes = states.iter().map(|tip| tip.iter().map(code_of).collect()).collect();
    PartitionData {
        tip_codes,
        weights: vec![1.0; BLOCK],
        undetermined: code_masks.len() as u16 - 1,
        code_masks,
        num_states,
        num_rates: model.rates.len(),
        ascertainment: None,
        pattern_freqs: None,
    }
}
