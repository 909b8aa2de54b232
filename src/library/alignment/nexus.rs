//! NEXUS: the matrix of a DATA or CHARACTERS block (Maddison, Swofford & Maddison 1997, Systematic Biology 46:590).
//!
//! Names are kept as they are written, without their quotes: an underscore stays one, because trees and other files
//! have it, too. Only names of one file are compared as NEXUS demands, without case and with underscores as blanks.
//! Blocks and commands that say nothing of the sequences are skipped. Charsets are read by `partition`.

use super::assemble::{Header, Record, assemble};
use super::nexus_commands::{Command, commands, hide_comments};
use super::nexus_format::Format;
use super::nexus_matrix::{Expected, as_compared, read_matrix};
use super::rows::Alignment;
use crate::error::{Error, Fault, Faults, Place, Result, abridged};
use crate::input::Input;
use std::collections::{HashMap, HashSet};
use std::io::BufRead;

/// Bytes that a file may have beyond [`GENEROUS`] times what its DIMENSIONS state, with [`MEAN_NAME`] for the name of
/// a taxon: other blocks may be long.
const SLACK: usize = 256 << 20;
const GENEROUS: usize = 4;
const MEAN_NAME: usize = 1 << 10;
/// Blocks that a message lists.
const MAX_BLOCKS_SHOWN: usize = 10;

/// Reads a NEXUS text, which begins with `#NEXUS` on this line.
pub(super) fn read_nexus(input: &mut Input, line: usize) -> Result<Alignment> {
    let file = input.name().to_string();
    let text = read_promised(input, &file)?;
    parse_nexus(text, line, &file)
}

/// The text, unless it is far longer than its DIMENSIONS state.
fn read_promised(input: &mut Input, file: &str) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut limit = None;
    loop {
        let chunk = input.fill()?;
        let length = chunk.len();
        if length == 0 {
            return Ok(text);
        }
        text.extend_from_slice(chunk);
        input.consume(length);
        if text.len() > SLACK && text.len() > *limit.get_or_insert_with(|| most_bytes(&text)) {
            return Err(Error::input(
                Place::file(file),
                format!(
                    "the file is longer than {} MiB, far more than its DIMENSIONS state: correct them, or remove \
                     other blocks",
                    text.len() >> 20
                ),
            ));
        }
    }
}

/// The most bytes that a text may have that begins like this.
fn most_bytes(start: &[u8]) -> usize {
    let (mut num_taxa, mut num_sites) = (0usize, 0usize);
    for (at, _) in start.iter().enumerate().filter(|(_, byte)| byte.eq_ignore_ascii_case(&b'n')) {
        let key = start.get(at..).unwrap_or_default();
        let number = |key: &[u8]| {
            let digits = key.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
            let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
            std::str::from_utf8(&digits[..end.min(20)]).ok()?.parse().ok()
        };
        if key.len() > 5 && key[..4].eq_ignore_ascii_case(b"ntax") {
            num_taxa = num_taxa.max(number(&key[4..]).unwrap_or(0));
        } else if key.len() > 6 && key[..5].eq_ignore_ascii_case(b"nchar") {
            num_sites = num_sites.max(number(&key[5..]).unwrap_or(0));
        }
    }
    let row = num_sites.saturating_add(MEAN_NAME);
    num_taxa.saturating_mul(row).saturating_mul(GENEROUS).saturating_add(SLACK)
}

/// True for the end of a block.
fn is_end(text: &[u8]) -> bool {
    [&b"end"[..], b"endblock"].iter().any(|end| text.eq_ignore_ascii_case(end))
}

/// Where a command belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Outside,
    Taxa,
    Data,
    Other,
}

/// What the commands say.
struct Reader<'a> {
    file: &'a str,
    faults: Faults,
    /// Stated numbers, with the line of each.
    num_taxa: Option<(usize, usize)>,
    num_sites: Option<(usize, usize)>,
    /// Names of the taxa, with the line of each.
    labels: Vec<(Vec<u8>, usize)>,
    format: Format,
    matrix: Option<Command<'a>>,
    /// Line of the block that has the matrix.
    data_block: Option<usize>,
    other_blocks: Vec<String>,
    num_charsets: usize,
}

fn parse_nexus(mut text: Vec<u8>, first_line: usize, file: &str) -> Result<Alignment> {
    let mut faults = Faults::new();
    hide_comments(&mut text, first_line, file, &mut faults);
    let mut reader = Reader {
        file,
        faults,
        num_taxa: None,
        num_sites: None,
        labels: Vec::new(),
        format: Format::default(),
        matrix: None,
        data_block: None,
        other_blocks: Vec::new(),
        num_charsets: 0,
    };
    let start = text.trim_ascii_start();
    let body = start.get("#nexus".len()..).unwrap_or_default();
    reader.read_commands(body, first_line);
    let records = reader.read_rows();
    let Reader { faults, num_sites, data_block, num_charsets, .. } = reader;
    if data_block.is_none() || (records.is_empty() && !faults.is_empty()) {
        return Err(Error::Input(faults));
    }
    let num_taxa = records.len();
    let header = num_sites.map(|(num_sites, line)| Header {
        title: "DIMENSIONS",
        num_taxa,
        num_sites,
        line,
        strict_names: false,
    });
    Ok(assemble(file, records, header, faults)?.with_charsets(num_charsets))
}

impl<'a> Reader<'a> {
    fn refuse(&mut self, line: usize, message: impl Into<String>) {
        self.faults.push(Fault::new(Place::file(self.file).at_line(line), message));
    }

    fn read_commands(&mut self, text: &'a [u8], first_line: usize) {
        let (mut block, mut begun) = (Block::Outside, first_line);
        for command in commands(text, first_line) {
            let name = command.name();
            if !command.is_ended {
                let message = format!(
                    "the command '{}' that begins here does not end with `;`: the file may be incomplete",
                    abridged(&name)
                );
                self.refuse(command.line, message);
            }
            match (block, name.as_str()) {
                (_, "begin") => {
                    if block != Block::Outside {
                        self.refuse(
                            begun,
                            "the block that begins here has no `end;` before the next one",
                        );
                    }
                    (block, begun) = (self.begin(&command), command.line);
                }
                (Block::Outside, "") => {}
                (Block::Outside, _) => {
                    let message = format!(
                        "'{}' is outside all blocks: expected `begin data;`",
                        abridged(&name)
                    );
                    self.refuse(command.line, message);
                }
                (_, "end" | "endblock") => block = Block::Outside,
                (Block::Taxa | Block::Data, "dimensions") => self.read_dimensions(&command),
                (Block::Taxa | Block::Data, "taxlabels") => self.read_labels(&command),
                (Block::Data, "format") => {
                    self.format = Format::read(&command, self.file, &mut self.faults);
                }
                (Block::Data, "eliminate") => {
                    let message =
                        "ELIMINATE is not supported: remove these columns from the matrix";
                    self.refuse(command.line, message);
                }
                (Block::Data, "matrix") => match self.matrix {
                    Some(first) => {
                        let message = format!(
                            "there is a second MATRIX; the first is on line {}: keep only one",
                            first.line
                        );
                        self.refuse(command.line, message);
                    }
                    None => {
                        self.matrix = Some(command);
                        // Its `;` is missing, so that the one of this line ends it.
                        if command.lines().last().is_some_and(|(_, line)| is_end(line)) {
                            block = Block::Outside;
                        }
                    }
                },
                (Block::Other, "charset") => self.num_charsets += 1,
                // Programs ignore commands of others.
                (Block::Taxa | Block::Data | Block::Other, _) => {}
            }
        }
        if block != Block::Outside {
            self.refuse(
                begun,
                "the block that begins here has no `end;`: the file may be incomplete",
            );
        }
        match (self.data_block, self.matrix) {
            (Some(line), None) => self.refuse(line, "the block that begins here has no MATRIX"),
            (None, _) => {
                let found = match self.other_blocks.as_slice() {
                    [] => "none".to_string(),
                    names => names.join(", "),
                };
                let message = format!(
                    "there is no DATA or CHARACTERS block, which would have the sequences; blocks found: {found}"
                );
                self.faults.push(Fault::new(Place::file(self.file), message));
            }
            _ => {}
        }
    }

    fn begin(&mut self, command: &Command) -> Block {
        let name = command.labels().next().map_or(Vec::new(), |word| word.text);
        let name = String::from_utf8_lossy(&name).to_ascii_uppercase();
        match name.as_str() {
            "TAXA" => Block::Taxa,
            "DATA" | "CHARACTERS" => {
                if let Some(first) = self.data_block {
                    let message = format!(
                        "there is a second DATA or CHARACTERS block; the first begins on line {first}: keep only one"
                    );
                    self.refuse(command.line, message);
                    return Block::Other;
                }
                self.data_block = Some(command.line);
                Block::Data
            }
            _ => {
                if self.other_blocks.len() < MAX_BLOCKS_SHOWN {
                    self.other_blocks.push(abridged(&name).into_owned());
                }
                Block::Other
            }
        }
    }

    fn read_dimensions(&mut self, command: &Command) {
        for (key, value, line) in command.settings() {
            let number = value.as_deref().map_or(Ok(0), str::parse::<usize>);
            let stated = match key.as_str() {
                "ntax" => &mut self.num_taxa,
                "nchar" => &mut self.num_sites,
                _ => continue,
            };
            match (number, *stated) {
                (Ok(number @ 1..), None) => *stated = Some((number, line)),
                (Ok(number @ 1..), Some((first, _))) if number == first => {}
                (Ok(number @ 1..), Some((first, first_line))) => {
                    let message = format!(
                        "{} is {number} here, but {first} on line {first_line}: correct one of them",
                        key.to_uppercase()
                    );
                    self.refuse(line, message);
                }
                _ => {
                    let message = format!(
                        "expected a positive number: `{key}=...`, found '{}'",
                        abridged(value.as_deref().unwrap_or_default())
                    );
                    self.refuse(line, message);
                }
            }
        }
    }

    fn read_labels(&mut self, command: &Command) {
        for word in command.labels() {
            if word.is_open {
                let message = "the name begins with a quote that is not closed on its line";
                self.refuse(word.line, message);
            }
            self.labels.push((word.text, word.line));
        }
    }

    /// The rows of the matrix, compared with what was stated.
    fn read_rows(&mut self) -> Vec<Record> {
        let Some(matrix) = self.matrix else {
            return Vec::new();
        };
        let labels: HashSet<Vec<u8>> =
            self.labels.iter().map(|(name, _)| as_compared(name)).collect();
        let num_labels = Some(self.labels.len()).filter(|&number| number > 0);
        let num_taxa = self.num_taxa.map(|(number, _)| number).or(num_labels);
        let num_sites = self.num_sites.map(|(number, _)| number);
        let expected = Expected { num_taxa, num_sites, labels: &labels };
        let mut records = read_matrix(&matrix, &self.format, expected, self.file, &mut self.faults);
        if let Some(last) = records.pop_if(|last| last.num_sites == 0 && is_end(&last.name)) {
            self.refuse(last.line, "the matrix has no `;` at its end, before this line: add it");
        }
        self.check_taxa(&records);
        records
    }

    /// Numbers and names of the rows, if they are stated.
    fn check_taxa(&mut self, records: &[Record]) {
        if let Some((num_taxa, line)) = self.num_taxa {
            if num_taxa != records.len() {
                let message = format!(
                    "DIMENSIONS states {num_taxa} taxa, but the matrix has {}: correct the number, or look for \
                     missing, extra or broken rows",
                    records.len()
                );
                self.refuse(line, message);
            }
            let labels = self.labels.len();
            if labels > 0 && num_taxa != labels {
                let message =
                    format!("DIMENSIONS states {num_taxa} taxa, but TAXLABELS has {labels} names");
                self.refuse(line, message);
            }
        }
        if self.labels.is_empty() {
            return;
        }
        let rows: HashSet<Vec<u8>> =
            records.iter().map(|record| as_compared(&record.name)).collect();
        let mut first_with: HashMap<Vec<u8>, usize> = HashMap::with_capacity(self.labels.len());
        let mut found = Vec::new();
        for (label, line) in &self.labels {
            let compared = as_compared(label);
            let message = match first_with.get(&compared) {
                Some(first) => {
                    format!("the same taxon name is used on line {first}: names must be unique")
                }
                None if !rows.contains(&compared) => {
                    "the taxon is among TAXLABELS, but the matrix has no row with this name"
                        .to_string()
                }
                None => String::new(),
            };
            first_with.entry(compared).or_insert(*line);
            if !message.is_empty() {
                found.push((label.clone(), *line, message));
            }
        }
        for record in records {
            if !first_with.contains_key(&as_compared(&record.name)) {
                let message = "the row has a name that is not among TAXLABELS".to_string();
                found.push((record.name.clone(), record.line, message));
            }
        }
        for (name, line, message) in found {
            let place = Place::file(self.file).at_line(line).named(String::from_utf8_lossy(&name));
            self.faults.push(Fault::new(place, message));
        }
    }
}
