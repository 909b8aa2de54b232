//! What several ranks of a run do: all of them compute each likelihood together, or jobs are dealt to them, or to groups of them.

use crate::likelihood::distributed::JobCounts;
use crate::likelihood::select::{PartitionSize, best_ranks_per_job, is_worth_sharing};
use crate::mpi::Ranks;
use crate::plan::{MemoryPlan, Plan};

/// Jobs in turn, each as long as a replicate, that a search before the replicates takes.
const SEARCH_IN_TURN: usize = 5;

/// How many ranks shall compute each likelihood of these partitions together, where each has so many bytes of memory.
pub(super) fn ranks_per_job(
    plan: &Plan,
    ranks: Ranks,
    partitions: &[PartitionSize],
    memory: Option<u64>,
) -> usize {
    let workload = plan.facts.workload;
    let jobs = match (workload.memory, plan.bootstrap.replicates) {
        (MemoryPlan::Chains(_), _) => JobCounts { in_turn: 0, side_by_side: plan.facts.numbered },
        // How many there are is not known, or they are of different lengths.
        (_, 0) => JobCounts { in_turn: 1, side_by_side: 0 },
        (_, replicates) => JobCounts {
            in_turn: if workload.only_replicates { 0 } else { SEARCH_IN_TURN },
            side_by_side: replicates,
        },
    };
    let has_jobs = deals_jobs(plan) || workload.describes_jobs;
    match plan.run.ranks_per_job {
        _ if shares_pairs(plan) => 1,
        Some(1) => 1,
        Some(number) if has_jobs => number.min(ranks.size()),
        Some(_) => ranks.size(),
        None if has_jobs => best_ranks_per_job(ranks, partitions, jobs, memory),
        None if is_worth_sharing(ranks, partitions) => ranks.size(),
        None => 1,
    }
}

/// True for an analysis whose jobs can be dealt to ranks, which all read its input.
pub(super) fn deals_jobs(plan: &Plan) -> bool {
    let has_jobs = matches!(plan.facts.workload.memory, MemoryPlan::Jobs | MemoryPlan::Chains(_));
    shares_pairs(plan) || has_jobs && !plan.is_check && plan.can_be_read_again()
}

/// True for an analysis that computes distances, of which each rank gets some.
fn shares_pairs(plan: &Plan) -> bool {
    plan.facts.workload.has_pairs && !plan.is_check && plan.can_be_read_again()
}
