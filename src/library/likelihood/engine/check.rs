//! [`Checked`]: a wrapper that checks every program of work against the contract before an engine runs it.
//!
//! A violation is an error in mlsearch, not in its input, and would lead to wrong likelihoods, so the checks
//! panic. Their cost per step is small compared with the computation of the step.

use super::contract::{Capabilities, Engine, Result};
use super::data::PartitionData;
use super::program::{
    Clv, EdgeJob, InsertionProgram, InsertionStep, Operation, PointJob, SweepJob, SweepProgram,
    TraversalDescriptor, TrialProgram,
};
use crate::model::Model;
use mlsearch_kernels::layout::num_clvs;

/// An engine together with checks of its programs of work.
pub struct Checked {
    engine: Box<dyn Engine>,
    partitions: Vec<PartitionShape>,
}

/// Sizes of a partition, against which programs are checked.
#[derive(Debug, Clone, Copy)]
struct PartitionShape {
    num_tips: usize,
    num_patterns: usize,
    has_gradients: bool,
}

/// Number of a partition's temporaries that a program has made so far.
#[derive(Debug, Clone, Copy, Default)]
struct Made(u32);

/// Panics if a partition occurs more than once. (By sorting: a table of all partitions for each of as many programs would
/// be quadratic.)
fn check_once(partitions: impl Iterator<Item = usize>, what: &str) {
    let mut partitions: Vec<usize> = partitions.collect();
    partitions.sort_unstable();
    for pair in partitions.windows(2) {
        assert!(pair[0] != pair[1], "partition {} is {what} twice", pair[0]);
    }
}

impl PartitionShape {
    /// Panics unless the CLV exists and can be read.
    fn check_read(&self, clv: Clv, made: Made) {
        match clv {
            Clv::Tip(tip) => assert!((tip as usize) < self.num_tips, "tip {tip} does not exist"),
            Clv::Stored(slot) => {
                assert!((slot as usize) < num_clvs(self.num_tips), "CLV {slot} does not exist");
            }
            Clv::Temporary(number) => {
                assert!(number < made.0, "temporary {number} is read before it is made");
            }
        }
    }

    fn check_ends(&self, ends: [Clv; 2], made: Made) {
        ends.into_iter().for_each(|end| self.check_read(end, made));
    }

    /// Checks an update; returns true if it writes a stored CLV.
    fn check_update(&self, parent: Clv, children: [Clv; 2], made: &mut Made) -> bool {
        self.check_ends(children, *made);
        assert!(!children.contains(&parent), "{parent:?} is computed from itself");
        match parent {
            Clv::Tip(tip) => panic!("tip {tip} cannot be written"),
            Clv::Stored(_) => self.check_read(parent, *made),
            Clv::Temporary(number) => made.check_makes(number),
        }
        matches!(parent, Clv::Stored(_))
    }
}

impl Made {
    fn check_makes(&mut self, number: u32) {
        assert_eq!(
            number, self.0,
            "temporaries must be numbered in the order in which they are made"
        );
        self.0 += 1;
    }
}

fn check_brlens(brlens: &[f64]) {
    assert!(brlens.iter().all(|&t| t >= 0.0), "negative or undefined branch length in {brlens:?}");
}

impl Checked {
    /// Wraps an engine that was made for these data.
    pub fn new(engine: Box<dyn Engine>, data: &[PartitionData]) -> Self {
        let shape = |data: &PartitionData| PartitionShape {
            num_tips: data.num_tips(),
            num_patterns: data.num_patterns(),
            has_gradients: data.has_gradients(),
        };
        Checked { engine, partitions: data.iter().map(shape).collect() }
    }

    /// Sizes of a partition; panics if its restricted tree has no edge.
    fn partition(&self, partition: usize) -> PartitionShape {
        let shape = self.partitions[partition];
        assert!(shape.num_tips >= 2, "partition {partition} has no edge");
        shape
    }

    fn check_edge_job(&self, job: &EdgeJob) {
        self.partition(job.partition).check_ends(job.ends, Made::default());
        check_brlens(&[job.brlen]);
    }

    fn check_insertions(&self, program: &InsertionProgram) {
        let shape = self.partition(program.partition);
        let mut made = Made::default();
        let mut is_pendant: Vec<bool> = Vec::new();
        for (number, step) in program.steps[..program.num_turned].iter().enumerate() {
            let turns = matches!(step, InsertionStep::Partials(_));
            assert!(turns && step.makes() == Some(number as u32), "step {number} turns no vector");
        }
        for step in &program.steps {
            match *step {
                InsertionStep::Partials(Operation { parent, children, brlens }) => {
                    let is_stored = shape.check_update(parent, children, &mut made);
                    assert!(!is_stored, "a scoring program must not write stored CLVs");
                    check_brlens(&brlens);
                }
                InsertionStep::Pendant { out, source, brlen } => {
                    shape.check_read(source, made);
                    made.check_makes(out);
                    check_brlens(&[brlen]);
                }
                InsertionStep::Score { pendant, ends, brlens } => {
                    shape.check_ends([Clv::Temporary(pendant), ends[0]], made);
                    shape.check_ends(ends, made);
                    assert!(
                        is_pendant[pendant as usize],
                        "temporary {pendant} is not a pendant vector"
                    );
                    check_brlens(&brlens);
                }
                InsertionStep::Edge { ends, brlen } => {
                    shape.check_ends(ends, made);
                    check_brlens(&[brlen]);
                }
            }
            let pendant = match *step {
                InsertionStep::Score { pendant, .. } => Some(pendant),
                _ => None,
            };
            for read in step.reads().into_iter().flatten().filter(|&read| Some(read) != pendant) {
                assert!(!is_pendant[read as usize], "pendant vector {read} is read as a CLV");
            }
            if step.makes().is_some() {
                is_pendant.push(matches!(step, InsertionStep::Pendant { .. }));
            }
        }
    }

    /// Checks a sweep, and marks in `stored` the partitions whose stored CLVs it writes.
    fn check_sweep(&self, program: &SweepProgram, stored: &mut [bool]) {
        check_once(program.partitions.iter().map(|partition| partition.partition), "in a sweep");
        let mut made = vec![Made::default(); program.partitions.len()];
        let mut check_job = |job: &SweepJob| {
            let member = &program.partitions[job.member];
            let shape = self.partition(member.partition);
            for operation in &program.operations[job.operations.clone()] {
                let made = &mut made[job.member];
                stored[member.partition] |=
                    shape.check_update(operation.parent, operation.children, made);
                operation.edges.iter().for_each(|&edge| {
                    assert!((edge as usize) < member.brlens.len(), "edge {edge} does not exist");
                });
            }
            shape.check_ends(job.ends, made[job.member]);
            assert!((job.edge as usize) < member.brlens.len(), "edge {} does not exist", job.edge);
        };
        // By member, the last step in which it has a job.
        let mut last_step = vec![usize::MAX; program.partitions.len()];
        for (number, step) in program.steps.iter().enumerate() {
            assert!(!step.jobs.is_empty(), "a step must have at least one job");
            assert!(
                (step.branch as usize) < program.brlens.len(),
                "branch {} does not exist",
                step.branch
            );
            for job in &program.jobs[step.jobs.clone()] {
                let last = std::mem::replace(&mut last_step[job.member], number);
                assert!(last != number, "a partition has two jobs in one step");
                check_job(job);
            }
        }
        let finished = program.finish.iter().map(|job| program.partitions[job.member].partition);
        check_once(finished, "at the end of a sweep");
        for job in &program.finish {
            assert!(job.operations.is_empty(), "the final jobs of a sweep must not update vectors");
            check_job(job);
        }
    }

    fn check_sweeps(&self, programs: &[SweepProgram]) {
        let mut uses = vec![0usize; self.partitions.len()];
        let mut stored = vec![false; self.partitions.len()];
        for program in programs {
            self.check_sweep(program, &mut stored);
            program.partitions.iter().for_each(|partition| uses[partition.partition] += 1);
        }
        for (partition, stored) in stored.iter().enumerate() {
            assert!(
                !stored || uses[partition] == 1,
                "partition {partition}: a sweep writes CLVs that another reads"
            );
        }
    }

    fn check_trial(&self, trial: &TrialProgram) {
        let mut stored = vec![false; self.partitions.len()];
        let partitions = trial.sweeps.iter().flat_map(|sweep| &sweep.partitions);
        check_once(partitions.map(|partition| partition.partition), "in the sweeps of a trial");
        for sweep in &trial.sweeps {
            self.check_sweep(sweep, &mut stored);
            assert!(
                trial.num_first <= sweep.steps.len(),
                "a trial has more first steps than steps"
            );
        }
        assert!(!stored.contains(&true), "a trial must not write stored CLVs");
        assert_eq!(trial.lnls.len(), self.partitions.len(), "one log-likelihood per partition");
    }
}

impl Engine for Checked {
    fn capabilities(&self) -> Capabilities {
        self.engine.capabilities()
    }

    fn set_models(&mut self, models: &[(usize, &Model)]) -> Result<()> {
        check_once(models.iter().map(|(partition, _)| *partition), "set");
        self.engine.set_models(models)
    }

    fn set_pattern_weights(&mut self, partition: usize, weights: &[f64]) -> Result<()> {
        assert_eq!(
            weights.len(),
            self.partitions[partition].num_patterns,
            "one weight per pattern"
        );
        assert!(weights.iter().all(|weight| *weight >= 0.0), "weights must not be negative");
        self.engine.set_pattern_weights(partition, weights)
    }

    fn update_partials(&mut self, descriptors: &[TraversalDescriptor]) -> Result<()> {
        check_once(descriptors.iter().map(|descriptor| descriptor.partition), "updated");
        for descriptor in descriptors {
            let shape = self.partition(descriptor.partition);
            for Operation { parent, children, brlens } in &descriptor.operations {
                let is_stored = shape.check_update(*parent, *children, &mut Made::default());
                assert!(is_stored, "a traversal must write stored CLVs only");
                check_brlens(brlens);
            }
        }
        self.engine.update_partials(descriptors)
    }

    fn log_likelihoods(&mut self, jobs: &[EdgeJob]) -> Result<Vec<f64>> {
        check_once(jobs.iter().map(|job| job.partition), "evaluated");
        jobs.iter().for_each(|job| self.check_edge_job(job));
        self.engine.log_likelihoods(jobs)
    }

    fn pattern_log_likelihoods(&mut self, job: &EdgeJob) -> Result<Vec<f64>> {
        self.check_edge_job(job);
        self.engine.pattern_log_likelihoods(job)
    }

    fn state_probabilities(&mut self, jobs: &[PointJob]) -> Result<Vec<Vec<f64>>> {
        check_once(jobs.iter().map(|job| job.partition), "asked for its states");
        for job in jobs {
            self.partition(job.partition).check_ends(job.ends, Made::default());
            check_brlens(&job.brlens);
        }
        self.engine.state_probabilities(jobs)
    }

    fn pmatrix_gradients(&mut self, jobs: &[EdgeJob]) -> Result<Vec<Vec<f64>>> {
        check_once(jobs.iter().map(|job| job.partition), "differentiated");
        for job in jobs {
            self.check_edge_job(job);
            let can = self.partitions[job.partition].has_gradients;
            assert!(can, "partition {} has no gradient in its P-matrices", job.partition);
        }
        self.engine.pmatrix_gradients(jobs)
    }

    fn insertion_scores(&mut self, programs: &[InsertionProgram]) -> Result<Vec<Vec<f64>>> {
        programs.iter().for_each(|program| self.check_insertions(program));
        self.engine.insertion_scores(programs)
    }

    fn optimize_branches(&mut self, programs: &mut [SweepProgram]) -> Result<()> {
        self.check_sweeps(programs);
        self.engine.optimize_branches(programs)
    }

    fn try_insertions(&mut self, trials: &mut [TrialProgram]) -> Result<()> {
        trials.iter().for_each(|trial| self.check_trial(trial));
        self.engine.try_insertions(trials)
    }

    fn clv(&mut self, partition: usize, slot: u32) -> Result<(Vec<f64>, Vec<u32>)> {
        self.partition(partition).check_read(Clv::Stored(slot), Made::default());
        self.engine.clv(partition, slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::engine::{EngineOptions, SweepOperation, SweepPartition, SweepStep};
    use crate::likelihood::select::make_engine;
    use Clv::{Stored, Temporary, Tip};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// An engine for one partition of five taxa and one of two.
    fn engine() -> Box<dyn Engine> {
        let partition = |num_tips| PartitionData {
            tip_codes: vec![vec![1, 2, 4]; num_tips],
            weights: vec![1.0; 3],
            code_masks: (0..16).collect(),
            undetermined: 15,
            num_states: 4,
            num_rates: 1,
            ascertainment: None,
            pattern_freqs: None,
        };
        let options = EngineOptions::default();
        let mut engine = make_engine(&[partition(5), partition(2)], &options).unwrap();
        let model = Model::parse("JC").unwrap();
        engine.set_models(&[(0, &model), (1, &model)]).unwrap();
        engine
    }

    fn operation(parent: Clv, children: [Clv; 2]) -> Operation {
        Operation { parent, children, brlens: [0.1, 0.2] }
    }

    fn descriptor(partition: usize, operations: &[Operation]) -> TraversalDescriptor {
        TraversalDescriptor { partition, operations: operations.to_vec() }
    }

    /// The panic's text, or nothing.
    fn complaint(work: impl FnOnce(&mut dyn Engine)) -> String {
        let mut engine = engine();
        match catch_unwind(AssertUnwindSafe(|| work(engine.as_mut()))) {
            Ok(()) => String::new(),
            Err(panic) => match panic.downcast::<String>() {
                Ok(text) => *text,
                Err(panic) => panic.downcast::<&str>().unwrap().to_string(),
            },
        }
    }

    #[test]
    fn traversals_that_violate_the_contract_are_refused() {
        let update = |descriptors: Vec<TraversalDescriptor>| {
            complaint(|engine| engine.update_partials(&descriptors).unwrap())
        };
        let good = operation(Stored(0), [Tip(0), Tip(1)]);
        assert_eq!(update(vec![descriptor(0, &[good])]), "");
        for (operations, expected) in [
            (vec![operation(Stored(3), [Tip(0), Tip(1)])], "CLV 3 does not exist"),
            (vec![operation(Stored(0), [Tip(0), Tip(5)])], "tip 5 does not exist"),
            (vec![operation(Stored(0), [Stored(0), Tip(1)])], "computed from itself"),
            (vec![operation(Tip(0), [Tip(1), Tip(2)])], "tip 0 cannot be written"),
            (vec![operation(Temporary(0), [Tip(1), Tip(2)])], "stored CLVs only"),
            (
                vec![Operation { brlens: [-0.1, 0.1], ..good }],
                "negative or undefined branch length",
            ),
        ] {
            let found = update(vec![descriptor(0, &operations)]);
            assert!(found.contains(expected), "{found}, not {expected}");
        }
        let twice = vec![descriptor(0, &[good]), descriptor(0, &[good])];
        assert!(update(twice).contains("partition 0 is updated twice"));
    }

    #[test]
    fn temporaries_are_made_once_in_order_and_before_they_are_read() {
        let score = |steps: &[InsertionStep]| {
            let program = InsertionProgram { steps: steps.to_vec(), ..InsertionProgram::default() };
            complaint(|engine| drop(engine.insertion_scores(&[program]).unwrap()))
        };
        let up = |out, child| InsertionStep::Partials(operation(Temporary(out), [child, Tip(1)]));
        let pendant = |out| InsertionStep::Pendant { out, source: Tip(2), brlen: 0.1 };
        let insert = |pendant, end| InsertionStep::Score {
            pendant,
            ends: [end, Tip(3)],
            brlens: [0.1, 0.1],
        };
        assert_eq!(score(&[up(0, Tip(0)), pendant(1), insert(1, Temporary(0))]), "");
        for (steps, expected) in [
            (vec![up(1, Tip(0))], "numbered in the order"),
            (vec![up(0, Tip(0)), up(0, Tip(0))], "numbered in the order"),
            (vec![up(0, Temporary(1))], "read before it is made"),
            (vec![up(0, Tip(0)), insert(0, Tip(0))], "is not a pendant vector"),
            (vec![pendant(0), up(1, Temporary(0))], "read as a CLV"),
        ] {
            let found = score(&steps);
            assert!(found.contains(expected), "{found}, not {expected}");
        }
    }

    #[test]
    fn no_sweep_reads_what_another_writes() {
        let sweep = |operation: Option<SweepOperation>| {
            let mut program = SweepProgram::new(vec![0.1], 1e-3);
            program.partitions.push(SweepPartition {
                partition: 0,
                brlen_scaler: 1.0,
                brlens: vec![0.1; 7],
            });
            program.operations.extend(operation);
            let operations = 0..program.operations.len();
            program.jobs.push(SweepJob {
                member: 0,
                operations,
                ends: [Tip(0), Stored(0)],
                edge: 0,
            });
            program.steps.push(SweepStep { jobs: 0..1, branch: 0 });
            program
        };
        let write = SweepOperation { parent: Stored(0), children: [Tip(1), Tip(2)], edges: [1, 2] };
        let run = |programs: [SweepProgram; 2]| {
            let mut programs = programs;
            complaint(|engine| {
                let first = descriptor(0, &[operation(Stored(0), [Tip(1), Tip(2)])]);
                engine.update_partials(&[first]).unwrap();
                engine.optimize_branches(&mut programs).unwrap();
            })
        };
        assert_eq!(run([sweep(None), sweep(None)]), "");
        assert!(run([sweep(Some(write)), sweep(None)]).contains("writes CLVs that another reads"));
    }
}
