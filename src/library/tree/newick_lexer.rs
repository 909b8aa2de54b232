//! The words and signs of Newick text, with their places. Comments are dropped, but for what `[&support=95]` says of a node.

use super::newick_chars::Characters;
use crate::error::{Fault, Place};

/// Longest label, in bytes.
const MAX_LABEL: usize = 1 << 16;

/// What a token is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    Open,
    Close,
    Comma,
    Colon,
    Semicolon,
    Label(String),
}

/// A sign or a label, and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub line: u32,
    pub column: u32,
}

/// Takes a text apart.
pub(super) struct Lexer<'a> {
    pub chars: Characters<'a>,
    /// The last comment before the last token that begins with `&`, without this and the brackets.
    annotation: Option<String>,
}

/// Names of the numbers of an inner node in comments, in our own trees in NEXUS and in those of other programs (MrBayes, BEAST, FigTree). The first
/// of these that is there is taken.
const ANNOTATED: [&str; 6] = ["support", "posterior", "prob", "bootstrap", "UFBoot", "label"];

impl<'a> Lexer<'a> {
    /// At the beginning of a text.
    pub(super) fn new(chars: Characters<'a>) -> Self {
        Lexer { chars, annotation: None }
    }
}

impl Lexer<'_> {
    /// The label that a comment before the last token gives to a node: `95/0.9` of `[&support=95,support_2=0.9]`.
    pub(super) fn annotated_label(&self) -> Option<String> {
        let annotation = self.annotation.as_deref()?;
        let value = |name: &str| {
            let mut pairs = annotation.split(',').filter_map(|pair| pair.split_once('='));
            let (_, value) = pairs.find(|(key, _)| key.trim().trim_start_matches('!') == name)?;
            Some(value.trim().trim_matches('"').to_string()).filter(|value| !value.is_empty())
        };
        let name = ANNOTATED.into_iter().find(|name| value(name).is_some())?;
        let further = (2..).map_while(|number| value(&format!("{name}_{number}")));
        let values: Vec<String> = value(name).into_iter().chain(further).collect();
        Some(values.join("/"))
    }

    /// A fault at a place of the text.
    pub(super) fn fault(&self, (line, column): (u32, u32), message: impl Into<String>) -> Fault {
        let place = Place::file(&self.chars.file).at_line(line as usize).at_column(column as usize);
        Fault::new(place, message)
    }

    /// A fault that ends the reading.
    pub(super) fn give_up(&mut self, at: (u32, u32), message: impl Into<String>) -> Fault {
        self.chars.stop();
        self.fault(at, message)
    }

    /// The next token, `None` at the end of the text.
    pub(super) fn next(&mut self) -> std::result::Result<Option<Token>, Fault> {
        self.annotation = None;
        loop {
            let (line, column) = (self.chars.line, self.chars.column);
            let Some(c) = self.chars.bump() else {
                return Ok(None);
            };
            let kind = match c {
                '(' => TokenKind::Open,
                ')' => TokenKind::Close,
                ',' => TokenKind::Comma,
                ':' => TokenKind::Colon,
                ';' => TokenKind::Semicolon,
                '[' => {
                    self.skip_comment((line, column))?;
                    continue;
                }
                ']' => {
                    return Err(self.fault(
                        (line, column),
                        "']' without a '[' before it; a name with brackets must be quoted",
                    ));
                }
                '\'' | '"' => TokenKind::Label(self.quoted(c, (line, column))?),
                c if c.is_whitespace() => continue,
                c => TokenKind::Label(self.bare(c, (line, column))?),
            };
            return Ok(Some(Token { kind, line, column }));
        }
    }

    fn skip_comment(&mut self, start: (u32, u32)) -> std::result::Result<(), Fault> {
        let mut depth = 1;
        let mut annotation = (self.chars.peek() == Some('&')).then(String::new);
        while depth > 0 {
            match self.chars.bump() {
                Some('[') => depth += 1,
                Some(']') => depth -= 1,
                Some('&') if annotation.as_deref() == Some("") => {}
                Some(c) => {
                    if let Some(text) = annotation.as_mut().filter(|text| text.len() < MAX_LABEL) {
                        text.push(c);
                    }
                }
                None => {
                    return Err(
                        self.fault(start, "the comment that starts here is never closed by ']'")
                    );
                }
            }
        }
        self.annotation = annotation.or(self.annotation.take());
        Ok(())
    }

    /// Passes over everything up to the next `;` outside comments and quotes, which it takes. What stands there may be
    /// of any kind, but comments must be closed.
    pub(super) fn skip_command(&mut self) -> std::result::Result<(), Fault> {
        let mut begins_word = true;
        loop {
            let at = (self.chars.line, self.chars.column);
            let Some(c) = self.chars.bump() else {
                return Ok(());
            };
            match c {
                ';' => return Ok(()),
                '[' => self.skip_comment(at)?,
                // Inside a word it is an apostrophe; a quoted name ends on its line.
                '\'' if begins_word => {
                    while self.chars.peek().is_some_and(|c| c != '\n') {
                        if self.chars.bump() == Some('\'') {
                            break;
                        }
                    }
                }
                _ => {}
            }
            begins_word = c.is_whitespace() || "=,()]".contains(c);
        }
    }

    fn quoted(&mut self, quote: char, start: (u32, u32)) -> std::result::Result<String, Fault> {
        let mut label = String::new();
        loop {
            match self.chars.bump() {
                Some(c) if c == quote => {
                    if self.chars.peek() != Some(quote) {
                        return Ok(label);
                    }
                    self.chars.bump();
                    label.push(quote);
                }
                Some(_) if label.len() > MAX_LABEL => return Err(self.give_up(start, TOO_LONG)),
                Some(c) => label.push(c),
                None => {
                    return Err(self.fault(
                        start,
                        format!("the name that starts here is never closed by {quote}"),
                    ));
                }
            }
        }
    }

    /// A label without quotes, from its second character on.
    pub(super) fn bare(
        &mut self,
        first: char,
        start: (u32, u32),
    ) -> std::result::Result<String, Fault> {
        let mut label = String::from(first);
        while let Some(c) = self.chars.peek() {
            if c.is_whitespace() || "()[],:;".contains(c) {
                break;
            }
            if label.len() > MAX_LABEL {
                return Err(self.give_up(start, TOO_LONG));
            }
            label.push(c);
            self.chars.bump();
        }
        Ok(label)
    }
}

const TOO_LONG: &str =
    "the name that starts here has more than 65536 characters; check that this is a file of trees";
