//! NEXUS `sets` blocks: `charset NAME = RANGES;` and `charpartition NAME = MODEL:SET, ...;`
//! (Maddison, Swofford & Maddison 1997, Systematic Biology 46:590; models before the colon as in IQ-TREE).
//!
//! Commands end with `;`, comments stand in `[ ]`, words are compared without case, names may be quoted with `'`.
//! Without `charpartition` every charset is a partition without a model. Other blocks are skipped; but if no `sets`
//! block has charsets, those of `assumptions`, `mrbayes` and `paup` blocks are taken, and MrBayes's
//! `partition NAME = 2: SET, SET;`.

use super::definition::{ParsedFile, PartitionDef};
use super::glyphs::{Glyph, glyphs, place_of, spell, spell_model, trim};
use super::ranges::{Separator, parse_ranges};
use crate::error::{Fault, Place, abridged};
use crate::model::Model;

/// True if a text says it is NEXUS.
pub(super) fn is_nexus(text: &str) -> bool {
    text.trim_start().get(..6).is_some_and(|start| start.eq_ignore_ascii_case("#nexus"))
}

/// Blocks that may have charsets if the `sets` block has none.
const ALL_BLOCKS: [&str; 4] = ["sets", "assumptions", "mrbayes", "paup"];

/// Reads the `sets` block of a NEXUS text, or else the blocks of programs.
pub(super) fn parse_nexus(text: &str, file: &str, num_sites: usize) -> ParsedFile {
    let (parsed, lacks_charsets) = parse_blocks(text, file, num_sites, &ALL_BLOCKS[..1]);
    match parsed.defs.is_empty() && (parsed.faults.is_empty() || lacks_charsets) {
        true => parse_blocks(text, file, num_sites, &ALL_BLOCKS).0,
        false => parsed,
    }
}

/// Reads the blocks with these names. True if these have a charpartition, and no charsets.
fn parse_blocks(text: &str, file: &str, num_sites: usize, names: &[&str]) -> (ParsedFile, bool) {
    let mut parsed = ParsedFile::default();
    let is_program = names.len() > 1;
    let (mut partitions, mut has_partition, mut active) = (Vec::new(), false, None);
    let text = remove_comments(text, file, &mut parsed);
    let mut commands = split_outside(&text, ';').peekable();
    let mut block = Block::Outside;
    let mut sets: Vec<PartitionDef> = Vec::new();
    let mut chosen: Option<Vec<PartitionDef>> = None;
    while let Some(command) = commands.next() {
        if commands.peek().is_none() {
            if !command.is_empty() {
                let message = "the last command does not end with `;`: the file may be incomplete";
                parsed.refuse(command, file, message);
            }
            break;
        }
        if parsed.is_hopeless(num_sites) {
            parsed.incomplete = true;
            break;
        }
        let (word, rest) = split_word(command);
        match (block, word.to_ascii_lowercase().as_str()) {
            (Block::Outside, "begin") => {
                let sets = names.contains(&spell(rest).to_ascii_lowercase().as_str());
                block = if sets { Block::Sets } else { Block::Other };
            }
            (Block::Sets | Block::Other, "end" | "endblock") => block = Block::Outside,
            (Block::Other, _) | (Block::Sets, "title" | "taxset") | (_, "") => {}
            (Block::Sets, "charset") => sets.extend(parsed.read_charset(rest, file, num_sites)),
            (Block::Sets, "charpartition") if chosen.is_some() => {
                parsed.refuse(command, file, "there is a second charpartition: keep only one");
            }
            (Block::Sets, "charpartition") => {
                chosen = Some(parsed.read_charpartition(rest, file, &sets));
            }
            (Block::Sets, "partition") if is_program => {
                has_partition = true;
                partitions.extend(parsed.read_partition(rest, file, &sets));
            }
            (Block::Sets, "set") if is_program => active = active_partition(rest).or(active),
            // Programs have many commands.
            (Block::Sets, _) if is_program => {}
            (Block::Sets, _) => {
                let message = format!(
                    "unknown command '{}': expected charset or charpartition",
                    abridged(&word)
                );
                parsed.refuse(command, file, &message);
            }
            (Block::Outside, _) => {
                parsed.refuse(
                    command,
                    file,
                    &format!("'{}' is outside all blocks: expected `begin sets;`", abridged(&word)),
                );
            }
        }
    }
    if block != Block::Outside {
        let message = "the last block has no `end;`: the file may be incomplete";
        parsed.faults.push(Fault::new(Place::file(file), message));
    }
    if has_partition && !parsed.faults.is_empty() {
        // The charsets were not meant to be used all together.
        chosen = Some(Vec::new());
    } else if chosen.is_none() && has_partition {
        let is_active = |name: &str| active.as_deref().is_none_or(|active| active == name);
        partitions.retain(|(name, _): &(String, Vec<usize>)| is_active(name));
        match partitions.len() {
            1 => {
                let numbers = partitions.pop().map(|(_, numbers)| numbers);
                let take = |number: usize| sets[number].clone();
                chosen = numbers.map(|numbers| numbers.into_iter().map(take).collect());
            }
            count => {
                let message = format!(
                    "{count} partitions may be meant: keep one, or choose it with `set partition=NAME;`"
                );
                parsed.faults.push(Fault::new(Place::file(file), message));
            }
        }
    }
    let lacks_charsets = chosen.is_some() && sets.is_empty();
    parsed.defs = chosen.unwrap_or(sets);
    (parsed, lacks_charsets)
}

/// The partition that MrBayes's `set partition = NAME` chooses.
fn active_partition(text: &[Glyph]) -> Option<String> {
    let text = spell(text).replace('=', " = ");
    let mut words = text.split_whitespace();
    words.find(|word| word.eq_ignore_ascii_case("partition"))?;
    words.find(|word| *word != "=").map(|name| name.to_ascii_lowercase())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Outside,
    Sets,
    Other,
}

impl ParsedFile {
    /// A fault that may have cost columns.
    fn refuse(&mut self, at: &[Glyph], file: &str, message: &str) {
        self.incomplete = true;
        self.faults.push(Fault::new(place_of(at, file), message));
    }

    /// `NAME = RANGES`
    fn read_charset(
        &mut self,
        text: &[Glyph],
        file: &str,
        num_sites: usize,
    ) -> Option<PartitionDef> {
        let Some([name, ranges]) = split_in_two(text, '=') else {
            self.refuse(text, file, "cannot read the charset: expected `charset NAME = RANGES;`");
            return None;
        };
        if ranges.iter().any(|glyph| glyph.character == ':') {
            let message = "a charset with an alignment file before `:` is not supported: write only the ranges, \
                           if necessary with the data type before them (`CODON2, 1-300`)";
            self.refuse(ranges, file, message);
            return None;
        }
        let name = unquote(name);
        let (model, ranges) = split_type(ranges);
        let ranges = parse_ranges(ranges, Separator::CommaOrSpace, num_sites, file, &name);
        self.faults.append(ranges.faults);
        self.incomplete |= ranges.incomplete;
        self.num_columns += ranges.sites.len();
        let place = Place { column: None, ..place_of(text, file) };
        let place = if name.is_empty() { place } else { place.named(&name) };
        Some(PartitionDef { name, model, sites: ranges.sites, place })
    }

    /// `NAME = NUMBER: SET, SET`, as in MrBayes: the name in lower case, and the numbers of the sets.
    fn read_partition(
        &mut self,
        text: &[Glyph],
        file: &str,
        sets: &[PartitionDef],
    ) -> Option<(String, Vec<usize>)> {
        let parts = split_in_two(text, '=')
            .and_then(|[name, rest]| split_in_two(rest, ':').map(|[_, list]| (name, list)));
        let Some((name, list)) = parts else {
            let message =
                "cannot read the partition: expected `partition NAME = NUMBER: SET, SET;`";
            self.refuse(text, file, message);
            return None;
        };
        let mut numbers = Vec::new();
        let mut is_used = vec![false; sets.len()];
        for entry in split_outside(list, ',') {
            let set = unquote(entry);
            match sets.iter().position(|known| known.name.eq_ignore_ascii_case(&set)) {
                Some(number) if !std::mem::replace(&mut is_used[number], true) => {
                    numbers.push(number)
                }
                Some(_) => {
                    let message =
                        format!("the partition has the charset '{}' twice", abridged(&set));
                    self.refuse(entry, file, &message);
                }
                None => {
                    let message = format!(
                        "there is no charset '{}': define it above the partition",
                        abridged(&set)
                    );
                    self.refuse(entry, file, &message);
                }
            }
        }
        Some((unquote(name).to_ascii_lowercase(), numbers))
    }

    /// `NAME = MODEL:SET, MODEL:SET`
    fn read_charpartition(
        &mut self,
        text: &[Glyph],
        file: &str,
        sets: &[PartitionDef],
    ) -> Vec<PartitionDef> {
        let Some([_, entries]) = split_in_two(text, '=') else {
            let message =
                "cannot read the charpartition: expected `charpartition NAME = MODEL:SET, ...;`";
            self.refuse(text, file, message);
            return Vec::new();
        };
        let mut defs = Vec::new();
        for entry in split_outside(entries, ',') {
            let Some([model, set]) = split_in_two(entry, ':') else {
                self.refuse(
                    entry,
                    file,
                    "expected `MODEL:SET` in the charpartition, as in `GTR+G:gene1`",
                );
                continue;
            };
            let name = unquote(without_length(set));
            match sets.iter().find(|known| known.name == name) {
                Some(known) => {
                    let model = of_type(spell_model(model), &known.model);
                    defs.push(PartitionDef { model, ..known.clone() });
                }
                None => {
                    let message = format!(
                        "there is no charset '{}': define it above the charpartition",
                        abridged(&name)
                    );
                    self.refuse(set, file, &message);
                }
            }
        }
        defs
    }
}

/// The name of a charset before the length of its tree, which IQ-TREE writes into the models that it has found (`GTR+F:gene1{0.25}`).
fn without_length(set: &[Glyph]) -> &[Glyph] {
    let starts = set.iter().rposition(|glyph| glyph.character == '{');
    match (starts, set.last()) {
        (Some(at), Some(last)) if last.character == '}' && at > 0 => {
            match spell(&set[at + 1..set.len() - 1]).trim().parse::<f64>() {
                Ok(_) => trim(&set[..at]),
                Err(_) => set,
            }
        }
        _ => set,
    }
}

/// The type of data before a charset's ranges (`CODON2, 1-300`, as in IQ-TREE) and the ranges; no type
/// if there is none.
fn split_type(ranges: &[Glyph]) -> (String, &[Glyph]) {
    let comma = ranges.iter().position(|glyph| glyph.character == ',');
    match comma.map(|at| (spell_model(&ranges[..at]), trim(&ranges[at + 1..]))) {
        Some((word, rest)) if Model::is_type(&word) => (word, rest),
        _ => (String::new(), ranges),
    }
}

/// A charpartition's model for a charset with a type: a codon model gets the type's genetic code; any
/// other says its type itself.
fn of_type(model: String, data_type: &str) -> String {
    let code = match data_type.to_ascii_uppercase().strip_prefix("CODON") {
        Some("") => "1".to_string(),
        Some(number) => number.to_string(),
        None => return model,
    };
    let with_code = format!("{model}+CODE{{{code}}}");
    if model.is_empty() || Model::is_type(&model) || model.to_ascii_uppercase().contains("+CODE") {
        model
    } else {
        with_code
    }
}

/// The text after its first word, without `[comments]`, which may be nested; quotes protect brackets.
fn remove_comments(text: &str, file: &str, parsed: &mut ParsedFile) -> Vec<Glyph> {
    let mut kept = Vec::with_capacity(text.len());
    let (mut depth, mut outermost, mut quoted) = (0usize, None, false);
    let from_the_word = glyphs(text).skip_while(|glyph| glyph.character.is_whitespace());
    for glyph in from_the_word.skip("#nexus".len()) {
        match glyph.character {
            '[' if !quoted => {
                depth += 1;
                outermost = outermost.or(Some(glyph));
            }
            ']' if !quoted && depth > 0 => {
                depth -= 1;
                outermost = outermost.filter(|_| depth > 0);
            }
            character if depth == 0 => {
                quoted ^= character == '\'';
                kept.push(glyph);
            }
            _ => {}
        }
    }
    if let Some(start) = outermost {
        parsed.refuse(&[start], file, "the comment that begins here has no closing `]`");
    }
    kept
}

/// Splits at a character where it stands outside quotes and braces; the parts are trimmed.
fn split_outside(text: &[Glyph], separator: char) -> impl Iterator<Item = &[Glyph]> {
    let (mut depth, mut quoted) = (0usize, false);
    let parts = text.split(move |glyph| {
        match glyph.character {
            '\'' => quoted = !quoted,
            '{' if !quoted => depth += 1,
            '}' if !quoted => depth = depth.saturating_sub(1),
            character => return character == separator && !quoted && depth == 0,
        }
        false
    });
    parts.map(trim)
}

/// The two parts of a text that has one such character outside quotes and braces.
fn split_in_two(text: &[Glyph], separator: char) -> Option<[&[Glyph]; 2]> {
    let mut parts = split_outside(text, separator);
    let both = [parts.next()?, parts.next()?];
    parts.next().is_none().then_some(both)
}

/// The first word and what follows it.
fn split_word(command: &[Glyph]) -> (String, &[Glyph]) {
    let end = command.iter().position(|glyph| glyph.character.is_whitespace());
    let (word, rest) = command.split_at(end.unwrap_or(command.len()));
    (spell(word), trim(rest))
}

/// A name without its quotes; `''` inside them is one quote.
fn unquote(name: &[Glyph]) -> String {
    let name = spell(name);
    match name.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        Some(inner) => inner.replace("''", "'"),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use crate::partition::{PartitionDef, parse_partitions};

    fn read(text: &str) -> Vec<PartitionDef> {
        parse_partitions(text, "q", 12, false).unwrap()
    }

    fn refused(text: &str) -> String {
        parse_partitions(text, "q", 12, false).unwrap_err().to_string()
    }

    #[test]
    fn charsets_alone_have_no_model() {
        let defs = read(
            "\n #NEXUS [c; [nested] x] begin data; dimensions nchar=12; matrix a ACGT; end;\r\n\
             Begin Sets; title t;\ncharset g1=1-6\\2[odd] 2-6\\2;charset 'it''s; two' = 7 - .;\nEnd;",
        );
        assert_eq!(defs[0].sites, [0, 2, 4, 1, 3, 5]);
        assert_eq!(defs[1].name, "it's; two");
        assert_eq!(defs[1].sites, [6, 7, 8, 9, 10, 11]);
        assert!(defs.iter().all(|def| def.model.is_empty()));
        assert_eq!(defs[1].place.line, Some(4));
    }

    #[test]
    fn a_charpartition_chooses_orders_and_gives_models() {
        let defs = read(
            "#nexus\nbegin sets;\ncharset a = 1-4;\ncharset unused = 1-12;\ncharset b = 5-.;\n\
             charpartition mine = HKY{2.0} + F{0.1,0.2,0.3,0.4}:b{0.25},\n GTR+G : a;\nend;\n",
        );
        let read: Vec<_> = defs.iter().map(|def| (def.name.as_str(), def.model.as_str())).collect();
        assert_eq!(read, [("b", "HKY{2.0}+F{0.1,0.2,0.3,0.4}"), ("a", "GTR+G")]);
    }

    #[test]
    fn a_charset_may_begin_with_a_type() {
        let sets = "#nexus begin sets; charset a = CODON2, 1-3 4-6; charset b = DNA, 7-9, 10;\n\
                    charset c = 11, 12; charset unused = BIN, 1-.;";
        let models =
            |text: &str| -> Vec<String> { read(text).into_iter().map(|def| def.model).collect() };
        let chosen =
            |partition: &str| models(&format!("{sets} charpartition p = {partition}; end;"));
        assert_eq!(chosen("GY+F3X4:a, GTR+G:b, BIN:c"), ["GY+F3X4+CODE{2}", "GTR+G", "BIN"]);
        assert_eq!(chosen("GY+CODE{4}:a, DNA:b, JC:c"), ["GY+CODE{4}", "DNA", "JC"]);
        let alone = sets.replace("charset unused = BIN, 1-.;", "end;");
        assert_eq!(models(&alone), ["CODON2", "DNA", ""]);
    }

    #[test]
    fn faults_point_at_their_cause() {
        let message = refused(
            "#nexus\nbegin sets;\ncharset a = 1-4 9-7;\ncharset b 5-8;\n charset c = x.phy: 1-4;\nfoo bar;\n\
             charpartition p = GTR:zzz, HKY;\ncharpartition q = GTR:a;\nend;\nstray;\nbegin sets; charset",
        );
        for part in [
            "q, line 3, column 17, 'a': range '9-7' begins after its end",
            "q, line 4, column 9: cannot read the charset",
            "q, line 5, column 14: a charset with an alignment file",
            "q, line 6, column 1: unknown command 'foo'",
            "q, line 7, column 23: there is no charset 'zzz'",
            "q, line 7, column 28: expected `MODEL:SET`",
            "q, line 8, column 1: there is a second charpartition",
            "q, line 10, column 1: 'stray' is outside all blocks",
            "q, line 11, column 13: the last command does not end with `;`",
            "q: the last block has no `end;`",
        ] {
            assert!(message.contains(part), "{part}\n{message}");
        }
        assert_eq!(message.lines().count(), 10, "{message}");
    }

    #[test]
    fn blocks_of_programs_count_if_there_are_no_sets() {
        let data = "#NEXUS\nbegin data; dimensions nchar=12; format symbols=\"01\"; matrix a AC[x]GT\nb 'x'; end;\n";
        let mrbayes = "begin mrbayes; charset a = 1-4; charset b = 5-12; charset c = 1-.\\3;\n\
                       partition P = 2: b, A; partition q = 1: c; set autoclose=yes partition = p; lset nst=6; end;";
        let names = |text: &str| read(text).into_iter().map(|def| def.name).collect::<Vec<_>>();
        assert_eq!(names(&format!("{data}{mrbayes}")), ["b", "a"]);
        let sets = "begin sets; charset x = 1-.; end;";
        assert_eq!(names(&format!("{data}{mrbayes}{sets}")), ["x"]);
        let assumptions =
            "begin assumptions; options deftype=unord; charset x = 1-4; charset y = 5-12; end;";
        assert_eq!(names(&format!("{data}{assumptions}")), ["x", "y"]);
        let chosen = "begin sets; taxset t = a; charpartition p = GTR+G:y, JC:x; end;";
        assert_eq!(names(&format!("{data}{assumptions}{chosen}")), ["y", "x"]);
        let undecided = refused(&format!("{data}{}", mrbayes.replace("partition = p", "")));
        assert!(undecided.contains("q: 2 partitions may be meant"), "{undecided}");
        let wrong = refused(&format!(
            "{data}{}",
            mrbayes.replace("2: b, A", "b, A").replace("1: c", "1: z")
        ));
        assert!(wrong.contains("q, line 5, column 11: cannot read the partition"), "{wrong}");
        assert_eq!(wrong.lines().count(), 2, "{wrong}");
        assert!(wrong.contains("q, line 5, column 38: there is no charset 'z'"), "{wrong}");
    }

    #[test]
    fn overlap_and_open_comments_are_seen() {
        let overlap = refused("#nexus begin sets;\ncharset a = 1-8;\ncharset b = 8-12;\nend;");
        let start = "q, line 3, 'b': column 8 already belongs to 'a' (line 2)";
        assert!(overlap.starts_with(start), "{overlap}");
        let open = refused("#nexus begin sets; charset a = 1-12; [ end;");
        assert!(
            open.contains("line 1, column 38: the comment that begins here has no closing `]`"),
            "{open}"
        );
    }
}
