//! Changes texts at random: bytes, numbers, lines, words of a dictionary, pieces of other texts, repetitions.

use mlsearch::rng::{Purpose, Rng, stream};
use rand::RngExt;

/// Words that readers may not expect.
const WORDS: &[&[u8]] = &[
    b"0",
    b"1",
    b"-1",
    b"99999999999",
    b"4294967295",
    b"4294967296",
    b"18446744073709551616",
    b"1e300",
    b"1e-300",
    b"-0.0",
    b"NaN",
    b"inf",
    b".",
    b"\\3",
    b"/",
    b"/0",
    b"\\0",
    b"#nexus",
    b"[",
    b"]",
    b"(",
    b")",
    b"((((((((",
    b"'",
    b"\"",
    b"{",
    b"}",
    b":",
    b";",
    b",",
    b"=",
    b"+",
    b"-",
    b">",
    b"#",
    b"*",
    b"?",
    b"\n",
    b"\r",
    b"\r\n",
    b"\t",
    b" ",
    b"\0",
    b"\x0b",
    b"\xff",
    b"\xe2\x82",
    b"\xef\xbb\xbf",
    "é".as_bytes(),
    "\u{2028}".as_bytes(),
    "\u{1F422}".as_bytes(),
];

/// Makes texts from those of a corpus, always the same from the same seed.
pub struct Mutator {
    rng: Rng,
    /// The texts that are changed.
    pub corpus: Vec<Vec<u8>>,
    /// Words of the corpus, for places where other words are expected.
    words: Vec<Vec<u8>>,
    max_length: usize,
}

impl Mutator {
    /// Texts are cut to `max_length` bytes.
    pub fn new(seed: u64, corpus: Vec<Vec<u8>>, max_length: usize) -> Self {
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"()[]{},:;=+/-".contains(byte);
        let words = corpus.iter().flat_map(|text| text.split(is_end));
        let mut words: Vec<Vec<u8>> =
            words.filter(|word| !word.is_empty()).map(<[u8]>::to_vec).collect();
        words.extend(WORDS.iter().map(|word| word.to_vec()));
        words.sort();
        words.dedup();
        Mutator { rng: stream(seed, Purpose::Test, 0), corpus, words, max_length }
    }

    /// The next text.
    pub fn next(&mut self) -> Vec<u8> {
        let mut text = self.any_text();
        let count = 1 << self.rng.random_range(0..5);
        for _ in 0..self.rng.random_range(1..=count) {
            self.change(&mut text);
        }
        text.truncate(self.max_length);
        text
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.rng.random_range(0..end.max(1))
    }

    fn any_text(&mut self) -> Vec<u8> {
        let which = self.below(self.corpus.len());
        self.corpus[which].clone()
    }

    /// A piece of the text: a few bytes, a word, a line or any length.
    fn piece(&mut self, text: &[u8]) -> std::ops::Range<usize> {
        let start = self.below(text.len() + 1);
        let rest = text.len() - start;
        let back =
            |is_end: fn(&u8) -> bool| text[..start].iter().rposition(is_end).map_or(0, |at| at + 1);
        let ahead = |is_end: fn(&u8) -> bool| text[start..].iter().position(is_end).unwrap_or(rest);
        match self.below(4) {
            0 => start..start + self.below(rest.min(4) + 1),
            1 => {
                back(|byte| !byte.is_ascii_alphanumeric())
                    ..start + ahead(|byte| !byte.is_ascii_alphanumeric())
            }
            2 => back(|&byte| byte == b'\n')..start + (ahead(|&byte| byte == b'\n') + 1).min(rest),
            _ => start..start + self.below(rest + 1),
        }
    }

    fn change(&mut self, text: &mut Vec<u8>) {
        let piece = self.piece(text);
        match self.below(9) {
            0 if !text.is_empty() => {
                let at = self.below(text.len());
                text[at] ^= 1 << self.below(8);
            }
            1 => {
                let byte = self.below(256) as u8;
                text.insert(piece.start, byte);
            }
            2 => drop(text.drain(piece)),
            3 | 4 => {
                let which = self.below(self.words.len());
                let replaced = if self.below(2) == 0 { piece } else { piece.start..piece.start };
                text.splice(replaced, self.words[which].iter().copied());
            }
            5 => {
                let copy = text[piece].to_vec();
                let at = self.below(text.len() + 1);
                text.splice(at..at, copy);
            }
            6 => {
                let other = self.any_text();
                let from = self.piece(&other);
                text.splice(piece, other[from].iter().copied());
            }
            7 => self.change_number(text, piece.start),
            _ => self.repeat(text, piece),
        }
    }

    /// The next number, a little larger or smaller.
    fn change_number(&mut self, text: &mut Vec<u8>, from: usize) {
        let Some(start) = text[from..].iter().position(u8::is_ascii_digit).map(|at| from + at)
        else {
            return;
        };
        let length = text[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let digits = String::from_utf8_lossy(&text[start..start + length]).into_owned();
        let number: u64 = digits.parse().unwrap_or(u64::MAX);
        let changed = match self.below(4) {
            0 => number.wrapping_add(1),
            1 => number.wrapping_sub(1),
            2 => number.wrapping_mul(2),
            _ => self.below(1000) as u64,
        };
        text.splice(start..start + length, changed.to_string().into_bytes());
    }

    /// A few times as a rule, seldom up to the longest text.
    fn repeat(&mut self, text: &mut Vec<u8>, piece: std::ops::Range<usize>) {
        let room = self.max_length.saturating_sub(text.len()) / piece.len().max(1);
        let most = if self.below(200) == 0 { room } else { room.min(20) };
        let times = self.below(most + 1);
        let copies = text[piece.clone()].repeat(times);
        text.splice(piece.end..piece.end, copies);
    }
}
