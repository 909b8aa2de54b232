//! Which stored CLVs are forgotten when memory is limited, and in which order they are computed again.
//!
//! A CLV may be kept in several parts (blocks of patterns), each of which is forgotten on its own. Which, follows from
//! the time since the part's last use and from what must be computed to have it again, relative to its own size: as in the
//! recomputation of Izquierdo-Carrasco, Gagneur & Stamatakis 2012 (HPDC'12), CLVs of large subtrees whose children are
//! forgotten as well are kept.
//!
//! Of two children, the one above more CLVs is computed first and kept while the other is computed, so that no more than
//! [`min_clvs`] are needed at a time, as in the numbering of Sethi & Ullman (1970, J ACM 17:715).

use super::program::{Clv, Operation};

/// Forgotten CLVs on the way to the root whose work is corrected at a time.
const MOST_ANCESTORS: usize = 64;

/// Number of parts that are compared when one is to be forgotten.
const CANDIDATES: usize = 8;

/// Number of CLVs with which everything can be computed that reads two CLVs at a time, for a partition of so many tips:
/// one for each halving of a subtree, and those that are read and written.
pub fn min_clvs(num_tips: usize) -> usize {
    num_tips.max(1).ilog2() as usize + 4
}

/// A part of a CLV.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    /// Its size, in any unit.
    size: usize,
    /// True if it was written and not forgotten since.
    is_present: bool,
    /// True if it must not be forgotten now.
    is_pinned: bool,
    /// True if it is being written.
    is_written: bool,
    /// When it was last read or written, see [`Forgetting::now`].
    last_use: u64,
    /// If it is forgotten: the sizes of all that must be computed for it.
    work: usize,
}

/// How a CLV was last computed.
#[derive(Debug, Clone, Copy)]
struct Recipe {
    operation: Operation,
    /// Number of stored CLVs that it depends on, with itself.
    num_allocated_clvs: usize,
}

/// The stored CLVs of a partition, some of which are forgotten. Others than these (temporaries) have larger numbers and are
/// taken to be always there.
#[derive(Debug)]
pub struct Forgetting {
    num_parts: usize,
    /// `[clv][part]`
    parts: Vec<Part>,
    /// Numbers of updates of parts so far: all, and those of parts that had been forgotten.
    updates: [u64; 2],
    /// Number of uses so far.
    now: u64,
    /// By CLV. Without one, it is not forgotten.
    recipes: Vec<Option<Recipe>>,
    /// By CLV: the CLV that was last computed from it.
    readers: Vec<u32>,
    /// The next part to look at.
    hand: usize,
    /// Indices of what is pinned.
    pinned: Vec<usize>,
}

fn slots(operation: &Operation) -> impl Iterator<Item = u32> {
    operation.children.into_iter().filter_map(Clv::slot)
}

impl Forgetting {
    /// So many CLVs of so many parts each, none of which was written.
    pub fn new(num_allocated_clvs: usize, num_parts: usize) -> Self {
        Forgetting {
            num_parts,
            parts: vec![Part::default(); num_allocated_clvs * num_parts],
            updates: [0; 2],
            now: 0,
            recipes: vec![None; num_allocated_clvs],
            readers: vec![u32::MAX; num_allocated_clvs],
            hand: 0,
            pinned: Vec::new(),
        }
    }

    fn at(&self, part: usize, slot: u32) -> usize {
        slot as usize * self.num_parts + part
    }

    fn part(&mut self, part: usize, slot: u32) -> Option<&mut Part> {
        let at = self.at(part, slot);
        self.parts.get_mut(at)
    }

    /// Numbers of updates of parts so far: all, and those that were necessary because a part had been forgotten.
    pub fn updates(&self) -> [u64; 2] {
        self.updates
    }

    /// Notes how a CLV was computed.
    pub fn note_recipe(&mut self, slot: u32, operation: Operation) {
        let size_of = |child: u32| self.recipes.get(child as usize).copied().flatten();
        let below = slots(&operation).filter_map(size_of).map(|recipe| recipe.num_allocated_clvs);
        let num_allocated_clvs = 1 + below.sum::<usize>();
        let Some(place) = self.recipes.get_mut(slot as usize) else { return };
        *place = Some(Recipe { operation, num_allocated_clvs });
        for child in slots(&operation) {
            self.readers.get_mut(child as usize).into_iter().for_each(|reader| *reader = slot);
        }
    }

    /// Makes CLVs ready to be read: the next update that is necessary for that, if any, of a CLV whose children are
    /// pinned. It must be carried out and [noted](Forgetting::note_recomputed) before the next call. Whatever is ready leaves
    /// the list, and is pinned.
    pub fn next_update(&mut self, part: usize, wanted: &mut Vec<u32>) -> Option<Operation> {
        while let Some(&slot) = wanted.last() {
            if self.pin(part, slot) {
                wanted.pop();
                continue;
            }
            let recipe = |slot: u32| self.recipes.get(slot as usize).copied().flatten();
            let num_allocated_clvs =
                |slot: u32| recipe(slot).map_or(0, |recipe| recipe.num_allocated_clvs);
            let operation =
                recipe(slot).expect("only vectors with a recipe are forgotten").operation;
            let mut children: Vec<u32> = slots(&operation).collect();
            children.sort_by_key(|&child| std::cmp::Reverse(num_allocated_clvs(child)));
            match children.into_iter().find(|&child| !self.pin(part, child)) {
                Some(missing) => wanted.push(missing),
                None => return Some(operation),
            }
        }
        None
    }

    /// Notes that a forgotten part was computed again.
    pub fn note_recomputed(&mut self, part: usize, operation: &Operation) {
        self.updates[1] += 1;
        for child in slots(operation) {
            self.part(part, child).into_iter().for_each(|part| part.is_pinned = false);
        }
    }

    /// Keeps a part until it is unpinned; false if it was forgotten.
    fn pin(&mut self, part: usize, slot: u32) -> bool {
        let at = self.at(part, slot);
        let Some(part) = self.parts.get_mut(at) else { return true };
        if part.is_present {
            self.now += 1;
            part.last_use = self.now;
            if !std::mem::replace(&mut part.is_pinned, true) {
                self.pinned.push(at);
            }
        }
        part.is_present
    }

    /// Ends all pinning.
    pub fn unpin_all(&mut self) {
        for at in self.pinned.drain(..) {
            self.parts[at].is_pinned = false;
        }
    }

    /// Begins to write a part, which is not forgotten meanwhile.
    pub fn begin_update(&mut self, part: usize, slot: u32) {
        self.part(part, slot).into_iter().for_each(|part| part.is_written = true);
    }

    /// Notes that a part was written, and its size now.
    pub fn end_update(&mut self, part: usize, slot: u32, size: usize) {
        self.now += 1;
        self.updates[0] += 1;
        let (at, now) = (self.at(part, slot), self.now);
        let Some(part) = self.parts.get_mut(at) else { return };
        let was_present = part.is_present;
        *part = Part { size, is_present: true, is_written: false, last_use: now, ..*part };
        if !was_present {
            let work = part.work;
            self.add_work(at, -(work as isize));
        }
    }

    /// Forgets a part that is not pinned: its CLV and its number; `None` if there is none.
    pub fn forget(&mut self) -> Option<(u32, usize)> {
        let (at, recipe, work) = self.choose()?;
        let part = &mut self.parts[at];
        (part.is_present, part.work) = (false, work);
        let last_use = part.last_use;
        // It is computed again from its children, whenever it is read.
        for slot in slots(&recipe) {
            let child = self.part(at % self.num_parts, slot);
            child.into_iter().for_each(|child| child.last_use = child.last_use.max(last_use));
        }
        self.add_work(at, work as isize);
        Some(((at / self.num_parts) as u32, at % self.num_parts))
    }

    /// Among the next few parts that can be forgotten, the best to forget: its index, how it is computed, and the work
    /// that this takes.
    fn choose(&mut self) -> Option<(usize, Operation, usize)> {
        let end = self.parts.len();
        let mut best: Option<(f64, (usize, Operation, usize))> = None;
        let mut found = 0;
        for _ in 0..end {
            let at = self.hand % end;
            self.hand = at + 1;
            let part = &self.parts[at];
            if !part.is_present || part.is_pinned || part.is_written {
                continue;
            }
            let Some(Recipe { operation, .. }) = self.recipes[at / self.num_parts] else {
                continue;
            };
            let of_child = |slot: u32| {
                let child = self.parts.get(self.at(at % self.num_parts, slot));
                let is_forgotten = |child: &&Part| !child.is_present && !child.is_written;
                child.filter(is_forgotten).map_or(0, |child| child.work)
            };
            let work = slots(&operation).map(of_child).fold(part.size, usize::saturating_add);
            let age = (self.now - part.last_use + 1) as f64;
            let gain = age * part.size as f64 / work as f64;
            if best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, (at, operation, work)));
            }
            found += 1;
            if found == CANDIDATES {
                break;
            }
        }
        best.map(|(_, best)| best)
    }

    /// Adds the work for a part of a CLV to that of the forgotten CLVs which are computed from it.
    fn add_work(&mut self, mut at: usize, work: isize) {
        for _ in 0..MOST_ANCESTORS {
            let slot = (at / self.num_parts) as u32;
            let Some(&reader) = self.readers.get(slot as usize) else { return };
            let recipe = self.recipes.get(reader as usize).copied().flatten();
            let reads = |recipe: Recipe| recipe.operation.children.contains(&Clv::Stored(slot));
            if !recipe.is_some_and(reads) {
                return;
            }
            at = self.at(at % self.num_parts, reader);
            match &mut self.parts[at] {
                part if !part.is_present && !part.is_written => {
                    part.work = part.work.saturating_add_signed(work);
                }
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};
    use rand::RngExt;

    /// A rooted tree of so many tips: how each CLV is computed, children before parents.
    fn recipes(num_tips: usize, shape: &str, seed: u64) -> Vec<Operation> {
        let mut rng = stream(seed, Purpose::Test, num_tips as u64);
        let mut open: Vec<Clv> = (0..num_tips as u32).map(Clv::Tip).collect();
        let mut made = Vec::new();
        while open.len() > 1 {
            let (i, j) = match shape {
                "comb" => (open.len() - 1, 0),
                "balanced" => (0, 1),
                _ => (rng.random_range(0..open.len()), rng.random_range(0..open.len())),
            };
            if i == j {
                continue;
            }
            let children = [open[i], open[j]];
            open.retain(|clv| !children.contains(clv));
            let parent = Clv::Stored(made.len() as u32);
            made.push(Operation { parent, children, brlens: [0.1; 2] });
            open.push(parent);
        }
        made
    }

    /// Values of CLVs with room for a few.
    struct Few {
        forgetting: Forgetting,
        values: Vec<Option<u64>>,
        room: usize,
    }

    impl Few {
        fn value(&self, clv: Clv) -> u64 {
            match clv {
                Clv::Tip(tip) => u64::from(tip),
                Clv::Stored(slot) => self.values[slot as usize].expect("a vector that is read"),
                Clv::Temporary(_) => unreachable!("none is made"),
            }
        }

        fn write(&mut self, operation: &Operation) {
            let slot = operation.parent.slot().unwrap();
            self.forgetting.begin_update(0, slot);
            if self.values[slot as usize].is_none()
                && self.values.iter().flatten().count() >= self.room
            {
                let (forgotten, _) = self.forgetting.forget().expect("there is room");
                assert!(self.values[forgotten as usize].take().is_some());
            }
            let [a, b] = operation.children.map(|child| self.value(child));
            let value = a.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) ^ b;
            self.values[slot as usize] = Some(value);
            self.forgetting.end_update(0, slot, 1);
        }

        fn provide(&mut self, mut wanted: Vec<u32>) {
            self.forgetting.unpin_all();
            while let Some(operation) = self.forgetting.next_update(0, &mut wanted) {
                self.write(&operation);
                self.forgetting.note_recomputed(0, &operation);
            }
        }
    }

    /// With the least room, everything has the values that it has with room for all.
    #[test]
    fn forgotten_clvs_are_computed_again_with_the_least_room() {
        for (num_tips, shape) in
            [(2, "comb"), (9, "random"), (64, "balanced"), (90, "comb"), (150, "random")]
        {
            for seed in 0..3 {
                let recipes = recipes(num_tips, shape, seed);
                let read = |room: usize| {
                    let forgetting = Forgetting::new(recipes.len(), 1);
                    let mut few = Few { forgetting, values: vec![None; recipes.len()], room };
                    for operation in &recipes {
                        few.provide(slots(operation).collect());
                        few.write(operation);
                        few.forgetting.note_recipe(operation.parent.slot().unwrap(), *operation);
                    }
                    let mut rng = stream(seed, Purpose::Test, 0);
                    let mut value = || {
                        let slot = rng.random_range(0..recipes.len()) as u32;
                        few.provide(vec![slot]);
                        few.value(Clv::Stored(slot))
                    };
                    let values: Vec<u64> = (0..200).map(|_| value()).collect();
                    (values, few.forgetting.updates())
                };
                let (want, [_, none]) = read(usize::MAX);
                let (found, [_, again]) = read(min_clvs(num_tips));
                assert_eq!(found, want, "{num_tips} taxa, {shape}");
                assert_eq!(none, 0);
                assert!(again > 0 || num_tips < 64);
            }
        }
    }
}
