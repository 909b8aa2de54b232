//! Faults that a user can correct, each with the place where it was found.
//!
//! Here are the error types of the whole program and their exit codes. Readers collect *every* [`Fault`]
//! that they find before they refuse a file, so that it can be corrected at once; beyond those that a message shows,
//! they are counted. Nothing here prints.

use std::borrow::Cow;
use std::fmt;

/// Where a fault was found. Every part is optional; what is known is shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// File as the user typed it.
    pub file: Option<String>,
    /// Line, counted from 1.
    pub line: Option<usize>,
    /// Column (of the line or of the alignment, as the message says), counted from 1.
    pub column: Option<usize>,
    /// Taxon, partition or option the fault belongs to.
    pub name: Option<String>,
}

impl Place {
    /// A place that is only a file.
    pub fn file(file: impl Into<String>) -> Self {
        Place { file: Some(file.into()), ..Place::default() }
    }

    /// The same place, with a line.
    pub fn at_line(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    /// The same place, with a column.
    pub fn at_column(mut self, column: usize) -> Self {
        self.column = Some(column);
        self
    }

    /// The same place, with a taxon, partition or option name.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        if let Some(file) = &self.file {
            write!(f, "{file}")?;
            separator = ", ";
        }
        for (word, number) in [("line", self.line), ("column", self.column)] {
            if let Some(number) = number {
                write!(f, "{separator}{word} {number}")?;
                separator = ", ";
            }
        }
        if let Some(name) = &self.name {
            write!(f, "{separator}'{}'", abridged(name))?;
        }
        Ok(())
    }
}

/// One thing wrong with an input: where, and what was expected, what was found, what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where it was found.
    pub place: Place,
    /// What is wrong, what was expected, and what to do about it.
    pub message: String,
}

impl Fault {
    /// A fault at a place. Words of more than 300 characters, which only hostile input has, are cut.
    pub fn new(place: Place, message: impl Into<String>) -> Self {
        Fault { place, message: cut_words(message.into()) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place == Place::default() {
            write!(f, "{}", self.message)
        } else {
            write!(f, "{}: {}", self.place, self.message)
        }
    }
}

/// What is wrong with an input: the first faults that were found, as many as a message shows, and the number of all.
/// A file without sense may have one in every line; they must not fill the memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults {
    kept: Vec<Fault>,
    num_others: usize,
}

impl Faults {
    /// None so far.
    pub const fn new() -> Self {
        Faults { kept: Vec::new(), num_others: 0 }
    }

    /// The first of them.
    pub fn kept(&self) -> &[Fault] {
        &self.kept
    }

    /// The first of them, to be worded differently.
    pub fn kept_mut(&mut self) -> &mut [Fault] {
        &mut self.kept
    }

    /// How many were found.
    pub fn len(&self) -> usize {
        self.kept.len() + self.num_others
    }

    /// True if nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Adds one.
    pub fn push(&mut self, fault: Fault) {
        if self.kept.len() < MAX_FAULTS_SHOWN {
            self.kept.push(fault);
        } else {
            self.num_others += 1;
        }
    }

    /// Adds one that was not found in the order of the lines; the first are those of the first lines.
    pub(crate) fn push_by_line(&mut self, fault: Fault) {
        let at = self.kept.partition_point(|earlier| earlier.place.line <= fault.place.line);
        self.kept.insert(at, fault);
        if self.kept.len() > MAX_FAULTS_SHOWN {
            self.kept.pop();
            self.num_others += 1;
        }
    }

    /// Adds others that were found in the same lines.
    pub(crate) fn append_by_line(&mut self, others: Faults) {
        self.num_others += others.num_others;
        others.kept.into_iter().for_each(|fault| self.push_by_line(fault));
    }

    /// Adds those that were found after these.
    pub fn append(&mut self, others: Faults) {
        self.num_others += others.num_others;
        self.extend(others.kept);
    }
}

impl Extend<Fault> for Faults {
    fn extend<I: IntoIterator<Item = Fault>>(&mut self, faults: I) {
        faults.into_iter().for_each(|fault| self.push(fault));
    }
}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        Faults { kept: vec![fault], num_others: 0 }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines: Vec<String> = self.kept.iter().map(Fault::to_string).collect();
        note_more(&mut lines, self.len());
        write!(f, "{}", lines.join("\n"))
    }
}

/// Everything that can end a run early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input was refused; all faults that were found. Exit code 2.
    #[error("{0}")]
    Input(Faults),
    /// The command line was refused. Exit code 2.
    #[error("{0}")]
    Usage(String),
    /// A file could not be read (exit code 2) or written (exit code 1).
    #[error("{path}: {source}")]
    Io {
        /// The file as the user typed it.
        path: String,
        /// What the system said.
        source: std::io::Error,
        /// True if the file was being written.
        writing: bool,
    },
    /// The computation failed. Exit code 1.
    #[error("{0}")]
    Failed(String),
    /// What computes likelihoods or distances has stopped working. Exit code 1.
    #[error("{0}")]
    Engine(String),
    /// A signal ended the run. Exit code 128 and the signal's number.
    #[error("{}", describe_interruption(*.signal, .resume))]
    Interrupted {
        /// Number of the signal; 0 if another thread of the run failed.
        signal: u8,
        /// The command that resumes the run, if there is a checkpoint.
        resume: Option<String>,
    },
}

/// The state of a run that has ended without an error.
pub const DONE: &str = "done";

/// Result with the program's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A single fault as an error.
    pub fn input(place: Place, message: impl Into<String>) -> Self {
        Error::Input(Fault::new(place, message).into())
    }

    /// The same; if it is an interruption, or a result that cannot be written now, with the command that resumes the run.
    pub fn that_resumes(self, command: String) -> Self {
        match self {
            Error::Interrupted { signal, .. } => {
                Error::Interrupted { signal, resume: Some(command) }
            }
            Error::Io { writing: true, .. } => Error::Failed(format!(
                "{self}; to resume the run when this can be written, repeat: {command}"
            )),
            other => other,
        }
    }

    /// The same; if an engine has stopped, with this command, if there is one, which does `what`.
    pub fn that_goes_on(self, what: &str, command: &str) -> Self {
        match self {
            Error::Engine(reason) if !command.is_empty() => {
                Error::Engine(format!("{reason}; {what}, repeat: {command}"))
            }
            other => other,
        }
    }

    /// The word for how a run has ended, for scripts; see [`DONE`].
    pub fn state(&self) -> &'static str {
        match self.exit_code() {
            1 => "failed",
            2 => "refused",
            _ => "interrupted",
        }
    }

    /// 2 for refused usage or input, 128 and its number for a signal, 1 for everything else.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Input(_) | Error::Usage(_) | Error::Io { writing: false, .. } => 2,
            Error::Io { writing: true, .. } | Error::Failed(_) | Error::Engine(_) => 1,
            Error::Interrupted { signal, .. } => 128 + signal,
        }
    }
}

fn describe_interruption(signal: u8, resume: &Option<String>) -> String {
    let name = match signal {
        2 => "interrupted (SIGINT)",
        15 => "terminated (SIGTERM)",
        _ => "interrupted",
    };
    match resume {
        None => name.to_string(),
        Some(command) => format!("{name}; to resume, repeat: {command}"),
    }
}

/// Characters of an input that a message quotes at most.
const MAX_QUOTED: usize = 60;
/// Longest word of a message, paths included.
const MAX_WORD: usize = 300;

/// A piece of input as messages quote it; by mistake, a name may be a whole file.
pub fn abridged(text: &str) -> Cow<'_, str> {
    cut(text, MAX_QUOTED)
}

/// A number as messages show it: in few characters, however large or small it is.
pub(crate) fn short_number(value: f64) -> String {
    let plain = value == 0.0 || (1e-5..1e9).contains(&value.abs()) || !value.is_finite();
    if plain { value.to_string() } else { format!("{value:e}") }
}

fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    match text.char_indices().nth(limit) {
        Some((end, _)) => Cow::Owned(format!("{}...", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// Shortens what was quoted without [`abridged`].
fn cut_words(text: String) -> String {
    if text.split(' ').all(|word| word.len() <= MAX_WORD) {
        return text;
    }
    text.split(' ').map(|word| cut(word, MAX_WORD)).collect::<Vec<_>>().join(" ")
}

/// The value of a result; the faults of a refusal join the others, any other error is passed on.
pub fn collect<T>(result: Result<T>, faults: &mut Faults) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::Input(more)) => {
            faults.append(more);
            Ok(None)
        }
        Err(other) => Err(other),
    }
}

/// Most faults that a message shows, so that it remains readable, and that are kept.
const MAX_FAULTS_SHOWN: usize = 50;

/// Leaves as many faults of a command as a message shows, and as much of their words.
pub fn shorten(faults: &mut Vec<String>) {
    let count = faults.len();
    faults.truncate(MAX_FAULTS_SHOWN);
    faults.iter_mut().for_each(|fault| *fault = cut_words(std::mem::take(fault)));
    note_more(faults, count);
}

fn note_more(shown: &mut Vec<String>, count: usize) {
    if count > shown.len() {
        shown.push(format!("... and {} more errors", count - shown.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_file_line_column_and_taxon() {
        let fault = Fault::new(
            Place::file("a.phy").at_line(3).at_column(7).named("Homo sapiens"),
            "unknown character '!'",
        );
        assert_eq!(
            fault.to_string(),
            "a.phy, line 3, column 7, 'Homo sapiens': unknown character '!'"
        );
    }

    #[test]
    fn all_faults_are_counted_and_the_first_kept() {
        let fault = |line: usize| Fault::new(Place::file("a").at_line(line), "bad");
        let mut faults = Faults::new();
        faults.extend((1..=1000).map(fault));
        let mut more = Faults::from(fault(1001));
        more.append(faults.clone());
        assert_eq!((faults.len(), more.len(), more.kept().len()), (1000, 1001, 50));
        let message = Error::Input(more).to_string();
        assert!(message.starts_with("a, line 1001: bad\na, line 1: bad\n"), "{message}");
        assert!(message.ends_with("\na, line 49: bad\n... and 951 more errors"), "{message}");
        let mut by_line = Faults::new();
        (1..=1000).rev().for_each(|line| by_line.push_by_line(fault(line)));
        assert_eq!(by_line, faults);
    }

    #[test]
    fn what_messages_quote_is_short() {
        let long = "é".repeat(10_000);
        assert_eq!(abridged("name"), "name");
        assert_eq!(abridged(&long), "é".repeat(60) + "...");
        let fault = Fault::new(Place::file("a").named(&long), format!("model '{long}' is unknown"));
        assert!(fault.to_string().chars().count() < 400, "{fault}");
        assert!(fault.to_string().ends_with("... is unknown"), "{fault}");
        for (value, shown) in [(0.0, "0"), (-1.5, "-1.5"), (0.0001, "0.0001"), (1e308, "1e308")] {
            assert_eq!(short_number(value), shown);
        }
        assert_eq!(short_number(-5e-324), "-5e-324");
        assert_eq!(short_number(123456789.25), "123456789.25");
    }
}
