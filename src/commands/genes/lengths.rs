//! [`Lengths`]: which genes have trees that are far longer or shorter than those of the other genes of their type, the commonest sign
//! of a wrong alignment.

use super::record::{GeneData, GeneTree};
use crate::output::{OutputKind, Panel, Series, draw};

/// The lengths of the gene trees, drawn.
pub(super) const LENGTH_PLOT: OutputKind =
    OutputKind::new(50, "geneLengths.svg", "the lengths of the gene trees, drawn");

/// Fewest genes of a type of which some can be far out.
const MIN_GENES: usize = 10;
/// How many interquartile ranges beyond the quartiles, of the logarithms, are far out (Tukey 1977).
const RANGES: f64 = 3.0;
/// A length that is no more than so many times a quartile, or so little less, is never far out.
const LEAST_RATIO: f64 = 2.0;

/// The lengths of a gene's tree.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Measured {
    /// Of all branches together, and of the longest.
    values: [f64; 2],
    num_taxa: usize,
    data_type: usize,
}

/// The lengths of all gene trees.
#[derive(Debug, Default)]
pub(super) struct Lengths {
    types: Vec<String>,
    genes: Vec<Option<Measured>>,
    /// By type and measure, if there are enough genes.
    usual: Vec<[Option<Usual>; 2]>,
}

/// How long the trees of a type are: logarithms over those of the numbers of taxa.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Usual {
    slope: f64,
    /// What logarithms are above the slope's line: the median, and least and most that is not far out.
    median: f64,
    limits: [f64; 2],
}

/// What is measured.
const MEASURES: [&str; 2] = ["tree length", "longest branch"];

impl Lengths {
    /// Adds the next gene.
    pub(super) fn add(&mut self, data: Option<&GeneData>, tree: Option<&GeneTree>) {
        let measured = data.zip(tree).map(|(data, tree)| {
            let known = self.types.iter().position(|known| *known == data.data_type);
            let data_type = known.unwrap_or_else(|| {
                self.types.push(data.data_type.clone());
                self.types.len() - 1
            });
            Measured { values: [tree.length, tree.longest], num_taxa: data.taxa, data_type }
        });
        self.genes.push(measured);
    }

    /// All genes are known.
    pub(super) fn complete(&mut self) {
        let usual = |data_type| {
            [0, 1].map(|measure| {
                let of_type = self.genes.iter().flatten().filter(|one| one.data_type == data_type);
                Usual::of(of_type.map(|one| [one.num_taxa as f64, one.values[measure]]).collect())
            })
        };
        self.usual = (0..self.types.len()).map(usual).collect();
    }

    /// What is to be said of the lengths of a gene.
    pub(super) fn remarks(&self, gene: usize) -> Vec<String> {
        let Some(measured) = self.genes[gene] else { return Vec::new() };
        let far = self.far_out(measured);
        let all = MEASURES.into_iter().zip(measured.values).zip(far);
        all.filter_map(|((what, value), far)| {
            let (how, usual) = far?;
            Some(format!(
                "far too {how}: the {what} is {value:.6}, with so many taxa {usual:.6} is usual"
            ))
        })
        .collect()
    }

    /// By measure, whether a gene is too long or too short, and what is usual.
    fn far_out(&self, measured: Measured) -> [Option<(&'static str, f64)>; 2] {
        let Measured { values, num_taxa, data_type } = measured;
        let usual = self.usual.get(data_type).copied().unwrap_or_default();
        [0, 1].map(|measure| {
            let usual = usual[measure]?;
            let line = usual.slope * libm::log(num_taxa as f64);
            let how = match libm::log(values[measure]) - line {
                above if above > usual.limits[1] => "long",
                above if above < usual.limits[0] => "short",
                _ => return None,
            };
            Some((how, libm::exp(line + usual.median)))
        })
    }

    /// The longest branch of each gene tree over its length, a panel for each type of data; genes that are far out in the
    /// second colour.
    pub(super) fn draw(&self) -> String {
        let panel = |(data_type, name): (usize, &String)| {
            let mut series = [false, true].map(|_| Series::default());
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

impl Usual {
    /// What is usual of these numbers of taxa and lengths; `None` if they are too few. Trees of more taxa are longer: the line is
    /// Tukey's (1977) resistant line, through the medians of the genes with few and with many taxa.
    fn of(mut genes: Vec<[f64; 2]>) -> Option<Self> {
        genes.retain(|gene| gene[1] > 0.0);
        if genes.len() < MIN_GENES {
            return None;
        }
        genes.iter_mut().for_each(|gene| *gene = gene.map(libm::log));
        genes.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        let third = genes.len() / 3;
        let median =
            |part: &[[f64; 2]], of: usize| quarters(part.iter().map(|gene| gene[of]).collect())[1];
        let (few, many) = (&genes[..third], &genes[genes.len() - third..]);
        let [few, many] = [few, many].map(|part| [0, 1].map(|of| median(part, of)));
        let width = many[0] - few[0];
        let slope = if width > 0.0 { (many[1] - few[1]) / width } else { 0.0 };
        let above = genes.iter().map(|gene| gene[1] - slope * gene[0]);
        let [first, median, last] = quarters(above.collect());
        let reach = (RANGES * (last - first)).max(libm::log(LEAST_RATIO));
        Some(Usual { slope, median, limits: [first - reach, last + reach] })
    }
}

/// Quartiles and median, values that occur.
fn quarters(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_unstable_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[(values.len() - 1) * quarter / 4])
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
        let data = |data_type: &str, taxa| GeneData {
            data_type: data_type.into(),
            taxa,
            ..GeneData::default()
        };
        let mut lengths = Lengths::default();
        let dna = [1.0, 1.1, 0.9, 1.2, 1.05, 0.95, 1.3, 0.8, 2.3, 100.0, 0.01];
        dna.iter().for_each(|&length| lengths.add(Some(&data("DNA", 20)), Some(&tree(length))));
        lengths.add(Some(&data("protein", 20)), Some(&tree(100.0)));
        lengths.add(Some(&data("DNA", 20)), None);
        lengths.add(None, None);
        lengths.complete();
        let far: Vec<usize> = (0..14).filter(|&gene| !lengths.remarks(gene).is_empty()).collect();
        assert_eq!(far, [9, 10]);
        assert_eq!(
            lengths.remarks(9),
            ["far too long: the tree length is 100.000000, with so many taxa 1.050000 is usual"]
        );
        // Trees of few taxa are short, and not far out.
        let mut lengths = Lengths::default();
        for taxa in 4..40 {
            lengths.add(Some(&data("DNA", taxa)), Some(&tree(0.1 * taxa as f64)));
        }
        lengths.add(Some(&data("DNA", 4)), Some(&tree(4.0)));
        lengths.complete();
        let far: Vec<usize> = (0..37).filter(|&gene| !lengths.remarks(gene).is_empty()).collect();
        assert_eq!(far, [36]);
    }
}
