//! `--check` of a sample: the time and memory that its runs take, from a chain that has gone a short way.

use super::run::{ChainCost, share_out};
use crate::parallel::available_memory;
use crate::runtime::{Cost, Setup, format_bytes, format_seconds};
use crate::sampler::SamplingPlan;
use crate::steps::dry_run::Rows;

/// What a sample takes.
pub(crate) fn describe_sample(
    sampling: &SamplingPlan,
    chain: ChainCost,
    setup: &Setup,
    used: u64,
    rows: &mut Rows,
) -> &'static str {
    let Setup { plan, loaded, .. } = setup;
    let cost = Cost::of_data(loaded);
    let (runs, chains) = (sampling.num_runs as u64, sampling.num_chains as u64);
    let shares = share_out(sampling, setup);
    let most = cost.engine_bytes() + cost.bytes_beside_engine(plan);
    let samples = runs * (sampling.generations / sampling.sample_every + 1) * chain.sample_bytes;
    let run = chains * chain.bytes.unwrap_or(most);
    // Where there is room, runs stay in memory while others go on.
    let in_memory = if shares.have_room_for(sampling.num_runs) { runs } else { shares.jobs as u64 };
    let whole = used + cost.shared_bytes() + in_memory * run + samples;
    rows.push(("memory", format!("about {}", format_bytes(whole))));
    rows.push(("  for each run at the same time", format_bytes(run)));
    rows.push(("  for the samples", format_bytes(samples)));
    let least = used + cost.shared_bytes() + chains * cost.engine_bytes();
    let least = least + cost.bytes_beside_engine(plan);
    rows.push(("  at least, with --mem", format!("about {}", format_bytes(least))));
    if let Some(free) = available_memory() {
        rows.push(("  free on this machine", format_bytes(free)));
    }
    let of_run = chain.seconds * sampling.chain_steps().iter().sum::<u64>() as f64;
    let speed = sampling.generations as f64 / of_run;
    rows.push(("generations of a run in a second", format!("about {speed:.0}")));
    rows.push(("time of all runs", format_seconds(runs as f64 * of_run)));
    rows.push(("runs at the same time", shares.jobs.to_string()));
    rows.push(("  chains of each at the same time", shares.parts.to_string()));
    rows.push(("  threads of each chain", shares.resources.threads().to_string()));
    "Times are rough estimates for one core; a run may take from half to twice as long.\n\
     --stop may end runs before their last generation.\n"
}
