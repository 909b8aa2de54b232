//! Site repeats: patterns of a block that agree in all tips behind a CLV have equal rows in it, so one row is
//! computed and stored for each class of such patterns (Kobert, Stamatakis & Flouri 2017, Syst Biol 66:205).
//!
//! ```text
//! class of a pattern at a tip:         its code
//! class of a pattern at an inner node: number of the pair (class at child 1, class at child 2),
//!                                      in order of first appearance in the block
//! ```
//!
//! A node has at least as many classes as each of its children. So where classes do not pay at a child, they are not
//! counted at the node either: CLVs that point away from most of the tree cost nothing.

use super::arena::grow;
use crate::alphabet::Code;
use crate::likelihood::engine::Result;
use crate::likelihood::engine::layout::BLOCK;

/// A CLV with more classes than this share of its patterns has a row for each pattern.
const MOST_CLASSES: [usize; 2] = [3, 4];

/// Classes are not counted if more pairs than this are possible, as with codes of very many partly known codons.
const MOST_PAIRS: usize = 1 << 18;

/// Patterns after which the number of classes is compared with the limit.
const STEP: usize = 16;

/// A child's classes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Child<'a> {
    /// Different for all tips and all classes that were ever counted in a unit.
    pub(super) name: u64,
    /// Class of each pattern.
    pub(super) classes: &'a [Code],
    /// All classes are below this number.
    pub(super) num_classes: usize,
}

/// The classes of one CLV in a block, as counted from those of its children.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    name: u64,
    /// Names of the children's classes from which these were counted.
    counted_from: Option<[u64; 2]>,
    num_patterns: usize,
    /// Number of classes, rounded up to whole tiles; 0 if there are too many.
    num_rows: usize,
    /// Class of each pattern; then of each class, its class at child 1; then at child 2.
    numbers: Vec<Code>,
}

impl Repeats {
    /// Number of rows, or `None` if a row for each pattern is better.
    pub(super) fn num_rows(&self) -> Option<usize> {
        (self.num_rows > 0).then_some(self.num_rows)
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        self.numbers.capacity() * size_of::<Code>()
    }

    /// The classes as those of a child.
    pub(super) fn as_child(&self) -> Child<'_> {
        let classes = &self.numbers[..self.num_patterns];
        Child { name: self.name, classes, num_classes: self.num_rows }
    }

    /// For each row, the class at child `i`.
    pub(super) fn of_child(&self, i: usize) -> &[Code] {
        &self.numbers[self.num_patterns + i * self.num_rows..][..self.num_rows]
    }

    /// Counts the classes, unless this was last done from the same classes of the children. The number of rows is
    /// a multiple of `tile`. `last_name` is the name that was given last.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(super) fn update(
        &mut self,
        children: [Child<'_>; 2],
        tile: usize,
        counter: &mut Counter,
        last_name: &mut u64,
    ) -> Result<()> {
        let names = children.map(|child| child.name);
        if self.counted_from == Some(names) {
            return Ok(());
        }
        self.counted_from = Some(names);
        let num_patterns = children[0].classes.len();
        let Some(num_classes) = counter.count(children) else {
            self.num_rows = 0;
            return Ok(());
        };
        let classes = &counter.classes[..num_patterns];
        // Equal classes keep their name, so that those of the ancestors are not counted again.
        if self.num_rows == 0 || self.numbers[..self.num_patterns] != *classes {
            *last_name += 1;
            self.name = *last_name;
        }
        self.num_patterns = num_patterns;
        self.num_rows = num_classes.next_multiple_of(tile);
        grow(&mut self.numbers, num_patterns + 2 * self.num_rows, "site repeats")?;
        self.numbers[..num_patterns].copy_from_slice(classes);
        let firsts = &counter.firsts[..num_classes];
        for (i, child) in children.iter().enumerate() {
            let out = &mut self.numbers[num_patterns + i * self.num_rows..][..self.num_rows];
            for (out, first) in out.iter_mut().zip(firsts) {
                *out = child.classes[usize::from(*first)];
            }
            let last = out[num_classes - 1];
            out[num_classes..].fill(last);
        }
        Ok(())
    }
}

/// Buffers for counting classes.
#[derive(Debug)]
pub(super) struct Counter {
    /// By pair of the children's classes: number of the last count in which the pair appeared, times `BLOCK`, plus
    /// its class in it.
    of_pair: Vec<u32>,
    /// Number of the current count.
    number: u32,
    /// Class of each pattern.
    classes: [Code; BLOCK],
    /// First pattern of each class.
    firsts: [u8; BLOCK],
}

impl Default for Counter {
    fn default() -> Self {
        Counter { of_pair: Vec::new(), number: 0, classes: [0; BLOCK], firsts: [0; BLOCK] }
    }
}

impl Counter {
    /// Counts the pairs of classes; `None` if there are too many.
    fn count(&mut self, [first, second]: [Child<'_>; 2]) -> Option<usize> {
        let num_pairs = first.num_classes * second.num_classes;
        if num_pairs > MOST_PAIRS {
            return None;
        }
        self.start(num_pairs);
        let limit = first.classes.len() * MOST_CLASSES[0] / MOST_CLASSES[1];
        let of_pair = &mut self.of_pair[..num_pairs];
        let mark = self.number * BLOCK as u32;
        let mut num_classes = 0;
        let mut pattern = 0;
        for (a, b) in first.classes.chunks(STEP).zip(second.classes.chunks(STEP)) {
            for (a, b) in a.iter().zip(b) {
                let entry = &mut of_pair[usize::from(*a) * second.num_classes + usize::from(*b)];
                // Without branches, which could not be predicted.
                let is_new = *entry < mark;
                let class = if is_new { num_classes } else { *entry - mark };
                *entry = mark + class;
                self.classes[pattern] = class as Code;
                self.firsts[num_classes as usize % BLOCK] = pattern as u8;
                num_classes += u32::from(is_new);
                pattern += 1;
            }
            if num_classes as usize > limit {
                return None;
            }
        }
        Some(num_classes as usize)
    }

    /// Begins another count.
    fn start(&mut self, num_pairs: usize) {
        if self.of_pair.len() < num_pairs {
            self.of_pair.resize(num_pairs, 0);
        }
        self.number += 1;
        if self.number == u32::MAX / BLOCK as u32 {
            self.of_pair.fill(0);
            self.number = 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TIPS: u64 = 2;

    fn child(name: u64, classes: &[Code]) -> Child<'_> {
        Child { name, classes, num_classes: 40 }
    }

    /// Counts classes; returns whether their name is new.
    fn update(repeats: &mut Repeats, children: [Child; 2], counter: &mut Counter) -> bool {
        let before = repeats.name;
        let mut last_name = before.max(TIPS);
        repeats.update(children, 4, counter, &mut last_name).unwrap();
        repeats.name != before
    }

    proptest! {
        #[test]
        fn patterns_have_one_class_if_they_have_one_at_both_children(
            pairs in prop::collection::vec((0..5_u16, 0..7_u16), 8..BLOCK),
            earlier in prop::collection::vec((0..40_u16, 0..40_u16), 8..BLOCK),
        ) {
            let mut counter = Counter::default();
            let mut repeats = Repeats::default();
            for pairs in [&earlier, &pairs] {
                let (a, b): (Vec<Code>, Vec<Code>) = pairs.iter().copied().unzip();
                update(&mut repeats, [child(pairs.len() as u64, &a), child(0, &b)], &mut counter);
            }
            let mut distinct: Vec<(Code, Code)> = Vec::new();
            for pair in &pairs {
                if !distinct.contains(pair) {
                    distinct.push(*pair);
                }
            }
            let limit = pairs.len() * MOST_CLASSES[0] / MOST_CLASSES[1];
            let same_key = earlier.len() == pairs.len();
            prop_assume!(!same_key);
            prop_assert_eq!(repeats.num_rows().is_some(), distinct.len() <= limit);
            if let Some(num_rows) = repeats.num_rows() {
                prop_assert_eq!(num_rows, distinct.len().next_multiple_of(4));
                let of_class = |class: usize| (repeats.of_child(0)[class], repeats.of_child(1)[class]);
                for (class, pair) in repeats.as_child().classes.iter().zip(&pairs) {
                    prop_assert_eq!(of_class(usize::from(*class)), *pair);
                }
                (distinct.len()..num_rows).for_each(|row| assert!(distinct.contains(&of_class(row))));
            }
        }
    }

    #[test]
    fn classes_keep_their_name_as_long_as_they_are_the_same() {
        let mut counter = Counter::default();
        let mut repeats = Repeats::default();
        let (a, b): (Vec<Code>, Vec<Code>) = ([0, 1].repeat(8), vec![3; 16]);
        assert!(update(&mut repeats, [child(0, &a), child(1, &b)], &mut counter));
        assert!(!update(&mut repeats, [child(0, &a), child(1, &b)], &mut counter));
        // Other children whose pairs are the same patterns'.
        let c: Vec<Code> = a.iter().map(|class| class + 7).collect();
        assert!(!update(&mut repeats, [child(5, &b), child(6, &c)], &mut counter));
        assert_eq!(repeats.of_child(1), [7, 8, 8, 8]);
        let d: Vec<Code> = [0, 1, 1, 0].repeat(4);
        assert!(update(&mut repeats, [child(5, &b), child(7, &d)], &mut counter));
    }

    #[test]
    fn counting_goes_on_when_the_numbers_of_counts_are_used_up() {
        let mut counter = Counter { number: u32::MAX / BLOCK as u32 - 2, ..Counter::default() };
        let (a, b): (Vec<Code>, Vec<Code>) = ([0, 1].repeat(8), vec![3; 16]);
        for _ in 0..4 {
            assert_eq!(counter.count([child(0, &a), child(1, &b)]), Some(2));
        }
    }
}
