//! The grammar of model strings, in RAxML-NG's, IQ-TREE's and RAxML's spelling.
//!
//! ```text
//! model     = matrix [values] { "+" part }         upper or lower case, white space ignored
//! matrix    = a name of `matrices` | "DNA010020" | "010020"
//!           | "MIX{" name [":" rate [":" weight]] { "/" ... } "}"   amino-acid matrices, each for a class of sites
//! part      = "C10" | "C20" | "C30" | "C40" | "C50" | "C60"   profiles of amino acids
//!           | "FMIX" values { values }                   given profiles: 20 frequencies each
//!           | "W" | "WO" | "WU"                        weights of profiles; values
//!           | "F" | "FC" | "FO" | "FU" | "FE" | "FQ"   frequencies; values after F FC FO FU
//!           | "F1X4" | "F3X4" | "F61"                  of codons; 4 or 12 values
//!           | "CODE" values                            NCBI's number of the genetic code
//!           | "I" | "IO" | "IU"                        invariant sites; a value
//!           | "G" [categories] ["m" | "a"]             gamma: means or medians; alpha
//!           | "R" [categories]                         free rates; values: rates, then weights
//!           | "ASC" | "ASC_LEWIS" | "ASC_FELS" values | "ASC_STAM" values
//! values    = "{" number { "/" number } "}"            "[...]" and "," are accepted too
//! ```
//!
//! RAxML's words are spelt out first (`raxml`). A value in braces is **fixed**, whatever letters
//! precede it (as in RAxML-NG): a best-model file used as input is evaluated with exactly its
//! parameters. A matrix of unequal frequencies without a `+F` part means empirical ones (the table's
//! own for proteins, F3x4 for codons), so `GTR+G` is `GTRGAMMA` is `GTR+FC+G4m`. Rates in braces: all
//! of them, or one per class, or one per class without the reference (`K80{kappa}`, `TN93{AG/CT}`).

use super::ascertainment::Ascertainment;
use super::bounds::{
    ALL_CATS_MAX, ALPHA_MAX, ALPHA_MIN, ALPHA_START, FIXED_RATE_MAX, FIXED_RATE_MIN,
    FREE_RATE_CATS, GAMMA_CATS, GAMMA_CATS_MAX, PINV_MAX, PINV_MIN, PINV_START,
};
use super::matrices::{Context, leaves_states_open, read_matrix, read_named_matrices};
use super::mixture::{ClassWeights, GIVEN_PROFILES, Mixture, NAMED_MATRICES};
use super::modes::{FreqsMode, ParamMode, WeightsMode};
use super::parameters::Model;
use super::profiles::{PROFILE_MIXTURES, find_profile_mixture};
use super::rates::{FreeRates, Gamma, Heterogeneity, Invariant};
use super::raxml::expand_raxml;
use super::words::{Parsed, Word, plain, read_word, split_words};
use crate::alphabet::{DataType, GeneticCode};
use crate::error::{abridged, short_number};
use crate::numeric::GammaMode;

impl Model {
    /// Reads a model string; the grammar is at the top of this file, and in src/cli/data.md.
    ///
    /// # Errors
    ///
    /// A message that says what is wrong, what is possible, and how to correct it.
    ///
    /// # Examples
    ///
    /// ```
    /// use mlsearch_library::model::Model;
    ///
    /// // Frequencies are counted in the alignment, the other parameters estimated from these values on.
    /// let model = Model::parse("HKY+I+G4")?;
    /// assert_eq!(model.label(), "HKY+FC+IO+G4m");
    /// assert_eq!(model.to_string(), "HKY{1/3}+FC{0.25/0.25/0.25/0.25}+IO{0.1}+G4m{1}");
    ///
    /// // Values in braces are kept as they are.
    /// let model = Model::parse("LG+G4{0.5}")?;
    /// assert_eq!((model.num_states(), model.num_free_parameters()), (20, 0));
    ///
    /// assert!(Model::parse("GTR+Q").unwrap_err().starts_with("model 'GTR+Q': "));
    /// # Ok::<(), String>(())
    /// ```
    pub fn parse(text: &str) -> Parsed<Model> {
        Model::parse_with_states(text, None)
    }

    /// [`Model::parse`], with the number of states of a multi-state model whose name leaves it open
    /// (`MK`, `MULTIGAMMA`).
    ///
    /// # Errors
    ///
    /// As [`Model::parse`].
    pub fn parse_with_states(text: &str, num_states: Option<usize>) -> Parsed<Model> {
        read(text, num_states)
            .map_err(|wrong| format!("model '{}': {wrong}", abridged(text.trim())))
    }

    /// True for a multi-state model without its number of states (`MK`, `MULTIGAMMA`).
    pub fn leaves_states_open(text: &str) -> bool {
        let (expanded, _) = expand_raxml(&plain(text));
        leaves_states_open(expanded.split(['+', '{']).next().unwrap_or_default())
    }
}

/// Reads a word into a part of the model.
type ReadPart = fn(&mut Model, &Word) -> Parsed<()>;

fn read(text: &str, num_states: Option<usize>) -> Parsed<Model> {
    let (expanded, notes) = expand_raxml(&plain(text));
    let split = split_words(&expanded)?;
    let matrices = read_named_matrices(split[0])?;
    let mut words = Vec::new();
    for (number, word) in split.into_iter().enumerate() {
        words.push(match (&matrices, number) {
            (Some(_), 0) => Word { head: NAMED_MATRICES, values: Vec::new() },
            _ => read_word(word)?,
        });
    }
    let code = words.iter().find(|word| word.head == "CODE").map(read_code).transpose()?;
    let context = Context { code: code.unwrap_or(GeneticCode::STANDARD), num_states };
    let mut model = match matrices {
        Some(model) => model,
        None => read_matrix(&words[0], context)?,
    };
    model.notes.extend(notes);
    let is_codon = matches!(model.data_type, DataType::Codon(_));
    if code.is_some() && !is_codon {
        return Err(format!("'+CODE' is for codon models, and {} is not one", model.name));
    }
    let mut seen = [false; 7];
    seen[5] = model.mixture.is_some();
    for word in &words[1..] {
        let (kind, read_part): (usize, ReadPart) = match word.head.bytes().next() {
            _ if word.head == "CODE" => (0, |_, _| Ok(())),
            Some(b'C') => (5, read_profiles),
            _ if word.head == GIVEN_PROFILES => (5, read_given_profiles),
            Some(b'W') => (6, |_, _| Ok(())),
            Some(b'F') => (1, read_freqs),
            Some(b'I') => (2, read_invariant),
            Some(b'G') => (3, read_gamma),
            Some(b'R') => (3, read_free_rates),
            Some(b'A') if word.head.starts_with("ASC") => (4, read_ascertainment),
            _ => return Err(unknown_part(word.head)),
        };
        if let (5, Some(mixture)) = (kind, &model.mixture) {
            let (name, head) = (mixture.name, word.head);
            return Err(format!("{name} is a mixture already, and takes no '+{head}'"));
        }
        if std::mem::replace(&mut seen[kind], true) {
            return Err(format!(
                "'+{}' follows another part of the same kind; keep only one",
                word.head
            ));
        }
        read_part(&mut model, word)?;
    }
    settle_classes(&mut model, seen[1], words[1..].iter().find(|word| word.head.starts_with('W')))?;
    check(&model)?;
    if !seen[1] && (model.name == "TIM2" || model.name == "TIM3") {
        let name = &model.name;
        let equal = format!(
            "{name} has equal base frequencies here, as in RAxML-NG; IQ-TREE's {name} is {name}uf here"
        );
        model.notes.push(equal);
    }
    Ok(model)
}

/// What the parts must have in common.
fn check(model: &Model) -> Parsed<()> {
    if let Some(mixture) = model.mixture.as_ref().filter(|m| m.weights == ClassWeights::OfRates) {
        let cats = model.rates_over_sites().rates.len();
        if cats != mixture.classes.len() {
            let (name, wanted) = (&model.name, mixture.classes.len());
            return Err(format!(
                "{name} has a matrix for each of {wanted} rate categories, not for {cats}: use \
                 +G{wanted} or +R{wanted}"
            ));
        }
    }
    let all_cats = model.rate_cats().rates.len();
    if model.mixture.is_some() && all_cats > ALL_CATS_MAX {
        return Err(format!(
            "its classes have {all_cats} rate categories together; {ALL_CATS_MAX} are possible: use fewer, such as +G4"
        ));
    }
    let position_freqs = matches!(
        model.freqs_mode,
        FreqsMode::Equal | FreqsMode::F1x4 { .. } | FreqsMode::F3x4 { .. }
    );
    if model.is_muse_gaut() && !position_freqs {
        return Err(format!("{} needs nucleotide frequencies: +F1X4, +F3X4 or +FE", model.name));
    }
    if model.ascertainment.is_some() && model.estimates_class_weights() {
        return Err(
            "weights of classes cannot be estimated under +ASC: give them as +WU{...}".into()
        );
    }
    if model.ascertainment.is_some() && model.invariant.is_some() {
        return Err(
            "+ASC is for alignments without invariable sites and cannot be combined with +I".into(),
        );
    }
    Ok(())
}

fn read_profiles(model: &mut Model, word: &Word) -> Parsed<()> {
    let head = word.head;
    let Some(profiles) = find_profile_mixture(head) else {
        let known: Vec<&str> = PROFILE_MIXTURES.iter().map(|mixture| mixture.name).collect();
        return Err(match head.bytes().skip(1).all(|b| b.is_ascii_digit()) && head.len() > 1 {
            true => format!(
                "there are no profiles '{}': use one of {}",
                abridged(head),
                known.join(" ")
            ),
            false => unknown_part(head),
        });
    };
    if !word.values.is_empty() {
        return Err(format!(
            "'+{head}' takes no values; give the weights of its classes as +WU{{...}}"
        ));
    }
    of_amino_acids(model, head)?;
    model.mixture = Some(Mixture::of_profiles(profiles));
    Ok(())
}

fn of_amino_acids(model: &Model, head: &str) -> Parsed<()> {
    match model.data_type {
        DataType::Protein => Ok(()),
        _ => Err(format!("'+{head}' is for amino acids, and {} is no model of them", model.name)),
    }
}

fn read_given_profiles(model: &mut Model, word: &Word) -> Parsed<()> {
    of_amino_acids(model, word.head)?;
    if word.values.len() < 2 {
        return Err(
            "'+FMIX' needs two or more profiles of 20 frequencies: +FMIX{f1/f2/...}{f1/f2/...}"
                .into(),
        );
    }
    for (number, profile) in word.values.iter().enumerate() {
        let (number, count) = (number + 1, model.num_states());
        if profile.len() != count {
            let given = profile.len();
            return Err(format!(
                "profile {number} of '+FMIX' has {given} frequencies instead of {count}"
            ));
        }
        let sum: f64 = profile.iter().sum();
        if profile.iter().any(|&freq| freq < 0.0) || sum <= 0.0 || !sum.is_finite() {
            return Err(format!(
                "the frequencies of profile {number} of '+FMIX' must be 0 or more, and not all 0"
            ));
        }
    }
    model.mixture = Some(Mixture::of_given_profiles(&word.values));
    Ok(())
}

/// The classes of a mixture and their weights, once all parts are known: frequencies of the model (`+F`) are a further class
/// of profiles, but replace those of matrices.
fn settle_classes(model: &mut Model, has_freqs: bool, weights: Option<&Word>) -> Parsed<()> {
    let Some(mixture) = &mut model.mixture else {
        return match weights {
            None => Ok(()),
            Some(word) => {
                let name = &model.name;
                Err(format!("'+{}' is for the weights of classes, which {name} has not", word.head))
            }
        };
    };
    match (mixture.is_of_frequencies(), has_freqs) {
        (true, true) => mixture.add_class_of_model(),
        // PROTGTR has counted frequencies if no others are named.
        (true, false) => model.freqs_mode = FreqsMode::Table,
        (false, true) => mixture.take_freqs_of_model(),
        (false, false) => {}
    }
    let Some(word) = weights else { return Ok(()) };
    let head = word.head;
    let ClassWeights::Own { weights, mode } = &mut mixture.weights else {
        let name = mixture.name;
        return Err(format!("'+{head}': the classes of {name} have the weights of its rates, +R4"));
    };
    let values = match (head, &word.values[..]) {
        ("W" | "WO", []) => {
            *mode = WeightsMode::Optimized;
            return Ok(());
        }
        ("WU", []) => {
            let count = weights.len();
            return Err(format!(
                "'+WU' needs the weights of the {count} classes: +WU{{w1/w2/...}}"
            ));
        }
        ("W" | "WO" | "WU", [values]) => values,
        ("W" | "WO" | "WU", _) => {
            return Err(format!("'+{head}' takes one list of values in braces"));
        }
        _ => return Err(unknown_part(head)),
    };
    if values.len() != weights.len() {
        let (given, count) = (values.len(), weights.len());
        return Err(format!("{given} weights in '+{head}{{...}}', but there are {count} classes"));
    }
    let sum: f64 = values.iter().sum();
    if values.iter().any(|&weight| weight < 0.0) || sum <= 0.0 || !sum.is_finite() {
        return Err(format!("weights in '+{head}{{...}}' must be 0 or more, and not all 0"));
    }
    mixture.fix_weights(values.clone());
    Ok(())
}

fn read_code(word: &Word) -> Parsed<GeneticCode> {
    let number = one_value(word, "number of a genetic code", 1.0, 255.0)?;
    let code = number.filter(|n| n.fract() == 0.0).map(|n| n as u8);
    code.and_then(GeneticCode::from_number).ok_or_else(|| {
        let known: Vec<String> = GeneticCode::all().map(|code| code.number().to_string()).collect();
        format!("'+CODE{{n}}' takes a number of NCBI's genetic codes: {}", known.join(" "))
    })
}

fn read_freqs(model: &mut Model, word: &Word) -> Parsed<()> {
    let head = word.head;
    let is_codon = matches!(model.data_type, DataType::Codon(_));
    let mode = match head {
        "F" | "FC" => FreqsMode::Empirical,
        "F61" | "F60" if is_codon => FreqsMode::Empirical,
        "FO" => FreqsMode::Optimized,
        "FE" | "FQ" => FreqsMode::Equal,
        "FU" => FreqsMode::Fixed,
        "F1X4" if is_codon => FreqsMode::F1x4 { counted: true },
        "F3X4" if is_codon => FreqsMode::F3x4 { counted: true },
        "F1X4" | "F3X4" | "F61" => {
            return Err(format!("'+{head}' is for codon models, and {} is not one", model.name));
        }
        _ => return Err(unknown_part(head)),
    };
    let values = match &word.values[..] {
        [] if mode == FreqsMode::Fixed => {
            let states = model.data_type.state_names();
            let states = if states.len() <= 20 { states.join("/") } else { "...".into() };
            return Err(format!("'+FU' needs the frequencies: +FU{{{states}}}"));
        }
        [] => {
            model.freqs_mode = mode;
            return if mode == FreqsMode::Equal { equal_freqs(model) } else { Ok(()) };
        }
        [values] => values,
        _ => return Err(format!("'+{head}' takes one list of values in braces")),
    };
    if mode == FreqsMode::Equal {
        return Err(format!(
            "'+{head}' means equal frequencies and takes no values; use +FU{{...}}"
        ));
    }
    let (count, of_what) = match mode {
        FreqsMode::F1x4 { .. } => (4, "nucleotides: A/C/G/T".to_string()),
        FreqsMode::F3x4 { .. } => {
            (12, "nucleotides at three positions: A/C/G/T/A/C/G/T/A/C/G/T".to_string())
        }
        _ => {
            let names = model.data_type.state_names();
            let names =
                if names.len() <= 20 { format!(": {}", names.join("/")) } else { "".into() };
            (model.num_states(), format!("states{names}"))
        }
    };
    if values.len() != count {
        let given = values.len();
        return Err(format!(
            "{given} frequencies in '+{head}{{...}}', but there are {count} {of_what}"
        ));
    }
    if let Some(wrong) = values.iter().find(|&&v| v <= 0.0) {
        return Err(format!(
            "frequency {} is not above 0: give a rare state a small frequency, such as 1e-4",
            short_number(*wrong)
        ));
    }
    let sum: f64 = values.iter().sum();
    if !sum.is_finite() {
        return Err(format!("frequencies in '+{head}{{...}}' sum to {sum}; they should sum to 1"));
    }
    match mode {
        FreqsMode::F1x4 { .. } => {
            let freqs = [values[0], values[1], values[2], values[3]];
            model.set_position_freqs(&[freqs; 3]);
            model.freqs_mode = FreqsMode::F1x4 { counted: false };
        }
        FreqsMode::F3x4 { .. } => {
            let at = |position: usize| std::array::from_fn(|i| values[4 * position + i]);
            model.set_position_freqs(&[at(0), at(1), at(2)]);
            model.freqs_mode = FreqsMode::F3x4 { counted: false };
        }
        _ => {
            model.set_freqs(values);
            model.freqs_mode = FreqsMode::Fixed;
        }
    }
    Ok(())
}

fn equal_freqs(model: &mut Model) -> Parsed<()> {
    let states = model.num_states();
    model.set_freqs(&vec![1.0 / states as f64; states]);
    Ok(())
}

fn read_invariant(model: &mut Model, word: &Word) -> Parsed<()> {
    let head = word.head;
    match head {
        "I" | "IO" => {}
        "IU" if !word.values.is_empty() => {}
        "IU" => return Err("'+IU' needs the proportion of invariant sites: +IU{0.2}".to_string()),
        "IC" => {
            return Err("'+IC' (proportion of invariant sites counted in the data) is not supported; use +I, \
                        which estimates it"
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
    let num_cats = read_num_cats(word, digits, GAMMA_CATS, "gamma categories")?;
    let value = one_value(word, "alpha", ALPHA_MIN, ALPHA_MAX)?;
    let (alpha, alpha_mode) = match value {
        Some(alpha) => (alpha, ParamMode::Fixed),
        None => (ALPHA_START, ParamMode::Optimized),
    };
    model.heterogeneity = Heterogeneity::Gamma(Gamma { num_cats, mode, alpha, alpha_mode });
    Ok(())
}

fn read_free_rates(model: &mut Model, word: &Word) -> Parsed<()> {
    let num_cats = read_num_cats(word, &word.head[1..], FREE_RATE_CATS, "free rates")?;
    let free = match &word.values[..] {
        [] => match &model.heterogeneity {
            // LG4X has published ones to begin with.
            Heterogeneity::Free(free) if free.rates.len() == num_cats => free.clone(),
            _ => FreeRates::start(num_cats, ALPHA_START),
        },
        [rates, weights] if rates.len() == num_cats && weights.len() == num_cats => {
            let check = |free: &FreeRates| {
                let limits = FIXED_RATE_MIN..=FIXED_RATE_MAX;
                let mut all = free.rates.iter().chain(&free.weights);
                match all.find(|value| !limits.contains(*value)) {
                    None => Ok(()),
                    Some(wrong) => Err(format!(
                        "{} in '+{}{{...}}' is outside its limits, {FIXED_RATE_MIN:e} to {FIXED_RATE_MAX:e}",
                        short_number(*wrong),
                        word.head
                    )),
                }
            };
            let (rates, weights) = (rates.clone(), weights.clone());
            let mut free = FreeRates { rates, weights, mode: ParamMode::Fixed };
            check(&free)?;
            free.normalise();
            // They are relative to each other, and are written as they are now.
            check(&free)?;
            free
        }
        _ => {
            return Err(format!(
                "'+{}' takes two lists of {num_cats} values: +R{num_cats}{{rates}}{{weights}}",
                word.head
            ));
        }
    };
    model.heterogeneity = Heterogeneity::Free(free);
    Ok(())
}

fn read_num_cats(word: &Word, digits: &str, default: usize, what: &str) -> Parsed<usize> {
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(unknown_part(word.head));
    }
    match digits.parse::<usize>() {
        _ if digits.is_empty() => Ok(default),
        Ok(number) if (2..=GAMMA_CATS_MAX).contains(&number) => Ok(number),
        _ => Err(format!(
            "'+{}' has {} {what}; 2 to {GAMMA_CATS_MAX} are possible, and 4 are usual; leave out +G and +R for \
             equal rates",
            abridged(word.head),
            abridged(digits)
        )),
    }
}

fn read_ascertainment(model: &mut Model, word: &Word) -> Parsed<()> {
    let head = word.head;
    let values = word.values.first().map(Vec::as_slice);
    if let Some(wrong) = values.unwrap_or_default().iter().find(|&&value| value < 0.0) {
        let wrong = short_number(*wrong);
        return Err(format!("{wrong} in '+{head}{{...}}': a number of sites cannot be below 0"));
    }
    let states = model.num_states();
    model.ascertainment = Some(match (head, values) {
        ("ASC" | "ASC_LEWIS", None) => Ascertainment::Lewis,
        ("ASC_FELS", Some(&[sites])) => Ascertainment::Felsenstein(sites),
        ("ASC_STAM", Some(counts)) if counts.len() == states => {
            Ascertainment::Stamatakis(counts.to_vec())
        }
        ("ASC_LEWIS" | "ASC", _) => return Err(format!("'+{head}' takes no values")),
        ("ASC_FELS", _) => {
            return Err("'+ASC_FELS{n}' takes the number of invariable sites left out".into());
        }
        ("ASC_STAM", _) => {
            return Err(format!(
                "'+ASC_STAM{{...}}' takes the numbers of invariable sites left out, one for each of \
                 the {states} states"
            ));
        }
        _ => return Err(unknown_part(head)),
    });
    Ok(())
}

/// The single value in a word's braces, within its limits; `None` without braces.
fn one_value(word: &Word, what: &str, min: f64, max: f64) -> Parsed<Option<f64>> {
    match word.values.first().map(Vec::as_slice) {
        None => Ok(None),
        Some(&[value]) if word.values.len() == 1 && (min..=max).contains(&value) => Ok(Some(value)),
        Some(&[value]) if word.values.len() == 1 => {
            let value = short_number(value);
            Err(format!("{what} {value} in '+{}' is outside its limits, {min} to {max}", word.head))
        }
        Some(_) => {
            let count: usize = word.values.iter().map(Vec::len).sum();
            Err(format!("{count} values in '+{}{{...}}', expected one: {what}", word.head))
        }
    }
}

fn unknown_part(head: &str) -> String {
    let known = "the parts are +F +FC +FO +FE +FU{...}, +F1X4 +F3X4 +CODE{n} for codons, +I +I{p}, \
                 +G[n][m|a] +G{alpha}, +R[n], +ASC_LEWIS +ASC_FELS{n} +ASC_STAM{...}, +C10 ... +C60 for proteins, and +WO \
                 +WU{...} for the weights of such classes";
    match head {
        _ if head.is_empty() => format!("there is nothing after a '+'; {known}"),
        _ if head.starts_with('B') => format!(
            "'+{}' concerns branch lengths, which are set for all partitions with --brlen linked, scaled or \
             unlinked; leave it out",
            abridged(head)
        ),
        _ => format!("unknown part '+{}'; {known}", abridged(head)),
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
