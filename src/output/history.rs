//! [`History`]: the log-likelihood over time, kept small whatever the length of the run.

use crate::observer::Event;
use std::time::Instant;

/// Most points: beyond, every second one is forgotten.
const MOST_POINTS: usize = 1000;
/// Stages whose log-likelihoods are not those of the data or of the model of the run.
const OTHER_STAGES: [&str; 2] = ["bootstrap", "model selection"];
/// How the line begins that tells of the next of several searches.
const NEXT_SEARCH: &str = "search from ";

/// A log-likelihood that was reached.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct ReachedReport {
    /// Seconds since the beginning of the run; of searches side by side, when theirs was over.
    pub seconds: f64,
    /// The starting tree of the search, if there are several searches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The phase.
    pub phase: String,
    /// The log-likelihood.
    pub log_likelihood: f64,
}

/// The log-likelihoods of a run so far.
#[derive(Debug, Default)]
pub(super) struct History {
    points: Vec<ReachedReport>,
    start: Option<String>,
    phase: String,
    /// Only every so manyth event is kept.
    step: usize,
    skipped: usize,
}

impl History {
    /// What an event of a stage says.
    pub(super) fn note(&mut self, event: &Event, stage: &str, begin: Instant) {
        match event {
            Event::Phase { name } | Event::PastPhase { name } => self.phase = name.clone(),
            Event::Detail(text) | Event::Note(text) => {
                self.start = text.strip_prefix(NEXT_SEARCH).map(String::from).or(self.start.take());
            }
            Event::Progress { lnl, .. } | Event::Optimized { lnl }
                if !OTHER_STAGES.contains(&stage) && lnl.is_finite() =>
            {
                self.skipped += 1;
                if self.skipped >= self.step {
                    self.skipped = 0;
                    self.add(*lnl, begin.elapsed().as_secs_f64());
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, log_likelihood: f64, seconds: f64) {
        let (start, phase) = (self.start.clone(), self.phase.clone());
        self.points.push(ReachedReport { seconds, start, phase, log_likelihood });
        if self.points.len() > MOST_POINTS {
            let mut number = 0;
            self.points.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.step = 2 * self.step.max(1);
        }
    }

    /// All points that were kept.
    pub(super) fn points(&self) -> &[ReachedReport] {
        &self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_knows_search_and_phase_and_stays_small() {
        let (mut history, begin) = (History::default(), Instant::now());
        let mut tell = |event: Event, stage: &str| history.note(&event, stage, begin);
        let lnl = |lnl: f64| Event::Progress { phase: "x".into(), round: 1, lnl };
        tell(Event::Detail("search from pars 1".into()), "search");
        tell(Event::Phase { name: "fast SPR".into() }, "search");
        tell(lnl(-1.0), "search");
        tell(lnl(-2.0), "bootstrap");
        tell(lnl(f64::NEG_INFINITY), "search");
        for i in 0..10_000 {
            tell(lnl(f64::from(i)), "search");
        }
        let first = &history.points()[0];
        assert_eq!((first.start.as_deref(), first.phase.as_str()), (Some("pars 1"), "fast SPR"));
        assert_eq!(first.log_likelihood, -1.0);
        assert!((MOST_POINTS / 2..=MOST_POINTS).contains(&history.points().len()));
        assert!(history.points().is_sorted_by(|a, b| a.log_likelihood <= b.log_likelihood));
        history.note(&Event::PastPhase { name: "wide SPR".into() }, "search", begin);
        history.add(1.0, 0.0);
        assert_eq!(history.points().last().unwrap().phase, "wide SPR", "of a search beside others");
    }
}
