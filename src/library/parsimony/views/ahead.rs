//! [`Ahead`]: items that are made before they are needed.

use std::collections::VecDeque;

/// So many items are made ahead. (Measured against none, on 101 to 3000 taxa; other numbers were not.)
const AHEAD: usize = 8;

/// The items of an iterator, which is asked for each while those before it are still waiting: what it has done to fetch an item goes on
/// meanwhile. It is not asked before the first item is needed.
pub(super) struct Ahead<I: Iterator> {
    items: I,
    waiting: VecDeque<I::Item>,
}

impl<I: Iterator> Ahead<I> {
    pub(super) fn of(items: I) -> Self {
        Ahead { items, waiting: VecDeque::new() }
    }
}

impl<I: Iterator> Iterator for Ahead<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        let missing = AHEAD - self.waiting.len();
        self.waiting.extend(self.items.by_ref().take(missing));
        self.waiting.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn items_are_made_before_they_are_needed_and_keep_their_order() {
        let made = Cell::new(0);
        let count = |number: usize| {
            made.set(number + 1);
            number
        };
        let mut ahead = Ahead::of((0..20).map(count));
        assert_eq!(made.get(), 0);
        for number in 0..20 {
            assert_eq!(ahead.next(), Some(number));
            assert_eq!(made.get(), (number + AHEAD).min(20));
        }
        assert_eq!(ahead.next(), None);
    }
}
