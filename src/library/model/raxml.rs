//! RAxML 8's one-word models (`GTRGAMMAI`, `PROTGAMMALGF`, `ASC_BINCAT`), spelt out.
//!
//! ```text
//! word = ["ASC_"] ("GTR" | "BIN" | "MULTI" | "PROT") ("GAMMA" | "CAT") ["I"] [matrix] ["F" | "X"]
//! ```

use super::protein::{find_protein_matrix, find_protein_mixture};

/// The spelt-out model string, and what the user should know about it; the string itself if it is no
/// such word. `plain` is in upper case, without white space.
pub(super) fn expand_raxml(plain: &str) -> (String, Vec<String>) {
    let (word, rest) = plain.split_at(plain.find(['+', '{']).unwrap_or(plain.len()));
    match expand_word(word) {
        Some((expanded, mut notes)) => {
            if word.contains("CAT") {
                notes.push(format!(
                    "{word} runs as {expanded} here: per-site rate categories are not available"
                ));
            }
            (expanded + rest, notes)
        }
        None => (plain.to_string(), Vec::new()),
    }
}

fn expand_word(word: &str) -> Option<(String, Vec<String>)> {
    let mut notes = Vec::new();
    let (bare, corrected) = match word.strip_prefix("ASC_") {
        Some(bare) => (bare, true),
        None => (word, false),
    };
    let (kind, after) = ["GTR", "BIN", "MULTI", "PROT"]
        .into_iter()
        .find_map(|kind| bare.strip_prefix(kind).map(|after| (kind, after)))?;
    let after = after.strip_prefix("GAMMA").or_else(|| after.strip_prefix("CAT"))?;
    let (invariant, after) = match after.strip_prefix('I') {
        Some(after) => ("+I", after),
        None => ("", after),
    };
    let (matrix, freqs) = match (kind, after) {
        ("PROT", name) => split_protein(name)?,
        ("GTR", "") => ("GTR".to_string(), "+F"),
        ("GTR", "X") => ("GTR".to_string(), "+FO"),
        ("BIN", "") => ("BIN".to_string(), "+F"),
        ("BIN", "X") => ("BIN".to_string(), "+FO"),
        ("MULTI", "") => ("MULTI_GTR".to_string(), "+F"),
        ("MULTI", "X") => ("MULTI_GTR".to_string(), "+FO"),
        _ => return None,
    };
    let gamma = if matrix == "LG4X" { "" } else { "+G4" };
    let correction = if corrected {
        notes.push(format!(
            "{word} runs with Lewis's correction of ascertainment bias (+ASC_LEWIS); for the others write \
             +ASC_FELS{{n}} or +ASC_STAM{{n1/n2/...}} in the model"
        ));
        "+ASC_LEWIS"
    } else {
        ""
    };
    Some((format!("{matrix}{freqs}{invariant}{gamma}{correction}"), notes))
}

/// An amino-acid matrix with its suffix: name and frequencies in our spelling.
pub(super) fn split_protein(name: &str) -> Option<(String, &'static str)> {
    let known = |name: &str| {
        let named = find_protein_matrix(name).map(|matrix| matrix.name);
        named.or_else(|| find_protein_mixture(name).map(|mixture| mixture.name))
    };
    if name == "AUTO" {
        return Some(("AUTO".to_string(), ""));
    }
    if let Some(name) = known(name) {
        return Some((name.to_string(), ""));
    }
    for (suffix, freqs) in [("F", "+F"), ("X", "+FO"), ("", "")] {
        if let Some(bare) = name.strip_suffix(suffix) {
            if bare == "GTR" || bare == "GTR_UNLINKED" {
                return Some(("PROTGTR".to_string(), if freqs.is_empty() { "+F" } else { freqs }));
            }
            if let Some(name) = known(bare) {
                return Some((name.to_string(), freqs));
            }
        }
    }
    None
}
