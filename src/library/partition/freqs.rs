//! Empirical state frequencies of one partition.
//!
//! Counted over the taxa that have data there. Undetermined cells say nothing and are ignored; an ambiguous cell is
//! shared among its states in proportion to their frequencies, which is the EM algorithm's fixed point:
//!
//! ```text
//! f_i  <-  Σ_codes n(code) · f_i·[i in code] / Σ_(j in code) f_j   /   Σ_codes n(code)
//! ```
//!
//! It is run to convergence. Peers stop early or count gaps, so their values differ on gappy data.

use crate::alignment::Patterns;
use crate::alphabet::DataType;
use crate::model::{FreqsMode, Model};

/// Smallest frequency: a state that was never seen must stay possible.
const MIN_FREQ: f64 = 1e-4;
/// EM stops when no frequency changes by more than this.
const EM_TOLERANCE: f64 = 1e-12;
/// EM converges linearly; only data that are nearly all ambiguous need more than a few dozen rounds.
const MAX_EM_ROUNDS: usize = 100_000;

/// Frequencies of the states, summing to 1, and the states that had to be raised to the floor of 1e-4 (ascending;
/// the caller warns). Without any determined cell all states are equally frequent and none counts as raised.
pub(super) fn empirical_freqs(patterns: &Patterns, num_states: usize) -> (Vec<f64>, Vec<usize>) {
    let Some(mut freqs) = counted_freqs(patterns, num_states) else {
        return (vec![1.0 / num_states as f64; num_states], Vec::new());
    };
    let raised: Vec<usize> = (0..num_states).filter(|&state| freqs[state] < MIN_FREQ).collect();
    for &state in &raised {
        freqs[state] = MIN_FREQ;
    }
    let sum: f64 = freqs.iter().sum();
    freqs.iter_mut().for_each(|freq| *freq /= sum);
    (freqs, raised)
}

/// Gives a model the frequencies it wants counted; those to be optimised start there, too. Returns the states
/// whose empirical frequencies had to be raised (ascending; the caller warns).
pub fn count_freqs(model: &mut Model, patterns: &Patterns) -> Vec<usize> {
    match model.freqs_mode {
        FreqsMode::Empirical | FreqsMode::Optimized => {
            let (freqs, raised) = empirical_freqs(patterns, model.num_states());
            model.set_freqs(&freqs);
            if model.freqs_mode == FreqsMode::Empirical { raised } else { Vec::new() }
        }
        FreqsMode::F1x4 { counted: true } | FreqsMode::F3x4 { counted: true } => {
            let mut freqs = nucleotide_freqs(patterns).expect("models with F3x4 are of codons");
            if matches!(model.freqs_mode, FreqsMode::F1x4 { .. }) {
                let mean = |i: usize| freqs.iter().map(|of| of[i]).sum::<f64>() / 3.0;
                freqs = [std::array::from_fn(mean); 3];
            }
            for freq in freqs.as_flattened_mut() {
                *freq = freq.max(MIN_FREQ);
            }
            model.set_position_freqs(&freqs);
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// `[position][nucleotide]`: frequencies of A, C, G, T at the three positions of codons, each position's summing
/// to 1 (F3x4; their mean over positions is F1x4). `None` unless these are codons.
///
/// Every nucleotide that is certain is counted where it stands, those of codons known in part as well; ambiguous
/// ones are ignored, and no floor is applied. A position without any certain nucleotide has equal frequencies.
pub(super) fn nucleotide_freqs(patterns: &Patterns) -> Option<[[f64; 4]; 3]> {
    let DataType::Codon(code) = patterns.data_type else {
        return None;
    };
    let mut counts = [[0u64; 4]; 3];
    for (count, &mask) in count_codes(patterns).into_iter().zip(&patterns.code_masks) {
        let mut possible = [0u8; 3];
        for state in (0..code.num_states()).filter(|state| mask >> state & 1 == 1) {
            for (set, nucleotide) in possible.iter_mut().zip(code.nucleotides(state)) {
                *set |= 1 << nucleotide;
            }
        }
        for (counts, set) in counts.iter_mut().zip(possible) {
            if set.is_power_of_two() {
                counts[set.trailing_zeros() as usize] += count;
            }
        }
    }
    Some(counts.map(|counts| match counts.iter().sum::<u64>() {
        0 => [0.25; 4],
        sum => counts.map(|count| count as f64 / sum as f64),
    }))
}

/// The EM algorithm's fixed point, `None` without any determined cell.
fn counted_freqs(patterns: &Patterns, num_states: usize) -> Option<Vec<f64>> {
    let mut freqs = vec![1.0 / num_states as f64; num_states];
    // (states possible, number of cells), for the codes that say something
    let counts: Vec<(u64, u64)> = count_codes(patterns)
        .into_iter()
        .zip(&patterns.code_masks)
        .filter(|&(count, &mask)| count > 0 && (mask.count_ones() as usize) < num_states)
        .map(|(count, &mask)| (mask, count))
        .collect();
    if counts.is_empty() {
        return None;
    }
    for _ in 0..MAX_EM_ROUNDS {
        let next = improve(&freqs, &counts);
        let change = freqs.iter().zip(&next).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        freqs = next;
        if change <= EM_TOLERANCE {
            break;
        }
    }
    Some(freqs)
}

/// `[code]`: number of cells, exactly.
fn count_codes(patterns: &Patterns) -> Vec<u64> {
    let mut counts = vec![0; patterns.code_masks.len()];
    for row in &patterns.codes {
        for (&code, &weight) in row.iter().zip(&patterns.weights) {
            counts[code as usize] += u64::from(weight);
        }
    }
    counts
}

/// One round of EM.
fn improve(freqs: &[f64], counts: &[(u64, u64)]) -> Vec<f64> {
    let mut shares = vec![0.0; freqs.len()];
    let mut total = 0.0;
    for &(mask, count) in counts {
        let possible = || (0..freqs.len()).filter(|state| mask >> state & 1 == 1);
        let sum: f64 = possible().map(|state| freqs[state]).sum();
        for state in possible() {
            shares[state] += count as f64 * (freqs[state] / sum);
        }
        total += count as f64;
    }
    shares.iter_mut().for_each(|share| *share /= total);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alphabet::{DataType, Encoder};

    fn freqs(rows: &[&str]) -> (Vec<f64>, Vec<usize>) {
        let patterns =
            Patterns::compress(DataType::Dna, rows.len(), rows[0].len(), |taxon, codes| {
                for (code, byte) in codes.iter_mut().zip(rows[taxon].bytes()) {
                    *code = DataType::Dna.encode(byte).unwrap();
                }
            });
        empirical_freqs(&patterns, 4)
    }

    fn assert_close(found: &[f64], expected: [f64; 4]) {
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-11, "{found:?} {expected:?}");
        }
    }

    #[test]
    fn gaps_are_ignored_and_weights_counted() {
        let (found, raised) = freqs(&["AAAACCGT--", "----------", "AANNNN-?GG"]);
        assert_close(&found, [0.5, 1.0 / 6.0, 0.25, 1.0 / 12.0]);
        assert!(raised.is_empty());
    }

    #[test]
    fn ambiguities_are_shared_at_the_fixed_point() {
        // A 3, G 1, R 4: R is shared 3 to 1, so A 6, G 2; C and T are 1 each.
        let (found, raised) = freqs(&["AAAGRRRRCT"]);
        assert_close(&found, [0.6, 0.1, 0.2, 0.1]);
        assert!(raised.is_empty());
        // Y alone cannot say more than half and half, and B must not disturb it.
        let (found, _) = freqs(&["AAYYGG"]);
        assert_close(&found, [1.0 / 3.0, 1.0 / 6.0, 1.0 / 3.0, 1.0 / 6.0]);
    }

    #[test]
    fn unseen_states_are_raised_to_the_floor_and_named() {
        let (found, raised) = freqs(&["ACAC"]);
        assert_eq!(raised, [2, 3]);
        let scale = 1.0 + 2e-4;
        assert_close(&found, [0.5 / scale, 0.5 / scale, 1e-4 / scale, 1e-4 / scale]);
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn no_data_means_equal_frequencies() {
        assert_eq!(freqs(&["--N?"]), (vec![0.25; 4], vec![]));
    }

    #[test]
    fn sixty_four_states_are_counted_too() {
        let data_type = DataType::multistate(64).unwrap();
        let row = data_type.state_names().concat() + "-?";
        let patterns = Patterns::compress(data_type, 1, 66, |_, codes| {
            for (code, byte) in codes.iter_mut().zip(row.bytes()) {
                *code = data_type.encode(byte).unwrap();
            }
        });
        let (found, raised) = empirical_freqs(&patterns, 64);
        assert!(raised.is_empty());
        assert!(found.iter().all(|freq| (freq - 1.0 / 64.0).abs() < 1e-12), "{found:?}");
        assert_eq!(nucleotide_freqs(&patterns), None);
    }

    #[test]
    fn nucleotides_of_codons_are_counted_by_position() {
        let data_type = DataType::codon(1).unwrap();
        let freqs = |codons: &[&[u8]]| {
            let mut encoder = Encoder::new(data_type);
            let found: Vec<_> = codons.iter().map(|codon| encoder.learn(codon).unwrap()).collect();
            let masks = encoder.code_masks().to_vec();
            let patterns = Patterns::compress_with(data_type, masks, 1, found.len(), |_, codes| {
                codes.copy_from_slice(&found);
            });
            nucleotide_freqs(&patterns).unwrap()
        };
        let found = freqs(&[b"ATG", b"CTA", b"CTC", b"C-C", b"RTG", b"---"]);
        assert_close(&found[0], [0.25, 0.75, 0.0, 0.0]);
        assert_close(&found[1], [0.0, 0.0, 0.0, 1.0]);
        assert_close(&found[2], [0.2, 0.4, 0.4, 0.0]);
        assert_eq!(freqs(&[b"---"]), [[0.25; 4]; 3]);
    }
}
