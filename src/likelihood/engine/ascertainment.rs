//! Ascertainment bias in the likelihood of one gene: what the sites that were left out contribute.
//!
//! The patterns left out are *constant*: all taxa of the gene show the same state. There are never more
//! than 64 of them, so an engine keeps them in one block of their own behind the block of the last
//! site. What that block adds to the gene's log-likelihood is, with S the sum of their likelihoods, a
//! function of S ([`Correction`]) where other blocks add logarithms; for Stamatakis's correction it is
//! logarithms too, weighted by the numbers of sites left out. So sums over sites keep their bits, and
//! neither the order of sums nor anything above an engine knows of a correction.
//!
//! Formulas: [`crate::model::Ascertainment`].

use super::data::GeneData;
use crate::alphabet::Code;
use crate::model::Ascertainment;

/// What a gene's constant patterns add to its log-likelihood, given the sum S of their likelihoods.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Correction {
    /// −n·ln(1 − S): each of the n sites is conditional on being variable.
    Lewis {
        /// n, the sites that were kept.
        sites: f64,
    },
    /// m·ln S, of m sites that were left out.
    Felsenstein {
        /// m.
        sites: f64,
    },
}

impl Correction {
    /// The gene's correction, if it is one by S.
    pub fn of(data: &GeneData) -> Option<Self> {
        match data.ascertainment {
            Some(Ascertainment::Lewis) => {
                Some(Correction::Lewis { sites: data.weights.iter().sum() })
            }
            Some(Ascertainment::Felsenstein(sites)) => Some(Correction::Felsenstein { sites }),
            Some(Ascertainment::Stamatakis(_)) | None => None,
        }
    }

    /// The same correction of a gene that has so many sites now.
    pub fn with_sites(self, num_sites: f64) -> Self {
        match self {
            Correction::Lewis { .. } => Correction::Lewis { sites: num_sites },
            // How many sites were left out does not depend on the others.
            Correction::Felsenstein { .. } => self,
        }
    }

    /// Value and two derivatives with respect to a branch, from ln S, S′/S and S″/S.
    pub fn of_sum(self, [log_sum, first, second]: [f64; 3]) -> [f64; 3] {
        match self {
            Correction::Felsenstein { sites: 0.0 } => [0.0; 3],
            Correction::Felsenstein { sites } => {
                [sites * log_sum, sites * first, sites * (second - first * first)]
            }
            Correction::Lewis { sites } => {
                let variable = variable_probability(log_sum);
                let odds = libm::exp(log_sum) / variable;
                // No constant pattern can be had at all: the derivatives of ln S are not numbers.
                if odds == 0.0 {
                    return [0.0; 3];
                }
                let slope = odds * first;
                [
                    -sites * libm::log(variable),
                    sites * slope,
                    sites * slope.mul_add(slope, odds * second),
                ]
            }
        }
    }

    /// Every single site's part of the correction's value. Sites that were left out are none of them.
    pub fn of_site(self, value: f64) -> f64 {
        match self {
            Correction::Lewis { sites } => value / sites,
            Correction::Felsenstein { .. } => 0.0,
        }
    }
}

/// 1 − S. Rounding can bring S to 1 when no branch has any length; the logarithm stays a number.
fn variable_probability(log_sum: f64) -> f64 {
    (-libm::expm1(log_sum)).max(f64::EPSILON)
}

impl GeneData {
    /// The patterns that were left out of the gene's data: pattern k has state k at every tip, and its
    /// weight is the number of sites left out or, where that is not known by state, 1. A tip
    /// that has no data at all is undetermined: computed on all taxa or on the gene's own, S is the
    /// same. `None` if nothing was left out.
    pub fn constant_patterns(&self) -> Option<GeneData> {
        let weights = match self.ascertainment.as_ref()? {
            Ascertainment::Stamatakis(counts) => counts.clone(),
            Ascertainment::Lewis | Ascertainment::Felsenstein(_) => vec![1.0; self.num_states],
        };
        let code = |state| {
            let code = self.code_masks.iter().position(|&mask| mask == 1u64 << state);
            code.expect("every state has a code") as Code
        };
        let states: Vec<Code> = (0..self.num_states).map(code).collect();
        let row = |codes: &Vec<Code>| match codes.iter().all(|&code| code == self.undetermined) {
            true => vec![self.undetermined; self.num_states],
            false => states.clone(),
        };
        Some(GeneData {
            tip_codes: self.tip_codes.iter().map(row).collect(),
            weights,
            ascertainment: None,
            code_masks: self.code_masks.clone(),
            ..*self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrections_and_their_derivatives_are_those_of_the_formulas() {
        // S(t) = 0.2 + 0.6·e^(−2t), in plain arithmetic and through logarithms.
        let sum = |t: f64| 0.2 + 0.6 * libm::exp(-2.0 * t);
        let t = 0.3;
        let decay = 0.6 * libm::exp(-2.0 * t);
        let given = [libm::log(sum(t)), -2.0 * decay / sum(t), 4.0 * decay / sum(t)];
        let lewis = |t| -70.0 * libm::log(1.0 - sum(t));
        let felsenstein = |t| 50.0 * libm::log(sum(t));
        let check = |correction: Correction, formula: &dyn Fn(f64) -> f64| {
            let [value, first, second] = correction.of_sum(given);
            let h = 1e-4;
            let slope = (formula(t + h) - formula(t - h)) / (2.0 * h);
            let curvature = (formula(t + h) - 2.0 * formula(t) + formula(t - h)) / (h * h);
            assert!((value - formula(t)).abs() < 1e-11);
            assert!((first - slope).abs() < 1e-5 && (second - curvature).abs() < 1e-4);
        };
        check(Correction::Lewis { sites: 70.0 }, &lewis);
        check(Correction::Felsenstein { sites: 50.0 }, &felsenstein);
    }

    #[test]
    fn sums_out_of_the_range_of_numbers_give_numbers() {
        let lewis = Correction::Lewis { sites: 10.0 };
        assert_eq!(lewis.of_sum([-20000.0, -3.0, 5.0]), [0.0; 3]);
        assert_eq!(lewis.of_sum([f64::NEG_INFINITY, f64::NAN, f64::NAN]), [0.0; 3]);
        assert!(lewis.of_sum([0.0, -1.0, 1.0]).iter().all(|x| x.is_finite()));
        let felsenstein = Correction::Felsenstein { sites: 10.0 };
        assert_eq!(felsenstein.of_sum([-20000.0, -3.0, 5.0]), [-200000.0, -30.0, -40.0]);
    }
}
