//! Which worker gets which unit of work.

/// Cost of one unit in any common measure: taxa × patterns × rates × states² of its blocks.
pub type UnitCost = u64;

/// Deals units to workers: largest first, each to the worker with the least so far (the first such
/// worker on ties), which for equal units is dealing modulo. Returns, per worker, its units in
/// ascending order.
pub fn deal(costs: &[UnitCost], num_workers: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by_key(|&unit| (std::cmp::Reverse(costs[unit]), unit));
    let mut loads = vec![0u64; num_workers];
    let mut hands = vec![Vec::new(); num_workers];
    for unit in order {
        let worker = (0..num_workers).min_by_key(|&w| (loads[w], w)).expect("at least one worker");
        loads[worker] += costs[unit];
        hands[worker].push(unit);
    }
    for hand in &mut hands {
        hand.sort_unstable();
    }
    hands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_units_are_dealt_modulo() {
        assert_eq!(deal(&[1; 7], 3), vec![vec![0, 3, 6], vec![1, 4], vec![2, 5]]);
    }

    #[test]
    fn a_large_unit_is_balanced_by_small_ones() {
        assert_eq!(deal(&[1, 6, 2, 3], 2), vec![vec![1], vec![0, 2, 3]]);
    }
}
