//! Work for one launch, planned without a GPU: jobs of steps for partitions with the same number of states, and the
//! P-matrices that the steps read.

use super::program::{ClvLocation, End, MatrixJob, Step, StepKind};
use crate::likelihood::engine::layout::Dims;
use crate::likelihood::engine::{Clv, Operation, Places, ScorePrecision};
use std::collections::HashMap;

/// A CLV, with temporaries replaced by their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct At {
    /// What kind of CLV.
    pub(super) place: ClvLocation,
    /// Tip, slot, or number of the place.
    pub(super) index: u32,
}

impl At {
    /// A temporary of an insertion program in single precision; tips and stored CLVs remain what they are.
    pub(super) fn in_single(self) -> Self {
        match self.place {
            ClvLocation::Scratch => At { place: ClvLocation::Single, ..self },
            _ => self,
        }
    }

    /// The tip or stored CLV.
    pub(super) fn clv(self) -> Clv {
        match self.place {
            ClvLocation::Tip => Clv::Tip(self.index),
            ClvLocation::Stored => Clv::Stored(self.index),
            ClvLocation::Temporary | ClvLocation::Scratch | ClvLocation::Single => {
                Clv::Temporary(self.index)
            }
        }
    }
}

/// Where a CLV is that is not a temporary.
pub(super) fn stored(clv: Clv) -> At {
    match clv {
        Clv::Tip(index) => At { place: ClvLocation::Tip, index },
        Clv::Stored(index) => At { place: ClvLocation::Stored, index },
        Clv::Temporary(_) => unreachable!("temporaries have places"),
    }
}

/// Where a CLV is, if temporary number i is at a place of this kind.
pub(super) fn resolve(clv: Clv, places: &Places, kind: ClvLocation) -> At {
    match clv {
        Clv::Temporary(number) => At { place: kind, index: places.of(number) },
        other => stored(other),
    }
}

/// Steps of one partition.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BatchJob {
    pub(super) partition: usize,
    pub(super) first_step: usize,
    pub(super) num_steps: usize,
    pub(super) num_scores: usize,
    /// Places of temporaries that it needs per block.
    pub(super) num_places: usize,
    /// True if it is run after the job before it, which has the same partition, instead of beside it.
    pub(super) follows: bool,
}

/// Work for one launch.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Number of states of all partitions: one of `layout::STATE_COUNTS`.
    pub(super) states: usize,
    pub(super) jobs: Vec<BatchJob>,
    pub(super) steps: Vec<Step>,
    pub(super) matrices: Vec<MatrixJob>,
    /// Precision of scores and their matrices.
    pub(super) precision: ScorePrecision,
    /// Steps that write stored CLVs, in their order.
    pub(super) stored_updates: Vec<Operation>,
    /// Length of the buffer of matrices and tables, and the most that it should have.
    pub(super) matrix_numbers: u64,
    most_matrix_numbers: u64,
    /// By partition, bits of the length and precision, the number of the matrix. (It is never iterated over.)
    known: HashMap<(usize, u64, bool), usize>,
}

impl Batch {
    /// No work for partitions with so many states, whose matrices and tables should have so many bytes at most.
    pub(super) fn new(states: usize, matrix_bytes: u64) -> Self {
        let most_matrix_numbers = matrix_bytes / size_of::<f64>() as u64;
        Batch { states, most_matrix_numbers, ..Batch::default() }
    }

    /// The work, which is no longer there then.
    pub(super) fn take(&mut self) -> Self {
        let &mut Batch { states, most_matrix_numbers, precision, .. } = self;
        std::mem::replace(
            self,
            Batch { states, most_matrix_numbers, precision, ..Batch::default() },
        )
    }

    /// The same matrices, without any job.
    pub(super) fn without_jobs(&self) -> Self {
        Batch {
            states: self.states,
            matrices: self.matrices.clone(),
            matrix_numbers: self.matrix_numbers,
            precision: self.precision,
            known: self.known.clone(),
            ..Batch::default()
        }
    }

    /// True if it has as many matrices as fit into one launch.
    pub(super) fn is_full(&self) -> bool {
        self.matrix_numbers >= self.most_matrix_numbers
    }

    /// Begins a job. Steps that follow belong to it.
    pub(super) fn begin(&mut self, partition: usize, num_places: usize) {
        let first_step = self.steps.len();
        self.jobs.push(BatchJob { partition, first_step, num_places, ..BatchJob::default() });
    }

    fn job(&mut self) -> &mut BatchJob {
        self.jobs.last_mut().expect("a job was begun")
    }

    /// Where the matrix of a length is, or for a tip its table; they are computed before the steps are run.
    fn matrix(&mut self, dims: Dims, brlen: f64, is_tip: bool, precision: ScorePrecision) -> u64 {
        let partition = self.job().partition;
        let next = self.matrices.len();
        let is_single = precision == ScorePrecision::Single;
        let number = *self.known.entry((partition, brlen.to_bits(), is_single)).or_insert(next);
        // In numbers of double precision; both are even.
        let len = |numbers: usize| if is_single { numbers / 2 } else { numbers } as u64;
        if number == next {
            let job = MatrixJob {
                partition: partition as u32,
                is_single: is_single.into(),
                brlen,
                matrix: self.matrix_numbers,
                ..MatrixJob::default()
            };
            self.matrices.push(job);
            self.matrix_numbers += len(dims.pmatrix());
        }
        let job = &mut self.matrices[number];
        if !is_tip {
            return job.matrix;
        }
        if job.with_table == 0 {
            job.with_table = 1;
            job.table = self.matrix_numbers;
            self.matrix_numbers += len(dims.tip_table());
        }
        job.table
    }

    /// An end of an edge of this length; without a length, no matrix is applied.
    pub(super) fn end(&mut self, dims: Dims, at: At, brlen: Option<f64>) -> End {
        self.end_in(self.precision, dims, at, brlen)
    }

    fn end_in(&mut self, precision: ScorePrecision, dims: Dims, at: At, brlen: Option<f64>) -> End {
        let is_tip = at.place == ClvLocation::Tip;
        let matrix = brlen.map_or(0, |brlen| self.matrix(dims, brlen, is_tip, precision));
        End { place: at.place as u32, index: at.index, matrix }
    }

    /// Adds an update to the job.
    pub(super) fn update(&mut self, dims: Dims, out: At, children: [At; 2], brlens: [f64; 2]) {
        let precision = match out.place {
            ClvLocation::Single => ScorePrecision::Single,
            _ => ScorePrecision::Double,
        };
        let ends = [0, 1].map(|i| self.end_in(precision, dims, children[i], Some(brlens[i])));
        if out.place == ClvLocation::Stored {
            let [parent, a, b] = [out, children[0], children[1]].map(At::clv);
            self.stored_updates.push(Operation { parent, children: [a, b], brlens });
        }
        self.push(StepKind::Partials, out, ends);
    }

    /// Adds a step to the job. `out` is the CLV that it makes, or the pendant CLV of a score.
    pub(super) fn push(&mut self, kind: StepKind, out: At, ends: [End; 2]) {
        let step = Step {
            kind: kind as u32,
            out_place: out.place as u32,
            out_index: out.index,
            padding: 0,
            ends,
        };
        self.push_step(step);
    }

    /// Adds a step of which everything is known to the job.
    pub(super) fn push_step(&mut self, step: Step) {
        self.steps.push(step);
        let is_score = [StepKind::Score, StepKind::Edge].map(|kind| kind as u32);
        let job = self.job();
        job.num_steps += 1;
        job.num_scores += usize::from(is_score.contains(&step.kind));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_matrix_per_partition_and_length_and_one_table_if_a_tip_needs_it() {
        let dims = Dims { num_states: 4, num_rates: 2, num_codes: 16, rate_scalers: false };
        let mut batch = Batch::new(4, 1 << 20);
        let tip = At { place: ClvLocation::Tip, index: 0 };
        let inner = At { place: ClvLocation::Stored, index: 0 };
        batch.begin(0, 0);
        assert_eq!(batch.end(dims, inner, Some(0.1)).matrix, 0);
        assert_eq!(batch.end(dims, inner, Some(0.1)).matrix, 0);
        assert_eq!(batch.end(dims, tip, Some(0.1)).matrix, 32);
        assert_eq!(batch.end(dims, tip, Some(0.2)).matrix, 32 + 128 + 32);
        batch.begin(1, 0);
        assert_eq!(batch.end(dims, inner, Some(0.1)).matrix, 2 * (32 + 128));
        assert_eq!(batch.matrices.len(), 3);
        assert_eq!(batch.matrix_numbers, 2 * (32 + 128) + 32);
        // Half of the room in single precision, in which stored CLVs are not made.
        let mut batch = Batch { precision: ScorePrecision::Single, ..Batch::new(4, 1 << 20) };
        batch.begin(0, 0);
        assert_eq!(batch.end(dims, inner, Some(0.1)).matrix, 0);
        assert_eq!(batch.end(dims, tip, Some(0.1)).matrix, 16);
        batch.update(dims, inner, [tip, tip], [0.1, 0.2]);
        assert_eq!(batch.matrices.iter().map(|job| job.is_single).sum::<u16>(), 1);
        assert_eq!(batch.matrix_numbers, 16 + 64 + 2 * (32 + 128));
    }
}
