//! The text of a partition file as characters with their line and column, so that every fault can give the place
//! of its cause. The texts are small.

use crate::error::Place;

/// A character of a partition file and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Glyph {
    pub character: char,
    /// Line, counted from 1.
    pub line: u32,
    /// Column in characters, counted from 1.
    pub column: u32,
}

/// Characters with their places; a carriage return is white space to every grammar.
pub(super) fn glyphs(text: &str) -> impl Iterator<Item = Glyph> {
    let lines = text.split_inclusive('\n').enumerate();
    lines.flat_map(|(i, line)| characters(line, i + 1))
}

/// The characters of one line.
pub(super) fn glyphs_of_line(line: &str, number: usize) -> Vec<Glyph> {
    let mut glyphs = Vec::with_capacity(line.len());
    glyphs.extend(characters(line, number));
    glyphs
}

fn characters(line: &str, number: usize) -> impl Iterator<Item = Glyph> {
    let characters = line.chars().enumerate();
    characters.map(move |(i, character)| Glyph {
        character,
        line: number as u32,
        column: i as u32 + 1,
    })
}

/// The text without outer white space.
pub(super) fn trim(glyphs: &[Glyph]) -> &[Glyph] {
    let solid = |glyph: &Glyph| !glyph.character.is_whitespace();
    let Some(start) = glyphs.iter().position(solid) else {
        return &[];
    };
    let end = glyphs.iter().rposition(solid).map_or(start, |last| last + 1);
    &glyphs[start..end]
}

/// The characters as text.
pub(super) fn spell(glyphs: &[Glyph]) -> String {
    glyphs.iter().map(|glyph| glyph.character).collect()
}

/// The text without any white space, as models are kept.
pub(super) fn spell_model(glyphs: &[Glyph]) -> String {
    spell(glyphs).split_whitespace().collect()
}

/// Where a piece of text begins.
pub(super) fn place_of(glyphs: &[Glyph], file: &str) -> Place {
    match glyphs.first() {
        Some(first) => {
            Place::file(file).at_line(first.line as usize).at_column(first.column as usize)
        }
        None => Place::file(file),
    }
}
