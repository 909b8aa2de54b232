//! Progress for people, and the log: the same events, once with times, once without.
//!
//! On a terminal the current round is one live line; elsewhere every event is a plain line. The log
//! keeps no times, so its bytes depend on the computation alone, except lines that begin with
//! [`RUN_MARKER`]: those hold the command, the machine and the timings.

use crate::search::{Event, Observer};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Begins every log line that may differ between two runs of the same computation.
pub const RUN_MARKER: &str = "# run:";

/// Shortest time between two updates of the live line: a terminal is slower than a small search.
const LIVE_INTERVAL: Duration = Duration::from_millis(100);

/// Shows events and collects the log.
pub struct Progress {
    sink: Box<dyn Write + Send>,
    /// Redraw the current line instead of adding lines.
    live: bool,
    quiet: bool,
    start: Instant,
    last_drawn: Option<Instant>,
    /// A live line stands on the terminal and must be cleared before other text.
    line_open: bool,
    log: String,
    warnings: Vec<String>,
    phase: Option<(String, Instant)>,
    timings: Vec<(String, f64)>,
}

impl Progress {
    /// Shows progress on standard error; live if that is a terminal, not at all if `quiet`.
    pub fn on_stderr(quiet: bool) -> Self {
        let live = std::io::stderr().is_terminal();
        Self::new(Box::new(std::io::stderr()), live, quiet)
    }

    /// Shows progress on any sink. `quiet` leaves only warnings.
    pub fn new(sink: Box<dyn Write + Send>, live: bool, quiet: bool) -> Self {
        Progress {
            sink,
            live,
            quiet,
            start: Instant::now(),
            last_drawn: None,
            line_open: false,
            log: String::new(),
            warnings: Vec::new(),
            phase: None,
            timings: Vec::new(),
        }
    }

    /// Text (one or several lines) for reader and log alike: tables, results.
    pub fn text(&mut self, text: &str) {
        for line in text.lines() {
            self.show(line);
            self.log.push_str(line);
            self.log.push('\n');
        }
    }

    /// A line about this very run (command, threads, times): marked in the log.
    pub fn about_run(&mut self, line: &str) {
        self.show(line);
        for line in line.lines() {
            self.log.push_str(&format!("{RUN_MARKER} {line}\n"));
        }
    }

    /// All warnings so far, in order.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Ends the current phase; (phase, seconds) of all phases so far, in order.
    pub fn timings(&mut self) -> &[(String, f64)] {
        self.end_phase();
        &self.timings
    }

    /// The log so far.
    pub fn log_text(&self) -> &str {
        &self.log
    }

    /// Time since this was made.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Takes the live line off the terminal, at the end or before other output.
    pub fn finish(&mut self) {
        self.end_phase();
        self.clear_line();
        let _ = self.sink.flush();
    }

    fn end_phase(&mut self) {
        if let Some((name, since)) = self.phase.take() {
            self.timings.push((name, since.elapsed().as_secs_f64()));
        }
    }

    fn show(&mut self, line: &str) {
        if !self.quiet {
            self.clear_line();
            // A closed pipe must not end a long computation: the files are what counts.
            let _ = writeln!(self.sink, "{line}");
        }
    }

    fn clear_line(&mut self) {
        if std::mem::take(&mut self.line_open) {
            let _ = write!(self.sink, "\r\x1b[K");
        }
    }

    fn show_live(&mut self, line: &str) {
        let now = Instant::now();
        let due = self.last_drawn.is_none_or(|last| now - last >= LIVE_INTERVAL);
        if !self.quiet && due {
            let _ = write!(self.sink, "\r\x1b[K{line}");
            let _ = self.sink.flush();
            self.line_open = true;
            self.last_drawn = Some(now);
        }
    }

    fn stamp(&self) -> String {
        format_elapsed(self.start.elapsed())
    }
}

impl Observer for Progress {
    fn event(&mut self, event: &Event) {
        let line = match event {
            Event::Phase { name } => {
                self.end_phase();
                self.phase = Some((name.clone(), Instant::now()));
                name.clone()
            }
            Event::Progress { phase, round, lnl } => {
                format!("{phase}, round {round}: lnL {lnl:.4}")
            }
            Event::NewBest { lnl } => format!("best so far: lnL {lnl:.4}"),
            Event::Warning(message) => {
                self.warnings.push(message.clone());
                format!("warning: {message}")
            }
            Event::Note(message) => format!("note: {message}"),
        };
        self.log.push_str(&line);
        self.log.push('\n');
        match event {
            Event::Warning(_) => {
                self.clear_line();
                let _ = writeln!(self.sink, "{line}");
            }
            Event::Progress { .. } if self.live => {
                let line = format!("[{}] {line}", self.stamp());
                self.show_live(&line);
            }
            _ => {
                let line = format!("[{}] {line}", self.stamp());
                self.show(&line);
            }
        }
    }
}

/// `mm:ss`, from an hour on `h:mm:ss`.
fn format_elapsed(elapsed: Duration) -> String {
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
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Sink {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    fn shown(live: bool, quiet: bool) -> (String, Progress) {
        let sink = Sink::default();
        let mut progress = Progress::new(Box::new(sink.clone()), live, quiet);
        progress.about_run("command: mlsearch -T 2");
        progress.event(&Event::Phase { name: "fast SPR".into() });
        for round in 1..=2 {
            let phase = "fast SPR".to_string();
            progress.event(&Event::Progress { phase, round, lnl: -10.5 });
        }
        progress.event(&Event::Warning("gene cox1 has 2 taxa".into()));
        progress.text("Result\n  lnL  -10.5");
        progress.finish();
        (sink.text(), progress)
    }

    #[test]
    fn the_log_has_no_times_and_marks_what_belongs_to_the_run() {
        let (_, mut progress) = shown(false, false);
        assert_eq!(
            progress.log_text(),
            "# run: command: mlsearch -T 2\nfast SPR\nfast SPR, round 1: lnL -10.5000\n\
             fast SPR, round 2: lnL -10.5000\nwarning: gene cox1 has 2 taxa\nResult\n  lnL  -10.5\n"
        );
        assert_eq!(progress.warnings(), ["gene cox1 has 2 taxa"]);
        assert_eq!(progress.timings().len(), 1);
        assert_eq!(progress.log_text(), shown(true, true).1.log_text());
    }

    #[test]
    fn plain_lines_without_a_terminal_and_one_live_line_with_one() {
        let (plain, _) = shown(false, false);
        assert!(plain.contains("[00:00] fast SPR, round 2: lnL -10.5000\n"), "{plain}");
        assert!(!plain.contains('\x1b') && !plain.contains('\r'));
        let (live, _) = shown(true, false);
        assert!(live.contains("\r\x1b[K[00:00] fast SPR, round 1: lnL -10.5000\r\x1b[Kwarning"));
        let (quiet, _) = shown(true, true);
        assert_eq!(quiet, "warning: gene cox1 has 2 taxa\n");
    }

    #[test]
    fn elapsed_time_is_readable() {
        assert_eq!(format_elapsed(Duration::from_secs(75)), "01:15");
        assert_eq!(format_elapsed(Duration::from_secs(3_725)), "1:02:05");
    }
}
