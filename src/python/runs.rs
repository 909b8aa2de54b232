//! Runs of the program, asked for in the words of a command line.

use crate::exceptions::{exception, exception_of_stop};
use crate::own_thread::{Interruption, on_own_thread};
use mlsearch::cli;
use mlsearch::panics::caught;
use mlsearch::run::{Analysis, Watched, execute_watched};
use pyo3::prelude::*;

/// The analysis that these words ask for.
pub(crate) fn analysis(words: Vec<String>) -> PyResult<Analysis> {
    let program = std::iter::once("mlsearch".to_string());
    let words: Vec<String> = program.chain(words).collect();
    let read = caught(|| Ok(cli::parse(&words))).map_err(|error| exception(&error))?;
    read.map_err(|stop| exception_of_stop(&stop))
}

/// Carries out an analysis. Returns what it would have written on standard output, and its warnings in lines.
///
/// `progress` is called about ten times a second with what is done now, the share of it that is done and the best log-likelihood.
/// With `is_kept`, an interruption leaves time for a checkpoint.
#[pyfunction]
#[pyo3(signature = (words, progress, is_kept))]
pub(crate) fn run(
    py: Python<'_>,
    words: Vec<String>,
    progress: Option<Py<PyAny>>,
    is_kept: bool,
) -> PyResult<(String, String)> {
    let analysis = analysis(words)?;
    let watched = Watched::default();
    let seen = watched.clone();
    let look = |py: Python<'_>| {
        let Some(progress) = &progress else { return Ok(()) };
        let moment = seen.moment();
        progress.call1(py, (moment.line, moment.share, moment.best_lnl)).map(|_| ())
    };
    let interruption = match is_kept {
        true => Interruption::SavesState,
        false => Interruption::AtOnce,
    };
    let for_run = watched.clone();
    on_own_thread(py, interruption, look, move |stop| execute_watched(analysis, stop, &for_run))?;
    Ok((watched.results(), watched.messages()))
}
