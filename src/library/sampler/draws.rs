//! Random numbers with other than uniform distributions.

use crate::numeric::Gamma;
use crate::rng::Rng;
use rand::RngExt;

/// A draw from the standard normal distribution (Box & Muller 1958).
pub(super) fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * libm::log(1.0 - rng.random::<f64>())).sqrt();
    radius * libm::cos(std::f64::consts::TAU * rng.random::<f64>())
}

/// A number with this distribution (Marsaglia & Tsang 2000, ACM Trans. Math. Softw. 26:363).
pub(super) fn draw_gamma(Gamma { shape, rate }: Gamma, rng: &mut Rng) -> f64 {
    if shape < 1.0 {
        let above = draw_gamma(Gamma { shape: shape + 1.0, rate }, rng);
        return above * libm::pow(1.0 - rng.random::<f64>(), 1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let x = normal(rng);
        let v = 1.0 + c * x;
        let v = v * v * v;
        let u = 1.0 - rng.random::<f64>();
        if v > 0.0 && libm::log(u) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v / rate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_distribution;
    use super::*;
    use crate::rng::{Purpose, stream};

    /// The distribution function of a gamma distribution of shape 1/2, 1 or 3.
    fn below(shape: f64, x: f64) -> f64 {
        match shape {
            0.5 => libm::erf(libm::sqrt(x)),
            1.0 => 1.0 - libm::exp(-x),
            _ => 1.0 - libm::exp(-x) * (1.0 + x + 0.5 * x * x),
        }
    }

    #[test]
    fn numbers_have_their_gamma_distribution() {
        let mut rng = stream(44, Purpose::Test, 0);
        for shape in [0.5, 1.0, 3.0] {
            let gamma = Gamma { shape, rate: 20.0 };
            let drawn = (0..5000).map(|_| draw_gamma(gamma, &mut rng)).collect();
            assert_distribution(drawn, |x| below(shape, 20.0 * x), "gamma");
        }
    }
}
