//! The standard normal distribution.

/// Its density at `z`.
pub(crate) fn normal_density(z: f64) -> f64 {
    const ROOT_TWO_PI: f64 = 2.506_628_274_631_000_7;
    libm::exp(-0.5 * z * z) / ROOT_TWO_PI
}

/// The probability of a value above `z`, with its relative accuracy kept far out (positive up to z = 38).
pub(crate) fn normal_tail(z: f64) -> f64 {
    0.5 * libm::erfc(z * std::f64::consts::FRAC_1_SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // Abramowitz & Stegun, table 26.1.
        for (z, tail) in [(0.0, 0.5), (1.0, 0.158_655_253_931_457), (3.0, 0.001_349_898_031_630_1)]
        {
            assert!((normal_tail(z) / tail - 1.0).abs() < 1e-12, "{z}");
            assert!((normal_tail(-z) - (1.0 - tail)).abs() < 1e-12);
        }
        assert!((normal_density(0.0) - 0.398_942_280_401_432_7).abs() < 1e-15);
        assert!((normal_density(2.0) - 0.053_990_966_513_188_06).abs() < 1e-15);
        let (above, below) = (normal_tail(1.5 - 1e-5), normal_tail(1.5 + 1e-5));
        assert!(((above - below) / 2e-5 - normal_density(1.5)).abs() < 1e-9);
        assert!(normal_tail(37.0) > 0.0);
    }
}
