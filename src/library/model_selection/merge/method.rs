//! [`MergeMethod`]: which pairs of subsets are compared, and how many are merged at once.

/// Percentage of the pairs that relaxed clustering compares if none is given.
const USUAL_PERCENT: f64 = 10.0;
/// Relaxed clustering compares at least so many pairs.
const LEAST_PAIRS: usize = 10;
/// It compares at most so many pairs, or so many for each subset if that is more.
const MOST_PAIRS: usize = 1000;
const MOST_PAIRS_PER_SUBSET: usize = 10;

/// How partitions are merged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MergeMethod {
    /// All pairs are compared, and the best is merged.
    Greedy,
    /// This percentage of the pairs is compared, those that are the most similar; the best is merged (relaxed clustering).
    Relaxed(f64),
    /// The same, but all good pairs that do not overlap are merged at once (fast relaxed clustering).
    FastRelaxed(f64),
}

impl MergeMethod {
    /// Reads `greedy`, `rcluster`, `rclusterf`, `rcluster:5`.
    ///
    /// # Errors
    /// What was expected.
    pub fn read(text: &str) -> Result<MergeMethod, String> {
        let (name, percent) = match text.split_once(':') {
            Some((name, percent)) => (name, Some(percent)),
            None => (text, None),
        };
        let share = match percent {
            None => USUAL_PERCENT,
            Some(percent) => match percent.trim_end_matches('%').parse::<f64>() {
                Ok(percent) if percent > 0.0 && percent <= 100.0 => percent,
                _ => {
                    return Err(format!(
                        "'{percent}' is no percentage of pairs above 0 and up to 100, as in rcluster:10"
                    ));
                }
            },
        };
        match name.to_ascii_lowercase().as_str() {
            "greedy" if percent.is_none() => Ok(MergeMethod::Greedy),
            "greedy" => Err("greedy compares all pairs and takes no percentage".to_string()),
            "rcluster" => Ok(MergeMethod::Relaxed(share)),
            "rclusterf" => Ok(MergeMethod::FastRelaxed(share)),
            _ => Err("expected off, greedy, rcluster, rclusterf or rcluster:PERCENT".to_string()),
        }
    }

    /// In words.
    pub fn describe(self) -> String {
        match self {
            MergeMethod::Greedy => "greedy, all pairs of subsets are compared".to_string(),
            MergeMethod::Relaxed(percent) => {
                format!(
                    "relaxed clustering, the {percent} % of the pairs that are most similar are compared"
                )
            }
            MergeMethod::FastRelaxed(percent) => format!(
                "fast relaxed clustering, the {percent} % of the pairs that are most similar are compared, and several \
                 merged at once"
            ),
        }
    }

    /// Several pairs are merged at once.
    pub(super) fn merges_several(self) -> bool {
        matches!(self, MergeMethod::FastRelaxed(_))
    }

    /// How many of so many pairs of so many subsets are compared.
    pub(super) fn num_compared(self, num_pairs: usize, num_subsets: usize) -> usize {
        match self {
            MergeMethod::Greedy => num_pairs,
            MergeMethod::Relaxed(percent) | MergeMethod::FastRelaxed(percent) => {
                let share = (num_pairs as f64 * percent / 100.0).ceil() as usize;
                let most = MOST_PAIRS.max(MOST_PAIRS_PER_SUBSET * num_subsets);
                share.clamp(LEAST_PAIRS, most).min(num_pairs)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_read_and_others_refused() {
        for (text, expected) in [
            ("greedy", MergeMethod::Greedy),
            ("rcluster", MergeMethod::Relaxed(10.0)),
            ("RCLUSTER:5", MergeMethod::Relaxed(5.0)),
            ("rclusterf:0.5%", MergeMethod::FastRelaxed(0.5)),
        ] {
            assert_eq!(MergeMethod::read(text), Ok(expected), "{text}");
        }
        for text in
            ["", "kmeans", "greedy:5", "rcluster:0", "rcluster:101", "rcluster:x", "rcluster:nan"]
        {
            assert!(MergeMethod::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_few_pairs_are_always_compared_and_never_too_many() {
        let relaxed = MergeMethod::Relaxed(10.0);
        assert_eq!(relaxed.num_compared(3, 3), 3);
        assert_eq!(relaxed.num_compared(45, 10), 10);
        assert_eq!(relaxed.num_compared(561, 34), 57);
        assert_eq!(relaxed.num_compared(124_750, 500), 5000);
        assert_eq!(MergeMethod::Greedy.num_compared(124_750, 500), 124_750);
    }
}
