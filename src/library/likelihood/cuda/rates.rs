//! What a GPU can do at best: rates of copying and of fused multiply-adds, and what launches, answers and barriers take.

use super::kernels::Probes;
use super::launch::{self, Probe};
use crate::gpu::{Buffer, Device, Module, Result};
use crate::likelihood::engine::layout::BLOCK;
use crate::likelihood::engine::{GpuRates, ScorePrecision};
use std::time::Instant;

/// Fused multiply-adds of a thread in a round (`CHAINS` in `probe.cu`).
const CHAINS: f64 = 8.0;
/// CTAs per multiprocessor: enough to fill it.
const CTAS: usize = 16;

/// How much is done to measure a rate.
struct Size {
    copied_numbers: usize,
    rounds: u32,
    repetitions: u32,
}

const QUICK: Size = Size { copied_numbers: 1 << 14, rounds: 4, repetitions: 2 };
const FULL: Size = Size { copied_numbers: 1 << 26, rounds: 1 << 14, repetitions: 20 };

/// Seconds of a work that is asked for so many times before it is waited for.
fn seconds(device: &Device, times: u32, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    work()?;
    device.wait()?;
    let start = Instant::now();
    for _ in 0..times {
        work()?;
    }
    device.wait()?;
    Ok(start.elapsed().as_secs_f64() / f64::from(times))
}

/// Measures a GPU.
///
/// # Errors
/// Not enough memory, or the GPU is lost.
pub(super) fn measure(device: &Device, is_quick: bool) -> Result<GpuRates> {
    let probes = Probes::load(device)?;
    let Size { copied_numbers, rounds, repetitions } = if is_quick { QUICK } else { FULL };
    let free = device.free_bytes().unwrap_or(u64::MAX) as usize / size_of::<f64>();
    let count = copied_numbers.min(free / 4);
    let num_ctas = device.num_multiprocessors * CTAS;
    let (mut from, mut to) = (Buffer::<f64>::new("a copy"), Buffer::<f64>::new("a copy"));
    from.upload(device, &vec![1.0; count])?;
    to.reserve(device, count.max(num_ctas * BLOCK))?;
    let (from, target) = (from.address(device), to.address(device));
    let launch_seconds =
        seconds(device, 50 * repetitions, || launch::probe(&probes, Probe::Nothing, 1))?;
    let answer = || {
        launch::probe(&probes, Probe::Nothing, 1)?;
        to.download(device, 0..1).map(drop)
    };
    let answer_seconds = seconds(device, 10 * repetitions, answer)?;
    let copy = Probe::Copy { from, to: target, count: count as u64 };
    let copied = seconds(device, repetitions, || launch::probe(&probes, copy, num_ctas))?;
    let multiply_adds = CHAINS * f64::from(rounds) * (num_ctas * BLOCK) as f64;
    let operations_per_second = |precision| -> Result<f64> {
        let fma = Probe::Fma { precision, out: target, rounds };
        let computed = seconds(device, repetitions, || launch::probe(&probes, fma, num_ctas))?;
        Ok(2.0 * multiply_adds / computed)
    };
    Ok(GpuRates {
        load_seconds: Module::seconds_of_all(device),
        launch_seconds,
        answer_seconds,
        barrier_seconds: barrier_seconds(device, &probes, 10 * repetitions)?,
        copy_bytes_per_second: 2.0 * (count * size_of::<f64>()) as f64 / copied,
        operations_per_second: operations_per_second(ScorePrecision::Double)?,
        single_operations_per_second: operations_per_second(ScorePrecision::Single)?,
    })
}

/// Seconds of a barrier of a CTA on each multiprocessor; `None` if CTAs cannot wait for each other.
fn barrier_seconds(device: &Device, probes: &Probes, rounds: u32) -> Result<Option<f64>> {
    if device.most_together(&probes.function("probe_barriers")?, BLOCK) == 0 {
        return Ok(None);
    }
    let num_ctas = device.num_multiprocessors;
    let mut counter = Buffer::<u32>::new("a counter");
    let mut once = |rounds: u32| {
        counter.upload(device, &[0])?;
        let counter = counter.address(device);
        device.wait()?;
        let start = Instant::now();
        launch::probe(probes, Probe::Barriers { counter, rounds }, num_ctas)?;
        device.wait()?;
        Ok(start.elapsed().as_secs_f64())
    };
    once(1)?;
    // Without the launch.
    let (few, many) = (once(1)?, once(1 + rounds)?);
    Ok(Some((many - few).max(0.0) / f64::from(rounds)))
}
