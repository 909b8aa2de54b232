//! The discretised gamma distribution of rates over sites, and the incomplete gamma function that it
//! needs.
//!
//! The `puruspe` and `statrs` crates offer the incomplete gamma function too, but call the platform's
//! `exp` and `ln`, whose last bits differ between machines; the implementation here uses `libm`.

/// The rate that represents a category.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GammaMode {
    /// The mean rate of the category (the default everywhere).
    Mean,
    /// The median rate of the category, all medians rescaled to mean 1.
    Median,
}

/// Rates of `num_cats` equally probable categories of a gamma distribution with shape `alpha` and
/// mean 1, ascending, with mean exactly 1 (up to rounding).
///
/// Yang (1994), J. Mol. Evol. 39:306-314. Meant for `alpha` in [0.02, 1000]; all rates are positive
/// and finite there (the lowest may be as small as 1e-200).
///
/// # Panics
///
/// If `alpha` is not a positive number or `num_cats` is 0.
pub fn discrete_gamma(alpha: f64, num_cats: usize, mode: GammaMode) -> Vec<f64> {
    assert!(alpha > 0.0 && alpha.is_finite(), "gamma shape {alpha}");
    assert!(num_cats > 0, "a gamma distribution in 0 categories");
    let cats = num_cats as f64;
    let mut rates = Vec::with_capacity(num_cats);
    match mode {
        GammaMode::Mean => {
            // The mean of x over a slice of Gamma(alpha) is a slice of Gamma(alpha + 1).
            let mut below = 0.0;
            for cat in 1..=num_cats {
                let upto = if cat == num_cats {
                    1.0
                } else {
                    let ln_bound = ln_quantile(alpha, cat as f64 / cats);
                    libm::exp(ln_lower_gamma(alpha + 1.0, ln_bound))
                };
                rates.push((upto - below) * cats);
                below = upto;
            }
        }
        GammaMode::Median => {
            for cat in 0..num_cats {
                let p = (2 * cat + 1) as f64 / (2.0 * cats);
                rates.push(libm::exp(ln_quantile(alpha, p)) / alpha);
            }
        }
    }
    let mean = rates.iter().sum::<f64>() / cats;
    for rate in &mut rates {
        *rate /= mean;
    }
    rates
}

/// ln P(a, x) at ln x, where P is the regularised lower incomplete gamma function.
///
/// Series below a + 1, continued fraction (Lentz's method) above: Abramowitz & Stegun 6.5.29 and
/// 6.5.31.
fn ln_lower_gamma(a: f64, ln_x: f64) -> f64 {
    let x = libm::exp(ln_x);
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0, 1.0, a);
        while term > sum * 1e-17 {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        a * ln_x - x - libm::lgamma(a + 1.0) + libm::log(sum)
    } else {
        const TINY: f64 = 1e-300;
        let mut b = x + 1.0 - a;
        let mut c = 1.0 / TINY;
        let mut d = 1.0 / b;
        let mut fraction = d;
        for i in 1..10_000 {
            let i = f64::from(i);
            let numerator = i * (a - i);
            b += 2.0;
            d = numerator * d + b;
            d = 1.0 / if d.abs() < TINY { TINY } else { d };
            c = b + numerator / c;
            if c.abs() < TINY {
                c = TINY;
            }
            fraction *= c * d;
            if (c * d - 1.0).abs() < 1e-16 {
                break;
            }
        }
        let upper = libm::exp(a * ln_x - x - libm::lgamma(a)) * fraction;
        libm::log1p(-upper.min(1.0))
    }
}

/// ln x such that P(a, x) = p, for 0 < p < 1.
///
/// Newton's method on ln P as a function of ln x. That function is concave (the density of ln x is
/// log-concave) and the start x^a / Gamma(a + 1) = p lies left of the root, because P(a, x) is at
/// most x^a / Gamma(a + 1): so the steps go right only, never overshoot, and need no bracket.
fn ln_quantile(a: f64, p: f64) -> f64 {
    let ln_p = libm::log(p);
    let mut ln_x = (ln_p + libm::lgamma(a + 1.0)) / a;
    for _ in 0..200 {
        let ln_lower = ln_lower_gamma(a, ln_x);
        let slope = libm::exp(a * ln_x - libm::exp(ln_x) - libm::lgamma(a) - ln_lower);
        let step = (ln_p - ln_lower) / slope;
        // A step that is not a clear step right is rounding: this is the root.
        let clear = step > 4.0 * f64::EPSILON * ln_x.abs().max(1.0);
        if !clear {
            break;
        }
        ln_x += step;
    }
    ln_x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: &[f64], expected: &[f64], tolerance: f64) {
        assert_eq!(got.len(), expected.len());
        for (g, e) in got.iter().zip(expected) {
            assert!((g - e).abs() <= tolerance * e.abs(), "{got:?} against {expected:?}");
        }
    }

    #[test]
    fn yang_1994_mean_rates() {
        let rates = discrete_gamma(0.5, 4, GammaMode::Mean);
        close(&rates, &[0.03339, 0.25192, 0.82027, 2.89443], 2e-4);
    }

    #[test]
    fn shape_1_has_closed_forms() {
        let quarter = |i: f64| libm::log(4.0 / (4.0 - i));
        let tail = |i: f64| {
            if i == 4.0 { 0.0 } else { (quarter(i) + 1.0) * (4.0 - i) / 4.0 }
        };
        let means: Vec<f64> =
            (0..4).map(|i| 4.0 * (tail(f64::from(i)) - tail(f64::from(i + 1)))).collect();
        close(&discrete_gamma(1.0, 4, GammaMode::Mean), &means, 1e-13);
        let medians: Vec<f64> =
            [1.0, 3.0, 5.0, 7.0].iter().map(|i| libm::log(8.0 / (8.0 - i))).collect();
        let mean = medians.iter().sum::<f64>() / 4.0;
        let medians: Vec<f64> = medians.iter().map(|m| m / mean).collect();
        close(&discrete_gamma(1.0, 4, GammaMode::Median), &medians, 1e-13);
    }

    #[test]
    fn quantiles_invert_the_incomplete_gamma_function() {
        for a in [0.02, 0.1, 0.5, 1.0, 3.7, 50.0, 1000.0] {
            for p in [1.0 / 128.0, 0.25, 0.5, 0.9, 127.0 / 128.0] {
                let got = libm::exp(ln_lower_gamma(a, ln_quantile(a, p)));
                assert!((got - p).abs() < 1e-12, "a {a} p {p} got {got}");
                let other = statrs::function::gamma::gamma_lr(a, libm::exp(ln_quantile(a, p)));
                assert!(a < 0.1 || (other - p).abs() < 1e-9, "a {a} p {p} statrs {other}");
            }
        }
    }

    #[test]
    fn series_and_continued_fraction_meet() {
        for a in [0.02, 0.7, 5.0, 300.0, 1001.0] {
            let at = libm::log(a + 1.0);
            let (left, right) = (ln_lower_gamma(a, at - 1e-13), ln_lower_gamma(a, at + 1e-13));
            assert!((left - right).abs() < 1e-11, "a {a}: {left} {right}");
        }
    }

    #[test]
    fn usable_over_the_whole_range_of_shapes() {
        for mode in [GammaMode::Mean, GammaMode::Median] {
            for cats in [1, 2, 4, 8, 25, 64] {
                for alpha in [0.02, 0.0201, 0.05, 0.3, 1.0, 7.0, 99.0, 101.0, 1000.0] {
                    let rates = discrete_gamma(alpha, cats, mode);
                    let mean = rates.iter().sum::<f64>() / cats as f64;
                    assert!((mean - 1.0).abs() < 1e-14);
                    assert!(rates.iter().all(|r| r.is_finite() && *r > 0.0), "{alpha} {rates:?}");
                    assert!(rates.windows(2).all(|w| w[0] < w[1]), "{alpha} {rates:?}");
                }
            }
        }
    }
}
