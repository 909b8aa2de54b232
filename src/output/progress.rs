//! Progress for people, results, and the log.
//!
//! The *terminal* (standard error) gets the first lines of the run, warnings, notes, and the status line:
//! updated in place on a terminal, elsewhere as a new line every 30 s. *Standard output* gets the results.
//! The *log* gets all events without times, so that its bytes depend on the computation only, except for
//! lines that begin with [`RUN_MARKER`]: these have the command, the machine and the timings.

use super::history::{History, ReachedReport};
use super::status::{Moment, Next, Status, Tally, fit, format_elapsed};
use crate::observer::{Advance, Event, Observer};
use std::collections::VecDeque;
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Begins every log line that may differ between two runs of the same computation.
pub(super) const RUN_MARKER: &str = "# run:";

/// Time between two updates of the status line.
const BEAT: Duration = Duration::from_millis(200);
/// Time between two status lines in a pipe or a file.
const PLAIN_INTERVAL: Duration = Duration::from_secs(30);
/// Width of a terminal, if it is unknown.
const DEFAULT_WIDTH: usize = 80;

/// A destination of text.
pub(super) type Sink = Box<dyn Write + Send>;

/// Shows events, results and the status line, and keeps the log.
pub(crate) struct Progress {
    board: Arc<Board>,
    heartbeat: Option<JoinHandle<()>>,
    results: Sink,
    log: Log,
    start: Instant,
    warnings: Vec<String>,
    stage: Option<(String, Instant)>,
    phase: Option<(String, Instant)>,
    timings: Vec<(String, f64)>,
    history: History,
}

impl Progress {
    /// Shows progress on standard error and results on standard output. `quiet` leaves only warnings
    /// and results.
    pub(crate) fn on_terminal(quiet: bool) -> Self {
        // A terminal that says it is dumb cannot clear a line.
        let is_dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
        let live = std::io::stderr().is_terminal() && !is_dumb;
        Self::new(Box::new(std::io::stderr()), Box::new(std::io::stdout()), live, quiet)
    }

    /// Shows progress and results on any sinks; `live` keeps the status line in place.
    pub(crate) fn new(sink: Sink, results: Sink, live: bool, quiet: bool) -> Self {
        let start = Instant::now();
        let board = Arc::new(Board {
            screen: Mutex::new(Screen {
                sink,
                live,
                quiet,
                start,
                status: Status::default(),
                last_plain: start,
                last_live: String::new(),
                line_open: false,
                ended: false,
            }),
            end: Condvar::new(),
        });
        let heartbeat = (!quiet).then(|| {
            let board = Arc::clone(&board);
            std::thread::Builder::new().name("status".into()).spawn(move || board.beat()).ok()
        });
        Progress {
            board,
            heartbeat: heartbeat.flatten(),
            results,
            log: Log::default(),
            start,
            warnings: Vec::new(),
            stage: None,
            phase: None,
            timings: Vec::new(),
            history: History::default(),
        }
    }

    /// From now on the log is written to this sink line by line, beginning with the earlier lines. `already` is the
    /// log of the run that is resumed: what it has is not written again.
    pub(crate) fn log_to(&mut self, sink: Sink, already: &str) {
        self.log.open(sink, already);
    }

    /// For messages from other threads.
    pub(crate) fn terminal(&self) -> Terminal {
        Terminal(Arc::clone(&self.board))
    }

    /// The first error of writing the log, if there was one.
    pub(crate) fn log_error(&mut self) -> Option<std::io::Error> {
        self.log.error.take()
    }

    /// Text (one or several lines) for the terminal and the log.
    pub(crate) fn text(&mut self, text: &str) {
        self.abridged(text, text);
    }

    /// Text for the terminal, and a longer form of it for the log.
    pub(crate) fn abridged(&mut self, short: &str, full: &str) {
        self.board.screen().show(short);
        self.log.lines("", full);
    }

    /// Results: standard output and the log.
    pub(crate) fn result(&mut self, text: &str) {
        self.board.screen().clear_line();
        // A closed pipe (`| head`) is not a failure: the results are in the files.
        let _ = self.results.write_all(text.as_bytes()).and_then(|()| self.results.flush());
        self.log.lines("", text);
    }

    /// Results that depend on the names of files: marked in the log.
    pub(crate) fn result_about_run(&mut self, text: &str) {
        self.board.screen().clear_line();
        let _ = self.results.write_all(text.as_bytes()).and_then(|()| self.results.flush());
        self.log.lines(&format!("{RUN_MARKER} "), text);
    }

    /// Lines about this very run (command, threads, times): marked in the log.
    pub(crate) fn about_run(&mut self, text: &str) {
        self.board.screen().show(text);
        self.detail_about_run(text);
    }

    /// The same, for the log alone.
    pub(crate) fn detail_about_run(&mut self, text: &str) {
        self.log.lines(&format!("{RUN_MARKER} "), text);
    }

    /// All warnings so far, in order.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Ends the current stage; (stage or phase, seconds) of all so far, in order.
    pub(crate) fn timings(&mut self) -> &[(String, f64)] {
        self.end_stage();
        &self.timings
    }

    /// The log-likelihoods that were reached so far.
    pub(crate) fn history(&self) -> &[ReachedReport] {
        self.history.points()
    }

    /// Time since this was made.
    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// A stage begins; `then` names what follows it at most, for the estimate of the time.
    pub(crate) fn stage(&mut self, name: &str, then: Option<&str>) {
        self.stage_before(name, then.map_or(Next::Little, Next::AtMost));
    }

    /// A stage begins, and what follows it is known.
    pub(crate) fn stage_before(&mut self, name: &str, next: Next) {
        self.end_stage();
        let now = Instant::now();
        self.stage = Some((name.to_string(), now));
        self.board.screen().status.begin_stage(name, next, now);
        self.log.lines("", name);
    }

    /// So many of many are done.
    pub(crate) fn count(&mut self, tally: Tally) {
        self.board.screen().status.count(tally);
    }

    fn end_stage(&mut self) {
        self.end_phase();
        end(&mut self.stage, &mut self.timings);
    }

    fn end_phase(&mut self) {
        end(&mut self.phase, &mut self.timings);
    }
}

fn end(current: &mut Option<(String, Instant)>, timings: &mut Vec<(String, f64)>) {
    if let Some((name, since)) = current.take() {
        timings.push((name, since.elapsed().as_secs_f64()));
    }
}

impl Drop for Progress {
    /// Takes the status line off the terminal.
    fn drop(&mut self) {
        self.board.screen().ended = true;
        self.board.end.notify_all();
        if let Some(heartbeat) = self.heartbeat.take() {
            let _ = heartbeat.join();
        }
        let mut screen = self.board.screen();
        screen.clear_line();
        let _ = screen.sink.flush();
    }
}

impl Observer for Progress {
    fn event(&mut self, event: &Event) {
        let stage = self.stage.as_ref().map_or("", |stage| stage.0.as_str());
        self.history.note(event, stage, self.start);
        let line = match event {
            Event::Phase { name } => {
                self.end_phase();
                self.phase = Some((name.clone(), Instant::now()));
                self.board.screen().status.begin_phase(name);
                name.clone()
            }
            Event::Progress { phase, round, lnl } => {
                self.board.screen().status.reach(*lnl);
                format!("{phase}, round {round}: lnL {lnl:.4}")
            }
            Event::Optimized { lnl } => {
                self.board.screen().status.reach(*lnl);
                format!("all branch lengths and parameters optimised: lnL {lnl:.4}")
            }
            Event::Warning(message) => {
                self.warnings.push(message.clone());
                let line = format!("warning: {message}");
                self.board.screen().insist(&line);
                line
            }
            Event::Note(message) => {
                let line = format!("note: {message}");
                self.board.screen().show(&line);
                line
            }
            Event::Detail(message) | Event::PastPhase { name: message } => message.clone(),
        };
        log::debug!("{line}");
        self.log.lines("", &line);
    }

    fn advance(&mut self, advance: Advance) {
        self.board.screen().status.advance(advance, Instant::now());
    }
}

/// The terminal, for messages from any thread.
#[derive(Clone)]
pub(crate) struct Terminal(Arc<Board>);

impl Terminal {
    /// Shows a message even with `--quiet`.
    pub(crate) fn insist(&self, message: &str) {
        self.0.screen().insist(message);
    }

    /// How far the run has come.
    pub(super) fn moment(&self) -> Moment {
        self.0.screen().status.moment(Instant::now())
    }
}

/// What the thread of the run and that of the status line share.
struct Board {
    screen: Mutex<Screen>,
    /// Notified when the run ends.
    end: Condvar,
}

impl Board {
    fn screen(&self) -> MutexGuard<'_, Screen> {
        self.screen.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Shows the status line again and again, also while the run is busy with one long step.
    fn beat(&self) {
        let mut screen = self.screen();
        while !screen.ended {
            let waited = self.end.wait_timeout(screen, BEAT);
            screen = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
            screen.show_status(Instant::now());
        }
    }
}

/// The terminal, or a pipe or file in its place.
struct Screen {
    sink: Sink,
    live: bool,
    quiet: bool,
    start: Instant,
    status: Status,
    last_plain: Instant,
    last_live: String,
    /// The status line stands on the terminal and must be cleared before other text.
    line_open: bool,
    ended: bool,
}

impl Screen {
    fn show(&mut self, text: &str) {
        if !self.quiet {
            self.insist(text);
        }
    }

    /// Shows it even with `--quiet`.
    fn insist(&mut self, text: &str) {
        self.clear_line();
        for line in text.lines() {
            let _ = writeln!(self.sink, "{line}");
        }
    }

    fn clear_line(&mut self) {
        if std::mem::take(&mut self.line_open) {
            let _ = write!(self.sink, "\r\x1b[K");
            let _ = self.sink.flush();
        }
    }

    /// Draws the status line. Not a bar of the crate indicatif: it shows nothing in a pipe or a file, where this
    /// writes a line from time to time, and results on standard output would still have to clear the line first. It
    /// would bring four crates for the few lines below.
    fn show_status(&mut self, now: Instant) {
        if self.quiet || self.ended {
            return;
        }
        let time = format!("[{}] ", format_elapsed(now - self.start));
        // A line that wraps could not be cleared. The last column is left for the cursor.
        let room = match self.live {
            false => usize::MAX,
            true => terminal_size::terminal_size_of(std::io::stderr())
                .map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0))
                .saturating_sub(1),
        };
        let Some(line) = self.status.line(now, room.saturating_sub(time.len())) else { return };
        let line = time + &line;
        if self.live {
            let line = fit(&line, room).to_string();
            if self.line_open && line == self.last_live {
                return;
            }
            let _ = write!(self.sink, "\r\x1b[K{line}");
            let _ = self.sink.flush();
            self.line_open = true;
            self.last_live = line;
        } else if now - self.last_plain >= PLAIN_INTERVAL {
            let _ = writeln!(self.sink, "{line}");
            self.last_plain = now;
        }
    }
}

/// The log: kept until there is a file for it, then written line by line.
#[derive(Default)]
struct Log {
    pending: String,
    sink: Option<Sink>,
    /// Lines of the resumed run that have not come again.
    already: VecDeque<String>,
    error: Option<std::io::Error>,
}

impl Log {
    fn open(&mut self, sink: Sink, already: &str) {
        self.sink = Some(sink);
        let lines = already.lines().filter(|line| !line.starts_with(RUN_MARKER));
        self.already = lines.map(String::from).collect();
        let pending = std::mem::take(&mut self.pending);
        self.new_lines(&pending);
    }

    fn lines(&mut self, prefix: &str, text: &str) {
        let lines: String = text.lines().map(|line| format!("{prefix}{line}\n")).collect();
        match self.sink {
            None => self.pending.push_str(&lines),
            Some(_) => self.new_lines(&lines),
        }
    }

    /// Writes what is not already there. A resumed run says all again, in the same order.
    fn new_lines(&mut self, lines: &str) {
        let mut new = String::new();
        for line in lines.lines() {
            if !line.starts_with(RUN_MARKER) && !self.already.is_empty() {
                if self.already.front().is_some_and(|known| known == line) {
                    self.already.pop_front();
                    continue;
                }
                self.already.clear();
            }
            new.push_str(line);
            new.push('\n');
        }
        self.write(&new);
    }

    /// The first failure is kept and ends the log: a full disk must not end a long computation.
    fn write(&mut self, text: &str) {
        if let Some(sink) = &mut self.sink
            && self.error.is_none()
        {
            self.error = sink.write_all(text.as_bytes()).and_then(|()| sink.flush()).err();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Shared {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
        fn sink(&self) -> Sink {
            Box::new(self.clone())
        }
    }

    /// (screen, results, log) of a small run.
    fn shown(live: bool, quiet: bool) -> (String, String, String) {
        let [screen, results, log] = [(); 3].map(|()| Shared::default());
        let mut progress = Progress::new(screen.sink(), results.sink(), live, quiet);
        progress.about_run("command: mlsearch -T 2");
        progress.log_to(log.sink(), "");
        progress.stage("search", None);
        progress.event(&Event::Phase { name: "fast SPR".into() });
        for round in 1..=2 {
            let phase = "fast SPR".to_string();
            progress.event(&Event::Progress { phase, round, lnl: -10.5 });
        }
        if live {
            while !quiet && !screen.text().contains('\r') {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        progress.event(&Event::Warning("partition cox1 has 2 taxa".into()));
        progress.abridged("2 partitions", "2 partitions: cox1, cox2");
        progress.result("lnL  -10.5\n");
        assert_eq!(progress.warnings(), ["partition cox1 has 2 taxa"]);
        let timed: Vec<String> = progress.timings().iter().map(|one| one.0.clone()).collect();
        assert_eq!(timed, ["fast SPR", "search"]);
        drop(progress);
        (screen.text(), results.text(), log.text())
    }

    #[test]
    fn the_log_has_no_times_and_marks_what_belongs_to_the_run() {
        let (_, _, log) = shown(false, false);
        assert_eq!(
            log,
            "# run: command: mlsearch -T 2\nsearch\nfast SPR\nfast SPR, round 1: lnL -10.5000\n\
             fast SPR, round 2: lnL -10.5000\nwarning: partition cox1 has 2 taxa\n\
             2 partitions: cox1, cox2\nlnL  -10.5\n"
        );
        assert_eq!(log, shown(true, true).2);
    }

    #[test]
    fn a_pipe_gets_plain_lines_a_terminal_the_status_in_place_and_quiet_only_warnings() {
        let (plain, results, _) = shown(false, false);
        assert_eq!(
            plain,
            "command: mlsearch -T 2\nwarning: partition cox1 has 2 taxa\n2 partitions\n"
        );
        assert_eq!(results, "lnL  -10.5\n");
        let (live, ..) = shown(true, false);
        assert!(live.contains("\r\x1b[K[00:00] fast SPR · best lnL -10.5"), "{live}");
        assert!(live.contains("\r\x1b[Kwarning: partition"), "{live}");
        let (quiet, results, _) = shown(true, true);
        assert_eq!(quiet, "warning: partition cox1 has 2 taxa\n");
        assert_eq!(results, "lnL  -10.5\n");
    }

    #[test]
    fn status_lines_in_a_pipe_are_half_a_minute_apart() {
        let shared = Shared::default();
        let progress = Progress::new(shared.sink(), Shared::default().sink(), false, false);
        let mut screen = progress.board.screen();
        let start = screen.start;
        screen.status.begin_stage("search", Next::Little, start);
        for seconds in [29, 30, 31, 59, 60] {
            screen.show_status(start + Duration::from_secs(seconds));
        }
        assert_eq!(shared.text(), "[00:30] search\n[01:00] search\n");
    }

    #[test]
    fn the_log_of_a_resumed_run_is_that_of_a_run_never_stopped() {
        let said = ["# run: now", "data", "", "genes", "round 1", "round 2", "# run: end"];
        for known in 0..said.len() {
            let before: String = said[..known].iter().map(|line| format!("{line}\n")).collect();
            let (log, quiet) = (Shared::default(), Shared::default());
            let mut progress = Progress::new(quiet.sink(), quiet.sink(), false, true);
            progress.text(&said[1..4].join("\n"));
            progress.log_to(log.sink(), &before);
            for line in &said[4..6] {
                progress.text(line);
            }
            let all = before + &log.text();
            let without: Vec<&str> = all.lines().filter(|line| !line.starts_with('#')).collect();
            assert_eq!(without, said[1..6], "{known} lines were there");
        }
    }

    #[test]
    fn a_log_that_cannot_be_written_ends_nothing_and_is_told() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let quiet = Shared::default();
        let mut progress = Progress::new(quiet.sink(), quiet.sink(), false, true);
        progress.log_to(Box::new(Full), "");
        progress.text("something");
        assert_eq!(progress.log_error().unwrap().kind(), std::io::ErrorKind::StorageFull);
    }
}
