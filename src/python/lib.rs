//! The native part of the Python package: runs of the program in this process (`runs`), the likelihood of a tree (`likelihood`), both
//! on threads of their own (`own_thread`), and refusals as exceptions (`exceptions`); what is
//! written in the text of trees (`trees`).
//!
//! Everything that users see is in `mlsearch/` beside this file. An analysis is asked for in the words of a command line, so that
//! there is one list of options: `mlsearch/words/` is generated from it.

#![warn(unreachable_pub)]

mod exceptions;
mod likelihood;
mod own_thread;
mod runs;
mod trees;

/// Runs of the program and the likelihood, for the package around it.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use super::likelihood::Likelihood;
    #[pymodule_export]
    use super::runs::run;
    #[pymodule_export]
    use super::trees::read_newick;
    use pyo3::prelude::*;

    /// What has to be so before anything is computed in a process that is not ours.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::own_thread::remember_process();
        // This library has a standard library of its own, and so a hook of its own for panics.
        mlsearch::panics::keep();
        mlsearch::parallel::share_cores();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
