//! Correction of ascertainment bias in the log-likelihood of one partition (Lewis 2001, Syst Biol 50:913): the
//! contribution of the constant sites, which were excluded from the alignment.
//!
//! A *constant* pattern has the same state in all taxa of the partition. There are at most 64 of these patterns,
//! so an engine keeps them in a separate block after the last block of sites. Let S be the sum of their
//! likelihoods. Under Lewis's and Felsenstein's corrections this block adds a function of S
//! ([`Correction`]) to the partition's log-likelihood; under Stamatakis's correction it adds the patterns'
//! log-likelihoods, weighted by the numbers of excluded sites, as other blocks do. The order of the sums
//! over the other blocks does not depend on the correction, and no code above an engine treats corrected
//! partitions differently.
//!
//! The formulas are given at [`crate::model::Ascertainment`].

use super::data::PartitionData;
use crate::alphabet::Code;
use crate::model::Ascertainment;
use mlsearch_kernels::elementary::ln;
use mlsearch_kernels::scaling::{LN_FACTOR, factor};

/// A correction that is a function of S, the sum of the likelihoods of a partition's constant patterns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Correction {
    /// −n·ln(1 − S): the likelihood of each of the n sites is conditional on the site being variable.
    Lewis {
        /// n, the number of sites of the alignment.
        sites: f64,
    },
    /// m·ln S, for m excluded constant sites.
    Felsenstein {
        /// m, the number of excluded sites.
        sites: f64,
    },
}

impl Correction {
    /// The partition's correction, if it has one that is a function of S.
    pub fn of(data: &PartitionData) -> Option<Self> {
        match data.ascertainment {
            Some(Ascertainment::Lewis) => {
                Some(Correction::Lewis { sites: data.weights.iter().sum() })
            }
            Some(Ascertainment::Felsenstein(sites)) => Some(Correction::Felsenstein { sites }),
            Some(Ascertainment::Stamatakis(_)) | None => None,
        }
    }

    /// The same correction after the partition's number of sites has changed (by new pattern weights).
    pub fn with_sites(self, num_sites: f64) -> Self {
        match self {
            Correction::Lewis { .. } => Correction::Lewis { sites: num_sites },
            // The number of excluded sites does not depend on the weights of the others.
            Correction::Felsenstein { .. } => self,
        }
    }

    /// The correction and its first and second derivative with respect to a branch length, from S, S′ and S″, times
    /// 2^(256·`count`). (Mirrored by `cuda/derivatives.cu`.)
    pub fn of_sum(self, [sum, first, second]: [f64; 3], count: u32) -> [f64; 3] {
        let (slope, curvature) = (first / sum, second / sum);
        match self {
            Correction::Felsenstein { sites: 0.0 } => [0.0; 3],
            Correction::Felsenstein { sites } => {
                let log_sum = ln(&[sum])[0] - f64::from(count) * LN_FACTOR;
                [sites * log_sum, sites * slope, sites * (curvature - slope * slope)]
            }
            Correction::Lewis { sites } => {
                let constant = sum * factor(count);
                // At least machine epsilon: if all branches are very short, S may be rounded to 1, and the logarithm must
                // remain finite.
                let variable = (1.0 - constant).max(f64::EPSILON);
                let odds = constant / variable;
                // S is 0 (at least after rounding), and the derivatives of ln S may be NaN.
                if odds == 0.0 {
                    return [0.0; 3];
                }
                let change = odds * slope;
                [
                    -sites * ln(&[variable])[0],
                    sites * change,
                    sites * change.mul_add(change, odds * curvature),
                ]
            }
        }
    }

    /// The share of each site of the alignment in the correction's value.
    pub fn of_site(self, value: f64) -> f64 {
        match self {
            Correction::Lewis { sites } => value / sites,
            Correction::Felsenstein { .. } => 0.0,
        }
    }
}

impl PartitionData {
    /// The partition's constant patterns: pattern k has state k at every tip. Its weight is the number of excluded
    /// sites with state k if these numbers are known (Stamatakis's correction), otherwise 1. Tips without
    /// any data are undetermined here too, so S is the same for the tree of all taxa and the restricted
    /// tree. `None` if the model has no correction of ascertainment bias.
    pub fn constant_patterns(&self) -> Option<PartitionData> {
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
        Some(PartitionData {
            tip_codes: self.tip_codes.iter().map(row).collect(),
            weights,
            ascertainment: None,
            pattern_freqs: None,
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
        // S(t) = 0.2 + 0.6·e^(−2t).
        let sum = |t: f64| 0.2 + 0.6 * libm::exp(-2.0 * t);
        let t = 0.3;
        let decay = 0.6 * libm::exp(-2.0 * t);
        let given = [sum(t), -2.0 * decay, 4.0 * decay];
        let lewis = |t| -70.0 * libm::log(1.0 - sum(t));
        let felsenstein = |t| 50.0 * libm::log(sum(t));
        let check = |correction: Correction, formula: &dyn Fn(f64) -> f64| {
            let [value, first, second] = correction.of_sum(given, 0);
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
        assert_eq!(lewis.of_sum([0.5, -3.0, 5.0], 80), [0.0; 3]);
        assert_eq!(lewis.of_sum([0.0, 0.0, 0.0], 0), [0.0; 3]);
        assert!(lewis.of_sum([1.0, -1.0, 1.0], 0).iter().all(|x| x.is_finite()));
        let felsenstein = Correction::Felsenstein { sites: 10.0 };
        let [value, first, second] = felsenstein.of_sum([1.0, -3.0, 5.0], 80);
        assert_eq!([value, first, second], [-800.0 * LN_FACTOR, -30.0, -40.0]);
    }
}
