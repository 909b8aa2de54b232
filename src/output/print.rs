//! What a command was asked to say, on standard output.

use std::io::Write;

/// Prints a text. A reader that has gone away (`| head`) is no failure.
pub fn print_report(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
