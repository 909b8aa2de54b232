//! [`Lengths`]: which genes have trees that are far longer or shorter than those of the other genes of their type, the commonest sign
//! of a wrong alignment.

use super::record::GeneTree;
use crate::output::{OutputKind, Panel, Series, draw};

/// The lengths of the gene trees, drawn.
pub(super) const LENGTH_PLOT: OutputKind =
    OutputKind::new(50, "geneLengths.svg", "the lengths of the gene trees, drawn");

/// Fewest genes of a type of which some can be far out.
const MIN_GENES: usize = 10;
/// How many interquartile ranges beyond the quartiles, of the logarithms, are far out (Tukey 1977).
const RANGES: i32 = 3;
/// A length that is no more than so many times a quartile, or so little less, is never far out.
const LEAST_RATIO: f64 = 2.0;

/// The lengths of a gene's tree.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Measured {
    /// Of all branches together, and of the longest.
    values: [f64; 2],
    data_type: usize,
}

/// The lengths of all gene trees.
#[derive(Debug, Default)]
pub(super) struct Lengths {
    types: Vec<String>,
    genes: Vec<Option<Measured>>,
    /// By type and measure, least and most that is not far out, and the median.
    limits: Vec<[Option<[f64; 3]>; 2]>,
}

/// What is measured.
const MEASURES: [&str; 2] = ["tree length", "longest branch"];

impl Lengths {
    /// Adds the next gene.
    pub(super) fn add(&mut self, data_type: &str, tree: Option<&GeneTree>) {
        let measured = tree.map(|tree| {
            let known = self.types.iter().position(|known| known == data_type);
            let data_type = known.unwrap_or_else(|| {
                self.types.push(data_type.to_string());
                self.types.len() - 1
            });
            Measured { values: [tree.length, tree.longest], data_type }
        });
        self.genes.push(measured);
    }

    /// All genes are known.
    pub(super) fn complete(&mut self) {
        let limits = |data_type| {
            [0, 1].map(|measure| {
                let of_type = self.genes.iter().flatten().filter(|one| one.data_type == data_type);
                limits_of(of_type.map(|one| one.values[measure]).collect())
            })
        };
        self.limits = (0..self.types.len()).map(limits).collect();
    }

    /// What is to be said of the lengths of a gene.
    pub(super) fn remarks(&self, gene: usize) -> Vec<String> {
        let Some(measured) = self.genes[gene] else { return Vec::new() };
        let far = self.far_out(measured);
        let all = MEASURES.into_iter().zip(measured.values).zip(far);
        all.filter_map(|((what, value), far)| {
            let (how, median) = far?;
            Some(format!("far too {how}: the {what} is {value:.6}, the median {median:.6}"))
        })
        .collect()
    }

    /// By measure, whether a gene is too long or too short, and the median of the others.
    fn far_out(&self, Measured { values, data_type }: Measured) -> [Option<(&str, f64)>; 2] {
        let limits = self.limits.get(data_type).copied().unwrap_or_default();
        [0, 1].map(|measure| {
            let [least, most, median] = limits[measure]?;
            match values[measure] {
                value if value > most => Some(("long", median)),
                value if value < least => Some(("short", median)),
                _ => None,
            }
        })
    }

    /// The longest branch of each gene tree over its length, a panel for each type of data; genes that are far out in the
    /// second colour.
    pub(super) fn draw(&self) -> String {
        let panel = |(data_type, name): (usize, &String)| {
            let mut series = [false, true].map(|_| Series { points: Vec::new(), is_line: false });
            for &measured in self.genes.iter().flatten().filter(|one| one.data_type == data_type) {
                let is_far = self.far_out(measured).iter().any(Option::is_some);
                series[usize::from(is_far)].points.push(measured.values.map(libm::log10));
            }
            Panel {
                title: format!("{name}: log10 of the longest branch"),
                x_label: "log10 of the tree length".to_string(),
                series: series.to_vec(),
                ..Panel::default()
            }
        };
        let panels: Vec<Panel> = self.types.iter().enumerate().map(panel).collect();
        draw("Lengths of the gene trees; orange: far out", &panels, 2)
    }
}

/// Least and most of these lengths that is not far out, and their median; `None` if they are too few. Quartiles are
/// values that occur, so that those of logarithms are the logarithms of those of lengths.
fn limits_of(mut lengths: Vec<f64>) -> Option<[f64; 3]> {
    lengths.sort_unstable_by(f64::total_cmp);
    if lengths.len() < MIN_GENES {
        return None;
    }
    let at = |quarter: usize| lengths[(lengths.len() - 1) * quarter / 4];
    let [first, median, third] = [1, 2, 3].map(at);
    if first <= 0.0 {
        return None;
    }
    let range = third / first;
    let ratio = (0..RANGES).fold(1.0, |product: f64, _| product * range).max(LEAST_RATIO);
    Some([first / ratio, third * ratio, median])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_far_out_is_named_and_nothing_else() {
        let tree = |length: f64| GeneTree {
            newick: String::new(),
            model: String::new(),
            lnl: -1.0,
            length,
            longest: 0.1,
            alpha: None,
            mean_support: None,
            without_length: None,
            replicates: String::new(),
        };
        let mut lengths = Lengths::default();
        let of_dna = [1.0, 1.1, 0.9, 1.2, 1.05, 0.95, 1.3, 0.8, 2.3, 100.0, 0.01];
        of_dna.iter().for_each(|&length| lengths.add("DNA", Some(&tree(length))));
        lengths.add("protein", Some(&tree(100.0)));
        lengths.add("DNA", None);
        lengths.complete();
        let far: Vec<usize> = (0..13).filter(|&gene| !lengths.remarks(gene).is_empty()).collect();
        assert_eq!(far, [9, 10]);
        assert_eq!(
            lengths.remarks(9),
            ["far too long: the tree length is 100.000000, the median 1.050000"]
        );
    }
}
