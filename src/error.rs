//! Faults a user can cause and mend, each with the place where it was found.
//!
//! Here live the error types of the whole program and their exit codes. Readers collect *every*
//! [`Fault`] they find before they refuse, so a user mends a file once. Nothing here prints.

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
            write!(f, "{separator}'{name}'")?;
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
    /// A fault at a place.
    pub fn new(place: Place, message: impl Into<String>) -> Self {
        Fault { place, message: message.into() }
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

/// Everything that can end a run early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input was refused; all faults that were found. Exit code 2.
    #[error("{}", list_faults(.0))]
    Input(Vec<Fault>),
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
}

/// Result with the program's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A single fault as an error.
    pub fn input(place: Place, message: impl Into<String>) -> Self {
        Error::Input(vec![Fault::new(place, message)])
    }

    /// 2 for refused usage or input, 1 for everything else.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Input(_) | Error::Usage(_) | Error::Io { writing: false, .. } => 2,
            Error::Io { writing: true, .. } | Error::Failed(_) => 1,
        }
    }
}

/// Longest list of faults shown in full; a message nobody reads to the end helps nobody.
const MAX_FAULTS_SHOWN: usize = 50;

fn list_faults(faults: &[Fault]) -> String {
    let mut lines: Vec<String> =
        faults.iter().take(MAX_FAULTS_SHOWN).map(Fault::to_string).collect();
    if faults.len() > MAX_FAULTS_SHOWN {
        lines.push(format!("... and {} more faults of this kind", faults.len() - MAX_FAULTS_SHOWN));
    }
    lines.join("\n")
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
}
