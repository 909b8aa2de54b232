//! [`SubsetTraits`]: what is compared of two subsets before their union is fitted.
//!
//! As in relaxed clustering (Lanfear et al. 2014), subsets differ in their overall rate, their exchange rates, their state
//! frequencies, and how much rates differ over sites. Each of the four differences is divided by its spread among the given
//! partitions, so that none of them dominates by its unit; the dissimilarity is the sum of the squares.

use crate::model::{Exchange, Model};

/// Number of traits.
const NUM_TRAITS: usize = 4;
/// A rate that is this part of the largest counts as this part: smaller ones say little.
const LEAST_RATE: f64 = 1e-3;

/// What is compared of subsets.
#[derive(Debug, Clone, PartialEq)]
pub struct SubsetTraits {
    parts: [Vec<f64>; NUM_TRAITS],
}

impl SubsetTraits {
    /// Of a subset's model, and its overall rate: the scaler of shared branch lengths, or the sum of its own.
    pub fn of(model: &Model, rate: f64) -> Self {
        let log = |x: f64| libm::log(x.max(1e-9));
        let exchange = match &model.exchange {
            Exchange::Classes(classes) => centred_logs(&classes.rates),
            Exchange::Table(rates, _) => centred_logs(rates),
            Exchange::Codon(codon) => vec![log(codon.omega), log(codon.kappa.unwrap_or(1.0))],
            Exchange::OfClasses => {
                let first = model.mixture.as_ref().and_then(|mixture| mixture.classes.first());
                first.and_then(|class| class.exchange).map_or(Vec::new(), centred_logs)
            }
        };
        let cats = model.rate_cats();
        let weighted = cats.rates.iter().zip(&cats.weights);
        let mean: f64 = weighted.clone().map(|(r, w)| r * w).sum();
        let square: f64 = weighted.map(|(r, w)| r * r * w).sum();
        let spread = (square - mean * mean).max(0.0).sqrt();
        SubsetTraits { parts: [vec![log(rate)], exchange, model.freqs.clone(), vec![spread]] }
    }

    /// The squared spread of each trait among subsets: the mean squared difference from the mean; 1 where there is none.
    pub(super) fn spreads(all: &[&SubsetTraits]) -> [f64; NUM_TRAITS] {
        std::array::from_fn(|part| {
            let rows: Vec<&Vec<f64>> = all.iter().map(|traits| &traits.parts[part]).collect();
            // Models of different kinds are not compared in this respect.
            let size = rows.first().map_or(0, |row| row.len());
            if size == 0 || rows.iter().any(|row| row.len() != size) {
                return 1.0;
            }
            let count = rows.len() as f64;
            let mean = |i: usize| rows.iter().map(|row| row[i]).sum::<f64>() / count;
            let means: Vec<f64> = (0..size).map(mean).collect();
            let sum: f64 = rows.iter().map(|row| squared_distance(row, &means)).sum();
            if sum > 0.0 { sum / count } else { 1.0 }
        })
    }

    /// How much two subsets differ, in units of these spreads.
    pub(super) fn dissimilarity(&self, other: &SubsetTraits, spreads: &[f64; NUM_TRAITS]) -> f64 {
        let parts = self.parts.iter().zip(&other.parts).zip(spreads);
        parts.map(|((a, b), spread)| squared_distance(a, b) / spread).sum()
    }
}

/// Logarithms of rates, with mean 0.
fn centred_logs(rates: &[f64]) -> Vec<f64> {
    let least = LEAST_RATE * rates.iter().copied().fold(0.0, f64::max);
    let logs: Vec<f64> = rates.iter().map(|&rate| libm::log(rate.max(least))).collect();
    let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
    logs.into_iter().map(|log| log - mean).collect()
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traits(model: &str, rate: f64) -> SubsetTraits {
        SubsetTraits::of(&Model::parse(model).unwrap(), rate)
    }

    #[test]
    fn equal_models_do_not_differ_and_each_trait_counts() {
        let reference = traits("GTR{1/4/1/1/4/1}+FU{.25/.25/.25/.25}+G4{0.5}", 1.0);
        let others = [
            traits("GTR{1/4/1/1/4/1}+FU{.25/.25/.25/.25}+G4{0.5}", 2.0),
            traits("GTR{1/9/1/1/9/1}+FU{.25/.25/.25/.25}+G4{0.5}", 1.0),
            traits("GTR{1/4/1/1/4/1}+FU{.3/.2/.2/.3}+G4{0.5}", 1.0),
            traits("GTR{1/4/1/1/4/1}+FU{.25/.25/.25/.25}+G4{2}", 1.0),
        ];
        let all: Vec<&SubsetTraits> = others.iter().chain([&reference]).collect();
        let spreads = SubsetTraits::spreads(&all);
        assert_eq!(reference.dissimilarity(&reference.clone(), &spreads), 0.0);
        // Each of the others differs in one trait, by the same in units of its spread.
        for other in &others {
            let found = reference.dissimilarity(other, &spreads);
            assert!((found - 6.25).abs() < 1e-9, "{found}");
            assert_eq!(found, other.dissimilarity(&reference, &spreads));
        }
    }
}
