//! Codon models: exchange rates between sense codons from kappa and omega, and codon frequencies from
//! those of nucleotides.
//!
//! Codons that differ by more than one nucleotide do not exchange. For a single difference, from
//! nucleotide a to b at position p,
//!
//! ```text
//! q[i][j] = pi[j]      * (kappa if a-b is a transition) * (omega if the amino acid changes)    GY94
//! q[i][j] = pi_p[b]    * (kappa if a-b is a transition) * (omega if the amino acid changes)    MG94
//! ```
//!
//! with codon frequencies pi, and nucleotide frequencies pi_p at position p. GY94 is the model M0 of
//! Goldman & Yang (1994, Mol. Biol. Evol. 11:725) as simplified by Nielsen & Yang (1998, Genetics
//! 148:929), MG94 that of Muse & Gaut (1994, Mol. Biol. Evol. 11:715). Both are reversible; the codon
//! frequencies of MG94 are products of the nucleotides'.

use super::modes::ParamMode;
use crate::alphabet::GeneticCode;

/// Nucleotide frequencies (A C G T) at the three positions of a codon.
pub type PositionFreqs = [[f64; 4]; 3];

/// The two ways to weight a change by frequencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodonModelKind {
    /// Goldman & Yang: by the frequency of the target codon.
    GoldmanYang,
    /// Muse & Gaut: by the frequency of the target nucleotide at its position.
    MuseGaut,
}

/// What makes the exchange rates of a codon model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CodonRates {
    /// Which model.
    pub kind: CodonModelKind,
    /// Which codons are sense, and what they stand for.
    pub code: GeneticCode,
    /// Rate of transitions over that of transversions; `None` if the model has none (it is 1).
    pub kappa: Option<f64>,
    /// Rate of nonsynonymous over that of synonymous changes (dN/dS).
    pub omega: f64,
    /// Whether kappa and omega are estimated.
    pub mode: ParamMode,
}

impl CodonRates {
    /// The exchange rates, upper triangle row by row.
    pub(super) fn exchange_rates(&self, position_freqs: &PositionFreqs) -> Vec<f64> {
        let n = self.code.num_states();
        let mut rates = Vec::with_capacity(n * (n - 1) / 2);
        for i in 0..n {
            for j in i + 1..n {
                rates.push(self.exchange_rate(position_freqs, i, j));
            }
        }
        rates
    }

    fn exchange_rate(&self, position_freqs: &PositionFreqs, i: usize, j: usize) -> f64 {
        let Some(change) = self.code.change(i, j) else {
            return 0.0;
        };
        let mut rate = if change.is_transition() { self.kappa.unwrap_or(1.0) } else { 1.0 };
        if !self.code.is_synonymous(i, j) {
            rate *= self.omega;
        }
        if self.kind == CodonModelKind::MuseGaut {
            // pi[j] is the product over three positions; two of them must go.
            let nucleotides = self.code.nucleotides(j);
            for position in (0..3).filter(|&position| position != change.position) {
                rate /= position_freqs[position][nucleotides[position]];
            }
        }
        rate
    }
}

/// Frequencies of the sense codons: products of the nucleotides' frequencies at their positions (F3x4;
/// F1x4 if these are equal), stops left out and normalised.
pub(super) fn codon_freqs(code: GeneticCode, position_freqs: &PositionFreqs) -> Vec<f64> {
    let product = |state: usize| -> f64 {
        let nucleotides = code.nucleotides(state);
        (0..3).map(|position| position_freqs[position][nucleotides[position]]).product()
    };
    let products: Vec<f64> = (0..code.num_states()).map(product).collect();
    let sum: f64 = products.iter().sum();
    products.iter().map(|freq| freq / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::EigenModel;

    const FREQS: PositionFreqs =
        [[0.3, 0.2, 0.3, 0.2], [0.1, 0.4, 0.2, 0.3], [0.25, 0.25, 0.1, 0.4]];

    fn state(code: GeneticCode, name: &str) -> usize {
        code.state_names().iter().position(|n| *n == name).unwrap()
    }

    /// Position of (i, j), i < j, in an upper triangle.
    fn at(n: usize, i: usize, j: usize) -> usize {
        i * n - i * (i + 1) / 2 + j - i - 1
    }

    #[test]
    fn rates_are_those_of_the_definition() {
        let code = GeneticCode::STANDARD;
        let n = code.num_states();
        let rate = |kind, a: &str, b: &str| {
            let rates =
                CodonRates { kind, code, kappa: Some(3.0), omega: 0.2, mode: ParamMode::Fixed };
            let (i, j) = (state(code, a), state(code, b));
            let (i, j) = (i.min(j), i.max(j));
            rates.exchange_rates(&FREQS)[at(n, i, j)]
        };
        let gy = CodonModelKind::GoldmanYang;
        assert_eq!(rate(gy, "TTT", "TTC"), 3.0, "synonymous transition (Phe)");
        assert_eq!(rate(gy, "GTT", "GTA"), 1.0, "synonymous transversion (Val)");
        assert!((rate(gy, "ATT", "GTT") - 0.6).abs() < 1e-15, "nonsynonymous transition");
        assert!((rate(gy, "ATT", "AAT") - 0.2).abs() < 1e-15, "nonsynonymous transversion");
        assert_eq!(rate(gy, "TTT", "TCC"), 0.0, "two nucleotides differ");
        // q = s * pi[j] is, up to one factor for all, the frequency of the new nucleotide.
        let mg = CodonModelKind::MuseGaut;
        let s = rate(mg, "ATT", "GTT");
        let pi = FREQS[0][2] * FREQS[1][3] * FREQS[2][3];
        assert!((s * pi - 0.6 * FREQS[0][2]).abs() < 1e-15);
    }

    #[test]
    fn muse_gaut_is_reversible_with_products_of_nucleotide_frequencies() {
        let code = GeneticCode::from_number(2).unwrap();
        let freqs = codon_freqs(code, &FREQS);
        assert!((freqs.iter().sum::<f64>() - 1.0).abs() < 1e-14 && freqs.len() == 60);
        let rates = CodonRates {
            kind: CodonModelKind::MuseGaut,
            code,
            kappa: Some(2.0),
            omega: 0.5,
            mode: ParamMode::Fixed,
        };
        let eigen = EigenModel::new(&rates.exchange_rates(&FREQS), &freqs);
        let p = eigen.transition_probabilities(0.3);
        for i in 0..60 {
            assert!((p[i * 60..(i + 1) * 60].iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}
