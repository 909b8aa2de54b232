//! Distances between sequences as a file, written row by row, and what is reported of them.

use std::io::{Result, Write};

/// What a distance that is not known is written as, in PHYLIP's way.
const UNKNOWN: &str = "-1.00000000";

/// How distances are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MatrixFormat {
    /// PHYLIP's square matrix, a row in a line.
    #[default]
    Square,
    /// PHYLIP's lower triangle.
    Lower,
    /// A line for each pair: both names and the distance.
    Tsv,
    /// A square array of NumPy, with 8 bytes for each distance; those that are not known are infinite (saturated) or not a
    /// number.
    Npy,
}

impl MatrixFormat {
    /// All of them.
    pub const ALL: [MatrixFormat; 4] =
        [MatrixFormat::Square, MatrixFormat::Lower, MatrixFormat::Tsv, MatrixFormat::Npy];

    /// Its name in options.
    pub fn name(self) -> &'static str {
        match self {
            MatrixFormat::Square => "square",
            MatrixFormat::Lower => "lower",
            MatrixFormat::Tsv => "tsv",
            MatrixFormat::Npy => "npy",
        }
    }

    /// True if a row has the distances from all taxa, not only from those before.
    pub(crate) fn is_square(self) -> bool {
        matches!(self, MatrixFormat::Square | MatrixFormat::Npy)
    }

    /// Writes what comes before the first row.
    pub(crate) fn begin(self, num_taxa: usize, sink: &mut dyn Write) -> Result<()> {
        match self {
            MatrixFormat::Square | MatrixFormat::Lower => writeln!(sink, "{num_taxa}"),
            MatrixFormat::Tsv => writeln!(sink, "taxon1\ttaxon2\tdistance"),
            MatrixFormat::Npy => {
                let fields = format!(
                    "{{'descr': '<f8', 'fortran_order': False, 'shape': ({num_taxa}, {num_taxa}), }}"
                );
                // Magic string, version and header length; the data begin at a multiple of 64 bytes.
                let padded = (10 + fields.len() + 1).next_multiple_of(64) - 11;
                sink.write_all(b"\x93NUMPY\x01\x00")?;
                sink.write_all(&(padded as u16 + 1).to_le_bytes())?;
                writeln!(sink, "{fields:padded$}")
            }
        }
    }

    /// The row of a taxon as it is written: its distances from all taxa or, unless the format is square, from those before it.
    pub(crate) fn row(self, taxon: usize, names: &[String], row: &[f64]) -> Vec<u8> {
        let mut text = Vec::with_capacity(16 + 12 * row.len());
        match self {
            MatrixFormat::Square | MatrixFormat::Lower => {
                text.extend_from_slice(format!("{:<10}", names[taxon]).as_bytes());
                for &distance in row {
                    text.push(b' ');
                    push(&mut text, distance);
                }
                text.push(b'\n');
            }
            MatrixFormat::Tsv => {
                for (name, &distance) in names.iter().zip(row) {
                    text.extend_from_slice(format!("{}\t{name}\t", names[taxon]).as_bytes());
                    push(&mut text, distance);
                    text.push(b'\n');
                }
            }
            MatrixFormat::Npy => {
                text.extend(row.iter().flat_map(|distance| distance.to_le_bytes()))
            }
        }
        text
    }
}

/// A distance with 8 digits after the point.
fn push(text: &mut Vec<u8>, distance: f64) {
    const SCALE: u64 = 100_000_000;
    if !(0.0..1e9).contains(&distance) {
        let known = distance.is_finite();
        let shown = if known { format!("{distance:.8}") } else { UNKNOWN.to_string() };
        return text.extend_from_slice(shown.as_bytes());
    }
    let scaled = (distance * SCALE as f64).round() as u64;
    let (mut whole, mut rest) = (scaled / SCALE, scaled % SCALE);
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    for place in 0.. {
        if place == 8 {
            at -= 1;
            digits[at] = b'.';
        }
        let number = if place < 8 { &mut rest } else { &mut whole };
        if place > 8 && *number == 0 {
            break;
        }
        at -= 1;
        digits[at] = b'0' + (*number % 10) as u8;
        *number /= 10;
    }
    text.extend_from_slice(&digits[at..]);
}

/// The distances of an alignment or of a file, as reported.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct MatrixReport {
    /// What a distance is, with the models of the partitions.
    pub method: String,
    /// Number of taxa.
    pub taxa: usize,
    /// Number of pairs.
    pub pairs: u64,
    /// Number of them that are saturated: their distance is infinite.
    pub saturated: u64,
    /// Number of them without a site at which both taxa have data.
    pub without_overlap: u64,
    /// Least, mean and largest distance of the others.
    pub least: Option<f64>,
    /// Their mean.
    pub mean: Option<f64>,
    /// The largest.
    pub largest: Option<f64>,
    /// The taxa in the order of the rows of a file that has no names (`npy`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
    /// The distances between all taxa, to be looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<DistanceMapReport>,
    /// The trees of the distances, as Newick text, in the order of `--tree`.
    pub trees: Vec<MatrixTreeReport>,
    /// Those of the partitions, in the order of their file, where each has distances of its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<PartitionMatrixReport>,
}

/// A map of distances in the order of the leaves of a tree of average linkage, so that near taxa are together.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct DistanceMapReport {
    /// The taxa in the order of the rows.
    pub taxa: Vec<String>,
    /// Number of taxa of each row, where some have several: the nearest, by their mean distances.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub row_sizes: Vec<usize>,
    /// For each row a digit for each: 0 for the same, 9 for the largest (mean) distance or one that is not known.
    pub rows: Vec<String>,
}

/// The distances of one partition.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct PartitionMatrixReport {
    /// The number in the name of its file.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// Its distances.
    #[serde(flatten)]
    pub distances: MatrixReport,
}

/// A tree of distances.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct MatrixTreeReport {
    /// How it was made.
    pub method: &'static str,
    /// The tree.
    pub newick: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_to_eight_digits() {
        for value in [0.0, 1e-9, 6e-9, 0.12345678, 0.999999999, 1.0, 9.87654321, 10.0, 123456.5] {
            let mut text = Vec::new();
            push(&mut text, value);
            assert_eq!(String::from_utf8(text).unwrap(), format!("{value:.8}"));
        }
        for unknown in [f64::NAN, f64::INFINITY] {
            let mut text = Vec::new();
            push(&mut text, unknown);
            assert_eq!(text, b"-1.00000000");
        }
    }

    #[test]
    fn every_format_is_as_other_programs_read_it() {
        let names = ["A".to_string(), "B".to_string()];
        let rows = [[0.0, 0.5], [0.5, 0.0]];
        let write = |format: MatrixFormat| {
            let mut bytes = Vec::new();
            format.begin(2, &mut bytes).unwrap();
            for (taxon, row) in rows.iter().enumerate() {
                let row = if format.is_square() { &row[..] } else { &row[..taxon] };
                bytes.extend(format.row(taxon, &names, row));
            }
            bytes
        };
        let text = |format| String::from_utf8(write(format)).unwrap();
        assert_eq!(
            text(MatrixFormat::Square),
            "2\nA          0.00000000 0.50000000\nB          0.50000000 0.00000000\n"
        );
        assert_eq!(text(MatrixFormat::Lower), "2\nA         \nB          0.50000000\n");
        assert_eq!(text(MatrixFormat::Tsv), "taxon1\ttaxon2\tdistance\nB\tA\t0.50000000\n");
        let bytes = write(MatrixFormat::Npy);
        assert_eq!((&bytes[..8], bytes.len()), (&b"\x93NUMPY\x01\x00"[..], 128 + 32));
        assert_eq!((bytes[8], bytes[127]), (118, b'\n'));
        assert_eq!(bytes[136..144], 0.5_f64.to_le_bytes());
    }
}
