//! The status line: the phase of a run, the share that is done, the best log-likelihood and the time left.
//!
//! ```text
//! [01:07] fast SPR, starting tree 2, 61 % · best lnL -197,592.8 · about 6 min left
//! ```

use crate::observer::Advance;
use std::time::{Duration, Instant};

/// Share of the work below which the time left is not estimated.
const MIN_SHARE: f64 = 0.05;
/// Time below which the time left is not estimated.
const MIN_ELAPSED: Duration = Duration::from_secs(3);

/// The state of a run.
#[derive(Debug, Default)]
pub(super) struct Status {
    stage: Option<RunStage>,
    phase: Option<String>,
    advance: Advance,
    best_lnl: Option<f64>,
    tally: Option<Tally>,
}

/// How many of many are done, each of which is a computation of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tally {
    /// What several are called: "genes".
    pub noun: &'static str,
    /// How many are done.
    pub done: usize,
    /// How many of these were done before this run.
    pub before: usize,
    /// How many there are.
    pub total: usize,
    /// How many of those that are done have remarks.
    pub with_remarks: usize,
    /// Share of the work that is done of what was left when this run began.
    pub share: f64,
}

#[derive(Debug)]
struct RunStage {
    name: String,
    since: Instant,
    then: Option<String>,
}

impl Status {
    /// A stage begins; `then` says what follows it.
    pub(super) fn begin_stage(&mut self, name: &str, then: Option<&str>, now: Instant) {
        let then = then.map(String::from);
        *self = Status {
            stage: Some(RunStage { name: name.to_string(), since: now, then }),
            ..Status::default()
        };
    }

    /// A phase of the stage begins.
    pub(super) fn begin_phase(&mut self, name: &str) {
        self.phase = Some(name.to_string());
        self.advance.phase = None;
    }

    /// A log-likelihood was reached.
    pub(super) fn reach(&mut self, lnl: f64) {
        self.best_lnl = Some(self.best_lnl.map_or(lnl, |best| best.max(lnl)));
    }

    /// The run has come so far.
    pub(super) fn advance(&mut self, advance: Advance) {
        self.advance = advance;
    }

    /// So many of many are done.
    pub(super) fn count(&mut self, tally: Tally) {
        self.advance = Advance { whole: Some(tally.share), ..Advance::default() };
        self.tally = Some(tally);
    }

    /// The line, without the time that has passed; `None` before the first stage.
    pub(super) fn line(&self, now: Instant) -> Option<String> {
        let stage = self.stage.as_ref()?;
        if let Some(tally) = &self.tally {
            return Some(self.line_of_many(tally, stage, now));
        }
        let mut line = match (self.advance.pieces, &self.phase) {
            (Some((noun, done, total)), phase) => {
                let phase = phase.as_ref().map_or(String::new(), |phase| format!(": {phase}"));
                format!("{noun} {} of {total}{phase}", (done + 1).min(total))
            }
            (None, Some(phase)) => phase.clone(),
            (None, None) => stage.name.clone(),
        };
        if let Some(share) = self.advance.phase {
            line.push_str(&format!(", {:.0} %", (100.0 * share).floor()));
        }
        if let Some(lnl) = self.best_lnl {
            line.push_str(&format!(" · best lnL {}", with_commas(lnl)));
        }
        if let Some(left) = self.time_left(stage, now) {
            line.push_str(&format!(" · {}", about(left)));
            if let Some(then) = &stage.then {
                line.push_str(&format!(", then {then}"));
            }
        }
        Some(line)
    }

    fn line_of_many(&self, tally: &Tally, stage: &RunStage, now: Instant) -> String {
        let Tally { noun, done, before, total, with_remarks, .. } = *tally;
        let mut line = format!("{} of {} {noun}", with_blanks(done), with_blanks(total));
        let seconds = now.saturating_duration_since(stage.since).as_secs_f64();
        let rate = (done - before) as f64 / seconds.max(1.0);
        if rate > 0.0 {
            let decimals = if rate < 10.0 { 1 } else { 0 };
            line.push_str(&format!(" · {rate:.decimals$} {noun}/s"));
        }
        if let Some(left) = self.time_left(stage, now) {
            line.push_str(&format!(" · {}", about(left)));
        }
        if with_remarks > 0 {
            line.push_str(&format!(" · {} with remarks", with_blanks(with_remarks)));
        }
        line
    }

    /// Time that the rest of the stage will take, at the speed of the part that is done.
    fn time_left(&self, stage: &RunStage, now: Instant) -> Option<Duration> {
        let share = self.advance.whole.filter(|share| (MIN_SHARE..1.0).contains(share))?;
        let elapsed = now.saturating_duration_since(stage.since);
        (elapsed >= MIN_ELAPSED).then(|| elapsed.mul_f64((1.0 - share) / share))
    }
}

/// `1 204`
fn with_blanks(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// `-197,592.8`
fn with_commas(lnl: f64) -> String {
    let digits = format!("{:.1}", lnl.abs());
    let (whole, tenths) = digits.split_once('.').unwrap_or((&digits, "0"));
    let mut text = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    let sign = if lnl < 0.0 { "-" } else { "" };
    format!("{sign}{text}.{tenths}")
}

/// Rounded as the uncertainty of the estimate requires.
fn about(left: Duration) -> String {
    let seconds = left.as_secs();
    match seconds {
        0..10 => "less than 10 s left".to_string(),
        10..90 => format!("about {} s left", seconds.div_ceil(10) * 10),
        90..5_400 => format!("about {} min left", (seconds + 30) / 60),
        5_400..172_800 => format!("about {} h left", (seconds + 1_800) / 3_600),
        _ => format!("about {} days left", (seconds + 43_200) / 86_400),
    }
}

/// `mm:ss`, from an hour on `h:mm:ss`.
pub(super) fn format_elapsed(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes:02}:{seconds:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_how_far_how_good_and_how_long() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut status = Status::default();
        assert_eq!(status.line(start), None);
        status.begin_stage("search", Some("100 replicates"), start);
        assert_eq!(status.line(start).unwrap(), "search");
        status.begin_phase("fast SPR, starting tree 2");
        status.advance(Advance { phase: Some(0.618), whole: Some(0.1), pieces: None });
        status.reach(-197_592.84);
        status.reach(-197_600.0);
        assert_eq!(
            status.line(after(40)).unwrap(),
            "fast SPR, starting tree 2, 61 % · best lnL -197,592.8 · about 6 min left, then 100 replicates"
        );
        status.begin_stage("bootstrap", None, after(50));
        status.advance(Advance {
            phase: None,
            whole: Some(0.07),
            pieces: Some(("replicate", 7, 100)),
        });
        assert_eq!(status.line(after(56)).unwrap(), "replicate 8 of 100 · about 80 s left");
        assert_eq!(status.line(after(52)).unwrap(), "replicate 8 of 100");
    }

    #[test]
    fn of_many_the_line_says_how_many_and_how_fast() {
        let start = Instant::now();
        let mut status = Status::default();
        status.begin_stage("genes", None, start);
        let tally = Tally {
            noun: "genes",
            done: 1204,
            before: 4,
            total: 2000,
            with_remarks: 3,
            share: 0.6,
        };
        status.count(tally);
        let line = status.line(start + Duration::from_secs(2000)).unwrap();
        assert_eq!(line, "1 204 of 2 000 genes · 0.6 genes/s · about 22 min left · 3 with remarks");
        status.count(Tally { done: 4, with_remarks: 0, share: 0.0, ..tally });
        assert_eq!(status.line(start).unwrap(), "4 of 2 000 genes");
    }

    #[test]
    fn numbers_are_readable() {
        for (lnl, text) in [
            (-197_592.84, "-197,592.8"),
            (-999.96, "-1,000.0"),
            (-12.0, "-12.0"),
            (1_234_567.0, "1,234,567.0"),
        ] {
            assert_eq!(with_commas(lnl), text);
        }
        for (seconds, text) in [
            (4, "less than 10 s left"),
            (31, "about 40 s left"),
            (100, "about 2 min left"),
            (7_300, "about 2 h left"),
            (200_000, "about 2 days left"),
        ] {
            assert_eq!(about(Duration::from_secs(seconds)), text);
        }
        assert_eq!(format_elapsed(Duration::from_secs(75)), "01:15");
        assert_eq!(format_elapsed(Duration::from_secs(3_725)), "1:02:05");
    }
}
