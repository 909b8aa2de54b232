//! State frequencies of sites (`--site-frequencies`, `--pmsf`): the file of them, which models they suit, and data with them.

use super::trees::{GivenTree, read_trees};
use crate::error::{Error, Fault, Faults, Place, Result, abridged};
use crate::input::read_text;
use crate::partition::Partition;
use crate::plan::{Plan, SiteFrequencies};
use crate::taxa::Taxa;
use std::path::Path;

/// Longest file of frequencies, in bytes.
const MAX_FILE: usize = 1 << 30;
/// Number of amino acids.
const NUM_STATES: usize = 20;
/// How far from 1 frequencies may sum, which are then divided by their sum: programs write six digits.
const SUM_TOLERANCE: f64 = 1e-3;
/// Digits after the decimal point, so that a run with the file that another has written gives the same bits.
pub(crate) const DECIMALS: usize = 12;

/// Frequencies with the digits that a file of them has, summing to 1.
pub(crate) fn rounded(freqs: &[f64]) -> Vec<f64> {
    let as_written = |freq: &f64| format!("{freq:.DECIMALS$}").parse().expect("a number");
    normalised(freqs.iter().map(as_written).collect())
}

fn normalised(mut freqs: Vec<f64>) -> Vec<f64> {
    let sum: f64 = freqs.iter().sum();
    freqs.iter_mut().for_each(|freq| *freq /= sum);
    freqs
}

/// Reads the frequencies of columns: lines with the number of the column and a frequency for each amino acid in the order A R N D C Q E
/// G H I L K M F P S T W Y V, as IQ-TREE writes and reads them. `needed[column]` says which columns must have them; others may be without
/// any, and have none then.
///
/// # Errors
/// [`Error::Input`] with every fault; [`Error::Io`].
fn read_site_frequencies(path: &Path, needed: &[bool]) -> Result<Vec<Vec<f64>>> {
    let text = read_text(path, MAX_FILE, "a file of site frequencies")?;
    parse_site_frequencies(&text, &path.display().to_string(), needed)
}

/// The same for the text of a file; `file` is its name in faults.
///
/// # Errors
/// [`Error::Input`] with every fault.
pub fn parse_site_frequencies(text: &str, file: &str, needed: &[bool]) -> Result<Vec<Vec<f64>>> {
    let (mut faults, num_columns) = (Faults::new(), needed.len());
    // Of each column its frequencies, and the line that has them.
    let mut found: Vec<Option<(usize, Vec<f64>)>> = vec![None; num_columns];
    for (line, text) in text.lines().enumerate() {
        let place = Place::file(file).at_line(line + 1);
        let mut words = text.split_whitespace().peekable();
        if words.peek().is_none_or(|word| word.starts_with('#')) {
            continue;
        }
        match parse_line(words, num_columns) {
            Ok((column, freqs)) => match &found[column] {
                Some((first, _)) => {
                    let column = column + 1;
                    let message = format!("column {column} was given in line {first} already");
                    faults.push(Fault::new(place, message));
                }
                None => found[column] = Some((line + 1, freqs)),
            },
            Err(message) => faults.push(Fault::new(place, message)),
        }
    }
    let missing = || (0..num_columns).filter(|&column| needed[column] && found[column].is_none());
    if let Some(first) = missing().next().filter(|_| faults.is_empty()) {
        faults.push(Fault::new(
            Place::file(file),
            format!(
                "{} of {} columns that count have no line, the first of them is column {}: expected a line for each of them, with its \
                 number and the frequencies of {NUM_STATES} amino acids",
                missing().count(),
                needed.iter().filter(|&&is_needed| is_needed).count(),
                first + 1
            ),
        ));
    }
    if !faults.is_empty() {
        return Err(Error::Input(faults));
    }
    Ok(found.into_iter().map(|found| found.map_or_else(Vec::new, |(_, freqs)| freqs)).collect())
}

/// A column, counted from 0, and its frequencies.
fn parse_line<'a>(
    mut words: impl Iterator<Item = &'a str>,
    num_columns: usize,
) -> std::result::Result<(usize, Vec<f64>), String> {
    let number = words.next().unwrap_or_default();
    let column = match number.parse::<usize>() {
        Ok(column @ 1..) if column <= num_columns => column - 1,
        Ok(_) => {
            return Err(format!(
                "there is no column {}: the alignment has the columns 1 to {num_columns}",
                abridged(number)
            ));
        }
        Err(_) => return Err(format!("'{}': expected the number of a column", abridged(number))),
    };
    let mut freqs = Vec::with_capacity(NUM_STATES);
    for word in words {
        match word.parse::<f64>() {
            Ok(freq) if (0.0..=1.0).contains(&freq) => freqs.push(freq),
            _ => {
                let word = abridged(word);
                return Err(format!("'{word}': expected a frequency, a number from 0 to 1"));
            }
        }
    }
    if freqs.len() != NUM_STATES {
        return Err(format!(
            "column {} has {} frequencies: expected {NUM_STATES}, one for each amino acid",
            column + 1,
            freqs.len()
        ));
    }
    let sum: f64 = freqs.iter().sum();
    if (sum - 1.0).abs() > SUM_TOLERANCE {
        let column = column + 1;
        return Err(format!("the frequencies of column {column} sum to {sum:.6}, not to 1"));
    }
    Ok((column, normalised(freqs)))
}

/// The only tree of `--pmsf`, if there is one.
///
/// # Errors
/// [`Error::Input`] with every fault, [`Error::Io`].
pub(super) fn read_guide_tree(plan: &Plan, taxa: &Taxa) -> Result<Option<GivenTree>> {
    let SiteFrequencies::Guide { tree: path, .. } = &plan.data.site_frequencies else {
        return Ok(None);
    };
    let mut trees = read_trees(path, taxa, None, 0, None, plan.search.opt_branches)?;
    match (trees.pop(), trees.len()) {
        (Some(tree), 0) => Ok(Some(tree)),
        (_, more) => {
            let message = format!("the file has {} trees, but --pmsf takes one", more + 1);
            Err(Error::input(Place::file(path.display().to_string()), message))
        }
    }
}

/// Refuses models under which sites cannot have frequencies of their own, and, for `--pmsf`, those without a profile mixture; `is_selected`
/// says of each partition whether its model is still to be selected.
pub(super) fn check_models(
    plan: &Plan,
    partitions: &[Partition],
    is_selected: &[bool],
    faults: &mut Faults,
) {
    let (option, needs_mixture) = match &plan.data.site_frequencies {
        SiteFrequencies::OfModel => return,
        SiteFrequencies::File(_) => ("--site-frequencies", false),
        SiteFrequencies::Guide { .. } => ("--pmsf", true),
    };
    for (Partition { name, model, .. }, is_selected) in partitions.iter().zip(is_selected) {
        if *is_selected {
            let message = format!("{option} needs a given model, but -m auto selects one");
            faults.push(Fault::new(Place::default().named(name), message));
            continue;
        }
        let has_profiles = model.guide().is_some();
        let why = match model.why_no_site_frequencies() {
            Some(why) => why,
            None if needs_mixture && !has_profiles => {
                "the frequencies of sites come from a profile mixture, such as LG+C20+F+G4"
            }
            None => continue,
        };
        let message = format!("{option} with the model {}: {why}", model.short_label());
        faults.push(Fault::new(Place::default().named(name), message));
    }
}

/// Gives the sites of all partitions the frequencies of the file of `--site-frequencies`, if there is one.
///
/// # Errors
/// [`Error::Input`] with every fault, [`Error::Io`].
pub(super) fn apply_file(
    plan: &Plan,
    partitions: &mut [Partition],
    num_columns: usize,
) -> Result<()> {
    if let SiteFrequencies::File(path) = &plan.data.site_frequencies {
        let mut needed = vec![false; num_columns];
        let with_data = partitions.iter().filter(|partition| partition.patterns.num_tips() > 0);
        for (columns, _) in with_data.flat_map(Partition::sites_and_patterns) {
            needed[columns[0] as usize] = true;
        }
        let freqs = read_site_frequencies(path, &needed)?;
        partitions.iter_mut().for_each(|partition| give_frequencies(partition, &freqs));
    }
    Ok(())
}

/// Gives the sites of a partition the frequencies of their columns, in place of those of its model.
pub(super) fn give_frequencies(partition: &mut Partition, of_columns: &[Vec<f64>]) {
    if partition.patterns.num_tips() == 0 {
        return;
    }
    let columns = partition.columns_of_sites();
    let of_sites: Vec<&[f64]> =
        columns.map(|columns| &of_columns[columns[0] as usize][..]).collect();
    let mut mean = vec![0.0; NUM_STATES];
    for freqs in &of_sites {
        mean.iter_mut().zip(*freqs).for_each(|(sum, freq)| *sum += freq);
    }
    partition.model = partition.model.under_site_frequencies(&mean);
    partition.patterns = partition.patterns.with_site_freqs(&of_sites);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(column: &str, last: &str) -> String {
        format!("{column}{} {last}", " 0.05".repeat(NUM_STATES - 1))
    }

    fn message(lines: &[String]) -> String {
        parse_site_frequencies(&lines.join("\n"), "f", &[true; 3]).unwrap_err().to_string()
    }

    #[test]
    fn lines_may_be_in_any_order_and_are_normalised() {
        let text =
            ["# site frequencies".into(), line("3", "0.05"), String::new(), line("1", "0.0502")]
                .into_iter()
                .chain([line("2", "0.0498")]);
        let freqs =
            parse_site_frequencies(&text.collect::<Vec<_>>().join("\n"), "f", &[true; 3]).unwrap();
        assert_eq!(freqs.len(), 3);
        assert!((freqs[0][19] - 0.0502 / 1.0002).abs() < 1e-15);
        assert!(freqs.iter().all(|freqs| (freqs.iter().sum::<f64>() - 1.0).abs() < 1e-14));
        assert_eq!(rounded(&freqs[2]), freqs[2]);
        let only_first = parse_site_frequencies(&line("1", "0.05"), "f", &[true, false]).unwrap();
        assert_eq!(only_first.iter().map(Vec::len).collect::<Vec<_>>(), [NUM_STATES, 0]);
    }

    #[test]
    fn what_is_no_frequency_is_refused_with_its_line() {
        let good = |column: &str| line(column, "0.05");
        for (lines, expected) in [
            (
                vec![good("1"), good("2")],
                "f: 1 of 3 columns that count have no line, the first of them is column 3",
            ),
            (
                vec![good("1"), good("4")],
                "f, line 2: there is no column 4: the alignment has the columns 1 to 3",
            ),
            (vec![good("0")], "line 1: there is no column 0"),
            (vec![good("x")], "line 1: 'x': expected the number of a column"),
            (vec![good("1"), good("1")], "line 2: column 1 was given in line 1 already"),
            (
                vec![line("1", "0.06")],
                "line 1: the frequencies of column 1 sum to 1.010000, not to 1",
            ),
            (vec![line("1", "-0.05")], "'-0.05': expected a frequency"),
            (vec![line("1", "nan")], "'nan': expected a frequency"),
            (vec![line("1", "")], "column 1 has 19 frequencies: expected 20"),
            (vec![line("1", "0 0.05")], "column 1 has 21 frequencies"),
            (Vec::new(), "3 of 3 columns"),
        ] {
            assert!(message(&lines).contains(expected), "{}", message(&lines));
        }
        let all = message(&[good("x"), good("y"), good("9")]);
        assert_eq!(all.lines().count(), 3, "all faults at once: {all}");
    }
}
