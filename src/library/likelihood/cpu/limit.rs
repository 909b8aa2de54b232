//! CLVs with limited memory: rows of some blocks are forgotten, and computed again when they are read.

use super::clvs::{Clvs, Limit};
use crate::likelihood::engine::Forgetting;

impl Clvs {
    /// Forgets rows of the first `num_allocated_clvs` CLVs from now on if all take more than so many bytes. Before they are
    /// read, such CLVs must be computed if they are not there.
    pub(super) fn limit(&mut self, bytes: usize, num_allocated_clvs: usize) {
        let forgetting = Forgetting::new(num_allocated_clvs, self.lens.len());
        self.limit = Some(Limit { bytes, used: self.bytes(), forgetting });
    }

    /// Numbers of updates of blocks so far: all, and those that the limit has made necessary. None are counted without
    /// a limit.
    pub(super) fn updates(&self) -> [u64; 2] {
        self.limit.as_ref().map_or([0; 2], |limit| limit.forgetting.updates())
    }

    /// What is known of the CLVs that may be forgotten, if memory is limited.
    pub(super) fn forgetting(&mut self) -> Option<&mut Forgetting> {
        self.limit.as_mut().map(|limit| &mut limit.forgetting)
    }

    /// True if so many bytes more are beyond the limit.
    pub(super) fn is_too_much(&self, more: usize) -> bool {
        self.limit.as_ref().is_some_and(|limit| limit.used + more > limit.bytes)
    }

    /// Forgets rows of one CLV; false if none can be forgotten.
    pub(super) fn forget(&mut self) -> bool {
        if let Some(rows) = self.spare.iter_mut().find_map(Vec::pop) {
            self.free(rows);
            return true;
        }
        let Some((slot, block)) = self.forgetting().and_then(Forgetting::forget) else {
            return false;
        };
        let at = self.at(block, slot);
        let Some(stored) = self.stored[at].as_mut() else { return false };
        let rows = [Some(std::mem::take(&mut stored.of_classes)), stored.of_patterns.take()];
        rows.into_iter().flatten().for_each(|rows| self.free(rows));
        true
    }
}
