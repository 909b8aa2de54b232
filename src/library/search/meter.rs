//! Progress of a search: its phases, weighted by their usual share of the time. It is only displayed; no result
//! depends on it.

use super::schedule::Shares;
use crate::observer::Advance;
use serde::{Deserialize, Serialize};

/// Keeps track of a search's phases.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Meter {
    /// Sum of the shares of all phases.
    total: f64,
    /// Sum of the shares of the completed phases.
    over: f64,
    /// Share of the present phase.
    present: f64,
}

impl Meter {
    pub(super) fn new(shares: &Shares) -> Self {
        Meter { total: shares.total(), over: 0.0, present: 0.0 }
    }

    /// Begins the next phase, with this share.
    pub(super) fn begin(&mut self, share: f64) {
        self.over += self.present;
        self.present = share;
    }

    /// A later phase with this share will not come.
    pub(super) fn leave_out(&mut self, share: f64) {
        self.total -= share;
    }

    /// Progress of the search when this part (0 to 1) of the present phase is completed.
    pub(super) fn at(&self, part: f64) -> Advance {
        let whole = (self.over + self.present * part) / self.total;
        Advance { phase: Some(part), whole: Some(whole.min(1.0)), pieces: None }
    }

    /// Progress at the beginning of a phase whose own progress is unknown.
    pub(super) fn at_start(&self) -> Advance {
        Advance { phase: None, ..self.at(0.0) }
    }
}

/// Completed part of a phase of rounds, from the number of the present round (from 1) and the completed part of
/// that round: usually each round takes less than half of the time of the previous one.
pub(super) fn part_of_rounds(number: usize, part: f64) -> f64 {
    const LEFT_BY_A_ROUND: f64 = 0.4;
    let before = (1..number).fold(1.0, |left, _| left * LEFT_BY_A_ROUND);
    1.0 - before + before * (1.0 - LEFT_BY_A_ROUND) * part
}

#[cfg(test)]
mod tests {
    use super::super::SearchEffort;
    use super::*;

    #[test]
    fn a_search_goes_from_nothing_to_the_whole() {
        for effort in [SearchEffort::Fast, SearchEffort::Normal, SearchEffort::Thorough] {
            let shares = effort.shares();
            let mut meter = Meter::new(&shares);
            assert_eq!(meter.at_start().whole, Some(0.0));
            let mut last = 0.0;
            for share in shares.0 {
                meter.begin(share);
                for part in [0.0, 0.5, 1.0] {
                    let whole = meter.at(part).whole.unwrap();
                    assert!(whole >= last && whole <= 1.0);
                    last = whole;
                }
            }
            assert!((last - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn what_is_left_out_is_not_waited_for() {
        let mut meter = Meter::new(&Shares([10.0; 10]));
        meter.begin(10.0);
        meter.begin(10.0);
        meter.leave_out(50.0);
        assert_eq!(meter.at(0.5).whole, Some(0.3));
    }

    #[test]
    fn rounds_never_go_back() {
        let parts: Vec<f64> = (1..6)
            .flat_map(|round| [0.0, 0.5, 1.0].map(|part| part_of_rounds(round, part)))
            .collect();
        assert!(parts.is_sorted() && parts[0] == 0.0 && parts[parts.len() - 1] < 1.0, "{parts:?}");
    }
}
