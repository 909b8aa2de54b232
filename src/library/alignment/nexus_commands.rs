//! The commands of a NEXUS text (Maddison, Swofford & Maddison 1997, Systematic Biology 46:590): each ends with `;`,
//! comments stand in `[ ]`, names with blanks in quotes. What the commands say is not known here.

use crate::error::{Fault, Faults, Place};

/// Blanks out all comments, which may be nested and take several lines; lines stay where they are. Lines of old
/// Macintosh files, which end in a carriage return only, become lines.
pub(super) fn hide_comments(text: &mut [u8], first_line: usize, file: &str, faults: &mut Faults) {
    if !text.contains(&b'\n') {
        text.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
    }
    let (mut at, mut line, mut begins_word) = (0, first_line, true);
    while at < text.len() {
        let byte = text[at];
        if byte == b'[' {
            let start = at;
            let mut depth = 0;
            while at < text.len() {
                match text[at] {
                    b'[' => depth += 1,
                    b']' => depth -= 1,
                    _ => {}
                }
                at += 1;
                if depth == 0 {
                    break;
                }
            }
            if depth > 0 {
                let message = "the comment that begins here has no closing `]`";
                faults.push(Fault::new(Place::file(file).at_line(line), message));
            }
            for byte in &mut text[start..at] {
                match *byte {
                    b'\n' => line += 1,
                    _ => *byte = b' ',
                }
            }
            begins_word = true;
            continue;
        }
        if byte == b'\'' && begins_word {
            at += quoted_length(&text[at..]).unwrap_or(1);
        } else {
            line += usize::from(byte == b'\n');
            at += 1;
        }
        begins_word = ends_word(byte);
    }
}

/// True if a quote may follow that begins a name: inside a word it is an apostrophe.
fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"=,;:()".contains(&byte)
}

/// Length of the quoted name at the beginning, with its quotes; `None` if it is not closed on its line. A doubled
/// quote stands for one.
fn quoted_length(text: &[u8]) -> Option<usize> {
    let quote = text[0];
    let mut at = 1;
    loop {
        match *text.get(at)? {
            b'\n' => return None,
            byte if byte == quote && text.get(at + 1) == Some(&quote) => at += 2,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// A command of a text without comments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Command<'a> {
    /// What stands before its `;`, from its first word on.
    text: &'a [u8],
    /// Line of its first word, counted from 1.
    pub line: usize,
    /// True if there is a `;`.
    pub is_ended: bool,
}

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Its text, without quotes.
    pub text: Vec<u8>,
    /// Line it stands on, counted from 1.
    pub line: usize,
    /// True if it begins with a quote that is not closed on its line.
    pub is_open: bool,
}

/// The commands of a text that begins on this line.
pub(super) fn commands(text: &[u8], first_line: usize) -> impl Iterator<Item = Command<'_>> {
    let (mut rest, mut line) = (text, first_line);
    std::iter::from_fn(move || {
        let command = rest.trim_ascii_start();
        line += count_lines(&rest[..rest.len() - command.len()]);
        if command.is_empty() {
            return None;
        }
        let (mut at, mut begins_word) = (0, true);
        while at < command.len() && command[at] != b';' {
            let byte = command[at];
            at += match byte {
                b'\'' if begins_word => quoted_length(&command[at..]).unwrap_or(1),
                _ => 1,
            };
            begins_word = ends_word(byte);
        }
        let found = Command { text: &command[..at], line, is_ended: at < command.len() };
        line += count_lines(found.text);
        rest = &command[(at + 1).min(command.len())..];
        Some(found)
    })
}

fn count_lines(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte == b'\n').count()
}

impl<'a> Command<'a> {
    /// Its first word, in lower case.
    pub(super) fn name(&self) -> String {
        String::from_utf8_lossy(self.split().0).to_ascii_lowercase()
    }

    /// What follows the first word.
    pub(super) fn body(&self) -> &'a [u8] {
        self.split().1
    }

    fn split(&self) -> (&'a [u8], &'a [u8]) {
        let end = self.text.iter().position(u8::is_ascii_whitespace);
        self.text.split_at(end.unwrap_or(self.text.len()))
    }

    /// Names after the first word, separated by white space.
    pub(super) fn labels(&self) -> impl Iterator<Item = Word> + use<'a> {
        let (mut rest, mut line) = (self.body(), self.line);
        std::iter::from_fn(move || {
            let text = rest.trim_ascii_start();
            line += count_lines(&rest[..rest.len() - text.len()]);
            if text.is_empty() {
                return None;
            }
            let (text, is_open, after) = take_label(text);
            rest = after;
            Some(Word { text, line, is_open })
        })
    }

    /// `KEY` and `KEY=VALUE` after the first word, with the line of the key; keys in lower case. Values may be in
    /// quotes, which `SYMBOLS` needs.
    pub(super) fn settings(
        &self,
    ) -> impl Iterator<Item = (String, Option<String>, usize)> + use<'a> {
        let (mut rest, mut line) = (self.body(), self.line);
        std::iter::from_fn(move || {
            let text = rest.trim_ascii_start();
            line += count_lines(&rest[..rest.len() - text.len()]);
            if text.is_empty() {
                return None;
            }
            let end = text.iter().position(|&byte| byte.is_ascii_whitespace() || byte == b'=');
            let (key, after) = text.split_at(end.unwrap_or(text.len()));
            let key_line = line;
            let mut value = None;
            rest = after;
            if let Some(after) = after.trim_ascii_start().strip_prefix(b"=") {
                let after = after.trim_ascii_start();
                let (found, left) = take_value(after);
                value = Some(found);
                rest = left;
            }
            line += count_lines(&text[..text.len() - rest.len()]);
            let key = String::from_utf8_lossy(key).to_ascii_lowercase();
            Some((key, value, key_line))
        })
    }

    /// The lines of what follows the first word that are not blank, with their numbers, trimmed.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &'a [u8])> + Clone + use<'a> {
        let first = self.line;
        let lines = self.body().split(|&byte| byte == b'\n').enumerate();
        let lines = lines.map(move |(i, line)| (first + i, line.trim_ascii()));
        lines.filter(|(_, line)| !line.is_empty())
    }
}

/// The name at the beginning of a text, whether it has a quote that is not closed on its line, and the text after it.
pub(super) fn take_label(text: &[u8]) -> (Vec<u8>, bool, &[u8]) {
    let quote = *text.first().unwrap_or(&b' ');
    if (quote == b'\'' || quote == b'"')
        && let Some(length) = quoted_length(text)
    {
        let inner = &text[1..length - 1];
        let mut name = Vec::with_capacity(inner.len());
        let mut at = 0;
        while at < inner.len() {
            name.push(inner[at]);
            at += if inner[at] == quote { 2 } else { 1 };
        }
        return (name, false, &text[length..]);
    }
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    (text[..end].to_vec(), quote == b'\'', &text[end..])
}

/// The value after a `=`: a word, a text in double quotes, or a word with a list in parentheses.
fn take_value(text: &[u8]) -> (String, &[u8]) {
    let spell = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
    let quote = text.first().filter(|byte| b"\"'".contains(byte));
    if let Some(quote) = quote
        && let Some(end) = text[1..].iter().position(|byte| byte == quote)
    {
        return (spell(&text[1..=end]), &text[end + 2..]);
    }
    let mut depth = 0usize;
    let mut end = 0;
    for &byte in text {
        match byte {
            // A symbol for gaps may be a parenthesis itself.
            b'(' if end > 0 => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            byte if byte.is_ascii_whitespace() && depth == 0 => break,
            _ => {}
        }
        end += 1;
    }
    (spell(&text[..end]), &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(text: &str) -> (String, Faults) {
        let (mut bytes, mut faults) = (text.as_bytes().to_vec(), Faults::new());
        hide_comments(&mut bytes, 1, "f", &mut faults);
        (String::from_utf8(bytes).unwrap(), faults)
    }

    #[test]
    fn comments_become_blanks_and_lines_remain() {
        let (text, faults) = hidden("a[x[y]\n]b 'c[d]''e' O'Neil[f] [g];\r");
        assert_eq!(text, "a     \n b 'c[d]''e' O'Neil       ;\r");
        assert!(faults.is_empty());
        let (text, faults) = hidden("a\n[b[c]\nd");
        assert_eq!(text, "a\n     \n ");
        assert_eq!(
            faults.to_string(),
            "f, line 2: the comment that begins here has no closing `]`"
        );
        assert_eq!(hidden("a\rb\r").0, "a\nb\n");
    }

    #[test]
    fn commands_labels_and_settings_have_their_lines() {
        let text = b"\nbegin x;\nLabels a 'b; ''c'\n\"d\" 'open e;\nformat Gap = - symbols=\"0 1\"\n x y=\n(z a) q=m(b c);end";
        let found: Vec<Command> = commands(text, 1).collect();
        let names: Vec<_> = found.iter().map(|c| (c.name(), c.line, c.is_ended)).collect();
        let expected = [("begin", 2, true), ("labels", 3, true), ("format", 5, true)];
        let mut expected = expected.map(|(name, line, end)| (name.to_string(), line, end)).to_vec();
        expected.push(("end".to_string(), 7, false));
        assert_eq!(names, expected);
        let labels: Vec<_> = found[1].labels().collect();
        let spelt: Vec<_> = labels.iter().map(|w| String::from_utf8_lossy(&w.text)).collect();
        assert_eq!(spelt, ["a", "b; 'c", "d", "'open", "e"]);
        assert_eq!((labels[2].line, labels[3].is_open, labels[4].is_open), (4, true, false));
        let settings: Vec<_> = found[2].settings().collect();
        let setting =
            |key: &str, value: Option<&str>, line| (key.to_string(), value.map(String::from), line);
        assert_eq!(
            settings,
            [
                setting("gap", Some("-"), 5),
                setting("symbols", Some("0 1"), 5),
                setting("x", None, 6),
                setting("y", Some("(z"), 6),
                setting("a)", None, 7),
                setting("q", Some("m(b c)"), 7),
            ]
        );
    }
}
