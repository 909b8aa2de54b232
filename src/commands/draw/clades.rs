//! The file of the colours of clades.

use crate::error::{Error, Fault, Faults, Place, Result};
use crate::input::read_text;
use crate::output::Clade;
use crate::taxa::Taxa;
use std::path::Path;

/// Longest file, in bytes.
const MOST_BYTES: usize = 16 << 20;

/// Colours by name, those of which a reader may think first.
const NAMES: [&str; 18] = [
    "black", "grey", "gray", "red", "orange", "gold", "yellow", "green", "teal", "cyan", "blue",
    "navy", "purple", "magenta", "pink", "brown", "maroon", "olive",
];

/// The clades of a file, whose taxa are all in the tree.
///
/// # Errors
/// [`Error::Input`] with every faulty line, [`Error::Io`].
pub(super) fn read_clades(path: &Path, taxa: &Taxa) -> Result<Vec<Clade>> {
    let text = read_text(path, MOST_BYTES, "a file of colours")?;
    parse_clades(&text, &path.display().to_string(), taxa)
}

fn parse_clades(text: &str, file: &str, taxa: &Taxa) -> Result<Vec<Clade>> {
    let (mut clades, mut faults) = (Vec::new(), Faults::new());
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_end_matches('\r');
        if line.trim().is_empty() || line.starts_with("# ") {
            continue;
        }
        match parse_line(line, taxa) {
            Ok(clade) => clades.push(clade),
            Err(message) => faults.push(Fault::new(Place::file(file).at_line(number + 1), message)),
        }
    }
    if faults.is_empty() { Ok(clades) } else { Err(Error::Input(faults)) }
}

fn parse_line(line: &str, taxa: &Taxa) -> std::result::Result<Clade, String> {
    let mut fields = line.split('\t').map(str::trim);
    let (Some(names), Some(colour)) = (fields.next(), fields.next()) else {
        return Err("expected taxa and a colour, separated by a tabulator".to_string());
    };
    let name = fields.next().filter(|name| !name.is_empty()).map(String::from);
    if fields.next().is_some() {
        return Err("expected at most three fields: taxa, a colour, a name".to_string());
    }
    // A name with commas in it is that of one taxon.
    let mut found: Vec<String> = match taxa.index(names) {
        Some(_) => vec![names.to_string()],
        None => names.split(',').map(|name| name.trim().to_string()).collect(),
    };
    found.sort_unstable();
    found.dedup();
    let unknown: Vec<&str> =
        found.iter().map(String::as_str).filter(|name| taxa.index(name).is_none()).collect();
    if !unknown.is_empty() {
        return Err(format!("not a taxon of the tree: {}", unknown.join(", ")));
    }
    let digits = colour.strip_prefix('#');
    let is_hex = digits.is_some_and(|digits| {
        [3, 6].contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    if !is_hex && !NAMES.contains(&colour) {
        return Err(format!(
            "'{colour}' is no colour: expected #0072B2, or one of {}",
            NAMES.join(", ")
        ));
    }
    Ok(Clade { taxa: found, colour: colour.to_string(), name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_clades_and_all_faults_are_found() {
        let taxa = Taxa::new(["A", "B", "C,D"].map(String::from).to_vec()).unwrap();
        let clades =
            parse_clades("# colours\nA,B\t#0072B2\tfirst clade\r\n\nC,D\tred\n", "f", &taxa)
                .unwrap();
        assert_eq!(clades[0].taxa, ["A", "B"]);
        assert_eq!(
            (clades[0].name.as_deref(), clades[1].name.as_deref()),
            (Some("first clade"), None)
        );
        assert_eq!(
            (clades[1].taxa.as_slice(), clades[1].colour.as_str()),
            (&["C,D".to_string()][..], "red")
        );
        let error = parse_clades("A\nA,X\tred\nA\tredd\nA\tred\tx\ty\n", "f", &taxa).unwrap_err();
        let text = error.to_string();
        for part in
            ["tabulator", "not a taxon of the tree: X", "'redd' is no colour", "three fields"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.contains("f, line 4") || text.contains("line 4"), "{text}");
    }
}
