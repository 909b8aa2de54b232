//! Errors of the program as the exception of the package, with all faults.

use mlsearch::cli::Stop;
use mlsearch::error::{Error, Fault};
use pyo3::prelude::*;

/// One fault: message, file, line, column and name.
type FaultParts = (String, Option<String>, Option<usize>, Option<usize>, Option<String>);

fn parts(fault: &Fault) -> FaultParts {
    let place = fault.place.clone();
    (fault.message.clone(), place.file, place.line, place.column, place.name)
}

fn without_place(line: &str) -> FaultParts {
    (line.to_string(), None, None, None, None)
}

/// The exception of an error.
pub(crate) fn exception(error: &Error) -> PyErr {
    let faults: Vec<FaultParts> = match error {
        Error::Input(faults) => faults.kept().iter().map(parts).collect(),
        // One in each line; the corrected command that may follow is not Python.
        Error::Usage(text) => {
            let lines = text.lines().filter(|line| !line.starts_with("Try: "));
            lines.map(without_place).collect()
        }
        Error::Io { path, source, .. } => {
            vec![(source.to_string(), Some(path.clone()), None, None, None)]
        }
        other => vec![without_place(&other.to_string())],
    };
    let count = match error {
        Error::Input(all) => all.len(),
        _ => faults.len(),
    };
    make(error.state(), faults, count)
}

/// The exception of a command that cannot be read.
pub(crate) fn exception_of_stop(stop: &Stop) -> PyErr {
    match stop {
        Stop::Refused(error) => exception(error),
        Stop::Clap(error) => {
            // The rest is about the command line.
            let text = error.to_string();
            let first = text.split("\n\n").next().unwrap_or_default();
            let words: Vec<&str> = first.trim_start_matches("error: ").split_whitespace().collect();
            make("refused", vec![without_place(&words.join(" "))], 1)
        }
        Stop::Text(text) | Stop::NoCommand(text) => make("refused", vec![without_place(text)], 1),
    }
}

/// An exception of this state: "refused", "failed" or "interrupted".
fn make(state: &str, faults: Vec<FaultParts>, count: usize) -> PyErr {
    let made = Python::attach(|py| -> PyResult<PyErr> {
        let class = py.import("mlsearch._errors")?.getattr("MlsearchError")?;
        let exception = class.call_method1("_of", (state, faults, count))?;
        Ok(PyErr::from_value(exception))
    });
    made.unwrap_or_else(|error| error)
}

/// An exception with one message.
pub(crate) fn refusal(message: &str) -> PyErr {
    make("refused", vec![without_place(message)], 1)
}
