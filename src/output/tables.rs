//! Plain-text tables for the terminal and the log. Programs read the JSON file instead.

/// A titled list of names and values, values aligned.
///
/// ```text
/// Options
///   alignment  primates.phy
///   seed       12345
/// ```
pub(crate) fn pairs(title: &str, rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0);
    let mut text = format!("{title}\n");
    for (name, value) in rows {
        let line = format!("  {name}{}  {value}", " ".repeat(width - name.chars().count()));
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A table with a header line. Columns whose cells are all numbers are aligned to the right.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let columns = header.len();
    let cell = |row: &[String], c: usize| row.get(c).cloned().unwrap_or_default();
    let width: Vec<usize> = (0..columns)
        .map(|c| {
            let cells = rows.iter().map(|row| cell(row, c).chars().count());
            cells.chain([header[c].chars().count()]).max().unwrap_or(0)
        })
        .collect();
    let right: Vec<bool> =
        (0..columns).map(|c| rows.iter().all(|row| is_number(&cell(row, c)))).collect();
    let head: Vec<String> = header.iter().map(|name| (*name).to_string()).collect();
    let mut text = String::new();
    for row in std::iter::once(&head).chain(rows) {
        let mut line = String::new();
        for c in 0..columns {
            let value = cell(row, c);
            let pad = " ".repeat(width[c] - value.chars().count());
            line.push_str("  ");
            line.push_str(&if right[c] { pad + &value } else { value + &pad });
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn is_number(cell: &str) -> bool {
    let cell = cell.trim_end_matches(['%', ' ']);
    cell.is_empty() || cell == "-" || cell.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_aligned_by_characters_not_bytes() {
        let text = pairs("Options", &[("seed", "7".into()), ("präfix", "a".into())]);
        assert_eq!(text, "Options\n  seed    7\n  präfix  a\n");
    }

    #[test]
    fn numbers_go_right_and_words_left() {
        let rows = vec![
            vec!["ND4".to_string(), "457".to_string(), "0.0 %".to_string()],
            vec!["tRNA".to_string(), "9".to_string(), "-".to_string()],
        ];
        assert_eq!(
            table(&["gene", "sites", "gappy"], &rows),
            "  gene  sites  gappy\n  ND4     457  0.0 %\n  tRNA      9      -\n"
        );
        assert_eq!(table(&["a", "b"], &[]), "  a  b\n");
    }
}
