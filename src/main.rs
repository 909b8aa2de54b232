//! The binary: parse, carry out, report, exit code.

use mlsearch::cli::{self, Stop};
use mlsearch::run;
use std::process::ExitCode;

fn main() -> ExitCode {
    run::begin_with_huge_pages();
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("off")).init();
    mlsearch::panics::keep();
    let processes = match run::Processes::begin(cli::print_failure) {
        Ok(processes) => processes,
        Err(error) => return cli::print_error(&error),
    };
    let words: Option<Vec<String>> =
        std::env::args_os().map(|word| word.into_string().ok()).collect();
    if processes.only_follows() {
        // Rank 0 decides when the run ends, and says what is refused.
        run::ignore_signals();
        processes.follow(|| cli::parse(words.as_ref()?).ok());
        return ExitCode::SUCCESS;
    }
    if let Err(error) = run::listen_to_signals() {
        log::warn!("signals end the run without a checkpoint: {error}");
    }
    let Some(words) = words else {
        let is_text = |word: &std::ffi::OsString| word.to_str().is_some();
        let word = std::env::args_os().find(|word| !is_text(word)).unwrap_or_default();
        let message = format!("'{}' is not UTF-8", word.to_string_lossy());
        return cli::print_error(&mlsearch::error::Error::Usage(message));
    };
    let mut analysis = match cli::parse(&words) {
        Ok(analysis) => analysis,
        Err(Stop::Clap(error)) => return cli::print_clap(&error),
        Err(Stop::Refused(error)) => return cli::print_error(&error),
        Err(Stop::Text(text)) => return cli::print_text(&text),
        Err(Stop::NoCommand(text)) => return cli::print_no_command(&text),
    };
    processes.take_part_in(&mut analysis);
    match run::execute(&analysis) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let code = cli::print_error(&error);
            processes.fail(&error);
            code
        }
    }
}
