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
    let analysis = match cli::parse(&words) {
        Ok(analysis) => analysis,
        Err(Stop::Clap(error)) => return cli::print_clap(&error),
        Err(Stop::Refused(error)) => return cli::print_error(&error),
        Err(Stop::Text(text)) => return cli::print_text(&text),
        Err(Stop::NoCommand(text)) => return cli::print_no_command(&text),
    };
    match run::execute(&analysis) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => cli::print_error(&error),
    }
}
