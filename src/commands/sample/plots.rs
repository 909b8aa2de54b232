//! Plots of a sample: traces, splits of run against run, and how the runs came to agree.

use crate::output::{Panel, Series, draw};
use crate::sampler::SplitSummary;

/// Most columns that are drawn; the files of samples have all of them.
const MOST_TRACES: usize = 40;
/// Panels beside each other.
const BESIDE: usize = 2;

/// Every column over the generations, a line for each run; what was left aside is grey.
pub(crate) fn draw_traces(
    names: &[String],
    generations: &[Vec<u64>],
    columns: &[Vec<Vec<f64>>],
    burnin: usize,
) -> String {
    let series = |column: usize| {
        columns.iter().zip(generations).map(move |(columns, generations)| {
            let values = generations.iter().zip(&columns[column]);
            let points = values.map(|(generation, value)| [*generation as f64, *value]).collect();
            Series { points, is_line: true, ..Series::default() }
        })
    };
    // The way from the starting tree would leave no room for the rest.
    let least = |column: usize| {
        let late = |columns: &Vec<Vec<f64>>| columns[column].get(burnin / 2..).map(<[f64]>::to_vec);
        columns.iter().filter_map(late).flatten().fold(f64::INFINITY, f64::min)
    };
    let panel = |(column, name): (usize, &String)| {
        let mut series: Vec<Series> = series(column).collect();
        if name == "LnL" {
            let least = least(column);
            series.iter_mut().for_each(|one| one.points.retain(|point| point[1] >= least));
        }
        Panel {
            title: name.clone(),
            x_label: "generation".to_string(),
            series,
            grey_until: generations.first().and_then(|run| run.get(burnin)).map(|one| *one as f64),
            ..Panel::default()
        }
    };
    let panels: Vec<Panel> = names.iter().enumerate().take(MOST_TRACES).map(panel).collect();
    let left_aside = format!("Samples of {} runs; grey: left aside", columns.len());
    draw(&left_aside, &panels, BESIDE)
}

/// The frequencies of all splits in each other run against those in the first.
pub(crate) fn draw_splits(splits: &[SplitSummary]) -> String {
    let runs = splits.first().map_or(0, |split| split.of_runs.len());
    let panel = |run: usize| {
        let point = |split: &SplitSummary| [split.of_runs[0], split.of_runs[run]];
        Panel {
            title: format!("run {}", run + 1),
            x_label: "run 1".to_string(),
            least_range: Some([[0.0, 1.0]; 2]),
            series: vec![Series {
                points: splits.iter().map(point).collect(),
                is_line: false,
                ..Series::default()
            }],
            dashed: Some([[0.0, 0.0], [1.0, 1.0]]),
            ..Panel::default()
        }
    };
    let panels: Vec<Panel> = (1..runs).map(panel).collect();
    draw("Frequencies of splits", &panels, BESIDE)
}

/// The average standard deviation of split frequencies at every comparison.
pub(crate) fn draw_asdsf(asdsf: &[[f64; 2]], good: f64) -> String {
    let end = asdsf.last().map_or(1.0, |last| last[0]);
    let panel = Panel {
        title: format!("dashed: {good}"),
        x_label: "generation".to_string(),
        least_range: Some([[0.0, end], [0.0, 2.0 * good]]),
        series: vec![Series { points: asdsf.to_vec(), is_line: true, ..Series::default() }],
        dashed: Some([[0.0, good], [end, good]]),
        ..Panel::default()
    };
    draw("Average standard deviation of split frequencies", &[panel], 1)
}
