//! The order of a partition's patterns: similar ones next to each other.
//!
//! Likelihood vectors store one row for all patterns of a block that agree in a subtree (site repeats). The more
//! similar the patterns of a block are, the more of them agree.

use crate::alphabet::Code;

/// Patterns whose codes are counted at a time, so that the rows of all tips are read in their order.
const AT_A_TIME: usize = 128;

/// Sorts patterns by their most frequent code (the smallest of equally frequent ones), then by the number of tips
/// with another code; missing data count as neither. `codes` are `[tip][pattern]`, all below `num_codes`. Returns
/// the patterns in their new order, in which equal ones keep their old one.
pub(super) fn by_similarity(
    codes: &[Vec<Code>],
    num_patterns: usize,
    num_codes: usize,
    undetermined: Code,
) -> Vec<u32> {
    let mut keys = Vec::with_capacity(num_patterns);
    let mut counts = vec![0_u32; AT_A_TIME * num_codes];
    for first in (0..num_patterns).step_by(AT_A_TIME) {
        let end = num_patterns.min(first + AT_A_TIME);
        counts.fill(0);
        for row in codes {
            for (&code, counts) in row[first..end].iter().zip(counts.chunks_exact_mut(num_codes)) {
                counts[usize::from(code)] += 1;
            }
        }
        for counts in counts.chunks_exact_mut(num_codes).take(end - first) {
            counts[usize::from(undetermined)] = 0;
            let most_frequent = (0..num_codes).rev().max_by_key(|&code| counts[code]);
            let most_frequent = most_frequent.expect("there are codes");
            let others = counts.iter().sum::<u32>() - counts[most_frequent];
            keys.push((most_frequent, others));
        }
    }
    let mut order: Vec<u32> = (0..num_patterns as u32).collect();
    order.sort_by_key(|&pattern| keys[pattern as usize]);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_with_the_same_frequent_code_are_neighbours_the_most_conserved_first() {
        //  pattern:  0  1  2  3  4  5
        let codes = [
            vec![3, 0, 3, 9, 0, 1],
            vec![3, 0, 2, 9, 0, 0],
            vec![2, 1, 9, 9, 9, 1],
            vec![9, 1, 3, 9, 0, 0],
        ];
        // Frequent code and others: (3, 1), (0, 2), (3, 1), none (0, 0), (0, 0), (0, 2).
        assert_eq!(by_similarity(&codes, 6, 10, 9), [3, 4, 1, 5, 0, 2]);
        assert_eq!(by_similarity(&[], 1, 10, 9), [0]);
        let many: Vec<Code> = (0..300).map(|i| (i % 3) as Code).collect();
        let order = by_similarity(std::slice::from_ref(&many), 300, 4, 3);
        assert!(order.windows(2).all(|two| {
            let [a, b] = [two[0], two[1]].map(|i| (many[i as usize], i));
            a < b
        }));
    }
}
