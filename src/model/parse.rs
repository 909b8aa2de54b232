//! The grammar of model strings, in RAxML-NG's, IQ-TREE's and RAxML's spelling.
//!
//! ```text
//! model     = matrix [rates] { "+" part }          upper or lower case, blanks ignored
//! matrix    = a name of NAMED_DNA_MODELS | "DNA010020" | "010020"
//! part      = "F" | "FC" | "FO" | "FU" | "FE" | "FQ"   frequencies; values after F FC FO FU
//!           | "I" | "IO" | "IU"                        invariant sites; a value
//!           | "G" [categories] ["m" | "a"]             gamma: means or medians; alpha
//! values    = "{" number { "/" number } "}"            "[...]" and "," are accepted too
//! raxml     = "GTR" ("GAMMA" | "CAT") ["I"] ["X"]
//! ```
//!
//! A value in braces is **fixed**, whatever letters precede it (as in RAxML-NG): a best-model file
//! used as input is evaluated with exactly its parameters. A matrix of unequal frequencies without a
//! `+F` part means empirical ones, so `GTR+G` is `GTRGAMMA` is `GTR+FC+G4m`. Rates in braces: all six,
//! or one per class, or one per class without the reference (`K80{kappa}`, `TN93{AG/CT}`).

use super::bounds::{
    ALPHA_MAX, ALPHA_MIN, ALPHA_START, FIXED_RATE_MAX, FIXED_RATE_MIN, GAMMA_CATS, GAMMA_CATS_MAX,
    PINV_MAX, PINV_MIN, PINV_START,
};
use super::dna::{NAMED_DNA_MODELS, find_named, parse_symmetry};
use super::parameters::{FreqsMode, Gamma, Invariant, Model, ParamMode};
use crate::alphabet::DataType;
use crate::numeric::GammaMode;

type Parsed<T> = std::result::Result<T, String>;

/// Beginnings of names (upper case) that other programs know and this version does not.
const NOT_YET: [&str; 35] = [
    "PROT", "BIN", "MULTI", "MK", "ORDERED", "CODON", "GY", "MG", "ECM", "KOSI", "SCHN", "GT10",
    "GT16", "GP", "DAYHOFF", "DCMUT", "JTT", "MT", "WAG", "RTREV", "CPREV", "VT", "BLOSUM", "LG",
    "PMB", "HIV", "FLU", "STMTREV", "DEN", "Q.", "POISSON", "ASC_", "GTR20", "UNREST", "NONREV",
];

/// A word with the values in its braces, if it has any.
struct Word<'a> {
    head: &'a str,
    values: Option<Vec<f64>>,
}

impl Model {
    /// Reads a model string; the grammar is at the top of this file, and in the README.
    ///
    /// # Errors
    ///
    /// One sentence that says what is wrong, what is known, and how to mend it.
    pub fn parse(text: &str) -> Parsed<Model> {
        read(text).map_err(|wrong| format!("model '{}': {wrong}", text.trim()))
    }

    /// True for `DNA` and `DNAX`, in upper or lower case: a partition line's type that leaves the
    /// model to `-m`.
    pub fn is_type_only(text: &str) -> bool {
        ["DNA", "DNAX"].iter().any(|known| known.eq_ignore_ascii_case(text.trim()))
    }

    /// The model a type-only partition line stands for, given the one from `-m`: the same, and for
    /// `DNAX` with frequencies by maximum likelihood. `None` if `text` is not a type.
    pub fn for_type(text: &str, from_command_line: &Model) -> Option<Model> {
        let mut model = Model::is_type_only(text).then(|| from_command_line.clone())?;
        if text.trim().eq_ignore_ascii_case("DNAX") {
            model.freqs_mode = FreqsMode::Optimized;
        }
        Some(model)
    }
}

fn read(text: &str) -> Parsed<Model> {
    let plain: String = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| match c {
            '[' => '{',
            ']' => '}',
            c => c.to_ascii_uppercase(),
        })
        .collect();
    let (expanded, note) = expand_raxml(&plain);
    let mut words = split_words(&expanded)?.into_iter();
    let matrix = read_word(words.next().unwrap_or_default())?;
    let mut model = read_matrix(&matrix)?;
    model.notes.extend(note);

    let (mut freqs_seen, mut invariant_seen, mut gamma_seen) = (false, false, false);
    for word in words {
        let word = read_word(word)?;
        let seen = match word.head.bytes().next() {
            Some(b'F') => &mut freqs_seen,
            Some(b'I') => &mut invariant_seen,
            Some(b'G') => &mut gamma_seen,
            _ => return Err(unknown_part(word.head)),
        };
        if std::mem::replace(seen, true) {
            return Err(format!("'+{}' comes after another part of its kind; keep one", word.head));
        }
        match word.head.bytes().next() {
            Some(b'F') => read_freqs(&mut model, &word)?,
            Some(b'I') => read_invariant(&mut model, &word)?,
            _ => read_gamma(&mut model, &word)?,
        }
    }
    if !freqs_seen && (model.name == "TIM2" || model.name == "TIM3") {
        let name = &model.name;
        let equal = format!(
            "{name} has equal base frequencies here, as in RAxML-NG; IQ-TREE's {name} is {name}uf here"
        );
        model.notes.push(equal);
    }
    Ok(model)
}

/// RAxML's one-word models, spelt out, and what the user should know about it.
fn expand_raxml(plain: &str) -> (String, Option<String>) {
    let (word, rest) = plain.split_at(plain.find(['+', '{']).unwrap_or(plain.len()));
    let heterogeneity = ["GTRGAMMA", "GTRCAT"]
        .into_iter()
        .find_map(|start| word.strip_prefix(start).map(|suffix| (start, suffix)));
    let Some((start, suffix)) = heterogeneity else {
        return (plain.to_string(), None);
    };
    let expanded = match suffix {
        "" => "GTR+F+G4",
        "I" => "GTR+F+I+G4",
        "X" => "GTR+FO+G4",
        "IX" => "GTR+FO+I+G4",
        _ => return (plain.to_string(), None),
    };
    let note = (start == "GTRCAT").then(|| {
        format!(
            "{word} runs as {expanded} here: there are no per-site rate categories in this version"
        )
    });
    (expanded.to_string() + rest, note)
}

/// Splits at each `+` outside braces (there is one in `1e+5`).
fn split_words(text: &str) -> Parsed<Vec<&str>> {
    let (mut words, mut start, mut inside) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '{' if inside => return Err("'{' within braces; close the first with '}'".to_string()),
            '}' if !inside => return Err("'}' without '{' before it".to_string()),
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

fn read_word(word: &str) -> Parsed<Word<'_>> {
    let Some(open) = word.find('{') else {
        return Ok(Word { head: word, values: None });
    };
    let (head, braces) = word.split_at(open);
    let Some(inner) = braces[1..].strip_suffix('}') else {
        return Err(format!("'{word}' goes on after its '}}'; put '+' between the parts"));
    };
    let mut values = Vec::new();
    for item in inner.split(['/', ',']) {
        match item.parse::<f64>() {
            Ok(value) if value.is_finite() => values.push(value),
            _ => {
                return Err(format!(
                    "'{item}' in '{word}' is not a number; write numbers with '/' between them, \
                     for example {{0.5/1.5}}"
                ));
            }
        }
    }
    Ok(Word { head, values: Some(values) })
}

/// The matrix with its rates and the frequencies it implies.
fn read_matrix(word: &Word) -> Parsed<Model> {
    let name = word.head;
    let mut model = if let Some(named) = find_named(name) {
        let classes = named.rate_classes.to_vec();
        let mut model = Model::with_classes(named.name.to_string(), DataType::Dna, classes);
        if !named.equal_freqs {
            model.freqs_mode = FreqsMode::Empirical;
        }
        model
    } else if let Some(classes) = parse_symmetry(name) {
        let digits: String = classes.iter().map(u8::to_string).collect();
        let name = format!("DNA{digits}");
        let mut model = Model::with_classes(name, DataType::Dna, classes.to_vec());
        model.freqs_mode = FreqsMode::Empirical;
        model
    } else {
        return Err(unknown_matrix(name));
    };
    if let Some(values) = &word.values {
        set_rates(&mut model, values)?;
    }
    Ok(model)
}

fn set_rates(model: &mut Model, values: &[f64]) -> Parsed<()> {
    let name = model.name.clone();
    let classes = usize::from(model.num_rate_classes());
    if let Some(wrong) = values.iter().find(|&&v| v <= 0.0) {
        return Err(format!("rate {wrong} of {name} is not above 0; 0.0001 is as good as none"));
    }
    let reference = usize::from(model.reference_class());
    let mut by_class = vec![1.0; classes];
    let count = values.len();
    if count == model.rate_classes.len() {
        for (&class, &value) in model.rate_classes.iter().zip(values) {
            by_class[usize::from(class)] = value;
        }
        for (i, &class) in model.rate_classes.iter().enumerate() {
            if values[i] != by_class[usize::from(class)] {
                return Err(format!(
                    "the six rates (AC/AG/AT/CG/CT/GT) do not have the symmetry of {name}, {}; \
                     give equal numbers where its digits are equal, or use GTR",
                    model.rate_classes.iter().map(u8::to_string).collect::<String>()
                ));
            }
        }
    } else if count == classes {
        by_class.copy_from_slice(values);
    } else if count + 1 == classes {
        let free = (0..classes).filter(|&class| class != reference);
        for (class, &value) in free.zip(values) {
            by_class[class] = value;
        }
    } else {
        let shorter = match classes {
            1 => String::new(),
            _ => format!(", {classes} (one per class) or {} (relative to GT = 1)", classes - 1),
        };
        return Err(format!(
            "{count} rates in braces, but {name} takes 6 (AC/AG/AT/CG/CT/GT){shorter}"
        ));
    }
    for (class, value) in by_class.iter().enumerate() {
        let relative = value / by_class[reference];
        if !(FIXED_RATE_MIN..=FIXED_RATE_MAX).contains(&relative) {
            return Err(format!(
                "rate {value} of {name} is too far from the rate of GT, {}: the ratio must be \
                 from {FIXED_RATE_MIN:e} to {FIXED_RATE_MAX:e}",
                by_class[reference]
            ));
        }
        model.set_class_value(class as u8, relative);
    }
    model.rates_mode = ParamMode::Fixed;
    Ok(())
}

fn read_freqs(model: &mut Model, word: &Word) -> Parsed<()> {
    let head = word.head;
    let mode = match head {
        "F" | "FC" => FreqsMode::Empirical,
        "FO" => FreqsMode::Optimized,
        "FE" | "FQ" => FreqsMode::Equal,
        "FU" => FreqsMode::Fixed,
        _ => return Err(unknown_part(head)),
    };
    let Some(values) = &word.values else {
        if mode == FreqsMode::Fixed {
            return Err("'+FU' needs the frequencies: +FU{A/C/G/T}".to_string());
        }
        model.freqs_mode = mode;
        return Ok(());
    };
    if mode == FreqsMode::Equal {
        return Err(format!(
            "'+{head}' means equal frequencies and takes no values; use +FU{{...}}"
        ));
    }
    let states = model.num_states();
    if values.len() != states {
        let count = values.len();
        return Err(format!(
            "{count} frequencies in '+{head}{{...}}', but {states} states: A/C/G/T"
        ));
    }
    if let Some(wrong) = values.iter().find(|&&v| v <= 0.0) {
        return Err(format!(
            "frequency {wrong} is not above 0: give a state that is rare a small one, such as 1e-4"
        ));
    }
    let sum: f64 = values.iter().sum();
    if !sum.is_finite() {
        return Err(format!("frequencies in '+{head}{{...}}' sum to {sum}; they should sum to 1"));
    }
    model.set_freqs(values);
    model.freqs_mode = FreqsMode::Fixed;
    Ok(())
}

fn read_invariant(model: &mut Model, word: &Word) -> Parsed<()> {
    let head = word.head;
    match head {
        "I" | "IO" => {}
        "IU" if word.values.is_some() => {}
        "IU" => return Err("'+IU' needs the proportion of invariant sites: +IU{0.2}".to_string()),
        "IC" => {
            return Err("'+IC' (counted invariant sites) is not supported yet in this version; \
                            use +I, which estimates them"
                .to_string());
        }
        _ => return Err(unknown_part(head)),
    }
    let value = one_value(word, "proportion of invariant sites", PINV_MIN, PINV_MAX)?;
    model.invariant = Some(match value {
        Some(pinv) => Invariant { pinv, pinv_mode: ParamMode::Fixed },
        None => Invariant { pinv: PINV_START, pinv_mode: ParamMode::Optimized },
    });
    Ok(())
}

fn read_gamma(model: &mut Model, word: &Word) -> Parsed<()> {
    let after = &word.head[1..];
    let (digits, mode) = if let Some(digits) = after.strip_suffix('M') {
        (digits, GammaMode::Mean)
    } else if let Some(digits) = after.strip_suffix('A') {
        (digits, GammaMode::Median)
    } else {
        (after, GammaMode::Mean)
    };
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(unknown_part(word.head));
    }
    let num_cats = match digits.parse::<usize>() {
        _ if digits.is_empty() => GAMMA_CATS,
        Ok(number) if (2..=GAMMA_CATS_MAX).contains(&number) => number,
        _ => {
            return Err(format!(
                "'+{}' asks for {digits} gamma categories; 2 to {GAMMA_CATS_MAX} are possible, \
                 4 are usual, and without +G there is 1",
                word.head
            ));
        }
    };
    let value = one_value(word, "alpha", ALPHA_MIN, ALPHA_MAX)?;
    let (alpha, alpha_mode) = match value {
        Some(alpha) => (alpha, ParamMode::Fixed),
        None => (ALPHA_START, ParamMode::Optimized),
    };
    model.gamma = Some(Gamma { num_cats, mode, alpha, alpha_mode });
    Ok(())
}

/// The single value in a word's braces, within its limits; `None` without braces.
fn one_value(word: &Word, what: &str, min: f64, max: f64) -> Parsed<Option<f64>> {
    match word.values.as_deref() {
        None => Ok(None),
        Some(&[value]) if (min..=max).contains(&value) => Ok(Some(value)),
        Some(&[value]) => {
            Err(format!("{what} {value} in '+{}' is out of its limits, {min} to {max}", word.head))
        }
        Some(values) => {
            Err(format!("{} values in '+{}{{...}}', expected one: {what}", values.len(), word.head))
        }
    }
}

fn unknown_part(head: &str) -> String {
    let known = "known are +F +FC +FO +FE +FU{A/C/G/T}, +I +I{p}, +G[n][m|a] +G{alpha}";
    let later = match head {
        _ if head.is_empty() => return format!("nothing after a '+'; {known}"),
        _ if head.starts_with("R") => "free rates (+R) are",
        _ if head.starts_with("ASC") => "ascertainment bias correction (+ASC) is",
        _ if head.starts_with('B') => {
            return format!(
                "'+{head}' sets branch lengths, which are chosen with --brlen linked, scaled or \
                 unlinked for all partitions; leave it out"
            );
        }
        _ => return format!("unknown part '+{head}'; {known}"),
    };
    format!("'+{head}': {later} not supported yet in this version; {known}")
}

fn unknown_matrix(name: &str) -> String {
    let names: Vec<&str> = NAMED_DNA_MODELS.iter().map(|m| m.name).collect();
    let known = format!(
        "known are {}, a symmetry such as DNA010020, and RAxML's GTRGAMMA[I][X] and GTRCAT[I][X]",
        names.join(" ")
    );
    if name.is_empty() {
        return format!("no matrix named; {known}");
    }
    if Model::is_type_only(name) {
        return format!("this is a type of data, not a model; use GTR+G, for example; {known}");
    }
    if name == "AUTO" || name == "TEST" || name == "MF" || name == "MFP" {
        return format!("choosing a model is not supported yet in this version; {known}");
    }
    if NOT_YET.iter().any(|start| name.starts_with(start)) {
        return format!("'{name}' is not supported yet in this version (DNA models only); {known}");
    }
    format!("unknown matrix '{name}'; {known}")
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
