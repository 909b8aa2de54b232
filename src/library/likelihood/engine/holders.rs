//! [`Holders`]: which rank has which blocks of each partition, and what all of them have together.

use super::block_sum::{BlockSum, aligned_runs};
use super::program::SweepProgram;
use crate::mpi::Ranks;
use crate::numeric::Gamma;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The blocks of a partition that a rank has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The rank.
    pub rank: usize,
    /// Its blocks: not none. The block of constant patterns, if any, comes after all others.
    pub blocks: Range<usize>,
}

/// The ranks of a run, and the blocks that each of them has.
#[derive(Debug)]
pub struct Holders {
    ranks: Ranks,
    /// Of each partition: who has blocks, in their order, and the levels of its aligned runs of blocks.
    of_partition: Vec<Vec<(Held, Vec<usize>)>>,
}

impl Holders {
    /// These ranks, with the holders of each partition in the order of their blocks.
    pub fn new(ranks: Ranks, of_partition: Vec<Vec<Held>>) -> Self {
        let with_runs = |held: Held| {
            let runs = aligned_runs(held.blocks.clone()).collect();
            (held, runs)
        };
        let of_partition =
            of_partition.into_iter().map(|held| held.into_iter().map(with_runs).collect());
        Holders { ranks, of_partition: of_partition.collect() }
    }

    /// Number of partitions.
    pub fn num_partitions(&self) -> usize {
        self.of_partition.len()
    }

    /// True if what the ranks exchange goes through a network, so that few exchanges matter more than to stay with the data of one
    /// partition. The same on all ranks.
    pub fn are_apart(&self) -> bool {
        let [on_machine, _] = self.ranks.num_beside();
        on_machine < self.ranks.size() || self.ranks.always_share()
    }

    /// True for the rank on which this is.
    pub fn is_own(&self, rank: usize) -> bool {
        rank == self.ranks.rank()
    }

    /// The rank that has all of a partition, if one has.
    pub fn sole(&self, partition: usize) -> Option<usize> {
        match &self.of_partition[partition][..] {
            [(only, _)] => Some(only.rank),
            _ => None,
        }
    }

    /// This rank's blocks of a partition.
    pub fn own(&self, partition: usize) -> Option<&Held> {
        let each = self.of_partition[partition].iter().map(|(held, _)| held);
        each.into_iter().find(|held| self.is_own(held.rank))
    }

    /// Sums over all blocks, each of a partition: `own` has what this rank's blocks contribute to the sum of this number.
    pub fn sums<const N: usize, Blocks: IntoIterator<Item = [f64; N]>>(
        &self,
        partitions: &[usize],
        mut own: impl FnMut(usize) -> Blocks,
    ) -> Vec<[f64; N]> {
        let mut counts = vec![0; self.ranks.size()];
        for &partition in partitions {
            for (held, runs) in &self.of_partition[partition] {
                counts[held.rank] += N * runs.len();
            }
        }
        let longest = counts.iter().copied().max().unwrap_or(0);
        let mut given = Vec::with_capacity(longest);
        for (number, &partition) in partitions.iter().enumerate() {
            let each = &self.of_partition[partition];
            if let Some((_, runs)) = each.iter().find(|(held, _)| self.is_own(held.rank)) {
                let mut blocks = own(number).into_iter();
                for &level in runs {
                    given.extend(BlockSum::of(blocks.by_ref().take(1 << level)));
                }
            }
        }
        given.resize(longest, 0.0);
        let all = self.ranks.all_gather(&given);
        let mut next: Vec<usize> = (0..counts.len()).map(|rank| rank * longest).collect();
        let sum = |&partition: &usize| {
            let mut total = BlockSum::new();
            for (held, runs) in &self.of_partition[partition] {
                for &level in runs {
                    let at = &mut next[held.rank];
                    total.add_run(level, std::array::from_fn(|i| all[*at + i]));
                    *at += N;
                }
            }
            total.total()
        };
        partitions.iter().map(sum).collect()
    }

    /// The numbers of all holders of a partition, in the order of their blocks.
    pub fn gather(&self, partition: usize, own: Vec<f64>) -> Vec<f64> {
        let counts = self.ranks.all_gather(&[own.len() as f64]);
        let longest = counts.iter().fold(0.0, |longest: f64, &count| longest.max(count)) as usize;
        let mut given = own;
        given.resize(longest, 0.0);
        let all = self.ranks.all_gather(&given);
        let of_holder = |(held, _): &(Held, Vec<usize>)| {
            all[held.rank * longest..][..counts[held.rank] as usize].iter().copied()
        };
        self.of_partition[partition].iter().flat_map(of_holder).collect()
    }

    /// The number that the holder of the last blocks of a partition has.
    pub fn of_last(&self, partition: usize, own: f64) -> f64 {
        let all = self.ranks.all_gather(&[own]);
        self.of_partition[partition].last().map_or(0.0, |(held, _)| all[held.rank])
    }

    /// Exchanges what the sweeps of single partitions have found, each run by the rank that has all of its partition.
    pub fn exchange(&self, mut programs: Vec<&mut SweepProgram>) {
        let mut counts = vec![0; self.ranks.size()];
        let holder =
            |program: &SweepProgram| self.sole(program.partitions[0].partition).expect("a holder");
        for program in &programs {
            counts[holder(program)] += Found::count(program);
        }
        let longest = counts.iter().copied().max().unwrap_or(0);
        let mut given = Vec::with_capacity(longest);
        for program in programs.iter().filter(|program| self.is_own(holder(program))) {
            Found::write(program, &mut given);
        }
        given.resize(longest, 0.0);
        let all = self.ranks.all_gather(&given);
        let mut next: Vec<usize> = (0..counts.len()).map(|rank| rank * longest).collect();
        for program in &mut programs {
            let holder = holder(program);
            let at = next[holder];
            next[holder] += Found::count(program);
            Found::read(program, &all[at..next[holder]]);
        }
    }
}

/// What a sweep of a single partition finds, as numbers.
struct Found;

impl Found {
    /// How many numbers: the same before and after the sweep.
    fn count(program: &SweepProgram) -> usize {
        // Log-likelihood, whether there is a distribution, its parameters, numbers of derivatives and of last log-likelihoods.
        let fixed = 6;
        let lengths = program.partitions[0].brlens.len() + program.brlens.len();
        fixed + lengths + 3 * program.steps.len() + program.finish.len()
    }

    fn write(program: &SweepProgram, out: &mut Vec<f64>) {
        let end = out.len() + Found::count(program);
        let density = program.density.map_or([0.0; 3], |Gamma { shape, rate }| [1.0, shape, rate]);
        out.push(program.lnl);
        out.extend(density);
        out.push(program.derivatives.len() as f64);
        out.push(program.finish_lnls.len() as f64);
        out.extend(&program.partitions[0].brlens);
        out.extend(&program.brlens);
        out.extend(program.derivatives.as_flattened());
        out.extend(&program.finish_lnls);
        out.resize(end, 0.0);
    }

    fn read(program: &mut SweepProgram, numbers: &[f64]) {
        let (&[lnl, has_density, shape, rate, num_derivatives, num_lnls], rest) =
            numbers.split_first_chunk().expect("as many as were written");
        program.lnl = lnl;
        program.density = (has_density == 1.0).then_some(Gamma { shape, rate });
        let (own, rest) = rest.split_at(program.partitions[0].brlens.len());
        program.partitions[0].brlens.copy_from_slice(own);
        let (lengths, rest) = rest.split_at(program.brlens.len());
        program.brlens.copy_from_slice(lengths);
        let (derivatives, rest) = rest.split_at(3 * num_derivatives as usize);
        program.derivatives = derivatives.as_chunks().0.to_vec();
        program.finish_lnls = rest[..num_lnls as usize].to_vec();
    }
}
