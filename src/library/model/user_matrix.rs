//! A user's amino-acid matrix, in PAML's or RAxML's form, and the model that has it.
//!
//! ```text
//! file = numbers, separated by white space or commas; everything after "#" is a comment
//!        210: 190 exchange rates, the lower triangle row by row (RA NA NR DA ...), then 20 frequencies  (PAML)
//!        420: 400 exchange rates, all rows (symmetric; the diagonal does not matter), then 20 frequencies (RAxML)
//! ```
//!
//! Amino acids are in the order of [`super::AMINO_ACIDS`]. The text of a PAML file after its numbers (names,
//! references) is ignored.

use super::exchange::{Exchange, RateClasses};
use super::matrices::set_classes;
use super::modes::FreqsMode;
use super::parameters::Model;
use super::protein::AMINO_ACIDS;
use super::words::Parsed;
use crate::alphabet::DataType;
use crate::error::{Error, Fault, Faults, Place, Result, abridged, short_number};

const STATES: usize = 20;
const TRIANGLE: usize = STATES * (STATES - 1) / 2;

/// Largest difference of the sum of frequencies from 1: published ones are rounded to few digits.
const FREQS_SUM_TOLERANCE: f64 = 0.02;
/// Largest relative difference between the two halves of a full matrix.
const SYMMETRY_TOLERANCE: f64 = 1e-3;

/// An amino-acid matrix that is not in the tables of the program.
#[derive(Debug, Clone, PartialEq)]
pub struct UserMatrix {
    /// Exchange rates, upper triangle row by row.
    pub rates: Vec<f64>,
    /// The 20 frequencies.
    pub freqs: Vec<f64>,
}

/// A number of the file and its line.
#[derive(Clone, Copy)]
struct Entry {
    value: f64,
    line: usize,
}

impl UserMatrix {
    /// Reads the text of a matrix file; `file` is its name in faults.
    ///
    /// # Errors
    /// [`Error::Input`] with every fault: words that are not numbers, negative rates, frequencies that
    /// are not above 0 or do not sum to 1, a full matrix that is not symmetric, too few or too many numbers.
    pub fn read(text: &str, file: &str) -> Result<Self> {
        let mut faults = Faults::new();
        let entries = read_entries(text, file, &mut faults);
        if !faults.is_empty() {
            return Err(Error::Input(faults));
        }
        let at = |entry: &Entry| Place::file(file).at_line(entry.line);
        let num_rates = match entries.len() {
            210 => TRIANGLE,
            420 => STATES * STATES,
            found => {
                let message = format!(
                    "{found} numbers, but an amino-acid matrix has 210 (190 rates of the lower triangle, as PAML \
                     writes them, and 20 frequencies) or 420 (all 400 rates, as RAxML does, and 20 frequencies)"
                );
                return Err(Error::input(Place::file(file), message));
            }
        };
        let (rates, freqs) = entries.split_at(num_rates);
        let mut upper = Vec::with_capacity(TRIANGLE);
        for (i, &row) in AMINO_ACIDS.iter().enumerate() {
            for (j, &column) in AMINO_ACIDS.iter().enumerate().skip(i + 1) {
                // Row j of the lower triangle begins after 1 + 2 + ... + (j - 1) numbers.
                let (index, mirror) = match num_rates {
                    TRIANGLE => (j * (j - 1) / 2 + i, j * (j - 1) / 2 + i),
                    _ => (i * STATES + j, j * STATES + i),
                };
                let (rate, other) = (rates[index], rates[mirror]);
                let pair = [row, column].map(char::from);
                let larger = rate.value.max(other.value);
                if rate.value < 0.0 {
                    let message = format!(
                        "rate {} between {} and {} is below 0",
                        short_number(rate.value),
                        pair[0],
                        pair[1]
                    );
                    faults.push(Fault::new(at(&rate), message));
                } else if (rate.value - other.value).abs() > SYMMETRY_TOLERANCE * larger {
                    let message = format!(
                        "the matrix is not symmetric: {} to {} is {}, but {} to {} is {}",
                        pair[0],
                        pair[1],
                        short_number(rate.value),
                        pair[1],
                        pair[0],
                        short_number(other.value)
                    );
                    faults.push(Fault::new(at(&other), message));
                }
                upper.push(rate.value);
            }
        }
        for (state, freq) in freqs.iter().enumerate().filter(|(_, freq)| freq.value <= 0.0) {
            let letter = char::from(AMINO_ACIDS[state]);
            let message =
                format!("frequency {} of {letter} is not above 0", short_number(freq.value));
            faults.push(Fault::new(at(freq), message));
        }
        let sum: f64 = freqs.iter().map(|freq| freq.value).sum();
        if faults.is_empty() && (sum - 1.0).abs() > FREQS_SUM_TOLERANCE {
            let message = format!("the 20 frequencies sum to {}, not to 1", short_number(sum));
            faults.push(Fault::new(at(&freqs[0]), message));
        }
        if !faults.is_empty() {
            return Err(Error::Input(faults));
        }
        let freqs = freqs.iter().map(|freq| freq.value).collect();
        Ok(UserMatrix { rates: upper, freqs })
    }
}

/// The numbers up to the first word that is not a number, which must follow all of them.
fn read_entries(text: &str, file: &str, faults: &mut Faults) -> Vec<Entry> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut entries = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line_number = number + 1;
        let numbers = line.split('#').next().unwrap_or_default();
        let separates = |c: char| c.is_whitespace() || c == ',' || c == ';';
        for word in numbers.split(separates).filter(|word| !word.is_empty()) {
            match word.parse::<f64>() {
                Ok(value) if value.is_finite() => {
                    entries.push(Entry { value, line: line_number });
                }
                _ if [210, 420].contains(&entries.len()) => return entries,
                _ => {
                    let message = format!(
                        "'{}' is not a number: expected 190 rates and 20 frequencies (or 400 and 20), but only {} \
                         numbers come before it",
                        abridged(word),
                        entries.len()
                    );
                    faults.push(Fault::new(Place::file(file).at_line(line_number), message));
                    return entries;
                }
            }
        }
    }
    entries
}

impl Model {
    /// The model with a user's amino-acid matrix instead of its own (RAxML's `-P`), and with the matrix's
    /// frequencies unless the model has others (`+F`, `+FO` ...).
    ///
    /// # Errors
    /// A message for a model that is not of proteins, or for rates that cannot be used.
    pub fn with_user_matrix(mut self, matrix: &UserMatrix) -> Parsed<Model> {
        if self.data_type != DataType::Protein {
            let (label, kind) = (self.label(), self.data_type.name());
            return Err(format!("an amino-acid matrix is given, but {label} is a model of {kind}"));
        }
        if matches!(self.exchange, Exchange::OfClasses) {
            return Err(format!(
                "{} consists of several matrices, which a given matrix cannot replace; name a model with one matrix",
                self.name
            ));
        }
        let mut classes = RateClasses::different(STATES);
        let mut rates = matrix.rates.clone();
        // The others are relative to the last, which must not be 0; this value is practically 0.
        let largest = rates.iter().copied().fold(0.0, f64::max);
        let last = rates.last_mut().expect("a matrix has rates");
        *last = last.max(1e-8 * largest);
        set_classes("PROTGTR", &mut classes, &rates)?;
        self.name = "PROTGTR".to_string();
        self.exchange = Exchange::Classes(classes);
        // Beside profiles, frequencies of the model would be a further class.
        if self.freqs_mode == FreqsMode::Table && self.mixture.is_none() {
            self.set_freqs(&matrix.freqs);
            self.freqs_mode = FreqsMode::Fixed;
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::protein::find_protein_matrix;

    /// A table in PAML's form, by hand: row i has its i rates.
    fn paml(name: &str) -> String {
        let table = find_protein_matrix(name).unwrap();
        let rate = |i: usize, j: usize| {
            let (i, j) = (i.min(j), i.max(j));
            let before: usize = (0..i).map(|row| 19 - row).sum();
            table.rates[before + j - i - 1]
        };
        let mut text = String::new();
        for i in 1..20 {
            let row: Vec<String> = (0..i).map(|j| rate(i, j).to_string()).collect();
            text += &(row.join(" ") + "\n");
        }
        let freqs: Vec<String> = table.freqs.iter().map(f64::to_string).collect();
        text + "\n" + &freqs.join("  ") + "\n"
    }

    /// The same in RAxML's form.
    fn raxml(name: &str) -> String {
        let table = find_protein_matrix(name).unwrap();
        let mut full = vec![0.0; 400];
        let mut rates = table.rates.iter();
        for i in 0..20 {
            for j in i + 1..20 {
                full[i * 20 + j] = *rates.next().unwrap();
                full[j * 20 + i] = full[i * 20 + j];
            }
        }
        let all = full.iter().chain(&table.freqs);
        all.map(|value| format!("{value}\n")).collect()
    }

    #[test]
    fn a_published_table_from_a_file_is_the_same_model() {
        for name in ["LG", "WAG", "MTREV"] {
            for text in [paml(name) + "Ala Arg 1.5 # 1 2 3\n", raxml(name)] {
                let matrix = UserMatrix::read(&text, "f").unwrap();
                let named = Model::parse(&format!("{name}+G{{0.5}}")).unwrap();
                let read = Model::parse("JTT+G{0.5}").unwrap().with_user_matrix(&matrix).unwrap();
                let (a, b) = (&named.eigen_models()[0], &read.eigen_models()[0]);
                let [a, b] = [a, b].map(|model| model.transition_probabilities(0.3));
                assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12), "{name}");
                assert!(read.free_parameters().is_empty());
                let printed = read.to_string();
                assert!(printed.starts_with("PROTGTR{") && printed.contains("+FU{"), "{printed}");
                assert_eq!(Model::parse(&printed).unwrap().eigen_models(), read.eigen_models());
            }
        }
        let matrix = UserMatrix::read(&paml("LG"), "f").unwrap();
        let counted = Model::parse("PROTGAMMAWAGF").unwrap().with_user_matrix(&matrix).unwrap();
        assert_eq!(counted.freqs_mode, FreqsMode::Empirical);
        for other in ["GTR+G", "GY", "LG4M"] {
            assert!(Model::parse(other).unwrap().with_user_matrix(&matrix).is_err(), "{other}");
        }
    }

    #[test]
    fn faults_name_the_line() {
        let refused = |text: &str| UserMatrix::read(text, "m.dat").unwrap_err().to_string();
        let good = paml("LG");
        assert!(refused("").starts_with("m.dat: 0 numbers, but an amino-acid matrix has 210"));
        let short: String = good.lines().take(19).collect::<Vec<_>>().join("\n");
        assert!(refused(&short).starts_with("m.dat: 190 numbers"));
        let word = refused(&good.replacen("\n", "\n x ", 2));
        assert!(word.starts_with("m.dat, line 2: 'x' is not a number"), "{word}");
        let negative = refused(&good.replacen("\n", "\n-", 3));
        assert!(negative.contains("m.dat, line 2: rate -"), "{negative}");
        assert!(negative.contains("between A and N is below 0"), "{negative}");
        let lines: Vec<&str> = good.lines().collect();
        let zero = lines[..20].join("\n") + &format!("\n0{}", " 0.05".repeat(19));
        assert!(refused(&zero).contains("line 21: frequency 0 of A is not above 0"));
        let sum = lines[..20].join("\n") + &"\n0.1".repeat(20);
        assert!(refused(&sum).contains("sum to 2"), "{}", refused(&sum));
        let skew = raxml("LG").replacen("0.425093", "9", 1);
        assert!(refused(&skew).contains("not symmetric: A to R is 9"), "{}", refused(&skew));
    }
}
