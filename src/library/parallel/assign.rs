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

/// What the units of each worker cost together.
pub fn loads_of(hands: &[Vec<usize>], costs: &[UnitCost]) -> Vec<UnitCost> {
    hands.iter().map(|hand| hand.iter().map(|&unit| costs[unit]).sum()).collect()
}

/// A task that one worker can do alone, or all workers together with repeated synchronisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WholeTask {
    /// What it costs one worker.
    pub whole: UnitCost,
    /// What it costs every worker if all do it together, synchronisation included.
    pub split: UnitCost,
}

/// Deals tasks as wholes, as [`deal`] does, where this is fastest. Returns that, and in ascending order the
/// tasks which all workers should do together, because the others would wait for them.
pub fn deal_whole(tasks: &[WholeTask], num_workers: usize) -> (Vec<Vec<usize>>, Vec<usize>) {
    let costs: Vec<UnitCost> = tasks.iter().map(|task| task.whole).collect();
    let mut largest: Vec<usize> = (0..tasks.len()).collect();
    largest.sort_by_key(|&task| (std::cmp::Reverse(costs[task]), task));
    let mut rest = costs.clone();
    let mut together = 0;
    let mut best: Option<(UnitCost, Vec<Vec<usize>>, usize)> = None;
    // Dealing evenly leaves less than one task per worker over.
    for num_split in 0..=num_workers.min(tasks.len()) {
        if let Some(&task) = num_split.checked_sub(1).map(|last| &largest[last]) {
            together += tasks[task].split;
            rest[task] = 0;
        }
        let hands = deal(&rest, num_workers);
        let longest = loads_of(&hands, &rest).into_iter().max().unwrap_or(0);
        if best.as_ref().is_none_or(|(time, ..)| longest + together < *time) {
            best = Some((longest + together, hands, num_split));
        }
        let fair = rest.iter().sum::<UnitCost>() / num_workers as u64;
        if longest <= fair + fair / 16 {
            break;
        }
    }
    let (_, mut hands, num_split) = best.expect("dealing everything whole is one way");
    let mut split = largest[..num_split].to_vec();
    split.sort_unstable();
    hands.iter_mut().for_each(|hand| hand.retain(|task| split.binary_search(task).is_err()));
    (hands, split)
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

    fn tasks(costs: &[UnitCost], num_workers: u64, meetings: u64) -> Vec<WholeTask> {
        let task = |&whole| WholeTask { whole, split: whole / num_workers + meetings };
        costs.iter().map(task).collect()
    }

    #[test]
    fn many_tasks_are_dealt_whole() {
        let (hands, split) = deal_whole(&tasks(&[100; 401], 2, 0), 2);
        assert_eq!((hands[0].len(), hands[1].len(), split.len()), (201, 200, 0));
    }

    #[test]
    fn only_what_is_larger_than_a_fair_share_is_split() {
        let (hands, split) = deal_whole(&tasks(&[100, 900, 100, 100], 3, 5), 3);
        assert_eq!((hands, split), (vec![vec![0], vec![2], vec![3]], vec![1]));
        // What is left over after all have had as many.
        let (hands, split) = deal_whole(&tasks(&[100; 3], 2, 5), 2);
        assert_eq!((hands, split), (vec![vec![1], vec![2]], vec![0]));
    }

    #[test]
    fn nothing_is_split_when_meeting_costs_more_than_waiting() {
        let (hands, split) = deal_whole(&tasks(&[100, 900, 100, 100], 3, 700), 3);
        assert_eq!((hands, split), (vec![vec![1], vec![0, 3], vec![2]], vec![]));
        assert_eq!(deal_whole(&tasks(&[], 2, 0), 2), (vec![vec![]; 2], vec![]));
        assert_eq!(deal_whole(&tasks(&[5, 6], 1, 0), 1), (vec![vec![0, 1]], vec![]));
    }
}
