//! GPUs that have no room for all CLVs: which CLVs have a place, and batches with updates of those that must be
//! computed again.
//!
//! Steps of a batch name CLVs by their slots. Before it is run, slots become places, and before each step that reads a
//! forgotten CLV there are the updates that make it, in the same job: a thread runs all steps of a job for its pattern,
//! in order, so that a place can be written again in the middle of a job. Jobs of the same partition are therefore run one
//! after the other. Data that do not fit into a GPU have so many patterns that this leaves nothing idle.

use super::batch::{At, Batch};
use super::program::{ClvLocation, End, Step};
use crate::likelihood::engine::layout::Dims;
use crate::likelihood::engine::{Clv, EngineError, Forgetting, Operation, Result};

/// The stored CLVs of a partition, of which some have no place on the GPUs.
#[derive(Debug)]
pub(super) struct StoredClvs {
    forgetting: Forgetting,
    /// By slot.
    places: Vec<Option<u32>>,
    free: Vec<u32>,
}

impl StoredClvs {
    /// So many CLVs and places, one CLV at least for each place.
    pub(super) fn new(num_allocated_clvs: usize, num_places: usize) -> Self {
        StoredClvs {
            forgetting: Forgetting::new(num_allocated_clvs, 1),
            places: vec![None; num_allocated_clvs],
            free: (0..num_places as u32).rev().collect(),
        }
    }

    /// Numbers of updates so far: all, and those of forgotten CLVs.
    pub(super) fn updates(&self) -> [u64; 2] {
        self.forgetting.updates()
    }

    /// Where a CLV is, once a batch with a job of updates was run that is made for it.
    pub(super) fn updates_to_read(
        &mut self,
        batch: &mut Batch,
        partition: usize,
        dims: Dims,
        slot: u32,
    ) -> Result<u32> {
        batch.begin(partition, 0);
        self.provide(batch, dims, vec![slot])?;
        Ok(self.place(slot))
    }

    /// Where a CLV is that is not forgotten.
    fn place(&self, slot: u32) -> u32 {
        self.places[slot as usize].expect("a vector is written before it is read")
    }

    /// A CLV's place, to be written; another is forgotten if it has none.
    fn place_to_write(&mut self, slot: u32) -> Result<u32> {
        self.forgetting.begin_update(0, slot);
        let known = self.places[slot as usize].or_else(|| self.free.pop());
        let of_forgotten = |(forgotten, _): (u32, usize)| self.places[forgotten as usize].take();
        let place = known.or_else(|| self.forgetting.forget().and_then(of_forgotten));
        self.places[slot as usize] = place;
        self.forgetting.end_update(0, slot, 1);
        let purpose = "likelihood vectors on the GPU";
        place.ok_or(EngineError::OutOfMemory { bytes: 0, purpose })
    }

    /// Adds updates to a batch's last job, so that these CLVs can be read.
    fn provide(&mut self, batch: &mut Batch, dims: Dims, mut wanted: Vec<u32>) -> Result<()> {
        self.forgetting.unpin_all();
        while let Some(operation) = self.forgetting.next_update(0, &mut wanted) {
            let Operation { parent, children, brlens } = operation;
            let children = children.map(|child| self.at(child));
            let slot = parent.slot().expect("only stored vectors are forgotten");
            let out = At { place: ClvLocation::Stored, index: self.place_to_write(slot)? };
            batch.update(dims, out, children, brlens);
            self.forgetting.note_recomputed(0, &operation);
        }
        Ok(())
    }

    fn at(&self, clv: Clv) -> At {
        match clv {
            Clv::Tip(index) => At { place: ClvLocation::Tip, index },
            Clv::Stored(slot) => At { place: ClvLocation::Stored, index: self.place(slot) },
            Clv::Temporary(_) => {
                unreachable!("stored vectors are not computed from temporaries")
            }
        }
    }
}

/// Whether an end or a result of a step is a stored CLV.
fn is_stored(place: u32) -> bool {
    place == ClvLocation::Stored as u32
}

/// The batch with places instead of slots, and with updates of forgotten CLVs before they are read. After it was run,
/// the CLVs that its last step reads have places.
///
/// # Errors
/// There are fewer places than are necessary at the same time.
pub(super) fn with_places(
    batch: &Batch,
    partitions: &mut [StoredClvs],
    dims: &[Dims],
) -> Result<Batch> {
    let mut out = batch.without_jobs();
    let mut updates = batch.stored_updates.iter();
    for job in &batch.jobs {
        let (partition, dims) = (&mut partitions[job.partition], dims[job.partition]);
        out.begin(job.partition, job.num_places);
        let is_same = out.jobs.len() > 1 && out.jobs[out.jobs.len() - 2].partition == job.partition;
        out.jobs.last_mut().into_iter().for_each(|new| new.follows = is_same);
        for step in &batch.steps[job.first_step..job.first_step + job.num_steps] {
            let stored = step.ends.iter().filter(|end| is_stored(end.place));
            partition.provide(&mut out, dims, stored.map(|end| end.index).collect())?;
            let ends = step.ends.map(|end| match is_stored(end.place) {
                true => End { index: partition.place(end.index), ..end },
                false => end,
            });
            let mut step = Step { ends, ..*step };
            if is_stored(step.out_place) {
                let operation = updates.next().expect("it was noted with the step");
                partition.forgetting.note_recipe(step.out_index, *operation);
                step.out_index = partition.place_to_write(step.out_index)?;
            }
            out.push_step(step);
        }
    }
    Ok(out)
}
