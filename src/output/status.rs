//! The status line: the phase of a run, the share that is done, the best log-likelihood and the time left.
//!
//! ```text
//! [01:07] fast SPR, starting tree 2, 61 % · best lnL -197,592.8 · about 6 min left
//! ```

use crate::observer::Advance;
use std::time::{Duration, Instant};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

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
    /// When the share of the whole was last told.
    advanced: Option<Instant>,
    best_lnl: Option<f64>,
    tally: Option<Tally>,
}

/// How far a run has come.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Moment {
    /// In a line, as on a terminal; empty before the first stage.
    pub line: String,
    /// Share of the stage that is done, where it is known.
    pub share: Option<f64>,
    /// The best log-likelihood so far.
    pub best_lnl: Option<f64>,
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
    /// Times its own work that follow; none if that is not known.
    rest: Option<f64>,
    /// The time left is told with what follows.
    of_both: bool,
}

/// What follows a stage.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum Next<'n> {
    /// Little.
    #[default]
    Little,
    /// This, whose time is not known before: what is left of the stage would be taken for what is left of the run.
    Unknown(&'n str),
    /// At most this, which may also end early: the time left is that of the stage.
    AtMost(&'n str),
    /// This, which takes so many times as long as the stage: the time left is that of both.
    Known(&'n str, f64),
}

impl Status {
    /// A stage begins.
    pub(super) fn begin_stage(&mut self, name: &str, next: Next, now: Instant) {
        let (then, rest) = match next {
            Next::Little => (None, Some(0.0)),
            Next::Unknown(name) => (Some(name), None),
            Next::AtMost(name) => (Some(name), Some(0.0)),
            Next::Known(name, times) => (Some(name), Some(times)),
        };
        let (name, then) = (name.to_string(), then.map(String::from));
        let of_both = matches!(next, Next::Known(..));
        *self = Status {
            stage: Some(RunStage { name, since: now, then, rest, of_both }),
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
    pub(super) fn advance(&mut self, advance: Advance, now: Instant) {
        if advance.whole != self.advance.whole {
            self.advanced = Some(now);
        }
        self.advance = advance;
    }

    /// So many of many are done.
    pub(super) fn count(&mut self, tally: Tally) {
        self.advance = Advance { whole: Some(tally.share), ..Advance::default() };
        self.tally = Some(tally);
    }

    /// All of it at once.
    pub(super) fn moment(&self, now: Instant) -> Moment {
        let line = self.line(now, usize::MAX).unwrap_or_default();
        Moment { line, share: self.advance.whole, best_lnl: self.best_lnl }
    }

    /// The line, without the time that has passed, in so many columns; `None` before the first stage. Where there is little room,
    /// what follows the stage is left out, and then the log-likelihood: the time left is looked for.
    pub(super) fn line(&self, now: Instant, room: usize) -> Option<String> {
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
        let lnl = self.best_lnl.map(|lnl| format!(" · best lnL {}", with_commas(lnl)));
        let lnl = lnl.unwrap_or_default();
        let left = self.time_left(stage, now).map(|left| format!(" · {}", about(left)));
        let then = match (&left, &stage.then) {
            (Some(_), Some(then)) if stage.of_both => format!(", with {then}"),
            (Some(_), Some(then)) => format!(", then {then}"),
            (None, Some(then)) if stage.rest.is_none() => format!(", then {then}"),
            _ => String::new(),
        };
        let left = left.unwrap_or_default();
        let forms = [format!("{line}{lnl}{left}{then}"), format!("{line}{lnl}{left}")];
        let shortest = format!("{line}{left}");
        Some(forms.into_iter().find(|form| form.width() <= room).unwrap_or(shortest))
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

    /// Time that the rest of the stage and what is known to follow will take, at the speed of the part that is done.
    fn time_left(&self, stage: &RunStage, now: Instant) -> Option<Duration> {
        let rest = stage.rest?;
        let share = self.advance.whole.filter(|share| (MIN_SHARE..1.0).contains(share))?;
        let elapsed = now.saturating_duration_since(stage.since);
        // At the speed until the share was told. Until it is told again, the time left becomes less, but does not end.
        let told =
            self.advanced.map_or(elapsed, |told| told.saturating_duration_since(stage.since));
        let then = told.mul_f64((1.0 - share + rest) / share);
        let left = (told + then).saturating_sub(elapsed).max(then / 4);
        (elapsed >= MIN_ELAPSED).then_some(left)
    }
}

/// As much of a line as fits into so many columns of a terminal: some letters take two, some none.
pub(super) fn fit(line: &str, columns: usize) -> &str {
    if line.width() <= columns {
        return line;
    }
    let mut width = 0;
    let end = line.char_indices().find(|(_, letter)| {
        width += letter.width().unwrap_or(0);
        width > columns
    });
    &line[..end.map_or(line.len(), |(at, _)| at)]
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
        assert_eq!(status.line(start, 200), None);
        status.begin_stage("search", Next::AtMost("100 replicates"), start);
        assert_eq!(status.line(start, 200).unwrap(), "search");
        status.begin_phase("fast SPR, starting tree 2");
        let advance = Advance { phase: Some(0.618), whole: Some(0.1), pieces: None };
        status.advance(advance, after(40));
        status.reach(-197_592.84);
        status.reach(-197_600.0);
        assert_eq!(
            status.line(after(40), 200).unwrap(),
            "fast SPR, starting tree 2, 61 % · best lnL -197,592.8 · about 6 min left, then 100 replicates"
        );
        status.begin_stage("bootstrap", Next::Little, after(50));
        let pieces = Some(("replicate", 7, 100));
        status.advance(Advance { phase: None, whole: Some(0.07), pieces }, after(56));
        assert_eq!(status.line(after(56), 200).unwrap(), "replicate 8 of 100 · about 80 s left");
        assert_eq!(status.line(after(52), 200).unwrap(), "replicate 8 of 100");
    }

    #[test]
    fn the_time_left_is_that_of_the_run_or_is_not_told() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut status = Status::default();
        let third = Advance { phase: None, whole: Some(0.3), pieces: Some(("tree", 1, 3)) };
        status.begin_stage("starting trees", Next::Unknown("the search"), start);
        status.advance(third, after(6));
        assert_eq!(status.line(after(6), 200).unwrap(), "tree 2 of 3, then the search");
        status.begin_stage("search", Next::Known("10 replicates", 2.0), start);
        status.advance(third, after(6));
        // 6 s for 0.3 are 20 s for the search and 40 s for what follows.
        assert_eq!(
            status.line(after(6), 200).unwrap(),
            "tree 2 of 3 · about 60 s left, with 10 replicates"
        );
    }

    #[test]
    fn lines_are_cut_by_columns() {
        assert_eq!(
            [fit("abc", 3), fit("abcd", 3), fit("", 0), fit("a", 0)],
            ["abc", "abc", "", ""]
        );
        // Letters of two columns, and a mark of none.
        assert_eq!([fit("人猿星", 5), fit("人猿", 4)], ["人猿", "人猿"]);
        assert_eq!(fit("e\u{301}a", 1), "e\u{301}");
    }

    #[test]
    fn of_many_the_line_says_how_many_and_how_fast() {
        let start = Instant::now();
        let mut status = Status::default();
        status.begin_stage("genes", Next::Little, start);
        let tally = Tally {
            noun: "genes",
            done: 1204,
            before: 4,
            total: 2000,
            with_remarks: 3,
            share: 0.6,
        };
        status.count(tally);
        let line = status.line(start + Duration::from_secs(2000), 200).unwrap();
        assert_eq!(line, "1 204 of 2 000 genes · 0.6 genes/s · about 22 min left · 3 with remarks");
        status.count(Tally { done: 4, with_remarks: 0, share: 0.0, ..tally });
        assert_eq!(status.line(start, 200).unwrap(), "4 of 2 000 genes");
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
