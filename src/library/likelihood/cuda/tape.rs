//! Sweeps as a tape: everything that a GPU needs to run them in one launch without asking the host (`cuda/sweep.cu`).
//!
//! A sweep changes lengths, and its updates read them. On the tape, every length has a place that is written once: the first
//! places are those of the lengths at the beginning; each step makes new places for the partition's lengths that it changes;
//! the last places are the *outcomes* of all steps, [length of the branch, log-likelihood, evaluations of derivatives]. CTAs
//! can therefore read and write lengths without waiting for each other.
//!
//! ```text
//! words:  head | counters | seats | programs | steps | jobs | updates | matrices | lnls | lengths | changed | outcomes |
//! results filled by the host ---------------------------------------------------------------------> made by the GPU ------>
//! ```

use super::batch::{At, resolve};
use super::kernels::{SLICES, parts};
use super::launch::words_of;
use super::program::{
    ClvLocation, DERIVATIVE_NUMBERS, End, GROUP, OUTCOME_NUMBERS, SCORE_NUMBERS, Seat, Step,
    StepKind, TapeHead, TapeJob, TapeMatrix, TapeProgram, TapeStep,
};
use crate::likelihood::engine::layout::Dims;
use crate::likelihood::engine::{Clv, Places, SweepJob, SweepProgram};
use crate::tree::to_length_grid;
use std::collections::HashMap;
use std::ops::Range;

/// Parts of the rows of a block that the threads of a CTA compute at the same time.
const PARTS_OF_CTA: usize = 4;

/// A partition, as far as a tape depends on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) dims: Dims,
    /// Blocks of patterns.
    pub(super) num_blocks: usize,
}

/// Where the temporaries of a sweep are, for one of its partitions: they begin with the partition's temporary `first` on the
/// GPUs, and are followed by the sumtable. They stay there between the parts of a sweep.
#[derive(Debug)]
pub(super) struct MemberPlaces {
    pub(super) places: Places,
    pub(super) first: u32,
}

impl MemberPlaces {
    pub(super) fn at(&self, clv: Clv) -> At {
        let At { place, index } = resolve(clv, &self.places, ClvLocation::Temporary);
        let first = if place == ClvLocation::Temporary { self.first } else { 0 };
        At { place, index: first + index }
    }

    pub(super) fn sumtable(&self) -> u32 {
        self.first + self.places.count() as u32
    }
}

/// The log-likelihood below which a program ends after its first steps.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Floor {
    /// Number of first steps, at least 1.
    pub(super) num_first: usize,
    /// Log-likelihoods whose sum is compared with the floor, and the number of that which is replaced by the one at the end of
    /// the first steps.
    pub(super) lnls: Vec<f64>,
    pub(super) replaced: usize,
    pub(super) floor: f64,
}

/// A sweep, or a part of one, that is to be recorded.
pub(super) struct Recorded<'a> {
    pub(super) program: &'a SweepProgram,
    /// The steps to be run.
    pub(super) steps: Range<usize>,
    pub(super) floor: Option<Floor>,
    /// By partition of the program.
    pub(super) places: &'a [MemberPlaces],
}

/// What a program needs of its team.
#[derive(Debug, Clone, Copy, Default)]
struct Needs {
    /// Most blocks of a step.
    items: usize,
    /// Most CTAs for which there is work at a time.
    ctas: usize,
    /// Numbers of P-matrices and tip tables of a step.
    matrix_numbers: u64,
}

/// A tape.
#[derive(Debug, Default)]
pub(super) struct Tape {
    programs: Vec<TapeProgram>,
    steps: Vec<TapeStep>,
    jobs: Vec<TapeJob>,
    updates: Vec<Step>,
    matrices: Vec<TapeMatrix>,
    lnls: Vec<f64>,
    lengths: Vec<f64>,
    /// Lengths of partitions that are made.
    num_changed: usize,
    /// By program.
    needs: Vec<Needs>,
    /// By program, where the results of its last edges begin, in entries of blocks, and the end.
    finish_entries: Vec<usize>,
    /// The number of states of all partitions; `None` if they differ.
    pub(super) states: Option<usize>,
}

/// What the GPU has made of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Outcome {
    /// Length of the branch, and the log-likelihood there.
    pub(super) best: (f64, f64),
    /// How often the derivatives were evaluated.
    pub(super) evaluations: u64,
}

/// A tape for a number of CTAs.
#[derive(Debug)]
pub(super) struct Laid {
    pub(super) words: Vec<u64>,
    /// The words that the GPU makes and the host reads, which follow those above at a distance.
    pub(super) read: Range<usize>,
    pub(super) num_ctas: usize,
    /// Numbers of all teams.
    pub(super) matrix_numbers: usize,
    pub(super) result_numbers: usize,
}

/// Lengths of a program, and the P-matrices of its present step.
struct Recorder<'a> {
    tape: &'a mut Tape,
    recorded: &'a Recorded<'a>,
    shapes: &'a [Shape],
    /// Places of the present lengths of branches and, by partition of the program, of edges.
    branches: Vec<u32>,
    edges: Vec<Vec<u32>>,
    /// Of the present step, by partition and place of the length: the matrix, and its table if there is one. The order is that
    /// in which they were asked for.
    wanted: Vec<(usize, u32, u64, Option<u64>)>,
    known: HashMap<(usize, u32), usize>,
    matrix_numbers: u64,
    needs: Needs,
}

impl Tape {
    /// Records sweeps that do not depend on each other. `shapes` are those of all partitions of the engine.
    pub(super) fn record(sweeps: &[Recorded], shapes: &[Shape]) -> Self {
        let mut tape = Tape { finish_entries: vec![0], ..Tape::default() };
        let mut states: Vec<usize> = Vec::new();
        let mut num_changed = 0;
        for Recorded { program, steps, .. } in sweeps {
            tape.lengths.extend(&program.brlens);
            for partition in &program.partitions {
                tape.lengths.extend(&partition.brlens);
                states.push(shapes[partition.partition].dims.num_states);
            }
            num_changed +=
                program.steps[steps.clone()].iter().map(|step| step.jobs.len()).sum::<usize>();
        }
        let same =
            states.first().copied().filter(|first| states.iter().all(|other| other == first));
        tape.states = same;
        // Outcomes follow the lengths that are made.
        let num_steps = sweeps.iter().map(|sweep| sweep.steps.len()).sum::<usize>();
        let first_outcome = tape.lengths.len() + num_changed;
        let mut first_length = 0;
        for recorded in sweeps {
            first_length = tape.record_one(
                recorded,
                shapes,
                first_length,
                first_outcome,
                OUTCOME_NUMBERS * num_steps,
            );
        }
        debug_assert_eq!(tape.num_changed, num_changed);
        tape
    }

    /// Records a sweep whose lengths begin at `first_length`; returns where those of the next do.
    fn record_one(
        &mut self,
        recorded: &Recorded,
        shapes: &[Shape],
        first_length: usize,
        first_outcome: usize,
        num_outcomes: usize,
    ) -> usize {
        let program = recorded.program;
        let mut next = first_length as u32;
        let mut places = |count: usize| {
            let first = next;
            next += count as u32;
            (first..next).collect::<Vec<u32>>()
        };
        let branches = places(program.brlens.len());
        let edges =
            program.partitions.iter().map(|partition| places(partition.brlens.len())).collect();
        let [lo, hi] = program.bounds.map(to_length_grid);
        let mut own = TapeProgram {
            first_step: self.steps.len() as u32,
            num_steps: recorded.steps.len() as u32,
            lo,
            hi,
            gain_tolerance: program.gain_tolerance,
            ..TapeProgram::default()
        };
        if let Some(Floor { num_first, lnls, replaced, floor }) = &recorded.floor {
            own.num_first = *num_first as u32;
            own.first_lnl = self.lnls.len() as u32;
            own.num_lnls = lnls.len() as u32;
            own.replaced = *replaced as u32;
            own.floor = *floor;
            self.lnls.extend(lnls);
        }
        let mut recorder = Recorder {
            tape: self,
            recorded,
            shapes,
            branches,
            edges,
            wanted: Vec::new(),
            known: HashMap::new(),
            matrix_numbers: 0,
            needs: Needs::default(),
        };
        for step in recorded.steps.clone() {
            recorder.step(step, first_outcome);
        }
        if recorded.steps.end == program.steps.len() {
            recorder.finish(&mut own, num_outcomes);
        }
        let needs = recorder.needs;
        self.needs.push(needs);
        self.programs.push(own);
        self.finish_entries
            .push(*self.finish_entries.last().expect("the first") + own.num_finish_items as usize);
        next as usize
    }

    /// Blocks that can be worked on at the same time.
    pub(super) fn num_blocks(&self) -> usize {
        self.needs.iter().map(|needs| needs.items).sum()
    }

    /// How many CTAs each team has, if so many are on the GPU at the same time; the number of teams is theirs. Several teams
    /// together take so many bytes of matrices at most.
    fn teams(&self, most_ctas: usize, matrix_bytes: u64) -> Vec<usize> {
        let matrix_numbers = self.needs.iter().map(|needs| needs.matrix_numbers).max().unwrap_or(0);
        let of_team = size_of::<f64>() as u64 * matrix_numbers.max(1);
        let affordable = (matrix_bytes / of_team).max(1);
        let ctas = |needs: &Needs| needs.ctas.max(1);
        let num_programs = self.needs.len();
        let num_teams = num_programs.min(most_ctas).min(affordable as usize);
        if num_teams < num_programs {
            let most = self.needs.iter().map(ctas).max().unwrap_or(1);
            return vec![(most_ctas / num_teams).min(most); num_teams];
        }
        // By their work, but at least one for each.
        let all: usize = self.needs.iter().map(ctas).sum();
        let share = |needs| ctas(needs).min(1 + (most_ctas - num_teams) * ctas(needs) / all);
        self.needs.iter().map(share).collect()
    }

    /// The words for a GPU on which so many CTAs can be at the same time, with matrices of so many bytes.
    pub(super) fn lay(&self, most_ctas: usize, matrix_bytes: u64) -> Laid {
        let teams = self.teams(most_ctas, matrix_bytes);
        let mut seats = Vec::new();
        let (mut matrices, mut results) = (0, 0);
        for (team, &size) in teams.iter().enumerate() {
            let programs = self.needs.iter().skip(team).step_by(teams.len());
            let half = programs.clone().map(|needs| needs.items).max().unwrap_or(0);
            let half = (half * DERIVATIVE_NUMBERS) as u64;
            for rank in 0..size {
                let (team, rank, size) = (team as u32, rank as u32, size as u32);
                seats.push(Seat { team, rank, size, padding: 0, matrices, results, half });
            }
            matrices += programs.map(|needs| needs.matrix_numbers).max().unwrap_or(0);
            results += 2 * half;
        }
        let head_words = size_of::<TapeHead>() / size_of::<u64>();
        let mut words = vec![0; head_words + teams.len().div_ceil(2)];
        let mut place = |list: &[u64]| {
            let at = words.len() as u32;
            words.extend_from_slice(list);
            at
        };
        let bits = |list: &[f64]| list.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
        let mut head = TapeHead {
            num_programs: self.programs.len() as u32,
            num_teams: teams.len() as u32,
            counters: head_words as u32,
            seats: place(words_of(&seats)),
            programs: place(words_of(&self.programs)),
            steps: place(words_of(&self.steps)),
            jobs: place(words_of(&self.jobs)),
            updates: place(words_of(&self.updates)),
            matrices: place(words_of(&self.matrices)),
            lnls: place(&bits(&self.lnls)),
            lengths: place(&bits(&self.lengths)),
            outcomes: 0,
        };
        let outcomes = words.len() + self.num_changed;
        head.outcomes = outcomes as u32;
        words[..head_words].copy_from_slice(words_of(&[head]));
        let entries = *self.finish_entries.last().expect("the first");
        let read =
            outcomes..outcomes + OUTCOME_NUMBERS * self.steps.len() + entries * SCORE_NUMBERS;
        Laid {
            words,
            read,
            num_ctas: seats.len(),
            matrix_numbers: matrices as usize,
            result_numbers: results as usize,
        }
    }

    /// The outcome of each step of a program, and the results of its last edges, `[edge][block]`, from the words that the GPU
    /// has made.
    pub(super) fn outcome<'a>(
        &self,
        made: &'a [u64],
        program: usize,
    ) -> (impl Iterator<Item = Outcome> + 'a, impl Iterator<Item = [f64; SCORE_NUMBERS]> + 'a) {
        let TapeProgram { first_step, num_steps, .. } = self.programs[program];
        let (steps, results) = made.split_at(OUTCOME_NUMBERS * self.steps.len());
        let of_program = first_step as usize..(first_step + num_steps) as usize;
        let steps = &steps.as_chunks::<OUTCOME_NUMBERS>().0[of_program];
        let entries = self.finish_entries[program]..self.finish_entries[program + 1];
        let results = &results[entries.start * SCORE_NUMBERS..entries.end * SCORE_NUMBERS];
        let outcome = |numbers: &[u64; OUTCOME_NUMBERS]| {
            let [length, lnl, evaluations] = numbers.map(f64::from_bits);
            Outcome { best: (length, lnl), evaluations: evaluations as u64 }
        };
        let entry = |entry: &[u64]| [entry[0], entry[1]].map(f64::from_bits);
        (steps.iter().map(outcome), results.chunks_exact(SCORE_NUMBERS).map(entry))
    }
}

impl Recorder<'_> {
    fn shape(&self, member: usize) -> (usize, Shape) {
        let partition = self.recorded.program.partitions[member].partition;
        (partition, self.shapes[partition])
    }

    /// An end of an edge, to which the matrix of an edge of the partition's is applied if it is given.
    fn end(&mut self, member: usize, clv: Clv, edge: Option<u32>) -> End {
        let at = self.recorded.places[member].at(clv);
        let matrix = edge.map_or(0, |edge| {
            self.matrix(member, self.edges[member][edge as usize], at.place == ClvLocation::Tip)
        });
        End { place: at.place as u32, index: at.index, matrix }
    }

    fn matrix(&mut self, member: usize, length: u32, is_tip: bool) -> u64 {
        let dims = self.shape(member).1.dims;
        let next = self.wanted.len();
        let number = *self.known.entry((member, length)).or_insert(next);
        if number == next {
            self.wanted.push((member, length, self.matrix_numbers, None));
            self.matrix_numbers += dims.pmatrix() as u64;
        }
        let (.., matrix, table) = &mut self.wanted[number];
        if !is_tip {
            return *matrix;
        }
        *table.get_or_insert_with(|| {
            let at = self.matrix_numbers;
            self.matrix_numbers += dims.tip_table() as u64;
            at
        })
    }

    /// Puts the matrices of the present step on the tape: the first of them, and their number.
    fn put_matrices(&mut self) -> (u32, u32) {
        let first = self.tape.matrices.len();
        for (member, length, matrix, table) in std::mem::take(&mut self.wanted) {
            let (partition, Shape { dims, .. }) = self.shape(member);
            let scaler = self.recorded.program.partitions[member].brlen_scaler;
            for first_rate in (0..dims.num_rates).step_by(GROUP / dims.num_states) {
                self.tape.matrices.push(TapeMatrix {
                    partition: partition as u32,
                    with_table: u32::from(table.is_some()),
                    length,
                    first_rate: first_rate as u32,
                    scaler,
                    matrix,
                    table: table.unwrap_or(0),
                });
            }
        }
        self.known.clear();
        self.needs.matrix_numbers = self.needs.matrix_numbers.max(self.matrix_numbers);
        self.matrix_numbers = 0;
        (first as u32, (self.tape.matrices.len() - first) as u32)
    }

    /// Begins a partition's job.
    fn job(&mut self, job: &SweepJob, first_item: usize) -> TapeJob {
        let member = job.member;
        TapeJob {
            partition: self.shape(member).0 as u32,
            first_step: self.tape.updates.len() as u32,
            num_steps: job.operations.len() as u32 + 1,
            first_item: first_item as u32,
            edge: self.edges[member][job.edge as usize],
            scaler: self.recorded.program.partitions[member].brlen_scaler,
            ..TapeJob::default()
        }
    }

    fn put_update(&mut self, kind: StepKind, out: At, ends: [End; 2]) {
        let (out_place, out_index) = (out.place as u32, out.index);
        let kind = kind as u32;
        self.tape.updates.push(Step { kind, out_place, out_index, padding: 0, ends });
    }

    /// Records a step: its jobs in the order of the partitions, in which the engine of the processor adds them up.
    fn step(&mut self, number: usize, first_outcome: usize) {
        let program = self.recorded.program;
        let step = &program.steps[number];
        let (first_job, mut num_items) = (self.tape.jobs.len(), 0);
        let mut jobs: Vec<&SweepJob> = program.jobs[step.jobs.clone()].iter().collect();
        jobs.sort_by_key(|job| program.partitions[job.member].partition);
        for job in &jobs {
            let mut of_tape = self.job(job, num_items);
            for update in &program.operations[job.operations.clone()] {
                let ends =
                    [0, 1].map(|i| self.end(job.member, update.children[i], Some(update.edges[i])));
                let out = self.recorded.places[job.member].at(update.parent);
                self.put_update(StepKind::Partials, out, ends);
            }
            let ends = job.ends.map(|end| self.end(job.member, end, None));
            let index = self.recorded.places[job.member].sumtable();
            self.put_update(StepKind::Sumtable, At { place: ClvLocation::Temporary, index }, ends);
            of_tape.edge_after = (self.tape.lengths.len() + self.tape.num_changed) as u32;
            self.tape.num_changed += 1;
            num_items += self.shape(job.member).1.num_blocks;
            self.tape.jobs.push(of_tape);
        }
        // Parts of a row are shared by the threads of a CTA, a few for each pattern; more of them by several CTAs, which take a slice
        // each. Where rates have scaler counts, a sumtable is made for a whole block.
        let dims = || jobs.iter().map(|job| self.shape(job.member).1.dims);
        let parts = dims().map(|dims| parts(&dims)).max().unwrap_or(1);
        let slices = match dims().any(|dims| dims.rate_scalers) {
            true => 1,
            false => parts.div_ceil(PARTS_OF_CTA).min(SLICES),
        };
        let (first_matrix, num_matrices) = self.put_matrices();
        let branch = &mut self.branches[step.branch as usize];
        let outcome = first_outcome + OUTCOME_NUMBERS * self.tape.steps.len();
        self.tape.steps.push(TapeStep {
            first_job: first_job as u32,
            num_jobs: jobs.len() as u32,
            num_items: num_items as u32,
            first_matrix,
            num_matrices,
            branch: std::mem::replace(branch, outcome as u32),
            has_slices: u32::from(slices > 1),
            padding: 0,
        });
        for (job, of_tape) in jobs.iter().zip(&self.tape.jobs[first_job..]) {
            self.edges[job.member][job.edge as usize] = of_tape.edge_after;
        }
        self.needs.items = self.needs.items.max(num_items);
        self.needs.ctas = self.needs.ctas.max(num_items * slices);
    }

    /// Records the edges that are evaluated after the last step.
    fn finish(&mut self, own: &mut TapeProgram, num_outcomes: usize) {
        let program = self.recorded.program;
        own.first_finish = self.tape.jobs.len() as u32;
        own.num_finish = program.finish.len() as u32;
        let first_entry = *self.tape.finish_entries.last().expect("the first");
        let mut num_items = 0;
        for job in &program.finish {
            let mut of_tape = self.job(job, num_items);
            let [a, b] = job.ends;
            let ends = [self.end(job.member, a, None), self.end(job.member, b, Some(job.edge))];
            self.put_update(StepKind::Edge, At { place: ClvLocation::Tip, index: 0 }, ends);
            of_tape.results = (num_outcomes + (first_entry + num_items) * SCORE_NUMBERS) as u32;
            num_items += self.shape(job.member).1.num_blocks;
            self.tape.jobs.push(of_tape);
        }
        (own.first_matrix, own.num_matrices) = self.put_matrices();
        own.num_finish_items = num_items as u32;
        self.needs.items = self.needs.items.max(num_items);
        self.needs.ctas = self.needs.ctas.max(num_items);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::engine::{SweepOperation, SweepPartition, SweepStep};
    use Clv::{Stored, Temporary, Tip};

    const SHAPE: Shape = Shape {
        dims: Dims { num_states: 20, num_rates: 4, num_codes: 23, rate_scalers: false },
        num_blocks: 3,
    };

    /// Two steps, of which the second makes a CLV over the first one's edge.
    fn program() -> SweepProgram {
        let mut program = SweepProgram::new(vec![0.1, 0.2], 1e-3);
        program.partitions.push(SweepPartition {
            partition: 0,
            brlen_scaler: 2.0,
            brlens: vec![0.1, 0.2, 0.3],
        });
        let made =
            SweepOperation { parent: Temporary(0), children: [Tip(0), Stored(0)], edges: [0, 2] };
        program.operations.push(made);
        let job = |operations, ends, edge| SweepJob { member: 0, operations, ends, edge };
        program.jobs =
            vec![job(0..0, [Tip(0), Stored(0)], 0), job(0..1, [Temporary(0), Stored(1)], 1)];
        program.steps =
            vec![SweepStep { jobs: 0..1, branch: 0 }, SweepStep { jobs: 1..2, branch: 1 }];
        program.finish = vec![job(0..0, [Stored(0), Stored(1)], 1)];
        program
    }

    fn record(programs: &[SweepProgram]) -> Tape {
        let places: Vec<Vec<MemberPlaces>> = programs
            .iter()
            .map(|program| {
                let of_partitions = Places::of_sweep(program).into_iter();
                of_partitions.map(|places| MemberPlaces { places, first: 7 }).collect()
            })
            .collect();
        let recorded = programs.iter().zip(&places).map(|(program, places)| Recorded {
            program,
            steps: 0..2,
            floor: None,
            places,
        });
        Tape::record(&recorded.collect::<Vec<_>>(), &[SHAPE])
    }

    #[test]
    fn lengths_are_read_where_the_step_before_made_them() {
        let tape = record(&[program()]);
        // Five lengths at the beginning, two of the partition that are made, then the outcomes of the steps.
        assert_eq!(tape.lengths, [0.1, 0.2, 0.1, 0.2, 0.3]);
        let jobs = |job: &TapeJob| [job.edge, job.edge_after, job.num_steps, job.first_item];
        assert_eq!(
            tape.jobs.iter().map(jobs).collect::<Vec<_>>(),
            [[2, 5, 1, 0], [3, 6, 2, 0], [6, 0, 1, 0]]
        );
        let branches: Vec<u32> = tape.steps.iter().map(|step| step.branch).collect();
        assert_eq!(branches, [0, 1]);
        // Twenty states: three of the four rates at a time. The tip's matrix has a table.
        let matrices = |m: &TapeMatrix| [m.length, m.first_rate, m.with_table];
        assert_eq!(
            tape.matrices.iter().map(matrices).collect::<Vec<_>>(),
            [[5, 0, 1], [5, 3, 1], [4, 0, 0], [4, 3, 0], [6, 0, 0], [6, 3, 0]]
        );
        assert_eq!(tape.states, Some(20));
        assert_eq!(tape.updates[2].out_index, 7 + 1, "the sumtable follows the temporary");
    }

    #[test]
    fn teams_have_the_blocks_that_they_can_use_and_all_ctas_fit() {
        for num_programs in 1..9 {
            let tape = record(&vec![program(); num_programs]);
            for most_ctas in 1..40 {
                let teams = tape.teams(most_ctas, u64::MAX);
                assert!(teams.iter().sum::<usize>() <= most_ctas && teams.len() <= num_programs);
                // Three blocks, of which two CTAs each can share the parts of 20 states and four rates.
                assert!(teams.iter().all(|size| (1..=6).contains(size)), "{teams:?}");
                assert_eq!(teams.len(), num_programs.min(most_ctas));
                let laid = tape.lay(most_ctas, u64::MAX);
                assert_eq!(laid.num_ctas, teams.iter().sum::<usize>());
                // Two outcomes of three numbers, and two numbers for each block of the last edge.
                assert_eq!(laid.read.len(), num_programs * (2 * 3 + 3 * 2));
                assert!(laid.words.len() <= laid.read.start);
            }
        }
        // Three matrices and a table of 20 states and four rates, for each team.
        let bytes = (8 * (2 * 1600 + 1840)) as u64;
        let tape = record(&vec![program(); 8]);
        assert_eq!(tape.teams(40, 2 * bytes), [6, 6]);
        assert_eq!(tape.teams(40, 1), [6]);
    }

    #[test]
    fn what_the_gpu_has_made_is_found_again() {
        let tape = record(&[program(), program()]);
        let made: Vec<u64> = (0..24).map(|i| f64::from(i).to_bits()).collect();
        let (steps, results) = tape.outcome(&made, 1);
        let outcome = |best, evaluations| Outcome { best, evaluations };
        let want = [outcome((6.0, 7.0), 8), outcome((9.0, 10.0), 11)];
        assert_eq!(steps.collect::<Vec<_>>(), want);
        assert_eq!(results.collect::<Vec<_>>(), [[18.0, 19.0], [20.0, 21.0], [22.0, 23.0]]);
    }
}
