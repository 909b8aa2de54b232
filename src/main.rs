//! The binary: parse, carry out, report, exit code.

use mlsearch::cli::{self, Stop};
use mlsearch::run;
use std::process::ExitCode;

fn main() -> ExitCode {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("off")).init();
    mlsearch::panics::keep();
    if let Err(error) = run::listen_to_signals() {
        log::warn!("signals end the run without a checkpoint: {error}");
    }
    let words: Vec<String> = match std::env::args_os().map(|word| word.into_string()).collect() {
        Ok(words) => words,
        Err(word) => {
            let message = format!("'{}' is not UTF-8", word.to_string_lossy());
            return cli::print_error(&mlsearch::error::Error::Usage(message));
        }
    };
    let args = match cli::parse(&words) {
        Ok(args) => args,
        Err(Stop::Clap(error)) => return cli::print_clap(&error),
        Err(Stop::Refused(error)) => return cli::print_error(&error),
        Err(Stop::Guide(text)) => return cli::print_guide(text),
    };
    match cli::resolve(&args).and_then(|plan| run::execute(&plan)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => cli::print_error(&error),
    }
}
