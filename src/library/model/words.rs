//! The words of a model string: `HKY{4.5}`, `FU{0.3/0.2/0.2/0.3}`, `G4{0.5}`, without a meaning yet.

use crate::error::abridged;

/// What was read, or a message that says what is wrong.
pub(super) type Parsed<T> = std::result::Result<T, String>;

/// A word with the lists of values in its braces.
pub(super) struct Word<'a> {
    pub(super) head: &'a str,
    pub(super) values: Vec<Vec<f64>>,
}

/// In upper case, without white space, with braces of one kind.
pub(super) fn plain(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| match c {
            '[' => '{',
            ']' => '}',
            c => c.to_ascii_uppercase(),
        })
        .collect()
}

/// Splits at each `+` outside braces (there is one in `1e+5`).
pub(super) fn split_words(text: &str) -> Parsed<Vec<&str>> {
    let (mut words, mut start, mut inside) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '{' if inside => return Err("'{' within braces; close the first with '}'".to_string()),
            '}' if !inside => return Err("'}' without a '{' before it".to_string()),
            '{' => inside = true,
            '}' => inside = false,
            '+' if !inside => {
                words.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if inside {
        return Err("'{' is never closed; add '}'".to_string());
    }
    words.push(&text[start..]);
    Ok(words)
}

pub(super) fn read_word(word: &str) -> Parsed<Word<'_>> {
    let Some(open) = word.find('{') else {
        return Ok(Word { head: word, values: Vec::new() });
    };
    let (head, braces) = word.split_at(open);
    let Some(inner) = braces[1..].strip_suffix('}') else {
        return Err(format!(
            "'{}' continues after its '}}'; put '+' between the parts",
            abridged(word)
        ));
    };
    let mut lists = Vec::new();
    for list in inner.split("}{") {
        let mut values = Vec::new();
        for item in list.split(['/', ',']) {
            match item.parse::<f64>() {
                Ok(value) if value.is_finite() => values.push(value),
                _ => {
                    return Err(format!(
                        "'{}' in '{}' is not a number; write numbers with '/' between them, for example \
                         {{0.5/1.5}}",
                        abridged(item),
                        abridged(word)
                    ));
                }
            }
        }
        lists.push(values);
    }
    Ok(Word { head, values: lists })
}
