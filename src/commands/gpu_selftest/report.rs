//! What a self-test of GPUs found, for the JSON file and as tables.

use crate::likelihood::GpuRates;
use crate::output::table;

/// What a self-test of GPUs found.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct SelftestReport {
    /// The GPUs: name and compute capability.
    pub gpus: Vec<String>,
    /// Threads of the processor beside which they were measured.
    pub threads: usize,
    /// What each GPU can do at best.
    #[schemars(with = "Vec<RatesForSchema>")]
    pub rates: Vec<GpuRates>,
    /// By alignment: what updates of CLVs, scores of regraft positions and sweeps reach of that on the first GPU.
    pub rooflines: Vec<Roofline>,
    /// By set of partitions: how many numbers were compared, and how many have other bits.
    pub agreement: Vec<Agreement>,
    /// By set of partitions: scores in single precision.
    pub single: Vec<SingleScores>,
    /// By alignment and work: times.
    pub times: Vec<TimeRow>,
}

/// What a GPU can do at best, as [`GpuRates`] are written: the library knows no schemas.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(schemars::JsonSchema)]
#[schemars(rename = "GpuRates")]
struct RatesForSchema {
    /// Seconds in which the driver translated all kernels for the GPU, or found them in its cache.
    load_seconds: f64,
    /// Seconds of a launch among many.
    launch_seconds: f64,
    /// Seconds until the result of a launch is on the host.
    answer_seconds: f64,
    /// Seconds until all that work together in a launch have met, if they can.
    barrier_seconds: Option<f64>,
    /// Bytes read and written per second by a copy.
    copy_bytes_per_second: f64,
    /// Operations per second in double precision: a fused multiply-add is two.
    operations_per_second: f64,
    /// The same in single precision.
    single_operations_per_second: f64,
}

/// Numbers that both engines have computed.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Agreement {
    /// The partitions.
    pub partitions: String,
    /// How many numbers were compared.
    pub numbers: usize,
    /// How many of them have other bits.
    pub differing: usize,
}

/// Scores of regraft positions in single precision beside those in double.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct SingleScores {
    /// The partitions.
    pub partitions: String,
    /// How many scores were compared.
    pub scores: usize,
    /// How many of them had other bits when they were computed again.
    pub differing: usize,
    /// The largest difference to the score in double precision, in log units for each site.
    pub largest_difference: f64,
}

/// What a work reaches.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Roofline {
    /// The alignment.
    pub data: String,
    /// The work.
    pub work: String,
    /// Bytes read and written per second, if every CLV is read and written as often as it is an operand or a result.
    pub bytes_per_second: f64,
    /// Operations per second.
    pub operations_per_second: f64,
    /// True if they are in single precision.
    pub is_single: bool,
}

/// Times of one work on one alignment.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct TimeRow {
    /// The alignment.
    pub data: String,
    /// The work.
    pub work: String,
    /// Seconds on the processor.
    pub cpu_seconds: f64,
    /// Seconds on the GPUs.
    pub gpu_seconds: f64,
}

impl SelftestReport {
    /// Number of comparisons with other bits.
    pub(crate) fn num_differing(&self) -> usize {
        let single = self.single.iter().map(|row| row.differing);
        self.agreement.iter().map(|row| row.differing).chain(single).sum()
    }

    /// The tables that a person reads.
    pub(crate) fn tables(&self) -> String {
        let agreement = self.agreement.iter().map(|row| {
            vec![row.partitions.clone(), row.numbers.to_string(), row.differing.to_string()]
        });
        let single = self.single.iter().map(|row| {
            let difference = format!("{:.1e}", row.largest_difference);
            vec![
                row.partitions.clone(),
                row.scores.to_string(),
                row.differing.to_string(),
                difference,
            ]
        });
        let times = self.times.iter().map(|row| {
            let milliseconds = |seconds: f64| format!("{:.3}", 1e3 * seconds);
            let ratio = format!("{:.2}", row.cpu_seconds / row.gpu_seconds);
            let [own, gpu] = [row.cpu_seconds, row.gpu_seconds].map(milliseconds);
            vec![row.data.clone(), row.work.clone(), own, gpu, ratio]
        });
        let own = format!("processor, {} threads [ms]", self.threads);
        let agreement = shown(&["partitions", "numbers", "other bits"], agreement);
        let header = [
            "partitions",
            "scores in single precision",
            "other bits again",
            "difference for a site",
        ];
        let single = shown(&header, single);
        let header = ["data", "work", &own, "GPU [ms]", "ratio"];
        let times = shown(&header, times);
        let (rates, rooflines) = (self.rates_table(), self.rooflines_table());
        format!("GPUs: {}\n\n{agreement}{single}{rates}{rooflines}{times}", self.gpus.join("; "))
    }

    fn rates_table(&self) -> String {
        let rows = self.rates.iter().enumerate().map(|(gpu, rates)| {
            let microseconds = |seconds: f64| format!("{:.2}", 1e6 * seconds);
            let barrier = rates.barrier_seconds.map_or("none".to_string(), microseconds);
            vec![
                gpu.to_string(),
                format!("{:.2}", rates.load_seconds),
                microseconds(rates.launch_seconds),
                microseconds(rates.answer_seconds),
                barrier,
                format!("{:.0}", 1e-9 * rates.copy_bytes_per_second),
                format!("{:.0}", 1e-9 * rates.operations_per_second),
                format!("{:.0}", 1e-9 * rates.single_operations_per_second),
            ]
        });
        let header = [
            "GPU",
            "kernels loaded [s]",
            "launch [us]",
            "answer [us]",
            "barrier [us]",
            "copy [GB/s]",
            "FMA [GFLOP/s]",
            "single FMA [GFLOP/s]",
        ];
        shown(&header, rows)
    }

    fn rooflines_table(&self) -> String {
        let Some(rates) = self.rates.first() else { return String::new() };
        let rows = self.rooflines.iter().map(|row| {
            let of = |rate: f64, best: f64| {
                vec![format!("{:.1}", 1e-9 * rate), format!("{:.0}", 100.0 * rate / best)]
            };
            let mut cells = vec![row.data.clone(), row.work.clone()];
            cells.extend(of(row.bytes_per_second, rates.copy_bytes_per_second));
            let best = match row.is_single {
                true => rates.single_operations_per_second,
                false => rates.operations_per_second,
            };
            cells.extend(of(row.operations_per_second, best));
            cells
        });
        let header = ["data", "work", "GB/s", "% of copy", "GFLOP/s", "% of FMA"];
        shown(&header, rows)
    }
}

/// A table, and an empty line after it; nothing if it has no rows.
fn shown(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() { String::new() } else { table(header, &rows) + "\n" }
}
