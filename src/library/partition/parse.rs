//! Reads a partition file in any of its grammars.
//!
//! The grammars themselves are in `lines` (RAxML, RAxML-NG) and `nexus`; what is common to them (names, overlap,
//! unassigned columns) is checked here and in `coverage`.

use super::coverage::check_coverage;
use super::definition::{ParsedFile, PartitionDef};
use super::lines::parse_lines;
use super::nexus::{is_nexus, parse_nexus};
use crate::error::{Error, Fault, Faults, Place, Result};
use std::collections::HashMap;

/// Reads a partition file for an alignment of `num_sites` columns; the grammar is recognised from the content.
///
/// `file_name` is the name of the file in faults. Columns in no partition are refused unless `allow_unassigned`;
/// then they are left out of the analysis.
///
/// # Errors
/// [`Error::Input`] with every fault: unreadable lines, bad or out-of-range ranges, empty or duplicate names,
/// columns in two partitions (or twice in one), unassigned columns, no partition at all.
pub fn parse_partitions(
    text: &str,
    file_name: &str,
    num_sites: usize,
    allow_unassigned: bool,
) -> Result<Vec<PartitionDef>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = if is_nexus(text) {
        parse_nexus(text, file_name, num_sites)
    } else {
        parse_lines(text, file_name, num_sites)
    };
    let ParsedFile { defs, mut faults, incomplete, .. } = parsed;
    if defs.is_empty() && faults.is_empty() {
        faults.push(Fault::new(
            Place::file(file_name),
            "the file defines no partition: expected lines like `DNA, gene1 = 1-100` (or leave out the file)",
        ));
        return Err(Error::Input(faults));
    }
    check_names(&defs, &mut faults);
    let report_unassigned = !allow_unassigned && !incomplete;
    check_coverage(&defs, file_name, num_sites, report_unassigned, &mut faults);
    if faults.is_empty() { Ok(defs) } else { Err(Error::Input(faults)) }
}

/// Empty and duplicate names, and those that would break lines and columns of files.
fn check_names(defs: &[PartitionDef], faults: &mut Faults) {
    let mut first_with: HashMap<&str, &Place> = HashMap::new();
    for def in defs {
        if def.name.is_empty() {
            faults.push(Fault::new(def.place.clone(), "the partition has no name: add one"));
        } else if def.name.contains(char::is_control) {
            let message = "the partition name has a tab or another control character: remove it";
            faults.push(Fault::new(def.place.clone(), message));
        } else if let Some(first) = first_with.get(def.name.as_str()) {
            let line = first.line.unwrap_or(1);
            faults.push(Fault::new(
                def.place.clone(),
                format!("the same partition name is used on line {line}: names must be unique"),
            ));
        } else {
            first_with.insert(&def.name, &def.place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::definition::whole_alignment;
    use super::*;
    use crate::model::Model;
    use proptest::prelude::*;

    fn messages(text: &str, num_sites: usize) -> Vec<String> {
        match parse_partitions(text, "q", num_sites, false) {
            Err(Error::Input(faults)) => faults.kept().iter().map(Fault::to_string).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_three_grammars_agree() {
        let raxml = "DNA, a b = 1-7\\3, 9\r\n\r\nDNA,β=2-8\\6,\t3,5,6\n";
        let raxml_ng = "# codons\nDNA , a b = 1 - 7 / 3,9 # and one\n DNA,β=2-8/6,3,5,6";
        let nexus = "#NEXUS\nbegin sets; [1-3]\ncharset 'a b' = 1-7\\3\n .;\n\
                     CHARSET β = 2-8\\6, 3 5 6;\ncharpartition x = DNA:'a b', DNA:β;\nend;\n";
        for text in [raxml, raxml_ng, nexus] {
            let defs = parse_partitions(text, "q", 9, false).unwrap();
            let names: Vec<_> = defs.iter().map(|def| def.name.as_str()).collect();
            assert_eq!(names, ["a b", "β"], "{text}");
            assert!(defs.iter().all(|def| def.model == "DNA"));
            assert_eq!(defs[0].sites, [0, 3, 6, 8], "{text}");
            assert_eq!(defs[1].sites, [1, 7, 2, 4, 5], "{text}");
        }
    }

    #[test]
    fn names_are_unique_not_empty_and_without_tabs() {
        let found = messages("DNA, a = 1-2\nDNA, = 3\nDNA, a = 4\nDNA, b\tc = 5\n", 5);
        assert_eq!(found.len(), 3, "{found:#?}");
        assert!(found[0].starts_with("q, line 2: the partition has no name"), "{found:#?}");
        assert!(found[1].starts_with("q, line 3, 'a': the same partition name is used on line 1"));
        assert!(found[2].contains("line 4") && found[2].contains("has a tab"), "{found:#?}");
    }

    #[test]
    fn nothing_defined_is_refused_once() {
        for text in ["", "\n# only a comment\n", "#nexus\nbegin sets;\nend;"] {
            let found = messages(text, 4);
            assert_eq!(found.len(), 1, "{found:#?}");
            assert!(found[0].starts_with("q: the file defines no partition"), "{found:#?}");
        }
    }

    #[test]
    fn without_a_file_all_columns_are_one_partition() {
        let defs = whole_alignment(3, "GTR+G");
        assert_eq!((defs.len(), defs[0].model.as_str()), (1, "GTR+G"));
        assert_eq!(defs[0].sites, [0, 1, 2]);
    }

    #[test]
    fn the_examples_in_the_readme_do_what_it_says() {
        let readme = include_str!("../../../partitions/README.md");
        // Text between fences: the odd pieces.
        let blocks: Vec<&str> = readme.split("```\n").skip(1).step_by(2).collect();
        let [lines, types, nexus, refused, messages] = blocks[..] else {
            panic!("five examples: {blocks:#?}")
        };
        let read = |text, num_sites| parse_partitions(text, "genes.part", num_sites, false);
        assert_eq!(read(lines, 300).unwrap().len(), 3);
        // What the README says of each type under -m GTR+G.
        let option = Model::parse("GTR+G").unwrap();
        let typed: Vec<String> = read(types, 960)
            .unwrap()
            .iter()
            .take(6)
            .map(|def| {
                let model = Model::for_type(&def.model, &option, Some(4));
                model.unwrap_or_else(|| Model::parse(&def.model)).unwrap().label()
            })
            .collect();
        let expected = [
            "GTR+FC+G4m",
            "LG+FC+G4m",
            "GY+F3X4+CODE{2}+G4m",
            "BIN+FC+G4m",
            "MULTI4_GTR+FC+G4m",
            "GY+F1X4+CODE{4}+G4m",
        ];
        assert_eq!(typed, expected);
        assert_eq!(read(nexus, 300).unwrap()[1].name, "gene 2");
        let refusal = read(refused, 898).unwrap_err().to_string();
        assert_eq!(refusal, messages.trim_end());
    }

    proptest! {
        /// Whatever a file holds: every column exactly once, or faults.
        #[test]
        fn no_text_makes_the_parser_panic(
            start in prop::sample::select(vec!["", "#nexus begin sets;", "DNA,a=1-8\n"]),
            words in prop::collection::vec(prop::sample::select(vec![
                "DNA", ",", "=", "1", "8", "-", "\\", "/", ".", "\n", " ", "#", "charset a", "charset b",
                "charpartition p", ":", ";", "end;", "[", "]", "'", "{", "}", "\u{e9}", "0",
            ]), 0..25),
        ) {
            let text = start.to_string() + &words.concat();
            if let Ok(defs) = parse_partitions(&text, "q", 8, false) {
                let mut sites: Vec<u32> = defs.into_iter().flat_map(|def| def.sites).collect();
                sites.sort_unstable();
                prop_assert_eq!(sites, (0..8).collect::<Vec<u32>>());
            }
        }
    }

    #[test]
    fn a_file_that_is_hopeless_is_not_read_to_its_end() {
        let columns = "1-.,".repeat(9) + "1-.";
        let lines: String = (0..900_000).map(|i| format!("DNA, g{i} = {columns}\n")).collect();
        let message = parse_partitions(&lines, "q", 1_000_000, false).unwrap_err().to_string();
        assert!(
            message.starts_with("q, line 1, 'g0': columns 1-1000000 occur in it twice"),
            "{message}"
        );
        let nonsense = "nonsense\n".repeat(1_000_000);
        match parse_partitions(&nonsense, "q", 4, false) {
            Err(Error::Input(faults)) => {
                assert_eq!((faults.len(), faults.kept().len()), (1000, 50))
            }
            other => panic!("{other:?}"),
        }
        let long = format!("DNA, {} = 1-4", "g".repeat(1_000_000));
        assert!(parse_partitions(&long, "q", 4, false).is_ok());
        let found = messages(&format!("DNA, {} = 1-5", "g".repeat(1_000_000)), 4);
        assert!(found[0].len() < 400, "{}", found[0].len());
        let found = messages(&format!("DNA, g = {}", "1".repeat(1_000_000)), 4);
        assert!(found[0].len() < 400 && found[0].contains("1...' reaches beyond"), "{found:?}");
    }
}
