//! Which blocks of which partition a rank gets.

use crate::likelihood::engine::Held;
use crate::parallel::UnitCost;

/// A partition, as far as its blocks are dealt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Blocks {
    /// How many, that of constant patterns included.
    pub(super) count: usize,
    /// What one of them costs.
    pub(super) cost: UnitCost,
}

/// A partition is not divided if it costs less than an equal share of a rank divided by this: the ranks then do different partitions
/// at the same time where branch lengths are not shared, and exchange less.
const WHOLE_PARTITIONS_PER_RANK: u64 = 16;

/// A partition of which each rank gets at least so many blocks is divided among all of them, so that nobody waits where few partitions
/// have anything to do (the regrafts of a subtree with little data).
const BLOCKS_FOR_EACH_RANK: usize = 4;

/// Deals the blocks of all partitions: the large ones to all ranks; the others as if they lay one after the other, so that each rank gets
/// an equal share of what they cost. Returns the holders of each partition, in the order of their blocks.
pub(super) fn share_out(partitions: &[Blocks], num_ranks: usize) -> Vec<Vec<Held>> {
    let cost_of = |blocks: &Blocks| u128::from(blocks.cost) * blocks.count as u128;
    let is_for_all = |blocks: &Blocks| blocks.count >= BLOCKS_FOR_EACH_RANK * num_ranks;
    let all: u128 = partitions.iter().filter(|blocks| !is_for_all(blocks)).map(cost_of).sum();
    let ranks = num_ranks as u128;
    // The rank to whose share this point of the row belongs, of which there are twice as many as costs.
    let rank_at = |twice: u128| (twice * ranks / (2 * all).max(1)).min(ranks - 1) as usize;
    // The cost of those that lie before, and the rank that gets the next block that is left over.
    let (mut before, mut next) = (0, 0);
    let mut of_partition = Vec::with_capacity(partitions.len());
    for blocks in partitions {
        if is_for_all(blocks) {
            // The blocks that are left over go to different ranks each time.
            let (each, over) = (blocks.count / num_ranks, blocks.count % num_ranks);
            let mut end = 0;
            let held = |rank: usize| {
                let start = end;
                end += each + usize::from((rank + num_ranks - next) % num_ranks < over);
                Held { rank, blocks: start..end }
            };
            of_partition.push((0..num_ranks).map(held).collect());
            next = (next + over) % num_ranks;
            continue;
        }
        let cost = cost_of(blocks);
        let is_small = cost * ranks * u128::from(WHOLE_PARTITIONS_PER_RANK) <= all;
        let rank_of = |block: usize| match is_small {
            true => rank_at(2 * before + cost),
            false => rank_at(2 * before + u128::from(blocks.cost) * (2 * block as u128 + 1)),
        };
        let mut holders: Vec<Held> = Vec::new();
        let mut start = 0;
        while start < blocks.count {
            let rank = rank_of(start);
            // The first block of another rank.
            let (mut low, mut end) = (start + 1, blocks.count);
            while low < end {
                let middle = low.midpoint(end);
                if rank_of(middle) == rank { low = middle + 1 } else { end = middle }
            }
            holders.push(Held { rank, blocks: start..end });
            start = end;
        }
        of_partition.push(holders);
        before += cost;
    }
    of_partition
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(partitions: &[Blocks], holders: &[Vec<Held>], num_ranks: usize) -> Vec<UnitCost> {
        let mut costs = vec![0; num_ranks];
        for (blocks, holders) in partitions.iter().zip(holders) {
            let mut next = 0;
            for held in holders {
                assert_eq!(held.blocks.start, next);
                assert!(!held.blocks.is_empty());
                next = held.blocks.end;
                costs[held.rank] += blocks.cost * held.blocks.len() as UnitCost;
            }
            assert_eq!(next, blocks.count, "every block has one holder");
        }
        costs
    }

    #[test]
    fn every_rank_gets_its_share_and_small_partitions_are_not_divided() {
        let one = [Blocks { count: 1000, cost: 3 }];
        for num_ranks in [1, 2, 3, 7, 64] {
            let holders = share_out(&one, num_ranks);
            let costs = costs(&one, &holders, num_ranks);
            let fair = 3000 / num_ranks as u64;
            assert!(costs.iter().all(|cost| cost.abs_diff(fair) <= 3), "{costs:?}");
            assert!(holders[0].is_sorted_by_key(|held| held.rank));
        }
        let large: Vec<Blocks> = (0..30).map(|i| Blocks { count: 12 + i % 9, cost: 2 }).collect();
        let holders = share_out(&large, 3);
        let of_ranks = costs(&large, &holders, 3);
        assert!(holders.iter().all(|holders| holders.len() == 3));
        let fair = of_ranks.iter().sum::<u64>() / 3;
        assert!(of_ranks.iter().all(|cost| cost.abs_diff(fair) <= 2), "{of_ranks:?}");
        let many: Vec<Blocks> =
            (0..500).map(|i| Blocks { count: 1 + i % 4, cost: 1 + (i as u64 * 7) % 5 }).collect();
        let holders = share_out(&many, 4);
        let costs = costs(&many, &holders, 4);
        let fair = costs.iter().sum::<u64>() / 4;
        assert!(costs.iter().all(|cost| cost.abs_diff(fair) <= fair / 16), "{costs:?}");
        assert!(holders.iter().all(|holders| holders.len() == 1));
    }

    #[test]
    fn with_more_ranks_than_blocks_some_have_none() {
        let few = [Blocks { count: 2, cost: 5 }, Blocks { count: 0, cost: 1 }];
        let holders = share_out(&few, 5);
        costs(&few, &holders, 5);
        assert_eq!(holders[0].len(), 2);
        assert!(holders[1].is_empty());
        assert!(share_out(&[Blocks { count: 0, cost: 0 }], 2)[0].is_empty());
    }
}
