//! The Robinson-Foulds distance of two trees over the same taxa, over their splits.
//!
//! Robinson & Foulds 1981, Math. Biosci. 53:131: the number of splits that are in only one of the two
//! trees; the relative distance is divided by the maximum, 2(n-3).

use crate::tree::{Split, Tree, tree_splits};

/// Distance of two trees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RfDistance {
    /// Number of splits in exactly one of the two trees.
    pub absolute: u32,
    /// That number over 2(n-3); 0 for trees of fewer than four tips.
    pub relative: f64,
}

impl RfDistance {
    fn new(absolute: u32, num_tips: usize) -> Self {
        let most = 2 * num_tips.saturating_sub(3);
        let relative = if most == 0 { 0.0 } else { absolute as f64 / most as f64 };
        RfDistance { absolute, relative }
    }
}

/// The distance of two trees over the same tips.
pub fn rf_distance(a: &Tree, b: &Tree) -> RfDistance {
    assert_eq!(a.num_tips(), b.num_tips(), "trees over the same tips");
    let sorted = |tree| {
        let mut splits: Vec<Split> = tree_splits(tree).into_iter().map(|s| s.1).collect();
        splits.sort_unstable();
        splits
    };
    RfDistance::new(count_unshared(&sorted(a), &sorted(b)), a.num_tips())
}

/// Number of elements that are in one of two ascending lists only.
fn count_unshared<T: Ord>(a: &[T], b: &[T]) -> u32 {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                shared += 1;
                i += 1;
                j += 1;
            }
        }
    }
    (a.len() + b.len() - 2 * shared) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::tree::random_tree;

    #[test]
    fn small_trees_and_random_trees() {
        let mut rng = stream(1, Purpose::Test, 0);
        let small = [random_tree(3, 0.1, &mut rng), random_tree(3, 0.1, &mut rng)];
        assert_eq!(rf_distance(&small[0], &small[1]), RfDistance { absolute: 0, relative: 0.0 });
        let large = [random_tree(70, 0.1, &mut rng), random_tree(70, 0.1, &mut rng)];
        let found = rf_distance(&large[0], &large[1]);
        assert_eq!(found.relative, f64::from(found.absolute) / 134.0);
        assert!(found.absolute > 120 && rf_distance(&large[1], &large[1]).absolute == 0);
    }
}
