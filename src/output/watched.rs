//! [`Watched`]: a run inside another program, which looks at it from another thread. Nothing is shown on a terminal.

use super::progress::{Progress, Terminal};
use super::status::Moment;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard};

/// Text that the run writes and the program reads.
#[derive(Debug, Clone, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

impl Text {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn read(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.bytes().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What there is to see of a run.
#[derive(Clone, Default)]
pub struct Watched {
    results: Text,
    messages: Text,
    terminal: Arc<Mutex<Option<Terminal>>>,
}

impl Watched {
    /// The progress of the run that begins.
    pub(crate) fn progress(&self) -> Progress {
        let [results, messages] =
            [&self.results, &self.messages].map(|text| Box::new(text.clone()));
        let progress = Progress::new(messages, results, false, true);
        *self.terminal.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) =
            Some(progress.terminal());
        progress
    }

    /// How far it has come.
    pub fn moment(&self) -> Moment {
        let terminal = self.terminal.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        terminal.as_ref().map_or_else(Moment::default, Terminal::moment)
    }

    /// What it would have written on standard output.
    pub fn results(&self) -> String {
        self.results.read()
    }

    /// The lines that it would have shown even if it were to be quiet: warnings.
    pub fn messages(&self) -> String {
        self.messages.read()
    }
}
