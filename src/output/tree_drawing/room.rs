//! What is taken of the paper, so that labels are not drawn over each other.

use std::collections::HashMap;

/// Places of texts of about the same size: each is covered by circles as high as its digits.
#[derive(Debug)]
pub(super) struct Room {
    radius: f64,
    /// Their centres, by squares of the paper that are as wide as a circle. Only ever looked up.
    circles: HashMap<[i64; 2], Vec<[f64; 2]>>,
}

impl Room {
    /// Nothing is taken, of texts of this size of font.
    pub(super) fn new(size: f64) -> Self {
        Room { radius: 0.4 * size, circles: HashMap::new() }
    }

    fn square(&self, [x, y]: [f64; 2]) -> [i64; 2] {
        [x, y].map(|z| (z / (2.0 * self.radius)).floor() as i64)
    }

    /// Centres of circles that cover a text whose middle line has these ends.
    fn cover(&self, [x0, y0]: [f64; 2], [x1, y1]: [f64; 2]) -> Vec<[f64; 2]> {
        let steps = (libm::hypot(x1 - x0, y1 - y0) / self.radius).ceil().max(1.0);
        let at = |step: usize| step as f64 / steps;
        let centre = |share: f64| [x0 + share * (x1 - x0), y0 + share * (y1 - y0)];
        (0..=steps as usize).map(|step| centre(at(step))).collect()
    }

    fn is_free(&self, centre: [f64; 2]) -> bool {
        let [column, row] = self.square(centre);
        let around = (-1..=1).flat_map(|x| (-1..=1).map(move |y| [column + x, row + y]));
        let near = around.filter_map(|square| self.circles.get(&square)).flatten();
        let is_apart = |other: &[f64; 2]| {
            libm::hypot(other[0] - centre[0], other[1] - centre[1]) >= 2.0 * self.radius
        };
        near.into_iter().all(is_apart)
    }

    /// Takes the place of a text, whatever is there.
    pub(super) fn take(&mut self, from: [f64; 2], to: [f64; 2]) {
        for centre in self.cover(from, to) {
            self.circles.entry(self.square(centre)).or_default().push(centre);
        }
    }

    /// Takes the place of a text if it is free. Returns whether it was.
    pub(super) fn take_if_free(&mut self, from: [f64; 2], to: [f64; 2]) -> bool {
        let is_free = self.cover(from, to).into_iter().all(|centre| self.is_free(centre));
        if is_free {
            self.take(from, to);
        }
        is_free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_taken_once() {
        let mut room = Room::new(10.0);
        assert!(room.take_if_free([0.0, 0.0], [50.0, 0.0]));
        assert!(!room.take_if_free([45.0, 3.0], [90.0, 3.0]), "over its end");
        assert!(!room.take_if_free([20.0, -40.0], [20.0, 40.0]), "across it");
        assert!(room.take_if_free([0.0, 9.0], [50.0, 9.0]), "below it");
        assert!(room.take_if_free([60.0, 0.0], [70.0, 0.0]), "beside it");
        assert!(!room.take_if_free([-20.0, -1e-9], [0.0, 0.0]), "before it");
    }
}
