//! What `mlsearch gpu-selftest` means.

use super::args::{Args, GpuSelftestArgs};
use super::files::resolve_prefix;
use super::simulate::{ModeOutput, RUN_OF_MODE, plan_of_mode};
use super::values::parse_cards;
use super::verb::Faults;
use crate::commands::Analysis;
use crate::commands::gpu_selftest::GpuSelftest;
use crate::plan::{DEFAULT_SEED, DataOptions, RunOptions};

/// Gives a meaning to the options of `gpu-selftest`.
pub(super) fn resolve_gpu_selftest(
    selftest: &GpuSelftestArgs,
    args: &Args,
    faults: &mut Faults,
) -> Analysis {
    let name = match (&selftest.name, &selftest.prefix) {
        (None, None) => Some("gpu-selftest"),
        (name, _) => name.as_deref(),
    };
    let names = (name, selftest.prefix.as_deref(), None);
    let output = ModeOutput { prefix: resolve_prefix(names, None, faults), redo: selftest.redo };
    let command = Box::new(GpuSelftest { quick: selftest.quick });
    let cards = faults.or(parse_cards(selftest.gpu.as_deref()), 0);
    let run = RunOptions { cards, ..RUN_OF_MODE };
    plan_of_mode(command, DataOptions::default(), DEFAULT_SEED, &run, output, args)
}
