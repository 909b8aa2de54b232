//! Models of the user's under names of their own, as IQ-TREE's files define them (`--definitions FILE`).
//!
//! ```text
//! #NEXUS
//! begin models;
//!     frequency NAME = 20 frequencies;                    amino acids in the order of PAML: A R N D C Q E G H I L K M F P S T W Y V
//!     frequency NAME = FMIX{NAME:1:weight,...};           profiles, with their weights or without any
//!     model NAME = 190 exchange rates 20 frequencies;     the lower triangle, row by row
//!     model NAME = LG+G4+FMIX{NAME,...};                  any model string
//! end;
//! ```
//!
//! Statements are in any order; those of other blocks, and comments in `[...]`, are skipped. Names are replaced in model
//! strings before these are read, so that what is printed of a model is complete without the file.

use crate::error::{Error, Fault, Faults, Place, Result, abridged};
use crate::input::read_text;
use crate::model::UserMatrix;
use std::collections::BTreeMap;
use std::path::Path;

/// Longest file, in bytes.
const MAX_FILE: usize = 1 << 26;
/// Longest model string with everything that its names stand for, in bytes: names may stand for many names.
const MAX_EXPANDED: usize = 4 << 20;
/// Longest chain of definitions that name each other.
const MOST_DEPTH: usize = 16;

/// What names stand for, by the name in upper case.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Definitions {
    frequencies: BTreeMap<String, Frequencies>,
    models: BTreeMap<String, Defined>,
}

#[derive(Debug, Clone, PartialEq)]
enum Defined {
    /// A model string.
    Model(String),
    /// A matrix, and its frequencies, which other frequencies or profiles replace.
    Matrix(String, String),
}

#[derive(Debug, Clone, PartialEq)]
enum Frequencies {
    /// As they are written in braces.
    One(String),
    /// What is in the braces of `FMIX{...}`.
    Mixture(String),
}

impl Definitions {
    /// Reads a file.
    ///
    /// # Errors
    /// A file that cannot be read, or all its faults.
    pub(crate) fn read_file(path: &Path) -> Result<Self> {
        let text = read_text(path, MAX_FILE, "definitions of models")?;
        Definitions::read(&text, &path.display().to_string())
    }

    fn read(text: &str, file: &str) -> Result<Self> {
        let mut found = Definitions::default();
        let mut faults = Faults::new();
        let (mut inside, mut any_block) = (false, false);
        for (line, statement) in statements(text) {
            let mut words = statement.split_whitespace();
            let keyword = words.next().unwrap_or_default().to_ascii_lowercase();
            match keyword.as_str() {
                "begin" => {
                    inside = words.next().is_some_and(|name| name.eq_ignore_ascii_case("models"));
                    any_block |= inside;
                }
                "end" | "endblock" => inside = false,
                "frequency" | "model" if inside => {
                    if let Err(message) = found.define(&keyword, &statement) {
                        faults.push(Fault::new(Place::file(file).at_line(line), message));
                    }
                }
                _ if inside => {
                    let message = format!(
                        "'{}' in the models block: expected 'frequency NAME = ...;' or 'model NAME = ...;'",
                        abridged(&statement)
                    );
                    faults.push(Fault::new(Place::file(file).at_line(line), message));
                }
                _ => {}
            }
        }
        if !any_block && faults.is_empty() {
            let message = "no block 'begin models; ... end;', in which IQ-TREE's files define models and frequencies";
            faults.push(Fault::new(Place::file(file), message.to_string()));
        }
        if faults.is_empty() { Ok(found) } else { Err(Error::Input(faults)) }
    }

    fn define(&mut self, keyword: &str, statement: &str) -> std::result::Result<(), String> {
        let rest = &statement.trim_start()[keyword.len()..];
        let (name, value) = rest
            .split_once('=')
            .ok_or_else(|| format!("'{keyword}' without '=': expected '{keyword} NAME = ...;'"))?;
        let (name, value) = (name.trim().to_ascii_uppercase(), value.trim());
        if name.is_empty() || name.contains(|c: char| c.is_whitespace() || "+{}:/,".contains(c)) {
            return Err(format!(
                "'{}' cannot be a name: expected one word without + {{ }} : / ,",
                abridged(&name)
            ));
        }
        if self.frequencies.contains_key(&name) || self.models.contains_key(&name) {
            return Err(format!("'{}' is defined twice", abridged(&name)));
        }
        let numbers: Vec<f64> =
            value.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let are_numbers = numbers.len() == value.split_whitespace().count();
        match (keyword, inside_braces(value, "FMIX")) {
            ("frequency", Some(list)) => {
                self.frequencies.insert(name, Frequencies::Mixture(list.to_string()));
            }
            ("frequency", None) if are_numbers && numbers.len() == 20 => {
                self.frequencies.insert(name, Frequencies::One(in_braces(&numbers)));
            }
            ("frequency", None) => {
                return Err(format!(
                    "'{}' is neither 20 frequencies nor FMIX{{NAME:1:WEIGHT,...}}",
                    abridged(value)
                ));
            }
            _ if are_numbers => {
                // Lines are counted from that of the definition on.
                let matrix = UserMatrix::read(value, &format!("the matrix {name}"));
                let UserMatrix { rates, freqs } =
                    matrix.map_err(|error| error.to_string().replace('\n', "; "))?;
                let matrix = format!("PROTGTR{}", in_braces(&rates));
                let freqs = format!("FU{}", in_braces(&freqs));
                self.models.insert(name, Defined::Matrix(matrix, freqs));
            }
            _ => {
                let text: String = value.split_whitespace().collect();
                self.models.insert(name, Defined::Model(text));
            }
        }
        Ok(())
    }

    /// A model string with the definitions in place of their names.
    ///
    /// # Errors
    /// A profile that is not defined, definitions that name each other in a circle.
    pub(crate) fn expand(&self, text: &str) -> std::result::Result<String, String> {
        match self.frequencies.is_empty() && self.models.is_empty() {
            true => Ok(text.to_string()),
            false => self.expand_to(text, MOST_DEPTH),
        }
    }

    fn expand_to(&self, text: &str, depth: usize) -> std::result::Result<String, String> {
        if depth == 0 {
            return Err(format!("'{}' is defined by itself", abridged(text)));
        }
        let (mut parts, mut own_freqs, mut length) = (Vec::new(), None, 0);
        // The class that +F adds has no weight, so that all are estimated, as those of the profiles that are known by name.
        let with_weights = !parts_of(text).iter().any(|part| part.trim().eq_ignore_ascii_case("F"));
        for part in parts_of(text) {
            let name = part.trim().to_ascii_uppercase();
            let expanded = if let Some(list) = inside_braces(part, "FMIX") {
                self.mixture(list, with_weights, depth)?
            } else if let Some(model) = self.models.get(&name) {
                match model {
                    Defined::Model(model) => self.expand_to(model, depth - 1)?,
                    Defined::Matrix(matrix, freqs) => {
                        own_freqs = Some(freqs.clone());
                        matrix.clone()
                    }
                }
            } else {
                match self.frequencies.get(&name) {
                    Some(Frequencies::One(freqs)) => format!("FU{freqs}"),
                    Some(Frequencies::Mixture(list)) => self.mixture(list, with_weights, depth)?,
                    None => part.to_string(),
                }
            };
            length += expanded.len();
            within_limit(length)?;
            parts.push(expanded);
        }
        let mut text = parts.join("+");
        let others = parts_of(&text).into_iter().map(|part| part.trim().to_ascii_uppercase());
        let has_freqs = |part: String| {
            let profiles = part.strip_prefix('C').unwrap_or_default();
            part.starts_with('F') || profiles.parse::<u8>().is_ok()
        };
        if let Some(freqs) = own_freqs
            && !others.skip(1).any(has_freqs)
        {
            text = format!("{text}+{freqs}");
        }
        Ok(text)
    }

    /// `FMIX{...}{...}`, with the weights if there are any and they are wanted.
    fn mixture(
        &self,
        list: &str,
        with_weights: bool,
        depth: usize,
    ) -> std::result::Result<String, String> {
        let is_number = |item: &str| item.trim().parse::<f64>().is_ok();
        if list.split("}{").all(|freqs| freqs.split(['/', ',']).all(is_number)) {
            return Ok(format!("FMIX{{{list}}}"));
        }
        let (mut profiles, mut weights) = (String::from("FMIX"), Vec::new());
        let items: Vec<&str> = list.split([',', '/']).map(str::trim).collect();
        for item in &items {
            let mut fields = item.split(':');
            let name = fields.next().unwrap_or_default().trim().to_ascii_uppercase();
            match self.frequencies.get(&name) {
                Some(Frequencies::One(freqs)) => profiles += freqs,
                Some(Frequencies::Mixture(_)) if depth > 0 => {
                    return Err(format!(
                        "'{}' in FMIX{{...}} is a mixture itself",
                        abridged(&name)
                    ));
                }
                _ => return Err(format!("'{}' in FMIX{{...}} is not defined", abridged(&name))),
            }
            within_limit(profiles.len())?;
            let rate = fields.next().map(str::trim);
            if rate.is_some_and(|rate| rate.parse::<f64>().ok() != Some(1.0)) {
                return Err(format!(
                    "'{}' in FMIX{{...}}: profiles have rate 1 here; rates over sites are +G4 or +R4",
                    abridged(item)
                ));
            }
            weights.extend(fields.next().map(str::trim));
        }
        if weights.is_empty() {
            return Ok(profiles);
        }
        if weights.len() < items.len() || !weights.iter().all(|weight| is_number(weight)) {
            return Err(
                "FMIX{...} has weights for some profiles only: give all or none".to_string()
            );
        }
        Ok(match with_weights {
            true => format!("{profiles}+WU{{{}}}", weights.join("/")),
            false => profiles,
        })
    }
}

fn within_limit(length: usize) -> std::result::Result<(), String> {
    match length > MAX_EXPANDED {
        true => Err(format!("its names stand for more than {} MiB", MAX_EXPANDED >> 20)),
        false => Ok(()),
    }
}

/// What is in the braces of `NAME{...}`.
fn inside_braces<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let text = text.trim();
    let start = text.get(..name.len())?;
    let rest = text[name.len()..].trim_start();
    let inner = rest.strip_prefix('{')?.strip_suffix('}')?;
    start.eq_ignore_ascii_case(name).then_some(inner)
}

fn in_braces(numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(f64::to_string).collect();
    format!("{{{}}}", numbers.join("/"))
}

/// The parts of a model string, which are separated by `+` outside braces.
fn parts_of(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, c) in text.char_indices() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            '+' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// The statements of a NEXUS file, without comments, and the line with which each begins.
fn statements(text: &str) -> Vec<(usize, String)> {
    let (mut found, mut statement, mut begin, mut line, mut comment) =
        (Vec::new(), String::new(), 1, 1, 0_usize);
    let text = text.trim_start_matches('\u{feff}');
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let is_header = first.trim().eq_ignore_ascii_case("#nexus");
    for c in if is_header { rest } else { text }.chars() {
        match c {
            '[' => comment += 1,
            ']' if comment > 0 => comment -= 1,
            ';' if comment == 0 => found.push((begin, std::mem::take(&mut statement))),
            c if comment == 0 && (!c.is_whitespace() || !statement.is_empty()) => {
                if statement.is_empty() {
                    begin = line + usize::from(is_header);
                }
                statement.push(c);
            }
            _ => {}
        }
        line += usize::from(c == '\n');
    }
    if !statement.trim().is_empty() {
        found.push((begin, statement));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;

    /// A file with two profiles, of which the second prefers the first amino acid.
    fn file() -> String {
        let even = "0.05 ".repeat(20);
        let uneven = format!("0.43 {}", "0.03 ".repeat(19));
        let triangle = "1.5 ".repeat(190);
        format!(
            "#NEXUS\n[a comment; with a semicolon]\nbegin models;\nfrequency Even = {even};\n\
             frequency uneven=\n{uneven};\nfrequency Both = FMIX{{Even:1:0.25,Uneven:1:0.75}};\n\
             model Mine = LG+Both+G4;\nmodel Equal = {triangle}\n {even};\nend;\nbegin other; tree x; end;\n"
        )
    }

    #[test]
    fn names_are_replaced_and_what_is_printed_needs_no_file() {
        let definitions = Definitions::read(&file(), "f").unwrap();
        for (text, classes, label) in [
            ("LG+Both+G4", 2, "WU{0.25/0.75}"),
            ("mine", 2, "WU{0.25/0.75}"),
            ("LG+Both+F+G4", 3, "WO"),
            ("WAG+FMIX{even,UNEVEN}+R2", 2, "WO"),
            ("WAG+FMIX{even/uneven}+F", 3, "WO"),
            ("LG+uneven+G", 0, "FU{0.43/0.03"),
            ("Equal+Both", 2, "PROTGTR{1/1"),
            ("Equal+C10", 10, "PROTGTR{1/1"),
            ("Equal+G4", 0, "+FU{0.05/0.05"),
            ("LG+C20+G4", 20, "LG+C20+G4m"),
        ] {
            let expanded = definitions.expand(text).unwrap();
            let model = Model::parse(&expanded).unwrap();
            let found = model.mixture.as_ref().map_or(0, |mixture| mixture.classes.len());
            assert_eq!(found, classes, "{text}: {expanded}");
            assert!(model.label().contains(label), "{text}: {}", model.label());
            let again = Model::parse(&model.to_string()).unwrap();
            assert_eq!(again.eigen_models(), model.eigen_models(), "{text}");
            assert_eq!(again.rate_cats(), model.rate_cats(), "{text}");
        }
        assert_eq!(Definitions::default().expand("GTR+G").unwrap(), "GTR+G");
    }

    #[test]
    fn faults_have_their_places() {
        let refused = |from: &str, to: &str| {
            let text = file().replacen(from, to, 1);
            Definitions::read(&text, "f.nex").unwrap_err().to_string()
        };
        for (from, to, message) in [
            ("frequency Even = 0.05", "frequency Even = ", "f.nex, line 4: '0.05"),
            ("frequency Even =", "frequency Even ", "line 4: 'frequency' without '='"),
            ("frequency Even", "frequency Ev en", "line 4: 'EV EN' cannot be a name"),
            ("frequency uneven=", "frequency EVEN=", "line 5: 'EVEN' is defined twice"),
            ("model Equal = 1.5", "model Equal = ", "line 9: "),
            ("model Mine", "modell Mine", "line 8: 'modell Mine = LG+Both+G4' in the models block"),
            ("begin models", "begin trees", "no block 'begin models; ... end;'"),
        ] {
            let found = refused(from, to);
            assert!(found.contains(message), "{from} -> {to}: {found}");
        }
        let definitions = Definitions::read(&file(), "f").unwrap();
        for (text, message) in [
            ("LG+FMIX{even,odd}", "'ODD' in FMIX{...} is not defined"),
            ("LG+FMIX{even,both}", "'BOTH' in FMIX{...} is a mixture itself"),
            ("LG+FMIX{even:2:0.5,uneven:1:0.5}", "profiles have rate 1 here"),
            ("LG+FMIX{even:1:0.5,uneven}", "weights for some profiles only"),
        ] {
            let found = definitions.expand(text).unwrap_err();
            assert!(found.contains(message), "{text}: {found}");
        }
        let circle = "begin models; model A = B+G; model B = A; end;";
        let circle = Definitions::read(circle, "f").unwrap().expand("A").unwrap_err();
        assert!(circle.contains("is defined by itself"), "{circle}");
        let many = |name: &str| vec![name; 1000].join("+");
        let chain = format!("begin models; model A = {}; model B = {}; end;", many("B"), many("G"));
        let chain = chain.replace("end;", &format!("model Z = {}; end;", many("A")));
        let long = Definitions::read(&chain, "f").unwrap().expand("Z").unwrap_err();
        assert_eq!(long, "its names stand for more than 4 MiB");
    }
}
