//! How much a series of dependent numbers tells, and whether several series agree.

/// Effective sample size of several series of numbers, the sum over them: the number of independent draws with a mean as
/// precise, by Geyer's initial monotone sequence (1992, Stat. Sci. 7:473). A series that does not vary counts nothing.
pub fn effective_sample_size(series: &[Vec<f64>]) -> f64 {
    series.iter().map(|one| of_one(one)).sum()
}

fn of_one(values: &[f64]) -> f64 {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let deviations: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let covariance = |lag: usize| -> f64 {
        deviations.iter().zip(&deviations[lag..]).map(|(a, b)| a * b).sum::<f64>() / n as f64
    };
    if n < 4 || deviations.iter().all(|deviation| *deviation == 0.0) {
        return 0.0;
    }
    let variance = covariance(0);
    let (mut sum, mut last) = (0.0, f64::INFINITY);
    for lag in (0..n - 1).step_by(2) {
        let pair = (covariance(lag) + covariance(lag + 1)).min(last);
        if pair <= 0.0 {
            break;
        }
        (sum, last) = (sum + pair, pair);
    }
    // The variance of the mean is (2 * sum - variance) / n.
    let inefficiency = (2.0 * sum / variance - 1.0).max(1.0 / n as f64);
    (n as f64 / inefficiency).min(n as f64)
}

/// Potential scale reduction factor of several series of the same length (Gelman & Rubin 1992, Stat. Sci. 7:457): near 1 if
/// they have the same distribution. `None` if they do not vary.
pub fn potential_scale_reduction(series: &[Vec<f64>]) -> Option<f64> {
    let (m, n) = (series.len() as f64, series.first()?.len() as f64);
    if m < 2.0 || n < 2.0 {
        return None;
    }
    let context: Vec<f64> = series.iter().map(|one| one.iter().sum::<f64>() / n).collect();
    let mean = context.iter().sum::<f64>() / m;
    let within =
        series.iter().zip(&context).map(|(one, mean)| variance(one, *mean)).sum::<f64>() / m;
    let between = variance(&context, mean);
    let ratio = (n - 1.0) / n + (m + 1.0) / m * between / within;
    ratio.is_finite().then(|| ratio.sqrt())
}

fn variance(values: &[f64], mean: f64) -> f64 {
    let sum: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    sum / (values.len() as f64 - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};
    use rand::RngExt;

    /// An autoregressive series x' = a x + noise has (1 - a) / (1 + a) effective draws per draw.
    #[test]
    fn the_effective_size_of_an_autoregressive_series_is_known() {
        let mut rng = stream(1, Purpose::Test, 0);
        for a in [0.0, 0.5, 0.9] {
            let n = 40_000;
            let mut value = 0.0;
            let mut next = || {
                value = a * value + rng.random_range(-1.0..1.0);
                value
            };
            let series: Vec<f64> = (0..n).map(|_| next()).collect();
            let expected = f64::from(n) * (1.0 - a) / (1.0 + a);
            let found = effective_sample_size(&[series]);
            assert!((found / expected - 1.0).abs() < 0.15, "{a}: {found}, not {expected}");
        }
        assert_eq!(effective_sample_size(&[vec![1.0; 100]]), 0.0);
    }

    #[test]
    fn series_that_agree_have_a_factor_of_one() {
        let mut rng = stream(2, Purpose::Test, 0);
        let mut series = |shift: f64| -> Vec<f64> {
            (0..1000).map(|_| shift + rng.random_range(0.0..1.0)).collect()
        };
        let (a, b, c) = (series(0.0), series(0.0), series(1.0));
        assert!((potential_scale_reduction(&[a.clone(), b]).unwrap() - 1.0).abs() < 0.01);
        // Two uniform distributions of variance 1/12 a unit apart: sqrt(1 + 3/2 * 1/2 * 12).
        let far = potential_scale_reduction(&[a, c]).unwrap();
        assert!((far - 10.0_f64.sqrt()).abs() < 0.2, "{far}");
        assert_eq!(potential_scale_reduction(&[vec![1.0; 9], vec![1.0; 9]]), None);
    }
}
