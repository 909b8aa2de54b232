//! The line grammars, `MODEL, NAME = RANGES`: RAxML's and RAxML-NG's, which read each other's files here.
//!
//! One partition per line; blank lines and everything after `#` are ignored, as is white space outside names. The
//! name follows the last comma before `=`, so a model may contain commas. In single quotes, a name may have any characters.

use super::definition::{ParsedFile, PartitionDef};
use super::glyphs::{Glyph, glyphs_of_line, place_of, spell, spell_model, trim};
use super::ranges::{Separator, parse_ranges};
use crate::error::{Fault, Place};
use std::borrow::Cow;
use std::fmt::Display;
use std::ops::Range;

/// Reads a partition file in one of the line grammars.
pub(super) fn parse_lines(text: &str, file: &str, num_sites: usize) -> ParsedFile {
    let mut parsed = ParsedFile::default();
    for (i, line) in text.lines().enumerate() {
        if parsed.is_hopeless(num_sites) {
            parsed.incomplete = true;
            break;
        }
        let line = glyphs_of_line(line, i + 1);
        let quoted = find_quoted_name(&line);
        let after_name = quoted.as_ref().map_or(0, |name| name.end);
        let is_comment = |glyph: &Glyph| glyph.character == '#';
        let comment = line[after_name..].iter().position(is_comment);
        let line = &line[..comment.map_or(line.len(), |comment| after_name + comment)];
        if trim(line).is_empty() {
            continue;
        }
        let parts = match quoted {
            Some(name) => split_line_around(line, name),
            None => {
                split_line(trim(line)).map(|[model, name, ranges]| (model, spell(name), ranges))
            }
        };
        let line = trim(line);
        match parts {
            Some((model, name, ranges)) => {
                let ranges = parse_ranges(ranges, Separator::Comma, num_sites, file, &name);
                parsed.faults.append(ranges.faults);
                parsed.incomplete |= ranges.incomplete;
                let place = Place::file(file).at_line(line[0].line as usize);
                let place = if name.is_empty() { place } else { place.named(&name) };
                let (model, sites) = (spell_model(model), ranges.sites);
                parsed.num_columns += sites.len();
                parsed.defs.push(PartitionDef { name, model, sites, place });
            }
            None => {
                parsed.incomplete = true;
                parsed.faults.push(Fault::new(
                    place_of(line, file),
                    format!(
                        "cannot read '{}': expected `MODEL, NAME = RANGES`, as in `DNA, gene1 = 1-100\\3, 200-300`",
                        spell(&line[..line.len().min(60)])
                    ),
                ));
            }
        }
    }
    parsed
}

/// Where a name in quotes is, these included: between a comma and `=`.
fn find_quoted_name(line: &[Glyph]) -> Option<Range<usize>> {
    let is = |place: usize, character: char| {
        line.get(place).is_some_and(|glyph| glyph.character == character)
    };
    let comment = line.iter().position(|glyph| glyph.character == '#').unwrap_or(line.len());
    let after_comma =
        |&place: &usize| trim(&line[..place]).last().is_some_and(|glyph| glyph.character == ',');
    let begin = (0..comment).filter(|&place| is(place, '\'')).find(after_comma)?;
    let mut end = begin + 1;
    while end < line.len() && (!is(end, '\'') || is(end + 1, '\'')) {
        end += if is(end, '\'') { 2 } else { 1 };
    }
    let next = trim(line.get(end + 1..)?).first()?;
    (next.character == '=').then_some(begin..end + 1)
}

/// Model, name and ranges of a line with a name in quotes; `None` as of [`split_line`].
fn split_line_around(line: &[Glyph], name: Range<usize>) -> Option<(&[Glyph], String, &[Glyph])> {
    let before = trim(&line[..name.start]);
    let model = trim(&before[..before.len() - 1]);
    let ranges = trim(&line[name.end..]).get(1..)?;
    let complete = !model.is_empty() && ranges.iter().all(|glyph| glyph.character != '=');
    let name = spell(&line[name.start + 1..name.end - 1]).replace("''", "'");
    complete.then_some((model, name, ranges))
}

/// A line of a partition file, with its end. The name is in quotes if it has to be.
pub fn partition_line(model: impl Display, name: &str, ranges: impl Display) -> String {
    let is_plain =
        !name.contains([',', '=', '#']) && !name.starts_with('\'') && name.trim() == name;
    let name = match is_plain {
        true => Cow::Borrowed(name),
        false => Cow::Owned(format!("'{}'", name.replace('\'', "''"))),
    };
    format!("{model}, {name} = {ranges}\n")
}

/// Model, name and ranges of a line; `None` without `=`, a second `=`, or a comma and a model before the name.
fn split_line(line: &[Glyph]) -> Option<[&[Glyph]; 3]> {
    let mut sides = line.split(|glyph| glyph.character == '=');
    let (left, ranges) = (sides.next()?, sides.next()?);
    let comma = left.iter().rposition(|glyph| glyph.character == ',')?;
    let model = trim(&left[..comma]);
    let complete = sides.next().is_none() && !model.is_empty();
    complete.then_some([model, trim(&left[comma + 1..]), ranges])
}

#[cfg(test)]
mod tests {
    use super::partition_line;
    use crate::partition::parse_partitions;

    #[test]
    fn lines_are_read_back_whatever_the_name() {
        let names =
            ["a", "gene 1, a", "b=2", "c#3", "'d'", "it's", " e ", "''", "f', g = 1 #", "β"];
        let model = "GTR{1/2/3/1/2/1}+G{0.5}";
        let lines = names.iter().enumerate();
        let text: String = lines.map(|(i, name)| partition_line(model, name, i + 1)).collect();
        let defs = parse_partitions(&text, "q", names.len(), false).unwrap();
        let found: Vec<_> = defs.iter().map(|def| def.name.as_str()).collect();
        assert_eq!(found, names);
        assert!(defs.iter().enumerate().all(|(i, def)| def.sites == [i as u32]));
        assert!(text.starts_with(&format!("{model}, a = 1\n{model}, 'gene 1, a' = 2\n")), "{text}");
        let text = "DNA,'a#1'=1-2 # 'b' = 3\n# DNA, 'c' = 3\nDNA, 'd = 3\nX, 'e' = 4 = 5\n";
        let message = parse_partitions(text, "q", 5, false).unwrap_err().to_string();
        assert!(message.contains("line 4, column 1: cannot read 'X, 'e' = 4 = 5'"), "{message}");
        assert!(!message.contains("line 3") && !message.contains("line 1"), "{message}");
    }

    #[test]
    fn models_are_kept_as_written() {
        let text =
            "GTR + G{0.5}, gene 1 = 1-2\n[p~f], DNA, b=3 # x\nGTR{1/2/3/1/2/1}+I,c\t=\t4\r\n";
        let defs = parse_partitions(text, "q", 4, false).unwrap();
        let models: Vec<_> =
            defs.iter().map(|def| (def.model.as_str(), def.name.as_str())).collect();
        let expected = [("GTR+G{0.5}", "gene 1"), ("[p~f],DNA", "b"), ("GTR{1/2/3/1/2/1}+I", "c")];
        assert_eq!(models, expected);
        assert_eq!(defs[1].place.to_string(), "q, line 2, 'b'");
    }

    #[test]
    fn unreadable_lines_are_all_named_and_their_columns_not_called_unassigned() {
        let text = "DNA, a = 1-2\ngene = 3\n , b = 4\nDNA, c\n  DNA, d = 5 = 6\nDNA, e = 1-x\nDNA, f = 12\n";
        let message = parse_partitions(text, "q", 10, false).unwrap_err().to_string();
        let starts = [
            "q, line 2, column 1: cannot read 'gene = 3': expected `MODEL, NAME = RANGES`",
            "q, line 3, column 2: cannot read",
            "q, line 4, column 1: cannot read",
            "q, line 5, column 3: cannot read",
            "q, line 6, column 10, 'e': cannot read '1-x' as a range",
            "q, line 7, column 10, 'f': range '12' reaches beyond the alignment, which has 10 columns",
            "q, line 7, 'f': the partition has no columns",
        ];
        let lines: Vec<_> = message.lines().collect();
        for start in starts {
            assert!(lines.iter().any(|line| line.starts_with(start)), "{start}\n{message}");
        }
        assert!(!message.contains("in no partition"), "{message}");
    }
}
