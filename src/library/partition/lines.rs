//! The line grammars, `MODEL, NAME = RANGES`: RAxML's and RAxML-NG's, which read each other's files here.
//!
//! One partition per line; blank lines and everything after `#` are ignored, as is white space outside names. The
//! name follows the last comma before `=`, so a model may contain commas.

use super::definition::{ParsedFile, PartitionDef};
use super::glyphs::{Glyph, glyphs_of_line, place_of, spell, spell_model, trim};
use super::ranges::{Separator, parse_ranges};
use crate::error::{Fault, Place};

/// Reads a partition file in one of the line grammars.
pub(super) fn parse_lines(text: &str, file: &str, num_sites: usize) -> ParsedFile {
    let mut parsed = ParsedFile::default();
    for (i, line) in text.lines().enumerate() {
        if parsed.is_hopeless(num_sites) {
            parsed.incomplete = true;
            break;
        }
        let line = glyphs_of_line(line, i + 1);
        let comment = line.iter().position(|glyph| glyph.character == '#').unwrap_or(line.len());
        let line = trim(&line[..comment]);
        if line.is_empty() {
            continue;
        }
        match split_line(line) {
            Some([model, name, ranges]) => {
                let name = spell(name);
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
    use crate::partition::parse_partitions;

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
