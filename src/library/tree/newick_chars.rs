//! Characters of a text with their places, decoded as they are read, so that a file of trees is never completely
//! in memory.

use crate::error::{Error, Place, Result};
use std::io::{BufRead, ErrorKind};

/// The characters of a text, one at a time.
pub(super) struct Characters<'a> {
    reader: Box<dyn BufRead + 'a>,
    /// Name of the text in faults.
    pub file: String,
    /// Bytes that were read and not yet returned, from `at` on.
    bytes: Vec<u8>,
    at: usize,
    next: Option<char>,
    /// Line of the next character, counted from 1.
    pub line: u32,
    /// Column of the next character, counted from 1.
    pub column: u32,
    failure: Option<Error>,
}

impl<'a> Characters<'a> {
    pub(super) fn new(reader: impl BufRead + 'a, file: &str) -> Self {
        let mut characters = Characters {
            reader: Box::new(reader),
            file: file.to_string(),
            bytes: Vec::new(),
            at: 0,
            next: None,
            line: 1,
            column: 1,
            failure: None,
        };
        characters.next = characters.decode();
        characters
    }

    /// The next character, which stays the next.
    pub(super) fn peek(&self) -> Option<char> {
        self.next
    }

    /// Takes the next character; none comes after the end, a failure or [`Characters::stop`].
    pub(super) fn bump(&mut self) -> Option<char> {
        let character = self.next?;
        self.next = self.decode();
        // A lone carriage return ends a line too (old Macintosh files), one before '\n' does not.
        if character == '\n' || (character == '\r' && self.next != Some('\n')) {
            self.line = self.line.saturating_add(1);
            self.column = 1;
        } else {
            self.column = self.column.saturating_add(1);
        }
        Some(character)
    }

    /// Ends the text here.
    pub(super) fn stop(&mut self) {
        self.next = None;
        self.at = usize::MAX;
    }

    /// True after [`Characters::stop`] or a failure.
    pub(super) fn is_stopped(&self) -> bool {
        self.at == usize::MAX
    }

    /// Why there are no more characters, if the text is not at its end.
    ///
    /// # Errors
    /// A failure to read, or bytes that are not UTF-8.
    pub(super) fn finish(self) -> Result<()> {
        self.failure.map_or(Ok(()), Err)
    }

    fn decode(&mut self) -> Option<char> {
        let first = self.byte()?;
        if first.is_ascii() {
            let is_text = !first.is_ascii_control() || first.is_ascii_whitespace() || first == 0x0b;
            return if is_text { Some(char::from(first)) } else { self.refuse() };
        }
        let mut encoded = vec![first];
        let length = first.leading_ones() as usize;
        while encoded.len() < length.min(4) {
            match self.byte() {
                Some(byte) => encoded.push(byte),
                None => break,
            }
        }
        let decoded = std::str::from_utf8(&encoded).ok().and_then(|text| text.chars().next());
        decoded.or_else(|| self.refuse())
    }

    fn refuse(&mut self) -> Option<char> {
        let place = Place::file(&self.file).at_line(self.line as usize);
        let message =
            "the file is not UTF-8 text: expected trees in Newick format; save the file as UTF-8";
        self.failure = self.failure.take().or(Some(Error::input(place, message)));
        self.stop();
        None
    }

    fn byte(&mut self) -> Option<u8> {
        if self.is_stopped() {
            return None;
        }
        if self.at == self.bytes.len() {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == ErrorKind::Interrupted => return self.byte(),
                Err(source) => {
                    let path = self.file.clone();
                    self.failure = Some(Error::Io { path, source, writing: false });
                    self.stop();
                    return None;
                }
            };
            self.bytes.clear();
            self.bytes.extend_from_slice(chunk);
            self.at = 0;
            self.reader.consume(self.bytes.len());
        }
        let byte = self.bytes.get(self.at).copied()?;
        self.at += 1;
        Some(byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (String, u32, Result<()>) {
        let mut characters = Characters::new(bytes, "t");
        let mut text = String::new();
        while let Some(character) = characters.bump() {
            text.push(character);
        }
        (text, characters.line, characters.finish())
    }

    #[test]
    fn characters_of_every_length_and_lines_of_every_kind() {
        let text = "aé€🐢\r\nb\rc\n\t";
        let (found, line, end) = read(text.as_bytes());
        assert_eq!((found.as_str(), line), (text, 4));
        end.unwrap();
        // Longer than what is read at once.
        let long = text.repeat(20_000);
        assert_eq!(read(long.as_bytes()).0, long);
    }

    #[test]
    fn what_is_no_text_ends_it() {
        for bad in [&b"a\nb\xff)"[..], b"a\nb\0c", b"a\nb\xe2\x82"] {
            let (text, _, end) = read(bad);
            assert_eq!(text, "a\nb");
            let message = end.unwrap_err().to_string();
            assert!(message.starts_with("t, line 2: the file is not UTF-8 text"), "{message}");
        }
    }
}
