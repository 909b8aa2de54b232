//! A file of distances between taxa, in PHYLIP's formats.

use crate::distance::SquareMatrix;
use crate::error::{Error, Fault, Faults, Place, Result, abridged};
use crate::input::read_text;
use crate::taxa::Taxa;
use std::cmp::Ordering;
use std::path::Path;

/// Longest file of distances, in bytes.
const MAX_FILE: usize = 1 << 30;
/// Most taxa in it: its words are all in memory.
const MAX_TAXA: usize = 5000;

/// The shape of a file, which follows from the number of its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Square,
    Lower,
    /// With the zeros of the diagonal.
    LowerWithDiagonal,
}

impl Shape {
    const ALL: [Shape; 3] = [Shape::Square, Shape::Lower, Shape::LowerWithDiagonal];

    /// Numbers in the row of a taxon.
    fn row(self, taxon: usize, n: usize) -> usize {
        match self {
            Shape::Square => n,
            Shape::Lower => taxon,
            Shape::LowerWithDiagonal => taxon + 1,
        }
    }
}

/// The taxa in the order of their names and their distances, from a square matrix or a lower triangle, whose rows may go
/// over several lines. Names have no blanks. Negative distances are unknown ones; of the two in a square matrix that differ,
/// the mean is taken.
///
/// # Errors
/// [`Error::Input`] with every fault, [`Error::Io`].
pub(crate) fn read_distances(path: &Path) -> Result<(Taxa, SquareMatrix<f64>)> {
    let text = read_text(path, MAX_FILE, "a file of distances")?;
    parse_distances(&text, &path.display().to_string())
}

/// The same for the text of a file; `file` is its name in faults.
///
/// # Errors
/// [`Error::Input`] with every fault.
pub fn parse_distances(text: &str, file: &str) -> Result<(Taxa, SquareMatrix<f64>)> {
    let place = |line: usize| Place::file(file).at_line(line + 1);
    let lines = text.lines().enumerate();
    let mut words =
        lines.flat_map(|(line, text)| text.split_whitespace().map(move |word| (line, word)));
    let refuse = |line: usize, message: String| Err(Error::input(place(line), message));
    let Some((line, first)) = words.next() else {
        return refuse(0, "the file is empty: distances in PHYLIP's format are expected".into());
    };
    let Some(n) = first.parse::<usize>().ok().filter(|n| *n >= 2) else {
        let shown = abridged(first);
        return refuse(line, format!("'{shown}': expected the number of taxa, at least 2"));
    };
    if n > MAX_TAXA {
        return refuse(
            line,
            format!("{n} taxa: files of distances may have at most {MAX_TAXA}, alignments more"),
        );
    }
    let total = |shape: Shape| (0..n).map(|taxon| 1 + shape.row(taxon, n)).sum::<usize>();
    let found = words.clone().count();
    let Some(shape) = Shape::ALL.into_iter().find(|shape| total(*shape) == found) else {
        let [square, lower, with_diagonal] = Shape::ALL.map(total);
        return refuse(
            line,
            format!(
                "{found} words follow, but a matrix of {n} taxa has {square} (square) or {lower} or {with_diagonal} \
                 (lower triangle), names included, which have no blanks"
            ),
        );
    };
    let mut faults = Faults::new();
    let mut names = Vec::with_capacity(n);
    let mut matrix = SquareMatrix::zero(n);
    for taxon in 0..n {
        let (_, name) = words.next().expect("the words were counted");
        names.push(name.to_string());
        for other in 0..shape.row(taxon, n) {
            let (line, word) = words.next().expect("the words were counted");
            let distance = match word.parse::<f64>() {
                Ok(distance) if distance.is_finite() => distance,
                _ => {
                    let message = format!("'{}': expected a distance, a number", abridged(word));
                    faults.push(Fault::new(place(line).named(name), message));
                    0.0
                }
            };
            let distance = if distance < 0.0 { f64::NAN } else { distance };
            match other.cmp(&taxon) {
                Ordering::Less if shape == Shape::Square => {
                    let mean = 0.5 * (distance + matrix.get(other, taxon));
                    matrix.set(taxon, other, mean);
                }
                Ordering::Equal if distance != 0.0 => {
                    let message = format!("the distance of the taxon from itself is {word}, not 0");
                    faults.push(Fault::new(place(line).named(name), message));
                }
                Ordering::Equal => {}
                _ => matrix.set(taxon, other, distance),
            }
        }
    }
    match Taxa::new(names.clone()) {
        Ok(taxa) if faults.is_empty() => Ok(by_name(taxa, &matrix)),
        Ok(_) => Err(Error::Input(faults)),
        Err((first, _)) => {
            let place = Place::file(file).named(&names[first]);
            faults.push(Fault::new(place, "this taxon is there twice"));
            Err(Error::Input(faults))
        }
    }
}

/// The taxa in the order of their names, with their distances.
fn by_name(taxa: Taxa, matrix: &SquareMatrix<f64>) -> (Taxa, SquareMatrix<f64>) {
    let names = taxa.names().to_vec();
    let sorted = taxa.sorted();
    let places: Vec<usize> =
        names.iter().map(|name| sorted.index(name).expect("the same names")).collect();
    let mut ordered = SquareMatrix::zero(names.len());
    for a in 0..names.len() {
        for b in 0..a {
            ordered.set(places[a], places[b], matrix.get(a, b));
        }
    }
    (sorted, ordered)
}
