//! The standard normal distribution.

/// Its density at `z`.
pub fn normal_density(z: f64) -> f64 {
    const ROOT_TWO_PI: f64 = 2.506_628_274_631_000_7;
    libm::exp(-0.5 * z * z) / ROOT_TWO_PI
}

/// The probability of a value above `z`, with its relative accuracy kept far out (positive up to z = 38).
pub fn normal_tail(z: f64) -> f64 {
    0.5 * libm::erfc(z * std::f64::consts::FRAC_1_SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{Continuous, ContinuousCDF};

    #[test]
    fn tail_and_density_are_those_of_statrs() {
        let normal = statrs::distribution::Normal::standard();
        for z in [-3.0, -0.5, 0.0, 1.0, 2.0, 3.0, 6.0] {
            assert!((normal_tail(z) / normal.sf(z) - 1.0).abs() < 1e-10, "{z}");
            assert!((normal_density(z) / normal.pdf(z) - 1.0).abs() < 1e-13, "{z}");
        }
        let (above, below) = (normal_tail(1.5 - 1e-5), normal_tail(1.5 + 1e-5));
        assert!(((above - below) / 2e-5 - normal_density(1.5)).abs() < 1e-9);
        assert!(normal_tail(37.0) > 0.0);
    }
}
