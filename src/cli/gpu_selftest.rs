//! What `mlsearch gpu-selftest` means.

use super::args::{Args, GpuSelftestArgs};
use super::files::resolve_prefix;
use super::simulate::{ModeOutput, plan_of_mode};
use super::values::parse_cards;
use super::verb::Faults;
use crate::plan::{Command, DEFAULT_SEED, DataOptions, Plan, SelftestPlan};

/// Gives a meaning to the options of `gpu-selftest`.
pub(super) fn resolve_gpu_selftest(
    selftest: &GpuSelftestArgs,
    args: &Args,
    faults: &mut Faults,
) -> Plan {
    let name = match (&selftest.name, &selftest.prefix) {
        (None, None) => Some("gpu-selftest"),
        (name, _) => name.as_deref(),
    };
    let names = (name, selftest.prefix.as_deref(), None);
    let output = ModeOutput { prefix: resolve_prefix(names, None, faults), redo: selftest.redo };
    let command = Command::GpuSelftest(SelftestPlan { quick: selftest.quick });
    let mut plan = plan_of_mode(command, DataOptions::default(), DEFAULT_SEED, output, args);
    plan.run.cards = faults.or(parse_cards(selftest.gpu.as_deref()), 0);
    plan
}
