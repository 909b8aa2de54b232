//! Refusals and failures on standard error, and the exit codes that go with them.

use crate::error::Error;
use std::io::Write;
use std::process::ExitCode;

/// Prints an error; 2 for refused usage or input, 1 for everything else.
pub fn print_error(error: &Error) -> ExitCode {
    eprintln!("{}", message(error));
    ExitCode::from(error.exit_code())
}

/// Prints why this process ends the run, on standard error.
pub fn print_failure(why: &str) {
    eprintln!("mlsearch: {why}");
}

/// Prints the option parser's message: help and version on standard output with code 0, refusals on
/// standard error with code 2.
pub fn print_clap(error: &clap::Error) -> ExitCode {
    // If the message cannot be written, the exit code still tells.
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Prints help or a guide on standard output.
pub fn print_text(text: &str) -> ExitCode {
    // A reader that has seen enough closes the pipe.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    ExitCode::SUCCESS
}

/// Prints what there is, for a command line without a command; 2, because nothing was done.
pub fn print_no_command(text: &str) -> ExitCode {
    eprint!("{text}");
    ExitCode::from(2)
}

fn message(error: &Error) -> String {
    let text = error.to_string();
    let help = "Try 'mlsearch --help'.";
    // A refusal may end in the corrected command.
    let (text, hint) = match text.rsplit_once("\nTry: ") {
        Some((text, command)) => (text.to_string(), format!("Try: {command}")),
        None => (text, help.to_string()),
    };
    match error {
        Error::Input(faults) if faults.len() > 1 => {
            format!("mlsearch: the input has {} errors:\n{}", faults.len(), indent(&text))
        }
        Error::Usage(_) if text.contains('\n') => {
            format!("mlsearch: the command is refused:\n{}\n{hint}", indent(&text))
        }
        Error::Usage(_) => format!("mlsearch: {text}\n{hint}"),
        _ => format!("mlsearch: {text}"),
    }
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Fault, Faults, Place};

    #[test]
    fn several_faults_are_counted_and_indented() {
        let fault = |line| Fault::new(Place::file("a.phy").at_line(line), "empty name");
        let mut all = Faults::from(fault(2));
        all.push(fault(3));
        assert_eq!(
            message(&Error::Input(all)),
            "mlsearch: the input has 2 errors:\n  a.phy, line 2: empty name\n  \
             a.phy, line 3: empty name"
        );
        let one = Error::input(Place::file("a.phy"), "is empty");
        assert_eq!(message(&one), "mlsearch: a.phy: is empty");
    }
}
